//! A dataset on disk: a folder with a subfolder per table, and a manifest that lists the dataset's files.
//!
//! A data file contains the rows of one `put`, or of several that were merged; its id is a hash of its content. An export is in one data file at
//! a time: putting it again removes it from all others. Changes stay in memory until [`Store::save`] writes the manifest, after which unused
//! files are deleted.

mod changes;
mod engine_written;
mod folder;
mod manifest;
mod merge;
mod part;
mod progress;
mod read;
mod shards;
mod stamps;
mod state;

use std::any::Any;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::Storage;
use crate::fleet::error::{Context, FleetError, Result, bail, ensure, error};
use crate::fleet::{DatasetTable, FleetSelection, KnownRun};
use crate::settings::SHARD;
use rayon::prelude::*;

use folder::{Folder, LOCK, MANIFEST, OWED, STAMPS};
use manifest::Manifest;
pub use manifest::{MadeWith, NamedFiles};
pub(crate) use manifest::{Merged, SourceSum};
pub use merge::MergedFacts;
pub(crate) use shards::RecordingList;
pub use shards::{ShardPlan, Shards};
pub(crate) use stamps::SourceStamps;
pub use stamps::{InputKind, InputState};
pub use state::Known;
use state::{State, Waiting};

/// A dataset that is open for reading or writing. Any number of processes may read it, or one may write it.
#[derive(Debug)]
pub struct Store {
    folder: Folder,
    /// Also locked during changes on disk, to serialise them.
    state: Mutex<State>,
    /// If both are locked, `state` must be first.
    waiting: Mutex<Waiting>,
    /// Held while buffered rows are written. Must be locked before `state`.
    writing: Mutex<()>,
    /// The number of temporary names used so far.
    written: AtomicU64,
    /// The number of runs in data files that someone deleted. The dataset no longer contains them.
    lost_runs: u64,
    is_writer: bool,
    /// True if an engine wrote the dataset: there is no manifest, and all files in the folder belong to it.
    is_engine_written: bool,
    /// Held until the store is dropped. `None` if the storage is read-only.
    _lock: Option<Box<dyn Any + Send + Sync>>,
}

impl Store {
    /// The target number of function rows in a data file. This many rows take a few tens of megabytes.
    pub(crate) const PART_ROWS: u64 = 4_000_000;
    /// The name of the manifest in a dataset's folder.
    pub const MANIFEST: &str = MANIFEST;
    /// The list of hashed exports, which need not be hashed again while unchanged.
    pub const STAMPS: &str = STAMPS;
    /// The list of exports that extracts have not finished.
    pub const OWED: &str = OWED;

    /// True if a folder is a dataset, from this crate or an engine.
    pub fn is_dataset(storage: &Arc<dyn Storage>, path: &Path) -> bool {
        let folder = Folder::new(storage, path);
        folder.is_dataset() || folder.is_engine_written()
    }

    /// True if a process was killed while turning a folder into a dataset.
    pub fn is_begun(storage: &Arc<dyn Storage>, path: &Path) -> bool {
        let folder = Folder::new(storage, path);
        folder.is_file(&path.join(LOCK)) && folder.is_in_use().is_ok_and(|is_in_use| !is_in_use)
    }

