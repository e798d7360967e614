//! Sums of samples, with all that trees and totals need.

use std::hash::BuildHasher as _;
use std::hint::black_box;

use hashbrown::HashTable;

use super::ids::Full;
use super::leaves::Leaves;
use super::model::{Sample, SampleKind};
use super::model::{SeriesId, StackId, StringId, ThreadId};
use super::sample_sum::{SampleSum, SampledTime};
use super::time_bins::TimeBins;
use crate::chunked_vec::ChunkedVec;
use crate::hash::{BuildHasher, HashMap};
use crate::memory::{of_map, of_vec};
use crate::units::Nanos;

/// The level of detail at which a profile keeps samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SampleDetail {
    /// Keeps samples in input order ([`Profile::samples`](super::Profile::samples)), at 40 bytes each.
    #[default]
    Each,
    /// Sums samples by series, thread, stack, thread state and kind ([`Profile::sums`](super::Profile::sums)), at 24 bytes per sum. Memory does
    /// not grow with the number of rows.
    ///
    /// All call trees, totals and lists of threads or functions are the same as with [`Each`](Self::Each). Times and cores of individual samples
    /// are lost. A [`Selection`](super::Selection) of time therefore selects nothing in such a profile, and `fleet::measure`, which needs seconds
    /// and cores, finds no samples.
    Summed,
}

/// The properties that samples with the same stack must share to be summed. There are one or two groups per thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SumGroup {
    pub(crate) series: SeriesId,
    pub(crate) thread: ThreadId,
    pub(crate) state: Option<StringId>,
    pub(crate) kind: SampleKind,
    pub(super) times: Option<SampledTime>,
}

impl SumGroup {
    /// Returns the sum of the group's samples with this stack.
    #[inline]
    pub(crate) fn sum(&self, row: &SumRow) -> SampleSum {
        let Self { series, thread, state, kind, times } = *self;
        let SumRow { weight, samples, stack, group: _ } = *row;
        SampleSum { series, thread, stack, state, kind, weight, samples, times }
    }
}

/// The sum of a group's samples with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SumRow {
    pub(crate) weight: u64,
    pub(crate) samples: u64,
    pub(crate) stack: Option<StackId>,
    pub(crate) group: u32,
}

