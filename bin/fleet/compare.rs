//! `traceparse compare`: whether new runs are slower than those of a base.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};
use clap::{Args, ValueEnum, ValueHint};
use traceparse::fleet::compare::{CompareOptions, Comparison, Side, Verdict};
use traceparse::fleet::{Collector, FleetBuilder, FleetOptions, ThreadChoice, composed};
use traceparse::output::{self, Format};
use traceparse::recording::Recording;

use super::cli::{FailOn, InputArgs, MeasureArgs, Outcome, ReadingArgs, RunArgs, VerdictArgs, parse_label};
use super::compare_page;
use super::filters::ThreadArgs;
use super::help::COMPARE_HELP;
use super::host::{AtInterrupt, Host};
use super::reading::{self, RunParts};
use super::remote::mirror_inputs;
use crate::format_options::{CsvArgs, PageArgs};
use crate::formats::{check_name, format_of, syntax_of};
use crate::guard::will_write;
use crate::operations::OperationArgs;
use crate::sink::{Colour, style, write_inert};
use crate::{Failure, is_closed_pipe};

/// The two sides, and the question.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP, arg_required_else_help = true, mut_arg("invert", |arg| arg.hide(true)))]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    inputs: InputArgs,
    /// Recordings, folders, manifests or datasets of the new version; INPUT is the base
    #[arg(long, value_name = "NEW", num_args = 1.., required_unless_present = "new", value_hint = ValueHint::AnyPath, help_heading = "Input")]
    against: Vec<PathBuf>,
    /// Of all inputs, the runs of the base, such as app_version=1.9 (repeatable)
    #[arg(long, value_name = "LABEL=VALUE", value_parser = parse_label, requires = "new", help_heading = "Input")]
    base: Vec<(String, String)>,
    /// Of all inputs, the runs of the new version, such as app_version=2.0 (repeatable)
    #[arg(long, value_name = "LABEL=VALUE", value_parser = parse_label, requires = "base", conflicts_with = "against", help_heading = "Input")]
    new: Vec<(String, String)>,
    #[command(flatten)]
    measure: MeasureArgs,
    /// Compare only runs with the same value of these labels, such as device
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', help_heading = "Comparison")]
    block: Vec<String>,
    /// The label of what the verdict is to hold for, such as device_id; the mean of its runs counts once
    #[arg(long, value_name = "run|LABEL", default_value = "run", help_heading = "Comparison")]
    unit: String,
    /// Probability of any wrong claim about identical builds
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = parse_alpha, help_heading = "Comparison")]
    alpha: f64,
    #[command(flatten)]
    verdict: VerdictArgs,
    /// Whether functions are tested, and can make the verdict slower
    #[arg(long, value_enum, default_value_t = FunctionTests::Holm, help_heading = "Comparison")]
    functions: FunctionTests,
    /// In text, list each run with its CPU time, recorded time and CPU use
    #[arg(long, help_heading = "Output")]
    runs: bool,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<CompareFormat>,
    /// Write to this file instead of standard output; repeatable, with a format for each extension
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    csv: CsvArgs,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    chosen: RunArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FunctionTests {
    /// All with 5 samples a run or more, adjusted for their number (Holm)
    Holm,
    /// None
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/fleet-formats.md
    Json,
    /// A table with a row for each run
    Csv,
    /// For a comment on a pull request
    Markdown,
    /// For CI systems that show tests
    Junit,
    /// A page with all runs and what changed between their sums: a single file that works offline in any browser
    Html,
}

pub(super) fn parse_alpha(text: &str) -> Result<f64, String> {
    let alpha = text.parse().ok().filter(|alpha| (1e-6..=0.5).contains(alpha));
    alpha.ok_or_else(|| "not a probability from 0.000001 to 0.5, such as 0.05".to_owned())
}

