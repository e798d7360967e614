//! Tables as CSV (RFC 4180: comma, double quotes where needed, LF), with a header. An absent value is an empty field.

mod records;
mod samples;
mod tables;

use std::io::{self, Write};

use ::csv::Writer;
pub use records::Cells;
use records::optional;
pub(in crate::output) use records::{Out, push_field, record};

use crate::recording::{Document, DocumentContent, Table, TableKind};
use crate::report::{Report, View};

/// Writes the view of a report, with text in cells as chosen by `cells`. The overview is written as the summary.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    match report.options.view {
        // The long tables.
        View::Tree => return tables::trees(report, cells, out),
        View::Samples => return samples::write(report, cells, out),
        View::FlameChart => return tables::flame_chart(report, cells, out),
        _ => {}
    }
    if let Some(kind) = report.options.view.listing_kind() {
        return tables::listing(report, kind, cells, out);
    }
    let mut csv = Writer::from_writer(out);
    summary(report, cells, &mut csv)?;
    csv.flush()
}

/// The header of a column of the summary, and its field for a table of a document.
type SummaryColumn = (&'static str, fn(&Document, &Table) -> String);

const SUMMARY: [SummaryColumn; 8] = [
    ("input", |document, _| document.input.clone()),
    ("run", |_, table| table.run.to_string()),
    ("table", |_, table| optional(table.position.map(u64::from))),
    ("schema", |_, table| table.schema.clone().unwrap_or_default()),
    ("kind", |_, table| if table.kind == TableKind::Cpu { "cpu" } else { "other" }.to_owned()),
    ("rows", |_, table| table.rows.to_string()),
    ("samples", |_, table| table.samples.to_string()),
    ("rejected", |_, table| table.rejected.total().to_string()),
];

fn summary(report: &Report<'_>, cells: Cells, csv: &mut Out<'_>) -> io::Result<()> {
    record(csv, &SUMMARY.map(|(name, _)| name))?;
    for document in &report.recording.documents {
        let DocumentContent::Tables(tables) = &document.content else { continue };
        for table in tables {
            let fields = SUMMARY.map(|(_, field)| field(document, table));
            let fields = fields.each_ref().map(|field| cells.text(field));
            record(csv, &fields.each_ref().map(AsRef::as_ref))?;
        }
    }
    Ok(())
}
