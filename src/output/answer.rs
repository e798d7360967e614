//! The entry point of all writers: writes an answer in a format to a destination.

use std::io::{self, Write};

use super::diff::DiffReport;
use super::inert::write_text;
use super::{Format, chrome_trace, csv, d3, diff, firefox, folded, json, rows, speedscope, svg, symbols, text};
#[cfg(feature = "fleet")]
use crate::fleet::{FleetReport, TrendReport, compare::Comparison};
#[cfg(feature = "fleet")]
use crate::intervals::IntervalSummary;
use crate::recording::{Document, Recording};
use crate::redact::Redacted;
use crate::report::{HangReport, Report};
use crate::symbols::Found;
use crate::tables::SurveyedTable;

/// An answer that can be written. [`write()`] also accepts references to the inner types.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Answer<'a, 'e> {
    /// A report on one recording, in any format except `Html`, `Markdown` and `JUnit`, which are for fleets and comparisons of groups of runs.
    Report(&'a Report<'e>),
    /// The changes between two recordings, as text, JSON, CSV, a flame graph of the second recording coloured by change, or an interactive page for
    /// both.
    Diff(&'a DiffReport<'a, 'e>),
    /// The contents of documents (`traceparse toc`), as text or JSON; with the replacements if names were replaced.
    Contents(&'a [Document], Option<&'a [Redacted]>),
    /// The tables of inputs, each with the input's name (`traceparse tables`), as text or JSON; with the replacements if names were replaced.
    Tables(&'a [(String, Vec<SurveyedTable>)], Option<&'a [Redacted]>),
    /// Symbol files, and the binaries of a recording that lack symbols (`traceparse uuid`), as text or JSON.
    Symbols(&'a [Found], Option<&'a Report<'e>>),
    /// Hangs and hitches, as text or JSON.
    Hangs(&'a HangReport, &'a Recording),
    /// Intervals by name, as text, JSON or CSV.
    #[cfg(feature = "fleet")]
    Intervals(&'a IntervalSummary),
    /// A fleet report, as text (the overview fits one screen), JSON, CSV (a row for each scope of each cohort) or HTML.
    #[cfg(feature = "fleet")]
    Fleet(&'a FleetReport),
    /// Whether one group of runs is slower than another, as text, JSON, Markdown or JUnit; the runs as CSV.
    #[cfg(feature = "fleet")]
    Comparison(&'a Comparison),
    /// The changes of CPU use over versions or dates, as text, JSON or CSV.
    #[cfg(feature = "fleet")]
    Trend(&'a TrendReport<'a>),
}

impl<'a, 'e> From<&'a Report<'e>> for Answer<'a, 'e> {
    fn from(report: &'a Report<'e>) -> Self {
        Self::Report(report)
    }
}

impl<'a, 'e> From<&'a DiffReport<'a, 'e>> for Answer<'a, 'e> {
    fn from(report: &'a DiffReport<'a, 'e>) -> Self {
        Self::Diff(report)
    }
}

impl<'a> From<&'a [Document]> for Answer<'a, '_> {
    fn from(documents: &'a [Document]) -> Self {
        Self::Contents(documents, None)
    }
}

impl<'a> From<&'a Vec<Document>> for Answer<'a, '_> {
    fn from(documents: &'a Vec<Document>) -> Self {
        Self::Contents(documents, None)
    }
}

#[cfg(feature = "fleet")]
impl<'a> From<&'a FleetReport> for Answer<'a, '_> {
    fn from(report: &'a FleetReport) -> Self {
        Self::Fleet(report)
    }
}

#[cfg(feature = "fleet")]
impl<'a> From<&'a TrendReport<'a>> for Answer<'a, '_> {
    fn from(trend: &'a TrendReport<'a>) -> Self {
        Self::Trend(trend)
    }
}

#[cfg(feature = "fleet")]
impl<'a> From<&'a Comparison> for Answer<'a, '_> {
    fn from(comparison: &'a Comparison) -> Self {
        Self::Comparison(comparison)
    }
}

/// Writes an answer in a format.
///
/// # Errors
/// If `out` fails. [`Unsupported`](io::ErrorKind::Unsupported) if the answer cannot be written in this format.
/// [`InvalidInput`](io::ErrorKind::InvalidInput) if the format is for one measurement and the report has several, or if it needs the time of each
/// sample and samples were summed while reading or recorded without times.
// A program that writes only some formats then contains only their writers.
#[inline(always)]
pub fn write<'a, 'e: 'a>(
    answer: impl Into<Answer<'a, 'e>>,
    format: &Format<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let answer = answer.into();
    match format {
        Format::Text(style) | Format::Overview(style, _) => {
            write_text(style.is_coloured, out, |out| write_answer(answer, format, out))
        }
        _ => write_answer(answer, format, out),
    }
}

#[inline(always)]
fn write_answer(answer: Answer<'_, '_>, format: &Format<'_>, out: &mut dyn Write) -> io::Result<()> {
    match answer {
        Answer::Report(report) => write_report(report, format, out),
        Answer::Diff(report) => match format {
            Format::Text(style) => diff::text::write(report, style, out),
            Format::Overview(style, context) => diff::text::write_overview(report, context, style, out),
            Format::Json => diff::json::write(report, out),
            Format::Csv(cells) => diff::csv::write(report, *cells, out),
            Format::FlameGraph(options) => diff::write_flame_graph(report, options, out),
            #[cfg(feature = "compression")]
            Format::Workbench(options) => super::workbench::write_comparison(report, options, out),
            _ => unsupported("a comparison", format),
        },
        Answer::Contents(documents, redacted) => match format {
            Format::Text(style) => text::write_contents(documents, style, out),
            Format::Json => json::write_contents(documents, redacted, out),
            _ => unsupported("a table of contents", format),
        },
        Answer::Tables(inputs, redacted) => match format {
            Format::Text(style) => rows::write_list_text(inputs, style, out),
            Format::Json => rows::write_list_json(inputs, redacted, out),
            _ => unsupported("a list of tables", format),
        },
        Answer::Symbols(found, report) => match format {
            Format::Text(_) => symbols::write_text(found, report, out),
            Format::Json => symbols::write_json(found, report, out),
            _ => unsupported("a list of symbols", format),
        },
        Answer::Hangs(report, recording) => match format {
            Format::Text(style) => super::hangs::write_text(report, recording, style, out),
            Format::Json => super::hangs::write_json(report, recording, out),
            _ => unsupported("a list of hangs", format),
        },
        #[cfg(feature = "fleet")]
        Answer::Intervals(summary) => match format {
            Format::Text(style) => super::interval_summary::write_text(summary, style, out),
            Format::Json => super::interval_summary::write_json(summary, out),
            Format::Csv(cells) => super::interval_summary::write_csv(summary, *cells, out),
            _ => unsupported("a list of intervals", format),
        },
        #[cfg(feature = "fleet")]
        Answer::Fleet(report) => match format {
            Format::Text(style) => super::fleet::text::write(report, style, out),
            Format::Overview(style, _) => super::fleet::text::write_overview(report, style, out),
            Format::Json => super::fleet::json::write(report, &super::fleet::json::Extent::ALL, out),
            Format::Csv(cells) => super::fleet::csv::write(report, *cells, out),
            #[cfg(feature = "fleet")]
            Format::Html(pages) => super::fleet::page::write(report, pages, out),
            _ => unsupported("a report of a fleet", format),
        },
        #[cfg(feature = "fleet")]
        Answer::Comparison(comparison) => match format {
            Format::Text(style) => super::fleet::text::comparison::write(comparison, style, out),
            Format::Json => super::fleet::comparison::json::write(comparison, out),
            Format::Csv(cells) => super::fleet::comparison::csv::write(comparison, *cells, out),
            Format::Markdown => super::fleet::comparison::markdown::write(comparison, out),
            Format::JUnit => super::fleet::comparison::junit::write(comparison, out),
            _ => unsupported("a comparison of groups of runs", format),
        },
        #[cfg(feature = "fleet")]
        Answer::Trend(trend) => match format {
            Format::Text(style) => super::fleet::text::trend::write(trend, style, out),
            Format::Json => super::fleet::trend::write_json(trend, out),
            Format::Csv(cells) => super::fleet::trend::write_csv(trend, *cells, out),
            _ => unsupported("a trend", format),
        },
    }
}

#[inline(always)]
fn write_report(report: &Report<'_>, format: &Format<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text(style) => text::write(report, style, out),
        Format::Overview(style, context) => text::write_overview(report, context, style, out),
        Format::Json => json::write(report, out),
        Format::JsonLines => json::write_lines(report, out),
        Format::Csv(cells) => csv::write(report, *cells, out),
        Format::Folded => folded::write(report, out),
        Format::FlameGraph(options) => svg::write(report, options, out),
        Format::Firefox(markers) => firefox::write(report, markers, out),
        Format::Speedscope => speedscope::write(report, out),
        Format::D3 => d3::write(report, out),
        Format::ChromeTrace => chrome_trace::write(report, out),
        #[cfg(feature = "compression")]
        Format::Pprof => super::pprof::write(report, out),
        #[cfg(feature = "compression")]
        Format::Workbench(options) => super::workbench::write(report, options, out),
        #[cfg(feature = "fleet")]
        Format::Html(_) | Format::Markdown | Format::JUnit => unsupported("a report of one recording", format),
    }
}

fn unsupported(answer: &str, format: &Format<'_>) -> io::Result<()> {
    let text = format!("{answer} cannot be written as {}", format.name());
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}
