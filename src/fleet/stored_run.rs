//! A run of a fleet until the report is made, and the seconds of all runs of a cohort.

use super::options::FleetOptions;
use super::report::{Cohort, RunRow};
use super::run::{RunRecord, rate_of};
use super::windows::Series;
use crate::memory::of_vec;
use crate::stats::{Distribution, ExponentialHistogram, WindowHistogram};
use crate::units::{Millionths, Unit};

/// The units of [`StoredRun::effective`] in a sample.
pub(super) const EFFECTIVE_UNIT: f64 = (1_u64 << 40) as f64;

/// The part of a run that is kept for itself.
#[derive(Debug)]
pub(super) struct StoredRun {
    /// As in the report. Cohorts are in the order of addition until then.
    pub(super) row: RunRow,
    pub(super) unit: Unit,
    /// The samples of all processes, and as many of one weight as are as noisy.
    all_samples: (u64, u64),
    pub(super) usual_weight: u64,
    /// Its seconds, unless they are only [counted](CountedWindows).
    pub(super) series: Option<Series>,
}

impl StoredRun {
    /// A run of a cohort, with its selected weight, samples and rate.
    pub(super) fn new(
        record: &RunRecord,
        (cohort, windows): (usize, Option<&mut CountedWindows>),
        (weight, samples, rate): (u64, u64, Millionths),
        series: Series,
        options: &FleetOptions,
    ) -> Self {
        let (rates, zeros) = series.rates(record.unit);
        let is_counted = windows.map(|windows| windows.count(&rates, zeros)).is_some();
        let seconds = Distribution::new(rates, zeros);
        let quantiles = options.quantiles.iter();
        let row = RunRow {
            run_id: record.run_id.clone(),
            source: record.source.clone(),
            number: record.number,
            is_one_of_several: false,
            start: record.start.clone(),
            cohort,
            wall: record.wall.unwrap_or_default(),
            wall_source: record.wall_source,
            weight,
            samples,
            run_weight: record.run_weight,
            rate,
            windows: quantiles.map(|quantile| seconds.nearest(*quantile)).collect(),
            window_max: seconds.max(),
        };
        Self {
            row,
            unit: record.unit,
            all_samples: (record.samples, record.effective_samples),
            usual_weight: record.usual_weight,
            series: (!is_counted).then_some(series),
        }
    }

    /// The approximate memory in bytes, in addition to the value itself.
    pub(super) fn memory(&self) -> u64 {
        let RunRow { run_id, source, start, windows, .. } = &self.row;
        let texts = run_id.capacity() + source.capacity() + start.as_ref().map_or(0, String::capacity);
        texts as u64 + windows.as_ref().map_or(0, of_vec) + self.series.as_ref().map_or(0, Series::memory)
    }

    /// The measure of a weight in this run.
    pub(super) fn rate_of(&self, weight: u64) -> Millionths {
        rate_of(weight, self.unit, self.row.wall).unwrap_or_default()
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

/// A cohort with the seconds of its runs, if they are counted.
#[derive(Debug)]
pub(super) struct StoredCohort {
    pub(super) cohort: Cohort,
    pub(super) windows: CountedWindows,
}

/// The seconds of the runs of a cohort, in buckets.
#[derive(Debug, Default)]
pub(super) struct CountedWindows {
    pub(super) buckets: ExponentialHistogram,
    pub(super) hdr: WindowHistogram,
}

impl CountedWindows {
    /// Counts the seconds of a run.
    fn count(&mut self, rates: &[Millionths], zeros: u64) {
        for &rate in rates {
            self.buckets.record(rate);
        }
        self.buckets.record_n(Millionths::default(), zeros);
        record_all(&mut self.hdr, rates, zeros);
    }
}

/// Adds the windows of one run to a histogram.
pub(super) fn record_all(histogram: &mut WindowHistogram, rates: &[Millionths], zeros: u64) {
    for &rate in rates {
        histogram.record(rate);
    }
    histogram.record_n(Millionths::default(), zeros);
}
