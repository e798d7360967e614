//! Finds the intervals that overlap a period, without visiting all others.

use std::ops::Range;

use crate::hash::HashMap;
use crate::recording::Interval;
use crate::units::Nanos;

/// The intervals of each run: a recording can have thousands of hangs and millions of system calls.
pub(super) struct Overlaps<'i>(HashMap<u32, Tree<'i>>);

/// A balanced search tree in an array: the root is in the middle, and each half is a tree.
#[derive(Default)]
struct Tree<'i> {
    /// Sorted by start.
    rows: Vec<&'i Interval>,
    /// The latest end of the rows in the tree with this root.
    latest: Vec<Nanos>,
}

impl<'i> Overlaps<'i> {
    pub(super) fn new(intervals: impl Iterator<Item = &'i Interval>) -> Self {
        let mut runs: HashMap<u32, Tree<'i>> = HashMap::default();
        intervals.for_each(|interval| runs.entry(interval.run).or_default().rows.push(interval));
        runs.values_mut().for_each(Tree::finish);
        Self(runs)
    }

    /// Returns the intervals of the same run that overlap this one, by start.
    pub(super) fn with(&self, interval: &Interval) -> Vec<&'i Interval> {
        let mut found = Vec::new();
        if let Some(tree) = self.0.get(&interval.run) {
            tree.find(0..tree.rows.len(), (interval.start, end(interval)), &mut found);
        }
        found
    }
}

impl<'i> Tree<'i> {
    fn finish(&mut self) {
        self.rows.sort_by_key(|row| row.start);
        self.latest = vec![Nanos::default(); self.rows.len()];
        self.set_latest(0..self.rows.len());
    }

    fn set_latest(&mut self, part: Range<usize>) -> Nanos {
        if part.is_empty() {
            return Nanos::default();
        }
        let root = part.start.midpoint(part.end);
        let latest = self.set_latest(part.start..root).max(self.set_latest(root + 1..part.end));
        self.latest[root] = latest.max(end(self.rows[root]));
        self.latest[root]
    }

    fn find(&self, part: Range<usize>, (start, until): (Nanos, Nanos), found: &mut Vec<&'i Interval>) {
        let root = part.start.midpoint(part.end);
        if part.is_empty() || self.latest[root] <= start {
            return;
        }
        self.find(part.start..root, (start, until), found);
        let row = self.rows[root];
        if row.start < until {
            found.extend((end(row) > start).then_some(row));
            self.find(root + 1..part.end, (start, until), found);
        }
    }
}

/// The end of an interval, which may still be open.
fn end(interval: &Interval) -> Nanos {
    interval.end.unwrap_or(Nanos::from_nanos(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::IntervalOrigin;

    fn row(run: u32, start: u64, length: Option<u64>) -> Interval {
        let end = length.map(|length| Nanos::from_nanos(start + length));
        Interval::new(IntervalOrigin::Hang, run, Nanos::from_nanos(start), end)
    }

    #[test]
    fn the_same_are_found_as_by_visiting_all() {
        // A generator of numbers (xorshift), so that short, long, empty and open intervals mix.
        let mut state = 88_172_645_463_325_252_u64;
        let mut number = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let rows: Vec<Interval> = (0..300)
            .map(|_| {
                let length = [1, 5, 200][number(3) as usize];
                let length = (number(20) > 0).then(|| number(length));
                row(number(2) as u32, number(1000), length)
            })
            .collect();
        let overlaps = Overlaps::new(rows.iter());
        let is_before = |one: &Interval, other: &Interval| one.end.is_some_and(|end| end <= other.start);
        let mut most = 0;
        for wanted in &rows {
            let mut found: Vec<*const Interval> = overlaps.with(wanted).into_iter().map(std::ptr::from_ref).collect();
            let all =
                rows.iter().filter(|row| row.run == wanted.run && !is_before(row, wanted) && !is_before(wanted, row));
            let mut expected: Vec<*const Interval> = all.map(std::ptr::from_ref).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{wanted:?}");
            most = most.max(found.len());
        }
        assert!(most > 10 && most < 300, "{most}");
    }
}
