//! The samples of a run that show what its threads did.

use crate::hash::HashMap;
use crate::profile::{Activity, Profile, Sample, SampleKind, SeriesId, StackId, StringId, ThreadId};
use crate::recording::Recording;
use crate::units::{Nanos, Unit};

/// The clock rate of a busy core in cycles per nanosecond, to convert the cycles between two samples to an approximate time.
const CLOCK: f64 = 3.0;

/// The samples of one table of a run, in order of time.
pub(super) struct Recorded<'p> {
    pub(super) profile: &'p Profile,
    pub(super) series: SeriesId,
    /// Nanoseconds or cycles.
    pub(super) unit: Unit,
    /// The time between two samples of a busy thread, in nanoseconds.
    pub(super) interval: f64,
    /// True if waiting threads were also sampled.
    pub(super) has_states: bool,
    /// The indices of samples.
    order: Vec<u32>,
    /// What a thread does in each state, by state name.
    states: HashMap<StringId, Activity>,
    /// By thread: its entries of `order`.
    own: HashMap<ThreadId, Vec<u32>>,
}

impl<'p> Recorded<'p> {
    /// Returns the tables of a run, most informative first: CPU time, then cycles.
    pub(super) fn of_run(recording: &'p Recording, run: u32) -> Vec<Self> {
        let profile = &recording.profile;
        let is_of_run = |sample: &&Sample| {
            let row = profile.series(sample.series);
            profile.run(row.run).number == run && matches!(row.unit, Unit::Nanoseconds | Unit::Cycles)
        };
        let mut counts: HashMap<SeriesId, u64> = HashMap::default();
        profile.samples().iter().filter(is_of_run).for_each(|sample| *counts.entry(sample.series).or_default() += 1);
        let mut counts: Vec<(SeriesId, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|&(id, count)| (profile.series(id).unit != Unit::Nanoseconds, std::cmp::Reverse(count), id));
        counts.into_iter().filter_map(|(series, _)| Self::of_series(recording, series)).collect()
    }

    fn of_series(recording: &'p Recording, series: SeriesId) -> Option<Self> {
        let profile = &recording.profile;
        let samples = profile.samples();
        // Snapshots of all threads at the start do not represent time.
        let is_in = |sample: &Sample| sample.series == series && sample.kind != SampleKind::Stackshot;
        let mut order: Vec<u32> =
            (0..).zip(samples).filter(|(_, sample)| is_in(sample)).map(|(index, _)| index).collect();
        order.sort_by_key(|&index| samples[index as usize].time);
        let unit = profile.series(series).unit;
        let interval = match unit {
            Unit::Nanoseconds => recording.sampling_interval(series)?.as_nanos() as f64,
            _ => profile.most_frequent_weight(series)? as f64 / CLOCK,
        };
        let mut states: HashMap<StringId, Activity> = HashMap::default();
        for state in order.iter().filter_map(|&index| samples[index as usize].state) {
            states.entry(state).or_insert_with(|| Activity::of_state(profile.string(state)));
        }
        let has_states = states.values().any(|&activity| activity != Activity::Running);
        // One pass for all threads, since a process may have hundreds and each hang needs all of them.
        let mut own: HashMap<ThreadId, Vec<u32>> = HashMap::default();
        order.iter().for_each(|&index| own.entry(samples[index as usize].thread).or_default().push(index));
        Some(Self { profile, series, unit, interval, has_states, order, states, own })
    }

    pub(super) fn schema(&self) -> &'p str {
        self.profile.string(self.profile.series(self.series).schema)
    }

    pub(super) fn all(&self) -> &[u32] {
        &self.order
    }

    pub(super) fn own(&self, thread: ThreadId) -> &[u32] {
        self.own.get(&thread).map_or(&[], Vec::as_slice)
    }

    pub(super) fn sample(&self, index: u32) -> &'p Sample {
        &self.profile.samples()[index as usize]
    }

    pub(super) fn time(&self, index: u32) -> f64 {
        self.sample(index).time.as_nanos() as f64
    }

    /// Returns the samples at or after `range.0` and before `range.1`. They must be in time order.
    pub(super) fn within<'s>(&self, samples: &'s [u32], range: (Nanos, Nanos)) -> &'s [u32] {
        let from = samples.partition_point(|&index| self.sample(index).time < range.0);
        let until = samples.partition_point(|&index| self.sample(index).time < range.1);
        &samples[from..until.max(from)]
    }

    /// What the thread of a sample did. Tables without waiting threads contain only running ones; in other tables, the activity of a sample
    /// without a state is unknown.
    pub(super) fn activity(&self, sample: &Sample) -> Activity {
        let unknown = if self.has_states { Activity::Unknown } else { Activity::Running };
        sample.state.map_or(unknown, |state| self.states[&state])
    }

    /// True if a thread's first stack begins like a main thread's.
    pub(super) fn begins_as_main(&self, thread: ThreadId) -> bool {
        let first = self.own(thread).first().copied();
        first.is_some_and(|first| begins_as_main(self.profile, self.sample(first).stack))
    }

    /// Sums the weights of samples by stack.
    pub(super) fn stacks(&self, samples: impl Iterator<Item = u32>) -> Vec<(Option<StackId>, u64)> {
        let mut weights: HashMap<Option<StackId>, u64> = HashMap::default();
        for sample in samples.map(|index| self.sample(index)) {
            let weight = weights.entry(sample.stack).or_default();
            *weight = weight.saturating_add(sample.weight);
        }
        let mut weights: Vec<_> = weights.into_iter().collect();
        weights.sort_unstable();
        weights
    }
}

/// True if a stack begins with `main`, or with `start` (possibly unnamed) and `main`.
pub(in crate::report) fn begins_as_main(profile: &Profile, stack: Option<StackId>) -> bool {
    let frames = profile.frames_leaf_first(stack);
    let mut names: Vec<&str> = frames.map(|frame| profile.function_name(frame.function)).collect();
    names.reverse();
    match names.as_slice() {
        ["main", ..] => true,
        [first, "main", ..] => *first == "start" || first.starts_with("0x"),
        _ => false,
    }
}
