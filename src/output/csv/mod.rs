//! Tables as CSV (RFC 4180: comma, double quotes where needed, LF), with a header. An absent value is an empty field.

mod cells;
mod flame_chart;
mod listing;
mod samples;
mod trees;

use std::io::{self, Write};

use ::csv::Writer;

use super::labels::{binary_of, function_of};
use crate::calltree::Label;
use crate::profile::Profile;
use crate::recording::{DocumentContent, TableKind};
use crate::report::{Report, Scope, SeriesReport, View};
pub use cells::Cells;

/// Writes the view of a report, with names as they are. The overview is written as the summary.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_cells(report, Cells::AsTheyAre, out)
}

/// Writes the view of a report, with texts in cells as `cells` says.
///
/// # Errors
/// When `out` fails.
pub fn write_cells(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
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

pub(in crate::output) type Out<'o> = Writer<&'o mut dyn Write>;

/// Writes a record. The error of the writer below comes out as it is: a closed pipe stays one.
pub(in crate::output) fn record(csv: &mut Out<'_>, fields: &[&str]) -> io::Result<()> {
    csv.write_record(fields).map_err(|error| match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

fn optional(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn summary(report: &Report<'_>, cells: Cells, csv: &mut Out<'_>) -> io::Result<()> {
    record(csv, &["input", "run", "table", "schema", "kind", "rows", "samples", "rejected"])?;
    for document in &report.export.documents {
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

/// The origin of a row: `input,run,table,schema`, then `pid,process,tid,thread` where they apply.
fn origin(report: &Report<'_>, series: &SeriesReport, scope: Scope, cells: Cells) -> [String; 8] {
    let profile = &report.export.profile;
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let position = report.table(series.series).and_then(|table| table.position);
    let thread = match scope {
        Scope::Thread(id) => Some(profile.thread(id)),
        _ => None,
    };
    let process = match scope {
        Scope::Process(id) => Some(profile.process(id)),
        _ => thread.map(|thread| profile.process(thread.process)),
    };
    [
        cells.text(profile.string(run.input)).into_owned(),
        run.number.to_string(),
        optional(position.map(u64::from)),
        cells.text(profile.string(row.schema)).into_owned(),
        optional(process.and_then(|process| process.pid)),
        cells.text(process.map_or("", |process| profile.string(process.name))).into_owned(),
        optional(thread.and_then(|thread| thread.tid)),
        cells.text(thread.map_or("", |thread| profile.string(thread.name))).into_owned(),
    ]
}

/// Writes a header, given as it stands in the file.
fn header(csv: &mut Out<'_>, columns: &str) -> io::Result<()> {
    record(csv, &columns.split(',').collect::<Vec<_>>())
}

/// Writes a record of columns that many records share and columns of its own.
fn record_of(csv: &mut Out<'_>, shared: &[String], own: &[&str]) -> io::Result<()> {
    let fields: Vec<&str> = shared.iter().map(String::as_str).chain(own.iter().copied()).collect();
    record(csv, &fields)
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
    let profile = &report.export.profile;
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

/// Appends a field as [`record`] writes it: in quotes, if it holds what ends a field or a record.
fn push_field(field: &str, out: &mut Vec<u8>) {
    if memchr::memchr3(b',', b'"', b'\n', field.as_bytes()).is_none() && !field.contains('\r') {
        return out.extend_from_slice(field.as_bytes());
    }
    out.push(b'"');
    push_doubled(field, out);
    out.push(b'"');
}

/// Appends what stands between quotes: each quote in it is doubled.
fn push_doubled(field: &str, out: &mut Vec<u8>) {
    for (index, part) in field.split('"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part.as_bytes());
    }
}

/// Appends `field,field`: a function and its binary.
fn push_function(profile: &Profile, label: Label, cells: Cells, out: &mut Vec<u8>) {
    push_field(&cells.text(function_of(profile, label)), out);
    out.push(b',');
    push_field(&cells.text(binary_of(profile, label).unwrap_or_default()), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_other_tables() {
        for field in ["", "a", " a ", "a,b", "\"", "a\"b\"", "a\nb", "a\rb", "é;\t|'", ",", "\"\""] {
            let mut expected = Vec::new();
            let out: &mut dyn Write = &mut expected;
            let mut csv = Writer::from_writer(out);
            record(&mut csv, &[field, "x"]).unwrap();
            csv.flush().unwrap();
            drop(csv);
            let mut found = Vec::new();
            push_field(field, &mut found);
            found.extend_from_slice(b",x\n");
            assert_eq!(found, expected, "{field:?}");
        }
    }
}
