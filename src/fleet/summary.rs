//! Summarises a distribution, with the runs that determine its percentiles, and computes CPU use over the course of a cohort's recordings.

use super::options::{FleetOptions, SortKey};
use super::report::{Caution, Summary, TimelinePoint, WindowReport};
use super::run::rate_of;
use super::stored_run::StoredRun;
use super::windows::{SECOND, Weights};
use crate::stats::{Distribution, Estimate, ExponentialHistogram, Interval, Quantile, QuantileMethod, Support};
use crate::units::{Millionths, Nanos, Unit};

/// The recorded time of runs and the weight used in it, for the weighted mean.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    weight: u128,
    wall: u128,
}

impl Totals {
    /// Adds a run's recorded time, multiplied by its run weight.
    pub(super) fn add_wall(&mut self, wall: Nanos, run_weight: Millionths) {
        let wall = u128::from(wall.as_nanos()).saturating_mul(u128::from(run_weight.get()));
        self.wall = self.wall.saturating_add(wall);
    }

    /// Adds the weight used in a run, multiplied by its run weight.
    pub(super) fn add_weight(&mut self, weight: u64, run_weight: Millionths) {
        let weight = u128::from(weight).saturating_mul(u128::from(run_weight.get()));
        self.weight = self.weight.saturating_add(weight);
    }

    /// The total weight divided by the total recorded time.
    pub(super) fn rate(&self, unit: Unit) -> Option<Millionths> {
        Millionths::of_ratio(self.weight.checked_mul(unit.rate_per_nano())?, self.wall)
    }
}

/// Summarises a distribution across runs with these values.
pub(super) fn summarize(
    distribution: &Distribution,
    runs: &RunValues,
    weighted_mean: Option<Millionths>,
    options: &FleetOptions,
) -> Summary {
    let estimate = |&quantile: &Quantile| distribution.estimate(quantile, options.method, options.confidence);
    let estimates: Vec<_> = options.quantiles.iter().map(estimate).collect();
    let behind = |&quantile: &Quantile| runs.behind(distribution, quantile, options.method);
    let mut summary = Summary {
        count: distribution.count(),
        zeros: distribution.zeros(),
        min: distribution.min().map(Millionths::as_f64),
        max: distribution.max().map(Millionths::as_f64),
        mean: distribution.mean().map(Millionths::as_f64),
        weighted_mean: weighted_mean.map(Millionths::as_f64),
        estimates,
        percentile_runs: options.quantiles.iter().map(behind).collect(),
        max_run: runs.max(),
        is_exact: true,
        cautions: Vec::new(),
    };
    summary.cautions = cautions(distribution, &summary);
    summary
}

/// Summarises pooled windows. Their number does not determine the certainty of a percentile, so there are no intervals, and every percentile has
/// support.
pub(super) fn summarize_windows(distribution: &Distribution, options: &FleetOptions) -> Summary {
    let unweighted = FleetOptions { is_weighted: false, ..options.clone() };
    let mut summary = summarize(distribution, &RunValues::default(), None, &unweighted);
    for estimate in &mut summary.estimates {
        estimate.support = Support::Enough;
        (estimate.interval.lower, estimate.interval.upper) = (None, None);
    }
    summary.cautions.clear();
    summary
}

/// Summarises windows counted in buckets. Percentiles are within [`ExponentialHistogram::RELATIVE_ERROR`]; everything else is exact.
pub(super) fn summarize_buckets(buckets: &ExponentialHistogram, options: &FleetOptions) -> Summary {
    let estimate = |&quantile: &Quantile| Estimate {
        quantile,
        value: buckets.quantile(quantile),
        support: Support::Enough,
        interval: Interval { lower: None, upper: None },
    };
    Summary {
        count: buckets.count(),
        zeros: buckets.zeros(),
        min: buckets.range().map(|(min, _)| min.as_f64()),
        max: buckets.range().map(|(_, max)| max.as_f64()),
        mean: buckets.mean().map(Millionths::as_f64),
        weighted_mean: None,
        estimates: options.quantiles.iter().map(estimate).collect(),
        percentile_runs: options.quantiles.iter().map(|_| Vec::new()).collect(),
        max_run: None,
        is_exact: false,
        cautions: Vec::new(),
    }
}

