//! `fleet intervals`: the signposts and hangs of many runs, summed by name.

use anyhow::anyhow;
use clap::Args;
use traceparse::fleet::{Collector, FleetBuilder, FleetOptions};

use super::arguments::{IncompleteArgs, InputArgs, parse_label};
use super::host::{AtInterrupt, Host};
use super::reading::{RunParts, datasets, find_readable, with_settings};
use crate::Failure;
use crate::arguments::{FileArgs, ReadingArgs};
use crate::given::Given;
use crate::interval_totals::TotalArgs;
use crate::redact::RedactArgs;

#[derive(Debug, Args)]
pub(crate) struct FleetIntervalArgs {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Only runs with this label (repeatable)
    ///
    /// An example is app_version=5.2.
    #[arg(long = "where", value_name = "LABEL=VALUE", value_parser = parse_label)]
    only: Vec<(String, String)>,
    #[command(flatten)]
    totals: TotalArgs,
    #[command(flatten)]
    incomplete: IncompleteArgs,
    #[command(flatten)]
    redact: RedactArgs,
    #[command(flatten)]
    files: FileArgs,
}

/// Sums intervals, and returns the exit code.
pub(super) fn show(args: FleetIntervalArgs) -> Result<u8, Failure> {
    let FleetIntervalArgs { given, inputs, only, totals, incomplete, redact, files } = args;
    inputs.check().map_err(Failure::Usage)?;
    let totals = totals.resolve().map_err(Failure::Usage)?;
    totals.output.will_write();
    redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let reading = ReadingArgs { given, files, ..ReadingArgs::default() };
    if let Some(paths) = datasets(&host, &inputs, &reading, |_| false).map_err(Failure::Usage)? {
        let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        return Err(anyhow!("{name} is a dataset, which has no intervals; pass the recordings").into());
    }
    let found = find_readable(&host, &inputs)?;
    let chosen = FleetOptions { only, scopes: Vec::new(), ..FleetOptions::default() };
    let collector =
        Collector::new(&host, FleetBuilder::new(chosen), None).summing_intervals(&totals.names, &totals.alerts);
    if incomplete.allow_incomplete {
        collector.decide_incomplete();
    }
    let parts = RunParts { intervals: true, ..RunParts::default() };
    with_settings(&host, &reading, None, parts, |settings| {
        Ok(Collector::add_recordings_to(&[&collector], &found, &settings)?)
    })?;
    totals.write(collector.finish_intervals(reading.files.strict, &totals.quantiles)?)
}
