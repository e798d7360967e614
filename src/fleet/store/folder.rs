//! The files of a dataset: their names, and how they are created and deleted.
//!
//! ```text
//! DIR/traceparse-dataset.json      the manifest, which lists all files of the dataset (manifest.rs)
//! DIR/sources.json                 exports that need not be hashed again
//! DIR/owed.json                    exports that extracts have not finished
//! DIR/runs/ID.parquet              a data file: one Parquet file in the folder of each table, with the same id
//! DIR/labels/ID.parquet …
//! DIR/frames/.ID.tmp               incomplete; no glob for `*.parquet` matches it
//! DIR/.unnamed                     ids of data files that a killed process may have left outside the manifest
//! DIR/.lock                        held while the dataset is in use
//! ```
//!
//! A data file's id is a hash of its content, so a name never refers to other content. Only files listed in the manifest belong to the dataset.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{Entry, Storage, StorageFile};
use crate::fleet::DatasetTable;
use crate::fleet::error::{Context, FleetError, Result};

pub(super) const MANIFEST: &str = "traceparse-dataset.json";
pub(super) const LOCK: &str = ".lock";
/// The file with the stamps of exports, which only saves time.
pub(super) const STAMPS: &str = "sources.json";
/// The list of files that extracts have not finished.
pub(super) const OWED: &str = "owed.json";
/// The ids of data files before the manifest lists them, and after it no longer does. It distinguishes the leftovers of a killed process from
/// files that someone copied into the folder.
const UNNAMED: &str = ".unnamed";
/// The dataset's files outside its tables.
const OWN_FILES: [&str; 5] = [MANIFEST, LOCK, UNNAMED, OWED, STAMPS];
const PARQUET: &str = ".parquet";
const TEMPORARY: &str = ".tmp";
/// The maximum size of a file outside the tables.
const OWN_FILE: u64 = 256 << 20;
/// The maximum size of the list of unfinished files: ten million lines of 100 bytes.
const FILE_LIST: u64 = 1 << 30;

#[derive(Clone)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) storage: Arc<dyn Storage>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

impl Folder {
    pub(super) fn new(storage: &Arc<dyn Storage>, path: &Path) -> Self {
        Self { path: path.to_owned(), storage: Arc::clone(storage) }
    }

    pub(super) fn is_dataset(&self) -> bool {
        self.is_file(&self.path.join(MANIFEST))
    }

    pub(super) fn is_file(&self, path: &Path) -> bool {
        matches!(self.storage.entry(path), Ok(Entry::File { .. }))
    }

    pub(super) fn has_folder(&self, table: DatasetTable) -> bool {
        matches!(self.storage.entry(&self.path.join(table.name())), Ok(Entry::Folder))
    }

    pub(super) fn create_tables(&self) -> Result<()> {
        let mut tables = DatasetTable::ALL.into_iter();
        tables
            .try_for_each(|table| self.writing(&self.path.join(table.name()), |path| self.storage.create_folder(path)))
    }

    /// True if the folder contains anything but the leftovers of a process that was killed while creating a dataset.
    pub(super) fn is_in_use(&self) -> Result<bool> {
        let ours = [LOCK.to_owned(), temporary_name(MANIFEST)];
        Ok(self.names(&self.path)?.iter().any(|name| !ours.contains(name)))
    }

    pub(super) fn file(&self, table: DatasetTable, id: &str) -> PathBuf {
        self.path.join(table.name()).join(format!("{id}{PARQUET}"))
    }

    pub(super) fn temporary(&self, table: DatasetTable, id: &str) -> PathBuf {
        self.path.join(table.name()).join(temporary_name(id))
    }

    /// The sorted ids of a table's files; empty if someone deleted the table's folder.
    pub(super) fn ids_in(&self, table: DatasetTable) -> Result<BTreeSet<String>> {
        if !self.has_folder(table) {
            return Ok(BTreeSet::new());
        }
        let id = |name: String| name.strip_suffix(PARQUET).filter(|id| is_id(id)).map(str::to_owned);
        Ok(self.names(&self.path.join(table.name()))?.into_iter().filter_map(id).collect())
    }

    pub(super) fn create_temporary(&self, table: DatasetTable, id: &str) -> Result<Box<dyn StorageFile>> {
        let path = self.temporary(table, id);
        self.check_change(&path)?;
        self.writing(&path, |path| self.storage.create_file(path))
    }

