//! Reads what `xcrun xctrace export` writes, of every Xcode from 12 to 27.
//!
//! A document holds tables; a row has one cell for each column of the schema:
//!
//! ```xml
//! <trace-query-result>
//! <node xpath='//trace-toc[1]/run[1]/data[1]/table[9]'><schema name="time-profile">
//!   <col><mnemonic>time</mnemonic>…</col><col><mnemonic>thread</mnemonic>…</col>…</schema>
//! <row><sample-time id="1" fmt="00:00.648.438">648438208</sample-time><thread id="2" fmt="main (0x51) (app, pid: 7)">…
//!   </thread><weight id="9" fmt="1.00 ms">1000000</weight><tagged-backtrace id="10"><frame id="11" name="run"
//!   addr="0x104bfc505"><binary id="12" name="app" UUID="…" load-addr="0x104bfc000" …/></frame>…</tagged-backtrace></row>
//! <row><sample-time id="21" fmt="00:00.649.439">649439375</sample-time><thread ref="2"/><weight ref="9"/>
//!   <tagged-backtrace ref="10"/></row>
//! </node></trace-query-result>
//! ```
//!
//! Rules that hold for every version:
//!
//! * An element has an `id` where its value comes first, and is a `ref` to that id afterwards. Ids count 1, 2, 3 … over
//!   the whole document, over all its tables and runs, and also in rows that nobody wants.
//! * `<sentinel/>` is no value, and nothing else is: a cell that has no value otherwise rejects its row. A row whose stack is a
//!   sentinel has a weight all the same.
//! * A `ref` is of the same kind as the element that defined its id, which no other one defines.
//! * Numbers stand in the text of elements; `fmt` is for people, and follows their locale.
//! * The stack decides how it is read, never a version: frames, fragments of addresses, wrapped once, twice or not.
//! * rows = samples + rejected, for every CPU table, with a reason for each rejection.
//!
//! ```
//! use traceparse::export::{Options, read};
//!
//! let xml = r#"<?xml version="1.0"?>
//! <trace-query-result>
//! <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="time-profile"><col><mnemonic>time</mnemonic></col>
//! <col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>
//! <row><sample-time id="1" fmt="00:00.001">1000000</sample-time><weight id="2" fmt="1.00 ms">1000000</weight><backtrace
//! id="3"><frame id="4" name="work" addr="0x1001"/><frame id="5" name="main" addr="0x2004"/></backtrace></row>
//! </node></trace-query-result>"#;
//! let export = read(xml.as_bytes(), "export.xml", &Options::default())?;
//! assert_eq!(export.profile.samples().len(), 1);
//! let leaf = export.profile.frames_leaf_first(export.profile.samples()[0].stack).next().unwrap();
//! assert_eq!(export.profile.function_name(leaf.function), "work");
//! # Ok::<(), traceparse::Error>(())
//! ```

mod address;
mod alone;
mod attributes;
mod blocks;
mod dates;
#[cfg(feature = "compression")]
mod decompress;
mod definitions;
mod document;
mod export_command;
mod fault;
mod feed;
#[cfg(feature = "bundle")]
mod intake;
mod intervals;
mod item;
#[cfg(feature = "bundle")]
mod known_rows;
mod names;
mod notes;
mod oddity;
mod other_formats;
mod packed;
mod pipeline;
mod place;
mod reject;
mod replay;
mod rows;
mod scan;
mod schema;
mod skip;
mod sniff;
mod stacks;
mod tag;
mod tape;
mod toc;
mod tokens;
mod well_formed;

use std::io::Read;
use std::sync::Arc;

#[doc(hidden)]
pub use alone::scanned_rows;
#[cfg(feature = "compression")]
pub use decompress::decompress;
pub use export_command::export_command;
#[cfg(feature = "bundle")]
pub(crate) use intake::{AlikeCount, AlikeRow, FrameKind, Intake, kperf_callers};
pub use intervals::{HangRisk, Interval, IntervalOrigin, IntervalTable, Intervals, LoneEnd, read_intervals};
#[cfg(feature = "bundle")]
pub(crate) use intervals::{ProcessCell, RowKind, RowValues, SignpostIdentity, TableValues, Texts};
#[cfg(feature = "symbols")]
pub(crate) use names::is_hex_address;
#[cfg(feature = "bundle")]
pub(crate) use names::without_tid;
pub use reject::{RejectReason, Rejected};
#[cfg(feature = "bundle")]
pub(crate) use rows::Row;
pub use schema::{Column, TableKind};
#[cfg(feature = "fleet")]
pub(crate) use toc::{SLACK, seconds};
pub use toc::{Toc, TocProcess, TocRun, TocTable, lookup};

