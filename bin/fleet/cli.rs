//! The arguments of `traceparse fleet`, and their conversion for the library.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use traceparse::fleet::compare::Quantity;
use traceparse::fleet::{AlertRule, FleetOptions, FleetScope, Measure, Shard, SortKey, SqlEngine, composed};
use traceparse::stats::{Quantile, QuantileMethod};

use crate::arguments::SymbolSearchArgs;
use crate::format_options::{CsvArgs, first_given};
use crate::formats::{check_name, format_of};
use crate::operations::OperationArgs;
use crate::weight_limit::parse_percent;
use crate::{EXIT_ALERT, EXIT_DONE, EXIT_INPUT, EXIT_UNDECIDED};

use super::filters::{FilterArgs, ThreadArgs};
use super::help::{EXAMPLES, MAX_SIZE_HELP, MERGE_HELP, SQL_HELP, extract_help, interval_help, report_help, tree_help};
use super::intervals::FleetIntervalArgs;
use super::tree_args::FleetTreeArgs;
use super::with_runs::WithRunsArgs;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct FleetCommand {
    #[command(subcommand)]
    pub(crate) action: FleetAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetAction {
    /// Report how CPU use is distributed over many recordings or a dataset
    #[command(after_help = report_help(), mut_arg("invert", |arg| arg.hide(true)), mut_arg("max_size", |arg| arg.help(MAX_SIZE_HELP)))]
    Report(FleetReportArgs),
    /// Show the summed call trees of many runs, or what differs between two cohorts
    #[command(after_help = tree_help(), mut_arg("invert", |arg| arg.hide(true)))]
    Tree(Box<FleetTreeArgs>),
    /// Sum the signposts and hangs of many recordings by name: count, percentiles, alerts
    #[command(after_help = interval_help())]
    Intervals(Box<FleetIntervalArgs>),
    /// Measure recordings into a dataset of Parquet files, for later reports and SQL
    #[command(after_help = extract_help(), mut_arg("invert", |arg| arg.hide(true)))]
    Extract(FleetExtractArgs),
    /// Merge datasets, such as the shards of a fleet
    #[command(after_help = MERGE_HELP)]
    Merge(FleetMergeArgs),
    /// Write the query for a dataset report as SQL, for DuckDB or Spark
    #[command(after_help = SQL_HELP)]
    Sql(FleetSqlArgs),
}

/// What is measured of each run.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// Quantity to compare; repeatable [default: CPU time or CPU use, as the lengths of the recordings suggest]
    #[arg(long, value_name = "cpu-time|cpu-use|elapsed|interval:NAME", help_heading = "Comparison")]
    measure: Vec<Quantity>,
}

