//! Runs in, a file of one table out.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::buffer::Buffer;
use super::schema::ColumnKind;
use super::{DatasetError, DatasetTable, FORMAT, FORMAT_KEY, TABLE_KEY, VERSION, VERSION_KEY};
use crate::fleet::{FailedInput, RunMeasures};

/// Row groups have about this many rows: 16 MB in memory for `frames`, and enough groups for engines that read them in
/// parallel.
const ROWS_OF_A_GROUP: usize = 1 << 18;

/// Names repeat from run to run, so dictionaries stay small; a group with more names continues without a dictionary.
const DICTIONARY_BYTES: usize = 8 << 20;

/// Writes a table, run after run. Memory is bounded by a row group and one run.
///
/// Rows of a run are contiguous, and every table of a data file gets the runs in the same order; that is how they are read
/// back. After an error the file is unusable.
pub struct TableWriter<W: Write + Send> {
    table: DatasetTable,
    file: SerializedFileWriter<W>,
    buffer: Buffer,
}

impl<W: Write + Send> TableWriter<W> {
    /// A file of `table` that is written to `out`.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub fn new(table: DatasetTable, out: W) -> Result<Self, DatasetError> {
        let open = || SerializedFileWriter::new(out, table.parquet_schema()?, Arc::new(properties(table)?));
        let file = open().map_err(|error| DatasetError::writing(table, error))?;
        Ok(Self { table, file, buffer: Buffer::new(table) })
    }

    /// Adds the rows of a run.
    ///
    /// # Errors
    ///
    /// The writer fails, or a number does not fit in the table.
    pub fn run(&mut self, run: &RunMeasures) -> Result<(), DatasetError> {
        super::rows::add_run(self.table, run, &mut self.buffer)?;
        self.write_full_group()
    }

    /// Adds a file that gave no run: a row of `runs`, and nothing in other tables.
    ///
    /// # Errors
    ///
    /// The writer fails, or a number does not fit in the table.
    pub fn failure(&mut self, failure: &FailedInput) -> Result<(), DatasetError> {
        if self.table == DatasetTable::Runs {
            super::rows::add_failure(failure, &mut self.buffer)?;
        }
        self.write_full_group()
    }

    /// Writes the remaining rows and the end of the file. The writer is flushed and returned.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub fn finish(mut self) -> Result<W, DatasetError> {
        let table = self.table;
        let finished = self.write_group().and_then(|()| {
            let mut out = self.file.into_inner()?;
            out.flush()?;
            Ok(out)
        });
        finished.map_err(|error| DatasetError::writing(table, error))
    }

    fn write_full_group(&mut self) -> Result<(), DatasetError> {
        if self.buffer.rows() < ROWS_OF_A_GROUP {
            return Ok(());
        }
        self.write_group().map_err(|error| DatasetError::writing(self.table, error))
    }

    fn write_group(&mut self) -> ParquetResult<()> {
        // An empty table has no row group; every reader takes that.
        if self.buffer.rows() > 0 { self.buffer.write(self.file.next_row_group()?) } else { Ok(()) }
    }
}

impl DatasetTable {
    /// Checks that all numbers of a run fit in the tables.
    ///
    /// # Errors
    ///
    /// A number does not fit.
    pub fn check(run: &RunMeasures) -> Result<(), DatasetError> {
        Self::ALL.into_iter().try_for_each(|table| super::rows::add_run(table, run, &mut Buffer::new(table)))
    }

    /// Writes one table of these runs, and for [`DatasetTable::Runs`] of these failures, after the runs.
    ///
    /// # Errors
    ///
    /// The writer fails, or a number does not fit in the table.
    pub fn write<W: Write + Send>(
        self,
        runs: &[RunMeasures],
        failures: &[FailedInput],
        out: W,
    ) -> Result<(), DatasetError> {
        let mut writer = TableWriter::new(self, out)?;
        runs.iter().try_for_each(|run| writer.run(run))?;
        failures.iter().try_for_each(|failure| writer.failure(failure))?;
        writer.finish().map(drop)
    }
}

fn properties(table: DatasetTable) -> ParquetResult<WriterProperties> {
    let metadata = [(FORMAT_KEY, FORMAT), (TABLE_KEY, table.name()), (VERSION_KEY, &VERSION.to_string())];
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        // Only for row groups: statistics of pages make a file with one run larger, and no reader seeks in it.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("traceparse version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata.into()));
    for column in table.columns().iter().filter(|column| column.kind == ColumnKind::Text) {
        builder = builder.set_column_dictionary_page_size_limit(ColumnPath::from(column.name), DICTIONARY_BYTES);
    }
    Ok(builder.build())
}
