//! Reads the two kinds of datasets: datasets with a manifest, and datasets that an engine rewrote.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use crate::fleet::error::Result;
use crate::fleet::{DatasetRow, DatasetTable, KnownRun};
use rayon::prelude::*;

use super::Store;
use super::manifest::DataFile;
use super::read::{Contents, Listed, SharedRow};

impl Store {
    /// True if an engine rewrote it.
    pub fn is_engine_written(&self) -> bool {
        self.contents == Contents::EngineWritten
    }

    /// The ids of the data files that belong to it, sorted.
    pub fn data_files(&self) -> Result<Vec<String>> {
        match self.contents {
            Contents::Listed => Ok(self.state().manifest.files.keys().cloned().collect()),
            Contents::EngineWritten => Ok(Vec::new()),
        }
    }

    /// A data file in the folder that does not belong to the dataset, and the number of such files.
    pub fn unnamed(&self) -> Result<Option<(PathBuf, usize)>> {
        match self.contents {
            Contents::Listed => {
                let unnamed = self.folder.unnamed(&self.state().manifest)?;
                Ok(unnamed.first().map(|(table, id)| (self.folder.file(*table, id), unnamed.len())))
            }
            Contents::EngineWritten => Ok(None),
        }
    }

    /// The keys of the labels of each run, by its id.
    pub fn label_keys(&self) -> Result<HashMap<String, BTreeSet<String>>> {
        let mut keys: HashMap<String, BTreeSet<String>> = HashMap::new();
        if self.contents == Contents::EngineWritten {
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

    /// Passes every run and every file without runs to `each`, in the order of data files and of their rows. Only some
    /// runs are in memory at a time.
    pub fn rows(&self, each: impl FnMut(SharedRow) -> Result<()>) -> Result<()> {
        match self.contents {
            Contents::Listed => {
                let counted =
                    |(id, file): (&String, &DataFile)| Listed { id: id.clone(), counts: (file.runs, file.failed) };
                let files: Vec<Listed> = self.state().manifest.files.iter().map(counted).collect();
                self.folder.read_in_order(files, each)
            }
            Contents::EngineWritten => self.folder.read_engine_written(each),
        }
    }

    /// Like [`rows`](Self::rows), but with only the records of runs.
    pub fn records(&self, mut each: impl FnMut(DatasetRow) -> Result<()>) -> Result<()> {
        if self.contents == Contents::EngineWritten {
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

    /// A string that differs for different contents of the dataset.
    pub fn identity(&self) -> Result<String> {
        if self.contents == Contents::EngineWritten {
            return self.folder.engine_written_identity();
        }
        let files = self.data_files()?.join("\n");
        Ok(format!("{}{files}", self.state().manifest.text()))
    }
}
