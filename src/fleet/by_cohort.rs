//! The entries of a key in the runs of each cohort.

use super::entries::{Entry, EntryRuns};
use super::stored_run::StoredRun;

/// Entries that are looked at at a time: 48 MiB.
pub(super) const MOST_ENTRIES: usize = 2 << 20;

/// The runs in the order of the report, and the position of each run in the order of addition.
#[derive(Clone, Copy)]
pub(super) struct Positions<'b> {
    pub(super) runs: &'b [StoredRun],
    pub(super) order: &'b [u32],
}

impl EntryRuns for Positions<'_> {
    fn position(&self, added: u32) -> u32 {
        self.order[added as usize]
    }

    fn usual_weight(&self, added: u32) -> u64 {
        self.runs[self.order[added as usize] as usize].usual_weight
    }
}

/// The entries of a key, split by cohort.
pub(super) struct ByCohort(Vec<Vec<Entry>>);

impl ByCohort {
    /// Creates empty entries for this many cohorts.
    pub(super) fn new(cohorts: usize) -> Self {
        Self(vec![Vec::new(); cohorts])
    }

    /// Replaces what is there.
    pub(super) fn split(&mut self, entries: &[Entry], runs: &[StoredRun]) {
        self.0.iter_mut().for_each(Vec::clear);
        for entry in entries {
            self.0[runs[entry.run as usize].cohort as usize].push(*entry);
        }
    }

    /// The entries of the key in a cohort.
    pub(super) fn of(&self, cohort: usize) -> &[Entry] {
        &self.0[cohort]
    }
}
