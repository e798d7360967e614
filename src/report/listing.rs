//! Tables as rows of cells in columns, which every output format writes in its own way.
//!
//! The module of each table describes its columns ([`ListingKind`]) and creates its rows ([`Listing`]). Text, JSON and CSV have one writer each
//! for all tables. Sorting and limits are implemented here.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

use super::{Report, SeriesReport, SortBy};
use crate::calltree::percent;
use crate::units::{Nanos, Weight};

/// The label for samples without a recorded stack.
pub(crate) const NO_STACK: &str = Report::NO_STACK;
/// The field for the unit of the weights in a row.
const UNIT: &str = "unit";

impl Report<'_> {
    /// The label for samples without a recorded stack.
    pub const NO_STACK: &'static str = "[no stack recorded]";
}

/// The static description of a table.
#[derive(Debug)]
pub struct ListingKind {
    /// The plural noun for its rows, which is also the name of the JSON array: `binaries`.
    pub name: &'static str,
    /// The noun for one row: `binary`.
    pub singular: &'static str,
    /// The columns, in the order of the cells.
    pub columns: &'static [Column],
    /// Which limits can hide rows.
    pub(crate) limits: RowLimits,
    /// Makes the rows of a series.
    pub(super) make: fn(&Report<'_>, &SeriesReport) -> Listing,
    /// The fields of CSV and JSON in order, if they are not simply the columns followed by the unit.
    csv_order: Option<&'static [&'static str]>,
    json_order: Option<&'static [&'static str]>,
}

impl ListingKind {
    pub(super) const fn new(
        [name, singular]: [&'static str; 2],
        columns: &'static [Column],
        limits: RowLimits,
        make: fn(&Report<'_>, &SeriesReport) -> Listing,
    ) -> Self {
        Self { name, singular, columns, limits, make, csv_order: None, json_order: None }
    }

    /// Sets the CSV fields.
    pub(super) const fn csv(self, order: &'static [&'static str]) -> Self {
        Self { csv_order: Some(order), ..self }
    }

    /// Sets the JSON fields.
    pub(super) const fn json(self, order: &'static [&'static str]) -> Self {
        Self { json_order: Some(order), ..self }
    }

    pub(crate) fn csv_fields(&self) -> Vec<Field> {
        self.fields(self.csv_order)
    }

    pub(crate) fn json_fields(&self) -> Vec<Field> {
        self.fields(self.json_order)
    }

    fn fields(&self, order: Option<&[&'static str]>) -> Vec<Field> {
        let all = || self.columns.iter().filter(|column| column.is_for_machines()).map(|column| column.name);
        let names = order.map_or_else(|| all().chain([UNIT]).collect(), <[&str]>::to_vec);
        let cell = |name: &str| self.columns.iter().position(|column| column.name == name);
        let fields: Vec<Field> = names.into_iter().map(|name| Field { name, cell: cell(name) }).collect();
        debug_assert!(fields.iter().all(|field| field.cell.is_some() != (field.name == UNIT)), "{}", self.name);
        fields
    }
}

/// A field of a row in CSV or JSON.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The index of its cell; `None` for the unit of the weights.
    cell: Option<usize>,
}

impl Field {
    pub(crate) fn value<'c>(&self, row: &'c [Cell], listing: &Listing) -> Cow<'c, Cell> {
        match self.cell {
            Some(index) => Cow::Borrowed(&row[index]),
            None => Cow::Owned(Cell::text(listing.total.unit.name())),
        }
    }
}

