//! The runs of files that an engine rewrote.
//!
//! DuckDB's `COPY` and Spark's `repartition` write the rows of a table to any number of files, in any order: the rows
//! of a run need not be adjacent. Runs are therefore gathered in memory, part by part: a part has the runs whose id has
//! a certain hash, and all files are read once for each part. Nothing records which files belong together, so complete
//! runs are checked.
//!
//! The checks of a run whose rows were rewritten by an engine: only the rows themselves show whether they are the
//! measured ones.
//!
//! A missing or duplicated file changes the sums of a table. Columns that are copies of others reveal changes, and no
//! number in a row exceeds the number of its run.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use super::layout::Writer;
use super::reader::FileNames;
use super::runs::{self, COPIES, RunsRow};
use super::table::TableRows;
use super::{DatasetError, DatasetRow, DatasetTable, reader};
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

/// The columns of the table `runs` that are copies of other values, after the columns in [`COPIES`].
pub(super) const COPIED_NUMBERS: [&str; 3] = ["cpu_rate_millionths", "first_whole_second", "end_whole_second"];

/// The copies in a row of the table `runs`.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Of [`COPIES`].
    labels: [Option<String>; COPIES.len()],
    /// Of [`COPIED_NUMBERS`].
    numbers: [Option<u64>; COPIED_NUMBERS.len()],
}

impl Copies {
    /// Reads the copies in a row, from a column on.
    pub(super) fn read(rows: &TableRows, first: usize) -> Result<Self, DatasetError> {
        let mut copies = Self::default();
        for (index, label) in copies.labels.iter_mut().enumerate() {
            *label = rows.text_or_null(first + index);
        }
        for (index, number) in copies.numbers.iter_mut().enumerate() {
            *number = rows.integer_or_null(first + COPIES.len() + index)?;
        }
        Ok(copies)
    }

    /// Checks that a record, with its labels, is what they are copies of.
    fn check(&self, record: &RunRecord) -> Result<(), DatasetError> {
        let is_other = |(key, copy): &(&&str, &Option<String>)| record.label(key) != copy.as_deref();
        if let Some((key, _)) = COPIES.iter().zip(&self.labels).find(is_other) {
            let detail = format!("the label {key} of run {} is not as in the table runs", record.run_id);
            return Err(DatasetError::damaged(DatasetTable::Labels, detail));
        }
        let seconds = record.copied_seconds();
        let [start, end] = [seconds.as_ref().map(|it| it.start), seconds.map(|it| it.end)];
        let rate = record.rate(record.weight).map(|rate| rate.get());
        let told = [rate, start.map(u64::from), end.map(u64::from)];
        match COPIED_NUMBERS.iter().zip(self.numbers).zip(told).find(|((_, copy), told)| copy != told) {
            Some(((name, _), _)) => {
                let run = &record.run_id;
                let detail = format!("{name} of run {run} is not what its weight and recorded time give");
                Err(DatasetError::damaged(DatasetTable::Runs, detail))
            }
            None => Ok(()),
        }
    }
}

/// The rows of a run, in their order.
pub(super) struct Rows<'r> {
    pub(super) copies: &'r Copies,
    pub(super) frames: &'r [FrameRow],
    pub(super) binaries: &'r [BinaryRow],
    pub(super) windows: &'r [WindowRow],
}

/// Weight and samples.
type Counts = (u64, u64);

impl Rows<'_> {
    /// Checks that the labels belong to a run, once each.
    pub(super) fn check(&self, record: &RunRecord) -> Result<(), DatasetError> {
        self.check_once(record)?;
        self.check_sums(record)?;
        self.check_bounds(record)?;
        self.copies.check(record)
    }

    fn check_once(&self, record: &RunRecord) -> Result<(), DatasetError> {
        let frame = |row: &FrameRow| (row.process, row.thread, row.is_main_thread, row.binary, row.function);
        let binary = |row: &BinaryRow| (row.process, row.thread, row.is_main_thread, row.binary);
        let window = |row: &WindowRow| (row.process, row.thread, row.is_main_thread, row.second);
        let twice = [
            (DatasetTable::Labels, record.labels.windows(2).any(|pair| pair[0].0 == pair[1].0)),
            (DatasetTable::Frames, self.frames.windows(2).any(|pair| frame(&pair[0]) == frame(&pair[1]))),
            (DatasetTable::Binaries, self.binaries.windows(2).any(|pair| binary(&pair[0]) == binary(&pair[1]))),
            (DatasetTable::Windows, self.windows.windows(2).any(|pair| window(&pair[0]) == window(&pair[1]))),
        ];
        match twice.into_iter().find(|(_, is_twice)| *is_twice) {
            Some((table, _)) => Err(twice_there(table, &format!("a row of run {}", record.run_id))),
            None => Ok(()),
        }
    }

    /// The rows of each table add up to the run.
    fn check_sums(&self, record: &RunRecord) -> Result<(), DatasetError> {
        let sums = [
            (DatasetTable::Frames, sums(self.frames.iter().map(|row| (row.self_weight, row.self_samples)))),
            (DatasetTable::Binaries, sums(self.binaries.iter().map(|row| (row.self_weight, row.self_samples)))),
            (DatasetTable::Windows, sums(self.windows.iter().map(|row| (row.weight, row.samples)))),
        ];
        let run = &record.run_id;
        for (table, [weight, samples]) in sums {
            if weight != u128::from(record.weight) {
                let own = record.weight;
                let detail =
                    format!("the rows of run {run} weigh {weight}, and the run weighs {own}: is a file missing?");
                return Err(DatasetError::damaged(table, detail));
            }
            if samples != u128::from(record.samples) {
                let own = record.samples;
                return Err(DatasetError::damaged(
                    table,
                    format!("the rows of run {run} have {samples} samples of {own}"),
                ));
            }
        }
        Ok(())
    }

    /// A function has at least its own weight, and at most the weight of the run.
    fn check_bounds(&self, record: &RunRecord) -> Result<(), DatasetError> {
        let most = (record.weight, record.samples);
        let is_impossible =
            |own: Counts, all: Counts| own.0 > all.0 || own.1 > all.1 || all.0 > most.0 || all.1 > most.1;
        let frame =
            |row: &FrameRow| is_impossible((row.self_weight, row.self_samples), (row.all_weight, row.all_samples));
        let binary =
            |row: &BinaryRow| is_impossible((row.self_weight, row.self_samples), (row.all_weight, row.all_samples));
        let tables = [
            (DatasetTable::Frames, self.frames.iter().any(frame)),
            (DatasetTable::Binaries, self.binaries.iter().any(binary)),
        ];
        match tables.into_iter().find(|(_, is_impossible)| *is_impossible) {
            Some((table, _)) => {
                let what = "has less in all than by itself, or more than the run";
                Err(DatasetError::damaged(table, format!("a row of run {} {what}", record.run_id)))
            }
            None => Ok(()),
        }
    }
}

fn sums(rows: impl Iterator<Item = Counts>) -> [u128; 2] {
    rows.fold([0, 0], |[weight, samples], row| [weight + u128::from(row.0), samples + u128::from(row.1)])
}

/// The error for a thing of which two are there.
pub(super) fn twice_there(table: DatasetTable, thing: &str) -> DatasetError {
    DatasetError::damaged(table, format!("{thing} is there twice: do the files belong to one dataset?"))
}
