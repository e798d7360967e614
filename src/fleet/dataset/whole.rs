//! The checks of a run whose rows were rewritten by an engine: only the rows themselves show whether they are the
//! measured ones.
//!
//! A missing or duplicated file changes the sums of a table. Columns that are copies of others reveal changes, and no
//! number in a row exceeds the number of its run.

use super::runs::COPIES;
use super::table::TableRows;
use super::{DatasetError, DatasetTable};
use crate::fleet::{BinaryRow, FrameRow, RunRecord, WindowRow};

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
