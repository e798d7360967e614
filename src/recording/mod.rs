//! A recording, which every reader produces, with all rows accounted for.
//!
//! Readers decode bytes and pass tables, rows and tables of contents to a [`RecordingBuilder`]. The result has the same form for every kind of input:
//! samples in a [`Profile`], the documents that contained them, and diagnostics.
//!
//! For every table of samples, rows = samples + rejected, with a reason for each rejection.

mod address;
mod app_metrics;
mod builder;
mod clock;
mod column;
mod contradiction;
mod counters;
pub(crate) mod dates;
mod export_command;
mod idle;
mod input;
mod intervals;
mod known_rows;
mod lacking;
mod names;
mod notes;
mod page;
mod recorded_time;
mod reject;
mod rows;
mod toc;

use std::sync::Arc;

pub(crate) use address::{FrameForm, kperf_callers};
pub use app_metrics::{AppMetrics, DurationHistogram};
pub use builder::RecordingBuilder;
#[cfg(feature = "fleet")]
pub(crate) use clock::{HintedTime, TimeHints};
pub use column::{Column, ColumnKind};

pub use counters::Counter;
pub(crate) use export_command::{command_line, export_to_file, shell_word};
pub use input::{FrameKind, InputBuilder};
pub(crate) use intervals::Wanted;
pub use intervals::{HangRisk, Interval, IntervalOrigin, IntervalTable, Intervals, LoneEnd};
pub(crate) use intervals::{ProcessCell, ROLES, Role, RowKind, RowValues, SignpostIdentity, TableValues, Texts};
pub(crate) use known_rows::KnownRow;
#[cfg(feature = "bundle")]
pub(crate) use known_rows::RowCount;
pub(crate) use names::{is_hex_address, without_tid};
pub(crate) use notes::Notes;
pub(crate) use page::{PageRun, PageSeries};
#[cfg(feature = "fleet")]
pub(crate) use recorded_time::RecordedTime;
pub use recorded_time::{SelectedTime, TimeSource};
pub use reject::{RejectReason, Rejected};
pub use rows::Row;
pub(crate) use rows::{Source, TableReader, add_read_row};
pub(crate) use toc::lookup;
#[cfg(feature = "fleet")]
pub(crate) use toc::seconds;
pub(crate) use toc::{
    ATTRIBUTED_THREAD, CRASH, LAST_EXCEPTION, NON_FATAL, SPECIFIC_BACKTRACE, STATED_PERCENTILE, STOP_FIELDS,
    is_stop_field,
};
pub use toc::{Toc, TocProcess, TocRun, TocTable};

use crate::error::Diagnostic;
use crate::memory::{MemoryBudget, Reservation};
use crate::profile::{Profile, RunId, SeriesId, ThreadId};
use crate::units::{Nanos, Unit};

pub use crate::profile::SampleDetail;

/// Options for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Accepts an input that ends in the middle of a document: its complete rows are used, and [`Document::cut_at`] is set. Default: no.
    pub allow_truncated: bool,
    /// The block size in bytes for reading the input. A block ends after a row, and grows if a row does not fit. Each thread has a few blocks in
    /// memory. Default: 512 KiB.
    pub buffer_size: usize,
    /// The number of reading threads, including the calling one. An input with a single block is read by the calling thread alone. The result
    /// does not depend on this number. Default: 1; 0 is treated as 1.
    pub jobs: usize,
    /// Uses a fast scanner for the XML that `xctrace` writes. Without it, everything is parsed as generic XML, with the same result but several
    /// times slower, which is useful only to compare the two. Default: yes.
    pub uses_scanner: bool,
    /// The detail of samples: each one, or sums. Sums take less memory and time, and suffice for trees and totals; [`SampleDetail`] lists what is
    /// lost. Default: each.
    pub samples: SampleDetail,
    /// The table whose rows become samples, instead of all CPU tables. Default: none.
    pub table: Option<TableChoice>,
    /// Keeps MetricKit metrics, which have no stacks. If false, an input with nothing else is rejected. Default: no.
    pub metrics: bool,
    /// The limits against hostile input.
    pub limits: Limits,
    /// The limit on memory for data while reading and as long as the [`Recording`] exists, and for decompressed bytes. Default: unlimited.
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
            table: None,
            metrics: false,
            limits: Limits::default(),
            memory: MemoryBudget::unlimited(),
        }
    }
}

