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

pub(super) mod comparison;
pub(super) mod csv;
mod first_screen;
mod histograms;
#[cfg(feature = "fleet")]
pub(super) mod html;
pub(super) mod json;
mod measures;
mod opening;
mod sentences;
pub(super) mod text;
pub(super) mod trend;

use crate::fleet::{FleetReport, RunRow};
use crate::units::{Unit, counted as thousands, several as many};
#[cfg(feature = "fleet")]
pub use html::{RunPage, RunPlace};
pub use sentences::alert_lines;

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
