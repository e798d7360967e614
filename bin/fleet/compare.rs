//! `traceparse compare`: decides whether new runs are slower than base runs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Error, Result, anyhow};
use clap::{ArgAction, Args, ValueEnum, ValueHint};
use traceparse::fleet::compare::{CompareOptions, Comparison, Side, Verdict};
use traceparse::fleet::{Collector, FleetBuilder, FleetOptions, RunRecord};
use traceparse::recording::Recording;

use super::arguments::{FailOn, FleetRunArgs, InputArgs, MeasureArgs, Outcome, VerdictArgs, parse_label};
use super::compare_page;
use super::help::COMPARE_HELP;
use super::host::{AtInterrupt, Host};
use super::reading::{self, RunParts};
use super::remote::mirror_inputs;
use crate::Failure;
use crate::formats::COMPARISONS;
use crate::given::Given;
use crate::output::{Output, unless_closed};
use crate::output_args::OutputArgs;

/// The help of `--output`.
const OUTPUT_HELP: &str = "Write to this file (repeatable)";

/// The two sides, and the options of the comparison.
#[derive(Debug, Args)]
#[command(after_long_help = COMPARE_HELP, arg_required_else_help = true, mut_arg("invert", |arg| arg.hide(true)))]
#[command(mut_arg("output", |arg| arg.action(ArgAction::Append).help(OUTPUT_HELP)))]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    given: Given,
    /// Runs of the new version; INPUT is the base
    ///
    /// Recordings, folders, manifests or datasets.
    #[arg(long, value_name = "NEW", num_args = 1.., required_unless_present = "new", value_hint = ValueHint::AnyPath)]
    against: Vec<PathBuf>,
    /// Runs of the base, such as app_version=1.9
    ///
    /// Selects them from all inputs. Repeatable.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = parse_label, requires = "new")]
    base: Vec<(String, String)>,
    /// Runs of the new version, such as app_version=2.0
    ///
    /// Selects them from all inputs. Repeatable.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = parse_label, requires = "base", conflicts_with = "against")]
    new: Vec<(String, String)>,
    #[command(flatten)]
    measure: MeasureArgs,
    /// Compare only runs with equal labels, such as device
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', help_heading = "Comparison")]
    block: Vec<String>,
    /// Count each unit once, such as device_id
    ///
    /// By default, each run is a unit. With a label, the runs with the same value are one unit, represented by their mean. The verdict then
    /// holds for devices (or other units) like these, and not only for runs like these.
    #[arg(
        long,
        value_name = "run|LABEL",
        default_value = "run",
        hide_default_value = true,
        help_heading = "Comparison"
    )]
    unit: String,
    /// Probability of any wrong claim about identical builds
    #[arg(long, value_name = "P", default_value_t = CompareOptions::default().alpha, value_parser = parse_alpha, help_heading = "Comparison", hide_short_help = true)]
    alpha: f64,
    #[command(flatten)]
    verdict: VerdictArgs,
    /// Whether functions are tested, and can make the verdict slower
    #[arg(long, value_enum, default_value_t = FunctionTests::Holm, help_heading = "Comparison", hide_short_help = true)]
    functions: FunctionTests,
    /// In text, list each run
    ///
    /// With its CPU time, recorded time and CPU use.
    #[arg(long, help_heading = "Output")]
    runs: bool,
    #[command(flatten)]
    output: OutputArgs<COMPARISONS>,
    #[command(flatten)]
    selected: FleetRunArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FunctionTests {
    /// All functions with at least 5 samples per run, adjusted for their number (Holm)
    Holm,
    /// None
    Off,
}

pub(super) fn parse_alpha(text: &str) -> Result<f64, String> {
    let alpha = text.parse().ok().filter(|alpha| (1e-6..=0.5).contains(alpha));
    alpha.ok_or_else(|| "not a probability from 0.000001 to 0.5, such as 0.05".to_owned())
}

