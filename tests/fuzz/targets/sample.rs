//! `sample`, spindump and dotTrace reports, MetricKit diagnostics, Dart CPU profiles, and Deep Copies. An input is one of them.

use std::io::{self, Read};

use traceparse::recording::{Options, RecordingBuilder};

/// A reader that returns a few bytes at a time.
struct Slow<'i>(&'i [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(7);
        self.0.read(&mut buffer[..length])
    }
}

/// Reads the input at once and in small pieces.
///
/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    let [once, slowly] = [read(input), read(Slow(input))];
    let noted = once.as_ref().map_or(&[][..], |export| &export.diagnostics).iter().filter_map(|note| note.at.as_ref());
    for at in once.as_ref().err().and_then(|error| error.at.as_ref()).into_iter().chain(noted) {
        let before = input[..at.byte as usize].iter().filter(|&&byte| byte == b'\n');
        // In JSON, a return alone also ends a line, and in UTF-16 this byte is also part of letters.
        let is_other = input.contains(&b'\r') || matches!(input, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
        assert!(at.line == 1 + before.count() as u64 || is_other, "{at}");
    }
    match (once, slowly) {
        (Ok(once), Ok(slowly)) => {
            assert_eq!(once.documents, slowly.documents);
            let samples: u64 = once.profile.sums_or_samples().map(|sum| sum.samples).sum();
            assert_eq!(samples, once.tables().map(|table| table.samples).sum::<u64>());
            assert!(once.tables().all(|table| table.rows == table.samples + table.rejected.total()));
            assert!(once.profile.sums_or_samples().eq(slowly.profile.sums_or_samples()));
        }
        (Err(once), Err(slowly)) => assert_eq!(once.to_string(), slowly.to_string()),
        (once, slowly) => panic!("{:?} and {:?}", once.err(), slowly.err()),
    }
}

fn read(source: impl Read + Send) -> Result<traceparse::recording::Recording, traceparse::Error> {
    let mut recording = RecordingBuilder::new(Options::default());
    recording.read(source, "fuzz")?;
    recording.finish()
}
