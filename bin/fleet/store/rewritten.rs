//! Datasets that an engine rewrote: folders of tables without a manifest, such as `COPY` of DuckDB or `write.parquet` of Spark leave.
//!
//! Which files belong together only the folder says, so that all of them count, and runs are checked as a whole (see [`RewrittenRuns`]).
//! Nobody knows if such a dataset is complete. It is read, and merged into a new dataset, but never changed.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail, ensure};
use traceparse::fleet::{DatasetError, DatasetTable, RewrittenRuns};

use super::folder::{Folder, entries};
use super::shared_row::SharedRow;

/// Rows of functions that are in memory at a time: about 200 MB with those of the other tables. The files are read once for each
/// part of so many.
const ROWS_OF_A_PART: u64 = 2 << 20;

impl Folder {
    /// True if a folder has the runs of a dataset and another table, and no manifest.
    pub(super) fn is_rewritten(&self) -> bool {
        let has_folder = |table: &DatasetTable| *table != DatasetTable::Runs && self.path.join(table.name()).is_dir();
        !self.is_dataset() && self.has_files(DatasetTable::Runs) && RewrittenRuns::TABLES.iter().any(has_folder)
    }

    /// Checks that all tables are there.
    ///
    /// # Errors
    /// Names one that is not.
    pub(super) fn check_rewritten(&self) -> Result<()> {
        match RewrittenRuns::TABLES.into_iter().find(|table| !self.has_files(*table)) {
            Some(table) => bail!("{}: a rewritten dataset without the table {}", self.path.display(), table.name()),
            None => Ok(()),
        }
    }

    fn has_files(&self, table: DatasetTable) -> bool {
        self.path.join(table.name()).is_dir() && self.rewritten_files(table).is_ok_and(|files| !files.is_empty())
    }

    /// The files of a table, by name. Engines take hidden files, and those with an underscore in front, for their own.
    pub(super) fn rewritten_files(&self, table: DatasetTable) -> Result<Vec<PathBuf>> {
        let folder = self.path.join(table.name());
        let is_data = |name: &String| name.ends_with(".parquet") && !name.starts_with(['.', '_']);
        let mut names: Vec<String> = entries(&folder)?.into_iter().filter(is_data).collect();
        names.sort();
        Ok(names.into_iter().map(|name| folder.join(name)).collect())
    }

    /// Its files with their lengths and times of change.
    pub(super) fn rewritten_identity(&self) -> Result<String> {
        let mut text = String::new();
        for table in RewrittenRuns::TABLES {
            for path in self.rewritten_files(table)? {
                let metadata = path.metadata().with_context(|| format!("{}: cannot be read", path.display()))?;
                writeln!(text, "{} {} {:?}", path.display(), metadata.len(), metadata.modified().ok())?;
            }
        }
        Ok(text)
    }

    /// Gives every run and every file that gave none to `each`, in the order of their hashes.
    ///
    /// # Errors
    /// When a file has another column than the table, or a run is not whole, or there twice.
    pub(super) fn read_rewritten(&self, mut each: impl FnMut(SharedRow) -> Result<()>) -> Result<()> {
        let mut files = Vec::new();
        for table in RewrittenRuns::TABLES {
            files.extend(self.rewritten_files(table)?.into_iter().map(|path| (table, path)));
        }
        let mut rows = 0_u64;
        for (table, path) in &files {
            let count = RewrittenRuns::row_count(*table, open(path)?).map_err(|error| named(path, error))?;
            rows += if *table == DatasetTable::Frames { count } else { 0 };
        }
        let parts = u32::try_from(rows.div_ceil(ROWS_OF_A_PART).max(1)).context("too many rows")?;
        for part in 0..parts {
            let mut runs = RewrittenRuns::new(part, parts);
            for (table, path) in &files {
                runs.add(*table, open(path)?).map_err(|error| named(path, error))?;
            }
            let of_table = |error: DatasetError| {
                let folder = self.path.join(error.table.name());
                named(&folder, error)
            };
            runs.finish().map_err(of_table)?.into_iter().map(SharedRow::from).try_for_each(&mut each)?;
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).with_context(|| format!("{}: cannot be opened", path.display()))?;
    ensure!(file.metadata().is_ok_and(|metadata| metadata.is_file()), "{}: not a file", path.display());
    Ok(file)
}

/// The error with the path of the file that it is about.
fn named(path: &Path, error: DatasetError) -> Error {
    Error::new(error).context(format!("{}: cannot be used", path.display()))
}
