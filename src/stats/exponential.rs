//! Histograms with the exponential buckets of OpenTelemetry: for numbers of every size, merged by adding counts.
//!
//! Bucket i holds values above base^i and at most base^(i + 1), with base = 2^(2^-[`SCALE`]). That is 64 buckets for each power of two,
//! each 1.09 % wider than the one before. Zero has a separate bucket. A quantile is within [`RELATIVE_ERROR`](Self::RELATIVE_ERROR) of the
//! nearest rank of the values.
//!
//! The index of a value is the same on every machine: exponent bits, and a table of where mantissas change buckets. No logarithm is taken,
//! since its last bit differs between machines.

use std::collections::BTreeMap;

use super::Quantile;
use crate::units::Millionths;

const MANTISSA_BITS: u32 = 52;

/// 2^(j/64) · 2^52, rounded down. Only the first is an integer, so a mantissa is above 2^(j/64) exactly if it is above this number.
///
/// Each is a product of the roots 2^(1/2), 2^(1/4) … 2^(1/64) with 63 binary digits, of which 11 more than needed make up for rounding.
const BOUNDARIES: [u64; 1 << ExponentialHistogram::SCALE] = {
    let mut boundaries = [1_u128 << 63; 1 << ExponentialHistogram::SCALE];
    let (mut root, mut step) = (2_u128 << 63, boundaries.len());
    while step > 1 {
        root = (root << 63).isqrt();
        step /= 2;
        let mut index = 0;
        while index < boundaries.len() {
            if index & step != 0 {
                boundaries[index] = (boundaries[index] * root) >> 63;
            }
            index += 1;
        }
    }
    let (mut rounded, mut index) = ([0; 1 << ExponentialHistogram::SCALE], 0);
    while index < rounded.len() {
        rounded[index] = (boundaries[index] >> (63 - MANTISSA_BITS)) as u64;
        index += 1;
    }
    rounded
};

/// base^index.
fn boundary(index: i64) -> f64 {
    let buckets = 1 << ExponentialHistogram::SCALE;
    let mantissa = BOUNDARIES[index.rem_euclid(buckets) as usize] as f64 / power_of_two(MANTISSA_BITS.into());
    mantissa * power_of_two(index.div_euclid(buckets))
}

/// 2^exponent, exactly, infinity and 0 where doubles end.
fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        1024.. => f64::INFINITY,
        -1022..1024 => f64::from_bits(((exponent + 1023) as u64) << MANTISSA_BITS),
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        _ => 0.0,
    }
}

/// A row of a histogram: a bucket that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExponentialBucket {
    /// The index of the bucket; `None` for the bucket of zeros.
    pub index: Option<i32>,
    /// The number of values in it.
    pub count: u64,
    /// The exact sum of the values, in millionths.
    pub sum: u128,
}

/// Counts and sums of values by exponential bucket.
///
/// It has one row for each bucket that is not empty: about 200 for a thousand values, and 400 for a hundred thousand. The order of merging
/// does not change the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExponentialHistogram {
    zeros: u64,
    buckets: BTreeMap<i32, (u64, u128)>,
    range: Option<(Millionths, Millionths)>,
}

impl ExponentialHistogram {
    /// The scale of OpenTelemetry's exponential histograms: 2^6 buckets for each power of two.
    pub const SCALE: i32 = 6;

    /// The largest distance of a value from the middle of its bucket, relative to the value: 2^(1/128) − 1 is 0.543 %.
    pub const RELATIVE_ERROR: f64 = 0.00544;

    /// The bucket of a number above zero; `None` for zero, numbers below it, infinity and NaN.
    ///
    /// Powers of two are the upper bounds of buckets: 1 is in bucket -1, and 2 in bucket 63.
    pub fn bucket_index(value: f64) -> Option<i32> {
        if !(value > 0.0 && value.is_finite()) {
            return None;
        }
        // Scales up subnormal numbers, which have no exponent.
        let (value, shift) = if value < f64::MIN_POSITIVE { (value * power_of_two(54), 54) } else { (value, 0) };
        let bits = value.to_bits();
        let exponent = (bits >> MANTISSA_BITS) as i32 - 1023 - shift;
        let mantissa = (bits & ((1 << MANTISSA_BITS) - 1)) | (1 << MANTISSA_BITS);
        let above = BOUNDARIES.partition_point(|boundary| *boundary < mantissa) as i32;
        Some(exponent * (1 << Self::SCALE) + above - 1)
    }

