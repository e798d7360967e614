//! The signposts and hangs of a run. Datasets do not store them.

use crate::memory::of_vec;
use crate::recording::Interval;

/// The intervals of a run, and facts about their tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunIntervals {
    /// The distinct intervals.
    pub rows: Vec<Interval>,
    /// True if the run has a table of signposts.
    pub has_signposts: bool,
    /// True if the run has a table of hangs.
    pub has_hangs: bool,
    /// The number of rows of these tables that could not be read.
    pub unread: u64,
}

impl RunIntervals {
    /// The approximate memory use in bytes.
    pub(crate) fn memory(&self) -> u64 {
        of_vec(&self.rows)
    }
}