fn cautions(distribution: &Distribution, summary: &Summary) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let quantile = |quantile| distribution.quantile(quantile, QuantileMethod::NearestRank);
    let mean = distribution.weighted_mean().map_or(0.0, Millionths::as_f64);
    if quantile(Quantile::P50) == Some(0.0) {
        cautions.push(Caution::MostlyAbsent);
    }
    if quantile(Quantile::P90).is_some_and(|p90| mean > p90) {
        cautions.push(Caution::MeanAboveP90);
    }
    let needed = summary.estimates.iter().filter_map(|estimate| match estimate.support {
        Support::TooFew { needed } => Some(needed),
        Support::Enough | Support::UpperUnknown => None,
    });
    if let Some(needed) = needed.max() {
        cautions.push(Caution::TooFewRuns { needed });
    }
    cautions
}

/// The number by which tables are sorted.
pub(super) fn sort_value(
    distribution: &Distribution,
    weighted_mean: Option<Millionths>,
    options: &FleetOptions,
) -> f64 {
    let value = match options.sort {
        SortKey::Quantile(quantile) => return distribution.quantile(quantile, options.method).unwrap_or(0.0),
        SortKey::Mean => distribution.mean(),
        // Has already been replaced by a specific key.
        SortKey::HighestSupported => distribution.max(),
        SortKey::WeightedMean => weighted_mean,
        SortKey::Max => distribution.max(),
    };
    value.map_or(0.0, Millionths::as_f64)
}

// With nearest rank, a percentile is the value of a run that users can open. If several runs have that value, the first one in report order is
// listed.

/// The values of one distribution, with the positions of their runs.
#[derive(Debug, Default)]
pub(super) struct RunValues {
    /// Sorted. Runs without a value are the distribution's zeros, and are not included.
    values: Vec<(Millionths, usize)>,
}

impl RunValues {
    /// Creates the list from values, run weights and run positions. A weighted distribution excludes runs of zero weight.
    pub(super) fn new(values: impl Iterator<Item = (Millionths, Millionths, usize)>, is_weighted: bool) -> Self {
        let counts = |(_, weight, _): &(Millionths, Millionths, usize)| !is_weighted || weight.get() > 0;
        let mut values: Vec<_> = values.filter(counts).map(|(value, _, run)| (value, run)).collect();
        values.sort_unstable();
        Self { values }
    }

    /// The runs that determine a percentile, in order of their values: one with nearest rank, and two if the linear method interpolates. A zero
    /// has no runs, since an idle run is not worth opening.
    pub(super) fn behind(&self, distribution: &Distribution, quantile: Quantile, method: QuantileMethod) -> Vec<usize> {
        let values = distribution.values_behind(quantile, method);
        values.filter(|value| value.get() > 0).filter_map(|value| self.first_with(value)).collect()
    }

    /// The run with the largest value.
    pub(super) fn max(&self) -> Option<usize> {
        self.values.last().and_then(|&(value, _)| self.first_with(value))
    }

    fn first_with(&self, value: Millionths) -> Option<usize> {
        let first = self.values.partition_point(|&(other, _)| other < value);
        self.values.get(first).filter(|found| found.0 == value).map(|found| found.1)
    }
}

/// The maximum number of points in a timeline; longer recordings have longer steps. The timeline ends when nine out of ten runs have ended, but
/// not before this number of points.
const MAX_POINTS: u32 = 300;

/// The number of values that a timeline processes at a time, which limits how many points are computed together.
const MAX_VALUES: usize = 1 << 22;