    /// The lower bound (outside) and the upper bound (inside) of a bucket, rounded down to doubles. The bucket contains the doubles above
    /// the lower bound, up to and including the upper one.
    ///
    /// Beyond the range of doubles, bounds are 0 and infinity. Below 2^-1022, where doubles have fewer digits, bounds are rounded to the
    /// nearest.
    pub fn bucket_bounds(index: i32) -> (f64, f64) {
        (boundary(i64::from(index)), boundary(i64::from(index) + 1))
    }

    /// The geometric middle of a bucket, within [`RELATIVE_ERROR`](Self::RELATIVE_ERROR) of every number in it.
    pub fn bucket_midpoint(index: i32) -> f64 {
        let (lower, upper) = Self::bucket_bounds(index);
        lower.sqrt() * upper.sqrt()
    }

    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// The histogram of these rows (equal buckets are added up), and the smallest and largest value in it.
    ///
    /// Without them quantiles are still within the error, but may lie outside of the values. Rows that count nothing
    /// are left out.
    pub fn from_rows(
        rows: impl IntoIterator<Item = ExponentialBucket>,
        range: Option<(Millionths, Millionths)>,
    ) -> Self {
        let mut histogram = Self { range, ..Self::default() };
        rows.into_iter().for_each(|row| histogram.add(row));
        histogram
    }

    fn add(&mut self, row: ExponentialBucket) {
        match row.index {
            _ if row.count == 0 => {}
            None => self.zeros = self.zeros.saturating_add(row.count),
            Some(index) => {
                let (count, sum) = self.buckets.entry(index).or_default();
                *count = count.saturating_add(row.count);
                *sum = sum.saturating_add(row.sum);
            }
        }
    }

    fn include(&mut self, low: Millionths, high: Millionths) {
        self.range = Some(self.range.map_or((low, high), |(min, max)| (min.min(low), max.max(high))));
    }

    /// Counts a value.
    pub fn record(&mut self, value: Millionths) {
        self.record_n(value, 1);
    }

    /// Counts a value `count` times; 0 times has no effect.
    pub fn record_n(&mut self, value: Millionths, times: u64) {
        if times > 0 {
            let sum = u128::from(value.get()) * u128::from(times);
            self.add(ExponentialBucket { index: Self::bucket_index(value.as_f64()), count: times, sum });
            self.include(value, value);
        }
    }

