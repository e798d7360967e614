//! Merging data files: thousands of files of one run each are slow to open, for this command and for SQL.

use std::fs::File;

use anyhow::{Context, Result};
use traceparse::fleet::{DatasetRow, DatasetTable, KnownRun, TableWriter};

use super::index::{Index, Replaced};
use super::journal::Journal;
use super::{Store, step};

/// The number of data files before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    pub(crate) before: usize,
    pub(crate) after: usize,
}

impl Store {
    /// Merges data files with less than half of `target_rows` rows of `frames` into parts of about `target_rows`.
    ///
    /// The runs are the same as before, in another order. A kill leaves a dataset in which some are merged.
    pub(crate) fn compact(&self, target_rows: u64) -> Result<Compacted> {
        self.check_writer()?;
        self.with_index(|index| {
            let before = index.files().count();
            for files in self.groups(index, target_rows)? {
                self.merge(index, &files, &Replaced::default())?;
            }
            Ok(Compacted { before, after: index.files().count() })
        })
    }

    /// The groups of files that become one each, in the order of names.
    fn groups(&self, index: &Index, target_rows: u64) -> Result<Vec<Vec<String>>> {
        let (mut groups, mut rows_of_last) = (vec![Vec::new()], 0);
        for id in index.files() {
            let rows = DatasetTable::Frames.row_count(self.folder.open_table(DatasetTable::Frames, id)?);
            let rows = rows.map_err(|error| self.folder.name_file(id, error))?;
            if rows >= target_rows.div_ceil(2) {
                continue;
            }
            if rows_of_last + rows > target_rows {
                groups.push(Vec::new());
                rows_of_last = 0;
            }
            groups.last_mut().expect("starts with one").push(id.clone());
            rows_of_last += rows;
        }
        groups.retain(|files| files.len() > 1);
        Ok(groups)
    }

    /// Takes exports and runs out of the data files that hold them.
    pub(super) fn take_out(&self, index: &mut Index, replaced: &Replaced) -> Result<()> {
        index.holding(replaced).into_iter().try_for_each(|file| self.merge(index, &[file], replaced))
    }

    /// Writes what these files hold as one, without what is replaced.
    fn merge(&self, index: &mut Index, files: &[String], replaced: &Replaced) -> Result<()> {
        let staying: Vec<KnownRun> = files.iter().flat_map(|file| index.staying(file, replaced)).collect();
        if staying.is_empty() {
            for file in files {
                index.remove(file);
                self.folder.remove(file)?;
            }
            return Ok(());
        }
        let id = part_id(&staying);
        self.write_part(&id, files, replaced)?;
        let delete = files.iter().filter(|file| **file != id).cloned().collect();
        Journal { delete, create: vec![id.clone()] }.commit(&self.folder)?;
        files.iter().for_each(|file| index.remove(file));
        index.insert(&id, staying);
        Ok(())
    }

    /// The files of a part, under temporary names.
    fn write_part(&self, id: &str, files: &[String], replaced: &Replaced) -> Result<()> {
        let mut writers = Vec::new();
        for table in DatasetTable::ALL {
            let file = self.folder.create_temporary(table, id)?;
            writers.push(TableWriter::new(table, file).with_context(|| self.cannot_be_written(table, id))?);
        }
        for file in files {
            for row in self.folder.open(file)? {
                step()?;
                copy_row(row?, replaced, &mut writers).with_context(|| format!("{id}: cannot be written"))?;
            }
        }
        for (writer, table) in writers.into_iter().zip(DatasetTable::ALL) {
            let file = writer.finish().with_context(|| self.cannot_be_written(table, id))?;
            // What it replaces is removed next, and power may fail.
            file.sync_all().with_context(|| self.cannot_be_written(table, id))?;
        }
        Ok(())
    }

    pub(super) fn cannot_be_written(&self, table: DatasetTable, id: &str) -> String {
        format!("{}: cannot be written", self.folder.file(table, id).display())
    }
}

fn copy_row(row: DatasetRow, replaced: &Replaced, writers: &mut [TableWriter<File>]) -> Result<()> {
    match row {
        DatasetRow::Run(run) if !replaced.has(Some(&run.record.run_id), &run.record.source, false) => {
            writers.iter_mut().try_for_each(|writer| writer.run(&run))?;
        }
        DatasetRow::Failed(failure) if !replaced.has(failure.run_id.as_deref(), &failure.source, true) => {
            writers.iter_mut().try_for_each(|writer| writer.failure(&failure))?;
        }
        DatasetRow::Run(_) | DatasetRow::Failed(_) => {}
    }
    Ok(())
}

/// By content: the same runs make a part of the same name.
fn part_id(runs: &[KnownRun]) -> String {
    let mut hasher = blake3::Hasher::new();
    for run in runs {
        for text in [run.run_id.as_deref().unwrap_or_default(), &run.fingerprint, &run.source] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    }
    format!("part-{}", &hasher.finalize().to_hex()[..32])
}
