//! Converts table rows to intervals, hangs and hang risks.

use super::{Cell, ColumnKind, RowValues, TableHead, TableVisitor};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::memory::{MemoryBudget, Reservation};
use crate::recording::RowValues as IntervalValues;
use crate::recording::{
    IntervalTable, Intervals, ProcessCell, ROLES, RejectReason, Rejected, Role, Row, RowKind, SignpostIdentity,
    TableValues, Texts, Wanted,
};

/// Collects the intervals of one input.
#[derive(Debug)]
pub(crate) struct IntervalVisitor<'i> {
    input: &'i str,
    /// True if the rows of every table with a start and a duration are intervals.
    is_of_all: bool,
    /// True for a recording, whose tables have all their columns. An export may omit some.
    is_recording: bool,
    texts: Texts,
    /// Complete tables with their kind.
    tables: Vec<(RowKind, TableValues)>,
    open: Option<OpenTable>,
    diagnostics: Vec<Diagnostic>,
    reserved: Reservation,
}

/// A table whose rows are being read.
#[derive(Debug)]
struct OpenTable {
    kind: RowKind,
    /// Indexed by role.
    columns: [Option<usize>; ROLES],
    /// A required column that is missing or has another kind, which makes the rows useless.
    missing: Option<&'static str>,
    values: TableValues,
    rows: u64,
}

impl<'i> IntervalVisitor<'i> {
    /// Collects signposts, hangs and hang risks of an export and, if `is_of_all`, the rows of all tables with a start and a duration.
    pub(crate) fn new(input: &'i str, is_of_all: bool, memory: &MemoryBudget) -> Self {
        let (texts, tables, open, diagnostics) = (Texts::default(), Vec::new(), None, Vec::new());
        Self { input, is_of_all, is_recording: false, texts, tables, open, diagnostics, reserved: memory.nothing() }
    }

    fn kind(&self, table: &TableHead) -> Option<RowKind> {
        let is_interval = || {
            let is = |column: Option<usize>, kind| column.is_some_and(|column| table.columns[column].kind == kind);
            let is_start = is(table.column("start"), ColumnKind::Time);
            self.is_of_all && is_start && is(duration_column(table), ColumnKind::Duration)
        };
        RowKind::of_schema(&table.schema).or_else(|| is_interval().then_some(RowKind::Table))
    }

    /// Like [`new`](Self::new), for a recording.
    #[cfg(feature = "bundle")]
    pub(crate) fn of_recording(input: &'i str, is_of_all: bool, memory: &MemoryBudget) -> Self {
        Self { is_recording: true, ..Self::new(input, is_of_all, memory) }
    }

    /// Returns everything that was found: in document order for an export, and by run and kind of table for a recording.
    pub(crate) fn finish(mut self) -> Intervals {
        if self.is_recording {
            self.tables.sort_by_key(|(kind, values)| (values.table.run, *kind));
        }
        let mut found = Intervals { diagnostics: self.diagnostics, ..Intervals::default() };
        for (_, values) in self.tables {
            values.finish(&self.texts, &mut found);
        }
        found
    }
}

/// Returns the columns of a table by role, and the first required column that is missing.
fn columns(kind: RowKind, head: &TableHead, is_recording: bool) -> ([Option<usize>; ROLES], Option<&'static str>) {
    let (mut found, mut missing) = ([None; ROLES], None);
    for wanted in kind.wanted() {
        let column = match wanted.role {
            // Tables with unknown schemas have one or the other. In those with known schemas, no column can replace a missing one.
            Role::Thread if kind == RowKind::Table => head.column("start-thread").or_else(|| head.column("thread")),
            Role::Duration if kind == RowKind::Table => duration_column(head),
            _ => head.column(wanted.mnemonic),
        };
        let fits = column.is_none_or(|column| is_of_kind(wanted.role, head.columns[column].kind));
        found[wanted.role as usize] = column.filter(|_| fits);
        // Exports with few columns pair events by the columns that they have. An unreadable column is a different problem.
        let is_pairing = !is_recording
            && kind == RowKind::SignpostEvent
            && !matches!(wanted.role, Role::Start | Role::Kind | Role::Name);
        let is_lost = if is_pairing { !fits } else { !fits || column.is_none() };
        if is_lost && wanted.is_needed {
            missing = missing.or(Some(wanted.mnemonic));
        }
    }
    if kind == RowKind::Table {
        let named = |mnemonic| head.column(mnemonic).filter(|column| head.columns[*column].kind == ColumnKind::Named);
        found[Role::Name as usize] = name_column(head, is_recording);
        found[Role::Identifier as usize] = named("task");
        found[Role::Category as usize] = named("priority");
    }
    (found, missing)
}

