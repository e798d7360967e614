//! Measures the runs of an export for a fleet.
//!
//! 1. One table is chosen for each run (`choice`), since two tables of a run measured the same CPU time and must not be added.
//! 2. One pass over the samples sums them by stack and by second (`tally`).
//! 3. The distinct stacks are converted to rows of functions and binaries (`rows`) and, if requested, of call trees (`trees`).
//! 4. The device, the process and the recorded time come from the table of contents or a manifest (`labels`).

mod choice;
mod crashes;
#[cfg(feature = "dataset")]
mod intervals;
mod labels;
mod metrics;
mod rows;
mod tally;
mod trees;

use super::run::{RunMeasures, RunRecord};
use crate::calltree::{Metric, Operation};
use crate::hash::HashMap;
use crate::profile::{RunId, SelectedSamples, SeriesId, ThreadId};
use crate::recording::{Recording, SelectedTime};
use crate::units::Unit;
use choice::{Chosen, ChosenRun};
use rows::Rows;
use tally::Tally;

pub use choice::NotMeasured;
pub use labels::{MeasureOptions, RunContext};

/// The measured runs of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// One per run that has selected samples or is idle, and is not excluded by the selection, in file order. Never empty.
    pub runs: Vec<RunMeasures>,
    /// By run: the series that was measured. A day's metrics come last, and have no series.
    pub series: Vec<SeriesId>,
    /// Sentences for the reader: omitted tables and unused tables of contents, with reasons.
    pub notes: Vec<String>,
}

impl Recording {
    /// Measures every run that has selected samples or is idle, by one table each.
    ///
    /// A run with a known recorded time is idle if its CPU table is empty, or all its selected threads waited. Its weight is 0.
    ///
    /// If a run has several tables, the first of `time-profile`, `cpu-profile`, `counters-profile`, `time-sample` and others is measured; among
    /// several of the same kind, the one with the most selectable samples, or else the first in the document. Snapshots of all threads
    /// (`Stackshot`) do not count as samples here.
    ///
    /// A run is excluded if none of it is in the selected time or intervals. A run that was recorded during that time but has no samples has
    /// weight 0.
    ///
    /// # Errors
    /// [`NoSamples`](super::FailureKind::NoSamples) if no sample is selected at any time and no run is idle, and
    /// [`NotSelected`](super::FailureKind::NotSelected) if every run is excluded. Both explain what the recording contains. Also fails if the
    /// measures exceed the profile's memory [budget](crate::profile::Profile::budget).
    pub fn measure(&self, context: &RunContext, options: &MeasureOptions) -> Result<Measured, NotMeasured> {
        self.measure_operated(context, options, &[])
    }

    /// Like [`measure`](Self::measure), after stack operations that were prepared for this recording's profile. They change and remove samples,
    /// but not the recorded time: a run without remaining samples has weight 0.
    ///
    /// # Errors
    /// As [`measure`](Self::measure), and if the new stacks exceed the tables of a profile.
    pub fn measure_operated(
        &self,
        context: &RunContext,
        options: &MeasureOptions,
        operations: &[Operation],
    ) -> Result<Measured, NotMeasured> {
        let unread = self.unread_quantities();
        let mut days = metrics::runs(self, context);
        days.extend(crashes::runs(self, context));
        let selected = options.selection.on(&self.profile);
        let Chosen { runs, excluded, notes } = match Chosen::new(self, context, options) {
            Err(_) if !days.is_empty() => {
                days.iter_mut().take(1).for_each(|first| first.record.rejected = unread);
                return Ok(Measured { runs: days, series: Vec::new(), notes: Vec::new() });
            }
            chosen => chosen?,
        };
        let series = runs.iter().map(|run| run.series).collect();
        let measured = if operations.is_empty() {
            measure_chosen(self, context, (&selected, options.with_stacks), runs, &notes)?
        } else {
            let (operated, _) = selected.operate(operations, Metric::Weight)?;
            measure_chosen(self, context, (&options.selection.on(&operated), options.with_stacks), runs, &notes)?
        };
        let mut measured = with_notes(self, (measured, series), excluded);
        measured.runs.iter_mut().take(1).for_each(|first| first.record.rejected += unread);
        measured.runs.append(&mut days);
        Ok(measured)
    }
}

