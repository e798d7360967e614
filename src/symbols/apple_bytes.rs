//! Little-endian numbers, tables of fixed entries and NUL-terminated strings in a file that may be broken.
//!
//! Every size is checked once, where a table is cut out of the file; entries are arrays from then on, so that reading a
//! field cannot fail. Offsets in messages count from the start of the file.

use std::fmt;

/// A rule of its format that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Byte offset, from the start of the file, of what breaks it.
    pub at: u64,
    /// A message that describes the fault and the rule; contains the offset in hex.
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
    /// A rule that the whole file breaks.
    pub(crate) fn rule(rule: impl fmt::Display) -> Self {
        Self { at: 0, message: rule.to_string() }
    }
}

/// The [`Broken`] of `what` at an offset: "`what` at 0x1c0: `rule`".
pub(crate) fn broken(at: usize, what: impl fmt::Display, rule: impl fmt::Display) -> Broken {
    Broken { at: at as u64, message: format!("{what} at {at:#x}: {rule}") }
}

/// The number of 4 bytes at `at`. Layouts are checked before, so it is there; it would be 0 past the end.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

/// The number of 8 bytes at `at`.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
}

/// The 16 bytes at `at` of an entry: a UUID, or a segment's name.
pub(super) fn sixteen_at(entry: &[u8], at: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&entry[at..at + 16]);
    bytes
}

/// A table of entries of `N` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a, const N: usize> {
    /// The entries.
    pub(super) entries: &'a [[u8; N]],
    /// Offset of the first in the file.
    pub(super) at: usize,
}

impl<'a, const N: usize> Table<'a, N> {
    /// Offset of an entry in the file.
    pub(super) fn offset(&self, index: usize) -> usize {
        self.at + index * N
    }

    /// The last entry whose address is not above `address`, for a table sorted by the address in its first 4 bytes.
    pub(super) fn nearest(&self, address: u64) -> Option<usize> {
        self.entries.partition_point(|entry| u64::from(u32_at(entry, 0)) <= address).checked_sub(1)
    }

    /// The first entry at the address of entry `index`, for a table sorted like that.
    pub(super) fn first_like(&self, index: usize) -> usize {
        let address = u32_at(&self.entries[index], 0);
        self.entries[..index].partition_point(|entry| u32_at(entry, 0) < address)
    }
}

/// Cuts one thing after the other out of a part of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutter<'a> {
    file: &'a [u8],
    /// Offset in the file of what comes next.
    pub(super) at: usize,
    end: usize,
}

impl<'a> Cutter<'a> {
    /// Cuts the `room` bytes from `at` on, or as many of them as the file has.
    pub(super) fn new(file: &'a [u8], at: usize, room: usize) -> Self {
        Self { file, at, end: file.len().min(at.saturating_add(room)) }
    }

    /// The number of bytes left.
    pub(super) fn left(&self) -> usize {
        self.end - self.at
    }

    /// The rest ends `length` bytes from here, if there are as many.
    pub(super) fn limit(&mut self, length: usize) -> bool {
        let is_there = length <= self.left();
        if is_there {
            self.end = self.at + length;
        }
        is_there
    }

    /// The next `size` bytes; if there are fewer, the error calls them `what`.
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

    /// The next `count` entries of `N` bytes.
    pub(super) fn table<const N: usize>(&mut self, count: u32, what: &str) -> Result<Table<'a, N>, Broken> {
        let at = self.at;
        let bytes = self.bytes(u64::from(count) * N as u64, format_args!("{count} {what}"))?;
        Ok(Table { entries: bytes.as_chunks().0, at })
    }
}

/// Names and paths, each ended by a NUL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    bytes: &'a [u8],
    /// Offset of the table in the file.
    at: usize,
    /// True if offsets count from the entry that holds them (or the record, for its header), instead of the table.
    is_entry_relative: bool,
}

impl<'a> Strings<'a> {
    /// The table of these bytes, which must end with a NUL so that all strings do.
    pub(super) fn new(bytes: &'a [u8], at: usize, is_entry_relative: bool) -> Result<Self, Broken> {
        match bytes.last() {
            Some(0) | None => Ok(Self { bytes, at, is_entry_relative }),
            Some(_) => Err(broken(at + bytes.len() - 1, "string table", "its last string does not end with a NUL")),
        }
    }

    /// The start of the string at `offset`, if it is in the table.
    fn position(&self, entry: usize, offset: u64) -> Option<usize> {
        let base = if self.is_entry_relative { entry } else { self.at };
        let position = (base as u64).checked_add(offset)?.checked_sub(self.at as u64)?;
        usize::try_from(position).ok().filter(|&position| position < self.bytes.len())
    }

    /// Checks that an offset held by the entry at `entry` is inside of the table.
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

    /// The string at a checked offset of the entry at `entry`; `None` if it is not UTF-8.
    pub(super) fn get(&self, entry: usize, offset: u64) -> Option<&'a str> {
        let bytes = &self.bytes[self.position(entry, offset)?..];
        let end = bytes.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&bytes[..end]).ok()
    }
}
