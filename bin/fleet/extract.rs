//! `fleet extract`: measures recordings once each, into a dataset. `fleet merge`: merges several datasets.

use std::path::{Path, PathBuf};

use super::arguments::ShardArgs;
use super::cli::{FleetExtractArgs, FleetMergeArgs};
use super::host::{AtInterrupt, Host};
use super::reading::{self, RunParts};
use crate::guard::will_write;
use crate::unchanged::read_whole;
use crate::{EXIT_DONE, Failure, redacted, resource_limits};
use anyhow::Result;
use traceparse::fleet::{Datasets, Extract, FleetHost, FleetInputs, Shard, ShardPlan, ShardRequest, Store};

/// Extracts, and returns the exit code.
pub(super) fn extract(args: &FleetExtractArgs) -> Result<u8, Failure> {
    let host = Host::new(AtInterrupt::Finish);
    if let Some(input) = args.inputs.inputs.iter().find(|input| Store::is_dataset(host.storage(), input)) {
        let message =
            format!("{}: already a dataset; name exports as inputs, and the dataset with -o", input.display());
        return Err(Failure::Usage(message));
    }
    args.inputs.check().map_err(Failure::Usage)?;
    args.reading.check_fleet().map_err(Failure::Usage)?;
    resource_limits::check_named_place(&args.output)?;
    will_write(Some(&args.output));
    args.reading.redact.begin_fleet()?;
    let mut inputs = reading::find(&host, &args.inputs, args.part.plan.is_some())?;
    let shard = match args.part.shard {
        Some(shard) => Some(inputs.keep_shard(&host, shard_request(shard, &args.part)?).map_err(Failure::Usage)?),
        None => None,
    };
    inputs.use_real_paths(&host);
    inputs.redact(&host);
    inputs.will_read(&host)?;
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
    let shown = |path: &Path| {
        let path = path.display().to_string();
        redacted::with(|redactor| redactor.path(&path)).unwrap_or(path)
    };
    let symbols = args.reading.symbols.search.paths().map(|path| shown(path)).collect();
    let parts = RunParts { stacks: args.stacks, metrics: !args.stacks, intervals: false };
    reading::with_settings(host, &args.reading, args.threads.threads(), parts, |settings| {
        let (output, removes_others) = (&args.output, args.remove_others);
        let extract = Extract { output, inputs, shard, settings: &settings, symbols, removes_others };
        Ok(extract.run(host)?)
    })?;
    Ok(host.interruption().unwrap_or(EXIT_DONE))
}

/// Merges, and returns the exit code.
pub(super) fn merge(args: &FleetMergeArgs) -> Result<u8, Failure> {
    resource_limits::check_named_place(&args.output)?;
    let host = Host::new(AtInterrupt::Finish);
    let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
    let output = real(&args.output);
    let mut paths: Vec<PathBuf> = Vec::new();
    for input in &args.inputs {
        let mut found = Datasets::at(&host, input);
        if real(input) != output {
            // Ignore the output of an earlier merge, so that a merge into the folder of its inputs can be repeated.
            found.retain(|path| real(path) != output || output.is_none());
        }
        if found.is_empty() {
            let advice = "name datasets of `fleet extract`, or a folder of them";
            let what = if input.exists() { "not a dataset" } else { "does not exist" };
            return Err(Failure::Usage(format!("{}: {what}; {advice}", input.display())));
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
    let datasets = Datasets::open(&host, &paths)?;
    datasets.merge(&host, &args.output, args.allow_incomplete)?;
    Ok(EXIT_DONE)
}
