//! Rows of one table of an export, from cells to values.

use super::super::attributes::parse_number;
use crate::recording::{
    Column, IntervalTable, ProcessCell, RejectReason, RowKind, RowValues, SignpostIdentity as Identity, TableValues,
    Texts,
};

/// The value of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Absent,
    Number(u64),
    Text(u32),
    Process(ProcessCell),
    /// An index of the document's threads.
    Thread(u32),
    /// Nothing that is needed.
    Other,
    Bad(RejectReason),
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadCell {
    pub(super) tid: Option<u64>,
    pub(super) process: Option<ProcessCell>,
}

impl Cell {
    pub(super) fn as_number(&self) -> Option<u64> {
        if let Self::Number(number) = *self { Some(number) } else { None }
    }

    /// True if it is a number, or is marked as having none.
    pub(super) fn is_number_or_absent(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Absent)
    }

    pub(super) fn as_process(&self) -> Option<ProcessCell> {
        if let Self::Process(process) = *self { Some(process) } else { None }
    }
}

/// The columns by their meaning, each by its index.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    count: usize,
    start: Option<usize>,
    duration: Option<usize>,
    name: Option<usize>,
    subsystem: Option<usize>,
    category: Option<usize>,
    identifier: Option<usize>,
    process: Option<usize>,
    thread: Option<usize>,
    /// The column of the kind, whose name depends on the table.
    kind: Option<usize>,
    scope: Option<usize>,
    message: Option<usize>,
    severity: Option<usize>,
}

impl Columns {
    fn of(kind: RowKind, columns: &[Column]) -> Self {
        let find = |name: &str| columns.iter().position(|column| column.mnemonic == name);
        let is_signpost = matches!(kind, RowKind::Signpost | RowKind::SignpostEvent | RowKind::Region);
        let of_signposts = |name: &str| find(name).filter(|_| is_signpost);
        Self {
            count: columns.len(),
            start: find(if kind.is_moment() { "time" } else { "start" }),
            duration: find("duration").filter(|_| !kind.is_moment()),
            name: of_signposts("name"),
            subsystem: of_signposts("subsystem"),
            category: of_signposts("category"),
            identifier: of_signposts("identifier"),
            process: find("process"),
            thread: find("start-thread").or_else(|| find("thread")),
            kind: kind.column().and_then(find),
            scope: find("scope").filter(|_| kind == RowKind::SignpostEvent),
            message: find("message").filter(|_| kind == RowKind::HangRisk),
            severity: find("severity").filter(|_| kind == RowKind::HangRisk),
        }
    }

    /// The columns that rows of a table need.
    fn needed(&self, kind: RowKind) -> Vec<(&'static str, Option<usize>)> {
        match kind {
            RowKind::Signpost => vec![("start", self.start), ("duration", self.duration), ("name", self.name)],
            RowKind::SignpostEvent => vec![("time", self.start), ("event-type", self.kind), ("name", self.name)],
            RowKind::Region => {
                vec![("start", self.start), ("duration", self.duration), ("class", self.kind), ("name", self.name)]
            }
            RowKind::Hang => vec![("start", self.start), ("duration", self.duration)],
            RowKind::HangRisk => vec![("time", self.start)],
        }
    }
}

/// The cells of a row, by role.
struct Row<'r> {
    cells: &'r [Cell],
    texts: &'r Texts,
    threads: &'r [ThreadCell],
}

