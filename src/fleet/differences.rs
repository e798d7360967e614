//! Finds cohorts that differ by more than chance explains, using the test for [comparisons](super::compare).
//!
//! All claims about a unit share the report's error probability, divided by the number of pairs (Bonferroni).

use std::collections::BTreeSet;

use super::compare::least_variance;
use super::finding::{CohortDifference, Finding};
use super::options::FleetOptions;
use super::report::RunRow;
use crate::stats::{Block, Effect, Exact, Exceedance};

/// The maximum number of pairs of cohorts that a report describes.
const MOST: usize = 2;
/// With more cohorts than this and no order, only the highest are compared with the lowest.
const ALL_PAIRS: usize = 100;
/// Cohorts with fewer runs cannot differ significantly.
const LEAST_RUNS: usize = 3;

type Pair = (usize, usize);

/// The cohorts of one unit that are compared.
pub(super) struct Compared<'r> {
    pub(super) options: &'r FleetOptions,
    /// The positions and runs of cohorts, in order. None is empty.
    pub(super) cohorts: Vec<(usize, Vec<&'r RunRow>)>,
    /// If a label has an order, pairs of indices of `cohorts` (earlier, later). Otherwise all cohorts are compared with each other.
    pub(super) neighbours: Option<Vec<Pair>>,
}

impl Compared<'_> {
    /// The largest differences, and a finding if the newest cohorts (or all) do not differ.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let count = self.cohorts.len();
        let tests = self.neighbours.as_ref().map_or(count * count.saturating_sub(1) / 2, Vec::len);
        if tests == 0 || self.options.is_weighted {
            return Vec::new();
        }
        let (pairs, newest) = (self.pairs(), self.newest());
        let level = 2.0 * self.options.confidence.tail() / tests as f64;
        let difference =
            |&pair: &Pair| self.difference(pair, level).map(|(distance, finding)| (pair, distance, finding));
        let mut found: Vec<(Pair, f64, Finding)> = pairs.iter().filter_map(difference).collect();
        let is_told = match self.neighbours {
            None => !found.is_empty(),
            Some(_) => found.iter().any(|(pair, ..)| newest.contains(&pair.1)),
        };
        // Newest first, then by distance from no difference.
        let is_older = |pair: &Pair| !newest.contains(&pair.1);
        found.sort_by(|a, b| is_older(&a.0).cmp(&is_older(&b.0)).then(b.1.total_cmp(&a.1)).then(a.0.cmp(&b.0)));
        found.truncate(MOST);
        let mut findings: Vec<Finding> = found.into_iter().map(|(.., finding)| finding).collect();
        if !is_told {
            findings.push(self.no_difference(&newest));
        }
        findings
    }

    fn pairs(&self) -> Vec<Pair> {
        let count = self.cohorts.len();
        match &self.neighbours {
            Some(pairs) => pairs.clone(),
            None if count <= ALL_PAIRS => (0..count).flat_map(|b| (0..b).map(move |a| (a, b))).collect(),
            None => {
                let mut order: Vec<(f64, usize)> =
                    (0..count).map(|cohort| (mean(&logarithms(&self.cohorts[cohort].1)), cohort)).collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                let (low, high) = (&order[..MOST], &order[count - MOST..]);
                let with = |&(_, a): &(f64, usize)| high.iter().map(move |&(_, b)| (a.min(b), a.max(b)));
                low.iter().flat_map(with).collect()
            }
        }
    }

    /// The last cohort of each trend. It is mentioned even if it does not differ from the previous one.
    fn newest(&self) -> BTreeSet<usize> {
        let pairs = || self.neighbours.iter().flatten();
        let earlier: BTreeSet<usize> = pairs().map(|pair| pair.0).collect();
        pairs().map(|pair| pair.1).filter(|to| !earlier.contains(to)).collect()
    }

    /// The finding for a pair that differs, and the minimum distance of its ratio from 1, as a logarithm.
    fn difference(&self, pair: Pair, level: f64) -> Option<(f64, Finding)> {
        let runs = [pair.0, pair.1].map(|cohort| &self.cohorts[cohort].1);
        if runs.iter().any(|runs| runs.len() < LEAST_RUNS) {
            return None;
        }
        let [base, new] = runs.map(|runs| logarithms(runs));
        let idle = runs.map(|runs| runs.iter().filter(|run| run.rate.get() == 0).count() as u64);
        let level = if idle == [0, 0] { level } else { level / 2.0 };
        let [of_base, of_new] = runs.map(|runs| runs.len() as u64);
        let shares = (idle[0] as f64 / of_base as f64, idle[1] as f64 / of_new as f64);
        let finding = |difference, values| Finding::Difference {
            from: self.cohorts[pair.0].0,
            to: self.cohorts[pair.1].0,
            difference,
            values,
            idle: shares,
        };
        let values = (mean(&base).exp(), mean(&new).exp());
        let floors =
            runs.map(|runs| least_variance(runs.iter().filter(|run| run.rate.get() > 0).map(|run| run.samples as f64)));
        let effect = Effect::of(&[Block { base, new, floors }]).filter(Effect::has_error);
        if let Some(effect) = effect.filter(|effect| effect.p(0.0) <= level) {
            let (lower, upper) = effect.interval(level);
            let difference =
                CohortDifference::Typical { ratio: effect.difference.exp(), interval: (lower.exp(), upper.exp()) };
            return Some((lower.abs().min(upper.abs()), finding(difference, values)));
        }
        let p = Exact::of(&[Exceedance { base: idle[0], of_base, new: idle[1], of_new }]).two_sided;
        (p <= level && idle != [0, 0]).then(|| (0.0, finding(CohortDifference::Idle { p }, shares)))
    }

    fn no_difference(&self, newest: &BTreeSet<usize>) -> Finding {
        let cohorts: Vec<usize> = match &self.neighbours {
            None => (0..self.cohorts.len()).collect(),
            Some(pairs) => {
                pairs.iter().filter(|(_, to)| newest.contains(to)).flat_map(|&(from, to)| [from, to]).collect()
            }
        };
        let is_testable = cohorts.iter().all(|&cohort| self.cohorts[cohort].1.len() >= LEAST_RUNS);
        let cohorts = cohorts.iter().map(|&index| self.cohorts[index].0).collect();
        Finding::NoDifference { cohorts, is_newest: self.neighbours.is_some(), is_testable }
    }
}

/// The logarithms of the CPU use of runs that are not idle.
fn logarithms(runs: &[&RunRow]) -> Vec<f64> {
    let busy = runs.iter().filter(|run| run.rate.get() > 0);
    busy.map(|run| run.rate.as_f64().ln()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
