//! A run of a fleet, until the report is made.

use super::run::{RunRecord, rate_of};
use super::run_windows::RunWindows;
use crate::recording::TimeSource;
use crate::units::{Millionths, Nanos, Unit};

/// The units of [`StoredRun::effective`] in a sample.
pub(super) const EFFECTIVE_UNIT: f64 = (1_u64 << 40) as f64;

/// The part of a run that is kept for itself.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub(super) run_id: String,
    pub(super) source: String,
    pub(super) start: Option<String>,
    pub(super) wall: Nanos,
    pub(super) wall_source: TimeSource,
    pub(super) unit: Unit,
    pub(super) run_weight: Millionths,
    pub(super) cohort: u32,
    /// The weight of the selected processes.
    pub(super) weight: u64,
    pub(super) samples: u64,
    pub(super) rate: Millionths,
    /// The samples of all processes, and as many of one weight as are as noisy.
    all_samples: (u64, u64),
    pub(super) usual_weight: u64,
    pub(super) windows: RunWindows,
}

impl StoredRun {
    /// A run of a cohort, with its selected weight, samples and rate.
    pub(super) fn new(
        record: &RunRecord,
        cohort: u32,
        (weight, samples, rate): (u64, u64, Millionths),
        windows: RunWindows,
    ) -> Self {
        Self {
            run_id: record.run_id.as_str().into(),
            source: record.source.as_str().into(),
            start: record.start.as_deref().map(String::from),
            wall: record.wall.unwrap_or_default(),
            wall_source: record.wall_source,
            unit: record.unit,
            run_weight: record.run_weight,
            cohort,
            weight,
            samples,
            rate,
            all_samples: (record.samples, record.effective_samples),
            usual_weight: record.usual_weight,
            windows,
        }
    }

    /// True if no thread was on the CPU.
    pub(super) fn is_idle(&self) -> bool {
        self.all_samples.0 == 0
    }

    /// The approximate memory in bytes, in addition to the value itself.
    pub(super) fn memory(&self) -> u64 {
        let texts = self.run_id.capacity() + self.source.capacity() + self.start.as_ref().map_or(0, String::capacity);
        texts as u64 + self.windows.memory()
    }

    /// The measure of a weight in this run.
    pub(super) fn rate_of(&self, weight: u64) -> Millionths {
        rate_of(weight, self.unit, self.wall).unwrap_or_default()
    }

    /// The number of equally weighted samples that are as noisy as some of the run's samples: in proportion to all its
    /// samples, since the weights of a few samples do not show their spread.
    ///
    /// In units of 2⁻⁴⁰ samples: sums of integers are the same in every order of runs.
    pub(super) fn effective(&self, samples: u64) -> u128 {
        let (all, effective) = self.all_samples;
        (samples as f64 * (effective as f64 / all.max(1) as f64) * EFFECTIVE_UNIT).round() as u128
    }
}
