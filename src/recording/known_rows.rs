//! For readers of very many rows: what is known of rows but for their times and their stacks is counted for all of them together, and
//! samples are added up elsewhere.

use super::RejectReason;
use super::builder::RecordingBuilder;
use super::input::InputBuilder;
use super::rows::{self, KnownRow, Row, TableReader};
use crate::memory::OverBudget;
use crate::profile::{FrameId, Full, Sample, StackId, SumBatch, SumTable};
use crate::units::Nanos;

/// The part that rows of one table have in common if they differ only in time and stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlikeRow(KnownRow);

/// The number of rows of a kind that were added, and are still to be [counted](InputBuilder::count_alike).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AlikeCount(KnownRowCount);

/// Adds rows that are like known ones, as many as it has room for.
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
    /// The number of rows that can be added, no more than some thousands.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Begins to count rows of a kind; `None` where they have to be added one by one.
    pub(crate) fn start(&self, alike: &AlikeRow) -> Option<AlikeCount> {
        start(&alike.0, self.recording).map(AlikeCount)
    }

    /// Adds a row of the kind that is counted here, and that `alike` tells more of.
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
    /// The properties that a row which was added shares with others like it, if those can be added faster.
    pub(crate) fn alike(&self, row: Result<Row, RejectReason>) -> Option<AlikeRow> {
        let usual = row.ok().filter(|row| row.kernel_stack.is_none() && row.counters.is_none());
        Some(AlikeRow(rows::known(self.table.as_ref()?, usual?, self.recording)?))
    }

    /// Adds rows of the same table that differ from known ones in time and stack only, in less time. `None` where there is no
    /// room for one more.
    pub(crate) fn alike_adder(&mut self) -> Option<AlikeAdder<'_>> {
        self.table.as_ref()?;
        let recording = &mut *self.recording;
        let room = recording.profile.make_room().ok()?;
        Some(AlikeAdder { recording, room })
    }

    /// Counts rows that [`alike_adder`](Self::alike_adder) added, before anything else is added.
    pub(crate) fn count_alike(&mut self, alike: &AlikeRow, count: AlikeCount) {
        if let Some(table) = &mut self.table {
            count_rows(table, &alike.0, &count.0, self.recording);
        }
    }
}

impl InputBuilder<'_> {
    /// Reserves the memory that is taken by now.
    pub(crate) fn reserve(&mut self) -> Result<(), OverBudget> {
        self.recording.reserve(0)
    }

    /// The same, which also gives the stack that each of the frames is the leaf of.
    pub(crate) fn stack_path(
        &mut self,
        root: Option<StackId>,
        leaf_first: &[FrameId],
        path: &mut [Option<StackId>],
    ) -> Result<Option<StackId>, Full> {
        self.recording.profile.stack_path_leaf_first(root, leaf_first, path)
    }

    /// The number of distinct stacks, in all inputs so far.
    pub(crate) fn stack_count(&self) -> u64 {
        self.recording.profile.stack_count() as u64
    }

    /// Lends the sums that samples are added to, for somebody else to add them, until they are [given back](Self::return_sums); `None` if
    /// samples are not added up.
    pub(crate) fn lend_sums(&mut self) -> Result<Option<SumTable>, Full> {
        self.recording.profile.lend_sums()
    }

    /// The samples since the last call, for the sums that were lent.
    pub(crate) fn take_waiting(&mut self, spare: SumBatch) -> SumBatch {
        self.recording.profile.take_waiting(spare)
    }

    /// Takes the sums back.
    pub(crate) fn return_sums(&mut self, sums: SumTable) {
        self.recording.profile.return_sums(sums);
    }
}

/// Rows that are like a known one.
#[derive(Clone, Copy, Debug, Default)]
struct KnownRowCount {
    rows: u32,
    /// As the known row has it.
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

/// Begins to count rows. `None` if they have to be looked at as any other: names are counted elsewhere meanwhile, or so many of their
/// weights as are counted together may not fit.
fn start(known: &KnownRow, recording: &RecordingBuilder) -> Option<KnownRowCount> {
    let (thread, process) = (known.thread.0 as usize, known.process.0 as usize);
    let is_used = recording.threads[thread].used_as == Some(known.thread.1)
        && recording.processes[process].used_as == Some(known.process.1);
    let Sample { weight, series, .. } = known.sample;
    let fits = weight <= recording.profile.weight_room(series) >> u32::BITS;
    (is_used && fits).then_some(KnownRowCount { rows: 0, group: known.group, weight, first: u64::MAX, last: 0 })
}

/// Counts rows whose samples were added.
fn count_rows(table: &mut TableReader, known: &KnownRow, counted: &KnownRowCount, recording: &mut RecordingBuilder) {
    let rows = u64::from(counted.rows);
    recording.threads[known.thread.0 as usize].samples += rows;
    recording.processes[known.process.0 as usize].samples += rows;
    table.table.rows += rows;
    table.table.samples += rows;
    let times = [counted.first, counted.last].map(Nanos::from_nanos);
    recording.profile.note_known(known.group, known.sample.series, (rows, counted.weight), times);
}
