//! The contents of an open dataset: what the manifest on disk says, and the changes that it does not say yet.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::Result;
use traceparse::fleet::{DatasetTable, KnownRun};

use super::folder::{Folder, MANIFEST};
use super::index::{Index, Replaced};
use super::manifest::{DataFile, Manifest};

/// Changes that are saved one by one: those of small fleets, of which a kill loses nothing.
const SAVED_AT_ONCE: u64 = 100;
/// Later, so many changes are saved together, or those of so much time.
const CHANGES: u64 = 64;
const TIME: Duration = Duration::from_secs(2);
/// Saving takes at most one part in so many of the time, where parts have to be written anew.
const SHARE: u32 = 20;
/// Rows of functions that are written anew without a second thought.
pub(super) const FEW_ROWS: u64 = 100_000;

/// The manifest, the rows of `runs`, and what is to be done when the manifest is saved.
#[derive(Debug)]
pub(super) struct State {
    pub(super) manifest: Manifest,
    pub(super) index: Index,
    /// True if the index is that of all data files.
    pub(super) is_indexed: bool,
    /// Rows that are to be taken out of data files, by file. The index is without them already.
    pub(super) taken_out: BTreeMap<String, Replaced>,
    /// Data files that the manifest on disk may still name.
    removed: BTreeSet<String>,
    /// Changes since the manifest was saved.
    unsaved: u64,
    /// Data files that were there or were added since files were merged.
    pub(super) unmerged: u64,
    changes: u64,
    saved: Instant,
    cost: Duration,
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
            unsaved: 0,
            unmerged,
            changes: 0,
            saved: Instant::now(),
            cost: Duration::ZERO,
        }
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

    /// Counts a change.
    pub(super) fn count_change(&mut self) {
        self.unsaved += 1;
        self.unmerged += 1;
        self.changes += 1;
    }

    /// True if it is time to save.
    pub(super) fn is_due(&self) -> bool {
        let rows = |id: &String| self.manifest.files.get(id).map_or(0, |file| file.table(DatasetTable::Frames).rows);
        let is_cheap = self.taken_out.keys().map(rows).sum::<u64>() <= FEW_ROWS;
        let elapsed = self.saved.elapsed();
        match is_cheap {
            true => self.changes <= SAVED_AT_ONCE || self.unsaved >= CHANGES || elapsed >= TIME,
            false => elapsed >= TIME.max(self.cost.saturating_mul(SHARE)),
        }
    }

    /// Remembers the cost of a save that began then.
    pub(super) fn count_cost(&mut self, began: Instant) {
        self.cost = began.elapsed();
        self.saved = Instant::now();
    }

    /// Writes the manifest, and then removes the files that it does not name any more.
    pub(super) fn save(&mut self, folder: &Folder) -> Result<()> {
        folder.note_unnamed(&self.removed)?;
        folder.write_whole(MANIFEST, &self.manifest.text())?;
        self.unsaved = 0;
        self.saved = Instant::now();
        for id in std::mem::take(&mut self.removed) {
            folder.remove(&id)?;
        }
        folder.forget_unnamed()
    }
}
