//! Cohorts that differ by more than chance explains.
//!
//! Each cohort's percentile has its interval, from order statistics. All intervals hold together with the confidence of
//! the report: each end misses with at most the n-th part of its usual probability (Bonferroni, with n cohorts times
//! percentiles). The later percentile less the earlier one is then between the ends' differences. The percentiles
//! differ if zero is outside.

use std::collections::BTreeSet;
use std::ops::Neg;

use super::finding::Finding;
use super::options::FleetOptions;
use crate::stats::{Distribution, Interval, Quantile, ranks_with_tail};

/// The number of pairs of cohorts that a report describes.
const MOST: usize = 2;

type Pair = (usize, usize);

/// The cohorts of one unit that are compared with each other.
pub(super) struct Compared<'o> {
    pub(super) options: &'o FleetOptions,
    /// Positions and runs of cohorts, in order; each has runs.
    pub(super) cohorts: Vec<(usize, Distribution)>,
    /// Pairs of positions in `cohorts`, the earlier and the later one, if a label has an order; else each is compared with each.
    pub(super) neighbours: Option<Vec<Pair>>,
    /// Percentiles that are compared.
    pub(super) quantiles: Vec<Quantile>,
}

impl Compared<'_> {
    /// The largest differences, and whether the newest cohort (or any) is among them.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let has_pairs = self.neighbours.as_ref().map_or(self.cohorts.len() > 1, |pairs| !pairs.is_empty());
        if !has_pairs || self.options.is_weighted {
            return Vec::new();
        }
        let (intervals, newest) = (self.intervals(), self.newest());
        let mut found: Vec<(Pair, f64, Finding)> = Vec::new();
        for (index, &quantile) in self.quantiles.iter().enumerate() {
            let of = |cohort: usize| &intervals[cohort][index];
            let farthest = self.neighbours.is_none().then(|| farthest(intervals.len(), of));
            for &pair in self.neighbours.iter().chain(&farthest).flatten() {
                found.extend(self.difference(pair, quantile, (of(pair.0), of(pair.1))));
            }
        }
        let is_told = match self.neighbours {
            None => !found.is_empty(),
            Some(_) => found.iter().any(|(pair, ..)| newest.contains(&pair.1)),
        };
        // The newest first, then the farthest from zero; one percentile per pair.
        let is_older = |pair: &Pair| !newest.contains(&pair.1);
        found.sort_by(|a, b| is_older(&a.0).cmp(&is_older(&b.0)).then(b.1.total_cmp(&a.1)).then(a.0.cmp(&b.0)));
        let mut told: Vec<Pair> = Vec::new();
        found.retain(|(pair, ..)| {
            let is_new = told.len() < MOST && !told.contains(pair);
            is_new.then(|| told.push(*pair)).is_some()
        });
        let mut findings: Vec<Finding> = found.into_iter().map(|(.., finding)| finding).collect();
        if !is_told {
            findings.push(self.no_difference(&intervals, &newest));
        }
        findings
    }

    /// The last cohort of each trend, which is mentioned even if it does not differ from the one before.
    fn newest(&self) -> BTreeSet<usize> {
        let pairs = || self.neighbours.iter().flatten();
        let earlier: BTreeSet<usize> = pairs().map(|pair| pair.0).collect();
        pairs().map(|pair| pair.1).filter(|to| !earlier.contains(to)).collect()
    }

    /// By cohort and percentile, such that all hold together.
    fn intervals(&self) -> Vec<Vec<Interval>> {
        let tail = self.options.confidence.tail() / (self.cohorts.len() * self.quantiles.len()).max(1) as f64;
        let of = |runs: &Distribution, quantile: Quantile| runs.interval(ranks_with_tail(runs.count(), quantile, tail));
        let of_all = |runs: &Distribution| self.quantiles.iter().map(|&quantile| of(runs, quantile)).collect();
        self.cohorts.iter().map(|(_, runs)| of_all(runs)).collect()
    }

    /// A pair that differs at a percentile, and how far its difference is from zero at least.
    fn difference(
        &self,
        pair: Pair,
        quantile: Quantile,
        (from, to): (&Interval, &Interval),
    ) -> Option<(Pair, f64, Finding)> {
        let less = |a: Option<f64>, b: Option<f64>| Some(a? - b?);
        let interval = Interval { lower: less(to.lower, from.upper), upper: less(to.upper, from.lower) };
        let is_more = interval.lower.filter(|&lower| lower > 0.0);
        let is_less = interval.upper.filter(|&upper| upper < 0.0);
        let distance = is_more.or(is_less)?.abs();
        let value = |index: usize| self.cohorts[index].1.quantile(quantile, self.options.method);
        let values = (value(pair.0)?, value(pair.1)?);
        let (from, to) = (self.cohorts[pair.0].0, self.cohorts[pair.1].0);
        Some((pair, distance, Finding::Difference { from, to, quantile, values, interval }))
    }

    fn no_difference(&self, intervals: &[Vec<Interval>], newest: &BTreeSet<usize>) -> Finding {
        let cohorts: Vec<usize> = match &self.neighbours {
            None => (0..self.cohorts.len()).collect(),
            Some(pairs) => {
                pairs.iter().filter(|(_, to)| newest.contains(to)).flat_map(|&(from, to)| [from, to]).collect()
            }
        };
        let is_known = |interval: &Interval| interval.lower.is_some() && interval.upper.is_some();
        let is_testable = cohorts.iter().all(|&cohort| intervals[cohort].first().is_some_and(is_known));
        let cohorts = cohorts.iter().map(|&index| self.cohorts[index].0).collect();
        Finding::NoDifference { cohorts, is_newest: self.neighbours.is_some(), is_testable }
    }
}

/// The pairs of cohorts that may be farthest apart: the largest lower ends with the smallest upper ends.
fn farthest<'i>(cohorts: usize, interval: impl Fn(usize) -> &'i Interval) -> Vec<Pair> {
    let ends = |end: fn(&Interval) -> Option<f64>| {
        let mut ends: Vec<(f64, usize)> =
            (0..cohorts).filter_map(|cohort| Some((end(interval(cohort))?, cohort))).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.truncate(MOST);
        ends
    };
    let (highest, lowest) = (ends(|interval| interval.lower.map(f64::neg)), ends(|interval| interval.upper));
    let with_lowest = |&(_, high): &(f64, usize)| lowest.iter().map(move |&(_, low)| (low.min(high), low.max(high)));
    highest.iter().flat_map(with_lowest).collect()
}
