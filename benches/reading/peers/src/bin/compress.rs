//! Compresses a file to standard output, since not every machine has the program: `compress FILE` is zstd -3.

use std::fs::File;
use std::io;

fn main() {
    let file = File::open(reading_peers::path()).expect("the file can be opened");
    zstd::stream::copy_encode(file, io::stdout().lock(), 3).expect("standard output takes everything");
}
