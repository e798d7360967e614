//! `fleet merge`: several datasets into one.

use std::path::PathBuf;

use traceparse::fleet::Datasets;

use super::cli::FleetMergeArgs;
use super::host::{AtInterrupt, Host};
use crate::guard::will_write;
use crate::{EXIT_DONE, Failure};

/// Merges, and returns the exit code of the process.
pub(super) fn merge(args: &FleetMergeArgs) -> Result<u8, Failure> {
    let host = Host::new(AtInterrupt::Finish);
    let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
    let output = real(&args.output);
    let mut paths: Vec<PathBuf> = Vec::new();
    for input in &args.inputs {
        let mut found = Datasets::at(&host, input);
        if real(input) != output {
            // A merge into the folder of its inputs can be done again.
            found.retain(|path| real(path) != output || output.is_none());
        }
        if found.is_empty() {
            let advice = "name datasets of `fleet extract`, or a folder of them";
            return Err(Failure::Usage(format!("{}: not a dataset; {advice}", input.display())));
        }
        paths.extend(found);
    }
    if output.is_some() && paths.iter().any(|path| real(path) == output) {
        let message = format!("{}: an input, and cannot be the output, too; name a new folder", args.output.display());
        return Err(Failure::Usage(message));
    }
    will_write(Some(&args.output));
    let datasets = Datasets::open(&host, &paths).map_err(anyhow::Error::from)?;
    datasets.merge(&host, &args.output, args.allow_incomplete).map_err(anyhow::Error::from)?;
    Ok(EXIT_DONE)
}
