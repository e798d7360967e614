//! Quantiles, the methods that compute them, and the confidence of their intervals.

use std::fmt;

const WHOLE: u32 = 1_000_000;

/// A quantile in parts per million, in [0, 1,000,000].
///
/// It is an integer, so P99.9 is exactly 999/1000 instead of the nearest double: the rank of P99.9 of 1,000 values is 999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantile(u32);

impl Quantile {
    /// The lower quartile.
    pub const P25: Self = Self(250_000);
    /// The median.
    pub const P50: Self = Self(500_000);
    /// The upper quartile.
    pub const P75: Self = Self(750_000);
    /// 90 % of values are at or below it.
    pub const P90: Self = Self(900_000);
    /// 95 % of values are at or below it.
    pub const P95: Self = Self(950_000);
    /// 99 % of values are at or below it.
    pub const P99: Self = Self(990_000);
    /// 99.9 % of values are at or below it.
    pub const P999: Self = Self(999_000);

    /// Creates a quantile from parts per million; `None` above 1,000,000.
    pub const fn from_parts_per_million(parts: u32) -> Option<Self> {
        if parts <= WHOLE { Some(Self(parts)) } else { None }
    }

    /// Parses a percentile: `99.9`, `p99.9` or `P99.9`, from 0 to 100.
    ///
    /// `None` for anything else, and for more than four decimals.
    pub fn from_percent(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['p', 'P']).unwrap_or(text);
        parts_of_percent(digits).and_then(Self::from_parts_per_million)
    }

    /// The parts per million.
    pub const fn parts_per_million(self) -> u32 {
        self.0
    }

    /// The quantile in [0, 1], rounded to a double.
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// The name in machine-readable formats: `p50`, `p99.9`.
    pub fn name(self) -> String {
        format!("p{}", percent(self.0))
    }

    /// The rank, from 1, of this quantile among `count` values: ⌈q·count⌉, and at least 1; 0 without values.
    pub fn nearest_rank(self, count: u64) -> u64 {
        let rank = (u128::from(self.0) * u128::from(count)).div_ceil(u128::from(WHOLE)) as u64;
        rank.max(1).min(count)
    }

    /// The number of values from which this quantile differs from simply the largest value (below the median, the smallest).
    ///
    /// The smallest n with n ≥ 1/(1 − q): 2 for P50, 100 for P99, 1,000 for P99.9. Below the median, q replaces 1 − q. 1 for q = 0 and q = 1,
    /// which are the smallest and largest value by definition.
    pub fn needed_count(self) -> u64 {
        match self.0.min(WHOLE - self.0) {
            0 => 1,
            beyond => u64::from(WHOLE.div_ceil(beyond)),
        }
    }

    /// Returns the [needed count](Self::needed_count) if it is above `count`.
    pub(crate) fn lacks(self, count: u64) -> Option<u64> {
        Some(self.needed_count()).filter(|&needed| count < needed)
    }

    /// The number of values from which both ends of [`interval_ranks`](Self::interval_ranks) are known.
    ///
    /// At 95 %: 6 for P50, 36 for P90, 72 for P95, 368 for P99, 3,688 for P99.9. `u64::MAX` for q = 0 and q = 1, since no number of values shows
    /// how far a population extends.
    pub fn needed_for_interval(self, confidence: Confidence) -> u64 {
        self.needed_with_tail(confidence.tail())
    }

    /// Like [`needed_for_interval`](Self::needed_for_interval), given the miss probability on each side.
    pub(crate) fn needed_with_tail(self, tail: f64) -> u64 {
        let inside = f64::from(self.0.max(WHOLE - self.0)) / f64::from(WHOLE);
        if inside >= 1.0 { u64::MAX } else { smallest_power_below(inside, tail) }
    }
}

impl fmt::Display for Quantile {
    /// Writes the usual notation: `P99.9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("P{}", percent(self.0)))
    }
}

/// A method to compute a quantile, as defined in the [module](super).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuantileMethod {
    /// The value with rank ⌈q·n⌉: numpy's `inverted_cdf`, SQL's `percentile_disc`.
    #[default]
    NearestRank,
    /// Linear interpolation between two values: numpy's `linear`, SQL's `percentile_cont`.
    Linear,
}

impl QuantileMethod {
    /// The name in machine-readable formats: `nearest-rank`, `linear`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NearestRank => "nearest-rank",
            Self::Linear => "linear",
        }
    }
}

impl fmt::Display for QuantileMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The smallest n with `base`ⁿ ≤ `limit`; both must be in (0, 1).
///
/// Uses repeated squaring, since the last bit of a logarithm or of `powi` differs between machines.
fn smallest_power_below(base: f64, limit: f64) -> u64 {
    let mut squares = vec![base];
    while let Some(&square) = squares.last().filter(|square| **square > limit) {
        squares.push(square * square);
    }
    let (mut largest_above, mut power) = (0, 1.0);
    for (exponent, square) in squares.iter().enumerate().rev() {
        if power * square > limit {
            power *= square;
            largest_above += 1_u64 << exponent;
        }
    }
    largest_above + 1
}

