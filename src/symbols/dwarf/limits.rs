//! Limits the cost of reading a file's DWARF.
//!
//! DWARF refers to itself: a thousand functions may refer to one list of a million ranges, and a thousand units to one line table. An intact file
//! refers to each part about once, so its tables have no more entries than bytes, and no byte is read more than a few times. Beyond that, the
//! file is broken or hostile, and the current unit is abandoned.

use std::cell::Cell;
use std::fmt;

use gimli::{EndianSlice, LittleEndian};

use crate::symbols::section::Section as Piece;

/// Why part of the DWARF could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The data violates its format.
    Malformed(gimli::Error),
    /// The abbreviations, which define the layout of entries, are missing or broken.
    NoAbbreviations,
    /// Reading it would cost more than any intact file of this size.
    TooCostly,
    /// Out of budget.
    NoMemory,
    /// Outside of the file, or reading failed.
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
            Self::Unreadable => f.write_str("the file ends inside it"),
            Self::NoMemory => f.write_str("it takes more memory than the limit allows"),
            Self::TooCostly => f.write_str("it is too large for the file"),
        }
    }
}

/// What may still be spent on one file.
#[derive(Debug)]
pub(super) struct Budget<'data> {
    entries: Cell<u64>,
    steps: Cell<u64>,
    /// The bytes in use, the bytes that are reserved for them, and the file that they are charged to.
    held: Cell<u64>,
    reserved: Cell<u64>,
    file: Piece<'data>,
}

impl<'data> Budget<'data> {
    /// The steps allowed for any file. They take a few tenths of a second.
    const FREE_STEPS: u64 = 1 << 24;
    /// The maximum number of times that each byte is read.
    const PASSES: u64 = 8;
    /// Memory is reserved in steps of this size.
    const BYTES_BETWEEN: u64 = 1 << 16;

    /// The budget for a file with `debug_bytes` of DWARF. Memory is reserved through `file`.
    pub(super) fn new(debug_bytes: u64, file: Piece<'data>) -> Self {
        let steps = debug_bytes.saturating_mul(Self::PASSES).saturating_add(Self::FREE_STEPS);
        let (entries, steps) = (Cell::new(debug_bytes), Cell::new(steps));
        Self { entries, steps, held: Cell::new(0), reserved: Cell::new(0), file }
    }

    /// Charges memory that is used until the file is closed, or [released](Self::release).
    pub(super) fn hold(&self, bytes: usize) -> Result<(), Fault> {
        let held = self.held.get().saturating_add(bytes as u64);
        self.held.set(held);
        let missing = held.saturating_sub(self.reserved.get());
        if missing < Self::BYTES_BETWEEN {
            return Ok(());
        }
        self.reserved.set(held);
        self.file.reserve(missing).ok_or(Fault::NoMemory)
    }

    /// The memory charged so far.
    pub(super) fn held(&self) -> u64 {
        self.held.get()
    }

    /// Makes memory that was charged after [`held`](Self::held) returned this value available for other tables of the file.
    pub(super) fn release(&self, held: u64) {
        self.held.set(held);
    }

    /// Charges table entries.
    pub(super) fn keep(&self, entries: usize) -> Result<(), Fault> {
        spend(&self.entries, entries)
    }

    /// Charges bytes that are read.
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

/// The maximum number of attributes per entry. Attributes can take no bytes, so a one-byte entry could have millions.
pub(super) const MAX_ATTRIBUTES: usize = 1000;

/// The longest name or path in `.debug_str`. Without a limit, each name in a section without NULs would be read to the section's end.
pub(super) const MAX_STRING_LENGTH: u64 = 1 << 20;
