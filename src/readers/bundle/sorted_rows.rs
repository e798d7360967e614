//! Sorts the rows of a store by time, as in exports. The store is in write order, so intervals are sorted by their end.
//!
//! Up to a few million rows are sorted in memory. More rows are sorted in parts, which are written to temporary files and then merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use super::file::{Room, over_budget};
use super::layout::{Layout, Place};
use super::rows::Rows;
use crate::error::{Diagnostic, Error};
use crate::files::shown;
use crate::memory::of_vec;

/// The number of bytes of rows that are sorted at a time. WebAssembly has no temporary files, so it sorts as many as the memory budget allows.
const TOGETHER: usize = if cfg!(target_family = "wasm") { isize::MAX as usize } else { 48 << 20 };
/// If only the first rows are wanted, at least twice this many are sorted at a time.
const FEW: usize = 1 << 15;
/// The buffer size for temporary files.
const BUFFER: usize = 256 << 10;

/// Calls `each` with every row and its offset in the inflated file, sorted by the value at `time`. The sort is stable; rows without a time come
/// last. Stops after `most` rows, if given. Returns a diagnostic about the file, if any.
pub(super) fn for_each_by_time(
    mut rows: Rows<'_>,
    layout: &Layout,
    (time, most): (Option<Place>, Option<usize>),
    room: &Room,
    mut each: impl FnMut(&[u8], u64) -> Result<(), Error>,
) -> Result<Option<Diagnostic>, Error> {
    let (size, path) = (layout.row_size, rows.path().to_owned());
    let failed = |error| Error::unreadable(shown(&path), error);
    let mut reserved = room.memory.nothing();
    let mut part = Part { size, rows: Vec::new(), order: Vec::new() };
    let mut parts = Vec::new();
    let key = |row: &[u8]| match time {
        Some(time) => time.value(row).unwrap_or(u64::MAX),
        None => 0,
    };
    // Rows from this time on are not among the first ones; `None` until that is known.
    let mut too_late = None;
    while let Some((piece, start)) = rows.next()? {
        if part.rows.len() + piece.len() > TOGETHER && !part.order.is_empty() {
            parts.push(part.spill().map_err(failed)?);
        }
        for (row, at) in piece.chunks_exact(size).zip((start..).step_by(size)) {
            let key = key(row);
            if too_late.is_none_or(|too_late| key < too_late) {
                part.order.push((key, at, part.order.len() as u32));
                part.rows.extend_from_slice(row);
            }
        }
        if let Some(most) = most.filter(|most| part.order.len() / 2 > (*most).max(FEW)) {
            part.keep_first(most);
            too_late = part.order.last().map(|&(key, ..)| key);
        }
        reserved.resize(part.memory()).map_err(|over| over_budget(&path, over))?;
    }
    if parts.is_empty() {
        part.sort();
        let first = &part.order[..most.map_or(part.order.len(), |most| most.min(part.order.len()))];
        first.iter().try_for_each(|&(_, at, index)| each(part.row(index), at))?;
    } else {
        parts.push(part.spill().map_err(failed)?);
        drop(part);
        merge(parts, most.unwrap_or(usize::MAX), failed, each)?;
    }
    Ok(rows.diagnostic())
}

struct Part {
    size: usize,
    rows: Vec<u8>,
    /// The time, file offset and index of each row.
    order: Vec<(u64, u64, u32)>,
}

impl Part {
    fn memory(&self) -> u64 {
        of_vec(&self.rows) + of_vec(&self.order)
    }

    fn row(&self, index: u32) -> &[u8] {
        let start = index as usize * self.size;
        &self.rows[start..start + self.size]
    }

    fn sort(&mut self) {
        // Most stores are nearly sorted, which costs little more than a scan.
        self.order.sort();
    }

    /// Keeps only the first `most` rows.
    fn keep_first(&mut self, most: usize) {
        self.sort();
        self.order.truncate(most);
        self.rows = self.order.iter().flat_map(|&(.., index)| self.row(index)).copied().collect();
        self.order.iter_mut().zip(0..).for_each(|(row, place)| row.2 = place);
    }

    /// Writes the rows (time, offset and bytes of each) to a temporary file, and clears the part.
    fn spill(&mut self) -> io::Result<Spilled> {
        self.sort();
        let mut out = BufWriter::with_capacity(BUFFER, tempfile::tempfile()?);
        for &(time, at, index) in &self.order {
            out.write_all(&time.to_le_bytes())?;
            out.write_all(&at.to_le_bytes())?;
            out.write_all(self.row(index))?;
        }
        let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let left = self.order.len();
        self.order.clear();
        self.rows.clear();
        Ok(Spilled { file: Box::new(BufReader::with_capacity(BUFFER, file)), left, row: vec![0; self.size] })
    }
}

/// A sorted part in a temporary file, which is deleted when this is dropped.
struct Spilled {
    file: Box<dyn Read>,
    left: usize,
    row: Vec<u8>,
}

impl Spilled {
    /// Reads the next row. Returns its time and offset.
    fn next(&mut self) -> io::Result<Option<(u64, u64)>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut number = || {
            let mut bytes = [0; 8];
            self.file.read_exact(&mut bytes)?;
            Ok::<_, io::Error>(u64::from_le_bytes(bytes))
        };
        let key = (number()?, number()?);
        self.file.read_exact(&mut self.row)?;
        Ok(Some(key))
    }
}

/// Merges sorted parts, and passes on the first `most` rows.
fn merge(
    mut parts: Vec<Spilled>,
    most: usize,
    failed: impl Fn(io::Error) -> Error,
    mut each: impl FnMut(&[u8], u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut heads = BinaryHeap::new();
    for (index, part) in parts.iter_mut().enumerate() {
        heads.extend(part.next().map_err(&failed)?.map(|(time, at)| Reverse((time, at, index))));
    }
    for _ in 0..most {
        let Some(Reverse((_, at, index))) = heads.pop() else { break };
        each(&parts[index].row, at)?;
        heads.extend(parts[index].next().map_err(&failed)?.map(|(time, at)| Reverse((time, at, index))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_stay_whole() {
        let mut part = Part { size: 2, rows: Vec::new(), order: Vec::new() };
        let keys: Vec<u64> = (0..200_u64).map(|row| row * 7_919 % 101).collect();
        for (at, &key) in (0..).zip(&keys) {
            part.order.push((key, at, part.order.len() as u32));
            part.rows.extend_from_slice(&[key as u8, at as u8]);
            if part.order.len() > 10 {
                part.keep_first(5);
            }
        }
        part.keep_first(5);
        let mut expected: Vec<[u8; 2]> = (0..).zip(&keys).map(|(at, &key)| [key as u8, at]).collect();
        expected.sort_unstable();
        let found: Vec<&[u8]> = part.order.iter().map(|&(.., index)| part.row(index)).collect();
        assert_eq!(found, expected[..5].iter().map(|row| &row[..]).collect::<Vec<_>>());
        assert_eq!(part.rows.len(), 10);
    }
}
