//! A file of a table, read in batches of rows.

use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetStatisticsPolicy;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;

use super::layout::{Layout, Place, Stored, Writer};
use super::pages::CheckedPages;
use super::source::Source;
use super::{DatasetError, DatasetTable};

/// Rows that are decoded at a time.
const ROWS_AT_ONCE: usize = 4096;

/// A column of a batch.
enum Values {
    Texts(Vec<Option<ByteArray>>),
    Integers(Vec<Option<i64>>),
    /// The file does not have it.
    Missing,
}

/// A column of the row group that is being read.
enum ColumnReader {
    Texts(ColumnReaderImpl<ByteArrayType>),
    Integers(ColumnReaderImpl<Int64Type>),
    ShortIntegers(ColumnReaderImpl<Int32Type>),
    Missing,
}

/// The rows of a file of a table, of some columns, one after the other.
pub(super) struct TableRows {
    table: DatasetTable,
    file: Box<dyn FileReader>,
    writer: Writer,
    /// The columns that are read.
    columns: Vec<Option<Place>>,
    next_group: usize,
    readers: Vec<ColumnReader>,
    /// Rows of the group that are not decoded yet.
    rows_left: usize,
    batch: Vec<Values>,
    batch_rows: usize,
    at: usize,
    is_broken: bool,
}

impl DatasetTable {
    /// Returns the number of rows in a file of a table.
    ///
    /// # Errors
    ///
    /// Reading fails, or this is no file of that table.
    pub fn row_count<R: Read + Seek + Send + 'static>(self, input: R) -> Result<u64, DatasetError> {
        TableRows::open(self, &[], input).map(|rows| rows.count())
    }
}

