//! Putting runs into a dataset, and taking them out.
//!
//! Rows wait until they are written together, since a data file of one run costs several times as much as measuring the
//! run.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::Store;
use super::part::PartWriter;
use super::state::{Replaced, State, known_of};
use crate::fleet::error::{Result, ensure};
use crate::fleet::{DatasetRow, DatasetTable, FailedInput, KnownRun, RunMeasures, RunRecord};

/// Data files that are written before they are merged.
const UNMERGED: u64 = 64;

impl Store {
    /// Adds the runs of an export, and removes all other rows of that export, or of runs with the same content, from
    /// the dataset.
    ///
    /// The runs wait in memory for others. They are visible to readers, and survive a kill, once the manifest is saved.
    pub fn put(&self, runs: impl Into<Vec<RunMeasures>>) -> Result<()> {
        let runs = runs.into();
        ensure!(!runs.is_empty(), "a put without runs");
        let replaced = Replaced {
            sources: runs.iter().map(|run| run.record.source.clone()).collect(),
            run_ids: runs.iter().map(|run| run.record.run_id.clone()).collect(),
        };
        self.put_rows(runs.into_iter().map(|run| DatasetRow::Run(Box::new(run))).collect(), replaced)
    }

    /// Puts in that a file gave no run, and takes the runs that it gave before out of the dataset.
    pub fn put_failure(&self, failure: &FailedInput) -> Result<()> {
        let replaced = Replaced { sources: HashSet::from([failure.source.clone()]), ..Replaced::default() };
        self.put_rows(vec![DatasetRow::Failed(failure.clone())], replaced)
    }

    /// The first row that a data file has of an export.
    pub fn row(&self, source: &str) -> Result<Option<DatasetRow<RunRecord>>> {
        // Only while no other thread rewrites the file.
        let state = self.indexed()?;
        let Some(id) = state.index.file_of_source(source) else { return Ok(None) };
        let named = |error| self.folder.name_file(id, error);
        let mut rows = DatasetRow::records(self.folder.open_table(DatasetTable::Runs, id)?).map_err(named)?;
        rows.find(|row| row.as_ref().map_or(true, |row| row.source() == source)).transpose().map_err(named)
    }

    /// Removes all rows of exports from the dataset.
    pub fn forget(&self, sources: &HashSet<String>) -> Result<()> {
        self.check_writer()?;
        self.write_waiting()?;
        let mut state = self.indexed()?;
        self.begin_change(&mut state)?;
        take_out(&mut state, &Replaced { sources: sources.clone(), ..Replaced::default() });
        Ok(())
    }

    /// Writes the manifest with all changes.
    pub fn save(&self) -> Result<()> {
        self.check_writer()?;
        self.write_waiting()?;
        let mut state = self.indexed()?;
        self.save_done(&mut state)
    }

    /// Saves if it is time; true if it did.
    pub fn save_if_due(&self, target_rows: u64) -> Result<bool> {
        self.check_writer()?;
        let [is_due, is_full] = {
            let waiting = self.waiting();
            [waiting.is_due(), waiting.is_full()]
        };
        // If another thread is writing, the next batch becomes larger.
        let is_writing = || matches!(self.writing.try_lock(), Err(TryLockError::WouldBlock));
        if !is_due || (!is_full && is_writing()) { Ok(false) } else { self.save_some(target_rows) }
    }

    /// Writes what waits, and saves it unless that is too expensive now; true if it did. Merges data files if there are many.
    pub fn save_some(&self, target_rows: u64) -> Result<bool> {
        self.write_waiting()?;
        let mut state = self.indexed()?;
        if state.unmerged >= UNMERGED {
            self.merge_small(&mut state, target_rows)?;
        }
        let may_save = state.may_save();
        if may_save {
            self.save_done(&mut state)?;
        }
        Ok(may_save)
    }

    fn save_done(&self, state: &mut State) -> Result<()> {
        let done = self.waiting().done();
        state.manifest.inputs.inputs_done = state.manifest.inputs.inputs_done.max(Some(done));
        self.save_state(state)
    }

    pub(super) fn save_state(&self, state: &mut State) -> Result<()> {
        let began = Instant::now();
        self.flush(state)?;
        state.save(&self.folder)?;
        (state.cost, state.saved) = (began.elapsed(), Instant::now());
        Ok(())
    }

    /// A dataset in change is incomplete: a reader would otherwise mistake the files of a killed process for files that
    /// someone copied.
    pub(super) fn begin_change(&self, state: &mut State) -> Result<()> {
        if state.manifest.inputs.is_incomplete() {
            return Ok(());
        }
        state.manifest.inputs.is_complete = Some(false);
        state.save(&self.folder)
    }

    fn put_rows(&self, rows: Vec<DatasetRow>, replaced: Replaced) -> Result<()> {
        self.check_writer()?;
        self.waiting().put(rows, replaced);
        Ok(())
    }

