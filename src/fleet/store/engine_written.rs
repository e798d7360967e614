//! Reads datasets from an engine: folders of tables without a manifest, as written by DuckDB's `COPY` or Spark's `write.parquet`.
//!
//! All files in the folder belong to the dataset. Each run is checked for completeness (see [`RewrittenRuns`]), but missing runs cannot be
//! detected. Such a dataset can be read, and merged into a new one, but is never changed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::files::{Entry, StorageFile};
use crate::fleet::error::{Context, FleetError, Result, bail, ensure};
use crate::fleet::{DatasetError, DatasetRow, DatasetRun, DatasetTable, RewrittenRuns};

use super::folder::Folder;

/// The number of function rows in memory at a time: about 200 MB with the rows of other tables. The files are read once per part of this size.
const ROWS_OF_A_PART: u64 = 2 << 20;

impl Folder {
    /// True if a folder contains the table `runs` and another table, but no manifest.
    pub(super) fn is_engine_written(&self) -> bool {
        let has_folder = |table: &DatasetTable| *table != DatasetTable::Runs && self.has_folder(*table);
        !self.is_dataset() && self.has_files(DatasetTable::Runs) && DatasetTable::ALL.iter().any(has_folder)
    }

    /// Checks that all required tables exist.
    ///
    /// # Errors
    /// If a table is missing.
    pub(super) fn check_engine_written(&self) -> Result<()> {
        let mut needed = DatasetTable::ALL.into_iter().filter(|table| *table != DatasetTable::Stacks);
        match needed.find(|table| !self.has_files(*table)) {
            Some(table) => bail!("{}: a rewritten dataset without the table {}", self.path.display(), table.name()),
            None => Ok(()),
        }
    }

    fn has_files(&self, table: DatasetTable) -> bool {
        self.has_folder(table) && self.engine_written_files(table).is_ok_and(|files| !files.is_empty())
    }

    /// The files of a table, sorted by name. Hidden files, and files with a leading underscore, are internal to engines.
    pub(super) fn engine_written_files(&self, table: DatasetTable) -> Result<Vec<PathBuf>> {
        let folder = self.path.join(table.name());
        let is_data = |name: &String| name.ends_with(".parquet") && !name.starts_with(['.', '_']);
        let mut names: Vec<String> = self.names(&folder)?.into_iter().filter(is_data).collect();
        names.sort();
        Ok(names.into_iter().map(|name| folder.join(name)).collect())
    }

    /// Identifies the content by the files' lengths and modification times.
    pub(super) fn engine_written_identity(&self) -> Result<String> {
        let mut text = String::new();
        for table in DatasetTable::ALL.into_iter().filter(|table| self.has_folder(*table)) {
            for path in self.engine_written_files(table)? {
                let entry = self.storage.entry(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
                if let Entry::File { length, modified, .. } = entry {
                    writeln!(text, "{} {length} {modified}", path.display())?;
                }
            }
        }
        Ok(text)
    }

    /// Calls `each` for every run and every file without runs, part by part.
    ///
    /// # Errors
    /// If a file lacks a column of its table, or a run is incomplete or duplicated.
    pub(super) fn read_engine_written(&self, mut each: impl FnMut(DatasetRow<DatasetRun>) -> Result<()>) -> Result<()> {
        let mut files = Vec::new();
        for table in DatasetTable::ALL.into_iter().filter(|table| self.has_folder(*table)) {
            files.extend(self.engine_written_files(table)?.into_iter().map(|path| (table, path)));
        }
        let mut rows = 0_u64;
        for (table, path) in &files {
            let count = RewrittenRuns::row_count(*table, self.open_engine_written(path)?)
                .map_err(|error| named(path, error))?;
            rows += if *table == DatasetTable::Frames { count } else { 0 };
        }
        let parts = u32::try_from(rows.div_ceil(ROWS_OF_A_PART).max(1)).context("too many rows")?;
        for part in 0..parts {
            let mut runs = RewrittenRuns::new(part, parts);
            for (table, path) in &files {
                runs.add(*table, self.open_engine_written(path)?).map_err(|error| named(path, error))?;
            }
            let of_table = |error: DatasetError| {
                let folder = self.path.join(error.table.name());
                named(&folder, error)
            };
            runs.finish().map_err(of_table)?.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }

    fn open_engine_written(&self, path: &Path) -> Result<Box<dyn StorageFile>> {
        let file = self.storage.open_file(path).with_context(|| format!("{}: cannot be opened", path.display()))?;
        ensure!(self.is_file(path), "{}: not a file", path.display());
        Ok(file)
    }
}

/// Adds the path of the file to an error.
fn named(path: &Path, error: DatasetError) -> FleetError {
    FleetError::from(error).context(format!("{}: cannot be used", path.display()))
}
