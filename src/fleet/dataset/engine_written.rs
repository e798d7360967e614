//! Reads the runs of datasets that an engine rewrote.
//!
//! DuckDB's `COPY` and Spark's `repartition` distribute a table's rows over any number of files in any order, so the rows of a run need not be
//! adjacent. Runs are therefore collected in memory, one part at a time: a part is the runs whose ids have a certain hash, and all files are read
//! once per part.
//!
//! Nothing records which files belong together, so each run is checked for completeness. Sums reveal missing and duplicated files. Columns that
//! duplicate others reveal modifications, and no number in a row may exceed that of its run.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use super::layout::Writer;
use super::reader::{DatasetRun, FileNames, in_order, read_frame, read_stack, read_window};
use super::runs::{COPIES, read_row};
use super::table::TableRows;
use super::{DatasetError, DatasetRow, DatasetTable};
use crate::fleet::{FailedInput, FrameRow, NameId, RunRecord, StackRow, WindowRow};

/// Collects the runs in one part of a rewritten dataset, from all files of all tables, in any order.
///
/// Memory is bounded by the part's rows.
pub struct RewrittenRuns {
    part: u64,
    parts: u64,
    names: FileNames,
    runs: BTreeMap<String, Gathered>,
    /// Keyed by source.
    failures: BTreeMap<String, FailedInput>,
}

/// The rows of a run, in reading order.
#[derive(Default)]
struct Gathered {
    /// Has only the labels in the table `runs`.
    record: Option<RunRecord>,
    copied_numbers: [Option<u64>; COPIED_NUMBERS.len()],
    labels: Vec<(String, String)>,
    frames: Vec<FrameRow>,
    binaries: Vec<FrameRow>,
    windows: Vec<WindowRow>,
    /// Each row has its node number.
    stacks: Vec<(u32, StackRow)>,
}

/// Columns of the table `runs` that duplicate other numbers.
const COPIED_NUMBERS: [&str; 3] = ["cpu_rate_millionths", "first_whole_second", "end_whole_second"];

impl RewrittenRuns {
    /// Creates a collector for the part with this index, from 0 to `parts - 1`.
    pub fn new(part: u32, parts: u32) -> Self {
        let (part, parts) = (u64::from(part), u64::from(parts.max(1)));
        Self { part, parts, names: FileNames::default(), runs: BTreeMap::new(), failures: BTreeMap::new() }
    }

    /// Returns the number of rows in a table's file, which an engine may have written.
    ///
    /// # Errors
    ///
    /// If reading fails, or the file does not have that table's columns.
    pub fn row_count<R: Read + Seek + Send + 'static>(table: DatasetTable, input: R) -> Result<u64, DatasetError> {
        TableRows::open(Writer::Engine, table, &[], input).map(|rows| rows.count())
    }

    /// Adds a file of a table.
    ///
    /// # Errors
    ///
    /// If reading fails, a column is missing or has the wrong type, or a run occurs twice.
    pub fn add<R: Read + Seek + Send + 'static>(&mut self, table: DatasetTable, input: R) -> Result<(), DatasetError> {
        self.names.begin_file();
        let mut rows = TableRows::open(Writer::Engine, table, &table.columns_to_read(), input)?;
        while rows.advance()? {
            if table == DatasetTable::Runs {
                self.add_run(&rows)?;
                continue;
            }
            let run_id = rows.text(0)?;
            if !self.has(&run_id) {
                continue;
            }
            let run = self.runs.entry(run_id).or_default();
            match table {
                DatasetTable::Labels => run.labels.push((rows.text(1)?, rows.text(2)?)),
                DatasetTable::Frames => run.frames.push(read_frame(&rows, &mut self.names)?),
                DatasetTable::Binaries => run.binaries.push(read_frame(&rows, &mut self.names)?),
                DatasetTable::Windows => run.windows.push(read_window(&rows, &mut self.names)?),
                DatasetTable::Stacks => run.stacks.push(read_stack(&rows, &mut self.names)?),
                // Handled above.
                DatasetTable::Runs => {}
            }
        }
        Ok(())
    }

    fn add_run(&mut self, rows: &TableRows) -> Result<(), DatasetError> {
        let twice = match read_row(rows)? {
            DatasetRow::Failed(failure) if self.has(&failure.source) => {
                let twice = self.failures.insert(failure.source.clone(), failure);
                twice.map(|twice| format!("the file {}", twice.source))
            }
            DatasetRow::Run(record) if self.has(&record.run_id) => {
                let run = self.runs.entry(record.run_id.clone()).or_default();
                for (number, name) in run.copied_numbers.iter_mut().zip(COPIED_NUMBERS) {
                    *number = rows.integer_or_null(name)?;
                }
                run.record.replace(*record).map(|twice| format!("run {}", twice.run_id))
            }
            DatasetRow::Failed(_) | DatasetRow::Run(_) => None,
        };
        twice.map_or(Ok(()), |thing| Err(twice_there(DatasetTable::Runs, &thing)))
    }

    /// True if a run or file with this id belongs to the part.
    fn has(&self, id: &str) -> bool {
        self.parts == 1 || hash(id) % self.parts == self.part
    }

    /// Returns the runs, sorted by id, followed by the files without runs, sorted by source.
    ///
    /// # Errors
    ///
    /// If a run is incomplete or has a duplicate row.
    pub fn finish(self) -> Result<Vec<DatasetRow<DatasetRun>>, DatasetError> {
        let mut rows = Vec::with_capacity(self.runs.len() + self.failures.len());
        for (run_id, run) in self.runs {
            rows.push(DatasetRow::Run(Box::new(run.finish(&run_id, &self.names)?)));
        }
        rows.extend(self.failures.into_values().map(DatasetRow::Failed));
        Ok(rows)
    }
}

