//! Writes a large bundle, for benchmarks: the recording that `generate-export ROWS STACKS SEED 26.2` exports.
//!
//! ```text
//! cargo run --release --example generate-bundle -- OUT.trace ROWS STACKS SEED [plain|zlib]
//! cargo run --release --example generate-bundle -- large.trace 1000000 300000 1
//! ```
//!
//! With `plain`, files are not compressed. OUT.trace must not exist.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use support::DEPTHS;
use support::bundle::{Compression, to_folder, write_large_bundle};
use support::large_model::LargeSize;

const USAGE: &str = "usage: generate-bundle OUT.trace ROWS STACKS SEED [plain|zlib]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((bundle, size, compression)) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if Path::new(&bundle).exists() {
        eprintln!("generate-bundle: {} exists", bundle.display());
        return ExitCode::FAILURE;
    }
    to_folder(&write_large_bundle(size, compression), &bundle);
    ExitCode::SUCCESS
}

fn parse(arguments: &[String]) -> Option<(PathBuf, LargeSize, Compression)> {
    let compression = match arguments.get(4).map(String::as_str) {
        None | Some("zlib") => Compression::Zlib,
        Some("plain") => Compression::Plain,
        Some(_) => return None,
    };
    let number = |index: usize| arguments.get(index)?.parse::<u64>().ok();
    let size = LargeSize { rows: number(1)?, distinct_stacks: number(2)?, seed: number(3)?, depths: DEPTHS };
    (arguments.len() <= 5).then(|| (PathBuf::from(&arguments[0]), size, compression))
}
