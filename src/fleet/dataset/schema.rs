//! The tables of a dataset, and their columns.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};

/// A table of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DatasetTable {
    /// One row per run, and per file without runs.
    Runs,
    /// One row per label of a run.
    Labels,
    /// The weights of functions: the main table.
    Frames,
    /// The weights of binaries.
    Binaries,
    /// The weights of threads in each second.
    Windows,
    /// The call trees of threads; empty unless requested.
    Stacks,
}

impl DatasetTable {
    /// All tables, starting with `runs`.
    pub const ALL: [Self; 6] = [Self::Runs, Self::Labels, Self::Frames, Self::Binaries, Self::Windows, Self::Stacks];

    /// The name of the table and its folder: `runs`, `labels`, `frames`, `modules`, `windows`, `stacks`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Labels => "labels",
            Self::Frames => "frames",
            Self::Binaries => "modules",
            Self::Windows => "windows",
            Self::Stacks => "stacks",
        }
    }

    pub(super) const fn columns(self) -> &'static [Column] {
        match self {
            Self::Runs => RUNS,
            Self::Labels => LABELS,
            Self::Frames => FRAMES,
            Self::Binaries => BINARIES,
            Self::Windows => WINDOWS,
            Self::Stacks => STACKS,
        }
    }

    /// The columns to read. In tables of threads, only the first columns are read, since the others are duplicates. Doubles are never read.
    pub(super) fn columns_to_read(self) -> Vec<&'static str> {
        let count = match self {
            Self::Frames => 10,
            Self::Binaries => 9,
            Self::Windows => 7,
            Self::Stacks => 11,
            Self::Runs | Self::Labels => self.columns().len(),
        };
        let columns = self.columns()[..count].iter();
        columns.filter(|column| column.kind != ColumnKind::Double).map(|column| column.name).collect()
    }

    pub(super) fn parquet_schema(self) -> Result<TypePtr> {
        let fields = self.columns().iter().map(Column::parquet_type).collect::<Result<Vec<_>>>()?;
        Type::group_type_builder(self.name()).with_fields(fields).build().map(Arc::new)
    }
}

/// The type of a column. Every SQL engine reads these in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// UTF-8, in dictionary pages.
    Text,
    /// INT64.
    Integer,
    /// DOUBLE: copies of integers, for human readers.
    Double,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: ColumnKind,
    pub(super) is_nullable: bool,
}

impl Column {
    pub(super) const fn physical(&self) -> Physical {
        match self.kind {
            ColumnKind::Text => Physical::BYTE_ARRAY,
            ColumnKind::Integer => Physical::INT64,
            ColumnKind::Double => Physical::DOUBLE,
        }
    }

    fn parquet_type(&self) -> Result<TypePtr> {
        let repetition = if self.is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder = Type::primitive_type_builder(self.name, self.physical()).with_repetition(repetition);
        let builder = match self.kind {
            // Older engines recognise only the converted type.
            ColumnKind::Text => {
                builder.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8)
            }
            ColumnKind::Integer | ColumnKind::Double => builder,
        };
        builder.build().map(Arc::new)
    }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text, is_nullable: false }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Integer, is_nullable: false }
}

const fn text_or_null(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text, is_nullable: true }
}

const fn integer_or_null(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Integer, is_nullable: true }
}

const fn double_or_null(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Double, is_nullable: true }
}

const RUNS: &[Column] = &[
    text_or_null("run_id"),
    text("fingerprint"),
    text("status"),
    text_or_null("failure"),
    text_or_null("error"),
    text("source"),
    integer("source_bytes"),
    text_or_null("failed_labels"),
    integer_or_null("run_number"),
    text_or_null("device"),
    text_or_null("os"),
    text_or_null("os_build"),
    text_or_null("app"),
    text_or_null("app_version"),
    integer_or_null("run_weight_millionths"),
    double_or_null("run_weight"),
    text_or_null("start"),
    integer_or_null("wall_ns"),
    integer_or_null("wall_start_ns"),
    text_or_null("wall_source"),
    text_or_null("schema"),
    text_or_null("unit"),
    integer_or_null("weight"),
    integer_or_null("samples"),
    integer_or_null("effective_samples"),
    integer_or_null("rejected"),
    integer_or_null("cores"),
    integer_or_null("usual_weight"),
    integer_or_null("cpu_rate_millionths"),
    double_or_null("cpu_rate"),
    integer_or_null("first_whole_second"),
    integer_or_null("end_whole_second"),
    text_or_null("parser_version"),
    text_or_null("notes"),
    integer_or_null("unread_runs"),
    text_or_null("parts_ns"),
    integer_or_null("excluded_runs"),
];

const LABELS: &[Column] = &[text("run_id"), text("key"), text("value")];

const FRAMES: &[Column] = &[
    text("run_id"),
    text("process"),
    text("thread"),
    integer("is_main_thread"),
    text("module"),
    text("function"),
    integer("self_weight"),
    integer("all_weight"),
    integer("self_samples"),
    integer("all_samples"),
    text("unit"),
    text_or_null("app_version"),
    text_or_null("device"),
    text_or_null("os"),
];

const BINARIES: &[Column] = &[
    text("run_id"),
    text("process"),
    text("thread"),
    integer("is_main_thread"),
    text("module"),
    integer("self_weight"),
    integer("all_weight"),
    integer("self_samples"),
    integer("all_samples"),
    text("unit"),
];

const WINDOWS: &[Column] = &[
    text("run_id"),
    text("process"),
    text("thread"),
    integer("is_main_thread"),
    integer("second"),
    integer("weight"),
    integer("samples"),
    text("unit"),
];

const STACKS: &[Column] = &[
    text("run_id"),
    text("process"),
    text("thread"),
    integer("is_main_thread"),
    integer("node"),
    integer("parent"),
    text("module"),
    text("category"),
    text("function"),
    integer("self_weight"),
    integer("self_samples"),
    text("unit"),
];