use crate::error::{Diagnostic, Error, ErrorKind};
use crate::memory::{MemoryBudget, Reservation};
use crate::profile::{Profile, SeriesId};

pub use crate::profile::SampleDetail;
use definitions::Definitions;
use document::DocumentReader;

/// The options of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Accept an input that ends before its document does: rows that are complete count, and
    /// [`Document::cut_at`] says so. Default: no.
    pub allow_truncated: bool,
    /// The size in bytes of the blocks that the input is read in; a block ends behind a row, and grows for one that does not fit. For each
    /// thread a few blocks are in memory. Default: 512 KiB.
    pub buffer_size: usize,
    /// The number of threads that read, with the one that calls. An input of a single block is read by the caller alone. The result does
    /// not depend on it. Default: 1, so that nothing starts threads unasked; 0 is the same.
    pub jobs: usize,
    /// True to read rows by the scanner that is made for the XML that `xctrace` writes. Without it everything is read as ordinary XML, with
    /// the same result in several times the time: that is there to compare the two. Default: yes.
    pub uses_scanner: bool,
    /// The detail in which samples are kept: each one, or added up. Default: each. Adding up takes less memory and time if only trees and
    /// totals are asked for, and gives the same; see [`SampleDetail`] for what is lost.
    pub samples: SampleDetail,
    /// The limits that guard against hostile input.
    pub limits: Limits,
    /// The memory that may be taken: by the data, while it is read and as long as the [`Export`] lives, and by the bytes inflated for it.
    /// Default: as much as there is.
    pub memory: MemoryBudget,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allow_truncated: false,
            buffer_size: 512 << 10,
            jobs: 1,
            uses_scanner: true,
            samples: SampleDetail::Each,
            limits: Limits::default(),
            memory: MemoryBudget::unlimited(),
        }
    }
}

/// Limits that guard against hostile input; real exports stay far below the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest depth of nested elements. Default: 256.
    pub element_depth: usize,
    /// The largest size of one tag, or of the text of one element, in bytes. Default: 16 MiB.
    pub token_bytes: usize,
    /// The largest number of children of an element. Default: 1,000,000.
    pub children: usize,
    /// The largest number of frames in a stack; rows with deeper ones are rejected. Default: 1,024 (the deepest seen: 97).
    pub stack_depth: usize,
    /// The largest number of tables and documents in an input. Default: 10,000.
    pub tables: usize,
    /// The largest length of a name or path, in bytes. Default: 64 KiB.
    pub name_bytes: usize,
    /// The largest number of counter values in a row; rows with more are rejected. Default: 256 (real ones have a few).
    pub counters: usize,
    /// The largest number of distinct stack entries beyond one for each byte of input. Fragments of addresses that refer to each other
    /// could multiply. Default: 65,536.
    pub free_stacks: u64,
    /// The largest size of a file of a recording (a `.trace` bundle), inflated, in bytes; rows are never in memory, and have no limit.
    /// Default: 4 GiB (the largest real ones: some hundred MiB).
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            element_depth: 256,
            token_bytes: 16 << 20,
            children: 1_000_000,
            stack_depth: 1_024,
            tables: 10_000,
            name_bytes: 64 << 10,
            counters: 256,
            free_stacks: 65_536,
            file_bytes: 4 << 30,
        }
    }
}

/// Everything that was read: the samples, and what else the inputs hold.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The samples of all CPU tables, or their sums ([`Options::samples`]).
    pub profile: Profile,
    /// The documents of all inputs, in order.
    pub documents: Vec<Document>,
    /// The diagnostics of reading; the first of each kind has the position.
    pub diagnostics: Vec<Diagnostic>,
    /// The memory that the documents take; clones share it.
    #[expect(dead_code, reason = "it is given back when the last of them is dropped")]
    held: Option<Arc<Reservation>>,
}

