//! The bytes of a file, read on demand.
//!
//! A lookup needs a small part of a dSYM: the units with its addresses, and some strings. Only these are read, once each, and stay in memory
//! until the lookup is done. The file is not memory-mapped: if another program truncates it, a read returns an error, but an access to a mapped
//! page would end the process.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::io;
use std::ops::Range;

#[cfg(feature = "symbols")]
use memchr::memchr;

use crate::hash::HashMap;
use crate::memory::{MemoryBudget, Reservation};

/// The maximum number of bytes read, as a multiple of the file's length. Pieces may overlap, but in an intact file few bytes are read twice.
const PASSES: u64 = 4;
/// The number of bytes that may always be read, even from a tiny file.
const FREE_BYTES: u64 = 1 << 20;

/// The unit of reading, since most reads are small: strings and unit headers.
const BLOCK: u64 = 16 << 10;

/// The number of blocks in a group. Groups without a read block take no memory, since a lookup reads a few parts of a file of gigabytes.
const GROUP: u64 = 256;

/// The file that a [`FileBytes`] reads from.
pub(super) trait Source {
    /// Reads at an offset, as much as is available at once; 0 at the end of the file.
    fn read_at(&mut self, offset: u64, place: &mut [u8]) -> io::Result<usize>;

    /// Fails if the file has changed since it was opened.
    fn check(&self) -> io::Result<()>;
}

/// A part of a file. Its bytes are in memory or read on demand.
pub struct FileBytes<'f> {
    content: Content<'f>,
    length: u64,
}

enum Content<'f> {
    Memory(Cow<'f, [u8]>, #[expect(dead_code, reason = "it is given back when it is dropped")] Reservation),
    File(Box<Pieces<'f>>),
}

/// The bytes of a block, once read.
type Block = OnceCell<Box<[u8]>>;

/// Cells that are allocated when the first is needed.
type Cells<T> = OnceCell<Box<[OnceCell<T>]>>;

/// The parts of a source read so far.
struct Pieces<'f> {
    shared: Shared<'f>,
    start: u64,
    /// The groups of blocks by position; allocated on the first read.
    groups: Cells<Box<[Block]>>,
    /// Ranges that are larger than a block, or span several blocks.
    ranges: Shelf,
    /// The index of a range in `ranges`, by start and length.
    range_at: RefCell<HashMap<(u64, u64), usize>>,
}

/// A list that never moves its elements: 32 arrays, each twice as large as the one before. There cannot be 2³² ranges, since each takes more than
/// a byte of memory.
#[derive(Default)]
struct Shelf([OnceCell<Box<[Block]>>; 32]);

impl Shelf {
    /// Returns a slot, which may be empty.
    fn place(&self, index: usize) -> &Block {
        let case = (index + 1).ilog2();
        let first = (1 << case) - 1;
        let places = || std::iter::repeat_with(OnceCell::new).take(1 << case).collect();
        &self.0[case as usize].get_or_init(places)[index - first]
    }
}

/// The source, the memory reserved for it, and the first error.
struct Shared<'f> {
    source: RefCell<Box<dyn Source + 'f>>,
    failure: OnceCell<io::Error>,
    /// The number of bytes read so far, and the length of the part.
    read: Cell<u64>,
    length: u64,
    reserved: RefCell<Reservation>,
}

impl fmt::Debug for FileBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_in_memory = matches!(self.content, Content::Memory(..));
        let mut shown = f.debug_struct("FileBytes");
        shown.field("length", &self.length).field("is_in_memory", &is_in_memory).finish_non_exhaustive()
    }
}

impl From<Vec<u8>> for FileBytes<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::held(bytes, Reservation::default())
    }
}

impl<'f> From<&'f [u8]> for FileBytes<'f> {
    fn from(bytes: &'f [u8]) -> Self {
        Self { length: bytes.len() as u64, content: Content::Memory(bytes.into(), Reservation::default()) }
    }
}

