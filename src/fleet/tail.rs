//! Finds the function in which the runs of the tail spend more of their time than the other runs.

use std::cmp::Reverse;

use super::entries::Entry;
use super::finding::Finding;
use super::scope::ScopeName;
use super::stored_run::StoredRun;
use crate::stats::{Distribution, Exact, Exceedance, Quantile};
use crate::units::{Millionths, Unit};

/// The percentile at which the tail begins.
const BEGIN: Quantile = Quantile::P95;
/// With fewer runs in the tail, nothing is reported.
const RUNS: u64 = 5;
/// The smallest relevant difference of shares.
const DIFFERENCE: f64 = 0.05;
/// A function is typical of the tail only if its share is high in at least this fraction of the tail's runs. Otherwise, these runs may have different
/// causes.
const MANY: f64 = 0.5;
/// Its share must also be high in at most this fraction of the other runs. Otherwise, many fast runs have a high share, for example all runs of one
/// version.
const FEW: f64 = 0.1;

/// The runs of a unit that are not idle, since idle runs have no shares. Pairs have the numbers of the tail first, then the numbers of the other runs.
pub(super) struct Tail<'b> {
    all: &'b [StoredRun],
    unit: Unit,
    /// The smallest measure in the tail.
    least: Millionths,
    runs: [u64; 2],
    weights: [u128; 2],
    /// The largest p-value of a claim.
    level: f64,
    most: Option<TailFunction>,
}

/// A function with different shares of the time in the tail and in the other runs.
struct TailFunction {
    name: ScopeName,
    shares: [f64; 2],
    /// The smallest high share in percent: the mean of both shares.
    limit: u64,
    /// The numbers of runs with a high share.
    high: [u64; 2],
}

impl TailFunction {
    fn difference(&self) -> f64 {
        self.shares[0] - self.shares[1]
    }
}

impl<'b> Tail<'b> {
    /// `None` if the tail has too few runs, or more than the rest.
    pub(super) fn new(all: &'b [StoredRun], unit: Unit, level: f64) -> Option<Self> {
        let of_unit = || all.iter().filter(|run| run.unit == unit);
        let least = Distribution::new(of_unit().map(|run| run.row.rate).collect(), 0).nearest(BEGIN)?;
        let mut tail = Self { all, unit, least, runs: [0; 2], weights: [0; 2], level, most: None };
        for run in of_unit().filter(|run| run.row.weight > 0) {
            let side = tail.side(run);
            tail.runs[side] += 1;
            tail.weights[side] += u128::from(run.row.weight);
        }
        // If many runs are equal or idle, those at or beyond a percentile can be most of the rest.
        let is_tail = (RUNS..=tail.runs[1]).contains(&tail.runs[0]);
        (is_tail && tail.weights.iter().all(|&weight| weight > 0)).then_some(tail)
    }

    fn side(&self, run: &StoredRun) -> usize {
        usize::from(run.row.rate < self.least)
    }

    /// Adds a function with the weights of its runs. Functions can be added in any order.
    pub(super) fn add(&mut self, name: &ScopeName, entries: &[Entry]) {
        let runs = entries.iter().map(|entry| (&self.all[entry.run as usize], entry.weight));
        let runs = runs.filter(|(run, _)| run.unit == self.unit);
        let mut sums = [0_u128; 2];
        runs.clone().for_each(|(run, weight)| sums[self.side(run)] += u128::from(weight));
        let shares = [0, 1].map(|side| sums[side] as f64 / self.weights[side] as f64);
        let limit = (100.0 * shares[0].midpoint(shares[1])).round() as u64;
        let mut function = TailFunction { name: name.clone(), shares, limit, high: [0; 2] };
        let order = |function: &TailFunction| (function.difference(), Reverse(function.name.clone()));
        if function.difference() < DIFFERENCE || self.most.as_ref().is_some_and(|most| order(most) > order(&function)) {
            return;
        }
        // In integers, since runs at the limit are usual if runs have few samples.
        let is_high =
            |run: &StoredRun, weight: u64| 100 * u128::from(weight) >= u128::from(limit) * u128::from(run.row.weight);
        for (run, _) in runs.filter(|(run, weight)| *weight > 0 && is_high(run, *weight)) {
            function.high[self.side(run)] += 1;
        }
        let [(new, of_new), (base, of_base)] = [0, 1].map(|side| (function.high[side], self.runs[side]));
        let is_typical = new as f64 >= MANY * of_new as f64 && base as f64 <= FEW * of_base as f64;
        if is_typical && Exact::of(&[Exceedance { base, of_base, new, of_new }]).more <= self.level {
            self.most = Some(function);
        }
    }

    /// The function with the largest difference among those that are typical of the tail.
    pub(super) fn finish(self) -> Option<Finding> {
        let TailFunction { name, shares: [share, other_share], limit, high: [high, other_high] } = self.most?;
        Some(Finding::Tail {
            unit: self.unit,
            quantile: BEGIN,
            name,
            shares: (share, other_share),
            runs: (self.runs[0], self.runs[1]),
            limit: limit as f64 / 100.0,
            high: (high, other_high),
        })
    }
}
