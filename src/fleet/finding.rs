//! The findings of a report, as numbers, shown first. Each one claims no more than the intervals and rules of the
//! report support.

use super::scope::{FleetScope, ScopeName};
use crate::stats::Quantile;
use crate::units::Unit;

/// A fact about a fleet that readers should know first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// The outcomes of the alert rules.
    Alerts {
        /// Outcomes that fired.
        fired: u64,
        /// Outcomes that could not be decided.
        undecided: u64,
        /// Outcomes that are fine.
        quiet: u64,
        /// The position in [`FleetReport::alerts`](super::FleetReport::alerts) of the first alert that fired or, if
        /// none fired, of the first undecided one.
        first: Option<usize>,
    },
    /// The CPU use of all runs of a unit, over all cohorts.
    Level {
        /// The unit.
        unit: Unit,
        /// The number of runs; 0 if no run counts.
        runs: u64,
        /// The median.
        median: Option<f64>,
        /// The highest requested percentile above the median, up to P99, for which there are enough runs, and its value.
        tail: Option<(Quantile, f64)>,
        /// The lowest requested percentile above the median, up to P99, for which there are too few runs, and the number that it needs.
        lacking: Option<(Quantile, u64)>,
        /// The largest value, and the position of its run in [`FleetReport::runs`](super::FleetReport::runs).
        max: Option<(f64, usize)>,
    },
    /// Two cohorts that differ by more than chance explains.
    Difference {
        /// The position of the earlier cohort in [`FleetReport::cohorts`](super::FleetReport::cohorts).
        from: usize,
        /// The position of the later cohort.
        to: usize,
        /// How they differ.
        difference: CohortDifference,
        /// The values in the earlier and in the later cohort: geometric means of runs that are not idle, or shares of idle runs.
        values: (f64, f64),
        /// The shares of idle runs in the earlier and in the later cohort.
        idle: (f64, f64),
    },
    /// Cohorts between which no difference is shown.
    NoDifference {
        /// The positions of the compared cohorts: all of them or, for each trend, the newest two.
        cohorts: Vec<usize>,
        /// True if only the newest ones are meant.
        is_newest: bool,
        /// True if each of them has at least three runs.
        is_testable: bool,
    },
    /// The process, thread, binary or function that differs most between cohorts, by more than chance explains: see
    /// [`ContrastRow::at_least`](super::ContrastRow::at_least).
    RowDifference {
        /// The kind of the row.
        scope: FleetScope,
        /// Which.
        name: ScopeName,
        /// The percentile that is compared.
        quantile: Quantile,
        /// The position of the cohort with the smallest value, and the value.
        low: (usize, f64),
        /// The position of the cohort with the largest value, and the value.
        high: (usize, f64),
    },
    /// The process, thread or function that uses most of the CPU time of a cohort.
    MostUsed {
        /// The position of the cohort.
        cohort: usize,
        /// The kind of the row.
        scope: FleetScope,
        /// Which.
        name: ScopeName,
        /// The share of the cohort's total use, in [0, 1].
        share: f64,
        /// The percentile that tables are sorted by, and its value, if the cohort has enough runs for it.
        percentile: Option<(Quantile, f64)>,
    },
    /// Inputs that are missing from the numbers, or make them uncertain.
    Inputs {
        /// Files that gave no run.
        failed: u64,
        /// The number of all files.
        files: u64,
        /// Runs without a known recorded time, which do not count.
        without_time: u64,
        /// Damaged runs of recordings, which do not count.
        damaged: u64,
        /// The number of runs with an estimated recorded time, whose CPU use may be too high.
        estimated_time: u64,
        /// Rows that could not be read.
        rejected_rows: u64,
    },
}

/// How two cohorts differ, by the test of [comparisons](crate::fleet::compare). All claims of a unit hold together, with the confidence of
/// the report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CohortDifference {
    /// Typical runs use more, or less.
    Typical {
        /// The ratio of the later to the earlier geometric mean.
        ratio: f64,
        /// The interval of the ratio, without 1.
        interval: (f64, f64),
    },
    /// Other shares of runs are idle.
    Idle {
        /// The probability of counts as unlikely, if the cohorts are alike.
        p: f64,
    },
}