impl Export {
    /// The tables of all documents.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.documents.iter().flat_map(|document| match &document.content {
            DocumentContent::Tables(tables) => tables.as_slice(),
            DocumentContent::Toc(_) => &[],
        })
    }

    /// The tables of contents among the documents.
    pub fn tocs(&self) -> impl Iterator<Item = &Toc> {
        self.documents.iter().filter_map(|document| match &document.content {
            DocumentContent::Toc(toc) => Some(toc),
            DocumentContent::Tables(_) => None,
        })
    }

    /// The runs of recordings that are damaged, so that nothing of them is here.
    pub fn unread_runs(&self) -> impl Iterator<Item = &TocRun> {
        self.tocs().flat_map(|toc| &toc.runs).filter(|run| run.unread.is_some())
    }

    /// The number of rows of CPU tables that are not samples.
    pub fn rejected(&self) -> u64 {
        self.tables().map(|table| table.rejected.total()).sum()
    }
}

/// One document of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name of the input.
    pub input: String,
    /// Its content.
    pub content: DocumentContent,
    /// The byte at which the input ended, if it ended inside the document and that was allowed.
    pub cut_at: Option<u64>,
}

/// The content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentContent {
    /// Tables (`trace-query-result`).
    Tables(Vec<Table>),
    /// A table of contents (`trace-toc`).
    Toc(Toc),
}

/// A table of a document and what became of its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The run it was recorded in, from 1.
    pub run: u32,
    /// Its position in the recording's data, from 1, as in `table[9]` of an XPath; `None` for details of a track.
    pub position: Option<u32>,
    /// Its schema, such as `time-profile`; `None` for details of a track.
    pub schema: Option<String>,
    /// The kind of its rows: CPU samples or not.
    pub kind: TableKind,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Rows of any kind.
    pub rows: u64,
    /// Rows that became samples; `rows` = `samples` + `rejected` for a CPU table, 0 for another.
    pub samples: u64,
    /// Rows that did not.
    pub rejected: Rejected,
    /// Its series in the profile; one for each unit, so one, or none without samples.
    pub series: Vec<SeriesId>,
}

/// Reads one input after the other into one [`Export`].
#[derive(Debug)]
pub struct Reader {
    options: Options,
    definitions: Definitions,
    documents: Vec<Document>,
    diagnostics: Vec<Diagnostic>,
    bytes: u64,
    has_failed: bool,
}

impl Reader {
    /// A reader that has read nothing.
    pub fn new(options: Options) -> Self {
        let definitions = Definitions::new(&options);
        Self { options, definitions, documents: Vec::new(), diagnostics: Vec::new(), bytes: 0, has_failed: false }
    }

    /// Reads an input with all its documents. `name` is the input's name in results and errors.
    ///
    /// The source is read in large pieces; it needs no buffer of its own.
    ///
    /// # Errors
    /// When the input is not an export, is cut, is malformed, or passes a limit. The reader must not be used after that: the part it holds
    /// of the broken input is not accounted for, so it gives no more results ([`ErrorKind::Failed`]).
    pub fn read<R: Read + Send>(&mut self, source: R, name: &str) -> Result<(), Error> {
        self.check()?;
        // Until the input is read to its end.
        self.has_failed = true;
        let full = |full: crate::profile::Full| Error::new(ErrorKind::Limit(full.to_string()), None);
        let input = self.definitions.builder.string(name).map_err(full)?;
        let mut reader = DocumentReader::new(&mut self.definitions, &self.options, input, self.bytes);
        self.bytes += pipeline::read_documents(source, name, &mut reader, &self.options)?;
        self.diagnostics.extend(reader.notes.take());
        self.documents.append(&mut reader.documents);
        self.has_failed = false;
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        if self.has_failed { Err(Error::new(ErrorKind::Failed, None)) } else { Ok(()) }
    }

    /// Everything that was read.
    ///
    /// # Errors
    /// When an input could not be read.
    pub fn finish(self) -> Result<Export, Error> {
        self.check()?;
        let Definitions { builder, reserved, of_documents, .. } = self.definitions;
        let mut profile = builder.finish();
        drop(reserved);
        profile.hold().map_err(|over| Error::memory(over, None))?;
        let held = self.options.memory.reserve(of_documents).map_err(|over| Error::memory(over, None))?;
        Ok(Export { profile, documents: self.documents, diagnostics: self.diagnostics, held: Some(Arc::new(held)) })
    }
}

/// Reads one input. `name` is how results and errors call it.
///
/// # Errors
/// As [`Reader::read`].
pub fn read<R: Read + Send>(source: R, name: &str, options: &Options) -> Result<Export, Error> {
    let mut reader = Reader::new(options.clone());
    reader.read(source, name)?;
    reader.finish()
}
