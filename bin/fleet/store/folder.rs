//! The files of a dataset on disk: their names, and how they appear and go away.
//!
//! ```text
//! DIR/traceparse-dataset.json      the manifest, which names all files that belong to the dataset (manifest.rs)
//! DIR/sources.json                 which exports need not be hashed again
//! DIR/owed.json                    which exports extracts have not done
//! DIR/runs/ID.parquet              a data file: one Parquet file in the folder of each table, under one id
//! DIR/labels/ID.parquet …
//! DIR/frames/.ID.tmp               not complete yet; no glob for `*.parquet` sees it
//! DIR/.unnamed                     ids of data files that the manifest may not name, since a process was killed
//! DIR/.lock                        held while the dataset is used
//! ```
//!
//! The id of a data file is a hash of its content, so a name never gets other content. A file that the manifest does not name is nothing.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use traceparse::fleet::DatasetTable;

use crate::durable::sync_folder;
use crate::guard;

/// The name of the manifest.
pub(crate) const MANIFEST: &str = "traceparse-dataset.json";
pub(super) const LOCK: &str = ".lock";
/// The name of the stamps of exports, which only save time.
pub(crate) const STAMPS: &str = "sources.json";
/// The name of the list of files that extracts have not done.
pub(crate) const OWED: &str = "owed.json";
/// The ids of data files that get their names before the manifest names them, or lose them after it names them no more. Of what a killed
/// process leaves, these are the dataset's own; any other file was copied into the folder by somebody.
const UNNAMED: &str = ".unnamed";
/// The files of a dataset that are not those of a table.
const OWN_FILES: [&str; 5] = [MANIFEST, LOCK, UNNAMED, OWED, STAMPS];
const PARQUET: &str = ".parquet";
const TEMPORARY: &str = ".tmp";

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
}

impl Folder {
    pub(super) fn is_dataset(&self) -> bool {
        self.path.join(MANIFEST).is_file()
    }

    /// Makes the folders of the tables.
    pub(super) fn create_tables(&self) -> Result<()> {
        let mut tables = DatasetTable::ALL.into_iter();
        tables.try_for_each(|table| self.creating(&self.path.join(table.name()), |path| fs::create_dir_all(path)))
    }

    /// True if the folder holds anything but the remains of a process that was killed while it made a dataset.
    pub(super) fn is_in_use(&self) -> Result<bool> {
        let ours = [LOCK.to_owned(), temporary_name(MANIFEST)];
        let mut names = entries(&self.path)?.into_iter();
        Ok(names.any(|name| !ours.contains(&name)))
    }

    pub(super) fn file(&self, table: DatasetTable, id: &str) -> PathBuf {
        self.path.join(table.name()).join(format!("{id}{PARQUET}"))
    }

    pub(super) fn temporary(&self, table: DatasetTable, id: &str) -> PathBuf {
        self.path.join(table.name()).join(temporary_name(id))
    }

    /// The ids of the files of a table, sorted.
    pub(super) fn ids_in(&self, table: DatasetTable) -> Result<BTreeSet<String>> {
        let folder = self.path.join(table.name());
        // Somebody removed its files with it; what is missing is told by their names.
        if !folder.exists() {
            return Ok(BTreeSet::new());
        }
        let id = |name: String| name.strip_suffix(PARQUET).filter(|id| is_id(id)).map(str::to_owned);
        Ok(entries(&folder)?.into_iter().filter_map(id).collect())
    }

    pub(super) fn create_temporary(&self, table: DatasetTable, id: &str) -> Result<File> {
        change(&self.temporary(table, id))?;
        self.creating(&self.temporary(table, id), |path| File::create(path))
    }

