//! Several datasets as one: each run once, by one rule, whichever dataset has it.
//!
//! ```text
//! datasets ─► like each other? ─► plan: who counts ─► rows ─┬─► report
//!                                                           └─► merged dataset
//! ```

mod datasets;
mod likeness;
mod merge;
mod plan;
mod query;
mod sentences;
mod whole;

pub use datasets::Datasets;
pub(crate) use query::unknown_label;
