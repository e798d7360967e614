//! The outline of the page: its sections, and the rows and cohorts shown together in them.

use crate::fleet::{CohortReport, FleetReport};
use crate::units::Unit;

/// More cohorts than this have no separate plots and tables.
pub(super) const MAX_COHORTS: usize = 24;
/// Rows of a table of cohorts.
pub(super) const COHORT_ROWS: usize = 500;
/// Rows of a table of processes, threads, binaries or functions.
pub(super) const SCOPE_ROWS: usize = 200;

/// The sections that a report has: their ids and titles, in order.
pub(super) fn sections(report: &FleetReport) -> Vec<(&'static str, &'static str)> {
    let cohorts = &report.cohorts;
    let all = [
        ("alerts", "Alerts", !report.alerts.is_empty()),
        ("trend", "Trend", !report.trends.is_empty()),
        ("across-runs", "Across runs", !cohorts.is_empty()),
        ("durations", "Durations", !report.histograms.is_empty()),
        ("over-time", "Over time", cohorts.iter().any(|cohort| !cohort.timeline.is_empty())),
        ("within-runs", "Within runs", cohorts.iter().any(|cohort| cohort.within_runs.is_some())),
        ("contrasts", "Differences", report.contrasts.iter().any(|contrast| !contrast.rows.is_empty())),
        ("scopes", "Where it goes", cohorts.iter().any(|cohort| !cohort.tables.is_empty())),
        ("runs", "Runs", !report.runs.is_empty()),
        ("method", "Method", true),
    ];
    all.into_iter().filter(|section| section.2).map(|(id, title, _)| (id, title)).collect()
}

/// A section with this content, if the report has it.
pub(super) fn section(report: &FleetReport, id: &str, content: impl FnOnce() -> String) -> String {
    let has_section = sections(report).iter().any(|section| section.0 == id);
    if has_section { format!("<section id=\"{id}\">\n{}</section>\n", content()) } else { String::new() }
}

/// The cohorts of one unit, which may be compared.
pub(super) fn by_unit(report: &FleetReport) -> impl Iterator<Item = (Unit, &[CohortReport])> {
    let groups = report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit);
    groups.map(|cohorts| (cohorts[0].cohort.unit, cohorts))
}
