//! A table that grows without being copied.

use std::ops::{Index, Range};

/// Rows of one allocation: 64 KiB of them at 8 bytes a row.
const CHUNK: usize = 8_192;

/// A table of many small rows, in allocations of [`CHUNK`] rows.
///
/// A `Vec` doubles: for a moment it takes three times the room of its rows, and half of what it ends with may be unused. This
/// takes the room of its rows and at most one chunk more, always, for one more load when a row is read.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    /// All but the last one are full.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T> Chunks<T> {
    /// How many rows there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a row.
    #[inline]
    pub(crate) fn push(&mut self, row: T) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(row),
            _ => self.push_chunk(row),
        }
        self.len += 1;
    }

    #[cold]
    fn push_chunk(&mut self, row: T) {
        // Most profiles are small: the first chunk grows as a `Vec` does.
        let mut chunk = if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(CHUNK) };
        chunk.push(row);
        self.chunks.push(chunk);
    }

    /// A row; `None` past the end.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// Rows that follow each other and are all in one chunk, as those from one multiple of 64 to the next are.
    #[inline]
    pub(crate) fn rows(&self, rows: Range<usize>) -> &[T] {
        let start = rows.start % CHUNK;
        &self.chunks[rows.start / CHUNK][start..start + rows.len()]
    }

    /// All rows, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.chunks[index / CHUNK][index % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_in_order_over_chunks() {
        let mut chunks = Chunks::default();
        assert_eq!((chunks.len(), chunks.get(0)), (0, None));
        let count = 3 * CHUNK + 1;
        for row in 0..count {
            chunks.push(row);
            assert_eq!((chunks.len(), chunks[row]), (row + 1, row));
            assert_eq!(chunks.get(row + 1), None);
        }
        assert!(chunks.iter().copied().eq(0..count));
        assert!((0..count).all(|row| chunks[row] == row));
        for start in (0..count).step_by(64) {
            let rows = start..count.min(start + 64);
            assert!(chunks.rows(rows.clone()).iter().copied().eq(rows));
        }
    }

    #[test]
    fn chunks_take_the_room_of_their_rows() {
        let mut chunks = Chunks::default();
        for row in 0..2 * CHUNK as u64 + 1 {
            chunks.push(row);
        }
        let room: usize = chunks.chunks.iter().map(Vec::capacity).sum();
        assert_eq!(room, 3 * CHUNK, "the room of a chunk that is full, or will be");
    }
}
