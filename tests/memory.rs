//! How much memory a large export takes. One test, since the peak is of the whole process.

mod support;

use std::io::{BufWriter, Write};

use peak_alloc::PeakAlloc;
use traceparse::export::{Options, read};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Rows and distinct stacks of an export of more than 400 MB.
const ROWS: u64 = 1_200_000;
const STACKS: u64 = 300_000;

#[test]
fn a_large_export_takes_less_than_half_its_size() {
    let mut file = BufWriter::with_capacity(1 << 20, tempfile::tempfile().unwrap());
    support::write_large(&mut file, ROWS, STACKS, 1).unwrap();
    file.flush().unwrap();
    let mut file = file.into_inner().unwrap();
    let size = std::io::Seek::stream_position(&mut file).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    assert!(size > 400_000_000, "{size} bytes are not large");

    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let export = read(file, "large.xml", &Options::default()).unwrap();
    let peak = (MEMORY.peak_usage() - before) as u64;
    assert_eq!(export.profile.samples().len() as u64, ROWS);
    assert_eq!(export.rejected(), 0);
    println!("{size} bytes were read with {peak} bytes of memory at most");
    assert!(peak < size / 2, "{peak} bytes for {size}");
}
