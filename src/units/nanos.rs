//! Times and durations.

use std::str::FromStr;

use super::Unit;
use super::scale::{decimal, times, written_amount};

/// A point in time or a duration in nanoseconds. Times of samples are relative to the start of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

impl Nanos {
    /// Creates a time from nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates a time from milliseconds; saturates at the largest time.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the number of nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Adds a length; saturates at the largest time.
    pub const fn saturating_add(self, length: Self) -> Self {
        Self(self.0.saturating_add(length.0))
    }

    /// The sum of lengths. `None` if it exceeds 64 bits.
    #[cfg(feature = "fleet")]
    pub(crate) fn sum(lengths: impl IntoIterator<Item = Self>) -> Option<Self> {
        lengths.into_iter().try_fold(0, |sum: u64, length| sum.checked_add(length.0)).map(Self)
    }
}

/// Parses `1.5s`, `200ms`, `3us`, `7ns`, `2` (seconds), or `MM:SS.mmm.uuu` as Instruments displays it.
impl FromStr for Nanos {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a time, such as 1.5s, 200ms or 00:01.250");
        if let Some((minutes, seconds)) = text.split_once(':') {
            let minutes: u64 = minutes.parse().map_err(|_| bad())?;
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            let seconds = decimal(whole, &fraction.replace('.', ""), 1_000_000_000).ok_or_else(bad)?;
            let nanos = minutes.checked_mul(60_000_000_000).and_then(|minutes| minutes.checked_add(seconds));
            return nanos.map(Self).ok_or_else(bad);
        }
        let is_number = text.ends_with(|c: char| c.is_ascii_digit());
        let written =
            || written_amount(text).filter(|weight| weight.unit == Unit::Nanoseconds).map(|weight| weight.value);
        let nanos = if is_number { times(text, 1_000_000_000) } else { written() };
        nanos.map(Self).ok_or_else(bad)
    }
}