/// The column with durations. Core Data tables have a `fetch-duration`, `fault-duration` and so on.
fn duration_column(head: &TableHead) -> Option<usize> {
    let is_other = |&column: &usize| head.columns[column].mnemonic.ends_with("-duration");
    let mut others = (0..head.columns.len()).filter(is_other);
    head.column("duration").or_else(|| others.next().filter(|_| others.next().is_none()))
}

/// The column that names intervals in a table with an unknown schema.
fn name_column(head: &TableHead, is_recording: bool) -> Option<usize> {
    let is_text = |column: &usize| match head.columns[*column].kind {
        ColumnKind::Text | ColumnKind::Named => true,
        // Bundles store strings of unknown types as numbers, which are useless as names.
        kind => kind == ColumnKind::Unknown && !is_recording,
    };
    let is = |column: &usize, name: &str| {
        let column = &head.columns[*column];
        column.mnemonic == name || (name == "state" && column.engineering_type.ends_with("-state"))
    };
    NAMES.iter().find_map(|name| (0..head.columns.len()).find(|column| is(column, name) && is_text(column)))
}

/// Name columns of tables with unknown schemas, in order of preference. All GPU work has the state `Active`, so the channel comes before the
/// state. `state` matches every column whose type is a state.
const NAMES: [&str; 18] = [
    "name",
    "channel-name",
    "narrative-description",
    "interval-type",
    "syscall",
    "operation",
    "state",
    "tool-name",
    "host",
    "view-name",
    "update-type",
    "transition",
    "class",
    "period",
    "path",
    "description",
    "label",
    "task",
];

/// Columns in this list that may label single rows. If nearly every row differs, they are not names.
const LABELS: [&str; 4] = ["name", "description", "label", "task"];

/// Reports the columns that a recording's table lacks or that have another type.
fn unread_columns(kind: RowKind, head: &TableHead) -> impl Iterator<Item = Diagnostic> {
    let (found, _) = columns(kind, head, true);
    // Many tables with unknown schemas have no process or thread, which is not worth reporting.
    let is_expected = move |wanted: &Wanted| kind != RowKind::Table || head.column(wanted.mnemonic).is_some();
    let is_unread = move |wanted: &&Wanted| found[wanted.role as usize].is_none() && is_expected(wanted);
    kind.wanted().iter().filter(is_unread).map(move |Wanted { mnemonic, is_needed, .. }| {
        let why = match head.column(mnemonic).map(|column| &head.columns[column].engineering_type) {
            Some(other) => format!("its column {mnemonic} has type {other}, which this version cannot read"),
            None => format!("it has no column {mnemonic}"),
        };
        let cost = if *is_needed { "; its rows are not read" } else { "" };
        Diagnostic::new(format!("{}: {} of run {}: {why}{cost}", head.folder, head.schema, head.run))
    })
}

/// True if a column of this kind can have this role. For unknown types, each cell decides.
fn is_of_kind(role: Role, kind: ColumnKind) -> bool {
    let expected = match role {
        Role::Start => ColumnKind::Time,
        Role::Duration => ColumnKind::Duration,
        Role::Identifier => ColumnKind::Number,
        Role::Process => ColumnKind::Process,
        Role::Thread => ColumnKind::Thread,
        _ => ColumnKind::Text,
    };
    kind == expected || kind == ColumnKind::Unknown
}