impl Row<'_> {
    fn cell(&self, column: Option<usize>) -> Cell {
        column.and_then(|column| self.cells.get(column)).copied().unwrap_or(Cell::Absent)
    }

    fn number(&self, column: Option<usize>) -> Result<Option<u64>, RejectReason> {
        match self.cell(column) {
            Cell::Absent => Ok(None),
            Cell::Number(number) => Ok(Some(number)),
            // The number may be in an element that this version reads as words.
            Cell::Text(text) => parse_number(&self.texts.text(text)).map(Some).ok_or(RejectReason::BadNumber),
            Cell::Bad(reason) => Err(reason),
            _ => Err(RejectReason::WrongType),
        }
    }

    fn text(&self, column: Option<usize>) -> Result<Option<u32>, RejectReason> {
        match self.cell(column) {
            Cell::Absent => Ok(None),
            Cell::Text(text) => Ok(Some(text)),
            Cell::Bad(reason) => Err(reason),
            _ => Err(RejectReason::WrongType),
        }
    }

    /// The process and thread of the row. A missing process is replaced by the thread's process.
    fn owner(&self, columns: &Columns) -> Result<(Option<ProcessCell>, Option<u64>), RejectReason> {
        let thread = match self.cell(columns.thread) {
            Cell::Absent => None,
            Cell::Thread(index) => Some(self.threads[index as usize]),
            Cell::Bad(reason) => return Err(reason),
            _ => return Err(RejectReason::WrongType),
        };
        let process = match self.cell(columns.process) {
            Cell::Absent => thread.and_then(|thread| thread.process),
            Cell::Process(process) => Some(process),
            Cell::Bad(reason) => return Err(reason),
            _ => return Err(RejectReason::WrongType),
        };
        Ok((process, thread.and_then(|thread| thread.tid)))
    }
}

/// Reads the rows of one table.
#[derive(Debug)]
pub(super) struct TableRows {
    columns: Columns,
    missing: Option<&'static str>,
    pub(super) values: TableValues,
}

impl TableRows {
    /// A table with these columns; `None` for tables without intervals and hangs.
    pub(super) fn new(table: IntervalTable, columns: &[Column]) -> Option<Self> {
        // There is no known export of regions, so the spelling of their class is unknown. Each region is also two rows of `os-signpost`.
        let kind = RowKind::of_schema(&table.schema).filter(|&kind| kind != RowKind::Region)?;
        let columns = Columns::of(kind, columns);
        let missing = columns.needed(kind).into_iter().find(|(_, column)| column.is_none()).map(|(name, _)| name);
        Some(Self { columns, missing, values: TableValues::new(table, kind) })
    }

    /// Adds a row, which started at the byte `at`, or counts it as rejected.
    pub(super) fn add(
        &mut self,
        cells: &[Cell],
        texts: &Texts,
        threads: &[ThreadCell],
        at: u64,
    ) -> Result<(), RejectReason> {
        match self.read(&Row { cells, texts, threads }) {
            Ok(values) => self.values.add(&values, texts, at),
            Err(reason) => {
                self.values.reject(reason);
                Err(reason)
            }
        }
    }

    /// The sentence about a row that was rejected.
    pub(super) fn describe(&self, reason: RejectReason) -> String {
        let schema = &self.values.table.schema;
        match (reason, self.missing) {
            (RejectReason::MissingColumn, Some(column)) => {
                format!("row of {schema} rejected: the schema has no column {column}")
            }
            _ => format!("row of {schema} rejected: {reason}"),
        }
    }

    fn read(&self, row: &Row<'_>) -> Result<RowValues, RejectReason> {
        let columns = &self.columns;
        if self.missing.is_some() {
            return Err(RejectReason::MissingColumn);
        }
        if row.cells.len() != columns.count {
            return Err(RejectReason::CellCount);
        }
        let start = row.number(columns.start)?.ok_or(RejectReason::NoTime)?;
        let (process, tid) = row.owner(columns)?;
        let identity = Identity {
            name: row.text(columns.name)?,
            subsystem: row.text(columns.subsystem)?,
            category: row.text(columns.category)?,
            identifier: row.number(columns.identifier)?,
            process,
            tid,
        };
        Ok(RowValues {
            start: Some(start),
            duration: row.number(columns.duration)?,
            identity,
            kind: row.text(columns.kind)?,
            scope: row.text(columns.scope)?,
            message: row.text(columns.message)?,
            severity: row.text(columns.severity)?,
        })
    }
}
