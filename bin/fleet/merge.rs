//! `fleet merge`: several datasets into one.

use std::path::PathBuf;

use anyhow::bail;

use super::cli::FleetMergeArgs;
use super::extraction::PART_ROWS;
use super::notes::{counted, several};
use super::store::{MergedFacts, Store};
use super::union::Datasets;
use crate::guard::will_write;
use crate::{EXIT_DONE, Failure, complain, warning};

/// Merges, and says with which exit code the process ends.
pub(super) fn merge(args: &FleetMergeArgs) -> Result<u8, Failure> {
    let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
    let output = real(&args.output);
    let mut paths: Vec<PathBuf> = Vec::new();
    for input in &args.inputs {
        let mut found = Datasets::at(input);
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
    Ok(run(args, &paths)?)
}

fn run(args: &FleetMergeArgs, paths: &[PathBuf]) -> anyhow::Result<u8> {
    let datasets = Datasets::open(paths)?;
    if let Some(sentence) = datasets.unfinished() {
        match args.allow_incomplete {
            true => warning(&sentence),
            false => bail!("{sentence}; or pass --allow-incomplete"),
        }
    }
    let facts = MergedFacts {
        selection: datasets.selection(),
        made_with: datasets.made_with(),
        inputs: datasets.completeness(),
        shards: datasets.shards(),
        identity: datasets.identity()?,
        is_of_whole: datasets.unfinished().is_none(),
    };
    let name = args.output.display();
    let Some(merge) = Store::begin_merge(&args.output, facts, PART_ROWS)? else {
        complain(&format!("{name}: these datasets are merged already"));
        return Ok(EXIT_DONE);
    };
    let (runs, failed) = merge.write(|each| datasets.rows(each))?;
    let (of, runs) = (several(datasets.count(), "dataset"), several(runs as usize, "run"));
    complain(&format!("merged {of}: {runs}, {} failed", counted(failed as usize)));
    if let Some(sentence) = datasets.incomplete().filter(|_| datasets.unfinished().is_none()) {
        warning(&sentence);
    }
    Ok(EXIT_DONE)
}
