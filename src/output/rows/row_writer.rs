//! What each format implements.

use std::io;

use crate::tables::{FieldValue, StackNames};

/// Writes rows of a table.
pub(super) trait RowWriter {
    fn row(&mut self, row: &[FieldValue<'_>], stacks: &StackNames) -> io::Result<()>;

    /// Writes the part after the rows.
    fn finish(&mut self, stacks: &StackNames) -> io::Result<()>;
}
