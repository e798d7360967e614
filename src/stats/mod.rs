//! Statistics: distributions, quantiles, intervals, histograms. This module does not depend on profiles.
//!
//! Values are [`Millionths`](crate::units::Millionths), which are non-negative integers. Results that are values of the data are exact; results
//! that are doubles are the doubles nearest to the exact number. Results depend neither on the order of the input nor on the machine: additions,
//! multiplications and divisions replace logarithms.
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
//! // P99.9 of 100 runs is always the largest, so it does not describe the fleet.
//! let estimate = runs.estimate(Quantile::P999, QuantileMethod::NearestRank, Confidence::default());
//! assert_eq!((estimate.value, estimate.support), (Some(99.0), Support::TooFew { needed: 1000 }));
//! ```
//!
//! # Definitions
//!
//! **Nearest rank** (the default; [`QuantileMethod::NearestRank`]): the q-quantile of n values is the value with rank ⌈q·n⌉ in ascending order,
//! counted from 1 and computed in integers. It is always one of the values. Equal values have consecutive ranks, so ties need no rule. q = 0 is
//! the smallest value and q = 1 the largest. A single value is every quantile. Without values, there are no quantiles.
//!
//! **Linear** ([`QuantileMethod::Linear`]): interpolates linearly between the two values around the index (n − 1)·q, counted from 0, like numpy,
//! pandas and Excel's `PERCENTILE.INC`. The result may be a number that was never measured.
//!
//! **Zeros** are included. A run that did not use the measured item used 0 of it, and 0 is a value like any other.
//!
//! **Weights** ([`Distribution::weighted`]): the q-quantile is the smallest value whose cumulative weight reaches q times the total weight. With
//! equal weights, this is the nearest rank. There is no agreed definition for the linear method, so it is not supported.
//!
//! **Mean**: the sum divided by the count, rounded to the nearest millionth, halves up.
//!
//! **Interval** ([`Quantile::interval_ranks`]): two of the values that enclose the quantile of the population with at least the requested
//! confidence, for any population. With few values, possibly none is extreme enough. That end is then unknown, which does not mean that it is far
//! away.
//!
//! **Support** ([`Support`]): whether there are enough values for a quantile to describe the population.
//!
//! **Bins** ([`BinnedValues`]): if only a histogram is known, a quantile is an interval that certainly contains the true one.
//!
//! **Noise floor** ([`Quantile::noise_floor`]): the effect of sampling alone, with identical runs.
//!
//! **Comparisons** ([`Effect`], [`Exact`]): whether one group of values is above another, and by how much.
//!
//! **Change points** ([`ChangePoints`]): where the level of a series of values changes.
//!
//! **Effective size** ([`Estimate`]): the number of equal weights with the same precision as the given unequal weights.

mod binned;
mod bins;
mod change_points;
mod compare;
mod distribution;
mod exponential;
mod interval;
mod quantile;

pub use binned::BinnedValues;
pub use bins::{Bin, BoxPlot};
pub use change_points::{CellMean, ChangePoint, ChangePoints, Looks, Shift};
pub use compare::{Block, Effect, Exact, Exceedance, StandardError};
pub(crate) use compare::{benjamini_hochberg, holm};
pub use distribution::{Distribution, Estimate, Support};
pub(crate) use exponential::ExponentialHistogram;
pub use interval::Interval;
pub(crate) use interval::ranks_with_tail;
pub use quantile::Confidence;
pub use quantile::{Quantile, QuantileMethod};
