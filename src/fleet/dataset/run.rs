//! A run of a data file, with the names of the file.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::DatasetError;
use super::table::TableRows;
use crate::fleet::run_rows::RunRows;
use crate::fleet::{BinaryRow, FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord, WindowRow};
use crate::hash::HashMap;

/// A run in a data file. Its names are numbered in the order of the file, and shared by all runs of the file, so that
/// no work is done for each name of each run.
#[derive(Debug)]
pub struct DatasetRun {
    pub(super) record: RunRecord,
    pub(super) names: SharedNames,
    pub(super) frames: Vec<FrameRow>,
    pub(super) binaries: Vec<BinaryRow>,
    pub(super) windows: Vec<WindowRow>,
}

/// The names of a file, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(in crate::fleet) struct SharedNames(Arc<RwLock<Vec<String>>>);

impl SharedNames {
    /// The names by id.
    pub(in crate::fleet) fn get(&self) -> RwLockReadGuard<'_, Vec<String>> {
        // A list is consistent whenever its lock is free.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if both are the same list.
    pub(in crate::fleet) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn push(&self, name: String) -> NameId {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        names.push(name);
        NameId((names.len() - 1) as u32)
    }
}

impl From<RunMeasures> for DatasetRun {
    fn from(run: RunMeasures) -> Self {
        let RunMeasures { record, names, frames, binaries, windows } = run;
        Self { record, names: SharedNames(Arc::new(RwLock::new(names))), frames, binaries, windows }
    }
}

impl DatasetRun {
    /// The run's row in the table `runs`, with its labels.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Sets the path of the measured file that readers see.
    pub fn set_source(&mut self, source: String) {
        self.record.source = source;
    }

    /// The run with its own names, numbered in the order of `frames`, then `binaries`, then `windows`.
    pub fn into_measures(self) -> RunMeasures {
        let all = self.names.get();
        let (mut names, mut known) = (NamesBuilder::default(), HashMap::default());
        let mut own = |id: &mut NameId| *id = *known.entry(*id).or_insert_with(|| names.id(&all[id.0 as usize]));
        let Self { record, mut frames, mut binaries, mut windows, .. } = self;
        for row in &mut frames {
            [&mut row.process, &mut row.thread, &mut row.binary, &mut row.function].into_iter().for_each(&mut own);
        }
        for row in &mut binaries {
            [&mut row.process, &mut row.thread, &mut row.binary].into_iter().for_each(&mut own);
        }
        for row in &mut windows {
            [&mut row.process, &mut row.thread].into_iter().for_each(&mut own);
        }
        drop(all);
        RunMeasures { record, names: names.finish(), frames, binaries, windows }
    }

    /// The run's rows with these names of the file.
    pub(in crate::fleet) fn rows<'r>(&'r self, names: &'r [String]) -> RunRows<'r> {
        let Self { record, frames, binaries, windows, .. } = self;
        RunRows { record, names, frames, binaries, windows }
    }

    pub(in crate::fleet) fn names(&self) -> &SharedNames {
        &self.names
    }
}

/// The tables with names, and the conversion of their strings to names of the file.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    pub(super) shared: SharedNames,
    ids: HashMap<String, NameId>,
    /// By table and string id.
    of_tables: [Vec<Option<NameId>>; 3],
}

impl FileNames {
    /// Begins another file, whose strings have other ids.
    pub(super) fn begin_file(&mut self) {
        self.of_tables.iter_mut().for_each(Vec::clear);
    }

    /// The name in a column of a row; tables are numbered.
    pub(super) fn id(&mut self, table: usize, rows: &TableRows, column: usize) -> Result<NameId, DatasetError> {
        let text = rows.text_id(column)?;
        let ids = &mut self.of_tables[table];
        if let Some(&Some(id)) = ids.get(text as usize) {
            return Ok(id);
        }
        if text as usize >= ids.len() {
            ids.resize(text as usize + 1, None);
        }
        let name = rows.text(column)?;
        let id = *self.ids.entry(name).or_insert_with_key(|name| self.shared.push(name.clone()));
        self.of_tables[table][text as usize] = Some(id);
        Ok(id)
    }
}
