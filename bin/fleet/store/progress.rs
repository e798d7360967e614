//! The progress of an extract, which the manifest tells: a dataset is incomplete from its start until its end.

use anyhow::Result;
use traceparse::fleet::Completeness;

use std::collections::BTreeSet;

use super::lost::{Lost, SourceSum};
use super::{MadeWith, Store};

impl Store {
    /// The inputs that the dataset is of.
    pub(crate) fn completeness(&self) -> Completeness {
        self.state().manifest.inputs
    }

    /// The number of files that it lost with data files that are gone, and that are not back.
    pub(crate) fn lost_files(&self) -> Option<u64> {
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
    pub(crate) fn give_up_missing(&self) -> Result<()> {
        self.state().manifest.lost = None;
        self.note_owed(&BTreeSet::new())
    }

    /// An extract begins of files that the dataset knows, and of new ones. If these are what it lost, it has lost nothing.
    pub(crate) fn expect(&self, known: SourceSum, new: SourceSum) {
        let manifest = &mut self.state().manifest;
        manifest.lost = manifest.lost.filter(|lost| lost.sources != Some(new));
        manifest.sources = Some(known.and(new));
    }

    /// An extract begins, after which the dataset should be of so many files; it is of some of them already.
    pub(crate) fn begin(&self, expected: usize, done: usize, made_with: MadeWith) -> Result<()> {
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
    pub(crate) fn count_done(&self, done: usize) {
        self.waiting().count_done(done as u64);
    }

    /// An extract came to its end. The dataset is complete if it has lost no file, and none of another extract is to be done.
    pub(crate) fn complete(&self) -> Result<()> {
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
}
