//! `traceparse trend`: where the CPU use of an app changed.

use std::path::PathBuf;

use anyhow::Error;
use clap::{Args, ValueEnum, ValueHint};
use traceparse::fleet::{
    Collector, FleetBuilder, FleetReport, ThreadChoice, TrendOptions, TrendReport, TrendVerdict, composed,
};
use traceparse::output::{self, Format};
use traceparse::stats::Looks;

use super::cli::{InputArgs, Outcome, ReadingArgs, RunArgs, VerdictArgs};
use super::compare::parse_alpha;
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
    let fleet = args.fleet()?;
    let trend = TrendReport::new(&fleet, TrendOptions { inputs, ..args.options() });
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
    fn fleet(&self) -> Result<FleetReport, Failure> {
        let host = Host::new(AtInterrupt::End);
        let question = self.threads.narrow(self.chosen.narrow(self.options().fleet()));
        let patterns = self.threads.threads().filter(ThreadChoice::has_patterns);
        let collector = Collector::new(&host, FleetBuilder::new(question), patterns);
        reading::collect(&host, &[&collector], &self.inputs, &self.reading, RunParts::default())?;
        Ok(collector.finish(self.reading.files.strict).map_err(Error::from)?)
    }
}
