//! The time with at least one open interval, and the idle gaps between.

use std::sync::Arc;

use super::summary::IntervalInstance;
use crate::profile::{IntervalFilter, TimeRange};
use crate::units::Nanos;

/// The union of intervals, each run by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct IntervalUnion {
    /// `None` if an interval was open at the end of a run, which is unknown.
    pub(super) busy: Option<Nanos>,
    /// The gaps from the longest to the shortest; of equal ones, the first comes first. Intervals without a length do not end a gap.
    pub(super) gaps: Vec<IntervalInstance>,
}

/// The start of an interval that was open when its recording ended: the input, the run, and the time.
pub(super) type Open = (Option<Arc<str>>, u32, Nanos);

impl IntervalUnion {
    /// Joins intervals. `end` returns the end of a run.
    pub(super) fn new(
        closed: &[IntervalInstance],
        open: &[Open],
        end: &dyn Fn(Option<&str>, u32) -> Option<Nanos>,
    ) -> Self {
        let starts = open.iter().map(|(input, run, start)| ((input, *run), TimeRange { start: *start, end: None }));
        let ranges = closed.iter().map(|instance| {
            let IntervalInstance { input, run, start, duration, .. } = instance;
            ((input, *run), TimeRange { start: *start, end: Some(start.saturating_add(*duration)) })
        });
        let ranges: Vec<_> = ranges.chain(starts).collect();
        let mut runs: Vec<(&Option<Arc<str>>, u32)> = ranges.iter().map(|(run, _)| *run).collect();
        runs.sort_unstable();
        runs.dedup();
        let place = |run| runs.partition_point(|known| *known < run) as u32;
        let ranges = ranges.into_iter().map(|(run, range)| (place(run), range));
        let union = IntervalFilter::new(Vec::new(), false, ranges);
        let until = |&(place, range): &(u32, TimeRange)| {
            let (input, run) = runs[place as usize];
            range.end.or_else(|| end(input.as_deref(), run)).map(|end| end.since(range.start))
        };
        let mut busy = union.ranges().iter().map(until);
        let busy = busy.try_fold(Nanos::default(), |sum, length| Some(sum.saturating_add(length?)));
        let gaps = union.ranges().windows(2).filter_map(|pair| {
            let [(place, before), (next, after)] = pair else { return None };
            let ((input, run), start) = (runs[*place as usize], before.end.filter(|_| place == next)?);
            let (input, duration) = (input.clone(), after.start.since(start));
            Some(IntervalInstance { duration, input, run, start, pid: None, tid: None })
        });
        let mut gaps: Vec<IntervalInstance> = gaps.collect();
        gaps.sort_by(|one, other| other.duration.cmp(&one.duration).then_with(|| one.cmp(other)));
        Self { busy, gaps }
    }
}
