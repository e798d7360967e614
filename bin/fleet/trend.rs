//! `traceparse trend`: finds the versions or dates at which an app changed.

use std::path::PathBuf;

use clap::Args;
use traceparse::fleet::compare::{CompareOptions, Comparison, Quantity, Side};
use traceparse::fleet::{Collector, FleetBuilder, RunRecord, TrendOptions, TrendReport, TrendVerdict};
use traceparse::stats::Looks;

use super::arguments::{FailOn, FleetRunArgs, InputArgs, MeasureArgs, Outcome, VerdictArgs, parse_label};
use super::compare::{Sides, parse_alpha};
use super::help::TREND_HELP;
use super::host::{AtInterrupt, Host};
use super::reading::{self, RunParts};
use super::remote::mirror_inputs;
use crate::Failure;
use crate::formats::TABLES;
use crate::output::{Output, unless_closed};
use crate::output_args::OutputArgs;

/// The runs, and the options for finding changes.
#[derive(Debug, Args)]
#[command(after_long_help = TREND_HELP, arg_required_else_help = true, mut_arg("invert", |arg| arg.hide(true)))]
#[command(mut_arg("fail_on", |arg| arg.value_parser(FailOn::of_totals())))]
pub(crate) struct TrendArgs {
    /// Label with an order, such as app_version, or date
    #[arg(long, value_name = "LABEL|date")]
    over: String,
    #[command(flatten)]
    measure: MeasureArgs,
    /// Compare only runs with equal labels, such as device
    #[arg(long, value_name = "LABEL", help_heading = "Trend")]
    block: Option<String>,
    /// Probability of reporting any false change, over all nightly tests
    #[arg(long, value_name = "P", default_value_t = CompareOptions::default().alpha, value_parser = parse_alpha, help_heading = "Trend", hide_short_help = true)]
    alpha: f64,
    /// Test a finished history only once
    ///
    /// This finds smaller changes. Without it, the history is tested after each new point, and all tests share the probability of a false change.
    #[arg(long, help_heading = "Trend")]
    once: bool,
    /// Accept all changes up to this version or date
    ///
    /// Compares the newest level with the level of this version or date, instead of the first level.
    #[arg(long, value_name = "VERSION", help_heading = "Trend")]
    accepted: Option<String>,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    output: OutputArgs<TABLES>,
    #[command(flatten)]
    runs: FleetRunArgs,
}

/// The runs, the options and the output.
struct TrendPlan {
    runs: FleetRunArgs,
    options: TrendOptions,
    verdict: VerdictArgs,
    output: Output,
}

/// Finds changes, and returns the exit code.
pub(crate) fn show(mut args: TrendArgs) -> Result<u8, Failure> {
    let words = args.words_of_inputs();
    mirror_inputs(&mut args.runs.inputs)?;
    let plan = &TrendPlan::new(args, words).map_err(Failure::Usage)?;
    plan.output.will_write();
    plan.runs.reading.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let side = plan.side(&host)?;
    let mut trend = TrendReport::new(&side, plan.options.clone());
    match plan.comparison(&host, &trend) {
        Ok(comparison) => trend.comparison = comparison,
        // The result does not depend on functions.
        Err(Failure::Input(error)) => {
            trend.notes.push(format!("Functions at the newest change are not listed: {error:#}."));
        }
        Err(usage) => return Err(usage),
    }
    unless_closed(plan.output.write_plain(&trend))?;
    Ok(plan.verdict.exit_code(match trend.verdict() {
        TrendVerdict::Slower => Outcome::Slower,
        TrendVerdict::Faster | TrendVerdict::NoChange => Outcome::NotSlower,
        TrendVerdict::Unknown => Outcome::Unknown,
        TrendVerdict::Invalid => Outcome::Invalid,
    }))
}

