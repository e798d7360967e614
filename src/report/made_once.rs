//! What all series of a report need, made when the first of them does.

use std::ops::Range;
use std::sync::OnceLock;

use crate::profile::SelectedSamples;

/// The parts of a report that all series need.
#[derive(Clone, Debug, Default)]
pub(super) struct MadeOnce<'e> {
    pub(super) selected: OnceLock<SelectedSamples<'e>>,
    /// By series: the samples from its first one to its last.
    pub(super) ranges: OnceLock<Vec<Range<usize>>>,
}
