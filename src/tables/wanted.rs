//! Recognises the tables of a query when they begin. Some wanted tables may turn out to be unreadable.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::TableHead;

/// The wanted tables that did not begin yet, with their numbers.
#[derive(Debug, Default)]
pub(super) struct WantedTables(RefCell<VecDeque<(usize, TableHead)>>);

impl WantedTables {
    pub(super) fn add(&self, number: usize, table: &TableHead) {
        self.0.borrow_mut().push_back((number, table.clone()));
    }

    /// Removes a table because it begins or cannot be read, and returns its number.
    pub(super) fn take(&mut self, table: &TableHead) -> Option<usize> {
        let tables = self.0.get_mut();
        // Nearly always the first.
        let index = tables.iter().position(|(_, wanted)| wanted == table)?;
        Some(tables.remove(index)?.0)
    }
}
