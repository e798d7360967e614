//! Histograms with exponential buckets, like OpenTelemetry's, for numbers of any magnitude.
//!
//! Bucket i contains values above base^i and at most base^(i + 1), with base = 2^(2^-[`SCALE`]). Each power of two has 64 buckets, each 1.09 %
//! wider than the previous one. Zero has a separate bucket. A quantile is within [`RELATIVE_ERROR`](Self::RELATIVE_ERROR) of the values'
//! nearest-rank quantile.
//!
//! The bucket of a value is the same on every machine: it follows from the exponent bits and a table of the mantissas at which buckets change. No
//! logarithm is computed, since its last bit differs between machines.

use std::collections::BTreeMap;

use super::Quantile;
use crate::units::Millionths;

const MANTISSA_BITS: u32 = 52;

/// 2^(j/64) · 2^52, rounded down. Only the first one is an integer, so a mantissa is above 2^(j/64) exactly if it is above this number.
///
/// Each is a product of the roots 2^(1/2), 2^(1/4) … 2^(1/64), computed with 63 binary digits, which is 11 more than needed, to absorb rounding.
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

/// The lower bound of a bucket: base^index.
fn boundary(index: i64) -> f64 {
    let buckets = 1 << ExponentialHistogram::SCALE;
    let mantissa = BOUNDARIES[index.rem_euclid(buckets) as usize] as f64 / power_of_two(MANTISSA_BITS.into());
    mantissa * power_of_two(index.div_euclid(buckets))
}

/// 2^exponent, exactly. Infinity and 0 beyond the range of doubles.
fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        1024.. => f64::INFINITY,
        -1022..1024 => f64::from_bits(((exponent + 1023) as u64) << MANTISSA_BITS),
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        _ => 0.0,
    }
}

/// Counts values in exponential buckets, and keeps their exact sum and range.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExponentialHistogram {
    zeros: u64,
    buckets: BTreeMap<i32, u64>,
    /// In millionths.
    sum: u128,
    range: Option<(Millionths, Millionths)>,
}

impl ExponentialHistogram {
    /// The scale of OpenTelemetry's exponential histograms: 2^6 buckets per power of two.
    const SCALE: i32 = 6;

    /// The maximum distance of a value from the middle of its bucket, relative to the value: 2^(1/128) − 1 = 0.543 %.
    pub(crate) const RELATIVE_ERROR: f64 = 0.00544;

    /// The bucket of a positive number; `None` for zero, negative numbers, infinity and NaN.
    ///
    /// Powers of two are upper bounds: 1 is in bucket -1, and 2 in bucket 63.
    fn bucket_index(value: f64) -> Option<i32> {
        if !(value > 0.0 && value.is_finite()) {
            return None;
        }
        // Subnormal numbers have no exponent, so scale them up.
        let (value, shift) = if value < f64::MIN_POSITIVE { (value * power_of_two(54), 54) } else { (value, 0) };
        let bits = value.to_bits();
        let exponent = (bits >> MANTISSA_BITS) as i32 - 1023 - shift;
        let mantissa = (bits & ((1 << MANTISSA_BITS) - 1)) | (1 << MANTISSA_BITS);
        let above = BOUNDARIES.partition_point(|boundary| *boundary < mantissa) as i32;
        Some(exponent * (1 << Self::SCALE) + above - 1)
    }

    /// The lower (exclusive) and upper (inclusive) bound of a bucket, rounded down to doubles.
    ///
    /// Beyond the range of doubles, bounds are 0 or infinity. Below 2^-1022, where doubles have fewer digits, bounds are rounded to the nearest.
    fn bucket_bounds(index: i32) -> (f64, f64) {
        (boundary(i64::from(index)), boundary(i64::from(index) + 1))
    }

    /// The geometric middle of a bucket, which is within [`RELATIVE_ERROR`](Self::RELATIVE_ERROR) of every number in it.
    fn bucket_midpoint(index: i32) -> f64 {
        let (lower, upper) = Self::bucket_bounds(index);
        lower.sqrt() * upper.sqrt()
    }

