//! Reads a table file in batches of rows.

use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::layout::{Place, Stored, Writer, places};
use super::pages::{CheckedPages, Source, Texts, can_be_ids};
use super::{DatasetError, DatasetTable};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetStatisticsPolicy;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;

/// The number of rows decoded at a time.
const ROWS_AT_ONCE: usize = 4096;

/// The id for a null string.
const NO_TEXT: u32 = u32::MAX;

/// A column's values in a batch. The memory is reused.
enum Values {
    /// String ids; [`NO_TEXT`] for null.
    Texts(Vec<u32>),
    Integers(Vec<i64>),
    IntegersOrNull(Vec<Option<i64>>),
}

/// Reads a column of the current row group.
struct ColumnReader {
    pages: ColumnPages,
    levels: Vec<i16>,
}

enum ColumnPages {
    Ids(ColumnReaderImpl<Int32Type>),
    /// For encodings that cannot be converted to ids by page.
    Texts(ColumnReaderImpl<ByteArrayType>),
    Integers(ColumnReaderImpl<Int64Type>),
    ShortIntegers(ColumnReaderImpl<Int32Type>),
}

/// Reads some columns of a table file, row by row.
pub(super) struct TableRows {
    pub(super) table: DatasetTable,
    file: Box<dyn FileReader>,
    writer: Writer,
    /// The columns to read.
    columns: Vec<Place>,
    next_group: usize,
    readers: Vec<ColumnReader>,
    texts: Texts,
    /// The number of the group's rows that are not decoded yet.
    rows_left: usize,
    batch: Vec<Values>,
    batch_rows: usize,
    at: usize,
    is_broken: bool,
}

/// Identifies a column, by its position among the columns to read or by its name.
pub(super) trait ColumnOf {
    fn position(self, rows: &TableRows) -> usize;
}

impl ColumnOf for usize {
    fn position(self, _: &TableRows) -> usize {
        self
    }
}

impl ColumnOf for &str {
    fn position(self, rows: &TableRows) -> usize {
        rows.columns.iter().position(|place| place.name == self).unwrap_or(usize::MAX)
    }
}

impl DatasetTable {
    /// Returns the number of rows in a table file.
    ///
    /// # Errors
    ///
    /// If reading fails, or the file is not that table.
    pub fn row_count<R: Read + Seek + Send + 'static>(self, input: R) -> Result<u64, DatasetError> {
        TableRows::open(Writer::Traceparse, self, &[], input).map(|rows| rows.count())
    }
}

