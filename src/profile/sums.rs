//! Samples that were added up: all that trees and totals need of them.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;

use super::Full;
use super::ids::{SeriesId, StackId, StringId, ThreadId};
use super::model::{Sample, SampleKind};
use crate::chunks::Chunks;
use crate::hash::BuildHasher;
use crate::units::Nanos;

/// How a profile keeps samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SampleDetail {
    /// Each one, in the order of the input ([`Profile::samples`](super::Profile::samples)). 40 bytes a sample.
    #[default]
    Each,
    /// Added up by series, thread, stack, thread state and kind ([`Profile::sums`](super::Profile::sums)). 56 bytes a sum,
    /// however many samples: memory does not grow with the rows of an input.
    ///
    /// Every call tree, every total and every list of threads or functions is the same as with [`Each`](Self::Each). What is
    /// lost: the samples one by one, with their times and cores. So a
    /// [`Selection`](super::Selection) of a time counts nothing in such a profile, and `fleet::measure`, which looks at
    /// seconds and cores, finds no samples in it.
    Summed,
}

/// Samples of one table, one thread, one stack, one thread state and one kind, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSum {
    /// The table they are rows of.
    pub series: SeriesId,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// What it was doing; `None` where no stack was recorded, although the weight is real.
    pub stack: Option<StackId>,
    /// The thread's state (`Running`, `Blocked` …), where recorded.
    pub state: Option<StringId>,
    /// What made them.
    pub kind: SampleKind,
    /// The sum of their weights, in the unit of the series.
    pub weight: u64,
    /// How many samples; 1 or more.
    pub samples: u64,
    /// The earliest time of one of them, counted from the start of the recording.
    pub first_time: Nanos,
    /// The latest time of one of them.
    pub last_time: Nanos,
}

impl From<&Sample> for SampleSum {
    /// The sum of this sample alone.
    #[inline]
    fn from(sample: &Sample) -> Self {
        let Sample { time, weight, series, thread, stack, core: _, state, kind } = *sample;
        Self { series, thread, stack, state, kind, weight, samples: 1, first_time: time, last_time: time }
    }
}

impl SampleSum {
    #[inline]
    fn is_of(&self, sample: &Sample) -> bool {
        (self.stack, self.thread, self.series) == (sample.stack, sample.thread, sample.series)
            && (self.state, self.kind) == (sample.state, sample.kind)
    }

    #[inline]
    fn add(&mut self, sample: &Sample) {
        self.weight += sample.weight;
        self.samples += 1;
        self.first_time = self.first_time.min(sample.time);
        self.last_time = self.last_time.max(sample.time);
    }
}

/// Samples on their way to their sums. They are added many at a time, and maybe by another thread than collects them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SumBatch {
    samples: Vec<Sample>,
    /// Of samples that carry counter values: the index of the sample, and where its values end; they start where those before
    /// end.
    counters: Vec<(usize, usize)>,
    values: Vec<u64>,
}

impl SumBatch {
    #[inline]
    pub(super) fn push(&mut self, sample: &Sample) {
        self.samples.push(*sample);
    }

    /// Gives the sample that was pushed last counter values.
    pub(super) fn push_counters(&mut self, values: &[u64]) {
        if let Some(sample) = self.samples.len().checked_sub(1) {
            self.values.extend_from_slice(values);
            self.counters.push((sample, self.values.len()));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.samples.len()
    }

    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.counters.clear();
        self.values.clear();
    }
}

/// Adds samples up.
///
/// Nearly every stack has one sum only: that one is known by its stack. Sums are far more than a cache holds, and each
/// sample adds to another one; who knows which come next can [`fetch`](Self::fetch) them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SumTable {
    rows: Chunks<SampleSum>,
    counters: SumCounters,
    /// By stack: the row of its first sum, counted from 1; 0 is none.
    first_of_stack: Chunks<u32>,
    /// The other sums of stacks, and those without one.
    others: HashTable<u32>,
    hasher: BuildHasher,
    /// The row of the sample that was added last.
    last: usize,
    /// Room for [`fetch`](Self::fetch).
    places: Vec<u32>,
}

