//! The first screen of a report, next to its findings: the distribution over all runs, the heaviest runs, and the files without a run. Text shows
//! nothing else by default, and the page begins with it. Unknown numbers are omitted.

use super::{many, thousands};
use crate::fleet::{CohortReport, FailedInput, FleetReport, RunRow, Summary};
use crate::stats::{Estimate, Support};
use crate::units::Unit;

/// The number of heaviest runs.
const HEAVIEST: usize = 3;
/// The maximum number of files named for each reason.
const NAMED: usize = 3;

/// The runs with one unit, in all cohorts.
pub(super) struct Levels<'r> {
    pub(super) unit: Unit,
    pub(super) cohorts: &'r [CohortReport],
    /// The largest value, which determines the number of decimals for all values.
    pub(super) max: f64,
    /// Percentiles with enough runs, and the largest value.
    pub(super) rows: Vec<Level>,
    /// The heaviest runs with their indices.
    pub(super) heaviest: Vec<(usize, &'r RunRow)>,
    /// The number of runs above the upper whisker of the box plot, and the value of the whisker; `None` with several cohorts.
    pub(super) outliers: Option<(u64, f64)>,
}

/// A percentile, or the largest value.
pub(super) struct Level {
    /// `P99`, `max`.
    pub(super) name: String,
    pub(super) value: f64,
    /// The percentile with its interval; `None` for the largest value.
    pub(super) estimate: Option<Estimate>,
    /// The indices of the runs with this value.
    pub(super) runs: Vec<usize>,
}

/// The levels of each unit that has at least two runs and a nonzero value.
pub(super) fn levels(report: &FleetReport) -> Vec<Levels<'_>> {
    let units = report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit);
    let levels = units.filter_map(|cohorts| {
        let unit = cohorts[0].cohort.unit;
        let summary = report.summary_of(unit);
        let max = summary.max.filter(|&max| max > 0.0 && summary.count > 1)?;
        let rows = rows(&summary, max);
        Some(Levels { unit, cohorts, max, rows, heaviest: heaviest(report, unit), outliers: outliers(report, cohorts) })
    });
    levels.collect()
}

fn rows(summary: &Summary, max: f64) -> Vec<Level> {
    let percentiles = summary.estimates.iter().zip(&summary.percentile_runs);
    let known = percentiles.filter(|(estimate, _)| !matches!(estimate.support, Support::TooFew { .. }));
    let row = |(estimate, runs): (&Estimate, &Vec<usize>)| {
        let name = estimate.quantile.to_string();
        Some(Level { name, value: estimate.value?, estimate: Some(*estimate), runs: runs.clone() })
    };
    let max = Level { name: "max".to_owned(), value: max, estimate: None, runs: summary.max_run.into_iter().collect() };
    known.filter_map(row).chain([max]).collect()
}

fn outliers(report: &FleetReport, cohorts: &[CohortReport]) -> Option<(u64, f64)> {
    let [cohort] = cohorts else { return None };
    let limit = cohort.box_plot.as_ref()?.whisker_high;
    let is_outlier = |run: &&RunRow| report.cohorts[run.cohort].cohort == cohort.cohort && run.rate.as_f64() > limit;
    let count = report.runs.iter().filter(is_outlier).count() as u64;
    (count > 0).then_some((count, limit))
}

/// `35 runs are unusually high; all others are at most 44.62`.
pub(super) fn outlier_words(count: u64, limit: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb} unusually high; all others are at most {limit}", many(count, "run"))
}

fn heaviest(report: &FleetReport, unit: Unit) -> Vec<(usize, &RunRow)> {
    let has_unit = |run: &RunRow| report.cohorts.get(run.cohort).is_some_and(|cohort| cohort.cohort.unit == unit);
    let counts = |run: &RunRow| run.rate.get() > 0 && (!report.options.is_weighted || run.run_weight.get() > 0);
    let runs = report.runs.iter().enumerate().filter(|(_, run)| has_unit(run) && counts(run));
    let mut runs: Vec<(usize, &RunRow)> = runs.collect();
    // A stable sort keeps runs with equal values in the order of their sources.
    runs.sort_by_key(|(_, run)| std::cmp::Reverse(run.rate));
    runs.truncate(HEAVIEST);
    runs
}

/// Files without runs by kind, the most frequent kind first: `4 truncated`, `a.xml, b.xml, c.xml, …`, and the first file.
pub(super) fn failures<'f>(failed: &'f [FailedInput]) -> Vec<(String, String, &'f FailedInput)> {
    let mut kinds: Vec<(&str, Vec<&FailedInput>)> = Vec::new();
    for input in failed {
        let name = input.kind.name();
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, inputs)) => inputs.push(input),
            None => kinds.push((name, vec![input])),
        }
    }
    // A stable sort keeps equally frequent kinds in the order of first occurrence.
    kinds.sort_by_key(|(_, inputs)| std::cmp::Reverse(inputs.len()));
    let row = |(name, inputs): &(&str, Vec<&'f FailedInput>)| {
        let mut named: Vec<&str> = inputs.iter().take(NAMED).map(|input| input.source.as_str()).collect();
        if inputs.len() > NAMED {
            named.push("…");
        }
        (format!("{} {name}", thousands(inputs.len() as u64)), named.join(", "), inputs[0])
    };
    kinds.iter().map(row).collect()
}

/// `3 files produced no run`.
pub(super) fn failed_files(failed: &[FailedInput]) -> String {
    format!("{} produced no run", many(failed.len() as u64, "file"))
}
