//! One distribution, summed up, and the runs whose values its percentiles are.

use super::options::{FleetOptions, SortKey};
use super::report::{Caution, Summary};
use crate::stats::{Distribution, Estimate, ExponentialHistogram, Interval, Quantile, QuantileMethod, Support};
use crate::units::{Millionths, Nanos, Unit};

/// The recorded time of runs, and what was used in it: for the weighted mean.
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

    /// Adds what was used in a run.
    pub(super) fn add_weight(&mut self, weight: u64, run_weight: Millionths) {
        let weight = u128::from(weight).saturating_mul(u128::from(run_weight.get()));
        self.weight = self.weight.saturating_add(weight);
    }

    /// All that was used over all that was recorded.
    pub(super) fn rate(&self, unit: Unit) -> Option<Millionths> {
        Millionths::of_ratio(self.weight.checked_mul(unit.rate_per_nano())?, self.wall)
    }
}

/// The summary of a distribution across runs, which have these values.
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

/// The summary of pooled windows: their number does not determine the certainty of a percentile, so there are no
/// intervals, and every percentile has support.
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

/// The summary of windows that were counted in buckets: percentiles are within [`ExponentialHistogram::RELATIVE_ERROR`], all else is exact.
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
        min: buckets.min().map(Millionths::as_f64),
        max: buckets.max().map(Millionths::as_f64),
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

/// The number of a summary that tables are sorted by.
pub(super) fn sort_value(
    distribution: &Distribution,
    weighted_mean: Option<Millionths>,
    options: &FleetOptions,
) -> f64 {
    let value = match options.sort {
        SortKey::Quantile(quantile) => return distribution.quantile(quantile, options.method).unwrap_or(0.0),
        SortKey::Mean => distribution.mean(),
        // Replaced earlier.
        SortKey::HighestSupported => distribution.max(),
        SortKey::WeightedMean => weighted_mean,
        SortKey::Max => distribution.max(),
    };
    value.map_or(0.0, Millionths::as_f64)
}

// By nearest rank, a percentile is the value of a run, which a person can open. If several runs have that value, the first one in the order
// of the report is named.

/// The values of one distribution with the positions of their runs.
#[derive(Debug, Default)]
pub(super) struct RunValues {
    /// Sorted. Runs without a value are the zeros of the distribution, and not included here.
    values: Vec<(Millionths, usize)>,
}

impl RunValues {
    /// Values with their run weights and the positions of their runs. A weighted distribution excludes runs without
    /// weight.
    pub(super) fn new(values: impl Iterator<Item = (Millionths, Millionths, usize)>, is_weighted: bool) -> Self {
        let counts = |(_, weight, _): &(Millionths, Millionths, usize)| !is_weighted || weight.get() > 0;
        let mut values: Vec<_> = values.filter(counts).map(|(value, _, run)| (value, run)).collect();
        values.sort_unstable();
        Self { values }
    }

    /// The runs that determine a percentile of this distribution, in the order of their values: one by nearest rank,
    /// and two if the linear method is between two values. A value of zero has no runs: an idle run is not worth
    /// opening.
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
