//! A fast path for many rows that differ only in time and stack.

use super::builder::RecordingBuilder;
#[cfg(feature = "bundle")]
use super::input::InputBuilder;
use super::rows::{Row, TableReader};
use crate::profile::{ProcessId, RunId, Sample, StackId, ThreadId};
use crate::units::Nanos;

/// The properties shared by rows that differ only in time and stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownRow {
    sample: Sample,
    /// The group in which the samples are summed.
    group: u32,
    /// The indices and ids of the thread and process whose names are counted.
    thread: (u32, (ProcessId, ThreadId)),
    process: (u32, (RunId, ProcessId)),
}

impl KnownRow {
    /// Returns the properties of an added row, for rows that differ only in time and stack. `None` if the row needs the general path.
    pub(crate) fn of(table: &TableReader, row: Row, recording: &RecordingBuilder) -> Option<Self> {
        if row.kernel_stack.is_some() || row.counters.is_some() {
            return None;
        }
        let series = table.series_of_unit(row.unit)?;
        let thread = row.thread?;
        let as_thread = recording.threads[thread as usize].used_as?;
        // A row may name two processes. Adding it decided which one is used.
        let counts = |index: &u32| {
            let used_as = recording.processes[*index as usize].used_as;
            used_as.is_some_and(|(run, process)| Some(run) == table.run && process == as_thread.0)
        };
        let own_process = recording.threads[thread as usize].process;
        let process = match (own_process, row.process) {
            (Some(own), Some(other)) if own != other => return None,
            (own, other) => own.or(other).filter(counts)?,
        };
        let as_process = recording.processes[process as usize].used_as?;
        let Row { time, weight, core, state, kind, .. } = row;
        let thread_id = as_thread.1;
        let sample = Sample { time, weight, series, thread: thread_id, stack: None, core, state, kind, samples: 1 };
        let group = recording.profile.sum_group(&sample)?;
        Some(Self { sample, group, thread: (thread, as_thread), process: (process, as_process) })
    }

    /// Adds a row with these properties. Returns `None` if it needs the general path.
    #[inline(always)]
    pub(crate) fn add(
        &self,
        table: &mut TableReader,
        (time, stack): (u64, Option<StackId>),
        recording: &mut RecordingBuilder,
    ) -> Option<()> {
        let (thread, process) = (self.thread.0 as usize, self.process.0 as usize);
        let (thread, process) = (&mut recording.threads[thread], &mut recording.processes[process]);
        if thread.used_as != Some(self.thread.1) || process.used_as != Some(self.process.1) {
            return None;
        }
        let sample = Sample { time: Nanos::from_nanos(time), stack, ..self.sample };
        recording.profile.add_sample_of(self.group, sample).ok()?;
        thread.samples += 1;
        process.samples += 1;
        table.table.rows += 1;
        table.table.samples += 1;
        Some(())
    }

    /// Starts counting rows with these properties. `None` if they need the general path: names are being counted elsewhere, or a batch might
    /// overflow the sum of weights.
    #[cfg(feature = "bundle")]
    pub(crate) fn start(&self, recording: &RecordingBuilder) -> Option<RowCount> {
        let (thread, process) = (self.thread.0 as usize, self.process.0 as usize);
        let is_used = recording.threads[thread].used_as == Some(self.thread.1)
            && recording.processes[process].used_as == Some(self.process.1);
        let Sample { weight, series, .. } = self.sample;
        let fits = weight <= recording.profile.weight_room(series) >> u32::BITS;
        (is_used && fits).then_some(RowCount { rows: 0, group: self.group, weight, first: u64::MAX, last: 0 })
    }
}

/// Counts added rows with the same properties. [`count_known`](InputBuilder::count_known) records the count.
#[cfg(feature = "bundle")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowCount {
    rows: u32,
    /// The group of the known row.
    group: u32,
    weight: u64,
    first: u64,
    last: u64,
}

#[cfg(feature = "bundle")]
impl RowCount {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a row. The profile must have reserved space for it. `known` returns the row's properties.
    #[inline(always)]
    pub(crate) fn add<'a>(
        &mut self,
        recording: &mut RecordingBuilder,
        time: u64,
        stack: Option<StackId>,
        known: impl FnOnce() -> Option<&'a KnownRow>,
    ) {
        self.rows += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        let time = Nanos::from_nanos(time);
        let sample = || known().map(|known| Sample { time, stack, ..known.sample });
        recording.profile.push_known(self.group, (time, self.weight), stack, sample);
    }
}

#[cfg(feature = "bundle")]
impl InputBuilder<'_> {
    /// Records the rows that were added. Must be called before anything else is added.
    pub(crate) fn count_known(&mut self, known: &KnownRow, count: RowCount) {
        let Some(table) = &mut self.table else { return };
        let rows = u64::from(count.rows);
        self.recording.threads[known.thread.0 as usize].samples += rows;
        self.recording.processes[known.process.0 as usize].samples += rows;
        table.table.rows += rows;
        table.table.samples += rows;
        let times = [count.first, count.last].map(Nanos::from_nanos);
        self.recording.profile.note_known(known.group, known.sample.series, (rows, count.weight), times);
    }
}
