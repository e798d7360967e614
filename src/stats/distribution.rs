//! A distribution of many values: its quantiles and their confidence intervals.

use super::interval::{Interval, effective_samples};
use super::quantile::{Confidence, Quantile, QuantileMethod};
use crate::units::Millionths;

/// A sorted list of values. Zeros are counted, not stored.
///
/// Most functions of a fleet are used in few runs. All other runs are zeros, which take no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Sorted; all are above zero.
    values: Vec<Millionths>,
    zeros: u64,
    weights: Option<Weights>,
}

/// The weights of a distribution's values, in millionths.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Weights {
    /// For each value, the total weight of the zeros and all values up to it.
    cumulative: Vec<u128>,
    zeros: u128,
    /// The sum of the squares of all weights, in millionths of millionths.
    sum_of_squares: u128,
}

/// Leaves headroom for a million times this sum.
const LARGEST_ZERO_WEIGHT: u128 = u128::MAX >> 24;

impl FromIterator<f64> for Distribution {
    /// Rounds to millionths. Omits numbers that are negative, too large, or NaN.
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        Self::new(numbers.into_iter().filter_map(Millionths::from_f64).collect(), 0)
    }
}

impl Distribution {
    /// Creates a distribution of `values`, in any order, plus `zeros` zeros. `values` may contain zeros as well.
    pub fn new(mut values: Vec<Millionths>, zeros: u64) -> Self {
        let given = values.len();
        values.retain(|value| value.get() > 0);
        values.sort_unstable();
        let zeros = zeros.saturating_add((given - values.len()) as u64);
        Self { values, zeros, weights: None }
    }

    /// Creates a distribution of pairs of value and weight, in any order, plus `zeros` zeros with a total weight of `zero_weight` millionths.
    ///
    /// Values with zero weight are dropped. The additional zeros are assumed to have equal weights, which matters for
    /// [`effective_count`](Self::effective_count); zeros among `values` keep their weights.
    pub fn weighted(mut values: Vec<(Millionths, Millionths)>, zeros: u64, zero_weight: u128) -> Self {
        let (zeros, zero_weight) =
            if zero_weight == 0 { (0, 0) } else { (zeros, zero_weight.min(LARGEST_ZERO_WEIGHT)) };
        let mut distribution = Self { values: Vec::new(), zeros, weights: None };
        let zero_weight = if zeros == 0 { 0 } else { zero_weight };
        let squares = zero_weight.saturating_mul(zero_weight) / u128::from(zeros.max(1));
        let mut weights = Weights { cumulative: Vec::new(), zeros: zero_weight, sum_of_squares: squares };
        values.retain(|(_, weight)| weight.get() > 0);
        values.sort_unstable();
        let mut sum = zero_weight;
        for (value, weight) in values {
            let weight = u128::from(weight.get());
            sum += weight;
            weights.sum_of_squares = weights.sum_of_squares.saturating_add(weight * weight);
            if value.get() == 0 {
                distribution.zeros = distribution.zeros.saturating_add(1);
                weights.zeros = sum;
            } else {
                distribution.values.push(value);
                weights.cumulative.push(sum);
            }
        }
        distribution.weights = Some(weights);
        distribution
    }

    /// The number of values, including zeros.
    pub fn count(&self) -> u64 {
        self.zeros.saturating_add(self.values.len() as u64)
    }

