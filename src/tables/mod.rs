//! Tables of recordings: every row with every column, of any schema, in bundles and exports.
//!
//! Readers pass each row to a [`TableVisitor`] as [`Cell`]s. A cell is a number, a text, or something that rows share: a thread, a process,
//! a stack. The [`ColumnKind`] of its column says what a number means. Columns of unknown types are read by what they hold.
//!
//! Rows are sorted by time, as in exports; rows with equal times keep their order. rows = read + rejected, for every table.

mod cell;
mod column;
mod columns;
mod condition;
mod decimal;
mod field;
mod intervals;
mod look;
mod query;
mod rows;
mod samples;
mod stack_names;
mod survey;
mod wanted;

use std::fmt::Debug;

use crate::error::{Diagnostic, Error};
use crate::recording::{RejectReason, Rejected, Row};

pub use cell::{Cell, ProcessName, RowValues, ThreadName};
pub use column::{ColumnKind, TableColumn};
pub use columns::OutputColumn;
pub use condition::Conditions;
pub use field::{Field, FieldKind, FieldValue};
pub(crate) use intervals::IntervalVisitor;
pub use look::{FoundTables, TableLook, no_table};
pub(crate) use query::joined;
pub use query::{RowPlan, TableQuery};
pub use rows::RowReader;
pub(crate) use samples::SampleVisitor;
pub use stack_names::StackNames;
pub use survey::{Survey, SurveyedTable};

/// A table, as it is known before its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableHead {
    /// The number of its run, from 1.
    pub run: u32,
    /// Its position in the recording's data, from 1, as in `table[9]` of an XPath; `None` in bundles and for details of a track.
    pub position: Option<u32>,
    /// Its schema, such as `potential-hangs`; empty for details of a track.
    pub schema: String,
    /// The settings with which it was recorded, sorted by name; empty in exports, which do not contain them.
    pub attributes: Vec<(String, String)>,
    /// The folder in a recording that has it; empty in exports.
    pub folder: String,
    /// Its columns, in the order of the export.
    pub columns: Vec<TableColumn>,
}

impl TableHead {
    /// Returns the index of the column with this mnemonic.
    pub fn column(&self, mnemonic: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.mnemonic == mnemonic)
    }
}

/// Receives the tables of an input, row by row.
pub trait TableVisitor: Debug {
    /// Returns whether the rows of a table are wanted. The other methods are called only for wanted tables.
    fn wants(&self, table: &TableHead) -> bool;

    /// A table begins.
    fn start(&mut self, table: &TableHead);

    /// True if rows become samples, so that the tables are those of samples.
    fn makes_samples(&self) -> bool {
        false
    }

    /// Returns whether the cells of a column are wanted. Others are none, and damage in them is not noticed.
    fn wants_column(&self, _table: &TableHead, _column: usize) -> bool {
        true
    }

    /// Returns whether wanted cells may refer to elements of this name in tables that are not wanted; skipping others is fast. Only exports ask.
    fn needs(&self, _element: &str) -> bool {
        true
    }

    /// A row of the table that began last. If a sample is returned, it is added to the profile of the recording; a reason rejects the row.
    ///
    /// # Errors
    /// Any error ends the reading, and is what reading returns.
    fn row(&mut self, cells: &[Cell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error>;

    /// Returns how many more rows of the table are wanted at most; `None` if that is not known. Rows after them are counted, and not passed to
    /// [`row`](Self::row).
    fn rows_left(&self) -> Option<usize> {
        None
    }

    /// The table ends. Of its `rows`, some were rejected, by the reader or by [`row`](Self::row).
    fn end(&mut self, rows: u64, rejected: &Rejected);

    /// A table cannot be read, or no further, with the number of its rows if that is known. It may have begun, and does not end.
    ///
    /// # Errors
    /// If the input is useless without the table: the error is what reading returns.
    fn unreadable(&mut self, table: &TableHead, rows: Option<u64>, error: Error) -> Result<(), Error>;

    /// Something about the input that users should know.
    fn note(&mut self, diagnostic: Diagnostic);

    /// Returns a sentence about a rejected row of the table that is open.
    fn describe(&self, reason: RejectReason) -> String {
        format!("row rejected: {reason}")
    }
}
