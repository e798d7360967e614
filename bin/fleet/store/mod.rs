//! A dataset on disk: a folder with a folder for each table, and a manifest that names the files which belong to it.
//!
//! A data file is what one `put` wrote, or a part that several were merged into; its id is a hash of its content. An export is in one
//! data file at a time; putting it again takes it out of wherever it is. Changes are in memory until [`Store::save`] writes the
//! manifest, and files that it names no more are removed after that.

mod changes;
mod compact;
mod contents;
mod folder;
mod index;
mod kind;
mod lost;
mod manifest;
mod measured;
mod merge;
#[cfg(feature = "object-store")]
mod named_files;
mod owed;
mod part;
mod progress;
mod read;
mod rewritten;
mod shards;
mod shared_row;
mod stamps;
mod state;
mod waiting;

// For tests/fleet_store; the tests of the command do not use it.
#[cfg(test)]
#[allow(unused_imports)]
pub(crate) use folder::tests_only;

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use traceparse::fleet::{DatasetTable, FleetSelection, KnownRun};

#[allow(unused_imports)]
pub(crate) use folder::STAMPS;
use folder::{Folder, LOCK};
pub(crate) use index::Known;
use kind::Contents;
// Not all tests that have the store extract.
#[allow(unused_imports)]
pub(crate) use lost::SourceSum;
use manifest::Manifest;
pub(crate) use manifest::{MadeWith, Merged};
// Not all programs that have the store merge.
#[allow(unused_imports)]
pub(crate) use merge::MergedFacts;
// Not all tests that have the store have object stores.
#[cfg(feature = "object-store")]
#[allow(unused_imports)]
pub(crate) use folder::{MANIFEST, OWED};
#[cfg(feature = "object-store")]
#[allow(unused_imports)]
pub(crate) use named_files::NamedFiles;
// Not all tests that have the store divide recordings.
#[allow(unused_imports)]
pub(crate) use shards::{Plan, RecordingList, Shards};
// Not all tests that have the store name its rows.
#[allow(unused_imports)]
pub(crate) use shared_row::SharedRow;
pub(crate) use stamps::SourceStamps;
use state::State;
use waiting::Waiting;

/// A dataset that is open, for reading or for writing. Any number of processes may read it, or one may write.
#[derive(Debug)]
pub(crate) struct Store {
    folder: Folder,
    /// Also held during changes on disk, which are made one after the other.
    state: Mutex<State>,
    /// Locked after `state`, if both are.
    waiting: Mutex<Waiting>,
    /// Held while waiting rows are written. Locked before `state`.
    writing: Mutex<()>,
    /// Temporary names that were given.
    written: AtomicU64,
    /// Runs of data files that somebody deleted, so that they are no part of it any more.
    lost_runs: u64,
    is_writer: bool,
    contents: Contents,
    /// Held until the store is dropped. `None` on file systems that cannot lock, and for reading where nothing can be written.
    _lock: Option<File>,
}

impl Store {
    /// True if a folder is a dataset, or one that an engine rewrote.
    pub(crate) fn is_dataset(path: &Path) -> bool {
        let folder = Folder { path: path.to_owned() };
        folder.is_dataset() || folder.is_rewritten()
    }

    /// True if a process was killed before it had made a dataset of a folder.
    pub(crate) fn is_begun(path: &Path) -> bool {
        let folder = Folder { path: path.to_owned() };
        path.join(LOCK).is_file() && folder.is_in_use().is_ok_and(|is_in_use| !is_in_use)
    }

    /// Opens a dataset for writing, and makes one where there is nothing or an empty folder. Removes what a killed process left.
    pub(crate) fn create_or_open(path: &Path) -> Result<Self> {
        let folder = Folder { path: path.to_owned() };
        std::fs::create_dir_all(path).with_context(|| format!("{}: cannot be made", path.display()))?;
        if !folder.is_dataset() && folder.is_in_use()? {
            bail!("{}: not empty, and not a dataset; name a new or empty folder", path.display());
        }
        let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
        let lock = lock.with_context(|| format!("{}: cannot be written to", path.display()))?;
        let lock = locked(path, lock, File::try_lock)?;
        let is_new = !folder.is_dataset();
        let manifest = if is_new { Manifest::new() } else { Manifest::read(path)? };
        let mut store = Self::new(folder, manifest, true, lock);
        store.prepare(is_new)?;
        Ok(store)
    }

    fn new(folder: Folder, manifest: Manifest, is_writer: bool, lock: Option<File>) -> Self {
        let state = Mutex::new(State::new(manifest));
        let contents = Contents::Listed;
        let (waiting, writing, written) = (Mutex::default(), Mutex::default(), AtomicU64::new(0));
        Self { folder, state, waiting, writing, written, lost_runs: 0, is_writer, contents, _lock: lock }
    }

