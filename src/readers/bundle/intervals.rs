//! Rows of signposts, hangs and hang risks: `os-signpost-interval`, `os-signpost`, `region-of-interest`, `potential-hangs` and
//! `hang-risks`.
//!
//! Each row is read for the fields that identify intervals: times, name, subsystem, category, identifier, process and thread; a hang also
//! for its type, a hang risk for its message. The code for exports decides which intervals they make.

use super::damage::{RowPosition, Unreadable};
use super::file::{broken_at, over_budget};
use super::layout::{Layout, Place, RunTable};
use super::narratives::Narratives;
use super::rows::Rows;
use super::run_data::RunData;
use super::strings::Strings;
use super::threads::{self, Identity, Names, string_number};
use super::uniquer::{Arrays, reference};
use crate::error::{Diagnostic, Error};
use crate::files::Files;
use crate::hash::HashMap;
use crate::memory::{Reservation, of_map};
use crate::recording::{
    IntervalTable, Intervals, Notes, ProcessCell, ROLES, Role, RowKind, RowValues, SignpostIdentity, TableValues,
    Texts, Wanted,
};

/// The things that rows of a run refer to.
#[derive(Clone, Copy)]
pub(super) struct IntervalSources<'a> {
    pub(super) arrays: &'a Arrays,
    pub(super) strings: &'a Strings<'a>,
    pub(super) names: &'a Names<'a>,
    pub(super) recorded: &'a RunData,
    /// The parts that messages are made of, if a table has some.
    pub(super) narratives: Option<&'a Narratives>,
}

/// Reads rows with what they refer to.
pub(super) struct IntervalReader<'a> {
    sources: IntervalSources<'a>,
    texts: Texts,
    /// The numbers of texts, by the number of the string.
    known_strings: HashMap<u64, u32>,
    /// The numbers of texts, by the number of the message.
    known_messages: HashMap<u64, u32>,
    notes: Notes,
    /// The memory that all tables of the run take.
    reserved: Reservation,
}

impl<'a> IntervalReader<'a> {
    /// A reader of a run; `reserved` takes the memory that is needed.
    pub(super) fn new(sources: IntervalSources<'a>, reserved: Reservation) -> Self {
        let (known_strings, known_messages) = (HashMap::default(), HashMap::default());
        Self { sources, texts: Texts::default(), known_strings, known_messages, notes: Notes::default(), reserved }
    }

    /// Adds the rows of a table to `found`. Returns notes about the table.
    pub(super) fn read(
        &mut self,
        files: &dyn Files,
        table: &RunTable,
        columns: &IntervalColumns,
        counts: IntervalTable,
        found: &mut Intervals,
    ) -> Result<Vec<Diagnostic>, Error> {
        let RunTable { layout, folder, .. } = table;
        let store = folder.join("bulkstore");
        let mut values = TableValues::new(counts, columns.kind);
        let mut rows = Rows::open(files, folder, layout)?;
        while let Some((piece, start)) = rows.next()? {
            for (row, index) in piece.chunks_exact(layout.row_size).zip(0_u64..) {
                let at = start + index * layout.row_size as u64;
                let position = RowPosition { store: &store, at };
                let read = self.values(row, columns, position);
                let read = read.map_err(|fault| broken_at(&store, at, "row", fault.rule()))?;
                if let Err(reason) = values.add(&read, &self.texts, at) {
                    position.note(&mut self.notes, reason.name(), || format!("row rejected: {reason}"));
                }
            }
            let known = of_map(&self.known_strings) + of_map(&self.known_messages) + self.texts.memory();
            let taken = known + values.memory() + found.memory();
            self.reserved.resize(taken).map_err(|over| over_budget(&store, over))?;
        }
        values.finish(&self.texts, found);
        Ok(rows.diagnostic().into_iter().chain(self.notes.take()).collect())
    }

