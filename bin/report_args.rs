//! The arguments of reports.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use traceparse::profile::Matcher;
use traceparse::report::{SeparateBy, SortBy};
use traceparse::units::Nanos;

use crate::arguments::RecordingArgs;
use crate::choices::{self, ViewArg};
use crate::formats::REPORTS;
use crate::given::Given;
use crate::output_args::OutputArgs;
use crate::pruning::PruningArgs;
use crate::weight_limit::{WeightLimit, parse_weight};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) given: Given,
    /// Recordings, exports and reports; `-` is standard input
    ///
    /// Recordings are .trace folders. Reports are crash reports, or come from sample, spindump, MetricKit, Dart, dotTrace, or the Deep Copy
    /// command in Instruments. Each may be in a zip or tar archive, and exports and reports may be compressed with gzip or zstd. A table of
    /// contents (`xctrace export --toc`) adds the device and duration to the exports; in an archive, it is found by its content.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// What to show, such as functions, tree or timeline
    ///
    /// The default is overview for text, functions for csv and ndjson, and full for all other formats.
    #[arg(long, value_parser = choices::view(|_| true))]
    pub(crate) view: Option<ViewArg>,
    /// Show callers and callees of this function
    ///
    /// If no function has this name, names that contain it match, ignoring case. /REGEX/ is a regular expression. Exactly one function must
    /// match.
    #[arg(long, value_name = "NAME", value_parser = Matcher::parse)]
    pub(crate) function: Option<Matcher>,
    #[command(flatten)]
    pub(crate) output: OutputArgs<REPORTS>,
    #[command(flatten)]
    pub(crate) pruning: PruningArgs,
    /// Hide tree nodes and table rows below this weight, such as 5ms
    ///
    /// Without a unit of time, it is in the unit of the table: 20000 or 1.5M.
    #[arg(long, value_name = "WEIGHT", value_parser = parse_weight, help_heading = "Output", hide_short_help = true)]
    pub(crate) min_weight: Option<WeightLimit>,
    /// Sort rows of tables by this column
    ///
    /// The default is the self weight, or the total in tables without self weights.
    #[arg(long, value_parser = choices::sort_by(), value_name = "COLUMN", help_heading = "Output")]
    pub(crate) sort: Option<SortBy>,
    /// Bin length of --view timeline, such as 10ms [default: round, at most 90 bins]
    #[arg(long, value_name = "DURATION", value_parser = parse_bin, help_heading = "Output", hide_short_help = true)]
    pub(crate) bin: Option<Nanos>,
    /// Split trees and timelines by this
    #[arg(long, value_parser = choices::separate_by(), default_value = SeparateBy::Thread.name(), value_name = "WHAT", conflicts_with = "no_threads", help_heading = "Output")]
    pub(crate) separate_by: SeparateBy,
    /// Folder with source files (repeatable)
    ///
    /// For --view lines and --format html.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) source: Vec<PathBuf>,

    /// Read signposts and hangs from this file (repeatable)
    ///
    /// For --during, --during-hang, --format html and --format firefox, if FILE itself does not have them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Filters")]
    pub(crate) intervals: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
}

fn parse_bin(text: &str) -> Result<Nanos, String> {
    let bin: Nanos = text.parse()?;
    if bin.as_nanos() > 0 { Ok(bin) } else { Err("a bin is at least 1ns long".to_owned()) }
}
