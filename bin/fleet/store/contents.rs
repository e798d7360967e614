//! Reads the two kinds of datasets: those with a manifest, and those that an engine rewrote.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use anyhow::Result;
use rayon::prelude::*;
use traceparse::fleet::{DatasetRow, DatasetTable, KnownRun};

use super::Store;
use super::kind::Contents;
use super::manifest::DataFile;
use super::read::Listed;
use super::shared_row::SharedRow;

impl Store {
    /// True if an engine rewrote it.
    pub(crate) fn is_rewritten(&self) -> bool {
        self.contents == Contents::Rewritten
    }

    /// The ids of the data files that belong to it, sorted.
    pub(crate) fn data_files(&self) -> Result<Vec<String>> {
        match self.contents {
            Contents::Listed => Ok(self.state().manifest.files.keys().cloned().collect()),
            Contents::Rewritten => Ok(Vec::new()),
        }
    }

    /// A data file in the folder that does not belong to the dataset, and the number of such files.
    pub(crate) fn unnamed(&self) -> Result<Option<(PathBuf, usize)>> {
        match self.contents {
            Contents::Listed => {
                let unnamed = self.folder.unnamed(&self.state().manifest)?;
                Ok(unnamed.first().map(|(table, id)| (self.folder.file(*table, id), unnamed.len())))
            }
            Contents::Rewritten => Ok(None),
        }
    }

    /// The keys of the labels of each run, by its id.
    pub(crate) fn label_keys(&self) -> Result<HashMap<String, BTreeSet<String>>> {
        let mut keys: HashMap<String, BTreeSet<String>> = HashMap::new();
        if self.contents == Contents::Rewritten {
            self.rows(|row| {
                if let DatasetRow::Run(run) = row {
                    let record = run.record();
                    keys.insert(record.run_id.clone(), record.labels.iter().map(|(key, _)| key.clone()).collect());
                }
                Ok(())
            })?;
            return Ok(keys);
        }
        let read = |id: &String| {
            let keys = KnownRun::label_keys(self.folder.open_table(DatasetTable::Labels, id)?);
            keys.map_err(|error| self.folder.name_file(id, error))
        };
        for (run, key) in self.data_files()?.par_iter().map(read).collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            keys.entry(run).or_default().insert(key);
        }
        Ok(keys)
    }

    /// Gives every run and every file that gave none to `each`, in the order of data files and in their order. Some runs are in memory at a
    /// time.
    pub(crate) fn rows(&self, each: impl FnMut(SharedRow) -> Result<()>) -> Result<()> {
        match self.contents {
            Contents::Listed => {
                let counted =
                    |(id, file): (&String, &DataFile)| Listed { id: id.clone(), counts: (file.runs, file.failed) };
                let files: Vec<Listed> = self.state().manifest.files.iter().map(counted).collect();
                self.folder.read_in_order(files, each)
            }
            Contents::Rewritten => self.folder.read_rewritten(each),
        }
    }

    /// The same, of runs the record only.
    pub(crate) fn records(&self, mut each: impl FnMut(DatasetRow) -> Result<()>) -> Result<()> {
        if self.contents == Contents::Rewritten {
            return self.rows(|row| each(row.into()));
        }
        for id in self.data_files()? {
            let named = |error| self.folder.name_file(&id, error);
            let records = DatasetRow::records(self.folder.open_table(DatasetTable::Runs, &id)?).map_err(named)?;
            for record in records {
                each(record.map_err(named)?)?;
            }
        }
        Ok(())
    }

    /// A text that is another one if the dataset is.
    pub(crate) fn identity(&self) -> Result<String> {
        if self.contents == Contents::Rewritten {
            return self.folder.rewritten_identity();
        }
        let files = self.data_files()?.join("\n");
        Ok(format!("{}{files}", self.state().manifest.text()))
    }
}
