//! Writes a data file of many runs in turn.

use std::thread::ScopedJoinHandle;

use crate::files::StorageFile;
use crate::fleet::error::{Context, Result, bail};
use crate::fleet::{DatasetRow, DatasetTable, TableWriter};

use super::folder::Folder;
use super::manifest::{DataFile, TableFile};
use super::measured::measure_table;

/// The files of a part, under temporary names. Memory is bounded by a row group of each table.
pub(super) struct PartWriter<'f> {
    folder: &'f Folder,
    name: String,
    /// In the order of [`DatasetTable::ALL`].
    writers: Vec<TableWriter<Box<dyn StorageFile>>>,
    runs: u64,
    failed: u64,
    /// Rows of functions.
    pub(super) rows: u64,
}

impl<'f> PartWriter<'f> {
    /// A part under a temporary name.
    pub(super) fn new(folder: &'f Folder, name: String) -> Result<Self> {
        let mut writers = Vec::new();
        for table in DatasetTable::ALL {
            let file = folder.create_temporary(table, &name)?;
            writers.push(TableWriter::new(table, file).with_context(|| cannot_be_written(folder, table, &name))?);
        }
        Ok(Self { folder, name, writers, runs: 0, failed: 0, rows: 0 })
    }

    /// Adds a run, or a file that gave none.
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

    /// Finishes the files, and measures them. They are on the disk when this returns: the files that they replace are
    /// removed later, and power may fail.
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
        // All at once, the syncs take as long as one.
        let tables = std::thread::scope(|scope| {
            let threads: Vec<_> = files.into_iter().map(|file| scope.spawn(|| measure(file))).collect();
            let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|_| bail!("writing panicked"));
            threads.into_iter().map(join).collect::<Result<_>>()
        })?;
        Ok(Written { name, file: DataFile { runs, failed, tables } })
    }
}

/// A part that is on the disk under a temporary name.
pub(super) struct Written {
    pub(super) name: String,
    pub(super) file: DataFile,
}

/// The error for a file of a part.
fn cannot_be_written(folder: &Folder, table: DatasetTable, name: &str) -> String {
    format!("{}: cannot be written", folder.temporary(table, name).display())
}
