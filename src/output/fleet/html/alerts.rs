//! Alerts as cards: fired ones first.

use super::outline::section;
use super::run_pages::Links;
use super::table::{cohort_name, hidden, interval, measure, measure_with_unit};
use crate::fleet::{AlertOutcome, AlertState, Comparison, FleetReport};
use crate::output::fleet::sentences::{known, statistic_name};
use crate::output::fleet::{many, thousands};
use crate::output::inert::{Text, shortened};
use crate::units::Unit;
use crate::units::capitalized;

/// More cards than this with a harmless state are folded.
const UNFOLDED: usize = 3;

/// Cards of one state; the others are counted.
const MAX_CARDS: usize = 60;

/// The section; none without rules.
pub(super) fn alerts(report: &FleetReport, links: &Links<'_>) -> String {
    let of_state = |state: AlertState| {
        let (class, word, reason) = state_words(state);
        let alerts: Vec<&AlertOutcome> =
            report.alerts.iter().filter(|alert| state_words(alert.state).0 == class).collect();
        let cards = cards(report, &alerts, links);
        if alerts.len() <= UNFOLDED || state == AlertState::Fired {
            return cards;
        }
        let (number, word) = (thousands(alerts.len()), word.to_lowercase());
        format!("<details><summary>{number} {word} <small>{reason}</small></summary>\n{cards}</details>\n")
    };
    let states = [AlertState::Fired, AlertState::Undecided { needed: None }, AlertState::Quiet];
    section(report, "alerts", || format!("<h2>Alerts</h2>\n{}", states.map(of_state).concat()))
}

fn cards(report: &FleetReport, alerts: &[&AlertOutcome], links: &Links<'_>) -> String {
    if alerts.is_empty() {
        return String::new();
    }
    let cards: String = alerts.iter().take(MAX_CARDS).map(|alert| card(report, alert, links)).collect();
    let more = alerts.len().saturating_sub(MAX_CARDS);
    let more = hidden(more, |more| format!("{} more are not shown.", thousands(more)));
    format!("<div class=\"cards\">\n{cards}</div>\n{more}")
}

/// The class of a state, its word, and its meaning for readers who do not unfold it.
const fn state_words(state: AlertState) -> (&'static str, &'static str, &'static str) {
    match state {
        AlertState::Fired => ("fired", "Fired", "beyond their threshold"),
        AlertState::Undecided { .. } => ("undecided", "Undecided", "too few runs to decide, or chance may explain it"),
        AlertState::Quiet => ("quiet", "Quiet", "within their threshold"),
    }
}

const fn comparison_words(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Above => "above",
        Comparison::AtLeast => "at or above",
        Comparison::Below => "below",
        Comparison::AtMost => "at or below",
    }
}

fn card(report: &FleetReport, alert: &AlertOutcome, links: &Links<'_>) -> String {
    let cohort = report.cohorts.get(alert.cohort).map(|cohort| &cohort.cohort);
    let unit = cohort.map_or(Unit::Nanoseconds, |cohort| cohort.unit);
    let (unit, name) = (alert.rule.value_unit(unit), alert.rule.value_name(unit));
    let with_unit = |value: f64| match unit {
        Unit::Nanoseconds => measure_with_unit(value, unit),
        _ => format!("{} {name}", measure(value, unit)),
    };
    let (class, word, _) = state_words(alert.state);
    let rule = Text(&alert.rule.text);
    let whose = cohort.filter(|_| report.cohorts.len() > 1).map(|cohort| paragraph("of", &cohort_name(cohort)));
    let statistic = statistic_name(&alert.rule.statistic.name());
    // A threshold is shown as typed.
    let threshold = match unit {
        Unit::Nanoseconds => format!("{} %", alert.rule.threshold),
        _ => with_unit(alert.rule.threshold.as_f64()),
    };
    let interval = alert.estimate.as_ref().and_then(|estimate| interval(estimate, unit)).map(|interval| {
        let (confidence, assumption) = (report.options.confidence, report.assumption());
        format!("<div><dt>{confidence} interval{assumption}</dt><dd>{interval}</dd></div>")
    });
    let facts = [
        alert.causes.first().map(|(name, _)| fact("of", known(name))),
        Some(fact(&statistic, &alert.value.map_or("none".to_owned(), with_unit))),
        Some(fact("fires", &format!("{} {threshold}", comparison_words(alert.rule.comparison)))),
        interval,
        Some(fact("runs", &thousands(alert.runs))),
    ];
    let too_few = match (alert.state, alert.value) {
        (AlertState::Undecided { needed: Some(needed) }, Some(_)) => Some(format!(
            "{} are too few to decide: {statistic} needs {}. The value shown comes from the most extreme runs.",
            many(alert.runs, "run"),
            thousands(needed)
        )),
        _ => None,
    };
    let note = alert.note.as_ref().map(|note| format!("{}.", capitalized(note)));
    let notes: String = too_few.into_iter().chain(note).map(|note| paragraph("note", &note)).collect();
    let names = alert.causes.iter().map(|(name, value)| (Text(&shortened(name)).to_string(), *value));
    let names =
        if alert.causes_count < 2 { String::new() } else { beyond(alert, "name", alert.causes_count, names, unit) };
    let runs = alert.beyond.iter().map(|run| (links.run(run.0), run.1.as_f64()));
    let runs =
        if alert.beyond.is_empty() { String::new() } else { beyond(alert, "run", alert.beyond_count, runs, unit) };
    format!(
        "<article class=\"card {class}\"><h3><span class=\"badge {class}\">{word}</span> <code>{rule}</code></h3>\n\
         {}<dl>{}</dl>\n{notes}{names}{runs}</article>\n",
        whose.unwrap_or_default(),
        facts.into_iter().flatten().collect::<String>()
    )
}

fn paragraph(class: &str, text: &str) -> String {
    format!("<p class=\"{class}\">{}</p>\n", Text(text))
}

fn fact(name: &str, value: &str) -> String {
    format!("<div><dt>{}</dt><dd>{}</dd></div>", Text(name), Text(value))
}

/// The names or runs beyond the threshold as HTML, with their values, and how many the list leaves out.
fn beyond(
    alert: &AlertOutcome,
    what: &str,
    all: u64,
    rows: impl ExactSizeIterator<Item = (String, f64)>,
    unit: Unit,
) -> String {
    let words = comparison_words(alert.rule.comparison);
    let hidden = all.saturating_sub(rows.len() as u64);
    let more = if hidden > 0 { format!("<li>and {} more</li>\n", thousands(hidden)) } else { String::new() };
    let row =
        |(name, value): (String, f64)| format!("<li><code>{name}</code> <b>{}</b></li>\n", Text(&measure(value, unit)));
    let (all, rows) = (many(all, what), rows.map(row).collect::<String>());
    format!("<details><summary>{all} {words} the threshold</summary>\n<ol>\n{rows}{more}</ol></details>\n")
}
