//! The scanner alone, for benches: rows that are in memory are put on tapes, and the tapes are forgotten.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{Builder, scope};

use memchr::memmem;

use super::blocks::row_end;
use super::scan;
use super::tape::Tape;
use crate::recording::Options;

impl Options {
    /// Scans the rows of an export on [`Self::jobs`] threads, and gives how many there were. `bytes` are the export and 32 zeros
    /// behind it; without them nothing is scanned. Of a block ([`Self::buffer_size`]) those rows count that stand before the first
    /// one the scanner leaves to others.
    ///
    /// Nothing is copied, and nothing comes of it: this is for measuring what scanning costs.
    #[doc(hidden)]
    pub fn scanned_rows(&self, bytes: &[u8]) -> u64 {
        if !bytes.ends_with(&[0; scan::PADDING]) {
            return 0;
        }
        let (next, rows) = (AtomicUsize::new(0), AtomicU64::new(0));
        let size = self.buffer_size.max(1);
        let work = || {
            let (mut memory, mut tape, mut own_rows) = (scan::Memory::default(), Tape::default(), 0);
            loop {
                let start = next.fetch_add(size, Ordering::Relaxed);
                if start >= bytes.len() {
                    break;
                }
                own_rows += rows_between(bytes, start, start.saturating_add(size), self, (&mut memory, &mut tape));
            }
            rows.fetch_add(own_rows, Ordering::Relaxed);
        };
        scope(|threads| {
            for _ in 1..self.jobs {
                if Builder::new().spawn_scoped(threads, work).is_err() {
                    break;
                }
            }
            work();
        });
        rows.into_inner()
    }
}

/// Scans the rows from the end of the last one before `start` to the end of the last one before `end`, and gives how many.
fn rows_between(
    bytes: &[u8],
    start: usize,
    end: usize,
    options: &Options,
    (memory, tape): (&mut scan::Memory, &mut Tape),
) -> u64 {
    let end_before = |place: usize| row_end(&bytes[..place.min(bytes.len())]).unwrap_or(0);
    let (start, end) = (end_before(start), end_before(end));
    let Some(first) = memmem::find(&bytes[start..end], b"<row>") else { return 0 };
    let first = start + first;
    scan::rows(&bytes[first..], 0..end - first, &options.limits, None, memory, tape);
    tape.rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_scanned_once() {
        let row = |id: usize| {
            format!("<row><sample-time id=\"{id}\" fmt=\"00:00.000.001\">1</sample-time><weight ref=\"1\"/></row>\n")
        };
        let rows: String = (2..300).map(row).collect();
        let zeros = "\0".repeat(scan::PADDING);
        for text in [format!("<node><schema/>\n{rows}"), format!("<node><schema/>\n{rows}</node>")] {
            for (buffer_size, jobs) in [(1, 1), (90, 1), (100, 2), (1_000, 3), (1 << 20, 2)] {
                let options = Options { buffer_size, jobs, ..Options::default() };
                let bytes = [text.as_bytes(), zeros.as_bytes()].concat();
                assert_eq!(options.scanned_rows(&bytes), 298, "{buffer_size} bytes, {jobs} jobs");
            }
        }
        assert_eq!(Options::default().scanned_rows(rows.as_bytes()), 0, "no zeros");
        assert_eq!(Options::default().scanned_rows(zeros.as_bytes()), 0, "no rows");
    }
}
