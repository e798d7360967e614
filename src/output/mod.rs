//! Writers: one format a module, each from a finished [`Report`](crate::report::Report) to `&mut dyn Write`.
//!
//! | format | what for | views |
//! |---|---|---|
//! | [`text`] | people | all |
//! | [`json`] | programs; documented field by field in `docs/formats.md`, versioned | all |
//! | [`json`], as lines | programs that read row by row | all but the overview |
//! | [`csv`] | tables | all but the overview |
//! | [`folded`] | flame graphs (inferno, speedscope) | the tree |
//! | [`d3`] | d3-flame-graph, and what else is built on d3's hierarchies | the tree |
//! | [`chrome_trace`] | Perfetto, `chrome://tracing` | the flame chart, whatever the view |
//! | `pprof` (with the feature `compression`) | pprof, and what reads its files | samples, whatever the view |
//!
//! `fleet` (with the feature of that name) has writers of another answer: that about many runs.

pub mod chrome_trace;
pub mod csv;
pub mod d3;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod folded;
pub mod json;
mod labels;
mod nested;
#[cfg(feature = "compression")]
pub mod pprof;
pub mod text;
mod texts;

pub use labels::{NO_STACK, escape_folded};
