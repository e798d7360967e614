//! The first step of every view: the summed weight of each distinct stack of each thread.

use crate::profile::{SampleKind, SampleSum, SelectedSamples, SeriesId, StackId, ThreadId};

/// What a sample counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Its weight, in the unit of its table.
    #[default]
    Weight,
    /// One. The snapshot of all threads at the start (`Stackshot`) counts for nothing here, too.
    Samples,
}

impl Metric {
    /// What a sample, or a sum of samples, counts for.
    #[inline]
    pub fn of(self, sample: impl Into<SampleSum>) -> u64 {
        let sample = sample.into();
        match self {
            Self::Weight => sample.weight,
            Self::Samples if sample.kind == SampleKind::Stackshot => 0,
            Self::Samples => sample.samples,
        }
    }
}

/// What one stack of one thread weighs in one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackWeight {
    /// The samples' table and unit.
    pub series: SeriesId,
    /// The thread.
    pub thread: ThreadId,
    /// The stack; `None` where none was recorded.
    pub stack: Option<StackId>,
    /// The sum of the samples' weights.
    pub weight: u64,
    /// How many samples.
    pub samples: u64,
}

/// The weights of all stacks that a selection counts, sorted by series, thread and stack.
#[derive(Clone, Debug, Default)]
pub struct StackWeights {
    rows: Vec<StackWeight>,
}

impl StackWeights {
    /// Sums the selected samples. For a profile of sums this costs what its distinct stacks cost.
    pub fn new(samples: &SelectedSamples<'_>, metric: Metric) -> Self {
        let rows = samples.sums().map(|sum| StackWeight {
            series: sum.series,
            thread: sum.thread,
            stack: sum.stack,
            weight: metric.of(sum),
            samples: sum.samples,
        });
        let mut rows: Vec<StackWeight> = rows.collect();
        rows.sort_unstable_by_key(key);
        // One stack in several states, or of several kinds, is one row.
        rows.dedup_by(|row, kept| {
            let is_same = key(row) == key(kept);
            if is_same {
                kept.weight += row.weight;
                kept.samples += row.samples;
            }
            is_same
        });
        Self { rows }
    }

    /// Drops the rows of the series that are not wanted.
    pub fn retain_series(&mut self, is_wanted: impl Fn(SeriesId) -> bool) {
        self.rows.retain(|row| is_wanted(row.series));
    }

    /// All rows, to be kept.
    pub(super) fn into_rows(self) -> Vec<StackWeight> {
        self.rows
    }

    /// All rows.
    pub fn rows(&self) -> &[StackWeight] {
        &self.rows
    }

    /// The rows of one series.
    pub fn of_series(&self, series: SeriesId) -> &[StackWeight] {
        let start = self.rows.partition_point(|row| row.series < series);
        let end = self.rows.partition_point(|row| row.series <= series);
        &self.rows[start..end]
    }
}

fn key(row: &StackWeight) -> (SeriesId, ThreadId, Option<StackId>) {
    (row.series, row.thread, row.stack)
}
