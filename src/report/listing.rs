//! Views that are one table: rows of cells under columns, which every writer writes in its own way.
//!
//! A view says once what its columns are ([`ListingKind`]) and makes its rows ([`Listing`]) in a file of its own. Text, JSON and
//! CSV each have one writer for all of them.

use super::{HiddenTotal, Report, SeriesReport};
use crate::units::{Nanos, Weight};

/// The label for samples without a recorded stack.
pub const NO_STACK: &str = "[no stack recorded]";

/// The part that is the same in every answer of a view that is a table.
#[derive(Debug)]
pub struct ListingKind {
    /// The name of the rows, which is that of the array in JSON: `binaries`.
    pub name: &'static str,
    /// The name of one row: `binary`.
    pub singular: &'static str,
    /// The columns, in the order in which machine formats have them.
    pub columns: &'static [Column],
    /// The rows that may be left out.
    pub(crate) limits: RowLimits,
    /// Makes the rows of one series.
    pub(super) make: fn(&Report<'_>, &SeriesReport) -> Listing,
}

/// The rows of a listing that may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowLimits {
    /// There may be many, and each stands for itself: those after the [first](super::ReportOptions::top), those none of whose weights
    /// reaches [`min_weight`](crate::calltree::Pruning::min_weight), and in text those below
    /// [`min_percent`](crate::calltree::Pruning::min_percent) of the total.
    All,
    /// Each stands for itself, and they are in order of weight: the same, but for those below `min_percent`.
    Ordered,
    /// There are few, and each stands for itself: those below `min_weight`.
    Weight,
    /// None: rows sum up others, or belong together. The data behind the view may have limits of its own.
    None,
}

/// A column of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The header in CSV and the field in JSON: `self_weight`.
    pub name: &'static str,
    /// The heading in text; empty is none. A column of weights has their unit behind it.
    pub title: &'static str,
    /// The role of its cells.
    pub role: ColumnRole,
    /// The formats that have it.
    pub(crate) shown: Shown,
}

/// The role of a column's cells, which decides how text aligns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnRole {
    /// Weights ([`Cell::Weight`]). Text shows their share of the listing's total beside them.
    Weight,
    /// Other numbers, times and percentages: to the right.
    Number,
    /// Short text: to the left, and as wide as the widest, up to a limit.
    Label,
    /// The subject of the row. In text it is the last column, and loses its middle if there is no room.
    Name,
    /// The owner of the name, such as the binary of a function. In text it stands dimmed behind the name and is cut first.
    Owner,
}

/// The formats that have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All.
    Everywhere,
    /// All, but text only where it is at least 100 columns wide.
    WhereWide,
    /// JSON and CSV.
    Machines,
    /// Text.
    Text,
}

impl Column {
    /// A column that every format has.
    pub const fn new(name: &'static str, title: &'static str, role: ColumnRole) -> Self {
        Self { name, title, role, shown: Shown::Everywhere }
    }

    /// The same column in these formats.
    #[must_use]
    pub(crate) const fn shown(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// True if JSON and CSV have it.
    pub fn is_for_machines(&self) -> bool {
        self.shown != Shown::Text
    }
}

/// The rows of one series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Listing {
    /// The weight that its weights are parts of.
    pub total: Weight,
    /// The rows, in the order in which they are shown; each has a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// The rows that are left out for their weight.
    pub hidden: HiddenTotal,
    /// The rows that are left out since they stand after the [first](super::ReportOptions::top), which are all of `rows`.
    pub after: HiddenTotal,
    /// Notes for the reader, one sentence each.
    pub notes: Vec<String>,
}

impl Listing {
    /// All rows that there are.
    pub(super) fn new(total: Weight, rows: Vec<Vec<Cell>>, notes: Vec<String>) -> Self {
        Self { total, rows, hidden: HiddenTotal::default(), after: HiddenTotal::default(), notes }
    }

    /// Takes out the rows that have weights, none of which is at least this.
    fn leave_out_light(&mut self, least: u64) {
        let is_light = |row: &mut Vec<Cell>| {
            let mut weights = row.iter().filter_map(Cell::weight).peekable();
            weights.peek().is_some() && weights.all(|weight| weight < least)
        };
        let light = self.rows.extract_if(.., is_light);
        self.hidden = HiddenTotal::of(light.filter_map(|row| row.iter().find_map(Cell::weight)));
    }

    /// Takes out the rows after the first `top`.
    pub(crate) fn keep_first(&mut self, top: usize) {
        let after = self.rows.drain(top.min(self.rows.len())..);
        // Rows without a weight count, too.
        let more = HiddenTotal::of(after.map(|row| row.iter().find_map(Cell::weight).unwrap_or(0)));
        self.after.rows += more.rows;
        self.after.weight = self.after.weight.saturating_add(more.weight);
    }
}

/// A value of a listing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Not known, or does not apply: an empty field in CSV, null in JSON.
    Absent,
    /// A text.
    Text(String),
    /// A number without a unit.
    Number(u64),
    /// A weight, in the unit of the series.
    Weight(u64),
    /// A finite number of percents.
    Percent(f64),
    /// A time, counted from the start of the recording; in nanoseconds in JSON and CSV.
    Time(Nanos),
    /// Yes or no.
    Flag(bool),
}

impl Cell {
    /// A text, or absent where it is empty.
    pub fn text(text: &str) -> Self {
        if text.is_empty() { Self::Absent } else { Self::Text(text.to_owned()) }
    }

    /// The weight; `None` where it is something else.
    pub fn weight(&self) -> Option<u64> {
        if let Self::Weight(weight) = self { Some(*weight) } else { None }
    }

    /// A number, or absent.
    pub fn number(number: Option<u64>) -> Self {
        number.map_or(Self::Absent, Self::Number)
    }
}

/// Said of a profile that has no samples one by one.
pub(super) const SUMMED: &str = "samples were added up while they were read: their times and cores are not known";

impl Report<'_> {
    /// The rows of a series, in a view that is a table ([`View::listing_kind`](super::View::listing_kind)); `None` in other views.
    pub fn listing(&self, series: &SeriesReport) -> Option<Listing> {
        self.options.view.listing_kind().map(|kind| self.listing_of(kind, series))
    }

    /// The rows of a series in a table of any view.
    pub fn listing_of(&self, kind: &ListingKind, series: &SeriesReport) -> Listing {
        let mut listing = (kind.make)(self, series);
        if let Some(sort) = self.options.sort.filter(|sort| sort.applies_to(self.options.view)) {
            listing.sort(kind, sort);
        }
        if kind.limits != RowLimits::None {
            listing.leave_out_light(self.options.pruning.min_weight);
        }
        let has_top = matches!(kind.limits, RowLimits::All | RowLimits::Ordered);
        if let Some(top) = self.options.top.filter(|_| has_top) {
            listing.keep_first(top);
        }
        listing
    }
}
