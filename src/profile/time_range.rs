//! A part of the time axis.

use crate::units::Nanos;

/// A range of time since the start of the recording, including `start` and excluding `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// The start, which is in the range.
    pub start: Nanos,
    /// The end, which is not in the range; `None` for the end of the recording.
    pub end: Option<Nanos>,
}

impl TimeRange {
    /// True if a time is in the range.
    #[inline]
    pub fn contains(&self, time: Nanos) -> bool {
        time >= self.start && self.end.is_none_or(|end| time < end)
    }
}
