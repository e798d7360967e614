//! Measures a file of a batch: from the file to its runs.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use super::beside::Beside;
use super::content::{ReadFile, unless_changed};
use super::fleet_input::FleetInput;
use super::intervals::{all_intervals, note_unread};
use super::options::ThreadChoice;
use super::outcome::{Finished, Keeper, Outcome, failed};
use super::settings::FleetSettings;
use crate::fleet::fingerprint::{of_run, of_unread, run_id};
use crate::fleet::host::{FleetHost, WatchedInputs};
use crate::fleet::inputs::Task;
use crate::fleet::{FailedInput, Measured, NotMeasured, RunContext, RunMeasures};
use crate::memory::MemoryBudget;
use crate::recording::{Intervals, Options, Recording, Toc};
use crate::redact::{RedactRule, Redactor};

/// Everything that measuring a file requires.
pub(super) struct Measuring<'a> {
    pub(super) settings: &'a FleetSettings<'a>,
    pub(super) host: &'a dyn FleetHost,
    pub(super) keeper: &'a dyn Keeper,
    /// Locked for reading by files that are processed in parallel, and for writing by a file that needs all memory.
    alone: RwLock<()>,
}

impl<'a> Measuring<'a> {
    pub(super) const fn new(settings: &'a FleetSettings<'a>, host: &'a dyn FleetHost, keeper: &'a dyn Keeper) -> Self {
        Self { settings, host, keeper, alone: RwLock::new(()) }
    }

    /// Processes a file in parallel with others or, if memory is insufficient, again alone with all memory. The result therefore does not depend
    /// on other files.
    pub(super) fn process(&self, index: usize, task: &Task, notes: &mut Vec<String>) -> Finished {
        let _fetched = match self.host.fetch(&task.files().collect::<Vec<_>>()) {
            Ok(fetched) => fetched,
            Err(error) => {
                let outcome = self.unread(task, 0, NotMeasured::unreadable(error.to_string()));
                return Finished { index, content: None, packed_toc: None, state: None, outcome };
            }
        };
        // A pipe can be read only once.
        if self.host.state(&task.path).is_some_and(|state| state.is_lasting()) {
            let _together = self.alone.read().unwrap_or_else(PoisonError::into_inner);
            let memory = self.settings.memory.part(u64::MAX);
            let finished = self.process_within(&memory, index, task, notes);
            if !memory.was_exceeded() {
                return finished;
            }
        }
        notes.clear();
        let _alone = self.alone.write().unwrap_or_else(PoisonError::into_inner);
        let memory = self.settings.memory.part(u64::MAX);
        let mut finished = self.process_within(&memory, index, task, notes);
        if memory.was_exceeded()
            && let Outcome::Failed(failed) = &mut finished.outcome
        {
            // With more memory, it may succeed even if the file is unchanged.
            failed.fingerprint = of_unread(&task.display);
        }
        finished
    }

    fn process_within(&self, memory: &MemoryBudget, index: usize, task: &Task, notes: &mut Vec<String>) -> Finished {
        let options = &Options { memory: memory.clone(), ..self.settings.options.read.clone() };
        let state = self.host.state(&task.path);
        let file = state.as_ref().filter(|state| state.is_lasting());
        if let Some(kept) = file.and_then(|state| self.keeper.kept(index, task, state, memory)) {
            let (content, outcome) = (Some(kept.content), Outcome::Kept(kept));
            return Finished { index, content, packed_toc: None, state, outcome };
        }
        let files = self.host.watch();
        let input = FleetInput::open(&*files, &task.path, memory);
        let read = input.and_then(|mut input| Ok((input.read(None, options, self.host)?, input)));
        let measured = read.map(|(read, input)| {
            let (content, packed_toc) = (read.content, input.packed_toc_hash());
            (content, packed_toc, self.measure(task, read, (&input, &*files), options, notes))
        });
        // Checked last, after the recording's symbols were read.
        match unless_changed(&*files, &task.path, measured) {
            Ok((content, packed_toc, outcome)) => {
                Finished { index, content: Some(content), packed_toc, state, outcome }
            }
            Err(refused) => {
                let outcome = self.unread(task, state.map_or(0, |state| state.length), refused);
                Finished { index, content: None, packed_toc: None, state, outcome }
            }
        }
    }

