//! Views that consist of one table, as an object per row; and source files with the weights of their lines.

use std::io::{self, Write};

use super::values::{Layout, Rows};
use crate::calltree::KeySums;
use crate::output::byte_writer::{ByteWriter, Put};
use crate::report::{Cell, ListingKind, Report};

/// Writes the rows of all series, as an array named after the listing or as lines.
pub(super) fn listing(report: &Report<'_>, kind: &ListingKind, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
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

/// Writes the source files of all series, if their text was requested.
pub(super) fn sources(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ByteWriter::new(out);
    let mut separator: &[u8] = b",\n\"sources\":[\n";
    let mut has_asked = false;
    for (index, series) in report.series.iter().enumerate() {
        let Some(files) = report.annotated_files(series) else { continue };
        has_asked = true;
        for file in files {
            writer.put(separator);
            separator = b",\n";
            writer.put(b"{\"series\":").put_number(index as u64);
            writer.put(b",\"path\":").put_text(Some(file.path));
            writer.put(b",\"file\":").put_text(file.file.ok());
            writer.put(b",\"missing\":").put_text(file.file.err());
            put_sums(&file.sums, &mut writer);
            writer.put(format!(",\"unit\":\"{}\",\"lines\":[", series.unit.name()).as_bytes());
            for (position, line) in file.lines.iter().enumerate() {
                writer.put(if position > 0 { b",\n{\"line\":" } else { b"\n{\"line\":" });
                writer.put_number(u64::from(line.line));
                put_sums(&line.sums, &mut writer);
                writer.put(b",\"text\":").put_text(line.text).put(b"}");
                writer.flush_if_full()?;
            }
            writer.put(b"]}");
        }
    }
    if has_asked {
        writer.put(if separator == b",\n" { b"]" } else { b",\n\"sources\":[]" });
    }
    writer.finish()
}

fn put_sums(sums: &KeySums, writer: &mut ByteWriter<'_>) {
    let numbers = [
        (",\"self_weight\":", sums.self_weight),
        (",\"all_weight\":", sums.all_weight),
        (",\"self_samples\":", sums.self_samples),
        (",\"samples\":", sums.all_samples),
    ];
    for (name, number) in numbers {
        writer.put(name.as_bytes());
        writer.put_number(number);
    }
}
