//! Intervals for quantiles, from order statistics.

use super::confidence::Confidence;
use super::quantile::Quantile;
use super::tails::Counts;

/// The interval that holds the quantile of the population, with some confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The lower end; `None` where it is unknown: no value is that far down.
    pub lower: Option<f64>,
    /// The upper end; `None` where it is unknown: no value is that far up.
    pub upper: Option<f64>,
}

/// Beyond this the tails are not added up, which takes time with the root of the count.
const MOST_VALUES: u64 = 10_000_000_001;

impl Quantile {
    /// The ranks (from 1) of `count` values between which the quantile of their population is, with at least this confidence.
    ///
    /// Of n values drawn from any population, B values are below its q-quantile, and B is binomial with n and q. The value
    /// of rank l is above the quantile where B < l, and that of rank u is below it where B ≥ u. So
    ///
    /// * the lower rank is the largest l with P(B < l) ≤ α/2, and
    /// * the upper rank is the smallest u with P(B ≥ u) ≤ α/2,
    ///
    /// with 1 − α the confidence. Each side misses with at most α/2, and the interval holds the quantile with at least 1 −
    /// α, more where no rank hits α/2 exactly. Values that tie only make it hold more often. An end is `None` where no rank
    /// is that far out: the lower one where even the smallest value is too often above the quantile ((1 − q)ⁿ > α/2), the
    /// upper one where even the largest is too often below (qⁿ > α/2). No values: both are `None`. The minimum of the
    /// population (q = 0) has no lower end, its maximum (q = 1) no upper one. Above 10¹⁰ values both are `None`: the
    /// interval would be narrower than any measure.
    ///
    /// In terms of scipy, the ranks are `binom.ppf(α/2, n, q)` and `binom.ppf(1 − α/2, n, q) + 1`, and those below 1 and
    /// above n are unknown; if a tail is exactly α/2, `ppf` takes the rank outside of it, and this function need not.
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
