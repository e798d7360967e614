//! Tables as text: weights, other numbers and labels, then the name, which is shortened if space is short.

use std::io::{self, Write};

use super::style::{Style, Tone};
use super::table::{self, IN_FORMATS, KEPT, Row, Table};
use super::words::{below_limit, clock};
use crate::calltree::{Pruning, percent};
use crate::report::{
    Cell, Column, ColumnRole, HiddenTotal, Listing, ListingKind, Report, ReportOptions, RowLimits, SeriesReport, Shown,
    View,
};
use crate::settings::VIEW;
use crate::units::{Scale, Weight, several};

/// The maximum width of a label.
const LABEL: usize = 24;
/// The width reserved for names, if they need it, before columns are dropped.
const NAME: usize = 46;
/// The name of a row whose subject was not recorded.
const NOT_RECORDED: &str = "[not recorded]";

/// Writes the rows of one series, without rows below `pruning.min_percent` if the table supports that limit.
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
    let below = below_limit(min_percent, pruning.min_weight, listing.total.unit);
    let rest = [(listing.hidden, below), (listing.after, format!("after the first {kept}"))];
    table(kind, &listing, &rest).write(IN_FORMATS, style, out)?;
    for note in &listing.notes {
        style.write_wrapped(Some(Tone::Dim), 0, note, out)?;
    }
    Ok(())
}

/// Writes the first rows that pass all limits, and one line for the rest.
pub(super) fn write_heavy_first(
    report: &Report<'_>,
    kind: &ListingKind,
    series: &SeriesReport,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let listing = report.listing_above(kind, series, report.options.pruning.min_percent);
    let ReportOptions { pruning: Pruning { min_percent, min_weight, .. }, top, sort, .. } = report.options;
    let below = below_limit(min_percent, min_weight, series.unit);
    let limit = match top.filter(|top| *top <= listing.rows.len()) {
        // In a table sorted by weight, light rows come last.
        Some(top) if listing.hidden.rows > 0 && sort.is_some() => format!("{below} or after the first {top}"),
        Some(top) => format!("after the first {top}"),
        None => below,
    };
    table(kind, &listing, &[(listing.left_out(), limit)]).write(IN_FORMATS, style, out)
}

/// Writes the first threads, and a row with the total of the others.
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
    // One more row takes the same space as a note about it.
    let shown = if heavy <= top.saturating_add(1) { heavy } else { top };
    let all = series.all_threads().count();
    if shown < all {
        listing.keep_first(shown);
        let how = match (shown == heavy, report.options.view) {
            (true, _) => format!(" {}", below_limit(0.0, report.options.pruning.min_weight, series.unit)),
            (false, View::Full) if heavy == all => format!("; {VIEW} threads shows all"),
            (false, _) => String::new(),
        };
        let position = |name: &str| kind.columns.iter().position(|column| column.name == name);
        let number = |row: &Vec<Cell>| {
            position("samples").map_or(0, |column| if let Cell::Number(n) = row[column] { n } else { 0 })
        };
        let samples = series.counted.samples.saturating_sub(listing.rows.iter().map(number).sum());
        let cells = kind.columns.iter().map(|column| match column.name {
            "all_weight" => Cell::Weight(listing.left_out().weight),
            "samples" => Cell::Number(samples),
            "thread_label" => Cell::Text(format!("{}{how}", several((all - shown) as u64, "more thread"))),
            _ => Cell::Absent,
        });
        let rest = cells.collect();
        listing.rows.push(rest);
    }
    table(kind, &listing, &[]).write(IN_FORMATS, style, out)
}

/// Makes a table of the rows, with a line for each group of hidden rows and the limit that hid them.
fn table(kind: &ListingKind, listing: &Listing, rest: &[(HiddenTotal, String)]) -> Table {
    let columns = kind.columns.iter().enumerate().filter(|(_, column)| is_in_text(column));
    let (names, mut fields): (Vec<_>, Vec<_>) =
        columns.partition(|(_, column)| matches!(column.role, ColumnRole::Name | ColumnRole::Owner));
    // Weights come first and labels last, regardless of the column order in other formats.
    fields.sort_by_key(|(_, column)| (column.role != ColumnRole::Weight, column.role == ColumnRole::Label));
    let scale = Scale::of(listing.total);
    let is_weight = |&(_, column): &(usize, &Column)| column.role == ColumnRole::Weight;
    let mut columns: Vec<table::Column> = fields.iter().map(|(_, column)| text_column(column, scale)).collect();
    // The first weight is coloured and has no percentage.
    let has_weight = fields.first().is_some_and(is_weight);
    if let Some(first) = columns.first_mut().filter(|_| has_weight) {
        first.title = first.title.trim_end_matches(['%', ' ']).to_owned();
        *first = first.clone().toned(Tone::Weight).sized(11, 1);
        columns.insert(1, table::Column::new("%", KEPT).sized(6, 1));
    }
    let first_weight = |weight: u64| [scale.number(weight), format!("{:.1}%", percent(weight, listing.total.value))];
    let row = |row: &Vec<Cell>| {
        let weight = fields.first().filter(|_| has_weight).map(|&(index, _)| match row[index] {
            Cell::Weight(weight) => first_weight(weight),
            _ => Default::default(),
        });
        let others =
            fields.iter().skip(usize::from(has_weight)).map(|&(index, _)| text(&row[index], scale, listing.total));
        let of_role = |role: ColumnRole, absent: &'static str| {
            let cells = names.iter().filter(|(_, column)| column.role == role).map(|&(index, _)| match &row[index] {
                Cell::Text(text) if !text.is_empty() => text.as_str(),
                _ => absent,
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        let cells = weight.into_iter().flatten().chain(others);
        Row::new(cells, &of_role(ColumnRole::Name, NOT_RECORDED), &of_role(ColumnRole::Owner, ""))
    };
    let left_out = rest.iter().filter(|(hidden, _)| hidden.rows > 0).map(|(hidden, limit)| {
        let what = if hidden.rows == 1 { kind.singular } else { kind.name };
        let weight = if has_weight { first_weight(hidden.weight).to_vec() } else { Vec::new() };
        Row::more(weight, &format!("{} more {what} {limit}", hidden.rows))
    });
    let rows = listing.rows.iter().map(row).chain(left_out).collect();
    let title = names.iter().find(|(_, column)| column.role == ColumnRole::Name).map_or("", |(_, column)| column.title);
    Table::new(columns, title, NAME, rows)
}

fn text_column(column: &Column, scale: Scale) -> table::Column {
    let rank = if column.shown == Shown::WhereWide { 1 } else { KEPT };
    let title = column.title.replace("{unit}", &scale.short());
    match column.role {
        ColumnRole::Weight => table::Column::new(&format!("{title}      %"), rank).sized(11 + 7, 1),
        ColumnRole::Label => table::Column::label(&title, rank, [LABEL; 2]).sized(column.width, 1),
        _ => table::Column::new(&title, rank).sized(column.width, 1),
    }
}

fn text(cell: &Cell, scale: Scale, total: Weight) -> String {
    match *cell {
        Cell::Absent => String::new(),
        Cell::Text(ref text) => text.clone(),
        Cell::Number(number) => number.to_string(),
        Cell::Weight(weight) => format!("{} {:>5.1}%", scale.number(weight), percent(weight, total.value)),
        Cell::Percent(percent) => format!("{percent:.1}%"),
        Cell::Time(time) => clock(time.as_nanos()),
        Cell::Flag(flag) => if flag { "yes" } else { "no" }.to_owned(),
    }
}

fn is_in_text(column: &Column) -> bool {
    column.shown != Shown::Machines
}
