//! What was found, in sentences, and the runs behind numbers.

use std::io;

use super::page::Page;
use crate::fleet::{CohortReport, FleetReport, ScopeName, ScopeTable};
use crate::output::fleet::opening::{Behind, command, name_of};
use crate::output::fleet::sentences::{Mood, points};
use crate::output::text::style::{Tone, fit};

/// Cohorts whose runs are named.
const COHORTS: usize = 6;
/// Columns of a row's name before its runs.
const NAME: usize = 40;

/// The points of the summary, the first lines of the report.
pub(super) fn write(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    for point in points(report) {
        let tone = match point.mood {
            Mood::Bad => Some(Tone::Bad),
            Mood::Doubtful => Some(Tone::Warning),
            Mood::Good => Some(Tone::Good),
            Mood::Plain => None,
        };
        page.sentence(tone, 0, &format!("• {}", point.text))?;
    }
    Ok(())
}

/// Names the runs of the highest percentile and of the largest value of each cohort, and the command that opens one.
pub(super) fn runs_of_cohorts(report: &FleetReport, cohorts: &[CohortReport], page: &mut Page<'_>) -> io::Result<()> {
    for cohort in cohorts.iter().take(COHORTS) {
        if let Some(words) = Behind::of(report, &cohort.across_runs).words() {
            page.sentence(Some(Tone::Dim), 0, &format!("{}: {words}", super::labels::name(&cohort.cohort)))?;
        }
    }
    let by_max = |a: &&CohortReport, b: &&CohortReport| a.across_runs.max.total_cmp(&b.across_runs.max);
    let Some(heaviest) = cohorts.iter().max_by(by_max) else { return Ok(()) };
    let run = Behind::of(report, &heaviest.across_runs).max();
    match run.and_then(|run| command(report, run, &ScopeName::default())) {
        // A command that is cut opens nothing.
        Some(command) => page.line(&format!("open one: {command}")),
        None => Ok(()),
    }
}

/// Names the runs behind the first row of a table.
pub(super) fn runs_of_first_row(report: &FleetReport, table: &ScopeTable, page: &mut Page<'_>) -> io::Result<()> {
    let Some(row) = table.rows.first() else { return Ok(()) };
    match Behind::of(report, &row.summary).words() {
        Some(words) => {
            let name = fit(&name_of(&row.name).0, Some(NAME));
            page.sentence(Some(Tone::Dim), 0, &format!("{name}: {words}"))
        }
        None => Ok(()),
    }
}
