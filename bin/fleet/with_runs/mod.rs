//! `fleet report --with-runs N`: pages of the runs that numbers of the report name, beside its page.
//!
//! ```text
//! report ─► the runs to open ─► each read again ─► its page in fleet.runs/ ─► links in fleet.html
//! ```
//!
//! A run is read again as it was measured, and measured again: a page whose numbers differ from those that link to it is not written.

mod again;
mod args;
mod folder;
mod page;
mod places;
mod write;

pub(super) use again::measured_as;
pub(super) use args::WithRunsArgs;
pub(super) use folder::RunFolder;
pub(super) use write::{RunPages, Wanted};
