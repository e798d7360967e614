//! The outcomes of alert rules in words, the same in all reports.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::text::{Style, Tone, wrap};
use crate::alert::{AlertCause, AlertOutcome, AlertState};
#[cfg(feature = "fleet")]
use crate::units::{counted, several};

/// The width of the column with the state of a rule.
pub(super) const INDENT: usize = 11;

/// The outcome of a rule as text.
pub(super) struct AlertLine {
    pub(super) state: AlertState,
    /// The rule and its result.
    text: String,
}

impl AlertLine {
    /// Makes a line about a rule. `of` names the item that the outcome belongs to, if there are several.
    pub(super) fn new(outcome: &AlertOutcome, of: Option<&str>, found: Option<String>) -> Self {
        let whose = of.map_or_else(String::new, |of| format!(" · {of}"));
        let found: Vec<String> = found.into_iter().chain(outcome.note.clone()).collect();
        Self { state: outcome.state, text: format!("{}{whose}: {}", outcome.rule.text, found.join("; ")) }
    }

    /// The lines for people: the first has a label, the others are indented.
    pub(super) fn lines(&self, label: &str, style: &Style) -> String {
        let (tone, word) = match self.state {
            AlertState::Fired => (Tone::Bad, self.state.name().to_uppercase()),
            AlertState::Quiet => (Tone::Good, self.state.name().to_owned()),
            AlertState::Undecided { .. } => (Tone::Warning, self.state.name().to_uppercase()),
        };
        let lines = wrap(&self.text, label.len() + INDENT, style.width).join("\n");
        format!("{label}{}{}", style.paint(tone, &word), &lines[label.len() + word.len()..])
    }

    /// The line for logs; `None` for quiet rules, since logs contain only rules that fired or are undecided.
    pub(super) fn log(&self) -> Option<String> {
        let name = self.state.name().to_uppercase();
        (self.state != AlertState::Quiet).then(|| format!("{name} {}", self.text))
    }
}

/// The value of a rule about many items (runs or intervals), the number of items, and the interval of the value. `number` formats values; `unit` is
/// appended to the first one.
#[cfg(feature = "fleet")]
pub(super) fn found(
    outcome: &AlertOutcome,
    item: &str,
    number: &dyn Fn(f64) -> String,
    unit: &str,
    interval: Option<String>,
) -> String {
    let statistic = outcome.rule.statistic_title();
    let whose = outcome.causes.first().map_or_else(String::new, |cause| format!(" of {}", cause.title()));
    let number = |value: f64| format!("{}{unit}", number(value));
    if outcome.count == 0 {
        return format!("no {item}s to take {statistic}{whose} of");
    }
    if let Some(needed) = outcome.needed() {
        // With unequal weights, runs count for less.
        let (equal, unequal) =
            if outcome.count < needed { ("", "") } else { (" of equal weight", " of unequal weight") };
        let (needed, count) = (several(needed, item), counted(outcome.count));
        let value = outcome.value.map_or_else(String::new, |value| format!("; the value so far is {}", number(value)));
        return format!("{statistic}{whose} needs {needed}{equal} and has {count}{unequal}{value}");
    }
    let Some(value) = outcome.value else { return format!("{statistic}{whose} is unknown") };
    let interval = interval.map_or_else(String::new, |interval| format!("; {interval}"));
    // The value before it has the unit in full, so `80.00 %` is enough here.
    let limit = limit(value, outcome.rule.limit, &number);
    let (value, items, limit) = (number(value), several(outcome.count, item), limit.trim_end_matches(" of one core"));
    format!("{statistic}{whose} is {value} in {items}{interval}; {limit}")
}

/// Formats the limit. If the value would look the same, adds which side of the limit it is on.
pub(super) fn limit(value: f64, limit: f64, number: &dyn Fn(f64) -> String) -> String {
    let text = number(limit);
    // A smaller difference is a rounding error.
    let is_close = number(value) == text && (value - limit).abs() > 1e-12 * limit.abs();
    let side = match value.partial_cmp(&limit).filter(|_| is_close) {
        Some(Ordering::Greater) => "just above the ",
        Some(Ordering::Less) => "just below the ",
        _ => "",
    };
    format!("{side}limit {text}")
}

/// The number of outcomes in each state, as text.
#[cfg(feature = "fleet")]
pub(super) fn counts(outcomes: &[AlertOutcome]) -> impl Iterator<Item = (AlertState, String)> {
    AlertState::ALL
        .into_iter()
        .zip(AlertState::count(outcomes))
        .map(|(state, count)| (state, format!("{} {}", counted(count), state.name())))
}

/// The JSON fields that all outcomes share.
pub(super) fn json(outcome: &AlertOutcome) -> Value {
    let cause = |AlertCause { name, binary, value, noise }: &AlertCause| json!({"name": name, "binary": binary, "value": value, "noise": noise});
    json!({
        "rule": outcome.rule.text,
        "state": outcome.state.name(),
        "needed": outcome.needed(),
        "value": outcome.value,
        "limit": outcome.limit,
        "count": outcome.count,
        "judged": (outcome.judged > 0).then_some(outcome.judged),
        "causes_count": outcome.causes_count,
        "causes": outcome.causes.iter().map(cause).collect::<Value>(),
        "note": outcome.note,
    })
}