impl<'f> FileBytes<'f> {
    /// Bytes in memory, with their reservation.
    pub(crate) fn held(bytes: Vec<u8>, reserved: Reservation) -> Self {
        Self { length: bytes.len() as u64, content: Content::Memory(bytes.into(), reserved) }
    }

    /// Charges all bytes read to a budget for the lifetime of this value. Beyond the budget, reads fail, and [`check`](Self::check) reports that.
    #[must_use]
    pub fn within(self, budget: &MemoryBudget) -> Self {
        if let Content::File(pieces) = &self.content {
            pieces.shared.reserved.replace(budget.nothing());
        }
        self
    }

    /// Creates a part of a source. Nothing is read yet.
    pub(super) fn new(source: Box<dyn Source + 'f>, range: Range<u64>) -> Self {
        let length = range.end.saturating_sub(range.start);
        let shared = Shared {
            source: source.into(),
            failure: OnceCell::new(),
            read: Cell::new(0),
            length,
            reserved: RefCell::default(),
        };
        let (groups, ranges, range_at) = (OnceCell::new(), Shelf::default(), RefCell::default());
        let pieces = Pieces { shared, start: range.start, groups, ranges, range_at };
        Self { content: Content::File(Box::new(pieces)), length }
    }

    /// The length of the part in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// True if the part is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Reserves more memory for results; `None` if the budget is exceeded, as in [`get`](Self::get).
    pub(crate) fn reserve(&self, bytes: u64) -> Option<()> {
        match &self.content {
            Content::Memory(..) => Some(()),
            Content::File(pieces) => pieces.shared.reserve(bytes),
        }
    }

    /// Returns bytes of the part; `None` if it is too short, or if reading fails, which [`check`](Self::check) reports.
    pub fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.length {
            return None;
        }
        // There may be no block at the end of the file.
        if range.is_empty() {
            return Some(&[]);
        }
        let pieces = match &self.content {
            Content::Memory(bytes, _) => return bytes.get(within(&range)?),
            Content::File(pieces) => pieces,
        };
        let index = range.start / BLOCK;
        let block = index * BLOCK;
        if range.end > block + BLOCK {
            return pieces.range(range);
        }
        pieces.block(index)?.get(within(&(range.start - block..range.end - block))?)
    }

    /// Fills `place` with bytes of the part, without keeping them in memory; `None` as in [`get`](Self::get).
    pub(crate) fn copy(&self, start: u64, place: &mut [u8]) -> Option<()> {
        let end = start.checked_add(place.len() as u64).filter(|&end| end <= self.length)?;
        match &self.content {
            Content::Memory(bytes, _) => place.copy_from_slice(bytes.get(within(&(start..end))?)?),
            Content::File(pieces) => pieces.shared.fill(pieces.start.saturating_add(start), place)?,
        }
        Some(())
    }

    /// Returns the NUL-terminated string at the start of a range, without the NUL; `None` if there is no NUL, or the bytes cannot be read.
    #[cfg(feature = "symbols")]
    pub(crate) fn text(&self, range: Range<u64>) -> Option<&[u8]> {
        let range = range.start..range.end.min(self.length);
        if let Content::Memory(bytes, _) = &self.content {
            let bytes = bytes.get(within(&range)?)?;
            return Some(&bytes[..memchr(0, bytes)?]);
        }
        let mut end = range.start - range.start % BLOCK + BLOCK;
        loop {
            let bytes = self.get(range.start..end.min(range.end))?;
            match memchr(0, bytes) {
                Some(length) => return Some(&bytes[..length]),
                None if end >= range.end => return None,
                // Each step doubles the range.
                None => end += (end - range.start).max(BLOCK),
            }
        }
    }

    /// Fails if any read failed, or if the file changed after it was opened.
    ///
    /// # Errors
    /// Returns the first read error, or an error about the change.
    pub fn check(&self) -> io::Result<()> {
        let Content::File(pieces) = &self.content else { return Ok(()) };
        match pieces.shared.failure.get() {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
            None => pieces.shared.source.borrow().check(),
        }
    }
}

