//! Tables as text: weights, other numbers, labels, and last the name, which is shortened if space is short.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::style::{Style, Tone, fit, pad};
use super::words::{Scale, below_limit, clock, count};
use crate::calltree::{Pruning, percent};
use crate::report::{
    Cell, Column, ColumnRole, HiddenTotal, Listing, ListingKind, Report, ReportOptions, RowLimits, SeriesReport, Shown,
    View,
};
use crate::units::Weight;

/// The least width of text in which optional columns are shown.
const WIDE: usize = 100;
/// The greatest width of a label.
const LABEL: usize = 24;
/// The name of a row whose subject was not recorded.
const NOT_RECORDED: &str = "[not recorded]";

/// Writes the rows of one series, without rows below `pruning.min_percent` if the table allows that.
pub(super) fn write(
    kind: &ListingKind,
    mut listing: Listing,
    pruning: &Pruning,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let min_percent = if kind.limits == RowLimits::All { pruning.min_percent } else { 0.0 };
    let kept = listing.rows.len();
    listing.leave_out_below(min_percent);
    let table = Table::new(kind, &listing, style);
    table.write(&listing.rows, out)?;
    table.rest(listing.hidden, &below_limit(min_percent, pruning.min_weight, listing.total.unit), out)?;
    table.rest(listing.after, &format!("after the first {kept}"), out)?;
    for note in &listing.notes {
        writeln!(out, "{}", style.paint(Tone::Dim, &fit(note, style.width)))?;
    }
    Ok(())
}

/// Writes the first rows that reach all limits, and one line for all others.
pub(super) fn write_heavy_first(
    report: &Report<'_>,
    kind: &ListingKind,
    series: &SeriesReport,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let listing = report.listing_above(kind, series, report.options.pruning.min_percent);
    let ReportOptions { pruning: Pruning { min_percent, min_weight, .. }, top, sort, .. } = report.options;
    let table = Table::new(kind, &listing, style);
    table.write(&listing.rows, out)?;
    let below = below_limit(min_percent, min_weight, series.unit);
    let limit = match top.filter(|top| *top <= listing.rows.len()) {
        // Rows in the order of their weight are light only after the first ones.
        Some(top) if listing.hidden.rows > 0 && sort.is_some() => format!("{below} or after the first {top}"),
        Some(top) => format!("after the first {top}"),
        None => below,
    };
    table.rest(listing.left_out(), &limit, out)
}

/// Writes the first threads, and a row that sums up the others.
pub(super) fn write_threads(
    report: &Report<'_>,
    series: &SeriesReport,
    top: usize,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(kind) = View::Threads.listing_kind() else { return Ok(()) };
    let mut listing = report.heavy_rows(kind, series);
    let heavy = listing.rows.len();
    // One more row takes no more space than a note about it.
    let shown = if heavy <= top.saturating_add(1) { heavy } else { top };
    let all = series.all_threads().count();
    if shown < all {
        listing.keep_first(shown);
        let how = match (shown == heavy, report.options.view) {
            (true, _) => format!(" {}", below_limit(0.0, report.options.pruning.min_weight, series.unit)),
            (false, View::Full) if heavy == all => "; --view threads shows all".to_owned(),
            (false, _) => String::new(),
        };
        let position = |name: &str| kind.columns.iter().position(|column| column.name == name);
        let number =
            |row: &Row| position("samples").map_or(0, |column| if let Cell::Number(n) = row[column] { n } else { 0 });
        let samples = series.counted.samples.saturating_sub(listing.rows.iter().map(number).sum());
        let cells = kind.columns.iter().map(|column| match column.name {
            "all_weight" => Cell::Weight(listing.left_out().weight),
            "samples" => Cell::Number(samples),
            "thread_label" => Cell::Text(format!("{}{how}", count((all - shown) as u64, "more thread"))),
            _ => Cell::Absent,
        });
        let rest = cells.collect();
        listing.rows.push(rest);
    }
    Table::new(kind, &listing, style).write(&listing.rows, out)
}

type Row = Vec<Cell>;

/// The layout of a table.
struct Table<'t> {
    kind: &'t ListingKind,
    total: Weight,
    scale: Scale,
    /// The columns before the name.
    fields: Vec<Field>,
    /// The width before the name.
    used: usize,
    style: &'t Style,
}

impl<'t> Table<'t> {
    fn new(kind: &'t ListingKind, listing: &Listing, style: &'t Style) -> Self {
        let mut table =
            Self { kind, total: listing.total, scale: Scale::of(listing.total), fields: Vec::new(), used: 0, style };
        let is_wide = style.width.is_none_or(|width| width >= WIDE);
        for (index, column) in kind.columns.iter().enumerate() {
            let is_shown = is_in_text(column) && (is_wide || column.shown != Shown::WhereWide);
            if is_shown && !matches!(column.role, ColumnRole::Name | ColumnRole::Owner) {
                table.fields.push(table.field(index, column, &listing.rows));
            }
        }
        // Weights come first and labels last, regardless of the order in other formats.
        table.fields.sort_by_key(|field| (!field.has_share, !field.is_right));
        table.used = table.fields.iter().map(|field| field.width + 1).sum::<usize>() + 1;
        table
    }