/// Compares, and returns the exit code.
pub(crate) fn show(mut args: CompareArgs) -> Result<u8, Failure> {
    mirror_inputs(&mut args.selected.inputs)?;
    let mut new = InputArgs { inputs: std::mem::take(&mut args.against), ..InputArgs::default() };
    mirror_inputs(&mut new)?;
    let plan = &ComparePlan::new(args, new).map_err(Failure::Usage)?;
    plan.outputs.iter().for_each(Output::will_write);
    plan.runs.reading.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let has_page = plan.outputs.iter().any(Output::is_page);
    let (collectors, are_recordings) = plan.sides(false).collect(&host, has_page, [None, None])?;
    let mut pooled = has_page.then(|| pooled(&collectors));
    let mut sides = finish(collectors, plan.runs.reading.files.strict)?;
    let mut comparison = Comparison::new(&mut sides, plan.options.clone())?;
    comparison.lists_runs = plan.lists_runs;
    for output in &plan.outputs {
        let written = match pooled.take_if(|_| output.is_page()) {
            Some(pooled) => {
                let counted = plan.counted(&host, &sides, &comparison)?;
                let pooled = counted.map_or(pooled, Ok)?;
                let root = are_recordings.then(|| compare_page::root(output.file())).flatten();
                output.write(|out| compare_page::write((&comparison, root.as_deref()), pooled, output, out))
            }
            None => output.write_plain(&comparison),
        };
        unless_closed(written)?;
    }
    Ok(plan.verdict.exit_code(outcome(&comparison)))
}

fn outcome(comparison: &Comparison) -> Outcome {
    match comparison.verdict {
        Verdict::Slower(_) => Outcome::Slower,
        Verdict::Invalid { .. } => Outcome::Invalid,
        Verdict::Unknown { .. } => Outcome::Unknown,
        Verdict::Faster(_) | Verdict::NoSlowdown { .. } => Outcome::NotSlower,
    }
}

const SIDES: [&str; 2] = ["the base", "the new side"];

/// The summed runs of both sides.
fn pooled(collectors: &[Collector<'_>; 2]) -> Result<[Recording; 2]> {
    let [base, new] = collectors;
    Ok([base.take_pooled(SIDES[0])?, new.take_pooled(SIDES[1])?])
}

fn finish([base, new]: [Collector<'_>; 2], is_strict: bool) -> Result<[Side; 2]> {
    let side = |collector: Collector<'_>, name: &str| {
        collector.finish_side(is_strict).map_err(|error| anyhow!("{name}: {:#}", Error::from(error)))
    };
    Ok([side(base, SIDES[0])?, side(new, SIDES[1])?])
}

/// The runs of both sides, the options and the outputs.
struct ComparePlan {
    runs: FleetRunArgs,
    /// The inputs of the new side, if they are separate.
    new: InputArgs,
    /// The labels that select the runs of each side.
    labels: [Vec<(String, String)>; 2],
    options: CompareOptions,
    verdict: VerdictArgs,
    /// True to list each run in text.
    lists_runs: bool,
    outputs: Vec<Output>,
}

impl ComparePlan {
    /// Checks and resolves the arguments: the inputs, the outputs, then the options.
    fn new(args: CompareArgs, new: InputArgs) -> Result<Self, String> {
        args.selected.check()?;
        new.check()?;
        let outputs = args.output.resolve_all()?;
        if outputs.iter().filter(|output| output.is_page()).count() > 1 {
            return Err("only one output can be a page".to_owned());
        }
        let options = CompareOptions {
            measures: args.measure.measures(),
            blocks: args.block.iter().map(|label| RunRecord::composed(label.trim())).collect(),
            unit: Some(RunRecord::composed(args.unit.trim())).filter(|unit| unit != "run"),
            alpha: args.alpha,
            min_effect: args.verdict.min_effect(),
            with_functions: args.functions == FunctionTests::Holm,
            fails_with_any_function: args.verdict.fails_on(FailOn::Function),
        };
        if options.fails_with_any_function && !options.with_functions {
            return Err("--fail-on function needs functions; leave out --functions off".to_owned());
        }
        args.given.check(&[("--runs", outputs.iter().any(Output::is_text), "text")])?;
        if args.block.iter().chain([&args.unit]).any(|label| label.trim().is_empty()) {
            return Err("a label is empty; name one, such as --block device".to_owned());
        }
        let (labels, lists_runs) = ([args.base, args.new], args.runs);
        Ok(Self { runs: args.selected, new, labels, options, verdict: args.verdict, lists_runs, outputs })
    }

    fn sides(&self, is_again: bool) -> Sides<'_> {
        let labels = self.labels.each_ref().map(Vec::as_slice);
        Sides { runs: &self.runs, new: &self.new, labels, options: self.options.clone(), is_again }
    }

    /// The sums of the runs in the comparison. Which runs are excluded is only known after all of them were measured, so inputs are read again.
    /// `None` if no run is excluded, or if a side has no runs.
    fn counted(
        &self,
        host: &Host,
        sides: &[Side; 2],
        comparison: &Comparison,
    ) -> Result<Option<[Recording; 2]>, Failure> {
        let do_all_count = sides.iter().zip(comparison.runs).all(|(Side { report, .. }, count)| {
            report.runs.len() as u64 == count && report.inputs.without_time.is_empty()
        });
        if do_all_count || comparison.runs.contains(&0) {
            return Ok(None);
        }
        let ids = [0, 1].map(|side| {
            let runs = comparison.blocks.iter().flat_map(|block| &block.runs[side]);
            Some(runs.map(|run| run.row.run_id.clone()).collect())
        });
        Ok(Some(pooled(&self.sides(true).collect(host, true, ids)?.0)?))
    }
}

