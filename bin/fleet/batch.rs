//! Many exports, measured one by one: a broken one costs itself and nothing else.
//!
//! Workers take files in their order (inputs.rs). Of an export only its measures stay, so memory follows the number of
//! workers and not of files. Results do not depend on which worker is faster: files that are read at the same time share the memory,
//! and one that there is not enough for is read again alone.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use anyhow::{Error, Result};
use blake3::Hash;
use traceparse::fleet::{FailedInput, FailureKind, RunContext, RunMeasures};
use traceparse::memory::{MemoryBudget, OverBudget};
use traceparse::recording::{DocumentContent, Options, Recording, Toc};
use traceparse::redact::Redactor;

use super::content::{read_file, unless_changed};
use super::control::Control;
use super::duplicates::{Arrival, Duplicates};
use super::fingerprint::{of_run, of_unread, short};
use super::fleet_input::{FleetInput, size_on_disk};
use super::narrowed::narrowed;
use super::notes::{Notes, counted};
use super::read_file::{ReadFile, Refused};
use super::settings::Settings;
use super::task::{Task, duplicate_reason};
use crate::redacted::Each;
use crate::unchanged::WatchedFiles;
use crate::{bounds, objects, redacted};

/// The length of an export that is not compressed, as far as its name tells; of any other name, it may be an archive, whose length says
/// nothing of what is in it.
fn plain_length(task: &Task) -> Option<u64> {
    let is_plain = task.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    std::fs::metadata(&task.path).ok().filter(|metadata| metadata.is_file() && is_plain).map(|it| it.len())
}

/// The number of bytes to read.
pub(super) fn total_bytes(tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| size_on_disk(&task.path)).sum()
}

/// The outcome of a file.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was read, and has these runs.
    Runs(Vec<RunMeasures>),
    /// It gave no run.
    Failed(FailedInput),
    /// It was not read: its result is kept already.
    Kept(Kept),
}

impl Outcome {
    /// True if the file gave no run.
    fn is_failed(&self) -> bool {
        match self {
            Self::Runs(_) => false,
            Self::Failed(_) => true,
            Self::Kept(kept) => kept.is_failed,
        }
    }
}

/// A file that is done.
#[derive(Debug)]
pub(super) struct Finished {
    /// The position of its task.
    pub(super) index: usize,
    /// The hash of its content, where that is known.
    pub(super) content: Option<Hash>,
    /// The metadata on disk when it was opened.
    pub(super) metadata: Option<Metadata>,
    pub(super) outcome: Outcome,
}

impl Finished {
    /// About how many bytes its runs take.
    fn memory(&self) -> u64 {
        match &self.outcome {
            Outcome::Runs(runs) => runs.iter().map(RunMeasures::memory).sum(),
            Outcome::Failed(_) | Outcome::Kept(_) => 0,
        }
    }
}

/// The result kept for a file, so that it need not be read.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) content: Hash,
    pub(super) fingerprint: String,
    /// True if it gave no run.
    pub(super) is_failed: bool,
    /// Rows of its runs that could not be read.
    pub(super) rejected: u64,
    /// Runs of the recording that are damaged.
    pub(super) unread_runs: u64,
}

/// Takes what was measured.
pub(super) trait Keeper: Sync {
    /// The result kept for a file; `None` means that the file must be read. Archives are inflated into this memory.
    fn kept(&self, index: usize, task: &Task, metadata: &Metadata, memory: &MemoryBudget) -> Option<Kept>;

    /// True if the result kept for a file that gave no run names this file as the one that counts.
    fn counts(&self, first: usize, kept: &Kept) -> bool;

    /// Keeps the outcome of a file. Of files with the same content, the first in order comes first.
    ///
    /// # Errors
    /// When it cannot be kept; no further file is then begun.
    fn keep(&self, task: &Task, finished: Finished) -> Result<()>;
}

/// The end of a batch.
pub(super) struct Ended {
    /// Files that are done.
    pub(super) done: usize,
    /// Notes of all files.
    pub(super) notes: Notes,
    /// With `--strict`: the first file, in order, that is reason to fail, and why.
    pub(super) not_strict: Option<(usize, String)>,
}

