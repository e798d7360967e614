//! The outcomes of alert rules.

use serde_json::{Value, json};

use super::{DiffReport, name, owner};
use crate::output::text::Tone;
use crate::report::diff::{Change, DiffAlertOutcome, DiffAlertState, Function};
use crate::units::{Unit, Weight};

/// The number of functions or binaries that fire a rule and are named.
const NAMED: usize = 3;

/// The outcome of a rule.
pub(super) struct AlertLine {
    pub(super) tone: Tone,
    /// The outcome in one word.
    pub(super) word: &'static str,
    /// The rule and the reason.
    pub(super) text: String,
}

impl AlertLine {
    /// True if the rule was decided and did not fire.
    pub(super) fn is_quiet(&self) -> bool {
        self.tone == Tone::Good
    }
}

/// A line for each rule.
pub(super) fn lines<'r>(report: &DiffReport<'r, '_>) -> impl Iterator<Item = AlertLine> + 'r {
    let unit = report.diff.unit;
    report.alerts.iter().map(move |outcome| {
        let (tone, word) = match outcome.state {
            DiffAlertState::Fired => (Tone::Bad, "FIRED"),
            DiffAlertState::Quiet => (Tone::Good, "ok"),
            _ => (Tone::Warning, "UNDECIDED"),
        };
        AlertLine { tone, word, text: format!("{}: {}", outcome.alert.text, reason(outcome, unit)) }
    })
}

impl DiffReport<'_, '_> {
    /// A line for each rule that fired, or that could not be decided.
    pub fn alert_lines(&self) -> Vec<String> {
        let lines = lines(self).filter(|line| !line.is_quiet());
        lines.map(|AlertLine { word, text, .. }| format!("{word} {text}")).collect()
    }
}

fn reason(outcome: &DiffAlertOutcome<'_>, unit: Unit) -> String {
    let limit = outcome.limit.map_or(String::new(), |limit| weight(limit, unit).to_string());
    let named = outcome.causes.iter().take(NAMED).map(|(function, change)| cause(*function, change, unit));
    let mut causes: Vec<String> = named.collect();
    if let more @ 1.. = outcome.causes.len().saturating_sub(NAMED) {
        causes.push(format!("{more} more"));
    }
    let causes = causes.join("; ");
    match outcome.state {
        DiffAlertState::Fired => format!("{causes}, where {limit} is allowed"),
        DiffAlertState::WithinNoise => format!("{causes}, where {limit} is allowed; chance alone may do that"),
        DiffAlertState::Unknown => "neither recording has a sample of it".to_owned(),
        DiffAlertState::NotScaled => "a length or weight to scale by is missing".to_owned(),
        DiffAlertState::OtherUnit => format!("the recordings are in {}", unit_name(unit)),
        DiffAlertState::Quiet => format!("{causes}, and {limit} is allowed"),
    }
}

fn unit_name(unit: Unit) -> &'static str {
    if unit == Unit::Nanoseconds { "seconds" } else { unit.name() }
}

/// `fruit_copy (libfruit.dylib) +12.00 ms ± 3.10 ms`, with one standard deviation.
fn cause(function: Option<&Function>, change: &Change, unit: Unit) -> String {
    let sign = if change.weight < 0.0 { "-" } else { "+" };
    let noise =
        if change.noise.is_finite() { weight(change.noise, unit).to_string() } else { "unknown noise".to_owned() };
    let change = weight(change.weight.abs(), unit);
    let whose = match function {
        None => String::new(),
        Some(function) => {
            let owner = owner(function).map_or(String::new(), |owner| format!(" ({owner})"));
            format!("{}{owner} ", name(function))
        }
    };
    format!("{whose}{sign}{change} ± {noise}")
}

fn weight(weight: f64, unit: Unit) -> Weight {
    Weight::new(weight.round() as u64, unit)
}

/// The rules with what became of them.
pub(super) fn json(report: &DiffReport<'_, '_>) -> Vec<Value> {
    report
        .alerts
        .iter()
        .map(|outcome| {
            let causes = outcome.causes.iter().map(|(function, change)| {
                json!({
                    "function": function.filter(|function| !function.name.is_empty()).map(name),
                    "binary": function.and_then(|function| function.binary.as_deref()),
                    "change": change.weight,
                    "noise": change.noise,
                })
            });
            json!({
                "rule": outcome.alert.text,
                "state": state(outcome.state),
                "limit": outcome.limit,
                "causes": causes.collect::<Value>(),
            })
        })
        .collect()
}

fn state(state: DiffAlertState) -> &'static str {
    match state {
        DiffAlertState::Fired => "fired",
        DiffAlertState::WithinNoise => "within-noise",
        DiffAlertState::Unknown => "unknown",
        DiffAlertState::OtherUnit => "other-unit",
        DiffAlertState::NotScaled => "not-scaled",
        DiffAlertState::Quiet => "quiet",
    }
}
