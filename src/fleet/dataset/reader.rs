//! Reads a data file run by run. Its runs share the names of the file.

use std::io::{Read, Seek};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::runs::{DatasetRow, read_row};
use super::table::TableRows;
use super::{DatasetError, DatasetTable};
use crate::fleet::run::RunRows;
use crate::fleet::{FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord, StackRow, WindowRow};
use crate::hash::HashMap;
use crate::profile::Category;

/// A data file that is being read.
struct DatasetReader {
    runs: TableRows,
    labels: TableOfRuns,
    frames: TableOfRuns,
    binaries: TableOfRuns,
    windows: TableOfRuns,
    stacks: TableOfRuns,
    names: FileNames,
    is_done: bool,
}

impl DatasetRow<DatasetRun> {
    /// Reads the runs and failures of a data file in order. `open` returns the file of each table: runs, labels, frames, binaries, windows and
    /// stacks. Memory is bounded by one run and a few pages of each table. The iteration ends after an error.
    ///
    /// # Errors
    ///
    /// If `open` or reading fails, or a file is not the expected table, which the error names.
    pub fn read<R, E>(
        open: impl FnMut(DatasetTable) -> Result<R, E>,
    ) -> Result<Box<dyn Iterator<Item = Result<Self, DatasetError>> + Send>, E>
    where
        R: Read + Seek + Send + 'static,
        E: From<DatasetError>,
    {
        Ok(Box::new(DatasetReader::open(open)?))
    }
}

impl DatasetReader {
    fn open<R, E>(mut open: impl FnMut(DatasetTable) -> Result<R, E>) -> Result<Self, E>
    where
        R: Read + Seek + Send + 'static,
        E: From<DatasetError>,
    {
        Ok(Self {
            runs: TableRows::open_to_read(DatasetTable::Runs, open(DatasetTable::Runs)?)?,
            labels: TableOfRuns::open(DatasetTable::Labels, open(DatasetTable::Labels)?)?,
            frames: TableOfRuns::open(DatasetTable::Frames, open(DatasetTable::Frames)?)?,
            binaries: TableOfRuns::open(DatasetTable::Binaries, open(DatasetTable::Binaries)?)?,
            windows: TableOfRuns::open(DatasetTable::Windows, open(DatasetTable::Windows)?)?,
            stacks: TableOfRuns::open(DatasetTable::Stacks, open(DatasetTable::Stacks)?)?,
            names: FileNames::default(),
            is_done: false,
        })
    }

    fn read(&mut self) -> Result<Option<DatasetRow<DatasetRun>>, DatasetError> {
        if !self.runs.advance()? {
            for rows in [&self.labels, &self.frames, &self.binaries, &self.windows, &self.stacks] {
                rows.check_end()?;
            }
            return Ok(None);
        }
        Ok(Some(match read_row(&self.runs)? {
            DatasetRow::Failed(failure) => DatasetRow::Failed(failure),
            DatasetRow::Run(record) => DatasetRow::Run(Box::new(self.read_run(*record)?)),
        }))
    }

    fn read_run(&mut self, mut record: RunRecord) -> Result<DatasetRun, DatasetError> {
        let id = record.run_id.as_str();
        let label = |rows: &TableRows| Ok((rows.text(1)?, rows.text(2)?));
        let labels = self.labels.of_run(id, label)?;
        let names = &mut self.names;
        let frames = self.frames.of_run(id, |rows| read_frame(rows, names))?;
        let binaries = self.binaries.of_run(id, |rows| read_frame(rows, names))?;
        let windows = self.windows.of_run(id, |rows| read_window(rows, names))?;
        let stacks = self.stacks.of_run(id, |rows| read_stack(rows, names))?;
        let stacks = in_order(id, stacks)?;
        record.labels = labels;
        Ok(DatasetRun { record, names: self.names.shared.clone(), frames, binaries, windows, stacks })
    }
}

impl Iterator for DatasetReader {
    type Item = Result<DatasetRow<DatasetRun>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let row = self.read().transpose();
        self.is_done = !matches!(row, Some(Ok(_)));
        row
    }
}

/// A table with its rows grouped by run, in the order of the table `runs`.
struct TableOfRuns {
    table: DatasetTable,
    rows: TableRows,
    /// True if the current row of `rows` has not been returned, since it belongs to a later run.
    has_row: bool,
}

