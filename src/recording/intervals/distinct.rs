//! Removes intervals that several tables repeat. Each is kept as often as the table with the most copies contains it.
//!
//! Tables repeat intervals for two reasons. Signpost tables overlap: `os-signpost` contains the ends of intervals that are rows in other tables,
//! and several tables of a run record the same category. And several inputs may contain the same table. Equal rows of one table, however, are
//! different intervals, such as the simultaneous work of two GPU channels, or two views updated in the same tick.

use std::hash::Hash;

use super::{Interval, IntervalOrigin, IntervalTable, Intervals};
use crate::hash::HashMap;
use crate::units::Nanos;

/// The index among all rows, the number of the table, and the interval.
type Row<'i> = (usize, usize, &'i Interval);

impl Intervals {
    /// Returns each interval once, even if several tables contain the same signposts or several inputs contain the same table. An interval that
    /// is open in one table and closed in another is kept closed. A region of interest duplicates the signpost with the same name, process and
    /// times, since its row has fewer fields. Equal rows of one table are different intervals.
    pub fn distinct(&self) -> Vec<&Interval> {
        let sources = self.shared_sources();
        let tables = self.tables.iter().enumerate();
        let tables = tables.flat_map(|(table, counts)| (0..counts.intervals).map(move |_| table));
        // Intervals from a page have no tables, and no duplicates.
        let rows = self.intervals.iter().enumerate().zip(tables).map(|((place, row), table)| (place, table, row));
        let shared: Vec<Row<'_>> = rows.filter(|&(_, table, _)| sources[table].is_some()).collect();
        let mut is_kept = vec![true; self.intervals.len()];
        leave_out(&shared, &mut is_kept, |(_, table, row), end| {
            (sources[table], Interval { origin: IntervalOrigin::Signpost, end, ..row.clone() })
        });
        let is_region = |row: &Interval| row.origin == IntervalOrigin::Region;
        let rest = shared.into_iter().filter(|&(place, _, row)| is_kept[place] && row.is_signpost());
        let mut rest: Vec<Row<'_>> = rest.map(|(place, _, row)| (place, usize::from(is_region(row)), row)).collect();
        rest.sort_by_key(|&(_, table, _)| table);
        if rest.last().is_some_and(|&(_, table, _)| table == 1) {
            leave_out(&rest, &mut is_kept, |(_, _, row), end| (row.run, row.name.as_deref(), row.pid, row.start, end));
        }
        self.intervals.iter().zip(is_kept).filter_map(|(interval, is_kept)| is_kept.then_some(interval)).collect()
    }

    /// For each table, the first table that may contain the same intervals; `None` if no other table does.
    fn shared_sources(&self) -> Vec<Option<usize>> {
        let first = |(own, table): (usize, &IntervalTable)| {
            self.tables.iter().position(|other| other.repeats(table)).map_or(own, |first| first.min(own))
        };
        let sources: Vec<usize> = self.tables.iter().enumerate().map(first).collect();
        let mut counts: HashMap<usize, usize> = HashMap::default();
        sources.iter().for_each(|source| *counts.entry(*source).or_default() += 1);
        sources.into_iter().map(|source| Some(source).filter(|source| counts[source] > 1)).collect()
    }
}

impl IntervalTable {
    /// True if both tables may contain the same intervals.
    fn repeats(&self, other: &Self) -> bool {
        let has_signposts = |table: &Self| Intervals::SIGNPOSTS.contains(&table.schema.as_str());
        let is_same = || match (self.position, other.position) {
            (Some(own), Some(other)) => own == other,
            // Tables in the same recording are different.
            _ => self.input != other.input,
        };
        let are_alike = (has_signposts(self) && has_signposts(other)) || (self.schema == other.schema && is_same());
        self.run == other.run && are_alike
    }
}

/// Counts how often each table contains a row, table by table.
#[derive(Clone, Copy, Default)]
struct Count {
    /// The maximum over all previous tables.
    before: u64,
    table: usize,
    here: u64,
}

impl Count {
    /// Counts a row. Returns true if no previous table contains it as often.
    fn is_new(&mut self, table: usize) -> bool {
        if self.table != table {
            *self = Self { before: self.most(), table, here: 0 };
        }
        self.here += 1;
        self.here > self.before
    }

    fn most(self) -> u64 {
        self.before.max(self.here)
    }
}

/// Removes rows that a previous table contains as often, and open rows that another table closes. Rows must be in table order. Given an end,
/// `key` of an open row must equal `key` of the same interval with that end.
fn leave_out<'i, K: Eq + Hash>(rows: &[Row<'i>], is_kept: &mut [bool], key: impl Fn(Row<'i>, Option<Nanos>) -> K) {
    let mut closed: HashMap<K, Count> = HashMap::default();
    // For each beginning, the number of rows by table, and the number of kept rows.
    let mut begun: HashMap<K, (Count, u64)> = HashMap::default();
    for &row in rows {
        let (place, table, interval) = row;
        let (count, kept) = begun.entry(key(row, None)).or_default();
        count.is_new(table);
        if interval.end.is_some() {
            is_kept[place] = closed.entry(key(row, interval.end)).or_default().is_new(table);
            *kept += u64::from(is_kept[place]);
        }
    }
    for &row in rows.iter().filter(|(_, _, interval)| interval.end.is_none()) {
        if let Some((count, kept)) = begun.get_mut(&key(row, None)) {
            is_kept[row.0] = *kept < count.most();
            *kept += u64::from(is_kept[row.0]);
        }
    }
}
