//! Reads all columns of the rows of any table.

use super::damage::{RowPosition, Unreadable};
use super::engineering_types::{Storage, exported_type, fixed_point, kind, storage};
use super::file::{Room, broken_at, broken_file, over_budget};
use super::layout::{Layout, Place, RunTable};
use super::narratives::Narratives;
use super::rows::Rows;
use super::schema::SchemaColumn;
use super::sorted_rows::for_each_by_time;
use super::stacks::{StackCell, Stacks};
use super::strings::Strings;
use super::threads::{Odd, Threads, string_number};
use super::uniquer::{Arrays, NONE, reference};
use crate::error::Error;
use crate::files::{Files, shown};
use std::collections::hash_map::Entry;

use crate::hash::HashMap;
use crate::memory::of_map;
use crate::profile::StringId;
use crate::recording::{Column, InputBuilder, Notes, RejectReason, Rejected};
use crate::tables::{Cell, RowValues, TableHead, TableVisitor};
use crate::units::Uuid;

/// Reads rows and the values that they refer to.
pub(super) struct TableReader<'a, 't> {
    pub(super) arrays: &'a Arrays,
    pub(super) strings: &'a Strings<'a>,
    pub(super) threads: Threads<'a>,
    pub(super) stacks: Stacks<'a, 't>,
    /// The parts of messages, if a table has messages.
    pub(super) narratives: Option<&'a Narratives>,
    /// The path of `form.template`, which contains the image lists.
    pub(super) template: &'a std::path::Path,
    /// Keyed by the index of a string or typed array.
    pub(super) known_strings: HashMap<u64, StringId>,
    pub(super) known_messages: HashMap<(u64, bool), StringId>,
    /// Keyed by the index of the array.
    pub(super) known_numbers: HashMap<u32, u32>,
    /// Problems with the current row.
    pub(super) odd: Vec<Odd>,
}

/// How a column is read.
struct ColumnReader {
    place: Place,
    storage: Storage,
}

impl RunTable {
    /// Describes the table for a visitor.
    pub(super) fn head(&self, run: u32) -> TableHead {
        let column = |column: &SchemaColumn| Column {
            mnemonic: column.mnemonic.clone(),
            engineering_type: exported_type(&column.engineering_type).to_owned(),
            kind: kind(&column.engineering_type),
        };
        TableHead {
            run,
            position: None,
            schema: self.layout.schema.name.clone(),
            attributes: self.attributes.clone(),
            folder: shown(&self.folder),
            columns: self.layout.schema.columns.iter().map(column).collect(),
        }
    }

    /// Whether the visitor wants a column with messages, which need typed arrays.
    pub(super) fn has_messages(&self, head: &TableHead, visitor: &dyn TableVisitor) -> bool {
        let is_message = |((_, engineering_type), is_wanted): ((Place, &str), bool)| {
            is_wanted && matches!(storage(engineering_type), Storage::Narrative | Storage::Metadata)
        };
        self.layout.rows > 0 && self.layout.columns().zip(visitor.wanted_columns(head)).any(is_message)
    }
}

impl TableReader<'_, '_> {
    /// Passes the rows of a table to a visitor.
    pub(super) fn read(
        &mut self,
        files: &dyn Files,
        (table, head): (&RunTable, &TableHead),
        room: &Room,
        visitor: &mut dyn TableVisitor,
        input: &mut InputBuilder<'_>,
    ) -> Result<(), Error> {
        visitor.start(head);
        let RunTable { layout, folder, .. } = table;
        let store = folder.join("bulkstore");
        let columns = columns(layout, head, visitor);
        let mut notes = Notes::default();
        let (mut rejected, mut cells) = (Rejected::default(), Vec::new());
        input.start_table(table.as_exported(head.run), shown(&store));
        let (mut count, most) = (0_u64, visitor.rows_left());
        if most == Some(0) {
            visitor.end(layout.rows, &rejected);
            return Ok(());
        }
        let is_done = std::cell::Cell::new(false);
        let mut each = |row: &[u8], at: u64| {
            if is_done.get() {
                return Ok(());
            }
            let read = self.cells(row, head, &columns, input, &mut cells);
            let read = read.map_err(|error| match error {
                Unreadable::Limit(rule) => Error::limit(rule),
                Unreadable::Images(broken) => broken_file(self.template, &broken),
                Unreadable::Row(rule) => broken_at(&store, at, "row", rule),
            })?;
            count += 1;
            if count.is_multiple_of(1 << 12) {
                let known = of_map(&self.known_strings) + of_map(&self.known_messages);
                input.recording.reserve(known).map_err(|over| over_budget(&store, over))?;
            }
            let sample = match read {
                Ok(()) => visitor.row(&cells, &RowValues::new(input.recording))?.transpose(),
                Err(reason) => Some(Err(reason)),
            };
            let outcome = match sample {
                Some(Ok(sample)) => input.add_row(Ok(sample), at).map_err(Error::limit)?,
                Some(Err(reason)) => Err(reason),
                None => Ok(()),
            };
            let position = RowPosition { store: &store, at };
            if let Err(reason) = outcome {
                rejected.add(reason);
                position.note(&mut notes, reason.name(), || visitor.describe(reason));
            }
            for odd in self.odd.drain(..) {
                position.note(&mut notes, odd.topic(), || odd.to_string());
            }
            is_done.set(visitor.rows_left() == Some(0));
            Ok(())
        };
        let open = || Rows::open(files, folder, layout);
        let mut odd = for_each_by_time(open()?, layout, (layout.time(), most), room, &mut each)?;
        // More rows are needed, since some of the first ones were rejected.
        if let Some(most) = most.filter(|&most| !is_done.get() && (most as u64) < layout.rows) {
            let mut seen = 0;
            odd = for_each_by_time(open()?, layout, (layout.time(), None), room, |row, at| {
                seen += 1;
                if seen > most { each(row, at) } else { Ok(()) }
            })?;
        }
        odd.into_iter().chain(notes.take()).for_each(|odd| visitor.note(odd));
        visitor.end(layout.rows, &rejected);
        Ok(())
    }

