//! Rows of CPU tables become samples, and every row is accounted for.

use super::Table;
use super::definitions::Definitions;
use super::item::Value;
use super::reject::RejectReason;
use super::schema::Roles;
use crate::profile::{
    CoreId, Full, ProcessId, Run, RunId, Sample, SampleKind, Series, SeriesId, StackId, StringId, ThreadId,
};
use crate::units::{Nanos, Unit};

/// The place of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) input: StringId,
    /// The number of the document, over all inputs, from 0.
    pub(super) document: u32,
    /// The number of the table in the document, from 0.
    pub(super) table: u32,
}

/// A table whose rows are being read.
#[derive(Debug)]
pub(super) struct TableReader {
    pub(super) table: Table,
    pub(super) roles: Roles,
    pub(super) source: Option<Source>,
    run: Option<RunId>,
    series: Vec<(Unit, SeriesId)>,
}

impl TableReader {
    pub(super) fn new(table: Table) -> Self {
        Self { table, roles: Roles::default(), source: None, run: None, series: Vec::new() }
    }
}

/// The cells of a row, by what they are for. Threads, processes and counters are indices of the definitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) time: u64,
    pub(crate) weight: u64,
    pub(crate) unit: Unit,
    pub(crate) thread: Option<u32>,
    pub(crate) process: Option<u32>,
    pub(crate) core: Option<CoreId>,
    pub(crate) state: Option<StringId>,
    pub(crate) stack: Option<StackId>,
    pub(crate) kernel_stack: Option<StackId>,
    pub(crate) kind: SampleKind,
    pub(crate) counters: Option<u32>,
}

/// Adds a row: a sample of the profile, or a rejection with its reason.
pub(super) fn add_row(
    table: &mut TableReader,
    cells: &[Value],
    definitions: &mut Definitions,
) -> Result<Result<(), RejectReason>, Full> {
    let row = read_cells(&table.roles, cells);
    add_read_row(table, row, definitions)
}

/// Adds a row whose cells were read.
pub(super) fn add_read_row(
    table: &mut TableReader,
    row: Result<Row, RejectReason>,
    definitions: &mut Definitions,
) -> Result<Result<(), RejectReason>, Full> {
    table.table.rows += 1;
    let outcome = match row {
        Ok(row) => add_sample(table, row, definitions)?,
        Err(reason) => Err(reason),
    };
    match outcome {
        Ok(()) => table.table.samples += 1,
        Err(reason) => table.table.rejected.add(reason),
    }
    Ok(outcome)
}

/// The part that rows with the same cells between time and stack have in common: all of a sample but those two.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRow {
    pub(super) sample: Sample,
    /// The group that its samples are summed in.
    pub(super) group: u32,
    /// Index and outcome of the thread and the process that are counted under their names.
    pub(super) thread: (u32, (ProcessId, ThreadId)),
    pub(super) process: (u32, (RunId, ProcessId)),
}

/// The part that the row that was added last has in common with others, if it is such a row: a time, other cells, a stack.
pub(super) fn known_row(table: &TableReader, cells: &[Value], definitions: &Definitions) -> Option<KnownRow> {
    let roles = &table.roles;
    let is_usual = roles.time == Some(0) && roles.stack.is_some_and(|stack| stack + 1 == cells.len());
    if !is_usual || roles.kernel_stack.is_some() || roles.counters.is_some() {
        return None;
    }
    known(table, read_cells(roles, cells).ok()?, definitions)
}

