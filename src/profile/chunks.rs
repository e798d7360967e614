//! A table that grows without being copied.

use std::ops::Index;

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

    /// Adds copies of `row` until there are `len` rows.
    pub(crate) fn grow(&mut self, len: usize, row: T)
    where
        T: Clone,
    {
        while self.len < len {
            match self.chunks.last_mut() {
                Some(chunk) if chunk.len() < CHUNK => {
                    let more = (CHUNK - chunk.len()).min(len - self.len);
                    chunk.resize(chunk.len() + more, row.clone());
                    self.len += more;
                }
                _ => self.push(row.clone()),
            }
        }
    }

    /// A row; `None` past the end.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// A row to be changed; `None` past the end.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.chunks.get_mut(index / CHUNK)?.get_mut(index % CHUNK)
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
    fn growing_fills_chunk_after_chunk() {
        let mut chunks = Chunks::default();
        for len in [0, 1, 1, CHUNK - 1, CHUNK, 3 * CHUNK + 5, 7] {
            let before = chunks.len();
            chunks.grow(len, before);
            assert_eq!(chunks.len(), len.max(before));
            assert!((before..chunks.len()).all(|row| chunks.get(row) == Some(&before)));
        }
        assert_eq!((chunks.iter().count(), chunks.chunks.len()), (3 * CHUNK + 5, 4));
    }

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
