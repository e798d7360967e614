//! Which functions use more, or less, than before.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io;

use super::CompareOptions;
use super::side::Side;
use super::units::{Units, blocks_of};
use crate::fleet::run::rate_of;
use crate::fleet::scope::ScopeName;
use crate::report::diff::Presence;
use crate::stats::compare::{Effect, benjamini_hochberg, holm};
use crate::units::Millionths;

/// Functions with fewer samples a run, over both sides, are not tested: they could not be found, but would make it harder to find others.
const LEAST_SAMPLES: u64 = 5;

/// The tests of all functions that have enough samples.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Functions {
    /// The tested functions, the most certain change first.
    pub tested: Vec<ComparedFunction>,
    /// The probability that any claim is wrong (Holm), and the expected share of wrong rows among those that [changed](Self::changed).
    pub alpha: f64,
    /// The smallest relative change that matters.
    pub min_effect: f64,
}

/// The self weight of a function on both sides.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComparedFunction {
    /// The binary and the function.
    pub name: ScopeName,
    /// The mean CPU use of a run of the base and of the new side, as self weight, over blocks.
    pub means: [f64; 2],
    /// Its samples on each side, as the leaf.
    pub samples: [u64; 2],
    /// The ratio of new to base within blocks, of values with half a sample added.
    pub ratio: f64,
    /// The interval of the ratio, of this function alone.
    pub interval: (f64, f64),
    /// The probability of a change at least as large by chance.
    pub p: f64,
    /// The same for a claim about any function (Holm).
    pub p_holm: f64,
    /// The expected share of wrong rows among those that are at least as certain (Benjamini and Hochberg).
    pub q: f64,
    /// The sides that have it.
    pub presence: Presence,
    /// The ratio of its all weight.
    pub all_ratio: f64,
    /// True if the function [changed](Functions::changed), but its all weight stayed within the smallest change that matters: cost moved
    /// between the function and code that it calls.
    pub has_moved: bool,
}

impl ComparedFunction {
    /// By how much a run uses more.
    pub fn growth(&self) -> f64 {
        self.means[1] - self.means[0]
    }
}

impl Functions {
    pub(super) fn new(sides: &mut [Side; 2], units: &Units, options: &CompareOptions) -> io::Result<Self> {
        let family = Values::family(sides, units)?;
        let half = half_a_sample(sides, units);
        let weights = Values::of(sides, units, &family, false)?;
        let all = Values::of(sides, units, &family, true)?;
        let no_values = Values::default();
        let test = |(name, samples): (ScopeName, [u64; 2])| {
            let of = |values: &BTreeMap<ScopeName, Values>| {
                values.get(&name).unwrap_or(&no_values).effect(sides, units, half)
            };
            let effect = of(&weights);
            let all_ratio = of(&all).map_or(1.0, |effect| effect.difference.exp());
            let means = weights.get(&name).unwrap_or(&no_values).means(sides, units);
            function((name, samples), means, effect, all_ratio, options)
        };
        let mut tested: Vec<ComparedFunction> = family.into_iter().map(test).collect();
        let p: Vec<f64> = tested.iter().map(|function| function.p).collect();
        for (function, (p_holm, q)) in tested.iter_mut().zip(holm(&p).into_iter().zip(benjamini_hochberg(&p))) {
            (function.p_holm, function.q) = (p_holm, q);
            function.has_moved = q <= options.alpha && (function.all_ratio - 1.0).abs() <= options.min_effect;
        }
        tested.sort_by(by_certainty);
        Ok(Self { tested, alpha: options.alpha, min_effect: options.min_effect })
    }

    /// The functions that are slower, such that any claim is wrong with a probability of at most alpha; those that grew most first.
    pub fn slower(&self) -> impl Iterator<Item = &ComparedFunction> {
        let is_slower = |function: &&ComparedFunction| {
            function.p_holm <= self.alpha && function.ratio >= 1.0 + self.min_effect && !function.has_moved
        };
        let mut slower: Vec<&ComparedFunction> = self.tested.iter().filter(is_slower).collect();
        slower.sort_by(|a, b| b.growth().total_cmp(&a.growth()));
        slower.into_iter()
    }

    /// The functions that changed, of which a share of at most alpha is wrong on average; the largest changes of CPU use first.
    pub fn changed(&self) -> impl Iterator<Item = &ComparedFunction> {
        let mut changed: Vec<&ComparedFunction> =
            self.tested.iter().filter(|function| function.q <= self.alpha).collect();
        changed.sort_by(|a, b| b.growth().abs().total_cmp(&a.growth().abs()));
        changed.into_iter()
    }
}