impl SumRow {
    /// Creates the sum of one sample.
    fn of(sample: &SumSample) -> Self {
        let SumSample { weight, stack, group } = *sample;
        Self { weight, samples: 1, stack, group }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct SumGroups {
    rows: Vec<SumGroup>,
    /// Indexed by group.
    bins: Vec<TimeBins>,
    /// The memory used by bins, in bytes.
    in_bins: u64,
    by_key: HashMap<(SeriesId, ThreadId, Option<StringId>, SampleKind), u32>,
}

impl SumGroups {
    /// Returns the approximate size in bytes.
    pub(super) fn memory(&self) -> u64 {
        of_vec(&self.rows) + of_vec(&self.bins) + self.in_bins + of_map(&self.by_key)
    }

    /// Returns the group of a sample, if it exists.
    pub(super) fn find(&self, sample: &Sample) -> Option<u32> {
        self.by_key.get(&(sample.series, sample.thread, sample.state, sample.kind)).copied()
    }

    /// Returns the group of a sample, and adds it if necessary.
    pub(super) fn of(&mut self, sample: &Sample) -> Result<u32, Full> {
        match self.find(sample) {
            Some(group) => Ok(group),
            None => self.add(&sample.into()),
        }
    }

    /// Returns the group of a sum, and adds it if necessary.
    pub(super) fn of_sum(&mut self, sum: &SampleSum) -> Result<u32, Full> {
        match self.by_key.get(&(sum.series, sum.thread, sum.state, sum.kind)) {
            Some(&group) => Ok(group),
            None => self.add(sum),
        }
    }

    fn add(&mut self, sum: &SampleSum) -> Result<u32, Full> {
        let SampleSum { series, thread, state, kind, times, .. } = *sum;
        let group = u32::try_from(self.rows.len()).map_err(|_| Full)?;
        self.rows.push(SumGroup { series, thread, state, kind, times });
        self.bins.push(TimeBins::default());
        self.by_key.insert((series, thread, state, kind), group);
        Ok(group)
    }

    /// Extends the time range covered by the group's samples.
    #[inline]
    pub(super) fn note_time(&mut self, group: u32, time: Nanos, weight: u64) {
        if let Some(group) = self.rows.get_mut(group as usize) {
            let own = SampledTime::of_nanos(time, weight);
            group.times = group.times.map(|times| times.join(own));
        }
    }

    /// Adds the weight of a sample to the group's bin for this time.
    #[inline]
    pub(super) fn add_to_bins(&mut self, group: u32, time: Nanos, weight: u64) {
        if let Some(bins) = self.bins.get_mut(group as usize) {
            self.in_bins += bins.add(time, weight);
        }
    }

    pub(super) fn finish(self) -> (Vec<SumGroup>, Vec<TimeBins>) {
        (self.rows, self.bins)
    }
}

/// A sample that will be added to its sum.
#[derive(Clone, Copy, Debug)]
struct SumSample {
    weight: u64,
    stack: Option<StackId>,
    group: u32,
}

/// A batch of samples for their sums, which another thread may add.
#[derive(Clone, Debug, Default)]
pub(crate) struct SumBatch {
    samples: Vec<SumSample>,
    /// For each sample with counter values, its index and the end of its values, which start where the previous ones end.
    counters: Vec<(usize, usize)>,
    values: Vec<u64>,
    /// The index of each [row with several samples](Sample::samples), and their number.
    joined: Vec<(usize, u64)>,
}

impl SumBatch {
    #[inline]
    pub(super) fn push(&mut self, group: u32, weight: u64, stack: Option<StackId>) {
        self.samples.push(SumSample { weight, stack, group });
    }

    /// Adds a sample, which may represent several recorded samples.
    #[inline]
    pub(super) fn push_sample(&mut self, group: u32, sample: &Sample) {
        if sample.samples != 1 {
            self.joined.push((self.samples.len(), sample.samples.into()));
        }
        self.push(group, sample.weight, sample.stack);
    }

    /// Sets the counter values of the last sample.
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
        self.joined.clear();
    }
}

/// Up to this number, sums stay in the CPU cache and are not prefetched.
const NEAR: usize = 1 << 13;

/// Adds samples to their sums.
///
/// There are far more sums than fit in a cache, and successive samples belong to different sums. Nearly every stack is new when first sampled,
/// and is sampled in only one group. Such a [leaf](Leaves) has a number, so its sum is found by index. If there are many sums, all leaves of a
/// batch are looked up before the first sample is added, since many concurrent cache misses take little longer than one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SumTable {
    leaves: Leaves,
    /// For each leaf, the sum of the first group in which it was sampled.
    of_leaves: ChunkedVec<SumRow>,
    leaf_counters: SumCounters,
    others: OtherSums,
    other_counters: SumCounters,
    /// The leaf of each sample in the current batch.
    found: Vec<Option<usize>>,
}

/// The sum to which a sample was added.
#[derive(Clone, Copy, Debug)]
enum SumPlace {
    Leaf(usize),
    Other(usize),
}

