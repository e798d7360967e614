//! The metrics of a day: runs without stacks, which are measured by what the system summed up, and durations in bins.

use super::labels::RunContext;
use crate::fleet::run::{FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord};
use crate::recording::{AppMetrics, Recording, TocRun};
use crate::stats::BinnedValues;
use crate::units::{Nanos, Unit};

/// The runs of all metrics in an input.
pub(super) fn runs(recording: &Recording, context: &RunContext) -> Vec<RunMeasures> {
    let days = recording.tocs().flat_map(|toc| &toc.runs);
    let days = days.filter_map(|toc| Some((toc, toc.metrics.as_ref()?)));
    days.enumerate().flat_map(|(index, (toc, metrics))| runs_of_day(index, (toc, metrics), context)).collect()
}

/// A run for each sum of a day; the first run has the histograms.
fn runs_of_day(index: usize, (toc, metrics): (&TocRun, &AppMetrics), context: &RunContext) -> Vec<RunMeasures> {
    let second = Nanos::from_millis(1_000);
    let mut sums = Vec::new();
    sums.extend(metrics.cpu_time.zip(metrics.running).map(|(time, running)| (Unit::DayTime, time, Some(running))));
    sums.extend(metrics.scroll_hitches.map(|hitches| (Unit::HitchTime, hitches, Some(second))));
    if sums.is_empty() {
        sums.push((Unit::DayTime, Nanos::default(), None));
    }
    let id = |unit: Unit| format!("{}-{}-{}", context.run_id, index + 1, unit.name());
    let runs = sums.into_iter().map(|(unit, sum, wall)| run((id(unit), unit, sum, wall), toc, context));
    let mut runs: Vec<RunMeasures> = runs.collect();
    if let Some(first) = runs.first_mut() {
        first.histograms = histograms(metrics);
    }
    runs
}

/// A run without samples.
pub(super) fn run(
    (run_id, unit, sum, wall): (String, Unit, Nanos, Option<Nanos>),
    toc: &TocRun,
    context: &RunContext,
) -> RunMeasures {
    let weight = sum.as_nanos();
    let record = RunRecord {
        wall: wall.filter(|wall| wall.as_nanos() > 0),
        schema: "app-metrics".to_owned(),
        unit,
        weight,
        samples: 1,
        effective_samples: 1,
        usual_weight: weight,
        ..context.record(run_id, toc.number, Some(toc))
    };
    let mut names = NamesBuilder::default();
    let process = names.id(toc.process_attribute("name").unwrap_or_default());
    let [thread, binary, function] = ["", "", FrameRow::STACKLESS].map(|name| names.id(name));
    let row = |function: NameId| FrameRow {
        process,
        thread,
        is_main_thread: false,
        binary,
        function,
        self_weight: weight,
        all_weight: weight,
        self_samples: 1,
        all_samples: 1,
    };
    RunMeasures {
        names: names.finish(),
        frames: vec![row(function)],
        binaries: vec![row(NameId::NONE)],
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