impl MeasureArgs {
    /// The quantities, each once.
    pub(crate) fn measures(&self) -> Vec<Quantity> {
        let is_first = |(index, measure): &(usize, &Quantity)| !self.measure[..*index].contains(measure);
        self.measure.iter().enumerate().filter(is_first).map(|(_, measure)| measure.clone()).collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct FleetReportArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) questions: QuestionArgs,
    #[command(flatten)]
    pub(crate) chosen: RunArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Evaluate alerts even if the dataset is incomplete
    #[arg(long, help_heading = "Report")]
    pub(crate) allow_incomplete: bool,
    /// Count one-second windows in buckets, so that memory does not grow with the length of recordings
    ///
    /// Window percentiles are then accurate to 0.55 %, and there are no timelines. Everything else stays exact.
    #[arg(long, help_heading = "Report")]
    pub(crate) approximate: bool,
    /// Text to show [default: overview; full with --top or --scope]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) view: Option<FleetView>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) format: Option<FleetFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) runs: WithRunsArgs,
    #[command(flatten)]
    pub(crate) csv: CsvArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FleetExtractArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) part: ShardArgs,
    /// Folder for the dataset; created if it does not exist
    #[arg(short, long, required = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Also keep the call trees of runs, for `fleet tree`
    ///
    /// The dataset then has about 1.5 to 6 times the size. Repeat the option in each extract into the dataset.
    #[arg(long, help_heading = "Output")]
    pub(crate) stacks: bool,
    /// Report how many small files were merged (they are always merged)
    #[arg(long, hide = true, help_heading = "Output")]
    pub(crate) compact: bool,
    /// First remove runs whose files are not among the inputs
    #[arg(long, help_heading = "Output")]
    pub(crate) remove_others: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FleetMergeArgs {
    /// Datasets of `fleet extract` or `fleet merge`, or folders of them
    #[arg(required = true, value_name = "DATASET", value_hint = ValueHint::DirPath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder for the merged dataset; it is created
    #[arg(short, long, required = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Also merge incomplete datasets
    #[arg(long, help_heading = "Input")]
    pub(crate) allow_incomplete: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetSqlArgs {
    /// Datasets, or a JSON report whose query is to be repeated
    #[arg(required = true, value_name = "DIR|REPORT.json", value_hint = ValueHint::AnyPath)]
    pub(crate) source: Vec<PathBuf>,
    /// Dataset to read if the query comes from a report
    #[arg(long, value_name = "DIR", conflicts_with_all = ["QuestionArgs", "RunArgs", "ThreadArgs"], help_heading = "Input")]
    pub(crate) dataset: Option<String>,
    /// Write a statement even if the dataset is incomplete
    #[arg(long, help_heading = "Input")]
    pub(crate) allow_incomplete: bool,
    /// Engine that will run the SQL
    #[arg(long, value_enum, default_value_t = SqlEngine::DuckDb, help_heading = "Output")]
    pub(crate) engine: SqlEngine,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    // A group that holds another one is empty, and would conflict with nothing.
    #[command(flatten)]
    pub(crate) questions: QuestionArgs,
    #[command(flatten)]
    pub(crate) chosen: RunArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

impl FleetSqlArgs {
    /// The question.
    pub(crate) fn options(&self) -> FleetOptions {
        self.threads.narrow(self.chosen.narrow(self.questions.options()))
    }
}

/// The inputs to read.
#[derive(Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// Recordings, exports, diagnostics of MetricKit, folders, patterns or manifests (`report` and `tree` also take datasets); see below
    #[arg(required_unless_present_any = ["manifest", "files_from"], value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// CSV or JSON lines listing exports and labels; see below (repeatable)
    ///
    /// The file may have any name.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub(crate) manifest: Vec<PathBuf>,
    /// Read the recordings and exports in this list, one path per line; - for standard input
    ///
    /// Paths are relative to the working directory, and are taken literally: patterns and comments are not supported.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub(crate) files_from: Option<PathBuf>,
    /// Paths of --files-from end with NUL characters, as `find -print0` writes them
    #[arg(short = '0', long, requires = "files_from", help_heading = "Input")]
    pub(crate) null: bool,
}

/// The part of the inputs that is read.
#[derive(Debug, Default, Args)]
pub(crate) struct ShardArgs {
    /// Read one of N parts of the inputs, such as 3/16; combine them with `fleet merge`
    ///
    /// Shards are counted from 1. The path of a recording below the root decides which one it is in.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, help_heading = "Input")]
    pub(crate) shard: Option<Shard>,
    /// Assign shards by paths relative to this folder
    ///
    /// The default is the folder given as INPUT, or the deepest folder that contains all files of lists and manifests.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "shard", help_heading = "Input")]
    pub(crate) root: Option<PathBuf>,
    /// Read the contents of all shards from this JSON file; list only this shard's inputs as arguments
    ///
    /// `{"inputs": N, "lists": {"1": "HASH", …}}`: the number of inputs of all shards, and for each shard a hash of its inputs.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "root", help_heading = "Input")]
    pub(crate) plan: Option<PathBuf>,
}

/// The options of reading.
#[derive(Debug, Default, Args)]
pub(crate) struct ReadingArgs {
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    #[command(flatten)]
    pub(crate) search: SymbolSearchArgs,
    /// Attribute inlined code to the function that contains it
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_inlines: bool,

    /// Measure only this table, such as time-profile (repeatable)
    #[arg(long, value_name = "SCHEMA", help_heading = "Input")]
    pub(crate) schema: Vec<String>,
    #[command(flatten)]
    pub(crate) files: FileArgs,
}

/// How the files of a fleet are read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FileArgs {
    /// Fail if a file has no run, or if a run or a CPU table row is unreadable
    #[arg(long, help_heading = "Input")]
    pub(crate) strict: bool,
    /// Use the complete rows of truncated files
    #[arg(long, help_heading = "Input")]
    pub(crate) allow_truncated: bool,
    /// Files to read at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Input")]
    pub(crate) jobs: Option<u16>,
}