/// Measures all files, until the end or an interruption.
pub(super) fn run(tasks: &[Task], settings: &Settings<'_>, control: &Control, keeper: &dyn Keeper) -> Result<Ended> {
    let duplicates = Duplicates::new(tasks.iter().map(plain_length).collect());
    let state = State {
        duplicates,
        at_work: 0,
        waiting: 0,
        largest: (0, 0),
        done: 0,
        notes: Notes::default(),
        problems: BTreeMap::new(),
        error: None,
    };
    let batch = Batch {
        tasks,
        settings,
        control,
        keeper,
        next: AtomicUsize::new(0),
        most_waiting: bounds::of_kept_file().limit().unwrap_or(u64::MAX),
        state: Mutex::new(state),
        less_waits: Condvar::new(),
        alone: RwLock::new(()),
    };
    // Threads of their own, not rayon's: one that waits for its symbols must not begin a second export meanwhile.
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.min(tasks.len()) {
            scope.spawn(|| batch.work());
        }
    });
    control.progress.clear();
    let state = batch.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.error {
        Some(error) => Err(error),
        None => Ok(Ended { done: state.done, notes: state.notes, not_strict: state.problems.into_iter().next() }),
    }
}

struct Batch<'a> {
    tasks: &'a [Task],
    settings: &'a Settings<'a>,
    control: &'a Control,
    keeper: &'a dyn Keeper,
    next: AtomicUsize,
    /// The number of bytes that may wait for an earlier file.
    most_waiting: u64,
    state: Mutex<State>,
    /// Told when a file is done.
    less_waits: Condvar,
    /// Held for reading while working on a file beside others, and for writing by a job that needs all of the memory.
    alone: RwLock<()>,
}

struct State {
    duplicates: Duplicates<Finished>,
    /// The number of files being read, and the number of bytes of those that wait for an earlier one.
    at_work: usize,
    waiting: u64,
    /// The most bytes that the runs of a file take, and the position of that file.
    largest: (u64, usize),
    done: usize,
    notes: Notes,
    /// By position: why `--strict` fails.
    problems: BTreeMap<usize, String>,
    error: Option<Error>,
}

/// A file is worked on, until this is dropped, which a panic does, too: the other workers would wait for ever.
struct AtWork<'b>(&'b Batch<'b>);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.state().at_work -= 1;
        self.0.less_waits.notify_all();
    }
}

