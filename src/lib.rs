//! Reads recordings of Apple's Instruments and the exports of `xcrun xctrace export` (Xcode 12 to 27), on any machine.
//!
//! ```text
//! bytes ─► readers ─► recording ─► symbolicate ─► calltree ─► report ─► output ─► bytes
//! ```
//!
//! Readers ([`read`] chooses [`export`] or [`sample`] by the first bytes) give a [`recording::Recording`]: samples in a
//! [`profile::Profile`], with every row accounted for; `symbolicate` names the addresses in it from symbol files, which `symbols` finds and reads; [`calltree`] merges the
//! stacks of its samples; [`report`](mod@report) puts answers together; [`output`] writes them. Modules use those to their left, and
//! [`units`] and [`error`]. `bundle` reads recordings (`.trace`) into the same type, and has an example. `fleet` measures many exports and
//! reports how their CPU use is distributed, with the statistics of `stats`.
//!
//! ```
//! use traceparse::export::read;
//! use traceparse::recording::Options;
//! use traceparse::report::{ReportOptions, View, report};
//!
//! # let xml = br#"<?xml version="1.0"?>
//! # <trace-query-result>
//! # <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="time-profile"><col><mnemonic>time</mnemonic></col>
//! # <col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>
//! # <row><sample-time id="1" fmt="00:00.001">1000000</sample-time><weight id="2" fmt="1.00 ms">1000000</weight><backtrace
//! # id="3"><frame id="4" name="work" addr="0x1001"/><frame id="5" name="main" addr="0x2004"/></backtrace></row>
//! # </node></trace-query-result>"#;
//! // Any `Read` will do: a file, a pipe, a decompressor.
//! let export = read(xml.as_slice(), "export.xml", &Options::default())?;
//! assert_eq!(export.rejected(), 0, "every row is a sample");
//!
//! let options = ReportOptions { view: View::Functions, ..ReportOptions::default() };
//! let report = report(&export, &options);
//! let heaviest = &report.series[0].functions[0];
//! assert_eq!((heaviest.self_weight, report.series[0].unit.name()), (1_000_000, "ns"));
//!
//! let mut csv = Vec::new();
//! traceparse::output::csv::write(&report, &mut csv)?;
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
//!
//! # Features
//!
//! Features only add. `cli` (default) builds the command, and turns on `compression` (`decompress`, gzip and
//! zstd; `output::pprof`), `symbols` (the modules `symbols` and `symbolicate`), `bundle` (the module of that name; of `symbols` it turns on
//! `apple-symbols`, the formats in which bundles keep names, and not dSYM and Mach-O), `dataset` (`fleet::dataset`, Parquet) and `html` (`output::fleet::html`). The last two turn on `fleet` (the modules
//! `stats`, `fleet` and `output::fleet`). `swift` (default) demangles names of Swift 4 and later, and needs a C++17 compiler to
//! build. The library alone is `default-features = false`.

mod alert_grammar;
pub mod analysis;
pub mod calltree;
mod chunked_vec;
#[cfg(feature = "compression")]
mod decompress;
pub mod demangle;
pub mod error;
pub mod files;
#[cfg(feature = "fleet")]
pub mod fleet;
mod hash;
pub mod memory;
mod open;
mod ordered_pool;
pub mod output;
pub mod profile;
mod readers;
pub mod recording;
pub mod report;
#[cfg(feature = "fleet")]
pub mod stats;
#[cfg(feature = "apple-symbols")]
pub mod symbolicate;
#[cfg(feature = "apple-symbols")]
pub mod symbols;
pub mod units;

pub use open::{open, open_with};
#[cfg(feature = "bundle")]
pub use readers::bundle;
pub use readers::{export, input, read, read_into, sample};

#[cfg(feature = "compression")]
pub use decompress::decompress;
pub use error::{Diagnostic, Error, ErrorKind, Position};

/// The example in the README, run as a test. The README itself is not a page of this documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
