//! Writes a dataset of invented runs with hundreds of functions each, in the form in which an extract writes it.
//!
//! ```text
//! cargo run --release --example generate-dataset -- FOLDER RUNS ROWS SEED
//! cargo run --release --example generate-dataset -- dataset 100000 500 1     50 million rows of functions
//! ```

use std::path::Path;
use std::process::ExitCode;

use support::wide_fleet::WideFleet;
use traceparse::files::FileSystem;
use traceparse::fleet::{FleetError, MadeWith, RunMeasures, Store};

/// The number of runs in a data file: about as many as an extract merges.
const RUNS_OF_A_FILE: u32 = 2_000;

const USAGE: &str = "usage: generate-dataset FOLDER RUNS ROWS SEED";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index)?.parse::<u32>().ok();
    let (Some(folder), Some(runs), Some(rows), Some(seed)) = (arguments.first(), number(1), number(2), number(3))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match write(Path::new(folder), runs, rows as usize, u64::from(seed)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-dataset: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path, runs: u32, rows: usize, seed: u64) -> Result<(), FleetError> {
    let fleet = WideFleet::new(seed, rows);
    let storage = FileSystem::storage();
    let store = Store::create_or_open(&storage, folder)?;
    store.begin(runs as usize, 0, MadeWith::default())?;
    for first in (0..runs).step_by(RUNS_OF_A_FILE as usize) {
        let part: Vec<RunMeasures> = (first..runs.min(first + RUNS_OF_A_FILE)).map(|index| fleet.run(index)).collect();
        store.put(&part[..])?;
    }
    store.complete()
}
