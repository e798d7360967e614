//! Passes on the rows of a query while an input is read once. Each table has its own fields.

use std::cell::RefCell;
use std::fmt;

use super::look::FoundTables;
use super::{Cell, FieldValue, RowPlan, RowValues, TableHead, TableQuery, TableVisitor};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::recording::{RejectReason, Rejected, Row};

/// Calls a function with the fields of every row.
pub(crate) struct EachRow<'q, F> {
    query: &'q TableQuery,
    file: &'q str,
    each: F,
    /// The plan for the current table, or why the query does not suit it.
    plan: Result<RowPlan, String>,
    found: RefCell<FoundTables>,
}

impl<F> fmt::Debug for EachRow<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EachRow").field("query", &self.query).finish_non_exhaustive()
    }
}

impl<'q, F> EachRow<'q, F> {
    pub(crate) fn new(query: &'q TableQuery, file: &'q str, each: F) -> Self {
        Self { query, file, each, plan: Err(String::new()), found: RefCell::default() }
    }

    /// Returns what was found.
    pub(crate) fn finish(self) -> FoundTables {
        self.found.into_inner()
    }
}

impl<F: FnMut(&[(&str, FieldValue<'_>)])> TableVisitor for EachRow<'_, F> {
    fn wants(&self, table: &TableHead) -> bool {
        self.found.borrow_mut().schemas.insert(table.schema.clone());
        self.query.is_about(table)
    }

    fn start(&mut self, table: &TableHead) {
        let table = (self.file.to_owned(), table.clone());
        self.plan = self.query.plan(std::slice::from_ref(&table));
        self.found.get_mut().tables.push(table);
    }

    fn row(&mut self, cells: &[Cell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        let plan = self.plan.as_ref().map_err(|reason| Error::new(ErrorKind::Query(reason.clone()), None))?;
        if let Some(row) = plan.named_row(cells, values) {
            (self.each)(&row);
        }
        Ok(Ok(None))
    }

    fn end(&mut self, _: u64, _: &Rejected) {}

    /// A table that becomes unreadable in the middle is an error.
    fn unreadable(&mut self, table: &TableHead, _: Option<u64>, error: Error) -> Result<(), Error> {
        let FoundTables { tables, unreadable, schemas, .. } = self.found.get_mut();
        schemas.insert(table.schema.clone());
        if tables.last().is_some_and(|(_, last)| last == table) {
            return Err(error);
        }
        if self.query.is_about(table) {
            unreadable.push((self.file.to_owned(), table.clone(), error.to_string()));
        }
        Ok(())
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.found.get_mut().diagnostics.push(diagnostic);
    }
}
