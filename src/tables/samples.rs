//! Converts the rows of a chosen table to samples, for call trees of durations, bytes or row counts.

use super::{Cell, ColumnKind, RowValues, TableHead, TableVisitor};
use crate::error::{Diagnostic, Error};
use crate::profile::SampleKind;
use crate::recording::{RejectReason, Rejected, Row, TableChoice, TableWeight};
use crate::settings::METRIC;
use crate::units::{Nanos, Unit};

/// Creates samples from the rows of all tables with one schema.
#[derive(Debug)]
pub(crate) struct SampleVisitor<'c> {
    choice: &'c TableChoice,
    columns: Columns,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The columns of the current table.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    time: Option<usize>,
    thread: Option<usize>,
    process: Option<usize>,
    stack: Option<usize>,
    /// The weight column (`None` if each row has weight 1) and its unit. `None` if the table lacks the column.
    weight: Option<(Option<usize>, Unit)>,
}

/// Stack columns in order of preference: the stack at the start rather than at the end.
const STACKS: [&str; 3] = ["stack", "backtrace", "start-backtrace"];

/// Size columns in order of preference. In `fs-syscall`, all others are parts of `bytes`.
const BYTES: [&str; 2] = ["bytes", "size"];

impl Columns {
    fn of(head: &TableHead, choice: &TableChoice) -> Self {
        let is = |index: &usize, kind| head.columns[*index].kind == kind;
        let named = |name: &str, kind| head.column(name).filter(|index| is(index, kind));
        let first = |kind| (0..head.columns.len()).find(|index| is(index, kind));
        let stack = STACKS.iter().find_map(|name| named(name, ColumnKind::Stack)).or_else(|| first(ColumnKind::Stack));
        let thread = named("thread", ColumnKind::Thread).or_else(|| named("start-thread", ColumnKind::Thread));
        let duration = named("duration", ColumnKind::Duration).or_else(|| first(ColumnKind::Duration));
        let duration = duration.map(|index| (Some(index), Unit::Elapsed));
        let bytes = BYTES.iter().find_map(|name| named(name, ColumnKind::Bytes)).or_else(|| first(ColumnKind::Bytes));
        let bytes = bytes.map(|index| (Some(index), Unit::Bytes));
        let rows = Some((None, Unit::Samples));
        Self {
            time: named("start", ColumnKind::Time).or_else(|| first(ColumnKind::Time)),
            thread: thread.or_else(|| first(ColumnKind::Thread)),
            process: first(ColumnKind::Process),
            stack,
            weight: match choice.weight {
                None => duration.or(bytes).or(rows),
                Some(TableWeight::Duration) => duration,
                Some(TableWeight::Bytes) => bytes,
                Some(TableWeight::Rows) => rows,
            },
        }
    }

    fn has(&self, column: usize) -> bool {
        let weight = self.weight.and_then(|(weight, _)| weight);
        [self.time, self.thread, self.process, self.stack, weight].contains(&Some(column))
    }
}

impl<'c> SampleVisitor<'c> {
    pub(crate) fn new(choice: &'c TableChoice) -> Self {
        Self { choice, columns: Columns::default(), diagnostics: Vec::new() }
    }

    fn sample(&self, cells: &[Cell]) -> Result<Row, RejectReason> {
        let cell = |column: Option<usize>| column.map_or(Cell::None, |column| cells[column]);
        let Some((weight, unit)) = self.columns.weight else { return Err(RejectReason::MissingColumn) };
        let weight = match weight {
            // A row without a size, such as a call that neither reads nor writes, has weight 0. A row without a duration never ended, so it is
            // rejected.
            Some(column) if unit == Unit::Bytes => cells[column].number().unwrap_or(0),
            Some(column) => cells[column].number().ok_or(RejectReason::NoWeight)?,
            None => 1,
        };
        Ok(Row {
            time: cell(self.columns.time).number().map(Nanos::from_nanos).ok_or(RejectReason::NoTime)?,
            weight,
            unit,
            thread: if let Cell::Thread(index) = cell(self.columns.thread) { Some(index) } else { None },
            process: if let Cell::Process(index) = cell(self.columns.process) { Some(index) } else { None },
            core: None,
            state: None,
            stack: if let Cell::Stack(stack) = cell(self.columns.stack) { Some(stack) } else { None },
            kernel_stack: None,
            kind: SampleKind::Periodic,
            counters: None,
        })
    }
}

impl TableVisitor for SampleVisitor<'_> {
    fn wants(&self, table: &TableHead) -> bool {
        table.schema == self.choice.schema
    }

    fn makes_samples(&self) -> bool {
        true
    }

    fn wanted_columns(&self, table: &TableHead) -> Vec<bool> {
        let columns = Columns::of(table, self.choice);
        (0..table.columns.len()).map(|column| columns.has(column)).collect()
    }

    fn start(&mut self, table: &TableHead) {
        self.columns = Columns::of(table, self.choice);
    }

    fn row(&mut self, cells: &[Cell], _: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        Ok(self.sample(cells).map(Some))
    }

    fn end(&mut self, _: u64, _: &Rejected) {}

    fn unreadable(&mut self, _: &TableHead, _: Option<u64>, error: Error) -> Result<(), Error> {
        Err(error)
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn describe(&self, reason: RejectReason) -> String {
        match reason {
            RejectReason::MissingColumn => {
                format!("row of {} rejected: the table has no such column; choose another {METRIC}", self.choice.schema)
            }
            _ => format!("row of {} rejected: {reason}", self.choice.schema),
        }
    }
}
