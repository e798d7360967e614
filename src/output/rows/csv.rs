//! Rows as CSV: a header, then a record for each row.

use std::io;

use super::row_writer::RowWriter;
use super::values::text_of;
use crate::output::csv::{Csv, Field};
use crate::tables::{FieldValue, StackNames};

impl RowWriter for Csv<'_> {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()> {
        self.record(row.iter().map(|value| match value {
            FieldValue::Number(number) => Field::Number(*number),
            value => text_of(value, stacks).into(),
        }))
    }

    fn finish(&mut self, _: &StackNames) -> io::Result<()> {
        self.finish()
    }
}
