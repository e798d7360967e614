//! Times, weights and percentages as people type them.

use traceparse::profile::TimeRange;
use traceparse::units::{Nanos, decimal};

/// Reads `START..END`; either side may be empty.
pub(crate) fn parse_range(text: &str) -> Result<TimeRange, String> {
    let (start, end) = text.split_once("..").ok_or("not a range START..END, such as 1.5s..2s")?;
    let start = if start.is_empty() { Nanos::default() } else { parse_time(start)? };
    let end = if end.is_empty() { None } else { Some(parse_time(end)?) };
    match end {
        Some(end) if end < start => Err("the range ends before it starts".to_owned()),
        Some(end) if end == start => Err("the range is empty: its END does not count".to_owned()),
        _ => Ok(TimeRange { start, end }),
    }
}

/// Reads `1.5s`, `200ms`, `3us`, `7ns`, `2` (seconds), or `MM:SS.mmm.uuu` as Instruments shows it.
pub(crate) fn parse_time(text: &str) -> Result<Nanos, String> {
    let bad = || format!("{text:?} is not a time, such as 1.5s, 200ms or 00:01.250");
    if let Some((minutes, seconds)) = text.split_once(':') {
        let minutes: u64 = minutes.parse().map_err(|_| bad())?;
        let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
        let seconds = decimal(whole, &fraction.replace('.', ""), 1_000_000_000).ok_or_else(bad)?;
        let nanos = minutes.checked_mul(60_000_000_000).and_then(|minutes| minutes.checked_add(seconds));
        return nanos.map(Nanos::from_nanos).ok_or_else(bad);
    }
    let units = [("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let unit = units.iter().find_map(|&(unit, nanos)| text.strip_suffix(unit).map(|number| (number, nanos)));
    let (number, nanos) = unit.unwrap_or((text, 1_000_000_000));
    let number = number.trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    decimal(whole, fraction, nanos).map(Nanos::from_nanos).ok_or_else(bad)
}

/// A range as [`parse_range`] reads it, in seconds, exactly: `1.5s..2s`.
pub(crate) fn range_text(range: TimeRange) -> String {
    let seconds = |time: Nanos| {
        let (whole, rest) = (time.as_nanos() / 1_000_000_000, time.as_nanos() % 1_000_000_000);
        let text = format!("{whole}.{rest:09}");
        format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
    };
    format!("{}..{}", seconds(range.start), range.end.map(seconds).unwrap_or_default())
}

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
    parse_time(text).map(WeightLimit::Time).map_err(|_| format!("{text:?} is not a weight, such as 5ms, 20000 or 1.5M"))
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
    fn times_are_exact() {
        for (text, nanos) in [
            ("1.5s", 1_500_000_000),
            ("2", 2_000_000_000),
            ("200ms", 200_000_000),
            ("0.25 ms", 250_000),
            ("3us", 3_000),
            ("3µs", 3_000),
            ("7ns", 7),
            ("0.1234567891", 123_456_789),
            ("00:01.250", 1_250_000_000),
            ("02:00.001.002", 120_001_002_000),
        ] {
            assert_eq!(parse_time(text), Ok(Nanos::from_nanos(nanos)), "{text}");
        }
        for bad in ["", "s", "-1", "1e3", "1.2.3", "a:b", ":", "99999999999999999999"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges_may_be_open() {
        assert_eq!(parse_range("1..").unwrap().end, None);
        assert_eq!(parse_range("..1").unwrap().start, Nanos::default());
        for (text, shown) in [("1..", "1s.."), ("..00:01.250", "0s..1.25s"), ("10..7000000007ns", "")] {
            let Ok(range) = parse_range(text) else { continue };
            assert_eq!(range_text(range), shown);
            assert_eq!(parse_range(shown), Ok(range));
        }
        assert!(parse_range("2..1").is_err());
        assert!(parse_range("1").is_err());
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
