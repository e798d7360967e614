//! Names as the page shows them.

use crate::fleet::{Cohort, FleetScope, ScopeName};
use crate::output::markup::shortened;

/// The name of a cohort, short enough to be read.
pub(super) fn cohort_name(cohort: &Cohort) -> String {
    shortened(&cohort.name())
}

/// The names of a row and its owner.
pub(super) fn scope_names(scope: FleetScope, name: &ScopeName) -> (String, Option<String>) {
    let known = |text: &Option<String>| match text.as_deref() {
        None | Some("") => "(unknown)".to_owned(),
        Some(text) => shortened(text),
    };
    match scope {
        FleetScope::Run => ("run".to_owned(), None),
        FleetScope::Process => (known(&name.process), None),
        FleetScope::Thread => (known(&name.thread), Some(known(&name.process))),
        FleetScope::Binary => (known(&name.binary), None),
        FleetScope::Function => (known(&name.function), Some(known(&name.binary))),
    }
}

/// `process`, `processes`: the words for one scope and for many.
pub(super) const fn scope_words(scope: FleetScope) -> (&'static str, &'static str) {
    match scope {
        FleetScope::Run => ("Run", "Runs"),
        FleetScope::Process => ("Process", "Processes"),
        FleetScope::Thread => ("Thread", "Threads"),
        FleetScope::Binary => ("Binary", "Binaries"),
        FleetScope::Function => ("Function", "Functions"),
    }
}
