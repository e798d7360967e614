//! A fleet as Parquet: the measures of many runs, for later reports and for SQL.
//!
//! ```text
//! runs ─► RunMeasures ─► TableWriter (one for each table) ─► bytes ─► DatasetReader ─► RunMeasures
//!                                                              └────► DuckDB, Spark, DataFusion …
//! ```
//!
//! A dataset is a set of *data files*. A data file is one Parquet file for each [`DatasetTable`], and contains some
//! runs: each table has one kind of row, all tables have the same order of runs, and the rows of a run are adjacent. A
//! data file of any size is therefore read run by run.
//!
//! Columns are INT64, DOUBLE and UTF-8 only, without nesting, compressed with zstd, and described only by the Parquet
//! schema: every engine reads that in the same way. A number above 2^63 − 1 is refused, since engines would wrap it.
//! Doubles are copies for people; answers use the integers next to them.
//!
//! The metadata of a file contains `traceparse.format` = `traceparse-dataset`, `traceparse.table` and `traceparse.version` = 4. Files of
//! other versions are not read.

mod buffer;
mod engine_written;
mod error;
mod hist;
mod layout;
mod pages;
mod reader;
mod runs;
mod schema;
mod table;
mod writer;

pub use engine_written::RewrittenRuns;
pub use error::{DatasetError, DatasetErrorKind};
pub(super) use reader::SharedNames;
pub use reader::{DatasetReader, DatasetRun};
pub(super) use runs::COPIES;
pub use runs::{DatasetRow, KnownRun};
pub use schema::DatasetTable;
pub use writer::TableWriter;

/// The version of the layout of tables that this crate writes and reads.
const VERSION: u32 = 6;

impl DatasetTable {
    /// The version of the layout of tables that this crate writes and reads.
    pub const VERSION: u32 = VERSION;
}

const FORMAT_KEY: &str = "traceparse.format";
const FORMAT: &str = "traceparse-dataset";
const TABLE_KEY: &str = "traceparse.table";
const VERSION_KEY: &str = "traceparse.version";

/// Values of the column `status` of `runs`.
const OK: &str = "ok";
const FAILED: &str = "failed";
