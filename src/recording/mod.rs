//! A recording: the result of any reader, with every row accounted for.
//!
//! Readers decode bytes and give tables, rows and tables of contents to a [`RecordingBuilder`]. The result is the same for every kind of
//! input: samples in a [`Profile`], the documents that they are from, and diagnostics.
//!
//! rows = samples + rejected, for every table of samples, with a reason for each rejection.

mod address;
mod builder;
mod clock;
mod counters;
mod dates;
mod export_command;
mod idle;
mod input;
mod intervals;
#[cfg(feature = "bundle")]
mod known_rows;
mod names;
mod notes;
mod recorded_time;
mod reject;
mod rows;
mod sampling_interval;
mod schema;
mod toc;

use std::sync::Arc;

pub(crate) use address::{FrameForm, kperf_callers};
pub use builder::RecordingBuilder;
#[cfg(feature = "fleet")]
pub(crate) use clock::TimeHints;

pub use counters::Counter;
pub use export_command::export_command;
pub(crate) use export_command::shell_word;
pub use input::{FrameKind, InputBuilder};
pub use intervals::{HangRisk, Interval, IntervalOrigin, IntervalTable, Intervals, LoneEnd};
pub(crate) use intervals::{ProcessCell, RowKind, RowValues, SignpostIdentity, TableValues, Texts};
#[cfg(feature = "bundle")]
pub(crate) use known_rows::{AlikeCount, AlikeRow};
pub(crate) use names::{is_hex_address, without_tid};
pub(crate) use notes::Notes;
#[cfg(feature = "fleet")]
pub(crate) use recorded_time::RecordedTime;
pub use recorded_time::{SelectedTime, TimeSource};
pub use reject::{RejectReason, Rejected};
pub use rows::Row;
pub(crate) use rows::{KnownRow, Source, TableReader, add_known_row, add_read_row, known};
pub use schema::{Column, TableKind};
pub(crate) use toc::lookup;
#[cfg(feature = "fleet")]
pub(crate) use toc::seconds;
pub use toc::{Toc, TocProcess, TocRun, TocTable};

use crate::error::Diagnostic;
use crate::memory::{MemoryBudget, Reservation};
use crate::profile::{Profile, SeriesId};

pub use crate::profile::SampleDetail;

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
    /// The memory that may be taken: by the data, while it is read and as long as the [`Recording`] lives, and by the bytes inflated for it.
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

/// The content of one or more inputs: the samples, and everything else that was read.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The samples of all CPU tables, or their sums ([`Options::samples`]).
    pub profile: Profile,
    /// The documents of all inputs, in order.
    pub documents: Vec<Document>,
    /// The diagnostics of reading; the first of each kind has the position.
    pub diagnostics: Vec<Diagnostic>,
    /// The recorded time of each run.
    pub(in crate::recording) clock: recorded_time::Clock,
    /// The memory that the documents take; clones share it.
    #[expect(dead_code, reason = "it is given back when the last of them is dropped")]
    pub(in crate::recording) held: Option<Arc<Reservation>>,
}

impl Recording {
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

    /// The damaged runs of recordings, which are left out.
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

/// A table of a document, with the accounting of its rows.
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
