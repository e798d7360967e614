//! What a rule measures.

use crate::units::Unit;

/// The number that a rule measures for each recording or run, or for each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AlertMeasure {
    /// CPU use, or the quantity that reports from the field state.
    Cpu,
    /// The weight of samples whose leaf is the subject.
    SelfWeight,
    /// The weight of samples whose stack contains the subject.
    AllWeight,
    /// The busiest window of this many seconds.
    Window(u32),
    /// The CPU time of the complete recording, in milliseconds.
    CpuTime,
    /// The recorded time, in milliseconds.
    Elapsed,
    /// The duration of an interval, in nanoseconds.
    Duration,
}

/// The words for measures, and the unit of their limits if it is always the same.
const WORDS: [(&str, AlertMeasure, Option<Unit>); 11] = [
    ("cpu", AlertMeasure::Cpu, None),
    ("self", AlertMeasure::SelfWeight, None),
    ("all", AlertMeasure::AllWeight, None),
    ("cpu-time", AlertMeasure::CpuTime, Some(Unit::Nanoseconds)),
    ("elapsed", AlertMeasure::Elapsed, Some(Unit::Nanoseconds)),
    ("hang", AlertMeasure::Cpu, Some(Unit::HangTime)),
    ("launch", AlertMeasure::Cpu, Some(Unit::LaunchTime)),
    ("exception", AlertMeasure::Cpu, Some(Unit::ExceptionTime)),
    ("writes", AlertMeasure::Cpu, Some(Unit::WrittenBytes)),
    ("memory", AlertMeasure::Cpu, Some(Unit::PeakBytes)),
    ("exits", AlertMeasure::Cpu, Some(Unit::Exits)),
];

impl AlertMeasure {
    /// Parses a word as a measure. Also returns the unit of its limits, if that is fixed.
    pub(super) fn parse(word: &str) -> Option<(Self, Option<Unit>)> {
        let (_, measure, unit) = WORDS.into_iter().find(|(name, ..)| *name == word)?;
        Some((measure, unit))
    }

    /// The word for a measure of runs in this unit: `cpu`, `hang`, `memory`.
    #[cfg(feature = "fleet")]
    pub(crate) fn name(self, unit: Unit) -> &'static str {
        let of = |wanted: Option<Unit>| {
            WORDS.into_iter().find(|(_, measure, unit)| *measure == self && *unit == wanted).map(|(name, ..)| name)
        };
        of(Some(unit)).or_else(|| of(None)).unwrap_or(match self {
            Self::Window(_) => "window",
            _ => "duration",
        })
    }

    /// True if the values are milliseconds, regardless of the unit of the runs.
    #[cfg(feature = "fleet")]
    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::CpuTime | Self::Elapsed)
    }
}
