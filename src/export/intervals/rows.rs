//! Rows of one table, from cells to intervals.

use std::sync::Arc;

use super::super::RejectReason;
use super::super::definitions::parse_number;
use super::pairs::{Event, Identity, Pairs};
use super::{Interval, IntervalOrigin, IntervalTable, Intervals, LoneEnd};
use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};
use crate::units::Nanos;

/// What an element stands for.
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

/// A process: the number of its name's text, and its pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessCell {
    pub(super) name: u32,
    pub(super) pid: Option<u64>,
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

    /// Whether it is a number, or is marked as having none.
    pub(super) fn is_number_or_absent(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Absent)
    }

    pub(super) fn as_process(&self) -> Option<ProcessCell> {
        if let Self::Process(process) = *self { Some(process) } else { None }
    }
}

/// Texts, each once, and the threads of a document.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    threads: Vec<ThreadCell>,
    /// Of all texts together.
    bytes: u64,
}

impl Texts {
    /// About how many bytes they take.
    pub(super) fn memory(&self) -> u64 {
        self.bytes + of_vec(&self.all) + of_map(&self.numbers) + of_vec(&self.threads)
    }

    /// The cell of a text.
    pub(super) fn add(&mut self, text: &str) -> Cell {
        Cell::Text(self.number_of(text))
    }

    /// The number of a text. There are fewer texts than bytes of input that fit in memory four times.
    pub(super) fn number_of(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let text: Arc<str> = text.into();
        let number = self.all.len() as u32;
        self.bytes += text.len() as u64 + 2 * size_of::<usize>() as u64;
        self.all.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The cell of a thread.
    pub(super) fn add_thread(&mut self, thread: ThreadCell) -> Cell {
        self.threads.push(thread);
        Cell::Thread(self.threads.len() as u32 - 1)
    }

    /// Threads are those of a document.
    pub(super) fn forget_threads(&mut self) {
        self.threads.clear();
    }

    fn text(&self, number: u32) -> Arc<str> {
        self.all[number as usize].clone()
    }
}

/// Which column holds what, by index.
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
    event_type: Option<usize>,
    scope: Option<usize>,
    hang_type: Option<usize>,
}

impl Columns {
    fn of(mnemonics: &[String]) -> Self {
        let mut columns = Self { count: mnemonics.len(), ..Self::default() };
        for (index, mnemonic) in mnemonics.iter().enumerate() {
            let role = match mnemonic.as_str() {
                "start" | "time" => &mut columns.start,
                "duration" => &mut columns.duration,
                "name" => &mut columns.name,
                "subsystem" => &mut columns.subsystem,
                "category" => &mut columns.category,
                "identifier" => &mut columns.identifier,
                "process" => &mut columns.process,
                "thread" | "start-thread" => &mut columns.thread,
                "event-type" => &mut columns.event_type,
                "scope" => &mut columns.scope,
                "hang-type" => &mut columns.hang_type,
                _ => continue,
            };
            role.get_or_insert(index);
        }
        columns
    }

    /// The columns without which rows of a table say nothing.
    fn needed(&self, origin: IntervalOrigin) -> Vec<(&'static str, Option<usize>)> {
        match origin {
            IntervalOrigin::Signpost => vec![("start", self.start), ("duration", self.duration), ("name", self.name)],
            IntervalOrigin::SignpostEvents => {
                vec![("time", self.start), ("event-type", self.event_type), ("name", self.name)]
            }
            IntervalOrigin::Hang => vec![("start", self.start), ("duration", self.duration)],
        }
    }
}

/// The cells of a row, by role.
struct Row<'r> {
    cells: &'r [Cell],
    texts: &'r Texts,
}

