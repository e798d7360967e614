//! Many exports, measured one by one: a broken one costs itself and nothing else.
//!
//! Workers take files in their order (inputs.rs). Of an export only its measures stay, so memory follows the number of
//! workers and not of files. Results do not depend on which worker is faster: files that are read at the same time share the memory,
//! and one that there is not enough for is read again alone.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::{Error, Result};
use traceparse::memory::OverBudget;

use super::control::Control;
use super::duplicates::{Arrival, Duplicates};
use super::failure::duplicate;
use super::fleet_input::size_on_disk;
use super::measuring::Measuring;
use super::notes::{Notes, counted};
use super::outcome::{Finished, Keeper, Outcome, problem};
use super::settings::Settings;
use super::task::Task;
use crate::bounds;

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
        files: Measuring::new(settings, control, keeper),
        next: AtomicUsize::new(0),
        most_waiting: bounds::of_kept_file().limit().unwrap_or(u64::MAX),
        state: Mutex::new(state),
        less_waits: Condvar::new(),
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
    files: Measuring<'a>,
    next: AtomicUsize,
    /// The number of bytes that may wait for an earlier file.
    most_waiting: u64,
    state: Mutex<State>,
    /// Told when a file is done.
    less_waits: Condvar,
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
            let finished = self.files.process(index, task, &mut notes);
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
        self.files.control.may_begin().then_some(place)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file, of which it is known now whether another one with the same content counts.
    fn keep(&self, arrival: Arrival<Finished>) {
        let Arrival { value: mut finished, first } = arrival;
        let (index, task) = (finished.index, &self.tasks[finished.index]);
        let first = first.filter(|&first| !self.is_known_duplicate(first, &finished.outcome));
        let first = first.map(|first| &self.tasks[first]);
        if let Some(first) = first {
            finished.outcome = Outcome::Failed(duplicate(task, &finished, first));
        }
        let unread = match finished.outcome {
            Outcome::Kept(_) => finished.metadata.as_ref().map_or(0, Metadata::len),
            Outcome::Runs(_) | Outcome::Failed(_) => 0,
        };
        let problem = problem(&finished);
        let is_failed = finished.outcome.is_failed();
        let kept = self.files.keeper.keep(task, finished, first);
        self.files.control.progress.add_file(unread, is_failed);
        let mut state = self.state();
        state.done += 1;
        if let Err(error) = kept {
            let error = self.explain(error, &state);
            state.error.get_or_insert(error);
            self.files.control.stop();
        }
        if let Some(problem) = problem.filter(|_| self.files.settings.is_strict) {
            state.problems.insert(index, problem);
            self.files.control.stop();
        }
    }

    /// True if the result kept for a file says already that this other one counts.
    fn is_known_duplicate(&self, first: usize, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Kept(kept) if kept.is_failed && self.files.keeper.counts(first, kept))
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
}