/// The same of a row that was read, without kernel stack and counters.
pub(super) fn known(table: &TableReader, row: Row, definitions: &Definitions) -> Option<KnownRow> {
    let &(_, series) = table.series.iter().find(|(unit, _)| *unit == row.unit)?;
    let thread = row.thread?;
    let as_thread = definitions.threads[thread as usize].used_as?;
    // Which of the two processes that a row may name counts was decided when it was added.
    let counts = |index: &u32| {
        let used_as = definitions.processes[*index as usize].used_as;
        used_as.is_some_and(|(run, process)| Some(run) == table.run && process == as_thread.0)
    };
    let own_process = definitions.threads[thread as usize].process;
    let process = match (own_process, row.process) {
        (Some(own), Some(other)) if own != other => return None,
        (own, other) => own.or(other).filter(counts)?,
    };
    let as_process = definitions.processes[process as usize].used_as?;
    let Row { time, weight, core, state, kind, .. } = row;
    let sample =
        Sample { time: Nanos::from_nanos(time), weight, series, thread: as_thread.1, stack: None, core, state, kind };
    let group = definitions.builder.sum_group(&sample)?;
    Some(KnownRow { sample, group, thread: (thread, as_thread), process: (process, as_process) })
}

/// Adds a row that is known but for its time and its stack. `None` if it has to be looked at as any other.
#[inline(always)]
pub(super) fn add_known_row(
    table: &mut TableReader,
    known: &KnownRow,
    (time, stack): (u64, Option<StackId>),
    definitions: &mut Definitions,
) -> Option<()> {
    let (thread, process) = (known.thread.0 as usize, known.process.0 as usize);
    let (thread, process) = (&mut definitions.threads[thread], &mut definitions.processes[process]);
    if thread.used_as != Some(known.thread.1) || process.used_as != Some(known.process.1) {
        return None;
    }
    let sample = Sample { time: Nanos::from_nanos(time), stack, ..known.sample };
    definitions.builder.add_sample_of(known.group, sample).ok()?;
    thread.samples += 1;
    process.samples += 1;
    table.table.rows += 1;
    table.table.samples += 1;
    Some(())
}

fn add_sample(
    table: &mut TableReader,
    row: Row,
    definitions: &mut Definitions,
) -> Result<Result<(), RejectReason>, Full> {
    let run = run_of(table, definitions)?;
    let series = series_of(table, run, row.unit, definitions)?;
    let thread = thread_of(run, row.thread, row.process, definitions)?;
    let stack = match row.kernel_stack {
        Some(_) => definitions.join_stacks(row.stack, row.kernel_stack)?,
        None => row.stack,
    };
    let sample = Sample {
        time: Nanos::from_nanos(row.time),
        weight: row.weight,
        series,
        thread,
        stack,
        core: row.core,
        state: row.state,
        kind: row.kind,
    };
    if definitions.builder.add_sample(sample).is_err() {
        return Ok(Err(RejectReason::WeightOverflow));
    }
    if let Some(list) = row.counters {
        definitions.add_counters(list);
    }
    Ok(Ok(()))
}

fn read_cells(roles: &Roles, cells: &[Value]) -> Result<Row, RejectReason> {
    if !roles.are_complete() {
        return Err(RejectReason::MissingColumn);
    }
    if cells.len() != roles.columns {
        return Err(RejectReason::CellCount);
    }
    let cell = |role: Option<usize>| role.map_or(Value::Absent, |index| cells[index]);
    let kind = optional(cell(roles.kind), |value| match value {
        Value::Kind(kind) => Some(kind),
        _ => None,
    })?;
    let kind = kind.unwrap_or_default();
    let (weight, unit) = weight(roles, cell(roles.weight), kind)?;
    Ok(Row {
        time: match cell(roles.time) {
            Value::Time(time) => time,
            Value::Absent => return Err(RejectReason::NoTime),
            other => return Err(wrong(other)),
        },
        weight,
        unit,
        thread: optional(cell(roles.thread), |value| match value {
            Value::Thread(thread) => Some(thread),
            _ => None,
        })?,
        process: optional(cell(roles.process), |value| match value {
            Value::Process(process) => Some(process),
            _ => None,
        })?,
        core: optional(cell(roles.core), |value| match value {
            Value::Core(core) => Some(core),
            _ => None,
        })?,
        state: optional(cell(roles.state), |value| match value {
            Value::State(state) => Some(state),
            _ => None,
        })?,
        stack: stack(cell(roles.stack.or(roles.user_stack)))?,
        kernel_stack: stack(cell(roles.kernel_stack))?,
        kind,
        counters: optional(cell(roles.counters), |value| match value {
            Value::Counters(list) => Some(list),
            _ => None,
        })?,
    })
}

