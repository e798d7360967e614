//! Writes the dataset that others are merged into.
//!
//! Until a merge ends, its manifest is incomplete and lists no files, so a killed merge never looks complete; the same merge then starts over.
//! Rows are written in parts as they arrive.

use std::path::Path;
use std::sync::Arc;

use super::folder::Folder;
use super::manifest::{DataFile, Manifest, Merged, SourceSum};
use super::part::{PartWriter, Written};
use super::{MadeWith, Shards, Store};
use crate::files::Storage;
use crate::fleet::error::{Result, bail};
use crate::fleet::{Completeness, DatasetRow, DatasetRun, FleetSelection};

/// Facts about a merged dataset that its rows do not contain.
pub struct MergedFacts {
    /// The selection with which all runs were measured.
    pub selection: FleetSelection,
    /// The settings of the extracts.
    pub made_with: MadeWith,
    /// How complete the inputs are.
    pub inputs: Completeness,
    /// The shards in the dataset; `None` if it is not sharded.
    pub shards: Option<Shards>,
    /// A hash of the merged datasets.
    pub identity: String,
    /// True if all merged datasets were complete.
    pub is_of_whole: bool,
}

impl MergedFacts {
    fn merged(&self, is_done: bool) -> Merged {
        Merged { inputs: self.identity.clone(), is_done, is_of_whole: self.is_of_whole }
    }
}

/// A merge in progress.
struct Merge {
    store: Store,
    facts: MergedFacts,
    target_rows: u64,
    parts: Vec<(String, DataFile)>,
}

impl Store {
    /// Merges the rows from `read` into a new folder. In the folder of a merge that was killed or lost files, the merge is restarted. Returns the
    /// numbers of runs and of files without runs; `None` if the same merge is already done.
    pub fn merge(
        storage: &Arc<dyn Storage>,
        path: &Path,
        facts: MergedFacts,
        target_rows: u64,
        read: impl FnOnce(&mut dyn FnMut(DatasetRow<DatasetRun>) -> Result<()>) -> Result<()>,
    ) -> Result<Option<(u64, u64)>> {
        Self::begin_merge(storage, path, facts, target_rows)?.map(|merge| merge.write(read)).transpose()
    }

    fn begin_merge(
        storage: &Arc<dyn Storage>,
        path: &Path,
        facts: MergedFacts,
        target_rows: u64,
    ) -> Result<Option<Merge>> {
        if Folder::new(storage, path).is_engine_written() {
            bail!(
                "{}: an engine rewrote it; merge into a new folder, and name this one among the inputs",
                path.display()
            );
        }
        if Self::is_dataset(storage, path) {
            let manifest = Manifest::read(&Folder::new(storage, path))?;
            match &manifest.merged {
                Some(merged) if merged.is_done && merged.inputs == facts.identity => {
                    // If files are missing, the merge is repeated.
                    let is_whole = manifest.lost.is_none() && manifest.inputs == facts.inputs;
                    if is_whole && Self::open(storage, path).is_ok() {
                        return Ok(None);
                    }
                }
                Some(merged) if !merged.is_done => {}
                None if manifest.is_untouched() => {}
                _ => bail!(
                    "{}: a dataset already; merge into a new folder, and name this one among the inputs",
                    path.display()
                ),
            }
        }
        let store = Self::create_or_open(storage, path)?;
        {
            let mut state = store.state();
            state.manifest.inputs = Completeness { is_complete: Some(false), inputs_done: Some(0), ..facts.inputs };
            state.manifest.merged = Some(facts.merged(false));
            // Remove what is left of a merge that lost files.
            let before: Vec<String> = state.manifest.files.keys().cloned().collect();
            before.iter().for_each(|id| drop(state.remove(id)));
            state.manifest.lost = None;
            state.manifest.selection = facts.selection.clone();
            state.manifest.made_with = facts.made_with.clone();
            state.save(&store.folder)?;
        }
        Ok(Some(Merge { store, facts, target_rows, parts: Vec::new() }))
    }
}

impl Merge {
    /// Writes all rows, and then the manifest.
    fn write(
        mut self,
        read: impl FnOnce(&mut dyn FnMut(DatasetRow<DatasetRun>) -> Result<()>) -> Result<()>,
    ) -> Result<(u64, u64)> {
        let folder = self.store.folder.clone();
        let mut open: Option<PartWriter<'_>> = None;
        let (mut sources, mut last) = (SourceSum::default(), String::new());
        read(&mut |row| {
            // The runs of a file are adjacent.
            if row.source() != last {
                last = row.source().to_owned();
                sources = sources.with(&last);
            }
            let part = match open.take().filter(|part| part.rows < self.target_rows) {
                Some(part) => open.insert(part),
                None => open.insert(PartWriter::new(&folder, self.store.new_name())?),
            };
            part.add(&row.map(DatasetRun::into_measures))?;
            if part.rows >= self.target_rows
                && let Some(part) = open.take()
            {
                self.finish(part)?;
            }
            Ok(())
        })?;
        if let Some(part) = open.take() {
            self.finish(part)?;
        }
        self.store.folder.sync()?;
        let sum = |count: fn(&DataFile) -> u64| self.parts.iter().map(|(_, file)| count(file)).sum();
        let counts = (sum(|file| file.runs), sum(|file| file.failed));
        let mut state = self.store.state();
        state.manifest.files = self.parts.drain(..).collect();
        state.manifest.inputs = self.facts.inputs;
        (state.manifest.sources, state.manifest.lost) = (Some(sources), None);
        state.manifest.shards = self.facts.shards.clone();
        state.manifest.merged = Some(self.facts.merged(true));
        state.save(&self.store.folder)?;
        Ok(counts)
    }

    /// Renames the files of a part to their final names.
    fn finish(&mut self, part: PartWriter<'_>) -> Result<()> {
        let Written { name, file } = part.finish()?;
        let id = file.id();
        self.store.folder.publish(&name, &id)?;
        self.parts.push((id, file));
        Ok(())
    }
}
