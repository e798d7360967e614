//! `traceparse trend`: where an app changed.

use std::path::PathBuf;

use anyhow::Error;
use clap::{Args, ValueEnum, ValueHint};
use traceparse::fleet::compare::{CompareOptions, Comparison, Quantity, Side};
use traceparse::fleet::{Collector, FleetBuilder, ThreadChoice, TrendOptions, TrendReport, TrendVerdict, composed};
use traceparse::output::{self, Format};
use traceparse::stats::Looks;

use super::cli::{FailOn, InputArgs, MeasureArgs, Outcome, ReadingArgs, RunArgs, VerdictArgs, parse_label};
use super::compare::{Sides, parse_alpha};
use super::filters::ThreadArgs;
use super::help::TREND_HELP;
use super::host::{AtInterrupt, Host};
use super::reading::{self, RunParts};
use super::remote::mirror_inputs;
use crate::format_options::CsvArgs;
use crate::formats::{check_name, format_of, syntax_of};
use crate::guard::will_write;
use crate::operations::OperationArgs;
use crate::sink::{Colour, style, write_inert};
use crate::{Failure, is_closed_pipe};

/// The runs, and the question.
#[derive(Debug, Args)]
#[command(after_help = TREND_HELP, arg_required_else_help = true, mut_arg("invert", |arg| arg.hide(true)))]
pub(crate) struct TrendArgs {
    #[command(flatten)]
    inputs: InputArgs,
    /// Label with an order, such as app_version; or the date of each run
    #[arg(long, value_name = "LABEL|date", help_heading = "Trend")]
    over: String,
    #[command(flatten)]
    measure: MeasureArgs,
    /// Compare only runs with the same value of this label, such as device
    #[arg(long, value_name = "LABEL", help_heading = "Trend")]
    block: Option<String>,
    /// Probability of any false change, over all nights on which you run this
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = parse_alpha, help_heading = "Trend")]
    alpha: f64,
    /// Look at a finished history a single time, and find smaller changes
    ///
    /// Without it, the probability of a false change is spent over the nights: one test after each new point.
    #[arg(long, help_heading = "Trend")]
    once: bool,
    /// Compare the newest level with this version or date instead of the start, and accept all changes up to it
    #[arg(long, value_name = "VERSION", help_heading = "Trend")]
    accepted: Option<String>,
    #[command(flatten)]
    verdict: VerdictArgs,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<TrendFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    csv: CsvArgs,
    #[command(flatten)]
    chosen: RunArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TrendFormat {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/fleet-formats.md
    Json,
    /// A table with a row for each point
    Csv,
}

/// Finds changes, and returns the exit code of the process.
pub(crate) fn show(args: &mut TrendArgs, colour: Colour) -> Result<u8, Failure> {
    let inputs = args.words_of_inputs();
    mirror_inputs(&mut args.inputs)?;
    args.check().map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    args.reading.filters.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let side = args.side(&host)?;
    let mut trend = TrendReport::new(&side, TrendOptions { inputs, ..args.options() });
    match args.comparison(&host, &trend) {
        Ok(comparison) => trend.comparison = comparison,
        // The answer does not depend on functions.
        Err(Failure::Input(error)) => {
            trend.notes.push(format!("Functions at the newest change are not listed: {error:#}."));
        }
        Err(usage) => return Err(usage),
    }
    let path = args.output.as_deref();
    let format = match args.format() {
        TrendFormat::Text => Format::Text(style(path, colour)),
        TrendFormat::Json => Format::Json,
        TrendFormat::Csv => Format::Csv(args.csv.cells()),
    };
    match write_inert(path, syntax_of(args.format()), |out| output::write(&trend, &format, out)) {
        // The reader of the pipe closed it; the answer still counts.
        Err(error) if is_closed_pipe(&error) => {}
        result => result?,
    }
    Ok(args.verdict.exit_code(match trend.verdict() {
        TrendVerdict::Slower => Outcome::Slower,
        TrendVerdict::Faster | TrendVerdict::NoChange => Outcome::NotSlower,
        TrendVerdict::Unknown => Outcome::Unknown,
        TrendVerdict::Invalid => Outcome::Invalid,
    }))
}

