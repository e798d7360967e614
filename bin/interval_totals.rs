//! The arguments and output of commands that sum intervals by name.

use anyhow::anyhow;
use clap::Args;
use traceparse::alert::AlertRule;
use traceparse::intervals::IntervalSummary;
use traceparse::output::Answer;
use traceparse::stats::Quantile;
use traceparse::units::first_of;

use crate::formats::{Format, TABLES};
use crate::given::Given;
use crate::output::{Output, tell_alerts, unless_closed};
use crate::output_args::OutputArgs;
use crate::{Failure, exit_code_of_alerts};

pub(crate) const ALERT_EXIT_CODES: &str = "Exit codes: 0 success, 1 the input could not be used, 2 wrong usage, 3 an alert fired, 4 no alert fired but one could not be decided, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

#[derive(Debug, Args)]
pub(crate) struct TotalArgs {
    #[command(flatten)]
    given: Given,
    /// Show only intervals with this name (repeatable)
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Also show the time with at least one open interval
    ///
    /// Shown for each name, with the idle gaps between its intervals.
    #[arg(long)]
    union: bool,
    /// Exit with code 3 if this rule holds (repeatable)
    ///
    /// For example, 'interval("Checkout").p95 > 300ms'. Statistics are percentiles (p50, p99.9), median, mean, min and max. A percentile needs
    /// enough intervals: 20 for p95, 100 for p99.
    #[arg(long, value_name = "RULE", value_parser = AlertRule::of_intervals)]
    alert: Vec<AlertRule>,
    #[command(flatten)]
    output: OutputArgs<TABLES>,
}

/// The reported percentiles of durations.
const QUANTILES: [&str; 5] = ["50", "90", "95", "99", "99.9"];

/// The resolved arguments: what to report about intervals, and where to write it.
pub(crate) struct TotalPlan {
    /// The names to show; empty for all.
    pub(crate) names: Vec<String>,
    has_unions: bool,
    pub(crate) quantiles: Vec<Quantile>,
    pub(crate) alerts: Vec<AlertRule>,
    pub(crate) output: Output,
}

impl TotalArgs {
    pub(crate) fn resolve(self) -> Result<TotalPlan, String> {
        let output = self.output.resolve()?;
        self.given.check(&[(
            "--union",
            output.format != Format::Json,
            "{} has no effect on JSON, which always has these numbers; remove it",
        )])?;
        Ok(TotalPlan {
            output,
            names: self.name,
            has_unions: self.union,
            quantiles: QUANTILES.into_iter().filter_map(Quantile::from_percent).collect(),
            alerts: self.alert,
        })
    }
}

impl TotalPlan {
    /// Writes the summary, and returns the exit code.
    pub(crate) fn write(&self, mut summary: IntervalSummary) -> Result<u8, Failure> {
        if !self.names.is_empty() {
            let is_wanted =
                |name: Option<&str>| name.is_some_and(|name| self.names.iter().any(|wanted| wanted == name));
            let (rows, others): (Vec<_>, Vec<_>) =
                summary.rows.into_iter().partition(|row| is_wanted(row.name.as_deref()));
            if rows.is_empty() {
                let names: Vec<&str> = others.iter().filter_map(|row| row.name.as_deref()).collect();
                let known = match names.as_slice() {
                    [] => ", since no interval has a name; leave out --name to list them".to_owned(),
                    names => format!("; known names: {}", first_of(names)),
                };
                return Err(anyhow!("no interval is named {}{known}", self.names.join(" or ")).into());
            }
            summary.rows = rows;
        }
        summary.shows_unions = self.has_unions;
        let written = self.output.write_plain(Answer::Intervals(&summary));
        tell_alerts(&self.output, true, || summary.alert_lines());
        unless_closed(written)?;
        Ok(exit_code_of_alerts(&summary.alerts))
    }
}
