//! Converts a fleet's files to runs: each file is read once, hashed as it is read, and measured.
//!
//! ```text
//! tasks ─► batch ─► content and hash ─► symbols, intervals, operations ─► measures ─► a keeper: a dataset, or a report
//! ```

mod batch;
mod beside;
mod content;
mod extraction;
mod fleet_input;
mod intervals;
mod into_dataset;
mod into_report;
mod measuring;
mod options;
mod outcome;
mod settings;
mod symbols;

pub use into_dataset::Extract;
pub use into_report::Collector;
pub use options::{IntervalChoice, ReadingOptions, ThreadChoice};
pub use settings::FleetSettings;

// The pages of runs read their inputs with these as well.
pub(crate) use {
    batch::total_bytes, beside::Beside, content::unless_changed, fleet_input::FleetInput, intervals::all_intervals,
    measuring::redact, outcome::Notes, outcome::without_path,
};
