//! Reads several datasets as one. A run in several datasets is used once, according to a single rule.
//!
//! ```text
//! datasets ─► comparable? ─► plan: which rows to use ─► rows ─┬─► report
//!                                                             └─► merged dataset
//! ```

mod datasets;
mod plan;
mod whole;

pub use datasets::Datasets;
