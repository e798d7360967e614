//! The tests of the total: how much a typical unit uses, how many are idle, and how far the tail reaches.

use super::CompareOptions;
use super::units::{Units, blocks_of};
use crate::stats::Quantile;
use crate::stats::compare::{Effect, Exceedance, exact_test, share_ratio_bound, van_elteren};

/// From this many units on each side, the tail is tested.
const TAIL_UNITS: u64 = 1_000;

/// The percentiles of all units beyond which the tail is.
const TAILS: [Quantile; 2] = [Quantile::P95, Quantile::P99];

/// By block and side: the logarithm of each unit's CPU use, `None` for idle ones.
type Logarithms = [[Vec<Option<f64>>; 2]];

/// The tests of the total.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Total {
    /// The mean CPU use of a run of the base and of the new side, over blocks.
    pub means: [f64; 2],
    /// The change of the logarithm of CPU use within blocks, of the units that are not idle; `None` if it has no error, since there are too
    /// few units or all are equal.
    pub effect: Option<Effect>,
    /// The level of the effect: its interval misses the true change with this probability. Less than alpha if other tests take a part.
    pub level: f64,
    /// The logarithm of the change that is not exceeded, with a probability of 1 − alpha. It includes idle units.
    pub upper_bound: Option<f64>,
    /// The probability of ranks that differ as much by chance (van Elteren): a check without assumptions on the distribution.
    pub rank_p: Option<f64>,
    /// The share of idle units; `None` if there is none.
    pub idle: Option<ShareTest>,
    /// The shares that are far out among units like themselves: beyond P95 and P99 of all; empty unless each side has a thousand units.
    pub tail: Vec<ShareTest>,
}

/// The test of a share of units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShareTest {
    /// The percentile of all units, for a tail.
    pub quantile: Option<Quantile>,
    /// Units of the base and of the new side in question.
    pub counts: [u64; 2],
    /// All units of the base and of the new side.
    pub of: [u64; 2],
    /// For a tail, the mean CPU use of the units of each side beyond its own percentile.
    pub values: [f64; 2],
    /// The probability of counts at least as unlikely, if the sides are alike within blocks.
    pub p: f64,
    /// The level of the test: a smaller probability is a claim.
    pub level: f64,
}

impl ShareTest {
    /// True if the shares differ.
    pub fn is_claimed(&self) -> bool {
        self.p <= self.level
    }

    /// True if the new side has the larger share.
    pub fn is_more(&self) -> bool {
        self.counts[1] as f64 * self.of[0] as f64 > self.counts[0] as f64 * self.of[1] as f64
    }
}

impl Total {
    pub(super) fn new(units: &Units, options: &CompareOptions) -> Self {
        let logarithms = units.logarithms();
        let has_tail = units.counts().into_iter().all(|count| count >= TAIL_UNITS);
        let bulk = if has_tail { options.alpha / 3.0 } else { options.alpha };
        let blocks = blocks_of(&logarithms);
        let idle = shares(&logarithms, |value| value.is_none());
        let has_idle = idle.iter().any(|block| block.base + block.new > 0);
        let level = if has_idle { bulk / 2.0 } else { bulk };
        let effect = Effect::of(&blocks).filter(|effect| effect.error > 0.0);
        Self {
            means: units.mean_rates(),
            upper_bound: effect.and_then(|effect| upper_bound(&effect, has_idle.then_some(&idle), options.alpha)),
            effect,
            level,
            rank_p: van_elteren(&blocks).map(|(_, p)| p),
            idle: has_idle.then(|| share_test(&idle, None, [0.0; 2], level)),
            tail: if has_tail { tails(&logarithms, options.alpha / 3.0) } else { Vec::new() },
        }
    }

    /// The interval of the change, as logarithms.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.effect.map(|effect| effect.interval(self.level))
    }
}

/// The largest change of the use of all units: of those that are not idle, times their share. Both bounds hold together.
fn upper_bound(effect: &Effect, idle: Option<&Vec<Exceedance>>, alpha: f64) -> Option<f64> {
    let Some(idle) = idle else { return Some(effect.upper_bound(alpha)) };
    let busy =
        |block: &Exceedance| Exceedance { base: block.of_base - block.base, new: block.of_new - block.new, ..*block };
    let busy: Vec<Exceedance> = idle.iter().map(busy).collect();
    share_ratio_bound(&busy, alpha / 2.0).map(|share| effect.upper_bound(alpha / 2.0) + share)
}

