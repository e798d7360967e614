//! The clock: when each run was recorded, and how much of that time is selected.
//!
//! Every rate, percentage of a core, window and mean divides by one of two times:
//!
//! - The **recorded time** of a run comes from a manifest, or else from its table of contents. Without either, it is estimated as the time
//!   covered by all its samples, selected or not.
//! - The **selected time** is the intersection of the recorded time with the time range and the intervals of a [`Selection`]. If the recorded
//!   time is an estimate, its ends also limit the selected time.

use crate::profile::{ProcessId, SampledTime, Selection, SeriesId, TimeRange};
use crate::units::Nanos;

/// The source of a run's recorded time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeSource {
    /// The table of contents.
    Toc,
    /// A manifest (the column `duration`, in seconds).
    Manifest,
    /// An estimate: the time that samples cover ([`SampledTime`]), from the first one. If a run was idle at its start or end, the estimate is too
    /// short and its CPU use too high; reports mark such runs.
    Samples,
    /// A report from the field that states a quantity, such as the length of a hang. It has no recorded time and counts as one second, so that
    /// measures are per report.
    Report,
}

impl TimeSource {
    /// Returns the name in machine-readable formats: `toc`, `manifest`, `samples`, `report`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toc => "toc",
            Self::Manifest => "manifest",
            Self::Samples => "samples",
            Self::Report => "report",
        }
    }

    /// Returns the source with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Toc, Self::Manifest, Self::Samples, Self::Report].into_iter().find(|source| source.name() == name)
    }
}

/// The time during which a run was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedTime {
    /// 0 with a table of contents, otherwise the first sample.
    pub start: Nanos,
    /// `None` if unknown: no length was recorded, and the samples cover no time.
    pub length: Option<Nanos>,
    /// The source of start and length.
    pub source: TimeSource,
}

/// The selected part of a run's recorded time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedTime {
    /// Start and end of each part, sorted and disjoint. Empty if nothing is selected, or the recorded time is unknown.
    parts: Vec<(Nanos, Nanos)>,
    source: TimeSource,
    is_part: bool,
}

impl SelectedTime {
    /// Creates a selection from parts, which must be sorted and disjoint.
    pub(crate) fn new(parts: Vec<(Nanos, Nanos)>, source: TimeSource, is_part: bool) -> Self {
        Self { parts, source, is_part }
    }

    /// Selects all of a recorded time of this length.
    #[cfg(test)]
    pub(crate) fn until(end: Nanos) -> Self {
        Self { parts: vec![(Nanos::default(), end)], source: TimeSource::Toc, is_part: false }
    }

    /// Returns the intersection with another selection of the same recorded time.
    fn within(&self, other: &Self) -> Self {
        let (mut parts, mut others) = (Vec::new(), other.parts.iter().peekable());
        for &(start, end) in &self.parts {
            while let Some(&&(from, until)) = others.peek() {
                if from.max(start) < until.min(end) {
                    parts.push((from.max(start), until.min(end)));
                }
                // This part of the other selection may also overlap the next part of this one.
                if until > end {
                    break;
                }
                others.next();
            }
        }
        Self { parts, source: self.source, is_part: self.is_part || other.is_part }
    }

    /// Returns the start and end of each part, sorted and disjoint.
    pub fn parts(&self) -> &[(Nanos, Nanos)] {
        &self.parts
    }

    /// Returns the time from the start of the first part to the end of the last; `None` if nothing is selected.
    pub fn span(&self) -> Option<(Nanos, Nanos)> {
        Some((self.parts.first()?.0, self.parts.last()?.1))
    }

    /// Returns the total length of the parts. If it is zero, no rates can be computed.
    pub fn length(&self) -> Nanos {
        sum(self.parts.iter().copied())
    }

    /// Returns the total length of the parts between `start` and `end`.
    pub fn length_between(&self, start: Nanos, end: Nanos) -> Nanos {
        let first = self.parts.partition_point(|&(_, until)| until <= start);
        let parts = self.parts[first..].iter().take_while(|&&(from, _)| from < end);
        sum(parts.map(|&(from, until)| (from.max(start), until.min(end))))
    }

    /// Returns the source of the recorded time.
    pub fn source(&self) -> TimeSource {
        self.source
    }

    /// True if a time range or intervals were requested, even if they include all of the recorded time.
    pub fn is_part(&self) -> bool {
        self.is_part
    }
}

fn sum(parts: impl Iterator<Item = (Nanos, Nanos)>) -> Nanos {
    parts.fold(Nanos::default(), |sum, (start, end)| sum.saturating_add(end.since(start)))
}

impl RecordedTime {
    /// The one second that a report from the field counts as.
    #[cfg(feature = "fleet")]
    pub(crate) const OF_REPORT: Self =
        Self { start: Nanos::from_nanos(0), length: Some(Nanos::from_millis(1_000)), source: TimeSource::Report };
    pub(super) const UNKNOWN: Self = Self { start: Nanos::from_nanos(0), length: None, source: TimeSource::Samples };

    /// Returns the selected part of the recorded time of run `number`.
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

impl RunClock {
    /// Creates the clock of a run from a page, which contains this part of the recorded time.
    pub(super) fn of_page(kept: Option<SelectedTime>, toc: Option<(usize, usize)>) -> Self {
        let span = kept.as_ref().and_then(|kept| Some((kept.span()?, kept.source)));
        let recorded = span.map_or(RecordedTime::UNKNOWN, |((start, end), source)| RecordedTime {
            start,
            length: Some(end.since(start)),
            source,
        });
        let (processes, series) = (Vec::new(), Vec::new());
        Self { recorded, processes, series, kept, sampled: None, toc, refused: None, notes: Vec::new() }
    }

    /// Returns the selected part of the recorded time of run `number`.
    pub(super) fn selected(&self, number: u32, selection: &Selection) -> SelectedTime {
        let selected = self.recorded.selected(number, selection);
        self.kept.as_ref().map_or(selected.clone(), |kept| selected.within(kept))
    }
}

/// The recorded time of each run. It is computed once, when the recording is complete, so operations that remove samples do not change it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// Indexed by run.
    pub(super) runs: Vec<RunClock>,
    #[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only fleets have manifests"))]
    pub(super) cut: std::collections::BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(super) struct RunClock {
    pub(super) recorded: RecordedTime,
    /// The processes and series of the run.
    pub(super) processes: Vec<ProcessId>,
    pub(super) series: Vec<SeriesId>,
    /// The time that all samples of the run cover.
    pub(super) sampled: Option<SampledTime>,
    /// The part of the recorded time that was selected when a page was written; `None` for other inputs.
    pub(super) kept: Option<SelectedTime>,
    /// The run's table of contents, as the index of its document and its position there.
    pub(super) toc: Option<(usize, usize)>,
    /// A table of contents that contradicts the run. The sentence is made on request, since it contains names, which may be
    /// redacted until then.
    pub(super) refused: Option<(usize, usize)>,
    /// Explains, in a sentence each, what else was not used.
    pub(super) notes: Vec<String>,
}
