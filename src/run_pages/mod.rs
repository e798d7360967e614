//! Pages of the runs that numbers of a fleet's report name, next to the page of the report.
//!
//! ```text
//! report ─► the runs to open ─► each read again ─► its page in a folder ─► links in the report
//! ```
//!
//! A run is read and measured again with the same settings: a page whose numbers differ from those that link to it is not written.

mod folder;
mod page;
mod places;
mod write;

pub use folder::PageFolder;
pub use page::fit;
pub use write::RunPages;