/// Which limits can hide rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowLimits {
    /// Hides rows after the [first](super::ReportOptions::top), rows below [`min_weight`](crate::calltree::Pruning::min_weight), and, in text,
    /// rows below [`min_percent`](crate::calltree::Pruning::min_percent) of the total.
    All,
    /// Like [`All`](Self::All), but in text, `min_percent` applies before the limit on the number of rows.
    HeavyFirst,
    /// Hides rows after the first, and rows below `min_weight`.
    Ordered,
    /// Hides only rows below `min_weight`, since such tables are short.
    Weight,
    /// Hides nothing, since the rows sum up others or belong together. The view's data may have its own limits.
    None,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The header in CSV and the key in JSON: `self_weight`.
    pub name: &'static str,
    /// The heading in text. `{unit}` becomes the unit of the weights.
    pub title: &'static str,
    /// The role of its cells.
    pub role: ColumnRole,
    /// The formats that show the column.
    pub(crate) shown: Shown,
    /// The minimum width in text.
    pub(crate) width: usize,
}

/// What a column's cells are, which decides how text aligns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnRole {
    /// Weights ([`Cell::Weight`]). Text adds their share of the listing's total.
    Weight,
    /// Other numbers, times and percentages. Right-aligned in text.
    Number,
    /// Short text. Left-aligned, and as wide as the longest cell, up to a limit.
    Label,
    /// The subject of the row. In text, the last column, with its middle cut if space is short.
    Name,
    /// The owner of the subject, such as the binary of a function. In text, it follows the name, dimmed, and is cut first.
    Owner,
}

/// The formats that show a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All formats.
    Everywhere,
    /// All formats, but text only if enough space for names is left.
    WhereWide,
    /// Only JSON and CSV.
    Machines,
    /// Only text.
    Text,
}

impl Column {
    /// A column that every format shows.
    pub const fn new(name: &'static str, title: &'static str, role: ColumnRole) -> Self {
        Self { name, title, role, shown: Shown::Everywhere, width: 0 }
    }

    pub(super) const fn weight(name: &'static str, title: &'static str) -> Self {
        Self::new(name, title, ColumnRole::Weight)
    }

    pub(super) const fn number(name: &'static str, title: &'static str) -> Self {
        Self::new(name, title, ColumnRole::Number)
    }

    /// A column that only JSON and CSV show.
    pub(super) const fn machine(name: &'static str, role: ColumnRole) -> Self {
        Self::new(name, "", role).shown(Shown::Machines)
    }

    pub(super) const fn shown(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// Sets the minimum width in text.
    pub(super) const fn at_least(self, width: usize) -> Self {
        Self { width, ..self }
    }

    /// True if JSON and CSV have the column.
    pub fn is_for_machines(&self) -> bool {
        self.shown != Shown::Text
    }
}

/// The rows of one series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Listing {
    /// The weight that percentages of rows refer to.
    pub total: Weight,
    /// The rows in display order, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// The rows hidden because of their weight.
    pub hidden: HiddenTotal,
    /// The rows hidden because they come after the [first rows](super::ReportOptions::top), which `rows` contains.
    pub after: HiddenTotal,
    /// Notes for the reader, one sentence each.
    pub notes: Vec<String>,
}

impl Listing {
    /// A listing without hidden rows.
    pub(super) fn new(total: Weight, rows: Vec<Vec<Cell>>, notes: Vec<String>) -> Self {
        Self { total, rows, hidden: HiddenTotal::default(), after: HiddenTotal::default(), notes }
    }

