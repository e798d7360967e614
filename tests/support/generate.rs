//! Writes a large export document to standard output.
//!
//! ```text
//! cargo run --release --example generate-export -- ROWS STACKS SEED [SHAPE]
//! cargo run --release --example generate-export -- 1200000 300000 1 27 > large.xml
//! ```
//!
//! SHAPE is 14.3 (the default), 26.2, 26.4 or 27.

#[path = "mod.rs"]
mod support;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use support::Shape;

const USAGE: &str = "usage: generate-export ROWS STACKS SEED [14.3|26.2|26.4|27]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((shape, [rows, stacks, seed])) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut out = io::stdout().lock();
    match support::write_large_as(&mut out, shape, rows, stacks, seed).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads this has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-export: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<(Shape, [u64; 3])> {
    let shape = match arguments.get(3).map(String::as_str) {
        None | Some("14.3") => Shape::Xcode14_3,
        Some("26.2") => Shape::Xcode26_2,
        Some("26.4") => Shape::Xcode26_4,
        Some("27") => Shape::Xcode27,
        Some(_) => return None,
    };
    let number = |index: usize| arguments.get(index)?.parse().ok();
    Some((shape, [number(0)?, number(1)?, number(2)?]))
}
