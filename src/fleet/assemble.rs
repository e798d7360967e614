//! From the runs of a fleet to its report.

use std::collections::BTreeSet;
use std::io;

use super::alert_evaluation::AlertEvaluation;
use super::alert_series::{AlertNumbers, AlertSeries};
use super::builder::FleetBuilder;
use super::cohort_runs::CohortRuns;
use super::cohort_runs::Positions;
use super::findings::findings;
use super::label_order::compare_labels;
use super::options::{FleetOptions, SortKey};
use super::report::{AlertOutcome, AlertState, CohortReport, FleetReport, Inputs, RunRow};
use super::shared_label::SharedLabel;
use super::spill::Spilled;
use super::stored_run::CountedWindows;
use super::stored_run::StoredRun;
use super::trend;
use crate::recording::TimeSource;
use crate::stats::Quantile;

impl FleetBuilder {
    /// The report on all runs that were added.
    ///
    /// # Panics
    ///
    /// Values were [spilled](Self::spill), and their file cannot be read; [`try_finish`](Self::try_finish) returns that error.
    pub fn finish(self) -> FleetReport {
        self.try_finish().expect("what was spilled can be read")
    }

    /// The report on all runs that were added.
    ///
    /// # Errors
    ///
    /// Values were [spilled](Self::spill), and their file cannot be read.
    pub fn try_finish(mut self) -> io::Result<FleetReport> {
        self.add_failed_cohorts();
        let order = put_in_order(&mut self);
        self.options.sort = supported_sort(&self);
        let mut spilled = std::mem::take(&mut self.spilled);
        let fleet = cohort_runs(&self, &order);
        let mut cohorts: Vec<CohortReport> = (0..fleet.cohorts.len()).map(|cohort| fleet.report(cohort)).collect();
        let contrasts = fleet.add_tables(&mut cohorts, &mut spilled)?;
        let mut alerts = alerts(&fleet, &self.alert_series, &mut spilled)?;
        if self.completeness.is_incomplete() && !self.decides_incomplete {
            alerts.iter_mut().for_each(|alert| undecide(alert, &self.missing_shards));
        }
        let (inputs, mut notes) = (inputs(&self), notes(&self));
        notes.extend(trend::unordered(&cohorts));
        let shared_label = self.label_values.shared().filter(|_| !self.options.is_weighted);
        notes.extend(shared_label.as_ref().map(SharedLabel::sentence));
        let mut report = FleetReport {
            inputs,
            findings: Vec::new(),
            trends: trend::of_cohorts(&cohorts),
            alerts,
            contrasts,
            runs: self.runs.into_iter().map(|run| run_row(run, &self.options)).collect(),
            notes,
            shared_label,
            selection: self.selection,
            options: self.options,
            cohorts,
        };
        report.trends.extend(trend::of_dates(&report));
        report.findings = findings(&report);
        Ok(report)
    }
}

/// Sorts runs by their sources, and cohorts by their labels. Returns the new position of each run.
fn put_in_order(builder: &mut FleetBuilder) -> Vec<u32> {
    let mut sorted = builder.cohorts.clone();
    sorted.sort();
    let cohort_of: Vec<u32> =
        builder.cohorts.iter().map(|cohort| sorted.partition_point(|other| other < cohort) as u32).collect();
    builder.cohorts = sorted;
    let mut counted = std::mem::take(&mut builder.counted_windows).into_iter();
    builder.counted_windows.resize_with(builder.cohorts.len(), CountedWindows::default);
    cohort_of
        .iter()
        .zip(&mut counted)
        .for_each(|(&cohort, windows)| builder.counted_windows[cohort as usize] = windows);
    let mut runs: Vec<(usize, StoredRun)> = std::mem::take(&mut builder.runs).into_iter().enumerate().collect();
    runs.sort_by(|(_, a), (_, b)| (&a.source, &a.run_id).cmp(&(&b.source, &b.run_id)));
    let mut order = vec![0; runs.len()];
    for (new, (old, _)) in runs.iter().enumerate() {
        order[*old] = new as u32;
    }
    for AlertSeries { numbers, .. } in &mut builder.alert_series {
        if let AlertNumbers::One(one) = numbers {
            one.values = runs.iter().map(|(old, _)| one.values[*old]).collect();
        }
    }
    builder.runs = runs.into_iter().map(|(_, run)| run).collect();
    builder.runs.iter_mut().for_each(|run| run.cohort = cohort_of[run.cohort as usize]);
    builder.failed.sort_by(|a, b| a.source.cmp(&b.source));
    builder.without_time.sort();
    builder.damaged.sort();
    builder.notes.sort();
    order
}