impl Batch<'_> {
    fn work(&self) {
        while let Some(place) = self.begin() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = self.tasks.get(index) else { return };
            let mut notes = Vec::new();
            let finished = self.process(index, task, &mut notes);
            let bytes = finished.memory();
            let arrived = {
                let mut state = self.state();
                state.notes.add(index, &task.display, notes);
                state.waiting += bytes;
                state.largest = state.largest.max((bytes, index));
                // Files that give no run stand for no other one: each has its own failure.
                let content = finished.content.filter(|_| !matches!(finished.outcome, Outcome::Failed(_)));
                let can_count = !finished.outcome.is_failed();
                let arrived = state.duplicates.arrive(index, content, can_count, finished);
                state.waiting -= arrived.iter().map(|arrival| arrival.value.memory()).sum::<u64>();
                arrived
            };
            drop(place);
            for arrival in arrived {
                self.keep(arrival);
            }
        }
    }

    /// Waits until there is room for another file beside those that wait for an earlier one. That earlier one is being read, and waits for
    /// nothing. `None` says that the batch is stopped.
    fn begin(&self) -> Option<AtWork<'_>> {
        let mut state = self.state();
        while state.at_work > 0 && state.waiting > self.most_waiting {
            state = self.less_waits.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.at_work += 1;
        drop(state);
        let place = AtWork(self);
        self.control.may_begin().then_some(place)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file, of which it is known now whether another one with the same content counts.
    fn keep(&self, arrival: Arrival<Finished>) {
        let Arrival { value: mut finished, first } = arrival;
        let (index, task) = (finished.index, &self.tasks[finished.index]);
        if let Some(first) = first.filter(|&first| !self.is_known_duplicate(first, &finished.outcome)) {
            let first = &self.tasks[first];
            finished.outcome = Outcome::Failed(duplicate(task, &finished, first));
        }
        let unread = match finished.outcome {
            Outcome::Kept(_) => finished.metadata.as_ref().map_or(0, Metadata::len),
            Outcome::Runs(_) | Outcome::Failed(_) => 0,
        };
        let problem = problem(&finished);
        let is_failed = finished.outcome.is_failed();
        let kept = self.keeper.keep(task, finished);
        self.control.progress.add_file(unread, is_failed);
        let mut state = self.state();
        state.done += 1;
        if let Err(error) = kept {
            let error = self.explain(error, &state);
            state.error.get_or_insert(error);
            self.control.stop();
        }
        if let Some(problem) = problem.filter(|_| self.settings.is_strict) {
            state.problems.insert(index, problem);
            self.control.stop();
        }
    }

    /// True if the result kept for a file says already that this other one counts.
    fn is_known_duplicate(&self, first: usize, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Kept(kept) if kept.is_failed && self.keeper.counts(first, kept))
    }

    /// Adds advice to the error if more is kept than there is memory for.
    fn explain(&self, error: Error, state: &State) -> Error {
        if !error.is::<OverBudget>() {
            return error;
        }
        let (bytes, index) = state.largest;
        let (done, all) = (counted(state.done), counted(self.tasks.len()));
        error.context(format!(
            "the measures of {done} of {all} files do not fit in the memory for a report (the most of one file: {bytes} bytes, of {}); use `fleet extract`, which keeps them on disk",
            self.tasks[index].display
        ))
    }

    /// Works on a file beside others; where they leave too little memory, alone with all of it. So what becomes of a file does not depend
    /// on the others.
    fn process(&self, index: usize, task: &Task, notes: &mut Vec<String>) -> Finished {
        let beside = [&task.toc, &task.intervals, &task.intervals_beside].into_iter().flatten();
        let _copies = match objects::Use::begin([&task.path].into_iter().chain(beside).map(PathBuf::as_path)) {
            Ok(copies) => copies,
            Err(error) => {
                let refused = Refused { kind: FailureKind::Unreadable, reason: error.to_string() };
                let outcome = Outcome::Failed(failed(task, 0, None, of_unread(&task.display), refused));
                return Finished { index, content: None, metadata: None, outcome };
            }
        };
        // A pipe can be read once only.
        if std::fs::metadata(&task.path).is_ok_and(|metadata| metadata.is_file() || metadata.is_dir()) {
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
            // With more memory it may be read, though nothing about it changed.
            failed.fingerprint = of_unread(&task.display);
        }
        finished
    }

    fn process_within(&self, memory: &MemoryBudget, index: usize, task: &Task, notes: &mut Vec<String>) -> Finished {
        let options = &Options { memory: memory.clone(), ..self.settings.read.clone() };
        let metadata = std::fs::metadata(&task.path).ok();
        let file = metadata.as_ref().filter(|metadata| metadata.is_file() || metadata.is_dir());
        if let Some(kept) = file.and_then(|metadata| self.keeper.kept(index, task, metadata, memory)) {
            let (content, outcome) = (Some(kept.content), Outcome::Kept(kept));
            return Finished { index, content, metadata, outcome };
        }
        let files = WatchedFiles::default();
        let input = FleetInput::open(&files, &task.path, memory);
        let read = input.and_then(|mut input| Ok((input.read(options, self.control)?, input)));
        let measured = read.map(|(read, input)| {
            let content = read.content;
            (content, self.measure(task, read, (&input, &files), options, notes))
        });
        // Of a recording, symbols are read last.
        match unless_changed(&files, &task.path, measured) {
            Ok((content, outcome)) => Finished { index, content: Some(content), metadata, outcome },
            Err(refused) => {
                let bytes = metadata.as_ref().map_or(0, Metadata::len);
                let outcome = Outcome::Failed(failed(task, bytes, None, of_unread(&task.display), refused));
                Finished { index, content: None, metadata, outcome }
            }
        }
    }

    /// From a file to its runs. The export is gone afterwards.
    fn measure(
        &self,
        task: &Task,
        file: ReadFile,
        (input, files): (&FleetInput<'_>, &WatchedFiles),
        options: &Options,
        notes: &mut Vec<String>,
    ) -> Outcome {
        let ReadFile { content, bytes, export } = file;
        let Beside { content: toc, tocs, export: _held } = self.beside(task, options, notes);
        let run_id = short(content);
        let intervals = self.settings.hash_of_intervals(task, &options.memory, self.control);
        let fingerprint = of_run(self.settings.fingerprint, content, [toc, intervals], task);
        let failed = |refused| Outcome::Failed(failed(task, bytes, Some(run_id.clone()), fingerprint.clone(), refused));
        let mut export = match export {
            Ok(export) => export,
            Err(refused) => return failed(refused),
        };
        notes.extend(said(&export, input.bundle()));
        if let Err(refused) = self.settings.symbols.name_frames(&mut export, input, notes) {
            return failed(refused);
        }
        let mut context = RunContext {
            run_id: run_id.clone(),
            fingerprint: fingerprint.clone(),
            source: task.display.clone(),
            source_bytes: bytes,
            labels: task.labels.clone(),
            run_weight: task.run_weight,
            duration: task.duration,
            tocs,
        };
        let mut measure = self.settings.measure.clone();
        if let Some(asked) = &self.settings.intervals {
            match asked.of(task, (&export, input), files, options, notes) {
                Ok(filter) => measure.selection.intervals = Some(filter),
                Err(refused) => return failed(refused),
            }
        }
        let operations = self.settings.operations.operations(&export.profile, false);
        if let Some(each) = redacted::each()
            && let Err(refused) = redact(each, &mut export, &mut context, notes)
        {
            return failed(refused);
        }
        let measured = match export.measure_operated(&context, &measure, &operations) {
            Ok(measured) => measured,
            Err(refused) => return failed(Refused { kind: refused.kind, reason: refused.reason }),
        };
        let measured = match &self.settings.threads {
            None => measured,
            Some(threads) => match narrowed(measured, threads) {
                Ok(measured) => measured,
                Err(refused) => return failed(refused),
            },
        };
        let bytes = measured.runs.iter().map(RunMeasures::memory).sum();
        if let Err(over) = bounds::of_kept_file().reserve(bytes) {
            let reason = format!("its functions and names take too much memory: {over}");
            return failed(Refused { kind: FailureKind::Malformed, reason });
        }
        notes.extend(measured.notes);
        let mut runs = measured.runs;
        for run in &mut runs {
            run.record.has_toc_beside = task.toc.is_some();
            run.record.manifest_labels = task.is_described.then(|| task.labels.clone());
        }
        Outcome::Runs(runs)
    }

    /// The tables of contents beside an export.
    fn beside(&self, task: &Task, options: &Options, notes: &mut Vec<String>) -> Beside {
        let Some(path) = &task.toc else { return Beside::default() };
        let (content, read) = match read_file(path, options, self.control) {
            Ok(ReadFile { content, export, .. }) => (Some(content), export),
            Err(refused) => (None, Err(refused)),
        };
        match read {
            Ok(mut export) => {
                let tocs =
                    std::mem::take(&mut export.documents).into_iter().filter_map(|document| match document.content {
                        DocumentContent::Toc(toc) => Some(toc),
                        DocumentContent::Tables(_) => None,
                    });
                Beside { content, tocs: tocs.collect(), export: Some(export) }
            }
            Err(Refused { reason, .. }) => {
                notes.push(format!("the table of contents {} cannot be used: {reason}", path.display()));
                Beside { content, ..Beside::default() }
            }
        }
    }
}

