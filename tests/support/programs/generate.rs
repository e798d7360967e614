//! Writes a large export document to standard output.
//!
//! ```text
//! cargo run --release --example generate-export -- ROWS STACKS SEED [SHAPE [SHALLOWEST DEEPEST]]
//! cargo run --release --example generate-export -- 1200000 300000 1 27 > large.xml
//! ```
//!
//! SHAPE is 14.3 (the default), 26.2, 26.4 or 27. Stacks have SHALLOWEST (12) to DEEPEST (62) frames.

use std::io::{self, ErrorKind, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;

use support::{DEPTHS, Shape};

const USAGE: &str = "usage: generate-export ROWS STACKS SEED [14.3|26.2|26.4|27 [SHALLOWEST DEEPEST]]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((shape, depths, [rows, stacks, seed])) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut out = io::stdout().lock();
    match support::write_large_deep(&mut out, shape, rows, stacks, seed, depths).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-export: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<(Shape, RangeInclusive<usize>, [u64; 3])> {
    let shape = match arguments.get(3).map(String::as_str) {
        None | Some("14.3") => Shape::Xcode14_3,
        Some("26.2") => Shape::Xcode26_2,
        Some("26.4") => Shape::Xcode26_4,
        Some("27") => Shape::Xcode27,
        Some(_) => return None,
    };
    let number = |index: usize| arguments.get(index)?.parse::<u64>().ok();
    let depths = match arguments.len() {
        0..=4 => DEPTHS,
        _ => number(4)?.try_into().ok()?..=number(5)?.try_into().ok()?,
    };
    let is_possible = *depths.start() > 0 && !depths.is_empty() && arguments.len() <= 6;
    is_possible.then_some((shape, depths, [number(0)?, number(1)?, number(2)?]))
}
