//! `fleet extract`: recordings into a dataset, each measured once.

use std::path::{Path, PathBuf};

use anyhow::Result;
use traceparse::fleet::{Extract, FleetHost, FleetInputs, FleetSettings, Shard, ShardPlan, ShardRequest, Store};

use super::cli::{FleetExtractArgs, ShardArgs};
use super::host::{AtInterrupt, Host};
use super::reading;
use crate::guard::will_write;
use crate::unchanged::{WatchedFiles, read_whole};
use crate::{EXIT_DONE, Failure, redacted, resource_limits};

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
    let options = reading::options(&args.reading, args.threads.threads(), &symbol_files, locator.as_ref());
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