/// Compares, and returns the exit code of the process.
pub(crate) fn show(args: &mut CompareArgs, colour: Colour) -> Result<u8, Failure> {
    mirror_inputs(&mut args.inputs)?;
    let mut new = InputArgs { inputs: std::mem::take(&mut args.against), ..InputArgs::default() };
    mirror_inputs(&mut new)?;
    args.check(&new).map_err(Failure::Usage)?;
    let paths = args.paths();
    paths.iter().for_each(|path| will_write(*path));
    args.reading.filters.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let Collected { collectors, are_recordings } =
        args.sides(&new, false).collect(&host, args.has_page(), [None, None])?;
    let mut pooled = args.has_page().then(|| pooled(&collectors));
    let mut sides = finish(collectors, args.reading.files.strict)?;
    let mut comparison = Comparison::new(&mut sides, args.options()).map_err(Error::from)?;
    comparison.lists_runs = args.runs;
    for path in paths {
        let syntax = syntax_of(args.format(path));
        let format = match args.format(path) {
            CompareFormat::Text => Format::Text(style(path, colour)),
            CompareFormat::Json | CompareFormat::Html => Format::Json,
            CompareFormat::Csv => Format::Csv(args.csv.cells()),
            CompareFormat::Markdown => Format::Markdown,
            CompareFormat::Junit => Format::JUnit,
        };
        let is_page = args.format(path) == CompareFormat::Html;
        let written = match is_page.then(|| pooled.take()).flatten() {
            Some(pooled) => {
                let counted = args.counted(&host, &new, &sides, &comparison)?;
                let pooled = counted.map_or(pooled, Ok)?;
                let root = if are_recordings { compare_page::root(path) } else { None };
                let page =
                    |out: &mut dyn Write| compare_page::write((&comparison, root.as_deref()), pooled, &args.page, out);
                write_inert(path, syntax, page)
            }
            None => write_inert(path, syntax, |out| output::write(&comparison, &format, out)),
        };
        match written {
            // The reader of the pipe closed it; the verdict still counts.
            Err(error) if is_closed_pipe(&error) => {}
            result => result?,
        }
    }
    Ok(args.verdict.exit_code(outcome(&comparison)))
}

fn outcome(comparison: &Comparison) -> Outcome {
    match comparison.verdict {
        Verdict::Slower(_) => Outcome::Slower,
        Verdict::Invalid { .. } => Outcome::Invalid,
        Verdict::Unknown { .. } => Outcome::Unknown,
        Verdict::Faster(_) | Verdict::NoSlowdown { .. } => Outcome::NotSlower,
    }
}

/// What was read of both sides.
struct Collected<'h> {
    collectors: [Collector<'h>; 2],
    /// False if a side is a dataset, whose recordings may be elsewhere.
    are_recordings: bool,
}

const SIDES: [&str; 2] = ["the base", "the new side"];

/// The sums of the runs of both sides.
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

impl CompareArgs {
    /// The operations on stacks.
    pub(crate) fn operations_mut(&mut self) -> &mut OperationArgs {
        &mut self.reading.filters.operations
    }

    fn check(&self, new: &InputArgs) -> Result<(), String> {
        self.inputs.check()?;
        new.check()?;
        if self.format.is_some() && self.output.len() > 1 {
            return Err("--format is for one output; leave it out, and name each -o by its format, such as compare.md"
                .to_owned());
        }
        let formats = self.paths().into_iter().map(|path| self.format(path));
        if formats.clone().filter(|format| *format == CompareFormat::Html).count() > 1 {
            return Err("only one output can be a page".to_owned());
        }
        self.output.iter().try_for_each(|path| check_name(self.format, Some(path)))?;
        self.page.check(self.has_page())?;
        self.csv.check(formats.clone().any(|format| format == CompareFormat::Csv))?;
        if self.verdict.fails_on(FailOn::Function) && self.functions == FunctionTests::Off {
            return Err("--fail-on function needs functions; leave out --functions off".to_owned());
        }
        if self.runs && formats.clone().all(|format| format != CompareFormat::Text) {
            return Err("--runs only applies to text; JSON and CSV always list all runs".to_owned());
        }
        if self.block.iter().chain([&self.unit]).any(|label| label.trim().is_empty()) {
            return Err("a label is empty; name one, such as --block device".to_owned());
        }
        self.reading.filters.check()
    }

    /// The outputs; `None` is standard output.
    fn paths(&self) -> Vec<Option<&Path>> {
        if self.output.is_empty() { vec![None] } else { self.output.iter().map(|path| Some(path.as_path())).collect() }
    }

