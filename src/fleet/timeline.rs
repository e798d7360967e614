//! CPU use of a cohort over the time of its recordings.

use super::options::FleetOptions;
use super::report::{TimelinePoint, WindowReport};
use super::run::rate_of;
use super::runs_behind::RunValues;
use super::stored_run::StoredRun;
use super::summary::{summarize, summarize_windows};
use super::windows::{SECOND, Weights};
use crate::stats::{Distribution, QuantileMethod, WindowHistogram};
use crate::units::{Millionths, Nanos, Unit};

/// A timeline has no more points than this; longer recordings have longer steps. It ends where nine in ten runs have
/// ended, or here, where that is later.
const MAX_POINTS: u32 = 300;

/// Values that a timeline takes at a time: those of as many points as there is room for.
const MAX_VALUES: usize = 1 << 22;

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
    let seconds: Vec<u32> = (start..end).step_by(step as usize).collect();
    // Some points at a time, so that the values of many runs have room.
    let at_once = (MAX_VALUES / runs.len().max(1)).max(1);
    seconds.chunks(at_once).flat_map(|seconds| points(runs, unit, (seconds, step), options)).collect()
}

/// The points of a timeline that begin at these seconds, all of one length.
fn points(
    runs: &[&StoredRun],
    unit: Unit,
    (seconds, step): (&[u32], u32),
    options: &FleetOptions,
) -> Vec<TimelinePoint> {
    let wall = Nanos::from_nanos(u64::from(step) * SECOND.as_nanos());
    let mut rates: Vec<Vec<Millionths>> = vec![Vec::new(); seconds.len()];
    let mut weights = Weights::new();
    for run in runs {
        weights.clear();
        weights.extend(run.series.weights());
        for (&second, rates) in seconds.iter().zip(&mut rates) {
            let sum = run.series.sum(&weights, second..second.saturating_add(step));
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
        peaks.push((peak, run.run_weight, position));
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
