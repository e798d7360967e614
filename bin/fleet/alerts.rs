//! Alerts for logs: where the report is a file or for programs, standard error says which ones there are.

use traceparse::fleet::{AlertOutcome, AlertState, FleetReport};
use traceparse::units::{Unit, several};

/// A line for each alert that fired or could not be decided.
pub(super) fn lines(report: &FleetReport) -> Vec<String> {
    report.alerts.iter().filter_map(|alert| line(report, alert)).collect()
}

fn line(report: &FleetReport, alert: &AlertOutcome) -> Option<String> {
    let (state, needed) = match alert.state {
        AlertState::Fired => ("FIRED", String::new()),
        AlertState::Undecided { needed } => {
            ("UNDECIDED", needed.map_or(String::new(), |needed| format!(", needs {}", several(needed as usize, "run"))))
        }
        AlertState::Quiet => return None,
    };
    let cohort = report.cohorts.get(alert.cohort).map(|cohort| &cohort.cohort);
    let (name, unit) = cohort.map_or(("all runs".to_owned(), Unit::Nanoseconds), |cohort| (cohort.name(), cohort.unit));
    let rule = &alert.rule;
    let Some(value) = alert.value else {
        let note = alert.note.as_deref().unwrap_or("there are no runs");
        return Some(format!("{state} {rule} · {name}: {note}"));
    };
    let whose = alert.causes.first().map_or(String::new(), |(name, _)| match name.as_str() {
        "" => "(no name) ".to_owned(),
        name => format!("{name} "),
    });
    let further = match alert.causes_count {
        0 | 1 => String::new(),
        count => format!("; {} more beyond the threshold", several(count as usize - 1, "name")),
    };
    let value = format!("{whose}{value:.2} {}", unit.rate_name());
    let interval = alert.estimate.as_ref().map(|estimate| estimate.interval);
    let end = |end: Option<f64>| end.map_or("unknown".to_owned(), |end| format!("{end:.2}"));
    let interval = interval.filter(|interval| interval.lower.is_some() || interval.upper.is_some()).map(|interval| {
        let confidence = report.options.confidence;
        format!(
            ", {confidence} interval from {} to {}{}",
            end(interval.lower),
            end(interval.upper),
            report.assumption()
        )
    });
    let (runs, interval) = (several(alert.runs as usize, "run"), interval.unwrap_or_default());
    let note = alert.note.as_ref().map_or(String::new(), |note| format!("; {note}"));
    Some(format!("{state} {rule} · {name}: {value} in {runs}{needed}{interval}{further}{note}"))
}
