//! Views that are one table: an object for each row.

use std::io::{self, Write};

use super::rows::{Layout, Rows};
use super::values::push_text;
use crate::output::texts::{Page, push_number};
use crate::report::{Cell, ListingKind, Report};

/// Writes the rows of all series, under the name of the listing or as lines.
pub(super) fn write(report: &Report<'_>, kind: &ListingKind, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out);
    let mut rows = Rows::begin(layout, kind.name, &mut page.text);
    for (index, series) in report.series.iter().enumerate() {
        let listing = report.listing_of(kind, series);
        for row in &listing.rows {
            rows.next(&mut page.text);
            page.put(b"{\"series\":");
            page.put_number(index as u64);
            for (column, cell) in kind.columns.iter().zip(row).filter(|(column, _)| column.is_for_machines()) {
                page.put(format!(",\"{}\":", column.name).as_bytes());
                push_cell(cell, &mut page.text)?;
            }
            page.put(format!(",\"unit\":\"{}\"}}", listing.total.unit.name()).as_bytes());
            page.turn()?;
        }
    }
    rows.end(&mut page.text);
    page.finish()
}

fn push_cell(cell: &Cell, out: &mut Vec<u8>) -> io::Result<()> {
    match *cell {
        Cell::Absent => push_text(None, out),
        Cell::Text(ref text) => push_text(Some(text), out),
        Cell::Number(number) | Cell::Weight(number) => push_number(number, out),
        Cell::Time(time) => push_number(time.as_nanos(), out),
        Cell::Percent(percent) => serde_json::to_writer(out, &percent)?,
        Cell::Flag(flag) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
    }
    Ok(())
}
