//! Weights and percentages as people type them.

use traceparse::units::{Nanos, decimal};

/// A weight: a time, or a number in the unit of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightLimit {
    Time(Nanos),
    /// Cycles, events, samples, or nanoseconds: in the unit of the table.
    Plain(u64),
}

impl WeightLimit {
    /// The number, in its unit.
    pub(crate) fn value(self) -> u64 {
        match self {
            Self::Time(time) => time.as_nanos(),
            Self::Plain(number) => number,
        }
    }
}

/// Reads `5ms`, or `20000`, `20k`, `1.5M`, `2G` in the unit of the table.
pub(crate) fn parse_weight(text: &str) -> Result<WeightLimit, String> {
    let factors = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("", 1)];
    let factor = factors.iter().find_map(|&(end, factor)| text.strip_suffix(end).map(|number| (number, factor)));
    let (number, factor) = factor.unwrap_or((text, 1));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if let Some(number) = decimal(whole, fraction, factor) {
        return Ok(WeightLimit::Plain(number));
    }
    text.parse()
        .map(WeightLimit::Time)
        .map_err(|_: String| format!("{text:?} is not a weight, such as 5ms, 20000 or 1.5M"))
}

/// A percentage, with or without its sign.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.trim_end_matches('%').parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=100.0).contains(&percent) { Ok(percent) } else { Err("not between 0 and 100".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_times_or_numbers() {
        assert_eq!(parse_weight("5ms"), Ok(WeightLimit::Time(Nanos::from_nanos(5_000_000))));
        assert_eq!(parse_weight("1.5M"), Ok(WeightLimit::Plain(1_500_000)));
        assert_eq!(parse_weight("20000"), Ok(WeightLimit::Plain(20_000)));
        assert!(["", "ms", "x", "-1", "1.5Mc"].iter().all(|text| parse_weight(text).is_err()));
    }

    #[test]
    fn percentages_are_between_0_and_100() {
        assert_eq!(parse_percent("0.5"), Ok(0.5));
        assert_eq!(parse_percent("5%"), Ok(5.0));
        for bad in ["-1", "101", "NaN", "x"] {
            assert!(parse_percent(bad).is_err(), "{bad}");
        }
    }
}
