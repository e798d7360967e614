//! Sample labels: the names of intervals that were open on their threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Full, Profile, Sample, StringId, ThreadId, TimeRange};
use crate::hash::HashMap;
use crate::units::Nanos;

/// An interval on a thread, with the label for the samples in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelledRange<'l> {
    pub(crate) run: u32,
    pub(crate) tid: u64,
    pub(crate) range: TimeRange,
    pub(crate) label: &'l str,
}

impl Profile {
    /// Labels each sample with the interval that was open on its thread. If there are several, the innermost wins: the last to start, and among
    /// equals the first to end. Replaces earlier labels.
    pub(crate) fn label_samples(&mut self, ranges: &[LabelledRange<'_>]) -> Result<(), Full> {
        let mut of_thread: HashMap<(u32, u64), Vec<(TimeRange, StringId)>> = HashMap::default();
        for LabelledRange { run, tid, range, label } in ranges {
            let label = self.strings.intern(label).ok_or(Full)?;
            of_thread.entry((*run, *tid)).or_default().push((*range, label));
        }
        let changes: HashMap<(u32, u64), Arc<[_]>> =
            of_thread.into_iter().map(|(thread, ranges)| (thread, innermost(&ranges).into())).collect();
        let of_thread = self.thread_ids().filter_map(|id| {
            let thread = self.thread(id);
            let run = self.run(self.process(thread.process).run).number;
            Some((id, changes.get(&(run, thread.tid?))?.clone()))
        });
        self.labels = of_thread.collect();
        Ok(())
    }

    /// Sets the labels of a thread. A label applies from its time to the next one. Times must be sorted and distinct.
    pub(super) fn label_thread(&mut self, thread: ThreadId, changes: Vec<(Nanos, Option<StringId>)>) {
        self.labels.insert(thread, changes.into());
    }

    /// True if samples have labels, such as the user tags of Dart.
    pub fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    pub(crate) fn label(&self, sample: &Sample) -> Option<StringId> {
        let changes = self.labels.get(&sample.thread)?;
        let count = changes.partition_point(|(time, _)| *time <= sample.time);
        changes.get(count.checked_sub(1)?)?.1
    }
}

/// Returns the times at which the label changes, with the new label.
fn innermost(ranges: &[(TimeRange, StringId)]) -> Vec<(Nanos, Option<StringId>)> {
    // The intervals that end and start at each time.
    let mut changes: BTreeMap<Nanos, [Vec<usize>; 2]> = BTreeMap::new();
    for (index, (range, _)) in ranges.iter().enumerate().filter(|(_, (range, _))| range.end != Some(range.start)) {
        changes.entry(range.start).or_default()[1].push(index);
        if let Some(end) = range.end {
            changes.entry(end).or_default()[0].push(index);
        }
    }
    let key = |index: usize| {
        let (range, _) = ranges[index];
        (range.start, range.end.is_some(), Reverse(range.end), Reverse(index))
    };
    let mut open = BTreeSet::new();
    let changes = changes.into_iter().map(|(time, [ended, started])| {
        for index in ended {
            open.remove(&key(index));
        }
        open.extend(started.into_iter().map(key));
        (time, open.last().map(|&(.., Reverse(index))| ranges[index].1))
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_interval_counts() {
        let mut strings = super::super::strings::Strings::default();
        let [a, b, c] = ["a", "b", "c"].map(|text| strings.intern(text).unwrap());
        let range =
            |start, end: Option<u64>| TimeRange { start: Nanos::from_nanos(start), end: end.map(Nanos::from_nanos) };
        let ranges =
            [(range(10, None), a), (range(20, Some(50)), b), (range(20, Some(30)), c), (range(40, Some(40)), c)];
        let expected = [(10, Some(a)), (20, Some(c)), (30, Some(b)), (50, Some(a))];
        assert_eq!(innermost(&ranges), expected.map(|(time, label)| (Nanos::from_nanos(time), label)));
        assert_eq!(innermost(&ranges[1..3]).last(), Some(&(Nanos::from_nanos(50), None)));
    }
}