/// The runs of both sides, and the comparison options.
pub(super) struct Sides<'a> {
    pub(super) runs: &'a FleetRunArgs,
    /// The inputs of the new side, if they are separate.
    pub(super) new: &'a InputArgs,
    /// The labels that select the runs of each side.
    pub(super) labels: [&'a [(String, String)]; 2],
    pub(super) options: CompareOptions,
    /// True if the inputs were read before, so warnings were already printed.
    pub(super) is_again: bool,
}

impl Sides<'_> {
    pub(super) fn compare(self, host: &Host) -> Result<Comparison, Failure> {
        let collectors = self.collect(host, false, [None, None])?.0;
        Ok(Comparison::new(&mut finish(collectors, false)?, self.options)?)
    }

    /// Collects both sides, reading each input once, and returns whether the inputs are recordings instead of datasets. For a page, stacks are
    /// summed: of all runs, or of the runs with these ids.
    fn collect<'h>(
        &self,
        host: &'h Host,
        has_page: bool,
        only: [Option<BTreeSet<String>>; 2],
    ) -> Result<([Collector<'h>; 2], bool), Failure> {
        let collector = |labels: &[(String, String)], ids: Option<BTreeSet<String>>| {
            let by = self.options.by();
            let options = self.runs.narrow(FleetOptions { by, ..FleetOptions::default() });
            let only = options.only.iter().chain(labels).cloned().collect();
            let builder = FleetBuilder::for_comparison(FleetOptions { only, ..options }, &self.options.intervals());
            let collector = Collector::new(host, builder, self.runs.threads.patterns());
            let collector = if self.is_again { collector.quietly() } else { collector };
            if has_page { collector.pooling(self.runs.reading.when.schema.clone(), ids) } else { collector }
        };
        let [only_base, only_new] = only;
        let [base, new] = self.labels;
        let collectors = [collector(base, only_base), collector(new, only_new)];
        let parts = RunParts {
            // Callers show whether cost moved from one function to another.
            stacks: has_page || self.options.with_functions,
            intervals: !self.options.intervals().is_empty(),
            metrics: true,
        };
        let add = |collectors: &[&Collector<'_>], inputs| {
            reading::collect(host, collectors, inputs, &self.runs.reading, parts)
        };
        let are_recordings = match self.new.inputs.is_empty() {
            true => add(&[&collectors[0], &collectors[1]], &self.runs.inputs)?,
            false => {
                let is_base = add(&[&collectors[0]], &self.runs.inputs)?;
                add(&[&collectors[1]], self.new)? && is_base
            }
        };
        Ok((collectors, are_recordings))
    }
}
