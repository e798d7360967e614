//! Intervals for quantiles, from order statistics.

use super::confidence::Confidence;
use super::quantile::Quantile;
use super::tails::Counts;

/// The interval that holds the quantile of the population, with some confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The lower end; `None` if unknown, since no value is far enough down.
    pub lower: Option<f64>,
    /// The upper end; `None` if unknown, since no value is far enough up.
    pub upper: Option<f64>,
}

/// Beyond this the tails are not added up, which takes time with the root of the count.
const MOST_VALUES: u64 = 10_000_000_001;

impl Quantile {
    /// The ranks (from 1) of `count` values between which the quantile of their population is, with at least this confidence.
    ///
    /// If n values are drawn from any population, B of them are below its q-quantile, and B is binomial with n and q. The value of rank l
    /// is above the quantile if B < l, and the value of rank u is below it if B ≥ u. Therefore
    ///
    /// * the lower rank is the largest l with P(B < l) ≤ α/2, and
    /// * the upper rank is the smallest u with P(B ≥ u) ≤ α/2,
    ///
    /// with 1 − α the confidence. Each side misses with probability at most α/2, so the interval contains the quantile with probability at
    /// least 1 − α, and more if no rank meets α/2 exactly. Ties only increase it. An end is `None` if no rank is far enough out: the lower
    /// end if even the smallest value is above the quantile too often ((1 − q)ⁿ > α/2), the upper end if even the largest is below it too
    /// often (qⁿ > α/2). Without values, both are `None`. The minimum of the population (q = 0) has no lower end, and its maximum (q = 1)
    /// no upper end. Above 10¹⁰ values both are `None`: the interval would be narrower than any measure.
    ///
    /// In terms of scipy, the ranks are `binom.ppf(α/2, n, q)` and `binom.ppf(1 − α/2, n, q) + 1`; ranks below 1 and above n are unknown.
    /// If a tail is exactly α/2, `ppf` takes the outer rank, and this function may take the inner one.
    pub fn interval_ranks(self, count: u64, confidence: Confidence) -> (Option<u64>, Option<u64>) {
        ranks_with_tail(count, self, confidence.tail())
    }
}

/// The same, with the probability of a miss on each side.
pub(crate) fn ranks_with_tail(count: u64, quantile: Quantile, tail: f64) -> (Option<u64>, Option<u64>) {
    match (count, quantile.parts_per_million()) {
        (0, _) | (MOST_VALUES.., _) => (None, None),
        (_, 0) => (None, Some(1)),
        (_, 1_000_000) => (Some(count), None),
        (_, parts) => {
            let below = Counts::binomial(count, parts);
            let (lower, upper) = (below.lower(tail), below.upper(tail));
            ((lower >= 1).then_some(lower), (upper <= count).then_some(upper))
        }
    }
}
