//! The rows of a CPU table become samples.

use std::path::Path;

use super::alike::AlikeRows;
use super::beside::Pieces;
use super::columns::Columns;
use super::file::{broken_at, broken_file, over_budget};
use super::layout::{Layout, Place};
use super::people::People;
use super::row_error::Unreadable;
use super::run_data::RunData;
use super::stacks::{ReadStack, StackKind, Stacks};
use super::strings::Strings;
use super::uniquer::{Arrays, reference};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::export::{Intake, RejectReason, Row};
use crate::hash::HashMap;
use crate::profile::{Core, CoreId, SampleKind, StackId, StringId};
use crate::units::Unit;

/// How many stacks are fetched at a time: their addresses stay in a cache of the processor.
const TOGETHER: usize = 64;

/// Reads rows with what they refer to.
pub(super) struct SampleReader<'a, 't> {
    pub(super) arrays: &'a Arrays,
    pub(super) strings: &'a Strings<'a>,
    pub(super) people: People<'a>,
    pub(super) stacks: Stacks<'a, 't>,
    /// The stacks of the rows at hand that were not made yet, and the threads of their rows.
    pub(super) wanted: Vec<(u32, u64)>,
    pub(super) states: HashMap<u64, Option<StringId>>,
    pub(super) cores: HashMap<u32, CoreId>,
    pub(super) recorded: &'a RunData,
    /// Rows of a thread of another process than the row's.
    pub(super) strangers: u64,
    /// Where image lists are.
    pub(super) template: &'a Path,
}

impl SampleReader<'_, '_> {
    /// Adds all rows of the store in this folder to the table that the intake has started.
    pub(super) fn read(
        &mut self,
        mut rows: Pieces<'_>,
        folder: &Path,
        layout: &Layout,
        columns: &Columns,
        intake: &mut Intake<'_>,
    ) -> Result<(), Error> {
        let mut alike = AlikeRows::of(columns, layout.row_size);
        while let Some((piece, start)) = rows.next()? {
            self.make_stacks(piece, layout, columns, intake);
            let mut done = 0;
            loop {
                done += alike.add(&piece[done..], self.stacks.all_known(columns.stack.1), intake);
                let Some(row) = piece.get(done..done + layout.row_size) else { break };
                alike.count(intake);
                let at = start + done as u64;
                self.add_row(row, columns, at, &mut alike, intake).map_err(|error| match error {
                    Unreadable::Full(full) => Error::new(ErrorKind::Limit(full.to_string()), None),
                    Unreadable::TooManyStacks => Error::new(ErrorKind::Limit(error.to_string()), None),
                    Unreadable::Images(broken) => broken_file(self.template, &broken),
                    error => broken_at(&folder.join("bulkstore"), at, "row", error),
                })?;
                done += layout.row_size;
            }
            rows.add_samples(intake)?;
            intake.reserve().map_err(|over| over_budget(&folder.join("bulkstore"), over))?;
        }
        alike.count(intake);
        rows.return_sums(intake)?;
        rows.diagnostic().into_iter().for_each(|note| intake.note(note));
        self.note_strangers(folder, intake);
        Ok(())
    }

    /// Says when threads and processes of rows do not go together: one of them is wrong.
    fn note_strangers(&mut self, folder: &Path, intake: &mut Intake<'_>) {
        let count = std::mem::take(&mut self.strangers);
        if count > 0 {
            let message =
                format!("{}: a row has a thread of another process than its own", folder.join("bulkstore").display());
            intake.note(Diagnostic { at: None, message, count });
        }
    }

    /// Makes the stacks of all rows before they are asked for: one after the other they wait less for memory than between
    /// other things. What cannot be made is told when its row is read.
    fn make_stacks(&mut self, rows: &[u8], layout: &Layout, columns: &Columns, intake: &mut Intake<'_>) {
        let (place, kind) = columns.stack;
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.clear();
        for row in rows.chunks_exact(layout.row_size) {
            let number =
                place.value(row).and_then(reference).filter(|&number| self.stacks.known(number, kind).is_none());
            wanted.extend(number.map(|number| (number, thread_number(row, columns))));
        }
        for wanted in wanted.chunks(TOGETHER) {
            self.stacks.fetch(wanted.iter().map(|&(number, _)| number), kind);
            if wanted.iter().any(|&(number, thread)| self.stacks.get(number, kind, thread, intake).is_err()) {
                break;
            }
        }
        self.wanted = wanted;
    }

