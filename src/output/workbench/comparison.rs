//! What the command finds out about two recordings, beside their payloads, as JSON.

use std::io;

use serde_json::json;

use crate::output::diff::json::write as write_json;
use crate::output::diff::{DiffReport, DiffView};
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
    ];
    for (name, value) in more {
        facts += &format!(",\"{name}\":{value}");
    }
    facts.push('}');
    Ok(facts)
}
