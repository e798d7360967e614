//! Rows as CSV: a header, then a record for each row.

use std::io::{self, Write};

use super::{RowWriter, text_of};
use crate::output::byte_writer::{ByteWriter, Put};
use crate::output::csv::{Cells, push_field};
use crate::tables::{FieldValue, OutputColumn, StackNames};

pub(super) struct CsvRows<'o> {
    out: ByteWriter<'o>,
    cells: Cells,
}

impl<'o> CsvRows<'o> {
    pub(super) fn new(columns: &[OutputColumn], cells: Cells, out: &'o mut dyn Write) -> Self {
        let mut rows = Self { out: ByteWriter::new(out), cells };
        rows.record(columns.iter().map(|column| FieldValue::Text(column.name.as_str().into())), &StackNames::default());
        rows
    }

    fn record<'v>(&mut self, values: impl Iterator<Item = FieldValue<'v>>, stacks: &StackNames) {
        for (index, value) in values.enumerate() {
            self.out.put(if index == 0 { b"" } else { b"," });
            match &value {
                FieldValue::Number(number) => {
                    self.out.put_number(*number);
                }
                value => push_field(&self.cells.text(&text_of(value, stacks).unwrap_or_default()), &mut self.out.text),
            }
        }
        self.out.put(b"\n");
    }
}

impl RowWriter for CsvRows<'_> {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()> {
        self.record(row.iter().cloned(), stacks);
        self.out.flush_if_full()
    }

    fn finish(&mut self, _: &StackNames) -> io::Result<()> {
        self.out.finish()
    }
}
