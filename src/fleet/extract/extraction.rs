//! Finds the exports that a dataset already contains, and adds the others.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fleet_input::InputHashes;
use super::outcome::{Finished, Keeper, Kept, Outcome};
use super::settings::FleetSettings;
use crate::fleet::error::Result;
use crate::fleet::fingerprint::short;
use crate::fleet::host::FleetHost;
use crate::fleet::identity::{content, copy_reason, of_file};
use crate::fleet::inputs::Task;
use crate::fleet::store::{InputState, Known, MadeWith, SourceStamps, SourceSum, Store};
use crate::fleet::{DatasetRow, DatasetTable, FailedInput, FailureKind, RunMeasures, RunRecord};
use crate::memory::MemoryBudget;
use blake3::Hash;
use rayon::prelude::*;

/// The dataset to which workers add runs.
pub(super) struct Extraction<'a> {
    store: &'a Store,
    tasks: &'a [Task],
    settings: &'a FleetSettings<'a>,
    host: &'a dyn FleetHost,
    /// The exports in the dataset, by path.
    known: HashMap<String, Known>,
    /// For each run id, the export that supplies the run, and its index if it is one of the tasks.
    counting: HashMap<String, (String, Option<usize>)>,
    /// For each run id, the copies that are not among the tasks.
    copies: HashMap<String, Vec<String>>,
    /// By task: the result of comparing its file's size and time.
    unread: Vec<Unread>,
    /// By run: the keys of its labels in the dataset. Empty if labels cannot change.
    label_keys: HashMap<String, BTreeSet<String>>,
    state: Mutex<State>,
    /// When stamps were last saved, and how long it took.
    saved: Mutex<(Instant, Duration)>,
}

/// Saving stamps may take at most 1/20 of the time.
const SHARE: u32 = 20;

/// How often buffered rows are checked for writing.
const INTERVAL: Duration = Duration::from_millis(250);

struct State {
    stamps: SourceStamps,
    counts: Counts,
    /// The number of up-to-date files: those outside the tasks, and finished tasks.
    done: usize,
}

/// The outcomes of all files.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The number of files whose runs are new in the dataset.
    pub(super) new: usize,
    /// The number of files whose old runs in the dataset were replaced.
    pub(super) changed: usize,
    /// The number of files whose runs were up to date.
    pub(super) unchanged: usize,
    /// The number of files without runs, including earlier failures.
    pub(super) failed: usize,
    /// The failures of files read now.
    pub(super) new_failures: Vec<FailedInput>,
    /// The number of runs with fewer labels than before.
    pub(super) runs_that_lose_labels: usize,
    /// The labels that they lose.
    pub(super) lost_labels: BTreeSet<String>,
}

/// Whether the dataset is up to date for a file, judged without opening it.
#[derive(Clone, Debug)]
enum Unread {
    /// Unknown: the file must be hashed.
    Unknown,
    /// Up to date: the file would produce the result in the dataset.
    Kept(Kept),
    /// Outdated: the result in the dataset is from other content, another manifest or other options.
    Stale,
}

impl<'a> Extraction<'a> {
    /// Compares the files with the dataset.
    pub(super) fn new(
        store: &'a Store,
        tasks: &'a [Task],
        settings: &'a FleetSettings<'a>,
        host: &'a dyn FleetHost,
    ) -> Result<Self> {
        let (known, stamps) = (store.known()?, store.stamps());
        let position: HashMap<&str, usize> =
            tasks.iter().enumerate().map(|(index, task)| (task.display.as_str(), index)).collect();
        let counting = known.iter().filter(|(_, known)| !known.is_failed).flat_map(|(source, known)| {
            let place = (source.clone(), position.get(source.as_str()).copied());
            known.run_id().map(|run| (run.to_owned(), place))
        });
        let others = known.iter().filter(|(source, _)| !position.contains_key(source.as_str()));
        let mut copies: HashMap<String, Vec<String>> = HashMap::new();
        for (source, run) in
            others.clone().filter_map(|(source, known)| Some((source, known.run_id().filter(|_| known.is_failed)?)))
        {
            copies.entry(run.to_owned()).or_default().push(source.clone());
        }
        let others = others.count();
        let state = Mutex::new(State { stamps, counts: Counts::default(), done: others });
        let counting = counting.collect();
        let (unread, label_keys) = (Vec::new(), HashMap::new());
        let saved = Mutex::new((Instant::now(), Duration::ZERO));
        let mut this = Self { store, tasks, settings, host, known, counting, copies, unread, label_keys, state, saved };
        this.unread = tasks.par_iter().map(|task| this.look(task)).collect();
        if !this.known.is_empty() && this.unread.iter().any(|unread| !matches!(unread, Unread::Kept(_))) {
            this.label_keys = store.label_keys()?;
        }
        Ok(this)
    }

