//! Measures, stored as integers.

use std::fmt;

/// A number in millionths: a measure such as `1.98` % CPU, stored as an integer.
///
/// A sum of integers is the same in any order, so a mean over a fleet does not depend on the core, machine or SQL engine that adds it up.
/// `1.98` is `Millionths::new(1_980_000)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millionths(u64);

impl Millionths {
    /// The sum, or the largest value if the sum is larger.
    #[cfg(feature = "fleet")]
    pub(crate) const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The number 1.
    pub const ONE: Self = Self(1_000_000);

    /// Creates a number from millionths.
    pub const fn new(millionths: u64) -> Self {
        Self(millionths)
    }

    /// Returns the number of millionths.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the nearest value to `numerator / denominator`, with halves rounded up. `None` if the denominator is 0 or the quotient is
    /// too large.
    pub fn of_ratio(numerator: u128, denominator: u128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let (whole, rest) = (numerator / denominator, numerator % denominator);
        // Drops insignificant bits of denominators above 106 bits, which would overflow when multiplied.
        let shift = (128 - denominator.leading_zeros()).saturating_sub(106);
        let (rest, denominator) = (rest >> shift, (denominator >> shift).max(1));
        let fraction = (rest * 2_000_000 + denominator) / (2 * denominator);
        let millionths = whole.checked_mul(1_000_000)?.checked_add(fraction)?;
        u64::try_from(millionths).ok().map(Self)
    }

    /// Returns the nearest double.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the nearest value to a number, with halves rounded away from zero. `None` if the number is negative, too large or NaN.
    pub fn from_f64(number: f64) -> Option<Self> {
        let millionths = (number * 1e6).round();
        (0.0..1.8e19).contains(&millionths).then_some(Self(millionths as u64))
    }
}

impl fmt::Display for Millionths {
    /// Formats the exact decimal without trailing zeros: `1.98`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}
