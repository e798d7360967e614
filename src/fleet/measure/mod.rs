//! From an export to the data that a fleet keeps of its runs.
//!
//! 1. Of each run one table is chosen: two tables of one run saw the same CPU time, and may not be added up.
//! 2. One pass over the samples sums them by stack and by second (`tally`).
//! 3. The distinct stacks give the rows of functions and binaries (`rows`).
//! 4. The device, the process and the recorded time come from the table of contents or a manifest (`recorded`, `labels`).

mod context;
mod labels;
mod recorded;
mod refusal;
mod rows;
mod tally;

use std::cmp::Reverse;

use super::run::{FailureKind, RunMeasures, RunRecord};
use crate::calltree::Metric;
use crate::profile::{Profile, SampledTime, SelectedSamples, SeriesId, TimeRange};
use crate::recording::{Recording, Table};
use recorded::Tocs;
use rows::Rows;
use tally::Tally;

pub use context::{MeasureOptions, RunContext};
pub use refusal::NotMeasured;

/// The runs of an export, measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// One for each run that has samples that count, in the order of the file; at least one.
    pub runs: Vec<RunMeasures>,
    /// Notes for the reader, one sentence each: tables that were left out, a table of contents that was not used, and why.
    pub notes: Vec<String>,
}

impl Recording {
    /// Measures every run that has samples that count, each by one table.
    ///
    /// Of several tables of a run the one measured is the first of `time-profile`, `cpu-profile`, `counters-profile`,
    /// `time-sample` and others; of equals the one with most samples that count, then the first of the document. A snapshot
    /// of all threads (`Stackshot`) is no sample here.
    ///
    /// # Errors
    /// [`FailureKind::NoSamples`] when no sample counts, with a sentence that says what there is. When the measures take more memory than
    /// the [budget](Profile::budget) of the profile has.
    pub fn measure(&self, context: &RunContext, options: &MeasureOptions) -> Result<Measured, NotMeasured> {
        let profile = &self.profile;
        let selected = options.selection.on(profile);
        let mut notes = Vec::new();
        let survey = Survey::new(&selected, options.selection.time);
        let chosen = choose(profile, &survey, options, &mut notes);
        if chosen.is_empty() {
            return Err(NotMeasured { kind: FailureKind::NoSamples, reason: refusal::reason(self, options) });
        }
        if chosen.len() > 1 && context.duration.is_some() {
            let count = chosen.len();
            notes.push(format!("The file has {count} runs; the manifest's duration stands for each of them."));
        }
        let mut reserved = profile.budget().nothing();
        let tallies = tally::tally(&selected, &chosen, &mut reserved)?;
        let tocs = Tocs::new(self, context);
        // Rows take about this much by stack; how much exactly is known when they are there.
        let by_stack = profile.budget().reserve(profile.stack_ids().len() as u64 * STACK_BYTES)?;
        let mut rows = Rows::new(profile);
        drop(by_stack);
        reserved.grow(rows.memory())?;
        let mut runs = Vec::with_capacity(chosen.len());
        for (position, (&series, tally)) in chosen.iter().zip(&tallies).enumerate() {
            let run_id = match position {
                0 => context.run_id.clone(),
                _ => format!("{}-{}", context.run_id, position + 1),
            };
            // What was chosen has samples.
            let Some(sampled) = survey.sampled[profile.series(series).run.index()] else { continue };
            let mut own = notes.clone();
            let record = record(self, context, options, &tocs, (series, run_id, sampled), tally, &mut own);
            // Names of the profile are copied.
            let names = profile.budget().reserve(profile.names_memory())?;
            let measures = rows.measures(RunRecord { notes: own, ..record }, tally);
            drop(names);
            reserved.grow(measures.memory())?;
            runs.push(measures);
        }
        let mut notes: Vec<String> = Vec::new();
        for note in runs.iter().flat_map(|run| &run.record.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        if let Some(first) = runs.first_mut() {
            note_unread(self, &mut first.record);
        }
        Ok(Measured { runs, notes })
    }
}

/// Keeps with the first run of a recording which others are damaged. Not among the notes of the file: the reader's diagnostics say
/// the same there.
fn note_unread(recording: &Recording, first: &mut RunRecord) {
    let mut count = 0;
    for run in recording.unread_runs() {
        let reason = run.unread.as_deref().unwrap_or_default();
        first.notes.push(format!("Run {} is damaged, and nothing of it is read: {reason}", run.number));
        count += 1;
    }
    first.unread_runs = Some(count);
}

/// The bytes of memory that sums take for each stack.
const STACK_BYTES: u64 = 32;

/// The overview of an export: the samples that count, by series, and the time that each run covers.
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
    fn new(selected: &SelectedSamples<'_>, range: Option<TimeRange>) -> Self {
        let profile = selected.profile();
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

/// True if the file ends before its document does: nothing is known of the time after its last row.
fn is_cut(recording: &Recording) -> bool {
    recording.documents.iter().any(|document| document.cut_at.is_some())
}

fn record(
    recording: &Recording,
    context: &RunContext,
    options: &MeasureOptions,
    tocs: &Tocs<'_>,
    (series_id, run_id, sampled): (SeriesId, String, Sampled),
    tally: &Tally,
    notes: &mut Vec<String>,
) -> RunRecord {
    let profile = &recording.profile;
    let series = profile.series(series_id);
    let number = profile.run(series.run).number;
    let toc = tocs.of_run(number, sampled.all.last, notes);
    let recorded = recorded::recorded(context.duration, toc, sampled.all, number, notes);
    let recorded = if is_cut(recording) { recorded.until_cut(sampled.all, number, notes) } else { recorded };
    let recorded = recorded.within(options.selection.time, sampled.in_range);
    let is_table = |table: &&Table| table.series.contains(&series_id);
    RunRecord {
        run_id,
        fingerprint: context.fingerprint.clone(),
        source: context.source.clone(),
        source_bytes: context.source_bytes,
        labels: labels::labels(toc, &context.labels),
        run_weight: context.run_weight,
        start: toc.and_then(|toc| toc.summary_field("start-date")).filter(|date| !date.is_empty()).map(str::to_owned),
        wall: recorded.wall,
        wall_source: recorded.source,
        wall_start: recorded.start,
        schema: profile.string(series.schema).to_owned(),
        unit: series.unit,
        weight: tally.sum.weight,
        samples: tally.sum.samples,
        effective_samples: tally.effective_samples(),
        rejected: recording.tables().find(is_table).map_or(0, |table| table.rejected.total()),
        unread_runs: Some(0),
        cores: tally.cores(profile),
        usual_weight: tally.usual_weight(),
        parser_version: env!("CARGO_PKG_VERSION").to_owned(),
        notes: Vec::new(),
    }
}