    /// The number of values that are zero.
    pub const fn zeros(&self) -> u64 {
        self.zeros
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// True if it was created with weights.
    pub const fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The smallest value.
    pub fn min(&self) -> Option<Millionths> {
        self.value_at_rank(1)
    }

    /// The largest value.
    pub fn max(&self) -> Option<Millionths> {
        self.value_at_rank(self.count())
    }

    /// The value with this rank in ascending order, from 1, ignoring weights. `None` for 0 and above the count.
    pub fn value_at_rank(&self, rank: u64) -> Option<Millionths> {
        match rank {
            0 => None,
            _ if rank <= self.zeros => Some(Millionths::default()),
            _ => self.values.get(usize::try_from(rank - self.zeros - 1).ok()?).copied(),
        }
    }

    /// The sum of all values in millionths, ignoring weights.
    pub fn sum(&self) -> u128 {
        self.values.iter().map(|value| u128::from(value.get())).sum()
    }

    /// The mean of all values, ignoring weights. Rounded to the nearest millionth, halves up.
    pub fn mean(&self) -> Option<Millionths> {
        Millionths::of_ratio(self.sum(), u128::from(self.count()) * 1_000_000)
    }

    /// The weighted mean, Σ(w·v) / Σw, rounded to the nearest millionth, halves up; without weights, the [`mean`](Self::mean).
    ///
    /// `None` without values, or if the sum exceeds 128 bits.
    pub fn weighted_mean(&self) -> Option<Millionths> {
        let Some(weights) = &self.weights else { return self.mean() };
        let (mut before, mut sum) = (weights.zeros, 0_u128);
        for (value, cumulative) in self.values.iter().zip(&weights.cumulative) {
            sum = sum.checked_add(u128::from(value.get()).checked_mul(cumulative - before)?)?;
            before = *cumulative;
        }
        Millionths::of_ratio(sum, before.checked_mul(1_000_000)?)
    }

    /// The quantile by a method, as defined in the [module](super). `None` without values.
    ///
    /// With weights, the nearest rank is the smallest value whose cumulative weight reaches q times the total weight. The linear method then
    /// returns `None`, since there is no agreed definition.
    pub fn quantile(&self, quantile: Quantile, method: QuantileMethod) -> Option<f64> {
        match method {
            QuantileMethod::NearestRank => self.nearest(quantile).map(Millionths::as_f64),
            QuantileMethod::Linear if self.is_weighted() => None,
            QuantileMethod::Linear => self.linear(quantile),
        }
    }

    /// The exact quantile by [`QuantileMethod::NearestRank`]; always one of the values.
    pub fn nearest(&self, quantile: Quantile) -> Option<Millionths> {
        match &self.weights {
            None => self.value_at_rank(quantile.nearest_rank(self.count())),
            Some(weights) => self.nearest_by_weight(weights, quantile),
        }
    }

    fn nearest_by_weight(&self, weights: &Weights, quantile: Quantile) -> Option<Millionths> {
        let total = weights.cumulative.last().copied().unwrap_or(weights.zeros);
        let wanted = (total * u128::from(quantile.parts_per_million())).div_ceil(1_000_000);
        if self.zeros > 0 && wanted <= weights.zeros {
            return Some(Millionths::default());
        }
        self.values.get(weights.cumulative.partition_point(|sum| *sum < wanted)).copied()
    }

    /// The values that [`quantile`](Self::quantile) is computed from, in ascending order: one by nearest rank, and two if the linear method
    /// interpolates.
    pub(crate) fn values_behind(
        &self,
        quantile: Quantile,
        method: QuantileMethod,
    ) -> impl Iterator<Item = Millionths> + use<> {
        let (first, second) = match method {
            QuantileMethod::NearestRank => (self.nearest(quantile), None),
            QuantileMethod::Linear if self.is_weighted() => (None, None),
            QuantileMethod::Linear => {
                let index = self.count().saturating_sub(1) as f64 * quantile.fraction();
                let below = self.value_at_rank(index.floor() as u64 + 1);
                (below, self.value_at_rank(index.ceil() as u64 + 1).filter(|_| index.fract() > 0.0))
            }
        };
        first.into_iter().chain(second.filter(|_| first != second))
    }

    /// Performs the same operations as numpy in the same order, so results agree to the last bit.
    fn linear(&self, quantile: Quantile) -> Option<f64> {
        let last = self.count().checked_sub(1)?;
        let index = last as f64 * quantile.fraction();
        if index >= last as f64 {
            return self.max().map(Millionths::as_f64);
        }
        let (below, share) = (index.floor() as u64, index - index.floor());
        let (left, right) = (self.value_at_rank(below + 1)?.as_f64(), self.value_at_rank(below + 2)?.as_f64());
        let difference = right - left;
        Some(if share >= 0.5 { right - difference * (1.0 - share) } else { left + difference * share })
    }

    /// The quantile, its support, and its confidence interval.
    ///
    /// With either method, the ends of the interval are values of the distribution. With weights, both ends are `None`, since order statistics of
    /// unequal weights give no bounds. The support is then computed from the [effective count](Self::effective_count), rounded down, and is never
    /// [`Support::Enough`].
    pub fn estimate(&self, quantile: Quantile, method: QuantileMethod, confidence: Confidence) -> Estimate {
        let value = self.quantile(quantile, method);
        if self.is_weighted() {
            // The division may turn 100 into 99.999999999.
            let count = (self.effective_count() + 1e-9) as u64;
            let support = match Support::of(quantile, confidence, count) {
                Support::Enough => Support::UpperUnknown,
                fewer => fewer,
            };
            return Estimate { quantile, value, support, interval: Interval::default() };
        }
        let interval = self.interval(quantile.interval_ranks(self.count(), confidence));
        Estimate { quantile, value, support: Support::of(quantile, confidence, self.count()), interval }
    }

    /// The interval between the values of two ranks.
    pub(crate) fn interval(&self, ranks: (Option<u64>, Option<u64>)) -> Interval {
        let at = |rank: Option<u64>| rank.and_then(|rank| self.value_at_rank(rank)).map(Millionths::as_f64);
        Interval { lower: at(ranks.0), upper: at(ranks.1) }
    }

    /// The effective sample size: the number of equally weighted values with the same precision (Kish: (Σw)² / Σw²). Without weights, the count.
    pub fn effective_count(&self) -> f64 {
        match &self.weights {
            None => self.count() as f64,
            Some(weights) => {
                effective_samples(weights.cumulative.last().copied().unwrap_or(weights.zeros), weights.sum_of_squares)
            }
        }
    }

    /// The distinct values in ascending order, and the number of times each occurs, ignoring weights.
    pub fn values(&self) -> impl Iterator<Item = (Millionths, u64)> {
        let zeros = (self.zeros > 0).then_some((Millionths::default(), self.zeros));
        let others = self.values.chunk_by(|left, right| left == right).map(|equal| (equal[0], equal.len() as u64));
        zeros.into_iter().chain(others)
    }
}

/// Whether there are enough values for a quantile to describe the population.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Support {
    /// Enough values: both ends of the interval are known.
    Enough,
    /// Fewer values than [`Quantile::needed_for_interval`]: the end of the interval towards the tail is unknown. This is the upper end for
    /// quantiles from the median up, and otherwise the lower end.
    UpperUnknown,
    /// Fewer values than [`Quantile::needed_count`]: the quantile is (close to) the largest value or, below the median, the smallest, and does
    /// not describe the population.
    TooFew {
        /// The number of values needed.
        needed: u64,
    },
}

impl Support {
    /// The support of a quantile given `count` values.
    pub fn of(quantile: Quantile, confidence: Confidence, count: u64) -> Self {
        match quantile.lacks(count) {
            Some(needed) => Self::TooFew { needed },
            None if count < quantile.needed_for_interval(confidence) => Self::UpperUnknown,
            None => Self::Enough,
        }
    }

    /// The name in machine-readable formats: `enough`, `upper-unknown`, `too-few`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enough => "enough",
            Self::UpperUnknown => "upper-unknown",
            Self::TooFew { .. } => "too-few",
        }
    }
}

/// An estimate of a population's quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The quantile that is estimated.
    pub quantile: Quantile,
    /// The estimate; `None` without values, and for the linear method with weights.
    pub value: Option<f64>,
    /// Whether there are enough values.
    pub support: Support,
    /// The confidence interval for the population's quantile.
    pub interval: Interval,
}
