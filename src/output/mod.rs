//! Writers: one format a module, each from a finished [`Report`](crate::report::Report) to `&mut dyn Write`.
//!
//! | format | what for | views |
//! |---|---|---|
//! | [`text`] | people | all |
//! | [`json`] | programs; documented field by field in `docs/formats.md`, versioned | all |
//! | [`csv`] | tables | all but the overview |
//! | [`folded`] | flame graphs (inferno, speedscope) | the tree |
//! | [`svg`] | people: flame graphs, one interactive file each | the tree |
//!
//! `fleet` (with the feature of that name) has writers of another answer: that about many runs.

pub mod csv;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod folded;
pub mod json;
mod labels;
mod markup;
pub mod svg;
pub mod text;
mod texts;

pub use labels::{NO_STACK, escape_folded};