    /// Returns the outcomes if the dataset is up to date for all files.
    pub(super) fn unchanged(&self) -> Option<Counts> {
        let kept = |(index, task): (usize, &Task)| {
            let state = self.host.state(&task.path)?;
            self.kept(index, task, &state, &self.settings.memory)
        };
        let kept: Vec<Kept> = self.tasks.par_iter().enumerate().map(kept).collect::<Option<_>>()?;
        let failed = kept.iter().filter(|kept| kept.is_failed).count();
        Some(Counts { unchanged: kept.len() - failed, failed, ..Counts::default() })
    }

    /// Records how many files the dataset should contain, and how many it contains already.
    pub(super) fn begin(&self, made_with: MadeWith) -> Result<()> {
        let mut state = self.state();
        let mut owed = self.store.owed()?;
        let named: HashSet<&str> = self.tasks.iter().map(|task| task.display.as_str()).collect();
        let of_others = owed.iter().filter(|source| !named.contains(source.as_str())).count();
        let expected = state.done + self.tasks.len() + of_others;
        let open = self.tasks.iter().zip(&self.unread).filter(|(_, unread)| !matches!(unread, Unread::Kept(_)));
        owed.extend(open.map(|(task, _)| task.display.clone()));
        self.store.note_owed(&owed)?;
        state.done += self.unread.iter().filter(|unread| is_done(unread)).count();
        let new =
            self.tasks.iter().map(|task| task.display.as_str()).filter(|source| !self.known.contains_key(*source));
        self.store.expect(SourceSum::of(self.known.keys().map(String::as_str)), SourceSum::of(new));
        self.store.begin(expected, state.done, made_with)
    }

    /// Compares a file with the dataset by its size and time.
    fn look(&self, task: &Task) -> Unread {
        let state = self.host.state(&task.path);
        let Some((known, state)) = self.known.get(&task.display).zip(state) else { return Unread::Unknown };
        let Some(hashes) = self.stamped(&task.display, &state) else { return Unread::Unknown };
        match self.kept_as(task, hashes, known, &self.settings.memory) {
            Some(kept) => Unread::Kept(kept),
            None => Unread::Stale,
        }
    }

    /// The hashes of a file whose size and time are unchanged.
    fn stamped(&self, source: &str, input: &InputState) -> Option<InputHashes> {
        InputHashes::from_text(self.state().stamps.hash(source, input)?)
    }

    /// The result in the dataset, if a file with these hashes would produce it again.
    fn kept_as(&self, task: &Task, hashes: InputHashes, known: &Known, memory: &MemoryBudget) -> Option<Kept> {
        let fingerprint = self.settings.fingerprint_of(task, hashes, self.host, memory);
        let content = hashes.content;
        let &Known { is_failed, rejected, unread_runs, .. } = known;
        let run_id = known.run_id().map(str::to_owned);
        (fingerprint == known.fingerprint).then_some(Kept {
            content,
            run_id,
            fingerprint,
            is_failed,
            rejected,
            unread_runs,
        })
    }

    /// Removes all outdated rows at once. Removing them one by one would rewrite a large data file each time.
    pub(super) fn forget_stale(&self) -> Result<()> {
        let stale = self.tasks.iter().zip(&self.unread).filter(|(_, unread)| matches!(unread, Unread::Stale));
        // Keep the rows of files that are unreadable now.
        let stale = stale.filter(|(task, _)| self.host.files().open(&task.path).is_ok());
        let sources: HashSet<String> = stale.map(|(task, _)| task.display.clone()).collect();
        if sources.is_empty() { Ok(()) } else { self.store.forget(&sources) }
    }

    /// Adds runs to the dataset. If a number does not fit in a table, only this file becomes a failure.
    fn put(&self, mut runs: Vec<RunMeasures>) -> Result<Outcome> {
        for run in runs.iter_mut().filter(|run| !run.histograms.is_empty()) {
            run.record.notes.push(WITHOUT_BINS.to_owned());
        }
        let too_large = runs.iter().find_map(|run| DatasetTable::check(run).err());
        match (too_large, runs.first().map(|run| &run.record)) {
            (Some(error), Some(record)) => {
                Ok(Outcome::Failed(record.failure(FailureKind::Malformed, error.to_string())))
            }
            _ => {
                self.store.put(runs)?;
                Ok(Outcome::Runs(Vec::new()))
            }
        }
    }

