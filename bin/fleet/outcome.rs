//! The outcome of a file of a batch, and who keeps it.

use std::fs::Metadata;

use anyhow::Result;
use blake3::Hash;
use traceparse::fleet::{FailedInput, RunMeasures};
use traceparse::memory::MemoryBudget;

use super::task::Task;

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
    pub(super) fn is_failed(&self) -> bool {
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
    pub(super) fn memory(&self) -> u64 {
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

    /// Keeps the outcome of a file; `first` is the file before it with the same content, if it has one.
    ///
    /// # Errors
    /// When it cannot be kept; no further file is then begun.
    fn keep(&self, task: &Task, finished: Finished, first: Option<&Task>) -> Result<()>;
}

/// The reason why `--strict` fails for a file.
pub(super) fn problem(finished: &Finished) -> Option<String> {
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
