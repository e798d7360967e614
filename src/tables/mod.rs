//! Tables of recordings: all rows and columns of any schema, from bundles and exports.
//!
//! Readers pass each row to a [`TableVisitor`] as [`Cell`]s. A cell is a number, a string, or a reference to something that rows share, such as a
//! thread, a process or a stack. The [`ColumnKind`] of a column defines what its numbers mean. Columns of unknown types are interpreted by their
//! content.
//!
//! Rows are sorted by time, as in exports, and the sort is stable. rows = read + rejected, for every table.

mod cell;
mod columns;
mod condition;
mod decimal;
mod each_row;
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
pub(crate) use each_row::EachRow;
pub(crate) use field::Field;
pub use field::{FieldKind, FieldValue};
pub(crate) use intervals::IntervalVisitor;
pub use look::{FoundTables, TableLook};
pub use query::{RowPlan, TableQuery};
pub use rows::RowReader;
pub(crate) use samples::SampleVisitor;
pub use stack_names::StackNames;
pub use survey::{Survey, SurveyedTable};

/// What is known about a table before its rows are read.
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
    /// True if the rows of a table are wanted. The other methods are called only for wanted tables.
    fn wants(&self, table: &TableHead) -> bool;

    /// Called when a table begins.
    fn start(&mut self, table: &TableHead);

    /// True if the tables contain samples, so rows become samples.
    fn makes_samples(&self) -> bool {
        false
    }

    /// Returns which columns are wanted. Unwanted cells are [`Cell::None`], and damage in them is not detected.
    fn wanted_columns(&self, table: &TableHead) -> Vec<bool> {
        vec![true; table.columns.len()]
    }

    /// True if wanted cells may refer to elements with this name in unwanted tables. All other elements are skipped quickly. Only called for
    /// exports.
    fn needs(&self, _element: &str) -> bool {
        true
    }

    /// Called for each row of the current table. A returned sample is added to the recording's profile; a returned reason rejects the row.
    ///
    /// # Errors
    /// Any error stops reading, which then returns it.
    fn row(&mut self, cells: &[Cell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error>;

    /// Returns the maximum number of rows that are still wanted; `None` if unknown. Later rows are counted, but not passed to [`row`](Self::row).
    fn rows_left(&self) -> Option<usize> {
        None
    }

    /// Called when the table ends, with the number of all rows, including rejected ones.
    fn end(&mut self, rows: u64, rejected: &Rejected);

    /// Called if a table cannot be read completely, with the number of its rows if known. The table may have begun; [`end`](Self::end) is not
    /// called.
    ///
    /// # Errors
    /// If the input is useless without the table; reading then returns the error.
    fn unreadable(&mut self, table: &TableHead, rows: Option<u64>, error: Error) -> Result<(), Error>;

    /// Called for diagnostics about the input.
    fn note(&mut self, diagnostic: Diagnostic);

    /// Returns a sentence about why a row of the current table is rejected.
    fn describe(&self, reason: RejectReason) -> String {
        format!("row rejected: {reason}")
    }
}
