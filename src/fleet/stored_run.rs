//! Stores a fleet's run until the report is created, and the counted seconds of a cohort's runs.

use super::options::FleetOptions;
use super::report::{Cohort, RunRow};
use super::run::{RunRecord, rate_of};
use super::windows::Series;
use crate::alert::AlertMeasure;
use crate::memory::of_vec;
use crate::stats::{Distribution, ExponentialHistogram};
use crate::units::{Millionths, Nanos, Unit};

/// The number of [`StoredRun::effective`] units per sample.
pub(super) const EFFECTIVE_UNIT: f64 = (1_u64 << 40) as f64;

/// What is kept of a run.
#[derive(Debug)]
pub(super) struct StoredRun {
    /// The row of the report. Until the report is created, cohorts are numbered in the order of addition.
    pub(super) row: RunRow,
    pub(super) unit: Unit,
    /// The total weight of unreadable rows, assuming the mean weight; `None` if no row is readable.
    unread_weight: Option<u64>,
    /// The number of samples in all processes, and their effective sample size.
    all_samples: (u64, u64),
    pub(super) usual_weight: u64,
    /// The weights of its seconds, unless they are only counted.
    pub(super) series: Option<Series>,
}

impl StoredRun {
    /// Creates a run of a cohort, with its selected weight, samples and rate.
    pub(super) fn new(
        (record, rejected): (&RunRecord, u64),
        (cohort, windows): (usize, Option<&mut ExponentialHistogram>),
        (weight, samples, rate): (u64, u64, Millionths),
        series: Series,
        options: &FleetOptions,
    ) -> Self {
        let (rates, zeros) = series.rates(record.unit);
        let is_counted = windows.map(|windows| count(windows, &rates, zeros)).is_some();
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
            rejected,
            is_damaged: rejected as f64 > MOST_REJECTED * (rejected + record.samples) as f64,
            run_weight: record.run_weight,
            rate,
            windows: quantiles.map(|quantile| seconds.nearest(*quantile)).collect(),
            window_max: seconds.max(),
        };
        Self {
            row,
            unit: record.unit,
            unread_weight: unread_weight(record, rejected),
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

    /// The most by which a measure of this run can be too low: if all unreadable rows belong to it and have the mean weight.
    pub(super) fn unread(&self, measure: AlertMeasure) -> Millionths {
        let weight = self.unread_weight;
        let amount = match measure {
            AlertMeasure::Elapsed => Some(Millionths::default()),
            AlertMeasure::CpuTime => weight.map(Millionths::new),
            AlertMeasure::Window(seconds) => {
                weight.and_then(|weight| rate_of(weight, self.unit, Nanos::from_millis(u64::from(seconds) * 1000)))
            }
            _ => weight.map(|weight| self.rate_of(weight)),
        };
        amount.unwrap_or(Millionths::new(u64::MAX))
    }

    /// The rate for a weight of this run.
    pub(super) fn rate_of(&self, weight: u64) -> Millionths {
        rate_of(weight, self.unit, self.row.wall).unwrap_or_default()
    }

    /// The effective sample size of some of the run's samples, in proportion to that of all, since the weights of a few samples do not reveal
    /// their spread.
    ///
    /// In units of 2⁻⁴⁰ samples, since sums of integers do not depend on the order of runs.
    pub(super) fn effective(&self, samples: u64) -> u128 {
        let (all, effective) = self.all_samples;
        (samples as f64 * (effective as f64 / all.max(1) as f64) * EFFECTIVE_UNIT).round() as u128
    }
}

/// If more than this share of a run's rows is unreadable, the error of its weight is larger than typical differences between runs.
const MOST_REJECTED: f64 = 0.01;

fn unread_weight(record: &RunRecord, rejected: u64) -> Option<u64> {
    let all = u128::from(record.weight) * u128::from(rejected);
    let weight = all.checked_div(record.samples.into()).or((rejected == 0).then_some(0))?;
    u64::try_from(weight).ok()
}

/// A cohort of runs.
#[derive(Debug)]
pub(super) struct StoredCohort {
    pub(super) cohort: Cohort,
    /// The seconds of its runs, if they are counted in buckets.
    pub(super) windows: ExponentialHistogram,
}

/// Counts the seconds of a run.
fn count(windows: &mut ExponentialHistogram, rates: &[Millionths], zeros: u64) {
    rates.iter().for_each(|&rate| windows.record(rate));
    windows.record_n(Millionths::default(), zeros);
}
