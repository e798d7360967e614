//! Chooses which runs of a recording are measured, each by one table and over a part of its recorded time, or explains why there are none.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use super::labels::{MeasureOptions, RunContext};
use crate::calltree::Metric;
use crate::fleet::run::FailureKind;
use crate::memory::OverBudget;
use crate::profile::{IntervalFilter, Meaning, Profile, RebuildError, Selection, SeriesId};
use crate::recording::{
    CRASH, DocumentContent, HintedTime, NON_FATAL, RecordedTime, Recording, SelectedTime, Table, TableKind, TimeHints,
    TimeSource, TocRun, seconds,
};
use crate::units::{Weight, several};

pub(super) struct Chosen<'t> {
    /// At least one.
    pub(super) runs: Vec<ChosenRun<'t>>,
    /// For each run that is completely excluded by the selection, a sentence with the reason.
    pub(super) excluded: Vec<String>,
    /// Notes about the file.
    pub(super) notes: Vec<String>,
}

/// A run, and the table that measures it.
pub(super) struct ChosenRun<'t> {
    pub(super) series: SeriesId,
    pub(super) recorded: RecordedTime,
    pub(super) selected: SelectedTime,
    pub(super) toc: Option<&'t TocRun>,
    /// The quantity that a report from the field states.
    pub(super) stated: Option<Weight>,
    /// Notes about its recorded time.
    pub(super) notes: Vec<String>,
}

impl<'t> Chosen<'t> {
    /// # Errors
    /// If no run has selected samples at any time or is idle, or the selection excludes every run.
    pub(super) fn new(
        recording: &'t Recording,
        context: &'t RunContext,
        options: &MeasureOptions,
    ) -> Result<Self, NotMeasured> {
        let profile = &recording.profile;
        let hints = TimeHints { duration: context.duration, tocs: &context.tocs };
        let mut notes = Vec::new();
        let chosen = choose(recording, hints, options, &mut notes);
        if chosen.is_empty() {
            let reason = reason(recording, options);
            return Err(NotMeasured { kind: FailureKind::NoSamples, reason });
        }
        if chosen.len() > 1 && context.duration.is_some() {
            let count = chosen.len();
            notes.push(format!("The file has {count} runs; the manifest's duration applies to each of them."));
        }
        let (mut runs, mut excluded) = (Vec::new(), Vec::new());
        for series in chosen {
            let run = profile.series(series).run;
            let HintedTime { mut recorded, toc, mut notes } = recording.hinted_time(run, hints);
            let stated = toc.and_then(|toc| toc.stated).filter(|_| !profile.series(series).has_times);
            if stated.is_some() {
                (recorded, notes) = (RecordedTime::OF_REPORT, Vec::new());
            }
            match selected(recorded, &options.selection, profile.run(run).number) {
                Ok(selected) => runs.push(ChosenRun { series, recorded, selected, toc, stated, notes }),
                Err(reason) => excluded.push(reason),
            }
        }
        if runs.is_empty() {
            return Err(NotMeasured::not_selected(excluded.join(" ")));
        }
        Ok(Self { runs, excluded, notes })
    }
}

/// The selected part of a recorded time.
///
/// # Errors
/// A sentence with the reason, if the time is known and nothing of it is selected.
fn selected(recorded: RecordedTime, selection: &Selection, number: u32) -> Result<SelectedTime, String> {
    let intervals = selection.intervals.as_ref();
    if recorded.source == TimeSource::Report && (intervals.is_some() || selection.time.is_some()) {
        return Err("A report from the field has no times to select from.".to_owned());
    }
    if let Some(intervals) = intervals.filter(|all| !all.ranges().iter().any(|(run, _)| *run == number)) {
        return Err(without_interval(intervals, number));
    }
    let selected = recorded.selected(number, selection);
    let Some(length) = recorded.length.filter(|_| selected.parts().is_empty()) else { return Ok(selected) };
    let what = match (intervals, selection.time) {
        (None, _) => "the selected time".to_owned(),
        (Some(_), None) => "the selected intervals".to_owned(),
        (Some(_), Some(_)) => "the selected intervals within the selected time".to_owned(),
    };
    let (start, end) = (seconds(recorded.start), seconds(recorded.start.saturating_add(length)));
    Err(format!("Run {number} was recorded from {start} s to {end} s, which does not overlap {what}."))
}

/// Explains why run `number` has no time within these intervals.
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

