//! The runs of a recording that are measured: each by one table, over a part of its recorded time.

use std::cmp::Reverse;

use super::context::{MeasureOptions, RunContext};
use super::recorded::{Recorded, Tocs, recorded};
use super::refusal::{self, NotMeasured};
use crate::calltree::Metric;
use crate::fleet::run::FailureKind;
use crate::profile::{IntervalFilter, Profile, SampledTime, Selection, SeriesId};
use crate::recording::{Recording, seconds};
use crate::units::Nanos;

/// The choice.
pub(super) struct Chosen {
    /// At least one.
    pub(super) runs: Vec<ChosenRun>,
    /// The runs that the selection leaves nothing of: the reason of each, in a sentence.
    pub(super) excluded: Vec<String>,
    /// Notes on the file.
    pub(super) notes: Vec<String>,
}

/// A run, and the table that measures it.
pub(super) struct ChosenRun {
    pub(super) series: SeriesId,
    pub(super) recorded: Recorded,
    /// True if the time was selected.
    pub(super) is_part: bool,
    /// The time of its last sample.
    pub(super) last: Nanos,
    /// Notes on its recorded time.
    pub(super) notes: Vec<String>,
}

impl Chosen {
    /// # Errors
    /// When no sample counts at any time, or the selection leaves nothing of any run.
    pub(super) fn new(
        recording: &Recording,
        context: &RunContext,
        options: &MeasureOptions,
        tocs: &Tocs<'_>,
    ) -> Result<Self, NotMeasured> {
        let profile = &recording.profile;
        let mut notes = Vec::new();
        let survey = Survey::new(profile, &options.selection);
        let chosen = choose(profile, &survey, options, &mut notes);
        if chosen.is_empty() {
            let reason = refusal::reason(recording, options);
            return Err(NotMeasured { kind: FailureKind::NoSamples, reason });
        }
        if chosen.len() > 1 && context.duration.is_some() {
            let count = chosen.len();
            notes.push(format!("The file has {count} runs; the manifest's duration stands for each of them."));
        }
        let (mut runs, mut excluded) = (Vec::new(), Vec::new());
        for series in chosen {
            // What was chosen has samples.
            let run = profile.series(series).run;
            let Some(sampled) = survey.sampled[run.index()] else { continue };
            let number = profile.run(run).number;
            let mut own = Vec::new();
            let whole = whole(recording, context, tocs, (sampled, number), &mut own);
            match selected(whole, &options.selection, (sampled, number)) {
                Ok(recorded) => {
                    let (is_part, last) = (options.selection.needs_times(), sampled.all.last);
                    runs.push(ChosenRun { series, recorded, is_part, last, notes: own });
                }
                Err(reason) => excluded.push(reason),
            }
        }
        if runs.is_empty() {
            return Err(NotMeasured { kind: FailureKind::NotSelected, reason: excluded.join(" ") });
        }
        Ok(Self { runs, excluded, notes })
    }
}

/// The recorded time of run `number`.
fn whole(
    recording: &Recording,
    context: &RunContext,
    tocs: &Tocs<'_>,
    (sampled, number): (Sampled, u32),
    notes: &mut Vec<String>,
) -> Recorded {
    let toc = tocs.of_run(number, sampled.all.last, notes);
    let recorded = recorded(context.duration, toc, sampled.all, number, notes);
    if is_cut(recording) { recorded.until_cut(sampled.all, number, notes) } else { recorded }
}

/// The part of a recorded time that is selected.
///
/// # Errors
/// The reason, in a sentence, when the selection leaves nothing of it. Of an unknown time nobody knows, so it stays unknown.
fn selected(whole: Recorded, selection: &Selection, (sampled, number): (Sampled, u32)) -> Result<Recorded, String> {
    let part = match &selection.intervals {
        None => whole.clone().within(selection.time, sampled.in_range),
        Some(intervals) => {
            let ranges = intervals.ranges();
            let of_run = ranges.iter().filter(|(run, _)| *run == number).map(|(_, range)| *range);
            if of_run.clone().next().is_none() {
                return Err(without_interval(intervals, number));
            }
            whole.clone().during(of_run, selection.time)
        }
    };
    let Some(wall) = whole.wall.filter(|_| part.wall.is_none()) else { return Ok(part) };
    let what = match (&selection.intervals, selection.time) {
        (None, _) => "the selected time".to_owned(),
        (Some(_), None) => "the selected intervals".to_owned(),
        (Some(_), Some(_)) => "the selected intervals within the selected time".to_owned(),
    };
    let (start, end) = (seconds(whole.start), seconds(whole.start.saturating_add(wall)));
    Err(format!("Run {number} was recorded from {start} s to {end} s, which has nothing of {what}."))
}

