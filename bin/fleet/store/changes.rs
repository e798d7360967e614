//! Putting runs into a dataset, and taking them out.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use traceparse::fleet::{DatasetRow, DatasetTable, FailedInput, KnownRun, RunMeasures, RunRecord};

use super::Store;
use super::folder::step;
use super::index::{Index, Replaced, known_of_failure, known_of_run};
use super::manifest::DataFile;
use super::measured::measure_bytes;
use super::state::State;

impl Store {
    /// Puts the runs of an export in, and takes whatever else the dataset has of that export, or of runs of the same content, out of it.
    ///
    /// They are there for readers, and after a kill, once the manifest is saved.
    pub(crate) fn put(&self, runs: &[RunMeasures]) -> Result<()> {
        ensure!(!runs.is_empty(), "a data file without runs");
        let known = runs.iter().map(known_of_run).collect();
        self.put_rows(Rows { runs, failures: &[], known, replaced: Replaced::by_runs(runs) })
    }

    /// Puts in that a file gave no run, and takes the runs that it gave before out of the dataset.
    pub(crate) fn put_failure(&self, failure: &FailedInput) -> Result<()> {
        let failures = std::slice::from_ref(failure);
        let known = vec![known_of_failure(failure)];
        self.put_rows(Rows { runs: &[], failures, known, replaced: Replaced::by_failure(failure) })
    }

    /// The record of a run that the dataset has.
    pub(crate) fn record(&self, run_id: &str) -> Result<Option<RunRecord>> {
        let found = self.find(
            |index| index.file_of_run(run_id),
            |row| matches!(row, DatasetRow::Run(run) if run.record.run_id == run_id),
        )?;
        Ok(match found {
            Some(DatasetRow::Run(run)) => Some(run.record),
            Some(DatasetRow::Failed(_)) | None => None,
        })
    }

    /// The failure that the dataset has of a file.
    pub(crate) fn failure(&self, source: &str) -> Result<Option<FailedInput>> {
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
        // While nobody writes the file anew.
        let state = self.indexed()?;
        let Some(id) = file(&state.index) else { return Ok(None) };
        let named = |error| self.folder.name_file(id, error);
        let mut rows = DatasetRow::records(self.folder.open_table(DatasetTable::Runs, id)?).map_err(named)?;
        rows.find(|row| row.as_ref().map_or(true, &mut is_row)).transpose().map_err(named)
    }

    /// Takes all that exports gave out of the dataset.
    pub(crate) fn forget(&self, sources: &HashSet<String>) -> Result<()> {
        self.check_writer()?;
        let mut state = self.indexed()?;
        self.begin_change(&mut state)?;
        take_out(&mut state, &Replaced::by_sources(sources));
        Ok(())
    }

    /// Writes the manifest with all changes.
    pub(crate) fn save(&self) -> Result<()> {
        self.check_writer()?;
        let mut state = self.indexed()?;
        self.save_state(&mut state)
    }

    pub(super) fn save_state(&self, state: &mut State) -> Result<()> {
        let began = Instant::now();
        self.flush(state)?;
        state.save(&self.folder)?;
        state.count_cost(began);
        Ok(())
    }

    /// A dataset that is being changed is not complete: a reader would otherwise take files of a killed process for those of others.
    pub(super) fn begin_change(&self, state: &mut State) -> Result<()> {
        if state.manifest.inputs.is_incomplete() {
            return Ok(());
        }
        state.manifest.inputs.is_complete = Some(false);
        state.save(&self.folder)
    }

    fn put_rows(&self, rows: Rows<'_>) -> Result<()> {
        self.check_writer()?;
        // Outside the lock: this is the work, and several threads put at a time.
        let tables = rows.encode()?;
        let written = self.new_name();
        self.write_temporary(&written, &tables)?;
        let file = rows.data_file(&tables)?;
        drop(tables);
        let mut state = self.indexed()?;
        self.begin_change(&mut state)?;
        let id = file.id();
        self.folder.publish(&written, &id)?;
        take_out(&mut state, &rows.replaced);
        state.add(&id, file, rows.known);
        Ok(())
    }

    /// A temporary name that no file has.
    pub(super) fn new_name(&self) -> String {
        format!("new-{}", self.written.fetch_add(1, Ordering::Relaxed))
    }

    /// Writes the files of a data file, in the order of [`DatasetTable::ALL`], under temporary names. They are on the disk when this
    /// returns: the files that they replace are removed later, and power may fail.
    fn write_temporary(&self, name: &str, tables: &[Vec<u8>]) -> Result<()> {
        let mut files = Vec::new();
        for (table, bytes) in DatasetTable::ALL.into_iter().zip(tables) {
            let mut file = self.folder.create_temporary(table, name)?;
            step()?;
            let written = std::io::Write::write_all(&mut file, bytes);
            written.with_context(|| self.cannot_be_written(table, name))?;
            files.push((table, file));
        }
        // All at once they take as long as one.
        std::thread::scope(|scope| {
            let syncs: Vec<_> = files.iter().map(|(table, file)| (*table, scope.spawn(|| file.sync_all()))).collect();
            syncs.into_iter().try_for_each(|(table, sync)| {
                let synced = sync.join().unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()));
                synced.with_context(|| self.cannot_be_written(table, name))
            })
        })
    }

    pub(super) fn cannot_be_written(&self, table: DatasetTable, name: &str) -> String {
        format!("{}: cannot be written", self.folder.temporary(table, name).display())
    }
}

/// Takes exports and runs out of the data files that hold them: out of the index now, and out of the files when the manifest is saved, so
/// that a large file is written anew once for many of them.
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

/// The rows that are put in.
struct Rows<'r> {
    runs: &'r [RunMeasures],
    failures: &'r [FailedInput],
    known: Vec<KnownRun>,
    replaced: Replaced,
}

impl Rows<'_> {
    /// The files, in the order of [`DatasetTable::ALL`].
    fn encode(&self) -> Result<Vec<Vec<u8>>> {
        let encode = |table: DatasetTable| {
            let mut bytes = Vec::new();
            table.write(self.runs, self.failures, &mut bytes)?;
            Ok(bytes)
        };
        let source = self.known.first().map_or("", |known| known.source.as_str());
        let tables: Result<Vec<_>> = DatasetTable::ALL.into_iter().map(encode).collect();
        tables.with_context(|| format!("{source}: cannot be put into the dataset"))
    }

    /// Their entry in the manifest.
    fn data_file(&self, tables: &[Vec<u8>]) -> Result<DataFile> {
        let tables = DatasetTable::ALL.into_iter().zip(tables).map(|(table, bytes)| measure_bytes(table, bytes));
        let [runs, failed] = [self.runs.len(), self.failures.len()].map(|count| count as u64);
        Ok(DataFile { runs, failed, tables: tables.collect::<Result<_>>()? })
    }
}
