//! Rows as JSON: one document, or an object per line.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::frames::{FRAMES, each_frame, frame_columns};
use super::row_writer::RowWriter;
use super::values::text_of;
use crate::output::byte_writer::{ByteWriter, Put};
use crate::output::json::{begin, values};
use crate::tables::{FieldKind, FieldValue, OutputColumn, StackNames};

/// Describes a column.
pub(super) fn column(column: &OutputColumn) -> Value {
    let engineering_type = (!column.is_part()).then_some(&column.engineering_type);
    json!({"name": column.name, "type": engineering_type, "kind": column.kind.name(), "unit": column.kind.unit()})
}

/// Writes the description of a table: its schema and its columns.
pub(super) fn write_table(schema: &str, columns: &[OutputColumn], out: &mut dyn Write) -> io::Result<()> {
    begin(out, &json!({"schema": schema}))?;
    values(out, "columns", columns.iter().map(column))?;
    out.write_all(b"}")
}

/// The JSON keys of columns, each with its colon.
fn keys(columns: &[OutputColumn]) -> Vec<Vec<u8>> {
    let key = |column: &OutputColumn| {
        let mut key = Vec::new();
        key.put_text(Some(&column.name)).put(b":");
        key
    };
    columns.iter().map(key).collect()
}

/// Appends a row as an object.
fn put_row(
    row: &[FieldValue<'_>],
    columns: &[OutputColumn],
    keys: &[Vec<u8>],
    stacks: &StackNames,
    out: &mut ByteWriter<'_>,
) {
    for (index, ((value, column), key)) in row.iter().zip(columns).zip(keys).enumerate() {
        out.put(if index == 0 { b"{" } else { b"," }).put(key);
        match value {
            FieldValue::None => out.put(b"null"),
            FieldValue::Number(number) => out.put_number(*number),
            FieldValue::Boolean(is_true) => out.put(if *is_true { b"true" } else { b"false" }),
            FieldValue::Numbers(numbers) => put_list(numbers.iter(), |number, out| out.put_number(*number), out),
            FieldValue::Stack(stack) if column.kind == FieldKind::Stack => {
                put_list(stacks.functions(*stack), |function, out| out.put_text(Some(function)), out)
            }
            value => out.put_text(text_of(value, stacks).as_deref()),
        };
    }
    out.put(b"}");
}

fn put_list<'b, 'o, T>(
    values: impl Iterator<Item = T>,
    put: for<'w> fn(T, &'w mut ByteWriter<'o>) -> &'w mut ByteWriter<'o>,
    out: &'b mut ByteWriter<'o>,
) -> &'b mut ByteWriter<'o> {
    out.put(b"[");
    for (index, value) in values.enumerate() {
        out.put(if index == 0 { b"" } else { b"," });
        put(value, out);
    }
    out.put(b"]")
}

/// Writes one document.
pub(super) struct JsonRows<'o> {
    out: ByteWriter<'o>,
    columns: &'o [OutputColumn],
    keys: Vec<Vec<u8>>,
    is_first: bool,
}

impl<'o> JsonRows<'o> {
    pub(super) fn new(schema: &str, columns: &'o [OutputColumn], out: &'o mut dyn Write) -> io::Result<Self> {
        out.write_all(b"{\"format\":\"traceparse-table\",\"version\":1,\n\"table\":")?;
        write_table(schema, columns, out)?;
        out.write_all(b",\n\"rows\":[")?;
        Ok(Self { out: ByteWriter::new(out), columns, keys: keys(columns), is_first: true })
    }

    fn next(&mut self) {
        self.out.put(if std::mem::take(&mut self.is_first) { b"\n" } else { b",\n" });
    }
}

impl RowWriter for JsonRows<'_> {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()> {
        self.next();
        put_row(row, self.columns, &self.keys, stacks, &mut self.out);
        self.out.flush_if_full()
    }

    fn finish(&mut self, stacks: &StackNames) -> io::Result<()> {
        self.out.put(b"]");
        if self.columns.iter().any(OutputColumn::has_stacks) {
            let columns = frame_columns();
            let keys = keys(&columns);
            self.out.put(format!(",\n\"{FRAMES}\":[").as_bytes());
            self.is_first = true;
            each_frame(stacks, |row| {
                self.next();
                put_row(&row, &columns, &keys, stacks, &mut self.out);
                self.out.flush_if_full()
            })?;
            self.out.put(b"]");
        }
        self.out.put(b"}\n");
        self.out.finish()
    }
}

/// Writes an object per line.
pub(super) struct JsonLines<'o> {
    out: ByteWriter<'o>,
    columns: &'o [OutputColumn],
    keys: Vec<Vec<u8>>,
}

impl<'o> JsonLines<'o> {
    pub(super) fn new(columns: &'o [OutputColumn], out: &'o mut dyn Write) -> Self {
        Self { out: ByteWriter::new(out), columns, keys: keys(columns) }
    }
}

impl RowWriter for JsonLines<'_> {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()> {
        put_row(row, self.columns, &self.keys, stacks, &mut self.out);
        self.out.put(b"\n");
        self.out.flush_if_full()
    }

    fn finish(&mut self, _: &StackNames) -> io::Result<()> {
        self.out.finish()
    }
}
