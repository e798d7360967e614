//! The findings of a report, which come first. They claim no more than the report's intervals and rules support.

use super::scope::{FleetScope, ScopeName};
use crate::stats::Quantile;
use crate::units::Unit;

/// A fact about a fleet that readers should see first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// The outcomes of alert rules.
    Alerts {
        /// The number of outcomes that fired.
        fired: u64,
        /// The number of outcomes that could not be decided.
        undecided: u64,
        /// The number of outcomes within their limits.
        quiet: u64,
        /// The index in [`FleetReport::alerts`](super::FleetReport::alerts) of the first alert that fired, or else of the first undecided one.
        first: Option<usize>,
    },
    /// The CPU use of all runs with one unit, over all cohorts.
    Level {
        /// The unit.
        unit: Unit,
        /// The number of runs; 0 if there are none to report on.
        runs: u64,
        /// The median.
        median: Option<f64>,
        /// The highest requested percentile above the median, up to P99, with enough runs, and its value.
        tail: Option<(Quantile, f64)>,
        /// The lowest requested percentile above the median, up to P99, with too few runs, and the number it needs.
        lacking: Option<(Quantile, u64)>,
        /// The largest value, and the index of its run in [`FleetReport::runs`](super::FleetReport::runs).
        max: Option<(f64, usize)>,
    },
    /// Two cohorts that differ by more than chance explains.
    Difference {
        /// The index of the earlier cohort in [`FleetReport::cohorts`](super::FleetReport::cohorts).
        from: usize,
        /// The index of the later cohort.
        to: usize,
        /// How they differ.
        difference: CohortDifference,
        /// The values of the earlier and later cohort: geometric means of runs that are not idle, or shares of idle runs.
        values: (f64, f64),
        /// The shares of idle runs in the earlier and the later cohort.
        idle: (f64, f64),
    },
    /// Cohorts without a demonstrated difference.
    NoDifference {
        /// The indices of the compared cohorts: all, or the newest two of each trend.
        cohorts: Vec<usize>,
        /// True if only the newest two were compared.
        is_newest: bool,
        /// True if each of them has at least three runs.
        is_testable: bool,
    },
    /// The process, thread, binary or function with the largest difference between cohorts, by more than chance explains: see
    /// [`ContrastRow::at_least`](super::ContrastRow::at_least).
    RowDifference {
        /// The kind of the row.
        scope: FleetScope,
        /// The name of the row.
        name: ScopeName,
        /// The percentile that is compared.
        quantile: Quantile,
        /// The index of the cohort with the smallest value, and the value.
        low: (usize, f64),
        /// The index of the cohort with the largest value, and the value.
        high: (usize, f64),
    },
    /// The process, thread or function that uses the most CPU time in a cohort.
    MostUsed {
        /// The position of the cohort.
        cohort: usize,
        /// The kind of the row.
        scope: FleetScope,
        /// The name of the row.
        name: ScopeName,
        /// The share of the cohort's total use, in [0, 1].
        share: f64,
        /// The percentile that tables are sorted by, and its value, if the cohort has enough runs.
        percentile: Option<(Quantile, f64)>,
    },
    /// The function with the largest difference between its share of the time in the runs at or beyond a percentile and in the other runs, if it is
    /// typical of the former. Idle runs are left out. Pairs have the number of the runs at or beyond the percentile first.
    Tail {
        /// The unit of the runs.
        unit: Unit,
        /// The percentile.
        quantile: Quantile,
        /// The name of the function.
        name: ScopeName,
        /// The shares of the time, in [0, 1].
        shares: (f64, f64),
        /// The numbers of runs.
        runs: (u64, u64),
        /// The smallest high share: the mean of the two shares, in whole percent.
        limit: f64,
        /// The numbers of runs with a high share.
        high: (u64, u64),
    },
    /// Inputs that are missing from the numbers or make them uncertain.
    Inputs {
        /// The number of files without a run.
        failed: u64,
        /// The total number of files.
        files: u64,
        /// The number of runs without a known recorded time, which are omitted.
        without_time: u64,
        /// The number of damaged runs in recordings, which are omitted.
        damaged: u64,
        /// The number of runs whose recorded time is estimated, so their CPU use may be too high.
        estimated_time: u64,
        /// The number of unreadable rows.
        rejected_rows: u64,
    },
}

/// How two cohorts differ, by the test for [comparisons](crate::fleet::compare). All claims about a unit hold simultaneously, with the report's
/// confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CohortDifference {
    /// Typical runs use more or less CPU.
    Typical {
        /// The ratio of the later to the earlier geometric mean.
        ratio: f64,
        /// The interval of the ratio; it excludes 1.
        interval: (f64, f64),
    },
    /// The share of idle runs differs.
    Idle {
        /// The probability of a difference at least this extreme if the cohorts are the same.
        p: f64,
    },
}
