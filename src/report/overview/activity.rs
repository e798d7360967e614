//! Work over the recorded time: the mean, the busiest second, and a line.

use crate::profile::{Meaning, Profile, SampledTime, StateFilter};
use crate::recording::TocRun;
use crate::report::{Report, SeriesReport};
use crate::units::{Nanos, Unit, Weight};

const SECOND: u64 = 1_000_000_000;

/// The work of a series over the recorded time, in its unit: CPU time, cycles or counter events.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Activity {
    /// The start of the time that was asked about.
    pub start: Nanos,
    /// The length of it: what was recorded, as far as it was selected.
    pub length: Nanos,
    /// True if a table of contents tells the length; else it is the time that the samples cover.
    pub is_told: bool,
    /// CPU time in percent of `length`: 100 is one core that never rests. `None` in other units.
    pub cpu_percent: Option<f64>,
    /// The busiest second: its number from the start of the recording, and the weight in it. `None` for recordings that are shorter than two
    /// seconds.
    pub busiest_second: Option<(u64, Weight)>,
}

impl Activity {
    /// A weight of a stretch of time in percent of one core; `None` where it is no CPU time.
    pub fn percent(weight: Weight, length: Nanos) -> Option<f64> {
        (weight.unit == Unit::Nanoseconds).then(|| weight.value as f64 * 100.0 / length.as_nanos() as f64)
    }
}

/// The work of a series; `None` where threads that wait count, or nobody knows when it was recorded.
pub(super) fn activity(report: &Report<'_>, series: &SeriesReport) -> Option<Activity> {
    let profile = &report.recording.profile;
    let row = profile.series(series.series);
    // Parts of the time are no whole from which a percentage could be taken.
    let is_running = row.meaning == Meaning::OnCpu && report.options.selection.states == StateFilter::Running;
    if !is_running || !row.has_times || report.options.selection.intervals.is_some() {
        return None;
    }
    let (start, length, is_told) = recorded(report, series)?;
    Some(Activity {
        start,
        length,
        is_told,
        cpu_percent: Activity::percent(series.counted.weight, length),
        busiest_second: busiest_second(report, series)
            .filter(|_| length.as_nanos() >= 2 * SECOND)
            .map(|(second, weight)| (second, Weight::new(weight, series.unit))),
    })
}

/// The recorded time: its start, its length, and whether a table of contents tells it.
fn recorded(report: &Report<'_>, series: &SeriesReport) -> Option<(Nanos, Nanos, bool)> {
    let profile = &report.recording.profile;
    let times = times_of_run(report, series)?;
    let toc = toc_of_series(report, series).filter(|toc| toc.window().is_none() && !is_cut(report, profile, series));
    let told = toc.and_then(TocRun::duration).filter(|duration| duration.as_nanos() > 0);
    let (mut start, mut end) = match told {
        Some(duration) => (Nanos::default(), duration.max(times.end.min(duration.saturating_add(SECOND_NANOS)))),
        None => (times.first, times.end),
    };
    if let Some(range) = report.options.selection.time {
        start = start.max(range.start);
        end = range.end.map_or(end, |limit| end.min(limit.max(times.end)));
    }
    Some((start, end.since(start), told.is_some())).filter(|(_, length, _)| length.as_nanos() > 0)
}

/// The time that all samples of a series cover, whether they count or not: a thread that rests does not shorten what was recorded. Of
/// sums, that of those that count.
fn times_of_run(report: &Report<'_>, series: &SeriesReport) -> Option<SampledTime> {
    let profile = &report.recording.profile;
    let run = profile.series(series.series).run;
    let of_run = profile.samples().iter().filter(|sample| profile.series(sample.series).run == run);
    let all = of_run.map(|sample| SampledTime::of(sample, profile.series(sample.series).unit));
    all.reduce(SampledTime::join).or(series.times)
}

const SECOND_NANOS: Nanos = Nanos::from_nanos(SECOND);

/// The table of contents of a series' run: the only one of that number, if it can be of this recording.
pub(crate) fn toc_of_series<'e>(report: &Report<'e>, series: &SeriesReport) -> Option<&'e TocRun> {
    let profile = &report.recording.profile;
    let number = profile.run(profile.series(series.series).run).number;
    // Of several recordings each may have such a run, and nothing says whose table of contents it is.
    if profile.run_ids().filter(|&id| profile.run(id).number == number).count() > 1 {
        return None;
    }
    let mut known = report.recording.tocs().flat_map(|toc| &toc.runs).filter(|toc| toc.number == number);
    let toc = known.next().filter(|_| known.next().is_none())?;
    let last = series.times.map(|times| times.last).unwrap_or_default();
    toc.contradiction(last).is_none().then_some(toc)
}

/// True if the file of a series ends before its document does: nothing is known of the time after its last row.
fn is_cut(report: &Report<'_>, profile: &Profile, series: &SeriesReport) -> bool {
    let input = profile.string(profile.run(profile.series(series.series).run).input);
    report.recording.documents.iter().any(|document| document.input == input && document.cut_at.is_some())
}

/// The second with the most weight, of equal ones the first, and its weight; as in a fleet, a sample counts in the second that it was
/// taken in.
fn busiest_second(report: &Report<'_>, series: &SeriesReport) -> Option<(u64, u64)> {
    let mut weights: Vec<u64> = Vec::new();
    let first = series.times?.first.as_nanos() / SECOND;
    for sample in report.counted_samples().filter(|sample| sample.series == series.series) {
        let second = sample.time.as_nanos() / SECOND - first;
        // Recordings of years are no recordings.
        let second = usize::try_from(second).ok().filter(|&second| second < 1 << 24)?;
        if second >= weights.len() {
            weights.resize(second + 1, 0);
        }
        weights[second] += report.options.metric.of(sample);
    }
    let (second, weight) = weights.into_iter().enumerate().rev().max_by_key(|&(_, weight)| weight)?;
    Some((first + second as u64, weight))
}

/// A part of the time is at least so many times as long as what a sample stands for: in shorter ones a thread that runs all the time
/// would seem to start and stop.
const SAMPLES: u64 = 10;

/// The weight of a series in equal parts of a stretch of time: in at most `most` of them. Empty where samples have no times.
pub(super) fn bins(report: &Report<'_>, series: &SeriesReport, activity: &Activity, most: usize) -> Vec<u64> {
    let counted = series.counted;
    let count = match series.unit {
        Unit::Nanoseconds => {
            let sample = counted.weight.value / counted.samples.max(1);
            activity.length.as_nanos() / sample.max(1).saturating_mul(SAMPLES)
        }
        // Nobody knows how long a thread takes for them.
        _ => counted.samples / SAMPLES,
    };
    let count = usize::try_from(count).unwrap_or(most).clamp(1, most.max(1));
    let mut bins = vec![0; count];
    let length = u128::from(activity.length.as_nanos().max(1));
    let mut is_empty = true;
    for sample in report.counted_samples().filter(|sample| sample.series == series.series) {
        let at = u128::from(sample.time.since(activity.start).as_nanos()) * count as u128 / length;
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(count - 1);
        bins[at] += report.options.metric.of(sample);
        is_empty = false;
    }
    if is_empty { Vec::new() } else { bins }
}
