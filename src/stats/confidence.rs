//! The confidence of intervals.

use std::fmt;

/// The least share of all intervals that contain the true value; 95 % by default.
///
/// In parts per million, above 0 and below 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u32);

impl Confidence {
    /// 95 %.
    pub const PERCENT_95: Self = Self(950_000);

    /// A confidence in parts per million; `None` for 0 and for 1,000,000 or more.
    pub const fn from_parts_per_million(parts: u32) -> Option<Self> {
        if 0 < parts && parts < 1_000_000 { Some(Self(parts)) } else { None }
    }

    /// Reads a percentage such as `95` or `99.9`, above 0 and below 100, with at most four decimals.
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

    /// The probability of a miss on each side: 0.025 with 95 %.
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
    /// As a percentage: `95 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} %", percent(self.0)))
    }
}

/// A percentage with at most four decimals, in parts per million; `None` for anything else, and above 429 %.
pub(super) fn parts_of_percent(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 4 {
        return None;
    }
    let decimals: u32 = format!("{decimals:0<4}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(10_000)?.checked_add(decimals)
}

/// Parts per million as a percentage, without zeros at the end.
pub(super) fn percent(parts: u32) -> String {
    let text = format!("{}.{:04}", parts / 10_000, parts % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
