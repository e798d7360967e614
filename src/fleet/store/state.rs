//! The state of an open dataset: the manifest on disk, and the changes that are not in it yet.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::fleet::error::Result;
use crate::fleet::{DatasetTable, KnownRun};

use super::folder::{Folder, MANIFEST};
use super::index::{Index, Replaced};
use super::manifest::{DataFile, Manifest};
use super::part::Written;

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

    /// Records the duration of a save that began then.
    pub(super) fn count_cost(&mut self, began: Instant) {
        self.cost = began.elapsed();
        self.saved = Instant::now();
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