impl TableRows {
    /// Opens a file to read these columns, in this order.
    pub(super) fn open<R: Read + Seek + Send + 'static>(
        writer: Writer,
        table: DatasetTable,
        names: &[&str],
        input: R,
    ) -> Result<Self, DatasetError> {
        let file = guarded(table, || {
            let source = Source::new(input).map_err(|error| ParquetError::External(Box::new(error)))?;
            // Only engines that skip row groups need statistics.
            let options = ReadOptionsBuilder::new()
                .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .build();
            SerializedFileReader::new_with_options(source, options)
        })?;
        let columns = places(writer, table, file.metadata(), names)?;
        Ok(Self {
            table,
            file: Box::new(file),
            writer,
            columns,
            next_group: 0,
            readers: Vec::new(),
            texts: Texts::default(),
            rows_left: 0,
            batch: Vec::new(),
            batch_rows: 0,
            at: 0,
            is_broken: false,
        })
    }

    /// Opens a file from this crate to read all columns except duplicates.
    pub(super) fn open_to_read<R: Read + Seek + Send + 'static>(
        table: DatasetTable,
        input: R,
    ) -> Result<Self, DatasetError> {
        Self::open(Writer::Traceparse, table, &table.columns_to_read(), input)
    }

    /// The number of rows of the file.
    pub(super) fn count(&self) -> u64 {
        let groups = self.file.metadata().row_groups();
        groups.iter().fold(0, |sum: u64, group| sum.saturating_add(group.num_rows().unsigned_abs()))
    }

    /// Advances to the next row, or, on the first call, to the first one. Returns false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, DatasetError> {
        self.at += 1;
        while self.at >= self.batch_rows {
            if !self.next_batch()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The table's strings, by id.
    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The id of the string in a column of this row; `None` for null.
    fn text_id_or_null(&self, column: usize) -> Option<u32> {
        match self.batch.get(column) {
            Some(Values::Texts(texts)) => texts.get(self.at).copied().filter(|&id| id != NO_TEXT),
            _ => None,
        }
    }

    pub(super) fn text_id(&self, column: usize) -> Result<u32, DatasetError> {
        self.text_id_or_null(column).ok_or_else(|| self.damaged(column, "has no value"))
    }

    /// The string in a column of this row; `None` for null.
    pub(super) fn text_or_null(&self, column: impl ColumnOf) -> Option<String> {
        self.text_id_or_null(column.position(self)).map(|id| self.texts.get(id))
    }

    pub(super) fn text(&self, column: impl ColumnOf) -> Result<String, DatasetError> {
        Ok(self.texts.get(self.text_id(column.position(self))?))
    }

    pub(super) fn integer_or_null<T: TryFrom<i64>>(&self, column: impl ColumnOf) -> Result<Option<T>, DatasetError> {
        let column = column.position(self);
        let number = match self.batch.get(column) {
            Some(Values::Integers(numbers)) => numbers.get(self.at).copied(),
            Some(Values::IntegersOrNull(numbers)) => numbers.get(self.at).copied().flatten(),
            _ => None,
        };
        let number = number.map(T::try_from).transpose();
        number.map_err(|_| self.damaged(column, "has an impossible number"))
    }

    pub(super) fn integer<T: TryFrom<i64>>(&self, column: impl ColumnOf) -> Result<T, DatasetError> {
        let column = column.position(self);
        self.integer_or_null(column)?.ok_or_else(|| self.damaged(column, "has no value"))
    }

    /// Converts the name in a column.
    pub(super) fn one_of<T>(
        &self,
        column: impl ColumnOf,
        value: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DatasetError> {
        let column = column.position(self);
        value(&self.text(column)?).ok_or_else(|| self.damaged(column, "has an unknown name"))
    }

    /// The error for an invalid value in this row.
    pub(super) fn damaged(&self, column: impl ColumnOf, what: &str) -> DatasetError {
        let name = self.columns.get(column.position(self)).map_or("", |place| place.name);
        DatasetError::damaged(self.table, format!("{name} of a row {what}"))
    }

    fn next_batch(&mut self) -> Result<bool, DatasetError> {
        (self.at, self.batch_rows) = (0, 0);
        if self.is_broken {
            return Err(DatasetError::damaged(self.table, "reading already stopped at an earlier error"));
        }
        // Reset at the end of the batch, so a reader that failed or panicked is never used again.
        self.is_broken = true;
        while self.rows_left == 0 {
            if self.next_group == self.file.num_row_groups() {
                self.is_broken = false;
                return Ok(false);
            }
            self.open_group()?;
        }
        let rows = self.rows_left.min(ROWS_AT_ONCE);
        let (table, readers, texts, batch) = (self.table, &mut self.readers, &self.texts, &mut self.batch);
        guarded(table, || {
            readers.iter_mut().zip(batch).try_for_each(|(reader, values)| reader.read(rows, values, texts))
        })?;
        self.rows_left -= rows;
        self.batch_rows = rows;
        self.is_broken = false;
        Ok(true)
    }

    fn open_group(&mut self) -> Result<(), DatasetError> {
        let (table, file, index) = (self.table, &self.file, self.next_group);
        let group = file.metadata().row_group(index);
        let rows = group.num_rows().unsigned_abs();
        let (texts, writer) = (&self.texts, self.writer);
        let reader = |place: &Place| {
            let chunk = group.column(place.index);
            let description = chunk.column_descr_ptr();
            let pages = file.get_row_group(index)?.get_column_page_reader(place.index)?;
            // The id column uses the text column's description, since only the levels matter.
            let has_ids = place.stored == Stored::Text && can_be_ids(chunk.encodings());
            let pages = Box::new(CheckedPages::new(pages, writer, place, rows, has_ids.then(|| texts.clone())));
            Ok(ColumnReader::new(match place.stored {
                Stored::Text if has_ids => ColumnPages::Ids(ColumnReaderImpl::new(description, pages)),
                Stored::Text => ColumnPages::Texts(ColumnReaderImpl::new(description, pages)),
                Stored::Integer => ColumnPages::Integers(ColumnReaderImpl::new(description, pages)),
                Stored::ShortInteger => ColumnPages::ShortIntegers(ColumnReaderImpl::new(description, pages)),
            }))
        };
        self.readers = guarded(table, || self.columns.iter().map(reader).collect())?;
        if self.batch.is_empty() {
            self.batch = self.columns.iter().map(Values::of).collect();
        }
        self.rows_left = usize::try_from(rows).unwrap_or(usize::MAX);
        self.next_group += 1;
        Ok(())
    }
}

impl Values {
    /// An empty buffer for the values of a column.
    fn of(place: &Place) -> Self {
        match place {
            Place { stored: Stored::Text, .. } => Self::Texts(Vec::new()),
            Place { is_nullable: true, .. } => Self::IntegersOrNull(Vec::new()),
            Place { .. } => Self::Integers(Vec::new()),
        }
    }
}

impl ColumnReader {
    const fn new(pages: ColumnPages) -> Self {
        Self { pages, levels: Vec::new() }
    }

    /// Replaces `values` with the next `rows` values.
    fn read(&mut self, rows: usize, values: &mut Values, texts: &Texts) -> ParquetResult<()> {
        let levels = &mut self.levels;
        match (&mut self.pages, values) {
            // The most common case, without an intermediate buffer.
            (ColumnPages::Integers(reader), Values::Integers(values)) => {
                read_values(reader, rows, levels, values)?;
                check_whole(rows, values.len())?;
            }
            (ColumnPages::Integers(reader), Values::IntegersOrNull(values)) => {
                fill(reader, rows, levels, values, None, |number| Ok(Some(*number)))?;
            }
            (ColumnPages::ShortIntegers(reader), Values::Integers(values)) => {
                let read = fill(reader, rows, levels, values, 0, |number| Ok(i64::from(*number)))?;
                check_whole(rows, read)?;
            }
            (ColumnPages::ShortIntegers(reader), Values::IntegersOrNull(values)) => {
                fill(reader, rows, levels, values, None, |number| Ok(Some(i64::from(*number))))?;
            }
            (ColumnPages::Ids(reader), Values::Texts(values)) => {
                fill(reader, rows, levels, values, NO_TEXT, |id| Ok(*id as u32))?;
            }
            (ColumnPages::Texts(reader), Values::Texts(values)) => {
                fill(reader, rows, levels, values, NO_TEXT, |text| texts.id(text.data()))?;
            }
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        }
        Ok(())
    }
}

/// Replaces `values` with the converted values of the next `rows` rows, and `null` for rows without one. Returns the number of values.
fn fill<T: DataType, V: Copy>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<V>,
    null: V,
    convert: impl FnMut(&T::T) -> ParquetResult<V>,
) -> ParquetResult<usize> {
    let mut read = Vec::new();
    read_values(reader, rows, levels, &mut read)?;
    let mut converted = read.iter().map(convert).collect::<ParquetResult<Vec<V>>>()?.into_iter();
    values.clear();
    if levels.is_empty() {
        values.extend(converted);
    } else {
        let mut value = |level: &i16| if *level == 1 { converted.next().unwrap_or(null) } else { null };
        values.extend(levels.iter().map(&mut value));
    }
    Ok(read.len())
}

