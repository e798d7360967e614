//! `traceparse trend`: where the CPU use of an app changed.

use std::path::PathBuf;

use anyhow::Error;
use clap::{Args, ValueEnum, ValueHint};
use traceparse::fleet::{
    Collector, FleetBuilder, FleetReport, ThreadChoice, TrendOptions, TrendReport, TrendVerdict, composed,
};
use traceparse::output::{self, Format};

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
    /// Probability of a false change in a series without changes
    #[arg(long, value_name = "P", default_value = "0.01", value_parser = parse_alpha, help_heading = "Trend")]
    alpha: f64,
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
    mirror_inputs(&mut args.inputs)?;
    args.check().map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    args.reading.filters.redact.begin_fleet()?;
    let fleet = args.fleet()?;
    let trend = TrendReport::new(&fleet, args.options());
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
        TrendVerdict::CannotTell => Outcome::Unknown,
        TrendVerdict::Faster | TrendVerdict::NoChange => Outcome::NotSlower,
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
        let TrendOptions { label, block, .. } = self.options();
        if label.iter().chain(&block).any(String::is_empty) {
            return Err("a label is empty; name one, such as --over app_version".to_owned());
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
            min_effect: self.verdict.min_effect(),
        }
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