/// A table whose rows become samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableChoice {
    /// The schema, such as `virtual-memory`. All tables with this schema are used.
    pub schema: String,
    /// The weight of a row. `None` uses durations if the table has them, otherwise sizes in bytes, otherwise 1 for each row.
    pub weight: Option<TableWeight>,
}

/// The weight of a row of a [chosen table](TableChoice).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableWeight {
    /// The duration, in [elapsed](Unit::Elapsed) time.
    Duration,
    /// The size in [bytes](Unit::Bytes).
    Bytes,
    /// 1 for each row.
    Rows,
}

/// Limits against hostile input; real exports stay far below the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum depth of nested elements. Default: 256.
    pub element_depth: usize,
    /// The maximum size of one tag, or of the text of one element, in bytes. Default: 16 MiB.
    pub token_bytes: usize,
    /// The maximum number of children of an element. Default: 1,000,000.
    pub children: usize,
    /// The maximum number of frames in a stack; rows with deeper stacks are rejected. Default: 1,024 (the deepest seen: 97).
    pub stack_depth: usize,
    /// The maximum number of tables and documents in an input. Default: 10,000.
    pub tables: usize,
    /// The maximum length of a name or path, in bytes. Default: 64 KiB.
    pub name_bytes: usize,
    /// The maximum number of counter values in a row; rows with more are rejected. Default: 256 (real rows have a few).
    pub counters: usize,
    /// The maximum number of distinct stack entries in addition to one per byte of input. Without it, address fragments that refer to each other
    /// could multiply. Default: 65,536.
    pub free_stacks: u64,
    /// The maximum decompressed size of a file in a `.trace` bundle, in bytes. Rows are exempt, since they are never kept in memory. Default: 4
    /// GiB (the largest real files have a few hundred MiB).
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

/// The content of one or more inputs: samples, documents and diagnostics.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The samples of all CPU tables, or their sums ([`Options::samples`]).
    pub profile: Profile,
    /// The documents of all inputs, in order.
    pub documents: Vec<Document>,
    /// The diagnostics from reading. The first of each kind has its position.
    pub diagnostics: Vec<Diagnostic>,
    /// The recorded time of each run.
    pub(in crate::recording) clock: recorded_time::Clock,
    /// The memory reserved for the documents. Clones share it, and it is released when the last of them is dropped.
    pub(in crate::recording) held: Option<Arc<Reservation>>,
}

impl Recording {
    /// Returns the same recording with another profile, such as the result of operations.
    #[must_use]
    pub fn with_profile(&self, profile: Profile) -> Self {
        Self {
            profile,
            documents: self.documents.clone(),
            diagnostics: self.diagnostics.clone(),
            clock: self.clock.clone(),
            held: self.held.clone(),
        }
    }