impl TableOfRuns {
    fn open<R: Read + Seek + Send + 'static>(table: DatasetTable, input: R) -> Result<Self, DatasetError> {
        let mut rows = TableRows::open_to_read(table, input)?;
        let has_row = rows.advance()?;
        Ok(Self { table, rows, has_row })
    }

    /// Reads the next rows that have a run's id.
    fn of_run<T>(
        &mut self,
        run_id: &str,
        mut read: impl FnMut(&TableRows) -> Result<T, DatasetError>,
    ) -> Result<Vec<T>, DatasetError> {
        let mut found = Vec::new();
        let Some(run_id) = self.rows.texts().find(run_id) else { return Ok(found) };
        while self.has_row && self.rows.text_id(RUN_ID)? == run_id {
            found.push(read(&self.rows)?);
            self.has_row = self.rows.advance()?;
        }
        Ok(found)
    }

    /// Fails if rows remain: their run is missing from the table `runs`, or its place there is different.
    fn check_end(&self) -> Result<(), DatasetError> {
        if !self.has_row {
            return Ok(());
        }
        let run_id = self.rows.text(RUN_ID)?;
        let detail =
            format!("it has rows of run {run_id}, which is missing or in a different position in the table `runs`");
        Err(DatasetError::damaged(self.table, detail))
    }
}

const RUN_ID: usize = 0;
/// The position of this column in every table with threads.
const IS_MAIN_THREAD: usize = 3;

fn read_main_thread(rows: &TableRows) -> Result<bool, DatasetError> {
    match rows.integer(IS_MAIN_THREAD)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(rows.damaged(IS_MAIN_THREAD, "is neither 0 nor 1")),
    }
}

/// Reads the row of a function or a binary.
pub(super) fn read_frame(rows: &TableRows, names: &mut FileNames) -> Result<FrameRow, DatasetError> {
    let is_of_functions = rows.table == DatasetTable::Frames;
    let numbers = if is_of_functions { 6 } else { 5 };
    Ok(FrameRow {
        process: names.id(rows, 1)?,
        thread: names.id(rows, 2)?,
        is_main_thread: read_main_thread(rows)?,
        binary: names.id(rows, 4)?,
        function: if is_of_functions { names.id(rows, 5)? } else { NameId::NONE },
        self_weight: rows.integer(numbers)?,
        all_weight: rows.integer(numbers + 1)?,
        self_samples: rows.integer(numbers + 2)?,
        all_samples: rows.integer(numbers + 3)?,
    })
}

pub(super) fn read_window(rows: &TableRows, names: &mut FileNames) -> Result<WindowRow, DatasetError> {
    Ok(WindowRow {
        process: names.id(rows, 1)?,
        thread: names.id(rows, 2)?,
        is_main_thread: read_main_thread(rows)?,
        second: rows.integer(4)?,
        weight: rows.integer(5)?,
        samples: rows.integer(6)?,
    })
}

/// Reads a node of a call tree, with its number.
pub(super) fn read_stack(rows: &TableRows, names: &mut FileNames) -> Result<(u32, StackRow), DatasetError> {
    let node = rows.integer(4)?;
    let parent: u32 = rows.integer(5)?;
    if parent >= node {
        return Err(rows.damaged(5, "is not an earlier node"));
    }
    let category = |name: &str| Category::ALL.into_iter().find(|category| category.name() == name);
    let row = StackRow {
        process: names.id(rows, 1)?,
        thread: names.id(rows, 2)?,
        is_main_thread: read_main_thread(rows)?,
        parent: parent.checked_sub(1),
        binary: names.id(rows, 6)?,
        category: rows.one_of(7, category)?,
        function: names.id(rows, 8)?,
        self_weight: rows.integer(9)?,
        self_samples: rows.integer(10)?,
    };
    Ok((node, row))
}

/// Checks that a run's nodes are numbered from 1 without gaps.
pub(super) fn in_order(run_id: &str, nodes: Vec<(u32, StackRow)>) -> Result<Vec<StackRow>, DatasetError> {
    if (1..).zip(&nodes).any(|(number, (node, _))| number != *node) {
        let detail = format!("the nodes of run {run_id} are not numbered without gaps: is a file missing?");
        return Err(DatasetError::damaged(DatasetTable::Stacks, detail));
    }
    Ok(nodes.into_iter().map(|(_, row)| row).collect())
}

