//! Several datasets as one: each run once, by one rule, whichever dataset has it.
//!
//! ```text
//! datasets ─► like each other? ─► plan: who counts ─► rows ─┬─► report
//!                                                           └─► merged dataset
//! ```

mod datasets;
mod likeness;
mod plan;
mod sentences;
mod whole;

pub(super) use datasets::Datasets;