/// The confidence of an interval: the minimum probability that it contains the true value. Default: 95 %.
///
/// In parts per million, above 0 and below 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u32);

impl Confidence {
    /// 95 %.
    pub const PERCENT_95: Self = Self(950_000);

    /// Creates a confidence from parts per million; `None` for 0 and for 1,000,000 or more.
    pub const fn from_parts_per_million(parts: u32) -> Option<Self> {
        if 0 < parts && parts < 1_000_000 { Some(Self(parts)) } else { None }
    }

    /// Parses a percentage such as `95` or `99.9`, above 0 and below 100, with at most four decimals.
    pub fn from_percent(text: &str) -> Option<Self> {
        parts_of_percent(text).and_then(Self::from_parts_per_million)
    }

    /// The parts per million.
    pub const fn parts_per_million(self) -> u32 {
        self.0
    }

    /// The confidence in (0, 1).
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// The miss probability on each side: 0.025 for 95 %.
    pub fn tail(self) -> f64 {
        f64::from(1_000_000 - self.0) / 2e6
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::PERCENT_95
    }
}

impl fmt::Display for Confidence {
    /// Writes a percentage: `95 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} %", percent(self.0)))
    }
}

/// Parses a percentage with at most four decimals to parts per million; `None` for anything else, and above 429 %.
pub(super) fn parts_of_percent(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 4 {
        return None;
    }
    let decimals: u32 = format!("{decimals:0<4}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(10_000)?.checked_add(decimals)
}

/// Formats parts per million as a percentage, without trailing zeros.
pub(super) fn percent(parts: u32) -> String {
    let text = format!("{}.{:04}", parts / 10_000, parts % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_as_people_write_them() {
        let read = |text| Quantile::from_percent(text).map(Quantile::parts_per_million);
        assert_eq!(read("99.9"), Some(999_000));
        assert_eq!(read("p99.9"), Some(999_000));
        assert_eq!(read("P50"), Some(500_000));
        assert_eq!(read("0"), Some(0));
        assert_eq!(read("100"), Some(1_000_000));
        assert_eq!(read("100.0000"), Some(1_000_000));
        assert_eq!(read("99.9999"), Some(999_999));
        assert_eq!(read("0.0001"), Some(1));
        assert_eq!(read("007.5"), Some(75_000));
        for bad in ["", "p", "pp9", "99.99999", "100.0001", "101", "-1", "+1", "1e1", ".5", "5.", "9 9", "99%", "5.+1"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&"9".repeat(50)), None);
    }

    #[test]
    fn names_are_read_back() {
        for (quantile, name) in [(Quantile::P50, "p50"), (Quantile::P999, "p99.9"), (Quantile(1), "p0.0001")] {
            assert_eq!(quantile.name(), name);
            assert_eq!(Quantile::from_percent(name), Some(quantile));
        }
        assert_eq!(format!("{:>6}|{}", Quantile::P999, Quantile(0)), " P99.9|P0");
        assert_eq!(Quantile::P999.fraction(), 0.999);
        assert_eq!(QuantileMethod::default().to_string(), "nearest-rank");
    }

    #[test]
    fn ranks_are_exact_where_doubles_are_not() {
        // As doubles, 0.999 × 1000 and 0.07 × 100 are slightly above the integers.
        assert_eq!(Quantile::P999.nearest_rank(1000), 999);
        assert_eq!(Quantile(70_000).nearest_rank(100), 7);
        assert_eq!(Quantile::P999.nearest_rank(1001), 1000);
        assert_eq!(Quantile::P999.nearest_rank(100), 100);
        assert_eq!(Quantile::P99.nearest_rank(0), 0);
        assert_eq!(Quantile(0).nearest_rank(5), 1);
        assert_eq!(Quantile(1_000_000).nearest_rank(5), 5);
        assert_eq!(Quantile(1_000_000).nearest_rank(u64::MAX), u64::MAX);
        assert_eq!(Quantile::P50.nearest_rank(1), 1);
    }

    #[test]
    fn needed_counts_are_those_of_the_textbook() {
        let needed = |text: &str| Quantile::from_percent(text).unwrap().needed_count();
        assert_eq!(
            ["0", "1", "50", "75", "90", "99", "99.9", "99.7", "100"].map(needed),
            [1, 100, 2, 4, 10, 100, 1000, 334, 1]
        );
        let both = |text: &str| Quantile::from_percent(text).unwrap().needed_for_interval(Confidence::default());
        assert_eq!(
            ["50", "90", "95", "99", "99.9", "1", "0", "100"].map(both),
            [6, 36, 72, 368, 3688, 368, u64::MAX, u64::MAX]
        );
    }
}
