//! Converts the rows of a CPU table to samples.

use std::path::Path;

use super::damage::{RowPosition, Unreadable};
use super::file::{broken_at, broken_file, over_budget};
use super::inflating_thread::RowPieces;
use super::layout::{Layout, Place};
use super::repeated_rows::AlikeRows;
use super::run_data::RunData;
use super::sample_columns::{Columns, StackColumn};
use super::stacks::{StackCell, Stacks};
use super::strings::Strings;
use super::threads::{Odd, Threads};
use super::uniquer::{Arrays, reference};
use crate::error::Error;
use crate::hash::HashMap;
use crate::profile::{Core, CoreId, SampleKind, StackId, StringId};
use crate::recording::{InputBuilder, KnownRow, Notes, RejectReason, Row};
use crate::units::{Nanos, Unit};

/// The number of stacks to prefetch at a time. Their addresses must stay in the CPU cache.
const TOGETHER: usize = 64;

/// Reads rows and the values that they refer to.
pub(super) struct SampleReader<'a, 't> {
    pub(super) arrays: &'a Arrays,
    pub(super) strings: &'a Strings<'a>,
    pub(super) threads: Threads<'a>,
    pub(super) stacks: Stacks<'a, 't>,
    /// Stacks in the current rows that have not been created yet.
    pub(super) wanted: Vec<StackCell>,
    pub(super) states: HashMap<u64, Option<StringId>>,
    pub(super) cores: HashMap<u32, CoreId>,
    pub(super) recorded: &'a RunData,
    /// Problems with the current row.
    pub(super) odd: Vec<Odd>,
    pub(super) notes: Notes,
    /// The path of `form.template`, which contains the image lists.
    pub(super) template: &'a Path,
}

impl SampleReader<'_, '_> {
    /// Adds all rows of a store to the input's current table.
    pub(super) fn read(
        &mut self,
        mut rows: RowPieces<'_>,
        store: &Path,
        layout: &Layout,
        columns: &Columns,
        input: &mut InputBuilder<'_>,
    ) -> Result<(), Error> {
        let mut alike = AlikeRows::of(columns, layout.row_size, self.recorded.latest.unwrap_or(u64::MAX));
        while let Some((piece, start)) = rows.next()? {
            self.make_stacks(piece, layout, columns, input);
            let mut done = 0;
            loop {
                done += alike.add(&piece[done..], self.stacks.all_known(columns.stack.kind), input);
                let Some(row) = piece.get(done..done + layout.row_size) else { break };
                alike.count(input);
                let at = start + done as u64;
                self.add_row(row, columns, RowPosition { store, at }, &mut alike, input).map_err(
                    |error| match error {
                        Unreadable::Limit(rule) => Error::limit(rule),
                        Unreadable::Images(broken) => broken_file(self.template, &broken),
                        Unreadable::Row(rule) => broken_at(store, at, "row", rule),
                    },
                )?;
                done += layout.row_size;
            }
            rows.add_samples(input)?;
            input.recording.reserve(0).map_err(|over| over_budget(store, over))?;
        }
        alike.count(input);
        rows.return_sums(input)?;
        rows.diagnostic().into_iter().for_each(|note| input.note(note));
        self.notes.take().into_iter().for_each(|note| input.note(note));
        Ok(())
    }

    /// Creates the stacks of all rows in advance, since a batch spends less time waiting for memory. An invalid stack is reported when its row is
    /// read.
    fn make_stacks(&mut self, rows: &[u8], layout: &Layout, columns: &Columns, input: &mut InputBuilder<'_>) {
        let StackColumn { place, kind } = columns.stack;
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.clear();
        for row in rows.chunks_exact(layout.row_size) {
            let number =
                place.value(row).and_then(reference).filter(|&number| self.stacks.known(number, kind).is_none());
            wanted.extend(number.map(|number| StackCell { number, kind, thread: thread_number(row, columns) }));
        }
        for wanted in wanted.chunks(TOGETHER) {
            self.stacks.fetch(wanted.iter().map(|cell| cell.number), kind);
            if wanted.iter().any(|&cell| self.stacks.get(cell, input).is_err()) {
                break;
            }
        }
        self.wanted = wanted;
    }

    fn add_row(
        &mut self,
        row: &[u8],
        columns: &Columns,
        position: RowPosition<'_>,
        alike: &mut AlikeRows,
        input: &mut InputBuilder<'_>,
    ) -> Result<(), Unreadable> {
        self.odd.clear();
        let decoded = self.decode(row, columns, input)?;
        // Rows of this kind would have the same problems, and each occurrence must be counted.
        let is_sample = input.add_row(decoded, position.at)?.is_ok();
        if is_sample
            && self.odd.is_empty()
            && let (Ok(decoded), Some(table)) = (decoded, &input.table)
            && let Some(known) = KnownRow::of(table, decoded, input.recording)
        {
            alike.insert(row, known);
        }
        for odd in &self.odd {
            position.note(&mut self.notes, odd.topic(), || odd.to_string());
        }
        Ok(())
    }