    fn add_row(
        &mut self,
        row: &[u8],
        columns: &Columns,
        at: u64,
        alike: &mut AlikeRows,
        intake: &mut Intake<'_>,
    ) -> Result<(), Unreadable> {
        let decoded = self.decode(row, columns, intake)?;
        if let Some(known) = intake.add_row(decoded, at)? {
            alike.insert(row, known);
        }
        Ok(())
    }

    fn decode(
        &mut self,
        row: &[u8],
        columns: &Columns,
        intake: &mut Intake<'_>,
    ) -> Result<Result<Row, RejectReason>, Unreadable> {
        let Some(time) = columns.time.value(row) else { return Ok(Err(RejectReason::NoTime)) };
        let kind = columns.kind.and_then(|place| place.value(row)).map_or(SampleKind::Periodic, SampleKind::of_number);
        let (weight, unit) = match columns.weight {
            Some((place, unit)) => match place.value(row) {
                Some(weight) => (weight, unit),
                None => return Ok(Err(RejectReason::NoWeight)),
            },
            // The snapshot at the start shows where threads stood; nobody ran for it.
            None => (u64::from(kind != SampleKind::Stackshot), Unit::Samples),
        };
        let stack = self.stack(row, columns.stack, columns, intake)?;
        let kernel_stack = match columns.kernel_stack {
            Some(kernel_stack) => self.stack(row, kernel_stack, columns, intake)?,
            None => Some(None),
        };
        let (Some(stack), Some(kernel_stack)) = (stack, kernel_stack) else {
            return Ok(Err(RejectReason::StackTooDeep));
        };
        let value = |place: Option<Place>| place.and_then(|place| place.value(row));
        let thread = number(value(columns.thread), "thread")?;
        let process = number(value(columns.process), "process")?;
        let thread = thread.map(|number| self.people.thread(number, intake)).transpose()?;
        let process = process.map(|number| self.people.process(number, intake)).transpose()?;
        let is_stranger = thread.zip(process).is_some_and(|(thread, process)| thread.pid != process.pid);
        self.strangers += u64::from(is_stranger);
        Ok(Ok(Row {
            time,
            weight,
            unit,
            thread: thread.map(|thread| thread.index),
            process: process.map(|process| process.index),
            core: number(value(columns.core), "core")?.map(|index| self.core(index, intake)).transpose()?,
            state: value(columns.state).map(|number| self.state(number, intake)).transpose()?.flatten(),
            stack,
            kernel_stack,
            kind,
            counters: match number(value(columns.counters), "counters")? {
                Some(list) => match self.arrays.get(list)? {
                    values if values.len() > intake.limits().counters => return Ok(Err(RejectReason::BadNumber)),
                    values => Some(intake.counters(values.iter())?),
                },
                None => None,
            },
        }))
    }

    /// A stack, if the row has one; `None` where it is too deep.
    #[inline]
    fn stack(
        &mut self,
        row: &[u8],
        (place, kind): (Place, StackKind),
        columns: &Columns,
        intake: &mut Intake<'_>,
    ) -> Result<Option<Option<StackId>>, Unreadable> {
        let Some(number) = number(place.value(row), "stack")? else { return Ok(Some(None)) };
        Ok(match self.stacks.get(number, kind, thread_number(row, columns), intake)? {
            ReadStack::Stack(stack) => Some(stack),
            ReadStack::TooDeep => None,
        })
    }

    fn state(&mut self, number: u64, intake: &mut Intake<'_>) -> Result<Option<StringId>, Unreadable> {
        if let Some(&state) = self.states.get(&number) {
            return Ok(state);
        }
        let text = self.strings.get(number)?;
        let state = if text.is_empty() { None } else { Some(intake.string(text)?) };
        self.states.insert(number, state);
        Ok(state)
    }

    fn core(&mut self, index: u32, intake: &mut Intake<'_>) -> Result<CoreId, Unreadable> {
        if let Some(&core) = self.cores.get(&index) {
            return Ok(core);
        }
        let kind = self.recorded.cores.get(&index).map(|kind| intake.string(kind)).transpose()?;
        let core = intake.core(Core { index, kind })?;
        self.cores.insert(index, core);
        Ok(core)
    }
}

/// The number of a row's thread, or any where it has none.
#[inline]
fn thread_number(row: &[u8], columns: &Columns) -> u64 {
    columns.thread.and_then(|place| place.value(row)).unwrap_or(0)
}

/// A number of 4 bytes, if there is one.
#[inline]
fn number(value: Option<u64>, column: &'static str) -> Result<Option<u32>, Unreadable> {
    match value {
        None => Ok(None),
        Some(value) => reference(value).map(Some).ok_or(Unreadable::TooLarge { column, value }),
    }
}
