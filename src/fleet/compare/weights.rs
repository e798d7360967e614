//! The self weights of functions in each run.

use std::collections::BTreeMap;
use std::io;

use super::quantity::Quantity;
use super::side::Side;
use super::units::{Units, blocks_of};
use crate::fleet::run::rate_of;
use crate::fleet::scope::ScopeName;
use crate::stats::Effect;
use crate::units::Millionths;

/// By side and run: the weight and samples of a function. Runs without it have no entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights([BTreeMap<usize, (u64, u64)>; 2]);

impl Weights {
    /// Collects the weights of the wanted functions in the used runs.
    pub(super) fn of(
        sides: &mut [Side; 2],
        units: &Units,
        is_wanted: impl Fn(&ScopeName) -> bool,
    ) -> io::Result<BTreeMap<ScopeName, Self>> {
        let mut found: BTreeMap<ScopeName, Self> = BTreeMap::new();
        for (side, runs) in sides.iter_mut().enumerate() {
            runs.each_function(|name, entries| {
                if is_wanted(&name) {
                    let of_side = &mut found.entry(name).or_default().0[side];
                    let counted = entries.iter().filter(|entry| units.has(side, entry.run as usize));
                    of_side.extend(counted.map(|entry| (entry.run as usize, (entry.weight, entry.samples))));
                }
            })?;
        }
        Ok(found)
    }

    /// Adds the weights of another function.
    pub(super) fn add(&mut self, other: &Self) {
        for (side, runs) in other.0.iter().enumerate() {
            for (&run, &(weight, samples)) in runs {
                let sum = self.0[side].entry(run).or_default();
                *sum = (sum.0.saturating_add(weight), sum.1.saturating_add(samples));
            }
        }
    }

    pub(super) fn samples(&self) -> [u64; 2] {
        self.0.each_ref().map(|runs| runs.values().map(|(_, samples)| samples).sum())
    }

    /// The total weight of each side.
    pub(super) fn sums(&self) -> [f64; 2] {
        // The sum of nothing is −0.
        self.0.each_ref().map(|runs| runs.values().fold(0.0, |sum, &(weight, _)| sum + weight as f64))
    }

    fn get(&self, side: usize, run: usize) -> (u64, u64) {
        self.0[side].get(&run).copied().unwrap_or_default()
    }
}

/// Converts function weights to comparable values.
pub(super) struct FunctionValues<'s> {
    pub(super) sides: &'s [Side; 2],
    pub(super) units: &'s Units,
    /// True for CPU use; false for CPU time, which is used with all other quantities.
    is_use: bool,
    /// The mean weight of half a sample over both sides. It is added to avoid the logarithm of zero.
    half: f64,
}

impl<'s> FunctionValues<'s> {
    pub(super) fn new(quantity: &Quantity, sides: &'s [Side; 2], units: &'s Units) -> Self {
        Self { sides, units, is_use: *quantity == Quantity::CpuUse, half: half_a_sample(sides, units) }
    }

    /// The effect on the logarithm of the weight, or of weight per time, with half a sample added.
    pub(super) fn effect(&self, weights: &Weights) -> Option<Effect> {
        self.effect_of(weights, |side, run| {
            let weight = weights.get(side, run).0 as f64 + self.half;
            if self.is_use { weight / self.sides[side].report.runs[run].wall.as_nanos() as f64 } else { weight }
        })
    }

    /// The effect on the logarithm of the weight relative to all other functions.
    pub(super) fn effect_of_share(&self, weights: &Weights) -> Option<Effect> {
        self.effect_of(weights, |side, run| {
            let weight = weights.get(side, run).0;
            let others = self.sides[side].report.runs[run].weight.saturating_sub(weight);
            (weight as f64 + self.half) / (others as f64 + self.half)
        })
    }

    fn effect_of(&self, weights: &Weights, value: impl Fn(usize, usize) -> f64) -> Option<Effect> {
        // An idle run reveals nothing about functions; the tests of the total include it.
        let is_busy = |side: usize, run: usize| self.sides[side].report.runs[run].weight > 0;
        let samples = |side: usize, run: usize| weights.get(side, run).1 as f64;
        let floors = self.units.floors(|side, run| is_busy(side, run).then(|| samples(side, run)));
        let values = self.units.log_means(|side, run| is_busy(side, run).then(|| value(side, run)));
        Effect::of(&blocks_of(&values, &floors)).filter(Effect::has_error)
    }

    /// The mean over the runs of each side, within blocks.
    pub(super) fn means(&self, weights: &Weights) -> [f64; 2] {
        self.units.mean_of(|side, run| {
            let (weight, Side { report, .. }) = (weights.get(side, run).0, &self.sides[side]);
            let row = &report.runs[run];
            Some(match self.is_use {
                true => {
                    rate_of(weight, report.cohorts[row.cohort].cohort.unit, row.wall).map_or(0.0, Millionths::as_f64)
                }
                false => weight as f64,
            })
        })
    }
}

fn half_a_sample(sides: &[Side; 2], units: &Units) -> f64 {
    let runs = units.runs_of(|side, run| Some(&sides[side].report.runs[run]));
    let (weight, samples) =
        runs.fold((0.0, 0.0), |(weight, samples), row| (weight + row.weight as f64, samples + row.samples as f64));
    0.5 * weight / f64::max(samples, 1.0)
}
