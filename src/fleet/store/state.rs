//! The state of an open dataset: the manifest on disk, the tables `runs` in memory, and the changes that are not in the
//! manifest yet.
//!
//! Rows wait until they are written together, since a data file of one run costs several times as much as measuring the
//! run.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use super::folder::{Folder, MANIFEST};
use super::manifest::{DataFile, Manifest};
use super::part::Written;
use crate::fleet::error::Result;
use crate::fleet::identity::of_file;
use crate::fleet::{DatasetRow, DatasetTable, FailedInput, KnownRun};

/// Saving takes at most this part of the time if data files have to be rewritten.
const SHARE: u32 = 20;
/// Rows of functions that are written anew without a second thought.
pub(super) const FEW_ROWS: u64 = 100_000;

/// The manifest, the rows of `runs`, and the work for the next save.
#[derive(Debug)]
pub(super) struct State {
    pub(super) manifest: Manifest,
    pub(super) index: Index,
    /// True if the index covers all data files.
    pub(super) is_indexed: bool,
    /// Rows that are to be taken out of data files, by file. The index is without them already.
    pub(super) taken_out: BTreeMap<String, Replaced>,
    /// Data files that the manifest on disk may still name.
    removed: BTreeSet<String>,
    /// Data files that were there or were added since files were merged.
    pub(super) unmerged: u64,
    pub(super) saved: Instant,
    /// The time that the last save took.
    pub(super) cost: Duration,
}

impl State {
    pub(super) fn new(manifest: Manifest) -> Self {
        // Extracts that are killed early, again and again, would never merge what they leave.
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

    /// Renames the files of a part to their final names. If that fails, the next save removes them.
    pub(super) fn publish(&mut self, folder: &Folder, part: &Written) -> Result<String> {
        let id = part.file.id();
        if !self.manifest.files.contains_key(&id) {
            self.removed.insert(id.clone());
        }
        folder.publish(&part.name, &id)?;
        Ok(id)
    }

    /// Adds a data file whose files have their names.
    pub(super) fn add(&mut self, id: &str, file: DataFile, runs: Vec<KnownRun>) {
        self.removed.remove(id);
        self.index.insert(id, runs);
        self.manifest.files.insert(id.to_owned(), file);
    }

    /// Removes a data file; its files stay until the manifest is saved.
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

    /// Writes the manifest, and then removes the files that it no longer names.
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

/// The facts that a dataset has about an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The fingerprint that its runs, or its failure, were made with.
    pub fingerprint: String,
    /// Its runs; for a failure the start of the ids that they would have, if it could be read.
    pub run_ids: Vec<String>,
    /// True if it gave no run.
    pub is_failed: bool,
    /// Rows, of all its runs, that could not be read.
    pub rejected: u64,
    /// Damaged runs of the recording.
    pub unread_runs: u64,
    /// The data file that holds them.
    pub file: String,
}

impl Known {
    /// What its run ids start with.
    pub(crate) fn run_id(&self) -> Option<&str> {
        self.run_ids.first().map(|run| of_file(run))
    }
}

/// The exports and runs that a change is going to put in, and that replace rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Replaced {
    pub(super) sources: HashSet<String>,
    pub(super) run_ids: HashSet<String>,
}

impl Replaced {
    /// Adds the replaced rows of another change.
    pub(super) fn extend(&mut self, other: &Self) {
        self.sources.extend(other.sources.iter().cloned());
        self.run_ids.extend(other.run_ids.iter().cloned());
    }

    /// True if a row stays.
    pub(super) fn leaves(&self, row: &DatasetRow) -> bool {
        match row {
            DatasetRow::Run(run) => !self.has(Some(&run.record.run_id), &run.record.source, false),
            DatasetRow::Failed(failure) => !self.has(failure.run_id.as_deref(), &failure.source, true),
        }
    }

    /// True if a row of `runs` makes room. A failure stays if only its content is the same: copies of an export are failures with the id of
    /// its run.
    pub(super) fn has(&self, run_id: Option<&str>, source: &str, is_failed: bool) -> bool {
        self.sources.contains(source) || (!is_failed && run_id.is_some_and(|id| self.run_ids.contains(id)))
    }
}

/// The rows of `runs`, by data file.
#[derive(Debug, Default)]
pub(super) struct Index {
    files: BTreeMap<String, Vec<KnownRun>>,
    /// The files of each source and of each run: one each, unless someone copied files into the dataset.
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

