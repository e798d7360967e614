//! The runs of files that an engine rewrote.
//!
//! DuckDB's `COPY` and Spark's `repartition` write the rows of a table to any number of files, in any order: the rows
//! of a run need not be adjacent. Runs are therefore gathered in memory, part by part: a part has the runs whose id has
//! a certain hash, and all files are read once for each part. Nothing records which files belong together, so complete
//! runs are checked.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use super::layout::Writer;
use super::reader;
use super::run::FileNames;
use super::runs::{self, COPIES, RunsRow};
use super::table::TableRows;
use super::whole::{COPIED_NUMBERS, Copies, Rows, twice_there};
use super::{DatasetError, DatasetRow, DatasetTable};
use crate::fleet::{BinaryRow, FailedInput, FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord, WindowRow};

/// Gathers the runs of a part of a rewritten dataset: all files of all tables but `hist`, in any order.
///
/// Memory is bounded by the rows of the part.
pub struct RewrittenRuns {
    part: u64,
    parts: u64,
    names: FileNames,
    runs: BTreeMap<String, Gathered>,
    /// By source.
    failures: BTreeMap<String, FailedInput>,
}

/// The rows of a run in the order of reading.
#[derive(Default)]
struct Gathered {
    record: Option<RunRecord>,
    copies: Copies,
    labels: Vec<(String, String)>,
    /// With names of all runs.
    frames: Vec<FrameRow>,
    binaries: Vec<BinaryRow>,
    windows: Vec<WindowRow>,
}

impl RewrittenRuns {
    /// The tables that are read.
    pub const TABLES: [DatasetTable; 5] =
        [DatasetTable::Runs, DatasetTable::Labels, DatasetTable::Frames, DatasetTable::Binaries, DatasetTable::Windows];

    /// The runs of a part, from 0 to `parts - 1`.
    pub fn new(part: u32, parts: u32) -> Self {
        let (part, parts) = (u64::from(part), u64::from(parts.max(1)));
        Self { part, parts, names: FileNames::default(), runs: BTreeMap::new(), failures: BTreeMap::new() }
    }

    /// Returns the number of rows in a file of a table, which an engine may have written.
    ///
    /// # Errors
    ///
    /// Reading fails, or it has no columns of that table.
    pub fn row_count<R: Read + Seek + Send + 'static>(table: DatasetTable, input: R) -> Result<u64, DatasetError> {
        TableRows::open(Writer::Engine, table, &[], input).map(|rows| rows.count())
    }

    /// Adds a file of a table.
    ///
    /// # Errors
    ///
    /// Reading fails, a column is missing or of another type, or a run is there twice.
    pub fn add<R: Read + Seek + Send + 'static>(&mut self, table: DatasetTable, input: R) -> Result<(), DatasetError> {
        self.names.begin_file();
        if table == DatasetTable::Runs {
            let columns = [runs::COLUMNS, &COPIES, &COPIED_NUMBERS].concat();
            return self.add_runs(TableRows::open(Writer::Engine, table, &columns, input)?);
        }
        let rows = TableRows::open(Writer::Engine, table, &table.columns_of_rows(), input)?;
        self.add_rows(rows, |run, rows, names| {
            match table {
                DatasetTable::Labels => run.labels.push((rows.text(1)?, rows.text(2)?)),
                DatasetTable::Frames => run.frames.push(reader::read_frame(rows, names)?),
                DatasetTable::Binaries => run.binaries.push(reader::read_binary(rows, names)?),
                DatasetTable::Windows => run.windows.push(reader::read_window(rows, names)?),
                // Runs are read above, and histograms are derived from windows.
                DatasetTable::Runs | DatasetTable::Hist => {}
            }
            Ok(())
        })
    }

    fn add_runs(&mut self, mut rows: TableRows) -> Result<(), DatasetError> {
        while rows.advance()? {
            match runs::read_row(&rows)? {
                RunsRow::Failed(failure) if self.has(&failure.source) => {
                    if let Some(twice) = self.failures.insert(failure.source.clone(), failure) {
                        return Err(twice_there(DatasetTable::Runs, &format!("the file {}", twice.source)));
                    }
                }
                RunsRow::Run(record) if self.has(&record.run_id) => {
                    let run = self.runs.entry(record.run_id.clone()).or_default();
                    run.copies = Copies::read(&rows, runs::COLUMNS.len())?;
                    if let Some(twice) = run.record.replace(*record) {
                        return Err(twice_there(DatasetTable::Runs, &format!("run {}", twice.run_id)));
                    }
                }
                RunsRow::Failed(_) | RunsRow::Run(_) => {}
            }
        }
        Ok(())
    }

    /// Adds rows whose first column is the id of their run.
    fn add_rows(
        &mut self,
        mut rows: TableRows,
        mut add: impl FnMut(&mut Gathered, &TableRows, &mut FileNames) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        while rows.advance()? {
            let run_id = rows.text(0)?;
            if self.has(&run_id) {
                add(self.runs.entry(run_id).or_default(), &rows, &mut self.names)?;
            }
        }
        Ok(())
    }

    /// True if something with this id belongs to the part.
    fn has(&self, id: &str) -> bool {
        self.parts == 1 || hash(id) % self.parts == self.part
    }

    /// The runs, by id, and then the files that gave none, by source.
    ///
    /// # Errors
    ///
    /// A run is incomplete, or has a row twice.
    pub fn finish(self) -> Result<Vec<DatasetRow>, DatasetError> {
        let names = self.names.shared.get();
        let mut rows = Vec::with_capacity(self.runs.len() + self.failures.len());
        for (run_id, run) in self.runs {
            rows.push(DatasetRow::Run(Box::new(run.finish(&run_id, &names)?)));
        }
        rows.extend(self.failures.into_values().map(DatasetRow::Failed));
        Ok(rows)
    }
}

