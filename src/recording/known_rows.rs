//! A fast path for readers of very many rows: rows that differ only in time and stack are counted together, and another thread can sum
//! their samples.

use super::RejectReason;
use super::builder::RecordingBuilder;
use super::input::InputBuilder;
use super::rows::{self, KnownRow, Row, TableReader};
use crate::memory::OverBudget;
use crate::profile::{FrameId, Full, Sample, StackId, SumBatch, SumTable};
use crate::units::Nanos;

/// The shared properties of a table's rows that differ only in time and stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlikeRow(KnownRow);

/// The number of added rows with the same properties, until [`count_alike`](InputBuilder::count_alike) records them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AlikeCount(KnownRowCount);

/// Adds rows with known properties, up to a limit.
#[derive(Debug)]
pub(crate) struct AlikeAdder<'i> {
    recording: &'i mut RecordingBuilder,
    room: usize,
}

impl AlikeCount {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.rows == 0
    }
}

impl AlikeAdder<'_> {
    /// Returns the number of rows that can be added, at most a few thousand.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Starts to count rows with these properties; `None` if they must be added one by one.
    pub(crate) fn start(&self, alike: &AlikeRow) -> Option<AlikeCount> {
        start(&alike.0, self.recording).map(AlikeCount)
    }

    /// Adds a row to `count`. `alike` has its properties.
    #[inline(always)]
    pub(crate) fn add<'a>(
        &mut self,
        count: &mut AlikeCount,
        time: u64,
        stack: Option<StackId>,
        alike: impl FnOnce() -> Option<&'a AlikeRow>,
    ) {
        count.0.note(time);
        let sample = || alike().map(|alike| Sample { time: Nanos::from_nanos(time), stack, ..alike.0.sample });
        self.recording.profile.push_known(count.0.group, (Nanos::from_nanos(time), count.0.weight), stack, sample);
    }
}

impl InputBuilder<'_> {
    /// Returns the properties of an added row if other rows with the same properties can be added faster.
    pub(crate) fn alike(&self, row: Result<Row, RejectReason>) -> Option<AlikeRow> {
        let usual = row.ok().filter(|row| row.kernel_stack.is_none() && row.counters.is_none());
        Some(AlikeRow(rows::known(self.table.as_ref()?, usual?, self.recording)?))
    }

    /// Prepares to add rows that differ from known ones only in time and stack. `None` if there is no space for another row.
    pub(crate) fn alike_adder(&mut self) -> Option<AlikeAdder<'_>> {
        self.table.as_ref()?;
        let recording = &mut *self.recording;
        let room = recording.profile.make_room().ok()?;
        Some(AlikeAdder { recording, room })
    }

    /// Records the rows that [`alike_adder`](Self::alike_adder) added. Must be called before anything else is added.
    pub(crate) fn count_alike(&mut self, alike: &AlikeRow, count: AlikeCount) {
        if let Some(table) = &mut self.table {
            count_rows(table, &alike.0, &count.0, self.recording);
        }
    }
}

impl InputBuilder<'_> {
    /// Reserves the memory in use.
    pub(crate) fn reserve(&mut self) -> Result<(), OverBudget> {
        self.recording.reserve(0)
    }

    /// Returns the stack, like [`stack`](Self::stack), and the stack that ends in each of the frames.
    pub(crate) fn stack_path(
        &mut self,
        root: Option<StackId>,
        leaf_first: &[FrameId],
        path: &mut [Option<StackId>],
    ) -> Result<Option<StackId>, Full> {
        self.recording.profile.stack_path_leaf_first(root, leaf_first, path)
    }

    /// Returns the number of distinct stacks in all inputs so far.
    pub(crate) fn stack_count(&self) -> u64 {
        self.recording.profile.stack_count() as u64
    }

    /// Lends the sums to another thread, which adds samples to them, until [`return_sums`](Self::return_sums). `None` if samples are not
    /// summed.
    pub(crate) fn lend_sums(&mut self) -> Result<Option<SumTable>, Full> {
        self.recording.profile.lend_sums()
    }

    /// Takes the samples collected since the last call, which must be added to the lent sums.
    pub(crate) fn take_waiting(&mut self, spare: SumBatch) -> SumBatch {
        self.recording.profile.take_waiting(spare)
    }

    /// Takes the sums back.
    pub(crate) fn return_sums(&mut self, sums: SumTable) {
        self.recording.profile.return_sums(sums);
    }
}

/// The number of rows with the same known properties.
#[derive(Clone, Copy, Debug, Default)]
struct KnownRowCount {
    rows: u32,
    /// The group of the known row.
    group: u32,
    weight: u64,
    first: u64,
    last: u64,
}

impl KnownRowCount {
    #[inline]
    fn note(&mut self, time: u64) {
        self.rows += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }
}

/// Starts to count rows. `None` if they need the general path: names are being counted elsewhere, or the weights of a batch might overflow.
fn start(known: &KnownRow, recording: &RecordingBuilder) -> Option<KnownRowCount> {
    let (thread, process) = (known.thread.0 as usize, known.process.0 as usize);
    let is_used = recording.threads[thread].used_as == Some(known.thread.1)
        && recording.processes[process].used_as == Some(known.process.1);
    let Sample { weight, series, .. } = known.sample;
    let fits = weight <= recording.profile.weight_room(series) >> u32::BITS;
    (is_used && fits).then_some(KnownRowCount { rows: 0, group: known.group, weight, first: u64::MAX, last: 0 })
}

/// Records rows whose samples were added.
fn count_rows(table: &mut TableReader, known: &KnownRow, counted: &KnownRowCount, recording: &mut RecordingBuilder) {
    let rows = u64::from(counted.rows);
    recording.threads[known.thread.0 as usize].samples += rows;
    recording.processes[known.process.0 as usize].samples += rows;
    table.table.rows += rows;
    table.table.samples += rows;
    let times = [counted.first, counted.last].map(Nanos::from_nanos);
    recording.profile.note_known(known.group, known.sample.series, (rows, counted.weight), times);
}
