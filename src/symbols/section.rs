//! A range of a symbol file, read on demand.

use std::fmt;
use std::ops::Range;

use memchr::memchr;
use object::read::ReadRef;

use crate::files::FileBytes;

/// A range of a file, read on demand.
#[derive(Clone, Copy)]
pub(super) struct Section<'data> {
    file: &'data dyn Ranges,
    start: u64,
    length: u64,
}

/// Hides the source type of [`FileBytes`].
trait Ranges {
    fn reserve(&self, bytes: u64) -> Option<()>;
    fn get(&self, range: Range<u64>) -> Option<&[u8]>;
    fn text(&self, range: Range<u64>) -> Option<&[u8]>;
}

impl Ranges for FileBytes<'_> {
    fn reserve(&self, bytes: u64) -> Option<()> {
        self.reserve(bytes)
    }

    fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        self.get(range)
    }

    fn text(&self, range: Range<u64>) -> Option<&[u8]> {
        self.text(range)
    }
}

impl fmt::Debug for Section<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Section({} bytes at {})", self.length, self.start)
    }
}

impl<'data> Section<'data> {
    /// Creates a range; `None` if the file ends first.
    pub(super) fn new(file: &'data FileBytes<'_>, range: Range<u64>) -> Option<Self> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= file.len())?;
        Some(Self { file, start: range.start, length })
    }

    /// The length in bytes.
    pub(super) fn len(self) -> u64 {
        self.length
    }

    /// Returns a subrange.
    pub(super) fn part(self, range: Range<u64>) -> Option<Self> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length)?;
        Some(Self { file: self.file, start: self.start + range.start, length })
    }

    /// Returns bytes of the range; `None` if they are beyond its end, or cannot be read.
    pub(super) fn get(self, range: Range<u64>) -> Option<&'data [u8]> {
        let Self { start, length, .. } = self.part(range)?;
        self.file.get(start..start + length)
    }

    /// Reserves memory for data derived from the file, until the file is closed. `None` if the budget is exceeded, which [`FileBytes::check`]
    /// reports.
    pub(super) fn reserve(self, bytes: u64) -> Option<()> {
        self.file.reserve(bytes)
    }

    /// Returns all bytes; empty if they cannot be read.
    pub(super) fn all(self) -> &'data [u8] {
        self.get(0..self.length).unwrap_or_default()
    }

    /// Returns the NUL-terminated string at `start`, of at most `longest` bytes.
    pub(super) fn text(self, start: u64, longest: u64) -> Option<&'data [u8]> {
        let Self { start, length, .. } = self.part(start..self.length.min(start.saturating_add(longest)))?;
        self.file.text(start..start + length)
    }
}

impl<'data> ReadRef<'data> for Section<'data> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.length)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'data [u8], ()> {
        self.get(offset..offset.saturating_add(size)).ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'data [u8], ()> {
        let bytes = self.get(range).ok_or(())?;
        memchr(delimiter, bytes).map(|end| &bytes[..end]).ok_or(())
    }
}