    /// Returns the tables of all documents.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.documents.iter().flat_map(Document::tables)
    }

    /// True if an input has rows of signposts or hangs or, if `is_of_all`, of any table with a start and a duration.
    pub fn has_intervals(&self, input: &str, is_of_all: bool) -> bool {
        let is_interval = |table: &Table| {
            let has = |name: &str| table.columns.iter().any(|column| column.mnemonic == name);
            let is_other = is_of_all && table.kind != TableKind::Cpu && has("start") && has("duration");
            let schema = table.schema.as_deref().unwrap_or_default();
            is_other || Intervals::SIGNPOSTS.contains(&schema) || Intervals::HANGS.contains(&schema)
        };
        let documents = self.documents.iter().filter(|document| document.input == input);
        documents.flat_map(Document::tables).any(|table| table.rows > 0 && is_interval(table))
    }

    /// The thread with the crash or memory exception; `None` if the report does not identify one.
    pub(crate) fn attributed_thread(&self, run: RunId) -> Option<ThreadId> {
        let index = self.toc_of_run(run)?.summary_field(ATTRIBUTED_THREAD)?.parse().ok()?;
        let profile = &self.profile;
        profile.thread_ids().filter(|&id| profile.process(profile.thread(id).process).run == run).nth(index)
    }

    /// Returns the tables of contents among the documents.
    pub fn tocs(&self) -> impl Iterator<Item = &Toc> {
        self.documents.iter().filter_map(|document| match &document.content {
            DocumentContent::Toc(toc) => Some(toc),
            DocumentContent::Tables(_) => None,
        })
    }

    /// Returns [`TocRun::launch_data`] of the run with the most launch data.
    pub fn launch_data(&self) -> Option<String> {
        let runs = self.tocs().flat_map(|toc| &toc.runs);
        runs.max_by_key(|run| (run.environment_variables, run.has_arguments))?.launch_data()
    }

    /// Returns the damaged runs of recordings, which are omitted.
    pub fn unread_runs(&self) -> impl Iterator<Item = &TocRun> {
        self.tocs().flat_map(|toc| &toc.runs).filter(|run| run.unread.is_some())
    }

    /// The number of unreadable times and sizes in reports.
    #[cfg(feature = "fleet")]
    pub(crate) fn unread_quantities(&self) -> u64 {
        self.tocs().flat_map(|toc| &toc.runs).map(|run| run.unread_quantities).sum()
    }

    /// Returns the number of rejected rows of CPU tables.
    pub fn rejected(&self) -> u64 {
        self.tables().map(|table| table.rejected.total()).sum()
    }

    /// Returns the sampling interval of a table of CPU time: the most frequent weight of all samples, selected or not, and the smallest one in a
    /// tie. A call shorter than this may fall between two samples. `None` for other units, since the interval is not recorded.
    pub fn sampling_interval(&self, series: SeriesId) -> Option<Nanos> {
        let row = self.profile.series(series);
        let is_time = row.unit == Unit::Nanoseconds && row.has_sample_counts();
        self.profile.most_frequent_weight(series).filter(|_| is_time).map(Nanos::from_nanos)
    }
}

/// One document of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name of the input.
    pub input: String,
    /// The content.
    pub content: DocumentContent,
    /// The byte offset at which the input ended, if it ended inside the document ([`Options::allow_truncated`]).
    pub cut_at: Option<u64>,
}

impl Document {
    fn tables(&self) -> &[Table] {
        match &self.content {
            DocumentContent::Tables(tables) => tables,
            DocumentContent::Toc(_) => &[],
        }
    }
}

/// The content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentContent {
    /// Tables (`trace-query-result`).
    Tables(Vec<Table>),
    /// A table of contents (`trace-toc`).
    Toc(Toc),
}

/// A table of a document, with its row counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The run number, from 1.
    pub run: u32,
    /// The position in the recording's data, from 1, as in `table[9]` of an XPath; `None` for track details.
    pub position: Option<u32>,
    /// The schema, such as `time-profile`; `None` for track details.
    pub schema: Option<String>,
    /// The kind of its rows: CPU samples or not.
    pub kind: TableKind,
    /// The columns.
    pub columns: Vec<Column>,
    /// The total number of rows.
    pub rows: u64,
    /// The number of rows that became samples. For a CPU table, `rows` = `samples` + `rejected`; for any other table, 0.
    pub samples: u64,
    /// The number of rejected rows, by reason.
    pub rejected: Rejected,
    /// The series in the profile: one per unit, so usually one, and none without samples.
    pub series: Vec<SeriesId>,
}

/// The kind of a table: CPU samples or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// A table of CPU samples (`time-profile`, `cpu-profile`, `counters-profile`, `time-sample`): its rows become samples.
    Cpu,
    /// Any other table: its rows are counted but not read.
    #[default]
    Other,
}

impl TableKind {
    /// Returns the kind of a table with this schema.
    pub fn of_schema(name: &str) -> Self {
        match name {
            "time-profile" | "cpu-profile" | "counters-profile" | "time-sample" => Self::Cpu,
            _ => Self::Other,
        }
    }
}
