//! Tables in the order that is asked for.

use std::cmp::{Ordering, Reverse};

use super::listing::{Cell, Listing, ListingKind};
use super::sort_by::SortBy;
use super::{ColumnRole, NO_STACK, Shown, ThreadReport, View};
use crate::calltree::{FunctionRow, Label};
use crate::profile::Profile;

impl SortBy {
    /// True if the rows of a view have this column.
    pub fn applies_to(self, view: View) -> bool {
        match view {
            View::Functions => true,
            View::Threads => self != Self::SelfWeight,
            View::Binaries | View::Lines | View::Categories | View::Transitions | View::Processes | View::States => {
                view.listing_kind().is_some_and(|kind| self.column(kind).is_some())
            }
            _ => false,
        }
    }

    /// The column of a listing; of names, the first one.
    fn column(self, kind: &ListingKind) -> Option<usize> {
        let named = |name: &str| kind.columns.iter().position(|column| column.name == name);
        match self {
            Self::SelfWeight => named("self_weight"),
            Self::AllWeight => named("all_weight"),
            Self::Samples => named("samples"),
            Self::Name => {
                let is_name = |column: &super::Column| column.role == ColumnRole::Name && column.shown != Shown::Text;
                kind.columns.iter().position(is_name)
            }
        }
    }
}

impl Listing {
    /// Puts the rows in this order.
    pub(super) fn sort(&mut self, kind: &ListingKind, sort: SortBy) {
        let Some(column) = sort.column(kind) else { return };
        match sort {
            // What stands behind a name belongs to it.
            SortBy::Name => self.rows.sort_by(|a, b| compare_all(&a[column..], &b[column..])),
            _ => self.rows.sort_by_key(|row| Reverse(number(&row[column]))),
        }
    }
}

fn number(cell: &Cell) -> u64 {
    match cell {
        Cell::Number(number) | Cell::Weight(number) => *number,
        _ => 0,
    }
}

fn compare_all(a: &[Cell], b: &[Cell]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Texts by their characters, numbers by size; other cells tell no order.
fn compare(a: &Cell, b: &Cell) -> Ordering {
    match (a, b) {
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Number(a), Cell::Number(b)) => a.cmp(b),
        (Cell::Absent, Cell::Text(_) | Cell::Number(_)) => Ordering::Greater,
        (Cell::Text(_) | Cell::Number(_), Cell::Absent) => Ordering::Less,
        _ => Ordering::Equal,
    }
}

/// Puts functions in this order.
pub(super) fn sort_functions(profile: &Profile, rows: &mut [FunctionRow], sort: SortBy) {
    let name = |row: &FunctionRow| match row.label {
        Label::Function(id) => (profile.function_name(id), profile.binary_name(id).unwrap_or_default()),
        Label::NoStack | Label::Root => (NO_STACK, ""),
    };
    match sort {
        SortBy::SelfWeight => rows.sort_by_key(|row| Reverse(row.self_weight)),
        SortBy::AllWeight => rows.sort_by_key(|row| Reverse(row.all_weight)),
        SortBy::Samples => rows.sort_by_key(|row| Reverse(row.all_samples)),
        SortBy::Name => rows.sort_by(|a, b| name(a).cmp(&name(b))),
    }
}

/// Puts threads in this order, those below a weight last.
pub(super) fn sort_threads(profile: &Profile, rows: &mut [ThreadReport], sort: SortBy, least: u64) {
    let name = |row: &ThreadReport| {
        let thread = profile.thread(row.thread);
        let [name, process] = [thread.name, profile.process(thread.process).name].map(|name| profile.string(name));
        (name.is_empty(), name, process, thread.tid)
    };
    match sort {
        SortBy::SelfWeight => {}
        SortBy::AllWeight => rows.sort_by_key(|row| Reverse(row.counted.weight.value)),
        SortBy::Samples => rows.sort_by_key(|row| Reverse(row.counted.samples)),
        SortBy::Name => rows.sort_by(|a, b| name(a).cmp(&name(b))),
    }
    rows.sort_by_key(|row| row.counted.weight.value < least);
}
