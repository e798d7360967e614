//! The recorded time of a run, and the choice of the table of contents that gives it.

use super::context::RunContext;
use crate::fleet::run::WallSource;
use crate::profile::{SampledTime, TimeRange};
use crate::recording::{Recording, SLACK, TocRun, seconds};
use crate::units::Nanos;

/// The recorded part of the time axis of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) start: Nanos,
    /// `None` where nothing tells it.
    pub(super) wall: Option<Nanos>,
    pub(super) source: WallSource,
    /// As in [`RunRecord`](crate::fleet::RunRecord::parts).
    pub(super) parts: Vec<(Nanos, Nanos)>,
}

impl Recorded {
    /// The part of it before a file was truncated: to the end of the time that its samples cover.
    pub(super) fn until_cut(self, sampled: SampledTime, number: u32, notes: &mut Vec<String>) -> Self {
        let start = self.start.min(sampled.first);
        notes.push(format!("The file is cut: what was recorded of run {number} ends with its last complete sample."));
        Self { start, wall: known(Some(sampled.end.since(start))), source: WallSource::Samples, parts: Vec::new() }
    }

    /// The part of it that is in a range of time. Samples count with all that they weigh, so an estimate does not end before what
    /// those in the range cover: a thread would seem to run more than all the time.
    pub(super) fn within(self, range: Option<TimeRange>, in_range: Option<SampledTime>) -> Self {
        let Some(range) = range else { return self };
        let end = self.start.saturating_add(self.wall.unwrap_or_default());
        let covered = in_range.filter(|_| self.source == WallSource::Samples).map(|sampled| sampled.end);
        let end = range.end.map_or(end, |limit| end.min(limit.max(covered.unwrap_or_default())));
        let start = self.start.max(range.start);
        Self { start, wall: known(Some(end.since(start))), ..self }
    }

    /// The part of it that is in ranges, which are sorted and apart, and in a range of time, if one is asked for. Ends are exact, also those
    /// of an estimate: what a sample weighs beyond the end of an interval, another one weighs beyond its start.
    pub(super) fn during(self, ranges: impl Iterator<Item = TimeRange>, time: Option<TimeRange>) -> Self {
        let Some(wall) = self.wall else { return self };
        let end = self.start.saturating_add(wall);
        let first = time.map_or(self.start, |time| time.start.max(self.start));
        let last = time.and_then(|time| time.end).map_or(end, |limit| limit.min(end));
        let cut = |range: TimeRange| (range.start.max(first), range.end.map_or(last, |end| end.min(last)));
        let parts: Vec<(Nanos, Nanos)> = ranges.map(cut).filter(|(start, end)| start < end).collect();
        let wall = parts.iter().fold(Nanos::default(), |sum, (start, end)| sum.saturating_add(end.since(*start)));
        let start = parts.first().map_or(first, |(start, _)| *start);
        Self {
            start,
            wall: known(Some(wall)),
            source: self.source,
            parts: if parts.len() > 1 { parts } else { Vec::new() },
        }
    }
}

/// The recorded time of run `number`: the manifest's duration, else that of its table of contents, else the time that its samples cover.
pub(super) fn recorded(
    manifest: Option<Nanos>,
    toc: Option<&TocRun>,
    sampled: SampledTime,
    number: u32,
    notes: &mut Vec<String>,
) -> Recorded {
    if let Some(told) = known(manifest).and_then(|duration| by_manifest(duration, toc, sampled, number, notes)) {
        return told;
    }
    if let Some(toc) = toc {
        if let Some(sentence) = toc.window() {
            notes.push(sentence);
        } else if let Some(duration) = known(toc.duration()) {
            let wall = Some(end(duration, sampled));
            return Recorded { start: Nanos::default(), wall, source: WallSource::Toc, parts: Vec::new() };
        }
    }
    let wall = known(Some(sampled.length()));
    Recorded { start: sampled.first, wall, source: WallSource::Samples, parts: Vec::new() }
}

/// The end of a recording that is told. A sample may be a little later; it was recorded all the same.
fn end(told: Nanos, sampled: SampledTime) -> Nanos {
    if sampled.last > told { sampled.end } else { told }
}

/// The manifest's word counts, unless samples are from a longer time: then all weight would be divided by a part of the time that it
/// is from. Where they are only later than it, the recording kept its end only, and the time ends with them.
fn by_manifest(
    duration: Nanos,
    toc: Option<&TocRun>,
    sampled: SampledTime,
    number: u32,
    notes: &mut Vec<String>,
) -> Option<Recorded> {
    // What times tell: what a sample covers after its time is no contradiction.
    let between = sampled.last.since(sampled.first);
    if between.since(duration) > SLACK {
        let (duration, between) = (seconds(duration), seconds(between));
        notes.push(format!(
            "The manifest says that run {number} took {duration} s, but it has samples of {between} s; the manifest's duration \
             is not used."
        ));
        return None;
    }
    let said = toc.filter(|toc| toc.window().is_none()).and_then(TocRun::duration);
    if let Some(said) = known(said).filter(|&said| said.since(duration).max(duration.since(said)) > SLACK) {
        let (duration, said) = (seconds(duration), seconds(said));
        notes.push(format!(
            "The manifest says that run {number} took {duration} s, and its table of contents {said} s; the manifest's \
             duration is used."
        ));
    }
    let (mut start, mut wall) = (Nanos::default(), end(duration, sampled));
    if sampled.last.since(duration) > SLACK {
        notes.push(format!(
            "The manifest says that run {number} took {} s, but it has samples up to {} s; the manifest's duration is used, \
             and ends with the last sample.",
            seconds(duration),
            seconds(sampled.last)
        ));
        // Samples a little longer than the manifest's word were recorded all the same.
        (start, wall) = (sampled.end.since(duration).min(sampled.first), duration.max(sampled.length()));
    }
    Some(Recorded { start, wall: Some(wall), source: WallSource::Manifest, parts: Vec::new() })
}

/// A duration above zero.
fn known(duration: Option<Nanos>) -> Option<Nanos> {
    duration.filter(|duration| duration.as_nanos() > 0)
}

/// The tables of contents of an export.
pub(super) struct Tocs<'t> {
    /// Those inside the export come first.
    places: [Vec<&'t TocRun>; 2],
}

impl<'t> Tocs<'t> {
    pub(super) fn new(recording: &'t Recording, context: &'t RunContext) -> Self {
        let inside = recording.tocs().flat_map(|toc| &toc.runs).collect();
        let beside = context.tocs.iter().flat_map(|toc| &toc.runs).collect();
        Self { places: [inside, beside] }
    }

    /// The entry for run `number`. If two entries contradict each other, neither is used.
    pub(super) fn of_run(&self, number: u32, last: Nanos, notes: &mut Vec<String>) -> Option<&'t TocRun> {
        for place in &self.places {
            let mut of_run: Vec<&TocRun> = place.iter().copied().filter(|toc| toc.number == number).collect();
            if let Some(sentence) = of_run.iter().find_map(|toc| toc.contradiction(last)) {
                notes.push(sentence);
                of_run.retain(|toc| toc.contradiction(last).is_none());
            }
            // One that was written before the recording ended tells less than one that was written after it.
            if of_run.iter().any(|toc| known(toc.duration()).is_some()) {
                of_run.retain(|toc| known(toc.duration()).is_some());
            }
            let Some(&first) = of_run.first() else { continue };
            if of_run.iter().all(|toc| *toc == first) {
                return Some(first);
            }
            let count = of_run.len();
            notes.push(format!(
                "{count} tables of contents tell different things of run {number}; none of them is used."
            ));
            return None;
        }
        None
    }
}
