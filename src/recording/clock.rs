//! Decides when each run of a recording was recorded, and which table of contents describes it.

use std::collections::BTreeSet;

#[cfg(feature = "fleet")]
use super::Toc;
use super::contradiction::RunFacts;
use super::recorded_time::{Clock, RecordedTime, RunClock, SelectedTime, TimeSource};
use super::toc::{SLACK, TocRun, seconds};
use super::{Document, DocumentContent, Recording};
use crate::hash::HashMap;
use crate::profile::{ProcessId, Profile, RunId, SampledTime, Selection, SeriesId};
use crate::units::Nanos;

/// What is known about a recording's time from outside its documents.
#[cfg(feature = "fleet")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeHints<'h> {
    /// The length of each run according to a manifest.
    pub(crate) duration: Option<Nanos>,
    /// Tables of contents from other files, for runs without a table of contents in the recording.
    pub(crate) tocs: &'h [Toc],
}

/// When a run was recorded, according to the recording and the hints.
#[cfg(feature = "fleet")]
#[derive(Clone, Debug)]
pub(crate) struct HintedTime<'t> {
    pub(crate) recorded: RecordedTime,
    pub(crate) toc: Option<&'t TocRun>,
    pub(crate) notes: Vec<String>,
}

impl Recording {
    /// Returns the selected part of a run's recorded time; all of it for the default selection.
    pub fn selected_time(&self, run: RunId, selection: &Selection) -> SelectedTime {
        let number = self.profile.run(run).number;
        let clock = self.clock.runs.get(run.index());
        clock.map_or_else(
            || RecordedTime::UNKNOWN.selected(number, selection),
            |clock| clock.selected(number, selection),
        )
    }

    /// Returns the table of contents of a run. `None` if there is none, if several differ, or if it contradicts the run, which shows that it
    /// describes another recording.
    pub fn toc_of_run(&self, run: RunId) -> Option<&TocRun> {
        self.toc_at(self.clock.runs.get(run.index())?.toc?)
    }

    fn toc_at(&self, (document, position): Place) -> Option<&TocRun> {
        match &self.documents.get(document)?.content {
            DocumentContent::Toc(toc) => toc.runs.get(position),
            DocumentContent::Tables(_) => None,
        }
    }

    /// Explains what is known about the time of a run, and what was not used for it, in a sentence each.
    pub(crate) fn notes_on_time(&self, run: RunId) -> &[String] {
        self.clock.runs.get(run.index()).map_or(&[], |clock| &clock.notes)
    }

    /// Explains why a table of contents is not used for a run; `None` if each is used or could be.
    pub(super) fn refused_toc(&self, run: RunId) -> Option<String> {
        let clock = self.clock.runs.get(run.index())?;
        let refused = clock.refused?;
        let is_own = self.documents.get(refused.0)?.input == self.profile.string(self.profile.run(run).input);
        self.facts(run, clock).contradiction(self.toc_at(refused)?, is_own)
    }

    fn facts<'p>(&'p self, run: RunId, clock: &'p RunClock) -> RunFacts<'p> {
        let (number, last) = (self.profile.run(run).number, last(clock.sampled));
        RunFacts { profile: &self.profile, number, processes: &clock.processes, series: &clock.series, last }
    }

    pub(super) fn set_clock(&mut self) {
        let profile = &self.profile;
        let processes = by_run(profile, profile.process_ids(), |id: ProcessId| profile.process(id).run);
        let series = by_run(profile, profile.series_ids(), |id: SeriesId| profile.series(id).run);
        let places = TocPlaces::new(self);
        let cut = cut_inputs(&self.documents);
        let of_runs = sampled_times(profile).into_iter().zip(processes.into_iter().zip(series));
        let runs = profile.run_ids().zip(of_runs).map(|(id, (sampled, (processes, series)))| {
            let (number, mut notes) = (profile.run(id).number, Vec::new());
            let facts = RunFacts { profile, number, processes: &processes, series: &series, last: last(sampled) };
            let (toc, refused) = usable(places.of_run(profile, id), &facts, &mut notes);
            let refused = refused.map(|(refused, _)| refused.place);
            let recorded = recorded(
                None,
                toc.map(|toc| toc.run),
                sampled,
                (number, cut.contains(profile.string(profile.run(id).input))),
                &mut notes,
            );
            RunClock { recorded, processes, series, kept: None, sampled, toc: toc.map(|toc| toc.place), refused, notes }
        });
        let runs = runs.collect();
        self.clock = Clock { runs, cut };
    }

    /// True if the input of a run is truncated, so the recorded time after its last row is unknown.
    #[cfg(feature = "fleet")]
    fn is_cut(&self, run: RunId) -> bool {
        self.clock.cut.contains(self.profile.string(self.profile.run(run).input))
    }

