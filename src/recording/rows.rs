//! Converts rows to samples, and accounts for every row.

use super::builder::RecordingBuilder;
use super::{RejectReason, Table};
use crate::profile::{
    CoreId, Full, Meaning, ProcessId, Run, RunId, Sample, SampleKind, SampleSum, Series, SeriesId, StackId, StringId,
    ThreadId,
};
use crate::units::{Nanos, Unit, Weight};

/// The position of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) input: StringId,
    /// The number of the document, from 0 and over all inputs.
    pub(crate) document: u32,
    /// The number of the table in the document, from 0.
    pub(crate) table: u32,
}

/// A table whose rows are being read.
#[derive(Debug)]
pub(crate) struct TableReader {
    pub(crate) table: Table,
    pub(crate) source: Option<Source>,
    pub(in crate::recording) run: Option<RunId>,
    series: Vec<(Unit, SeriesId)>,
    /// The meaning of samples without times; `None` for timed samples of CPU use.
    untimed: Option<Meaning>,
}

impl TableReader {
    /// Starts a table of timed samples of CPU use.
    pub(crate) fn new(table: Table) -> Self {
        Self { table, source: None, run: None, series: Vec::new(), untimed: None }
    }

    /// Starts a table of samples that are already summed.
    pub(crate) fn of_sums(table: Table, meaning: Meaning) -> Self {
        Self { untimed: Some(meaning), ..Self::new(table) }
    }

    /// Returns the series of the rows with this unit, if there are any.
    pub(in crate::recording) fn series_of_unit(&self, unit: Unit) -> Option<SeriesId> {
        Some(self.series.iter().find(|(known, _)| *known == unit)?.1)
    }
}

/// The cells of a row, by role.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The time of the sample since the start of the recording.
    pub time: Nanos,
    /// The weight of the sample.
    pub weight: u64,
    /// The unit of the weight.
    pub unit: Unit,
    /// The index of the [thread](super::InputBuilder::thread).
    pub thread: Option<u32>,
    /// The index of the [process](super::InputBuilder::process), used if the thread has none.
    pub process: Option<u32>,
    /// The core that the thread ran on.
    pub core: Option<CoreId>,
    /// The state of the thread.
    pub state: Option<StringId>,
    /// The stack; `None` if it was not recorded.
    pub stack: Option<StackId>,
    /// The kernel stack, called from the leaf of `stack`.
    pub kernel_stack: Option<StackId>,
    /// How the sample was triggered.
    pub kind: SampleKind,
    /// The index of the [counter values](super::InputBuilder::counters).
    pub counters: Option<u32>,
}

/// Adds a decoded row, or counts it as rejected.
pub(crate) fn add_read_row(
    table: &mut TableReader,
    row: Result<Row, RejectReason>,
    recording: &mut RecordingBuilder,
) -> Result<Result<(), RejectReason>, Full> {
    table.table.rows += 1;
    let outcome = match row {
        Ok(row) => add_sample(table, row, recording)?,
        Err(reason) => Err(reason),
    };
    match outcome {
        Ok(()) => table.table.samples += 1,
        Err(reason) => table.table.rejected.add(reason),
    }
    Ok(outcome)
}

/// Adds samples that are already summed, as their number and total weight.
pub(crate) fn add_samples(
    table: &mut TableReader,
    thread: u32,
    (stack, state, weight, samples): (Option<StackId>, Option<StringId>, Weight, u64),
    recording: &mut RecordingBuilder,
) -> Result<(), Full> {
    let run = run_of(table, recording)?;
    let series = series_of(table, run, weight.unit, recording)?;
    let thread = thread_of(run, Some(thread), None, recording)?;
    let (kind, times, weight) = (SampleKind::Periodic, None, weight.value);
    recording.profile.add_sum(&SampleSum { series, thread, stack, state, kind, weight, samples, times })?;
    table.table.rows += samples;
    table.table.samples += samples;
    Ok(())
}