    /// Writes the waiting rows as a data file, and removes the rows that they replace from other files. Only one thread
    /// does this at a time, since later rows replace earlier ones.
    pub(super) fn write_waiting(&self) -> Result<()> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = self.waiting().take();
        if batch.puts == 0 {
            return Ok(());
        }
        let began = Instant::now();
        let written = self.write_batch(&batch);
        match written {
            Ok(()) => self.waiting().count_written(batch.puts, began.elapsed()),
            // They are put in at the next attempt.
            Err(_) => self.waiting().give_back(batch),
        }
        written
    }

    fn write_batch(&self, batch: &Batch) -> Result<()> {
        // Outside the lock: this is the work.
        let mut part = PartWriter::new(&self.folder, self.new_name())?;
        for row in &batch.rows {
            part.add(row)?;
        }
        let part = part.finish()?;
        let mut state = self.indexed()?;
        self.begin_change(&mut state)?;
        let id = state.publish(&self.folder, &part)?;
        take_out(&mut state, &batch.replaced);
        state.add(&id, part.file, batch.known());
        state.unmerged += 1;
        Ok(())
    }

    pub(super) fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A temporary name that no file has.
    pub(super) fn new_name(&self) -> String {
        format!("new-{}", self.written.fetch_add(1, Ordering::Relaxed))
    }
}

/// Removes exports and runs from their data files: from the index now, and from the files when the manifest is saved,
/// so that a large file is rewritten once for many of them.
fn take_out(state: &mut State, replaced: &Replaced) {
    for id in state.index.holding(replaced) {
        let staying = state.index.staying(&id, replaced);
        if staying.is_empty() {
            state.remove(&id);
        } else {
            state.index.insert(&id, staying);
            state.taken_out.entry(id).or_default().extend(replaced);
        }
    }
}

/// The time that rows wait, and how many times as long as the last batch took. So a slow disk, or a machine with too few cores, spends a
/// small part of the time on writing.
const TIME: Duration = Duration::from_secs(1);
const TIMES: u32 = 10;
/// The most memory that waiting rows take, and the most puts that wait.
const BYTES: u64 = 16 << 20;
const PUTS: u64 = 1024;

/// The result of some puts.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) rows: Vec<DatasetRow>,
    /// The exports and runs that these rows replace.
    pub(super) replaced: Replaced,
    pub(super) puts: u64,
    bytes: u64,
}

impl Batch {
    /// The rows of one put.
    pub(super) fn new(rows: Vec<DatasetRow>, replaced: Replaced) -> Self {
        let bytes = rows.iter().map(|row| match row {
            DatasetRow::Run(run) => run.memory(),
            DatasetRow::Failed(_) => 0,
        });
        Self { bytes: bytes.sum(), rows, replaced, puts: 1 }
    }

    /// Adds a later batch, whose rows replace rows of this one.
    pub(super) fn extend(&mut self, later: Self) {
        self.rows.retain(|row| later.replaced.leaves(row));
        self.rows.extend(later.rows);
        self.replaced.extend(&later.replaced);
        self.puts += later.puts;
        self.bytes += later.bytes;
    }

    /// The rows, for the index.
    pub(super) fn known(&self) -> Vec<KnownRun> {
        self.rows.iter().map(known_of).collect()
    }
}

/// The next batch.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    batch: Batch,
    /// The time of the first put of the batch.
    since: Option<Instant>,
    /// The time that writing the last batch took.
    cost: Duration,
    /// The number of puts whose rows are not in a data file: those of the batch, and of a batch that is being written.
    unwritten: u64,
    /// Files that an extract is done with.
    done: u64,
}

impl Waiting {
    /// Adds a put.
    pub(super) fn put(&mut self, rows: Vec<DatasetRow>, replaced: Replaced) {
        self.batch.extend(Batch::new(rows, replaced));
        self.since.get_or_insert_with(Instant::now);
        self.unwritten += 1;
    }

    /// True if it is time to write the batch.
    pub(super) fn is_due(&self) -> bool {
        self.is_full() || self.since.is_some_and(|since| since.elapsed() >= TIME.max(self.cost.saturating_mul(TIMES)))
    }

    /// True if no more rows may wait.
    pub(super) fn is_full(&self) -> bool {
        self.batch.bytes >= BYTES || self.batch.puts >= PUTS
    }

    /// Removes and returns the batch.
    pub(super) fn take(&mut self) -> Batch {
        self.since = None;
        std::mem::take(&mut self.batch)
    }

    /// Returns a batch that could not be written.
    pub(super) fn give_back(&mut self, batch: Batch) {
        let later = std::mem::replace(&mut self.batch, batch);
        self.batch.extend(later);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Counts puts that a data file has now, and which took this long.
    pub(super) fn count_written(&mut self, puts: u64, cost: Duration) {
        self.unwritten -= puts;
        self.cost = cost;
    }

    /// Counts files that are done.
    pub(super) fn count_done(&mut self, done: u64) {
        // Another thread may be ahead.
        self.done = self.done.max(done);
    }

    /// The number of files that are done and whose rows a data file has.
    pub(super) fn done(&self) -> u64 {
        self.done.saturating_sub(self.unwritten)
    }
}