    /// Decodes a row into `cells`, or returns why it is unreadable.
    fn cells(
        &mut self,
        row: &[u8],
        head: &TableHead,
        columns: &[ColumnReader],
        input: &mut InputBuilder<'_>,
        cells: &mut Vec<Cell>,
    ) -> Result<Result<(), RejectReason>, Unreadable> {
        cells.clear();
        for (column, ColumnReader { place, storage }) in head.columns.iter().zip(columns) {
            let value = match storage {
                Storage::NotWanted => None,
                Storage::WideNumber => Some(place.number(row)),
                _ => place.value(row),
            };
            let cell = match value {
                Some(value) => self.cell(*place, *storage, value, input)?,
                None => Ok(Cell::None),
            };
            match cell.and_then(|cell| column.kind.checked(cell)) {
                Ok(cell) => cells.push(cell),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Ok(()))
    }

    /// Decodes a cell that has a value.
    fn cell(
        &mut self,
        place: Place,
        storage: Storage,
        value: u64,
        input: &mut InputBuilder<'_>,
    ) -> Result<Result<Cell, RejectReason>, Unreadable> {
        let array =
            || reference(value).ok_or_else(|| Unreadable::Row(format!("{value:#x} is not the number of an array")));
        Ok(Ok(match storage {
            Storage::NotWanted => Cell::None,
            Storage::Number | Storage::WideNumber | Storage::Unknown => Cell::Number(value),
            Storage::FixedPoint => {
                let text = fixed_point(value);
                // As in exports, whole numbers are numbers even in a column of decimals.
                match text.parse() {
                    Ok(whole) => Cell::Number(whole),
                    Err(_) => Cell::Text(input.string(&text)?),
                }
            }
            Storage::Text => Cell::Text(self.string(value, input)?),
            Storage::ThreadName => match string_number(place, value) {
                name if name == u64::from(NONE) => Cell::None,
                name => Cell::Text(self.string(name, input)?),
            },
            Storage::Thread => {
                let thread = self.threads.thread(array()?, input)?;
                self.odd.extend(thread.odd);
                Cell::Thread(thread.index)
            }
            Storage::Process => {
                let process = self.threads.process(array()?, input)?;
                self.odd.extend(process.odd);
                Cell::Process(process.index)
            }
            Storage::Uuid => {
                let (high, low) = self.pair(array()?, "UUID")?;
                Cell::Text(
                    input.string(
                        &Uuid::from_bytes((u128::from(high) << 64 | u128::from(low)).to_be_bytes()).to_string(),
                    )?,
                )
            }
            Storage::TextSymbol => {
                let (_, address) = self.pair(array()?, "text symbol")?;
                Cell::Named(address, input.string(&format!("{address:#x}"))?)
            }
            Storage::Numbers => Cell::Numbers(match self.known_numbers.entry(array()?) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(input.counters(self.arrays.get(array()?)?.iter())?),
            }),
            Storage::Stack(kind) => {
                let cell = StackCell { number: array()?, kind, thread: 0 };
                match self.stacks.get(cell, input)? {
                    Ok(stack) => Cell::Stack(stack),
                    // The stack has no frames.
                    Err(RejectReason::UnknownStack) => Cell::None,
                    Err(reason) => return Ok(Err(reason)),
                }
            }
            Storage::Narrative => Cell::Text(self.message(value, "", input)?),
            Storage::Metadata => Cell::Text(self.message(value, " ", input)?),
        }))
    }

    /// Reads an array of two numbers.
    fn pair(&self, number: u32, what: &str) -> Result<(u64, u64), Unreadable> {
        let array = self.arrays.get(number)?;
        match (array.len(), array.get(0), array.get(1)) {
            (2, Some(first), Some(second)) => Ok((first, second)),
            (count, ..) => Err(format!("array {number} of {count} numbers is not a {what}").into()),
        }
    }

    fn string(&mut self, number: u64, input: &mut InputBuilder<'_>) -> Result<StringId, Unreadable> {
        if let Some(&known) = self.known_strings.get(&number) {
            return Ok(known);
        }
        let text = input.string(self.strings.get(number)?)?;
        self.known_strings.insert(number, text);
        Ok(text)
    }

    fn message(&mut self, number: u64, joint: &str, input: &mut InputBuilder<'_>) -> Result<StringId, Unreadable> {
        let key = (number, joint.is_empty());
        if let Some(&known) = self.known_messages.get(&key) {
            return Ok(known);
        }
        let Some(narratives) = self.narratives else {
            return Err("it has a message, but there are no typed arrays".to_owned().into());
        };
        let text = input.string(&narratives.text(number, joint, self.strings)?)?;
        self.known_messages.insert(key, text);
        Ok(text)
    }
}

/// Decides how to read each column of a table.
fn columns(layout: &Layout, head: &TableHead, visitor: &dyn TableVisitor) -> Vec<ColumnReader> {
    let column = |((place, engineering_type), is_wanted): ((Place, &str), bool)| {
        let storage = if is_wanted { storage(engineering_type) } else { Storage::NotWanted };
        ColumnReader { place, storage }
    };
    layout.columns().zip(visitor.wanted_columns(head)).map(column).collect()
}
