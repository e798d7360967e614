//! Limits on what the DWARF of one file may cost.
//!
//! DWARF refers to itself: a thousand functions may name one list of a million ranges, a thousand units one line
//! table. A sound file refers to each part about once, so the entries of all tables together are no more than its
//! bytes, and no byte is read more than a few times. Past that, the file is broken or hostile, and the unit at hand is
//! given up.

use std::cell::Cell;
use std::fmt;

use gimli::{EndianSlice, LittleEndian};

use crate::symbols::section::Section as Piece;

/// The reason why a part of the DWARF could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The data breaks the rules of its format.
    Malformed(gimli::Error),
    /// The abbreviations, which define the layout of entries, are missing or broken.
    NoAbbreviations,
    /// It would cost more than an intact file of its size.
    TooCostly,
    /// There is no memory for it.
    NoMemory,
    /// It is outside the file, or could not be read.
    Unreadable,
}

impl From<gimli::Error> for Fault {
    fn from(error: gimli::Error) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => error.fmt(f),
            Self::NoAbbreviations => f.write_str("its abbreviations are missing or broken"),
            Self::Unreadable => f.write_str("the file ends before it does"),
            Self::NoMemory => f.write_str("it takes more memory than is allowed"),
            Self::TooCostly => f.write_str("it is too large for the file"),
        }
    }
}

/// The budget that is left for one file.
#[derive(Debug)]
pub(super) struct Budget<'data> {
    entries: Cell<u64>,
    steps: Cell<u64>,
    /// Bytes that are taken and not yet reserved, and the file for which they are.
    taken: Cell<u64>,
    file: Piece<'data>,
}

impl<'data> Budget<'data> {
    /// Steps that any file may take, some tenths of a second.
    const FREE_STEPS: u64 = 1 << 24;
    /// The number of times that each byte may be read.
    const PASSES: u64 = 8;
    /// Memory is reserved each time this many bytes were taken.
    const BYTES_BETWEEN: u64 = 1 << 16;

    /// The budget of a file whose DWARF has this many bytes; memory is reserved through a part of the file.
    pub(super) fn new(debug_bytes: u64, file: Piece<'data>) -> Self {
        let steps = debug_bytes.saturating_mul(Self::PASSES).saturating_add(Self::FREE_STEPS);
        Self { entries: Cell::new(debug_bytes), steps: Cell::new(steps), taken: Cell::new(0), file }
    }

    /// Takes memory until the file is closed.
    pub(super) fn hold(&self, bytes: usize) -> Result<(), Fault> {
        let taken = self.taken.get().saturating_add(bytes as u64);
        if taken < Self::BYTES_BETWEEN {
            self.taken.set(taken);
            return Ok(());
        }
        self.taken.set(0);
        self.file.reserve(taken).ok_or(Fault::NoMemory)
    }

    /// Pays for entries that are kept in a table.
    pub(super) fn keep(&self, entries: usize) -> Result<(), Fault> {
        spend(&self.entries, entries)
    }

    /// Pays for bytes that are read.
    pub(super) fn walk(&self, bytes: usize) -> Result<(), Fault> {
        spend(&self.steps, bytes)
    }
}

fn spend(purse: &Cell<u64>, amount: usize) -> Result<(), Fault> {
    purse.set(purse.get().checked_sub(amount as u64).ok_or(Fault::TooCostly)?);
    Ok(())
}

/// A part of the file.
pub(super) type Bytes<'data> = EndianSlice<'data, LittleEndian>;
/// A unit with its sections.
pub(super) type UnitRef<'a, 'data> = gimli::UnitRef<'a, Bytes<'data>>;

/// Most attributes of an entry. Attributes may take no bytes at all, so that entries of one byte could have millions.
pub(super) const MAX_ATTRIBUTES: usize = 1000;

/// Longest name or path in `.debug_str`. Without a bound, a section without zero bytes would be read to its end for every name.
pub(super) const MAX_STRING_LENGTH: u64 = 1 << 20;
