//! Writing a data file of many runs, one after the other.

use std::fs::File;

use anyhow::{Context, Result};
use traceparse::fleet::{DatasetRow, DatasetTable, TableWriter};

use super::folder::Folder;
use super::manifest::TableFile;
use super::measured::measure_table;

/// The files of a part, under temporary names. Memory is bounded by a row group of each table.
pub(super) struct PartWriter<'f> {
    folder: &'f Folder,
    name: String,
    /// In the order of [`DatasetTable::ALL`].
    writers: Vec<TableWriter<File>>,
}

impl<'f> PartWriter<'f> {
    /// A part under a temporary name.
    pub(super) fn new(folder: &'f Folder, name: &str) -> Result<Self> {
        let mut writers = Vec::new();
        for table in DatasetTable::ALL {
            let file = folder.create_temporary(table, name)?;
            writers.push(TableWriter::new(table, file).with_context(|| cannot_be_written(folder, table, name))?);
        }
        Ok(Self { folder, name: name.to_owned(), writers })
    }

    /// Adds a run, or a file that gave none.
    pub(super) fn add(&mut self, row: &DatasetRow) -> Result<()> {
        let added = self.writers.iter_mut().try_for_each(|writer| match row {
            DatasetRow::Run(run) => writer.run(run),
            DatasetRow::Failed(failure) => writer.failure(failure),
        });
        added.with_context(|| format!("{}: cannot be written", self.name))
    }

    /// Finishes the files, and measures them. They are on the disk when this returns: what they replace is removed later, and power may
    /// fail.
    pub(super) fn finish(self) -> Result<Vec<TableFile>> {
        let mut tables = Vec::new();
        for (writer, table) in self.writers.into_iter().zip(DatasetTable::ALL) {
            let cannot = || cannot_be_written(self.folder, table, &self.name);
            writer.finish().with_context(cannot)?.sync_all().with_context(cannot)?;
            let file = File::open(self.folder.temporary(table, &self.name)).with_context(cannot)?;
            tables.push(measure_table(table, file).with_context(cannot)?);
        }
        Ok(tables)
    }
}

/// The error for a file of a part.
pub(super) fn cannot_be_written(folder: &Folder, table: DatasetTable, name: &str) -> String {
    format!("{}: cannot be written", folder.temporary(table, name).display())
}