impl SumTable {
    /// Returns the approximate size in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let by_hash = self.others.by_hash.capacity() as u64 * 8 / 7 * 5;
        let counters = self.leaf_counters.memory() + self.other_counters.memory();
        self.leaves.memory() + self.of_leaves.memory() + self.others.rows.memory() + by_hash + counters
    }

    pub(super) fn len(&self) -> usize {
        self.of_leaves.len() + self.others.rows.len()
    }

    /// Adds samples with their counter values. The caller ensures that the weights of a series fit in 64 bits.
    pub(crate) fn add_batch(&mut self, batch: &SumBatch) -> Result<(), Full> {
        if batch.counters.is_empty() && batch.joined.is_empty() && self.of_leaves.len() < NEAR {
            return batch.samples.iter().try_for_each(|sample| self.add(sample, None).map(drop));
        }
        self.fetch(batch);
        let (mut counters, mut start) = (batch.counters.iter().peekable(), 0);
        let mut joined = batch.joined.iter().peekable();
        for (index, sample) in batch.samples.iter().enumerate() {
            let place = self.add(sample, self.found[index])?;
            if let Some(&(_, samples)) = joined.next_if(|(of, _)| *of == index) {
                self.count(place, samples)?;
            }
            if let Some(&(_, end)) = counters.next_if(|(of, _)| *of == index) {
                match place {
                    SumPlace::Leaf(row) => self.leaf_counters.add(row, &batch.values[start..end]),
                    SumPlace::Other(row) => self.other_counters.add(row, &batch.values[start..end]),
                }
                start = end;
            }
        }
        Ok(())
    }

    /// Finds the leaves of the samples and prefetches their sums.
    fn fetch(&mut self, batch: &SumBatch) {
        let Self { leaves, of_leaves, found, .. } = self;
        found.clear();
        found.extend(batch.samples.iter().map(|sample| leaves.number(sample.stack?)));
        let sums = found.iter().filter_map(|leaf| of_leaves.get((*leaf)?));
        // Reads both ends of the row, since it may span two cache lines.
        black_box(sums.fold(0, |all, sum| all ^ sum.weight ^ u64::from(sum.group)));
    }

    /// Adds presummed samples in constant time.
    pub(super) fn add_sum(&mut self, group: u32, sum: &SampleSum) -> Result<(), Full> {
        if sum.samples == 0 {
            return Ok(());
        }
        let place = self.add(&SumSample { weight: sum.weight, stack: sum.stack, group }, None)?;
        self.count(place, sum.samples)
    }

    /// Corrects the sample count of a row that was added as one sample.
    fn count(&mut self, place: SumPlace, samples: u64) -> Result<(), Full> {
        let row = match place {
            SumPlace::Leaf(row) => self.of_leaves.get_mut(row),
            SumPlace::Other(row) => self.others.rows.get_mut(row),
        };
        if let Some(row) = row {
            row.samples = (row.samples - 1).checked_add(samples).ok_or(Full)?;
        }
        Ok(())
    }

    /// Adds a sample. `leaf` is its leaf, if known before the batch.
    #[inline(always)]
    fn add(&mut self, sample: &SumSample, leaf: Option<usize>) -> Result<SumPlace, Full> {
        let leaf = leaf.or_else(|| self.leaves.number(sample.stack?));
        let Some(leaf) = leaf else { return self.add_first(sample) };
        match self.of_leaves.get_mut(leaf) {
            Some(sum) if sum.group == sample.group => {
                sum.weight += sample.weight;
                sum.samples += 1;
                Ok(SumPlace::Leaf(leaf))
            }
            _ => self.others.add(sample).map(SumPlace::Other),
        }
    }

    /// Adds a sample whose stack is not a leaf yet.
    fn add_first(&mut self, sample: &SumSample) -> Result<SumPlace, Full> {
        let Some(leaf) = sample.stack.and_then(|stack| self.leaves.add(stack)) else {
            return self.others.add(sample).map(SumPlace::Other);
        };
        self.of_leaves.push(SumRow::of(sample));
        Ok(SumPlace::Leaf(leaf))
    }

    /// Returns the sums and their counters: leaves first, and each part in order of first samples.
    pub(super) fn finish(self) -> (ChunkedVec<SumRow>, SumCounters) {
        let Self { of_leaves: mut rows, leaf_counters: mut counters, others, other_counters, .. } = self;
        counters.append(rows.len(), other_counters);
        others.rows.iter().for_each(|&row| rows.push(row));
        (rows, counters)
    }
}

/// Sums in a hash table.
#[derive(Clone, Debug, Default)]
struct OtherSums {
    rows: ChunkedVec<SumRow>,
    by_hash: HashTable<u32>,
    hasher: BuildHasher,
}

impl OtherSums {
    /// Adds a sample and returns the row of its sum.
    fn add(&mut self, sample: &SumSample) -> Result<usize, Full> {
        let Self { rows, by_hash, hasher } = self;
        let hash = hash_of(sample.group, sample.stack, hasher);
        let is_it = |sum: &SumRow| (sum.stack, sum.group) == (sample.stack, sample.group);
        if let Some(&row) = by_hash.find(hash, |&row| is_it(&rows[row as usize])) {
            if let Some(sum) = rows.get_mut(row as usize) {
                sum.weight += sample.weight;
                sum.samples += 1;
            }
            return Ok(row as usize);
        }
        let new = u32::try_from(rows.len()).map_err(|_| Full)?;
        by_hash.insert_unique(hash, new, |&row| hash_of(rows[row as usize].group, rows[row as usize].stack, hasher));
        rows.push(SumRow::of(sample));
        Ok(new as usize)
    }
}

/// Hashes the key of a sum.
#[inline]
fn hash_of(group: u32, stack: Option<StackId>, hasher: &BuildHasher) -> u64 {
    let stack = stack.map_or(0, |stack| stack.index() as u64 + 1);
    hasher.hash_one(u64::from(group) << 32 | stack)
}

