//! Arguments that the commands of `traceparse fleet` share, and their conversion for the library.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use traceparse::alert::AlertRule;
use traceparse::fleet::compare::{CompareOptions, Quantity};
use traceparse::fleet::{FleetOptions, FleetScope, Measure, RunRecord, Shard, SortKey};
use traceparse::stats::{Quantile, QuantileMethod};

use super::filters::ThreadArgs;
use crate::arguments::ReadingArgs;
use crate::choices;
use crate::weight_limit::{parse_percent, parse_top};
use crate::{EXIT_ALERT, EXIT_DONE, EXIT_INPUT, EXIT_UNDECIDED};

/// The quantities to measure in each run.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// Quantity to compare, such as cpu-use (repeatable)
    ///
    /// cpu-time, cpu-use, elapsed, or interval:NAME. The default is CPU time or CPU use, as the lengths of the recordings suggest.
    #[arg(long, value_name = "QUANTITY", help_heading = "Comparison")]
    measure: Vec<Quantity>,
}

impl MeasureArgs {
    /// The quantities without duplicates.
    pub(crate) fn measures(&self) -> Vec<Quantity> {
        let is_first = |(index, measure): &(usize, &Quantity)| !self.measure[..*index].contains(measure);
        self.measure.iter().enumerate().filter(is_first).map(|(_, measure)| measure.clone()).collect()
    }
}

/// The runs of a fleet: where they are, which runs are included, and how they are read.
#[derive(Debug, Args)]
pub(crate) struct FleetRunArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    chosen: RunArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

impl FleetRunArgs {
    /// Checks that the arguments can be combined.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.inputs.check()?;
        self.reading.check_fleet()
    }

    /// Restricts report options to these runs.
    pub(crate) fn narrow(&self, options: FleetOptions) -> FleetOptions {
        self.threads.narrow(self.chosen.narrow(options))
    }
}

/// The inputs to read.
#[derive(Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// Recordings, exports, folders, patterns or manifests
    ///
    /// Also MetricKit diagnostics; see below.
    #[arg(required_unless_present_any = ["manifest", "files_from"], value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// CSV or JSON lines listing exports and labels
    ///
    /// See below for the columns. Repeatable. The file may have any name.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub(crate) manifest: Vec<PathBuf>,
    /// Read the paths in this list; - is standard input
    ///
    /// One path of a recording or export per line. Paths are relative to the working directory, and are taken literally: patterns and
    /// comments are not supported.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub(crate) files_from: Option<PathBuf>,
    /// Paths of --files-from end with NUL characters, as `find -print0` writes them
    #[arg(short = '0', long, requires = "files_from", help_heading = "Input", hide_short_help = true)]
    pub(crate) null: bool,
}

/// The part of the inputs that is read.
#[derive(Debug, Default, Args)]
pub(crate) struct ShardArgs {
    /// Read one part of the inputs, such as 3/16
    ///
    /// `fleet merge` combines the parts. Shards are counted from 1. The path of a recording below the root decides which shard it belongs to.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, help_heading = "Input")]
    pub(crate) shard: Option<Shard>,
    /// Assign shards by paths relative to this folder
    ///
    /// The default is the folder given as INPUT, or the deepest folder that contains all files of lists and manifests.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "shard", help_heading = "Input", hide_short_help = true)]
    pub(crate) root: Option<PathBuf>,
    /// Read the contents of all shards from this JSON file; list only this shard's inputs as arguments
    ///
    /// `{"inputs": N, "lists": {"1": "HASH", …}}`: the number of inputs of all shards, and for each shard a hash of its inputs.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "root", help_heading = "Input", hide_short_help = true)]
    pub(crate) plan: Option<PathBuf>,
}

