//! Statistics of many numbers: distributions, quantiles, intervals, histograms. This module does not depend on profiles.
//!
//! Values are [`Millionths`](crate::units::Millionths), integers that are not negative. Results that are elements of the data are exact;
//! results that are doubles are the nearest to the exact number. Nothing here depends on the order of the input, or on the machine:
//! additions, multiplications and divisions replace logarithms.
//!
//! ```
//! use traceparse::stats::{Confidence, Distribution, Quantile, QuantileMethod, Support};
//! use traceparse::units::Millionths;
//!
//! // 99 runs use 1 % of a core, and one uses 99 %.
//! let mut runs = vec![Millionths::new(1_000_000); 99];
//! runs.push(Millionths::new(99_000_000));
//! let runs = Distribution::new(runs, 0);
//! assert_eq!(runs.mean().unwrap().to_string(), "1.98");
//! assert_eq!(runs.quantile(Quantile::P99, QuantileMethod::NearestRank), Some(1.0));
//! assert_eq!(format!("{:.2}", runs.quantile(Quantile::P99, QuantileMethod::Linear).unwrap()), "1.98");
//!
//! // Of 100 runs, P99.9 is the largest, whatever the fleet is like.
//! let estimate = runs.estimate(Quantile::P999, QuantileMethod::NearestRank, Confidence::default());
//! assert_eq!((estimate.value, estimate.support), (Some(99.0), Support::TooFew { needed: 1000 }));
//! ```
//!
//! # Definitions
//!
//! **Nearest rank** (the default; [`QuantileMethod::NearestRank`]): the q-quantile of n values is the value of rank ⌈q·n⌉ in ascending
//! order, counted from 1 and computed in integers. It is always one of the values. Equal values have consecutive ranks, so ties need no
//! rule. q = 0 is the smallest value and q = 1 the largest. A single value is every quantile; without values, there are no quantiles.
//!
//! **Linear** ([`QuantileMethod::Linear`]): the straight line between the two values around the index (n − 1)·q, counted from 0, like
//! numpy, pandas and Excel's `PERCENTILE.INC`. It may be a number that was never measured.
//!
//! **Zeros** count. A run that did not use the measured thing used 0 of it, and 0 is a value like any other.
//!
//! **Weights** ([`Distribution::weighted`]): the q-quantile is the smallest value whose cumulative weight reaches q
//! times the weight of all. Equal weights give the nearest rank. There is no agreed linear form, and none is given.
//!
//! **Mean**: the sum by the count, to the nearest millionth, halves up.
//!
//! **Interval** ([`Quantile::interval_ranks`]): two of the values that enclose the quantile of the population with at least the requested
//! confidence, for any population. If there are few values, none of them may be far enough out; that end is then unknown, which does not
//! mean far away.
//!
//! **Support** ([`Support`]): whether there are enough values for a quantile to describe the population.
//!
//! **Histograms** give a quantile with an error bounded by a constant: [`ExponentialHistogram`] (0.55 %, few
//! values, sums by bucket) and [`WindowHistogram`] (0.05 %, readable by other tools). Merging is adding counts, so
//! shards give the same histogram in any order.
//!
//! **Bins** ([`BinnedValues`]): where only bins are known, a quantile is the interval in which it is for certain.
//!
//! **Noise floor** ([`Quantile::noise_floor`]): the effect of sampling alone if all runs are identical.
//!
//! **Comparisons** ([`compare`]): whether one group of values is above another, and by how much.
//!
//! **Change points** ([`change_points`]): where the level of a series of values changes.
//!
//! **Effective size** ([`Estimate`]): the number of equal weights that are worth as much as these unequal ones.

mod alert_statistic;
mod binned;
mod bins;
mod change_points;
pub mod compare;
mod distribution;
mod exponential;
mod hdr;
mod interval;
mod quantile;

pub(crate) use alert_statistic::AlertStatistic;
pub use binned::BinnedValues;
pub use bins::{Bin, BoxPlot};
pub use change_points::{
    CellMean, ChangePoint, ChangePoints, Looks, PERSISTENCE, Shift, change_points, p_of_largest_t,
};
pub use distribution::{Distribution, Estimate, Support};
pub use exponential::{ExponentialBucket, ExponentialHistogram};
pub use hdr::WindowHistogram;
pub use interval::Interval;
pub(crate) use interval::ranks_with_tail;
pub use quantile::Confidence;
pub use quantile::{Quantile, QuantileMethod};
