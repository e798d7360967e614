//! Prints whether the second recordings are slower than the first:
//!
//! ```sh
//! cargo run --example compare --features bundle,fleet -- base/*.trace --against new/*.trace
//! ```
use traceparse::fleet::compare::{CompareOptions, Comparison, Side};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let against = paths.iter().position(|path| path == "--against").ok_or("no --against")?;
    let mut sides = [Side::of_files(&paths[..against])?, Side::of_files(&paths[against + 1..])?];
    println!("{}", Comparison::new(&mut sides, CompareOptions::default())?);
    Ok(())
}
