//! Samples that were added up: all that trees and totals need of them.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;

use super::Full;
use super::ids::{SeriesId, StackId, StringId, ThreadId};
use super::model::{Sample, SampleKind};
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

/// How many samples are looked up together.
const BATCH: usize = 64;

/// The row of a sum that was not found.
const NONE: u32 = u32::MAX;

/// Adds samples up.
///
/// Sums are far more than a cache holds, and each sample adds to another one. So samples wait until there are some, and are
/// looked up together: first in the hash table, which has a part of each hash and does not need the sums for it, then in the
/// sums. Within one of the steps no sample waits for what another one reads from memory.
#[derive(Clone, Debug, Default)]
pub(super) struct SumTable {
    rows: Vec<SampleSum>,
    counters: SumCounters,
    /// The hash of each sum, and its row.
    ids: HashTable<(u32, u32)>,
    hasher: BuildHasher,
    /// Samples that were not added to their sums yet; fewer than [`BATCH`].
    waiting: Vec<Sample>,
    /// The row of the sample that was added to its sum last.
    last: usize,
}

impl SumTable {
    /// Adds a sample. The caller makes sure that the weights of a series fit in 64 bits.
    #[inline]
    pub(super) fn add(&mut self, sample: &Sample) -> Result<(), Full> {
        if self.rows.len() + self.waiting.len() >= NONE as usize {
            return Err(Full);
        }
        self.waiting.push(*sample);
        if self.waiting.len() == BATCH {
            self.add_waiting();
        }
        Ok(())
    }

    fn add_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut found = [(0_u32, NONE); BATCH];
        for ((hash, row), sample) in found.iter_mut().zip(&waiting) {
            *hash = hash_of(sample, &self.hasher);
            let known = self.ids.find(spread(*hash), |(known, _)| known == hash);
            *row = known.map_or(NONE, |&(_, row)| row);
        }
        for (&(hash, row), sample) in found.iter().zip(&waiting) {
            self.last = match self.rows.get_mut(row as usize) {
                Some(sum) if sum.is_of(sample) => {
                    sum.add(sample);
                    row as usize
                }
                _ => self.add_rare(sample, hash),
            };
        }
        waiting.clear();
        self.waiting = waiting;
    }

    /// Adds a sample whose sum is new, was new a moment ago, or shares its hash with another one; gives its row.
    fn add_rare(&mut self, sample: &Sample, hash: u32) -> usize {
        let Self { rows, ids, .. } = self;
        let is_it = |&(known, row): &(u32, u32)| known == hash && rows[row as usize].is_of(sample);
        if let Some(&(_, row)) = ids.find(spread(hash), is_it) {
            rows[row as usize].add(sample);
            return row as usize;
        }
        // `add` keeps the number of rows below 2³².
        ids.insert_unique(spread(hash), (hash, rows.len() as u32), |&(hash, _)| spread(hash));
        rows.push(SampleSum::from(sample));
        rows.len() - 1
    }

    /// Adds the counter values of the sample that was added last.
    pub(super) fn add_counters(&mut self, values: &[u64]) {
        self.add_waiting();
        if !self.rows.is_empty() {
            self.counters.add(self.last, values);
        }
    }

    /// The sums, in the order of their first samples, and their counters.
    pub(super) fn finish(mut self) -> (Vec<SampleSum>, SumCounters) {
        self.add_waiting();
        self.rows.shrink_to_fit();
        (self.rows, self.counters)
    }

    /// The sums, in the order of their first samples.
    pub(super) fn into_rows(mut self) -> impl Iterator<Item = SampleSum> {
        self.add_waiting();
        self.rows.into_iter()
    }
}

/// The hash of what a sample is summed by.
#[inline]
fn hash_of(sample: &Sample, hasher: &BuildHasher) -> u32 {
    let row = |id: Option<usize>| id.map_or(0, |index| index as u64 + 1);
    let owner = (sample.series.index() as u64) << 32 | sample.thread.index() as u64;
    // Kinds are few: that some share a hash with a state costs nothing.
    let state = row(sample.state.map(StringId::index)) ^ (sample.kind as u64) << 29;
    hasher.hash_one((owner, row(sample.stack.map(StackId::index)) << 32 ^ state)) as u32
}

/// A hash of 64 bits, of which the table uses both ends, of one of 32.
#[inline]
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
        ) {
            let mut table = SumTable::default();
            let mut expected: HashMap<[usize; 5], (Vec<Sample>, Vec<u128>)> = HashMap::new();
            for ((series, thread, stack, state, kind), time, weight, counters) in rows {
                let key = [series, thread, stack, state, kind];
                let sample = sample(key, u64::from(time), u64::from(weight));
                table.add(&sample).unwrap();
                // With counters each sample is added at once, without them in batches.
                let counters = if has_counters { counters } else { Vec::new() };
                if has_counters {
                    table.add_counters(&counters);
                }
                let (samples, totals) = expected.entry(key).or_default();
                samples.push(sample);
                totals.resize(totals.len().max(counters.len()), 0);
                totals.iter_mut().zip(counters).for_each(|(total, value)| *total += u128::from(value));
            }
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
