//! Alerts as cards: fired ones first.

use std::io::{self, Write};

use super::numbers::{count, counted, measure, measure_with_unit};
use super::row_names::cohort_name;
use super::run_pages::Links;
use super::table::interval;
use super::text::{Text, shortened};
use crate::fleet::{AlertOutcome, AlertState, Comparison, FleetReport};
use crate::output::fleet::alert_lines::known;
use crate::output::fleet::sentences::statistic_name;
use crate::units::Unit;

/// More cards than this with a harmless state are folded.
const UNFOLDED: usize = 3;

/// Cards of one state; the others are counted.
const MAX_CARDS: usize = 60;

/// The section; none without rules.
pub(super) fn write(report: &FleetReport, links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    if report.alerts.is_empty() {
        return Ok(());
    }
    out.write_all(b"<section id=\"alerts\">\n<h2>Alerts</h2>\n")?;
    for state in [AlertState::Fired, AlertState::Undecided { needed: None }, AlertState::Quiet] {
        let (class, word) = state_words(state);
        let alerts: Vec<&AlertOutcome> =
            report.alerts.iter().filter(|alert| state_words(alert.state).0 == class).collect();
        if alerts.len() <= UNFOLDED || state == AlertState::Fired {
            cards(report, &alerts, links, out)?;
            continue;
        }
        let number = count(alerts.len() as u64);
        writeln!(out, "<details><summary>{number} {} <small>{}</small></summary>", word.to_lowercase(), reason(state))?;
        cards(report, &alerts, links, out)?;
        out.write_all(b"</details>\n")?;
    }
    out.write_all(b"</section>\n")
}

/// The meaning of a state, for readers who do not unfold it.
const fn reason(state: AlertState) -> &'static str {
    match state {
        AlertState::Fired => "beyond their threshold",
        AlertState::Undecided { .. } => "too few runs to decide, or chance may explain it",
        AlertState::Quiet => "within their threshold",
    }
}

fn cards(report: &FleetReport, alerts: &[&AlertOutcome], links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    if alerts.is_empty() {
        return Ok(());
    }
    out.write_all(b"<div class=\"cards\">\n")?;
    for alert in alerts.iter().take(MAX_CARDS) {
        card(report, alert, links, out)?;
    }
    out.write_all(b"</div>\n")?;
    match alerts.len().saturating_sub(MAX_CARDS) {
        0 => Ok(()),
        hidden => writeln!(out, "<p class=\"hidden\">{} more are not shown.</p>", count(hidden as u64)),
    }
}

/// The class of a state and its word.
const fn state_words(state: AlertState) -> (&'static str, &'static str) {
    match state {
        AlertState::Fired => ("fired", "Fired"),
        AlertState::Undecided { .. } => ("undecided", "Undecided"),
        AlertState::Quiet => ("quiet", "Quiet"),
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

fn card(report: &FleetReport, alert: &AlertOutcome, links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    let cohort = report.cohorts.get(alert.cohort).map(|cohort| &cohort.cohort);
    let unit = cohort.map_or(Unit::Nanoseconds, |cohort| cohort.unit);
    let (class, word) = state_words(alert.state);
    let rule = Text(&alert.rule.text).to_string();
    writeln!(
        out,
        "<article class=\"card {class}\"><h3><span class=\"badge {class}\">{word}</span> <code>{rule}</code></h3>"
    )?;
    if let Some(cohort) = cohort.filter(|_| report.cohorts.len() > 1) {
        writeln!(out, "<p class=\"of\">{}</p>", Text(&cohort_name(cohort)))?;
    }
    out.write_all(b"<dl>")?;
    if let Some((name, _)) = alert.causes.first() {
        define(out, "of", known(name))?;
    }
    let statistic = statistic_name(&alert.rule.statistic.name());
    let value = alert.value.map_or("none".to_owned(), |value| measure_with_unit(value, unit));
    define(out, &statistic, &value)?;
    // A threshold is shown as typed.
    let threshold = match unit {
        Unit::Nanoseconds => format!("{} %", alert.rule.threshold),
        _ => measure_with_unit(alert.rule.threshold.as_f64(), unit),
    };
    define(out, "fires", &format!("{} {threshold}", comparison_words(alert.rule.comparison)))?;
    if let Some(interval) = alert.estimate.as_ref().and_then(|estimate| interval(estimate, unit)) {
        write!(
            out,
            "<div><dt>{} interval{}</dt><dd>{interval}</dd></div>",
            report.options.confidence,
            report.assumption()
        )?;
    }
    define(out, "runs", &count(alert.runs))?;
    out.write_all(b"</dl>\n")?;
    if let (AlertState::Undecided { needed: Some(needed) }, Some(_)) = (alert.state, alert.value) {
        let (runs, needed) = (counted(alert.runs, "run"), count(needed));
        let text = format!(
            "{runs} are too few to decide: {statistic} needs {needed}. The value is that of the outermost runs."
        );
        writeln!(out, "<p class=\"note\">{}</p>", Text(&text))?;
    }
    if let Some(note) = &alert.note {
        writeln!(out, "<p class=\"note\">{}.</p>", Text(&sentence(note)))?;
    }
    further_names(alert, unit, out)?;
    beyond(alert, unit, links, out)?;
    out.write_all(b"</article>\n")
}

fn define(out: &mut dyn Write, name: &str, value: &str) -> io::Result<()> {
    write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Text(name), Text(value))
}

/// With its first letter large.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The names beyond the threshold, for a rule about any name, if there are several.
fn further_names(alert: &AlertOutcome, unit: Unit, out: &mut dyn Write) -> io::Result<()> {
    if alert.causes_count < 2 {
        return Ok(());
    }
    let words = comparison_words(alert.rule.comparison);
    writeln!(out, "<details><summary>{} {words} the threshold</summary>\n<ol>", counted(alert.causes_count, "name"))?;
    for (name, value) in &alert.causes {
        writeln!(out, "<li><code>{}</code> <b>{}</b></li>", Text(&shortened(name)), Text(&measure(*value, unit)))?;
    }
    more(alert.causes_count.saturating_sub(alert.causes.len() as u64), out)
}

/// The end of a list, with how many it leaves out.
fn more(hidden: u64, out: &mut dyn Write) -> io::Result<()> {
    if hidden > 0 {
        writeln!(out, "<li>and {} more</li>", count(hidden))?;
    }
    out.write_all(b"</ol></details>\n")
}

/// The runs that are beyond the threshold.
fn beyond(alert: &AlertOutcome, unit: Unit, links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    if alert.beyond.is_empty() {
        return Ok(());
    }
    let runs = counted(alert.beyond_count, "run");
    let words = comparison_words(alert.rule.comparison);
    writeln!(out, "<details><summary>{runs} {words} the threshold</summary>\n<ol>")?;
    for run in &alert.beyond {
        let value = measure(run.1.as_f64(), unit);
        writeln!(out, "<li><code>{}</code> <b>{}</b></li>", links.run(run.0), Text(&value))?;
    }
    more(alert.beyond_count.saturating_sub(alert.beyond.len() as u64), out)
}