    pub(super) fn sort(&mut self, kind: &ListingKind, sort: SortBy) {
        let Some(column) = sort.column(kind) else { return };
        let compare_all = |a: &[Cell], b: &[Cell]| {
            a.iter().zip(b).map(|(a, b)| a.compare(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        match sort {
            // Columns after a name qualify it, such as the binary of a function.
            SortBy::Name => self.rows.sort_by(|a, b| compare_all(&a[column..], &b[column..])),
            _ => self.rows.sort_by_key(|row| Reverse(row[column].size())),
        }
    }

    /// Hides rows whose weights are all light. Keeps rows without weights.
    pub(super) fn leave_out(&mut self, is_light: impl Fn(u64) -> bool) {
        let is_light_row = |row: &mut Vec<Cell>| {
            let mut weights = row.iter().filter_map(Cell::weight).peekable();
            weights.peek().is_some() && weights.all(&is_light)
        };
        let light: Vec<Vec<Cell>> = self.rows.extract_if(.., is_light_row).collect();
        self.hidden.add(light.iter().map(Vec::as_slice));
    }

    /// Hides rows whose weights are all below a percentage of the total.
    pub(crate) fn leave_out_below(&mut self, min_percent: f64) {
        let total = self.total.value;
        self.leave_out(|weight| percent(weight, total) < min_percent);
    }

    /// The total of all hidden rows.
    pub(crate) fn left_out(&self) -> HiddenTotal {
        let Self { hidden, after, .. } = self;
        HiddenTotal { rows: hidden.rows + after.rows, weight: hidden.weight.saturating_add(after.weight) }
    }

    /// Hides the rows after the first `top`.
    pub(crate) fn keep_first(&mut self, top: usize) {
        let top = top.min(self.rows.len());
        self.after.add(self.rows[top..].iter().map(Vec::as_slice));
        self.rows.truncate(top);
    }
}

/// The total of the rows that one limit hides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenTotal {
    /// The number of rows.
    pub rows: u64,
    /// The total weight of the rows in the unit of the series. If rows have self weights, only these are added, since all weights overlap.
    pub weight: u64,
}

impl HiddenTotal {
    /// Adds rows by their first weight, which is the self weight if there is one.
    pub(crate) fn add<'r>(&mut self, rows: impl IntoIterator<Item = &'r [Cell]>) {
        for row in rows {
            self.rows += 1;
            self.weight = self.weight.saturating_add(row.iter().find_map(Cell::weight).unwrap_or(0));
        }
    }
}

/// A value of a listing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Unknown or not applicable: an empty field in CSV, null in JSON.
    Absent,
    /// A string.
    Text(String),
    /// A number without a unit.
    Number(u64),
    /// A weight, in the unit of the series.
    Weight(u64),
    /// A finite percentage.
    Percent(f64),
    /// A time since the start of the recording. In nanoseconds in JSON and CSV.
    Time(Nanos),
    /// Yes or no.
    Flag(bool),
}

impl Cell {
    /// Returns a string cell, or [`Absent`](Self::Absent) if the string is empty.
    pub fn text(text: &str) -> Self {
        if text.is_empty() { Self::Absent } else { Self::Text(text.to_owned()) }
    }

    /// Returns the weight, or `None` for other cells.
    pub fn weight(&self) -> Option<u64> {
        if let Self::Weight(weight) = self { Some(*weight) } else { None }
    }

    /// Returns a number cell, or [`Absent`](Self::Absent) for `None`.
    pub fn number(number: Option<u64>) -> Self {
        number.map_or(Self::Absent, Self::Number)
    }

    /// Returns a string cell, or [`Absent`](Self::Absent) for `None`.
    pub(super) fn optional(text: Option<&str>) -> Self {
        text.map_or(Self::Absent, |text| Self::Text(text.to_owned()))
    }

    /// Compares names: strings by characters, numbers by size. Missing values come last.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            (Self::Absent, Self::Text(_) | Self::Number(_)) => Ordering::Greater,
            (Self::Text(_) | Self::Number(_), Self::Absent) => Ordering::Less,
            _ => Ordering::Equal,
        }
    }

    fn size(&self) -> u64 {
        if let Self::Number(number) | Self::Weight(number) = self { *number } else { 0 }
    }
}

/// The note for a profile whose samples were summed.
pub(super) const SUMMED: &str = "samples were summed while they were read, so their times and cores are unknown";

impl SortBy {
    pub(super) fn column(self, kind: &ListingKind) -> Option<usize> {
        let is_it = |column: &Column| match self {
            Self::SelfWeight => column.name == "self_weight",
            Self::AllWeight => column.name == "all_weight",
            Self::Samples => column.name == "samples",
            Self::Name => column.role == ColumnRole::Name && column.is_for_machines(),
        };
        kind.columns.iter().position(is_it)
    }
}
