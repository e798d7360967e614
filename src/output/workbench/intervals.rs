//! The intervals of a page: columns of times that refer to labels and owners in the head.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::columns::{Column, exact};
use crate::hash::IndexSet;
use crate::output::hangs::evidence;
use crate::recording::{Interval, IntervalOrigin, Intervals, Recording};
use crate::report::Hang;
use crate::units::Nanos;

/// The maximum number of rows per table on a page; the longest are kept. Signposts and hangs are all shown.
const MOST: usize = 20_000;

/// The properties that intervals share: kind, table, name, subsystem, category and type of hang.
type Label<'i> = (&'static str, [Option<&'i str>; 5]);

/// The process name, the process identifier and the thread identifier.
type Owner<'i> = (Option<&'i str>, Option<u64>, Option<u64>);

/// The intervals that a page contains.
pub(super) struct PageIntervals<'i> {
    rows: Vec<&'i Interval>,
    labels: IndexSet<Label<'i>>,
    owners: IndexSet<Owner<'i>>,
    /// By table: the number of omitted rows.
    left_out: BTreeMap<&'i str, usize>,
    /// What threads did during the hangs.
    hangs: Vec<Hang>,
}

impl<'i> PageIntervals<'i> {
    pub(super) fn new(recording: &Recording, intervals: &'i Intervals) -> Self {
        let (rows, left_out) = shown(&intervals.distinct(), MOST);
        let (labels, owners) = rows.iter().map(|row| (label(row), owner(row))).unzip();
        let has_hangs = rows.iter().any(|row| row.is_hang());
        let hangs = if has_hangs { recording.hangs(intervals, &[]).hangs } else { Vec::new() };
        Self { rows, labels, owners, left_out, hangs }
    }

    /// Adds the lists to the head, if there are any intervals.
    pub(super) fn add_to(&self, head: &mut Value) {
        if self.rows.is_empty() {
            return;
        }
        let label = |&(kind, [table, name, subsystem, category, hang_type]): &Label<'_>| json!({"kind": kind, "table": table, "name": name, "subsystem": subsystem, "category": category, "hang_type": hang_type});
        let owner = |&(process, pid, tid): &Owner<'_>| json!({"process": process, "pid": pid.map(exact), "tid": tid.map(exact)});
        let left_out = |(table, rows): (&&str, &usize)| json!({"table": table, "rows": rows});
        let hang = |hang: &Hang| {
            let Interval { run, start, tid, .. } = hang.interval;
            json!({"run": run, "start_ns": exact(start.as_nanos()), "tid": tid.map(exact), "text": evidence(hang)})
        };
        head["hangs"] = self.hangs.iter().map(hang).collect();
        head["interval_labels"] = self.labels.iter().map(label).collect();
        head["interval_owners"] = self.owners.iter().map(owner).collect();
        head["intervals_left_out"] = self.left_out.iter().map(left_out).collect();
    }

    /// The columns; none if there are no intervals.
    pub(super) fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        type Read = fn(&PageIntervals<'_>, &Interval) -> u64;
        let columns: [(&str, Read); 6] = [
            ("intervals.run", |_, row| row.run.into()),
            ("intervals.start", |_, row| row.start.as_nanos()),
            ("intervals.duration", |_, row| optional(row.duration().map(Nanos::as_nanos))),
            ("intervals.label", |of, row| of.labels.get_index_of(&label(row)).unwrap_or_default() as u64),
            ("intervals.owner", |of, row| of.owners.get_index_of(&owner(row)).unwrap_or_default() as u64),
            ("intervals.identifier", |_, row| optional(row.identifier)),
        ];
        let columns = columns.into_iter().filter(|_| !self.rows.is_empty());
        columns.map(move |(name, value)| Column::new(name, move || self.rows.iter().map(move |row| value(self, row))))
    }
}

/// Encodes `None` as 0 and other numbers plus one. The largest number also becomes 0: no identifier and no duration has that value.
fn optional(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.wrapping_add(1))
}

/// Returns the rows, without the shorter ones of tables with more than `most` rows, and the number of omitted rows by table.
fn shown<'i>(rows: &[&'i Interval], most: usize) -> (Vec<&'i Interval>, BTreeMap<&'i str, usize>) {
    let mut by_table: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        if let Some(table) = &row.table {
            by_table.entry(table).or_default().push(place);
        }
    }
    by_table.retain(|_, places| places.len() > most);
    let (mut is_shown, mut left_out) = (vec![true; rows.len()], BTreeMap::new());
    for (table, mut places) in by_table {
        // Open rows are the longest. Among equally long rows, the first are kept.
        places.sort_by_key(|&place| Reverse(rows[place].duration().map_or(u64::MAX, Nanos::as_nanos)));
        left_out.insert(table, places.len() - most);
        places[most..].iter().for_each(|&place| is_shown[place] = false);
    }
    let kept = rows.iter().zip(is_shown).filter(|(_, is_shown)| *is_shown).map(|(row, _)| *row).collect();
    (kept, left_out)
}

fn label(row: &Interval) -> Label<'_> {
    let kind = match row.origin {
        IntervalOrigin::Hang => "hang",
        IntervalOrigin::Region => "region",
        IntervalOrigin::Signpost | IntervalOrigin::SignpostEvents => "signpost",
        IntervalOrigin::Table => "table",
    };
    let texts = [&row.table, &row.name, &row.subsystem, &row.category, &row.hang_type];
    (kind, texts.map(Option::as_deref))
}

fn owner(row: &Interval) -> Owner<'_> {
    (row.process.as_deref(), row.pid, row.tid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(table: Option<&str>, start: u64, end: Option<u64>) -> Interval {
        let origin = if table.is_some() { IntervalOrigin::Table } else { IntervalOrigin::Signpost };
        let (start, end) = (Nanos::from_nanos(start), end.map(Nanos::from_nanos));
        Interval { table: table.map(Into::into), ..Interval::new(origin, 1, start, end) }
    }

    #[test]
    fn leaves_out_the_shortest_rows_of_large_tables() {
        let tasks = [(0, Some(5)), (1, None), (2, Some(3)), (3, Some(8)), (4, Some(9))];
        let mut rows: Vec<Interval> = tasks.iter().map(|&(start, end)| row(Some("tasks"), start, end)).collect();
        rows.extend([row(None, 0, Some(1)), row(None, 1, Some(2)), row(None, 2, Some(3)), row(None, 3, Some(4))]);
        rows.push(row(Some("hitches"), 0, Some(1)));
        let (kept, left_out) = shown(&rows.iter().collect::<Vec<_>>(), 3);
        let starts: Vec<u64> = kept.iter().map(|row| row.start.as_nanos()).collect();
        assert_eq!(starts, [0, 1, 3, 0, 1, 2, 3, 0]);
        assert_eq!(left_out.into_iter().collect::<Vec<_>>(), [("tasks", 2)]);
    }
}
