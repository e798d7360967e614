//! The arrays of numbers that rows refer to by index.
//!
//! `uniquing/arrayUniquer/integeruniquer.index` contains the position of each array in `integeruniquer.data`, little endian:
//!
//! | part | size | fields |
//! |---|---|---|
//! | header of the index | 32 | u32 `0x01234567`, six unused numbers, u32 size of a block of the data |
//! | … its entries | 8 each | u32 offset in the block, u32 block; the first one is empty, array *i* has entry *i* + 1 |
//! | header of the data | 32 | u32 `0x01234567`, … |
//! | … an array | 4 + 8 × n | u32 n, n numbers of 8 bytes; within one block |
//!
//! Both files are padded with zeros. An unused entry is therefore zero: it points to the header of the data file, where no array can be.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::file::{Content, Inflated, Room, broken_at, broken_whole, first_not_zero, over_budget, too_large};
use crate::error::{Diagnostic, Error};
use crate::files::{Files, shown};
use crate::memory::Reservation;
use crate::symbols::u32_at;

const MAGIC: u32 = 0x0123_4567;
const HEADER: usize = 32;
const FIRST: usize = HEADER + 8;

pub(super) struct Arrays {
    index: Inflated,
    count: usize,
    /// The size of a block.
    block: u64,
    /// The blocks of the data. Each is set once it has been read; accessing it earlier waits for it.
    blocks: Vec<OnceLock<Vec<u8>>>,
    /// The memory used by the blocks.
    reserved: Mutex<Reservation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers<'a>(&'a [[u8; 8]]);

impl<'a> Numbers<'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn get(self, index: usize) -> Option<u64> {
        self.0.get(index).map(|bytes| u64::from_le_bytes(*bytes))
    }

    pub(super) fn iter(self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + 'a {
        self.0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }
}

