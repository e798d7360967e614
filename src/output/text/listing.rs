//! Views that are one table, whichever: numbers to the right, then labels, and the name last, since it gives way.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::scale::Scale;
use super::style::{Style, Tone, fit, pad};
use super::words::{below_limit, clock};
use crate::calltree::{Pruning, percent};
use crate::report::{Cell, Column, ColumnRole, HiddenTotal, Listing, ListingKind, RowLimits, Shown};

/// Text of at least so many columns has room for what is shown where it is wide.
const WIDE: usize = 100;
/// A label is never shown longer than this.
const LABEL: usize = 24;
/// The name of a row whose subject was not recorded.
const NOT_RECORDED: &str = "[not recorded]";

/// Writes the rows of one series, but those of less than `pruning.min_percent` where the listing allows that.
pub(super) fn write(
    kind: &ListingKind,
    listing: &Listing,
    pruning: &Pruning,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let has_least = kind.limits == RowLimits::All;
    let (shown, below): (Vec<&Row>, Vec<&Row>) =
        listing.rows.iter().partition(|row| !has_least || is_heavy(row, listing, pruning.min_percent));
    let first_weights = below.iter().filter_map(|row| row.iter().find_map(Cell::weight));
    let hidden = HiddenTotal {
        rows: listing.hidden.rows + below.len() as u64,
        weight: first_weights.fold(listing.hidden.weight, u64::saturating_add),
    };
    let scale = Scale::of(listing.total);
    let is_wide = style.width.is_none_or(|width| width >= WIDE);
    let mut fields = Vec::new();
    for (index, column) in kind.columns.iter().enumerate() {
        let is_shown = match column.shown {
            Shown::Everywhere | Shown::Text => true,
            Shown::WhereWide => is_wide,
            Shown::Machines => false,
        };
        if is_shown && !matches!(column.role, ColumnRole::Name | ColumnRole::Owner) {
            fields.push(Field::new(index, column, listing, &shown, scale));
        }
    }
    // Weights stand first and labels last, whatever order machines have them in.
    fields.sort_by_key(|field| (!field.has_share, !field.is_right));
    let used = fields.iter().map(|field| field.width + 1).sum::<usize>() + 1;
    let name_column = kind.columns.iter().find(|column| column.role == ColumnRole::Name);
    let mut header: String = fields.iter().map(|field| field.align(&field.title) + " ").collect();
    header.push(' ');
    header.push_str(name_column.map_or("", |column| column.title));
    writeln!(out, "{}", style.paint(Tone::Dim, fit(header.trim_end(), style.width).trim_end()))?;
    for row in shown {
        write_row(kind.columns, row, &fields, (listing, scale, used), style, out)?;
    }
    if hidden.rows > 0 {
        let limit =
            below_limit(if has_least { pruning.min_percent } else { 0.0 }, pruning.min_weight, listing.total.unit);
        hidden_line(kind, listing, hidden, &fields, (scale, &limit), style, out)?;
    }
    if listing.after.rows > 0 {
        let limit = format!("after the first {}", listing.rows.len());
        hidden_line(kind, listing, listing.after, &fields, (scale, &limit), style, out)?;
    }
    for note in &listing.notes {
        writeln!(out, "{}", style.paint(Tone::Dim, &fit(note, style.width)))?;
    }
    Ok(())
}

type Row = Vec<Cell>;

/// A column that is not a name: its heading, and how wide it is.
struct Field {
    index: usize,
    title: String,
    width: usize,
    is_right: bool,
    has_share: bool,
}

impl Field {
    fn new(index: usize, column: &Column, listing: &Listing, rows: &[&Row], scale: Scale) -> Self {
        let is_weight = column.role == ColumnRole::Weight;
        let title = match (column.title, is_weight) {
            ("", true) => scale.title().to_owned(),
            (title, true) => format!("{title} {}", scale.title()),
            (title, false) => title.to_owned(),
        };
        let mut field =
            Self { index, title, width: 0, is_right: column.role != ColumnRole::Label, has_share: is_weight };
        let cells = rows.iter().filter_map(|row| row.get(index));
        let widest = cells.map(|cell| field.text(cell, listing, scale).width()).max().unwrap_or(0);
        let least = if is_weight { 11 + 7 } else { 0 };
        if field.has_share {
            field.title.push_str("      %");
        }
        field.width = widest.max(field.title.width()).max(least);
        field
    }

