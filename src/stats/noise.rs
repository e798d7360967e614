//! The effect that sampling alone has on numbers.
//!
//! If a sampling profiler sees something λ times in a run on average, the number in each run is Poisson-distributed by chance. The relative
//! standard error of a share is 1/√λ (λ = 300 samples: 6 %; 95 % of runs are within 11 %). In many identical runs, the upper quantiles are
//! therefore above the mean, and the distance grows with fewer samples.

use super::Quantile;
use super::tails::Counts;
use crate::units::Millionths;

/// The largest mean that [`Quantile::of_poisson`] takes: beyond it, the noise is below a thousandth of a percent.
const LARGEST_MEAN: f64 = 1e10;

impl Quantile {
    /// The smallest k with P(X ≤ k) ≥ q, for X Poisson with this mean.
    ///
    /// 0 for q = 0 and for a mean of 0. `None` for q = 1 (there is no largest count), and for means that are below zero,
    /// above 10¹⁰ or no numbers.
    pub fn of_poisson(self, mean: f64) -> Option<u64> {
        if !(0.0..=LARGEST_MEAN).contains(&mean) {
            return None;
        }
        match self.parts_per_million() {
            _ if mean == 0.0 => Some(0),
            0 => Some(0),
            1_000_000 => None,
            // P(X ≤ k) ≥ q is P(X ≥ k + 1) ≤ 1 − q, which keeps its digits where q is near 1.
            parts => Some(Counts::poisson(mean).upper(f64::from(1_000_000 - parts) / 1e6).saturating_sub(1)),
        }
    }

    /// The quantile over runs that sampling noise alone would produce if all runs were identical.
    ///
    /// It is the Poisson quantile of λ divided by λ, times `mean`, in the unit of `mean`; λ is the average number of samples in a run. A
    /// measured quantile at or below it is no evidence that runs differ. `None` without samples, for q = 1, and above 10¹⁰ samples in a
    /// run.
    pub fn noise_floor(self, samples_per_run: f64, mean: Millionths) -> Option<f64> {
        let of_poisson = self.of_poisson(samples_per_run).filter(|_| samples_per_run > 0.0)?;
        Some(of_poisson as f64 / samples_per_run * mean.as_f64())
    }
}

/// The number of equal weights that say as much as these: (Σw)² / Σw² (Kish), from the two sums; 0 for no weights.
///
/// For equal weights this is their number; if one weight outweighs all others, it is 1.
pub(super) fn effective_samples(sum_of_weights: u128, sum_of_squares: u128) -> f64 {
    if sum_of_squares == 0 {
        return 0.0;
    }
    let sum = sum_of_weights as f64;
    sum * sum / sum_of_squares as f64
}
