//! Tables of recordings: every row with every column, of any schema, in bundles and exports.
//!
//! Readers pass each row to a [`TableVisitor`] as [`Cell`]s. A cell is a number, a string, or a reference to something that rows share: a thread, a
//! process, a stack. The [`ColumnKind`] of its column defines what a number means. Columns of unknown types are read according to their content.
//!
//! Rows are sorted by time, as in exports; rows with equal times keep their order. rows = read + rejected, for every table.

mod cell;
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
use crate::recording::{Column, RejectReason, Rejected, Row};

pub use crate::recording::ColumnKind;
pub use cell::{Cell, ProcessName, RowValues, ThreadName};
pub use columns::OutputColumn;
pub use condition::Conditions;
pub(crate) use field::Field;
pub use field::{FieldKind, FieldValue};
pub(crate) use intervals::IntervalVisitor;
pub use look::{FoundTables, TableLook};
pub(crate) use query::joined;
pub use query::{RowPlan, TableQuery};
pub use rows::RowReader;
pub(crate) use samples::SampleVisitor;
pub use stack_names::StackNames;
pub use survey::{Survey, SurveyedTable};

/// The properties of a table that are known before its rows are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableHead {
    /// The run number, from 1.
    pub run: u32,
    /// The position in the recording's data, from 1, as in `table[9]` of an XPath; `None` in bundles and for track details.
    pub position: Option<u32>,
    /// The schema, such as `potential-hangs`; empty for track details.
    pub schema: String,
    /// The settings with which the table was recorded, sorted by name; empty in exports, which do not contain them.
    pub attributes: Vec<(String, String)>,
    /// The folder of a recording that contains the table; empty in exports.
    pub folder: String,
    /// The columns, in export order.
    pub columns: Vec<Column>,
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

    /// Called when a table begins.
    fn start(&mut self, table: &TableHead);

    /// True if the tables contain samples, so rows become samples.
    fn makes_samples(&self) -> bool {
        false
    }

    /// Returns for each column whether its cells are wanted. Unwanted cells are [`Cell::None`], and damage in them is not detected.
    fn wanted_columns(&self, table: &TableHead) -> Vec<bool> {
        vec![true; table.columns.len()]
    }

    /// Returns whether wanted cells may refer to elements with this name in unwanted tables. Other elements are skipped, which is fast. Only called
    /// for exports.
    fn needs(&self, _element: &str) -> bool {
        true
    }

    /// Called for a row of the current table. If it returns a sample, the sample is added to the profile of the recording; if it returns a reason,
    /// the row is rejected.
    ///
    /// # Errors
    /// Any error stops reading, and is returned from it.
    fn row(&mut self, cells: &[Cell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error>;

    /// Returns the maximum number of additional rows that are wanted; `None` if unknown. Later rows are counted, but not passed to
    /// [`row`](Self::row).
    fn rows_left(&self) -> Option<usize> {
        None
    }

    /// Called when the table ends, with the number of all rows, including those that the reader or [`row`](Self::row) rejected.
    fn end(&mut self, rows: u64, rejected: &Rejected);

    /// Called if a table cannot be read, or not completely, with the number of its rows if known. The table may have begun, but [`end`](Self::end) is
    /// not called.
    ///
    /// # Errors
    /// If the input is useless without the table. The error is returned from reading.
    fn unreadable(&mut self, table: &TableHead, rows: Option<u64>, error: Error) -> Result<(), Error>;

    /// Called for facts about the input that users should know.
    fn note(&mut self, diagnostic: Diagnostic);

    /// Returns a sentence about a rejected row of the current table.
    fn describe(&self, reason: RejectReason) -> String {
        format!("row rejected: {reason}")
    }
}
