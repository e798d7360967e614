//! `fleet extract`: recordings into a dataset, each measured once. `fleet merge`: several datasets into one.

use std::path::{Path, PathBuf};

use super::cli::{FleetExtractArgs, FleetMergeArgs, ShardArgs};
use super::host::{AtInterrupt, Host};
use super::reading;
use crate::guard::will_write;
use crate::unchanged::{WatchedFiles, read_whole};
use crate::{EXIT_DONE, Failure, redacted, resource_limits};
use anyhow::Result;
use traceparse::fleet::{
    Datasets, Extract, FleetHost, FleetInputs, FleetSettings, Shard, ShardPlan, ShardRequest, Store,
};

/// Extracts, and returns the exit code of the process.
pub(super) fn extract(args: &FleetExtractArgs) -> Result<u8, Failure> {
    let host = Host::new(AtInterrupt::Finish);
    if let Some(input) = args.inputs.inputs.iter().find(|input| Store::is_dataset(host.storage(), input)) {
        let message =
            format!("{}: already a dataset; name exports as inputs, and the dataset with -o", input.display());
        return Err(Failure::Usage(message));
    }
    args.inputs.check().map_err(Failure::Usage)?;
    args.reading.filters.check().map_err(Failure::Usage)?;
    will_write(Some(&args.output));
    args.reading.filters.redact.begin_fleet()?;
    let mut inputs = reading::find(&host, &args.inputs, args.part.plan.is_some())?;
    let shard = match args.part.shard {
        Some(shard) => Some(inputs.keep_shard(&host, shard_request(shard, &args.part)?).map_err(Failure::Usage)?),
        None => None,
    };
    inputs.use_real_paths(&host);
    inputs.redact(&host);
    inputs.will_read(&host).map_err(anyhow::Error::from)?;
    run(&host, args, &inputs, shard)
}

fn shard_request(shard: Shard, part: &ShardArgs) -> Result<ShardRequest, Failure> {
    let read_plan = |path: &PathBuf| {
        let text = read_whole(path, resource_limits::OWN_FILE).map_err(|error| format!("{error:#}"))?;
        ShardPlan::from_json(&text).ok_or_else(|| {
            let example = r#"{"inputs": 5, "lists": {"1": "HASH"}}"#;
            format!("{}: not a plan of shards, such as {example}", path.display())
        })
    };
    let plan = part.plan.as_ref().map(read_plan).transpose().map_err(Failure::Usage)?;
    Ok(ShardRequest { shard, root: part.root.clone(), plan })
}

fn run(
    host: &Host,
    args: &FleetExtractArgs,
    inputs: &FleetInputs,
    shard: Option<traceparse::fleet::Shards>,
) -> Result<u8, Failure> {
    let symbol_files = WatchedFiles::default();
    let locator = reading::find_symbols(&symbol_files, &args.reading)?;
    let mut options = reading::options(&args.reading, args.threads.threads(), &symbol_files, locator.as_ref());
    options.measure.with_stacks = args.stacks;
    options.read.metrics = !args.stacks;
    let shown = |path: &Path| {
        let path = path.display().to_string();
        redacted::with(|redactor| redactor.path(&path)).unwrap_or(path)
    };
    let extract = Extract {
        output: &args.output,
        inputs,
        shard,
        settings: &FleetSettings::new(host, options),
        symbols: args.reading.search.paths().map(|path| shown(path)).collect(),
        removes_others: args.remove_others,
        tells_compaction: args.compact,
    };
    extract.run(host).map_err(anyhow::Error::from)?;
    Ok(host.interruption().unwrap_or(EXIT_DONE))
}

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
        let message = format!(
            "{}: this is an input, so it cannot also be the output; choose a new folder",
            args.output.display()
        );
        return Err(Failure::Usage(message));
    }
    will_write(Some(&args.output));
    let datasets = Datasets::open(&host, &paths).map_err(anyhow::Error::from)?;
    datasets.merge(&host, &args.output, args.allow_incomplete).map_err(anyhow::Error::from)?;
    Ok(EXIT_DONE)
}
