//! What the command finds out about two recordings, beside their payloads, as JSON.

use std::io;

use serde_json::{Value, json};

use crate::output::diff::json::write as write_json;
use crate::output::diff::{DiffReport, DiffView};
use crate::profile::TimeRange;
use crate::report::Report;
use crate::report::diff::Change;

/// The JSON of the overview of a comparison, and what the page needs to compute the rest.
pub(super) fn facts(report: &DiffReport<'_, '_>) -> io::Result<String> {
    let mut text = Vec::new();
    write_json(&DiffReport { view: DiffView::Overview, top: None, ..*report }, &mut text)?;
    let mut facts = String::from_utf8(text).map_err(io::Error::other)?;
    // As text: reading its fractions and writing them again would round them.
    facts.truncate(facts.trim_end().len() - 1);
    let more = [
        ("is_scaled", json!(report.diff.is_scaled)),
        ("beyond_noise", json!(Change::BEYOND_NOISE)),
        ("sentences", report.sentences()),
        ("runs", json!({"before": runs(report.before), "after": runs(report.after)})),
    ];
    for (name, value) in more {
        facts += &format!(",\"{name}\":{value}");
    }
    facts.push('}');
    Ok(facts)
}

/// The recorded time of each run that is compared, as far as it was asked for; null of a run of which no table of contents tells it.
fn runs(report: &Report<'_>) -> Value {
    let asked = report.options.selection.time;
    let runs = report.recorded_lengths().into_iter().map(|(number, length)| {
        let TimeRange { start, end } = asked.unwrap_or(TimeRange { start: Default::default(), end: None });
        let end = length.map(|length| end.unwrap_or(length).min(length).as_nanos());
        json!({"number": number, "start_ns": start.as_nanos(), "end_ns": end})
    });
    runs.collect()
}
