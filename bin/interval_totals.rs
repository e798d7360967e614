//! The arguments and the answer of commands that sum intervals by name.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum, ValueHint};
use traceparse::intervals::{IntervalAlert, IntervalSummary};
use traceparse::output::{self, Answer};
use traceparse::stats::Quantile;
use traceparse::units::first_of;

use crate::format_options::CsvArgs;
use crate::formats::{check_name, format_of, syntax_of};
use crate::sink::{Colour, style, write_inert};
use crate::{EXIT_ALERT, EXIT_DONE, EXIT_UNDECIDED, Failure, is_closed_pipe};

pub(crate) const ALERT_EXIT_CODES: &str = "Exit codes: 0 success, 1 the input could not be used, 2 wrong usage, 3 an alert fired, 4 no alert fired but one could not be decided, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

#[derive(Debug, Args)]
pub(crate) struct TotalArgs {
    /// Show only intervals with this name (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    name: Vec<String>,
    /// Also show how long at least one interval of a name was open, and the idle gaps between
    #[arg(long, help_heading = "Output")]
    union: bool,
    /// Exit with code 3 if this is true, such as 'interval("Checkout").p95 > 300ms' (repeatable)
    ///
    /// Statistics are percentiles (p50, p99.9), median, mean, min and max. A percentile needs enough intervals: 20 for p95, 100 for p99.
    #[arg(long, value_name = "RULE", help_heading = "Output")]
    alert: Vec<IntervalAlert>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<TotalFormat>,
    #[command(flatten)]
    csv: CsvArgs,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// A format of a list of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TotalFormat {
    /// A line for each name
    Text,
    /// One document, with the interval at each percentile
    Json,
    /// A row for each name
    Csv,
}

/// The percentiles of durations.
const QUANTILES: [&str; 5] = ["50", "90", "95", "99", "99.9"];

impl TotalArgs {
    pub(crate) fn check(&self) -> Result<(), String> {
        check_name(self.format, self.output.as_deref())?;
        self.csv.check(self.format() == TotalFormat::Csv)
    }

    fn format(&self) -> TotalFormat {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(TotalFormat::Text)
    }

    /// The names to show, the percentiles, and the rules to judge.
    pub(crate) fn questions(&self) -> (&[String], Vec<Quantile>, &[IntervalAlert]) {
        (&self.name, QUANTILES.into_iter().filter_map(Quantile::from_percent).collect(), &self.alert)
    }

    /// Writes the answer, and returns the exit code of the process.
    pub(crate) fn write(&self, mut summary: IntervalSummary, colour: Colour) -> Result<u8, Failure> {
        if !self.name.is_empty() {
            let is_wanted = |name: Option<&str>| name.is_some_and(|name| self.name.iter().any(|wanted| wanted == name));
            let (rows, others): (Vec<_>, Vec<_>) =
                summary.rows.into_iter().partition(|row| is_wanted(row.name.as_deref()));
            if rows.is_empty() {
                let names: Vec<&str> = others.iter().filter_map(|row| row.name.as_deref()).collect();
                let known = if names.is_empty() { "no names".to_owned() } else { first_of(&names) };
                return Err(anyhow!("no interval is named {}; there are: {known}", self.name.join(" or ")).into());
            }
            summary.rows = rows;
        }
        summary.shows_unions = self.union;
        let path = self.output.as_deref();
        let format = match self.format() {
            TotalFormat::Text => output::Format::Text(style(path, colour)),
            TotalFormat::Json => output::Format::Json,
            TotalFormat::Csv => output::Format::Csv(self.csv.cells()),
        };
        match write_inert(path, syntax_of(self.format()), |out| {
            output::write(Answer::Intervals(&summary), &format, out)
        }) {
            // The reader of the pipe closed it; the answer still counts.
            Err(error) if is_closed_pipe(&error) => {}
            written => written?,
        }
        let has = |state| summary.alerts.iter().any(|outcome| outcome.is_fired == state);
        Ok(match (has(Some(true)), has(None)) {
            (true, _) => EXIT_ALERT,
            (false, true) => EXIT_UNDECIDED,
            (false, false) => EXIT_DONE,
        })
    }
}