    fn decode(
        &mut self,
        row: &[u8],
        columns: &Columns,
        input: &mut InputBuilder<'_>,
    ) -> Result<Result<Row, RejectReason>, Unreadable> {
        let Some(time) = columns.time.value(row) else { return Ok(Err(RejectReason::NoTime)) };
        self.odd.extend(self.recorded.latest.filter(|&latest| time > latest).map(|_| Odd::Late(time)));
        let kind = columns.kind.and_then(|place| place.value(row)).map_or(SampleKind::Periodic, SampleKind::of_number);
        let (weight, unit) = match columns.weight {
            Some((place, unit)) => match place.value(row) {
                Some(weight) => (weight, unit),
                None => return Ok(Err(RejectReason::NoWeight)),
            },
            // The snapshot at the start shows where threads were. It cost no CPU time.
            None => (u64::from(kind != SampleKind::Stackshot), Unit::Samples),
        };
        let stack = self.stack(row, columns.stack, columns, input)?;
        let kernel_stack = match columns.kernel_stack {
            Some(kernel_stack) => self.stack(row, kernel_stack, columns, input)?,
            None => Ok(None),
        };
        let (stack, kernel_stack) = match (stack, kernel_stack) {
            (Ok(stack), Ok(kernel_stack)) => (stack, kernel_stack),
            (Err(reason), _) | (_, Err(reason)) => return Ok(Err(reason)),
        };
        let Some(state) = self.state(row, columns, input)? else { return Ok(Err(RejectReason::WrongType)) };
        let value = |place: Option<Place>| place.and_then(|place| place.value(row));
        let thread = number(value(columns.thread), "thread")?;
        let process = number(value(columns.process), "process")?;
        let thread = thread.map(|number| self.threads.thread(number, input)).transpose()?;
        let process = process.map(|number| self.threads.process(number, input)).transpose()?;
        let is_stranger = thread.zip(process).is_some_and(|(thread, process)| thread.pid != process.pid);
        self.odd.extend(is_stranger.then_some(Odd::Stranger));
        self.odd.extend(thread.or(process).and_then(|person| person.odd));
        Ok(Ok(Row {
            time: Nanos::from_nanos(time),
            weight,
            unit,
            thread: thread.map(|thread| thread.index),
            process: process.map(|process| process.index),
            core: number(value(columns.core), "core")?.map(|index| self.core(index, input)).transpose()?,
            state,
            stack,
            kernel_stack,
            kind,
            counters: match number(value(columns.counters), "counters")? {
                Some(list) => match self.arrays.get(list)? {
                    values if values.len() > input.limits().counters => return Ok(Err(RejectReason::BadNumber)),
                    values => Some(input.counters(values.iter())?),
                },
                None => None,
            },
        }))
    }

    /// Returns the stack of a row, if any, or the reason why it is unusable.
    #[inline]
    fn stack(
        &mut self,
        row: &[u8],
        stack: StackColumn,
        columns: &Columns,
        input: &mut InputBuilder<'_>,
    ) -> Result<Result<Option<StackId>, RejectReason>, Unreadable> {
        let Some(number) = number(stack.place.value(row), "stack")? else { return Ok(Ok(None)) };
        let cell = StackCell { number, kind: stack.kind, thread: thread_number(row, columns) };
        Ok(self.stacks.get(cell, input)?.map(Some))
    }

    /// Returns the thread state, if the row has one. The inner `None` is an empty string, which must not be treated as running.
    fn state(
        &mut self,
        row: &[u8],
        columns: &Columns,
        input: &mut InputBuilder<'_>,
    ) -> Result<Option<Option<StringId>>, Unreadable> {
        let Some(number) = columns.state.and_then(|place| place.value(row)) else { return Ok(Some(None)) };
        if let Some(&state) = self.states.get(&number) {
            return Ok(state.map(Some));
        }
        let text = self.strings.get(number)?;
        let state = if text.is_empty() { None } else { Some(input.string(text)?) };
        self.states.insert(number, state);
        Ok(state.map(Some))
    }

    fn core(&mut self, index: u32, input: &mut InputBuilder<'_>) -> Result<CoreId, Unreadable> {
        if let Some(&core) = self.cores.get(&index) {
            return Ok(core);
        }
        let kind = self.recorded.cores.get(&index).map(|kind| input.string(kind)).transpose()?;
        let core = input.core(Core { index, kind })?;
        self.cores.insert(index, core);
        Ok(core)
    }
}

/// The thread of a row, by index; 0 without a thread.
#[inline]
fn thread_number(row: &[u8], columns: &Columns) -> u64 {
    columns.thread.and_then(|place| place.value(row)).unwrap_or(0)
}

#[inline]
fn number(value: Option<u64>, column: &'static str) -> Result<Option<u32>, Unreadable> {
    match value {
        None => Ok(None),
        Some(value) => match reference(value) {
            Some(number) => Ok(Some(number)),
            None => Err(format!("its {column} is {value:#x}, which is impossible").into()),
        },
    }
}