    /// Records ids before their files are created, or deleted, without the manifest.
    pub(super) fn note_unnamed<'i>(&self, ids: impl IntoIterator<Item = &'i String>) -> Result<()> {
        let lines: String = ids.into_iter().map(|id| format!("{id}\n")).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let path = self.path.join(UNNAMED);
        self.check_change(&path)?;
        self.writing(&path, |path| self.storage.append(path, lines.as_bytes()))
    }

    /// The recorded ids.
    pub(super) fn noted_unnamed(&self) -> BTreeSet<String> {
        let text = self.read_own(UNNAMED).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// Deletes the recorded ids, when the manifest and the folder agree again.
    pub(super) fn forget_unnamed(&self) -> Result<()> {
        self.remove_if_exists(&self.path.join(UNNAMED))
    }

    /// Renames a data file from the temporary name `written` to its final names.
    pub(super) fn publish(&self, written: &str, id: &str) -> Result<()> {
        self.note_unnamed([&id.to_owned()])?;
        for table in DatasetTable::ALL.into_iter().rev() {
            let (temporary, file) = (self.temporary(table, written), self.file(table, id));
            self.check_change(&file)?;
            self.writing(&file, |file| self.storage.rename(&temporary, file))?;
        }
        Ok(())
    }

    /// All files of the dataset, without unrelated files in the folder.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>> {
        let names = self.names(&self.path)?;
        let own = names.iter().filter(|name| OWN_FILES.contains(&name.as_str())).map(|name| self.path.join(name));
        let mut files: Vec<PathBuf> = own.collect();
        if self.is_engine_written() {
            for table in DatasetTable::ALL.into_iter().filter(|table| self.has_folder(*table)) {
                files.extend(self.engine_written_files(table)?);
            }
            return Ok(files);
        }
        for table in DatasetTable::ALL {
            files.extend(self.ids_in(table)?.iter().map(|id| self.file(table, id)));
        }
        Ok(files)
    }

    /// Deletes a data file, its file in `runs` first.
    pub(super) fn remove(&self, id: &str) -> Result<()> {
        DatasetTable::ALL.into_iter().try_for_each(|table| self.remove_file(&self.file(table, id)))
    }

    /// Deletes the temporary files of killed processes.
    pub(super) fn remove_unfinished(&self) -> Result<()> {
        let tables = DatasetTable::ALL.map(|table| self.path.join(table.name()));
        for folder in tables.iter().chain([&self.path]) {
            for name in self.names(folder)?.iter().filter(|name| name.starts_with('.') && name.ends_with(TEMPORARY)) {
                self.remove_file(&folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Reads a file outside the tables.
    pub(super) fn read_own(&self, name: &str) -> io::Result<Vec<u8>> {
        self.storage.read_whole(&self.path.join(name), if name == OWED { FILE_LIST } else { OWN_FILE })
    }

    /// Writes a file outside the tables under a temporary name, and renames it, so no reader sees it incomplete. Returns once it is on disk.
    pub(super) fn write_own(&self, name: &str, content: &str) -> Result<()> {
        let (temporary, file) = (self.path.join(temporary_name(name)), self.path.join(name));
        self.check_change(&file)?;
        self.check_change(&temporary)?;
        self.writing(&temporary, |path| {
            let mut file = self.storage.create_file(path)?;
            file.write_all(content.as_bytes())?;
            file.sync()
        })?;
        self.check_change(&file)?;
        self.writing(&file, |path| self.storage.rename(&temporary, path))?;
        self.writing(&self.path, |path| self.storage.sync_folder(path))
    }

    /// Waits until all file names are on disk.
    pub(super) fn sync(&self) -> Result<()> {
        let tables = DatasetTable::ALL.map(|table| self.path.join(table.name()));
        let mut folders = tables.iter().chain([&self.path]);
        folders.try_for_each(|folder| self.writing(folder, |path| self.storage.sync_folder(path)))
    }

    /// Deletes a file, if it exists.
    pub(super) fn remove_file(&self, path: &Path) -> Result<()> {
        self.check_change(path)?;
        match self.storage.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("{}: cannot be removed", path.display()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn remove_if_exists(&self, path: &Path) -> Result<()> {
        if self.storage.entry(path).is_ok() { self.remove_file(path) } else { Ok(()) }
    }

    /// The names in a folder, including those that are not UTF-8 and belong to other programs.
    pub(super) fn names(&self, folder: &Path) -> Result<Vec<String>> {
        let paths = self.storage.list(folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
        let name = |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(paths.into_iter().map(name).collect())
    }

    /// Called before a file is changed: fails if it is an input.
    fn check_change(&self, path: &Path) -> Result<()> {
        self.storage.check_change(path).map_err(FleetError::new)
    }

    fn writing<T>(&self, path: &Path, write: impl FnOnce(&Path) -> io::Result<T>) -> Result<T> {
        write(path).with_context(|| format!("{}: cannot be written", path.display()))
    }
}

fn temporary_name(id: &str) -> String {
    format!(".{id}{TEMPORARY}")
}

/// True for an id that is a valid file name on every system.
pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 200 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
