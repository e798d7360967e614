//! The union of intervals: the time during which at least one was open, and the idle gaps in between.

use std::sync::Arc;

use super::instance::IntervalInstance;
use crate::profile::{IntervalFilter, TimeRange};
use crate::units::Nanos;

/// The union of intervals, computed separately for each run.
#[derive(Clone, Debug, Default)]
pub(super) struct IntervalUnion {
    /// `None` if the sum exceeds 64 bits, or an interval was open at the end of a run whose end time is unknown.
    pub(super) busy: Option<Nanos>,
    /// The gaps, longest first; equal ones in time order. An interval of length zero does not split a gap.
    pub(super) gaps: Vec<IntervalInstance>,
}

/// An interval that was open when its recording ended: the input, the run, and the start.
pub(super) type Open = (Option<Arc<str>>, u32, Nanos);

impl IntervalUnion {
    /// Computes the union of intervals. `end` returns the end time of a run.
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
        let busy: Option<Vec<Nanos>> = union.ranges().iter().map(until).collect();
        let busy = busy.and_then(Nanos::sum);
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
