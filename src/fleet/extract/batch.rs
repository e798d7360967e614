//! Many exports, measured one by one: a broken one costs itself and nothing else.
//!
//! Workers read files in order (inputs.rs). Only the measures of an export stay in memory, so memory depends on the
//! number of workers and not on the number of files. Results do not depend on the speed of a worker: files that are
//! read at the same time share the memory, and a file that exceeds its part is read again alone.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::fleet::error::{FleetError, Result};
use crate::fleet::store::InputKind;
use crate::memory::OverBudget;
use crate::units::counted;

use super::duplicates::{Arrival, Duplicates};
use super::failure::duplicate;
use super::fleet_input::size_on_disk;
use super::measuring::Measuring;
use super::notes::Notes;
use super::outcome::{Finished, Keeper, Outcome, problem};
use super::settings::FleetSettings;
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::Task;

/// The length of an uncompressed export, judged by its name; a file with any other name may be an archive, whose length
/// does not describe its content.
fn plain_length(host: &dyn FleetHost, task: &Task) -> Option<u64> {
    let is_plain = task.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    host.state(&task.path).filter(|state| state.kind == InputKind::File && is_plain).map(|state| state.length)
}

/// The number of bytes to read.
pub(crate) fn total_bytes(host: &dyn FleetHost, tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| size_on_disk(host.files(), &task.path)).sum()
}

/// The end of a batch.
pub(crate) struct Ended {
    /// Files that are done.
    pub(crate) done: usize,
    /// Notes of all files.
    pub(crate) notes: Notes,
    /// With `--strict`: the first file, in order, that is reason to fail, and why.
    pub(crate) not_strict: Option<(usize, String)>,
}

/// Measures all files, until the end or an interruption.
pub(crate) fn run(
    tasks: &[Task],
    settings: &FleetSettings<'_>,
    host: &dyn FleetHost,
    keeper: &dyn Keeper,
) -> Result<Ended> {
    let duplicates = Duplicates::new(tasks.iter().map(|task| plain_length(host, task)).collect());
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
        files: Measuring::new(settings, host, keeper),
        next: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        most_waiting: host.memory_of_kept_file().limit().unwrap_or(u64::MAX),
        state: Mutex::new(state),
        less_waits: Condvar::new(),
    };
    // Separate threads, not rayon's: a thread that waits for its symbols must not begin another export.
    std::thread::scope(|scope| {
        for _ in 0..settings.options.jobs.min(tasks.len()) {
            scope.spawn(|| batch.work());
        }
    });
    host.end();
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
    is_stopped: AtomicBool,
    /// The number of bytes that may wait for an earlier file.
    most_waiting: u64,
    state: Mutex<State>,
    /// Notified when a file is done.
    less_waits: Condvar,
}

struct State {
    duplicates: Duplicates<Finished>,
    /// The number of files being read, and the number of bytes of results that wait for an earlier file.
    at_work: usize,
    waiting: u64,
    /// The most bytes that the runs of a file take, and the position of that file.
    largest: (u64, usize),
    done: usize,
    notes: Notes,
    /// By position: why `--strict` fails.
    problems: BTreeMap<usize, String>,
    error: Option<FleetError>,
}

/// A file in progress until this is dropped. A panic also drops it, since the other workers would otherwise wait
/// indefinitely.
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
                // A file without runs does not replace other files: each one has its own failure.
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

    /// Waits until there is space for another file next to the results that wait for an earlier file. The earlier file
    /// is being read, and waits for nothing. `None` if the batch has stopped.
    fn begin(&self) -> Option<AtWork<'_>> {
        let mut state = self.state();
        while state.at_work > 0 && state.waiting > self.most_waiting {
            state = self.less_waits.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.at_work += 1;
        drop(state);
        let place = AtWork(self);
        (self.files.host.may_begin() && !self.is_stopped.load(Ordering::SeqCst)).then_some(place)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file for which it is decided whether another file with the same content is used.
    fn keep(&self, arrival: Arrival<Finished>) {
        let Arrival { value: mut finished, first } = arrival;
        let (index, task) = (finished.index, &self.tasks[finished.index]);
        let first = first.filter(|&first| !self.is_known_duplicate(first, &finished.outcome));
        let first = first.map(|first| &self.tasks[first]);
        if let Some(first) = first {
            finished.outcome = Outcome::Failed(duplicate(self.files.host, task, &finished, first));
        }
        let unread = match finished.outcome {
            Outcome::Kept(_) => finished.state.map_or(0, |state| state.length),
            Outcome::Runs(_) | Outcome::Failed(_) => 0,
        };
        let problem = problem(&finished);
        let is_failed = finished.outcome.is_failed();
        let kept = self.files.keeper.keep(task, finished, first);
        self.files.host.add_file(unread, is_failed);
        let mut state = self.state();
        state.done += 1;
        if let Err(error) = kept {
            let error = self.explain(error, &state);
            state.error.get_or_insert(error);
            self.is_stopped.store(true, Ordering::SeqCst);
        }
        if let Some(problem) = problem.filter(|_| self.files.settings.options.is_strict) {
            state.problems.insert(index, problem);
            self.is_stopped.store(true, Ordering::SeqCst);
        }
    }

    /// True if the kept result of a file already names this file as the one in use.
    fn is_known_duplicate(&self, first: usize, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Kept(kept) if kept.is_failed && self.files.keeper.counts(first, kept))
    }

    /// Adds advice to the error if more is kept than there is memory for.
    fn explain(&self, error: FleetError, state: &State) -> FleetError {
        if error.find::<OverBudget>().is_none() {
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