    fn values(
        &mut self,
        row: &[u8],
        columns: &IntervalColumns,
        position: RowPosition<'_>,
    ) -> Result<RowValues, Unreadable> {
        let thread = columns.value(Role::Thread, row).and_then(reference);
        let thread = thread.map(|number| self.thread(number)).transpose()?;
        // As in exports, a missing process is replaced by the thread's process.
        let process = columns.value(Role::Process, row).and_then(reference);
        let process = process.or(thread.map(|(_, process)| process));
        let process = process.map(|number| self.process(number, position)).transpose()?;
        let identity = SignpostIdentity {
            name: self.string(columns.find(Role::Name, row))?,
            subsystem: self.string(columns.find(Role::Subsystem, row))?,
            category: self.string(columns.find(Role::Category, row))?,
            identifier: columns.value(Role::Identifier, row),
            process,
            tid: thread.map(|(tid, _)| tid),
        };
        Ok(RowValues {
            start: columns.value(Role::Start, row),
            duration: columns.value(Role::Duration, row),
            identity,
            kind: self.string(columns.find(Role::Kind, row))?,
            scope: self.string(columns.find(Role::Scope, row))?,
            message: columns.value(Role::Message, row).map(|number| self.message(number)).transpose()?,
            severity: self.string(columns.find(Role::Severity, row))?,
        })
    }

    /// The number of a thread, and the array of its process, which must be one.
    fn thread(&self, number: u32) -> Result<(u64, u32), Unreadable> {
        let IntervalSources { arrays, strings, .. } = self.sources;
        let (tid, process) = threads::thread(arrays, number)?;
        threads::pid(arrays, strings, process)?;
        Ok((tid, process))
    }

    fn process(&mut self, number: u32, position: RowPosition<'_>) -> Result<ProcessCell, Unreadable> {
        let IntervalSources { arrays, names, recorded, .. } = self.sources;
        let process = Identity::process(number, arrays, names, recorded)?;
        if let Some(odd) = process.odd {
            position.note(&mut self.notes, odd.topic(), || odd.to_string());
        }
        Ok(ProcessCell { name: self.texts.number_of(process.name), pid: Some(process.number) })
    }

    /// The text of a column of strings.
    fn string(&mut self, cell: Option<(Place, u64)>) -> Result<Option<u32>, Unreadable> {
        let Some((place, value)) = cell else { return Ok(None) };
        let number = string_number(place, value);
        if let Some(&known) = self.known_strings.get(&number) {
            return Ok(Some(known));
        }
        let text = self.texts.number_of(self.sources.strings.get(number)?);
        self.known_strings.insert(number, text);
        Ok(Some(text))
    }

    /// The text of a column of messages.
    fn message(&mut self, number: u64) -> Result<u32, Unreadable> {
        if let Some(&known) = self.known_messages.get(&number) {
            return Ok(known);
        }
        let Some(narratives) = self.sources.narratives else {
            return Err("it has a message, but there are no typed arrays".to_owned().into());
        };
        let text = narratives.text(number, "", self.sources.strings)?;
        let text = self.texts.number_of(&text);
        self.known_messages.insert(number, text);
        Ok(text)
    }
}

/// The places of a row's parts.
#[derive(Clone, Debug)]
pub(super) struct IntervalColumns {
    pub(super) kind: RowKind,
    /// By role.
    places: [Option<Place>; ROLES],
    /// The reasons why parts are absent from every row.
    pub(super) unread: Vec<String>,
}

impl IntervalColumns {
    /// The columns of a table, or the reason why its rows cannot be used.
    pub(super) fn of(layout: &Layout) -> Result<Self, String> {
        let kind = RowKind::of_schema(&layout.schema.name).ok_or("its rows are not intervals")?;
        let mut columns = Self { kind, places: [None; ROLES], unread: Vec::new() };
        for Wanted { role, mnemonic, types, is_needed } in kind.wanted() {
            match layout.typed_column(mnemonic, types) {
                Ok(place) => columns.places[*role as usize] = Some(place),
                Err(reason) if *is_needed => return Err(reason),
                Err(reason) => columns.unread.push(reason),
            }
        }
        Ok(columns)
    }

    /// The place of a part in a row, and its value, unless it is absent.
    pub(super) fn find(&self, role: Role, row: &[u8]) -> Option<(Place, u64)> {
        let place = self.places[role as usize]?;
        Some((place, place.value(row)?))
    }

    /// The value of a part of a row.
    pub(super) fn value(&self, role: Role, row: &[u8]) -> Option<u64> {
        Some(self.find(role, row)?.1)
    }
}
