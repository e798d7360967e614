//! Reads several datasets as one. A run that is in several datasets is used once, by one rule.
//!
//! ```text
//! datasets ─► comparable? ─► plan: which rows to use ─► rows ─┬─► report
//!                                                             └─► merged dataset
//! ```

mod datasets;
mod plan;
mod whole;

pub use datasets::Datasets;