impl Row<'_> {
    fn cell(&self, column: Option<usize>) -> Cell {
        column.and_then(|column| self.cells.get(column)).copied().unwrap_or(Cell::Absent)
    }

    fn number(&self, column: Option<usize>) -> Result<Option<u64>, RejectReason> {
        match self.cell(column) {
            Cell::Absent => Ok(None),
            Cell::Number(number) => Ok(Some(number)),
            // Of an element that this version knows as one of words.
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

    /// Process and thread of the row; the thread's process stands in for one that is absent.
    fn owner(&self, columns: &Columns) -> Result<(Option<ProcessCell>, Option<u64>), RejectReason> {
        let thread = match self.cell(columns.thread) {
            Cell::Absent => None,
            Cell::Thread(index) => Some(self.texts.threads[index as usize]),
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
    pub(super) table: IntervalTable,
    /// `None` for a table without intervals.
    origin: Option<IntervalOrigin>,
    columns: Columns,
    missing: Option<&'static str>,
    intervals: Vec<Interval>,
    pairs: Pairs,
}

impl TableRows {
    /// About how many bytes they take.
    pub(super) fn memory(&self) -> u64 {
        of_vec(&self.intervals) + self.pairs.memory()
    }

    pub(super) fn new(table: IntervalTable) -> Self {
        Self {
            table,
            origin: None,
            columns: Columns::default(),
            missing: None,
            intervals: Vec::new(),
            pairs: Pairs::default(),
        }
    }

    /// Says which columns the table has; its schema is known.
    pub(super) fn set_columns(&mut self, mnemonics: &[String]) {
        let origin = match self.table.schema.as_str() {
            "os-signpost-interval" => IntervalOrigin::Signpost,
            "os-signpost" => IntervalOrigin::SignpostEvents,
            "potential-hangs" => IntervalOrigin::Hang,
            _ => return,
        };
        self.origin = Some(origin);
        self.columns = Columns::of(mnemonics);
        let needed = self.columns.needed(origin);
        self.missing = needed.into_iter().find(|(_, column)| column.is_none()).map(|(name, _)| name);
    }

    /// Whether its rows are read.
    pub(super) fn has_intervals(&self) -> bool {
        self.origin.is_some()
    }

    /// Adds a row, which started at the byte `at`, or counts it as rejected.
    pub(super) fn add(&mut self, cells: &[Cell], texts: &Texts, at: u64) -> Result<(), RejectReason> {
        let result = self.read(&Row { cells, texts }, at);
        match result {
            Ok(()) => self.table.rows += 1,
            Err(reason) => self.reject(reason),
        }
        result
    }

    /// Counts a row that could not be read.
    pub(super) fn reject(&mut self, reason: RejectReason) {
        self.table.rows += 1;
        self.table.rejected.add(reason);
    }

    /// What to say of a row that was rejected: one topic, and one sentence.
    pub(super) fn describe(&self, reason: RejectReason) -> (&'static str, String) {
        let schema = &self.table.schema;
        let text = match (reason, self.missing) {
            (RejectReason::MissingColumn, Some(column)) => {
                format!("row of {schema} rejected: the schema has no column {column}")
            }
            _ => format!("row of {schema} rejected: {reason}"),
        };
        (reason.name(), text)
    }

    fn read(&mut self, row: &Row<'_>, at: u64) -> Result<(), RejectReason> {
        let (Some(origin), columns) = (self.origin, self.columns) else { return Ok(()) };
        if self.missing.is_some() {
            return Err(RejectReason::MissingColumn);
        }
        if row.cells.len() != columns.count {
            return Err(RejectReason::CellCount);
        }
        let start = row.number(columns.start)?.ok_or(RejectReason::NoTime)?;
        let (process, tid) = row.owner(&columns)?;
        let text = |text: Option<u32>| text.map(|text| row.texts.text(text));
        let identity = Identity {
            name: row.text(columns.name)?,
            subsystem: row.text(columns.subsystem)?,
            category: row.text(columns.category)?,
            identifier: row.number(columns.identifier)?,
            process,
            tid,
        };
        if origin == IntervalOrigin::SignpostEvents {
            let kind = text(row.text(columns.event_type)?).ok_or(RejectReason::WrongType)?;
            let scope = text(row.text(columns.scope)?);
            let event = Event { time: start, at, identity };
            return self.pairs.add(event, &kind, scope.as_deref()).then_some(()).ok_or(RejectReason::WrongType);
        }
        // Without a length it was not over when the recording was.
        let end = match row.number(columns.duration)? {
            Some(duration) => Some(start.checked_add(duration).ok_or(RejectReason::BadNumber)?),
            None => None,
        };
        let hang_type = if origin == IntervalOrigin::Hang { text(row.text(columns.hang_type)?) } else { None };
        self.table.used += 1;
        self.push(origin, (start, end), &identity, hang_type, row.texts);
        Ok(())
    }

    fn push(
        &mut self,
        origin: IntervalOrigin,
        (start, end): (u64, Option<u64>),
        identity: &Identity,
        hang_type: Option<Arc<str>>,
        texts: &Texts,
    ) {
        let text = |text: Option<u32>| text.map(|text| texts.text(text));
        self.intervals.push(Interval {
            origin,
            run: self.table.run,
            start: Nanos::from_nanos(start),
            end: end.map(Nanos::from_nanos),
            name: text(identity.name),
            subsystem: text(identity.subsystem),
            category: text(identity.category),
            identifier: identity.identifier,
            process: text(identity.process.map(|process| process.name)),
            pid: identity.process.and_then(|process| process.pid),
            tid: identity.tid,
            hang_type,
        });
    }

    /// Ends the table: what it has is added to `found`.
    pub(super) fn finish(mut self, texts: &Texts, found: &mut Intervals) {
        let paired = std::mem::take(&mut self.pairs).finish();
        for (identity, start, end) in &paired.intervals {
            self.table.used += if end.is_some() { 2 } else { 1 };
            self.push(IntervalOrigin::SignpostEvents, (*start, *end), identity, None, texts);
        }
        self.table.unused += paired.points + paired.lone_ends.len() as u64;
        let run = self.table.run;
        found.lone_ends.extend(paired.lone_ends.iter().map(|event| LoneEnd {
            run,
            time: Nanos::from_nanos(event.time),
            name: event.identity.name.map(|name| texts.text(name)),
        }));
        found.intervals.append(&mut self.intervals);
        found.tables.push(self.table);
    }
}
