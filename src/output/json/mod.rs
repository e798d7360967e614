//! JSON for programs: one document, or one line per row. `docs/formats.md` describes every field.
//!
//! Weights are integers, with their unit in another field. JavaScript rounds integers above 2^53, which no real recording reaches. Trees
//! are nested as deeply as stacks, which exceeds the limit of some parsers.

mod header;
mod overview;
mod samples;
mod tables;
mod trees;
mod values;

use std::io::{self, Write};

use header::{VERSION, contents, header};
pub(super) use header::{during, operations, redacted};
use serde_json::json;
pub(super) use trees::write_nested;
use values::Layout;
pub(super) use values::{array, begin, field, values};

use crate::recording::Document;
use crate::redact::Redacted;
use crate::report::{HiddenRows, HidingLimit, Report, View};

/// Writes the view of a report. The overview contains everything except functions and samples.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    header(report, "traceparse", ",\n", out)?;
    rows(report, Layout::Document, out)?;
    hidden_rows(report, out)?;
    out.write_all(b"}\n")
}

/// Writes everything except rows, which is the summary.
///
/// # Errors
/// If `out` fails.
#[cfg(feature = "compression")]
pub(super) fn write_summary(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    header(report, "traceparse", ",", out)?;
    out.write_all(b"}")
}

/// Writes the view of a report as JSON lines: the first line contains all fields except rows, and each other line one row. The rows are the same as
/// in [`write()`], but tree nodes and flame chart spans are not nested.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write_lines(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    header(report, "traceparse-lines", ",", out)?;
    out.write_all(b"}\n")?;
    rows(report, Layout::Lines, out)
}

/// Writes the rows of the view.
fn rows(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    match report.options.view {
        View::Full | View::Tree => trees::trees(report, layout, out),
        View::Samples => samples::write(report, layout, out),
        View::FlameChart => trees::flame_chart(report, layout, out),
        View::Overview if layout == Layout::Document => overview::write(report, out),
        View::Overview | View::Summary => Ok(()),
        view => {
            if let Some(kind) = view.listing_kind() {
                tables::listing(report, kind, layout, out)?;
            }
            // JSON lines contain rows of only one kind.
            if layout == Layout::Lines {
                return Ok(());
            }
            if let Some(kind) = view.second_listing_kind() {
                tables::listing(report, kind, layout, out)?;
            }
            if view == View::Lines { tables::sources(report, out) } else { Ok(()) }
        }
    }
}

/// Writes the totals of rows that tables hide because of a minimum weight or a maximum number of rows.
fn hidden_rows(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let hidden = report.hidden_rows();
    if hidden.is_empty() {
        return Ok(());
    }
    values(out, "hidden_rows", hidden.iter().map(|hidden| {
        let HiddenRows { table, series, limit, total } = hidden;
        let limit = match limit {
            HidingLimit::MinWeight => "min_weight",
            HidingLimit::Top => "top",
        };
        let unit = report.series[*series].unit.name();
        json!({"series": series, "table": table, "limit": limit, "rows": total.rows, "weight": total.weight, "unit": unit})
    }))
}

/// Writes the contents of a table of contents or of an export.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write_contents(
    documents: &[Document],
    redactions: Option<&[Redacted]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    begin(out, &json!({"format": "traceparse-toc", "version": VERSION}))?;
    array(out, "documents", documents.iter(), contents)?;
    redactions.map_or(Ok(()), |list| field(out, "redacted", &redacted(list)))?;
    out.write_all(b"}\n")
}
