//! Putting runs into a dataset, and taking them out.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use crate::fleet::error::{Result, ensure};
use crate::fleet::{DatasetRow, DatasetTable, FailedInput, RunMeasures, RunRecord};

use super::Store;
use super::index::{Index, Replaced};
use super::part::PartWriter;
use super::state::State;
use super::waiting::{Batch, Waiting};

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
        let replaced = Replaced::by_runs(&runs);
        self.put_rows(runs.into_iter().map(|run| DatasetRow::Run(Box::new(run))).collect(), replaced)
    }

    /// Puts in that a file gave no run, and takes the runs that it gave before out of the dataset.
    pub fn put_failure(&self, failure: &FailedInput) -> Result<()> {
        self.put_rows(vec![DatasetRow::Failed(failure.clone())], Replaced::by_failure(failure))
    }

    /// The record of a run that a data file has.
    pub fn record(&self, run_id: &str) -> Result<Option<RunRecord>> {
        let found = self.find(
            |index| index.file_of_run(run_id),
            |row| matches!(row, DatasetRow::Run(run) if run.record.run_id == run_id),
        )?;
        Ok(match found {
            Some(DatasetRow::Run(run)) => Some(run.record),
            Some(DatasetRow::Failed(_)) | None => None,
        })
    }

    /// The failure that a data file has of an export.
    pub fn failure(&self, source: &str) -> Result<Option<FailedInput>> {
        let found = self.find(
            |index| index.file_of_source(source),
            |row| matches!(row, DatasetRow::Failed(failed) if failed.source == source),
        )?;
        Ok(match found {
            Some(DatasetRow::Failed(failed)) => Some(failed),
            Some(DatasetRow::Run(_)) | None => None,
        })
    }

    /// A row of the data file that has it.
    fn find(
        &self,
        file: impl FnOnce(&Index) -> Option<&String>,
        mut is_row: impl FnMut(&DatasetRow) -> bool,
    ) -> Result<Option<DatasetRow>> {
        // Only while no other thread rewrites the file.
        let state = self.indexed()?;
        let Some(id) = file(&state.index) else { return Ok(None) };
        let named = |error| self.folder.name_file(id, error);
        let mut rows = DatasetRow::records(self.folder.open_table(DatasetTable::Runs, id)?).map_err(named)?;
        rows.find(|row| row.as_ref().map_or(true, &mut is_row)).transpose().map_err(named)
    }

    /// Removes all rows of exports from the dataset.
    pub fn forget(&self, sources: &HashSet<String>) -> Result<()> {
        self.check_writer()?;
        self.write_waiting()?;
        let mut state = self.indexed()?;
        self.begin_change(&mut state)?;
        take_out(&mut state, &Replaced::by_sources(sources));
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
        state.count_cost(began);
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
