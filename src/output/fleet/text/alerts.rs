//! The outcomes of alert rules.

use super::table::Page;
use crate::alert::{AlertOutcome, AlertState};
use crate::fleet::{FleetReport, RunRow};
use crate::output::alerts::{INDENT, counts};
use crate::output::fleet::measures::Measures;
use crate::output::fleet::sentences::{alert_line, alert_measures};
use crate::output::fleet::{many, thousands};
use crate::output::text::style::fit;

/// The maximum number of runs to list for each alert.
const RUNS: usize = 5;
/// The maximum number of names to list after the first.
const NAMES: usize = 5;

pub(super) fn alerts(report: &FleetReport, page: &mut Page<'_>) {
    if report.options.alerts.is_empty() {
        return;
    }
    let counts: Vec<String> = counts(&report.alerts).map(|(_, text)| text).collect();
    page.title(&format!("alerts · {}", counts.join(", ")));
    for alert in &report.alerts {
        page.line(&alert_line(report, alert).lines("", page.style));
        let measures = alert_measures(report, alert);
        if let Some(text) = further_names(alert, measures) {
            page.sentence(None, INDENT, &text);
        }
        beyond(report, alert, measures, page);
    }
}

/// Lists the names beyond the limit, except the first. `None` if there are no others.
fn further_names(alert: &AlertOutcome, measures: Measures) -> Option<String> {
    let further = alert.causes_count.checked_sub(1).filter(|&further| further > 0)?;
    let shown = alert.causes.iter().skip(1).take(NAMES);
    let shown: Vec<String> = shown.map(|cause| format!("{} {}", cause.title(), measures.text(cause.value))).collect();
    let hidden = further.saturating_sub(shown.len() as u64);
    let more = if hidden > 0 { format!(" and {} more", thousands(hidden)) } else { String::new() };
    Some(format!("also beyond the limit: {}{more}", shown.join(", ")))
}

/// Writes the runs beyond the limit; if the rule did not fire, only the number of runs.
fn beyond(report: &FleetReport, alert: &AlertOutcome, measures: Measures, page: &mut Page<'_>) {
    if alert.beyond_count == 0 {
        return;
    }
    let runs = many(alert.beyond_count, "run");
    let verb = if alert.beyond_count == 1 { "is" } else { "are" };
    let is_quiet = alert.state == AlertState::Quiet;
    let text = format!("{runs} {verb} beyond the limit{}", if is_quiet { "" } else { ":" });
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
