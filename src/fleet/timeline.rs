//! CPU use of a cohort over the time of its recordings.

use super::options::FleetOptions;
use super::report::{Summary, TimelinePoint, WindowReport};
use super::run::rate_of;
use super::stored_run::{CountedWindows, StoredRun, record_all};
use super::summary::{RunValues, summarize, summarize_buckets, summarize_windows};
use super::windows::{SECOND, Weights};
use crate::stats::{Distribution, QuantileMethod, WindowHistogram};
use crate::units::{Millionths, Nanos, Unit};

/// The maximum number of points of a timeline; longer recordings have longer steps. It ends when nine in ten runs have
/// ended, or after this many points, if that is later.
const MAX_POINTS: u32 = 300;

/// The number of values that a timeline processes at a time: as many points as fit.
const MAX_VALUES: usize = 1 << 22;

/// The percentiles of CPU use in each second, over the runs that recorded it.
pub(super) fn timeline(runs: &[&StoredRun], unit: Unit, options: &FleetOptions) -> Vec<TimelinePoint> {
    let spans = runs.iter().filter_map(|run| run.series.as_ref()?.span());
    let mut ends: Vec<u32> = spans.clone().map(|seconds| seconds.end).collect();
    ends.sort_unstable();
    // If few runs are much longer than all others, the steps would be too long for the others.
    let usual = ends.get((ends.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(0);
    let end = ends.last().copied().unwrap_or(0).min(usual.max(MAX_POINTS));
    let start = spans.map(|seconds| seconds.start).min().unwrap_or(0);
    let step = end.saturating_sub(start).div_ceil(MAX_POINTS).max(1);
    let seconds: Vec<u32> = (start..end).step_by(step as usize).collect();
    // Some points at a time, so that the values of many runs fit.
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

/// The windows of all runs, pooled; `None` if no run is as long as a window. `positions` are the runs' positions in the
/// report. Windows that were not kept were counted.
pub(super) fn window_report(
    runs: &[&StoredRun],
    positions: &[usize],
    unit: Unit,
    options: &FleetOptions,
    counted: &CountedWindows,
) -> Option<WindowReport> {
    let peak = |(run, &position): (&&StoredRun, &usize)| Some((run.row.window_max?, run.row.run_weight, position));
    let peaks: Vec<(Millionths, Millionths, usize)> = runs.iter().zip(positions).filter_map(peak).collect();
    let of_runs = RunValues::new(peaks.iter().copied(), options.is_weighted);
    let (pooled, hdr) = if options.is_approximate {
        (summarize_buckets(&counted.buckets, options), counted.hdr.to_v2_base64())
    } else {
        pooled(runs, unit, options)
    };
    let runs = peaks.len() as u64;
    let peaks = options.distribution(peaks.into_iter().map(|(peak, weight, _)| (peak, weight)).collect(), 0, 0);
    (runs > 0).then(|| WindowReport { runs, pooled, peaks: summarize(&peaks, &of_runs, None, options), hdr })
}

/// The windows that were kept.
fn pooled(runs: &[&StoredRun], unit: Unit, options: &FleetOptions) -> (Summary, String) {
    let (mut values, mut zeros, mut histogram) = (Vec::new(), 0, WindowHistogram::new());
    for series in runs.iter().filter_map(|run| run.series.as_ref()) {
        let (rates, zero) = series.rates(unit);
        record_all(&mut histogram, &rates, zero);
        values.extend(rates);
        zeros += zero;
    }
    (summarize_windows(&Distribution::new(values, zeros), options), histogram.to_v2_base64())
}
