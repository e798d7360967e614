//! Writers: one format a module, each from a finished [`Report`](crate::report::Report) to `&mut dyn Write`.
//!
//! | format | what for | views |
//! |---|---|---|
//! | [`text`] | people | all |
//! | [`json`] | programs; documented field by field in `docs/formats.md`, versioned | all |
//! | [`csv`] | tables | all but the overview |
//! | [`folded`] | flame graphs (inferno, speedscope) | the tree |

pub mod csv;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod folded;
pub mod json;
mod labels;
pub mod text;

pub use labels::{NO_STACK, escape_folded};