impl TableRows {
    /// The columns with these names of a file that this crate wrote, in this order. Those that older versions lack are null in their files.
    pub(super) fn open<R: Read + Seek + Send + 'static>(
        table: DatasetTable,
        names: &[&str],
        input: R,
    ) -> Result<Self, DatasetError> {
        Self::open_of(Writer::Traceparse, table, names, input)
    }

    /// The same of a file that any engine wrote.
    pub(super) fn open_rewritten<R: Read + Seek + Send + 'static>(
        table: DatasetTable,
        names: &[&str],
        input: R,
    ) -> Result<Self, DatasetError> {
        Self::open_of(Writer::Engine, table, names, input)
    }

    fn open_of<R: Read + Seek + Send + 'static>(
        writer: Writer,
        table: DatasetTable,
        names: &[&str],
        input: R,
    ) -> Result<Self, DatasetError> {
        let file = guarded(table, || {
            let source = Source::new(input).map_err(|error| ParquetError::External(Box::new(error)))?;
            // Statistics are for engines that skip row groups.
            let options = ReadOptionsBuilder::new()
                .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .build();
            SerializedFileReader::new_with_options(source, options)
        })?;
        let layout = Layout::of(writer, table, file.metadata())?;
        Ok(Self {
            table,
            file: Box::new(file),
            writer,
            columns: layout.places(names),
            next_group: 0,
            readers: Vec::new(),
            rows_left: 0,
            batch: Vec::new(),
            batch_rows: 0,
            at: 0,
            is_broken: false,
        })
    }

    /// The number of rows of the file.
    pub(super) fn count(&self) -> u64 {
        let groups = self.file.metadata().row_groups();
        groups.iter().fold(0, |sum: u64, group| sum.saturating_add(group.num_rows().unsigned_abs()))
    }

    /// Goes to the next row. The first one comes with the first call; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, DatasetError> {
        self.at += 1;
        while self.at >= self.batch_rows {
            if !self.next_batch()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The text in a column of this row, by the order of the names; `None` for null.
    pub(super) fn text_or_null(&self, column: usize) -> Result<Option<&str>, DatasetError> {
        match self.batch.get(column) {
            Some(Values::Texts(texts)) => match texts.get(self.at) {
                Some(Some(text)) => text.as_utf8().map(Some).map_err(|_| self.damaged(column, "is not UTF-8")),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn text(&self, column: usize) -> Result<&str, DatasetError> {
        self.text_or_null(column)?.ok_or_else(|| self.damaged(column, "has no value"))
    }

    pub(super) fn integer_or_null<T: TryFrom<i64>>(&self, column: usize) -> Result<Option<T>, DatasetError> {
        let number = match self.batch.get(column) {
            Some(Values::Integers(numbers)) => numbers.get(self.at).copied().flatten(),
            _ => None,
        };
        let number = number.map(T::try_from).transpose();
        number.map_err(|_| self.damaged(column, "has a number that cannot be"))
    }

    pub(super) fn integer<T: TryFrom<i64>>(&self, column: usize) -> Result<T, DatasetError> {
        self.integer_or_null(column)?.ok_or_else(|| self.damaged(column, "has no value"))
    }

    /// The value that a name represents.
    pub(super) fn one_of<T>(&self, column: usize, value: impl FnOnce(&str) -> Option<T>) -> Result<T, DatasetError> {
        value(self.text(column)?).ok_or_else(|| self.damaged(column, "has an unknown name"))
    }

    /// The error for a value of this row that is wrong.
    pub(super) fn damaged(&self, column: usize, what: &str) -> DatasetError {
        let name = self.columns.get(column).and_then(Option::as_ref).map_or("", |place| place.name);
        DatasetError::damaged(self.table, format!("{name} of a row {what}"))
    }

    fn next_batch(&mut self) -> Result<bool, DatasetError> {
        (self.at, self.batch_rows) = (0, 0);
        if self.is_broken {
            return Err(DatasetError::damaged(self.table, "reading stopped at an error before"));
        }
        // Until the batch is whole: a reader that failed or panicked is never asked again.
        self.is_broken = true;
        while self.rows_left == 0 {
            if self.next_group == self.file.num_row_groups() {
                self.is_broken = false;
                return Ok(false);
            }
            self.open_group()?;
        }
        let rows = self.rows_left.min(ROWS_AT_ONCE);
        let (table, readers) = (self.table, &mut self.readers);
        self.batch = guarded(table, || readers.iter_mut().map(|reader| reader.read(rows)).collect())?;
        self.rows_left -= rows;
        self.batch_rows = rows;
        self.is_broken = false;
        Ok(true)
    }

    fn open_group(&mut self) -> Result<(), DatasetError> {
        let (table, file, index) = (self.table, &self.file, self.next_group);
        let group = file.metadata().row_group(index);
        let rows = group.num_rows().unsigned_abs();
        let writer = self.writer;
        let reader = |place: &Option<Place>| {
            let Some(place) = place else { return Ok(ColumnReader::Missing) };
            let description = group.column(place.index).column_descr_ptr();
            let pages = file.get_row_group(index)?.get_column_page_reader(place.index)?;
            let pages = Box::new(CheckedPages::new(pages, writer, place, rows));
            Ok(match place.stored {
                Stored::Text => ColumnReader::Texts(ColumnReaderImpl::new(description, pages)),
                Stored::Integer => ColumnReader::Integers(ColumnReaderImpl::new(description, pages)),
                Stored::ShortInteger => ColumnReader::ShortIntegers(ColumnReaderImpl::new(description, pages)),
            })
        };
        self.readers = guarded(table, || self.columns.iter().map(reader).collect())?;
        self.rows_left = usize::try_from(rows).unwrap_or(usize::MAX);
        self.next_group += 1;
        Ok(())
    }
}

impl ColumnReader {
    fn read(&mut self, rows: usize) -> ParquetResult<Values> {
        Ok(match self {
            Self::Texts(reader) => Values::Texts(read_values(reader, rows)?),
            Self::Integers(reader) => Values::Integers(read_values(reader, rows)?),
            Self::Missing => Values::Missing,
            Self::ShortIntegers(reader) => {
                let numbers = read_values(reader, rows)?;
                Values::Integers(numbers.into_iter().map(|number| number.map(i64::from)).collect())
            }
        })
    }
}

/// Exactly this many rows of a column.
fn read_values<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize) -> ParquetResult<Vec<Option<T::T>>> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (read, count, _) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    if read != rows {
        return Err(ParquetError::General(format!("{read} rows where {rows} should be")));
    }
    // Columns without nulls have no levels.
    if levels.is_empty() && count == rows {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.iter().map(|level| if *level == 1 { values.next() } else { None }).collect())
}

/// Runs the Parquet reader, and makes an error of a panic.
///
/// Its decoders trust a file's own description, and panic if that is wrong, as in a damaged file. Everything that can be checked is
/// checked before (`check_group`, `CheckedPages`), so that this is a last resort: 120,000 damaged files did not get here. The state inside
/// is never used again (`is_broken`), hence unwind-safe. The message of the panic is printed unless the program prevents it; a library must
/// not change the program's hook.
fn guarded<T>(table: DatasetTable, read: impl FnOnce() -> ParquetResult<T>) -> Result<T, DatasetError> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| DatasetError::reading(table, error)),
        Err(_) => Err(DatasetError::damaged(table, "the Parquet reader gave up")),
    }
}
