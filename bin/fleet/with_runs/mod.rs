//! `fleet report --with-runs N`: pages for the runs to which the report's numbers refer, next to its page.

mod again;
mod folder;

pub(super) use again::measured_as;
pub(super) use folder::{NewFolder, RunFolder};