impl TrendArgs {
    /// The operations on stacks.
    pub(crate) fn operations_mut(&mut self) -> &mut OperationArgs {
        &mut self.reading.filters.operations
    }

    fn check(&self) -> Result<(), String> {
        self.inputs.check()?;
        check_name(self.format, self.output.as_deref())?;
        self.csv.check(self.format() == TrendFormat::Csv)?;
        if self.verdict.fails_on(FailOn::Function) {
            return Err("--fail-on function is for `traceparse compare`; `trend` prints its command".to_owned());
        }
        let TrendOptions { label, block, accepted, .. } = self.options();
        if label.iter().chain(&block).any(String::is_empty) {
            return Err("a label is empty; name one, such as --over app_version".to_owned());
        }
        if accepted.is_some_and(|accepted| accepted.is_empty()) {
            return Err("--accepted is empty; name a version or date whose level you accept".to_owned());
        }
        if label.is_some() && label == block {
            return Err("--over and --block need different labels; leave out --block".to_owned());
        }
        self.reading.filters.check()
    }

    fn format(&self) -> TrendFormat {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(TrendFormat::Text)
    }

    fn options(&self) -> TrendOptions {
        TrendOptions {
            measures: self.measure.measures(),
            label: Some(composed(self.over.trim())).filter(|over| over != "date"),
            block: self.block.as_ref().map(|block| composed(block.trim())),
            alpha: self.alpha,
            looks: if self.once { Looks::Once } else { Looks::EveryPoint },
            accepted: self.accepted.as_ref().map(|accepted| composed(accepted.trim())),
            inputs: Vec::new(),
            min_effect: self.verdict.min_effect(),
        }
    }

    /// The inputs as words of a command line, which are typed again to compare functions; none if they are secret or not repeatable.
    fn words_of_inputs(&self) -> Vec<String> {
        let InputArgs { inputs, manifest, files_from, .. } = &self.inputs;
        if self.reading.filters.redact.is_asked() || files_from.is_some() {
            return Vec::new();
        }
        let words = |option: Option<&str>, path: &PathBuf| {
            option.map(str::to_owned).into_iter().chain([path.display().to_string()]).collect::<Vec<_>>()
        };
        let inputs = inputs.iter().flat_map(|path| words(None, path));
        inputs.chain(manifest.iter().flat_map(|path| words(Some("--manifest"), path))).collect()
    }

    /// The runs.
    fn side(&self, host: &Host) -> Result<Side, Failure> {
        let TrendOptions { measures, .. } = &self.options();
        let question = self.threads.narrow(self.chosen.narrow(self.options().fleet()));
        let patterns = self.threads.threads().filter(ThreadChoice::has_patterns);
        let intervals = Quantity::intervals(measures);
        let parts = RunParts { stacks: false, intervals: !intervals.is_empty() };
        let collector = Collector::new(host, FleetBuilder::for_trend(question, &intervals), patterns);
        reading::collect(host, &[&collector], &self.inputs, &self.reading, parts)?;
        Ok(collector.finish_side(self.reading.files.strict).map_err(Error::from)?)
    }

    /// Compares the runs nearest to the newest change, which are read again with their functions; `None` if there is no change, or inputs
    /// cannot be read twice.
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
            unit: None,
            alpha: *alpha,
            min_effect: *min_effect,
            with_functions: true,
            fails_with_any_function: false,
        };
        let Self { inputs, chosen, threads, reading, .. } = self;
        let labels = [&labels[0][..], &labels[1]];
        let sides =
            Sides { inputs, new: &InputArgs::default(), labels, options, chosen, threads, reading, is_again: true };
        Ok(Some(sides.compare(host)?))
    }
}
