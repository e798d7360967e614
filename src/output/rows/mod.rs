//! Writers for table rows: formats for programs, and text for people.
//!
//! | format | stack | no value |
//! |---|---|---|
//! | CSV | functions, leaf first, one per line | an empty field |
//! | JSON, NDJSON | an array of functions, leaf first | null |
//! | Parquet | a list of functions, leaf first | null |
//! | SQL | like CSV | NULL |
//!
//! Each stack has a number in `stack.id`. A second table contains the frames of stacks: in the same document for JSON and SQL, in a separate file for
//! the other formats.

mod csv;
mod frames;
mod json;
mod list;
#[cfg(feature = "dataset")]
mod parquet;
#[cfg(feature = "dataset")]
mod parquet_column;
mod row_writer;
mod sql;
mod text;
mod values;

use std::io::{self, Write};

use super::csv::{Cells, Csv};
use super::inert::write_text;
use super::text::Style;
use crate::tables::{FieldValue, OutputColumn, StackNames};
use frames::{FRAMES, each_frame, frame_columns};
use row_writer::RowWriter;

pub(super) use list::{write_json as write_list_json, write_text as write_list_text};

/// A format for table rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// CSV (RFC 4180).
    Csv(Cells),
    /// One JSON document.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// Parquet, a columnar format for SQL engines and data frames.
    #[cfg(feature = "dataset")]
    Parquet,
    /// SQL statements that create and fill a table.
    Sql,
}

impl RowFormat {
    /// Writes the frames of the numbered stacks as a separate table.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_frames(self, stacks: &StackNames, out: &mut dyn Write) -> io::Result<()> {
        let columns = frame_columns();
        let mut writer = writer(self, FRAMES, &columns, out)?;
        each_frame(stacks, |row| writer.row(&row, stacks))?;
        writer.finish(&StackNames::default())
    }

    /// True if the document contains the frames of stacks.
    pub fn holds_frames(self) -> bool {
        matches!(self, Self::Json | Self::Sql)
    }
}

/// Writes the rows of a table in a format, including the names of their stacks.
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

    /// Writes rows as text, followed by the total number of rows. Unless `has_all_columns`, parts of columns (`thread.tid`) and columns without
    /// values are omitted. `elsewhere` is a sentence that names the place to find columns that do not fit.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_text(
        table: (&[OutputColumn], &[Vec<FieldValue<'_>>]),
        total: u64,
        has_all_columns: bool,
        elsewhere: &str,
        stacks: &StackNames,
        style: &Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write_text(style.is_coloured, out, |out| {
            text::write(table, total, (has_all_columns, elsewhere), stacks, style, out)
        })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If `out` fails, or a number does not fit into the format.
    pub fn row(&mut self, mut row: Vec<FieldValue<'_>>) -> io::Result<()> {
        self.stacks.number_in(&mut row, self.columns);
        self.writer.row(&row, self.stacks)
    }

    /// Writes the end of the table, including the frames of all stacks if the format [contains](RowFormat::holds_frames) them.
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
        RowFormat::Csv(cells) => Box::new(Csv::new(columns.iter().map(|column| &column.name), cells, out)?),
        RowFormat::Json => Box::new(json::JsonRows::new(schema, columns, out)?),
        RowFormat::JsonLines => Box::new(json::JsonLines::new(columns, out)),
        #[cfg(feature = "dataset")]
        RowFormat::Parquet => Box::new(parquet::ParquetRows::new(schema, columns, out)?),
        RowFormat::Sql => Box::new(sql::SqlRows::new(schema, columns, out)),
    })
}
