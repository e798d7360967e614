//! What is kept of the seconds of a run.

use super::options::FleetOptions;
use super::run::rate_of;
use super::windows::{SECOND, Series};
use crate::stats::{Distribution, ExponentialHistogram, Quantile, WindowHistogram};
use crate::units::{Millionths, Unit};

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
