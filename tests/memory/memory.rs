//! The memory for reading a large export. A single test, since the peak is measured for the whole process.

use std::fs::File;
use std::io::{BufWriter, Seek};

use traceparse::read;
use traceparse::recording::{Options, SampleDetail};

use crate::peak;

/// Rows and distinct stacks of an export of more than 400 MB.
const ROWS: u64 = 1_200_000;
const STACKS: u64 = 300_000;

/// Reads the file, and returns the peak number of bytes during reading.
fn peak_of_reading(file: &mut File, samples: SampleDetail) -> u64 {
    file.rewind().unwrap();
    let (export, peak) = peak(|| read(file, "large.xml", &Options { samples, ..Options::default() }).unwrap());
    let profile = &export.profile;
    assert_eq!(profile.sums_or_samples().map(|sum| sum.samples).sum::<u64>(), ROWS);
    assert_eq!((export.rejected(), profile.samples().is_empty()), (0, samples == SampleDetail::Summed));
    peak
}

pub(crate) fn a_large_export_takes_a_part_of_its_size() {
    let mut file = BufWriter::with_capacity(1 << 20, tempfile::tempfile().unwrap());
    support::write_large(&mut file, ROWS, STACKS, 1).unwrap();
    let mut file = file.into_inner().unwrap();
    let size = file.stream_position().unwrap();
    assert!(size > 400_000_000, "{size} bytes are not large");
    for (samples, most) in [(SampleDetail::Summed, 0.22), (SampleDetail::Each, 0.4)] {
        let peak = peak_of_reading(&mut file, samples);
        let share = peak as f64 / size as f64;
        println!("{samples:?}: {size} bytes were read with {peak} bytes of memory at most, {share:.3} of them");
        assert!(share < most, "{samples:?}: {peak} bytes for {size}");
    }
}
