//! Writers: one format a module, each from a finished [`Report`](crate::report::Report) to `&mut dyn Write`.
//!
//! | format | what for | views |
//! |---|---|---|
//! | [`text`] | people | all |
//! | [`json`] | programs; documented field by field in `docs/formats.md`, versioned | all |
//! | [`json`], as lines | programs that read row by row | all but the overview |
//! | [`csv`] | tables | all but the overview |
//! | [`folded`] | flame graphs (inferno, speedscope) | the tree |
//! | [`svg`] | people: flame graphs, one interactive file each | the tree |
//! | [`firefox`] | the Firefox Profiler | samples by thread |
//! | [`speedscope`] | speedscope | samples by thread |
//! | [`d3`] | d3-flame-graph, and what else is built on d3's hierarchies | the tree |
//! | [`chrome_trace`] | Perfetto, `chrome://tracing` | the flame chart, whatever the view |
//! | `pprof` (with the feature `compression`) | pprof, and what reads its files | samples, whatever the view |
//!
//! Text, SVG and HTML show names [inert]: they steer no terminal and break no line. The other formats keep every byte of them; a
//! terminal may be shown what an [`InertWriter`] makes of these.
//!
//! `fleet` (with the feature of that name) has writers of another answer: that about many runs.

mod by_thread;
mod byte_writer;
pub mod chrome_trace;
pub mod csv;
pub mod d3;
pub mod diff;
pub mod firefox;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod folded;
mod inert;
pub mod json;
mod labels;
mod markup;
mod nested;
#[cfg(feature = "compression")]
pub mod pprof;
mod recorded;
pub mod speedscope;
pub mod svg;
pub mod text;

pub use by_thread::SamplesAddedUp;
pub use inert::{InertWriter, Syntax, inert};
pub use labels::escape_folded;
