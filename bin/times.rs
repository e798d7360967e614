//! Times as people type them.

use traceparse::profile::TimeRange;
use traceparse::units::Nanos;

/// Reads `START..END`; either side may be empty.
pub(crate) fn parse_range(text: &str) -> Result<TimeRange, String> {
    let (start, end) = text.split_once("..").ok_or("a range is START..END, such as 1.5s..2s")?;
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

/// `whole.fraction` × `unit`, exactly; digits below one nanosecond are dropped.
pub(crate) fn decimal(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let mut nanos = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.bytes() {
        place /= 10;
        nanos = nanos.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(parse_range("2..1").is_err());
        assert!(parse_range("1").is_err());
    }
}
