//! Text for people: what was read, the cohorts, pictures, tables of scopes, differences, alerts; as wide as the terminal,
//! coloured where asked.
//!
//! A percentile that its runs do not support is `n/a`. Marks at numbers are explained below their table.

mod alerts;
mod boxes;
mod cohorts;
mod contrasts;
mod header;
mod histogram;
mod measures;
mod notes;
mod page;
mod scopes;
mod table;
mod words;

use std::io::{self, Write};

use crate::fleet::{FleetReport, FleetScope};
use crate::output::text::Style;
use crate::output::text::style::Tone;
use notes::Footnotes;
use page::Page;
use words::{many, thousands};

/// Cohorts that get pictures.
const PICTURES: usize = 6;

/// Writes the report. Colours and width are those of `style`; without a width nothing is cut.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &FleetReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, out);
    header::write(report, &mut page)?;
    cohorts::write(report, &mut page)?;
    boxes::write(report, &mut page)?;
    for index in 0..report.cohorts.len() {
        cohort(report, index, &mut page)?;
    }
    contrasts::write(report, &mut page)?;
    page.say_what_was_left_out()?;
    alerts::write(report, &mut page)
}

/// All about one cohort.
fn cohort(report: &FleetReport, index: usize, page: &mut Page<'_>) -> io::Result<()> {
    let cohort = &report.cohorts[index];
    let has_runs = report.options.scopes.contains(&FleetScope::Run);
    if !has_runs && cohort.tables.is_empty() {
        return Ok(());
    }
    page.title(&format!("━━ {} · {}", cohort.cohort.name(), many(cohort.runs, "run")))?;
    if has_runs && index < PICTURES {
        histogram::write(cohort, page)?;
    }
    if index == PICTURES {
        let left = thousands((report.cohorts.len() - PICTURES) as u64);
        page.painted(Tone::Dim, &format!("no pictures of this and later cohorts ({left} in all)"))?;
    }
    let mut footnotes = Footnotes::default();
    if has_runs {
        cohorts::within_runs(report, cohort, &mut footnotes, page)?;
    }
    for table in &cohort.tables {
        scopes::write(report, cohort, table, &mut footnotes, page)?;
    }
    footnotes.write(&report.options, page)
}