impl Arrays {
    /// Reads the index in a folder (`uniquing/arrayUniquer`), and opens the data for [`fill`](Self::fill). Both must be within the limits.
    pub(super) fn open<'f>(files: &'f dyn Files, folder: &Path, room: &Room) -> Result<(Self, ArrayData<'f>), Error> {
        let (path, data) = (folder.join("integeruniquer.index"), folder.join("integeruniquer.data"));
        let content = Content::require(files, &data)?;
        let index = Content::require(files, &path)?.read_all(room)?;
        let limit = room.file_bytes;
        let block = check_index(&path, &index)?;
        let entries = index.get(FIRST..).unwrap_or_default().chunks_exact(8);
        // Unused entries refer to block 0, which also contains the header.
        let blocks = entries.map(|entry| u64::from(u32_at(entry, 4)) + 1).max().unwrap_or(1);
        // The last block may be incomplete.
        if (blocks - 1).saturating_mul(block) > limit {
            return Err(too_large(&data, limit));
        }
        // Every block except the first contains an array, so there are at most as many blocks as entries.
        if blocks - 1 > (index.len() / 8) as u64 {
            return Err(broken_whole(&path, format_args!("{blocks} blocks are too many for so few arrays")));
        }
        let blocks = (0..blocks).map(|_| OnceLock::new()).collect();
        let used = index.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let count = used.saturating_sub(FIRST).div_ceil(8);
        let reserved = Mutex::new(room.memory.nothing());
        Ok((Self { index, count, block, blocks, reserved }, ArrayData { content, path: data, limit }))
    }

    /// Reads all blocks. If reading fails, the failed block and all later ones become empty for all threads. Returns a diagnostic if the arrays
    /// are not contiguous and in order.
    pub(super) fn fill(&self, data: ArrayData<'_>) -> Result<Option<Diagnostic>, Error> {
        let ArrayData { mut content, path, limit } = data;
        // Wakes up waiting threads even if reading fails.
        let _release = Release(&self.blocks);
        let (mut next, mut total) = (Ok(0), 0);
        for (number, place) in self.blocks.iter().enumerate() {
            let mut block = Vec::new();
            // The buffer grows as bytes arrive, since the block size in the index cannot be trusted.
            while (block.len() as u64) < self.block {
                let missing = self.block - block.len() as u64;
                if content.append(&mut block, missing.min(1 << 20))? == 0 {
                    break;
                }
            }
            total += block.len() as u64;
            let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
            reserved.grow(block.capacity() as u64).map_err(|over| over_budget(&path, over))?;
            drop(reserved);
            if total > limit {
                return Err(too_large(&path, limit));
            }
            let is_nothing = self.index.is_empty() && total == 0;
            if number == 0 && !is_nothing && (block.len() < HEADER || u32_at(&block, 0) != MAGIC) {
                let rule =
                    format_args!("its {} bytes begin with {:#x} instead of {MAGIC:#x}", block.len(), u32_at(&block, 0));
                return Err(broken_whole(&path, rule));
            }
            next = next.and_then(|next| self.check_block(number, &block, next));
            // Cannot fail: only this thread sets blocks.
            let _ = place.set(block);
        }
        content.skip_zeros(total, u64::MAX, "space after the arrays")?;
        content.check_end()?;
        let next = next.and_then(|next| {
            if next == self.count {
                Ok(())
            } else {
                Err((total, format!("array {next} should be here, but is missing")))
            }
        });
        Ok(next.err().map(|(at, rule)| {
            let message = format!(
                "{}: at {at:#x}: {rule}: arrays are not where they should be, and stacks may be wrong",
                shown(&path)
            );
            Diagnostic::new(message)
        }))
    }

    /// Checks that arrays are in index order, with nothing between or after them. Without this check, an entry that points to the wrong array
    /// would be accepted. Returns the index of the first array of the next block.
    fn check_block(&self, number: usize, block: &[u8], mut next: usize) -> Result<usize, (u64, String)> {
        let base = number as u64 * self.block;
        let mut end = if number == 0 { HEADER } else { 0 };
        while let Some(entry) = self.index.get(FIRST + 8 * next..FIRST + 8 * next + 8) {
            let (within, own) = (u32_at(entry, 0) as usize, u32_at(entry, 4) as usize);
            if own != number || (within, own) == (0, 0) {
                break;
            }
            let gap = block.get(end..within).ok_or((
                base + end as u64,
                format!("array {next} should be here, but is at {within:#x} of its block"),
            ))?;
            if let Some(odd) = first_not_zero(gap) {
                return Err((base + (end + odd) as u64, format!("there are unexpected bytes before array {next}")));
            }
            let count = block.get(within..within + 4).map(|count| u32_at(count, 0) as usize);
            end = count.map_or(usize::MAX, |count| within + 4 + 8 * count);
            if end > block.len() {
                return Err((base + within as u64, format!("array {next} extends beyond its block")));
            }
            next += 1;
        }
        match first_not_zero(&block[end.min(block.len())..]) {
            Some(odd) => Err((base + (end + odd) as u64, "the rest of the block is not empty".to_owned())),
            None => Ok(next),
        }
    }

    /// The number of arrays, which is the number of index entries up to the last used one.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The maximum total size of the arrays in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.len() as u64 * self.block
    }

    /// Returns the array with this index, or the reason why there is none.
    pub(super) fn get(&self, number: u32) -> Result<Numbers<'_>, String> {
        self.find(number).map_err(|bad| match bad {
            BadReference::Beyond(count) => format!("there is no array {number}; the number of arrays is {count}"),
            BadReference::NoPlace(at) => {
                format!("array {number} would be at {at:#x} of the data, where no array can be")
            }
            BadReference::TooLong(at, count) => {
                format!("array {number} at {at:#x} of the data has {count} numbers, more than fit in its block")
            }
        })
    }

    /// Like [`get`](Self::get), without formatting a message. This is frequent, since most stacks end with an index that has no array.
    pub(super) fn find(&self, number: u32) -> Result<Numbers<'_>, BadReference> {
        let entry = FIRST + 8 * number as usize;
        if number as usize >= self.len() {
            return Err(BadReference::Beyond(self.len()));
        }
        let (within, block) = (u32_at(&self.index, entry) as usize, u32_at(&self.index, entry + 4) as usize);
        let start = block as u64 * self.block + within as u64;
        let block = self.blocks[block].wait();
        if start < HEADER as u64 || within + 4 > block.len() {
            return Err(BadReference::NoPlace(start));
        }
        let count = u32_at(block, within) as usize;
        let numbers = block[within + 4..].get(..8 * count).ok_or(BadReference::TooLong(start, count as u64))?;
        Ok(Numbers(numbers.as_chunks().0))
    }
}

