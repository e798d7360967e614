//! A table that grows without being copied.

use std::ops::{Index, Range};

/// The maximum size of an allocation, in bytes; every full-sized allocation is larger than half of it. Allocators request allocations of this size
/// from the system and return them to it. Memory that a table used while reading is then available for anything else, instead of leaving holes
/// between live data.
const CHUNK_BYTES: usize = 1 << 20;

/// A table of many small rows, in allocations of 512 KiB to 1 MiB.
///
/// A `Vec` grows by doubling: while it grows, it takes three times the memory of its rows, and afterwards up to half of its memory may be unused.
/// This table takes the memory of its rows plus at most one chunk, whose unused pages are never touched. In return, reading a row takes one more
/// load.
#[derive(Clone, Debug)]
pub(crate) struct ChunkedVec<T> {
    /// All chunks except the last are full.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T> ChunkedVec<T> {
    /// The number of rows in an allocation: a power of two, so finding a row needs no division.
    const ROWS: usize = 1 << (CHUNK_BYTES / size_of::<T>()).ilog2();

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, row: T) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < Self::ROWS.min(chunk.capacity()) => chunk.push(row),
            _ => self.push_to_full(row),
        }
        self.len += 1;
    }

    #[cold]
    fn push_to_full(&mut self, row: T) {
        if let Some(first) = self.chunks.last_mut().filter(|chunk| chunk.len() < Self::ROWS) {
            // Most profiles are small: like a `Vec`, the first chunk doubles until it is full-sized.
            first.reserve_exact(first.len().max(4).min(Self::ROWS - first.len()));
            first.push(row);
            return;
        }
        let mut chunk = if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(Self::ROWS) };
        chunk.push(row);
        self.chunks.push(chunk);
    }

    /// Adds rows with a single copy if they fit into one allocation.
    #[inline]
    pub(crate) fn extend(&mut self, rows: impl ExactSizeIterator<Item = T>) {
        let count = rows.len();
        match self.chunks.last_mut() {
            Some(chunk) if Self::ROWS.min(chunk.capacity()) - chunk.len() >= count => {
                chunk.extend(rows);
                self.len += count;
            }
            _ => rows.for_each(|row| self.push(row)),
        }
    }

    /// Adds copies of `row` until there are `len` rows.
    pub(crate) fn grow(&mut self, len: usize, row: T)
    where
        T: Clone,
    {
        while self.len < len {
            match self.chunks.last_mut() {
                Some(chunk) if chunk.len() < Self::ROWS => {
                    let more = (Self::ROWS - chunk.len()).min(len - self.len);
                    chunk.resize(chunk.len() + more, row.clone());
                    self.len += more;
                }
                _ => self.push(row.clone()),
            }
        }
    }

    /// Returns a row; `None` past the end.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / Self::ROWS)?.get(index % Self::ROWS)
    }

    /// Returns a mutable row; `None` past the end.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.chunks.get_mut(index / Self::ROWS)?.get_mut(index % Self::ROWS)
    }

    /// Returns consecutive rows, which must be in one chunk. The rows between two multiples of 64 always are.
    #[inline]
    pub(crate) fn rows(&self, rows: Range<usize>) -> &[T] {
        let start = rows.start % Self::ROWS;
        &self.chunks[rows.start / Self::ROWS][start..start + rows.len()]
    }

    /// Returns the size of the allocations in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let last = self.chunks.last().map_or(0, Vec::capacity);
        ((self.chunks.len().saturating_sub(1) * Self::ROWS + last) * size_of::<T>()) as u64
    }

    /// Removes all rows. Keeps one allocation for reuse.
    pub(crate) fn clear(&mut self) {
        self.chunks.truncate(1);
        if let Some(chunk) = self.chunks.first_mut() {
            chunk.clear();
        }
        self.len = 0;
    }

    /// Releases unused capacity.
    pub(crate) fn shrink_to_fit(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.shrink_to_fit();
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

impl<T> Index<usize> for ChunkedVec<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.chunks[index / Self::ROWS][index % Self::ROWS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_fills_chunk_after_chunk() {
        let mut chunks = ChunkedVec::default();
        for len in
            [0, 1, 1, ChunkedVec::<usize>::ROWS - 1, ChunkedVec::<usize>::ROWS, 3 * ChunkedVec::<usize>::ROWS + 5, 7]
        {
            let before = chunks.len();
            chunks.grow(len, before);
            assert_eq!(chunks.len(), len.max(before));
            assert!((before..chunks.len()).all(|row| chunks.get(row) == Some(&before)));
        }
        assert_eq!((chunks.iter().count(), chunks.chunks.len()), (3 * ChunkedVec::<usize>::ROWS + 5, 4));
    }

    #[test]
    fn rows_stay_in_order_over_chunks() {
        let mut chunks = ChunkedVec::default();
        assert_eq!((chunks.len(), chunks.get(0)), (0, None));
        let count = 3 * ChunkedVec::<usize>::ROWS + 1;
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
    fn rows_of_any_size_take_no_more_than_a_chunk() {
        let mut chunks = ChunkedVec::default();
        for row in 0..ChunkedVec::<[u64; 3]>::ROWS {
            chunks.push([row as u64; 3]);
            assert!(chunks.chunks[0].capacity() <= ChunkedVec::<[u64; 3]>::ROWS);
        }
        assert_eq!(chunks.chunks.len(), 1);
    }

    #[test]
    fn chunks_take_the_room_of_their_rows() {
        let mut chunks = ChunkedVec::default();
        for row in 0..2 * ChunkedVec::<usize>::ROWS as u64 + 1 {
            chunks.push(row);
        }
        let room: usize = chunks.chunks.iter().map(Vec::capacity).sum();
        assert_eq!(room, 3 * ChunkedVec::<usize>::ROWS, "the room of a chunk that is full, or will be");
        chunks.shrink_to_fit();
        let room: usize = chunks.chunks.iter().map(Vec::capacity).sum();
        assert_eq!((room, chunks.len()), (chunks.len(), 2 * ChunkedVec::<usize>::ROWS + 1));
    }
}