    /// Returns when a run was recorded, taking hints into account.
    #[cfg(feature = "fleet")]
    pub(crate) fn hinted_time<'t>(&'t self, run: RunId, hints: TimeHints<'t>) -> HintedTime<'t> {
        let Some(clock) = self.clock.runs.get(run.index()) else {
            return HintedTime { recorded: RecordedTime::UNKNOWN, toc: None, notes: Vec::new() };
        };
        let (number, sampled) = (self.profile.run(run).number, clock.sampled);
        let (mut toc, mut notes) = (self.toc_of_run(run), clock.notes.clone());
        notes.extend(self.refused_toc(run));
        if toc.is_none() {
            let beside = hints.tocs.iter().flat_map(|toc| &toc.runs).filter(|toc| toc.number == number);
            let beside = beside.map(|run| Candidate { place: (), run, is_own: false }).collect();
            let (used, refused) = usable(beside, &self.facts(run, clock), &mut notes);
            toc = used.map(|used| used.run);
            notes.extend(refused.map(|(_, sentence)| sentence));
        }
        if hints.duration.is_none() && toc.is_none() {
            return HintedTime { recorded: clock.recorded, toc, notes };
        }
        let is_cut = self.is_cut(run);
        let mut own = Vec::new();
        let recorded = recorded(hints.duration, toc, sampled, (number, is_cut), &mut own);
        notes.extend(own.into_iter().filter(|note| !clock.notes.contains(note)));
        HintedTime { recorded, toc, notes }
    }
}

fn cut_inputs(documents: &[Document]) -> BTreeSet<String> {
    let cut = documents.iter().filter(|document| document.cut_at.is_some());
    cut.map(|document| document.input.clone()).collect()
}

/// For each run, the time covered by all its samples, selected or not.
fn sampled_times(profile: &Profile) -> Vec<Option<SampledTime>> {
    let mut sampled: Vec<Option<SampledTime>> = vec![None; profile.run_ids().len()];
    for sum in profile.sums_or_samples() {
        let series = profile.series(sum.series);
        let Some(own) = SampledTime::of_sum(&sum, series.unit) else { continue };
        let of_run = &mut sampled[series.run.index()];
        *of_run = Some(of_run.map_or(own, |known| known.join(own)));
    }
    sampled
}

fn last(sampled: Option<SampledTime>) -> Nanos {
    sampled.map_or(Nanos::default(), |sampled| sampled.last)
}

/// For each run, the ids that belong to it.
fn by_run<I: Copy>(profile: &Profile, ids: impl Iterator<Item = I>, run_of: impl Fn(I) -> RunId) -> Vec<Vec<I>> {
    let mut by_run = vec![Vec::new(); profile.run_ids().len()];
    ids.for_each(|id| by_run[run_of(id).index()].push(id));
    by_run
}

/// Identifies an entry: the index of its document, and its index there.
type Place = (usize, usize);

/// A table of contents that may describe a run.
#[derive(Clone, Copy)]
struct Candidate<'t, P> {
    place: P,
    run: &'t TocRun,
    /// True if it is in the input of the run.
    is_own: bool,
}

/// The tables of contents in a recording by run number, and the number of runs with each number.
struct TocPlaces<'r> {
    tocs: HashMap<u32, Vec<(Place, &'r str, &'r TocRun)>>,
    runs: HashMap<u32, usize>,
}

impl<'r> TocPlaces<'r> {
    fn new(recording: &'r Recording) -> Self {
        let mut tocs: HashMap<u32, Vec<_>> = HashMap::default();
        for (index, document) in recording.documents.iter().enumerate() {
            let DocumentContent::Toc(toc) = &document.content else { continue };
            for (position, run) in toc.runs.iter().enumerate() {
                tocs.entry(run.number).or_default().push(((index, position), document.input.as_str(), run));
            }
        }
        let mut runs: HashMap<u32, usize> = HashMap::default();
        let profile = &recording.profile;
        profile.run_ids().for_each(|id| *runs.entry(profile.run(id).number).or_default() += 1);
        Self { tocs, runs }
    }

    /// Returns the tables of contents that may describe a run: those in its own input, or else those in any input, provided that no other run has
    /// its number. If several recordings have such a run, a table of contents may describe any of them, except one in the archive of an input.
    fn of_run(&self, profile: &Profile, id: RunId) -> Vec<Candidate<'r, Place>> {
        let run = profile.run(id);
        let Some(tocs) = self.tocs.get(&run.number) else { return Vec::new() };
        let input = profile.string(run.input);
        let candidate = |&(place, of, run): &(Place, &str, &'r TocRun)| Candidate { place, run, is_own: of == input };
        let own: Vec<_> = tocs.iter().map(candidate).filter(|toc| toc.is_own).collect();
        if !own.is_empty() {
            return own;
        }
        let is_only = self.runs.get(&run.number) == Some(&1);
        // In the archive of the input.
        let is_inside = |of: &str| of.strip_prefix(input).is_some_and(|inside| inside.starts_with(['/', '\\']));
        tocs.iter().filter(|(_, of, _)| is_only || is_inside(of)).map(candidate).collect()
    }
}