    /// Adds the values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        other.rows().for_each(|row| self.add(row));
        if let Some((min, max)) = other.range {
            self.include(min, max);
        }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.buckets.values().fold(self.zeros, |sum, (count, _)| sum.saturating_add(*count))
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.zeros == 0 && self.buckets.is_empty()
    }

    /// The number of values that are zero.
    pub const fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The exact sum of all values, in millionths.
    pub fn sum(&self) -> u128 {
        self.buckets.values().fold(0, |all, (_, sum)| all.saturating_add(*sum))
    }

    /// The exact mean of all values, to the nearest millionth, halves up; `None` without values.
    pub fn mean(&self) -> Option<Millionths> {
        Millionths::of_ratio(self.sum(), u128::from(self.count()) * 1_000_000)
    }

    /// The smallest value, exactly; `None` without values, and where rows came without it.
    pub fn min(&self) -> Option<Millionths> {
        self.range.map(|(min, _)| min)
    }

    /// The largest value, exactly; `None` without values, and where rows came without it.
    pub fn max(&self) -> Option<Millionths> {
        self.range.map(|(_, max)| max)
    }

    /// The quantile by nearest rank, within [`RELATIVE_ERROR`](Self::RELATIVE_ERROR): the middle of the bucket that holds the rank, but never
    /// outside of the smallest and the largest value; `None` without values.
    pub fn quantile(&self, quantile: Quantile) -> Option<f64> {
        let rank = quantile.nearest_rank(self.count());
        let mut counted = 0_u64;
        let holds_rank = |row: &ExponentialBucket| {
            counted = counted.saturating_add(row.count);
            counted >= rank
        };
        let middle = self.rows().find(holds_rank)?.index.map_or(0.0, Self::bucket_midpoint);
        Some(self.range.map_or(middle, |(min, max)| middle.max(min.as_f64()).min(max.as_f64())))
    }

    /// The buckets that hold something, zero first, then ascending.
    pub fn rows(&self) -> impl Iterator<Item = ExponentialBucket> {
        let zeros = (self.zeros > 0).then_some(ExponentialBucket { index: None, count: self.zeros, sum: 0 });
        let others = self.buckets.iter().map(|(index, (count, sum))| ExponentialBucket {
            index: Some(*index),
            count: *count,
            sum: *sum,
        });
        zeros.into_iter().chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The square of a number of 32-bit digits, the lowest first.
    fn square(number: &[u32]) -> Vec<u32> {
        let mut product = vec![0_u32; number.len() * 2];
        for (i, left) in number.iter().enumerate() {
            let mut carry = 0;
            for (j, right) in number.iter().enumerate() {
                let sum = u64::from(*left) * u64::from(*right) + u64::from(product[i + j]) + carry;
                product[i + j] = sum as u32;
                carry = sum >> 32;
            }
            product[i + number.len()] = carry as u32;
        }
        product
    }

    /// ⌊log2 of the 64th power⌋, and whether that power is a power of two.
    fn bits_of_power(number: u64) -> (usize, bool) {
        let digits = (0..ExponentialHistogram::SCALE)
            .fold(vec![number as u32, (number >> 32) as u32], |number, _| square(&number));
        let top = digits.iter().rposition(|digit| *digit > 0).unwrap();
        let ones: u32 = digits.iter().map(|digit| digit.count_ones()).sum();
        (top * 32 + digits[top].ilog2() as usize, ones == 1)
    }

    #[test]
    fn boundaries_are_roots_rounded_down() {
        // b ≤ 2^52 · 2^(j/64) < b + 1, to the power of 64.
        for (j, boundary) in BOUNDARIES.into_iter().enumerate() {
            let wanted = 52 * 64 + j;
            assert_eq!(bits_of_power(boundary).1, j == 0);
            assert!(bits_of_power(boundary).0 < wanted || j == 0, "{j}");
            assert!(bits_of_power(boundary + 1).0 >= wanted && !bits_of_power(boundary + 1).1, "{j}");
        }
    }

    #[test]
    fn powers_of_two_are_upper_bounds() {
        for exponent in -1074..1024 {
            let power = power_of_two(exponent);
            let index = exponent as i32 * 64 - 1;
            assert_eq!(ExponentialHistogram::bucket_index(power), Some(index), "2^{exponent}");
            assert_eq!(ExponentialHistogram::bucket_bounds(index).1, power);
            if exponent > -1022 {
                assert_eq!(ExponentialHistogram::bucket_index(power.next_up()), Some(index + 1), "above 2^{exponent}");
            }
        }
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(ExponentialHistogram::bucket_index(bad), None, "{bad}");
        }
        assert_eq!(ExponentialHistogram::bucket_index(f64::MAX), Some(65_535));
        assert_eq!(ExponentialHistogram::bucket_bounds(i32::MAX), (f64::INFINITY, f64::INFINITY));
        assert_eq!(ExponentialHistogram::bucket_bounds(i32::MIN), (0.0, 0.0));
    }

    #[test]
    fn bounds_hold_the_doubles_of_their_bucket() {
        for index in -64_000..65_535 {
            let (lower, upper) = ExponentialHistogram::bucket_bounds(index);
            assert_eq!(
                (ExponentialHistogram::bucket_index(lower), ExponentialHistogram::bucket_index(lower.next_up())),
                (Some(index - 1), Some(index))
            );
            assert_eq!(
                (ExponentialHistogram::bucket_index(upper), ExponentialHistogram::bucket_index(upper.next_up())),
                (Some(index), Some(index + 1))
            );
            let middle = ExponentialHistogram::bucket_midpoint(index);
            assert!(
                (middle - lower).abs() <= ExponentialHistogram::RELATIVE_ERROR * lower
                    && (upper - middle) <= ExponentialHistogram::RELATIVE_ERROR * upper
            );
        }
    }

    #[test]
    fn counts_stop_at_the_largest_number() {
        let mut histogram = ExponentialHistogram::new();
        histogram.record_n(Millionths::new(u64::MAX), u64::MAX);
        histogram.record_n(Millionths::new(u64::MAX), u64::MAX);
        histogram.record_n(Millionths::default(), u64::MAX);
        assert_eq!((histogram.count(), histogram.zeros()), (u64::MAX, u64::MAX));
        assert!(histogram.quantile(Quantile::P99).is_some());
    }
}
