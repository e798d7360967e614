//! The length of a recording, and the tables of contents that tell it.

use std::collections::{BTreeMap, BTreeSet};

use crate::hash::HashMap;
use crate::profile::{RunId, SampledTime, TimeRange};
use crate::recording::TocRun;
use crate::report::Report;
use crate::units::Nanos;

impl Report<'_> {
    /// The length of the recording according to its tables of contents, over all the runs and within the time that were asked for; `None`
    /// if they do not tell that of every run. Those in [`unused_tocs`](Self::unused_tocs) do not.
    pub fn recorded_duration(&self) -> Option<Nanos> {
        recorded(self)
    }

    /// The length of the recording: the [recorded](Self::recorded_duration) one, or else the time that the samples that count cover, from
    /// the first of them on ([`SampledTime`]), which is shorter where nothing ran at either end. `None` if nothing tells it.
    pub fn duration(&self) -> Option<Nanos> {
        if let Some(nanos) = recorded(self) {
            return Some(nanos);
        }
        let profile = &self.recording.profile;
        // Each run begins at zero, so runs stand one after the other.
        let mut runs: HashMap<RunId, SampledTime> = HashMap::default();
        for series in &self.series {
            let Some(own) = series.times else { continue };
            let times = runs.entry(profile.series(series.series).run).or_insert(own);
            *times = times.join(own);
        }
        let nanos = sum(runs.values().map(|times| times.length()));
        (nanos.as_nanos() > 0).then_some(nanos)
    }

    /// The recorded length of each run of the report, whatever time was asked for; `None` where tables of contents do not tell it.
    #[cfg(feature = "workbench")]
    pub(crate) fn recorded_lengths(&self) -> Vec<(u32, Option<Nanos>)> {
        let last = LastSamples::new(self);
        last.runs().map(|number| (number, Told::new(self, number, &last).length)).collect()
    }

    /// The tables of contents that have a length but are not used for a report's recording, each in a sentence that says why: it is of another
    /// recording, whose samples go more than a second past it; it kept its end only; or several differ.
    pub fn unused_tocs(&self) -> Vec<String> {
        let last = LastSamples::new(self);
        last.runs().flat_map(|number| Told::new(self, number, &last).unused).collect()
    }
}

/// The length that tables of contents give for the runs of the report, if they give it for each, within the time that counts.
fn recorded(report: &Report<'_>) -> Option<Nanos> {
    let last = LastSamples::new(report);
    let lengths: Option<Vec<Nanos>> = last.runs().map(|number| Told::new(report, number, &last).length).collect();
    let nanos = sum(lengths?.into_iter().map(|length| within(length, report.options.selection.time)));
    (nanos.as_nanos() > 0).then_some(nanos)
}

fn within(length: Nanos, time: Option<TimeRange>) -> Nanos {
    time.map_or(length, |range| range.end.unwrap_or(length).min(length).since(range.start))
}

fn sum(lengths: impl Iterator<Item = Nanos>) -> Nanos {
    Nanos::from_nanos(lengths.map(Nanos::as_nanos).fold(0, u64::saturating_add))
}

/// The length that tables of contents give for one run.
struct Told {
    length: Option<Nanos>,
    /// The reasons why others are not used.
    unused: Vec<String>,
}

impl Told {
    fn new(report: &Report<'_>, number: u32, last: &LastSamples) -> Self {
        let (mut lengths, mut unused) = (BTreeSet::new(), Vec::new());
        for toc in report.recording.tocs().flat_map(|toc| &toc.runs).filter(|toc| toc.number == number) {
            match last.contradiction(toc).or_else(|| toc.window()) {
                Some(reason) => unused.push(reason),
                None => lengths.extend(toc.duration().filter(|length| length.as_nanos() > 0)),
            }
        }
        if lengths.len() > 1 {
            unused.push(format!(
                "{} tables of contents tell different things of run {number}; none of them is used.",
                lengths.len()
            ));
            lengths.clear();
        }
        Self { length: lengths.pop_first(), unused }
    }
}

/// The times of the last samples of each run that a report is about, whether they count or not: a selection does not change the recorded
/// time.
pub(super) struct LastSamples(BTreeMap<u32, Nanos>);

impl LastSamples {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let (profile, selection) = (&report.recording.profile, &report.options.selection);
        let mut of_series = vec![Nanos::default(); profile.series_ids().len()];
        // Nobody asks where nothing tells anything, and there may be many samples.
        if report.recording.tocs().next().is_some() {
            for sum in profile.sums_or_samples() {
                let last = &mut of_series[sum.series.index()];
                *last = sum.times.map_or(*last, |times| times.last.max(*last));
            }
        }
        let number = |id| profile.run(profile.series(id).run).number;
        let asked = report.series.iter().map(|series| number(series.series));
        let asked = asked.filter(|number| selection.runs.is_empty() || selection.runs.contains(number));
        let mut runs: BTreeMap<u32, Nanos> = asked.map(|number| (number, Nanos::default())).collect();
        for (id, last) in profile.series_ids().zip(of_series) {
            if let Some(latest) = runs.get_mut(&number(id)) {
                *latest = last.max(*latest);
            }
        }
        Self(runs)
    }

    fn runs(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    /// The reason why a table of contents cannot be that of its run here, in a sentence.
    pub(super) fn contradiction(&self, toc: &TocRun) -> Option<String> {
        self.0.get(&toc.number).and_then(|last| toc.contradiction(*last))
    }
}
