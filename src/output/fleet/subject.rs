//! The name of what is distributed.

use crate::fleet::{FleetOptions, FleetReport};

/// `CPU use`, or `Thread time` where threads count that do not run.
pub(super) fn subject(report: &FleetReport) -> &'static str {
    if report.selection.counts_waiting() { "Thread time" } else { "CPU use" }
}

/// The subject inside a sentence.
pub(super) fn subject_inside(report: &FleetReport) -> &'static str {
    if report.selection.counts_waiting() { "thread time" } else { "CPU use" }
}

/// The selected threads of a report, with `listed` for their names; `None` if all are selected.
pub(super) fn counted_threads(options: &FleetOptions, listed: impl Fn(&[String]) -> String) -> Option<String> {
    match (&options.threads, options.only_main_threads) {
        (None, false) => None,
        (None, true) => Some("main threads".to_owned()),
        (Some(names), false) => Some(listed(names)),
        (Some(names), true) => Some(format!("main threads named {}", listed(names))),
    }
}
