//! The sum of samples that differ in nothing but their time and core.

use super::model::{Sample, SampleKind};
use super::model::{SeriesId, StackId, StringId, ThreadId};
use super::sampled_time::SampledTime;
use crate::units::Unit;

/// Samples of one table, one thread, one stack, one thread state and one kind, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSum {
    /// The table they are rows of.
    pub series: SeriesId,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// The stack of the thread; `None` if none was recorded, although the weight is real.
    pub stack: Option<StackId>,
    /// The thread's state (`Running`, `Blocked` …), where recorded.
    pub state: Option<StringId>,
    /// Their source.
    pub kind: SampleKind,
    /// The sum of their weights, in the unit of the series.
    pub weight: u64,
    /// The number of samples; 1 or more.
    pub samples: u64,
    /// The times of all samples of this table, thread, state and kind, whatever their stack; counted from the start of the
    /// recording. Times are not kept for each stack. `None` where the series [has none](super::Series::has_times).
    ///
    /// The time ends where the weights do, as if they were nanoseconds; [`SampledTime::of`] minds the unit.
    pub times: Option<SampledTime>,
}

impl From<&Sample> for SampleSum {
    /// The sum of this sample alone.
    #[inline]
    fn from(sample: &Sample) -> Self {
        let Sample { time, weight, series, thread, stack, core: _, state, kind } = *sample;
        let times = Some(SampledTime::of_nanos(time, weight));
        Self { series, thread, stack, state, kind, weight, samples: 1, times }
    }
}

impl SampledTime {
    /// The time that the samples of a sum cover: those of [its table, thread, state and kind](SampleSum::times). `None` where nobody
    /// knows it. `unit` is that of its series.
    #[inline]
    pub fn of_sum(sum: &SampleSum, unit: Unit) -> Option<Self> {
        sum.times.map(|times| times.in_unit(unit))
    }
}