/// Summed counter values. A sum has as many values as its sample with the most values.
#[derive(Clone, Debug, Default)]
pub(super) struct SumCounters {
    /// The start and number of each sum's values. Shorter than the table of sums if the last ones have no values.
    places: Vec<(usize, usize)>,
    values: Vec<u128>,
}

impl SumCounters {
    /// Returns the size in bytes.
    pub(super) fn memory(&self) -> u64 {
        of_vec(&self.places) + of_vec(&self.values)
    }

    pub(super) fn get(&self, sum: usize) -> &[u128] {
        self.places.get(sum).map_or(&[], |&(start, count)| &self.values[start..start + count])
    }

    /// Sets the values of the sum at this index, which must not have any.
    pub(super) fn copy(&mut self, sum: usize, values: &[u128]) {
        if !values.is_empty() {
            self.places.resize(sum + 1, (0, 0));
            self.places[sum] = (self.values.len(), values.len());
            self.values.extend_from_slice(values);
        }
    }

    /// Appends the counters of other sums, whose indices start at `first`.
    fn append(&mut self, first: usize, other: Self) {
        if other.places.is_empty() {
            return;
        }
        self.places.resize(first, (0, 0));
        let moved = self.values.len();
        self.places.extend(other.places.iter().map(|&(start, count)| (start + moved, count)));
        self.values.extend(other.values);
    }

    fn add(&mut self, sum: usize, values: &[u64]) {
        if self.places.len() <= sum {
            self.places.resize(sum + 1, (0, 0));
        }
        let (start, count) = self.places[sum];
        if count < values.len() {
            // Rows of a table usually have the same number of values, so little memory is wasted.
            let moved = self.values.len();
            self.values.extend_from_within(start..start + count);
            self.values.resize(moved + values.len(), 0);
            self.places[sum] = (moved, values.len());
        }
        let start = self.places[sum].0;
        // A u128 can hold the sum of 2⁶⁴ values.
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
            samples: 1,
        }
    }

    #[test]
    fn rows_stay_small() {
        assert_eq!((size_of::<SumRow>(), size_of::<SumSample>()), (24, 16));
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
            let (mut groups, mut table, mut batch) = (SumGroups::default(), SumTable::default(), SumBatch::default());
            let mut times: HashMap<(usize, usize, usize, usize), [Vec<Nanos>; 2]> = HashMap::new();
            let mut expected: HashMap<[usize; 5], (Vec<Sample>, Vec<u128>)> = HashMap::new();
            for ((series, thread, stack, state, kind), time, weight, counters) in rows {
                let key = [series, thread, stack, state, kind];
                let sample = sample(key, u64::from(time), u64::from(weight));
                if batch.len() == batch_size {
                    table.add_batch(&batch).unwrap();
                    batch.clear();
                }
                let group = groups.of(&sample).unwrap();
                prop_assert_eq!(groups.find(&sample), Some(group));
                groups.note_time(group, sample.time, sample.weight);
                let [times, ends] = times.entry((series, thread, state, kind)).or_default();
                times.push(sample.time);
                ends.push(Nanos::from_nanos(u64::from(time) + u64::from(weight)));
                batch.push(group, sample.weight, sample.stack);
                // In a batch, only some samples have values.
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
            let (groups, _) = groups.finish();
            prop_assert_eq!(groups.len(), times.len());
            for (index, row) in rows.iter().enumerate() {
                let sum = groups[row.group as usize].sum(row);
                let key_of = |sum: &SampleSum| (sum.series, sum.thread, sum.stack, sum.state, sum.kind);
                let is_it = |key: &&[usize; 5]| key_of(&sum) == key_of(&SampleSum::from(&self::sample(**key, 0, 0)));
                let key = expected.keys().find(is_it).unwrap();
                let (samples, values) = &expected[key];
                let [times, ends] = &times[&(key[0], key[1], key[3], key[4])];
                prop_assert_eq!(sum.weight, samples.iter().map(|sample| sample.weight).sum::<u64>());
                prop_assert_eq!(sum.samples, samples.len() as u64);
                let sampled = sum.times.unwrap();
                prop_assert_eq!(Some(sampled.first), times.iter().copied().min());
                prop_assert_eq!(Some(sampled.last), times.iter().copied().max());
                prop_assert_eq!(Some(sampled.end), ends.iter().copied().max());
                prop_assert_eq!(counters.get(index), values.as_slice());
            }
        }
    }
}
