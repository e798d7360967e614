//! A day's metrics: runs without stacks, measured by sums that the system computed, and histograms of durations.

use super::labels::RunContext;
use crate::fleet::run::{FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord};
use crate::recording::{AppMetrics, Recording, TocRun};
use crate::stats::BinnedValues;
use crate::units::{Nanos, Unit};

/// The runs for all metrics in an input.
pub(super) fn runs(recording: &Recording, context: &RunContext) -> Vec<RunMeasures> {
    let days = recording.tocs().flat_map(|toc| &toc.runs);
    let days = days.filter_map(|toc| Some((toc, toc.metrics.as_ref()?)));
    days.enumerate().flat_map(|(index, (toc, metrics))| runs_of_day(index, (toc, metrics), context)).collect()
}

/// Creates a run for each of a day's sums. The first run also has the histograms.
fn runs_of_day(index: usize, (toc, metrics): (&TocRun, &AppMetrics), context: &RunContext) -> Vec<RunMeasures> {
    let second = Some(Nanos::from_millis(1_000));
    let whole = |sum: u64| vec![(FrameRow::STACKLESS, sum)];
    let mut sums = Vec::new();
    let cpu_time = metrics.cpu_time.zip(metrics.running);
    sums.extend(cpu_time.map(|(time, running)| (Unit::DayTime, whole(time.as_nanos()), Some(running))));
    sums.extend(metrics.scroll_hitches.map(|hitches| (Unit::HitchTime, whole(hitches.as_nanos()), second)));
    sums.extend(metrics.peak_memory.map(|bytes| (Unit::PeakBytes, whole(bytes), second)));
    let exits = metrics.exits.as_ref().map(|exits| match exits.as_slice() {
        [] => whole(0),
        exits => exits.iter().map(|(reason, count)| (reason.as_str(), *count)).collect(),
    });
    let days = Some(Nanos::from_millis(1_000 * metrics.days));
    sums.extend(exits.map(|exits| (Unit::Exits, exits, days)));
    if sums.is_empty() {
        sums.push((Unit::DayTime, whole(0), None));
    }
    let id = |unit: Unit| format!("{}-{}-{}", context.run_id, index + 1, unit.name());
    let runs = sums.into_iter().map(|(unit, parts, wall)| run((id(unit), unit, &parts, wall), toc, context));
    let mut runs: Vec<RunMeasures> = runs.collect();
    if let Some(first) = runs.first_mut() {
        first.histograms = histograms(metrics);
    }
    runs
}

/// Creates a run without samples, whose weight is divided into named parts.
pub(super) fn run(
    (run_id, unit, parts, wall): (String, Unit, &[(&str, u64)], Option<Nanos>),
    toc: &TocRun,
    context: &RunContext,
) -> RunMeasures {
    // The resolution of the system's numbers: seconds, milliseconds, kilobytes, exits. They have no sampling noise, but are rounded.
    let step = match unit {
        Unit::DayTime => 1_000_000_000,
        Unit::HitchTime => 1_000_000,
        Unit::PeakBytes => 1_000,
        _ => 1,
    };
    let samples_of = |weight: u64| (weight / step).max(1);
    let samples = parts.iter().fold(0, |sum: u64, (_, part)| sum.saturating_add(samples_of(*part)));
    let weight = parts.iter().fold(0, |sum: u64, (_, part)| sum.saturating_add(*part));
    let record = RunRecord {
        wall: wall.filter(|wall| wall.as_nanos() > 0),
        schema: "app-metrics".to_owned(),
        unit,
        weight,
        samples,
        effective_samples: samples,
        usual_weight: weight,
        ..context.record(run_id, toc.number, Some(toc))
    };
    let mut names = NamesBuilder::default();
    let process = names.id(toc.process_attribute("name").unwrap_or_default());
    let [thread, binary] = [names.id(""); 2];
    let functions: Vec<(NameId, u64)> = parts.iter().map(|(name, part)| (names.id(name), *part)).collect();
    let row = |(function, weight): (NameId, u64), samples: u64| FrameRow {
        process,
        thread,
        is_main_thread: false,
        binary,
        function,
        self_weight: weight,
        all_weight: weight,
        self_samples: samples,
        all_samples: samples,
    };
    RunMeasures {
        names: names.finish(),
        frames: functions.into_iter().map(|part| row(part, samples_of(part.1))).collect(),
        binaries: vec![row((NameId::NONE, weight), samples)],
        ..RunMeasures::of_record(record)
    }
}

fn histograms(metrics: &AppMetrics) -> Vec<(String, BinnedValues)> {
    let histograms = metrics.histograms.iter().map(|histogram| {
        let mut values = BinnedValues::default();
        for &(lower, upper, count) in &histogram.bins {
            values.add(lower.as_nanos(), upper.map(Nanos::as_nanos), count);
        }
        (histogram.name.to_owned(), values)
    });
    histograms.filter(|(_, values)| values.count() > 0).collect()
}