/// The options that choose the numbers of a report.
#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// Compare runs by these labels, such as device
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    /// Which samples to attribute to a binary or function
    #[arg(long, value_parser = choices::measure(), default_value = Measure::Cpu.name(), help_heading = "Report", hide_short_help = true)]
    pub(crate) measure: Measure,
    /// Scopes whose distributions are shown [default: all]
    #[arg(long, value_name = "SCOPE,…", value_delimiter = ',', value_parser = scope_parser(), help_heading = "Report")]
    pub(crate) scope: Vec<Option<FleetScope>>,
    /// Percentiles to show [default: 50,90,95,99,99.9]
    #[arg(long, value_name = "P,…", value_delimiter = ',', value_parser = parse_percentile, help_heading = "Report")]
    pub(crate) percentiles: Vec<Quantile>,
    /// How percentiles are computed
    #[arg(long, value_parser = choices::quantile_method(), default_value = QuantileMethod::NearestRank.name(), help_heading = "Report", hide_short_help = true)]
    pub(crate) method: QuantileMethod,
    /// Count each run as often as its `run_weight`
    #[arg(long, help_heading = "Report", hide_short_help = true)]
    pub(crate) weighted: bool,
}

/// The runs to include, and the processes in them.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Only runs with this label (repeatable)
    ///
    /// An example is app_version=5.2.
    #[arg(long = "where", value_name = "LABEL=VALUE", value_parser = parse_label)]
    pub(crate) only: Vec<(String, String)>,
    /// Only this process, by name (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) process: Vec<String>,
}

/// The rows of tables, and alerts.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Sort tables by a percentile such as p99, by mean, weighted-mean or max
    ///
    /// `auto` is the highest percentile up to P99 for which there are enough runs.
    #[arg(long, value_name = "KEY", default_value = "auto", value_parser = parse_sort, help_heading = "Report", hide_short_help = true)]
    pub(crate) sort: SortKey,
    /// Show only the first N rows of tables; 0 shows all
    ///
    /// The default is 15 in text, and all rows in other formats.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_top)]
    pub(crate) top: Option<usize>,
    /// Exit with code 3 if this rule holds (repeatable)
    ///
    /// For example, 'cpu.p99 > 80'. See below for the grammar of rules.
    #[arg(long, value_name = "RULE", value_parser = AlertRule::of_runs)]
    pub(crate) alert: Vec<AlertRule>,
}

/// The inputs that alerts require.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct IncompleteArgs {
    /// Evaluate alerts even if inputs are missing
    ///
    /// Alerts are then decided by the available runs, even if others could not be measured.
    #[arg(long, requires = "alert", help_heading = "Report", hide_short_help = true)]
    pub(crate) allow_incomplete: bool,
}

/// The default of `--min-effect`.
static MIN_EFFECT: LazyLock<String> = LazyLock::new(|| format!("{}%", 100.0 * CompareOptions::default().min_effect));

/// The conditions for a verdict, and its effect on the exit code.
#[derive(Debug, Args)]
pub(crate) struct VerdictArgs {
    /// Ignore changes smaller than this
    #[arg(long, value_name = "P%", default_value = MIN_EFFECT.as_str(), value_parser = parse_percent, help_heading = "Verdict")]
    min_effect: f64,
    /// Verdicts that set the exit code
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

/// The outcome of a verdict, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Slower,
    NotSlower,
    /// The input is valid but inconclusive.
    Unknown,
    /// The input cannot be used for a verdict.
    Invalid,
}

impl VerdictArgs {
    /// The minimum effect as a share.
    pub(crate) fn min_effect(&self) -> f64 {
        self.min_effect / 100.0
    }

    /// True if a verdict has a separate exit code.
    pub(crate) fn fails_on(&self, verdict: FailOn) -> bool {
        self.fail_on.contains(&verdict)
    }