impl Gathered {
    fn finish(self, run_id: &str, names: &FileNames) -> Result<DatasetRun, DatasetError> {
        let Some(mut record) = self.record else {
            let table = match () {
                () if !self.labels.is_empty() => DatasetTable::Labels,
                () if !self.frames.is_empty() => DatasetTable::Frames,
                () if !self.binaries.is_empty() => DatasetTable::Binaries,
                () if !self.stacks.is_empty() => DatasetTable::Stacks,
                () => DatasetTable::Windows,
            };
            let detail = format!("it has rows of run {run_id}, which is not in the table `runs`");
            return Err(DatasetError::damaged(table, detail));
        };
        let Self { copied_numbers, mut labels, mut frames, mut binaries, mut windows, mut stacks, .. } = self;
        {
            let all = names.shared.get();
            let text = |id: NameId| all.get(id.0 as usize).map_or("", String::as_str);
            let thread = |process, thread, is_main| (text(process), text(thread), is_main);
            let code = |row: &FrameRow| {
                (thread(row.process, row.thread, row.is_main_thread), [row.binary, row.function].map(text))
            };
            labels.sort();
            frames.sort_by_key(code);
            binaries.sort_by_key(code);
            windows.sort_by_key(|row| (thread(row.process, row.thread, row.is_main_thread), row.second));
        }
        stacks.sort_by_key(|(node, _)| *node);
        let stacks = in_order(run_id, stacks)?;
        let copied_labels = std::mem::replace(&mut record.labels, labels);
        let run = DatasetRun { record, names: names.shared.clone(), frames, binaries, windows, stacks };
        check_once(&run)?;
        check_sums(&run)?;
        check_bounds(&run)?;
        check_copies(&run.record, &copied_labels, copied_numbers)?;
        Ok(run)
    }
}

/// FNV-1a, which has the same result on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Checks that the duplicate columns in the table `runs` agree with the record and its labels.
fn check_copies(
    record: &RunRecord,
    labels: &[(String, String)],
    numbers: [Option<u64>; COPIED_NUMBERS.len()],
) -> Result<(), DatasetError> {
    let copy = |key: &str| labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    if let Some(key) = COPIES.into_iter().find(|key| record.label(key) != copy(key)) {
        let detail = format!("the label {key} of run {} differs from its column in the table `runs`", record.run_id);
        return Err(DatasetError::damaged(DatasetTable::Labels, detail));
    }
    let seconds = record.copied_seconds();
    let [start, end] = [seconds.as_ref().map(|it| it.start), seconds.map(|it| it.end)];
    let rate = record.rate(record.weight).map(|rate| rate.get());
    let told = [rate, start.map(u64::from), end.map(u64::from)];
    match COPIED_NUMBERS.iter().zip(numbers).zip(told).find(|((_, copy), told)| copy != told) {
        Some(((name, _), _)) => {
            let run = &record.run_id;
            let detail = format!("{name} of run {run} does not match its weight and recorded time");
            Err(DatasetError::damaged(DatasetTable::Runs, detail))
        }
        None => Ok(()),
    }
}

