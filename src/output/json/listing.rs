//! Views that are one table: an object for each row.

use std::io::{self, Write};

use super::values::{Layout, Rows};
use crate::output::byte_writer::{ByteWriter, Put};
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
            writer.put(b"{\"series\":").put_number(index as u64);
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
        Cell::Absent => out.put_text(None),
        Cell::Text(ref text) => out.put_text(Some(text)),
        Cell::Number(number) | Cell::Weight(number) => out.put_number(number),
        Cell::Time(time) => out.put_number(time.as_nanos()),
        Cell::Percent(percent) => return Ok(serde_json::to_writer(out, &percent)?),
        Cell::Flag(flag) => out.put(if flag { b"true" } else { b"false" }),
    };
    Ok(())
}