impl SumTable {
    /// Adds a sample. The caller makes sure that the weights of a series fit in 64 bits.
    #[inline]
    pub(super) fn add(&mut self, sample: &Sample) -> Result<(), Full> {
        let first = sample.stack.and_then(|stack| self.first_of_stack.get(stack.index())).copied().unwrap_or(0);
        match self.rows.get_mut((first as usize).wrapping_sub(1)) {
            Some(sum) if sum.is_of(sample) => {
                sum.add(sample);
                self.last = first as usize - 1;
                Ok(())
            }
            known => {
                let is_first = known.is_none();
                self.add_rare(sample, is_first)
            }
        }
    }

    /// Adds a sample that is not of the first sum of its stack.
    fn add_rare(&mut self, sample: &Sample, is_first: bool) -> Result<(), Full> {
        let Self { rows, others, hasher, .. } = self;
        let new = u32::try_from(rows.len()).ok().filter(|&row| row < u32::MAX).ok_or(Full)?;
        if let Some(stack) = sample.stack.filter(|_| is_first) {
            self.first_of_stack.grow(stack.index() + 1, 0);
            if let Some(place) = self.first_of_stack.get_mut(stack.index()) {
                *place = new + 1;
            }
        } else {
            let hash = hash_of(&SampleSum::from(sample), hasher);
            if let Some(&row) = others.find(hash, |&row| rows[row as usize].is_of(sample)) {
                self.last = row as usize;
                if let Some(sum) = rows.get_mut(self.last) {
                    sum.add(sample);
                }
                return Ok(());
            }
            others.insert_unique(hash, new, |&row| hash_of(&rows[row as usize], hasher));
        }
        self.last = rows.len();
        self.rows.push(SampleSum::from(sample));
        Ok(())
    }

    /// How many sums there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds samples, with what they carry.
    pub(crate) fn add_batch(&mut self, batch: &SumBatch) -> Result<(), Full> {
        self.fetch(batch.samples.iter().filter_map(|sample| sample.stack));
        let (mut counters, mut start) = (batch.counters.iter().peekable(), 0);
        for (index, sample) in batch.samples.iter().enumerate() {
            self.add(sample)?;
            if let Some(&(_, end)) = counters.next_if(|(of, _)| *of == index) {
                self.add_counters(&batch.values[start..end]);
                start = end;
            }
        }
        Ok(())
    }

    /// Brings the sums of stacks near, whose samples come next. Sums lie far apart in memory, and to wait for many takes
    /// little longer than for one.
    pub(super) fn fetch(&mut self, stacks: impl Iterator<Item = StackId>) {
        self.places.clear();
        self.places.extend(stacks.map(|stack| self.first_of_stack.get(stack.index()).copied().unwrap_or(0)));
        let sums = self.places.iter().filter_map(|&place| self.rows.get((place as usize).wrapping_sub(1)));
        // A row may lie in two lines of the cache.
        std::hint::black_box(sums.fold(0, |all, sum| all ^ sum.weight ^ sum.kind as u64));
    }

    /// Adds the counter values of the sample that was added last.
    pub(super) fn add_counters(&mut self, values: &[u64]) {
        if self.rows.len() > 0 {
            self.counters.add(self.last, values);
        }
    }

    /// The sums, in the order of their first samples, and their counters.
    pub(super) fn finish(self) -> (Vec<SampleSum>, SumCounters) {
        (self.rows.into_vec(), self.counters)
    }

    /// The sums, in the order of their first samples.
    pub(super) fn into_rows(self) -> impl Iterator<Item = SampleSum> {
        self.rows.into_vec().into_iter()
    }
}

/// The hash of what a sample is summed by.
#[inline]
fn hash_of(sum: &SampleSum, hasher: &BuildHasher) -> u64 {
    let row = |id: Option<usize>| id.map_or(0, |index| index as u64 + 1);
    let owner = (sum.series.index() as u64) << 32 | sum.thread.index() as u64;
    // Kinds are few: that some share a hash with a state costs nothing.
    let state = row(sum.state.map(StringId::index)) ^ (sum.kind as u64) << 29;
    hasher.hash_one((owner, row(sum.stack.map(StackId::index)) << 32 ^ state))
}

/// Summed counter values: of each sum as many as the sample with most of them had.
#[derive(Clone, Debug, Default)]
pub(super) struct SumCounters {
    /// By sum: where its values start, and how many there are; shorter than the sums where the last ones have none.
    places: Vec<(usize, usize)>,
    values: Vec<u128>,
}

