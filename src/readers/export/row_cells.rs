//! Cells of rows of CPU tables, by what their columns are for.

use super::column_roles::Roles;
use super::definitions::Definitions;
use super::document::OpenTable;
use super::value::Value;
use crate::profile::{Full, SampleKind, StackId};
use crate::recording::{KnownRow, RejectReason, Row, add_read_row, known};
use crate::units::{Nanos, Unit};

/// The content of a cell of one kind of value, if it has one.
macro_rules! optional {
    ($cell:expr, $kind:ident) => {
        match $cell {
            Value::Absent => Ok(None),
            Value::$kind(content) => Ok(Some(content)),
            other => Err(wrong(other)),
        }
    };
}

/// Adds a row: a sample of the profile, or a rejection with its reason.
pub(super) fn add_row(
    table: &mut OpenTable,
    cells: &[Value],
    definitions: &mut Definitions,
) -> Result<Result<(), RejectReason>, Full> {
    let row = read_cells(&table.roles, cells);
    add_read_row(&mut table.reader, row, &mut definitions.recording)
}

/// The part that the row that was added last has in common with others, if it is such a row: a time, other cells, a stack.
pub(super) fn known_row(table: &OpenTable, cells: &[Value], definitions: &Definitions) -> Option<KnownRow> {
    let roles = &table.roles;
    let is_usual = roles.time == Some(0) && roles.stack.is_some_and(|stack| stack + 1 == cells.len());
    if !is_usual || roles.kernel_stack.is_some() || roles.counters.is_some() {
        return None;
    }
    known(&table.reader, read_cells(roles, cells).ok()?, &definitions.recording)
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
        // The snapshot at the start shows where threads were; no thread ran for it.
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

/// The reason why a cell that is there does not fit its column.
fn wrong(value: Value) -> RejectReason {
    match value {
        Value::Bad(reason) => reason,
        _ => RejectReason::WrongType,
    }
}
