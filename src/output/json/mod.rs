//! JSON for programs: one document, or a line for each row. `docs/formats.md` describes every field.
//!
//! Weights are integers in the unit named beside them. A reader whose integers end at 2^53 (JavaScript) loses digits
//! above; no real recording comes near. Trees are nested as deep as stacks are, which some parsers limit.

mod flame_chart;
mod header;
mod listing;
mod rows;
mod samples;
mod source;
mod trees;

use std::io::{self, Write};

use serde_json::{Value, json};

use super::labels::{binary_of, function_of};
use super::texts::push_number;
use crate::profile::StringId;
use crate::recording::Document;
use crate::report::{Amount, HiddenRows, HidingLimit, Report, Scope, View};
use header::{contents, header};
use rows::{Layout, Rows};

pub(super) use header::{during, operations};

/// The version of the format. A new field keeps it; a field that goes or changes its meaning raises it.
pub const VERSION: u32 = 1;

/// Writes the view of a report. The overview holds everything but functions and samples.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    header(report, "traceparse", ",\n", out)?;
    rows(report, Layout::Document, out)?;
    hidden_rows(report, out)?;
    out.write_all(b"}\n")
}

/// Writes the view of a report as JSON lines: everything but rows in the first line, and each row in a line of its own. They are the rows
/// of [`write()`], but for trees and flame charts, whose nodes and spans are not nested.
///
/// # Errors
/// When `out` fails.
pub fn write_lines(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    header(report, "traceparse-lines", ",", out)?;
    out.write_all(b"}\n")?;
    rows(report, Layout::Lines, out)
}

/// Writes the rows of the view.
fn rows(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    match report.options.view {
        View::Overview | View::Tree => trees::write(report, layout, out),
        View::Threads => threads(report, layout, out),
        View::Functions => functions(report, layout, out),
        View::Samples => samples::write(report, layout, out),
        View::FlameChart => flame_chart::write(report, layout, out),
        View::Summary => Ok(()),
        view => {
            if let Some(kind) = view.listing_kind() {
                listing::write(report, kind, layout, out)?;
            }
            // Rows of one kind only are lines.
            if layout == Layout::Lines {
                return Ok(());
            }
            if let Some(kind) = view.second_listing_kind() {
                listing::write(report, kind, layout, out)?;
            }
            if view == View::Lines { source::write(report, out) } else { Ok(()) }
        }
    }
}

/// Writes what tables left out, where a least weight or a number of rows was asked for.
fn hidden_rows(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let hidden = report.hidden_rows();
    if hidden.is_empty() {
        return Ok(());
    }
    array(out, "hidden_rows", hidden.iter(), |hidden, out| {
        let HiddenRows { table, series, limit, light } = hidden;
        let limit = match limit {
            HidingLimit::MinWeight => "min_weight",
            HidingLimit::Top => "top",
        };
        let unit = report.series[*series].unit.name();
        let value = json!({"series": series, "table": table, "limit": limit, "rows": light.rows, "weight": light.weight, "unit": unit});
        Ok(serde_json::to_writer(out, &value)?)
    })
}

/// Writes the contents of a table of contents, or of an export.
///
/// # Errors
/// When `out` fails.
pub fn write_contents(documents: &[Document], out: &mut dyn Write) -> io::Result<()> {
    let documents: Value = documents.iter().map(contents).collect();
    serde_json::to_writer(&mut *out, &json!({"format": "traceparse-toc", "version": VERSION, "documents": documents}))?;
    out.write_all(b"\n")
}

/// Writes a field that is not the first of its object.
pub(in crate::output) fn field(out: &mut dyn Write, name: &str, value: &Value) -> io::Result<()> {
    write!(out, ",\n\"{name}\":")?;
    Ok(serde_json::to_writer(out, value)?)
}

/// Writes a field whose value is an array, its elements one a line.
pub(in crate::output) fn array<T>(
    out: &mut dyn Write,
    name: &str,
    rows: impl Iterator<Item = T>,
    write: impl FnMut(T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    list(out, Layout::Document, name, rows, write)
}

/// Writes rows as an array `name`, or as lines.
fn list<T>(
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

fn threads(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let rows = report.series.iter().enumerate();
    let rows = rows.flat_map(|(index, series)| report.shown_threads(series).iter().map(move |thread| (index, thread)));
    list(out, layout, "threads", rows, |(index, row), out| {
        Ok(serde_json::to_writer(out, &scope(report, index, Scope::Thread(row.thread), &row.counted))?)
    })
}

/// The subject of some samples, and their number.
fn scope(report: &Report<'_>, series: usize, scope: Scope, counted: &Amount) -> Value {
    let profile = &report.export.profile;
    let origin = profile.series(report.series[series].series);
    let mut value = json!({
        "series": series,
        "run": profile.run(origin.run).number,
        "schema": profile.string(origin.schema),
    });
    let (process, thread) = match scope {
        Scope::Thread(id) => (Some(profile.thread(id).process), Some(profile.thread(id))),
        Scope::Process(id) => (Some(id), None),
        Scope::State(_) | Scope::CoreKind(_) | Scope::All => (None, None),
    };
    let text = |id: Option<StringId>| json!(id.map(|id| profile.string(id)));
    match scope {
        Scope::State(state) => value["state"] = text(state),
        Scope::CoreKind(kind) => value["core_kind"] = text(kind),
        Scope::Thread(_) | Scope::Process(_) | Scope::All => {}
    }
    if let Some(process) = process.map(|id| profile.process(id)) {
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

fn functions(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.export.profile;
    let rows = report.series.iter().enumerate();
    let rows = rows.flat_map(|(index, series)| report.shown_functions(series).map(move |row| (index, series, row)));
    list(out, layout, "functions", rows, |(index, series, row), out| {
        let value = json!({
            "series": index,
            "function": function_of(profile, row.label),
            "binary": binary_of(profile, row.label),
            "self_weight": row.self_weight,
            "all_weight": row.all_weight,
            "self_samples": row.self_samples,
            "samples": row.all_samples,
            "unit": series.unit.name(),
        });
        Ok(serde_json::to_writer(out, &value)?)
    })
}

/// Appends a text, or null.
pub(super) fn push_text(text: Option<&str>, out: &mut Vec<u8>) {
    // A vector takes everything, and every text has a form in JSON.
    let written = serde_json::to_writer(out, &text);
    debug_assert!(written.is_ok());
}

/// Appends a number, or null.
fn push_optional(number: Option<u64>, out: &mut Vec<u8>) {
    match number {
        Some(number) => push_number(number, out),
        None => out.extend_from_slice(b"null"),
    }
}
