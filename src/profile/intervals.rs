//! The time of a selection that is not one range: intervals, by run.

use std::ops::Range;
use std::sync::Arc;

use super::selection::TimeRange;
use super::{Profile, ThreadId};
use crate::units::Nanos;

/// Intervals in which samples count: of each run, the time that any of them covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalFilter {
    names: Vec<String>,
    has_hangs: bool,
    count: u64,
    open: u64,
    length: u128,
    /// Sorted by run and time. Of one run, each ends before the next one starts.
    ranges: Arc<[(u32, TimeRange)]>,
}

impl IntervalFilter {
    /// A filter of intervals, each with the number of its run, in any order; they may overlap. `names` is what they are called, and
    /// `has_hangs` says whether hangs are among them: that is only told again. An interval that ends where it starts, or
    /// before, covers nothing. Without intervals no sample counts.
    pub fn new(names: Vec<String>, has_hangs: bool, intervals: impl IntoIterator<Item = (u32, TimeRange)>) -> Self {
        let mut all: Vec<(u32, TimeRange)> = intervals.into_iter().collect();
        let length = |range: &TimeRange| range.end.map(|end| u128::from(end.since(range.start).as_nanos()));
        let (count, open) = (all.len() as u64, all.iter().filter(|(_, range)| range.end.is_none()).count() as u64);
        let lengths: u128 = all.iter().filter_map(|(_, range)| length(range)).sum();
        all.retain(|(_, range)| range.end.is_none_or(|end| end > range.start));
        all.sort_unstable_by_key(|(run, range)| (*run, range.start));
        Self { names, has_hangs, count, open, length: lengths, ranges: merge(all).into() }
    }

    /// What the intervals are called.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether hangs are among them.
    pub fn has_hangs(&self) -> bool {
        self.has_hangs
    }

    /// How many intervals there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them have no end, and last until the recording ends.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// The sum of the lengths of those that have an end, in nanoseconds.
    pub fn length(&self) -> u128 {
        self.length
    }

    /// The time that those of all runs cover, in nanoseconds: where they overlap, once. An interval without an end covers
    /// nothing here, and neither does what begins after it.
    pub fn covered(&self) -> u128 {
        self.ranges.iter().filter_map(|(_, range)| Some(u128::from(range.end?.since(range.start).as_nanos()))).sum()
    }

    /// The time that they cover, by run and time: no range touches the next one of its run.
    pub fn ranges(&self) -> &[(u32, TimeRange)] {
        &self.ranges
    }

    /// The filter made ready for the threads of a profile.
    pub(super) fn on(&self, profile: &Profile) -> ThreadIntervals {
        let of_run = |number: u32| {
            let start = self.ranges.partition_point(|(run, _)| *run < number);
            start..self.ranges.partition_point(|(run, _)| *run <= number)
        };
        let of_runs: Vec<Range<usize>> = profile.run_ids().map(|run| of_run(profile.run(run).number)).collect();
        let of_thread = profile.thread_ids().map(|id| {
            let process = profile.process(profile.thread(id).process);
            of_runs[process.run.index()].clone()
        });
        ThreadIntervals { of_thread: of_thread.collect(), ranges: self.ranges.clone() }
    }
}

/// Joins sorted ranges that touch.
fn merge(sorted: Vec<(u32, TimeRange)>) -> Vec<(u32, TimeRange)> {
    let mut merged: Vec<(u32, TimeRange)> = Vec::with_capacity(sorted.len());
    for (run, range) in sorted {
        match merged.last_mut() {
            Some((last_run, last)) if *last_run == run && last.end.is_none_or(|end| end >= range.start) => {
                last.end = match (last.end, range.end) {
                    (Some(end), Some(other)) => Some(end.max(other)),
                    _ => None,
                };
            }
            _ => merged.push((run, range)),
        }
    }
    merged
}

/// An [`IntervalFilter`] on one profile.
#[derive(Clone, Debug)]
pub(super) struct ThreadIntervals {
    /// By thread: where the ranges of its run are.
    of_thread: Vec<Range<usize>>,
    ranges: Arc<[(u32, TimeRange)]>,
}

impl ThreadIntervals {
    /// Whether a time of a thread is in an interval.
    pub(super) fn has(&self, thread: ThreadId, time: Nanos) -> bool {
        let ranges = &self.ranges[self.of_thread[thread.index()].clone()];
        let begun = ranges.partition_point(|(_, range)| range.start <= time);
        begun > 0 && ranges[begun - 1].1.end.is_none_or(|end| time < end)
    }
}
