//! `fleet intervals`: the signposts and hangs of many runs, summed by name.

use anyhow::{Error, anyhow};
use clap::Args;
use traceparse::fleet::{Collector, FleetBuilder, FleetOptions, FleetSettings};

use super::cli::{FileArgs, InputArgs, ReadingArgs, parse_label};
use super::host::{AtInterrupt, Host};
use super::reading::{datasets, find, options};
use crate::Failure;
use crate::guard::will_write;
use crate::interval_totals::TotalArgs;
use crate::redact::RedactArgs;
use crate::sink::Colour;
use crate::unchanged::WatchedFiles;

#[derive(Debug, Args)]
pub(crate) struct FleetIntervalArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Only runs with this label, such as app_version=5.2 (repeatable)
    #[arg(long = "where", value_name = "LABEL=VALUE", value_parser = parse_label, help_heading = "Report")]
    only: Vec<(String, String)>,
    #[command(flatten)]
    totals: TotalArgs,
    #[command(flatten)]
    redact: RedactArgs,
    #[command(flatten)]
    files: FileArgs,
}

/// Sums intervals, and returns the exit code of the process.
pub(super) fn show(args: &FleetIntervalArgs, colour: Colour) -> Result<u8, Failure> {
    args.inputs.check().and_then(|()| args.totals.check()).map_err(Failure::Usage)?;
    will_write(args.totals.output.as_deref());
    args.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let reading = ReadingArgs { files: args.files.clone(), ..ReadingArgs::default() };
    if let Some(paths) = datasets(&host, &args.inputs, &reading, |_| false).map_err(Failure::Usage)? {
        let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        return Err(anyhow!("{name} is a dataset, which has no intervals; pass the recordings").into());
    }
    let mut found = find(&host, &args.inputs, false)?;
    found.redact(&host);
    found.will_read(&host).map_err(Error::from)?;
    let symbol_files = WatchedFiles::default();
    let mut options = options(&reading, None, &symbol_files, None);
    options.measure.with_intervals = true;
    options.read.metrics = false;
    let chosen = FleetOptions { only: args.only.clone(), scopes: Vec::new(), ..FleetOptions::default() };
    let (labels, quantiles, alerts) = args.totals.questions();
    let collector = Collector::new(&host, FleetBuilder::new(chosen), None).summing_intervals(labels, alerts);
    let settings = FleetSettings::new(&host, options);
    Collector::add_recordings_to(&[&collector], &found, &settings).map_err(Error::from)?;
    let summary = collector.finish_intervals(args.files.strict, &quantiles).map_err(Error::from)?;
    args.totals.write(summary, colour)
}
