//! Measures exports one by one, so that a broken export does not affect the others.
//!
//! Workers take files in order (inputs.rs). Only the measures of an export stay in memory, so memory depends on the number of workers, not of
//! files. Results do not depend on timing: files that are read in parallel share the memory, and a file that exceeds its share is read again,
//! alone.
//!
//! If there are several copies, the first file in order is used, not the first one read. Files of different lengths have different contents, so a
//! file waits only for earlier files of its length. The length of a compressed file is unknown; if there is one, all files wait.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::fleet_input::size_on_disk;
use super::measuring::Measuring;
use super::outcome::{Finished, Keeper, Notes, Outcome, duplicate, problem};
use super::settings::FleetSettings;
use crate::fleet::error::{FleetError, Result};
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::Task;
use crate::fleet::store::InputKind;
use crate::memory::OverBudget;
use crate::units::counted;

/// The length of an uncompressed export; `None` unless the file name shows that it is one. Other files may be archives, whose length does not
/// indicate the size of their content.
fn plain_length(host: &dyn FleetHost, task: &Task) -> Option<u64> {
    let is_plain = task.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    host.state(&task.path).filter(|state| state.kind == InputKind::File && is_plain).map(|state| state.length)
}

/// The total number of bytes to read.
pub(crate) fn total_bytes(host: &dyn FleetHost, tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| size_on_disk(host.files(), &task.path)).sum()
}

/// The result of a batch.
pub(crate) struct Ended {
    /// The number of files that are done.
    pub(crate) done: usize,
    pub(crate) notes: Notes,
    /// If strict, the first file in order that makes the extract fail, and why.
    pub(crate) not_strict: Option<(usize, String)>,
}

/// Measures all files, until they are done or the batch is interrupted.
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
    // Plain threads instead of a rayon pool: while it waits for symbols, a rayon thread might start another export.
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
    /// The maximum number of bytes waiting for an earlier file.
    most_waiting: u64,
    state: Mutex<State>,
    /// Notified when a file is done.
    less_waits: Condvar,
}

struct State {
    duplicates: Duplicates<Finished>,
    /// The number of files being read, and the bytes of results waiting for an earlier file.
    at_work: usize,
    waiting: u64,
    /// The most bytes used by the runs of one file, and the position of that file.
    largest: (u64, usize),
    done: usize,
    notes: Notes,
    /// Why a strict extract fails, by position.
    problems: BTreeMap<usize, String>,
    error: Option<FleetError>,
}

/// Marks a file as in progress until it is dropped, even by a panic: the other workers would otherwise wait forever.
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
                // A file without runs is never an original, since each has its own failure.
                let run_id = finished.run_id().filter(|_| !matches!(finished.outcome, Outcome::Failed(_)));
                let run_id = run_id.map(str::to_owned);
                let can_count = !finished.outcome.is_failed();
                let arrived = state.duplicates.arrive(index, run_id, can_count, finished);
                state.waiting -= arrived.iter().map(|arrival| arrival.value.memory()).sum::<u64>();
                arrived
            };
            drop(place);
            for arrival in arrived {
                self.keep(arrival);
            }
        }
    }

    /// Waits until there is memory for another file, in addition to results waiting for an earlier one. This cannot deadlock, since the earlier
    /// file is being read and waits for nothing. `None` if the batch was stopped.
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

    /// Keeps a file as soon as it is decided whether another copy is used instead.
    fn keep(&self, arrival: Arrival<Finished>) {
        let Arrival { value: mut finished, first } = arrival;
        let (index, task) = (finished.index, &self.tasks[finished.index]);
        // The stored result may already refer to that file.
        let is_known = |first: &usize| {
            let keeper = self.files.keeper;
            matches!(&finished.outcome, Outcome::Kept(kept) if kept.is_failed && keeper.counts(*first, kept))
        };
        let first = first.filter(|first| !is_known(first));
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

    /// Adds advice to an error about memory for kept results.
    fn explain(&self, error: FleetError, state: &State) -> FleetError {
        if error.find::<OverBudget>().is_none() {
            return error;
        }
        let (bytes, index) = state.largest;
        let (done, all) = (counted(state.done), counted(self.tasks.len()));
        error.context(format!(
            "the measures of {done} of {all} files do not fit in the memory for a report (the largest: {bytes} \
             bytes, from {}); use `fleet extract`, which keeps them on disk",
            self.tasks[index].display
        ))
    }
}

/// Restores the order of files that may be copies of each other.
pub(super) struct Duplicates<T> {
    /// By position: the group of files with the same length.
    group_of: Vec<usize>,
    groups: Vec<Group<T>>,
    /// The first file with each run id.
    firsts: HashMap<String, usize>,
}

