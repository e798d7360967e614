//! Buffers rows before they are written to a file, as columns, since Parquet writes one column after another.

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::{SerializedColumnWriter, SerializedRowGroupWriter};

use super::schema::{Column, ColumnKind};
use super::{DatasetError, DatasetErrorKind, DatasetTable};
use crate::hash::HashMap;
use crate::units::Millionths;

/// The number of rows for which strings are created at a time.
const ROWS_AT_ONCE: usize = 4096;

/// The id of a string in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextId(u32);

/// A string, or the id of a string [added](Buffer::text) before. Ids are faster for strings that many rows share.
pub(super) trait Text {
    fn id(self, buffer: &mut Buffer) -> TextId;
}

impl Text for &str {
    fn id(self, buffer: &mut Buffer) -> TextId {
        buffer.text(self)
    }
}

impl Text for &String {
    fn id(self, buffer: &mut Buffer) -> TextId {
        buffer.text(self)
    }
}

impl Text for TextId {
    fn id(self, _: &mut Buffer) -> TextId {
        self
    }
}

/// The rows of a row group.
pub(super) struct Buffer {
    table: DatasetTable,
    rows: usize,
    columns: Vec<Values>,
    texts: Vec<ByteArray>,
    ids: HashMap<Box<str>, TextId>,
}

/// A column's values and, if it is nullable, their positions.
#[derive(Default)]
struct Values {
    texts: Vec<TextId>,
    integers: Vec<i64>,
    doubles: Vec<f64>,
    /// 1 for a value, 0 for null.
    levels: Vec<i16>,
}

impl Buffer {
    pub(super) fn new(table: DatasetTable) -> Self {
        let columns = table.columns().iter().map(|_| Values::default()).collect();
        Self { table, rows: 0, columns, texts: Vec::new(), ids: HashMap::default() }
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Interns a string. The id is valid until the buffer is cleared.
    pub(super) fn text(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = TextId(self.texts.len() as u32);
        self.texts.push(ByteArray::from(text));
        self.ids.insert(text.into(), id);
        id
    }

    /// Starts a row, whose values follow in column order.
    pub(super) fn row(&mut self) -> Row<'_> {
        self.rows += 1;
        Row { buffer: self, at: 0 }
    }

    /// Writes the columns, and clears the rows and strings.
    pub(super) fn write<W: std::io::Write + Send>(&mut self, mut group: SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let mut columns = self.table.columns().iter().zip(&self.columns);
        while let Some(mut writer) = group.next_column()? {
            if let Some((column, values)) = columns.next() {
                values.write(column, &self.texts, &mut writer)?;
            }
            writer.close()?;
        }
        group.close()?;
        *self = Self::new(self.table);
        Ok(())
    }
}

impl Values {
    fn write(&self, column: &Column, texts: &[ByteArray], writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let levels = column.is_nullable.then_some(self.levels.as_slice());
        match column.kind {
            ColumnKind::Text => return self.write_texts(levels, texts, writer),
            ColumnKind::Integer => writer.typed::<Int64Type>().write_batch(&self.integers, levels, None)?,
            ColumnKind::Double => writer.typed::<DoubleType>().write_batch(&self.doubles, levels, None)?,
        };
        Ok(())
    }

    /// Creates strings in batches, since those of a complete group would be many times larger than their ids.
    fn write_texts(
        &self,
        levels: Option<&[i16]>,
        texts: &[ByteArray],
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<()> {
        let writer = writer.typed::<ByteArrayType>();
        let mut ids = self.texts.as_slice();
        let rows = levels.map_or(ids.len(), <[i16]>::len);
        for start in (0..rows).step_by(ROWS_AT_ONCE) {
            let end = rows.min(start + ROWS_AT_ONCE);
            let levels = levels.map(|levels| &levels[start..end]);
            let count = levels.map_or(end - start, |levels| levels.iter().filter(|level| **level == 1).count());
            let (batch, rest) = ids.split_at(count);
            let batch: Vec<ByteArray> = batch.iter().map(|id| texts[id.0 as usize].clone()).collect();
            writer.write_batch(&batch, levels, None)?;
            ids = rest;
        }
        Ok(())
    }
}

/// A row, filled column by column in schema order. Column names are for readability, and are checked in debug builds.
pub(super) struct Row<'b> {
    buffer: &'b mut Buffer,
    at: usize,
}

impl Row<'_> {
    fn next(&mut self, name: &str, kind: ColumnKind, is_null: bool) -> &mut Values {
        let column = &self.buffer.table.columns()[self.at];
        debug_assert_eq!((column.name, column.kind), (name, kind), "table {:?}", self.buffer.table);
        debug_assert!(column.is_nullable || !is_null, "table {:?}, column {name}", self.buffer.table);
        let values = &mut self.buffer.columns[self.at];
        if column.is_nullable {
            values.levels.push(i16::from(!is_null));
        }
        self.at += 1;
        values
    }

    pub(super) fn text(&mut self, name: &str, text: impl Text) -> &mut Self {
        self.text_or_null(name, Some(text))
    }

    pub(super) fn text_or_null(&mut self, name: &str, text: Option<impl Text>) -> &mut Self {
        let text = text.map(|text| text.id(self.buffer));
        self.next(name, ColumnKind::Text, text.is_none()).texts.extend(text);
        self
    }

    /// # Errors
    ///
    /// If the number does not fit in an INT64.
    pub(super) fn integer(&mut self, name: &str, number: impl TryInto<i64> + Copy) -> Result<&mut Self, DatasetError> {
        self.integer_or_null(name, Some(number))
    }

    pub(super) fn integer_or_null(
        &mut self,
        name: &str,
        number: Option<impl TryInto<i64> + Copy>,
    ) -> Result<&mut Self, DatasetError> {
        let table = self.buffer.table;
        let number = number.map(TryInto::try_into).transpose();
        let number = number
            .map_err(|_| DatasetError::new(DatasetErrorKind::TooLarge, table, format!("a number for column {name}")))?;
        self.next(name, ColumnKind::Integer, number.is_none()).integers.extend(number);
        Ok(self)
    }

    /// Sets the remaining columns to null.
    pub(super) fn nulls(&mut self) {
        while let Some(column) = self.buffer.table.columns().get(self.at) {
            self.next(column.name, column.kind, true);
        }
    }

    pub(super) fn double_or_null(&mut self, name: &str, number: Option<Millionths>) -> &mut Self {
        self.next(name, ColumnKind::Double, number.is_none()).doubles.extend(number.map(Millionths::as_f64));
        self
    }
}
