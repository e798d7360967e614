//! The clock: when each run was recorded, and which part of that time a selection leaves.
//!
//! Every rate, percentage of a core, window and mean divides by one of these two:
//!
//! - The **recorded time** of a run is what a manifest gives, else its table of contents, else an estimate: the time that all its
//!   samples cover, whether they are selected or not.
//! - The **selected time** is the recorded time ∩ the time range ∩ the intervals of a [`Selection`]. The ends of an
//!   estimate are exact, too.

use crate::profile::{SampledTime, Selection, TimeRange};
use crate::units::Nanos;

/// The source of a run's recorded time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeSource {
    /// The table of contents.
    Toc,
    /// A manifest (its column `duration`, in seconds).
    Manifest,
    /// An estimate: the time that samples cover, from the first one on ([`SampledTime`]). A run that was idle at its start or end was
    /// longer, so its CPU use is overstated; reports mark such runs.
    Samples,
}

impl TimeSource {
    /// The name in machine formats: `toc`, `manifest`, `samples`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toc => "toc",
            Self::Manifest => "manifest",
            Self::Samples => "samples",
        }
    }

    /// The source with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Toc, Self::Manifest, Self::Samples].into_iter().find(|source| source.name() == name)
    }
}

/// The time in which a run was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedTime {
    /// 0 with a table of contents, else the first sample.
    pub start: Nanos,
    /// `None` if it is unknown: nothing records it, and the samples cover no time.
    pub length: Option<Nanos>,
    /// The source of both.
    pub source: TimeSource,
}

/// The part of a run's recorded time that is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedTime {
    /// The start and end of each part, sorted and apart from each other; empty if nothing is selected or the recorded time is unknown.
    parts: Vec<(Nanos, Nanos)>,
    source: TimeSource,
    is_part: bool,
}

impl SelectedTime {
    /// All of a recorded time of this length.
    #[cfg(test)]
    pub(crate) fn until(end: Nanos) -> Self {
        Self { parts: vec![(Nanos::default(), end)], source: TimeSource::Toc, is_part: false }
    }

    /// The start and end of each part, sorted and apart from each other.
    pub fn parts(&self) -> &[(Nanos, Nanos)] {
        &self.parts
    }

    /// From the start of the first part to the end of the last; `None` if nothing is selected.
    pub fn span(&self) -> Option<(Nanos, Nanos)> {
        Some((self.parts.first()?.0, self.parts.last()?.1))
    }

    /// The sum of the parts. Zero means that no rate exists.
    pub fn length(&self) -> Nanos {
        sum(self.parts.iter().copied())
    }

    /// The length of what the parts have in common with the time from `start` to `end`.
    pub fn length_between(&self, start: Nanos, end: Nanos) -> Nanos {
        let first = self.parts.partition_point(|&(_, until)| until <= start);
        let parts = self.parts[first..].iter().take_while(|&&(from, _)| from < end);
        sum(parts.map(|&(from, until)| (from.max(start), until.min(end))))
    }

    /// The source of the recorded time that it is a part of.
    pub fn source(&self) -> TimeSource {
        self.source
    }

    /// True if a time range or intervals were selected, even if they leave all of the recorded time.
    pub fn is_part(&self) -> bool {
        self.is_part
    }
}

fn sum(parts: impl Iterator<Item = (Nanos, Nanos)>) -> Nanos {
    parts.fold(Nanos::default(), |sum, (start, end)| sum.saturating_add(end.since(start)))
}

impl RecordedTime {
    pub(super) const UNKNOWN: Self = Self { start: Nanos::from_nanos(0), length: None, source: TimeSource::Samples };

    /// The recorded time of run `number` that a selection leaves.
    pub(crate) fn selected(self, number: u32, selection: &Selection) -> SelectedTime {
        let Some(length) = self.length else {
            return SelectedTime { parts: Vec::new(), source: self.source, is_part: selection.needs_times() };
        };
        let end = self.start.saturating_add(length);
        let time = selection.time.unwrap_or(TimeRange { start: self.start, end: None });
        let (first, last) = (time.start.max(self.start), time.end.map_or(end, |limit| limit.min(end)));
        let cut = |range: TimeRange| (range.start.max(first), range.end.map_or(last, |end| end.min(last)));
        let everything = [(number, TimeRange { start: first, end: None })];
        let ranges = selection.intervals.as_ref().map_or(everything.as_slice(), |intervals| intervals.ranges());
        let of_run = ranges.iter().filter(|(run, _)| *run == number).map(|(_, range)| cut(*range));
        SelectedTime {
            parts: of_run.filter(|(start, end)| start < end).collect(),
            source: self.source,
            is_part: selection.needs_times(),
        }
    }
}

/// The recorded time of each run, made when a recording is complete: operations that remove samples do not change it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// By run.
    pub(super) runs: Vec<RunClock>,
}

#[derive(Clone, Debug)]
pub(super) struct RunClock {
    pub(super) recorded: RecordedTime,
    /// The time that all samples of the run cover.
    #[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only fleets have manifests"))]
    pub(super) sampled: Option<SampledTime>,
    /// The document and the position in it of the run's table of contents.
    pub(super) toc: Option<(usize, usize)>,
    /// Sentences on what was not used, and why.
    pub(super) notes: Vec<String>,
}
