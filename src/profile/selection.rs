//! The choice of the samples of a profile that a view counts.

use std::borrow::Cow;

use super::intervals::{IntervalFilter, ThreadIntervals};
use super::matcher::Matcher;
use super::model::{ProcessId, SeriesId, StackId, StringId, ThreadId};
use super::sample_sum::SampleSum;
use super::sums::{SumBatch, SumGroup, SumGroups, SumRow, SumTable};
use super::time_range::TimeRange;
use super::{Id, Profile, Sample};
use crate::chunked_vec::ChunkedVec;

/// The thread states that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateFilter {
    /// Running threads, and samples that carry no state: what CPU time means.
    #[default]
    Running,
    /// Every sample, also of threads that waited.
    All,
    /// Only these states, by name in any case.
    Only(Vec<String>),
}

/// The samples that count. By default these are of every run, process, thread and time, and of running threads.
///
/// Lists are alternatives; the fields narrow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Run numbers; empty is every run.
    pub runs: Vec<u32>,
    /// Processes; empty is every process.
    pub processes: Vec<Matcher>,
    /// Threads; empty is every thread.
    pub threads: Vec<Matcher>,
    /// True for [main threads](super::Thread::is_main) only.
    pub only_main_threads: bool,
    /// Time; `None` is the whole recording. A profile of sums ([`SampleDetail::Summed`](super::SampleDetail::Summed)) does not
    /// know the times of its samples: with a range of time, nothing of it counts.
    pub time: Option<TimeRange>,
    /// Intervals, of which a sample must be in one of its run; `None` is the whole recording. What `time` says of a profile of
    /// sums holds here, too.
    pub intervals: Option<IntervalFilter>,
    /// Thread states.
    pub states: StateFilter,
}

impl Selection {
    /// True if the times of samples decide which of them count, so that none of a profile of sums do.
    pub fn needs_times(&self) -> bool {
        self.time.is_some() || self.intervals.is_some()
    }

    /// The selection made ready for the samples of `profile`.
    pub fn on<'p>(&self, profile: &'p Profile) -> SelectedSamples<'p> {
        let runs: Vec<bool> =
            profile.run_ids().map(|run| self.runs.is_empty() || self.runs.contains(&profile.run(run).number)).collect();
        let is_named: Vec<bool> = chosen(&self.processes, profile.process_ids(), |matcher| matcher.processes(profile));
        let is_process_in = |id: ProcessId| is_named[id.index()] && runs[profile.process(id).run.index()];
        let is_named: Vec<bool> = chosen(&self.threads, profile.thread_ids(), |matcher| matcher.threads(profile));
        let is_thread_in = |id: ThreadId| {
            let thread = profile.thread(id);
            (thread.is_main || !self.only_main_threads) && is_named[id.index()] && is_process_in(thread.process)
        };
        let threads = profile.thread_ids().map(is_thread_in).collect();
        let states = match &self.states {
            StateFilter::All => States::All,
            StateFilter::Running => States::Running(profile.find_string("Running")),
            StateFilter::Only(names) => {
                let mut wanted: Vec<StringId> = profile.sums_or_samples().filter_map(|sum| sum.state).collect();
                wanted.sort_unstable();
                wanted.dedup();
                wanted.retain(|&id| names.iter().any(|name| name.eq_ignore_ascii_case(profile.string(id))));
                States::Only(wanted)
            }
        };
        let has_times = profile.sums().len() == 0;
        let intervals = self.intervals.as_ref().map(|intervals| intervals.on(profile));
        SelectedSamples { profile, threads, time: self.time, intervals, has_times, states }
    }
}

/// By id: true if one of the matchers matches it, or if there are none.
fn chosen<T>(
    matchers: &[Matcher],
    ids: impl ExactSizeIterator<Item = Id<T>>,
    matched: impl Fn(&Matcher) -> Vec<Id<T>>,
) -> Vec<bool> {
    let mut chosen = vec![matchers.is_empty(); ids.len()];
    for id in matchers.iter().flat_map(matched) {
        chosen[id.index()] = true;
    }
    chosen
}

/// The number of samples added up at a time.
const BATCH: usize = 1_024;

#[derive(Clone, Debug)]
enum States {
    All,
    Running(Option<StringId>),
    Only(Vec<StringId>),
}

/// The sums that count: the rows of groups that do.
#[derive(Debug)]
pub(crate) struct SelectedSums<'p> {
    pub(crate) groups: Cow<'p, [SumGroup]>,
    /// By group.
    pub(crate) is_counted: Vec<bool>,
    pub(crate) rows: Cow<'p, ChunkedVec<SumRow>>,
}

