//! Writers of a [`FleetReport`], one format a module.
//!
//! | format | what for |
//! |---|---|
//! | [`text`] | people |
//! | [`json`] | programs; everything in the report, documented field by field in `docs/fleet-formats.md`, versioned |
//! | [`csv`] | tables: a row for each scope of each cohort |
//! | `html` (feature `html`) | people: one page with plots, without network |
//!
//! Writers compute nothing that a reader could take for a result: that stands in the report.

pub mod csv;
#[cfg(feature = "html")]
pub mod html;
pub mod json;
pub mod text;

use crate::fleet::{FleetReport, RunRow};
use crate::units::Unit;

/// What measures of a unit are in, for programs: `percent-of-one-core`, `cycles/s`, `events/s`, `samples/s`.
const fn measure_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "percent-of-one-core",
        Unit::Cycles => "cycles/s",
        Unit::PmcEvents => "events/s",
        Unit::Samples => "samples/s",
    }
}

/// The runs of a cohort, by its position.
fn runs_of(report: &FleetReport, cohort: usize) -> impl Iterator<Item = &RunRow> {
    report.runs.iter().filter(move |run| run.cohort == cohort)
}

/// The run of a cohort with the largest CPU use, the first of equal ones.
fn worst_run(report: &FleetReport, cohort: usize) -> Option<&RunRow> {
    runs_of(report, cohort).reduce(|worst, run| if run.rate > worst.rate { run } else { worst })
}