    /// Counts a value.
    pub(crate) fn record(&mut self, value: Millionths) {
        self.record_n(value, 1);
    }

    /// Counts a value `times` times; 0 has no effect.
    pub(crate) fn record_n(&mut self, value: Millionths, times: u64) {
        if times == 0 {
            return;
        }
        let count = match Self::bucket_index(value.as_f64()) {
            Some(index) => self.buckets.entry(index).or_default(),
            None => &mut self.zeros,
        };
        *count = count.saturating_add(times);
        self.sum = self.sum.saturating_add(u128::from(value.get()) * u128::from(times));
        self.range = Some(self.range.map_or((value, value), |(min, max)| (min.min(value), max.max(value))));
    }

    /// The number of values.
    pub(crate) fn count(&self) -> u64 {
        self.buckets.values().fold(self.zeros, |sum, count| sum.saturating_add(*count))
    }

    /// The number of values that are zero.
    pub(crate) const fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The exact mean of all values, rounded to the nearest millionth, halves up; `None` without values.
    pub(crate) fn mean(&self) -> Option<Millionths> {
        Millionths::of_ratio(self.sum, u128::from(self.count()) * 1_000_000)
    }

    /// The exact smallest and largest value; `None` without values.
    pub(crate) const fn range(&self) -> Option<(Millionths, Millionths)> {
        self.range
    }

    /// The nearest-rank quantile, within [`RELATIVE_ERROR`](Self::RELATIVE_ERROR): the middle of the bucket with this rank, clamped to the
    /// smallest and largest value. `None` without values.
    pub(crate) fn quantile(&self, quantile: Quantile) -> Option<f64> {
        let (min, max) = self.range?;
        let (rank, mut counted) = (quantile.nearest_rank(self.count()), self.zeros);
        if rank <= counted {
            return Some(0.0);
        }
        let holds_rank = |(_, count): &(&i32, &u64)| {
            counted = counted.saturating_add(**count);
            counted >= rank
        };
        let (index, _) = self.buckets.iter().find(holds_rank)?;
        Some(Self::bucket_midpoint(*index).max(min.as_f64()).min(max.as_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Distribution;

    /// The square of a number with 32-bit digits, lowest first.
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

    /// ⌊log2⌋ of the 64th power, and true if that power is a power of two.
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
    fn quantiles_are_within_the_error() {
        let values: Vec<Millionths> = (0..5_000_u64).map(|n| Millionths::new(n.pow(3) % 1_000_003 * (n % 7))).collect();
        let mut histogram = ExponentialHistogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        histogram.record_n(Millionths::ONE, 0);
        let exact = Distribution::new(values, 0);
        for parts in (0..=1_000_000).step_by(500) {
            let quantile = Quantile::from_parts_per_million(parts).unwrap();
            let value = exact.nearest(quantile).unwrap().as_f64();
            let error = (histogram.quantile(quantile).unwrap() - value).abs();
            assert!(error <= ExponentialHistogram::RELATIVE_ERROR * value, "{quantile}: {error} of {value}");
        }
        assert_eq!(
            (histogram.count(), histogram.zeros(), histogram.mean()),
            (exact.count(), exact.zeros(), exact.mean())
        );
        assert_eq!(histogram.range(), exact.min().zip(exact.max()));
        assert_eq!(ExponentialHistogram::default().quantile(Quantile::P50), None);
    }

    #[test]
    fn counts_stop_at_the_largest_number() {
        let mut histogram = ExponentialHistogram::default();
        histogram.record_n(Millionths::new(u64::MAX), u64::MAX);
        histogram.record_n(Millionths::new(u64::MAX), u64::MAX);
        histogram.record_n(Millionths::default(), u64::MAX);
        assert_eq!((histogram.count(), histogram.zeros()), (u64::MAX, u64::MAX));
        assert!(histogram.quantile(Quantile::P99).is_some());
    }
}
