//! Text for people: findings, cohorts, alerts, the trend, differences, box plots, each cohort, excluded inputs, and the
//! definitions of the numbers; as wide as the terminal, coloured if requested.
//!
//! A percentile that its runs do not support is `n/a`. Marks at numbers are explained once: below the cohorts, or at the
//! end if only later tables have them.

mod alerts;
mod boxes;
mod cohorts;
mod contrasts;
mod findings;
mod header;
mod histogram;
mod labels;
mod notes;
mod page;
mod scopes;
mod table;
mod trend;
mod words;

use crate::output::fleet::sentences::subject_inside;
use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::fleet::{FleetReport, FleetScope};
use crate::output::text::Style;
use crate::output::text::style::Tone;
use page::Page;
use words::{many, thousands};

/// Cohorts that get a histogram.
const PICTURES: usize = 6;

/// Writes the report with the colours and width of `style`; without a width nothing is cut.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write(report: &FleetReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut left_out = BTreeSet::new();
    if style.width.is_some() {
        // Tables keep the columns of the first one, so a trial run finds out what fits the narrowest table.
        let mut nowhere = io::sink();
        let mut page = Page::new(style, left_out, &mut nowhere);
        sections(report, &mut page)?;
        left_out = page.into_left_out_everywhere();
    }
    sections(report, &mut Page::new(style, left_out, out))
}

/// The result first, and then its sources.
fn sections(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    header::write(report, page)?;
    cohorts::write(report, page)?;
    alerts::write(report, page)?;
    trend::write(report, page)?;
    contrasts::write(report, page)?;
    boxes::write(report, page)?;
    let room = page.style.width.map(|width| width / 2);
    let names = labels::names(report.cohorts.iter().map(|cohort| &cohort.cohort), room);
    for (index, name) in names.iter().enumerate() {
        cohort(report, index, name, page)?;
    }
    page.explain_marks(&report.options)?;
    header::incomplete(report, page)?;
    header::definitions(report, page)?;
    page.say_what_was_left_out()
}

/// The section of one cohort.
fn cohort(report: &FleetReport, index: usize, name: &str, page: &mut Page<'_>) -> io::Result<()> {
    let cohort = &report.cohorts[index];
    let has_runs = report.options.scopes.contains(&FleetScope::Run);
    if !has_runs && cohort.tables.is_empty() {
        return Ok(());
    }
    page.title(&format!("━━ {} · {}", cohort.cohort.name(), many(cohort.runs, "run")))?;
    if has_runs && index < PICTURES && cohort.runs > 1 {
        histogram::write(cohort, subject_inside(report), page)?;
    }
    if index == PICTURES {
        let left = thousands((report.cohorts.len() - PICTURES) as u64);
        page.painted(Tone::Dim, &format!("no histograms of this and later cohorts ({left} in all)"))?;
    }
    if has_runs {
        cohorts::within_runs(report, cohort, page)?;
    }
    for table in &cohort.tables {
        scopes::write(report, cohort, name, table, page)?;
    }
    Ok(())
}