/// The options of a question.
#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// Compare runs by these labels, such as app_version,device
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', help_heading = "Report")]
    pub(crate) by: Vec<String>,
    /// Which samples to attribute to a binary or function: those with it as the leaf (cpu, self) or anywhere in the stack (all)
    #[arg(long, value_enum, default_value_t = Measure::Cpu, help_heading = "Report")]
    pub(crate) measure: Measure,
    /// Show distributions of these [default: all]
    #[arg(long, value_name = "SCOPE,…", value_delimiter = ',', value_parser = scope_parser(), help_heading = "Report")]
    pub(crate) scope: Vec<Option<FleetScope>>,
    /// Percentiles to show [default: 50,90,95,99,99.9]
    #[arg(long, value_name = "P,…", value_delimiter = ',', value_parser = parse_percentile, help_heading = "Report")]
    pub(crate) percentiles: Vec<Quantile>,
    /// Percentile method: the value of one run, or interpolated between two runs
    #[arg(long, value_enum, default_value_t = QuantileMethod::NearestRank, help_heading = "Report")]
    pub(crate) method: QuantileMethod,
    /// Count each run as often as its `run_weight`
    #[arg(long, help_heading = "Report")]
    pub(crate) weighted: bool,
}

/// Which runs count, and which processes of them.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Only runs with this label, such as app_version=5.2 (repeatable)
    #[arg(long = "where", value_name = "LABEL=VALUE", value_parser = parse_label, help_heading = "Report")]
    pub(crate) only: Vec<(String, String)>,
    /// Only this process, by name (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Report")]
    pub(crate) process: Vec<String>,
}

/// The options of reports only, since SQL returns all rows and no alerts.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Sort tables by a percentile such as p99, by mean, weighted-mean or max
    ///
    /// `auto` is the highest percentile up to P99 for which there are enough runs.
    #[arg(long, value_name = "KEY", default_value = "auto", value_parser = parse_sort, help_heading = "Report")]
    pub(crate) sort: SortKey,
    /// Rows per table; 0 shows all [default: 15 in text, all in other formats]
    #[arg(long, value_name = "N", value_parser = parse_top, help_heading = "Report")]
    pub(crate) top: Option<usize>,
    /// Exit with code 3 if this rule holds, such as 'cpu.p99 > 80' (repeatable)
    ///
    /// See below for the grammar of rules.
    #[arg(long, value_name = "RULE", value_parser = AlertRule::parse, help_heading = "Report")]
    pub(crate) alert: Vec<AlertRule>,
}

/// What a verdict needs to be a claim, and what it does to the exit code.
#[derive(Debug, Args)]
pub(crate) struct VerdictArgs {
    /// Ignore smaller changes
    #[arg(long, value_name = "P%", default_value = "3%", value_parser = parse_percent, help_heading = "Verdict")]
    min_effect: f64,
    /// Verdicts with a separate exit code
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "VERDICT,…",
        default_value = "slower",
        help_heading = "Verdict"
    )]
    fail_on: Vec<FailOn>,
}

/// What a verdict means for the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Slower,
    NotSlower,
    /// The input is valid but does not show it.
    Unknown,
    /// The input cannot be judged.
    Invalid,
}