impl Pieces<'_> {
    /// Returns a block; `None` after the end. Only the last block may be shorter.
    fn block(&self, index: u64) -> Option<&[u8]> {
        let block = self.group(index / GROUP)?.get((index % GROUP) as usize)?;
        if block.get().is_none() {
            let start = index * BLOCK;
            let length = BLOCK.min(self.shared.length.checked_sub(start)?);
            let _ = block.set(self.read(start, length)?);
        }
        block.get().map(Box::as_ref)
    }

    fn group(&self, index: u64) -> Option<&[Block]> {
        let count = self.shared.length.div_ceil(BLOCK * GROUP);
        let group = self.cells(&self.groups, count)?.get(usize::try_from(index).ok()?)?;
        // The last group may have fewer blocks.
        self.cells(group, GROUP.min(self.shared.length.div_ceil(BLOCK) - index * GROUP))
    }

    /// Returns empty cells, which are allocated once.
    fn cells<'p, T>(&self, place: &'p Cells<T>, count: u64) -> Option<&'p [OnceCell<T>]> {
        if place.get().is_none() {
            let count = usize::try_from(count).ok()?;
            self.shared.reserve((count * size_of::<OnceCell<T>>()) as u64)?;
            let _ = place.set(std::iter::repeat_with(OnceCell::new).take(count).collect());
        }
        place.get().map(Box::as_ref)
    }

    /// Returns a range that spans several blocks.
    fn range(&self, range: Range<u64>) -> Option<&[u8]> {
        let (start, length) = (range.start, range.end - range.start);
        let mut range_at = self.range_at.borrow_mut();
        let next = range_at.len();
        let index = *range_at.entry((start, length)).or_insert(next);
        let place = self.ranges.place(index);
        if place.get().is_none() {
            let _ = place.set(self.read(start, length)?);
        }
        place.get().map(Box::as_ref)
    }

    /// Reads bytes of the part, after reserving memory for them. Zeroed memory is cheap, since the system zeroes large allocations.
    fn read(&self, start: u64, length: u64) -> Option<Box<[u8]>> {
        self.shared.reserve(length)?;
        let mut bytes = vec![0; usize::try_from(length).ok()?].into_boxed_slice();
        self.shared.fill(self.start.saturating_add(start), &mut bytes)?;
        Some(bytes)
    }
}

impl Shared<'_> {
    /// Reserves memory. If that exceeds the budget, returns `None` and keeps the error.
    fn reserve(&self, bytes: u64) -> Option<()> {
        let taken = self.reserved.borrow_mut().grow(bytes);
        self.note(taken.map_err(|over| io::Error::new(io::ErrorKind::OutOfMemory, over)))
    }

    /// Fills the buffer from an offset of the source.
    fn fill(&self, mut start: u64, mut place: &mut [u8]) -> Option<()> {
        while !place.is_empty() {
            match self.read_some(start, place) {
                Ok(count) => (start, place) = (start + count as u64, &mut place[count..]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.note(Err(error)),
            }
        }
        Some(())
    }

    /// Reads at least one byte, and counts the bytes read. Without a limit, unterminated strings could make a small file be read a million times.
    fn read_some(&self, start: u64, place: &mut [u8]) -> io::Result<usize> {
        let count = self.source.borrow_mut().read_at(start, place)?;
        if count == 0 && !place.is_empty() {
            return Err(cut());
        }
        self.read.set(self.read.get() + count as u64);
        if self.read.get() > self.length.saturating_mul(PASSES).saturating_add(FREE_BYTES) {
            let what = "its parts overlap, so that it would be read again and again";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(count)
    }

    /// Keeps the first error.
    fn note<T>(&self, result: io::Result<T>) -> Option<T> {
        result.map_err(|error| self.failure.set(error)).ok()
    }
}

fn within(range: &Range<u64>) -> Option<Range<usize>> {
    Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// The error for a file that was truncated after it was opened.
pub(super) fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than it was; it was truncated while it was read")
}

/// The error for a file that was changed or replaced.
pub(super) fn changed_meanwhile() -> io::Error {
    io::Error::other("the file changed while it was read")
}
