//! A part of the time axis.

use crate::units::Nanos;

/// A range of time, counted from the start of the recording: from `start` on, up to but without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// The first time that counts.
    pub start: Nanos,
    /// The first time that does not count any more; `None` is the end of the recording.
    pub end: Option<Nanos>,
}

impl TimeRange {
    /// True if a time is in the range.
    #[inline]
    pub fn contains(&self, time: Nanos) -> bool {
        time >= self.start && self.end.is_none_or(|end| time < end)
    }
}