    /// Adds runs to the dataset, unless the file is a copy of an earlier file there that is not among the tasks. The result is the same as from
    /// one extract of both files. If the earlier file no longer exists, the runs move to this one.
    fn put_first(&self, task: &Task, runs: Vec<RunMeasures>) -> Result<Outcome> {
        let Some(record) = runs.first().map(|run| &run.record) else { return self.put(runs) };
        let run_id = of_file(&record.run_id).to_owned();
        let other = self.other(&run_id)?;
        if let Some(first) = other.as_ref().filter(|first| first.source < task.display) {
            return Ok(Outcome::Failed(record.copy_of(&first.source)));
        }
        let outcome = self.put(runs)?;
        if matches!(outcome, Outcome::Runs(_)) {
            if let Some(other) = other {
                self.store.put_failure(&other.copy_of(&task.display))?;
            }
            self.name_in_copies(&run_id, &copy_reason(&task.display))?;
        }
        Ok(outcome)
    }

    /// Makes copies that are not among the tasks refer to the file that is now used.
    fn name_in_copies(&self, run_id: &str, reason: &str) -> Result<()> {
        for copy in self.copies.get(run_id).into_iter().flatten() {
            if let Some(DatasetRow::Failed(failed)) = self.store.row(copy)?
                && failed.kind == FailureKind::Duplicate
            {
                self.store.put_failure(&FailedInput { reason: reason.to_owned(), ..failed })?;
            }
        }
        Ok(())
    }

    /// The dataset's run of a file outside the tasks, if the file still has this content.
    fn other(&self, run_id: &str) -> Result<Option<RunRecord>> {
        let Some((source, None)) = self.counting.get(run_id) else { return Ok(None) };
        let Some(state) = self.host.state(Path::new(source)) else { return Ok(None) };
        let stamped = self.stamped(source, &state);
        let hashes = || InputHashes::of(Path::new(source), &self.settings.memory, self.host).ok();
        match stamped.or_else(hashes).is_some_and(|hashes| short(hashes.content) == content(run_id)) {
            true => match self.store.row(source)? {
                Some(DatasetRow::Run(record)) => Ok(Some(*record)),
                Some(DatasetRow::Failed(_)) | None => Ok(None),
            },
            false => Ok(None),
        }
    }

    /// If `failed` is a copy of `first`, but an earlier file in the dataset that is not among the tasks is used, refers to that one instead. This
    /// is decided again here, since `first` may not have been added yet.
    fn name_first(&self, mut failed: FailedInput, first: Option<&Task>) -> Result<FailedInput> {
        if let (Some(first), Some(run_id)) = (first, failed.run_id.as_deref())
            && let Some(other) = self.other(run_id)?.filter(|other| other.source < first.display)
        {
            failed.reason = copy_reason(&other.source);
        }
        Ok(failed)
    }

    /// True if a file that has no runs because it is a copy would still have none.
    fn is_still_duplicate(&self, index: usize, kept: &Kept, memory: &MemoryBudget) -> bool {
        match kept.run_id.as_ref().and_then(|run_id| self.counting.get(run_id)) {
            // The file itself failed, or the original is not among the tasks and stays in the dataset.
            None | Some((_, None)) => true,
            Some((_, Some(first))) => *first < index && self.is_as_before(*first, kept.content, memory),
        }
    }

    /// True if a file has this content and the dataset is up to date for it.
    fn is_as_before(&self, index: usize, content: Hash, memory: &MemoryBudget) -> bool {
        let task = &self.tasks[index];
        match (&self.unread[index], self.known.get(&task.display)) {
            (Unread::Kept(kept), _) => kept.content == content,
            (Unread::Unknown, Some(known)) => {
                let found = InputHashes::of(&task.path, memory, self.host).ok();
                let found = found.filter(|hashes| hashes.content == content);
                found.is_some_and(|hashes| self.kept_as(task, hashes, known, memory).is_some())
            }
            _ => false,
        }
    }

    /// The number of runs with fewer labels than in the dataset, where they were measured with other settings, and the keys of the lost labels.
    fn lost_labels(&self, task: &Task, runs: &[RunMeasures]) -> (usize, BTreeSet<String>) {
        let known = self.known.get(&task.display).filter(|known| !known.is_failed);
        let of_file: BTreeSet<&String> = known.into_iter().flat_map(|known| &known.run_ids).collect();
        let (mut losing, mut all) = (0, BTreeSet::new());
        for run in runs {
            // Also look up the content, since the file may have been moved.
            let before = of_file.iter().copied().chain([&run.record.run_id]);
            let keys = before.filter_map(|id| self.label_keys.get(id)).flatten();
            let has: HashSet<&String> = run.record.labels.iter().map(|(key, _)| key).collect();
            let lost: Vec<&String> = keys.filter(|key| !has.contains(key)).collect();
            losing += usize::from(!lost.is_empty());
            all.extend(lost.into_iter().cloned());
        }
        (losing, all)
    }

    /// True if the dataset has runs of a file that is unreadable now. They are kept, like those of a deleted file.
    fn stays(&self, failed: &FailedInput) -> bool {
        let has_runs = self.known.get(&failed.source).is_some_and(|known| !known.is_failed);
        failed.kind == FailureKind::Unreadable && has_runs
    }

