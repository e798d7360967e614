//! Writes a page for each run that a fleet report refers to, next to the report's own page.
//!
//! ```text
//! report ─► the runs to open ─► each read again ─► its page in a folder ─► links in the report
//! ```
//!
//! A run is read and measured again with the same settings. If its numbers differ from those in the report, its page is
//! not written.

mod folder;
mod page;
mod places;
mod write;

pub use folder::PageFolder;
pub use write::RunPages;
