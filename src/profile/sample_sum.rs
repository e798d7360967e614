//! Sums of samples that differ only in time and core, and the time range covered by samples, which is a lower bound for an unknown recorded time.

use super::model::{Sample, SampleKind, SeriesId, StackId, StringId, ThreadId};
use crate::units::{Nanos, Unit};

/// The sum of samples with the same table, thread, stack, thread state and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSum {
    /// The series that contains them.
    pub series: SeriesId,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// The stack; `None` if it was not recorded, in which case the weight is still valid.
    pub stack: Option<StackId>,
    /// The thread's state (`Running`, `Blocked` …), if it was recorded.
    pub state: Option<StringId>,
    /// How the samples were triggered.
    pub kind: SampleKind,
    /// The sum of the weights, in the unit of the series.
    pub weight: u64,
    /// The number of samples; at least 1.
    pub samples: u64,
    /// The time range of all samples with this table, thread, state and kind, since the start of the recording. It includes other stacks, since
    /// times are not kept by stack. `None` if the series [has no times](super::Series::has_times).
    ///
    /// Its end is computed as if weights were nanoseconds; [`SampledTime::of_sum`] corrects that for the unit.
    pub times: Option<SampledTime>,
}

impl From<&Sample> for SampleSum {
    /// Creates a sum of this row alone.
    #[inline]
    fn from(sample: &Sample) -> Self {
        let Sample { time, weight, series, thread, stack, core: _, state, kind, samples } = *sample;
        let times = Some(SampledTime::of_nanos(time, weight));
        Self { series, thread, stack, state, kind, weight, samples: samples.into(), times }
    }
}

/// The part of the time axis covered by the samples of a run.
///
/// A sample at time t with a weight of w nanoseconds covers the time from t up to, but not including, t + w, as in timelines and flame charts. n
/// samples of w, at intervals of w, therefore cover n · w, which is their weight, and not just the (n − 1) · w from the first to the last. Unless
/// its samples overlap, the weight of a thread never exceeds this [length](Self::length), regardless of gaps. Exports do not specify whether a
/// sample describes the time before or after it. With equal weights, as in nearly every export, the length is the same either way.
///
/// Cycles, events and numbers of samples are not times. Samples in these units, and samples of weight 0, cover only the moment at which they were
/// taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledTime {
    /// The time of the first sample.
    pub first: Nanos,
    /// The time of the last sample.
    pub last: Nanos,
    /// The end of the covered time. It may be after `last`, and even belong to an earlier sample with a large weight.
    pub end: Nanos,
}

impl SampledTime {
    /// Returns the time that a sample covers. `unit` is the unit of its series.
    #[inline]
    pub fn of(sample: &Sample, unit: Unit) -> Self {
        Self::of_nanos(sample.time, sample.weight).in_unit(unit)
    }

    /// Returns the time that a sample covers if its weight is in nanoseconds.
    #[inline]
    pub(super) fn of_nanos(time: Nanos, weight: u64) -> Self {
        Self { first: time, last: time, end: time.saturating_add(Nanos::from_nanos(weight)) }
    }

    /// Converts to a unit: for cycles, events and numbers of samples, only the moments of the samples are covered.
    #[inline]
    pub(super) fn in_unit(self, unit: Unit) -> Self {
        let end = if unit == Unit::Nanoseconds { self.end } else { self.last };
        Self { end, ..self }
    }

    /// Returns the smallest range that includes both. It is commutative, so the parts of a run can be joined in any order.
    #[inline]
    pub fn join(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last), end: self.end.max(other.end) }
    }

    /// Returns the time from the first sample to the end of the covered time; zero for a single moment.
    pub fn length(self) -> Nanos {
        self.end.since(self.first)
    }

    /// Returns the time covered by the samples with the sum's [table, thread, state and kind](SampleSum::times); `None` if unknown. `unit` is the
    /// unit of its series.
    #[inline]
    pub fn of_sum(sum: &SampleSum, unit: Unit) -> Option<Self> {
        sum.times.map(|times| times.in_unit(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::SampleKind;
    use super::super::model::{SeriesId, ThreadId};
    use super::*;

    fn sampled(unit: Unit, samples: &[(u64, u64)]) -> SampledTime {
        let sample = |&(time, weight): &(u64, u64)| Sample {
            time: Nanos::from_nanos(time),
            weight,
            series: SeriesId::from_index(0).unwrap(),
            thread: ThreadId::from_index(0).unwrap(),
            stack: None,
            core: None,
            state: None,
            kind: SampleKind::Periodic,
            samples: 1,
        };
        let each = samples.iter().map(|row| SampledTime::of(&sample(row), unit));
        each.reduce(SampledTime::join).unwrap()
    }

    fn length(unit: Unit, samples: &[(u64, u64)]) -> u64 {
        sampled(unit, samples).length().as_nanos()
    }

    #[test]
    fn samples_cover_what_they_weigh() {
        let nanos = |samples: &[(u64, u64)]| length(Unit::Nanoseconds, samples);
        assert_eq!(nanos(&[(7, 10)]), 10);
        assert_eq!(nanos(&[(0, 10), (10, 10)]), 20);
        assert_eq!(nanos(&[(10, 10), (0, 10)]), 20, "in any order");
        assert_eq!(nanos(&[(0, 10), (0, 10), (0, 10)]), 10, "threads at one time");
        assert_eq!(nanos(&[(0, 10), (90, 10)]), 100, "with gaps");
        assert_eq!(nanos(&[(0, 10), (10, 70), (50, 10)]), 80, "a sample that covers more than the last one");
        assert_eq!(nanos(&[(0, 0), (10, 10), (40, 0)]), 40, "snapshots are moments");
        assert_eq!(nanos(&[(3, 0)]), 0);
        assert_eq!(nanos(&[(5, u64::MAX), (9, 1)]), u64::MAX - 5, "no time is later");
    }

    #[test]
    fn what_is_no_time_covers_moments() {
        for unit in [Unit::Cycles, Unit::PmcEvents, Unit::Samples] {
            assert_eq!(length(unit, &[(7, 10)]), 0);
            assert_eq!(length(unit, &[(0, 1_000_000), (10, 1_000_000)]), 10);
        }
    }

    #[test]
    fn parts_of_several_units_are_joined() {
        let cycles = sampled(Unit::Cycles, &[(0, 1_000), (50, 1_000)]);
        let nanos = sampled(Unit::Nanoseconds, &[(20, 10), (45, 10)]);
        let [first, last, end] = [0, 50, 55].map(Nanos::from_nanos);
        assert_eq!(cycles.join(nanos), SampledTime { first, last, end });
        assert_eq!(nanos.join(cycles), cycles.join(nanos));
    }
}