/// Replaces values and levels with those of the next `rows` rows. Columns without nulls have no levels.
fn read_values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> ParquetResult<()> {
    values.clear();
    levels.clear();
    let (read, count, _) = reader.read_records(rows, Some(levels), None, values)?;
    check_whole(rows, read)?;
    let there = if levels.is_empty() { rows } else { levels.iter().filter(|level| **level == 1).count() };
    check_whole(there, count)
}

fn check_whole(rows: usize, read: usize) -> ParquetResult<()> {
    if read == rows { Ok(()) } else { Err(ParquetError::General(format!("{read} rows where {rows} should be"))) }
}

/// Runs the Parquet reader, and converts a panic to an error.
///
/// Its decoders trust a file's description of itself, and panic if it is wrong, as in a damaged file. Everything that can be checked is checked
/// earlier (`check_group`, `CheckedPages`), so this is a last resort: none of 120,000 damaged files got this far. The state inside is never used
/// again (`is_broken`), so this is unwind-safe. The panic message is printed unless the program prevents that; a library must not change the
/// panic hook.
fn guarded<T>(table: DatasetTable, read: impl FnOnce() -> ParquetResult<T>) -> Result<T, DatasetError> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| DatasetError::reading(table, error)),
        Err(_) => Err(DatasetError::damaged(table, "the Parquet reader failed")),
    }
}
