//! Scans the rows of an export that is in memory, by as many threads as the second argument says, and makes nothing of them: what
//! decoding alone costs.
//!
//! Prints the number of rows and the seconds. Reading the file into memory is not in them.

use traceparse::recording::Options;

fn main() {
    let mut bytes = std::fs::read(reading_peers::path()).expect("the file can be read");
    let jobs = std::env::args().nth(2).and_then(|jobs| jobs.parse().ok()).expect("usage: scan FILE THREADS");
    // The scanner looks ahead.
    bytes.extend_from_slice(&[0; 32]);
    let options = Options { jobs, ..Options::default() };
    reading_peers::timed(|| options.scanned_rows(&bytes));
}
