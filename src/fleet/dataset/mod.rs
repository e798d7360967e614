//! Fleets as Parquet files: the measures of many runs, for reports and for SQL.
//!
//! ```text
//! runs ─► RunMeasures ─► TableWriter (one for each table) ─► bytes ─► DatasetRow::read ─► RunMeasures
//!                                                              └────► DuckDB, Spark, DataFusion …
//! ```
//!
//! A dataset is a set of *data files*. A data file consists of one Parquet file per [`DatasetTable`], and contains some runs. All tables contain
//! the runs in the same order, with the rows of a run adjacent, so a data file of any size can be read run by run.
//!
//! All columns are INT64, DOUBLE or UTF-8, without nesting, compressed with zstd, and described only by the Parquet schema, which every engine
//! reads in the same way. Numbers above 2^63 − 1 are rejected, since engines would wrap them. Doubles are copies for human readers; answers use
//! the integers next to them.
//!
//! A file's metadata contains `traceparse.format` = `traceparse-dataset`, `traceparse.table` and `traceparse.version` = 7. Files of other
//! versions are not read.

mod buffer;
mod engine_written;
mod error;
mod layout;
mod pages;
mod reader;
mod runs;
mod schema;
mod table;
mod writer;

pub use engine_written::RewrittenRuns;
pub use error::{DatasetError, DatasetErrorKind};
pub use reader::DatasetRun;
pub(super) use reader::SharedNames;
pub(super) use runs::COPIES;
pub use runs::{DatasetRow, KnownRun};
pub use schema::DatasetTable;
pub(in crate::fleet) use writer::TableWriter;

/// The version of the table layout that this crate writes and reads.
const VERSION: u32 = 7;

impl DatasetTable {
    /// The version of the table layout that this crate writes and reads.
    pub const VERSION: u32 = VERSION;
}

const FORMAT_KEY: &str = "traceparse.format";
const FORMAT: &str = "traceparse-dataset";
const TABLE_KEY: &str = "traceparse.table";
const VERSION_KEY: &str = "traceparse.version";

/// The values of the column `status` in the table `runs`.
const OK: &str = "ok";
const FAILED: &str = "failed";