fn weight(roles: &Roles, cell: Value, kind: SampleKind) -> Result<(u64, Unit), RejectReason> {
    match cell {
        // The snapshot at the start shows where threads stood; nobody ran for it.
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

fn optional<T>(cell: Value, get: impl Fn(Value) -> Option<T>) -> Result<Option<T>, RejectReason> {
    match cell {
        Value::Absent => Ok(None),
        value => get(value).map(Some).ok_or_else(|| wrong(value)),
    }
}

/// The reason why a cell that is there does not fit its column.
fn wrong(value: Value) -> RejectReason {
    match value {
        Value::Bad(reason) => reason,
        _ => RejectReason::WrongType,
    }
}

fn run_of(table: &mut TableReader, definitions: &mut Definitions) -> Result<RunId, Full> {
    if let Some(run) = table.run {
        return Ok(run);
    }
    let source = table.source.ok_or(Full)?;
    let run = Run { input: source.input, document: source.document, number: table.table.run };
    Ok(*table.run.insert(definitions.builder.run(run)?))
}

fn series_of(table: &mut TableReader, run: RunId, unit: Unit, definitions: &mut Definitions) -> Result<SeriesId, Full> {
    if let Some(&(_, series)) = table.series.iter().find(|(known, _)| *known == unit) {
        return Ok(series);
    }
    let schema = definitions.builder.string(table.table.schema.as_deref().unwrap_or_default())?;
    let position = table.source.map_or(0, |source| source.table);
    let series = definitions.builder.series(Series { run, schema, table: position, unit })?;
    table.series.push((unit, series));
    table.table.series.push(series);
    Ok(series)
}

/// The thread of a row; its process is the one inside the thread element, or else the row's own.
fn thread_of(
    run: RunId,
    thread: Option<u32>,
    row_process: Option<u32>,
    definitions: &mut Definitions,
) -> Result<ThreadId, Full> {
    let own_process = thread.and_then(|index| definitions.threads[index as usize].process);
    let pid = |process: Option<u32>| process.map(|index| definitions.processes[index as usize].pid);
    // The same process under the name of this row, if it was renamed (by exec); otherwise the thread's own.
    let process = if pid(own_process) == pid(row_process) { row_process } else { own_process.or(row_process) };
    let process = process_of(run, process, definitions)?;
    let Some(index) = thread else {
        let name = definitions.builder.string("")?;
        return definitions.builder.thread(process, None, name);
    };
    let definition = &mut definitions.threads[index as usize];
    match definition.used_as {
        Some((known, id)) if known == process => {
            definition.samples += 1;
            Ok(id)
        }
        before => {
            if let Some((_, id)) = before {
                definitions.builder.count_thread_name(id, definition.name, definition.samples);
            }
            let id = definitions.builder.thread(process, definition.tid, definition.name)?;
            definition.used_as = Some((process, id));
            definition.samples = 1;
            Ok(id)
        }
    }
}

fn process_of(run: RunId, process: Option<u32>, definitions: &mut Definitions) -> Result<ProcessId, Full> {
    let Some(index) = process else {
        let name = definitions.builder.string("")?;
        return definitions.builder.process(run, None, name);
    };
    let definition = &mut definitions.processes[index as usize];
    match definition.used_as {
        Some((known, id)) if known == run => {
            definition.samples += 1;
            Ok(id)
        }
        before => {
            if let Some((_, id)) = before {
                definitions.builder.count_process_name(id, definition.name, definition.samples);
            }
            let id = definitions.builder.process(run, definition.pid, definition.name)?;
            definition.used_as = Some((run, id));
            definition.samples = 1;
            Ok(id)
        }
    }
}
