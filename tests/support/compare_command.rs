//! Comparisons of invented runs by the command `traceparse compare`.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use traceparse::files::FileSystem;
use traceparse::fleet::{FleetError, MadeWith, RunMeasures, Store};

use crate::compared_runs::Sides;

/// The answer to one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub verdict: String,
    /// The functions that are reported to be slower.
    pub named: Vec<String>,
    pub exit_code: i32,
}

impl Outcome {
    /// True if something is reported to have changed.
    pub fn claims(&self) -> bool {
        ["slower", "faster"].contains(&self.verdict.as_str()) || !self.named.is_empty()
    }

    pub fn names(&self, function: &str) -> bool {
        self.named.iter().any(|named| named == function)
    }
}

/// Writes both sides into a dataset in a folder, which is removed first, and compares them with a command.
///
/// # Errors
/// If the dataset cannot be written, or the command writes no JSON.
pub fn compared(command: &Path, folder: &Path, sides: &Sides, seed: u64) -> io::Result<Outcome> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    write(folder, sides.runs(seed).concat())?;
    let mut compare = Command::new(command);
    compare
        .args(["compare", "--base", "side=base", "--new", "side=new", "--format", "json"])
        .args(sides.devices.options())
        .arg(folder);
    // Many comparisons run at the same time, so threads would only cost time.
    let output = compare.env("RAYON_NUM_THREADS", "1").output()?;
    outcome(&output.stdout, output.status.code())
        .ok_or_else(|| io::Error::other(format!("{}, {}", output.status, String::from_utf8_lossy(&output.stderr))))
}

/// Writes a dataset.
fn write(folder: &Path, runs: Vec<RunMeasures>) -> io::Result<()> {
    let write = || {
        let store = Store::create_or_open(&FileSystem::storage(), folder)?;
        store.begin(runs.len(), 0, MadeWith { has_stacks: true, ..MadeWith::default() })?;
        store.put(runs)?;
        store.complete()
    };
    write().map_err(|error: FleetError| io::Error::other(format!("{error:#}")))?;
    // A process that another thread starts at this moment inherits the lock until it runs its program.
    std::fs::remove_file(folder.join(".lock"))
}

fn outcome(json: &[u8], exit_code: Option<i32>) -> Option<Outcome> {
    let answer: Value = serde_json::from_slice(json).ok()?;
    let functions = answer["functions"].as_array().map_or(&[][..], Vec::as_slice);
    let slower = functions.iter().filter(|function| function["is_slower"] == true);
    let named = slower.filter_map(|function| function["function"].as_str()).map(str::to_owned).collect();
    Some(Outcome { verdict: answer["verdict"].as_str()?.to_owned(), named, exit_code: exit_code? })
}
