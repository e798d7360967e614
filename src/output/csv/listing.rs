//! Views that are one table: a record for each row.

use std::io::{self, Write};

use super::cells::Cells;
use super::records::{push_field, series_fields};
use crate::output::byte_writer::{ByteWriter, Put, push_number};
use crate::report::{Cell, ListingKind, Report};

/// Writes the header and the rows of all series: whose they are, the columns of the listing, the unit.
pub(super) fn write(report: &Report<'_>, kind: &ListingKind, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ByteWriter::new(out);
    writer.put(b"input,run,table,schema");
    let fields = kind.csv_fields();
    for field in &fields {
        writer.put(format!(",{}", field.name).as_bytes());
    }
    writer.put(b"\n");
    for series in &report.series {
        let listing = report.listing_of(kind, series);
        let shared = series_fields(report, series, cells);
        for row in &listing.rows {
            writer.put(&shared);
            for (index, field) in fields.iter().enumerate() {
                writer.put(if index == 0 { b"" } else { b"," });
                push_cell(&field.value(row, &listing), cells, &mut writer.text);
            }
            writer.put(b"\n");
            writer.flush_if_full()?;
        }
    }
    writer.finish()
}

fn push_cell(cell: &Cell, cells: Cells, out: &mut Vec<u8>) {
    match *cell {
        Cell::Absent => {}
        Cell::Text(ref text) => push_field(&cells.text(text), out),
        Cell::Number(number) | Cell::Weight(number) => push_number(number, out),
        Cell::Time(time) => push_number(time.as_nanos(), out),
        Cell::Percent(percent) => out.extend_from_slice(format!("{percent}").as_bytes()),
        Cell::Flag(flag) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
    }
}
