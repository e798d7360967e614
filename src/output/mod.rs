//! Writers: one format a module, each from a finished [`Report`](crate::report::Report) to `&mut dyn Write`.
//!
//! | format | what for | views |
//! |---|---|---|
//! | [`text`] | people | all |
//! | [`json`] | programs; documented field by field in `docs/formats.md`, versioned | all |
//! | [`csv`] | tables | all but the overview |
//! | [`folded`] | flame graphs (inferno, speedscope) | the tree |
//! | `pprof` (with the feature `compression`) | pprof, and what reads its files | samples, whatever the view |
//!
//! `fleet` (with the feature of that name) has writers of another answer: that about many runs.

pub mod csv;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod folded;
pub mod json;
mod labels;
#[cfg(feature = "compression")]
pub mod pprof;
pub mod text;
mod texts;

pub use labels::{NO_STACK, escape_folded};