fn shares(logarithms: &Logarithms, is: impl Fn(&Option<f64>) -> bool) -> Vec<Exceedance> {
    let count = |values: &Vec<Option<f64>>| values.iter().filter(|value| is(value)).count() as u64;
    let block = |[base, new]: &[Vec<Option<f64>>; 2]| Exceedance {
        base: count(base),
        of_base: base.len() as u64,
        new: count(new),
        of_new: new.len() as u64,
    };
    logarithms.iter().map(block).collect()
}

fn share_test(blocks: &[Exceedance], quantile: Option<Quantile>, values: [f64; 2], level: f64) -> ShareTest {
    let sum = |of: fn(&Exceedance) -> u64| blocks.iter().map(of).sum();
    ShareTest {
        quantile,
        counts: [sum(|block| block.base), sum(|block| block.new)],
        of: [sum(|block| block.of_base), sum(|block| block.of_new)],
        values,
        p: exact_test(blocks),
        level,
    }
}

fn tails(logarithms: &Logarithms, level: f64) -> Vec<ShareTest> {
    let relative = relative(logarithms);
    let sides = [side(logarithms, 0), side(logarithms, 1)];
    let test = |quantile: Quantile| {
        let mean = |values: &Vec<f64>| {
            let tail = &values[rank(values, quantile)..];
            tail.iter().map(|value| value.exp()).sum::<f64>() / tail.len() as f64
        };
        let means = sides.each_ref().map(mean);
        let test = |values: &Logarithms| share_test(&beyond(values, quantile), Some(quantile), means, level);
        // The counts of units are exact. Places are not, if the range of a side is uncertain, but spread alone moves none of them.
        let (units, places) = (test(logarithms), test(&relative));
        let p = if units.is_more() == places.is_more() { units.p.max(places.p) } else { 1.0 };
        ShareTest { p, ..units }
    };
    TAILS.map(test).into()
}

/// The values beyond a percentile of all.
fn beyond(values: &Logarithms, quantile: Quantile) -> Vec<Exceedance> {
    let all = sorted([side(values, 0), side(values, 1)].concat());
    let limit = all[rank(&all, quantile).saturating_sub(1)];
    shares(values, |value| value.is_some_and(|value| value > limit))
}

/// The sorted values of a side. An idle unit is below every other one.
fn side(values: &Logarithms, side: usize) -> Vec<f64> {
    let all = values.iter().flat_map(|block| &block[side]);
    sorted(all.map(|value| value.unwrap_or(f64::NEG_INFINITY)).collect())
}

fn rank(values: &[f64], quantile: Quantile) -> usize {
    quantile.nearest_rank(values.len() as u64) as usize
}

/// Logarithms less the median of their side in their block, in interquartile ranges of their side: how far out each unit is among units like
/// itself. A side that is slower, or varies more, as a whole has no longer tail.
fn relative(logarithms: &Logarithms) -> Vec<[Vec<Option<f64>>; 2]> {
    let mut relative = logarithms.to_vec();
    for side in [0, 1] {
        for block in &mut relative {
            let middle = at(&sorted(block[side].iter().flatten().copied().collect()), 0.5);
            block[side].iter_mut().flatten().for_each(|value| *value -= middle);
        }
        let all = sorted(relative.iter().flat_map(|block| &block[side]).flatten().copied().collect());
        let range = at(&all, 0.75) - at(&all, 0.25);
        let values = relative.iter_mut().flat_map(|block| block[side].iter_mut()).flatten();
        values.for_each(|value| *value /= if range > 0.0 { range } else { 1.0 });
    }
    relative
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The value at a share of sorted values, between two of them if need be; 0 without values.
fn at(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let index = share * last as f64;
    let (below, above) = (sorted[index as usize], sorted[(index as usize + 1).min(last)]);
    below + index.fract() * (above - below)
}
