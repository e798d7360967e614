//! Weights over time in bins of equal length, by thread or other scope.
//!
//! The weight of a sample goes to the bin that contains its time, as in the seconds of fleets: exports record when a sample was taken, but not
//! when the time it represents began. A bin that is not much longer than the sampling interval may therefore show more than one core.

use std::ops::Range;

use super::build::scope_of;
use super::build::{heavier, order};
use super::labels::ScopeParts;
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, SUMMED};
use super::{Amount, Report, Scope, SeriesReport};
use crate::hash::HashMap;
use crate::profile::{Activity, Profile, SampleSum, StringId};
use crate::recording::SelectedTime;
use crate::units::Nanos;

/// The maximum number of bins of automatic length.
const BINS: u64 = 90;
/// The minimum number of typical samples in a bin of automatic length. In shorter bins, a thread that never pauses would seem to start and stop.
const SAMPLES: u64 = 5;

pub(super) static KIND: ListingKind = ListingKind::new(
    ["timeline", "bin"],
    &[
        Column::number("time_ns", "time"),
        Column::number("bin_ns", "bin ns"),
        Column::machine("selected_ns", ColumnRole::Number),
        Column::number("pid", "pid"),
        Column::new("process", "process", ColumnRole::Owner),
        Column::number("tid", "tid"),
        Column::new("thread", "thread", ColumnRole::Name),
        Column::new("part", "part", ColumnRole::Label),
        Column::new("state", "state", ColumnRole::Label),
        Column::number("samples", "samples"),
        Column::weight("weight", "{unit}"),
        Column::number("cpu_percent", "CPU"),
    ],
    RowLimits::None,
    make,
);

/// The weights of a series over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The length of a bin, at least 1 ns. Bin n begins at n times this length after the start of the recording.
    pub bin: Nanos,
    /// The bins of the selected time or, if the recorded time is unknown, of the samples.
    pub bins: Range<u64>,
    /// The selected time. Rates refer to its part in each bin.
    pub selected: SelectedTime,
    /// One line per thread or other scope, heaviest first by selected samples.
    pub lines: Vec<TimelineLine>,
}

/// The weights of a thread, or of another scope, over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineLine {
    /// The scope of the samples.
    pub scope: Scope,
    /// The selected samples ([`Selection::states`](crate::profile::Selection::states)).
    pub counted: Amount,
    /// The samples, sorted by bin, then by state. Bins without samples have no entry.
    pub parts: Vec<TimelinePart>,
}

/// The samples of one line in one bin, with the same thread state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelinePart {
    /// The number of the bin.
    pub bin: u64,
    /// The state, if recorded.
    pub state: Option<StringId>,
    /// True if the state is selected.
    pub is_counted: bool,
    /// The weight and number of the samples.
    pub amount: Amount,
}

impl Timeline {
    /// The selected time within a bin.
    pub fn length_of(&self, bin: u64) -> Nanos {
        let [start, end] =
            [bin, bin.saturating_add(1)].map(|bin| Nanos::from_nanos(bin.saturating_mul(self.bin.as_nanos())));
        self.selected.length_between(start, end)
    }
}

impl Report<'_> {
    /// The weights of a series over time. All thread states are included unless states were selected, as in [`samples`](Self::samples). Without
    /// lines if samples were summed ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    pub fn timeline(&self, series: &SeriesReport) -> Timeline {
        let (profile, options) = (&self.recording.profile, &self.options);
        let selected = self.selected();
        let nothing = Amount::none(series.unit);
        let bin = self.timeline_bin();
        let mut parts: HashMap<(Scope, u64, Option<StringId>), TimelinePart> = HashMap::default();
        for sample in self.samples_to_list(series) {
            let scope = scope_of(profile, options.separate_by, &SampleSum::from(sample), Some(sample));
            let (index, state) = (sample.time.as_nanos() / bin.as_nanos(), sample.state);
            let part = parts.entry((scope, index, state)).or_insert_with(|| {
                let is_counted = selected.is_state_counted(sample);
                TimelinePart { bin: index, state, is_counted, amount: nothing }
            });
            part.amount.add(options.metric.of(sample), sample.samples.into());
        }
        let selected = self.selected_time(series);
        let sampled =
            || Some((parts.keys().map(|key| key.1).min()?, parts.keys().map(|key| key.1).max()?.saturating_add(1)));
        let bins = match selected.span() {
            Some((start, end)) => Some((start.as_nanos() / bin.as_nanos(), end.as_nanos().div_ceil(bin.as_nanos()))),
            None => sampled(),
        };
        let (first, end) = bins.unwrap_or_default();
        // A sample may be taken at the very end of the recording.
        let end = sampled().map_or(end, |(_, last)| end.max(last));
        Timeline { bin, bins: first..end, selected, lines: lines(profile, parts, nothing) }
    }

    /// The bin length for all series: the requested one, or a round number.
    fn timeline_bin(&self) -> Nanos {
        let asked = self.options.timeline_bin.filter(|bin| bin.as_nanos() > 0);
        asked.unwrap_or_else(|| *self.round_bin.get_or_init(|| round_bin(self)))
    }
}

