//! A run of a fleet, until the report is made.

use super::run::RunRecord;
use super::windows::Series;
use crate::units::Millionths;

/// The part of a run that is kept for itself.
#[derive(Debug)]
pub(super) struct StoredRun {
    /// Without its labels, which stand in the cohort.
    pub(super) record: RunRecord,
    pub(super) cohort: u32,
    /// The weight that counts, if only some processes do.
    pub(super) weight: u64,
    pub(super) samples: u64,
    pub(super) rate: Millionths,
    pub(super) series: Series,
}