    /// The exit code of the process. It is never 0 if the input cannot be used for a verdict.
    pub(crate) fn exit_code(&self, outcome: Outcome) -> u8 {
        match outcome {
            Outcome::Invalid => EXIT_INPUT,
            Outcome::Slower if self.fails_on(FailOn::Slower) || self.fails_on(FailOn::Function) => EXIT_ALERT,
            Outcome::Unknown if self.fails_on(FailOn::Unknown) => EXIT_UNDECIDED,
            _ => EXIT_DONE,
        }
    }
}

/// Verdicts that set the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Exit with code 3 if the app became slower
    Slower,
    /// Exit with code 4 if there are too few runs to decide
    Unknown,
    /// Exit with code 3 if any function is slower, even if the total hardly grows
    Function,
}

impl FailOn {
    /// A parser of the verdicts that need no functions.
    pub(crate) fn of_totals() -> impl TypedValueParser<Value = Self> {
        let values = [Self::Slower, Self::Unknown].iter().filter_map(ValueEnum::to_possible_value);
        PossibleValuesParser::new(values).try_map(|name| Self::from_str(&name, false))
    }
}

/// One percent as a quantile, in parts per million.
const ONE_PERCENT: u32 = 10_000;

pub(crate) fn parse_percentile(text: &str) -> Result<Quantile, String> {
    let bad = || "not a percentile: a number from 0 to 100 with up to four decimals, such as 99.9".to_owned();
    Quantile::from_percent(text.trim()).ok_or_else(bad)
}

pub(super) fn parse_label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected a label and its value, such as app_version=5.2")?;
    Ok((RunRecord::composed(key), RunRecord::composed(value)))
}

/// A parser for scopes; `None` means all.
fn scope_parser() -> impl TypedValueParser<Value = Option<FleetScope>> {
    let names = ["all"].into_iter().chain(FleetScope::ALL.map(FleetScope::name));
    PossibleValuesParser::new(names).map(|name| FleetScope::ALL.into_iter().find(|scope| scope.name() == name))
}

fn parse_sort(text: &str) -> Result<SortKey, String> {
    SortKey::from_name(text)
        .ok_or_else(|| "expected a percentile such as p99, or mean, weighted-mean or max".to_owned())
}

impl InputArgs {
    /// Checks that the inputs can be used for a fleet.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.inputs.iter().chain(&self.manifest).any(|path| path.as_os_str() == "-") {
            let advice = "name exports, folders or a manifest; `traceparse -` reads one export";
            return Err(format!("a fleet cannot be read from standard input: {advice}"));
        }
        Ok(())
    }
}

impl RunArgs {
    /// Restricts report options to these runs.
    pub(crate) fn narrow(&self, options: FleetOptions) -> FleetOptions {
        FleetOptions { only: self.only.clone(), processes: self.process.clone(), ..options }
    }
}

impl QuestionArgs {
    /// Checks that the arguments are valid and can be combined.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.weighted && self.method == QuantileMethod::Linear {
            return Err("--weighted percentiles cannot be interpolated; leave out --method".to_owned());
        }
        if self.by.iter().any(|label| label.trim().is_empty()) {
            return Err("--by has an empty label; name one, such as --by app_version".to_owned());
        }
        // P0 is the smallest run, so percentiles between it and P1 are most likely meant as fractions of 1.
        let is_share = |quantile: &Quantile| (1..ONE_PERCENT).contains(&quantile.parts_per_million());
        if !self.percentiles.is_empty() && self.percentiles.iter().all(is_share) {
            let meant = |quantile: &Quantile| Quantile::from_parts_per_million(100 * quantile.parts_per_million());
            let meant: Vec<String> = self.percentiles.iter().filter_map(meant).map(|meant| meant.to_string()).collect();
            let meant = meant.join(",").replace('P', "");
            return Err(format!("--percentiles are in percent, but all of these are below 1; did you mean {meant}?"));
        }
        Ok(())
    }

    /// The report options.
    pub(crate) fn options(&self) -> FleetOptions {
        let mut by: Vec<String> = Vec::new();
        for label in self.by.iter().map(|label| RunRecord::composed(label.trim())) {
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