    fn format(&self, path: Option<&Path>) -> CompareFormat {
        self.format.or_else(|| format_of(path)).unwrap_or(CompareFormat::Text)
    }

    fn has_page(&self) -> bool {
        self.paths().into_iter().any(|path| self.format(path) == CompareFormat::Html)
    }

    fn options(&self) -> CompareOptions {
        CompareOptions {
            measures: self.measure.measures(),
            blocks: self.block.iter().map(|label| composed(label.trim())).collect(),
            unit: Some(composed(self.unit.trim())).filter(|unit| unit != "run"),
            alpha: self.alpha,
            min_effect: self.verdict.min_effect(),
            with_functions: self.functions == FunctionTests::Holm,
            fails_with_any_function: self.verdict.fails_on(FailOn::Function),
        }
    }

    /// The runs to compare.
    fn sides<'a>(&'a self, new: &'a InputArgs, is_again: bool) -> Sides<'a> {
        let Self { inputs, chosen, threads, reading, .. } = self;
        Sides {
            inputs,
            new,
            labels: [&self.base, &self.new],
            options: self.options(),
            chosen,
            threads,
            reading,
            is_again,
        }
    }

    /// The sums of the runs that count, if some do not: they are known when all were measured, so inputs are read again.
    fn counted(
        &self,
        host: &Host,
        new: &InputArgs,
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
        Ok(Some(pooled(&self.sides(new, true).collect(host, true, ids)?.collectors)?))
    }
}

/// The runs of both sides, and what is asked about them.
pub(super) struct Sides<'a> {
    pub(super) inputs: &'a InputArgs,
    /// The inputs of the new side, if they are others.
    pub(super) new: &'a InputArgs,
    /// The labels of the runs of each side.
    pub(super) labels: [&'a [(String, String)]; 2],
    pub(super) options: CompareOptions,
    pub(super) chosen: &'a RunArgs,
    pub(super) threads: &'a ThreadArgs,
    pub(super) reading: &'a ReadingArgs,
    /// True if they were read before, so that warnings were printed.
    pub(super) is_again: bool,
}

impl Sides<'_> {
    /// Reads and compares both sides.
    pub(super) fn compare(self, host: &Host) -> Result<Comparison, Failure> {
        let collectors = self.collect(host, false, [None, None])?.collectors;
        Ok(Comparison::new(&mut finish(collectors, false)?, self.options).map_err(Error::from)?)
    }

    /// Both sides, each input read once. For a page, their stacks are summed, of the runs with these ids if there are some.
    fn collect<'h>(
        &self,
        host: &'h Host,
        has_page: bool,
        only: [Option<BTreeSet<String>>; 2],
    ) -> Result<Collected<'h>, Failure> {
        let collector = |labels: &[(String, String)], ids: Option<BTreeSet<String>>| {
            let by = self.options.by();
            let options = self.threads.narrow(self.chosen.narrow(FleetOptions { by, ..FleetOptions::default() }));
            let only = options.only.iter().chain(labels).cloned().collect();
            let patterns = self.threads.threads().filter(ThreadChoice::has_patterns);
            let builder = FleetBuilder::for_comparison(FleetOptions { only, ..options }, &self.options.intervals());
            let collector = Collector::new(host, builder, patterns);
            let collector = if self.is_again { collector.quietly() } else { collector };
            if has_page { collector.pooling(self.reading.schema.clone(), ids) } else { collector }
        };
        let [only_base, only_new] = only;
        let [base, new] = self.labels;
        let collectors = [collector(base, only_base), collector(new, only_new)];
        let parts = RunParts {
            // Callers show whether cost moved.
            stacks: has_page || self.options.with_functions,
            intervals: !self.options.intervals().is_empty(),
        };
        let add =
            |collectors: &[&Collector<'_>], inputs| reading::collect(host, collectors, inputs, self.reading, parts);
        let are_recordings = match self.new.inputs.is_empty() {
            true => add(&[&collectors[0], &collectors[1]], self.inputs)?,
            false => {
                let is_base = add(&[&collectors[0]], self.inputs)?;
                add(&[&collectors[1]], self.new)? && is_base
            }
        };
        Ok(Collected { collectors, are_recordings })
    }
}