struct Group<T> {
    /// Files that have not been passed on, in order.
    open: VecDeque<usize>,
    /// Files that have arrived and wait: the run id, and whether the file can be an original.
    waiting: HashMap<usize, (Option<String>, bool, T)>,
}

/// A file that is passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arrival<T> {
    pub(super) value: T,
    /// The earlier file that this one is a copy of.
    pub(super) first: Option<usize>,
}

impl<T> Duplicates<T> {
    /// Creates the state for files with these decompressed lengths. If any is unknown (`None`), all lengths are ignored.
    pub(super) fn new(mut lengths: Vec<Option<u64>>) -> Self {
        if lengths.contains(&None) {
            lengths.fill(None);
        }
        let mut groups: Vec<Group<T>> = Vec::new();
        let mut by_length: HashMap<Option<u64>, usize> = HashMap::new();
        let group_of = lengths.into_iter().enumerate().map(|(index, length)| {
            let group = *by_length.entry(length).or_insert_with(|| {
                groups.push(Group { open: VecDeque::new(), waiting: HashMap::new() });
                groups.len() - 1
            });
            groups[group].open.push_back(index);
            group
        });
        Self { group_of: group_of.collect(), groups, firsts: HashMap::new() }
    }

    /// Adds a file that was read. Returns the files that no longer have to wait. `run_id` is `None` if the file must not be compared with others.
    /// A file without runs does not replace another one.
    pub(super) fn arrive(
        &mut self,
        index: usize,
        run_id: Option<String>,
        can_count: bool,
        value: T,
    ) -> Vec<Arrival<T>> {
        let group = &mut self.groups[self.group_of[index]];
        group.waiting.insert(index, (run_id, can_count, value));
        let mut arrivals = Vec::new();
        while let Some(&front) = group.open.front() {
            let Some((run_id, can_count, value)) = group.waiting.remove(&front) else { break };
            group.open.pop_front();
            let first = run_id.and_then(|run_id| {
                let first = self.firsts.get(&run_id).copied();
                if first.is_none() && can_count {
                    self.firsts.insert(run_id, front);
                }
                first
            });
            arrivals.push(Arrival { value, first });
        }
        arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which files with these lengths and contents are passed on when read in `order`.
    fn arrivals(files: &[(u64, Option<&str>)], order: &[usize]) -> Vec<(usize, Option<usize>)> {
        let mut duplicates = Duplicates::new(files.iter().map(|(length, _)| Some(*length)).collect());
        let arrive =
            order.iter().flat_map(|&index| duplicates.arrive(index, files[index].1.map(str::to_owned), true, index));
        arrive.map(|arrival| (arrival.value, arrival.first)).collect()
    }

    #[test]
    fn the_first_by_position_counts() {
        let files = [(7, Some("a")), (7, Some("b")), (9, Some("c")), (7, Some("a")), (7, Some("b"))];
        let expected = [(0, None), (1, None), (2, None), (3, Some(0)), (4, Some(1))];
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [3, 0, 4, 2, 1]] {
            let mut arrived = arrivals(&files, &order);
            assert_eq!(arrived.len(), files.len());
            arrived.sort_unstable();
            assert_eq!(arrived, expected, "{order:?}");
        }
    }

    #[test]
    fn only_files_of_one_length_wait() {
        let files = [(7, Some("a")), (8, Some("b")), (7, Some("a"))];
        assert_eq!(arrivals(&files, &[1]), [(1, None)]);
        assert_eq!(arrivals(&files, &[2]), []);
        assert_eq!(arrivals(&files, &[2, 0]), [(0, None), (2, Some(0))]);
    }

    #[test]
    fn files_without_run_id_replace_no_other() {
        assert_eq!(arrivals(&[(0, None), (0, None)], &[1, 0]), [(0, None), (1, None)]);
        assert_eq!(arrivals(&[(7, None), (7, Some("a"))], &[0, 1]), [(0, None), (1, None)]);
    }

    #[test]
    fn files_that_cannot_count_learn_which_one_does() {
        let mut duplicates = Duplicates::new(vec![Some(7); 4]);
        let firsts: Vec<Option<usize>> = [false, true, false, true]
            .iter()
            .enumerate()
            .flat_map(|(index, &can_count)| duplicates.arrive(index, Some("a".to_owned()), can_count, index))
            .map(|arrival| arrival.first)
            .collect();
        assert_eq!(firsts, [None, None, Some(1), Some(1)]);
    }
}