impl VerdictArgs {
    /// As a share.
    pub(crate) fn min_effect(&self) -> f64 {
        self.min_effect / 100.0
    }

    /// True if a verdict has its own exit code.
    pub(crate) fn fails_on(&self, verdict: FailOn) -> bool {
        self.fail_on.contains(&verdict)
    }

    /// The exit code of the process. Input that cannot be judged never passes.
    pub(crate) fn exit_code(&self, outcome: Outcome) -> u8 {
        match outcome {
            Outcome::Invalid => EXIT_INPUT,
            Outcome::Slower if self.fails_on(FailOn::Slower) || self.fails_on(FailOn::Function) => EXIT_ALERT,
            Outcome::Unknown if self.fails_on(FailOn::Unknown) => EXIT_UNDECIDED,
            _ => EXIT_DONE,
        }
    }
}

/// Verdicts with an exit code of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Exit with code 3 if the app became slower
    Slower,
    /// Exit with code 4 if the runs do not suffice to tell
    Unknown,
    /// Exit with code 3 if any function is slower, even if the total hardly grows
    Function,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetView {
    /// One screen: findings, percentiles with their runs, the heaviest runs, and failures
    Overview,
    /// Everything, with plots and tables of processes, threads, binaries and functions
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetFormat {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/fleet-formats.md
    Json,
    /// One table, with a line for each cohort, scope and row
    Csv,
    /// A page with plots, in a single file
    Html,
}

/// One percent as a quantile, in parts per million.
const ONE_PERCENT: u32 = 10_000;

/// Rows of a table in text, without --top.
const TEXT_ROWS: usize = 15;

pub(crate) fn parse_percentile(text: &str) -> Result<Quantile, String> {
    let bad = || "not a percentile: a number from 0 to 100 with up to four decimals, such as 99.9".to_owned();
    Quantile::from_percent(text.trim()).ok_or_else(bad)
}

pub(super) fn parse_label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("not a label and a value, such as app_version=5.2")?;
    Ok((composed(key), composed(value)))
}

/// One of the scopes; `None` is all.
fn scope_parser() -> impl TypedValueParser<Value = Option<FleetScope>> {
    let names = ["all"].into_iter().chain(FleetScope::ALL.map(FleetScope::name));
    PossibleValuesParser::new(names).map(|name| FleetScope::ALL.into_iter().find(|scope| scope.name() == name))
}

fn parse_top(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "not a number of rows, such as 20; 0 is all".to_owned())
}

fn parse_sort(text: &str) -> Result<SortKey, String> {
    SortKey::from_name(text).ok_or_else(|| "not a percentile such as p99, nor mean, weighted-mean or max".to_owned())
}

impl InputArgs {
    /// Checks that the inputs can be inputs of a fleet.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.inputs.iter().chain(&self.manifest).any(|path| path.as_os_str() == "-") {
            let advice = "name exports, folders or a manifest; `traceparse -` reads one export";
            return Err(format!("a fleet cannot be read from standard input: {advice}"));
        }
        Ok(())
    }
}

impl FleetReportArgs {
    /// Checks that the extension of the output fits the format.
    pub(crate) fn check_name(&self) -> Result<(), String> {
        check_name(self.format, self.output.as_deref())
    }

    /// The file that the report is written to; `None` for standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Checks the question.
    pub(crate) fn check_question(&self) -> Result<(), String> {
        if self.approximate && self.questions.method == QuantileMethod::Linear {
            return Err("--approximate percentiles are nearest ranks; leave out --method".to_owned());
        }
        self.questions.check()
    }

    /// The requested format, or else the format of the output's extension.
    pub(crate) fn format(&self) -> FleetFormat {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(FleetFormat::Text)
    }

    /// The text to show: everything if an option is about its tables.
    pub(crate) fn view(&self) -> FleetView {
        let is_full = self.tables.top.is_some() || !self.questions.scope.is_empty();
        self.view.unwrap_or(if is_full { FleetView::Full } else { FleetView::Overview })
    }

