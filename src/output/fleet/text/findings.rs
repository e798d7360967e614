//! The findings, in sentences, and the runs behind numbers.

use std::io;

use unicode_width::UnicodeWidthStr;

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

/// Names the runs at the highest percentile and with the largest value of each cohort, and the command that opens one.
pub(super) fn runs_of_cohorts(report: &FleetReport, cohorts: &[CohortReport], page: &mut Page<'_>) -> io::Result<()> {
    page.line("")?;
    for cohort in cohorts.iter().take(COHORTS) {
        if let Some(words) = Behind::of(report, &cohort.across_runs).words() {
            page.sentence(Some(Tone::Dim), 0, &format!("{} · {words}", super::labels::name(&cohort.cohort)))?;
        }
    }
    let max = |cohort: &CohortReport| cohort.across_runs.max.unwrap_or(-1.0);
    let Some(heaviest) = cohorts.iter().max_by(|a, b| max(a).total_cmp(&max(b))) else { return Ok(()) };
    let run = Behind::of(report, &heaviest.across_runs).max;
    let Some(words) = run.and_then(|run| command(report, run, &ScopeName::default())) else { return Ok(()) };
    lines_of_command(&words, page.style.width).iter().try_for_each(|line| page.line(line))
}

/// A command in lines that a shell reads as one; none if a word is longer than a line, since a command that is cut opens nothing.
fn lines_of_command(words: &[String], width: Option<usize>) -> Vec<String> {
    let mut lines = vec![String::from("open one:")];
    for word in words {
        let line = &lines[lines.len() - 1];
        let fits = width.is_none_or(|width| line.width() + 1 + word.width() + 2 <= width);
        match lines.last_mut().filter(|_| fits) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(format!("    {word}")),
        }
    }
    if width.is_some_and(|width| lines.iter().any(|line| line.width() + 2 > width)) {
        return Vec::new();
    }
    let last = lines.len() - 1;
    lines.iter_mut().take(last).for_each(|line| line.push_str(" \\"));
    lines
}

/// Names the runs behind the first row of a table.
pub(super) fn runs_of_first_row(report: &FleetReport, table: &ScopeTable, page: &mut Page<'_>) -> io::Result<()> {
    let Some(row) = table.rows.first() else { return Ok(()) };
    match Behind::of(report, &row.summary).words() {
        Some(words) => {
            let name = fit(&name_of(&row.name).0, Some(NAME));
            page.sentence(Some(Tone::Dim), 0, &format!("{name} · {words}"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_whole_or_not_there() {
        let words = ["traceparse", "a/long/folder/run.xml", "--view", "functions"].map(str::to_owned);
        assert_eq!(lines_of_command(&words, None), ["open one: traceparse a/long/folder/run.xml --view functions"]);
        let narrow = ["open one: traceparse \\", "    a/long/folder/run.xml --view \\", "    functions"];
        assert_eq!(lines_of_command(&words, Some(36)), narrow);
        assert!(lines_of_command(&words, Some(26)).is_empty());
    }
}
