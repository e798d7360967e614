//! The findings at the start of the text, and the unreadable inputs and definitions at its end.

use unicode_width::UnicodeWidthStr;

use super::table::Page;
use crate::fleet::{CohortReport, FailedInput, Finding, FleetReport, RunRow, ScopeName, ScopeTable};
use crate::output::fleet::definitions::{measure, method, narrowed};
use crate::output::fleet::first_screen::{self, failed_files};
use crate::output::fleet::inputs::inputs;
use crate::output::fleet::many;
use crate::output::fleet::opening::{Behind, command, name_of};
use crate::output::fleet::sentences::{Mood, noun_of_all, points};
use crate::output::text::style::{Tone, fit};
use crate::settings::VIEW;

/// Writes the title and the findings, with at most `notes` warnings.
pub(super) fn opening(report: &FleetReport, notes: usize, page: &mut Page<'_>) {
    let by = if report.options.by.is_empty() { String::new() } else { format!(" by {}", report.options.by.join(", ")) };
    let title = match report.cohorts.len() {
        0 => "Fleet: no runs".to_owned(),
        cohorts => {
            let runs = many(report.inputs.runs, noun_of_all(report));
            format!("Fleet: {runs} in {}{by}", many(cohorts as u64, "cohort"))
        }
    };
    page.sentence(Some(Tone::Title), 0, &title);
    findings(report, page);
    narrowed(report).iter().for_each(|sentence| page.sentence(None, 0, sentence));
    let shown = notes.min(report.notes.len());
    report.notes[..shown].iter().for_each(|note| page.sentence(Some(Tone::Warning), 0, note));
    if shown < report.notes.len() {
        let more = many((report.notes.len() - shown) as u64, "more warning");
        page.sentence(Some(Tone::Warning), 0, &format!("{more}; {VIEW} full shows all"));
    }
}

/// Lists the inputs that were not used or only partly used; nothing if all were used.
pub(super) fn incomplete(report: &FleetReport, page: &mut Page<'_>) {
    if report.findings.iter().any(|finding| matches!(finding, Finding::Inputs { .. })) {
        page.title("inputs that were not used, or only in part");
    }
    for (tone, sentence) in inputs(&report.inputs) {
        page.sentence(tone, 0, &sentence);
    }
    failures(&report.inputs.failed, page)
}

/// Writes the definitions of the numbers, below all of them.
pub(super) fn definitions(report: &FleetReport, page: &mut Page<'_>) {
    page.line("");
    page.sentence(Some(Tone::Dim), 0, &measure(report));
    page.sentence(Some(Tone::Dim), 0, &method(report))
}

/// Lists files without runs by kind, with the reason of the first file of each kind.
fn failures(failed: &[FailedInput], page: &mut Page<'_>) {
    if failed.is_empty() {
        return;
    }
    let kinds = first_screen::failures(failed);
    let counts: Vec<String> = kinds.iter().map(|(count, files, _)| format!("{count} ({files})")).collect();
    let warn = Some(Tone::Warning);
    page.sentence(warn, 0, &format!("{}: {}", failed_files(failed), counts.join(", ")));
    for (_, _, FailedInput { kind, source, reason, .. }) in kinds {
        page.sentence(warn, 2, &format!("{}: {source}: {reason}", kind.name()));
    }
}

/// The number of cohorts whose runs are named.
const COHORTS: usize = 6;
/// The maximum width of a row's name before its runs.
const NAME: usize = 40;

/// Writes the points of the summary, which are the first lines of the report.
pub(super) fn findings(report: &FleetReport, page: &mut Page<'_>) {
    for point in points(report) {
        let tone = match point.mood {
            Mood::Bad => Some(Tone::Bad),
            Mood::Doubtful => Some(Tone::Warning),
            Mood::Good => Some(Tone::Good),
            Mood::Plain => None,
        };
        page.sentence(tone, 0, &format!("• {}", point.text));
    }
}

/// Names the runs at the highest percentile and with the largest value of each cohort, and the command that opens one.
pub(super) fn runs_of_cohorts(report: &FleetReport, cohorts: &[CohortReport], page: &mut Page<'_>) {
    page.line("");
    for cohort in cohorts.iter().take(COHORTS) {
        if let Some(words) = Behind::of(report, &cohort.across_runs).words() {
            page.sentence(Some(Tone::Dim), 0, &format!("{} · {words}", super::labels::name(&cohort.cohort)));
        }
    }
    let max = |cohort: &CohortReport| cohort.across_runs.max.unwrap_or(-1.0);
    let Some(heaviest) = cohorts.iter().max_by(|a, b| max(a).total_cmp(&max(b))) else { return };
    if let Some(run) = Behind::of(report, &heaviest.across_runs).max {
        open_one(report, run, page);
    }
}

/// Writes the command that opens a run.
pub(super) fn open_one(report: &FleetReport, run: &RunRow, page: &mut Page<'_>) {
    let words = command(report, run, &ScopeName::default()).unwrap_or_default();
    lines_of_command("open one:", &words, page.style.width).iter().for_each(|line| page.line(line))
}

/// Splits a command into lines that a shell parses as one command. Empty if a word is longer than a line, since a truncated command is useless.
pub(super) fn lines_of_command(name: &str, words: &[String], width: Option<usize>) -> Vec<String> {
    if words.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![name.to_owned()];
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
pub(super) fn runs_of_first_row(report: &FleetReport, table: &ScopeTable, page: &mut Page<'_>) {
    let Some(row) = table.rows.first() else { return };
    if let Some(words) = Behind::of(report, &row.summary).words() {
        let name = fit(&name_of(&row.name).0, Some(NAME));
        page.sentence(Some(Tone::Dim), 0, &format!("{name} · {words}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_whole_or_not_there() {
        let words = ["traceparse", "a/long/folder/run.xml", "option", "functions"].map(str::to_owned);
        assert_eq!(
            lines_of_command("open one:", &words, None),
            ["open one: traceparse a/long/folder/run.xml option functions"]
        );
        let narrow = ["open one: traceparse \\", "    a/long/folder/run.xml option \\", "    functions"];
        assert_eq!(lines_of_command("open one:", &words, Some(36)), narrow);
        assert!(lines_of_command("open one:", &words, Some(26)).is_empty());
    }
}
