//! Adds runs to a dataset, removes them, and merges small data files. Thousands of files with one run each would be slow to open, both here and
//! in SQL engines.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use super::Store;
use super::manifest::DataFile;
use super::part::PartWriter;
use super::state::{Batch, FEW_ROWS, Replaced, State, Waiting};
use crate::fleet::error::{Result, ensure};
use crate::fleet::{DatasetRow, DatasetRun, DatasetTable, FailedInput, KnownRun, RunMeasures, RunRecord};

/// The number of data files written before they are merged.
const UNMERGED: u64 = 64;

impl Store {
    /// Adds the runs of an export. Removes all other rows of that export, and of runs with the same content.
    ///
    /// The runs are buffered in memory. Once the manifest is saved, readers see them, and they survive a kill.
    pub fn put(&self, runs: impl Into<Vec<RunMeasures>>) -> Result<()> {
        let runs = runs.into();
        ensure!(!runs.is_empty(), "a put without runs");
        let replaced = Replaced {
            sources: runs.iter().map(|run| run.record.source.clone()).collect(),
            run_ids: runs.iter().map(|run| run.record.run_id.clone()).collect(),
        };
        self.put_rows(runs.into_iter().map(|run| DatasetRow::Run(Box::new(run))).collect(), replaced)
    }

    /// Records that a file has no run, and removes its previous runs.
    pub fn put_failure(&self, failure: &FailedInput) -> Result<()> {
        let replaced = Replaced { sources: HashSet::from([failure.source.clone()]), ..Replaced::default() };
        self.put_rows(vec![DatasetRow::Failed(failure.clone())], replaced)
    }

    /// The first row of an export in a data file.
    pub fn row(&self, source: &str) -> Result<Option<DatasetRow<RunRecord>>> {
        // The lock keeps other threads from rewriting the file.
        let state = self.indexed()?;
        let Some(id) = state.index.file_of_source(source) else { return Ok(None) };
        let named = |error| self.folder.name_file(id, error);
        let mut rows = DatasetRow::records(self.folder.open_table(DatasetTable::Runs, id)?).map_err(named)?;
        rows.find(|row| row.as_ref().map_or(true, |row| row.source() == source)).transpose().map_err(named)
    }

    /// Removes all rows of these exports.
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

    /// Saves if it is due. Returns true if it did.
    pub fn save_if_due(&self, target_rows: u64) -> Result<bool> {
        self.check_writer()?;
        let [is_due, is_full] = {
            let waiting = self.waiting();
            [waiting.is_due(), waiting.is_full()]
        };
        // If another thread is writing, collect a larger batch instead of waiting.
        let is_writing = || matches!(self.writing.try_lock(), Err(TryLockError::WouldBlock));
        if !is_due || (!is_full && is_writing()) { Ok(false) } else { self.save_some(target_rows) }
    }

    /// Writes the buffered rows, and saves unless that is too expensive now. Returns true if it saved. Merges data files if there are many.
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

    /// Marks a dataset as incomplete before it changes. Otherwise a reader would mistake the files of a killed process for files that someone copied.
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

    /// Writes the buffered rows as a data file, and removes the rows that they replace from other files. Only one thread does this at a time,
    /// since later rows replace earlier ones.
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
            // The next attempt includes these rows.
            Err(_) => self.waiting().give_back(batch),
        }
        written
    }

    fn write_batch(&self, batch: &Batch) -> Result<()> {
        // Without locking the state, since this takes most of the time.
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

    /// An unused temporary name.
    pub(super) fn new_name(&self) -> String {
        format!("new-{}", self.written.fetch_add(1, Ordering::Relaxed))
    }
}

/// Removes exports and runs from their data files: from the index now, and from the files when the manifest is saved, so that a large file is
/// rewritten once for many of them.
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

/// A file is merged with smaller ones if it has at most this many times their rows, so a large file is not rewritten for each small one.
const RATIO: u64 = 4;

/// The number of data files before and after merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    pub before: usize,
    pub after: usize,
}

impl Store {
    /// Merges small data files into parts of at most `target_rows` rows of `frames`. The runs stay the same, but not their order.
    pub fn compact(&self, target_rows: u64) -> Result<Compacted> {
        self.write_waiting()?;
        let mut state = self.indexed()?;
        self.begin_change(&mut state)?;
        let before = state.manifest.files.len();
        self.flush(&mut state)?;
        self.merge_small(&mut state, target_rows)?;
        self.save_state(&mut state)?;
        Ok(Compacted { before, after: state.manifest.files.len() })
    }

    /// Merges small data files. Files with rows to remove are rewritten separately.
    pub(super) fn merge_small(&self, state: &mut State, target_rows: u64) -> Result<()> {
        state.unmerged = 0;
        while let Some(files) = small_files(state, target_rows) {
            self.merge_files(state, &files, &Replaced::default())?;
        }
        Ok(())
    }

    /// Rewrites data files without the rows to remove.
    pub(super) fn flush(&self, state: &mut State) -> Result<()> {
        while let Some((file, replaced)) = state.taken_out.first_key_value() {
            let (file, replaced) = (file.clone(), replaced.clone());
            self.merge_files(state, &[file], &replaced)?;
        }
        Ok(())
    }

    /// Combines data files into one, without replaced rows.
    fn merge_files(&self, state: &mut State, files: &[String], replaced: &Replaced) -> Result<()> {
        let staying: Vec<KnownRun> = files.iter().flat_map(|file| state.index.staying(file, replaced)).collect();
        let mut part = PartWriter::new(&self.folder, self.new_name())?;
        for file in files {
            for row in self.folder.open(file)? {
                let row = row?.map(DatasetRun::into_measures);
                if replaced.leaves(&row) {
                    part.add(&row)?;
                }
            }
        }
        let part = part.finish()?;
        let id = state.publish(&self.folder, &part)?;
        for file in files {
            state.remove(file);
        }
        state.add(&id, part.file, staying);
        Ok(())
    }
}

/// The next files to merge, smallest first; `None` if nothing is left to merge.
fn small_files(state: &State, target_rows: u64) -> Option<Vec<String>> {
    let rows = |file: &DataFile| file.table(DatasetTable::Frames).rows;
    let files = state.manifest.files.iter().filter(|(id, _)| !state.taken_out.contains_key(*id));
    let mut files: Vec<(u64, &String)> = files.map(|(id, file)| (rows(file), id)).collect();
    files.sort_unstable();
    let (mut group, mut sum) = (Vec::new(), 0_u64);
    for (rows, id) in files {
        let all = sum.saturating_add(rows);
        let fits = all <= target_rows && (all <= FEW_ROWS || rows <= sum.saturating_mul(RATIO));
        if !fits && group.len() > 1 {
            break;
        }
        if !fits {
            group.clear();
            sum = 0;
        }
        group.push(id.clone());
        sum = sum.saturating_add(rows);
    }
    (group.len() > 1).then_some(group)
}
