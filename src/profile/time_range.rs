//! A part of the time axis.

use std::fmt;
use std::str::FromStr;

use crate::units::Nanos;

/// A range of time since the start of the recording. Includes `start` and excludes `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// The start (inclusive).
    pub start: Nanos,
    /// The end (exclusive); `None` for the end of the recording.
    pub end: Option<Nanos>,
}

impl TimeRange {
    /// True if a time is in the range.
    #[inline]
    pub fn contains(&self, time: Nanos) -> bool {
        time >= self.start && self.end.is_none_or(|end| time < end)
    }
}

/// Parses `START..END`; either side may be empty.
impl FromStr for TimeRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (start, end) = text.split_once("..").ok_or("not a range START..END, such as 1.5s..2s")?;
        let start = if start.is_empty() { Nanos::default() } else { start.parse()? };
        let end: Option<Nanos> = if end.is_empty() { None } else { Some(end.parse()?) };
        match end {
            Some(end) if end < start => Err("the range ends before it starts".to_owned()),
            Some(end) if end == start => Err("the range is empty: its END is not included".to_owned()),
            _ => Ok(Self { start, end }),
        }
    }
}

/// Writes the exact range in seconds, in a form that can be parsed: `1.5s..2s`.
impl fmt::Display for TimeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: Nanos| {
            let (whole, rest) = (time.as_nanos() / 1_000_000_000, time.as_nanos() % 1_000_000_000);
            let text = format!("{whole}.{rest:09}");
            format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
        };
        write!(f, "{}..{}", seconds(self.start), self.end.map(seconds).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_may_be_open() {
        assert_eq!("1..".parse::<TimeRange>().unwrap().end, None);
        assert_eq!("..1".parse::<TimeRange>().unwrap().start, Nanos::default());
        for (text, shown) in [("1..", "1s.."), ("..00:01.250", "0s..1.25s"), ("10..7000000007ns", "")] {
            let Ok(range) = text.parse::<TimeRange>() else { continue };
            assert_eq!(range.to_string(), shown);
            assert_eq!(shown.parse(), Ok(range));
        }
        assert!("2..1".parse::<TimeRange>().is_err());
        assert!("1".parse::<TimeRange>().is_err());
    }
}
