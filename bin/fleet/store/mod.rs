//! A dataset on disk: a folder with a folder for each table.
//!
//! A data file is what one `put` wrote, under the id of its first run, which is a hash of the export: extracting an export
//! again overwrites its file. [`Store::compact`] merges small data files into parts. An export is in one data file
//! at a time; putting it again takes it out of wherever it is.

mod compact;
mod folder;
mod index;
mod interruption;
mod journal;
mod read;
mod stamps;

// For tests/fleet_store.rs; the tests of the command do not use it.
#[cfg(test)]
#[allow(unused_imports)]
pub(crate) use folder::tests_only;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use traceparse::fleet::{DatasetRow, DatasetTable, FleetSelection, KnownRun};
use traceparse::fleet::{FailedInput, RunMeasures};

use folder::{Folder, LOCK, check_id, step};
pub(crate) use index::Known;
use index::{Index, Replaced, known_of_failure, known_of_run};
pub(crate) use interruption::Unfinished;
use journal::Journal;
pub(crate) use stamps::SourceStamps;

const STAMPS: &str = "sources.json";

/// A dataset that is open, for reading or for writing. Any number of processes may read it, or one may write.
#[derive(Debug)]
pub(crate) struct Store {
    folder: Folder,
    /// The contents of the tables `runs`, once they were asked for. Also held during changes on disk, which are made one after the other.
    index: Mutex<Option<Index>>,
    is_writer: bool,
    /// Held until the store is dropped. `None` on file systems that cannot lock, and for reading where nothing can be written.
    _lock: Option<File>,
}

impl Store {
    /// True if a folder is a dataset.
    pub(crate) fn is_dataset(path: &Path) -> bool {
        Folder { path: path.to_owned() }.is_dataset()
    }

    /// Opens a dataset for writing, and makes one where there is nothing or an empty folder. Finishes what a killed process
    /// began, and removes what it left.
    pub(crate) fn create_or_open(path: &Path) -> Result<Self> {
        let folder = Folder { path: path.to_owned() };
        std::fs::create_dir_all(path).with_context(|| format!("{}: cannot be made", path.display()))?;
        if !folder.is_dataset() && folder.is_in_use()? {
            bail!("{}: not empty, and not a dataset; name a new or empty folder", path.display());
        }
        let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
        let lock = lock.with_context(|| format!("{}: cannot be written to", path.display()))?;
        let lock = locked(path, lock, File::try_lock)?;
        folder.create()?;
        folder.raise_version()?;
        Journal::recover(&folder)?;
        folder.remove_incomplete()?;
        folder.remove_leftovers()?;
        Ok(Self { folder, index: Mutex::new(None), is_writer: true, _lock: lock })
    }

    /// Checks that this program can use a dataset.
    pub(crate) fn check(path: &Path) -> Result<()> {
        let folder = Folder { path: path.to_owned() };
        ensure!(folder.is_dataset(), "{}: not a dataset; make one with `traceparse fleet extract`", path.display());
        folder.check_marker().map(drop)
    }

