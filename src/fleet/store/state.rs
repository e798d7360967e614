//! The state of an open dataset: the manifest on disk, the rows of the table `runs` in memory, and changes that are not in the manifest yet.
//!
//! Rows are buffered and written in batches, since writing a data file for one run takes several times as long as measuring it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use super::folder::{Folder, MANIFEST};
use super::manifest::{DataFile, Manifest};
use super::part::Written;
use crate::fleet::error::Result;
use crate::fleet::identity::of_file;
use crate::fleet::{DatasetRow, DatasetTable, FailedInput, KnownRun};

/// If saving has to rewrite data files, it may take at most 1/20 of the time.
const SHARE: u32 = 20;
/// The maximum number of function rows for a cheap rewrite.
pub(super) const FEW_ROWS: u64 = 100_000;

/// The manifest, the rows of `runs`, and the work for the next save.
#[derive(Debug)]
pub(super) struct State {
    pub(super) manifest: Manifest,
    pub(super) index: Index,
    /// True if the index covers all data files.
    pub(super) is_indexed: bool,
    /// Rows to remove from data files, by file. The index no longer contains them.
    pub(super) taken_out: BTreeMap<String, Replaced>,
    /// Removed data files that may still be in the manifest on disk.
    removed: BTreeSet<String>,
    /// The number of unmerged data files, both existing and added.
    pub(super) unmerged: u64,
    pub(super) saved: Instant,
    /// How long the last save took.
    pub(super) cost: Duration,
}

impl State {
    pub(super) fn new(manifest: Manifest) -> Self {
        // Includes existing files: extracts that are repeatedly killed early would otherwise never merge theirs.
        let unmerged = manifest.files.len() as u64;
        Self {
            manifest,
            index: Index::default(),
            is_indexed: false,
            taken_out: BTreeMap::new(),
            removed: BTreeSet::new(),
            unmerged,
            saved: Instant::now(),
            cost: Duration::ZERO,
        }
    }

    /// Renames a part's files to their final names. If that fails, the next save deletes them.
    pub(super) fn publish(&mut self, folder: &Folder, part: &Written) -> Result<String> {
        let id = part.file.id();
        if !self.manifest.files.contains_key(&id) {
            self.removed.insert(id.clone());
        }
        folder.publish(&part.name, &id)?;
        Ok(id)
    }

    /// Adds a data file whose files already have their final names.
    pub(super) fn add(&mut self, id: &str, file: DataFile, runs: Vec<KnownRun>) {
        self.removed.remove(id);
        self.index.insert(id, runs);
        self.manifest.files.insert(id.to_owned(), file);
    }

    /// Removes a data file. Its files stay on disk until the manifest is saved.
    pub(super) fn remove(&mut self, id: &str) -> Option<DataFile> {
        self.index.remove(id);
        self.taken_out.remove(id);
        self.removed.insert(id.to_owned());
        self.manifest.files.remove(id)
    }

    /// True if saving is cheap enough now.
    pub(super) fn may_save(&self) -> bool {
        let rows = |id: &String| self.manifest.files.get(id).map_or(0, |file| file.table(DatasetTable::Frames).rows);
        let is_cheap = self.taken_out.keys().map(rows).sum::<u64>() <= FEW_ROWS;
        is_cheap || self.saved.elapsed() >= self.cost.saturating_mul(SHARE)
    }

    /// Writes the manifest, then deletes the files that it no longer lists.
    pub(super) fn save(&mut self, folder: &Folder) -> Result<()> {
        folder.note_unnamed(&self.removed)?;
        folder.write_own(MANIFEST, &self.manifest.text())?;
        self.saved = Instant::now();
        while let Some(id) = self.removed.first() {
            folder.remove(id)?;
            self.removed.pop_first();
        }
        folder.forget_unnamed()
    }
}

/// What a dataset stores about an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The fingerprint that its runs, or its failure, were created with.
    pub fingerprint: String,
    /// The ids of its runs. For a failure with readable content, the prefix of the ids that they would have.
    pub run_ids: Vec<String>,
    /// True if it has no run.
    pub is_failed: bool,
    /// The number of unreadable rows, over all its runs.
    pub rejected: u64,
    /// The number of damaged runs in the recording.
    pub unread_runs: u64,
    /// The data file that contains them.
    pub file: String,
}

impl Known {
    /// The prefix of its run ids.
    pub(crate) fn run_id(&self) -> Option<&str> {
        self.run_ids.first().map(|run| of_file(run))
    }
}

