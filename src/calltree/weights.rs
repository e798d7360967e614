//! The first step of every view: the summed weight of each distinct stack of each thread.

use crate::hash::HashMap;
use crate::profile::{Sample, SampleKind, SelectedSamples, SeriesId, StackId, ThreadId};

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
    /// What the sample counts for.
    pub fn of(self, sample: &Sample) -> u64 {
        match self {
            Self::Weight => sample.weight,
            Self::Samples => u64::from(sample.kind != SampleKind::Stackshot),
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

type Key = (SeriesId, ThreadId, Option<StackId>);

/// The weights of all stacks that a selection counts, sorted by series, thread and stack.
#[derive(Clone, Debug, Default)]
pub struct StackWeights {
    rows: Vec<StackWeight>,
}

impl StackWeights {
    /// Sums the selected samples.
    pub fn new(samples: &SelectedSamples<'_>, metric: Metric) -> Self {
        let mut sums: HashMap<Key, (u64, u64)> = HashMap::default();
        for sample in samples.iter() {
            let sum = sums.entry((sample.series, sample.thread, sample.stack)).or_default();
            sum.0 += metric.of(sample);
            sum.1 += 1;
        }
        let rows = sums.into_iter().map(|((series, thread, stack), (weight, samples))| StackWeight {
            series,
            thread,
            stack,
            weight,
            samples,
        });
        let mut rows: Vec<StackWeight> = rows.collect();
        rows.sort_unstable_by_key(|row| (row.series, row.thread, row.stack));
        Self { rows }
    }

    /// Drops the rows of the series that are not wanted.
    pub fn retain_series(&mut self, is_wanted: impl Fn(SeriesId) -> bool) {
        self.rows.retain(|row| is_wanted(row.series));
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
