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

mod alert_lines;
pub(super) mod csv;
#[cfg(feature = "html")]
pub(super) mod html;
pub(super) mod json;
mod measures;
mod opening;
mod sentences;
mod subject;
pub(super) mod text;

use crate::fleet::{Cohort, Contrast, FleetReport, RunRow, SortKey};
use crate::units::{Unit, counted as thousands, several as many};
pub use alert_lines::alert_lines;
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

/// `P99` for `p99`, `mean by time` for `weighted-mean`; `mean` stays.
fn statistic_name(name: &str) -> String {
    if name == "weighted-mean" {
        return "mean by time".to_owned();
    }
    name.strip_prefix('p').map_or_else(|| name.to_owned(), |percent| format!("P{percent}"))
}

/// The cohorts with too few runs for the percentile that is compared, in a sentence. `name` writes the name of a cohort.
fn too_few_to_compare(report: &FleetReport, contrast: &Contrast, name: impl Fn(&Cohort) -> String) -> Option<String> {
    let SortKey::Quantile(quantile) = report.options.sort else { return None };
    let needed = quantile.needed_count();
    let cohorts = contrast.cohorts.iter().filter_map(|&cohort| report.cohorts.get(cohort));
    let few = cohorts.filter(|cohort| cohort.runs < needed);
    let few: Vec<String> = few.map(|few| format!("{} ({})", name(&few.cohort), many(few.runs, "run"))).collect();
    let all = contrast.cohorts.len();
    let names = match few.len() {
        0 => return None,
        1..=6 => few.join(", "),
        some if some == all => format!("all {all} cohorts"),
        some => format!("{some} of {all} cohorts"),
    };
    let needed = thousands(needed);
    Some(format!(
        "Too few runs for {quantile}, which needs {needed}: {names}. Their {quantile} is nearly their largest run."
    ))
}