/// The shortest of 1, 2, 5, 10, 20, 50 … nanoseconds at which no series has more than [`BINS`] bins and, if weights are durations, a bin has
/// space for [`SAMPLES`] samples of a thread.
fn round_bin(report: &Report<'_>) -> Nanos {
    let asked = report.series.iter().filter(|series| !series.is_filtered_out());
    let spans: Vec<(u64, u64)> = asked
        .clone()
        .filter_map(|series| report.selected_time(series).span())
        .map(|(start, end)| (start.as_nanos(), end.as_nanos()))
        .collect();
    let interval = asked.filter_map(|series| report.sampling_interval(series)).max().unwrap_or_default();
    let is_long_enough = |bin: u64| {
        let is_short = |&(start, end): &(u64, u64)| end.div_ceil(bin) - start / bin <= BINS;
        bin / SAMPLES >= interval.as_nanos() && spans.iter().all(is_short)
    };
    let mut steps = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    Nanos::from_nanos(steps.find(|&bin| is_long_enough(bin)).unwrap_or(u64::MAX))
}

fn lines(
    profile: &Profile,
    parts: HashMap<(Scope, u64, Option<StringId>), TimelinePart>,
    nothing: Amount,
) -> Vec<TimelineLine> {
    let mut lines: HashMap<Scope, TimelineLine> = HashMap::default();
    for ((scope, _, _), part) in parts {
        let line = lines.entry(scope).or_insert_with(|| TimelineLine { scope, counted: nothing, parts: Vec::new() });
        if part.is_counted {
            line.counted.add(part.amount.weight.value, part.amount.samples);
        }
        line.parts.push(part);
    }
    let mut lines: Vec<TimelineLine> = lines.into_values().collect();
    for line in &mut lines {
        line.parts.sort_unstable_by_key(|part| (part.bin, part.state.map(|state| profile.string(state))));
    }
    lines.sort_unstable_by(|a, b| {
        heavier(a.counted, b.counted).then_with(|| order(profile, a.scope).cmp(&order(profile, b.scope)))
    });
    lines
}

/// Creates the table, sorted by time, then by line, then by state.
fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let timeline = report.timeline(series);
    let lines = timeline.lines.iter().enumerate();
    let parts = lines.flat_map(|(index, line)| line.parts.iter().map(move |part| (part.bin, index, part)));
    let mut parts: Vec<(u64, usize, &TimelinePart)> = parts.collect();
    // A stable sort keeps the order of a line's states.
    parts.sort_by_key(|&(bin, index, _)| (bin, index));
    let rows = parts.into_iter().map(|(_, index, part)| {
        let mut row = vec![Cell::Time(Nanos::from_nanos(part.bin * timeline.bin.as_nanos()))];
        row.push(Cell::Number(timeline.bin.as_nanos()));
        row.push(Cell::Number(timeline.length_of(part.bin).as_nanos()));
        row.extend(scope_cells(profile, timeline.lines[index].scope));
        row.push(Cell::optional(part.state.map(|state| profile.string(state))));
        row.push(Cell::Number(part.amount.samples));
        row.push(Cell::Weight(part.amount.weight.value));
        row.push(cpu_percent(profile, part, timeline.length_of(part.bin)));
        row
    });
    let notes = if profile.sums().len() == 0 { Vec::new() } else { vec![SUMMED.to_owned()] };
    Listing::new(series.counted.weight, rows.collect(), notes)
}

/// Pid, process, tid, thread and the other part of a scope, where applicable.
fn scope_cells(profile: &Profile, scope: Scope) -> [Cell; 5] {
    let ScopeParts { process, thread, part } = scope.parts(profile);
    let text = |id: Option<StringId>| Cell::optional(id.map(|id| profile.string(id)));
    [
        Cell::number(process.and_then(|process| process.pid)),
        text(process.map(|process| process.name)),
        Cell::number(thread.and_then(|thread| thread.tid)),
        text(thread.map(|thread| thread.name)),
        text(part.filter(|_| !matches!(scope, Scope::State(_)))),
    ]
}

/// The percentage of one core in which threads ran.
fn cpu_percent(profile: &Profile, part: &TimelinePart, selected: Nanos) -> Cell {
    let is_running = part.state.is_none_or(|state| Activity::of_state(profile.string(state)) == Activity::Running);
    let percent = part.amount.weight.percent_of_core(selected).filter(|_| is_running);
    percent.map_or(Cell::Absent, Cell::Percent)
}