/// Returns the entry to use for a run, or none if entries differ. Also returns the first entry that contradicts the run, with a sentence.
#[expect(clippy::type_complexity, reason = "both are entries")]
fn usable<'t, P: Copy>(
    mut tocs: Vec<Candidate<'t, P>>,
    facts: &RunFacts<'_>,
    notes: &mut Vec<String>,
) -> (Option<Candidate<'t, P>>, Option<(Candidate<'t, P>, String)>) {
    let mut refused = None;
    tocs.retain(|&toc| match facts.contradiction(toc.run, toc.is_own) {
        None => true,
        Some(sentence) => {
            refused.get_or_insert((toc, sentence));
            false
        }
    });
    // A table of contents written before the recording ended has no duration.
    if tocs.iter().any(|toc| known(toc.run.duration()).is_some()) {
        tocs.retain(|toc| known(toc.run.duration()).is_some());
    }
    let first = tocs.first().copied();
    if first.is_some_and(|first| tocs.iter().any(|toc| toc.run != first.run)) {
        notes.push(format!("{} tables of contents differ on run {}; none of them is used.", tocs.len(), facts.number));
        return (None, refused);
    }
    (first, refused)
}

/// Returns the recorded time of a run. If its input is truncated, the time ends with the last complete sample.
fn recorded(
    manifest: Option<Nanos>,
    toc: Option<&TocRun>,
    sampled: Option<SampledTime>,
    (number, is_cut): (u32, bool),
    notes: &mut Vec<String>,
) -> RecordedTime {
    let recorded = as_recorded(manifest, toc, sampled, number, notes);
    let Some(sampled) = sampled.filter(|_| is_cut) else { return recorded };
    notes.push(format!("The file is truncated: the recorded time of run {number} ends with its last complete sample."));
    let start = recorded.start.min(sampled.first);
    RecordedTime { start, length: known(Some(sampled.end.since(start))), source: TimeSource::Samples }
}

/// Returns the time from the manifest, or else from the table of contents, or else the time that the samples cover.
fn as_recorded(
    manifest: Option<Nanos>,
    toc: Option<&TocRun>,
    sampled: Option<SampledTime>,
    number: u32,
    notes: &mut Vec<String>,
) -> RecordedTime {
    if let Some(told) = known(manifest).and_then(|duration| by_manifest(duration, toc, sampled, number, notes)) {
        return told;
    }
    if let Some(toc) = toc {
        if let Some(sentence) = toc.window() {
            notes.push(sentence);
        } else if let Some(duration) = known(toc.duration()) {
            let length = Some(with_last_sample(duration, sampled));
            return RecordedTime { start: Nanos::default(), length, source: TimeSource::Toc };
        }
    }
    sampled.map_or(RecordedTime::UNKNOWN, |sampled| RecordedTime {
        start: sampled.first,
        length: known(Some(sampled.length())),
        source: TimeSource::Samples,
    })
}

/// Extends the end of a recording to a sample slightly after it.
fn with_last_sample(end: Nanos, sampled: Option<SampledTime>) -> Nanos {
    sampled.filter(|sampled| sampled.last > end).map_or(end, |sampled| sampled.end)
}

/// Returns the time according to the manifest. `None` if the samples span more time, since rates would be too high. If the samples only start
/// later, the recording kept only its last part, and the time ends with the samples.
fn by_manifest(
    duration: Nanos,
    toc: Option<&TocRun>,
    sampled: Option<SampledTime>,
    number: u32,
    notes: &mut Vec<String>,
) -> Option<RecordedTime> {
    // The last sample may cover time after the end of the recording.
    let between = sampled.map_or(Nanos::default(), |sampled| sampled.last.since(sampled.first));
    if between.since(duration) > SLACK {
        let (duration, between) = (seconds(duration), seconds(between));
        notes.push(format!(
            "According to the manifest, run {number} took {duration} s, but its samples span {between} s; the \
             manifest's duration is not used."
        ));
        return None;
    }
    let of_toc = toc.filter(|toc| toc.window().is_none()).and_then(TocRun::duration);
    if let Some(of_toc) = known(of_toc).filter(|&other| other.since(duration).max(duration.since(other)) > SLACK) {
        let (duration, of_toc) = (seconds(duration), seconds(of_toc));
        notes.push(format!(
            "According to the manifest, run {number} took {duration} s; according to its table of contents, \
             {of_toc} s; the manifest's duration is used."
        ));
    }
    let (mut start, mut length) = (Nanos::default(), with_last_sample(duration, sampled));
    if let Some(sampled) = sampled.filter(|sampled| sampled.last.since(duration) > SLACK) {
        notes.push(format!(
            "According to the manifest, run {number} took {} s, but it has samples up to {} s; the manifest's \
             duration is used, and ends with the last sample.",
            seconds(duration),
            seconds(sampled.last)
        ));
        // The samples may span slightly more than the manifest's duration. Use the longer time.
        (start, length) = (sampled.end.since(duration).min(sampled.first), duration.max(sampled.length()));
    }
    Some(RecordedTime { start, length: Some(length), source: TimeSource::Manifest })
}

fn known(duration: Option<Nanos>) -> Option<Nanos> {
    duration.filter(|duration| duration.as_nanos() > 0)
}
