//! Alerts in one line each, for logs.

use super::many;
use crate::fleet::{AlertOutcome, AlertState, FleetReport};
use crate::units::Unit;

/// A line for each alert that fired or could not be decided.
pub fn alert_lines(report: &FleetReport) -> Vec<String> {
    report.alerts.iter().filter_map(|alert| line(report, alert)).collect()
}

fn line(report: &FleetReport, alert: &AlertOutcome) -> Option<String> {
    let (state, needed) = match alert.state {
        AlertState::Fired => ("FIRED", None),
        AlertState::Undecided { needed } => ("UNDECIDED", needed),
        AlertState::Quiet => return None,
    };
    let cohort = report.cohorts.get(alert.cohort).map(|cohort| &cohort.cohort);
    let (name, unit) = cohort.map_or(("all runs".to_owned(), Unit::Nanoseconds), |cohort| (cohort.name(), cohort.unit));
    let rule = &alert.rule;
    let Some(value) = alert.value else {
        let note = alert.note.as_deref().unwrap_or("there are no runs");
        return Some(format!("{state} {rule} · {name}: {note}"));
    };
    let whose = alert.causes.first().map_or(String::new(), |(name, _)| format!("{} ", known(name)));
    let others = match alert.causes_count {
        0 | 1 => String::new(),
        count => format!("; {} more beyond the threshold", many(count - 1, "name")),
    };
    let value = format!("{whose}{value:.2} {}", unit.rate_name());
    let (runs, needed) = (many(alert.runs, "run"), needed.map(|needed| format!(", needs {}", many(needed, "run"))));
    let interval = interval(report, alert, "", |end| format!("{end:.2}")).map(|interval| format!(", {interval}"));
    let [needed, interval] = [needed, interval].map(Option::unwrap_or_default);
    let note = alert.note.as_ref().map_or(String::new(), |note| format!("; {note}"));
    Some(format!("{state} {rule} · {name}: {value} in {runs}{needed}{interval}{others}{note}"))
}

/// A name that a rule about any name found.
pub(super) fn known(name: &str) -> &str {
    if name.is_empty() { "(no name)" } else { name }
}

/// The interval of the value in words, with `scope` after its name; `None` if neither of its ends is known.
pub(super) fn interval(
    report: &FleetReport,
    alert: &AlertOutcome,
    scope: &str,
    number: impl Fn(f64) -> String,
) -> Option<String> {
    let interval = alert.estimate.as_ref()?.interval;
    let end = |end: Option<f64>| end.map_or_else(|| "unknown".to_owned(), &number);
    let (confidence, assumption) = (report.options.confidence, report.assumption());
    let (lower, upper) = (end(interval.lower), end(interval.upper));
    let is_known = interval.lower.is_some() || interval.upper.is_some();
    is_known.then(|| format!("{confidence} interval{scope} from {lower} to {upper}{assumption}"))
}
