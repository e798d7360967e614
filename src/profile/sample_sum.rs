//! The sum of samples that differ only in time and core.

use super::model::{Sample, SampleKind};
use super::model::{SeriesId, StackId, StringId, ThreadId};
use super::sampled_time::SampledTime;
use crate::units::Unit;

/// Samples of one table, one thread, one stack, one thread state and one kind, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSum {
    /// The table that contains them.
    pub series: SeriesId,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// The stack of the thread; `None` if it was not recorded, in which case the weight is still valid.
    pub stack: Option<StackId>,
    /// The thread's state (`Running`, `Blocked` …), if it was recorded.
    pub state: Option<StringId>,
    /// The source of the samples.
    pub kind: SampleKind,
    /// The sum of their weights, in the unit of the series.
    pub weight: u64,
    /// The number of samples; 1 or more.
    pub samples: u64,
    /// The time of all samples with this table, thread, state and kind, since the start of the recording. It includes samples with other
    /// stacks, since times are not kept for each stack. `None` if the series [has no times](super::Series::has_times).
    ///
    /// Its end is computed as if weights were nanoseconds; [`SampledTime::of_sum`] takes the unit into account.
    pub times: Option<SampledTime>,
}

impl From<&Sample> for SampleSum {
    /// Makes a sum of this sample alone.
    #[inline]
    fn from(sample: &Sample) -> Self {
        let Sample { time, weight, series, thread, stack, core: _, state, kind } = *sample;
        let times = Some(SampledTime::of_nanos(time, weight));
        Self { series, thread, stack, state, kind, weight, samples: 1, times }
    }
}

impl SampledTime {
    /// Returns the time that the samples with the sum's [table, thread, state and kind](SampleSum::times) cover, or `None` if it is
    /// unknown. `unit` is the unit of the sum's series.
    #[inline]
    pub fn of_sum(sum: &SampleSum, unit: Unit) -> Option<Self> {
        sum.times.map(|times| times.in_unit(unit))
    }
}