/// The array data that has not been read yet.
pub(super) struct ArrayData<'f> {
    content: Content<'f>,
    path: PathBuf,
    limit: u64,
}

/// Sets unread blocks to empty when dropped, to wake up threads that wait for them.
struct Release<'a>(&'a [OnceLock<Vec<u8>>]);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        for block in self.0 {
            block.get_or_init(Vec::new);
        }
    }
}

/// Checks the header of the index, and returns the size of a block of the data.
fn check_index(path: &Path, index: &[u8]) -> Result<u64, Error> {
    // If nothing was recorded, the index has no header.
    if index.is_empty() {
        return Ok(HEADER as u64);
    }
    if index.len() < FIRST || u32_at(index, 0) != MAGIC || !(index.len() - FIRST).is_multiple_of(8) {
        let (length, magic) = (index.len(), u32_at(index, 0));
        let rule = format_args!(
            "its {length} bytes, which begin with {magic:#x}, are not a header that begins with {MAGIC:#x}, followed by entries of 8 bytes"
        );
        return Err(broken_whole(path, rule));
    }
    if index[HEADER..FIRST] != [0; 8] {
        return Err(broken_at(path, HEADER as u64, "the first entry", "it is not empty"));
    }
    match u64::from(u32_at(index, 28)) {
        block if block < HEADER as u64 => {
            Err(broken_at(path, 28, "size of a block", format_args!("{block} is too small")))
        }
        block => Ok(block),
    }
}

/// Why no array has an index.
#[derive(Clone, Copy, Debug)]
pub(super) enum BadReference {
    /// The index is beyond this number of arrays.
    Beyond(usize),
    /// No array can start at this offset of the data.
    NoPlace(u64),
    /// The array at this offset claims this many numbers, more than fit in its block.
    TooLong(u64, u64),
}

/// The reserved index for no value.
pub(super) const NONE: u32 = u32::MAX;

