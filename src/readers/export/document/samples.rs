//! Converts the rows of CPU tables to samples, according to the roles of the columns.
//!
//! Rows are positional. The schema lists the columns; a cell is identified by its index, never by its tag:
//!
//! ```xml
//! <schema name="time-profile"><col><mnemonic>time</mnemonic><name>Sample Time</name>
//!   <engineering-type>sample-time</engineering-type></col>…</schema>
//! ```

use super::super::anomaly::Oddity;
use super::super::attributes::Fields;
use super::super::definitions::{Attributes, Definitions, Element};
use super::super::position::Fault;
use super::super::tag::Tag;
use super::super::value::Value;
use super::roles::Roles;
use super::{Content, DocumentReader, OpenTable};
use crate::memory::OverBudget;
use crate::profile::{Full, SampleKind, StackId, StringId};
use crate::recording::{KnownRow, RejectReason, Row, Source, TableKind, add_read_row};
use crate::units::{Nanos, Unit};

#[derive(Debug)]
pub(in super::super) struct Samples<'d> {
    pub(in super::super) definitions: &'d mut Definitions,
    input: StringId,
    /// The number of stacks allowed in addition to one per byte of input.
    free_stacks: u64,
}

impl<'d> Samples<'d> {
    /// Creates the content of an input, on top of earlier definitions.
    pub(in super::super) fn new(definitions: &'d mut Definitions, input: StringId) -> Self {
        let recording = &definitions.recording;
        let free_stacks = recording.options.limits.free_stacks + recording.bytes;
        Self { definitions, input, free_stacks }
    }
}

impl Content for Samples<'_> {
    type Value = Value;
    const NOTES_ODDITIES: bool = true;
    const UNBALANCED: &'static str =
        "elements of an unread table are not properly nested; the number of its rows may be wrong";
    const CUT: Option<&'static str> = None;

    fn tag(name: &str) -> Tag {
        Tag::of(name)
    }

    fn is_needed(&self, name: &str) -> bool {
        Tag::of(name).is_shared()
    }

    fn has_attributes(_: Tag) -> bool {
        true
    }

    fn attributes(&mut self, fields: Fields<'_>) -> Result<Attributes, Full> {
        self.definitions.attributes(fields)
    }

    fn value(&mut self, element: Element<'_>) -> Result<Value, Full> {
        self.definitions.value(element)
    }

    fn referred(&mut self, tag: Tag, _: &str, id: u64) -> Result<Value, Value> {
        // It carries no information, and may have been defined in a skipped table.
        if tag == Tag::Companion {
            return Ok(Value::Companion);
        }
        match self.definitions.ids.get(id) {
            Some(value) => Ok(self.definitions.referred(tag, value)),
            // An undefined `ref` is only an error if samples use the element.
            None => Err(if tag.is_shared() { Value::Bad(RejectReason::UndefinedRef) } else { Value::Other }),
        }
    }

    fn define(&mut self, _: &str, id: u64, value: Value) -> bool {
        let ids = &mut self.definitions.ids;
        let is_first = ids.get(id).is_none();
        ids.define(id, if is_first { value } else { Value::Bad(RejectReason::AmbiguousRef) });
        is_first
    }

    /// Rows of CPU tables may refer to this element without using its value.
    fn define_other(&mut self, id: u64) -> bool {
        self.define("", id, Value::Other)
    }

    #[inline]
    fn take_oddity(&mut self) -> Option<Oddity> {
        self.definitions.oddities.pop()
    }

    fn check(&self, at: u64) -> Result<(), Fault> {
        let stacks = self.definitions.recording.profile.stack_count() as u64;
        if stacks > self.free_stacks + at {
            return Err(Fault::limit("stacks expand to more frames than the input has bytes", at));
        }
        Ok(())
    }

    fn start_rows(&mut self, table: &mut OpenTable, index: u32) -> bool {
        let OpenTable { reader, roles } = table;
        let schema = reader.table.schema.as_deref().unwrap_or_default();
        (reader.table.kind, *roles) = (TableKind::of_schema(schema), Roles::of(schema, &reader.table.columns));
        let is_read = reader.table.kind == TableKind::Cpu;
        let document = self.definitions.recording.document_number();
        reader.source = is_read.then_some(Source { input: self.input, document, table: index });
        is_read
    }

    fn add_row(&mut self, table: &mut OpenTable, cells: &[Value], _: u64) -> Result<Result<(), RejectReason>, Full> {
        let row = read_cells(&table.roles, cells);
        add_read_row(&mut table.reader, row, &mut self.definitions.recording)
    }

    fn describe_rejection(&self, reason: RejectReason) -> String {
        format!("row rejected: {reason}")
    }

    fn reject_cut_row(&mut self, table: &mut OpenTable) {
        table.reader.table.rows += 1;
        table.reader.table.rejected.add(RejectReason::Cut);
    }

    fn finish_document(&mut self, bytes: u64) {
        self.definitions.recording.count_documents(bytes);
        self.definitions.finish_document();
    }

    fn reserve(&mut self, more: u64) -> Result<(), OverBudget> {
        self.definitions.reserve(more)
    }
}

