//! Exact comparison of strings that are decimal numbers, such as `9.5`, `-120.0` and `1e-05`.

use std::cmp::Ordering;

/// The value of a decimal string, as 0.d₁d₂… × 10^exponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    exponent: i64,
    /// Without leading or trailing zeros; empty for 0.
    digits: String,
}

impl Decimal {
    /// Parses a string; `None` if it is not a decimal number.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (is_negative, magnitude) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?.into()),
            None => (magnitude, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let all = [whole, fraction].concat();
        let digits = all.trim_start_matches('0');
        let exponent = whole.len() as i64 - (all.len() - digits.len()) as i64 + exponent;
        let digits = digits.trim_end_matches('0').to_owned();
        let is_zero = digits.is_empty();
        Some(Self { is_negative: is_negative && !is_zero, exponent: if is_zero { i64::MIN } else { exponent }, digits })
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let magnitude = || self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        match (self.is_negative, other.is_negative) {
            (false, false) => magnitude(),
            (true, true) => magnitude().reverse(),
            (is_negative, _) => {
                if is_negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two strings. Numbers are compared by value and come first; other strings are compared by characters.
pub(super) fn compare_texts(left: &str, right: &str) -> Ordering {
    match (Decimal::of(left), Decimal::of(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_have_the_order_of_their_values() {
        let ascending = [
            "-9223372036854775809",
            "-9223372036854775808",
            "-10.2",
            "-9.5",
            "-1e-05",
            "0",
            "1e-05",
            "0.5",
            "9.5",
            "10.2",
            "60.0",
            "1.2e2",
            "9223372036854775807.1",
            "9223372036854775808",
            "1e30",
            "",
            "+1",
            ".5",
            "1.",
            "inf",
            "nan",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(compare_texts(left, right), at.cmp(&other), "{left} {right}");
            }
        }
        for (left, right) in [("60", "60.00"), ("-0", "0.0"), ("007", "7e0"), ("0.00125", "1.25E-3")] {
            assert_eq!(compare_texts(left, right), Ordering::Equal, "{left} {right}");
        }
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_doubles(left in -1e12..1e12_f64, right in -1e12..1e12_f64) {
            let expected = left.partial_cmp(&right).unwrap();
            prop_assert_eq!(compare_texts(&left.to_string(), &format!("{right:e}")), expected);
        }
    }
}
