//! Several datasets read as one: a run in several datasets is used once, by one rule.
//!
//! ```text
//! datasets ─► like each other? ─► plan: who counts ─► rows ─┬─► report
//!                                                           └─► merged dataset
//! ```

mod datasets;
mod plan;
mod query;
mod whole;

pub use datasets::Datasets;
pub(crate) use query::unknown_label;