    /// Opens a dataset for writing, or creates one in a new or empty folder. Removes the leftovers of killed processes.
    ///
    /// # Errors
    /// If the folder has other contents, another process uses it, or its files are damaged.
    pub fn create_or_open(storage: &Arc<dyn Storage>, path: &Path) -> Result<Self> {
        let folder = Folder::new(storage, path);
        storage.create_folder(path).with_context(|| {
            format!("{}: the folder cannot be created; choose a new or empty folder", path.display())
        })?;
        if !folder.is_dataset() && folder.is_in_use()? {
            bail!("{}: not empty and not a dataset; choose a new or empty folder", path.display());
        }
        let lock = match storage.lock(&path.join(LOCK), true) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(busy(path)),
            lock => lock.with_context(|| format!("{}: cannot be written to", path.display()))?,
        };
        let is_new = !folder.is_dataset();
        let manifest = if is_new { Manifest::new() } else { Manifest::read(&folder)? };
        let mut store = Self::new(folder, manifest, true, Some(lock));
        store.prepare(is_new)?;
        Ok(store)
    }

    fn new(folder: Folder, manifest: Manifest, is_writer: bool, lock: Option<Box<dyn Any + Send + Sync>>) -> Self {
        let state = Mutex::new(State::new(manifest));
        let (waiting, writing, written) = (Mutex::default(), Mutex::default(), AtomicU64::new(0));
        Self {
            folder,
            state,
            waiting,
            writing,
            written,
            lost_runs: 0,
            is_writer,
            is_engine_written: false,
            _lock: lock,
        }
    }

    /// Makes the manifest and the folder agree.
    fn prepare(&mut self, is_new: bool) -> Result<()> {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if is_new {
            state.save(&self.folder)?;
        }
        self.folder.create_tables()?;
        self.folder.remove_unfinished()?;
        let incomplete = self.folder.check_files(&state.manifest)?;
        let unnamed = self.folder.unnamed(&state.manifest)?;
        let own = self.folder.noted_unnamed();
        if let Some((table, id)) = unnamed.iter().find(|(_, id)| !own.contains(id)) {
            // No extract left this file, so someone copied it here, and it may be the only copy.
            let file = self.folder.file(*table, id);
            let folder = self.folder.path.display();
            bail!("{}: not a file of the dataset {folder}; move it to another folder", file.display());
        }
        unnamed.iter().try_for_each(|(table, id)| self.folder.remove_file(&self.folder.file(*table, id)))?;
        self.folder.forget_unnamed()?;
        if !incomplete.is_empty() {
            let removed = incomplete.iter().filter_map(|id| state.remove(id));
            self.lost_runs = removed.map(|file| file.runs).sum();
            state.manifest.inputs.is_complete = Some(false);
            self.note_lost()?;
        }
        Ok(())
    }

    /// The number of runs in data files that someone has deleted.
    pub fn lost_runs(&self) -> u64 {
        self.lost_runs
    }

    /// Checks that this version can read a dataset.
    ///
    /// # Errors
    /// If it is not a dataset, was written by a newer version, or is damaged.
    pub fn check(storage: &Arc<dyn Storage>, path: &Path) -> Result<()> {
        let folder = Folder::new(storage, path);
        if folder.is_engine_written() {
            return folder.check_engine_written();
        }
        let name = path.display();
        ensure!(
            !Self::is_begun(storage, path),
            "{name}: no dataset yet, since the command that created it was killed; run that command again, or remove the folder"
        );
        ensure!(folder.is_dataset(), "{name}: not a dataset; make one with `traceparse fleet extract`");
        Manifest::read(&folder).map(drop)
    }

    /// Lists the files of a dataset.
    ///
    /// # Errors
    /// If its folders cannot be read.
    pub fn files(storage: &Arc<dyn Storage>, path: &Path) -> Result<Vec<PathBuf>> {
        Folder::new(storage, path).files()
    }

    /// Opens a dataset for reading, and checks that its files have not changed.
    ///
    /// # Errors
    /// If [`check`](Self::check) fails, another process is writing to the dataset, or a file is missing or has changed.
    pub fn open(storage: &Arc<dyn Storage>, path: &Path) -> Result<Self> {
        Self::check(storage, path)?;
        let folder = Folder::new(storage, path);
        if folder.is_engine_written() {
            return Ok(Self { is_engine_written: true, ..Self::new(folder, Manifest::unknown(), false, None) });
        }
        let held = match storage.lock(&path.join(LOCK), false) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(busy(path)),
            // Read-only storage: no process can write, so no lock is needed.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => None,
            lock => Some(lock.with_context(|| format!("{}: cannot be locked", path.display()))?),
        };
        let manifest = Manifest::read(&folder)?;
        if let Some(id) = folder.check_files(&manifest)?.first() {
            bail!("{}", folder.missing(id));
        }
        Ok(Self::new(folder, manifest, false, held))
    }

    /// The selection with which the runs were measured.
    pub fn selection(&self) -> FleetSelection {
        self.state().manifest.selection.clone()
    }

    /// Stores the selection in an empty dataset, or checks that a dataset has the same one, since runs with different selections are not
    /// comparable.
    pub fn select(&self, selection: &FleetSelection) -> Result<()> {
        self.check_writer()?;
        let mut state = self.state();
        let own = state.manifest.selection.clone();
        if own == *selection {
            return Ok(());
        }
        if state.manifest.files.is_empty() {
            state.manifest.selection = selection.clone();
            return state.save(&self.folder);
        }
        let [own, asked] = [&own, selection].map(described);
        let name = self.folder.path.display();
        bail!(
            "{name}: measured with a different selection ({own}) from this one ({asked}); repeat its options, or \
             choose another folder"
        )
    }

    /// The shards in the dataset; `None` if it is not sharded.
    pub fn shards(&self) -> Option<Shards> {
        self.state().manifest.shards.clone()
    }

    /// Stores the shard in an empty dataset, or checks that a dataset has the same one.
    pub fn take_shard(&self, shard: Option<Shards>) -> Result<()> {
        self.check_writer()?;
        let mut state = self.state();
        let key = |shards: &Option<Shards>| shards.as_ref().map(|shards| (shards.count, shards.have.clone()));
        let (is_same, is_new) = (key(&state.manifest.shards) == key(&shard), state.manifest.files.is_empty());
        if is_same || (is_new && state.manifest.shards.is_none()) {
            state.manifest.shards = shard;
            return Ok(());
        }
        let name = |shards: &Option<Shards>| shards.as_ref().map_or("whole fleets".to_owned(), Shards::name);
        let (own, asked) = (name(&state.manifest.shards), name(&shard));
        bail!(
            "{}: a dataset of {own}, but this extract is for {asked}; repeat its {SHARD}, or choose another folder",
            self.folder.path.display()
        )
    }

    /// Returns the exports in the dataset, keyed by path.
    pub fn known(&self) -> Result<HashMap<String, Known>> {
        self.write_waiting()?;
        Ok(self.indexed()?.index.known())
    }

    /// The settings of the last extract.
    pub fn made_with(&self) -> MadeWith {
        self.state().manifest.made_with.clone()
    }

    /// The merge that wrote the dataset, if any.
    pub(crate) fn merged(&self) -> Option<Merged> {
        self.state().manifest.merged.clone()
    }

    /// The stamps that identify unchanged exports; empty if unreadable.
    pub(crate) fn stamps(&self) -> SourceStamps {
        self.folder.read_own(STAMPS).map(|text| SourceStamps::from_json(&text)).unwrap_or_default()
    }

    /// Saves stamps for the next extract.
    pub(crate) fn save_stamps(&self, stamps: &SourceStamps) -> Result<()> {
        self.check_writer()?;
        self.folder.write_own(STAMPS, &format!("{:#}\n", stamps.to_json()))
    }

    fn check_writer(&self) -> Result<()> {
        ensure!(self.is_writer, "{}: is open read-only", self.folder.path.display());
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the state, reading the index on first use.
    fn indexed(&self) -> Result<MutexGuard<'_, State>> {
        if !self.state().is_indexed {
            let read = |id: &String| {
                let runs = KnownRun::all(self.folder.open_table(DatasetTable::Runs, id)?);
                runs.map_err(|error| self.folder.name_file(id, error))
            };
            let ids = self.data_files()?;
            let runs: Vec<_> = ids.par_iter().map(read).collect::<Result<_>>()?;
            let mut state = self.state();
            if !state.is_indexed {
                ids.iter().zip(runs).for_each(|(id, runs)| state.index.insert(id, runs));
                state.is_indexed = true;
            }
        }
        Ok(self.state())
    }
}

/// Describes a selection in words.
pub(crate) fn described(selection: &FleetSelection) -> String {
    if selection.is_whole() { "whole recordings".to_owned() } else { selection.to_string() }
}

fn busy(path: &Path) -> FleetError {
    error!("{}: another traceparse is using this dataset; wait until it is done", path.display())
}
