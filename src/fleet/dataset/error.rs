//! Errors about a dataset's tables.

use std::fmt;

use parquet::errors::ParquetError;

use super::DatasetTable;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a table failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatasetErrorKind {
    /// The underlying reader or writer failed.
    Io,
    /// A Parquet file, but not the requested table as written by this crate.
    Foreign,
    /// Written by another version of this crate.
    OtherVersion,
    /// Written by an engine, with unsupported columns, types or codecs.
    Unlike,
    /// Not a Parquet file, or inconsistent.
    Damaged,
    /// A number does not fit in a table. Parquet integers are signed here, so that every SQL engine can read them.
    TooLarge,
}

/// Why a table could not be written or read, and what to do.
#[derive(Debug)]
pub struct DatasetError {
    /// The kind of failure.
    pub kind: DatasetErrorKind,
    /// The table.
    pub table: DatasetTable,
    /// A short description of the problem.
    pub detail: String,
    /// The underlying cause.
    pub source: Option<Cause>,
}

impl DatasetError {
    pub(super) fn new(kind: DatasetErrorKind, table: DatasetTable, detail: impl Into<String>) -> Self {
        Self { kind, table, detail: detail.into(), source: None }
    }

    pub(super) fn damaged(table: DatasetTable, detail: impl Into<String>) -> Self {
        Self::new(DatasetErrorKind::Damaged, table, detail)
    }

    /// Converts an error of the Parquet reader.
    pub(super) fn reading(table: DatasetTable, error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) if cause.is::<std::io::Error>() => {
                let kind = DatasetErrorKind::Io;
                Self { kind, table, detail: "reading failed".to_owned(), source: Some(cause) }
            }
            error => Self::damaged(table, error.to_string()),
        }
    }

    /// Converts an error of the Parquet writer. Its input is always valid, so the cause is the underlying writer.
    pub(super) fn writing(table: DatasetTable, error: ParquetError) -> Self {
        let cause = match error {
            ParquetError::External(cause) => cause,
            error => Box::new(error),
        };
        Self { kind: DatasetErrorKind::Io, table, detail: "writing failed".to_owned(), source: Some(cause) }
    }
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (table, detail) = (self.table.name(), &self.detail);
        match self.kind {
            DatasetErrorKind::Io => write!(f, "table {table}: {detail}"),
            DatasetErrorKind::Foreign => {
                write!(
                    f,
                    "table {table}: {detail}. Only files that `traceparse fleet extract` wrote belong here; move this file"
                )
            }
            DatasetErrorKind::OtherVersion => write!(f, "table {table}: {detail}. Update traceparse, or extract again"),
            DatasetErrorKind::Unlike => write!(f, "table {table}: {detail}"),
            DatasetErrorKind::Damaged => {
                // The caller adds the file and advice, since the other tables of the data file must be deleted as well.
                write!(f, "table {table} is damaged: {detail}")
            }
            DatasetErrorKind::TooLarge => {
                write!(f, "table {table}: {detail} is more than a table can hold (2^63 - 1). Leave out this run")
            }
        }
    }
}

impl std::error::Error for DatasetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