/// By series: the number of selected samples at any time.
fn counted(profile: &Profile, selection: &Selection) -> Vec<u64> {
    let always = Selection { time: None, intervals: None, ..selection.clone() };
    let mut counted = vec![0; profile.series_ids().len()];
    for sample in always.on(profile).iter() {
        counted[sample.series.index()] += Metric::Samples.of(sample);
    }
    for sum in always.on(profile).untimed_sums() {
        counted[sum.series.index()] += sum.samples;
    }
    counted
}

/// The series to measure: one per run that has selected samples or a known idle time.
fn choose(
    recording: &Recording,
    hints: TimeHints<'_>,
    options: &MeasureOptions,
    notes: &mut Vec<String>,
) -> Vec<SeriesId> {
    let profile = &recording.profile;
    let (counted, idle) = (counted(profile, &options.selection), idle(recording, &options.selection));
    let schema = |id: SeriesId| profile.string(profile.series(id).schema);
    let count = |id: SeriesId| counted[id.index()];
    let has_time = |id: SeriesId| recording.hinted_time(profile.series(id).run, hints).recorded.length.is_some();
    let is_stated = |id: SeriesId| recording.toc_of_run(profile.series(id).run).is_some_and(|toc| toc.stated.is_some());
    let is_crash = |id: SeriesId| {
        let toc = recording.toc_of_run(profile.series(id).run);
        toc.and_then(|toc| toc.summary_field("diagnostic")) == Some(CRASH)
    };
    let is_measurable = |id: SeriesId| match profile.series(id).has_times {
        true => count(id) > 0 || (idle[id.index()] && has_time(id)),
        false => count(id) > 0 && is_stated(id),
    };
    notes.extend(without_quantity(profile, |id| {
        options.wants(schema(id)) && count(id) > 0 && !is_stated(id) && !is_crash(id)
    }));
    let is_wanted = |id: &SeriesId| options.wants(schema(*id)) && is_measurable(*id);
    let mut candidates: Vec<SeriesId> = profile.series_ids().filter(is_wanted).collect();
    candidates.sort_by_key(|&id| {
        let series = profile.series(id);
        (series.run, count(id) == 0, Table::preference(schema(id)), Reverse(count(id)), series.table, id)
    });
    let mut chosen = Vec::new();
    for of_run in candidates.chunk_by(|&a, &b| profile.series(a).run == profile.series(b).run) {
        let [first, others @ ..] = of_run else { continue };
        chosen.push(*first);
        let others: Vec<&SeriesId> = others.iter().filter(|id| count(**id) > 0).collect();
        if !others.is_empty() {
            let named = |&id: &SeriesId| format!("{} ({} samples)", schema(id), count(id));
            let left_out: Vec<String> = others.into_iter().map(named).collect();
            let number = profile.run(profile.series(*first).run).number;
            let left_out = list(&left_out);
            notes.push(format!("Run {number} is measured by {}; left out: {left_out}.", named(first)));
        }
    }
    chosen
}

/// Notes about series that have neither times nor a quantity, with the number of reports per schema.
fn without_quantity(profile: &Profile, is_without: impl Fn(SeriesId) -> bool) -> impl Iterator<Item = String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for id in profile.series_ids().filter(|&id| !profile.series(id).has_times && is_without(id)) {
        *counts.entry(profile.string(profile.series(id).schema)).or_default() += 1;
    }
    counts.into_iter().map(|(schema, count)| {
        let reports = several(count, "report");
        format!("{reports} of {schema} without a length, time or size that can be read: not measured")
    })
}

/// By series: true if it contains CPU use but no selected thread ran, because the table is empty or all threads with selected names waited. A
/// name that no thread has does not count as idle, since the recording does not show that the thread existed.
fn idle(recording: &Recording, selection: &Selection) -> Vec<bool> {
    let profile = &recording.profile;
    let scope = Selection { time: None, intervals: None, ..selection.clone() };
    let scope = scope.on(profile);
    let mut idle: Vec<bool> = profile
        .series_ids()
        .map(|id| profile.series(id))
        .map(|series| series.meaning == Meaning::OnCpu && series.has_times)
        .collect();
    // By series: whether it has samples, and whether selected threads have any.
    let mut seen = vec![(false, false); idle.len()];
    for sample in profile.samples() {
        let (any, in_scope) = &mut seen[sample.series.index()];
        (*any, *in_scope) = (true, *in_scope || scope.is_in_scope(sample));
    }
    for (idle, (any, in_scope)) in idle.iter_mut().zip(seen) {
        *idle &= !any || in_scope;
    }
    idle
}

