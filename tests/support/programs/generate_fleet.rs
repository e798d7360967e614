//! Writes the exports of a fleet to a folder, with their tables of contents, a manifest, and the expected function rows of a report
//! (`expected.csv`).
//!
//! ```text
//! cargo run --release --example generate-fleet -- FOLDER RUNS ROWS SEED
//! cargo run --release --example generate-fleet -- fleet 2000 3700 1     2,000 exports of about 1 MB
//! ```

use std::io;
use std::path::Path;
use std::process::ExitCode;

use support::fleet_expected::Expected;
use support::fleet_exports::{file_name, fleet_export, manifest};

const USAGE: &str = "usage: generate-fleet FOLDER RUNS ROWS SEED";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index)?.parse::<u32>().ok();
    let (Some(folder), Some(runs), Some(rows), Some(seed)) = (arguments.first(), number(1), number(2), number(3))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match write(Path::new(folder), runs, rows, u64::from(seed)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-fleet: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path, runs: u32, rows: u32, seed: u64) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut expected = Expected::default();
    for index in 0..runs {
        let run = fleet_export(seed, index, rows);
        expected.add(&run);
        std::fs::write(folder.join(file_name(index) + ".xml"), run.export)?;
        std::fs::write(folder.join(file_name(index) + "-toc.xml"), run.toc)?;
    }
    std::fs::write(folder.join("expected.csv"), expected.csv())?;
    std::fs::write(folder.join("manifest.csv"), manifest(seed, runs))
}
