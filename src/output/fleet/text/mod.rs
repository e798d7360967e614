//! Text for people: one screen (`overview`), or everything: findings, cohorts, alerts, the trend, differences, box plots, each cohort, excluded
//! inputs, and the definitions of the numbers. Text is as wide as the terminal, and coloured if requested.
//!
//! A percentile that its runs do not support is `n/a`. Marks next to numbers are explained once: below the cohorts, or at the end if they only occur
//! in later tables.

mod alerts;
pub(in crate::output) mod comparison;
mod crashes;
mod header;
mod histograms;
mod labels;
mod overview;
mod plots;
mod table;
mod tables;
pub(in crate::output) mod trend;

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::fleet::{FleetReport, FleetScope};
use crate::output::fleet::sentences::subject;
use crate::output::fleet::{many, thousands};
use crate::output::text::Style;
use crate::output::text::style::Tone;
use table::Page;

/// The maximum number of cohorts with a histogram.
const PICTURES: usize = 6;

/// Writes the report in this style. Without a width, nothing is cut.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &FleetReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    // All tables leave out the same columns, so a trial run finds out which columns fit the narrowest table.
    let left_out = style.width.map(|_| page(report, Page::new(style, BTreeSet::new())).left_out_everywhere);
    out.write_all(page(report, Page::new(style, left_out.unwrap_or_default())).text.as_bytes())
}

/// Writes the overview of the report, on one screen.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write_overview(report: &FleetReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(overview::overview(report, style).as_bytes())
}

/// Writes the results first, then their sources.
fn page<'p>(report: &FleetReport, mut page: Page<'p>) -> Page<'p> {
    header::opening(report, usize::MAX, &mut page);
    tables::across_runs(report, &mut page);
    histograms::histograms(report, false, &mut page);
    crashes::crashes(report, usize::MAX, &mut page);
    alerts::alerts(report, &mut page);
    plots::trends(report, &mut page);
    tables::contrasts(report, &mut page);
    plots::boxes(report, &mut page);
    let room = page.style.width.map(|width| width / 2);
    let names = labels::names(report.cohorts.iter().map(|cohort| &cohort.cohort), room);
    for (index, name) in names.iter().enumerate() {
        cohort(report, index, name, &mut page);
    }
    page.explain_marks(&report.options);
    header::incomplete(report, &mut page);
    header::definitions(report, &mut page);
    page.say_what_was_left_out();
    page
}

/// Writes the section of one cohort.
fn cohort(report: &FleetReport, index: usize, name: &str, page: &mut Page<'_>) {
    let cohort = &report.cohorts[index];
    let has_runs = report.options.scopes.contains(&FleetScope::Run);
    if !has_runs && cohort.tables.is_empty() {
        return;
    }
    page.title(&format!("━━ {} · {}", cohort.cohort.name(), many(cohort.runs, "run")));
    if has_runs && index < PICTURES && cohort.runs > 1 {
        plots::histogram(cohort, subject(report, cohort.cohort.unit), page);
    }
    if index == PICTURES {
        let left = thousands((report.cohorts.len() - PICTURES) as u64);
        page.painted(Tone::Dim, &format!("no histograms of this and later cohorts ({left} in all)"));
    }
    if has_runs {
        tables::within_runs(report, cohort, page);
    }
    for table in &cohort.tables {
        tables::scope_table(report, cohort, name, table, page);
    }
}
