//! Reads a dataset from its first to its last run, with a manifest or as rewritten by an engine.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::Store;
use super::folder::Folder;
use super::manifest::{DataFile, Manifest};
use crate::files::StorageFile;
use crate::fleet::error::{FleetError, Result, error};
use crate::fleet::{DatasetError, DatasetErrorKind, DatasetRow, DatasetRun, DatasetTable, KnownRun, RunRecord};
use rayon::prelude::*;

/// The maximum number of a file's runs that wait for their turn. With their rows, this takes a few MB per file being read.
const WAITING: usize = 4;

impl Folder {
    /// Opens the tables of a data file, whose runs share names.
    pub(super) fn open(&self, id: &str) -> Result<impl Iterator<Item = Result<DatasetRow<DatasetRun>>>> {
        let (folder, id) = (self.clone(), id.to_owned());
        let reader = DatasetRow::read(|table| self.open_table(table, &id));
        let reader = reader.map_err(|error: FleetError| self.name_file(&id, error))?;
        Ok(reader.map(move |row| row.map_err(|error| folder.name_file(&id, error))))
    }

    pub(super) fn open_table(&self, table: DatasetTable, id: &str) -> Result<Box<dyn StorageFile>> {
        let path = self.file(table, id);
        // If the file exists but cannot be opened, its content is not at fault.
        let advice = |error: &std::io::Error| match error.kind() {
            ErrorKind::NotFound => format!(". {}", self.what_helps(id)),
            _ => String::new(),
        };
        self.storage.open_file(&path).map_err(|error| {
            let advice = advice(&error);
            FleetError::from(error).context(format!("{}: cannot be opened{advice}", path.display()))
        })
    }

    /// Advice on how to restore the runs of a faulty data file. Deleting its file in `runs` removes its runs from the dataset.
    pub(super) fn what_helps(&self, id: &str) -> String {
        let runs = self.file(DatasetTable::Runs, id);
        if Manifest::read(self).is_ok_and(|manifest| manifest.merged.is_some()) {
            return format!("Delete {}, then run the same `traceparse fleet merge` again", runs.display());
        }
        format!("Delete {}, then run the same `traceparse fleet extract` again", runs.display())
    }

    /// The error for a data file with a missing table.
    pub(super) fn missing(&self, id: &str) -> String {
        let mut paths = DatasetTable::ALL.map(|table| self.file(table, id)).into_iter();
        let path =
            paths.find(|path| self.storage.entry(path).is_err()).unwrap_or_else(|| self.file(DatasetTable::Runs, id));
        format!("{}: missing; its runs are incomplete. {}", path.display(), self.what_helps(id))
    }

    /// Prepends the file's path to an error about the contents of a table.
    pub(super) fn name_file(&self, id: &str, error: impl Into<FleetError>) -> FleetError {
        let error = error.into();
        let Some(&DatasetError { table, kind, .. }) = error.find() else { return error };
        let advice = match kind {
            DatasetErrorKind::Damaged => format!(". {}", self.what_helps(id)),
            _ => String::new(),
        };
        error.context(format!("{}: cannot be used{advice}", self.file(table, id).display()))
    }