    /// The rows of a file that stay.
    pub(super) fn staying(&self, file: &str, replaced: &Replaced) -> Vec<KnownRun> {
        let stays = |run: &&KnownRun| !replaced.has(run.run_id.as_deref(), &run.source, run.is_failed);
        self.files.get(file).into_iter().flatten().filter(stays).cloned().collect()
    }

    /// The files that hold something of these.
    pub(super) fn holding(&self, replaced: &Replaced) -> BTreeSet<String> {
        let of_sources = replaced.sources.iter().filter_map(|source| self.of_source.get(source));
        let of_runs = replaced.run_ids.iter().filter_map(|run| self.of_run.get(run));
        of_sources.chain(of_runs).flatten().cloned().collect()
    }

    /// The exports, by path.
    pub(super) fn sources(&self) -> impl ExactSizeIterator<Item = &str> {
        self.of_source.keys().map(String::as_str)
    }

    /// A file that holds something of an export.
    pub(super) fn file_of_source(&self, source: &str) -> Option<&String> {
        self.of_source.get(source)?.first()
    }

    /// By source.
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

/// The facts about a row that is put in.
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

/// The time that rows wait, and how many times as long as the last batch took. So a slow disk, or a machine with too few cores, spends a
/// small part of the time on writing.
const TIME: Duration = Duration::from_secs(1);
const TIMES: u32 = 10;
/// The most memory that waiting rows take, and the most puts that wait.
const BYTES: u64 = 16 << 20;
const PUTS: u64 = 1024;

/// The result of some puts.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) rows: Vec<DatasetRow>,
    /// The exports and runs that these rows replace.
    pub(super) replaced: Replaced,
    pub(super) puts: u64,
    bytes: u64,
}

impl Batch {
    /// The rows of one put.
    pub(super) fn new(rows: Vec<DatasetRow>, replaced: Replaced) -> Self {
        let bytes = rows.iter().map(|row| match row {
            DatasetRow::Run(run) => run.memory(),
            DatasetRow::Failed(_) => 0,
        });
        Self { bytes: bytes.sum(), rows, replaced, puts: 1 }
    }

    /// Adds a later batch, whose rows replace rows of this one.
    pub(super) fn extend(&mut self, later: Self) {
        self.rows.retain(|row| later.replaced.leaves(row));
        self.rows.extend(later.rows);
        self.replaced.extend(&later.replaced);
        self.puts += later.puts;
        self.bytes += later.bytes;
    }

    /// The rows, for the index.
    pub(super) fn known(&self) -> Vec<KnownRun> {
        self.rows.iter().map(known_of).collect()
    }
}

/// The next batch.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    batch: Batch,
    /// The time of the first put of the batch.
    since: Option<Instant>,
    /// The time that writing the last batch took.
    cost: Duration,
    /// The number of puts whose rows are not in a data file: those of the batch, and of a batch that is being written.
    unwritten: u64,
    /// Files that an extract is done with.
    done: u64,
}

impl Waiting {
    /// Adds a put.
    pub(super) fn put(&mut self, rows: Vec<DatasetRow>, replaced: Replaced) {
        self.batch.extend(Batch::new(rows, replaced));
        self.since.get_or_insert_with(Instant::now);
        self.unwritten += 1;
    }

    /// True if it is time to write the batch.
    pub(super) fn is_due(&self) -> bool {
        self.is_full() || self.since.is_some_and(|since| since.elapsed() >= TIME.max(self.cost.saturating_mul(TIMES)))
    }

    /// True if no more rows may wait.
    pub(super) fn is_full(&self) -> bool {
        self.batch.bytes >= BYTES || self.batch.puts >= PUTS
    }

    /// Removes and returns the batch.
    pub(super) fn take(&mut self) -> Batch {
        self.since = None;
        std::mem::take(&mut self.batch)
    }

    /// Returns a batch that could not be written.
    pub(super) fn give_back(&mut self, batch: Batch) {
        let later = std::mem::replace(&mut self.batch, batch);
        self.batch.extend(later);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Counts puts that a data file has now, and which took this long.
    pub(super) fn count_written(&mut self, puts: u64, cost: Duration) {
        self.unwritten -= puts;
        self.cost = cost;
    }

    /// Counts files that are done.
    pub(super) fn count_done(&mut self, done: u64) {
        // Another thread may be ahead.
        self.done = self.done.max(done);
    }

    /// The number of files that are done and whose rows a data file has.
    pub(super) fn done(&self) -> u64 {
        self.done.saturating_sub(self.unwritten)
    }
}
