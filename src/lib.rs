//! Reads recordings of Apple's Instruments (`.trace`), exports of `xcrun xctrace export` (Xcode 12 to 27), and `sample` reports, on any
//! machine.
//!
//! ```text
//! bytes ─► readers ─► recording ─► symbolicate ─► calltree ─► report ─► output ─► bytes
//! ```
//!
//! Readers produce a [`recording::Recording`] from a path ([`open`]) or from any [`Read`](std::io::Read) ([`read`]). It contains samples in
//! a [`profile::Profile`], and accounts for every row. [`symbolicate`] names addresses from symbol files, which [`symbols`] finds and reads.
//! [`calltree`] merges the stacks of samples, [`report`] computes answers, and [`output`] writes them. Each module uses only [`units`] and
//! the modules to its left. An [`Analysis`] applies these steps in the right order. [`bundle`] reads `.trace` recordings into the same
//! model. [`fleet`] measures many recordings and reports how their CPU use is distributed, with the statistics of [`stats`].
//!
//! The five heaviest functions of the main thread, as JSON (`examples/main_thread.rs`):
//!
#![cfg_attr(all(feature = "serde", feature = "symbols"), doc = "```standalone_crate")]
#![cfg_attr(not(all(feature = "serde", feature = "symbols")), doc = "```ignore")]
#![doc = include_str!("../examples/main_thread.rs")]
//! ```
//!
//! You can read from memory and write any format:
//!
//! ```
//! use traceparse::output::{self, Cells, Format};
//! use traceparse::recording::Options;
//! use traceparse::report::{ReportOptions, View};
//!
//! # let xml = br#"<?xml version="1.0"?>
//! # <trace-query-result>
//! # <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="time-profile"><col><mnemonic>time</mnemonic></col>
//! # <col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>
//! # <row><sample-time id="1" fmt="00:00.001">1000000</sample-time><weight id="2" fmt="1.00 ms">1000000</weight><backtrace
//! # id="3"><frame id="4" name="work" addr="0x1001"/><frame id="5" name="main" addr="0x2004"/></backtrace></row>
//! # </node></trace-query-result>"#;
//! let recording = traceparse::read(xml.as_slice(), "export.xml", &Options::default())?;
//! assert_eq!(recording.rejected(), 0, "every row is a sample");
//!
//! let report = recording.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
//! let heaviest = &report.series[0].functions[0];
//! assert_eq!((heaviest.sums.self_weight, report.series[0].unit.name()), (1_000_000, "ns"));
//!
//! let mut csv = Vec::new();
//! output::write(&report, &Format::Csv(Cells::AsTheyAre), &mut csv)?;
//! # assert!(String::from_utf8(csv)?.ends_with("\nexport.xml,1,1,time-profile,0,1000000,0,1,ns,main,\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! These rules hold everywhere:
//!
//! * rows = samples + rejected, for every CPU table, with a reason for each rejection ([`recording::RejectReason`]).
//! * A weight has a unit ([`units::Unit`]), and weights of different units are never summed. A [`profile::Series`] is the largest set of
//!   samples whose weights may be summed.
//! * In every tree node, in integers: all weight = self weight + the children's all weight + the weight that pruning hid.
//! * Input never panics the library; [`recording::Limits`] bound its cost. The library prints nothing, has no `unsafe`, and opens only the
//!   recordings and symbol files whose path it is given, through `files::FileSystem`. It takes as much memory as it needs, or as a
//!   [`memory::MemoryBudget`] in the options allows.
//! * Sentences name settings by their fields, unless the program [writes them in another way](settings::Program).
//!
//! # Features
//!
//! Features are additive. Without features, the library reads exports, `sample` reports, and Apple's own symbol files.
//! `compression` adds [`decompress`] (gzip and zstd) and the compressed formats: `output::Format::Pprof` and `output::Format::Workbench`.
//! `symbols` adds dSYM and Mach-O files, and `bundle` adds [`bundle`]. `fleet` adds [`stats`], [`fleet`] and `output::Format::Html`;
//! `dataset` adds extraction, datasets as Parquet, and merging. `patterns` adds matching names by regular expressions.
//! `serde` serializes reports and rows with names. `swift` demangles names of Swift 4 and later, and needs a C++17 compiler.
//!
//! [`report`]: mod@report
//! [`open`]: fn@crate::open
//! [`symbolicate`]: mod@crate::symbolicate
//! [`symbols`]: mod@crate::symbols
#![cfg_attr(feature = "bundle", doc = "[`bundle`]: mod@crate::bundle")]
#![cfg_attr(
    not(feature = "bundle"),
    doc = "[`bundle`]: https://docs.rs/traceparse/latest/traceparse/bundle/index.html"
)]
#![cfg_attr(feature = "fleet", doc = "[`fleet`]: mod@crate::fleet")]
#![cfg_attr(not(feature = "fleet"), doc = "[`fleet`]: https://docs.rs/traceparse/latest/traceparse/fleet/index.html")]
#![cfg_attr(feature = "fleet", doc = "[`stats`]: mod@crate::stats")]
#![cfg_attr(not(feature = "fleet"), doc = "[`stats`]: https://docs.rs/traceparse/latest/traceparse/stats/index.html")]
#![cfg_attr(feature = "compression", doc = "[`decompress`]: fn@crate::decompress")]
#![cfg_attr(
    not(feature = "compression"),
    doc = "[`decompress`]: https://docs.rs/traceparse/latest/traceparse/fn.decompress.html"
)]
// docs.rs builds with a nightly compiler.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod alert;
mod analysis;
mod calendar;
pub mod calltree;
mod chunked_vec;
#[cfg(feature = "compression")]
mod decompress;
pub mod demangle;
mod error;
pub mod files;
#[cfg(feature = "fleet")]
pub mod fleet;
mod hash;
pub mod intervals;
pub mod memory;
mod noise;
mod open;
mod ordered_pool;
pub mod output;
pub mod profile;
mod ranked_bits;
mod readers;
pub mod recording;
pub mod redact;
pub mod report;
#[cfg(feature = "dataset")]
mod run_pages;
pub mod settings;
#[cfg(feature = "fleet")]
pub mod stats;
pub mod symbolicate;
pub mod symbols;
pub mod tables;
pub mod units;
mod varint;

pub use open::open;
#[cfg(feature = "bundle")]
pub use readers::bundle;
pub use readers::crash::CrashReport;
pub use readers::input::{Input, InputFiles, InputPlace};
pub use readers::read;
pub use readers::workbench::Payload;
#[cfg(feature = "dataset")]
pub use run_pages::{PageFolder, RunPages};

pub use analysis::Analysis;
#[cfg(feature = "compression")]
pub use decompress::decompress;
pub use error::{Diagnostic, Error, ErrorKind, Position};
