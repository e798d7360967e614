//! The first step of every view: sums the weights of each distinct stack in each thread.

use std::sync::Arc;

use crate::profile::{
    Doing, Doings, Profile, SampleKind, SampleSum, SelectedSamples, SelectedSums, SeriesId, StackId, SumRow, ThreadId,
};

/// What is summed: the weight of each sample, or the number of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// The weight, in the unit of its table.
    #[default]
    Weight,
    /// One per sample, except zero for the snapshot of all threads at the start (`Stackshot`).
    Samples,
}

impl Metric {
    /// Returns the summand for a sample or a sum of samples.
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

/// The weight of samples with the same series, thread, stack and activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackWeight {
    /// The table and unit of the samples.
    pub series: SeriesId,
    /// The thread.
    pub thread: ThreadId,
    /// The stack; `None` if it was not recorded.
    pub stack: Option<StackId>,
    /// The thread's activity.
    pub(crate) doing: Doing,
    /// The sum of the samples' weights.
    pub weight: u64,
    /// The number of samples.
    pub samples: u64,
}

/// The weights of all selected stacks, sorted by series, thread, stack and activity.
///
/// Clones share the rows.
#[derive(Clone, Debug, Default)]
pub struct StackWeights {
    rows: Arc<Vec<StackWeight>>,
}

impl StackWeights {
    /// Sums the selected samples. For a profile of sums, the cost depends on the number of distinct stacks.
    pub fn new(samples: &SelectedSamples<'_>, metric: Metric) -> Self {
        Self::of_sums(samples.profile(), &samples.added_up(), metric)
    }

    /// Like [`new`](Self::new), for precomputed sums.
    pub(crate) fn of_sums(profile: &Profile, sums: &SelectedSums<'_>, metric: Metric) -> Self {
        let mut rows = sorted_by_thread(profile, sums, metric);
        for rows in rows.chunk_by_mut(|a, b| (a.series, a.thread) == (b.series, b.thread)) {
            // Stacks are numbered in order of appearance, so most rows are already in order.
            rows.sort_by_key(|row| (row.stack, row.doing));
        }
        // A stack with several states or kinds has several rows, which are merged.
        Self::of_sorted(joined(rows))
    }

    /// Takes unique rows, sorted by series, thread, stack and activity.
    pub(super) fn of_sorted(rows: Vec<StackWeight>) -> Self {
        Self { rows: Arc::new(rows) }
    }

    /// Returns all rows.
    pub fn rows(&self) -> &[StackWeight] {
        &self.rows
    }

    /// Returns the rows of one series.
    pub fn of_series(&self, series: SeriesId) -> &[StackWeight] {
        let start = self.rows.partition_point(|row| row.series < series);
        let end = self.rows.partition_point(|row| row.series <= series);
        &self.rows[start..end]
    }

    /// Returns the weights of the series for which `is_wanted` is true.
    #[must_use]
    pub fn retain_series(self, is_wanted: impl Fn(SeriesId) -> bool) -> Self {
        if self.rows.iter().all(|row| is_wanted(row.series)) {
            return self;
        }
        Self::of_sorted(self.rows.iter().filter(|row| is_wanted(row.series)).copied().collect())
    }

    /// Returns the weights of one series.
    #[must_use]
    pub fn only(&self, series: SeriesId) -> Self {
        let rows = self.of_series(series);
        if rows.len() == self.rows.len() { self.clone() } else { Self::of_sorted(rows.to_vec()) }
    }
}

/// Collects rows in any order, merging rows with the same key.
impl FromIterator<StackWeight> for StackWeights {
    fn from_iter<R: IntoIterator<Item = StackWeight>>(rows: R) -> Self {
        let mut rows: Vec<StackWeight> = rows.into_iter().collect();
        rows.sort_by_key(key);
        Self::of_sorted(joined(rows))
    }
}

/// Merges sorted rows with the same key.
fn joined(mut rows: Vec<StackWeight>) -> Vec<StackWeight> {
    rows.dedup_by(|row, kept| {
        let is_same = key(row) == key(kept);
        if is_same {
            kept.weight += row.weight;
            kept.samples += row.samples;
        }
        is_same
    });
    rows
}

/// Returns a row for each selected sum, sorted by series and thread.
fn sorted_by_thread(profile: &Profile, sums: &SelectedSums<'_>, metric: Metric) -> Vec<StackWeight> {
    let (groups, doings) = (&sums.groups, Doings::new(profile));
    let mut order: Vec<usize> = (0..groups.len()).filter(|&group| sums.is_counted[group]).collect();
    order.sort_unstable_by_key(|&group| (groups[group].series, groups[group].thread));
    let Some(first) = sums.counted().next() else { return Vec::new() };
    // For each group, first the number of its rows, then the index for its next row.
    let mut places = vec![0; groups.len()];
    sums.counted().for_each(|row| places[row.group as usize] += 1);
    let mut all = 0;
    for group in order {
        (places[group], all) = (all, all + places[group]);
    }
    let weight_of = |row: &SumRow| {
        let sum = groups[row.group as usize].sum(row);
        let SampleSum { series, thread, stack, samples, .. } = sum;
        StackWeight { series, thread, stack, doing: doings.of(&sum), weight: metric.of(sum), samples }
    };
    let mut rows = vec![weight_of(first); all];
    for row in sums.counted() {
        let place = &mut places[row.group as usize];
        rows[*place] = weight_of(row);
        *place += 1;
    }
    rows
}

fn key(row: &StackWeight) -> (SeriesId, ThreadId, Option<StackId>, Doing) {
    (row.series, row.thread, row.stack, row.doing)
}