impl Gathered {
    fn finish(mut self, run_id: &str, all: &[String]) -> Result<RunMeasures, DatasetError> {
        let Some(mut record) = self.record.take() else {
            let table = self.table_with_rows();
            let detail = format!("it has rows of run {run_id}, which the table runs does not have");
            return Err(DatasetError::damaged(table, detail));
        };
        let text = |id: NameId| all.get(id.0 as usize).map_or("", String::as_str);
        self.labels.sort();
        let thread = |process, thread, is_main| (text(process), text(thread), is_main);
        self.frames.sort_by_key(|row| {
            (thread(row.process, row.thread, row.is_main_thread), [row.binary, row.function].map(text))
        });
        self.binaries.sort_by_key(|row| (thread(row.process, row.thread, row.is_main_thread), text(row.binary)));
        self.windows.sort_by_key(|row| (thread(row.process, row.thread, row.is_main_thread), row.second));
        record.labels = std::mem::take(&mut self.labels);
        let rows =
            Rows { copies: &self.copies, frames: &self.frames, binaries: &self.binaries, windows: &self.windows };
        rows.check(&record)?;
        let mut names = Renamed { names: NamesBuilder::default(), all };
        let frames = self.frames.into_iter().map(|row| names.frame(row)).collect();
        let binaries = self.binaries.into_iter().map(|row| names.binary(row)).collect();
        let windows = self.windows.into_iter().map(|row| names.window(row)).collect();
        Ok(RunMeasures { record, names: names.names.finish(), frames, binaries, windows })
    }

    fn table_with_rows(&self) -> DatasetTable {
        match () {
            () if !self.labels.is_empty() => DatasetTable::Labels,
            () if !self.frames.is_empty() => DatasetTable::Frames,
            () if !self.binaries.is_empty() => DatasetTable::Binaries,
            () => DatasetTable::Windows,
        }
    }
}

/// The names of one run.
struct Renamed<'n> {
    names: NamesBuilder,
    all: &'n [String],
}

impl Renamed<'_> {
    fn id(&mut self, id: NameId) -> NameId {
        self.names.id(self.all.get(id.0 as usize).map_or("", String::as_str))
    }

    fn frame(&mut self, row: FrameRow) -> FrameRow {
        let [process, thread, binary, function] =
            [row.process, row.thread, row.binary, row.function].map(|id| self.id(id));
        FrameRow { process, thread, binary, function, ..row }
    }

    fn binary(&mut self, row: BinaryRow) -> BinaryRow {
        let [process, thread, binary] = [row.process, row.thread, row.binary].map(|id| self.id(id));
        BinaryRow { process, thread, binary, ..row }
    }

    fn window(&mut self, row: WindowRow) -> WindowRow {
        let [process, thread] = [row.process, row.thread].map(|id| self.id(id));
        WindowRow { process, thread, ..row }
    }
}

/// FNV-1a, the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