    /// The outcome for a file whose content is unknown.
    fn unread(&self, task: &Task, bytes: u64, refused: NotMeasured) -> Outcome {
        Outcome::Failed(failed(self.host, task, bytes, None, of_unread(&task.display), refused))
    }

    /// Measures a file that was read. Returns its runs, or why there are none.
    fn measure(
        &self,
        task: &Task,
        file: ReadFile,
        input: (&FleetInput<'_>, &dyn WatchedInputs),
        options: &Options,
        notes: &mut Vec<String>,
    ) -> Outcome {
        let Beside { content: toc, tocs, export: _held } = Beside::read(task, input.0, options, self.host, notes);
        let intervals = self.settings.hash_of_intervals(task, &options.memory, self.host);
        let context = RunContext {
            run_id: run_id(file.content, toc, task, self.has_content(&file)),
            fingerprint: of_run(self.settings.fingerprint, file.content, [toc, intervals], task),
            source: task.display.clone(),
            source_bytes: file.bytes,
            labels: task.labels.clone(),
            run_weight: task.run_weight,
            duration: task.duration,
            tocs,
        };
        let (run_id, fingerprint) = (Some(context.run_id.clone()), context.fingerprint.clone());
        let of_report = file.export.as_ref().ok().and_then(|export| export.labels_of_report(&task.labels));
        match file.export.and_then(|export| self.runs(task, export, context, input, options, notes)) {
            Ok(runs) => Outcome::Runs(runs),
            Err(refused) => {
                let failed = failed(self.host, task, file.bytes, run_id, fingerprint, refused);
                let mut labels = of_report.unwrap_or_else(|| failed.labels.clone());
                // Names in an unmeasured file are unknown, so they cannot be redacted.
                labels.retain(|label| {
                    self.host.redaction().is_none() || label.0 == "diagnostic" || failed.labels.contains(label)
                });
                Outcome::Failed(FailedInput { labels, ..failed })
            }
        }
    }

    /// False for a recording without samples. A day's metrics count as samples and, if intervals are requested, so do table rows.
    fn has_content(&self, file: &ReadFile) -> bool {
        let Ok(export) = &file.export else { return true };
        let has_metrics = || export.tocs().any(|toc| toc.runs.iter().any(|run| run.metrics.is_some()));
        let has_rows = || self.settings.options.measure.with_intervals && export.tables().any(|table| table.rows > 0);
        export.profile.sums_or_samples().next().is_some() || has_metrics() || has_rows()
    }

    /// Measures the runs of an export, and then drops it.
    fn runs(
        &self,
        task: &Task,
        mut export: Recording,
        mut context: RunContext,
        (input, files): (&FleetInput<'_>, &dyn WatchedInputs),
        options: &Options,
        notes: &mut Vec<String>,
    ) -> Result<Vec<RunMeasures>, NotMeasured> {
        notes.extend(said(&export, input.bundle()));
        self.settings.symbols.name_frames(&mut export, input, notes)?;
        let mut measure = self.settings.options.measure.clone();
        if let Some(asked) = &self.settings.intervals {
            let filter = asked.of(task, (&export, input), (files, self.host), options, notes)?;
            measure.selection.intervals = Some(filter);
        }
        let mut intervals = match measure.with_intervals {
            true => all_intervals(task, (&export, input), (files, self.host), options)?,
            false => Intervals::default(),
        };
        note_unread(&intervals, notes);
        let operations = (self.settings.options.operations)(&export.profile);
        if let Some(rules) = self.host.redaction() {
            redact(rules, &mut export, &mut context, notes)?;
            let mut redactor = Redactor::collective(rules.to_vec());
            redactor.collect_intervals(&intervals);
            redactor.intervals(&mut intervals);
        }
        let measured = export.measure_operated(&context, &measure, &operations);
        let mut measured = match measure.with_intervals {
            true => export.with_intervals(measured, &intervals, &context)?,
            false => measured?,
        };
        if let Some(threads) = &self.settings.options.threads {
            measured = narrowed(measured, threads)?;
        }
        let bytes = measured.runs.iter().map(RunMeasures::memory).sum();
        if let Err(over) = self.host.memory_of_kept_file().reserve(bytes) {
            return Err(NotMeasured::malformed(format!("its functions and names take too much memory: {over}")));
        }
        notes.extend(measured.notes);
        Ok(measured.runs)
    }
}

/// The reader's notes. They are printed next to the name of the file, so the recording's name is removed, and recordings with the same note share
/// it.
fn said(export: &Recording, bundle: Option<&Path>) -> impl Iterator<Item = String> {
    let bundle = bundle.map(|bundle| bundle.display().to_string());
    let own = move |message: &str| {
        let inside = bundle.as_ref().and_then(|bundle| message.strip_prefix(bundle));
        let text = inside.and_then(|inside| inside.strip_prefix(": ").or_else(|| inside.strip_prefix('/')));
        text.unwrap_or(message).to_owned()
    };
    let diagnostics = export.diagnostics.iter().map(move |diagnostic| match diagnostic.count {
        0 | 1 => own(&diagnostic.message),
        count => format!("{} ({count} times)", own(&diagnostic.message)),
    });
    let cut = export.documents.iter().filter_map(|document| document.cut_at);
    diagnostics.chain(cut.map(|byte| format!("the file is truncated at byte {byte}; only complete rows are used")))
}

/// Restricts runs to selected threads, and drops runs without any.
///
/// # Errors
/// If no run has such a thread.
fn narrowed(measured: Measured, threads: &ThreadChoice) -> Result<Measured, NotMeasured> {
    let Measured { runs, series, mut notes } = measured;
    let ids: Vec<String> = runs.iter().map(|run| run.record.run_id.clone()).collect();
    let narrow = |run: &RunMeasures| run.of_threads(|name, is_main| (threads.matches)(name, is_main));
    let kept = runs.iter().zip(series).filter_map(|(run, series)| Some((narrow(run)?, series)));
    let (mut kept, series): (Vec<RunMeasures>, Vec<_>) = kept.unzip();
    let reason = RunMeasures::no_thread(&threads.texts, threads.only_main);
    let without = (runs.len() - kept.len()) as u32;
    for (run, id) in kept.iter_mut().zip(ids) {
        run.record.run_id = id;
    }
    let (Some(first), Some(before)) = (kept.first_mut(), runs.first()) else {
        return Err(NotMeasured::not_selected(reason));
    };
    // The numbers of excluded runs are in the file's first run.
    first.record.unread_runs = before.record.unread_runs;
    first.record.excluded_runs = before.record.excluded_runs + without;
    if without > 0 {
        let said = format!("Excluded: {without} of {} runs. {reason}", runs.len());
        let own = std::mem::take(&mut first.record.notes);
        let all = before.record.notes.iter().cloned().chain(own).chain([said.clone()]);
        for note in all {
            if !first.record.notes.contains(&note) {
                first.record.notes.push(note);
            }
        }
        notes.push(said);
    }
    Ok(Measured { runs: kept, series, notes })
}

/// Redacts the names in a recording, its tables of contents and its notes. Functions selected by operations stay selected.
pub(crate) fn redact(
    rules: &[RedactRule],
    export: &mut Recording,
    context: &mut RunContext,
    notes: &mut [String],
) -> Result<(), NotMeasured> {
    let mut redactor = Redactor::collective(rules.to_vec());
    let tocs: Vec<&Toc> = context.tocs.iter().collect();
    redactor.collect_with(export, &tocs);
    redactor.recording_with_ids(export)?;
    context.tocs.iter_mut().for_each(|toc| redactor.toc(toc));
    for (_, value) in &mut context.labels {
        *value = redactor.text(value);
    }
    for note in notes {
        *note = redactor.text(note);
    }
    Ok(())
}
