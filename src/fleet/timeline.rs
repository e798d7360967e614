//! CPU use of a cohort over the time of its recordings.

use super::options::FleetOptions;
use super::report::{TimelinePoint, WindowReport};
use super::run::rate_of;
use super::runs_behind::RunValues;
use super::stored_run::StoredRun;
use super::summary::{summarize, summarize_windows};
use super::windows::SECOND;
use crate::stats::{Distribution, QuantileMethod, WindowHistogram};
use crate::units::{Millionths, Nanos, Unit};

/// A timeline has no more points than this; longer recordings have longer steps. It ends where nine in ten runs have
/// ended, or here, where that is later.
const MAX_POINTS: u32 = 300;

/// The percentiles of CPU use in each second, over the runs that recorded it.
pub(super) fn timeline(runs: &[&StoredRun], unit: Unit, options: &FleetOptions) -> Vec<TimelinePoint> {
    let spans = runs.iter().filter_map(|run| run.series.span());
    let mut ends: Vec<u32> = spans.clone().map(|seconds| seconds.end).collect();
    ends.sort_unstable();
    // Where few runs are much longer than all others, the steps would be too long for the others.
    let usual = ends.get((ends.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(0);
    let end = ends.last().copied().unwrap_or(0).min(usual.max(MAX_POINTS));
    let start = spans.map(|seconds| seconds.start).min().unwrap_or(0);
    let step = end.saturating_sub(start).div_ceil(MAX_POINTS).max(1);
    let wall = Nanos::from_nanos(u64::from(step) * SECOND.as_nanos());
    let mut points = Vec::new();
    let mut second = start;
    while second < end {
        let next = second.saturating_add(step);
        let rates = runs.iter().filter_map(|run| rate_of(run.series.sum(second..next)?, unit, wall));
        let distribution = Distribution::new(rates.collect(), 0);
        if let Some(max) = distribution.max() {
            let value = |&quantile| distribution.quantile(quantile, QuantileMethod::NearestRank).unwrap_or(0.0);
            points.push(TimelinePoint {
                second,
                seconds: step,
                runs: distribution.count(),
                values: options.quantiles.iter().map(value).collect(),
                max: max.as_f64(),
            });
        }
        second = next;
    }
    points
}

/// The windows of all runs, pooled; `None` where no run is as long as a window. `positions` are those of the runs in the report.
pub(super) fn window_report(
    runs: &[&StoredRun],
    positions: &[usize],
    unit: Unit,
    options: &FleetOptions,
) -> Option<WindowReport> {
    let mut values = Vec::new();
    let mut zeros = 0;
    let mut peaks = Vec::new();
    let mut histogram = WindowHistogram::new();
    for (run, &position) in runs.iter().zip(positions) {
        let Some(peak) = window_max(run, unit) else { continue };
        peaks.push((peak, run.record.run_weight, position));
        let (rates, zero) = run.series.rates(unit);
        histogram.merge(&histogram_of(&rates, zero));
        values.extend(rates);
        zeros += zero;
    }
    let of_runs = RunValues::new(peaks.iter().copied(), options.is_weighted);
    let pooled = Distribution::new(values, zeros);
    (!peaks.is_empty()).then(|| WindowReport {
        runs: peaks.len() as u64,
        pooled: summarize_windows(&pooled, options),
        peaks: summarize(&peaks_of(peaks, options), &of_runs, None, options),
        hdr: histogram.to_v2_base64(),
    })
}

/// One value a run, so run weights count where they are asked for.
fn peaks_of(peaks: Vec<(Millionths, Millionths, usize)>, options: &FleetOptions) -> Distribution {
    if options.is_weighted {
        return Distribution::weighted(peaks.into_iter().map(|(peak, weight, _)| (peak, weight)).collect(), 0, 0);
    }
    Distribution::new(peaks.into_iter().map(|(peak, ..)| peak).collect(), 0)
}

/// The windows of one run as a histogram.
fn histogram_of(rates: &[Millionths], zeros: u64) -> WindowHistogram {
    let mut histogram = WindowHistogram::new();
    for &rate in rates {
        histogram.record(rate);
    }
    histogram.record_n(Millionths::default(), zeros);
    histogram
}

/// A run's busiest window; `None` without a whole one.
pub(super) fn window_max(run: &StoredRun, unit: Unit) -> Option<Millionths> {
    rate_of(run.series.peak(1)?, unit, SECOND)
}

/// The percentiles of a run's windows; `None` without a whole one.
pub(super) fn window_quantiles(run: &StoredRun, unit: Unit, options: &FleetOptions) -> Option<Vec<Millionths>> {
    let (rates, zeros) = run.series.rates(unit);
    let windows = Distribution::new(rates, zeros);
    let value = |quantile: &crate::stats::Quantile| windows.value_at_rank(quantile.nearest_rank(windows.count()));
    options.quantiles.iter().map(value).collect()
}
