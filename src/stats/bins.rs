//! Distributions for charts: histograms with bins of equal width, and box plots.

use super::{Distribution, Quantile};
use crate::units::Millionths;

/// A bin that counts the values in [lower, upper). The last bin includes its upper edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The lower edge.
    pub lower: f64,
    /// The upper edge.
    pub upper: f64,
    /// The number of values, regardless of their weights.
    pub count: u64,
}

impl Distribution {
    /// The maximum number of bins from [`bins`](Self::bins).
    pub const MAX_BINS: usize = 10_000;

    /// Returns adjacent bins of equal width, from the smallest value (or zero, if there are zeros) to the largest.
    ///
    /// The width is the smallest of 1, 2, 2.5 and 5 times a power of ten for which `max_bins` bins (1 to [`MAX_BINS`](Self::MAX_BINS)) suffice,
    /// and edges are multiples of it. Empty bins are included. The counts add up to [`Distribution::count`]. If all values are equal, there is
    /// one bin, as wide as the power of ten at or below the value (1 for 0). Without values, there are no bins.
    pub fn bins(&self, max_bins: usize) -> Vec<Bin> {
        let (Some(min), Some(max)) = (self.min(), self.max()) else { return Vec::new() };
        let (min, max) = (u128::from(min.get()), u128::from(max.get()));
        let width =
            if min == max { power_of_ten_below(min) } else { nice_width(min, max, max_bins.clamp(1, Self::MAX_BINS)) };
        let first = min / width;
        let mut counts = vec![0; bins_between(min, max, width) as usize];
        for (value, count) in self.values() {
            let bin = (u128::from(value.get()) / width - first) as usize;
            let bin = bin.min(counts.len() - 1);
            counts[bin] += count;
        }
        let edge = |index: usize| ((first + index as u128) * width) as f64 / 1e6;
        let bin = |(index, count)| Bin { lower: edge(index), upper: edge(index + 1), count };
        counts.into_iter().enumerate().map(bin).collect()
    }
}

/// The number of bins of this width that cover both values, if edges are multiples of the width.
fn bins_between(min: u128, max: u128, width: u128) -> u128 {
    // The last bin includes its upper edge, so a value there needs no extra bin.
    (max.div_ceil(width) - min / width).max(1)
}

/// The smallest nice width, in millionths, that needs at most `max_bins` bins. Values are integers, so it is at least one millionth.
fn nice_width(min: u128, max: u128, max_bins: usize) -> u128 {
    let mut power = 1;
    loop {
        // 2.5 millionths are not an integer, so 2 is used instead.
        let widths = [power, 2 * power, 5 * power / 2, 5 * power];
        if let Some(width) = widths.into_iter().find(|width| bins_between(min, max, *width) <= max_bins as u128) {
            return width;
        }
        power *= 10;
    }
}

fn power_of_ten_below(value: u128) -> u128 {
    value.checked_ilog10().map_or(1_000_000, |digits| 10_u128.pow(digits))
}

/// A box plot (Tukey): a box from the lower to the upper quartile, whiskers, and outliers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BoxPlot {
    /// The smallest value.
    pub min: f64,
    /// The lower quartile. All quartiles use the nearest rank (by weight, if values are weighted).
    pub p25: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub p75: f64,
    /// The largest value.
    pub max: f64,
    /// The smallest value within 1.5 interquartile ranges below the box.
    pub whisker_low: f64,
    /// The largest value within 1.5 interquartile ranges above the box.
    pub whisker_high: f64,
    /// The distinct values beyond the whiskers, in ascending order, or the [`MAX_OUTLIERS`](BoxPlot::MAX_OUTLIERS) farthest from the box if there
    /// are more.
    pub outliers: Vec<f64>,
    /// The number of values beyond the whiskers, counting equal ones separately.
    pub outlier_count: u64,
}

impl BoxPlot {
    /// The maximum number of [outliers](Self::outliers) that are kept; [`outlier_count`](Self::outlier_count) counts all.
    pub const MAX_OUTLIERS: usize = 1_000;

    /// The box plot of a distribution; `None` if it is empty. With a single value, all numbers equal it.
    pub fn new(distribution: &Distribution) -> Option<Self> {
        let quartile = |parts| distribution.nearest(Quantile::from_parts_per_million(parts)?);
        let (p25, median, p75) = (quartile(250_000)?, quartile(500_000)?, quartile(750_000)?);
        let is_outlier = |value: Millionths| distance(value, p25, p75) * 2 > u128::from(p75.get() - p25.get()) * 3;
        let (outside, inside): (Vec<_>, Vec<_>) = distribution.values().partition(|(value, _)| is_outlier(*value));
        let mut kept: Vec<Millionths> = outside.iter().map(|(value, _)| *value).collect();
        kept.sort_by_key(|value| std::cmp::Reverse(distance(*value, p25, p75)));
        kept.truncate(Self::MAX_OUTLIERS);
        kept.sort_unstable();
        Some(Self {
            min: distribution.min()?.as_f64(),
            p25: p25.as_f64(),
            median: median.as_f64(),
            p75: p75.as_f64(),
            max: distribution.max()?.as_f64(),
            whisker_low: inside.first()?.0.as_f64(),
            whisker_high: inside.last()?.0.as_f64(),
            outliers: kept.into_iter().map(Millionths::as_f64).collect(),
            outlier_count: outside.iter().map(|(_, count)| count).sum(),
        })
    }
}

/// The distance of a value from the box, in millionths; 0 inside it.
fn distance(value: Millionths, p25: Millionths, p75: Millionths) -> u128 {
    u128::from(value.get().saturating_sub(p75.get()) + p25.get().saturating_sub(value.get()))
}
