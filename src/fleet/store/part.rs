//! Writes a data file of many runs, computes its manifest entry, and checks data files against their entries.

use std::io::Read;
use std::thread::ScopedJoinHandle;

use super::folder::Folder;
use super::manifest::{DataFile, Manifest, TableFile};
use crate::files::StorageFile;
use crate::fleet::dataset::TableWriter;
use crate::fleet::error::{Context, Result, bail};
use crate::fleet::fingerprint::short;
use crate::fleet::{DatasetRow, DatasetTable};
use rayon::prelude::*;

/// Writes a part's files under temporary names. Memory is bounded by one row group per table.
pub(super) struct PartWriter<'f> {
    folder: &'f Folder,
    name: String,
    /// In the order of [`DatasetTable::ALL`].
    writers: Vec<TableWriter<Box<dyn StorageFile>>>,
    runs: u64,
    failed: u64,
    /// The number of function rows.
    pub(super) rows: u64,
}

impl<'f> PartWriter<'f> {
    /// Creates a part under a temporary name.
    pub(super) fn new(folder: &'f Folder, name: String) -> Result<Self> {
        let mut writers = Vec::new();
        for table in DatasetTable::ALL {
            let file = folder.create_temporary(table, &name)?;
            writers.push(TableWriter::new(table, file).with_context(|| cannot_be_written(folder, table, &name))?);
        }
        Ok(Self { folder, name, writers, runs: 0, failed: 0, rows: 0 })
    }

    /// Adds a run, or a file without runs.
    pub(super) fn add(&mut self, row: &DatasetRow) -> Result<()> {
        let added = match row {
            DatasetRow::Run(run) => {
                self.runs += 1;
                self.rows += run.frames.len() as u64;
                self.writers.iter_mut().try_for_each(|writer| writer.run(run))
            }
            DatasetRow::Failed(failure) => {
                self.failed += 1;
                self.writers.iter_mut().try_for_each(|writer| writer.failure(failure))
            }
        };
        added.with_context(|| format!("{}: cannot be written", self.name))
    }

    /// Finishes the files and computes their entries. Returns once they are on disk, since the files that they replace are deleted later, and
    /// power may fail in between.
    pub(super) fn finish(self) -> Result<Written> {
        let Self { folder, name, writers, runs, failed, .. } = self;
        let mut files = Vec::new();
        for (writer, table) in writers.into_iter().zip(DatasetTable::ALL) {
            files.push((table, writer.finish().with_context(|| cannot_be_written(folder, table, &name))?));
        }
        let measure = |(table, file): (DatasetTable, Box<dyn StorageFile>)| -> Result<TableFile> {
            let cannot = || cannot_be_written(folder, table, &name);
            file.sync().with_context(cannot)?;
            let written = folder.storage.open_file(&folder.temporary(table, &name)).with_context(cannot)?;
            measure_table(table, written).with_context(cannot)
        };
        // In parallel, all syncs take no longer than one.
        let tables = std::thread::scope(|scope| {
            let threads: Vec<_> = files.into_iter().map(|file| scope.spawn(|| measure(file))).collect();
            let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|_| bail!("writing panicked"));
            threads.into_iter().map(join).collect::<Result<_>>()
        })?;
        Ok(Written { name, file: DataFile { runs, failed, tables } })
    }
}

/// A part that is on disk under a temporary name.
pub(super) struct Written {
    pub(super) name: String,
    pub(super) file: DataFile,
}

/// The error for a file of a part.
fn cannot_be_written(folder: &Folder, table: DatasetTable, name: &str) -> String {
    format!("{}: cannot be written", folder.temporary(table, name).display())
}

/// The result of checking a data file against its entry in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Whole,
    /// Someone deleted a table of the data file.
    Missing(DatasetTable),
    /// The length or content of a file has changed.
    Changed(DatasetTable),
}

/// Computes the manifest entry for a table file.
pub(super) fn measure_table(table: DatasetTable, mut file: Box<dyn StorageFile>) -> Result<TableFile> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(&mut file)?;
    let rows = table.row_count(file)?;
    Ok(TableFile { bytes: hasher.count(), rows, checksum: short(hasher.finalize()) })
}

impl Folder {
    /// Checks that all files in the manifest exist and are unchanged. Returns the ids of data files with missing tables.
    ///
    /// # Errors
    /// If a file's content has changed.
    pub(super) fn check_files(&self, manifest: &Manifest) -> Result<Vec<String>> {
        let look = |(id, file): (&String, &DataFile)| -> Result<Option<String>> {
            match self.look(id, file)? {
                Found::Whole => Ok(None),
                Found::Missing(_) => Ok(Some(id.clone())),
                Found::Changed(table) => bail!("{}", self.changed(table, id)),
            }
        };
        let found: Vec<Option<String>> = manifest.files.par_iter().map(look).collect::<Result<_>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The error for a file whose bytes changed.
    fn changed(&self, table: DatasetTable, id: &str) -> String {
        let path = self.file(table, id);
        format!(
            "{}: damaged: its content has changed (table {}). {}",
            path.display(),
            table.name(),
            self.what_helps(id)
        )
    }

    fn look(&self, id: &str, file: &DataFile) -> Result<Found> {
        for table in DatasetTable::ALL {
            let path = self.file(table, id);
            let mut open = match self.storage.open_file(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Missing(table)),
                open => open.with_context(|| format!("{}: cannot be read", path.display()))?,
            };
            let cannot = || format!("{}: cannot be read", path.display());
            let entry = file.table(table);
            let mut hasher = blake3::Hasher::new();
            // Reads one byte more than expected, to detect a longer file.
            hasher.update_reader((&mut open).take(entry.bytes + 1)).with_context(cannot)?;
            if hasher.count() != entry.bytes || short(hasher.finalize()) != entry.checksum {
                return Ok(Found::Changed(table));
            }
        }
        Ok(Found::Whole)
    }

    /// Data files in the folder that the manifest does not list: their ids, each with a table that has it.
    pub(super) fn unnamed(&self, manifest: &Manifest) -> Result<Vec<(DatasetTable, String)>> {
        let mut unnamed = Vec::new();
        for table in DatasetTable::ALL.into_iter().filter(|table| self.has_folder(*table)) {
            let ids = self.ids_in(table)?.into_iter().filter(|id| !manifest.files.contains_key(id));
            unnamed.extend(ids.map(|id| (table, id)));
        }
        Ok(unnamed)
    }
}
