//! The commands of `traceparse fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::arguments::{FleetRunArgs, IncompleteArgs, InputArgs, QuestionArgs, ShardArgs, TableArgs};
use super::filters::ThreadArgs;
use super::help::{EXAMPLES, MAX_SIZE_HELP, MERGE_HELP, extract_help, interval_help, report_help, tree_help};
use super::intervals::FleetIntervalArgs;
use super::tree_args::FleetTreeArgs;
use crate::arguments::ReadingArgs;
use crate::formats::FLEETS;
use crate::given::Given;
use crate::output_args::OutputArgs;
use crate::weight_limit::number;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct FleetCommand {
    #[command(subcommand)]
    pub(crate) action: FleetAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetAction {
    /// Report how CPU use is distributed over runs
    ///
    /// Runs come from recordings, MetricKit diagnostics, or a dataset.
    #[command(after_long_help = report_help(), mut_arg("invert", |arg| arg.hide(true)), mut_arg("max_size", |arg| arg.long_help(MAX_SIZE_HELP)))]
    Report(Box<FleetReportArgs>),
    /// Show the summed call trees of runs
    ///
    /// With --against, shows the differences between two cohorts of runs.
    #[command(after_long_help = tree_help(), mut_arg("invert", |arg| arg.hide(true)))]
    Tree(Box<FleetTreeArgs>),
    /// Sum the signposts and hangs of recordings by name
    #[command(after_long_help = interval_help())]
    Intervals(Box<FleetIntervalArgs>),
    /// Measure recordings into a dataset of Parquet files
    ///
    /// Reports, SQL and later extracts read the dataset.
    #[command(after_long_help = extract_help(), mut_arg("invert", |arg| arg.hide(true)))]
    Extract(Box<FleetExtractArgs>),
    /// Merge datasets, such as the shards of a fleet
    #[command(after_long_help = MERGE_HELP)]
    Merge(FleetMergeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FleetReportArgs {
    #[command(flatten)]
    pub(crate) given: Given,
    #[command(flatten)]
    pub(crate) questions: QuestionArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) incomplete: IncompleteArgs,
    /// Use less memory for long recordings
    ///
    /// One-second windows are counted in buckets, so memory does not grow with the length of recordings. Window percentiles are then
    /// accurate to 0.55 %, and there are no timelines. Everything else stays exact.
    #[arg(long, help_heading = "Report", hide_short_help = true)]
    pub(crate) approximate: bool,
    /// The view for text output, such as full
    ///
    /// The default is overview, or full with --top, --scope or --approximate.
    #[arg(long, value_enum)]
    pub(crate) view: Option<FleetView>,
    #[command(flatten)]
    pub(crate) output: OutputArgs<FLEETS>,
    /// Also write a page for each of the first N runs
    ///
    /// These are the runs to which the numbers in the HTML report refer. The report links to their pages. Each page is the one that
    /// `traceparse RECORDING -o page.html` would write. The pages are in the folder REPORT.runs next to REPORT.html. The recordings are
    /// read again, so they must still exist.
    #[arg(long, value_name = "N", value_parser = number::<u32>(1, None), help_heading = "Output")]
    pub(crate) with_runs: Option<u32>,
    #[command(flatten)]
    pub(crate) runs: FleetRunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FleetExtractArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) part: ShardArgs,
    /// Folder for the dataset, which is created
    ///
    /// If it contains a dataset, new and changed runs are added.
    #[arg(short, long, required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Also keep the call trees of runs, for `fleet tree`
    ///
    /// The dataset then has about 1.5 to 6 times the size. Repeat the option in each extract into the dataset.
    #[arg(long, help_heading = "Output")]
    pub(crate) stacks: bool,
    /// First remove runs whose files are not among the inputs
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(crate) remove_others: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FleetMergeArgs {
    /// Datasets of `fleet extract` or `fleet merge`, or their folders
    #[arg(required = true, value_name = "DATASET", value_hint = ValueHint::DirPath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder for the merged dataset; created if missing
    #[arg(short, long, required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Also merge incomplete datasets
    #[arg(long, help_heading = "Input", hide_short_help = true)]
    pub(crate) allow_incomplete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetView {
    /// One screen: findings, percentiles with their runs, the heaviest runs, and failures
    Overview,
    /// Everything, with plots and tables of processes, threads, binaries and functions
    Full,
}