    /// Saves the files' stamps for the next extract, and returns the outcomes.
    pub(super) fn finish(self) -> Result<Counts> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.store.save()?;
        self.store.save_stamps(&state.stamps)?;
        Ok(state.counts)
    }

    /// Runs `work` while another thread saves results, so a kill loses only about a second of work, even during a large file.
    pub(super) fn saving<T>(&self, work: impl FnOnce() -> T) -> T {
        let (end, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            // If writing fails, the rows stay buffered, and the next attempt reports the error.
            scope.spawn(move || {
                while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) && self.save_if_due().is_ok() {}
            });
            let result = work();
            drop(end);
            result
        })
    }

    fn save_if_due(&self) -> Result<()> {
        if self.store.save_if_due(Store::PART_ROWS)? { self.save_stamps() } else { Ok(()) }
    }

    /// Saves the stamps collected so far, unless that was done recently. After a kill, these files need not be hashed again.
    fn save_stamps(&self) -> Result<()> {
        // Another thread is saving.
        let Ok(mut saved) = self.saved.try_lock() else { return Ok(()) };
        let (last, cost) = *saved;
        if last.elapsed() < cost.saturating_mul(SHARE) {
            return Ok(());
        }
        let began = Instant::now();
        let stamps = self.state().stamps.clone();
        self.store.save_stamps(&stamps)?;
        *saved = (Instant::now(), began.elapsed());
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True for a file that counts as done before it is checked again.
fn is_done(unread: &Unread) -> bool {
    matches!(unread, Unread::Kept(kept) if !kept.is_failed)
}

impl Keeper for Extraction<'_> {
    fn kept(&self, index: usize, task: &Task, state: &InputState, memory: &MemoryBudget) -> Option<Kept> {
        let kept = match &self.unread[index] {
            Unread::Kept(kept) => kept.clone(),
            Unread::Stale => return None,
            Unread::Unknown => {
                let known = self.known.get(&task.display)?;
                let hashes = InputHashes::of(&task.path, memory, self.host).ok()?;
                self.state().stamps.remember(&task.display, state, &hashes.to_text());
                self.kept_as(task, hashes, known, memory)?
            }
        };
        (!kept.is_failed || self.is_still_duplicate(index, &kept, memory)).then_some(kept)
    }

    fn counts(&self, first: usize, kept: &Kept) -> bool {
        match kept.run_id.as_ref().and_then(|run_id| self.counting.get(run_id)) {
            Some((_, Some(counting))) => *counting == first,
            Some((_, None)) | None => false,
        }
    }

    fn keep(&self, task: &Task, finished: Finished, first: Option<&Task>) -> Result<()> {
        let Finished { index, content, packed_toc, state: input, outcome } = finished;
        let (losing, lost) = match &outcome {
            Outcome::Runs(runs) => self.lost_labels(task, runs),
            Outcome::Failed(_) | Outcome::Kept(_) => (0, BTreeSet::new()),
        };
        let outcome = match outcome {
            Outcome::Runs(runs) => self.put_first(task, runs)?,
            Outcome::Failed(failed) => Outcome::Failed(self.name_first(failed, first)?),
            other => other,
        };
        match &outcome {
            Outcome::Runs(_) => {}
            Outcome::Failed(failed) if self.stays(failed) => {}
            Outcome::Failed(failed) => self.store.put_failure(failed)?,
            Outcome::Kept(_) => {}
        }
        let mut state = self.state();
        // What is kept has a stamp.
        if let (Some(content), Some(input), false) = (content, &input, matches!(outcome, Outcome::Kept(_))) {
            state.stamps.remember(&task.display, input, &InputHashes { content, packed_toc }.to_text());
        }
        state.counts.runs_that_lose_labels += losing;
        state.counts.lost_labels.extend(lost);
        let had_runs = self.known.get(&task.display).is_some_and(|known| !known.is_failed);
        match outcome {
            Outcome::Runs(_) if had_runs => state.counts.changed += 1,
            Outcome::Runs(_) => state.counts.new += 1,
            Outcome::Kept(kept) if !kept.is_failed => state.counts.unchanged += 1,
            Outcome::Kept(_) => state.counts.failed += 1,
            Outcome::Failed(failed) => {
                state.counts.failed += 1;
                state.counts.new_failures.push(failed);
            }
        }
        state.done += usize::from(!is_done(&self.unread[index]));
        self.store.count_done(state.done);
        drop(state);
        self.save_if_due()
    }
}

/// The note for a run whose histograms of hang and launch times the dataset lacks.
pub(super) const WITHOUT_BINS: &str =
    "binned hang and launch times are missing: datasets do not keep them; report on the files instead";
