//! A run of a fleet, until the report is made.
//!
//! What is kept of the seconds of a run.

use super::options::FleetOptions;
use super::run::{RunRecord, rate_of};
use super::windows::{SECOND, Series};
use crate::recording::TimeSource;
use crate::stats::{Distribution, ExponentialHistogram, Quantile, WindowHistogram};
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

/// The seconds of a run, or the requested statistics of them.
#[derive(Debug)]
pub(super) enum RunWindows {
    /// All seconds.
    Kept(Series),
    /// The largest value and the requested percentiles; the seconds were [counted](CountedWindows) together with the
    /// seconds of other runs.
    Counted { max: Option<Millionths>, quantiles: Option<Box<[Millionths]>> },
}

/// The seconds of the runs of a cohort, in buckets.
#[derive(Debug, Default)]
pub(super) struct CountedWindows {
    pub(super) buckets: ExponentialHistogram,
    pub(super) hdr: WindowHistogram,
}

impl CountedWindows {
    /// Counts the seconds of a run.
    pub(super) fn count(&mut self, series: &Series, unit: Unit, options: &FleetOptions) -> RunWindows {
        let (rates, zeros) = series.rates(unit);
        for &rate in &rates {
            self.buckets.record(rate);
        }
        self.buckets.record_n(Millionths::default(), zeros);
        self.hdr.merge(&histogram_of(&rates, zeros));
        let max = max_of(series, unit);
        RunWindows::Counted { max, quantiles: quantiles_of(rates, zeros, &options.quantiles).map(Into::into) }
    }
}

impl RunWindows {
    /// The seconds one by one, where they were kept.
    pub(super) const fn series(&self) -> Option<&Series> {
        match self {
            Self::Kept(series) => Some(series),
            Self::Counted { .. } => None,
        }
    }

    /// True without a whole second.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Kept(series) => series.is_empty(),
            Self::Counted { max, .. } => max.is_none(),
        }
    }

    /// The approximate memory in bytes, in addition to the value itself.
    pub(super) fn memory(&self) -> u64 {
        match self {
            Self::Kept(series) => series.memory(),
            Self::Counted { quantiles, .. } => quantiles.as_ref().map_or(0, |values| size_of_val(&**values) as u64),
        }
    }

    /// The busiest window; `None` without a whole one.
    pub(super) fn max(&self, unit: Unit) -> Option<Millionths> {
        match self {
            Self::Kept(series) => max_of(series, unit),
            Self::Counted { max, .. } => *max,
        }
    }

    /// The percentiles; `None` without a whole window.
    pub(super) fn quantiles(&self, unit: Unit, options: &FleetOptions) -> Option<Vec<Millionths>> {
        match self {
            Self::Kept(series) => {
                let (rates, zeros) = series.rates(unit);
                quantiles_of(rates, zeros, &options.quantiles)
            }
            Self::Counted { quantiles, .. } => quantiles.as_deref().map(<[_]>::to_vec),
        }
    }
}

fn max_of(series: &Series, unit: Unit) -> Option<Millionths> {
    rate_of(series.peak(1)?, unit, SECOND)
}

fn quantiles_of(rates: Vec<Millionths>, zeros: u64, quantiles: &[Quantile]) -> Option<Vec<Millionths>> {
    let windows = Distribution::new(rates, zeros);
    quantiles.iter().map(|quantile| windows.value_at_rank(quantile.nearest_rank(windows.count()))).collect()
}

/// The windows of one run as a histogram.
pub(super) fn histogram_of(rates: &[Millionths], zeros: u64) -> WindowHistogram {
    let mut histogram = WindowHistogram::new();
    for &rate in rates {
        histogram.record(rate);
    }
    histogram.record_n(Millionths::default(), zeros);
    histogram
}