    /// Notes ids before their files appear or go away without the manifest.
    pub(super) fn note_unnamed<'i>(&self, ids: impl IntoIterator<Item = &'i String>) -> Result<()> {
        let lines: String = ids.into_iter().map(|id| format!("{id}\n")).collect();
        if lines.is_empty() {
            return Ok(());
        }
        change(&self.path.join(UNNAMED))?;
        self.creating(&self.path.join(UNNAMED), |path| {
            File::options().create(true).append(true).open(path)?.write_all(lines.as_bytes())
        })
    }

    /// The ids that were noted.
    pub(super) fn noted_unnamed(&self) -> BTreeSet<String> {
        let text = crate::bounds::read_file(self.path.join(UNNAMED), crate::bounds::OWN_FILE).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// Manifest and folder agree.
    pub(super) fn forget_unnamed(&self) -> Result<()> {
        let path = self.path.join(UNNAMED);
        if path.exists() { remove_file(&path) } else { Ok(()) }
    }

    /// Gives the files of a data file, which were written under the temporary name `written`, their names.
    pub(super) fn publish(&self, written: &str, id: &str) -> Result<()> {
        self.note_unnamed([&id.to_owned()])?;
        for table in DatasetTable::ALL.into_iter().rev() {
            let (temporary, file) = (self.temporary(table, written), self.file(table, id));
            change(&file)?;
            self.creating(&file, |file| fs::rename(temporary, file))?;
        }
        Ok(())
    }

    /// All files that are a part of the dataset, which others in the folder are not.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>> {
        let names = entries(&self.path)?;
        let own = names.iter().filter(|name| OWN_FILES.contains(&name.as_str())).map(|name| self.path.join(name));
        let mut files: Vec<PathBuf> = own.collect();
        if self.is_rewritten() {
            for table in DatasetTable::ALL.into_iter().filter(|table| self.path.join(table.name()).is_dir()) {
                files.extend(self.rewritten_files(table)?);
            }
            return Ok(files);
        }
        for table in DatasetTable::ALL {
            files.extend(self.ids_in(table)?.iter().map(|id| self.file(table, id)));
        }
        Ok(files)
    }

    /// Removes a data file, `runs` first.
    pub(super) fn remove(&self, id: &str) -> Result<()> {
        DatasetTable::ALL.into_iter().try_for_each(|table| remove_file(&self.file(table, id)))
    }

    /// Removes what processes left that were killed while they wrote.
    pub(super) fn remove_unfinished(&self) -> Result<()> {
        let tables = DatasetTable::ALL.map(|table| self.path.join(table.name()));
        for folder in tables.iter().chain([&self.path]) {
            for name in entries(folder)?.iter().filter(|name| name.starts_with('.') && name.ends_with(TEMPORARY)) {
                remove_file(&folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Writes a small file beside its target and renames it, so that nobody sees half of it. It is on the disk when this returns.
    pub(super) fn write_whole(&self, name: &str, content: &str) -> Result<()> {
        let (temporary, file) = (self.path.join(temporary_name(name)), self.path.join(name));
        guard::check(&file)?;
        change(&temporary)?;
        self.creating(&temporary, |path| {
            let mut file = File::create(path)?;
            file.write_all(content.as_bytes())?;
            file.sync_all()
        })?;
        change(&file)?;
        self.creating(&file, |path| fs::rename(&temporary, path))?;
        self.creating(&self.path, sync_folder)
    }

    /// Has the names of all files written to the disk.
    pub(super) fn sync(&self) -> Result<()> {
        let tables = DatasetTable::ALL.map(|table| self.path.join(table.name()));
        tables.iter().chain([&self.path]).try_for_each(|folder| self.creating(folder, sync_folder))
    }

    fn creating<T>(&self, path: &Path, create: impl FnOnce(&Path) -> std::io::Result<T>) -> Result<T> {
        create(path).with_context(|| format!("{}: cannot be written", path.display()))
    }
}

fn temporary_name(id: &str) -> String {
    format!(".{id}{TEMPORARY}")
}

/// True for an id that is a name inside its folder, on every system.
pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 200 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Removes a file; one that is not there is removed already.
pub(super) fn remove_file(path: &Path) -> Result<()> {
    change(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}: cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// The names in a folder, as far as they are UTF-8; none of ours is not.
pub(super) fn entries(folder: &Path) -> Result<Vec<String>> {
    let read = || -> std::io::Result<Vec<String>> {
        let names = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name().into_string()));
        // A foreign name counts as one, whatever it is.
        names.map(|name| name.map(|name| name.unwrap_or_else(|name| name.to_string_lossy().into_owned()))).collect()
    };
    read().with_context(|| format!("{}: cannot be read", folder.display()))
}

/// Stands before every change of a file: none is an input.
fn change(path: &Path) -> Result<()> {
    step()?;
    guard::check(path)
}

/// Stands before every change on disk, so that tests can stop a process there.
#[cfg(not(test))]
pub(super) fn step() -> Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use tests_only::step;
#[cfg(test)]
pub(crate) mod tests_only {
    use std::cell::Cell;

    thread_local! {
        /// The number of changes on disk that this thread may make; without a number, it may make any.
        pub(crate) static STEPS: Cell<Option<usize>> = const { Cell::new(None) };
    }

    pub(crate) fn step() -> anyhow::Result<()> {
        if let Some(left) = STEPS.get() {
            anyhow::ensure!(left > 0, "killed");
            STEPS.set(Some(left - 1));
        }
        Ok(())
    }
}