impl TableVisitor for IntervalVisitor<'_> {
    fn wants(&self, table: &TableHead) -> bool {
        // No export of regions is known, so neither is the spelling of their class. Each region is also two rows of `os-signpost`.
        self.kind(table).is_some_and(|kind| self.is_recording || kind != RowKind::Region)
    }

    fn wanted_columns(&self, table: &TableHead) -> Vec<bool> {
        let found = self.kind(table).map_or([None; ROLES], |kind| columns(kind, table, self.is_recording).0);
        (0..table.columns.len()).map(|column| found.contains(&Some(column))).collect()
    }

    fn needs(&self, element: &str) -> bool {
        // CPU tables share only threads and processes with other tables.
        let is_of_samples = matches!(
            element,
            "frame"
                | "backtrace"
                | "tagged-backtrace"
                | "text-backtrace"
                | "binary"
                | "source"
                | "path"
                | "kperf-bt"
                | "text-address"
                | "text-addresses"
                | "sample-time"
                | "weight"
                | "cycle-weight"
                | "core"
                | "thread-state"
                | "pmc-event"
                | "pmc-events"
        );
        (self.is_of_all && !is_of_samples)
            || matches!(
                element,
                "start-time"
                    | "event-time"
                    | "duration"
                    | "os-signpost-identifier"
                    | "tid"
                    | "pid"
                    | "process"
                    | "thread"
                    | "string"
                    | "signpost-name"
                    | "subsystem"
                    | "category"
                    | "event-type"
                    | "hang-type"
                    | "short-string"
                    | "narrative"
            )
    }

    fn start(&mut self, table: &TableHead) {
        let Some(kind) = self.kind(table) else { return };
        let (input, schema) = (self.input.to_owned(), table.schema.clone());
        let (run, position) = (table.run, table.position);
        let counts = IntervalTable { input, run, schema, position, ..IntervalTable::default() };
        let (columns, missing) = columns(kind, table, self.is_recording);
        if self.is_recording {
            self.diagnostics.extend(unread_columns(kind, table));
        }
        let name = columns[Role::Name as usize].filter(|_| kind == RowKind::Table);
        let has_labels = name.is_some_and(|name| LABELS.contains(&table.columns[name].mnemonic.as_str()));
        let values = TableValues::new(counts, kind, has_labels);
        self.open = Some(OpenTable { kind, columns, missing, values, rows: 0 });
    }

    fn row(&mut self, cells: &[Cell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        let Some(table) = &mut self.open else { return Ok(Ok(None)) };
        table.rows += 1;
        if table.missing.is_some() {
            return Ok(Err(RejectReason::MissingColumn));
        }
        if table.rows.is_multiple_of(1 << 12) {
            let taken = self.texts.memory() + table.values.memory();
            let complete: u64 = self.tables.iter().map(|(_, values)| values.memory()).sum();
            self.reserved.resize(taken + complete).map_err(|over| Error::memory(over, None))?;
        }
        let row = IntervalRow { columns: &table.columns, cells, values, texts: &mut self.texts };
        let added = row.read().and_then(|read| table.values.add(&read, &self.texts, table.rows));
        Ok(added.map(|()| None))
    }

    fn end(&mut self, rows: u64, rejected: &Rejected) {
        let Some(mut table) = self.open.take() else { return };
        (table.values.table.rows, table.values.table.rejected) = (rows, *rejected);
        self.tables.push((table.kind, table.values));
    }

    fn unreadable(&mut self, table: &TableHead, rows: Option<u64>, error: Error) -> Result<(), Error> {
        self.open = None;
        let is_damage = matches!(error.kind, ErrorKind::BrokenBundle { .. });
        match rows {
            // Reported when the recording was opened.
            None => Ok(()),
            // Intervals are correct even without hang risks.
            Some(_) if is_damage && self.kind(table) == Some(RowKind::HangRisk) => {
                self.diagnostics.push(Diagnostic::new(format!("left out: {error}")));
                Ok(())
            }
            Some(_) => Err(error),
        }
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn describe(&self, reason: RejectReason) -> String {
        let Some(table) = &self.open else { return reason.to_string() };
        let schema = &table.values.table.schema;
        match (reason, table.missing) {
            (RejectReason::MissingColumn, Some(column)) => {
                format!("row of {schema} rejected: the schema has no column {column} that can be read")
            }
            _ => format!("row of {schema} rejected: {reason}"),
        }
    }
}

/// A row whose cells are looked up by role.
struct IntervalRow<'r> {
    columns: &'r [Option<usize>; ROLES],
    cells: &'r [Cell],
    values: &'r RowValues<'r>,
    texts: &'r mut Texts,
}

