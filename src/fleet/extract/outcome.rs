//! The outcomes of files in a batch, the interface for storing them, and notes about many files: a sentence that applies to a thousand files
//! becomes one note.

use std::collections::BTreeMap;
use std::path::Path;

use super::fleet_input::size_on_disk;
use crate::fleet::error::Result;
use crate::fleet::fingerprint::of_unread;
use crate::fleet::host::FleetHost;
use crate::fleet::identity::{copy_reason, of_file};
use crate::fleet::inputs::Task;
use crate::fleet::store::InputState;
use crate::fleet::{FailedInput, FailureKind, NotMeasured, RunMeasures};
use crate::memory::MemoryBudget;
use crate::units::counted;
use blake3::Hash;

#[derive(Debug)]
pub(crate) enum Outcome {
    /// The runs of a file that was read.
    Runs(Vec<RunMeasures>),
    /// Why the file has no runs.
    Failed(FailedInput),
    /// The stored result of a file that was not read.
    Kept(Kept),
}

impl Outcome {
    /// True if the file has no run.
    pub(crate) fn is_failed(&self) -> bool {
        match self {
            Self::Runs(_) => false,
            Self::Failed(_) => true,
            Self::Kept(kept) => kept.is_failed,
        }
    }
}

/// A file that is done.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The index of its task.
    pub(crate) index: usize,
    /// The hash of the content, if known.
    pub(crate) content: Option<Hash>,
    /// The hash of the table of contents in the same archive.
    pub(crate) packed_toc: Option<Hash>,
    /// The state of the file when it was opened.
    pub(crate) state: Option<InputState>,
    pub(crate) outcome: Outcome,
}

impl Finished {
    /// The prefix of its run ids, if its content is known.
    pub(crate) fn run_id(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Runs(runs) => runs.first().map(|run| of_file(&run.record.run_id)),
            Outcome::Failed(failed) => failed.run_id.as_deref(),
            Outcome::Kept(kept) => kept.run_id.as_deref(),
        }
    }

    /// The approximate memory of its runs in bytes.
    pub(crate) fn memory(&self) -> u64 {
        match &self.outcome {
            Outcome::Runs(runs) => runs.iter().map(RunMeasures::memory).sum(),
            Outcome::Failed(_) | Outcome::Kept(_) => 0,
        }
    }
}

/// The stored result of a file, which makes reading it unnecessary.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) content: Hash,
    /// The prefix of its run ids.
    pub(crate) run_id: Option<String>,
    pub(crate) fingerprint: String,
    /// True if it has no run.
    pub(crate) is_failed: bool,
    /// The number of unreadable rows in its runs.
    pub(crate) rejected: u64,
    /// The number of damaged runs in the recording.
    pub(crate) unread_runs: u64,
}

/// Stores the measured runs.
pub(crate) trait Keeper: Sync {
    /// Returns the stored result of a file; `None` if the file must be read. Archives are decompressed within this memory budget.
    fn kept(&self, index: usize, task: &Task, state: &InputState, memory: &MemoryBudget) -> Option<Kept> {
        let _ = (index, task, state, memory);
        None
    }

    /// True if the stored result of a file without runs refers to `first` as the file to use instead.
    fn counts(&self, first: usize, kept: &Kept) -> bool {
        let _ = (first, kept);
        false
    }

    /// Stores the outcome of a file. For a copy, `first` is the earlier file with the same content.
    ///
    /// # Errors
    /// If storing fails. No more files are then started.
    fn keep(&self, task: &Task, finished: Finished, first: Option<&Task>) -> Result<()>;
}

/// Why a strict extract fails because of this file.
pub(crate) fn problem(finished: &Finished) -> Option<String> {
    match &finished.outcome {
        Outcome::Kept(kept) if kept.is_failed => Some("it still produces no run".to_owned()),
        Outcome::Kept(kept) => not_read(kept.unread_runs, kept.rejected),
        Outcome::Failed(failed) => Some(failed.reason.clone()),
        Outcome::Runs(runs) => {
            let unread_runs = runs.iter().map(|run| u64::from(run.record.unread_runs)).sum();
            not_read(unread_runs, runs.iter().map(|run| run.record.rejected).sum())
        }
    }
}

/// Describes what could not be read in a file with runs.
fn not_read(runs: u64, rows: u64) -> Option<String> {
    match (runs, rows) {
        (0, 0) => None,
        (0, 1) => Some("a row or value could not be read".to_owned()),
        (0, _) => Some(format!("{rows} rows or values could not be read")),
        (1, _) => Some("a run is damaged and could not be read".to_owned()),
        _ => Some(format!("{runs} runs are damaged and could not be read")),
    }
}

/// The failure for a file that was not measured.
pub(crate) fn failed(
    host: &dyn FleetHost,
    task: &Task,
    bytes: u64,
    run_id: Option<String>,
    fingerprint: String,
    refused: NotMeasured,
) -> FailedInput {
    let NotMeasured { kind, reason } = refused;
    let reason = host.redacted(&host.shown(without_path(&reason, &task.path)));
    let labels = task.labels.iter().map(|(name, value)| (name.clone(), host.redacted(value))).collect();
    FailedInput { source: task.display.clone(), source_bytes: bytes, run_id, fingerprint, kind, reason, labels }
}

