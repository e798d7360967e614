//! Rows of one table of an export, from cells to values.

use super::super::attributes::parse_number;
use crate::recording::{
    Column, IntervalTable, ProcessCell, ROLES, RejectReason, Role, RowKind, RowValues, SignpostIdentity as Identity,
    TableValues, Texts,
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

/// The columns by their roles, each by its index.
#[derive(Clone, Copy, Debug)]
struct Columns([Option<usize>; ROLES]);

impl Columns {
    /// The columns of a table, and the first one that rows need and that is missing.
    fn of(kind: RowKind, columns: &[Column]) -> (Self, Option<&'static str>) {
        let find = |name: &str| columns.iter().position(|column| column.mnemonic == name);
        let (mut found, mut missing) = (Self([None; ROLES]), None);
        for wanted in kind.wanted() {
            let index = match wanted.role {
                Role::Thread => find("start-thread").or_else(|| find("thread")),
                _ => find(wanted.mnemonic),
            };
            // Exports of a few columns are paired by what they have.
            let is_pairing =
                kind == RowKind::SignpostEvent && !matches!(wanted.role, Role::Start | Role::Kind | Role::Name);
            if index.is_none() && wanted.is_needed && !is_pairing {
                missing = missing.or(Some(wanted.mnemonic));
            }
            found.0[wanted.role as usize] = index;
        }
        (found, missing)
    }
}

/// The cells of a row, by role.
struct Row<'r> {
    columns: &'r Columns,
    cells: &'r [Cell],
    texts: &'r Texts,
    threads: &'r [ThreadCell],
}

impl Row<'_> {
    fn cell(&self, role: Role) -> Cell {
        self.columns.0[role as usize].and_then(|column| self.cells.get(column)).copied().unwrap_or(Cell::Absent)
    }

    fn number(&self, role: Role) -> Result<Option<u64>, RejectReason> {
        match self.cell(role) {
            Cell::Absent => Ok(None),
            Cell::Number(number) => Ok(Some(number)),
            // The number may be in an element that this version reads as words.
            Cell::Text(text) => parse_number(&self.texts.text(text)).map(Some).ok_or(RejectReason::BadNumber),
            Cell::Bad(reason) => Err(reason),
            _ => Err(RejectReason::WrongType),
        }
    }

    fn text(&self, role: Role) -> Result<Option<u32>, RejectReason> {
        match self.cell(role) {
            Cell::Absent => Ok(None),
            Cell::Text(text) => Ok(Some(text)),
            Cell::Bad(reason) => Err(reason),
            _ => Err(RejectReason::WrongType),
        }
    }

    /// The process and thread of the row. A missing process is replaced by the thread's process.
    fn owner(&self) -> Result<(Option<ProcessCell>, Option<u64>), RejectReason> {
        let thread = match self.cell(Role::Thread) {
            Cell::Absent => None,
            Cell::Thread(index) => Some(self.threads[index as usize]),
            Cell::Bad(reason) => return Err(reason),
            _ => return Err(RejectReason::WrongType),
        };
        let process = match self.cell(Role::Process) {
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
    column_count: usize,
    missing: Option<&'static str>,
    pub(super) values: TableValues,
}

impl TableRows {
    /// A table with these columns; `None` for tables without intervals and hangs.
    pub(super) fn new(table: IntervalTable, columns: &[Column]) -> Option<Self> {
        // There is no known export of regions, so the spelling of their class is unknown. Each region is also two rows of `os-signpost`.
        let kind = RowKind::of_schema(&table.schema).filter(|&kind| kind != RowKind::Region)?;
        let (found, missing) = Columns::of(kind, columns);
        let values = TableValues::new(table, kind);
        Some(Self { columns: found, column_count: columns.len(), missing, values })
    }

    /// Adds a row, which started at the byte `at`, or counts it as rejected.
    pub(super) fn add(
        &mut self,
        cells: &[Cell],
        texts: &Texts,
        threads: &[ThreadCell],
        at: u64,
    ) -> Result<(), RejectReason> {
        match self.read(&Row { columns: &self.columns, cells, texts, threads }) {
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
        if self.missing.is_some() {
            return Err(RejectReason::MissingColumn);
        }
        if row.cells.len() != self.column_count {
            return Err(RejectReason::CellCount);
        }
        let start = row.number(Role::Start)?.ok_or(RejectReason::NoTime)?;
        let (process, tid) = row.owner()?;
        let identity = Identity {
            name: row.text(Role::Name)?,
            subsystem: row.text(Role::Subsystem)?,
            category: row.text(Role::Category)?,
            identifier: row.number(Role::Identifier)?,
            process,
            tid,
        };
        Ok(RowValues {
            start: Some(start),
            duration: row.number(Role::Duration)?,
            identity,
            kind: row.text(Role::Kind)?,
            scope: row.text(Role::Scope)?,
            message: row.text(Role::Message)?,
            severity: row.text(Role::Severity)?,
        })
    }
}
