//! Selects samples of a profile.

use std::borrow::Cow;

use super::intervals::{IntervalFilter, ThreadIntervals};
use super::matcher::Matcher;
use super::model::{Meaning, ProcessId, SeriesId, StackId, StringId, ThreadId};
use super::sample_sum::SampleSum;
use super::sums::{SumBatch, SumGroup, SumGroups, SumRow, SumTable};
use super::time_range::TimeRange;
use super::wait::Activity;
use super::{Id, Profile, Sample};
use crate::chunked_vec::ChunkedVec;

/// The thread states to select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateFilter {
    /// Running threads, and samples without a state: CPU time. In tables with another [meaning](Meaning), all samples.
    #[default]
    Running,
    /// Every sample, including waiting threads.
    All,
    /// States with these names, ignoring case.
    Only(Vec<String>),
}

/// Selects samples: by default, all samples of running threads.
///
/// The entries of a list are alternatives, but every field must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Run numbers; empty to select all runs.
    pub runs: Vec<u32>,
    /// Processes; empty to select all processes.
    pub processes: Vec<Matcher>,
    /// Threads; empty to select all threads.
    pub threads: Vec<Matcher>,
    /// True to select only [main threads](super::Thread::is_main).
    pub only_main_threads: bool,
    /// A time range; `None` for the complete recording. Selects nothing in a profile of sums
    /// ([`SampleDetail::Summed`](super::SampleDetail::Summed)), which keeps no sample times.
    pub time: Option<TimeRange>,
    /// Intervals that must contain the sample; `None` for the complete recording. Selects nothing in a profile of sums, like `time`.
    pub intervals: Option<IntervalFilter>,
    /// Thread states.
    pub states: StateFilter,
}

impl Selection {
    /// True if the selection depends on sample times, and therefore selects nothing in a profile of sums.
    pub fn needs_times(&self) -> bool {
        self.time.is_some() || self.intervals.is_some()
    }

    /// Prepares the selection for the samples of `profile`.
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
            StateFilter::Running => States::Running(Activity::RUNNING.map(|state| profile.find_string(state))),
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

/// For each id, true if any matcher matches it, or if there are no matchers.
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

/// The number of samples to sum at a time.
const BATCH: usize = 1_024;

#[derive(Clone, Debug)]
enum States {
    All,
    /// The ids of the states of running threads, if the profile contains them.
    Running([Option<StringId>; 2]),
    Only(Vec<StringId>),
}

/// The selected sums, as groups and rows.
#[derive(Debug)]
pub(crate) struct SelectedSums<'p> {
    pub(crate) groups: Cow<'p, [SumGroup]>,
    /// Indexed by group.
    pub(crate) is_counted: Vec<bool>,
    pub(crate) rows: Cow<'p, ChunkedVec<SumRow>>,
}

impl SelectedSums<'_> {
    /// Deselects all series for which `is_wanted` is false.
    pub(crate) fn retain_series(&mut self, is_wanted: impl Fn(SeriesId) -> bool) {
        for (group, is_counted) in self.groups.iter().zip(&mut self.is_counted) {
            *is_counted = *is_counted && is_wanted(group.series);
        }
    }

    /// Returns the rows of the selected sums.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &SumRow> {
        self.rows.iter().filter(|row| self.is_counted[row.group as usize])
    }

    /// Returns the stack of each selected sum.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = StackId> {
        self.counted().filter_map(|row| row.stack)
    }
}

/// A [`Selection`], prepared for one profile.
#[derive(Clone, Debug)]
pub struct SelectedSamples<'p> {
    profile: &'p Profile,
    /// For each thread, whether its run, process and thread are selected.
    threads: Vec<bool>,
    time: Option<TimeRange>,
    intervals: Option<ThreadIntervals>,
    /// True if the profile keeps sample times.
    has_times: bool,
    states: States,
}

impl<'p> SelectedSamples<'p> {
    /// Returns the profile.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// True if the thread, its process and its run are selected.
    #[inline]
    pub(crate) fn has_thread(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()]
    }

    /// True if the run, process, thread and time of a sample are selected, regardless of its state. With a time range or intervals, false for a
    /// sum of samples at different times.
    #[inline]
    pub fn is_in_scope(&self, sample: impl Into<SampleSum>) -> bool {
        let sample = sample.into();
        let time = sample.times.filter(|times| self.has_times && times.first == times.last).map(|times| times.first);
        let is_in_range = |range: TimeRange| time.is_some_and(|time| range.contains(time));
        let is_in_interval = |intervals: &ThreadIntervals| time.is_some_and(|time| intervals.has(sample.thread, time));
        self.has_thread(sample.thread)
            && self.time.is_none_or(is_in_range)
            && self.intervals.as_ref().is_none_or(is_in_interval)
    }

    /// True if the state of a sample, or of the samples of a sum, is selected.
    #[inline]
    pub fn is_state_counted(&self, sample: impl Into<SampleSum>) -> bool {
        let sample = sample.into();
        match (&self.states, sample.state) {
            (States::All, _) | (States::Running(_), None) => true,
            (States::Running([on, interrupted]), state) if state == *on || state == *interrupted => true,
            (States::Running(_), _) => self.profile.series(sample.series).meaning != Meaning::OnCpu,
            (States::Only(wanted), state) => state.is_some_and(|state| wanted.contains(&state)),
        }
    }

    /// Returns the selected samples, summed by series, thread, stack, state and kind: either the profile's [sums](Profile::sums), or sums of its
    /// samples.
    pub fn sums(&self) -> impl Iterator<Item = SampleSum> {
        let sums = self.added_up();
        (0..sums.rows.len()).filter_map(move |index| {
            let row = &sums.rows[index];
            sums.is_counted[row.group as usize].then(|| sums.groups[row.group as usize].sum(row))
        })
    }

    /// Returns the selected sums of series without sample times.
    #[cfg(feature = "fleet")]
    pub(crate) fn untimed_sums(&self) -> impl Iterator<Item = SampleSum> {
        let sums = self.profile.sums().filter(|sum| !self.profile.series(sum.series).has_times);
        sums.filter(|&sum| self.is_in_scope(sum) && self.is_state_counted(sum))
    }

    /// Like [`sums`](Self::sums), but as groups and rows.
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

    /// True if the sums of a group are selected.
    pub(crate) fn counts_group(&self, group: &SumGroup) -> bool {
        // The result is the same for every stack.
        let sum = group.sum(&SumRow { weight: 0, samples: 0, stack: None, group: 0 });
        self.is_in_scope(sum) && self.is_state_counted(sum)
    }

    fn add_up(&self) -> SelectedSums<'p> {
        let (mut groups, mut table, mut batch) = (SumGroups::default(), SumTable::default(), SumBatch::default());
        let mut samples = self.iter().peekable();
        while samples.peek().is_some() {
            batch.clear();
            for sample in samples.by_ref().take(BATCH) {
                // Never fails: there are at most as many groups and sums as samples, which fit.
                let Ok(group) = groups.of(sample) else { continue };
                groups.note_time(group, sample.time, sample.weight);
                batch.push_sample(group, sample);
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

    /// Returns the selected samples in input order. Empty for a profile of sums.
    pub fn iter(&self) -> impl Iterator<Item = &'p Sample> {
        self.indexed().map(|(_, sample)| sample)
    }

    /// Returns the selected samples with their indices in [`Profile::samples`].
    pub fn indexed(&self) -> impl Iterator<Item = (usize, &'p Sample)> {
        let samples = self.profile.samples().iter().enumerate();
        samples.filter(|&(_, sample)| self.is_in_scope(sample) && self.is_state_counted(sample))
    }
}
