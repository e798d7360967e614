//! Splits a byte stream into blocks. If there are rows, each block ends after a row.

use std::io::{self, Read};

use super::scan::PADDING;

/// The end tag of a row.
const ROW_END: &[u8] = b"</row>";

/// A block without a row end grows to this multiple of its size, at most [`MOST`], and is then split anywhere. A table of contents has no rows.
const LONGEST: usize = 8;

/// The maximum size of a grown block. Many blocks are in memory at the same time.
const MOST: usize = 512 << 10;

/// A part of the input.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The bytes, followed by zeros for the scanner.
    padded: Vec<u8>,
    length: usize,
    /// The offset in the input.
    pub(super) offset: u64,
    /// The number of line feeds; 0 until they are counted.
    pub(super) lines: u64,
    /// Set if the input ends after this block.
    pub(super) end: Option<End>,
}

/// How an input ended.
#[derive(Debug)]
pub(super) enum End {
    Complete,
    /// In the middle of compressed data.
    Cut(io::Error),
    /// Reading failed.
    Failed(io::Error),
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.padded[..self.length]
    }

    /// The bytes, including the zeros after them.
    pub(super) fn padded(&self) -> &[u8] {
        &self.padded[..self.length + PADDING]
    }

    /// Prepends the bytes in `carried`. Until [`give_back`](Self::give_back), `carried` holds the block's old buffer.
    pub(super) fn prepend(&mut self, carried: &mut Vec<u8>) {
        self.offset -= carried.len() as u64;
        carried.reserve_exact(self.length + PADDING);
        carried.extend_from_slice(self.bytes());
        self.length = carried.len();
        carried.resize(self.length + PADDING, 0);
        std::mem::swap(&mut self.padded, carried);
    }

    /// Moves the bytes from `used` on to `carried`, and restores the old buffer, so carried bytes never make a reused block larger.
    pub(super) fn give_back(&mut self, used: usize, carried: &mut Vec<u8>) {
        std::mem::swap(&mut self.padded, carried);
        carried.truncate(self.length);
        carried.drain(..used);
        carried.shrink_to(4 * carried.len().max(MOST));
        self.length = 0;
    }

    /// Counts line feeds. Call it while the bytes are in the CPU cache.
    pub(super) fn count_lines(&mut self) {
        self.lines = count_lines(self.bytes());
    }

    fn clear(&mut self, offset: u64) {
        (self.length, self.offset, self.lines, self.end) = (0, offset, 0, None);
    }

    /// Reserves space for `more` bytes after the current ones.
    fn reserve(&mut self, more: usize) {
        let needed = self.length + more + PADDING;
        if self.padded.len() < needed {
            self.padded.resize(needed, 0);
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.padded[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Reads until the block has `size` bytes, or the source ends.
    fn fill<R: Read>(&mut self, source: &mut R, size: usize) {
        self.reserve(size.saturating_sub(self.length));
        while self.length < size && self.end.is_none() {
            match source.read(&mut self.padded[self.length..size]) {
                Ok(0) => self.end = Some(End::Complete),
                Ok(count) => self.length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.end = Some(End::Cut(error)),
                Err(error) => self.end = Some(End::Failed(error)),
            }
        }
    }

    fn seal(&mut self) {
        self.padded[self.length..self.length + PADDING].fill(0);
    }
}

pub(super) fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Splits an input into blocks.
#[derive(Debug)]
pub(super) struct BlockReader<R> {
    source: R,
    size: usize,
    offset: u64,
    /// Bytes that were read after the end of the last block.
    rest: Vec<u8>,
}

impl<R: Read> BlockReader<R> {
    /// Creates a reader with blocks of about `size` bytes.
    pub(super) fn new(source: R, size: usize) -> Self {
        Self { source, size: size.max(1), offset: 0, rest: Vec::new() }
    }

    /// Reads the next block into `block`. Only the last block has an `end`.
    pub(super) fn read(&mut self, block: &mut Block) {
        block.clear(self.offset);
        block.push(&self.rest);
        self.rest.clear();
        let mut size = self.size.max(block.length + 1);
        loop {
            block.fill(&mut self.source, size);
            if block.end.is_some() {
                break;
            }
            if let Some(end) = row_end(block.bytes()) {
                self.rest.extend_from_slice(&block.bytes()[end..]);
                block.length = end;
                break;
            }
            let most = self.size.saturating_mul(LONGEST).min(MOST).max(self.size);
            if block.length >= most {
                break;
            }
            size = most.min(block.length * 2);
        }
        block.seal();
        self.offset += block.length as u64;
    }
}

/// Returns the end of the last row. Later white space belongs to the next block, since other text may follow it.
pub(super) fn row_end(bytes: &[u8]) -> Option<usize> {
    Some(memchr::memmem::rfind(bytes, ROW_END)? + ROW_END.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(input: &[u8], size: usize) -> Vec<Vec<u8>> {
        let mut reader = BlockReader::new(input, size);
        let mut blocks = Vec::new();
        let mut block = Block::default();
        while block.end.is_none() {
            reader.read(&mut block);
            assert_eq!(block.offset, blocks.iter().map(|block: &Vec<u8>| block.len() as u64).sum::<u64>());
            assert!(block.padded()[block.length..].iter().all(|&byte| byte == 0));
            blocks.push(block.bytes().to_vec());
        }
        blocks
    }

    #[test]
    fn blocks_end_behind_rows() {
        let input = "<head><row>1</row>\n<row>22</row>\r\n\n<row>333</row></head>";
        for size in 1..=input.len() + 1 {
            let blocks = blocks(input.as_bytes(), size);
            assert_eq!(blocks.concat(), input.as_bytes(), "nothing is lost, size {size}");
            if size >= 8 {
                let (_, others) = blocks.split_last().unwrap();
                assert!(others.iter().all(|block| row_end(block) == Some(block.len())), "size {size}");
            }
        }
        assert_eq!(blocks(b"", 10), [b""]);
    }

    #[test]
    fn without_rows_a_block_is_cut_anywhere() {
        let blocks = blocks(&[b'x'; 1_000], 10);
        assert_eq!(blocks.concat().len(), 1_000);
        assert!(blocks.iter().all(|block| block.len() <= 10 * LONGEST * 2));
    }
}
