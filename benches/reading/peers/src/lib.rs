//! Code that the peers share: each processes one file, and prints the result and the time that it took.

use std::path::PathBuf;
use std::time::Instant;

/// The file that the first argument names.
///
/// # Panics
/// Without an argument.
pub fn path() -> PathBuf {
    std::env::args_os().nth(1).expect("usage: PROGRAM FILE").into()
}

/// Runs `work`, and prints its result and its time, as `NUMBER SECONDS`.
pub fn timed(work: impl FnOnce() -> u64) {
    let start = Instant::now();
    let found = work();
    println!("{found} {:.6}", start.elapsed().as_secs_f64());
}