/// The key that tables are sorted by, chosen here if the options left it open.
fn supported_sort(builder: &FleetBuilder) -> SortKey {
    let options = &builder.options;
    if options.sort != SortKey::HighestSupported {
        return options.sort;
    }
    let mut counts = vec![0_u64; builder.cohorts.len()];
    builder.runs.iter().for_each(|run| counts[run.cohort as usize] += 1);
    let fewest = counts.into_iter().filter(|&count| count > 0).min().unwrap_or(0);
    let is_supported = |quantile: &&Quantile| **quantile <= Quantile::P99 && quantile.needed_count() <= fewest;
    options.quantiles.iter().filter(is_supported).max().map_or(SortKey::Max, |&quantile| SortKey::Quantile(quantile))
}

/// The notes made while collecting, and the notes of the runs.
fn notes(builder: &FleetBuilder) -> Vec<String> {
    let of_runs = builder.run_notes.iter().map(|(note, (count, first))| match count {
        1 => format!("{first}: {note}"),
        _ => format!("{first} and {} more: {note}", count - 1),
    });
    let incomplete = builder.completeness.sentence(&builder.missing_shards);
    incomplete.into_iter().chain(builder.notes.iter().cloned()).chain(without_windows(builder)).chain(of_runs).collect()
}

/// A sentence about runs of which no whole second was selected: they have no windows.
fn without_windows(builder: &FleetBuilder) -> Option<String> {
    let runs = builder.runs.len();
    let without = builder.runs.iter().filter(|run| run.windows.is_empty()).count();
    let is_said = without > 0 && !builder.selection.is_whole();
    is_said.then(|| {
        format!("Nothing that was selected in {without} of {runs} runs is a whole second: they have no windows.")
    })
}

/// Makes an alert undecided: the missing runs might change it either way.
fn undecide(alert: &mut AlertOutcome, missing_shards: &[String]) {
    alert.state = AlertState::Undecided { needed: None };
    let what = match missing_shards {
        [] => "inputs are missing".to_owned(),
        [shard] => format!("shard {shard} is missing"),
        shards => format!("shards {} are missing", shards.join(", ")),
    };
    alert.note = Some(format!("{what}, which might change this"));
}

fn inputs(builder: &FleetBuilder) -> Inputs {
    let asked = builder.options.processes.iter();
    let missing = asked.filter(|name| !builder.processes.contains(*name)).cloned();
    let estimated = builder.runs.iter().filter(|run| run.wall_source == TimeSource::Samples);
    Inputs {
        runs: builder.runs.len() as u64,
        idle: builder.runs.iter().filter(|run| run.is_idle()).count() as u64,
        without_time: builder.without_time.clone(),
        estimated_time: estimated.count() as u64,
        rejected_rows: builder.rejected_rows,
        damaged: builder.damaged.clone(),
        failed: builder.failed.clone(),
        left_out: builder.left_out,
        left_out_values: builder.left_out_values.iter().map(|(key, values)| (key.clone(), in_order(values))).collect(),
        label_keys: builder.label_keys.iter().cloned().collect(),
        processes: builder.processes.iter().cloned().collect(),
        missing_processes: missing.collect(),
        threads: builder.threads.iter().cloned().collect(),
        missing_threads: (builder.options.threads.iter().flatten())
            .filter(|name| !builder.threads.contains(*name))
            .cloned()
            .collect(),
        excluded_runs: builder.excluded_runs,
        completeness: builder.completeness,
        missing_shards: builder.missing_shards.clone(),
    }
}

/// The values of a label in the order of cohorts.
fn in_order(values: &BTreeSet<String>) -> Vec<String> {
    let mut values: Vec<String> = values.iter().cloned().collect();
    values.sort_by(|a, b| compare_labels(a, b));
    values
}

/// The runs in their order.
fn cohort_runs<'b>(builder: &'b FleetBuilder, order: &'b [u32]) -> CohortRuns<'b> {
    let mut members = vec![Vec::new(); builder.cohorts.len()];
    for (index, run) in builder.runs.iter().enumerate() {
        members[run.cohort as usize].push(index);
    }
    let FleetBuilder { options, cohorts, runs, names, columns, counted_windows, .. } = builder;
    CohortRuns { options, cohorts, positions: Positions { runs, order }, names, members, columns, counted_windows }
}

/// The outcomes of the alert rules.
fn alerts(fleet: &CohortRuns<'_>, series: &[AlertSeries], spilled: &mut Spilled) -> io::Result<Vec<AlertOutcome>> {
    let CohortRuns { cohorts, options, members, names, positions, .. } = fleet;
    let evaluation = AlertEvaluation { positions: *positions, cohorts, members, options, names };
    let mut outcomes = Vec::new();
    for series in series {
        outcomes.extend(evaluation.outcomes(series, spilled)?);
    }
    Ok(outcomes)
}

/// A run of the report.
fn run_row(run: StoredRun, options: &FleetOptions) -> RunRow {
    RunRow {
        cohort: run.cohort as usize,
        wall: run.wall,
        wall_source: run.wall_source,
        weight: run.weight,
        samples: run.samples,
        run_weight: run.run_weight,
        rate: run.rate,
        windows: run.windows.quantiles(run.unit, options),
        window_max: run.windows.max(run.unit),
        run_id: run.run_id,
        source: run.source,
        start: run.start,
    }
}
