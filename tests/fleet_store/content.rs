//! The content of a dataset, and its files.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use traceparse::files::{FileSystem, Storage};
use traceparse::fleet::{DatasetRow, DatasetTable, FailedInput, FleetError, RunMeasures, Store};
use traceparse::memory::MemoryBudget;

thread_local! {
    /// The number of changes on disk that this thread may make; without a number, it may make any.
    pub(crate) static STEPS: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Files whose changes are counted, so that tests can stop a process before any of them.
pub(crate) fn storage() -> Arc<dyn Storage> {
    let may_change = |_: &Path| {
        let left = STEPS.get();
        STEPS.set(left.map(|left| left.saturating_sub(1)));
        if left == Some(0) { Err("killed".to_owned()) } else { Ok(()) }
    };
    FileSystem::checked_storage(|_| Ok(()), may_change, MemoryBudget::unlimited())
}

pub(crate) fn open(folder: &Path) -> Result<Store, FleetError> {
    Store::open(&storage(), folder)
}

pub(crate) fn create_or_open(folder: &Path) -> Result<Store, FleetError> {
    Store::create_or_open(&storage(), folder)
}

/// The contents of a dataset, regardless of its files: runs by id, failures by source.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Content {
    pub(crate) runs: BTreeMap<String, RunMeasures>,
    pub(crate) failures: BTreeMap<String, FailedInput>,
}

impl Content {
    pub(crate) fn with(mut self, run: &RunMeasures) -> Self {
        self.runs.insert(run.record.run_id.clone(), run.clone());
        self
    }

    pub(crate) fn with_failure(mut self, failure: &FailedInput) -> Self {
        self.failures.insert(failure.source.clone(), failure.clone());
        self
    }
}

pub(crate) fn content(store: &Store) -> Content {
    let mut content = Content::default();
    let rows = store.rows(|row| {
        match row {
            DatasetRow::Run(run) => {
                let run = run.into_measures();
                assert_eq!(content.runs.insert(run.record.run_id.clone(), run), None, "a run twice");
            }
            DatasetRow::Failed(failed) => {
                assert_eq!(content.failures.insert(failed.source.clone(), failed), None, "a failure twice");
            }
        }
        Ok(())
    });
    rows.unwrap();
    content
}

pub(crate) fn put(store: &Store, run: &RunMeasures) {
    store.put(std::slice::from_ref(run)).unwrap();
    store.save().unwrap();
}

pub(crate) fn put_failure(store: &Store, failure: &FailedInput) {
    store.put_failure(failure).unwrap();
    store.save().unwrap();
}

pub(crate) fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => drop(found.insert(path)),
        }
    }
    found
}

/// True if every table has the same data files, and there are no leftovers.
pub(crate) fn is_tidy(folder: &Path) -> bool {
    let names = |table: DatasetTable| -> BTreeSet<_> {
        let files = files(&folder.join(table.name())).into_iter();
        files.map(|path| path.file_name().unwrap().to_owned()).collect()
    };
    let runs = names(DatasetTable::Runs);
    let is_complete = DatasetTable::ALL.into_iter().all(|table| names(table) == runs);
    let known = [".lock", "sources.json", "traceparse-dataset.json"];
    is_complete
        && fs::read_dir(folder)
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().is_file())
            .all(|entry| known.contains(&entry.file_name().to_str().unwrap()))
}

pub(crate) fn copy(from: &Path, to: &Path, is_copied: impl Fn(&Path) -> bool) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        if is_copied(&target) {
            fs::copy(file, target).unwrap();
        }
    }
}