/// Removes the file name from a reason, which is printed next to it. Keeps the path inside a recording.
pub(crate) fn without_path<'r>(reason: &'r str, path: &Path) -> &'r str {
    let rest = reason.strip_prefix(&*path.display().to_string());
    rest.and_then(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix('/'))).unwrap_or(reason)
}

/// The failure for a copy of an earlier file.
pub(crate) fn duplicate(host: &dyn FleetHost, task: &Task, finished: &Finished, first: &Task) -> FailedInput {
    let bytes = size_on_disk(host.files(), &task.path);
    let fingerprint = match &finished.outcome {
        Outcome::Runs(runs) => runs.first().map(|run| run.record.fingerprint.clone()),
        Outcome::Failed(failed) => Some(failed.fingerprint.clone()),
        Outcome::Kept(kept) => Some(kept.fingerprint.clone()),
    };
    let fingerprint = fingerprint.unwrap_or_else(|| of_unread(&task.display));
    let refused = NotMeasured { kind: FailureKind::Duplicate, reason: copy_reason(&first.display) };
    let failed = failed(host, task, bytes, finished.run_id().map(str::to_owned), fingerprint, refused);
    FailedInput { labels: Vec::new(), ..failed }
}

/// Sentences, and the files they apply to.
#[derive(Debug, Default)]
pub(crate) struct Notes(BTreeMap<String, About>);

#[derive(Debug)]
struct About {
    /// The index of the first file.
    index: usize,
    name: String,
    files: u64,
}

impl Notes {
    /// Adds the notes about a file.
    pub(crate) fn add(&mut self, index: usize, name: &str, sentences: Vec<String>) {
        for sentence in sentences {
            let new = || About { index, name: name.to_owned(), files: 0 };
            let about = self.0.entry(sentence).or_insert_with(new);
            about.files += 1;
            if index < about.index {
                (about.index, about.name) = (index, name.to_owned());
            }
        }
    }

    /// Returns one line per sentence, in the order of first files.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut notes: Vec<(&String, &About)> = self.0.iter().collect();
        notes.sort_by_key(|(sentence, about)| (about.index, *sentence));
        let line = |(sentence, about): (&String, &About)| match about.files {
            0 | 1 => format!("{}: {sentence}", about.name),
            files => format!("{} and {} more: {sentence}", about.name, files - 1),
        };
        notes.into_iter().map(line).collect()
    }
}

/// The maximum number of failures of one kind that are listed.
const NAMED_FAILURES: usize = 3;

/// Returns a sentence per failure, sorted by path. Failures of a common kind share a sentence.
pub(crate) fn of_failures<'f>(failures: impl Iterator<Item = &'f FailedInput>) -> Vec<String> {
    let mut failures: Vec<&FailedInput> = failures.collect();
    failures.sort_by(|a, b| a.source.cmp(&b.source));
    let of_kind = |kind: FailureKind| failures.iter().filter(move |failed| failed.kind == kind);
    let is_common = |kind: FailureKind| of_kind(kind).count() > NAMED_FAILURES;
    let rare = failures.iter().filter(|failed| !is_common(failed.kind));
    let mut sentences: Vec<String> = rare.map(|failed| format!("{}: {}", failed.source, failed.reason)).collect();
    for kind in FailureKind::ALL.into_iter().filter(|&kind| is_common(kind)) {
        if let Some(first) = of_kind(kind).next() {
            let (count, what) = (counted(of_kind(kind).count()), what_they_are(kind));
            sentences.push(format!("{count} files {what}, such as {}: {}", first.source, first.reason));
        }
    }
    sentences
}

const fn what_they_are(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Unreadable => "cannot be read",
        FailureKind::Empty => "are empty",
        FailureKind::NotAnExport => "are not exports",
        FailureKind::Truncated => "are truncated",
        FailureKind::Malformed => "are malformed",
        FailureKind::NoSamples => "have nothing to measure",
        FailureKind::NotSelected => "contain nothing that was selected",
        FailureKind::Duplicate => "are copies of others",
    }
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

    #[test]
    fn failures_of_a_kind_that_many_have_are_one_sentence() {
        let failed = |source: &str, kind| FailedInput {
            source: source.to_owned(),
            source_bytes: 0,
            run_id: None,
            fingerprint: String::new(),
            kind,
            reason: format!("why {source}"),
            labels: Vec::new(),
        };
        let mut failures: Vec<FailedInput> =
            ["d", "c", "b", "a"].iter().map(|source| failed(source, FailureKind::NotAnExport)).collect();
        failures.push(failed("e", FailureKind::Empty));
        assert_eq!(of_failures(failures.iter()), ["e: why e", "4 files are not exports, such as a: why a"]);
        assert_eq!(of_failures(failures[2..].iter()), ["a: why a", "b: why b", "e: why e"]);
    }

    #[test]
    fn one_sentence_about_many_files_is_one_line() {
        let mut notes = Notes::default();
        notes.add(2, "c.xml", vec!["no table".to_owned()]);
        notes.add(0, "a.xml", vec!["cut".to_owned(), "no table".to_owned()]);
        notes.add(1, "b.xml", vec!["no table".to_owned()]);
        assert_eq!(notes.lines(), ["a.xml: cut", "a.xml and 2 more: no table"]);
    }
}
