//! Writers for rows of tables: formats for programs, and text for people.
//!
//! | format | stack | none |
//! |---|---|---|
//! | CSV | functions, leaf first, one per line | an empty field |
//! | JSON, NDJSON | an array of functions, leaf first | null |
//! | Parquet | a list of functions, leaf first | null |
//! | SQL | as in CSV | NULL |
//!
//! Each stack has a number in `stack.id`. A second table has its frames: in the same document as JSON and SQL, or in a file next to the
//! other one.

mod csv;
mod json;
mod list;
#[cfg(feature = "dataset")]
mod parquet;
#[cfg(feature = "dataset")]
mod parquet_column;
mod sql;
mod text;

use std::borrow::Cow;
use std::io::{self, Write};

use super::csv::Cells;
use super::inert::write_text;
use super::text::Style;
use crate::tables::{ColumnKind, FieldKind, FieldValue, OutputColumn, StackNames, joined};

pub(super) use list::{write_json as write_list_json, write_text as write_list_text};

/// A format for rows of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// RFC 4180.
    Csv(Cells),
    /// One document.
    Json,
    /// One object per line.
    JsonLines,
    /// Columns for SQL engines and data frames.
    #[cfg(feature = "dataset")]
    Parquet,
    /// Statements that create and fill a table.
    Sql,
}

impl RowFormat {
    /// Writes the frames of the stacks that have a number, as a separate table.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_frames(self, stacks: &StackNames, out: &mut dyn Write) -> io::Result<()> {
        let columns = frame_columns();
        let mut writer = writer(self, FRAMES, &columns, out)?;
        each_frame(stacks, |row| writer.row(&row, stacks))?;
        writer.finish(&StackNames::default())
    }

    /// True if the frames of stacks are in the same document.
    pub fn holds_frames(self) -> bool {
        matches!(self, Self::Json | Self::Sql)
    }
}

/// Writes rows of a table.
trait RowWriter {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()>;

    /// Writes what follows the rows.
    fn finish(&mut self, stacks: &StackNames) -> io::Result<()>;
}

/// Writes the rows of a table in a format, with the names of their stacks.
pub struct RowsOutput<'o> {
    writer: Box<dyn RowWriter + 'o>,
    columns: &'o [OutputColumn],
    stacks: &'o mut StackNames,
}

impl std::fmt::Debug for RowsOutput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowsOutput").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl<'o> RowsOutput<'o> {
    /// Begins a table with this schema and these columns.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn new(
        format: RowFormat,
        schema: &str,
        columns: &'o [OutputColumn],
        stacks: &'o mut StackNames,
        out: &'o mut dyn Write,
    ) -> io::Result<Self> {
        Ok(Self { writer: writer(format, schema, columns, out)?, columns, stacks })
    }

    /// Writes rows as text, and how many there are in all. Unless `has_all_columns`, parts of columns (`thread.tid`) and columns without
    /// values are left out.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_text(
        table: (&[OutputColumn], &[Vec<FieldValue<'_>>]),
        total: u64,
        has_all_columns: bool,
        stacks: &StackNames,
        style: &Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write_text(style.is_coloured, out, |out| text::write(table, total, has_all_columns, stacks, style, out))
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If `out` fails, or the format cannot hold a number.
    pub fn row(&mut self, mut row: Vec<FieldValue<'_>>) -> io::Result<()> {
        self.stacks.number_in(&mut row, self.columns);
        self.writer.row(&row, self.stacks)
    }

    /// Writes the end: the frames of all stacks, if the format [holds](RowFormat::holds_frames) them.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.finish(self.stacks)
    }
}

fn writer<'o>(
    format: RowFormat,
    schema: &str,
    columns: &'o [OutputColumn],
    out: &'o mut dyn Write,
) -> io::Result<Box<dyn RowWriter + 'o>> {
    Ok(match format {
        RowFormat::Csv(cells) => Box::new(csv::CsvRows::new(columns, cells, out)),
        RowFormat::Json => Box::new(json::JsonRows::new(schema, columns, out)),
        RowFormat::JsonLines => Box::new(json::JsonLines::new(columns, out)),
        #[cfg(feature = "dataset")]
        RowFormat::Parquet => Box::new(parquet::ParquetRows::new(schema, columns, out)?),
        RowFormat::Sql => Box::new(sql::SqlRows::new(schema, columns, out)),
    })
}

/// The table of the frames of stacks.
const FRAMES: &str = "stacks";

fn frame_columns() -> [OutputColumn; 8] {
    let number = FieldKind::Number(ColumnKind::Number);
    let mut columns = [
        ("stack.id", FieldKind::Number(ColumnKind::Stack), true),
        ("depth", number, true),
        ("function", FieldKind::Text, true),
        ("binary", FieldKind::Text, false),
        ("address", number, true),
        ("source", FieldKind::Text, false),
        ("line", number, false),
        ("is_inlined", FieldKind::Boolean, true),
    ]
    .map(|(name, kind, is_required)| OutputColumn::new(name, kind, is_required));
    columns[4].engineering_type = "address".to_owned();
    columns
}

/// Calls `each` with a row for each frame, leaf first.
fn each_frame(stacks: &StackNames, mut each: impl FnMut([FieldValue<'_>; 8]) -> io::Result<()>) -> io::Result<()> {
    let profile = stacks.profile();
    let text = |text| FieldValue::Text(Cow::Borrowed(text));
    for (number, stack) in stacks.written().enumerate() {
        for (depth, frame) in stacks.frames(stack).enumerate() {
            let binary = frame.binary.map(|id| profile.string(profile.binary(id).name));
            let binary = binary.or_else(|| profile.binary_name(frame.function));
            let source = frame.source.map(|source| profile.string(source.path));
            let line = frame.source.map(|source| u64::from(source.line)).filter(|&line| line > 0);
            each([
                FieldValue::Number(number as u64 + 1),
                FieldValue::Number(depth as u64),
                text(profile.function_name(frame.function)),
                binary.map_or(FieldValue::None, text),
                FieldValue::Number(frame.address.get()),
                source.map_or(FieldValue::None, text),
                line.map_or(FieldValue::None, FieldValue::Number),
                FieldValue::Boolean(frame.is_inlined),
            ])?;
        }
    }
    Ok(())
}

/// The functions of a stack, leaf first, one per line.
fn lines_of(stack: crate::profile::Id<crate::profile::Stack>, stacks: &StackNames) -> String {
    stacks.functions(stack).collect::<Vec<_>>().join("\n")
}

/// Returns a value as a string; `None` if no value was recorded.
fn text_of<'v>(value: &'v FieldValue<'_>, stacks: &StackNames) -> Option<Cow<'v, str>> {
    Some(match value {
        FieldValue::None => return None,
        FieldValue::Number(number) => number.to_string().into(),
        FieldValue::Boolean(is_true) => if *is_true { "true" } else { "false" }.into(),
        FieldValue::Text(text) => Cow::Borrowed(text),
        FieldValue::Numbers(numbers) => joined(numbers).into(),
        FieldValue::Stack(stack) => lines_of(*stack, stacks).into(),
    })
}

/// A number of a column that has 63 bits.
fn signed(number: u64, column: &OutputColumn) -> io::Result<i64> {
    i64::try_from(number).map_err(|_| {
        io::Error::other(format!(
            "{}: {number} does not fit in a signed number of 64 bits; --format csv and json write it, and --columns omits it",
            column.name
        ))
    })
}
