//! The rows that differ most between cohorts, which come in any order.

use super::report::{Contrast, ContrastRow};
use super::scope::ScopeName;
use crate::stats::Interval;

/// The ranks of the ends of an interval.
type Ranks = (Option<u64>, Option<u64>);

/// One row in one cohort.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    pub(super) value: f64,
    pub(super) interval: Interval,
    pub(super) is_noise: bool,
}

/// A contrast that gets its rows in any order.
pub(super) struct GrowingContrast {
    contrast: Contrast,
    /// The cohorts, the ranks of their intervals, and their values in a row that they lack.
    cohorts: Vec<(usize, Ranks, Compared)>,
    /// The number of rows that are shown.
    top: usize,
}

impl GrowingContrast {
    pub(super) fn new(contrast: Contrast, cohorts: Vec<(usize, Ranks, Compared)>, top: Option<usize>) -> Self {
        Self { contrast, cohorts, top: top.unwrap_or(usize::MAX) }
    }

    /// True if that is so of one of its cohorts.
    pub(super) fn has_any(&self, is: impl Fn(usize) -> bool) -> bool {
        self.cohorts.iter().any(|(cohort, ..)| is(*cohort))
    }

    /// Adds a row that has these values in the cohorts.
    pub(super) fn add(&mut self, name: &ScopeName, value: impl Fn(usize, Ranks) -> Option<Compared>) {
        let of_cohort = |&(cohort, ranks, nothing): &(usize, Ranks, Compared)| value(cohort, ranks).unwrap_or(nothing);
        let values: Vec<Compared> = self.cohorts.iter().map(of_cohort).collect();
        let row = contrast_row(name, &values);
        if row.difference > 0.0 {
            self.contrast.rows.push(row);
        }
        if self.contrast.rows.len() > self.top.saturating_mul(2).saturating_add(16) {
            self.put_in_order();
        }
    }

    fn put_in_order(&mut self) {
        let rows = &mut self.contrast.rows;
        rows.sort_by(|a, b| b.difference.total_cmp(&a.difference).then_with(|| a.name.cmp(&b.name)));
        rows.truncate(self.top);
    }

    pub(super) fn finish(mut self) -> Contrast {
        self.put_in_order();
        self.contrast
    }
}

/// The row of at least two cohorts.
fn contrast_row(name: &ScopeName, cohorts: &[Compared]) -> ContrastRow {
    let by_value = |a: &&Compared, b: &&Compared| a.value.total_cmp(&b.value);
    let (largest, smallest) = (cohorts.iter().max_by(by_value), cohorts.iter().min_by(by_value));
    let (largest, smallest) = (largest.unwrap_or(&cohorts[0]), smallest.unwrap_or(&cohorts[0]));
    let at_least = largest.interval.lower.zip(smallest.interval.upper).map(|(lower, upper)| lower - upper);
    ContrastRow {
        name: name.clone(),
        values: cohorts.iter().map(|cohort| cohort.value).collect(),
        difference: largest.value - smallest.value,
        at_least,
        is_noise: largest.is_noise,
    }
}
