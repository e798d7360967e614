//! Turns the files of a fleet into runs: each file is read once, hashed while it is read, and measured.
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

pub use into_dataset::Extract;
pub use into_report::Collector;
pub use options::{IntervalChoice, ReadingOptions, ThreadChoice};
pub use settings::FleetSettings;

// The pages of runs also use these to read their inputs.
pub(crate) use {
    batch::total_bytes,
    content::{Refused, unless_changed},
    failure::without_path,
    fleet_input::FleetInput,
    intervals::all_intervals,
    measuring::redact,
    notes::Notes,
    sibling_files::Beside,
};
