//! Writers: [`write()`] writes an [`Answer`] (a report, a comparison, contents, symbols or a fleet report) in a [`Format`].
//!
//! | format | for | views |
//! |---|---|---|
//! | [`Text`](Format::Text) | people | all |
//! | [`Json`](Format::Json) | programs; documented field by field in `docs/formats.md`, versioned | all |
//! | [`JsonLines`](Format::JsonLines) | programs that read row by row | all except the overview |
//! | [`Csv`](Format::Csv) | tables | all |
//! | [`Folded`](Format::Folded) | flame graphs (inferno, speedscope) | the tree |
//! | [`FlameGraph`](Format::FlameGraph) | people: flame graphs, each in one interactive file | the tree |
//! | [`Firefox`](Format::Firefox) | the Firefox Profiler | samples by thread |
//! | [`Speedscope`](Format::Speedscope) | speedscope | samples by thread |
//! | [`D3`](Format::D3) | d3-flame-graph, and other tools based on d3's hierarchies | the tree |
//! | [`ChromeTrace`](Format::ChromeTrace) | Perfetto, `chrome://tracing` | the flame chart, regardless of the view |
//! | `Pprof` (with the feature `compression`) | pprof, and other readers of its format | samples, regardless of the view |
//! | `Workbench` (with the feature `workbench`) | people: one page for exploring a recording, or comparing two | samples, regardless of the view |
//! | `Html` (with the feature `fleet`) | people: fleet reports | |
//!
//! Text, SVG and HTML make names [inert], so that they cannot steer a terminal or break lines. The other formats keep every byte of a name;
//! [`Syntax::write_inert`] makes them safe for a terminal.

mod alerts;
mod answer;
mod by_thread;
mod byte_writer;
mod chrome_trace;
mod crash_report;
mod csv;
mod d3;
mod diff;
#[cfg(any(feature = "compression", feature = "fleet"))]
mod embedded;
mod firefox;
mod flame_layout;
#[cfg(feature = "fleet")]
mod fleet;
mod folded;
mod format;
mod hangs;
mod inert;
#[cfg(feature = "fleet")]
mod interval_summary;
mod json;
#[cfg(feature = "compression")]
mod pprof;
mod recorded;
mod rows;
#[cfg(feature = "serde")]
mod serialize;
mod speedscope;
mod svg;
mod symbols;
mod text;
mod tone;
#[cfg(feature = "compression")]
mod workbench;

pub use answer::{Answer, write};
pub use csv::Cells;
pub use diff::{DiffReport, DiffView};
pub use firefox::Markers;
pub use flame_layout::{FlameBox, FlameLayout};
#[cfg(feature = "fleet")]
pub use fleet::{RunPage, RunPlace};
pub use format::Format;
pub use inert::{Syntax, inert};
pub use rows::{RowFormat, RowsOutput};
pub use svg::{ColourBy, FlameGraphOptions, FlameNode};
pub use text::{OverviewContext, OverviewSentences, Style};
#[cfg(feature = "compression")]
pub use workbench::{WorkbenchOptions, WorkbenchReduction};
