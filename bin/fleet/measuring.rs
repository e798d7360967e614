//! From a file of a batch to its runs.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use traceparse::fleet::{FailureKind, RunContext, RunMeasures};
use traceparse::memory::MemoryBudget;
use traceparse::recording::{Options, Recording};

use super::beside::Beside;
use super::content::unless_changed;
use super::control::Control;
use super::failure::failed;
use super::fingerprint::{of_run, of_unread, short};
use super::fleet_input::FleetInput;
use super::narrowed::narrowed;
use super::outcome::{Finished, Keeper, Outcome};
use super::read_file::{ReadFile, Refused};
use super::redaction::redact;
use super::settings::Settings;
use super::task::Task;
use crate::unchanged::WatchedFiles;
use crate::{bounds, objects, redacted};

/// What every file of a batch is measured with.
pub(super) struct Measuring<'a> {
    pub(super) settings: &'a Settings<'a>,
    pub(super) control: &'a Control,
    pub(super) keeper: &'a dyn Keeper,
    /// Held for reading while working on a file beside others, and for writing by a job that needs all of the memory.
    alone: RwLock<()>,
}

impl<'a> Measuring<'a> {
    pub(super) const fn new(settings: &'a Settings<'a>, control: &'a Control, keeper: &'a dyn Keeper) -> Self {
        Self { settings, control, keeper, alone: RwLock::new(()) }
    }

    /// Works on a file beside others; where they leave too little memory, alone with all of it. So what becomes of a file does not depend
    /// on the others.
    pub(super) fn process(&self, index: usize, task: &Task, notes: &mut Vec<String>) -> Finished {
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
        let Beside { content: toc, tocs, export: _held } = Beside::read(task, options, self.control, notes);
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
            run.record.manifest_labels = task.is_described.then(|| context.labels.clone());
        }
        Outcome::Runs(runs)
    }
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
