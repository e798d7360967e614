//! The sizes and checksums of files, for the manifest and against it.

use std::io::Read;

use crate::files::StorageFile;
use crate::fleet::DatasetTable;
use crate::fleet::error::{Context, Result, bail};
use rayon::prelude::*;

use super::folder::Folder;
use super::manifest::{DataFile, Manifest, TableFile, short};

/// A data file against its entry in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Whole,
    /// Someone removed a table of the data file.
    Missing(DatasetTable),
    /// The file has another length, or other bytes.
    Changed(DatasetTable),
}

/// The entry of a table that is in a file.
pub(super) fn measure_table(table: DatasetTable, mut file: Box<dyn StorageFile>) -> Result<TableFile> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(&mut file)?;
    let rows = table.row_count(file)?;
    Ok(TableFile { bytes: hasher.count(), rows, checksum: short(hasher.finalize()) })
}

impl Folder {
    /// Checks that every file of the manifest exists unchanged; returns the ids of data files with missing tables.
    ///
    /// # Errors
    /// When one has other bytes.
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

    /// The error for a file whose bytes have changed.
    fn changed(&self, table: DatasetTable, id: &str) -> String {
        let path = self.file(table, id);
        format!(
            "{}: damaged: its bytes are not those that were written (table {}). {}",
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
            // One more byte than expected shows that the file is longer.
            hasher.update_reader((&mut open).take(entry.bytes + 1)).with_context(cannot)?;
            if hasher.count() != entry.bytes || short(hasher.finalize()) != entry.checksum {
                return Ok(Found::Changed(table));
            }
        }
        Ok(Found::Whole)
    }

    /// Data files in the folder that the manifest does not name, as ids with a table that has them.
    pub(super) fn unnamed(&self, manifest: &Manifest) -> Result<Vec<(DatasetTable, String)>> {
        let mut unnamed = Vec::new();
        for table in DatasetTable::ALL.into_iter().filter(|table| self.has_folder(*table)) {
            let ids = self.ids_in(table)?.into_iter().filter(|id| !manifest.files.contains_key(id));
            unnamed.extend(ids.map(|id| (table, id)));
        }
        Ok(unnamed)
    }
}
