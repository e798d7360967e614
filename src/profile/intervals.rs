//! Selects time by the intervals of each run, instead of one range.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::time_range::TimeRange;
use super::{Profile, ThreadId};
use crate::units::Nanos;

/// The selected time of each run: the union of intervals, or the time when intervals of every name are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalFilter {
    names: Vec<String>,
    has_hangs: bool,
    is_intersection: bool,
    count: u64,
    open: u64,
    length: u128,
    /// Sorted by run and time. Within a run, each range ends before the next one starts.
    ranges: Arc<[(u32, TimeRange)]>,
}

impl IntervalFilter {
    /// Selects the time within any of these intervals, each with its run number. They may overlap and be in any order; empty and reversed intervals
    /// select nothing, and neither does an empty list. `names` and `has_hangs` describe the intervals, and do not affect the selection.
    pub fn new(names: Vec<String>, has_hangs: bool, intervals: impl IntoIterator<Item = (u32, TimeRange)>) -> Self {
        Self::of_groups(names, has_hangs, false, [intervals.into_iter().collect()])
    }

    /// Selects the time within an interval of every group. A group contains the intervals with one name, or the hangs. With one group, this
    /// equals [`new`](Self::new); without groups, nothing is selected.
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

    /// Returns the same filter with other names for its intervals.
    pub(crate) fn renamed(&self, rename: impl FnMut(&str) -> String) -> Self {
        Self { names: self.names.iter().map(String::as_str).map(rename).collect(), ..self.clone() }
    }

    /// The names of the intervals.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True if the intervals include hangs.
    pub fn has_hangs(&self) -> bool {
        self.has_hangs
    }

    /// True if a sample must be in an interval of every name, and in a hang if hangs are selected; false if any interval is enough.
    pub fn is_intersection(&self) -> bool {
        self.is_intersection
    }

    /// Returns the number of intervals of all names.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of intervals without an end, which extend to the end of the recording.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// Returns the total length of the intervals with an end, in nanoseconds.
    pub fn length(&self) -> u128 {
        self.length
    }

    /// Returns the total selected time of all runs in nanoseconds, counting overlaps once. The time after the
    /// start of an interval without an end is not included.
    pub fn covered(&self) -> u128 {
        closed_length(&self.ranges)
    }

    /// Returns the selected time as sorted ranges of each run, which do not touch.
    pub fn ranges(&self) -> &[(u32, TimeRange)] {
        &self.ranges
    }

    /// Prepares the filter for the threads of a profile.
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

/// Returns the total length of the ranges with an end, in nanoseconds.
fn closed_length(ranges: &[(u32, TimeRange)]) -> u128 {
    ranges.iter().filter_map(|(_, range)| Some(u128::from(range.end?.since(range.start).as_nanos()))).sum()
}

/// Intersects two lists of sorted ranges that do not touch.
fn intersect(one: &[(u32, TimeRange)], other: &[(u32, TimeRange)]) -> Vec<(u32, TimeRange)> {
    let (mut one, mut other, mut shared) = (one.iter().peekable(), other.iter().peekable(), Vec::new());
    while let (Some((run, range)), Some((other_run, other_range))) = (one.peek(), other.peek()) {
        let start = range.start.max(other_range.start);
        let order = run.cmp(other_run).then_with(|| compare_ends(range.end, other_range.end));
        let end = if order == Ordering::Less { range.end } else { other_range.end };
        if run == other_run && end.is_none_or(|end| end > start) {
            shared.push((*run, TimeRange { start, end }));
        }
        // The range that ends first cannot overlap anything else.
        if order == Ordering::Less {
            one.next()
        } else {
            other.next()
        };
    }
    shared
}

/// Compares ends by time; a missing end comes last.
fn compare_ends(one: Option<Nanos>, other: Option<Nanos>) -> Ordering {
    (one.is_none(), one).cmp(&(other.is_none(), other))
}

/// Merges sorted ranges that touch.
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

/// An [`IntervalFilter`], prepared for one profile.
#[derive(Clone, Debug)]
pub(super) struct ThreadIntervals {
    /// For each thread, the indices of its run's ranges.
    of_thread: Vec<Range<usize>>,
    ranges: Arc<[(u32, TimeRange)]>,
}

impl ThreadIntervals {
    /// True if this time is in an interval of the thread's run.
    pub(super) fn has(&self, thread: ThreadId, time: Nanos) -> bool {
        let ranges = &self.ranges[self.of_thread[thread.index()].clone()];
        let begun = ranges.partition_point(|(_, range)| range.start <= time);
        begun > 0 && ranges[begun - 1].1.end.is_none_or(|end| time < end)
    }
}