/// The exports and runs that a change adds, replacing existing rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Replaced {
    pub(super) sources: HashSet<String>,
    pub(super) run_ids: HashSet<String>,
}

impl Replaced {
    /// Also replaces the rows that another change replaces.
    pub(super) fn extend(&mut self, other: &Self) {
        self.sources.extend(other.sources.iter().cloned());
        self.run_ids.extend(other.run_ids.iter().cloned());
    }

    /// True if a row is not replaced.
    pub(super) fn leaves(&self, row: &DatasetRow) -> bool {
        match row {
            DatasetRow::Run(run) => !self.has(Some(&run.record.run_id), &run.record.source, false),
            DatasetRow::Failed(failure) => !self.has(failure.run_id.as_deref(), &failure.source, true),
        }
    }

    /// True if a row of `runs` is replaced. A failure is not replaced only because its content matches, since copies of an export are failures
    /// with the id of its run.
    pub(super) fn has(&self, run_id: Option<&str>, source: &str, is_failed: bool) -> bool {
        self.sources.contains(source) || (!is_failed && run_id.is_some_and(|id| self.run_ids.contains(id)))
    }
}

/// The rows of the table `runs`, keyed by data file.
#[derive(Debug, Default)]
pub(super) struct Index {
    files: BTreeMap<String, Vec<KnownRun>>,
    /// The data files of each source, and of each run: one each, unless someone copied files into the dataset.
    of_source: HashMap<String, BTreeSet<String>>,
    of_run: HashMap<String, BTreeSet<String>>,
}

impl Index {
    pub(super) fn insert(&mut self, file: &str, runs: Vec<KnownRun>) {
        self.remove(file);
        for run in &runs {
            self.of_source.entry(run.source.clone()).or_default().insert(file.to_owned());
            if let Some(id) = run.run_id.as_ref().filter(|_| !run.is_failed) {
                self.of_run.entry(id.clone()).or_default().insert(file.to_owned());
            }
        }
        self.files.insert(file.to_owned(), runs);
    }

    pub(super) fn remove(&mut self, file: &str) {
        for run in self.files.remove(file).unwrap_or_default() {
            forget(&mut self.of_source, &run.source, file);
            if let Some(id) = run.run_id.filter(|_| !run.is_failed) {
                forget(&mut self.of_run, &id, file);
            }
        }
    }

    /// The rows of a data file that are not replaced.
    pub(super) fn staying(&self, file: &str, replaced: &Replaced) -> Vec<KnownRun> {
        let stays = |run: &&KnownRun| !replaced.has(run.run_id.as_deref(), &run.source, run.is_failed);
        self.files.get(file).into_iter().flatten().filter(stays).cloned().collect()
    }

    /// The data files that contain replaced rows.
    pub(super) fn holding(&self, replaced: &Replaced) -> BTreeSet<String> {
        let of_sources = replaced.sources.iter().filter_map(|source| self.of_source.get(source));
        let of_runs = replaced.run_ids.iter().filter_map(|run| self.of_run.get(run));
        of_sources.chain(of_runs).flatten().cloned().collect()
    }

    /// The paths of all exports.
    pub(super) fn sources(&self) -> impl ExactSizeIterator<Item = &str> {
        self.of_source.keys().map(String::as_str)
    }

    /// A data file with rows of this export.
    pub(super) fn file_of_source(&self, source: &str) -> Option<&String> {
        self.of_source.get(source)?.first()
    }

    /// The known facts about each export, keyed by its path.
    pub(super) fn known(&self) -> HashMap<String, Known> {
        let mut known: HashMap<String, Known> = HashMap::new();
        for (file, run) in self.files.iter().flat_map(|(file, runs)| runs.iter().map(move |run| (file, run))) {
            let entry = known.entry(run.source.clone()).or_insert_with(|| Known {
                fingerprint: run.fingerprint.clone(),
                run_ids: Vec::new(),
                is_failed: run.is_failed,
                rejected: 0,
                unread_runs: 0,
                file: file.clone(),
            });
            entry.rejected = entry.rejected.saturating_add(run.rejected);
            entry.unread_runs = entry.unread_runs.saturating_add(run.unread_runs.into());
            entry.run_ids.extend(run.run_id.clone());
        }
        known
    }
}

