//! The units of weights.

use std::fmt;

use super::Scale;

/// The unit of a weight. Weights in different units are never added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Nanoseconds of CPU time (`time-profile`, and `counters-profile` with a time trigger).
    Nanoseconds,
    /// CPU cycles (`cpu-profile`). They cannot be converted to time, since exports do not contain the frequency.
    Cycles,
    /// Events of a performance counter (`counters-profile` with a counter as trigger).
    PmcEvents,
    /// Samples: each row of a table without weights (`time-sample`) has the weight 1.
    Samples,
    /// Nanoseconds of elapsed time, such as the duration of a system call or a hang. This is not CPU time.
    Elapsed,
    /// Bytes, for example of allocations.
    Bytes,
    /// Nanoseconds that the main thread hung, according to a diagnostic. This unit and all units below are for reports from the field: each kind
    /// of report has its own unit, and no two of them are ever added.
    HangTime,
    /// Nanoseconds that a launch took, according to a diagnostic.
    LaunchTime,
    /// Nanoseconds of CPU time until the system wrote a diagnostic about it.
    ExceptionTime,
    /// Bytes written to storage until the system wrote a diagnostic about it.
    WrittenBytes,
    /// Nanoseconds of CPU time in a day. The recorded time of that day is the time that the app ran.
    DayTime,
    /// Nanoseconds by which frames were late per second of scrolling, over a day.
    HitchTime,
    /// The peak memory of an app in a day, in bytes.
    PeakBytes,
    /// The number of times that an app exited in a day, except normally.
    Exits,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 14] = [
        Self::Nanoseconds,
        Self::Cycles,
        Self::PmcEvents,
        Self::Samples,
        Self::Elapsed,
        Self::Bytes,
        Self::HangTime,
        Self::LaunchTime,
        Self::ExceptionTime,
        Self::WrittenBytes,
        Self::DayTime,
        Self::HitchTime,
        Self::PeakBytes,
        Self::Exits,
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Returns the name in machine-readable formats: `ns`, `cycles`, `events`, `samples`, `elapsed_ns`, `bytes`, and for reports from the
    /// field `hang_ns`, `launch_ns`, `exception_ns`, `written_bytes`, `day_ns`, `hitch_ns`, `peak_bytes`, `exits`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Cycles => "cycles",
            Self::PmcEvents => "events",
            Self::Samples => "samples",
            Self::Elapsed => "elapsed_ns",
            Self::Bytes => "bytes",
            Self::HangTime => "hang_ns",
            Self::LaunchTime => "launch_ns",
            Self::ExceptionTime => "exception_ns",
            Self::WrittenBytes => "written_bytes",
            Self::DayTime => "day_ns",
            Self::HitchTime => "hitch_ns",
            Self::PeakBytes => "peak_bytes",
            Self::Exits => "exits",
        }
    }

    /// Returns the units in which weights are displayed, smallest first, each with its size in the smallest unit: `ns` 1, `µs` 1,000 …
    pub fn scales(self) -> impl Iterator<Item = (u64, String)> {
        Scale::all(self).map(|scale| (scale.factor(), scale.to_string()))
    }

    /// True for units of reports from the field, which record the total weight of all their samples. Measures are then millionths of weights,
    /// except for [`Exits`](Self::Exits).
    pub const fn is_of_reports(self) -> bool {
        match self {
            Self::HangTime
            | Self::LaunchTime
            | Self::ExceptionTime
            | Self::WrittenBytes
            | Self::DayTime
            | Self::HitchTime
            | Self::PeakBytes
            | Self::Exits => true,
            Self::Nanoseconds | Self::Cycles | Self::PmcEvents | Self::Samples | Self::Elapsed | Self::Bytes => false,
        }
    }

    /// True for daily sums, which have no stacks.
    #[cfg(feature = "fleet")]
    pub(crate) const fn is_of_metrics(self) -> bool {
        matches!(self, Self::DayTime | Self::HitchTime | Self::PeakBytes | Self::Exits)
    }

    /// True for nanoseconds of any kind.
    pub(crate) const fn is_time(self) -> bool {
        match self {
            Self::Nanoseconds | Self::Elapsed => true,
            Self::Cycles
            | Self::PmcEvents
            | Self::Samples
            | Self::Bytes
            | Self::WrittenBytes
            | Self::PeakBytes
            | Self::Exits => false,
            Self::HangTime | Self::LaunchTime | Self::ExceptionTime | Self::DayTime | Self::HitchTime => true,
        }
    }

    /// Returns the displayed unit of a weight per time (`% of one core`, `cycles/s`, `events/s`, `samples/s`, `elapsed ns/s`, `bytes/s`) or of
    /// a weight per report (`ms/hang`, `ms/launch`, `ms/exception`, `MB/report`, and for metrics `ms/s`, `MB/day`, `exits/day`).
    pub const fn rate_name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "% of one core",
            Self::Cycles => "cycles/s",
            Self::PmcEvents => "events/s",
            Self::Samples => "samples/s",
            Self::Elapsed => "elapsed ns/s",
            Self::Bytes => "bytes/s",
            Self::HangTime => "ms/hang",
            Self::LaunchTime => "ms/launch",
            Self::ExceptionTime => "ms/exception",
            Self::WrittenBytes => "MB/report",
            Self::DayTime | Self::HitchTime => "ms/s",
            Self::PeakBytes => "MB/day",
            Self::Exits => "exits/day",
        }
    }

    /// Returns the factor that converts a weight per nanosecond to [`rate_name`](Self::rate_name). A report is treated as one second, so the
    /// measures of reports are millionths of their weights.
    #[cfg(feature = "fleet")]
    pub(crate) const fn rate_per_nano(self) -> u128 {
        match self {
            Self::Nanoseconds => 100,
            unit if unit.is_of_reports() && !matches!(unit, Self::Exits) => 1_000,
            _ => 1_000_000_000,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
