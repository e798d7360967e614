//! Tests the total of a quantity: how much a typical unit uses, how many units are idle, and how long the tail is.

use super::levels::Levels;
use super::quantity::{Quantity, QuantityValues};
use super::units::Units;
use crate::stats::{Block, Effect, Exact, Exceedance, Quantile};

/// The minimum number of units per side for testing the tail.
const TAIL_UNITS: u64 = 1_000;

/// The percentiles of all units that define the tail.
const TAILS: [Quantile; 2] = [Quantile::P95, Quantile::P99];

/// By block and side: the logarithm of each unit's value; `None` for idle units.
type Logarithms = [[Vec<Option<f64>>; 2]];

/// The tests of the total of a quantity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Total {
    /// The mean of the runs on the base and the new side, within blocks.
    pub means: [f64; 2],
    /// The change of the logarithm within blocks, for units that are not idle; `None` with too few units to estimate its error.
    pub effect: Option<Effect>,
    /// The significance levels of claims about the effect. They are lower if other tests share alpha.
    pub levels: Levels,
    /// The upper bound of the change including idle units, as a logarithm, with a probability of 1 − alpha.
    pub upper_bound: Option<f64>,
    /// The factor by which the number of units must grow to detect the smallest relevant change; see [`Block::needed_factor`].
    pub needed: Option<f64>,
    /// The p-value of a rank test (van Elteren), which makes no assumptions about the distribution.
    pub rank_p: Option<f64>,
    /// The share of idle units; `None` if no unit is idle.
    pub idle: Option<ShareTest>,
    /// The shares of units that are far out compared to similar units: beyond the P95 and P99 of all units. Empty unless each side has a thousand
    /// units.
    pub tail: Vec<ShareTest>,
}

/// The test of a share of units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShareTest {
    /// For a tail, the percentile of all units.
    pub quantile: Option<Quantile>,
    /// The number of units in this share, on the base and the new side.
    pub counts: [u64; 2],
    /// The total number of units of the base and of the new side.
    pub of: [u64; 2],
    /// For a tail, the mean of each side's units beyond its own percentile.
    pub values: [f64; 2],
    /// The p-values of the counts, if the sides are the same within blocks.
    pub p: Exact,
}

impl ShareTest {
    /// True if the share of the new side is larger.
    pub fn is_more(&self) -> bool {
        self.counts[1] as f64 * self.of[0] as f64 > self.counts[0] as f64 * self.of[1] as f64
    }
}

impl Total {
    pub(super) fn new(
        (quantity, values): (&Quantity, &[QuantityValues; 2]),
        units: &Units,
        (levels, alpha, min_effect): (Levels, f64, f64),
    ) -> Self {
        let logarithms = units.logarithms(values);
        let has_tail = quantity.is_sampled() && units.counts().into_iter().all(|count| count >= TAIL_UNITS);
        let levels = if has_tail { levels.shared(3.0) } else { levels };
        let blocks = units.blocks_with_floors(values);
        let idle = shares(&logarithms, |value| value.is_none());
        let has_idle = quantity.is_sampled() && idle.iter().any(|block| block.base + block.new > 0);
        let levels_of_effect = if has_idle { levels.shared(2.0) } else { levels };
        let effect = Effect::of(&blocks).filter(Effect::has_error);
        Self {
            means: units.mean_of(|side, run| values[side].get(run)),
            upper_bound: effect.and_then(|effect| upper_bound(&effect, has_idle.then_some(&idle), alpha)),
            needed: needed(&blocks, min_effect, levels_of_effect),
            effect,
            levels: levels_of_effect,
            rank_p: Block::rank_test(&blocks).map(|(_, p)| p),
            idle: has_idle.then(|| share_test(&idle, None, [0.0; 2])),
            tail: if has_tail { tails(&logarithms) } else { Vec::new() },
        }
    }

