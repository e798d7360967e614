//! Recognises the tables of a query when they begin: some of those that were wanted turn out to be unreadable.

use std::cell::RefCell;

use super::TableHead;

/// The tables that were wanted and did not begin yet, with their numbers.
#[derive(Debug, Default)]
pub(super) struct WantedTables(RefCell<Vec<(usize, TableHead)>>);

impl WantedTables {
    /// Adds a table with its number.
    pub(super) fn add(&self, number: usize, table: &TableHead) {
        self.0.borrow_mut().push((number, table.clone()));
    }

    /// Removes a table, which begins or cannot be read, and returns its number.
    pub(super) fn take(&mut self, table: &TableHead) -> Option<usize> {
        let tables = self.0.get_mut();
        let index = tables.iter().position(|(_, wanted)| wanted == table)?;
        Some(tables.remove(index).0)
    }
}