fn by_certainty(a: &ComparedFunction, b: &ComparedFunction) -> Ordering {
    let by_growth = b.growth().abs().total_cmp(&a.growth().abs());
    a.p.total_cmp(&b.p).then(by_growth).then_with(|| a.name.cmp(&b.name))
}

fn function(
    (name, samples): (ScopeName, [u64; 2]),
    means: [f64; 2],
    effect: Option<Effect>,
    all_ratio: f64,
    options: &CompareOptions,
) -> ComparedFunction {
    let (lower, upper) = effect.map_or((0.0, f64::INFINITY), |effect| {
        let (lower, upper) = effect.interval(options.alpha);
        (lower.exp(), upper.exp())
    });
    ComparedFunction {
        name,
        means,
        samples,
        ratio: effect.map_or(1.0, |effect| effect.difference.exp()),
        interval: (lower, upper),
        p: effect.map_or(1.0, |effect| effect.p(0.0)),
        p_holm: 1.0,
        q: 1.0,
        presence: Presence::of(samples),
        all_ratio,
        has_moved: false,
    }
}

/// The weights of a function in the runs that have it, by side.
#[derive(Default)]
struct Values([Vec<(usize, u64)>; 2]);

impl Values {
    /// The functions that are tested, with their samples on each side. The choice does not depend on which side has them (Bourgon 2010).
    fn family(sides: &mut [Side; 2], units: &Units) -> io::Result<BTreeMap<ScopeName, [u64; 2]>> {
        let mut samples: BTreeMap<ScopeName, [u64; 2]> = BTreeMap::new();
        for (side, runs) in sides.iter_mut().enumerate() {
            runs.each_function(false, |name, entries| {
                let entries = entries.iter().filter(|entry| units.has(side, entry.run as usize));
                samples.entry(name).or_default()[side] = entries.map(|entry| entry.samples).sum();
            })?;
        }
        let least = LEAST_SAMPLES * units.runs().iter().sum::<u64>();
        samples.retain(|_, samples| samples.iter().sum::<u64>() >= least);
        Ok(samples)
    }

    /// The self weights, or all weights, of these functions.
    fn of(
        sides: &mut [Side; 2],
        units: &Units,
        family: &BTreeMap<ScopeName, [u64; 2]>,
        is_all: bool,
    ) -> io::Result<BTreeMap<ScopeName, Self>> {
        let mut values: BTreeMap<ScopeName, Self> = BTreeMap::new();
        for (side, runs) in sides.iter_mut().enumerate() {
            runs.each_function(is_all, |name, entries| {
                if family.contains_key(&name) {
                    let entries = entries.iter().map(|entry| (entry.run as usize, entry.weight));
                    let of_side = &mut values.entry(name).or_default().0[side];
                    of_side.extend(entries.filter(|(run, _)| units.has(side, *run)));
                }
            })?;
        }
        Ok(values)
    }

    /// By side and run.
    fn by_run(&self, sides: &[Side; 2]) -> [Vec<u64>; 2] {
        [0, 1].map(|side| {
            let mut weights = vec![0; sides[side].report.runs.len()];
            self.0[side].iter().for_each(|&(run, weight)| weights[run] = weight);
            weights
        })
    }

    /// The effect on the logarithm of the weight per time, with half a sample added.
    fn effect(&self, sides: &[Side; 2], units: &Units, half: f64) -> Option<Effect> {
        let weights = self.by_run(sides);
        let value = |side: usize, run: usize| {
            let wall = sides[side].report.runs[run].wall.as_nanos() as f64;
            Some(((weights[side][run] as f64 + half) / wall).ln())
        };
        Effect::of(&blocks_of(&units.means(value))).filter(|effect| effect.error > 0.0)
    }

    fn means(&self, sides: &[Side; 2], units: &Units) -> [f64; 2] {
        let weights = self.by_run(sides);
        units.mean_use(|side, run| {
            let Side { report, .. } = &sides[side];
            let row = &report.runs[run];
            rate_of(weights[side][run], report.cohorts[row.cohort].cohort.unit, row.wall)
                .map_or(0.0, Millionths::as_f64)
        })
    }
}

/// The mean weight of half a sample of both sides.
fn half_a_sample(sides: &[Side; 2], units: &Units) -> f64 {
    let runs = sides.iter().enumerate().flat_map(|(side, of)| {
        of.report.runs.iter().enumerate().filter(move |(run, _)| units.has(side, *run)).map(|(_, row)| row)
    });
    let (weight, samples) =
        runs.fold((0.0, 0.0), |(weight, samples), row| (weight + row.weight as f64, samples + row.samples as f64));
    0.5 * weight / f64::max(samples, 1.0)
}
