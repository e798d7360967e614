//! Reads little-endian numbers, tables of fixed-size entries and NUL-terminated strings from files that may be damaged.
//!
//! Sizes are checked once, when a table is cut from the file. After that, entries are arrays, so reading a field cannot fail. Offsets in messages
//! are relative to the start of the file.

use std::fmt;

/// A violation of a file format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The byte offset of the violation in the file.
    pub at: u64,
    /// The message: the violation, the rule, and the offset in hex.
    pub message: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Broken {}

#[cfg(feature = "bundle")]
impl Broken {
    /// A violation without an offset.
    pub(crate) fn rule(rule: impl fmt::Display) -> Self {
        Self { at: 0, message: rule.to_string() }
    }
}

/// Creates a [`Broken`] for `what` at an offset: "`what` at 0x1c0: `rule`".
pub(crate) fn broken(at: usize, what: impl fmt::Display, rule: impl fmt::Display) -> Broken {
    Broken { at: at as u64, message: format!("{what} at {at:#x}: {rule}") }
}

/// Reads a `u32`. The layout has been checked, so the bytes exist; beyond the end, returns 0.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

/// Reads a `u64` at `at`.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
}

/// Returns the 16 bytes at `at` of an entry: a UUID, or a segment name.
pub(super) fn sixteen_at(entry: &[u8], at: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&entry[at..at + 16]);
    bytes
}

/// A table of entries of `N` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a, const N: usize> {
    pub(super) entries: &'a [[u8; N]],
    /// The offset of the first entry in the file.
    pub(super) at: usize,
}

impl<'a, const N: usize> Table<'a, N> {
    /// The offset of an entry in the file.
    pub(super) fn offset(&self, index: usize) -> usize {
        self.at + index * N
    }

    /// Returns the last entry whose address is at most `address`. The table must be sorted by the address in its first 4 bytes.
    pub(super) fn nearest(&self, address: u64) -> Option<usize> {
        self.entries.partition_point(|entry| u64::from(u32_at(entry, 0)) <= address).checked_sub(1)
    }

    /// Returns the first entry with the same address as entry `index`, in such a table.
    pub(super) fn first_like(&self, index: usize) -> usize {
        let address = u32_at(&self.entries[index], 0);
        self.entries[..index].partition_point(|entry| u32_at(entry, 0) < address)
    }
}

/// Reads consecutive parts of a range of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutter<'a> {
    file: &'a [u8],
    /// The offset of the next part in the file.
    pub(super) at: usize,
    end: usize,
}

impl<'a> Cutter<'a> {
    /// Creates a cutter for `room` bytes from `at` on, or as many as the file has.
    pub(super) fn new(file: &'a [u8], at: usize, room: usize) -> Self {
        Self { file, at, end: file.len().min(at.saturating_add(room)) }
    }

    /// The number of bytes left.
    pub(super) fn left(&self) -> usize {
        self.end - self.at
    }

    /// Shortens the range to its next `length` bytes; false if there are fewer.
    pub(super) fn limit(&mut self, length: usize) -> bool {
        let is_there = length <= self.left();
        if is_there {
            self.end = self.at + length;
        }
        is_there
    }

    /// Takes the next `size` bytes. Errors call them `what`.
    pub(super) fn bytes(&mut self, size: u64, what: impl fmt::Display) -> Result<&'a [u8], Broken> {
        if size > self.left() as u64 {
            return Err(broken(
                self.at,
                what,
                format_args!("{size:#x} bytes are more than the {:#x} that are left", self.left()),
            ));
        }
        let bytes = &self.file[self.at..self.at + size as usize];
        self.at += bytes.len();
        Ok(bytes)
    }

    /// Takes the next `count` entries of `N` bytes.
    pub(super) fn table<const N: usize>(&mut self, count: u32, what: &str) -> Result<Table<'a, N>, Broken> {
        let at = self.at;
        let bytes = self.bytes(u64::from(count) * N as u64, format_args!("{count} {what}"))?;
        Ok(Table { entries: bytes.as_chunks().0, at })
    }
}

/// Names and paths, each terminated by a NUL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    bytes: &'a [u8],
    /// The offset of the table in the file.
    at: usize,
    /// True if offsets are relative to the entry that contains them (in the header: to the record) instead of the table.
    is_entry_relative: bool,
}

impl<'a> Strings<'a> {
    /// Creates a table. The bytes must end with a NUL, so that every string does.
    pub(super) fn new(bytes: &'a [u8], at: usize, is_entry_relative: bool) -> Result<Self, Broken> {
        match bytes.last() {
            Some(0) | None => Ok(Self { bytes, at, is_entry_relative }),
            Some(_) => Err(broken(at + bytes.len() - 1, "string table", "its last string does not end with a NUL")),
        }
    }

    /// Returns the start of the string at `offset`, if it is in the table.
    fn position(&self, entry: usize, offset: u64) -> Option<usize> {
        let base = if self.is_entry_relative { entry } else { self.at };
        let position = (base as u64).checked_add(offset)?.checked_sub(self.at as u64)?;
        usize::try_from(position).ok().filter(|&position| position < self.bytes.len())
    }

    /// Checks that the offset in an entry is in the table.
    pub(super) fn check(&self, entry: usize, offset: u64, what: impl fmt::Display) -> Result<(), Broken> {
        match self.position(entry, offset) {
            Some(_) => Ok(()),
            None => {
                let from = if self.is_entry_relative { " from there" } else { "" };
                let rule = format_args!(
                    "string offset {offset:#x}{from} is outside of the string table of {:#x} bytes at {:#x}",
                    self.bytes.len(),
                    self.at
                );
                Err(broken(entry, what, rule))
            }
        }
    }

    /// Returns the string at a checked offset in the entry at `entry`; `None` if it is not UTF-8.
    pub(super) fn get(&self, entry: usize, offset: u64) -> Option<&'a str> {
        let bytes = &self.bytes[self.position(entry, offset)?..];
        let end = bytes.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&bytes[..end]).ok()
    }
}