/// Checks that there are no duplicate rows.
fn check_once(run: &DatasetRun) -> Result<(), DatasetError> {
    let code = |row: &FrameRow| (row.process, row.thread, row.is_main_thread, row.binary, row.function);
    let window = |row: &WindowRow| (row.process, row.thread, row.is_main_thread, row.second);
    let has_twice = |rows: &[FrameRow]| rows.windows(2).any(|pair| code(&pair[0]) == code(&pair[1]));
    let twice = [
        (DatasetTable::Labels, run.record.labels.windows(2).any(|pair| pair[0].0 == pair[1].0)),
        (DatasetTable::Frames, has_twice(&run.frames)),
        (DatasetTable::Binaries, has_twice(&run.binaries)),
        (DatasetTable::Windows, run.windows.windows(2).any(|pair| window(&pair[0]) == window(&pair[1]))),
    ];
    match twice.into_iter().find(|(_, is_twice)| *is_twice) {
        Some((table, _)) => Err(twice_there(table, &format!("a row of run {}", run.record.run_id))),
        None => Ok(()),
    }
}

/// Checks that the rows of each table add up to the run.
fn check_sums(run: &DatasetRun) -> Result<(), DatasetError> {
    let RunRecord { run_id, weight: own_weight, samples: own_samples, .. } = &run.record;
    let code = |rows: &[FrameRow]| sums(rows.iter().map(|row| row.sum(false)));
    let stacks = sums(run.stacks.iter().map(|row| (row.self_weight, row.self_samples)));
    let sums = [
        (DatasetTable::Frames, code(&run.frames)),
        (DatasetTable::Binaries, code(&run.binaries)),
        (DatasetTable::Windows, sums(run.windows.iter().map(|row| (row.weight, row.samples)))),
        (DatasetTable::Stacks, stacks),
    ];
    // Call trees are optional.
    let is_there = |table| table != DatasetTable::Stacks || !run.stacks.is_empty();
    for (table, [weight, samples]) in sums.into_iter().filter(|(table, _)| is_there(*table)) {
        let detail = if weight != u128::from(*own_weight) {
            format!("the rows of run {run_id} weigh {weight}, but the run weighs {own_weight}: is a file missing?")
        } else if samples != u128::from(*own_samples) {
            format!("the rows of run {run_id} have {samples} of its {own_samples} samples")
        } else {
            continue;
        };
        return Err(DatasetError::damaged(table, detail));
    }
    Ok(())
}

fn sums(rows: impl Iterator<Item = (u64, u64)>) -> [u128; 2] {
    rows.fold([0, 0], |[weight, samples], row| [weight + u128::from(row.0), samples + u128::from(row.1)])
}

/// Checks that self weight ≤ all weight ≤ the run's weight, for each function.
fn check_bounds(run: &DatasetRun) -> Result<(), DatasetError> {
    let most = (run.record.weight, run.record.samples);
    let is_impossible = |row: &FrameRow| {
        let (own, all) = (row.sum(false), row.sum(true));
        own.0 > all.0 || own.1 > all.1 || all.0 > most.0 || all.1 > most.1
    };
    let mut tables = [(DatasetTable::Frames, &run.frames), (DatasetTable::Binaries, &run.binaries)].into_iter();
    match tables.find(|(_, rows)| rows.iter().any(is_impossible)) {
        Some((table, _)) => {
            let what = "has an all weight below its self weight, or above the run's weight";
            Err(DatasetError::damaged(table, format!("a row of run {} {what}", run.record.run_id)))
        }
        None => Ok(()),
    }
}

/// The error for a duplicate.
fn twice_there(table: DatasetTable, thing: &str) -> DatasetError {
    DatasetError::damaged(table, format!("{thing} occurs twice: do the files belong to one dataset?"))
}
