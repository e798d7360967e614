//! Writers of a [`FleetReport`], one format a module.
//!
//! | format | what for |
//! |---|---|
//! | `text` | people |
//! | `json` | programs; everything in the report, documented field by field in `docs/fleet-formats.md`, versioned |
//! | `csv` | tables: a row for each scope of each cohort |
//! | `html` (feature `html`) | people: one page with plots, without network |
//!
//! Writers compute no results: those are in the report.

pub(super) mod csv;
#[cfg(feature = "html")]
pub(super) mod html;
pub(super) mod json;
mod measures;
mod opening;
mod sentences;
mod subject;
pub(super) mod text;

use crate::fleet::{FleetReport, RunRow};
use crate::units::Unit;
#[cfg(feature = "html")]
pub use html::{RunPage, RunPlace};

/// The error of percentiles that are not exact: 2^(1/128) − 1, rounded up.
const WITHIN: &str = "within 0.55 %, counted in buckets";

/// The unit of measures, for programs: `percent-of-one-core`, `cycles/s`, `events/s`, `samples/s`.
const fn measure_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "percent-of-one-core",
        rate => rate.rate_name(),
    }
}

/// The runs of a cohort, by its position.
fn runs_of(report: &FleetReport, cohort: usize) -> impl Iterator<Item = &RunRow> {
    report.runs.iter().filter(move |run| run.cohort == cohort)
}

/// `1,000`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 run`, `2,000 runs`.
fn many(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
}