/// Why an export has no run, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotMeasured {
    /// The kind of failure: [`FailureKind::NoSamples`], [`FailureKind::NotSelected`], or, if the measures exceed the profile's memory
    /// [budget](crate::profile::Profile::budget), [`FailureKind::Malformed`].
    pub kind: FailureKind,
    /// What was found instead of selected samples, or the exceeded memory limit.
    pub reason: String,
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NotMeasured {}

impl NotMeasured {
    /// Creates the error for a file that cannot be read.
    #[cfg(feature = "dataset")]
    pub(crate) fn unreadable(reason: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unreadable, reason: reason.into() }
    }

    /// Creates the error for a file whose content is invalid or too large.
    pub(crate) fn malformed(reason: impl fmt::Display) -> Self {
        Self { kind: FailureKind::Malformed, reason: reason.to_string() }
    }

    /// Creates the error for a file in which nothing is selected.
    pub(crate) fn not_selected(reason: String) -> Self {
        Self { kind: FailureKind::NotSelected, reason }
    }
}

impl From<RebuildError> for NotMeasured {
    fn from(error: RebuildError) -> Self {
        Self::malformed(error)
    }
}

impl From<OverBudget> for NotMeasured {
    fn from(over: OverBudget) -> Self {
        Self::malformed(over)
    }
}

/// Describes the content of an export without selected samples.
pub(super) fn reason(recording: &Recording, options: &MeasureOptions) -> String {
    let schema = |table: &Table| table.schema.clone().unwrap_or_else(|| "details of a track".to_owned());
    let names = |tables: &[&Table]| {
        let mut names: Vec<String> = tables.iter().map(|table| schema(table)).collect();
        names.sort();
        names.dedup();
        list(&names)
    };
    if recording.tocs().flat_map(|toc| &toc.runs).any(|run| run.stated_percentiles().next().is_some()) {
        return "These are percentiles over all users, which cannot be added to others; traceparse FILE shows them."
            .to_owned();
    }
    if recording.tocs().flat_map(|toc| &toc.runs).any(|run| run.summary_field("diagnostic") == Some(NON_FATAL)) {
        return "This report is about an event that ended no process, so it is no crash.".to_owned();
    }
    let tables: Vec<&Table> = recording.tables().collect();
    if tables.is_empty() {
        // A recording consists of two documents: tables, and a table of contents.
        let is_recording =
            recording.documents.iter().any(|document| matches!(document.content, DocumentContent::Tables(_)));
        return match recording.tocs().next() {
            Some(_) if is_recording => "The recording has no readable CPU table.",
            Some(_) => {
                "The file contains only a table of contents; export a CPU table, such as time-profile, with --xpath."
            }
            None => "There is no table.",
        }
        .to_owned();
    }
    let cpu: Vec<&Table> = tables.iter().copied().filter(|table| table.kind == TableKind::Cpu).collect();
    if cpu.is_empty() {
        return format!("The file has no CPU table, only {}.", names(&tables));
    }
    let wanted: Vec<&Table> = cpu.iter().copied().filter(|table| options.wants(&schema(table))).collect();
    if wanted.is_empty() {
        return format!("The file has no table {}, only {}.", list(&options.schemas), names(&cpu));
    }
    let profile = &recording.profile;
    let series = wanted.iter().flat_map(|table| &table.series).map(|&id| profile.series(id));
    if let Some(series) = series.into_iter().find(|series| series.meaning != Meaning::OnCpu || !series.has_times) {
        let schema = profile.string(series.schema);
        if recording.unread_quantities() > 0 {
            return format!("The length, time or size of the reports of {schema} could not be read.");
        }
        return format!(
            "{schema} reports record neither CPU time nor sample times, so there is no CPU use to measure."
        );
    }
    let (rows, samples) =
        wanted.iter().fold((0, 0), |(rows, samples), table| (rows + table.rows, samples + table.samples));
    let names = names(&wanted);
    match (rows, samples) {
        (0, _) => format!("There are no rows in {names}."),
        (_, 0) => format!("None of the {rows} rows of {names} could be read."),
        _ => format!("None of the {samples} samples of {names} has a selected process, thread and state."),
    }
}

/// Joins the first names in one line, and counts the rest.
pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
