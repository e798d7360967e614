//! What was found; and, at the end of the page, the inputs that could not be read and the definitions of numbers.

use unicode_width::UnicodeWidthStr;

use super::labels::first_few;
use super::table::Page;
use crate::fleet::{CohortReport, FailedInput, Finding, FleetReport, Inputs, Measure, RunRow, ScopeName, ScopeTable};
use crate::output::fleet::first_screen::{self, failed_files};
use crate::output::fleet::many;
use crate::output::fleet::opening::{Behind, command, name_of};
use crate::output::fleet::sentences::{Mood, counted_threads, measure_of_reports, points};
use crate::output::text::style::{Tone, fit};
use crate::stats::QuantileMethod;
use crate::units::Unit;

/// Files and runs that are named in a sentence.
const NAMED: usize = 3;

/// The findings and what they are about, with at most this many warnings.
pub(super) fn opening(report: &FleetReport, notes: usize, page: &mut Page<'_>) {
    let by = if report.options.by.is_empty() { String::new() } else { format!(" by {}", report.options.by.join(", ")) };
    let title = match report.cohorts.len() {
        0 => "Fleet: no runs".to_owned(),
        cohorts => {
            let is_of_metrics = |cohort: &CohortReport| cohort.cohort.unit.is_of_metrics();
            // A report of metrics has several.
            let noun = match measure_of_reports(report) {
                Some(_) if report.cohorts.iter().any(is_of_metrics) => "reported value",
                Some(_) => "report",
                None => "run",
            };
            format!("Fleet: {} in {}{by}", many(report.inputs.runs, noun), many(cohorts as u64, "cohort"))
        }
    };
    page.sentence(Some(Tone::Title), 0, &title);
    findings(report, page);
    if !report.options.processes.is_empty() {
        let processes = report.options.processes.join(", ");
        page.sentence(None, 0, &format!("only what these processes use counts: {processes}"));
    }
    if let Some(threads) = counted_threads(&report.options, |names| first_few(names, NAMED)) {
        page.sentence(None, 0, &format!("only what these threads use counts: {threads}"));
    }
    if !report.selection.is_whole() {
        page.sentence(None, 0, &format!("only the selected part of each run counts: {}", report.selection));
    }
    let shown = notes.min(report.notes.len());
    report.notes[..shown].iter().for_each(|note| page.sentence(Some(Tone::Warning), 0, note));
    if shown < report.notes.len() {
        let more = many((report.notes.len() - shown) as u64, "more warning");
        page.sentence(Some(Tone::Warning), 0, &format!("{more}; --view full shows all"));
    }
}

/// The inputs that were not used, or only in part, one by one; none if all do.
pub(super) fn incomplete(report: &FleetReport, page: &mut Page<'_>) {
    if report.findings.iter().any(|finding| matches!(finding, Finding::Inputs { .. })) {
        page.title("inputs that were not used, or only in part");
    }
    inputs(&report.inputs, page)
}

/// What the numbers mean, below all of them.
pub(super) fn definitions(report: &FleetReport, page: &mut Page<'_>) {
    page.line("");
    page.sentence(Some(Tone::Dim), 0, &measure(report));
    page.sentence(Some(Tone::Dim), 0, &method(report))
}

/// The meaning of the numbers.
fn measure(report: &FleetReport) -> String {
    if let Some(measure) = measure_of_reports(report) {
        return measure.to_owned();
    }
    let has = |is_time: bool| report.cohorts.iter().any(|row| (row.cohort.unit == Unit::Nanoseconds) == is_time);
    let what = match (has(true), has(false)) {
        (true, true) => {
            "CPU time per recorded time, where 100 % is one core that was busy throughout; else units per second"
        }
        _ if report.selection.counts_waiting() => {
            "Thread time of a run: time (or weight) of threads in the selected states, running or not, per recorded time; \
             100 % is one thread that was in them throughout"
        }
        (false, true) => "CPU use of a run: what its samples weigh per second of recorded time",
        _ => "CPU use of a run: CPU time per recorded time; 100 % is one core that was busy throughout",
    };
    let of = match report.options.measure {
        Measure::Cpu | Measure::SelfWeight => "samples with them as the leaf",
        Measure::AllWeight => "samples with them anywhere in the stack",
    };
    format!("{what}; of binaries and functions, {of}")
}