    fn field(&self, index: usize, column: &Column, rows: &[Row]) -> Field {
        let has_share = column.role == ColumnRole::Weight;
        let title = column.title.replace("{unit}", self.scale.title()) + if has_share { "      %" } else { "" };
        let cells = rows.iter().filter_map(|row| row.get(index));
        let widest = cells.map(|cell| self.text(cell).width()).max().unwrap_or(0);
        let least = if has_share { 11 + 7 } else { column.width };
        let width = widest.max(title.width()).max(least);
        Field { index, title, width, is_right: column.role != ColumnRole::Label, has_share }
    }

    fn text(&self, cell: &Cell) -> String {
        match *cell {
            Cell::Absent => String::new(),
            Cell::Text(ref text) => fit(text, Some(LABEL)),
            Cell::Number(number) => number.to_string(),
            Cell::Weight(weight) => {
                format!("{} {:>5.1}%", self.scale.number(weight), percent(weight, self.total.value))
            }
            Cell::Percent(percent) => format!("{percent:.1}%"),
            Cell::Time(time) => clock(time.as_nanos()),
            Cell::Flag(flag) => if flag { "yes" } else { "no" }.to_owned(),
        }
    }

    /// Writes the header and the rows.
    fn write(&self, rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
        let is_name = |column: &&Column| column.role == ColumnRole::Name && is_in_text(column);
        let name = self.kind.columns.iter().find(is_name);
        let mut header: String = self.fields.iter().map(|field| field.align(&field.title) + " ").collect();
        header.push(' ');
        header.push_str(name.map_or("", |column| column.title));
        writeln!(out, "{}", self.style.paint(Tone::Dim, fit(header.trim_end(), self.style.width).trim_end()))?;
        rows.iter().try_for_each(|row| self.row(row, out))
    }

    fn row(&self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let mut is_first_weight = true;
        let mut line = String::new();
        for field in &self.fields {
            let text = field.align(&row.get(field.index).map_or_else(String::new, |cell| self.text(cell)));
            // The first weight is coloured, without its share.
            let tone = (std::mem::take(&mut is_first_weight) && field.has_share).then_some(Tone::Weight);
            match tone.and_then(|tone| Some((tone, text.split_at_checked(text.len().checked_sub(7)?)?))) {
                Some((tone, (weight, share))) => line.push_str(&(self.style.paint(tone, weight) + share)),
                None => line.push_str(&text),
            }
            line.push(' ');
        }
        let texts = |role: ColumnRole, absent: &'static str| -> String {
            let columns = self.kind.columns.iter().zip(row);
            let cells = columns.filter(|(column, _)| column.role == role && is_in_text(column)).map(|(_, cell)| cell);
            let texts: Vec<&str> = cells
                .map(|cell| if let Cell::Text(text) = cell { text.as_str() } else { "" })
                .map(|text| if text.is_empty() { absent } else { text })
                .collect();
            texts.join("  ")
        };
        let (name, owner) =
            self.style.two_parts(&texts(ColumnRole::Name, NOT_RECORDED), &texts(ColumnRole::Owner, ""), self.used);
        if name.is_empty() && owner.is_empty() {
            return writeln!(out, "{}", line.trim_end());
        }
        writeln!(out, "{line} {name}{owner}")
    }

    /// Writes one line for rows that are left out, if there are any: `     0.500   0.5%      12 more binaries below 1%`.
    fn rest(&self, hidden: HiddenTotal, limit: &str, out: &mut dyn Write) -> io::Result<()> {
        if hidden.rows == 0 {
            return Ok(());
        }
        let what = if hidden.rows == 1 { self.kind.singular } else { self.kind.name };
        let mut line = String::new();
        for (index, field) in self.fields.iter().enumerate() {
            let has_weight = index == 0 && field.has_share;
            let text = if has_weight { self.text(&Cell::Weight(hidden.weight)) } else { String::new() };
            line.push_str(&(field.align(&text) + " "));
        }
        let line = format!("{line} {} more {what} {limit}", hidden.rows);
        writeln!(out, "{}", self.style.paint(Tone::Dim, &line))
    }
}

/// A column before the name.
struct Field {
    index: usize,
    title: String,
    width: usize,
    is_right: bool,
    has_share: bool,
}

impl Field {
    fn align(&self, text: &str) -> String {
        let room = " ".repeat(self.width.saturating_sub(text.width()));
        if self.is_right { room + text } else { pad(text, self.width) }
    }
}

fn is_in_text(column: &Column) -> bool {
    column.shown != Shown::Machines
}