/// The index of an array, from an 8-byte word.
pub(super) fn reference(word: u64) -> Option<u32> {
    u32::try_from(word).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Entry;
    use crate::memory::MemoryBudget;

    /// The contents of the index and the data file.
    struct Pair(Vec<u8>, Vec<u8>);

    impl Files for Pair {
        fn entry(&self, _: &Path) -> std::io::Result<Entry> {
            Ok(Entry::File { length: 0, modified: 0, changed: 0 })
        }

        fn canonical(&self, path: &Path) -> std::io::Result<PathBuf> {
            Ok(path.to_owned())
        }

        fn list(&self, _: &Path) -> std::io::Result<Vec<PathBuf>> {
            Ok(Vec::new())
        }

        fn read(&self, path: &Path, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
            let bytes = if path.ends_with("integeruniquer.index") { &self.0 } else { &self.1 };
            Ok(bytes.iter().skip(offset as usize).take(length).copied().collect())
        }
    }

    /// Two blocks of 64 bytes: arrays 0 and 1 in the first one, array 2 in the second one, entry 3 unused.
    fn pair() -> Pair {
        let mut index = vec![0; FIRST + 4 * 8];
        let mut data = vec![0; 128];
        index[..4].copy_from_slice(&MAGIC.to_le_bytes());
        index[28..32].copy_from_slice(&64_u32.to_le_bytes());
        data[..4].copy_from_slice(&MAGIC.to_le_bytes());
        let arrays = [(32, 0, &[7][..]), (44, 0, &[]), (0, 1, &[1, 2, u64::MAX])];
        for (number, (within, block, numbers)) in arrays.into_iter().enumerate() {
            let at = FIRST + 8 * number;
            index[at..at + 4].copy_from_slice(&u32::to_le_bytes(within));
            index[at + 4..at + 8].copy_from_slice(&u32::to_le_bytes(block));
            let at = (block * 64 + within) as usize;
            data[at..at + 4].copy_from_slice(&(numbers.len() as u32).to_le_bytes());
            for (number, place) in numbers.iter().zip(data[at + 4..].chunks_exact_mut(8)) {
                place.copy_from_slice(&u64::to_le_bytes(*number));
            }
        }
        Pair(index, data)
    }

    fn read(pair: &Pair) -> Result<Arrays, String> {
        let room = Room { file_bytes: 1 << 20, memory: MemoryBudget::unlimited() };
        let (arrays, data) = Arrays::open(pair, Path::new(""), &room).map_err(|error| error.to_string())?;
        match arrays.fill(data).map_err(|error| error.to_string())? {
            Some(odd) => Err(odd.to_string()),
            None => Ok(arrays),
        }
    }

    #[test]
    fn arrays_are_found_in_their_blocks() {
        let arrays = read(&pair()).unwrap();
        let numbers = |number| arrays.get(number).map(|numbers| numbers.iter().collect::<Vec<_>>());
        assert_eq!(numbers(0), Ok(vec![7]));
        assert_eq!(numbers(1), Ok(vec![]));
        assert_eq!(numbers(2), Ok(vec![1, 2, u64::MAX]));
        assert!(numbers(3).unwrap_err().contains("the number of arrays is 3"));
        assert!(numbers(u32::MAX).is_err());
    }

    #[test]
    fn files_that_are_no_arrays_are_told() {
        let check = |change: &dyn Fn(&mut Pair)| {
            let mut pair = pair();
            change(&mut pair);
            read(&pair).map(|_| ())
        };
        assert_eq!(check(&|_| {}), Ok(()));
        let is_empty = |pair: &mut Pair| {
            pair.0.clear();
            pair.1[HEADER..].fill(0);
        };
        assert_eq!(check(&is_empty), Ok(()));
        for (change, word) in [
            (&(|pair: &mut Pair| pair.0[0] = 0) as &dyn Fn(&mut Pair), "not a header"),
            (&|pair| pair.1[0] = 0, "its 64 bytes begin with"),
            (&|pair| pair.0.truncate(45), "not a header"),
            (&|pair| pair.0.clear(), "space after the arrays at 0x20"),
            (&|pair| pair.0[39] = 1, "not empty"),
            (&|pair| pair.0[28] = 31, "size of a block"),
            (&|pair| pair.0[FIRST + 4] = 9, "at 0x20: the rest of the block is not empty"),
            (&|pair| pair.0[FIRST + 4] = 12, "13 blocks are too many"),
            (&|pair| pair.0[FIRST + 7] = 9, "larger than"),
            (&|pair| pair.0.swap(FIRST, FIRST + 8), "at 0x20: there are unexpected bytes before array 0"),
            (&|pair| pair.0[FIRST + 8..FIRST + 16].fill(0), "at 0x40: the rest of the block is not empty"),
            (&|pair| pair.1[48] = 1, "at 0x30: the rest of the block is not empty"),
            (&|pair| pair.1[127] = 1, "at 0x7f: the rest of the block is not empty"),
            (&|pair| pair.1.push(1), "space after the arrays at 0x80"),
            (&|pair| pair.0[FIRST + 24] = 1, "array 3 should be here"),
            (&|pair| pair.1[44] = 3, "array 1 extends beyond"),
            (&|pair| pair.1.truncate(64), "array 2 extends beyond"),
        ] {
            let message = check(change).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
