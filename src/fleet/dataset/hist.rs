//! The distribution of the rates of a run's seconds: rows that SQL merges by adding up counts.

use std::collections::BTreeMap;

use super::buffer::Buffer;
use super::{DatasetError, DatasetErrorKind, DatasetTable};
use crate::fleet::RunMeasures;
use crate::fleet::run::rate_of;
use crate::fleet::windows::range_of;
use crate::stats::ExponentialHistogram;
use crate::units::{Millionths, Nanos, Unit};

/// The measure: CPU use (or the rate of another unit) in windows of one second.
const METRIC: &str = "cpu_1s";

/// The subject of a histogram: a complete run, one of its processes, or the threads with one name in a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope<'r> {
    Run,
    Process(&'r str),
    Thread(&'r str, &'r str),
}

/// Adds the histograms of a run. A run without a complete second has no histogram.
pub(super) fn add_histograms(run: &RunMeasures, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let histograms = histograms(run).ok_or_else(|| {
        DatasetError::new(DatasetErrorKind::TooLarge, DatasetTable::Hist, "the weight or rate of a second")
    })?;
    let [run_id, metric] = [&run.record.run_id, METRIC].map(|text| buffer.text(text));
    for (scope, histogram) in histograms {
        let (name, process, thread) = match scope {
            Scope::Run => ("run", None, None),
            Scope::Process(process) => ("process", Some(process), None),
            Scope::Thread(process, thread) => ("thread", Some(process), Some(thread)),
        };
        let name = buffer.text(name);
        let [process, thread] = [process, thread].map(|name| name.map(|name| buffer.text(name)));
        for bucket in histogram.rows() {
            buffer
                .row()
                .text("run_id", run_id)
                .text("scope", name)
                .text_or_null("process", process)
                .text_or_null("thread", thread)
                .text("metric", metric)
                .integer("scale", ExponentialHistogram::SCALE)?
                .integer_or_null("bucket", bucket.index)?
                .integer("n", bucket.count)?
                .integer("sum_millionths", bucket.sum)?;
        }
    }
    Ok(())
}

/// The histogram of every scope, in order. Complete seconds without samples are zeros. `None` for weights and rates
/// that do not fit.
fn histograms(run: &RunMeasures) -> Option<BTreeMap<Scope<'_>, ExponentialHistogram>> {
    let seconds = run.record.whole_seconds();
    let count: u64 = seconds.iter().map(|range| range.len() as u64).sum();
    if count == 0 {
        return Some(BTreeMap::new());
    }
    let mut weights: BTreeMap<Scope<'_>, BTreeMap<u32, u64>> = BTreeMap::from([(Scope::Run, BTreeMap::new())]);
    for window in &run.windows {
        let (process, thread) = (run.name(window.process), run.name(window.thread));
        for scope in [Scope::Run, Scope::Process(process), Scope::Thread(process, thread)] {
            let weights = weights.entry(scope).or_default();
            if range_of(&seconds, window.second).is_some() {
                let weight = weights.entry(window.second).or_default();
                *weight = weight.checked_add(window.weight)?;
            }
        }
    }
    let histogram = |(scope, weights)| Some((scope, histogram(run.record.unit, &weights, count)?));
    weights.into_iter().map(histogram).collect()
}

fn histogram(unit: Unit, weights: &BTreeMap<u32, u64>, seconds: u64) -> Option<ExponentialHistogram> {
    let mut histogram = ExponentialHistogram::new();
    histogram.record_n(Millionths::default(), seconds - weights.len() as u64);
    for weight in weights.values() {
        histogram.record(rate_of(*weight, unit, Nanos::from_millis(1000))?);
    }
    Some(histogram)
}