    /// The interval of the change, as logarithms; 95 % by default. It excludes zero if the total is slower.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.effect.map(|effect| effect.interval(2.0 * self.levels.slower))
    }

    /// True if a typical unit uses more, by a significant and relevant amount.
    pub(super) fn is_slower(&self, min_effect: f64) -> bool {
        self.effect
            .is_some_and(|effect| effect.p_above() <= self.levels.slower && effect.difference >= min_effect.ln_1p())
    }

    /// True if a typical unit uses less, by a significant and relevant amount.
    pub(super) fn is_faster(&self, min_effect: f64) -> bool {
        self.effect
            .is_some_and(|effect| effect.p_below() <= self.levels.faster && effect.difference <= (-min_effect).ln_1p())
    }

    /// True if significantly more units are idle on the new side.
    pub(super) fn has_more_idle(&self) -> bool {
        self.idle.is_some_and(|idle| idle.p.more <= self.levels.slower)
    }

    /// The ratio of new to base.
    pub fn ratio(&self) -> Option<f64> {
        self.effect.map(|effect| effect.difference.exp())
    }
}

fn needed(blocks: &[Block], min_effect: f64, levels: Levels) -> Option<f64> {
    Block::needed_factor(blocks, min_effect.ln_1p(), levels.slower)
}

/// An upper bound for the change over all units: the change of units that are not idle, multiplied by the change of their share. Both bounds hold
/// simultaneously.
fn upper_bound(effect: &Effect, idle: Option<&Vec<Exceedance>>, alpha: f64) -> Option<f64> {
    let Some(idle) = idle else { return Some(effect.upper_bound(alpha)) };
    let busy =
        |block: &Exceedance| Exceedance { base: block.of_base - block.base, new: block.of_new - block.new, ..*block };
    let busy: Vec<Exceedance> = idle.iter().map(busy).collect();
    // More idle units do not make the others faster.
    Exceedance::ratio_bound(&busy, alpha / 2.0).map(|share| effect.upper_bound(alpha / 2.0) + share.max(0.0))
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

fn share_test(blocks: &[Exceedance], quantile: Option<Quantile>, values: [f64; 2]) -> ShareTest {
    let sum = |of: fn(&Exceedance) -> u64| blocks.iter().map(of).sum();
    ShareTest {
        quantile,
        counts: [sum(|block| block.base), sum(|block| block.new)],
        of: [sum(|block| block.of_base), sum(|block| block.of_new)],
        values,
        p: Exact::of(blocks),
    }
}

fn tails(logarithms: &Logarithms) -> Vec<ShareTest> {
    let relative = relative(logarithms);
    let sides = [side(logarithms, 0), side(logarithms, 1)];
    let test = |quantile: Quantile| {
        let mean = |values: &Vec<f64>| {
            let tail = &values[rank(values, quantile)..];
            tail.iter().map(|value| value.exp()).sum::<f64>() / tail.len() as f64
        };
        let means = sides.each_ref().map(mean);
        let test = |values: &Logarithms| share_test(&beyond(values, quantile), Some(quantile), means);
        // The counts of units are exact. Relative positions are not, since a side's range is uncertain, but spread alone does not affect them.
        let (units, places) = (test(logarithms), test(&relative));
        ShareTest { p: units.p.max(places.p), ..units }
    };
    TAILS.map(test).into()
}

/// The number of values beyond a percentile of all.
fn beyond(values: &Logarithms, quantile: Quantile) -> Vec<Exceedance> {
    let all = sorted([side(values, 0), side(values, 1)].concat());
    let limit = all[rank(&all, quantile).saturating_sub(1)];
    shares(values, |value| value.is_some_and(|value| value > limit))
}

/// The sorted values of a side, idle units first.
fn side(values: &Logarithms, side: usize) -> Vec<f64> {
    let all = values.iter().flat_map(|block| &block[side]);
    sorted(all.map(|value| value.unwrap_or(f64::NEG_INFINITY)).collect())
}

fn rank(values: &[f64], quantile: Quantile) -> usize {
    quantile.nearest_rank(values.len() as u64) as usize
}

/// How far out each unit is compared to similar units: its logarithm minus the median of its side and block, in interquartile ranges of its side. A
/// side that is generally slower or more variable therefore has no longer tail.
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

/// The value at a fraction of sorted values, interpolated if necessary; 0 without values.
fn at(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let index = share * last as f64;
    let (below, above) = (sorted[index as usize], sorted[(index as usize + 1).min(last)]);
    below + index.fract() * (above - below)
}