/// A run in a data file. Names are numbered per file and shared by all runs, which saves work for each name of each run.
#[derive(Clone, Debug)]
pub struct DatasetRun {
    pub(super) record: RunRecord,
    pub(super) names: SharedNames,
    pub(super) frames: Vec<FrameRow>,
    pub(super) binaries: Vec<FrameRow>,
    pub(super) windows: Vec<WindowRow>,
    pub(super) stacks: Vec<StackRow>,
}

/// The names that have been read from a file.
#[derive(Clone, Debug, Default)]
pub(in crate::fleet) struct SharedNames(Arc<RwLock<Vec<String>>>);

impl SharedNames {
    /// The names by id.
    pub(in crate::fleet) fn get(&self) -> RwLockReadGuard<'_, Vec<String>> {
        // The list is consistent even if a thread panicked.
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
        let RunMeasures { record, names, frames, binaries, windows, stacks, .. } = run;
        Self { record, names: SharedNames(Arc::new(RwLock::new(names))), frames, binaries, windows, stacks }
    }
}

impl AsRef<RunRecord> for DatasetRun {
    fn as_ref(&self) -> &RunRecord {
        &self.record
    }
}

impl DatasetRun {
    /// The run's row in the table `runs`, with its labels.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Replaces the path of the measured file.
    pub fn set_source(&mut self, source: String) {
        self.record.source = source;
    }

    /// Converts to a run with its own names, numbered in the order of `frames`, `binaries`, `windows` and `stacks`.
    pub fn into_measures(self) -> RunMeasures {
        let all = self.names.get();
        let (mut names, mut known) = (NamesBuilder::default(), HashMap::default());
        let mut own = |id: &mut NameId| *id = *known.entry(*id).or_insert_with(|| names.id(&all[id.0 as usize]));
        let Self { record, mut frames, mut binaries, mut windows, mut stacks, .. } = self;
        for row in &mut frames {
            [&mut row.process, &mut row.thread, &mut row.binary, &mut row.function].into_iter().for_each(&mut own);
        }
        for row in &mut binaries {
            [&mut row.process, &mut row.thread, &mut row.binary].into_iter().for_each(&mut own);
        }
        for row in &mut windows {
            [&mut row.process, &mut row.thread].into_iter().for_each(&mut own);
        }
        for row in &mut stacks {
            [&mut row.process, &mut row.thread, &mut row.binary, &mut row.function].into_iter().for_each(&mut own);
        }
        drop(all);
        RunMeasures {
            record,
            names: names.finish(),
            frames,
            binaries,
            windows,
            stacks,
            intervals: None,
            histograms: Vec::new(),
        }
    }

    /// The run's rows with the names of the file.
    pub(in crate::fleet) fn rows<'r>(&'r self, names: &'r [String]) -> RunRows<'r> {
        let Self { record, frames, binaries, windows, stacks, .. } = self;
        RunRows { record, names, frames, binaries, windows, stacks, intervals: None }
    }

    pub(in crate::fleet) fn names(&self) -> &SharedNames {
        &self.names
    }
}

/// Interns a file's names, and maps the string ids of its tables to them.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    pub(super) shared: SharedNames,
    ids: HashMap<String, NameId>,
    /// Indexed by table and string id.
    of_tables: [Vec<Option<NameId>>; DatasetTable::ALL.len()],
}

impl FileNames {
    /// Begins another file, whose string ids are different.
    pub(super) fn begin_file(&mut self) {
        self.of_tables.iter_mut().for_each(Vec::clear);
    }

    /// Interns the name in a column of this row.
    pub(super) fn id(&mut self, rows: &TableRows, column: usize) -> Result<NameId, DatasetError> {
        let text = rows.text_id(column)?;
        let ids = &mut self.of_tables[rows.table as usize];
        if let Some(&Some(id)) = ids.get(text as usize) {
            return Ok(id);
        }
        if text as usize >= ids.len() {
            ids.resize(text as usize + 1, None);
        }
        let name = rows.text(column)?;
        let id = *self.ids.entry(name).or_insert_with_key(|name| self.shared.push(name.clone()));
        self.of_tables[rows.table as usize][text as usize] = Some(id);
        Ok(id)
    }
}
