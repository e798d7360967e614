//! Rows as Parquet, one row group after another.
//!
//! | column | type |
//! |---|---|
//! | time, duration, size, cycles | INT64 |
//! | other numbers | INT64 as UINT_64 |
//! | true or false | BOOLEAN |
//! | text | BYTE_ARRAY as STRING, with a dictionary |
//! | numbers | LIST of UINT_64 |
//! | stack | LIST of STRING, leaf first |
//!
//! The entry `table` of the file's metadata contains the schema, types and units, as in JSON.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::json;
use super::parquet_column::{Column, Texts};
use super::row_writer::RowWriter;
use crate::tables::{FieldValue, OutputColumn, StackNames};

/// A row group ends at this number of rows, values or bytes of text, to limit memory.
const ROWS_OF_A_GROUP: usize = 1 << 17;
const VALUES_OF_A_GROUP: usize = 1 << 21;
const TEXT_OF_A_GROUP: usize = 16 << 20;

pub(super) struct ParquetRows<'o> {
    file: SerializedFileWriter<Vec<u8>>,
    out: &'o mut dyn Write,
    columns: &'o [OutputColumn],
    values: Vec<Column>,
    texts: Texts,
    rows: usize,
}

impl<'o> ParquetRows<'o> {
    pub(super) fn new(schema: &str, columns: &'o [OutputColumn], out: &'o mut dyn Write) -> io::Result<Self> {
        let file = open(schema, columns).map_err(io::Error::other)?;
        let values = columns.iter().map(Column::new).collect();
        Ok(Self { file, out, columns, values, texts: Texts::default(), rows: 0 })
    }

    fn write_group(&mut self) -> Result<()> {
        let texts: Vec<ByteArray> = self.texts.take();
        let mut group = self.file.next_row_group()?;
        let mut values = self.values.iter_mut();
        while let Some(mut writer) = group.next_column()? {
            if let Some(column) = values.next() {
                column.write(&texts, &mut writer)?;
            }
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the bytes produced so far to `out`.
    fn pass_on(&mut self) -> io::Result<()> {
        self.file.flush()?;
        let bytes = std::mem::take(self.file.inner_mut());
        self.out.write_all(&bytes)
    }
}

fn open(schema: &str, columns: &[OutputColumn]) -> Result<SerializedFileWriter<Vec<u8>>> {
    let fields = columns.iter().map(Column::parquet_type).collect::<Result<Vec<_>>>()?;
    let name = if schema.is_empty() { "table" } else { schema };
    let schema_type = Type::group_type_builder(name).with_fields(fields).build()?;
    let mut table = Vec::new();
    json::write_table(schema, columns, &mut table)?;
    let table = String::from_utf8_lossy(&table).into_owned();
    let metadata = [("traceparse.format", "table".to_owned()), ("table", table)];
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("traceparse version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata.into()));
    SerializedFileWriter::new(Vec::new(), Arc::new(schema_type), Arc::new(properties.build()))
}

/// Converts an error of the format. The file is in memory, so writing it cannot fail.
fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

impl RowWriter for ParquetRows<'_> {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()> {
        for ((value, column), of) in row.iter().zip(&mut self.values).zip(self.columns) {
            column.add(value, of, &mut self.texts, stacks)?;
        }
        self.rows += 1;
        let values: usize = self.values.iter().map(Column::len).sum();
        let is_full =
            self.rows >= ROWS_OF_A_GROUP || values >= VALUES_OF_A_GROUP || self.texts.bytes >= TEXT_OF_A_GROUP;
        if !is_full {
            return Ok(());
        }
        self.write_group().map_err(failed)?;
        self.pass_on()
    }

    fn finish(&mut self, _: &StackNames) -> io::Result<()> {
        // Without rows, there is no row group, which all readers accept.
        if self.rows > 0 {
            self.write_group().map_err(failed)?;
        }
        self.file.finish().map_err(failed)?;
        self.pass_on()
    }
}
