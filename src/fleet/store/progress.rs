//! Tracks the progress of an extract, during which the dataset is incomplete.
//!
//! The manifest counts files, and `owed.json` lists the files that unfinished extracts have not processed. An extract of other files therefore
//! does not complete a dataset whose extract was killed. Lost files also make a dataset incomplete.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use super::folder::OWED;
use super::manifest::{Lost, SourceSum};
use super::{MadeWith, Store};
use crate::fleet::Completeness;
use crate::fleet::error::{Context, Result};

impl Store {
    /// The numbers of expected and processed inputs.
    pub fn completeness(&self) -> Completeness {
        self.state().manifest.inputs
    }

    /// The number of files that were lost with deleted data files and have not been restored.
    pub fn lost_files(&self) -> Option<u64> {
        self.state().manifest.lost.map(|lost| lost.files)
    }

    /// Records lost files: the dataset should contain them, but their rows are gone.
    pub(super) fn note_lost(&self) -> Result<()> {
        let known = self.known()?;
        let mut state = self.state();
        let manifest = &mut state.manifest;
        let files = manifest.inputs.inputs_done.unwrap_or(0).saturating_sub(known.len() as u64).max(1);
        let left = SourceSum::of(known.keys().map(String::as_str));
        let lost = Lost { files, sources: manifest.sources.map(|all| all.without(left)) };
        manifest.lost = Some(manifest.lost.map_or(lost, |before| before.and(lost)));
        manifest.sources = Some(left);
        manifest.inputs.inputs_done = Some(known.len() as u64);
        manifest.inputs.inputs_expected = manifest.inputs.inputs_expected.max(Some(known.len() as u64 + files));
        state.save(&self.folder)
    }

    /// Gives up on lost files, and on files that other extracts did not process.
    pub fn give_up_missing(&self) -> Result<()> {
        self.state().manifest.lost = None;
        self.note_owed(&BTreeSet::new())
    }

    /// Begins an extract of known and new files. If the new files are the lost ones, nothing is lost.
    pub(crate) fn expect(&self, known: SourceSum, new: SourceSum) {
        let manifest = &mut self.state().manifest;
        manifest.lost = manifest.lost.filter(|lost| lost.sources != Some(new));
        manifest.sources = Some(known.and(new));
    }

    /// Begins an extract after which the dataset should contain `expected` files. It already contains `done` of them.
    pub fn begin(&self, expected: usize, done: usize, made_with: MadeWith) -> Result<()> {
        self.check_writer()?;
        self.write_waiting()?;
        self.count_done(done);
        let mut state = self.indexed()?;
        if state.manifest.merged.is_some() && state.manifest.inputs.is_incomplete() && state.manifest.lost.is_none() {
            // For parts of a merge, it is unknown which files are missing.
            let Completeness { inputs_expected, inputs_done, .. } = state.manifest.inputs;
            let files = inputs_expected.unwrap_or(0).saturating_sub(inputs_done.unwrap_or(0)).max(1);
            state.manifest.lost = Some(Lost { files, sources: None });
        }
        let lost = state.manifest.lost.map_or(0, |lost| lost.files);
        state.manifest.inputs = Completeness {
            is_complete: Some(false),
            inputs_expected: Some(expected as u64 + lost),
            inputs_done: Some(done as u64),
        };
        state.manifest.made_with = made_with;
        state.manifest.merged = None;
        self.save_state(&mut state)
    }

    /// Records the number of files that were added or were already up to date.
    pub fn count_done(&self, done: usize) {
        self.waiting().count_done(done as u64);
    }

    /// Called when an extract ends. The dataset is complete if no files are lost and no other extract has unprocessed files.
    pub fn complete(&self) -> Result<()> {
        self.check_writer()?;
        self.write_waiting()?;
        let owed = self.owed()?;
        let mut state = self.indexed()?;
        // First save without unneeded files, since the folder of a complete dataset must not contain any.
        self.save_state(&mut state)?;
        self.folder.sync()?;
        let missing = owed.len() as u64 + state.manifest.lost.map_or(0, |lost| lost.files);
        state.manifest.inputs.is_complete = Some(missing == 0);
        // Files may have disappeared since the start: the runs of moved files have other names.
        let (sources, done) = (SourceSum::of(state.index.sources()), state.index.sources().len() as u64);
        state.manifest.sources = Some(sources);
        state.manifest.inputs.inputs_expected = Some(done + missing);
        state.manifest.inputs.inputs_done = Some(done);
        self.save_state(&mut state)?;
        drop(state);
        self.note_owed(&owed)
    }

    /// The files that earlier extracts should have processed, but that are not in the dataset.
    pub fn owed(&self) -> Result<BTreeSet<String>> {
        let path = self.folder.path.join(OWED);
        let text = match self.folder.read_own(OWED) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            text => text.with_context(|| format!("{}: cannot be read", path.display()))?,
        };
        let sources: Vec<String> = serde_json::from_slice(&text)
            .with_context(|| format!("{}: damaged; extract into a new folder", path.display()))?;
        let known = self.known()?;
        Ok(sources.into_iter().filter(|source| !known.contains_key(source)).collect())
    }

    /// Records the files that an extract will process, and those that other extracts have not processed.
    pub fn note_owed(&self, sources: &BTreeSet<String>) -> Result<()> {
        self.check_writer()?;
        match sources.is_empty() {
            true => self.folder.remove_if_exists(&self.folder.path.join(OWED)),
            false => self.folder.write_own(OWED, &serde_json::to_string(sources)?),
        }
    }
}