    /// Makes manifest and folder agree.
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
            // No extract left it, so somebody copied it here. It may be the only copy.
            let file = self.folder.file(*table, id);
            let folder = self.folder.path.display();
            bail!("{}: not a file of the dataset {folder}; move it to another folder", file.display());
        }
        unnamed.iter().try_for_each(|(table, id)| folder::remove_file(&self.folder.file(*table, id)))?;
        self.folder.forget_unnamed()?;
        if !incomplete.is_empty() {
            let removed = incomplete.iter().filter_map(|id| state.remove(id));
            self.lost_runs = removed.map(|file| file.runs).sum();
            state.manifest.inputs.is_complete = Some(false);
            self.note_lost()?;
        }
        Ok(())
    }

    /// The number of runs in data files that somebody deleted since the dataset was written.
    pub(crate) fn lost_runs(&self) -> u64 {
        self.lost_runs
    }

    /// Checks that this program can use a dataset.
    pub(crate) fn check(path: &Path) -> Result<()> {
        let folder = Folder { path: path.to_owned() };
        if folder.is_rewritten() {
            return folder.check_rewritten();
        }
        let name = path.display();
        ensure!(
            !Self::is_begun(path),
            "{name}: no dataset yet, since a process was killed before it made one; run it again, or remove the folder"
        );
        ensure!(folder.is_dataset(), "{name}: not a dataset; make one with `traceparse fleet extract`");
        Manifest::read(path).map(drop)
    }

    /// The files of a dataset.
    pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
        Folder { path: path.to_owned() }.files()
    }

    /// Opens a dataset for reading, and checks that its files are those that were written.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::check(path)?;
        let folder = Folder { path: path.to_owned() };
        if folder.is_rewritten() {
            return Ok(Self { contents: Contents::Rewritten, ..Self::new(folder, Manifest::unknown(), false, None) });
        }
        let held = match File::open(path.join(LOCK)) {
            Ok(lock) => locked(path, lock, File::try_lock_shared)?,
            // Where only reading is allowed, nobody has to write.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => None,
            Err(error) => return Err(error).with_context(|| format!("{}: cannot be locked", path.display())),
        };
        let manifest = Manifest::read(path)?;
        if let Some(id) = folder.check_files(&manifest)?.first() {
            bail!(folder.missing(id));
        }
        Ok(Self::new(folder, manifest, false, held))
    }

    /// The selection that the runs were measured with.
    pub(crate) fn selection(&self) -> FleetSelection {
        self.state().manifest.selection.clone()
    }

    /// Makes it a dataset of this selection, or checks that it is one: runs of unlike selections cannot be compared.
    pub(crate) fn select(&self, selection: &FleetSelection) -> Result<()> {
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
            "{name}: measured with another selection ({own}) than this one ({asked}); repeat its options, or name another folder"
        )
    }

    /// The shards that it has, if it is of some.
    pub(crate) fn shards(&self) -> Option<Shards> {
        self.state().manifest.shards.clone()
    }

    /// Makes it a dataset of this shard, or of a whole fleet, or checks that it is one.
    pub(crate) fn take_shard(&self, shard: Option<Shards>) -> Result<()> {
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
            "{}: a dataset of {own}, but this extract is of {asked}; repeat its --shard, or name another folder",
            self.folder.path.display()
        )
    }

    /// The exports that the dataset knows, by their path.
    pub(crate) fn known(&self) -> Result<HashMap<String, Known>> {
        self.write_waiting()?;
        Ok(self.indexed()?.index.known())
    }

    /// The settings of the last extract.
    pub(crate) fn made_with(&self) -> MadeWith {
        self.state().manifest.made_with.clone()
    }

    /// The merge that wrote it, if one did.
    pub(crate) fn merged(&self) -> Option<Merged> {
        self.state().manifest.merged.clone()
    }

    /// The stamps that tell which exports are as they were when they were hashed. If they cannot be read, there are none.
    pub(crate) fn stamps(&self) -> SourceStamps {
        let text = crate::bounds::read_file(self.folder.path.join(STAMPS), crate::bounds::OWN_FILE);
        text.map(|text| SourceStamps::from_json(&text)).unwrap_or_default()
    }

    /// Keeps stamps for the next time.
    pub(crate) fn save_stamps(&self, stamps: &SourceStamps) -> Result<()> {
        self.check_writer()?;
        self.folder.write_whole(STAMPS, &format!("{:#}\n", stamps.to_json()))
    }

    fn check_writer(&self) -> Result<()> {
        ensure!(self.is_writer, "{}: is open for reading", self.folder.path.display());
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state with its index, which is read when it is asked for first.
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

/// What was selected, in words.
pub(crate) fn described(selection: &FleetSelection) -> String {
    if selection.is_whole() { "whole recordings".to_owned() } else { selection.to_string() }
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
