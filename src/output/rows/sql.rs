//! Rows as SQL statements that DuckDB, SQLite and PostgreSQL can load.
//!
//! A number column of the table is `DECIMAL(20,0)`, since it may need all 64 bits. All other numbers are below 2^63.

use std::io::{self, Write};

use super::frames::{FRAMES, each_frame, frame_columns};
use super::row_writer::RowWriter;
use super::values::{signed, text_of};
use crate::output::byte_writer::{ByteWriter, Put};
use crate::tables::{ColumnKind, FieldKind, FieldValue, OutputColumn, StackNames};

/// The number of rows per statement.
const ROWS_OF_A_STATEMENT: usize = 500;

pub(super) struct SqlRows<'o> {
    out: ByteWriter<'o>,
    columns: &'o [OutputColumn],
    statement: Statement,
}

/// The statement that inserts rows into a table.
struct Statement {
    insert: String,
    rows: usize,
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\0', "\u{fffd}").replace('"', "\"\""))
}

fn sql_type(column: &OutputColumn) -> &'static str {
    match column.kind {
        // Addresses, identifiers and arguments may use all 64 bits. Pids and tids do not.
        FieldKind::Number(ColumnKind::Number) if !column.is_part() => "DECIMAL(20,0)",
        FieldKind::Number(_) => "BIGINT",
        FieldKind::Boolean => "BOOLEAN",
        FieldKind::Text | FieldKind::Numbers | FieldKind::Stack => "TEXT",
    }
}

impl Statement {
    /// Writes the statement that creates a table.
    fn create(table: &str, columns: &[OutputColumn], out: &mut ByteWriter<'_>) -> Self {
        let column = |column: &OutputColumn| {
            let null = if column.is_required { " NOT NULL" } else { "" };
            format!("  {} {}{null}", quoted(&column.name), sql_type(column))
        };
        let list = columns.iter().map(column).collect::<Vec<_>>().join(",\n");
        out.put(format!("CREATE TABLE {} (\n{list}\n);\n", quoted(table)).as_bytes());
        Self { insert: format!("INSERT INTO {} VALUES\n", quoted(table)), rows: 0 }
    }

    fn row(
        &mut self,
        row: &[FieldValue<'_>],
        columns: &[OutputColumn],
        stacks: &StackNames,
        out: &mut ByteWriter<'_>,
    ) -> io::Result<()> {
        match self.rows % ROWS_OF_A_STATEMENT {
            0 if self.rows > 0 => out.put(b";\n").put(self.insert.as_bytes()),
            0 => out.put(self.insert.as_bytes()),
            _ => out.put(b",\n"),
        };
        self.rows += 1;
        for (index, (value, column)) in row.iter().zip(columns).enumerate() {
            out.put(if index == 0 { b"(" } else { b"," });
            match value {
                FieldValue::Number(number) => {
                    if sql_type(column) == "BIGINT" {
                        signed(*number, column)?;
                    }
                    out.put_number(*number)
                }
                FieldValue::Boolean(is_true) => out.put(if *is_true { b"TRUE" } else { b"FALSE" }),
                value => match text_of(value, stacks) {
                    Some(text) => {
                        let text = text.replace('\0', "\u{fffd}").replace('\'', "''");
                        out.put(b"'").put(text.as_bytes()).put(b"'")
                    }
                    None => out.put(b"NULL"),
                },
            };
        }
        out.put(b")");
        out.flush_if_full()
    }

    fn end(&self, out: &mut ByteWriter<'_>) {
        if self.rows > 0 {
            out.put(b";\n");
        }
    }
}

impl<'o> SqlRows<'o> {
    pub(super) fn new(schema: &str, columns: &'o [OutputColumn], out: &'o mut dyn Write) -> Self {
        let mut out = ByteWriter::new(out);
        let statement = Statement::create(schema, columns, &mut out);
        Self { out, columns, statement }
    }
}

impl RowWriter for SqlRows<'_> {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()> {
        self.statement.row(row, self.columns, stacks, &mut self.out)
    }

    fn finish(&mut self, stacks: &StackNames) -> io::Result<()> {
        self.statement.end(&mut self.out);
        if self.columns.iter().any(OutputColumn::has_stacks) {
            let columns = frame_columns();
            let mut statement = Statement::create(FRAMES, &columns, &mut self.out);
            each_frame(stacks, |row| statement.row(&row, &columns, stacks, &mut self.out))?;
            statement.end(&mut self.out);
        }
        self.out.finish()
    }
}
