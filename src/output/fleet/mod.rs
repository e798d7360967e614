//! Writers of a [`FleetReport`], with one module per format.
//!
//! | format | for |
//! |---|---|
//! | `text` | people |
//! | `json` | programs; everything in the report, documented field by field in `docs/fleet-formats.md`, versioned |
//! | `csv` | tables: a row for each scope of each cohort |
//! | `page` | people: one page with plots, without network access |
//!
//! Writers compute no results: all results are in the report.

mod cautions;
pub(super) mod comparison;
pub(super) mod csv;
mod definitions;
mod first_screen;
mod histograms;
mod inputs;
pub(super) mod json;
mod measures;
mod opening;
pub(super) mod page;
mod sentences;
pub(super) mod text;
pub(super) mod trend;

use crate::fleet::{FleetReport, RunRow};
use crate::units::{Unit, counted as thousands, several as many};
pub use page::{RunPage, RunPlace};

/// The accuracy of percentiles that are not exact: 2^(1/128) − 1, rounded up.
const WITHIN: &str = "within 0.55 %, counted in buckets";

/// The unit of measures in machine-readable formats: `percent-of-one-core`, `cycles/s`, `events/s`, `samples/s`.
const fn measure_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "percent-of-one-core",
        rate => rate.rate_name(),
    }
}

/// The runs of a cohort, by the cohort's index.
fn runs_of(report: &FleetReport, cohort: usize) -> impl Iterator<Item = &RunRow> {
    report.runs.iter().filter(move |run| run.cohort == cohort)
}
