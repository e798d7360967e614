//! Which functions use more, or less, than before.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::CompareOptions;
use super::side::Side;
use super::units::{Units, blocks_of};
use crate::fleet::run::rate_of;
use crate::fleet::scope::ScopeName;
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
    /// The ratio of its all weight.
    pub all_ratio: f64,
    /// True if the function [changed](Functions::changed), but the all weight of the function or of its nearest common caller did not, where
    /// the change would be visible: cost moved between functions.
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
        let (half, total) = (half_a_sample(sides, units), units.mean_rates()[0]);
        let callers = callers(sides, &family);
        let weights = Values::of(sides, units, |name| family.contains_key(name), false)?;
        let in_stacks: BTreeSet<&ScopeName> = family.keys().chain(callers.values()).collect();
        let all = Values::of(sides, units, |name| in_stacks.contains(name), true)?;
        let all = |name: &ScopeName| Amount::new(all.get(name), sides, units, half);
        let test = |(name, samples): (&ScopeName, &[u64; 2])| {
            let amount = Amount::new(weights.get(name), sides, units, half);
            function((name, *samples), &amount, all(name).ratio(), options)
        };
        let mut tested: Vec<ComparedFunction> = family.iter().map(test).collect();
        let p: Vec<f64> = tested.iter().map(|function| function.p).collect();
        for (function, (p_holm, q)) in tested.iter_mut().zip(holm(&p).into_iter().zip(benjamini_hochberg(&p))) {
            (function.p_holm, function.q) = (p_holm, q);
            let places = [Some(&function.name), callers.get(&function.name)];
            function.has_moved = q <= options.alpha
                && places.into_iter().flatten().any(|place| has_moved(function.growth(), &all(place), total, options));
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

/// The nearest common callers on which both sides agree, as far as they have them.
fn callers(sides: &[Side; 2], family: &BTreeMap<ScopeName, [u64; 2]>) -> BTreeMap<ScopeName, ScopeName> {
    let [base, new] = sides.each_ref().map(|side| {
        side.callers().filter(|(name, _)| family.contains_key(name)).collect::<BTreeMap<ScopeName, ScopeName>>()
    });
    let is_agreed = |(name, caller): &(ScopeName, ScopeName)| match family[name] {
        [0, _] | [_, 0] => true,
        _ => base.get(name) == Some(caller) && new.get(name) == Some(caller),
    };
    base.iter().chain(&new).map(|(name, caller)| (name.clone(), caller.clone())).filter(is_agreed).collect()
}

/// A place with more than this share of the total shows nothing: if a run is busy throughout, its CPU use stays the same however slow it is.
const MOST_OF_TOTAL: f64 = 0.9;

/// True if the growth of a function would be visible in the all weight of a place, which stayed the same.
fn has_moved(growth: f64, place: &Amount, total: f64, options: &CompareOptions) -> bool {
    let all = place.means[0];
    let is_visible = growth.abs() >= options.min_effect * all && all > 0.0 && all <= MOST_OF_TOTAL * total;
    is_visible && (place.ratio() - 1.0).abs() <= options.min_effect
}

/// What runs use of a function.
struct Amount {
    /// The mean of each side.
    means: [f64; 2],
    effect: Option<Effect>,
}

impl Amount {
    fn new(values: Option<&Values>, sides: &[Side; 2], units: &Units, half: f64) -> Self {
        let nothing = Values::default();
        let values = values.unwrap_or(&nothing);
        Self { means: values.means(sides, units), effect: values.effect(sides, units, half) }
    }

    /// New divided by base; 1 if nothing is known.
    fn ratio(&self) -> f64 {
        self.effect.map_or(1.0, |effect| effect.difference.exp())
    }
}

fn function(
    (name, samples): (&ScopeName, [u64; 2]),
    amount: &Amount,
    all_ratio: f64,
    options: &CompareOptions,
) -> ComparedFunction {
    let interval = amount.effect.map_or((0.0, f64::INFINITY), |effect| {
        let (lower, upper) = effect.interval(options.alpha);
        (lower.exp(), upper.exp())
    });
    ComparedFunction {
        name: name.clone(),
        means: amount.means,
        samples,
        ratio: amount.ratio(),
        interval,
        p: amount.effect.map_or(1.0, |effect| effect.p(0.0)),
        p_holm: 1.0,
        q: 1.0,
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
        let least = LEAST_SAMPLES * units.runs().iter().sum::<u64>().max(1);
        samples.retain(|_, samples| samples.iter().sum::<u64>() >= least);
        Ok(samples)
    }

    /// The self weights, or all weights, of these functions.
    fn of(
        sides: &mut [Side; 2],
        units: &Units,
        is_wanted: impl Fn(&ScopeName) -> bool,
        is_all: bool,
    ) -> io::Result<BTreeMap<ScopeName, Self>> {
        let mut values: BTreeMap<ScopeName, Self> = BTreeMap::new();
        for (side, runs) in sides.iter_mut().enumerate() {
            runs.each_function(is_all, |name, entries| {
                if is_wanted(&name) {
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