/// The definition of percentiles.
fn method(report: &FleetReport) -> String {
    let options = &report.options;
    let rule = match options.method {
        QuantileMethod::NearestRank => "by nearest rank",
        QuantileMethod::Linear => "by linear interpolation",
    };
    let is_exact = report.cohorts.iter().all(|cohort| cohort.across_runs.is_exact);
    let exact = if is_exact { "exact" } else { "from buckets" };
    let sure = if options.is_weighted {
        "by run weight, without intervals".to_owned()
    } else {
        format!("{} order-statistic intervals{}", options.confidence, report.assumption())
    };
    let means = "mean: every run counts once; by time: mean over all recorded time";
    format!("percentiles across runs {rule}, {exact}; {sure}; a function absent from a run counts as 0; {means}")
}

fn inputs(inputs: &Inputs, page: &mut Page<'_>) {
    let warn = Some(Tone::Warning);
    if inputs.idle > 0 {
        let runs = many(inputs.idle, "idle run");
        page.sentence(None, 0, &format!("{runs}, in which no thread was on the CPU: 0 in every percentile and mean"));
    }
    if !inputs.without_time.is_empty() {
        let runs = many(inputs.without_time.len() as u64, "run");
        let named = first_few(&inputs.without_time, NAMED);
        page.sentence(warn, 0, &format!("{runs} without recorded time, so without CPU use, not counted: {named}"));
    }
    if inputs.estimated_time > 0 {
        let runs = many(inputs.estimated_time, "run");
        let text = "with estimated time (what samples cover): CPU use is too high where it was idle before or after";
        page.sentence(warn, 0, &format!("{runs} {text}"));
    }
    if inputs.rejected_rows > 0 {
        let rows = many(inputs.rejected_rows, "row");
        page.sentence(
            warn,
            0,
            &format!("{rows} of CPU tables or values of reports could not be read and are not used"),
        );
    }
    if !inputs.damaged.is_empty() {
        let runs: u64 = inputs.damaged.iter().map(|damaged| u64::from(damaged.unread_runs)).sum();
        let sources: Vec<String> = inputs.damaged.iter().map(|damaged| damaged.source.clone()).collect();
        let (runs, named) = (many(runs, "damaged run"), first_few(&sources, NAMED));
        page.sentence(warn, 0, &format!("{runs} of recordings, not read and not counted: {named}"));
    }
    if inputs.excluded_runs > 0 {
        let runs = many(inputs.excluded_runs, "run");
        page.sentence(warn, 0, &format!("{runs} with nothing of what was selected, not counted, of files with others"));
    }
    failures(&inputs.failed, page)
}

/// Files without runs, by kind, with the reason of the first one of each kind.
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

/// Cohorts whose runs are named.
const COHORTS: usize = 6;
/// Columns of a row's name before its runs.
const NAME: usize = 40;

/// The points of the summary, the first lines of the report.
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

/// The command that opens a run.
pub(super) fn open_one(report: &FleetReport, run: &RunRow, page: &mut Page<'_>) {
    let words = command(report, run, &ScopeName::default()).unwrap_or_default();
    lines_of_command("open one:", &words, page.style.width).iter().for_each(|line| page.line(line))
}

/// A command in lines that a shell reads as one; none if a word is longer than a line, since a command that is cut opens nothing.
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
        let words = ["traceparse", "a/long/folder/run.xml", "--view", "functions"].map(str::to_owned);
        assert_eq!(
            lines_of_command("open one:", &words, None),
            ["open one: traceparse a/long/folder/run.xml --view functions"]
        );
        let narrow = ["open one: traceparse \\", "    a/long/folder/run.xml --view \\", "    functions"];
        assert_eq!(lines_of_command("open one:", &words, Some(36)), narrow);
        assert!(lines_of_command("open one:", &words, Some(26)).is_empty());
    }
}