/// The reason why run `number` has no time of these intervals.
fn without_interval(intervals: &IntervalFilter, number: u32) -> String {
    let names = intervals.names().iter().map(|name| format!("{name:?}"));
    let names = names.chain(intervals.has_hangs().then(|| "a potential hang".to_owned()));
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [_, _, ..] if intervals.is_intersection() => {
            format!("Run {number} has no time in which all of these are open: {}.", names.join(", "))
        }
        [_] if intervals.names().is_empty() => format!("Run {number} has no potential hang."),
        names => format!("Run {number} has no interval named {}.", names.join(" or ")),
    }
}

/// True if the file ends before its document does: nothing is known of the time after its last row.
fn is_cut(recording: &Recording) -> bool {
    recording.documents.iter().any(|document| document.cut_at.is_some())
}

/// The overview of an export: the samples that count at any time, by series, and the time that each run covers.
struct Survey {
    /// By series.
    counted: Vec<u64>,
    /// By run.
    sampled: Vec<Option<Sampled>>,
}

/// The time that all samples of a run cover, whether they count or not. A selection does not change the recorded time.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    all: SampledTime,
    /// Of samples in the range of time that was asked for, if one was.
    in_range: Option<SampledTime>,
}

impl Survey {
    fn new(profile: &Profile, selection: &Selection) -> Self {
        let range = selection.time;
        let always = Selection { time: None, intervals: None, ..selection.clone() };
        let selected = always.on(profile);
        let mut counted = vec![0; profile.series_ids().len()];
        let mut sampled: Vec<Option<Sampled>> = vec![None; profile.run_ids().len()];
        for sample in profile.samples() {
            let series = profile.series(sample.series);
            let own = SampledTime::of(sample, series.unit);
            let of_run = sampled[series.run.index()].get_or_insert(Sampled { all: own, in_range: None });
            of_run.all = of_run.all.join(own);
            if range.is_some_and(|range| range.contains(sample.time)) {
                of_run.in_range = Some(of_run.in_range.map_or(own, |known| known.join(own)));
            }
            if selected.is_in_scope(sample) && selected.is_state_counted(sample) {
                counted[sample.series.index()] += Metric::Samples.of(sample);
            }
        }
        Self { counted, sampled }
    }
}

/// The series to measure, one for each run that has samples that count.
fn choose(profile: &Profile, survey: &Survey, options: &MeasureOptions, notes: &mut Vec<String>) -> Vec<SeriesId> {
    let schema = |id: SeriesId| profile.string(profile.series(id).schema);
    let count = |id: SeriesId| survey.counted[id.index()];
    let is_wanted = |id: &SeriesId| options.wants(schema(*id)) && count(*id) > 0;
    let mut candidates: Vec<SeriesId> = profile.series_ids().filter(is_wanted).collect();
    candidates.sort_by_key(|&id| {
        let series = profile.series(id);
        (series.run, preference(schema(id)), Reverse(count(id)), series.table, id)
    });
    let mut chosen = Vec::new();
    for of_run in candidates.chunk_by(|&a, &b| profile.series(a).run == profile.series(b).run) {
        let [first, others @ ..] = of_run else { continue };
        chosen.push(*first);
        if !others.is_empty() {
            let named = |&id: &SeriesId| format!("{} ({} samples)", schema(id), count(id));
            let left_out: Vec<String> = others.iter().map(named).collect();
            let number = profile.run(profile.series(*first).run).number;
            let left_out = refusal::list(&left_out);
            notes.push(format!("Run {number} is measured by {}; left out: {left_out}.", named(first)));
        }
    }
    chosen
}

/// The order of preference among the tables of a run; the lowest is measured.
fn preference(schema: &str) -> usize {
    const ORDER: [&str; 4] = ["time-profile", "cpu-profile", "counters-profile", "time-sample"];
    ORDER.iter().position(|known| *known == schema).unwrap_or(ORDER.len())
}
