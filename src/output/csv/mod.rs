//! Tables as CSV (RFC 4180: comma, double quotes where needed, LF), with a header. An absent value is an empty field.

mod cells;
mod flame_chart;
mod listing;
mod records;
mod samples;
mod trees;

use std::io::{self, Write};

use ::csv::Writer;

use super::labels::{binary_of, function_of};
use crate::recording::{DocumentContent, TableKind};
use crate::report::{Report, Scope, View};
pub use cells::Cells;
pub(in crate::output) use records::{Out, record};
use records::{header, optional, origin, record_of};

/// Writes the view of a report, with texts in cells as `cells` says. The overview is written as the summary.
///
/// # Errors
/// When `out` fails.
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
    match report.options.view {
        View::Threads => threads(report, cells, &mut csv)?,
        View::Functions => functions(report, cells, &mut csv)?,
        _ => summary(report, cells, &mut csv)?,
    }
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

fn threads(report: &Report<'_>, cells: Cells, csv: &mut Out<'_>) -> io::Result<()> {
    header(csv, "input,run,table,schema,pid,process,tid,thread,samples,all_weight,unit")?;
    for series in &report.series {
        for thread in report.shown_threads(series) {
            let shared = origin(report, series, Scope::Thread(thread.thread), cells);
            let (samples, weight) = (thread.counted.samples.to_string(), thread.counted.weight.value.to_string());
            record_of(csv, &shared, &[&samples, &weight, series.unit.name()])?;
        }
    }
    Ok(())
}

fn functions(report: &Report<'_>, cells: Cells, csv: &mut Out<'_>) -> io::Result<()> {
    let profile = &report.recording.profile;
    header(csv, "input,run,table,schema,self_weight,all_weight,self_samples,samples,unit,function,binary")?;
    for series in &report.series {
        let shared = &origin(report, series, Scope::All, cells)[..4];
        for row in report.shown_functions(series) {
            let own = [
                &row.self_weight.to_string(),
                &row.all_weight.to_string(),
                &row.self_samples.to_string(),
                &row.all_samples.to_string(),
                series.unit.name(),
                &cells.text(function_of(profile, row.label)),
                &cells.text(binary_of(profile, row.label).unwrap_or_default()),
            ];
            record_of(csv, shared, &own)?;
        }
    }
    Ok(())
}
