//! Views that are one table: an object for each row.

use std::io::{self, Write};

use super::values::{Layout, Rows, push_text};
use crate::output::byte_writer::{ByteWriter, push_number};
use crate::report::{Cell, ListingKind, Report};

/// Writes the rows of all series, under the name of the listing or as lines.
pub(super) fn write(report: &Report<'_>, kind: &ListingKind, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ByteWriter::new(out);
    let mut rows = Rows::begin(layout, kind.name, &mut writer.text);
    let fields = kind.json_fields();
    for (index, series) in report.series.iter().enumerate() {
        let listing = report.listing_of(kind, series);
        for row in &listing.rows {
            rows.next(&mut writer.text);
            writer.put(b"{\"series\":");
            writer.put_number(index as u64);
            for field in &fields {
                writer.put(format!(",\"{}\":", field.name).as_bytes());
                push_cell(&field.value(row, &listing), &mut writer.text)?;
            }
            writer.put(b"}");
            writer.flush_if_full()?;
        }
    }
    rows.end(&mut writer.text);
    writer.finish()
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
