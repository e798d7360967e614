//! The outcomes of alert rules about growth.

use super::DiffReport;
use crate::alert::{AlertCause, AlertOutcome, AlertSubject};
use crate::output::alerts::{AlertLine, limit};
use crate::units::{Unit, Weight};

/// The number of functions or binaries named per fired rule.
const NAMED: usize = 3;

/// A line for each rule.
pub(super) fn lines(report: &DiffReport<'_, '_>) -> Vec<AlertLine> {
    let line = |outcome| AlertLine::new(outcome, None, found(outcome, report.diff.unit));
    report.alerts.iter().map(line).collect()
}

impl DiffReport<'_, '_> {
    /// A line for each rule that fired or is undecided.
    pub fn alert_lines(&self) -> Vec<String> {
        lines(self).iter().filter_map(AlertLine::log).collect()
    }
}

fn found(outcome: &AlertOutcome, unit: Unit) -> Option<String> {
    let is_named = outcome.rule.subject != AlertSubject::Total;
    let named = outcome.causes.iter().take(NAMED);
    let mut causes: Vec<String> = named.map(|cause| words(cause, is_named, unit)).collect();
    if let more @ 1.. = outcome.causes.len().saturating_sub(NAMED) {
        causes.push(format!("{more} more"));
    }
    let limit = limit(outcome.value?, outcome.limit?, &|value| weight(value, unit).to_string());
    (!causes.is_empty()).then(|| format!("{}; {limit}", causes.join("; ")))
}

/// `fruit_copy (libfruit.dylib) +12.00 ms ± 3.10 ms`, with one standard deviation.
fn words(AlertCause { name, binary, value, noise }: &AlertCause, is_named: bool, unit: Unit) -> String {
    let sign = if *value < 0.0 { "-" } else { "+" };
    let noise = noise.filter(|noise| noise.is_finite());
    let noise = noise.map_or_else(|| "unknown noise".to_owned(), |noise| weight(noise, unit).to_string());
    let owner = binary.as_ref().map_or_else(String::new, |binary| format!(" ({binary})"));
    let whose = if is_named { format!("{name}{owner} ") } else { String::new() };
    format!("{whose}{sign}{} ± {noise}", weight(value.abs(), unit))
}

fn weight(weight: f64, unit: Unit) -> Weight {
    Weight::new(weight.round() as u64, unit)
}