    /// Reads data files, calling `each` for their rows in order. Several files are read in parallel, with a bounded read-ahead.
    pub(super) fn read_in_order(
        &self,
        files: Vec<Listed>,
        mut each: impl FnMut(DatasetRow<DatasetRun>) -> Result<()>,
    ) -> Result<()> {
        let count = files.len();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
        let (order, files_in_order) = sync_channel(threads);
        let queue = Mutex::new(Queue { files: files.into_iter(), order });
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| self.read_files(&queue));
            }
            // After an error, the receivers are dropped, and each thread ends at its next send.
            let mut rows = files_in_order.into_iter().take(count).flatten();
            rows.try_for_each(|row| each(row?))
        })
    }

    /// Reads files from the queue until it is empty.
    fn read_files(&self, queue: &Mutex<Queue>) {
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((file, sender)) = next() {
            let is_wanted = match self.open(&file.id) {
                Ok(rows) => self.send(&file, rows, &sender),
                Err(error) => sender.send(Err(error)).is_ok(),
            };
            if !is_wanted {
                return;
            }
        }
    }

    /// Sends a file's rows, or an error if their number differs from the manifest. Returns false if the receiver was dropped.
    fn send(&self, file: &Listed, mut rows: impl Iterator<Item = Row>, sender: &SyncSender<Row>) -> bool {
        let (mut runs, mut failed) = (0_u64, 0_u64);
        let is_wanted = rows.all(|row| {
            match &row {
                Ok(DatasetRow::Run(_)) => runs += 1,
                Ok(DatasetRow::Failed(_)) => failed += 1,
                Err(_) => {}
            }
            sender.send(row).is_ok()
        });
        if !is_wanted || file.counts == (runs, failed) {
            return is_wanted;
        }
        let (path, (of_runs, of_failed)) = (self.file(DatasetTable::Runs, &file.id), file.counts);
        let error = error!(
            "{}: has {runs} runs and {failed} failed files, but the manifest lists {of_runs} and {of_failed}. {}",
            path.display(),
            self.what_helps(&file.id)
        );
        sender.send(Err(error)).is_ok()
    }
}

/// A data file to read.
pub(super) struct Listed {
    pub(super) id: String,
    /// The numbers of runs, and of files without runs, in the manifest.
    pub(super) counts: (u64, u64),
}

type Row = Result<DatasetRow<DatasetRun>>;

/// The files that remain to be read, and channels for their rows, in the same order.
struct Queue {
    files: std::vec::IntoIter<Listed>,
    order: SyncSender<Receiver<Row>>,
}

impl Queue {
    /// Waits while as many files as there are threads are read ahead. Other callers wait for the lock.
    fn next(&mut self) -> Option<(Listed, SyncSender<Row>)> {
        let file = self.files.next()?;
        let (sender, rows) = sync_channel(WAITING);
        self.order.send(rows).ok()?;
        Some((file, sender))
    }
}

impl Store {
    /// True if an engine rewrote the dataset.
    pub fn is_engine_written(&self) -> bool {
        self.is_engine_written
    }

    /// The ids of the data files in the dataset, sorted.
    pub fn data_files(&self) -> Result<Vec<String>> {
        Ok(self.state().manifest.files.keys().cloned().collect())
    }

    /// The first data file in the folder that is not part of the dataset, and the number of such files.
    pub fn unnamed(&self) -> Result<Option<(PathBuf, usize)>> {
        if self.is_engine_written {
            return Ok(None);
        }
        let unnamed = self.folder.unnamed(&self.state().manifest)?;
        Ok(unnamed.first().map(|(table, id)| (self.folder.file(*table, id), unnamed.len())))
    }

    /// The label keys of each run, by run id.
    pub fn label_keys(&self) -> Result<HashMap<String, BTreeSet<String>>> {
        let mut keys: HashMap<String, BTreeSet<String>> = HashMap::new();
        if self.is_engine_written {
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

    /// Calls `each` for every run and every file without runs, in the order of data files and rows, with few runs in memory at a time.
    pub fn rows(&self, each: impl FnMut(DatasetRow<DatasetRun>) -> Result<()>) -> Result<()> {
        if self.is_engine_written {
            return self.folder.read_engine_written(each);
        }
        let counted = |(id, file): (&String, &DataFile)| Listed { id: id.clone(), counts: (file.runs, file.failed) };
        let files: Vec<Listed> = self.state().manifest.files.iter().map(counted).collect();
        self.folder.read_in_order(files, each)
    }

    /// Like [`rows`](Self::rows), but reads only the records of runs.
    pub fn records(&self, mut each: impl FnMut(DatasetRow<RunRecord>) -> Result<()>) -> Result<()> {
        if self.is_engine_written {
            return self.rows(|row| each(row.map(|run| run.record().clone())));
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

    /// A string that identifies the content of the dataset.
    pub fn identity(&self) -> Result<String> {
        if self.is_engine_written {
            return self.folder.engine_written_identity();
        }
        let files = self.data_files()?.join("\n");
        Ok(format!("{}{files}", self.state().manifest.text()))
    }
}