impl IntervalRow<'_> {
    fn read(mut self) -> Result<IntervalValues, RejectReason> {
        let start = self.number(Role::Start)?.ok_or(RejectReason::NoTime)?;
        let (process, tid) = self.owner()?;
        let identity = SignpostIdentity {
            name: self.text(Role::Name)?,
            subsystem: self.text(Role::Subsystem)?,
            category: self.text(Role::Category)?,
            identifier: self.number(Role::Identifier)?,
            process,
            tid,
        };
        Ok(IntervalValues {
            start: Some(start),
            duration: self.number(Role::Duration)?,
            identity,
            kind: self.text(Role::Kind)?,
            scope: self.text(Role::Scope)?,
            message: self.text(Role::Message)?,
            severity: self.text(Role::Severity)?,
        })
    }

    fn cell(&self, role: Role) -> Cell {
        self.columns[role as usize].and_then(|column| self.cells.get(column)).copied().unwrap_or_default()
    }

    fn number(&self, role: Role) -> Result<Option<u64>, RejectReason> {
        match self.cell(role) {
            Cell::None => Ok(None),
            Cell::Number(number) | Cell::Named(number, _) => Ok(Some(number)),
            Cell::Text(_) => Err(RejectReason::BadNumber),
            _ => Err(RejectReason::WrongType),
        }
    }

    fn text(&mut self, role: Role) -> Result<Option<u32>, RejectReason> {
        match self.cell(role) {
            Cell::None => Ok(None),
            Cell::Text(text) => Ok(Some(self.texts.number_of(self.values.text(text)))),
            // A task is named by its function: `0x229fdcf57 (408)`, without the number.
            Cell::Named(number, text) if role == Role::Name => {
                let text = self.values.text(text);
                Ok(Some(self.texts.number_of(text.strip_suffix(&format!(" ({number})")).unwrap_or(text))))
            }
            Cell::Named(_, text) => Ok(Some(self.texts.number_of(self.values.text(text)))),
            // A name of only digits.
            Cell::Number(number) => Ok(Some(self.texts.number_of(&number.to_string()))),
            _ => Err(RejectReason::WrongType),
        }
    }

    /// The process and thread of the row. A missing process is taken from the thread.
    fn owner(&mut self) -> Result<(Option<ProcessCell>, Option<u64>), RejectReason> {
        let thread = match self.cell(Role::Thread) {
            Cell::None => None,
            Cell::Thread(index) => Some(self.values.thread(index)),
            _ => return Err(RejectReason::WrongType),
        };
        let process = match self.cell(Role::Process) {
            Cell::None => thread.and_then(|thread| thread.process),
            Cell::Process(index) => Some(self.values.process(index)),
            _ => return Err(RejectReason::WrongType),
        };
        let process = process.map(|process| ProcessCell { name: self.texts.number_of(process.name), pid: process.pid });
        Ok((process, thread.and_then(|thread| thread.tid)))
    }
}
