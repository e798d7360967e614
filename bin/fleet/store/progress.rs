//! The progress of an extract, which the manifest tells: a dataset is incomplete from its start until its end.

use anyhow::Result;
use traceparse::fleet::Completeness;

use super::{MadeWith, Store};

/// Data files that are written before they are merged.
const UNMERGED: u64 = 64;

impl Store {
    /// The inputs that the dataset is of.
    pub(crate) fn completeness(&self) -> Completeness {
        self.state().manifest.inputs
    }

    /// An extract begins, after which the dataset should be of so many files; it is of some of them already.
    pub(crate) fn begin(&self, expected: usize, done: usize, made_with: MadeWith) -> Result<()> {
        self.check_writer()?;
        let mut state = self.indexed()?;
        state.manifest.inputs = Completeness {
            is_complete: Some(false),
            inputs_expected: Some(expected as u64),
            inputs_done: Some(done as u64),
        };
        state.manifest.made_with = made_with;
        state.manifest.merged = None;
        self.save_state(&mut state)
    }

    /// So many files are done. Saves the change of the last one, if it was one, or those of some time together; true if it did.
    pub(crate) fn progress(&self, done: usize, is_change: bool, target_rows: u64) -> Result<bool> {
        self.check_writer()?;
        let mut state = self.indexed()?;
        // Another thread may be ahead.
        state.manifest.inputs.inputs_done = state.manifest.inputs.inputs_done.max(Some(done as u64));
        if is_change {
            state.count_change();
        }
        if state.unmerged >= UNMERGED {
            self.merge_small(&mut state, target_rows)?;
        }
        let is_saved = is_change && state.is_due();
        if is_saved {
            self.save_state(&mut state)?;
        }
        Ok(is_saved)
    }

    /// It came to its end.
    pub(crate) fn complete(&self) -> Result<()> {
        self.check_writer()?;
        let mut state = self.indexed()?;
        // First without the files that are not needed any more: a complete dataset has none in its folder.
        self.save_state(&mut state)?;
        self.folder.sync()?;
        state.manifest.inputs.is_complete = Some(true);
        state.manifest.inputs.inputs_done = state.manifest.inputs.inputs_expected;
        self.save_state(&mut state)
    }
}
