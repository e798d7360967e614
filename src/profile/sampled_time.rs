//! The time that samples cover: the least time that was recorded, if nobody tells it.

use super::model::Sample;
use crate::units::{Nanos, Unit};

/// The part of the time axis that some samples of one run cover.
///
/// A sample at time t that weighs w nanoseconds covers the time from t up to but without t + w. It begins where it is counted,
/// as in timelines and flame charts. So n samples of w that follow each other every w cover n · w, which is what they weigh: not
/// the (n − 1) · w from the first to the last of them. A thread whose samples do not overlap weighs no more than this is
/// [long](Self::length), however many gaps it has. An export does not say whether Instruments means the time before or after a
/// sample; where all samples weigh the same, as in nearly every export, the length is the same either way.
///
/// Cycles, events and numbers of samples are no time. Samples of such a unit cover the moment they were taken at, and so do those
/// that weigh nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledTime {
    /// The time when the first of them was taken.
    pub first: Nanos,
    /// The time when the last of them was taken.
    pub last: Nanos,
    /// The end of the time that they cover; not before `last`. A sample that weighs much may cover more than those after it.
    pub end: Nanos,
}

impl SampledTime {
    /// The time that a sample covers. `unit` is that of its series.
    #[inline]
    pub fn of(sample: &Sample, unit: Unit) -> Self {
        Self::of_nanos(sample.time, sample.weight).in_unit(unit)
    }

    /// The time that a sample covers if it weighs nanoseconds.
    #[inline]
    pub(super) fn of_nanos(time: Nanos, weight: u64) -> Self {
        Self { first: time, last: time, end: time.saturating_add(Nanos::from_nanos(weight)) }
    }

    /// The time in a unit: cycles, events and numbers of samples cover the moments they were taken at.
    #[inline]
    pub(super) fn in_unit(self, unit: Unit) -> Self {
        let end = if unit == Unit::Nanoseconds { self.end } else { self.last };
        Self { end, ..self }
    }

    /// The time that both cover, and the time between them. The order does not matter, so parts of a run may be joined in any.
    #[inline]
    pub fn join(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last), end: self.end.max(other.end) }
    }

    /// From the first sample to the end of what they cover: zero for one sample that covers a moment.
    pub fn length(self) -> Nanos {
        self.end.since(self.first)
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
