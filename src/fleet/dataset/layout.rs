//! Finds the columns of a file, and how their values are stored.
//!
//! A file from this crate has exactly the columns of its table, in order and in one form. An engine may change anything that does not affect the
//! meaning: column order, nullability, codec, encodings, row groups, and 32-bit integers if the values fit. Unknown columns are ignored. Any
//! other type is rejected, since an engine that converted numbers to strings, or integers to decimals, may have rounded them.

use parquet::basic::{Compression, ConvertedType, IntType, LogicalType, Type as Physical};
use parquet::file::metadata::{ColumnChunkMetaData, FileMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::ColumnDescriptor;

use super::schema::{Column, ColumnKind};
use super::{DatasetError, DatasetErrorKind, DatasetTable, FORMAT, FORMAT_KEY, TABLE_KEY, VERSION, VERSION_KEY};

/// More rows than any row group has. Ours have about 2^18 rows, plus the rows of one run.
const MAX_ROWS_OF_A_GROUP: i64 = 1 << 40;

/// The program that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// This crate, according to the metadata.
    Traceparse,
    /// An engine that reads and writes Parquet.
    Engine,
}

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// Bytes in UTF-8.
    Text,
    /// INT64.
    Integer,
    /// INT32.
    ShortInteger,
}

/// A column to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) name: &'static str,
    /// The index among the file's columns.
    pub(super) index: usize,
    pub(super) stored: Stored,
    pub(super) is_nullable: bool,
}

/// Finds columns in a file, in the order of the names. Checks the columns, and the descriptions of row groups, which the Parquet reader relies
/// on.
pub(super) fn places(
    writer: Writer,
    table: DatasetTable,
    file: &ParquetMetaData,
    names: &[&str],
) -> Result<Vec<Place>, DatasetError> {
    let metadata = file.file_metadata();
    if writer == Writer::Traceparse {
        check_origin(table, metadata)?;
    }
    let places = all_places(table, metadata)?;
    let columns = metadata.schema_descr().num_columns();
    for group in file.row_groups() {
        check_group(writer, table, columns, &places, group)?;
    }
    Ok(names.iter().filter_map(|name| places.iter().find(|place| place.name == *name).copied()).collect())
}

fn unlike(table: DatasetTable, detail: String) -> DatasetError {
    DatasetError::new(DatasetErrorKind::Unlike, table, detail)
}

/// Checks that this version of this crate wrote the file as this table, with exactly its columns.
fn check_origin(table: DatasetTable, metadata: &FileMetaData) -> Result<(), DatasetError> {
    let value = |key: &str| {
        let pairs = metadata.key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    };
    if value(FORMAT_KEY) != Some(FORMAT) {
        return Err(DatasetError::new(DatasetErrorKind::Foreign, table, "this Parquet file is not from traceparse"));
    }
    match value(VERSION_KEY).and_then(|version| version.parse::<u32>().ok()) {
        Some(VERSION) => {}
        Some(version) => {
            let detail = format!("it has version {version}, but this traceparse reads version {VERSION}");
            return Err(DatasetError::new(DatasetErrorKind::OtherVersion, table, detail));
        }
        None => return Err(DatasetError::damaged(table, "its version is missing")),
    }
    let name = value(TABLE_KEY);
    if name != Some(table.name()) {
        let detail = format!("this is the table {}", name.unwrap_or("of nothing"));
        return Err(DatasetError::new(DatasetErrorKind::Foreign, table, detail));
    }
    let expected = table.parquet_schema().map_err(|error| DatasetError::reading(table, error))?;
    let found = metadata.schema_descr().root_schema();
    if found.get_fields() != expected.get_fields() {
        return Err(DatasetError::damaged(table, "its columns do not match the table"));
    }
    Ok(())
}

/// The columns of a file that can be read, in the order of the table.
fn all_places(table: DatasetTable, metadata: &FileMetaData) -> Result<Vec<Place>, DatasetError> {
    let found = metadata.schema_descr().columns();
    let mut places = Vec::new();
    for column in table.columns().iter().filter(|column| column.kind != ColumnKind::Double) {
        let mut same = found.iter().enumerate().filter(|(_, found)| found.path().parts() == [column.name]);
        let (index, found) = match (same.next(), same.next()) {
            (Some(found), None) => found,
            (Some(_), Some(_)) => return Err(unlike(table, format!("it has two columns {}", column.name))),
            (None, _) => return Err(unlike(table, format!("it has no column {}", column.name))),
        };
        let stored = stored_as(column.kind, found).filter(|_| found.max_def_level() <= 1 && found.max_rep_level() == 0);
        let Some(stored) = stored else { return Err(of_other_type(table, column, found)) };
        places.push(Place { name: column.name, index, stored, is_nullable: found.max_def_level() == 1 });
    }
    Ok(places)
}