/// Measures runs by their selected samples, with or without call trees. `profile` is the recording's, or the result of operations.
fn measure_chosen(
    recording: &Recording,
    context: &RunContext,
    (selected, with_stacks): (&SelectedSamples<'_>, bool),
    chosen: Vec<ChosenRun<'_>>,
    notes: &[String],
) -> Result<Vec<RunMeasures>, NotMeasured> {
    let profile = selected.profile();
    let mut reserved = profile.budget().nothing();
    let series: Vec<_> = chosen.iter().map(|run| (run.series, run.stated)).collect();
    let mut threads = threads_of_runs(selected);
    let tallies = tally::tally(selected, (&series, &recording.profile), &mut reserved)?;
    // Reserve an estimate for the rows, whose exact size is known only afterwards.
    let by_stack = profile.budget().reserve(profile.stack_ids().len() as u64 * STACK_BYTES)?;
    let mut rows = Rows::new(profile, with_stacks);
    drop(by_stack);
    reserved.grow(rows.memory())?;
    let rejected = rejected_rows(recording);
    let mut runs = Vec::with_capacity(chosen.len());
    for (position, (run, tally)) in chosen.into_iter().zip(&tallies).enumerate() {
        let run_id = match position {
            0 => context.run_id.clone(),
            _ => format!("{}-{}", context.run_id, position + 1),
        };
        let threads = threads.remove(&profile.series(run.series).run).unwrap_or_default();
        let rejected = rejected.get(&run.series).copied().unwrap_or_default();
        let record = RunRecord { rejected, ..record(recording, context, (run, run_id), tally, notes) };
        // Names are copied.
        let names = profile.budget().reserve(profile.names_memory())?;
        let measures = rows.measures(record, tally, &threads)?;
        drop(names);
        reserved.grow(measures.memory())?;
        runs.push(measures);
    }
    Ok(runs)
}

/// The number of unreadable rows, by the series of their table.
fn rejected_rows(recording: &Recording) -> HashMap<SeriesId, u64> {
    let tables = recording.tables();
    tables.flat_map(|table| table.series.iter().map(|&series| (series, table.rejected.total()))).collect()
}

/// The selected threads of each run, with or without samples.
fn threads_of_runs(selected: &SelectedSamples<'_>) -> HashMap<RunId, Vec<ThreadId>> {
    let profile = selected.profile();
    let mut threads: HashMap<RunId, Vec<ThreadId>> = HashMap::default();
    for id in profile.thread_ids().filter(|&id| selected.has_thread(id)) {
        threads.entry(profile.process(profile.thread(id).process).run).or_default().push(id);
    }
    threads
}

/// Collects the notes of all runs. The first run also records which runs are excluded or damaged.
fn with_notes(
    recording: &Recording,
    (mut runs, series): (Vec<RunMeasures>, Vec<SeriesId>),
    excluded: Vec<String>,
) -> Measured {
    if let Some(first) = runs.first_mut() {
        first.record.excluded_runs = excluded.len() as u32;
        first.record.notes.extend(excluded.into_iter().map(|reason| format!("Excluded: {reason}")));
    }
    let mut notes: Vec<String> = Vec::new();
    for note in runs.iter().flat_map(|run| &run.record.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    if let Some(first) = runs.first_mut() {
        note_unread(recording, &mut first.record);
    }
    Measured { runs, series, notes }
}

/// Records damaged runs in a recording's first run. The file's notes omit them, since the reader's diagnostics report them.
fn note_unread(recording: &Recording, first: &mut RunRecord) {
    let mut count = 0;
    for run in recording.unread_runs() {
        let reason = run.unread.as_deref().unwrap_or_default();
        first.notes.push(format!("Run {} is damaged and is not read at all: {reason}", run.number));
        count += 1;
    }
    first.unread_runs = count;
}

/// The estimated memory in bytes for sums per stack.
const STACK_BYTES: u64 = 32;

/// Warns if the selected time is hardly longer than the sampling interval, since its CPU use is then mostly chance.
fn note_short(selected: &SelectedTime, unit: Unit, interval: u64, number: u32) -> Option<String> {
    const FEW: u64 = 20;
    let wall = selected.length().as_nanos();
    let is_short = unit == Unit::Nanoseconds && wall > 0 && interval > 0 && wall / interval < FEW;
    is_short.then(|| {
        let count = wall / interval;
        format!("The selected time of run {number} is as long as {count} samples, so its CPU use is mostly chance.")
    })
}

/// Creates the record of a run, with its notes and those of the file.
fn record(
    recording: &Recording,
    context: &RunContext,
    (run, run_id): (ChosenRun<'_>, String),
    tally: &Tally,
    notes: &[String],
) -> RunRecord {
    let ChosenRun { series: series_id, recorded, selected, toc, stated, notes: own } = run;
    let profile = &recording.profile;
    let series = profile.series(series_id);
    let number = profile.run(series.run).number;
    let unit = stated.map_or(series.unit, |stated| stated.unit);
    let short = note_short(&selected, unit, tally.usual_weight(), number);
    RunRecord {
        wall: recorded.length.map(|_| selected.length()),
        wall_source: recorded.source,
        wall_start: selected.span().map_or(recorded.start, |(start, _)| start),
        parts: if selected.parts().len() > 1 { selected.parts().to_vec() } else { Vec::new() },
        schema: profile.string(series.schema).to_owned(),
        unit,
        weight: tally.sum.weight,
        samples: tally.sum.samples,
        effective_samples: tally.effective_samples(),
        cores: tally.cores(profile),
        usual_weight: tally.usual_weight(),
        notes: notes.iter().cloned().chain(own).chain(short.filter(|_| selected.is_part())).collect(),
        ..context.record(run_id, number, toc)
    }
}
