//! The selected samples of a series, and the selected time of a report's runs, which rates are based on. A recording may have thousands of
//! series, so samples are visited once for all of them.

use std::ops::Range;

use super::{Report, SeriesReport};
use crate::profile::{Meaning, RunId, Sample, SelectedSamples, StateFilter};
use crate::recording::{SelectedTime, TimeSource};
use crate::units::Nanos;

/// The length of the selected time of one or more runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// The total over the runs.
    pub nanos: Nanos,
    /// True if the recorded time of every run is known; false if any is estimated from samples.
    pub is_recorded: bool,
    /// True if a time range or intervals were selected.
    pub is_part: bool,
}

impl Length {
    /// The length of a run's selected time.
    pub fn of(time: &SelectedTime) -> Self {
        let is_recorded = time.source() != TimeSource::Samples;
        Self { nanos: time.length(), is_recorded, is_part: time.is_part() }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            is_recorded: self.is_recorded && other.is_recorded,
            is_part: self.is_part || other.is_part,
        }
    }

    /// True if both are recorded, and differ by more than a tenth of the longer one.
    pub fn differs_from(self, other: Self) -> bool {
        let [own, others] = [self, other].map(|length| length.nanos.as_nanos());
        self.is_recorded && other.is_recorded && own.abs_diff(others) > own.max(others) / 10
    }
}

impl Report<'_> {
    /// The selected part of the recorded time of a series' run.
    pub fn selected_time(&self, series: &SeriesReport) -> SelectedTime {
        self.recording.selected_time(self.run_of(series), &self.options.selection)
    }

    /// The CPU time of a series in percent of one core, and the selected time that it refers to. `None` in other units, if waiting threads are
    /// selected, or if no time is known.
    pub fn cpu_use(&self, series: &SeriesReport) -> Option<(f64, Length)> {
        let length = Length::of(&self.selected_time(series));
        let percent = series.counted.weight.percent_of_core(length.nanos).filter(|_| self.is_cpu_use(series))?;
        Some((percent, length))
    }

    /// True if the selected samples of a series measure CPU use: running threads with sample times.
    pub(super) fn is_cpu_use(&self, series: &SeriesReport) -> bool {
        let row = self.recording.profile.series(series.series);
        row.meaning == Meaning::OnCpu && row.has_times && self.is_running()
    }

    /// True if only running threads are selected. Otherwise, weights are not CPU time.
    pub(crate) fn is_running(&self) -> bool {
        self.options.selection.states == StateFilter::Running
    }

    pub(crate) fn run_of(&self, series: &SeriesReport) -> RunId {
        self.recording.profile.series(series.series).run
    }

    /// The total selected time of all runs. `None` if no time is known.
    pub fn length(&self) -> Option<Length> {
        let selection = &self.options.selection;
        let times = self.runs().into_iter().map(|run| Length::of(&self.recording.selected_time(run, selection)));
        times.reduce(Length::plus).filter(|length| length.nanos.as_nanos() > 0)
    }

    /// The selected runs, in the order of the series.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        let wanted = &self.options.selection.runs;
        let profile = &self.recording.profile;
        let mut runs: Vec<RunId> = self.series.iter().map(|series| self.run_of(series)).collect();
        runs.sort_unstable();
        runs.dedup();
        runs.retain(|&run| wanted.is_empty() || wanted.contains(&profile.run(run).number));
        runs
    }

    /// What is known about the recorded times of runs, and why it is not used, one sentence each.
    pub fn notes_on_time(&self) -> Vec<String> {
        self.runs().into_iter().flat_map(|run| self.recording.notes_on_time(run)).cloned().collect()
    }
}

impl<'e> Report<'e> {
    /// The selection, prepared for matching samples.
    pub(super) fn selected(&self) -> &SelectedSamples<'e> {
        self.made_once.selected.get_or_init(|| self.options.selection.on(&self.recording.profile))
    }

    /// The selected samples of a series in input order. Empty if samples were summed.
    pub(super) fn samples_of<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = &'e Sample> + 'r {
        let selected = self.selected();
        self.in_scope_of(series).filter(|sample| selected.is_state_counted(*sample))
    }

    /// Like [`samples_of`](Self::samples_of), but in all states unless states were selected, as in [`samples`](Self::samples).
    pub(super) fn samples_to_list<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = &'e Sample> + 'r {
        let (selected, is_any_state) = (self.selected(), self.options.selection.states == StateFilter::Running);
        self.in_scope_of(series).filter(move |sample| is_any_state || selected.is_state_counted(*sample))
    }

    fn in_scope_of<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = &'e Sample> + 'r {
        let profile = &self.recording.profile;
        let ranges = self.made_once.ranges.get_or_init(|| {
            let mut ranges = vec![0..0; profile.series_ids().len()];
            for (index, sample) in profile.samples().iter().enumerate() {
                let range: &mut Range<usize> = &mut ranges[sample.series.index()];
                *range = if range.end == 0 { index..index + 1 } else { range.start..index + 1 };
            }
            ranges
        });
        let selected = self.selected();
        let samples = &profile.samples()[ranges[series.series.index()].clone()];
        samples.iter().filter(move |&sample| sample.series == series.series && selected.is_in_scope(sample))
    }

    /// The time between two samples of a busy thread; `None` in units other than time.
    pub fn sampling_interval(&self, series: &SeriesReport) -> Option<Nanos> {
        self.recording.sampling_interval(series.series)
    }
}