    /// The question.
    pub(crate) fn options(&self) -> FleetOptions {
        let default_top = (self.format() == FleetFormat::Text).then_some(TEXT_ROWS);
        FleetOptions {
            sort: self.tables.sort,
            top: self.tables.top.map_or(default_top, |rows| (rows > 0).then_some(rows)),
            alerts: self.tables.alert.clone(),
            is_approximate: self.approximate,
            ..self.threads.narrow(self.chosen.narrow(self.questions.options()))
        }
    }
}

impl FleetCommand {
    /// The operations on stacks, if the command takes them, in their order.
    pub(crate) fn operations_mut(&mut self) -> Option<&mut OperationArgs> {
        match &mut self.action {
            FleetAction::Report(args) => Some(&mut args.reading.filters.operations),
            FleetAction::Tree(args) => Some(&mut args.reading.filters.operations),
            FleetAction::Extract(args) => Some(&mut args.reading.filters.operations),
            FleetAction::Intervals(_) | FleetAction::Merge(_) | FleetAction::Sql(_) => None,
        }
    }
}

impl RunArgs {
    /// The question about these runs.
    pub(crate) fn narrow(&self, options: FleetOptions) -> FleetOptions {
        FleetOptions { only: self.only.clone(), processes: self.process.clone(), ..options }
    }
}

impl QuestionArgs {
    /// Checks that the arguments go together, and mean something.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.weighted && self.method == QuantileMethod::Linear {
            return Err("--weighted percentiles cannot be interpolated; leave out --method".to_owned());
        }
        if self.by.iter().any(|label| label.trim().is_empty()) {
            return Err("--by has an empty label; name one, such as --by app_version".to_owned());
        }
        // P0 is the smallest run, so percentiles between it and P1 are most likely fractions of 1.
        let is_share = |quantile: &Quantile| (1..ONE_PERCENT).contains(&quantile.parts_per_million());
        if !self.percentiles.is_empty() && self.percentiles.iter().all(is_share) {
            let meant = |quantile: &Quantile| Quantile::from_parts_per_million(100 * quantile.parts_per_million());
            let meant: Vec<String> = self.percentiles.iter().filter_map(meant).map(|meant| meant.to_string()).collect();
            let meant = meant.join(",").replace('P', "");
            return Err(format!("--percentiles are in percent, but all of these are below 1; did you mean {meant}?"));
        }
        Ok(())
    }

    /// The question.
    pub(crate) fn options(&self) -> FleetOptions {
        let mut by: Vec<String> = Vec::new();
        for label in self.by.iter().map(|label| composed(label.trim())) {
            if !by.contains(&label) {
                by.push(label);
            }
        }
        let defaults = FleetOptions::default();
        let mut quantiles = self.percentiles.clone();
        quantiles.sort_unstable();
        quantiles.dedup();
        FleetOptions {
            by,
            measure: self.measure,
            scopes: self.scopes(),
            quantiles: if quantiles.is_empty() { defaults.quantiles.clone() } else { quantiles },
            method: self.method,
            is_weighted: self.weighted,
            ..defaults
        }
    }

    fn scopes(&self) -> Vec<FleetScope> {
        let is_wanted =
            |scope| self.scope.is_empty() || self.scope.contains(&None) || self.scope.contains(&Some(scope));
        FleetScope::ALL.into_iter().filter(|&scope| is_wanted(scope)).collect()
    }
}

impl ReadingArgs {
    /// An option that was given and means nothing for a dataset, whose runs are measured already.
    pub(crate) fn only_for_exports(&self) -> Option<&'static str> {
        first_given([
            ("--dsym", !self.search.dsym.is_empty()),
            ("--symbols", !self.search.symbols.is_empty()),
            ("--no-bundled-symbols", self.search.no_bundled_symbols),
            ("--no-inlines", self.no_inlines),
            ("--no-cache", self.search.no_cache),
            ("--allow-truncated", self.files.allow_truncated),
            ("--jobs", self.files.jobs.is_some()),
            ("--schema", !self.schema.is_empty()),
        ])
    }
}