/// The percentiles of CPU use in each second, over the runs that recorded it.
pub(super) fn timeline(runs: &[&StoredRun], unit: Unit, options: &FleetOptions) -> Vec<TimelinePoint> {
    let spans = runs.iter().filter_map(|run| run.series.as_ref()?.span());
    let mut ends: Vec<u32> = spans.clone().map(|seconds| seconds.end).collect();
    ends.sort_unstable();
    // A few runs that are much longer than the others would otherwise make steps too long.
    let usual = ends.get((ends.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(0);
    let end = ends.last().copied().unwrap_or(0).min(usual.max(MAX_POINTS));
    let start = spans.map(|seconds| seconds.start).min().unwrap_or(0);
    let step = end.saturating_sub(start).div_ceil(MAX_POINTS).max(1);
    let seconds: Vec<u32> = (start..end).step_by(step as usize).collect();
    // A few points at a time, to limit the memory for the values of many runs.
    let at_once = (MAX_VALUES / runs.len().max(1)).max(1);
    seconds.chunks(at_once).flat_map(|seconds| points(runs, unit, (seconds, step), options)).collect()
}

/// The points of a timeline that begin at these seconds and have the same length.
fn points(
    runs: &[&StoredRun],
    unit: Unit,
    (seconds, step): (&[u32], u32),
    options: &FleetOptions,
) -> Vec<TimelinePoint> {
    let wall = Nanos::from_nanos(u64::from(step) * SECOND.as_nanos());
    let mut rates: Vec<Vec<Millionths>> = vec![Vec::new(); seconds.len()];
    let mut weights = Weights::new();
    for series in runs.iter().filter_map(|run| run.series.as_ref()) {
        weights.clear();
        weights.extend(series.weights());
        for (&second, rates) in seconds.iter().zip(&mut rates) {
            let sum = series.sum(&weights, second..second.saturating_add(step));
            rates.extend(sum.and_then(|sum| rate_of(sum, unit, wall)));
        }
    }
    let point = |(&second, rates)| {
        let distribution = Distribution::new(rates, 0);
        let value = |&quantile| distribution.quantile(quantile, QuantileMethod::NearestRank).unwrap_or(0.0);
        Some(TimelinePoint {
            second,
            seconds: step,
            runs: distribution.count(),
            values: options.quantiles.iter().map(value).collect(),
            max: distribution.max()?.as_f64(),
        })
    };
    seconds.iter().zip(rates).filter_map(point).collect()
}

/// The pooled windows of all runs; `None` if no run is as long as a window. `positions` are the runs' positions in the report. `counted` are
/// windows that were not kept.
pub(super) fn window_report(
    runs: &[&StoredRun],
    positions: &[usize],
    unit: Unit,
    options: &FleetOptions,
    counted: &ExponentialHistogram,
) -> Option<WindowReport> {
    let peak = |(run, &position): (&&StoredRun, &usize)| Some((run.row.window_max?, run.row.run_weight, position));
    let peaks: Vec<(Millionths, Millionths, usize)> = runs.iter().zip(positions).filter_map(peak).collect();
    let of_runs = RunValues::new(peaks.iter().copied(), options.is_weighted);
    let pooled = if options.is_approximate { summarize_buckets(counted, options) } else { pooled(runs, unit, options) };
    let runs = peaks.len() as u64;
    let peaks = options.distribution(peaks.into_iter().map(|(peak, weight, _)| (peak, weight)).collect(), 0, 0);
    (runs > 0).then(|| WindowReport { runs, pooled, peaks: summarize(&peaks, &of_runs, None, options) })
}

/// Summarises the windows that were kept.
fn pooled(runs: &[&StoredRun], unit: Unit, options: &FleetOptions) -> Summary {
    let (mut values, mut zeros) = (Vec::new(), 0);
    for series in runs.iter().filter_map(|run| run.series.as_ref()) {
        let (rates, zero) = series.rates(unit);
        values.extend(rates);
        zeros += zero;
    }
    summarize_windows(&Distribution::new(values, zeros), options)
}