fn forget(map: &mut HashMap<String, BTreeSet<String>>, key: &str, file: &str) {
    if let Some(files) = map.get_mut(key) {
        files.remove(file);
        if files.is_empty() {
            map.remove(key);
        }
    }
}

/// The index entry for a new row.
pub(super) fn known_of(row: &DatasetRow) -> KnownRun {
    match row {
        DatasetRow::Run(run) => KnownRun {
            run_id: Some(run.record.run_id.clone()),
            fingerprint: run.record.fingerprint.clone(),
            source: run.record.source.clone(),
            is_failed: false,
            rejected: run.record.rejected,
            unread_runs: run.record.unread_runs,
        },
        DatasetRow::Failed(FailedInput { run_id, fingerprint, source, .. }) => KnownRun {
            run_id: run_id.clone(),
            fingerprint: fingerprint.clone(),
            source: source.clone(),
            is_failed: true,
            rejected: 0,
            unread_runs: 0,
        },
    }
}

/// How long rows are buffered, unless 10 times the duration of the last write is longer. Even with a slow disk or few cores, writing therefore
/// takes only a small part of the time.
const TIME: Duration = Duration::from_secs(1);
const TIMES: u32 = 10;
/// The maximum memory of buffered rows, and the maximum number of buffered puts.
const BYTES: u64 = 16 << 20;
const PUTS: u64 = 1024;

/// The combined rows of several puts.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) rows: Vec<DatasetRow>,
    /// The exports and runs that these rows replace.
    pub(super) replaced: Replaced,
    pub(super) puts: u64,
    bytes: u64,
}

impl Batch {
    /// Creates a batch from the rows of one put.
    pub(super) fn new(rows: Vec<DatasetRow>, replaced: Replaced) -> Self {
        let bytes = rows.iter().map(|row| match row {
            DatasetRow::Run(run) => run.memory(),
            DatasetRow::Failed(_) => 0,
        });
        Self { bytes: bytes.sum(), rows, replaced, puts: 1 }
    }

    /// Appends a later batch, whose rows replace rows of this one.
    pub(super) fn extend(&mut self, later: Self) {
        self.rows.retain(|row| later.replaced.leaves(row));
        self.rows.extend(later.rows);
        self.replaced.extend(&later.replaced);
        self.puts += later.puts;
        self.bytes += later.bytes;
    }

    /// The index entries of the rows.
    pub(super) fn known(&self) -> Vec<KnownRun> {
        self.rows.iter().map(known_of).collect()
    }
}

/// The batch that is being collected.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    batch: Batch,
    /// When the batch's first put was added.
    since: Option<Instant>,
    /// How long the last batch took to write.
    cost: Duration,
    /// The number of puts whose rows are not in a data file yet, in this batch and in one that is being written.
    unwritten: u64,
    /// The number of input files that an extract has finished.
    done: u64,
}

impl Waiting {
    pub(super) fn put(&mut self, rows: Vec<DatasetRow>, replaced: Replaced) {
        self.batch.extend(Batch::new(rows, replaced));
        self.since.get_or_insert_with(Instant::now);
        self.unwritten += 1;
    }

    /// True if it is time to write the batch.
    pub(super) fn is_due(&self) -> bool {
        self.is_full() || self.since.is_some_and(|since| since.elapsed() >= TIME.max(self.cost.saturating_mul(TIMES)))
    }

    /// True if the batch must be written before more rows are added.
    pub(super) fn is_full(&self) -> bool {
        self.batch.bytes >= BYTES || self.batch.puts >= PUTS
    }

    /// Takes the batch and leaves an empty one.
    pub(super) fn take(&mut self) -> Batch {
        self.since = None;
        std::mem::take(&mut self.batch)
    }

    /// Puts back a batch that could not be written.
    pub(super) fn give_back(&mut self, batch: Batch) {
        let later = std::mem::replace(&mut self.batch, batch);
        self.batch.extend(later);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Records that puts were written to a data file, and how long that took.
    pub(super) fn count_written(&mut self, puts: u64, cost: Duration) {
        self.unwritten -= puts;
        self.cost = cost;
    }

    /// Records the number of finished files.
    pub(super) fn count_done(&mut self, done: u64) {
        // Another thread may already have recorded more.
        self.done = self.done.max(done);
    }

    /// The number of finished files whose rows are in a data file.
    pub(super) fn done(&self) -> u64 {
        self.done.saturating_sub(self.unwritten)
    }
}