impl TrendArgs {
    /// The inputs as words of a command line, for a command that compares functions. Empty if names are redacted, or if inputs cannot be
    /// read again.
    fn words_of_inputs(&self) -> Vec<String> {
        let InputArgs { inputs, manifest, files_from, .. } = &self.runs.inputs;
        if self.runs.reading.redact.is_asked() || files_from.is_some() {
            return Vec::new();
        }
        let words = |option: Option<&str>, path: &PathBuf| {
            option.map(str::to_owned).into_iter().chain([path.display().to_string()]).collect::<Vec<_>>()
        };
        let inputs = inputs.iter().flat_map(|path| words(None, path));
        inputs.chain(manifest.iter().flat_map(|path| words(Some("--manifest"), path))).collect()
    }
}

impl TrendPlan {
    /// Checks and resolves the arguments: the inputs, the output, then the options.
    fn new(args: TrendArgs, words: Vec<String>) -> Result<Self, String> {
        args.runs.check()?;
        let output = args.output.resolve()?;
        let options = TrendOptions {
            measures: args.measure.measures(),
            label: Some(RunRecord::composed(args.over.trim())).filter(|over| over != "date"),
            block: args.block.as_ref().map(|block| RunRecord::composed(block.trim())),
            alpha: args.alpha,
            looks: if args.once { Looks::Once } else { Looks::EveryPoint },
            accepted: args.accepted.as_ref().map(|accepted| RunRecord::composed(accepted.trim())),
            inputs: words,
            min_effect: args.verdict.min_effect(),
        };
        if options.label.iter().chain(&options.block).any(String::is_empty) {
            return Err("a label is empty; name one, such as --over app_version".to_owned());
        }
        if options.accepted.as_ref().is_some_and(String::is_empty) {
            return Err("--accepted is empty; name a version or date whose level you accept".to_owned());
        }
        if options.label.is_some() && options.label == options.block {
            return Err("--over and --block need different labels; leave out --block".to_owned());
        }
        Ok(Self { runs: args.runs, options, verdict: args.verdict, output })
    }

    /// Collects the runs.
    fn side(&self, host: &Host) -> Result<Side, Failure> {
        let question = self.runs.narrow(self.options.fleet());
        let intervals = Quantity::intervals(&self.options.measures);
        let parts = RunParts { stacks: false, intervals: !intervals.is_empty(), metrics: true };
        let builder = FleetBuilder::for_trend(question, &intervals);
        let collector = Collector::new(host, builder, self.runs.threads.patterns());
        reading::collect(host, &[&collector], &self.runs.inputs, &self.runs.reading, parts)?;
        Ok(collector.finish_side(self.runs.reading.files.strict)?)
    }

    /// Compares the runs nearest to the newest change, which are read again with their functions. `None` if there is no change, or if inputs cannot
    /// be read twice.
    fn comparison(&self, host: &Host, trend: &TrendReport<'_>) -> Result<Option<Comparison>, Failure> {
        let words = trend.newest_shift().map_or(&[][..], |shift| &shift.comparison);
        if words.is_empty() || trend.options.inputs.is_empty() {
            return Ok(None);
        }
        let values = |option: &str| -> Vec<&String> {
            words.chunks(2).filter(|pair| pair[0] == option).map(|pair| &pair[1]).collect()
        };
        let labels = ["--base", "--new"]
            .map(|option| values(option).into_iter().filter_map(|label| parse_label(label).ok()).collect::<Vec<_>>());
        let TrendOptions { block, alpha, min_effect, .. } = &trend.options;
        let options = CompareOptions {
            measures: values("--measure").into_iter().filter_map(|measure| measure.parse().ok()).collect(),
            blocks: block.iter().cloned().collect(),
            alpha: *alpha,
            min_effect: *min_effect,
            ..CompareOptions::default()
        };
        let labels = [&labels[0][..], &labels[1]];
        let sides = Sides { runs: &self.runs, new: &InputArgs::default(), labels, options, is_again: true };
        Ok(Some(sides.compare(host)?))
    }
}
