//! Surveys all tables: their rows, their times, and the column kinds that only cells reveal.

use super::{Cell, ColumnKind, RowValues, TableHead, TableVisitor};
use crate::error::{Diagnostic, Error};
use crate::recording::{RejectReason, Rejected, Row};
use crate::units::Nanos;

/// A table, as surveyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SurveyedTable {
    /// The table, with the column kinds that its cells revealed.
    pub head: TableHead,
    /// The number of rows; `None` if unknown.
    pub rows: Option<u64>,
    /// The number of unreadable rows, by reason.
    pub rejected: Rejected,
    /// The earliest and latest time of its rows: from the first time column, and including durations.
    pub span: Option<(Nanos, Nanos)>,
    /// Why its rows cannot be read.
    pub unreadable: Option<String>,
}

/// Surveys all tables of an input.
#[derive(Debug, Default)]
pub struct Survey {
    /// The tables surveyed so far.
    pub tables: Vec<SurveyedTable>,
    /// The diagnostics from reading.
    pub diagnostics: Vec<Diagnostic>,
    /// The cell types seen so far in each column of unknown kind.
    seen: Vec<Seen>,
    /// The number of tables that have ended.
    complete: usize,
    time: Option<usize>,
    duration: Option<usize>,
}

/// The cell types seen so far in a column.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    number: bool,
    text: bool,
    other: Option<ColumnKind>,
}

impl Seen {
    fn add(&mut self, cell: Cell) {
        match cell {
            Cell::None => {}
            Cell::Number(_) => self.number = true,
            Cell::Text(_) => self.text = true,
            Cell::Named(..) => self.other = Some(ColumnKind::Named),
            Cell::Process(_) => self.other = Some(ColumnKind::Process),
            Cell::Thread(_) => self.other = Some(ColumnKind::Thread),
            Cell::Numbers(_) => self.other = Some(ColumnKind::Numbers),
            Cell::Stack(_) => self.other = Some(ColumnKind::Stack),
        }
    }

    /// The kind that covers all of them; [`Text`](ColumnKind::Text) covers any.
    fn kind(self) -> ColumnKind {
        match (self.other, self.number, self.text) {
            (Some(kind), false, false) => kind,
            (None, true, false) => ColumnKind::Number,
            _ => ColumnKind::Text,
        }
    }
}

impl TableVisitor for Survey {
    fn wants(&self, _: &TableHead) -> bool {
        true
    }

    fn start(&mut self, table: &TableHead) {
        self.time = table.columns.iter().position(|column| column.kind == ColumnKind::Time);
        self.duration = table.column("duration").filter(|&index| table.columns[index].kind == ColumnKind::Duration);
        self.seen = vec![Seen::default(); table.columns.len()];
        self.tables.push(SurveyedTable { head: table.clone(), ..SurveyedTable::default() });
    }

    fn row(&mut self, cells: &[Cell], _: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        for (seen, cell) in self.seen.iter_mut().zip(cells) {
            seen.add(*cell);
        }
        let number = |column: Option<usize>| column.and_then(|column| cells[column].number());
        if let (Some(start), Some(table)) = (number(self.time), self.tables.last_mut()) {
            let end = start.saturating_add(number(self.duration).unwrap_or(0));
            let (start, end) = (Nanos::from_nanos(start), Nanos::from_nanos(end));
            let span = table.span.get_or_insert((start, end));
            *span = (span.0.min(start), span.1.max(end));
        }
        Ok(Ok(None))
    }

    fn end(&mut self, rows: u64, rejected: &Rejected) {
        self.complete = self.tables.len();
        let Some(table) = self.tables.last_mut() else { return };
        (table.rows, table.rejected) = (Some(rows), *rejected);
        for (column, seen) in table.head.columns.iter_mut().zip(&self.seen) {
            if column.kind == ColumnKind::Unknown {
                column.kind = seen.kind();
            }
        }
    }

    fn unreadable(&mut self, table: &TableHead, rows: Option<u64>, error: Error) -> Result<(), Error> {
        // Drops the table's entry, if it had begun.
        self.tables.truncate(self.complete);
        let unreadable = Some(error.to_string());
        self.tables.push(SurveyedTable { head: table.clone(), rows, unreadable, ..SurveyedTable::default() });
        self.complete = self.tables.len();
        Ok(())
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
