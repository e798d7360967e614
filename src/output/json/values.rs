//! Values, fields and rows that all documents share. Rows are array elements or lines.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::report::{Amount, Report, Scope, ScopeParts};

/// The layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Elements of an array, which is a field of the document.
    Document,
    /// One line per row.
    Lines,
}

/// Writes the separators between rows.
pub(super) struct Rows {
    layout: Layout,
    is_first: bool,
}

impl Rows {
    /// Begins the rows. In a document, they form the array `name`.
    pub(super) fn begin(layout: Layout, name: &str, out: &mut Vec<u8>) -> Self {
        if layout == Layout::Document {
            out.extend_from_slice(format!(",\n\"{name}\":[").as_bytes());
        }
        Self { layout, is_first: true }
    }

    /// Appends the separator before the next row.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) {
        let separator: &[u8] = match (self.layout, std::mem::replace(&mut self.is_first, false)) {
            (Layout::Document, true) | (Layout::Lines, false) => b"\n",
            (Layout::Document, false) => b",\n",
            (Layout::Lines, true) => b"",
        };
        out.extend_from_slice(separator);
    }

    /// Appends the end after the last row.
    pub(super) fn end(self, out: &mut Vec<u8>) {
        match self.layout {
            Layout::Document => out.push(b']'),
            Layout::Lines if self.is_first => {}
            Layout::Lines => out.push(b'\n'),
        }
    }
}

/// Writes the start of an object with at least one field. More fields follow.
pub(in crate::output) fn begin(out: &mut dyn Write, fields: &Value) -> io::Result<()> {
    let object = serde_json::to_vec(fields)?;
    out.write_all(object.strip_suffix(b"}").unwrap_or(&object))
}

/// Writes a field that is not the first in its object.
pub(in crate::output) fn field(out: &mut dyn Write, name: &str, value: &Value) -> io::Result<()> {
    write!(out, ",\n\"{name}\":")?;
    Ok(serde_json::to_writer(out, value)?)
}

/// Writes an array field with one value per line.
pub(in crate::output) fn values(out: &mut dyn Write, name: &str, rows: impl Iterator<Item = Value>) -> io::Result<()> {
    array(out, name, rows, |row, out| Ok(serde_json::to_writer(out, &row)?))
}

/// Writes an array field with one element per line.
pub(in crate::output) fn array<T>(
    out: &mut dyn Write,
    name: &str,
    rows: impl Iterator<Item = T>,
    write: impl FnMut(T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    list(out, Layout::Document, name, rows, write)
}

/// Writes rows as an array `name` or as lines.
pub(super) fn list<T>(
    out: &mut dyn Write,
    layout: Layout,
    name: &str,
    rows: impl Iterator<Item = T>,
    mut write: impl FnMut(T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut between = Vec::new();
    let mut written = Rows::begin(layout, name, &mut between);
    for row in rows {
        written.next(&mut between);
        out.write_all(&between)?;
        between.clear();
        write(row, out)?;
    }
    written.end(&mut between);
    out.write_all(&between)
}

/// The scope of some samples, and their number and weight.
pub(super) fn scope(report: &Report<'_>, series: usize, scope: Scope, counted: &Amount) -> Value {
    let profile = &report.recording.profile;
    let origin = profile.series(report.series[series].series);
    let mut value = json!({
        "series": series,
        "run": profile.run(origin.run).number,
        "schema": profile.string(origin.schema),
    });
    let ScopeParts { process, thread, part } = scope.parts(profile);
    let is_part = matches!(scope, Scope::State(_) | Scope::CoreKind(_) | Scope::Label(_));
    if let Some(field) = report.options.separate_by.field().filter(|_| is_part) {
        value[field] = json!(part.map(|id| profile.string(id)));
    }
    if let Some(process) = process {
        value["process"] = json!(profile.string(process.name));
        value["pid"] = json!(process.pid);
    }
    if let Some(thread) = thread {
        value["thread"] = json!(profile.string(thread.name));
        value["tid"] = json!(thread.tid);
    }
    value["samples"] = json!(counted.samples);
    value["all_weight"] = json!(counted.weight.value);
    value["unit"] = json!(counted.weight.unit.name());
    value
}
