//! The outcomes of alert rules.

use unicode_width::UnicodeWidthStr;

use super::labels;
use super::table::Page;
use crate::fleet::{AlertOutcome, AlertState, FleetReport, RunRow};
use crate::output::fleet::measures::Measures;
use crate::output::fleet::sentences::{interval, known, statistic_name};
use crate::output::fleet::{many, thousands};
use crate::output::text::style::{Tone, fit};
use crate::units::Unit;

/// Runs beyond a threshold that are named.
const RUNS: usize = 5;
/// The number of names listed besides the first one.
const NAMES: usize = 5;
/// Columns of the word for the result of a rule.
const INDENT: usize = 11;

pub(super) fn alerts(report: &FleetReport, page: &mut Page<'_>) {
    if report.options.alerts.is_empty() {
        return;
    }
    let count = |is: fn(&AlertState) -> bool| report.alerts.iter().filter(|alert| is(&alert.state)).count() as u64;
    let fired = count(|state| *state == AlertState::Fired);
    let quiet = count(|state| *state == AlertState::Quiet);
    let undecided = report.alerts.len() as u64 - fired - quiet;
    let counts = [(fired, "fired"), (undecided, "undecided"), (quiet, "ok")];
    let counts: Vec<String> = counts.iter().map(|(count, what)| format!("{} {what}", thousands(*count))).collect();
    page.title(&format!("alerts · {}", counts.join(", ")));
    if report.alerts.is_empty() {
        page.sentence(Some(Tone::Warning), 0, "no runs, so no rule was decided");
    }
    report.alerts.iter().for_each(|alert| outcome(report, alert, page))
}

fn outcome(report: &FleetReport, alert: &AlertOutcome, page: &mut Page<'_>) {
    let (tone, word) = match alert.state {
        AlertState::Fired => (Tone::Bad, "FIRED"),
        AlertState::Quiet => (Tone::Good, "ok"),
        AlertState::Undecided { .. } => (Tone::Warning, "UNDECIDED"),
    };
    let cohort = report.cohorts.get(alert.cohort).map(|cohort| &cohort.cohort);
    let whose = cohort.filter(|_| report.cohorts.len() > 1).map(labels::name);
    let room = page.style.width.map(|width| width.saturating_sub(INDENT));
    let in_one_line = whose.as_ref().map(|name| format!("{} · {name}", alert.rule.text));
    let is_one_line = |text: &String| room.is_none_or(|room| text.width() <= room);
    let line = in_one_line.filter(is_one_line);
    let space = " ".repeat(INDENT - word.len());
    let rule = fit(line.as_ref().unwrap_or(&alert.rule.text), room);
    page.line(&format!("{}{space}{rule}", page.style.paint(tone, word)));
    // A cohort is never cut: it could look like another.
    if let (None, Some(name)) = (line, whose) {
        page.sentence(None, INDENT, &name);
    }
    let unit = alert.rule.value_unit(cohort.map_or(Unit::Nanoseconds, |cohort| cohort.unit));
    let threshold = alert.rule.threshold.as_f64();
    let measures = Measures::of(unit, alert.value.unwrap_or(0.0).max(threshold));
    page.sentence(None, INDENT, &what_was_found(report, alert, measures));
    if let Some(text) = further_names(alert, measures) {
        page.sentence(None, INDENT, &text);
    }
    if let Some(note) = &alert.note {
        page.sentence(Some(Tone::Warning), INDENT, note);
    }
    beyond(report, alert, measures, page)
}

/// The value, where it comes from and how sure it is.
fn what_was_found(report: &FleetReport, alert: &AlertOutcome, measures: Measures) -> String {
    let statistic = statistic_name(&alert.rule.statistic.name());
    let name = alert.causes.first().map(|(name, _)| name);
    let statistic = name.map_or_else(|| statistic.clone(), |name| format!("{statistic} of {}", known(name)));
    let Some(value) = alert.value else { return format!("no runs to take {statistic} of") };
    let value = format!("{} {}", measures.text(value), measures.unit());
    if let AlertState::Undecided { needed: Some(needed) } = alert.state {
        let needs = many(needed, "run");
        return format!("{statistic} needs {needs} and has {}; the value so far is {value}", thousands(alert.runs));
    }
    let together =
        if alert.judged > 1 { format!(" for {} names together", thousands(alert.judged)) } else { String::new() };
    let interval = interval(report, alert, &together, |end| measures.text(end));
    let interval = interval.map_or_else(String::new, |interval| format!("; {interval}"));
    let threshold = measures.text(alert.rule.threshold.as_f64());
    let runs = many(alert.runs, "run");
    format!("{statistic} is {value} in {runs}{interval}; threshold {threshold}")
}

/// The names after the first that fired a rule, or may have.
fn further_names(alert: &AlertOutcome, measures: Measures) -> Option<String> {
    let further = alert.causes_count.checked_sub(1).filter(|&further| further > 0)?;
    let shown = alert.causes.iter().skip(1).take(NAMES);
    let shown: Vec<String> = shown.map(|(name, value)| format!("{} {}", known(name), measures.text(*value))).collect();
    let hidden = further.saturating_sub(shown.len() as u64);
    let more = if hidden > 0 { format!(" and {} more", thousands(hidden)) } else { String::new() };
    Some(format!("also beyond the threshold: {}{more}", shown.join(", ")))
}

/// The runs beyond the threshold; of rules that did not fire, only how many.
fn beyond(report: &FleetReport, alert: &AlertOutcome, measures: Measures, page: &mut Page<'_>) {
    if alert.beyond_count == 0 {
        return;
    }
    let runs = many(alert.beyond_count, "run");
    let verb = if alert.beyond_count == 1 { "is" } else { "are" };
    let is_quiet = alert.state == AlertState::Quiet;
    let text = format!("{runs} {verb} beyond the threshold{}", if is_quiet { "" } else { ":" });
    page.sentence(None, INDENT, &text);
    if is_quiet {
        return;
    }
    let shown = &alert.beyond[..alert.beyond.len().min(RUNS)];
    let values: Vec<String> = shown.iter().map(|run| measures.text(run.1.as_f64())).collect();
    let width = values.iter().map(String::len).max().unwrap_or(0);
    for (run, value) in shown.iter().zip(values) {
        let title = report.runs.get(run.0).map(RunRow::title).unwrap_or_default();
        let room = page.style.width.map(|columns| columns.saturating_sub(INDENT + 2 + width + 2));
        page.line(&format!("{}{value:>width$}  {}", " ".repeat(INDENT + 2), fit(&title, room)));
    }
    let more = alert.beyond_count - shown.len() as u64;
    if more > 0 {
        page.sentence(None, INDENT + 2, &format!("and {} more", thousands(more)));
    }
}