    fn text(&self, cell: &Cell, listing: &Listing, scale: Scale) -> String {
        match *cell {
            Cell::Absent => String::new(),
            Cell::Text(ref text) => fit(text, Some(LABEL)),
            Cell::Number(number) => number.to_string(),
            Cell::Weight(weight) if self.has_share => {
                format!("{} {:>5.1}%", scale.number(weight), percent(weight, listing.total.value))
            }
            Cell::Weight(weight) => scale.number(weight),
            Cell::Percent(percent) => format!("{percent:.1}%"),
            Cell::Time(time) => clock(time.as_nanos()),
            Cell::Flag(flag) => if flag { "yes" } else { "no" }.to_owned(),
        }
    }

    fn align(&self, text: &str) -> String {
        let room = " ".repeat(self.width.saturating_sub(text.width()));
        if self.is_right { room + text } else { pad(text, self.width) }
    }
}

fn is_heavy(row: &Row, listing: &Listing, least: f64) -> bool {
    let mut weights = row.iter().filter_map(Cell::weight).peekable();
    weights.peek().is_none() || weights.any(|weight| percent(weight, listing.total.value) >= least)
}

fn write_row(
    columns: &[Column],
    row: &Row,
    fields: &[Field],
    (listing, scale, used): (&Listing, Scale, usize),
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut is_first_weight = true;
    let mut line = String::new();
    for field in fields {
        let text = field.align(&row.get(field.index).map_or_else(String::new, |cell| field.text(cell, listing, scale)));
        // The weight that rows are sorted by; its share is not coloured.
        let tone = (std::mem::take(&mut is_first_weight) && field.has_share).then_some(Tone::Weight);
        match tone.and_then(|tone| Some((tone, text.split_at_checked(text.len().checked_sub(7)?)?))) {
            Some((tone, (weight, share))) => line.push_str(&(style.paint(tone, weight) + share)),
            None => line.push_str(&text),
        }
        line.push(' ');
    }
    let texts = |role: ColumnRole, absent: &'static str| -> Vec<&str> {
        let cells =
            columns.iter().zip(row).filter(|(column, _)| column.role == role && column.shown != Shown::Machines);
        let texts = cells.map(|(_, cell)| if let Cell::Text(text) = cell { text.as_str() } else { "" });
        texts.map(|text| if text.is_empty() { absent } else { text }).collect()
    };
    let (name, owner) = style.two_parts(
        &texts(ColumnRole::Name, NOT_RECORDED).join("  "),
        &texts(ColumnRole::Owner, "").join("  "),
        used,
    );
    let line =
        if name.is_empty() && owner.is_empty() { line.trim_end().to_owned() } else { format!("{line} {name}{owner}") };
    writeln!(out, "{line}")
}

/// `     0.500   0.5%      12 more binaries below 1%`.
fn hidden_line(
    kind: &ListingKind,
    listing: &Listing,
    hidden: HiddenTotal,
    fields: &[Field],
    (scale, limit): (Scale, &str),
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let what = if hidden.rows == 1 { kind.singular } else { kind.name };
    let note = format!("{} more {what} {limit}", hidden.rows);
    let mut line = String::new();
    let mut is_first_weight = true;
    for field in fields {
        let is_told = std::mem::take(&mut is_first_weight) && field.has_share;
        let text = if is_told { field.text(&Cell::Weight(hidden.weight), listing, scale) } else { String::new() };
        line.push_str(&(field.align(&text) + " "));
    }
    writeln!(out, "{}", style.paint(Tone::Dim, &format!("{line} {note}")))
}