/// Replaces the names of a recording, of its tables of contents and in what is said of it. Functions that operations chose stay those.
fn redact(each: &Each, export: &mut Recording, context: &mut RunContext, notes: &mut [String]) -> Result<(), Refused> {
    let mut redactor = Redactor::collective(each.rules.clone());
    let tocs: Vec<&Toc> = context.tocs.iter().collect();
    redactor.collect_with(export, &tocs);
    redactor
        .recording_with_ids(export)
        .map_err(|error| Refused { kind: FailureKind::Malformed, reason: error.to_string() })?;
    context.tocs.iter_mut().for_each(|toc| redactor.toc(toc));
    for (_, value) in &mut context.labels {
        *value = redactor.text(value);
    }
    for note in notes {
        *note = redactor.text(note);
    }
    Ok(())
}

/// The contents of a file beside an export.
#[derive(Default)]
struct Beside {
    /// The hash of the file.
    content: Option<Hash>,
    tocs: Vec<Toc>,
    /// The export that holds the memory that they take.
    export: Option<Recording>,
}

/// The reader's notes. A note stands beside the name of its file, so the name of a recording is left out, and recordings with the same note
/// share it.
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
    diagnostics.chain(cut.map(|byte| format!("the file is truncated at byte {byte}; only complete rows count")))
}

