//! The fixture writer: invented recordings, written exactly as `xcrun xctrace export` writes real ones.
//!
//! A test starts with an [`Invented`] recording of what *really* happened (which instruction ran, on which thread, at what time).
//! [`render`] writes it as one export document in the form of a given Xcode, and the methods in [`oracle`] return what a correct reader
//! must find in that document. They share no code with the library, so the two can disagree.
//!
//! ```text
//! Invented::random(seed, &Size::small())        what happened
//!     -> render(&recording, &options)            the document, as Xcode 12 ... 27 would have written it
//!     -> recording.lookup_addresses(row, shape)  what a reader should make of it
//! ```
//!
//! `cases` contains the small hand-made recordings in `fixtures/`; `large` streams documents of any size for benchmarks and memory tests;
//! `toc` writes tables of contents.
//!
//! `bundle` writes recordings as `.trace` bundles, with the crates that the feature `bundle` adds.
//!
//! `fleet` and `wide_fleet` invent fleets as rows of measures, in the library's types, and `fleet_reports` contains reports on them. This
//! is a separate crate, so it is compiled once for all tests, benchmarks and examples.

pub mod all_tables;
pub mod apple_symbols_model;
pub mod apple_symbols_writer;
pub mod breakpad;
pub mod builder;
#[cfg(feature = "bundle")]
pub mod bundle;
pub mod cases;
pub mod cases_27;
pub mod cells;
#[cfg(feature = "dataset")]
pub mod compare_command;
#[cfg(feature = "fleet")]
pub mod compared_runs;
#[cfg(feature = "symbols")]
pub mod dsym;
pub mod dyld_cache_writer;
pub mod firefox_file;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod fleet_expected;
pub mod fleet_exports;
#[cfg(feature = "fleet")]
pub mod fleet_reports;
pub mod hang_risks;
pub mod large;
pub mod large_code;
pub mod large_model;
pub mod mutations;
pub mod names;
pub mod oracle;
pub mod orchard;
pub mod other_tables;
#[cfg(feature = "bundle")]
pub mod page;
pub mod random;
pub mod recording;
#[cfg(feature = "fleet")]
pub mod runs;
pub mod shape;
pub mod signposts;
#[cfg(feature = "fleet")]
pub mod stack_sums;
pub mod stacks;
pub mod toc;
#[cfg(feature = "fleet")]
pub mod trend_series;
#[cfg(feature = "fleet")]
pub mod wide_fleet;
pub mod writer;
pub mod xml;

pub use cases::{Case, cases, fixtures, readme};
pub use hang_risks::{HangRisk, Part};
pub use large::{DEPTHS, write_large, write_large_as, write_large_deep};
pub use mutations::{documents, mutate, respell};
pub use names::escaped;
pub use random::{Rng, Size};
pub use recording::{CoreKind, Frame, Image, Invented, Process, Row, SampleKind, Thread};
pub use shape::{Shape, Table};
pub use signposts::Signpost;
pub use toc::{Target, TocOptions, render_toc};
pub use writer::{Content, Node, RenderOptions, concatenate, render};
pub use xml::Layout;

/// From now on, sentences of the library name options, as in the fixtures. Call this before tests run, since it applies to the process.
pub fn name_options() {
    let write = |setting: &traceparse::settings::Setting, f: &mut std::fmt::Formatter<'_>| match setting.name {
        "output" => f.write_str("-o"),
        name => write!(f, "--{name}"),
    };
    traceparse::settings::Program { command: Some("traceparse"), write }.install();
}

/// A place in the repository.
pub fn repository(path: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).expect("this package is in a folder of tests/").join(path)
}

/// Returns the path of a module without its program. It is the first part of its tests' names.
pub fn module(path: &str) -> &str {
    path.split_once("::").map_or(path, |(_, module)| module)
}

/// Returns the number of rounds of a long random test. It is a tenth of `all` by default, for a quick run after each change. With
/// `TRACEPARSE_THOROUGH=10`, it is `all`, and with 100 ten times as many.
pub fn rounds(all: u64) -> u64 {
    let tenths =
        std::env::var("TRACEPARSE_THOROUGH").map_or(1, |text| text.parse().expect("TRACEPARSE_THOROUGH is a number"));
    (all * tenths / 10).max(1)
}

/// The seeds of a long random test, as many as [`rounds`]. `TRACEPARSE_SEED` selects others.
pub fn seeds(all: u64) -> std::ops::Range<u64> {
    let seed: u64 =
        std::env::var("TRACEPARSE_SEED").map_or(0, |text| text.parse().expect("TRACEPARSE_SEED is a number"));
    let first = u64::from(u32::MAX) & seed.wrapping_mul(all);
    first..first + rounds(all)
}