fn add_sample(
    table: &mut TableReader,
    row: Row,
    recording: &mut RecordingBuilder,
) -> Result<Result<(), RejectReason>, Full> {
    let run = run_of(table, recording)?;
    let series = series_of(table, run, row.unit, recording)?;
    let thread = thread_of(run, row.thread, row.process, recording)?;
    let stack = match row.kernel_stack {
        Some(_) => recording.join_stacks(row.stack, row.kernel_stack)?,
        None => row.stack,
    };
    let sample = Sample {
        time: row.time,
        weight: row.weight,
        series,
        thread,
        stack,
        core: row.core,
        state: row.state,
        kind: row.kind,
        samples: 1,
    };
    if recording.profile.add_sample(sample).is_err() {
        return Ok(Err(RejectReason::WeightOverflow));
    }
    if let Some(list) = row.counters {
        recording.add_counters(list);
    }
    Ok(Ok(()))
}

fn run_of(table: &mut TableReader, recording: &mut RecordingBuilder) -> Result<RunId, Full> {
    if let Some(run) = table.run {
        return Ok(run);
    }
    let source = table.source.ok_or(Full)?;
    let run = Run { input: source.input, document: source.document, number: table.table.run };
    Ok(*table.run.insert(recording.profile.run(run)?))
}

fn series_of(
    table: &mut TableReader,
    run: RunId,
    unit: Unit,
    recording: &mut RecordingBuilder,
) -> Result<SeriesId, Full> {
    if let Some(series) = table.series_of_unit(unit) {
        return Ok(series);
    }
    let schema = recording.profile.string(table.table.schema.as_deref().unwrap_or_default())?;
    let position = table.source.map_or(0, |source| source.table);
    let series = Series::new(run, schema, position, unit);
    let series = table.untimed.map_or(series, |meaning| series.with_meaning(meaning).without_times());
    let series = recording.profile.series(series)?;
    table.series.push((unit, series));
    table.table.series.push(series);
    Ok(series)
}

/// Returns the thread of a row. Its process comes from the thread element, or else from the row.
fn thread_of(
    run: RunId,
    thread: Option<u32>,
    row_process: Option<u32>,
    recording: &mut RecordingBuilder,
) -> Result<ThreadId, Full> {
    let own_process = thread.and_then(|index| recording.threads[index as usize].process);
    let pid = |process: Option<u32>| process.map(|index| recording.processes[index as usize].pid);
    // If exec has renamed the process, the row has its current name. Otherwise, the process in the thread element is the right one.
    let process = if pid(own_process) == pid(row_process) { row_process } else { own_process.or(row_process) };
    let process = process_of(run, process, recording)?;
    let Some(index) = thread else {
        let name = recording.profile.string("")?;
        return recording.profile.thread(process, None, name);
    };
    let definition = &mut recording.threads[index as usize];
    match definition.used_as {
        Some((known, id)) if known == process => {
            definition.samples += 1;
            Ok(id)
        }
        before => {
            if let Some((_, id)) = before {
                recording.profile.count_thread_name(id, definition.name, definition.samples);
            }
            let id = recording.profile.thread(process, definition.tid, definition.name)?;
            if definition.is_main {
                recording.profile.mark_main_thread(id);
            }
            definition.used_as = Some((process, id));
            definition.samples = 1;
            Ok(id)
        }
    }
}

fn process_of(run: RunId, process: Option<u32>, recording: &mut RecordingBuilder) -> Result<ProcessId, Full> {
    let Some(index) = process else {
        let name = recording.profile.string("")?;
        return recording.profile.process(run, None, name);
    };
    let definition = &mut recording.processes[index as usize];
    match definition.used_as {
        Some((known, id)) if known == run => {
            definition.samples += 1;
            Ok(id)
        }
        before => {
            if let Some((_, id)) = before {
                recording.profile.count_process_name(id, definition.name, definition.samples);
            }
            let id = recording.profile.process(run, definition.pid, definition.name)?;
            definition.used_as = Some((run, id));
            definition.samples = 1;
            Ok(id)
        }
    }
}
