//! A report on a fleet as one HTML page, for people.
//!
//! The page needs no network and no other file, and works without its script, which sorts and filters tables and
//! switches between light and dark. Everything that comes from input is text of elements or of attributes, escaped;
//! nothing of it is in the script. Plots are SVG in the page; their colours are those of the page (`plots`).
//!
//! It holds, in this order: the inputs, alerts, CPU use across runs, CPU use by second of the recordings, CPU use within runs, the largest
//! differences between cohorts, tables of processes, threads, binaries and functions, runs, and the definitions of the numbers. Long tables
//! are cut, and say so; JSON and CSV have everything.

mod alerts;
mod cohorts;
mod contrasts;
mod facts;
mod figures;
mod numbers;
mod plots;
mod runs;
mod scopes;
mod table;

use std::io::{self, Write};

use super::super::markup as text;
use crate::fleet::{Cohort, FleetReport, FleetScope, ScopeName};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The page may load nothing, from nowhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// More cohorts than this have no plots and no tables of their own.
const MAX_COHORTS: usize = 24;

/// Writes the page.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let mut page = io::BufWriter::new(out);
    let out: &mut dyn Write = &mut page;
    head(report, out)?;
    facts::write(report, out)?;
    out.write_all(b"<main>\n")?;
    alerts::write(report, out)?;
    cohorts::across_runs(report, out)?;
    figures::over_time(report, out)?;
    cohorts::within_runs(report, out)?;
    contrasts::write(report, out)?;
    scopes::write(report, out)?;
    runs::write(report, out)?;
    facts::method(report, out)?;
    out.write_all(b"</main>\n")?;
    facts::footer(report, out)?;
    writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>")?;
    out.flush()
}

fn head(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let title = facts::title(report);
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"traceparse {}\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>",
        env!("CARGO_PKG_VERSION")
    )
}

/// The sections that a report has: their ids and titles, in order.
fn sections(report: &FleetReport) -> Vec<(&'static str, &'static str)> {
    let cohorts = &report.cohorts;
    let all = [
        ("alerts", "Alerts", !report.alerts.is_empty()),
        ("across-runs", "Across runs", !cohorts.is_empty()),
        ("over-time", "Over time", cohorts.iter().any(|cohort| !cohort.timeline.is_empty())),
        ("within-runs", "Within runs", cohorts.iter().any(|cohort| cohort.within_runs.is_some())),
        ("contrasts", "Differences", report.contrasts.iter().any(|contrast| !contrast.rows.is_empty())),
        ("scopes", "Where it goes", cohorts.iter().any(|cohort| !cohort.tables.is_empty())),
        ("runs", "Runs", !report.runs.is_empty()),
        ("method", "Method", true),
    ];
    all.into_iter().filter(|section| section.2).map(|(id, title, _)| (id, title)).collect()
}

/// True if the report has a section.
fn has_section(report: &FleetReport, id: &str) -> bool {
    sections(report).iter().any(|section| section.0 == id)
}

/// The name of a cohort, short enough to be read.
fn cohort_name(cohort: &Cohort) -> String {
    text::shortened(&cohort.name())
}

/// The name of a row, and that of what it belongs to.
fn scope_names(scope: FleetScope, name: &ScopeName) -> (String, Option<String>) {
    let known = |text: &Option<String>| match text.as_deref() {
        None | Some("") => "(unknown)".to_owned(),
        Some(text) => text::shortened(text),
    };
    match scope {
        FleetScope::Run => ("run".to_owned(), None),
        FleetScope::Process => (known(&name.process), None),
        FleetScope::Thread => (known(&name.thread), Some(known(&name.process))),
        FleetScope::Binary => (known(&name.binary), None),
        FleetScope::Function => (known(&name.function), Some(known(&name.binary))),
    }
}

/// `process`, `processes`: the words for one scope and for many.
const fn scope_words(scope: FleetScope) -> (&'static str, &'static str) {
    match scope {
        FleetScope::Run => ("Run", "Runs"),
        FleetScope::Process => ("Process", "Processes"),
        FleetScope::Thread => ("Thread", "Threads"),
        FleetScope::Binary => ("Binary", "Binaries"),
        FleetScope::Function => ("Function", "Functions"),
    }
}

/// `P99` for `p99`, `mean by time` for `weighted-mean`; `mean` stays.
fn statistic_name(name: &str) -> String {
    if name == "weighted-mean" {
        return "mean by time".to_owned();
    }
    name.strip_prefix('p').map_or_else(|| name.to_owned(), |percent| format!("P{percent}"))
}