/// How values are stored; `None` if the type does not have the column's meaning.
fn stored_as(kind: ColumnKind, found: &ColumnDescriptor) -> Option<Stored> {
    let signed = |bits: &[i8], older: &[ConvertedType]| match found.logical_type_ref() {
        None => found.converted_type() == ConvertedType::NONE || older.contains(&found.converted_type()),
        Some(LogicalType::Integer(IntType { bit_width, is_signed })) => *is_signed && bits.contains(bit_width),
        Some(_) => false,
    };
    let short = [ConvertedType::INT_8, ConvertedType::INT_16, ConvertedType::INT_32];
    let is_text = || {
        matches!(found.logical_type_ref(), Some(LogicalType::String)) || found.converted_type() == ConvertedType::UTF8
    };
    match (kind, found.physical_type()) {
        (ColumnKind::Text, Physical::BYTE_ARRAY) if is_text() => Some(Stored::Text),
        (ColumnKind::Integer, Physical::INT64) if signed(&[64], &[ConvertedType::INT_64]) => Some(Stored::Integer),
        (ColumnKind::Integer, Physical::INT32) if signed(&[8, 16, 32], &short) => Some(Stored::ShortInteger),
        _ => None,
    }
}

fn of_other_type(table: DatasetTable, column: &Column, found: &ColumnDescriptor) -> DatasetError {
    let wanted = if column.kind == ColumnKind::Text { "text (VARCHAR)" } else { "a signed integer (BIGINT)" };
    let meaning = match found.logical_type_ref() {
        Some(logical) => format!(" ({logical:?})"),
        None if found.converted_type() != ConvertedType::NONE => format!(" ({})", found.converted_type()),
        None => String::new(),
    };
    let nested = if found.max_def_level() > 1 || found.max_rep_level() > 0 { ", nested" } else { "" };
    let detail =
        format!("its column {} is {}{meaning}{nested}, and not {wanted}; cast it", column.name, found.physical_type());
    unlike(table, detail)
}

/// Checks that a row group's description is plausible, since the reader relies on it.
fn check_group(
    writer: Writer,
    table: DatasetTable,
    columns: usize,
    places: &[Place],
    group: &RowGroupMetaData,
) -> Result<(), DatasetError> {
    let rows = group.num_rows();
    let is_possible = |chunk: &ColumnChunkMetaData| {
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        start >= 0 && chunk.compressed_size() >= 0 && chunk.num_values() == rows
    };
    let mut chunks = places.iter().map(|place| group.columns().get(place.index));
    let is_group_possible = (i64::from(writer == Writer::Traceparse)..=MAX_ROWS_OF_A_GROUP).contains(&rows)
        && group.num_columns() == columns
        && chunks.all(|chunk| chunk.is_some_and(is_possible));
    if !is_group_possible {
        return Err(DatasetError::damaged(table, "a row group contradicts its own description"));
    }
    let mut codecs =
        places.iter().filter_map(|place| Some((place.name, group.columns().get(place.index)?.compression())));
    match codecs.find(|(_, codec)| !is_known(writer, *codec)) {
        Some((name, codec)) if writer == Writer::Engine => {
            let codec = codec.to_string();
            let codec = codec.split('(').next().unwrap_or_default();
            let detail = format!(
                "its column {name} is compressed with {codec}, which is not supported; write it with zstd, snappy, \
                 lz4_raw or gzip"
            );
            Err(unlike(table, detail))
        }
        Some(_) => Err(DatasetError::damaged(table, "a row group contradicts its own description")),
        None => Ok(()),
    }
}

fn is_known(writer: Writer, codec: Compression) -> bool {
    match codec {
        Compression::ZSTD(_) => true,
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::LZ4_RAW => {
            writer == Writer::Engine
        }
        _ => false,
    }
}