/// The reason why `--strict` fails for a file.
fn problem(finished: &Finished) -> Option<String> {
    match &finished.outcome {
        Outcome::Kept(kept) if kept.is_failed => Some("it gives no run, as before".to_owned()),
        Outcome::Kept(kept) => not_read(kept.unread_runs, kept.rejected),
        Outcome::Failed(failed) => Some(failed.reason.clone()),
        Outcome::Runs(runs) => {
            let unread_runs = runs.iter().filter_map(|run| run.record.unread_runs).map(u64::from).sum();
            not_read(unread_runs, runs.iter().map(|run| run.record.rejected).sum())
        }
    }
}

/// The part of a file with runs that could not be read.
fn not_read(runs: u64, rows: u64) -> Option<String> {
    match (runs, rows) {
        (0, 0) => None,
        (0, 1) => Some("a row could not be read".to_owned()),
        (0, _) => Some(format!("{rows} rows could not be read")),
        (1, _) => Some("a run is damaged and could not be read".to_owned()),
        _ => Some(format!("{runs} runs are damaged and could not be read")),
    }
}

fn failed(task: &Task, bytes: u64, run_id: Option<String>, fingerprint: String, refused: Refused) -> FailedInput {
    let Refused { kind, reason } = refused;
    let reason = redacted::shown(&objects::shown(without_path(&reason, &task.path))).into_owned();
    let labels = task.labels.clone();
    FailedInput { source: task.display.clone(), source_bytes: bytes, run_id, fingerprint, kind, reason, labels }
}

/// A reason stands beside the name of its file, and does not repeat it; of a file in a recording it keeps the path there.
fn without_path<'r>(reason: &'r str, path: &Path) -> &'r str {
    let rest = reason.strip_prefix(&*path.display().to_string());
    rest.and_then(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix('/'))).unwrap_or(reason)
}

fn duplicate(task: &Task, finished: &Finished, first: &Task) -> FailedInput {
    let bytes = size_on_disk(&task.path);
    let fingerprint = match &finished.outcome {
        Outcome::Runs(runs) => runs.first().map(|run| run.record.fingerprint.clone()),
        Outcome::Failed(failed) => Some(failed.fingerprint.clone()),
        Outcome::Kept(kept) => Some(kept.fingerprint.clone()),
    };
    let reason = duplicate_reason(&task.labels, &first.display, &first.labels);
    let fingerprint = fingerprint.unwrap_or_else(|| of_unread(&task.display));
    failed(task, bytes, finished.content.map(short), fingerprint, Refused { kind: FailureKind::Duplicate, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_does_not_repeat_its_file() {
        let path = Path::new("runs/a.trace");
        for (reason, shown) in [
            ("runs/a.trace: it is empty", "it is empty"),
            ("runs/a.trace/form.template: trailer at 0x7b0", "form.template: trailer at 0x7b0"),
            ("runs/a.trace.zip: it is empty", "runs/a.trace.zip: it is empty"),
            ("it is empty", "it is empty"),
        ] {
            assert_eq!(without_path(reason, path), shown);
        }
    }
}
