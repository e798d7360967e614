//! From the files of a fleet to their runs: each file is read once, hashed while it is read, and measured.
//!
//! ```text
//! tasks ─► batch ─► content and hash ─► names, intervals, operations ─► measures ─► a keeper: a dataset, or a report
//! ```

mod batch;
mod content;
mod duplicates;
mod extraction;
mod failure;
mod fleet_input;
mod hashed_files;
mod intervals;
mod into_dataset;
mod into_report;
mod measuring;
mod notes;
mod options;
mod outcome;
mod settings;
mod sibling_files;
mod symbols;

pub(crate) use batch::total_bytes;
pub(crate) use content::{Refused, unless_changed};
pub(crate) use failure::without_path;
pub(crate) use fleet_input::FleetInput;
pub(crate) use intervals::all_intervals;
pub use into_dataset::Extract;
pub use into_report::Collector;
pub(crate) use measuring::redact;
pub(crate) use notes::Notes;
pub use options::{IntervalChoice, ReadingOptions, ThreadChoice};
pub use settings::FleetSettings;
pub(crate) use sibling_files::Beside;
