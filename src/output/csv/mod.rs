//! Tables as CSV (RFC 4180: comma, double quotes where needed, LF), with a header. An absent value is an empty field.

mod cells;
mod flame_chart;
mod listing;
mod records;
mod samples;
mod trees;

use std::io::{self, Write};

use ::csv::Writer;

use crate::recording::{DocumentContent, TableKind};
use crate::report::{Report, View};
pub use cells::Cells;
use records::optional;
pub(in crate::output) use records::{Out, record};

/// Writes the view of a report, with text in cells as chosen by `cells`. The overview is written as the summary.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    match report.options.view {
        // The long tables.
        View::Tree => return trees::write(report, cells, out),
        View::Samples => return samples::write(report, cells, out),
        View::FlameChart => return flame_chart::write(report, cells, out),
        _ => {}
    }
    if let Some(kind) = report.options.view.listing_kind() {
        return listing::write(report, kind, cells, out);
    }
    let mut csv = Writer::from_writer(out);
    summary(report, cells, &mut csv)?;
    csv.flush()
}

fn summary(report: &Report<'_>, cells: Cells, csv: &mut Out<'_>) -> io::Result<()> {
    record(csv, &["input", "run", "table", "schema", "kind", "rows", "samples", "rejected"])?;
    for document in &report.recording.documents {
        let DocumentContent::Tables(tables) = &document.content else { continue };
        for table in tables {
            let kind = if table.kind == TableKind::Cpu { "cpu" } else { "other" };
            record(
                csv,
                &[
                    &cells.text(&document.input),
                    &table.run.to_string(),
                    &optional(table.position.map(u64::from)),
                    &cells.text(table.schema.as_deref().unwrap_or_default()),
                    kind,
                    &table.rows.to_string(),
                    &table.samples.to_string(),
                    &table.rejected.total().to_string(),
                ],
            )?;
        }
    }
    Ok(())
}
