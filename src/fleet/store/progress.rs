//! The progress of an extract: a dataset is incomplete from its start until its end.
//!
//! The manifest counts the files. `owed.json` lists those that extracts were to do and have not done, so that an extract of other files does
//! not complete a dataset whose extract was killed.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use crate::fleet::Completeness;
use crate::fleet::error::{Context, Result};

use super::folder::OWED;
use super::missing::{Lost, SourceSum};
use super::{MadeWith, Store};

impl Store {
    /// The inputs that the dataset is of.
    pub fn completeness(&self) -> Completeness {
        self.state().manifest.inputs
    }

    /// The number of files that it lost with data files that are gone, and that are not back.
    pub fn lost_files(&self) -> Option<u64> {
        self.state().manifest.lost.map(|lost| lost.files)
    }

    /// Files were lost: those that it should be of, and has no rows of any more.
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

    /// What was lost, and what others were to do, is not wanted any more.
    pub fn give_up_missing(&self) -> Result<()> {
        self.state().manifest.lost = None;
        self.note_owed(&BTreeSet::new())
    }

    /// An extract begins of files that the dataset knows, and of new ones. If these are what it lost, it has lost nothing.
    pub fn expect(&self, known: SourceSum, new: SourceSum) {
        let manifest = &mut self.state().manifest;
        manifest.lost = manifest.lost.filter(|lost| lost.sources != Some(new));
        manifest.sources = Some(known.and(new));
    }

    /// An extract begins, after which the dataset should be of so many files; it is of some of them already.
    pub fn begin(&self, expected: usize, done: usize, made_with: MadeWith) -> Result<()> {
        self.check_writer()?;
        self.write_waiting()?;
        self.count_done(done);
        let mut state = self.indexed()?;
        if state.manifest.merged.is_some() && state.manifest.inputs.is_incomplete() && state.manifest.lost.is_none() {
            // Nobody knows which files the parts of the merge lacked.
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

    /// So many files are done: they are put in, or need not be.
    pub fn count_done(&self, done: usize) {
        self.waiting().count_done(done as u64);
    }

    /// An extract came to its end. The dataset is complete if it has lost no file, and none of another extract is to be done.
    pub fn complete(&self) -> Result<()> {
        self.check_writer()?;
        self.write_waiting()?;
        let owed = self.owed()?;
        let mut state = self.indexed()?;
        // First without the files that are not needed any more: a complete dataset has none in its folder.
        self.save_state(&mut state)?;
        self.folder.sync()?;
        let missing = owed.len() as u64 + state.manifest.lost.map_or(0, |lost| lost.files);
        state.manifest.inputs.is_complete = Some(missing == 0);
        // Of files that were there at the start, some may be gone: the runs of those that were moved have other names.
        let (sources, done) = (SourceSum::of(state.index.sources()), state.index.sources().len() as u64);
        state.manifest.sources = Some(sources);
        state.manifest.inputs.inputs_expected = Some(done + missing);
        state.manifest.inputs.inputs_done = Some(done);
        self.save_state(&mut state)?;
        drop(state);
        self.note_owed(&owed)
    }

    /// The files that earlier extracts were asked for, and that it has nothing of.
    pub fn owed(&self) -> Result<BTreeSet<String>> {
        let path = self.folder.path.join(OWED);
        let text = match self.folder.read_own(OWED) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            text => text.with_context(|| format!("{}: cannot be read", path.display()))?,
        };
        let sources: Vec<String> = serde_json::from_slice(&text)
            .with_context(|| format!("{}: is damaged; extract into a new folder", path.display()))?;
        let known = self.known()?;
        Ok(sources.into_iter().filter(|source| !known.contains_key(source)).collect())
    }

    /// Notes files that an extract is going to do, and those that others have not done.
    pub fn note_owed(&self, sources: &BTreeSet<String>) -> Result<()> {
        self.check_writer()?;
        match sources.is_empty() {
            true => self.folder.remove_if_exists(&self.folder.path.join(OWED)),
            false => self.folder.write_own(OWED, &serde_json::to_string(sources)?),
        }
    }
}
