//! Fleets as Parquet files: the measures of many runs, for later reports and for SQL.
//!
//! ```text
//! runs ─► RunMeasures ─► TableWriter (one for each table) ─► bytes ─► DatasetRow::read ─► RunMeasures
//!                                                              └────► DuckDB, Spark, DataFusion …
//! ```
//!
//! A dataset is a set of *data files*. A data file consists of one Parquet file for each [`DatasetTable`], and contains some runs. Each table has one
//! kind of row, all tables contain the runs in the same order, and the rows of a run are adjacent. A data file of any size can therefore be read run
//! by run.
//!
//! Columns are only INT64, DOUBLE and UTF-8, without nesting, compressed with zstd, and described only by the Parquet schema: every engine reads
//! these in the same way. A number above 2^63 − 1 is rejected, since engines would wrap it. Doubles are copies for human readers; answers use the
//! integers next to them.
//!
//! The metadata of a file contains `traceparse.format` = `traceparse-dataset`, `traceparse.table` and `traceparse.version` = 7. Files of other
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

/// The version of the layout of tables that this crate writes and reads.
const VERSION: u32 = 7;

impl DatasetTable {
    /// The version of the layout of tables that this crate writes and reads.
    pub const VERSION: u32 = VERSION;
}

const FORMAT_KEY: &str = "traceparse.format";
const FORMAT: &str = "traceparse-dataset";
const TABLE_KEY: &str = "traceparse.table";
const VERSION_KEY: &str = "traceparse.version";

/// The values of the column `status` in the table `runs`.
const OK: &str = "ok";
const FAILED: &str = "failed";
