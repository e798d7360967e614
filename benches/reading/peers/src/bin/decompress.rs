//! Decompresses a gzip or zstd file into a buffer of 1 MiB that is overwritten repeatedly, and discards the result.
//!
//! Prints the number of bytes and the seconds, which include reading the compressed file.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, Read};

// Used only so that its features also apply to this build.
use traceparse as _;

fn main() {
    let path = reading_peers::path();
    reading_peers::timed(|| {
        let file = BufReader::with_capacity(1 << 17, File::open(&path).expect("the file can be opened"));
        let mut source: Box<dyn Read> = if path.extension().is_some_and(|ending| ending == "zst") {
            Box::new(zstd::Decoder::with_buffer(file).expect("the decompressor starts"))
        } else {
            Box::new(flate2::bufread::MultiGzDecoder::new(file))
        };
        let mut buffer = vec![0; 1 << 20];
        let mut bytes = 0;
        loop {
            match source.read(&mut buffer).expect("the file is whole") {
                0 => return bytes,
                count => bytes += black_box(&buffer[..count]).len() as u64,
            }
        }
    });
}
