//! The name of what is distributed.

use crate::fleet::FleetReport;

/// `CPU use`, or `Thread time` where threads count that do not run.
pub(super) fn subject(report: &FleetReport) -> &'static str {
    if report.selection.counts_waiting() { "Thread time" } else { "CPU use" }
}

/// The same inside a sentence.
pub(super) fn subject_inside(report: &FleetReport) -> &'static str {
    if report.selection.counts_waiting() { "thread time" } else { "CPU use" }
}
