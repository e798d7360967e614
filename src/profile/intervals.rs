//! The time of a selection that is not one range: intervals, by run.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::time_range::TimeRange;
use super::{Profile, ThreadId};
use crate::units::Nanos;

/// Intervals in which samples count: of each run, the time that any of them covers, or the time in which one of every name goes
/// on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalFilter {
    names: Vec<String>,
    has_hangs: bool,
    is_intersection: bool,
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
        Self::of_groups(names, has_hangs, false, [intervals.into_iter().collect()])
    }

    /// A filter of the time that lies in an interval of every group: the intervals of one name are a group, and so are hangs. The
    /// rest is as for [`new`](Self::new). With one group, both are the same; without a group no sample counts.
    pub fn intersection(
        names: Vec<String>,
        has_hangs: bool,
        groups: impl IntoIterator<Item = Vec<(u32, TimeRange)>>,
    ) -> Self {
        Self::of_groups(names, has_hangs, true, groups)
    }

    fn of_groups(
        names: Vec<String>,
        has_hangs: bool,
        is_intersection: bool,
        groups: impl IntoIterator<Item = Vec<(u32, TimeRange)>>,
    ) -> Self {
        let (mut count, mut open, mut length) = (0, 0, 0);
        let mut ranges: Option<Vec<(u32, TimeRange)>> = None;
        for mut group in groups {
            count += group.len() as u64;
            open += group.iter().filter(|(_, range)| range.end.is_none()).count() as u64;
            length += closed_length(&group);
            group.retain(|(_, range)| range.end.is_none_or(|end| end > range.start));
            group.sort_unstable_by_key(|(run, range)| (*run, range.start));
            let group = merge(group);
            ranges = Some(match ranges {
                Some(ranges) => intersect(&ranges, &group),
                None => group,
            });
        }
        Self { names, has_hangs, is_intersection, count, open, length, ranges: ranges.unwrap_or_default().into() }
    }

    /// The same filter, of intervals that are called otherwise.
    pub(crate) fn renamed(&self, rename: impl FnMut(&str) -> String) -> Self {
        Self { names: self.names.iter().map(String::as_str).map(rename).collect(), ..self.clone() }
    }

    /// The names of the intervals.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True if hangs are among them.
    pub fn has_hangs(&self) -> bool {
        self.has_hangs
    }

    /// True if a sample has to be in an interval of every name, and during a hang if those are asked for; otherwise one is enough.
    pub fn is_intersection(&self) -> bool {
        self.is_intersection
    }

    /// The number of intervals, of all names.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of those without an end, which last until the recording ends.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// The sum of the lengths of those that have an end, in nanoseconds.
    pub fn length(&self) -> u128 {
        self.length
    }

    /// The time in which samples count, over all runs, in nanoseconds: where intervals overlap, once. An interval without an end covers
    /// nothing here, and neither do intervals that begin after it.
    pub fn covered(&self) -> u128 {
        closed_length(&self.ranges)
    }

    /// The time in which samples count, by run and time: no range touches the next one of its run.
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

/// The sum of the lengths of those that have an end, in nanoseconds.
fn closed_length(ranges: &[(u32, TimeRange)]) -> u128 {
    ranges.iter().filter_map(|(_, range)| Some(u128::from(range.end?.since(range.start).as_nanos()))).sum()
}

/// The ranges that two lists have in common; in each list, the ranges are sorted and do not touch.
fn intersect(one: &[(u32, TimeRange)], other: &[(u32, TimeRange)]) -> Vec<(u32, TimeRange)> {
    let (mut one, mut other, mut shared) = (one.iter().peekable(), other.iter().peekable(), Vec::new());
    while let (Some((run, range)), Some((other_run, other_range))) = (one.peek(), other.peek()) {
        let start = range.start.max(other_range.start);
        let order = run.cmp(other_run).then_with(|| compare_ends(range.end, other_range.end));
        let end = if order == Ordering::Less { range.end } else { other_range.end };
        if run == other_run && end.is_none_or(|end| end > start) {
            shared.push((*run, TimeRange { start, end }));
        }
        // The one that ends first has nothing more in common with the other list.
        if order == Ordering::Less {
            one.next()
        } else {
            other.next()
        };
    }
    shared
}

/// Orders ends by time; what has none ends last.
fn compare_ends(one: Option<Nanos>, other: Option<Nanos>) -> Ordering {
    (one.is_none(), one).cmp(&(other.is_none(), other))
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
    /// True if a time of a thread is in an interval.
    pub(super) fn has(&self, thread: ThreadId, time: Nanos) -> bool {
        let ranges = &self.ranges[self.of_thread[thread.index()].clone()];
        let begun = ranges.partition_point(|(_, range)| range.start <= time);
        begun > 0 && ranges[begun - 1].1.end.is_none_or(|end| time < end)
    }
}