    /// The files of a dataset.
    pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
        Folder { path: path.to_owned() }.files()
    }

    /// Opens a dataset for reading.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::check(path)?;
        let folder = Folder { path: path.to_owned() };
        let lock = || match File::open(path.join(LOCK)) {
            Ok(lock) => locked(path, lock, File::try_lock_shared),
            Err(_) => Ok(None),
        };
        let mut held = lock()?;
        if Journal::exists(&folder) {
            // Nobody writes, so it was interrupted, and some runs have no files until it is done.
            drop(held.take());
            drop(Self::create_or_open(path).context("a compaction was interrupted, and has to be finished first")?);
            held = lock()?;
        }
        Ok(Self { folder, index: Mutex::new(None), is_writer: false, _lock: held })
    }

    /// The selection that the runs were measured with.
    pub(crate) fn selection(&self) -> Result<FleetSelection> {
        self.folder.selection()
    }

    /// Makes it a dataset of this selection, or checks that it is one: runs of unlike selections cannot be compared.
    pub(crate) fn select(&self, selection: &FleetSelection) -> Result<()> {
        self.check_writer()?;
        let own = self.folder.selection()?;
        if own == *selection {
            return Ok(());
        }
        if self.folder.ids()?.is_empty() {
            return self.folder.write_marker(selection);
        }
        let [own, asked] = [&own, selection].map(|selection| match selection.is_whole() {
            true => "whole recordings".to_owned(),
            false => selection.to_string(),
        });
        let name = self.folder.path.display();
        bail!(
            "{name}: measured with another selection ({own}) than this one ({asked}); repeat its options, or name another folder"
        )
    }

    /// The exports that the dataset knows, by their path.
    pub(crate) fn known(&self) -> Result<HashMap<String, Known>> {
        self.with_index(|index| Ok(index.known()))
    }

    /// The keys of the labels of each run, by its id.
    pub(crate) fn label_keys(&self) -> Result<HashMap<String, BTreeSet<String>>> {
        self.with_index(|index| {
            let read = |id: &String| {
                let keys = KnownRun::label_keys(self.folder.open_table(DatasetTable::Labels, id)?);
                keys.map_err(|error| self.folder.name_file(id, error))
            };
            let files: Vec<&String> = index.files().collect();
            let mut keys: HashMap<String, BTreeSet<String>> = HashMap::new();
            for (run, key) in files.into_par_iter().map(read).collect::<Result<Vec<_>>>()?.into_iter().flatten() {
                keys.entry(run).or_default().insert(key);
            }
            Ok(keys)
        })
    }

    /// Writes the runs of an export as the data file `id`, and takes whatever else the dataset has of that export, or of runs
    /// of the same content, out of it.
    ///
    /// Many exports that are to be replaced should be forgotten first: a part is written anew for each call. A kill in between
    /// leaves the dataset without the export.
    pub(crate) fn put(&self, id: &str, runs: &[RunMeasures]) -> Result<()> {
        check_id(id)?;
        ensure!(!runs.is_empty(), "a data file without runs");
        let known = runs.iter().map(known_of_run).collect();
        self.put_rows(id, Rows { runs, failures: &[], known, replaced: Replaced::by_runs(runs) })
    }

    /// Writes that a file gave no run, and takes the runs that it gave before out of the dataset.
    pub(crate) fn put_failure(&self, failure: &FailedInput) -> Result<()> {
        // By path: its content may be that of another file, which has its own data file.
        let id = format!("failed-{}", &blake3::hash(failure.source.as_bytes()).to_hex()[..32]);
        let failures = std::slice::from_ref(failure);
        let known = vec![known_of_failure(failure)];
        self.put_rows(&id, Rows { runs: &[], failures, known, replaced: Replaced::by_failure(failure) })
    }

    /// Takes all that exports gave out of the dataset.
    pub(crate) fn forget(&self, sources: &HashSet<String>) -> Result<()> {
        self.check_writer()?;
        self.with_index(|index| self.take_out(index, &Replaced::by_sources(sources)))
    }

    /// Gives every run to `each`, in the order of data files and in their order, and returns what gave none. Some runs are in
    /// memory at a time.
    pub(crate) fn read(&self, mut each: impl FnMut(RunMeasures) -> Result<()>) -> Result<Vec<FailedInput>> {
        let mut failures = Vec::new();
        let ids = self.folder.ids()?.into_iter().collect();
        self.folder.read_in_order(ids, |row| match row {
            DatasetRow::Run(run) => each(*run),
            DatasetRow::Failed(failure) => {
                failures.push(failure);
                Ok(())
            }
        })?;
        Ok(failures)
    }

    /// The stamps that tell which exports are as they were when they were hashed. If they cannot be read, there are none.
    pub(crate) fn stamps(&self) -> SourceStamps {
        let text = crate::bounds::read_file(self.folder.path.join(STAMPS), crate::bounds::OWN_FILE);
        text.map(|text| SourceStamps::from_json(&text)).unwrap_or_default()
    }

    /// Keeps stamps for the next time.
    pub(crate) fn save_stamps(&self, stamps: &SourceStamps) -> Result<()> {
        self.check_writer()?;
        self.folder.write_whole(STAMPS, &stamps.to_json())
    }

    fn check_writer(&self) -> Result<()> {
        ensure!(self.is_writer, "{}: is open for reading", self.folder.path.display());
        Ok(())
    }

    fn put_rows(&self, id: &str, rows: Rows<'_>) -> Result<()> {
        self.check_writer()?;
        // Outside the lock: this is the work, and several threads put at a time.
        self.write_temporary(id, &rows.encode()?)?;
        self.with_index(|index| {
            self.take_out(index, &rows.replaced)?;
            if index.has(id) {
                // Its rows are of this export too, or of one whose content begins with the same run.
                index.remove(id);
                self.folder.remove(id)?;
            }
            self.folder.publish(id)?;
            index.insert(id, rows.known);
            Ok(())
        })
    }

    /// Writes the files of a data file, in the order of [`DatasetTable::ALL`], under temporary names. They are on the disk when this
    /// returns: the files that they replace are removed next, and power may fail.
    fn write_temporary(&self, id: &str, tables: &[Vec<u8>]) -> Result<()> {
        let mut files = Vec::new();
        for (table, bytes) in DatasetTable::ALL.into_iter().zip(tables) {
            let mut file = self.folder.create_temporary(table, id)?;
            step()?;
            let written = std::io::Write::write_all(&mut file, bytes);
            written.with_context(|| self.cannot_be_written(table, id))?;
            files.push((table, file));
        }
        // All at once they take as long as one.
        std::thread::scope(|scope| {
            let syncs: Vec<_> = files.iter().map(|(table, file)| (*table, scope.spawn(|| file.sync_all()))).collect();
            syncs.into_iter().try_for_each(|(table, sync)| {
                let synced = sync.join().unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()));
                synced.with_context(|| self.cannot_be_written(table, id))
            })
        })
    }

    /// Runs `change` with the index, which is read when it is asked for first.
    fn with_index<T>(&self, change: impl FnOnce(&mut Index) -> Result<T>) -> Result<T> {
        let mut guard: MutexGuard<'_, Option<Index>> = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = match guard.take() {
            Some(index) => index,
            None => self.read_index()?,
        };
        // After an error it is read anew: who knows how much was changed.
        let result = change(&mut index)?;
        *guard = Some(index);
        Ok(result)
    }

    fn read_index(&self) -> Result<Index> {
        let ids: Vec<String> = self.folder.ids()?.into_iter().collect();
        let read = |id: String| {
            let runs = KnownRun::all(self.folder.open_table(DatasetTable::Runs, &id)?);
            let runs = runs.map_err(|error| self.folder.name_file(&id, error))?;
            Ok((id, runs))
        };
        let files: Vec<_> = ids.into_par_iter().map(read).collect::<Result<_>>()?;
        let mut index = Index::default();
        files.into_iter().for_each(|(id, runs)| index.insert(&id, runs));
        Ok(index)
    }
}

/// The rows that are put under an id.
struct Rows<'r> {
    runs: &'r [RunMeasures],
    failures: &'r [FailedInput],
    known: Vec<traceparse::fleet::KnownRun>,
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
}

/// The lock, taken; `None` where the file system has no locks.
fn locked(path: &Path, lock: File, take: impl FnOnce(&File) -> Result<(), TryLockError>) -> Result<Option<File>> {
    match take(&lock) {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another traceparse is using this dataset; wait until it is done", path.display())
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