impl SumCounters {
    pub(super) fn get(&self, sum: usize) -> &[u128] {
        self.places.get(sum).map_or(&[], |&(start, count)| &self.values[start..start + count])
    }

    /// Gives the sum at this index values; it must be none that has some.
    pub(super) fn copy(&mut self, sum: usize, values: &[u128]) {
        if !values.is_empty() {
            self.places.resize(sum + 1, (0, 0));
            self.places[sum] = (self.values.len(), values.len());
            self.values.extend_from_slice(values);
        }
    }

    fn add(&mut self, sum: usize, values: &[u64]) {
        if self.places.len() <= sum {
            self.places.resize(sum + 1, (0, 0));
        }
        let (start, count) = self.places[sum];
        if count < values.len() {
            // The rows of a table have as many values each, so what stays behind is rare.
            let moved = self.values.len();
            self.values.extend_from_within(start..start + count);
            self.values.resize(moved + values.len(), 0);
            self.places[sum] = (moved, values.len());
        }
        let start = self.places[sum].0;
        // 2⁶⁴ values fit.
        for (total, &value) in self.values[start..].iter_mut().zip(values) {
            *total += u128::from(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn sample(numbers: [usize; 5], time: u64, weight: u64) -> Sample {
        let [series, thread, stack, state, kind] = numbers;
        let kinds = [SampleKind::Periodic, SampleKind::EveryThread, SampleKind::Stackshot, SampleKind::Other];
        Sample {
            time: Nanos::from_nanos(time),
            weight,
            series: SeriesId::from_index(series).unwrap(),
            thread: ThreadId::from_index(thread).unwrap(),
            stack: stack.checked_sub(1).and_then(StackId::from_index),
            core: None,
            state: state.checked_sub(1).and_then(StringId::from_index),
            kind: kinds[kind],
        }
    }

    proptest! {
        #[test]
        fn sums_are_those_of_a_plain_map(
            rows in proptest::collection::vec(
                ((0..2_usize, 0..3_usize, 0..4_usize, 0..3_usize, 0..4_usize), any::<u32>(), any::<u32>(),
                 proptest::collection::vec(any::<u64>(), 0..4)),
                0..300,
            ),
            has_counters in any::<bool>(),
            batch_size in 1..40_usize,
        ) {
            let (mut table, mut batch) = (SumTable::default(), SumBatch::default());
            let mut expected: HashMap<[usize; 5], (Vec<Sample>, Vec<u128>)> = HashMap::new();
            for ((series, thread, stack, state, kind), time, weight, counters) in rows {
                let key = [series, thread, stack, state, kind];
                let sample = sample(key, u64::from(time), u64::from(weight));
                if batch.len() == batch_size {
                    table.add_batch(&batch).unwrap();
                    batch.clear();
                }
                batch.push(&sample);
                // Some samples of a batch carry values, and some do not.
                let counters = if has_counters && !counters.is_empty() { counters } else { Vec::new() };
                if !counters.is_empty() {
                    batch.push_counters(&counters);
                }
                let (samples, totals) = expected.entry(key).or_default();
                samples.push(sample);
                totals.resize(totals.len().max(counters.len()), 0);
                totals.iter_mut().zip(counters).for_each(|(total, value)| *total += u128::from(value));
            }
            table.add_batch(&batch).unwrap();
            let (rows, counters) = table.finish();
            prop_assert_eq!(rows.len(), expected.len());
            for (index, row) in rows.iter().enumerate() {
                let is_it = |key: &&[usize; 5]| row.is_of(&sample(**key, 0, 0));
                let (samples, values) = &expected[expected.keys().find(is_it).unwrap()];
                prop_assert_eq!(row.weight, samples.iter().map(|sample| sample.weight).sum::<u64>());
                prop_assert_eq!(row.samples, samples.len() as u64);
                prop_assert_eq!(Some(row.first_time), samples.iter().map(|sample| sample.time).min());
                prop_assert_eq!(Some(row.last_time), samples.iter().map(|sample| sample.time).max());
                prop_assert_eq!(counters.get(index), values.as_slice());
            }
        }
    }
}