impl SelectedSums<'_> {
    /// Counts nothing of the series that are not wanted.
    pub(crate) fn retain_series(&mut self, is_wanted: impl Fn(SeriesId) -> bool) {
        for (group, is_counted) in self.groups.iter().zip(&mut self.is_counted) {
            *is_counted = *is_counted && is_wanted(group.series);
        }
    }

    /// The stack of each sum that counts.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = StackId> {
        let counted = self.rows.iter().filter(|row| self.is_counted[row.group as usize]);
        counted.filter_map(|row| row.stack)
    }
}

/// A [`Selection`] on one profile.
#[derive(Clone, Debug)]
pub struct SelectedSamples<'p> {
    profile: &'p Profile,
    /// By thread: true if run, process and thread are selected.
    threads: Vec<bool>,
    time: Option<TimeRange>,
    intervals: Option<ThreadIntervals>,
    /// True if the profile knows the time of each sample.
    has_times: bool,
    states: States,
}

impl<'p> SelectedSamples<'p> {
    /// The profile it selects from.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// True if run, process and thread are selected.
    #[inline]
    pub(crate) fn has_thread(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()]
    }

    /// True if run, process, thread and time of a sample are selected, whatever its state. False for a sum of several samples if a range of
    /// time or intervals are selected.
    #[inline]
    pub fn is_in_scope(&self, sample: impl Into<SampleSum>) -> bool {
        let sample = sample.into();
        let time = sample.times.filter(|_| self.has_times && sample.samples == 1).map(|times| times.first);
        let is_in_range = |range: TimeRange| time.is_some_and(|time| range.contains(time));
        let is_in_interval = |intervals: &ThreadIntervals| time.is_some_and(|time| intervals.has(sample.thread, time));
        self.has_thread(sample.thread)
            && self.time.is_none_or(is_in_range)
            && self.intervals.as_ref().is_none_or(is_in_interval)
    }

    /// True if the state of a sample, or of the samples of a sum, is selected.
    #[inline]
    pub fn is_state_counted(&self, sample: impl Into<SampleSum>) -> bool {
        match (&self.states, sample.into().state) {
            (States::All, _) | (States::Running(_), None) => true,
            (States::Running(running), state) => state == *running,
            (States::Only(wanted), state) => state.is_some_and(|state| wanted.contains(&state)),
        }
    }

    /// The samples that count, added up by series, thread, stack, state and kind: the [sums](Profile::sums) of the profile, or those of its
    /// samples.
    pub fn sums(&self) -> impl Iterator<Item = SampleSum> {
        let sums = self.added_up();
        (0..sums.rows.len()).filter_map(move |index| {
            let row = &sums.rows[index];
            sums.is_counted[row.group as usize].then(|| sums.groups[row.group as usize].sum(row))
        })
    }

    /// The same, in parts.
    pub(crate) fn added_up(&self) -> SelectedSums<'p> {
        if self.has_times {
            return self.add_up();
        }
        let groups = self.profile.sum_groups();
        SelectedSums {
            is_counted: groups.iter().map(|group| self.counts_group(group)).collect(),
            groups: Cow::Borrowed(groups),
            rows: Cow::Borrowed(self.profile.sum_rows()),
        }
    }

    /// True if the sums of a group count.
    pub(crate) fn counts_group(&self, group: &SumGroup) -> bool {
        // Nothing of it depends on the stack.
        let sum = group.sum(&SumRow { weight: 0, samples: 0, stack: None, group: 0 });
        self.is_in_scope(sum) && self.is_state_counted(sum)
    }

    fn add_up(&self) -> SelectedSums<'p> {
        let (mut groups, mut table, mut batch) = (SumGroups::default(), SumTable::default(), SumBatch::default());
        let mut samples = self.iter().peekable();
        while samples.peek().is_some() {
            batch.clear();
            for sample in samples.by_ref().take(BATCH) {
                // There are no more groups and sums than samples, which are fewer than what fits.
                let Ok(group) = groups.of(sample) else { continue };
                groups.note_time(group, sample.time, sample.weight);
                batch.push(group, sample.weight, sample.stack);
            }
            let _ = table.add_batch(&batch);
        }
        let (groups, _) = groups.finish();
        SelectedSums {
            is_counted: vec![true; groups.len()],
            groups: Cow::Owned(groups),
            rows: Cow::Owned(table.finish().0),
        }
    }

    /// The samples that count, in the order of the input; none of a profile of sums.
    pub fn iter(&self) -> impl Iterator<Item = &'p Sample> {
        self.indexed().map(|(_, sample)| sample)
    }

    /// The samples that count, with their indices in [`Profile::samples`].
    pub fn indexed(&self) -> impl Iterator<Item = (usize, &'p Sample)> {
        let samples = self.profile.samples().iter().enumerate();
        samples.filter(|&(_, sample)| self.is_in_scope(sample) && self.is_state_counted(sample))
    }
}
