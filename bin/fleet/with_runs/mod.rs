//! `fleet report --with-runs N`: pages of the runs that numbers of the report name, next to its page.

mod again;
mod args;
mod folder;

pub(super) use again::measured_as;
pub(super) use args::WithRunsArgs;
pub(super) use folder::{NewFolder, RunFolder};