impl<'d> DocumentReader<'d, Samples<'d>> {
    /// Adds a row of a time, known cells and a stack. `None` if this fast path does not apply: add the complete row instead.
    #[inline(always)]
    pub(in super::super) fn add_known_row(
        &mut self,
        known: &KnownRow,
        time: u64,
        stack: Option<StackId>,
    ) -> Option<()> {
        let recording = &mut self.content.definitions.recording;
        known.add(&mut self.tables.open.as_mut()?.reader, (time, stack), recording)?;
        self.rows += 1;
        Some(())
    }

    /// The number of the current document and table in this input.
    pub(in super::super) fn table_number(&self) -> (usize, usize) {
        (self.documents.len(), self.tables.count())
    }

    /// Returns what the last row, with these cells, has in common with other rows. `None` unless it consists of a time, other cells and a stack.
    pub(in super::super) fn known_row(&self, cells: &[Value]) -> Option<KnownRow> {
        let OpenTable { reader, roles } = self.tables.open.as_ref()?;
        let is_usual = roles.time == Some(0) && roles.stack.is_some_and(|stack| stack + 1 == cells.len());
        if !is_usual || roles.kernel_stack.is_some() || roles.counters.is_some() {
            return None;
        }
        KnownRow::of(reader, read_cells(roles, cells).ok()?, &self.content.definitions.recording)
    }
}

/// The content of an optional cell, which must have this kind of value.
macro_rules! optional {
    ($cell:expr, $kind:ident) => {
        match $cell {
            Value::Absent => Ok(None),
            Value::$kind(content) => Ok(Some(content)),
            other => Err(wrong(other)),
        }
    };
}

fn read_cells(roles: &Roles, cells: &[Value]) -> Result<Row, RejectReason> {
    if !roles.are_complete() {
        return Err(RejectReason::MissingColumn);
    }
    if cells.len() != roles.columns {
        return Err(RejectReason::CellCount);
    }
    let cell = |role: Option<usize>| role.map_or(Value::Absent, |index| cells[index]);
    let kind = optional!(cell(roles.kind), Kind)?;
    let kind = kind.unwrap_or_default();
    let (weight, unit) = weight(roles, cell(roles.weight), kind)?;
    Ok(Row {
        time: match cell(roles.time) {
            Value::Time(time) => Nanos::from_nanos(time),
            Value::Absent => return Err(RejectReason::NoTime),
            other => return Err(wrong(other)),
        },
        weight,
        unit,
        thread: optional!(cell(roles.thread), Thread)?,
        process: optional!(cell(roles.process), Process)?,
        core: optional!(cell(roles.core), Core)?,
        state: optional!(cell(roles.state), State)?,
        stack: stack(cell(roles.stack.or(roles.user_stack)))?,
        kernel_stack: stack(cell(roles.kernel_stack))?,
        kind,
        counters: optional!(cell(roles.counters), Counters)?,
    })
}

fn weight(roles: &Roles, cell: Value, kind: SampleKind) -> Result<(u64, Unit), RejectReason> {
    match cell {
        // The snapshot at the start shows where threads were. It cost no CPU time.
        _ if roles.weight.is_none() => Ok((u64::from(kind != SampleKind::Stackshot), Unit::Samples)),
        Value::Nanos(weight) => Ok((weight, Unit::Nanoseconds)),
        Value::Cycles(weight) => Ok((weight, Unit::Cycles)),
        Value::PmcEvents(weight) => Ok((weight, Unit::PmcEvents)),
        Value::Absent => Err(RejectReason::NoWeight),
        other => Err(wrong(other)),
    }
}

fn stack(cell: Value) -> Result<Option<StackId>, RejectReason> {
    match cell {
        Value::Stack(stack) => Ok(stack),
        Value::Absent => Ok(None),
        Value::Bad(reason) => Err(reason),
        _ => Err(RejectReason::UnknownStack),
    }
}

/// Why an existing cell does not fit its column.
fn wrong(value: Value) -> RejectReason {
    match value {
        Value::Bad(reason) => reason,
        _ => RejectReason::WrongType,
    }
}
