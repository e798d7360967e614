//! Recognises a query's tables when they begin. Some of them may turn out to be unreadable.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::TableHead;

/// The wanted tables that have not begun, with their numbers.
#[derive(Debug, Default)]
pub(super) struct WantedTables(RefCell<VecDeque<(usize, TableHead)>>);

impl WantedTables {
    pub(super) fn add(&self, number: usize, table: &TableHead) {
        self.0.borrow_mut().push_back((number, table.clone()));
    }

    /// Removes a table that begins or is unreadable, and returns its number.
    pub(super) fn take(&mut self, table: &TableHead) -> Option<usize> {
        let tables = self.0.get_mut();
        // Nearly always the first one.
        let index = tables.iter().position(|(_, wanted)| wanted == table)?;
        Some(tables.remove(index)?.0)
    }
}
