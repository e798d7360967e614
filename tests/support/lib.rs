//! The fixture writer: invented recordings, written exactly as `xcrun xctrace export` writes real ones.
//!
//! A test starts from a [`Invented`], which says what *really* happened (which instruction ran, on which thread,
//! at what time). [`render`] turns it into one export document in the spelling of a given Xcode, and the
//! methods in [`oracle`] say what a correct reader must find in that document. The two do not share code with the
//! library, so they can disagree with it.
//!
//! ```text
//! Invented::random(seed, &Size::small())        what happened
//!     -> render(&recording, &options)            the document, as Xcode 12 ... 27 would have written it
//!     -> recording.lookup_addresses(row, shape)  what a reader should make of it
//! ```
//!
//! `cases` holds the small hand-made recordings behind `fixtures/`; `large` streams documents of any size for
//! benches and memory tests; `toc` writes tables of contents.
//!
//! `bundle` writes recordings as `.trace` bundles, with the crates that the feature `bundle` brings.
//!
//! `fleet` and `wide_fleet` invent fleets as rows of measures, in the library's types, and `fleet_reports` has reports on them. Everything else here is plain `std`, so the folder can be included by tests, benches and examples alike.

pub mod apple_symbols_model;
pub mod apple_symbols_rng;
pub mod apple_symbols_writer;
pub mod builder;
#[cfg(feature = "bundle")]
pub mod bundle;
pub mod cases;
pub mod cases_27;
pub mod cells;
#[cfg(feature = "symbols")]
pub mod dsym;
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
pub mod random;
pub mod recording;
#[cfg(feature = "fleet")]
pub mod runs;
pub mod shape;
pub mod signposts;
pub mod stacks;
pub mod toc;
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

/// The path of a module, without its program: the first part of the names of its tests.
pub fn module(path: &str) -> &str {
    path.split_once("::").map_or(path, |(_, module)| module)
}

/// The number of rounds of a long random test: a tenth of `all` in a quick run of all tests, as it is done after each change. `TRACEPARSE_THOROUGH=10`,
/// as in `.ci/run`, asks for all of them, and 100 for ten times as many.
pub fn rounds(all: u64) -> u64 {
    let tenths =
        std::env::var("TRACEPARSE_THOROUGH").map_or(1, |text| text.parse().expect("TRACEPARSE_THOROUGH is a number"));
    (all * tenths / 10).max(1)
}
