//! Builds the report from a fleet's runs.

use std::collections::{BTreeSet, HashSet};
use std::io;

use super::alert_series::{AlertNumbers, AlertSeries};
use super::builder::FleetBuilder;
use super::cohort_runs::CohortRuns;
use super::compare::{ComparedRuns, Places, Side};
use super::entries::Spilled;
use super::findings::findings;
use super::label_order::compare_labels;
use super::options::SortKey;
use super::report::{Cohort, CohortReport, FleetReport, HistogramReport, Inputs};
use super::run::FleetNames;
use super::shared_label::SharedLabel;
use super::stored_run::StoredRun;
use super::trend;
use crate::alert::{AlertOutcome, AlertRule, AlertState};
use crate::stats::Quantile;

impl FleetBuilder {
    /// Returns the report on all runs.
    ///
    /// # Panics
    ///
    /// If the file of [spilled](Self::spill) values cannot be read. [`try_finish`](Self::try_finish) returns that error instead.
    pub fn finish(self) -> FleetReport {
        self.try_finish().expect("what was spilled can be read")
    }

    /// Returns the report on all runs.
    ///
    /// # Errors
    ///
    /// If the file of [spilled](Self::spill) values cannot be read.
    pub fn try_finish(self) -> io::Result<FleetReport> {
        self.finish_with_places().map(|finished| finished.report)
    }

    /// Returns the side of a comparison, if the builder was created [for one](Self::for_comparison).
    pub(super) fn try_finish_side(self) -> io::Result<Side> {
        let Finished { report, compared, places, names, spilled } = self.finish_with_places()?;
        Ok(Side { report, runs: compared.unwrap_or_else(|| ComparedRuns::new(&[], false)), places, names, spilled })
    }

    fn finish_with_places(mut self) -> io::Result<Finished> {
        self.add_failed_cohorts();
        let order = put_in_order(&mut self);
        self.options.sort = supported_sort(&self);
        let mut spilled = std::mem::take(&mut self.spilled);
        let fleet = cohort_runs(&self, &order);
        let mut cohorts: Vec<CohortReport> = (0..fleet.cohorts.len()).map(|cohort| fleet.report(cohort)).collect();
        let (contrasts, tails) = fleet.add_tables(&mut cohorts, &mut spilled)?;
        let mut alerts = Vec::new();
        for series in &self.alert_series {
            let outcomes = fleet.outcomes(series, &mut spilled)?.into_iter();
            alerts.extend(outcomes.map(|alert| match self.decides_incomplete {
                true => alert,
                false => {
                    let unmeasured = self.unmeasured.of(&fleet.cohorts[alert.cohort].cohort);
                    let runs = fleet.count(alert.cohort);
                    alert.undecided_by(unmeasured, runs)
                }
            }));
        }
        if self.inputs.completeness.is_incomplete() && !self.decides_incomplete {
            alerts.iter_mut().for_each(|alert| undecide(alert, &self.inputs.missing_shards));
        }
        if fleet.cohorts.is_empty() {
            alerts.extend(self.alert_series.iter().map(|series| unmeasured(&series.rule)));
        }
        let usual_weights = self.runs.iter().map(|run| run.usual_weight).collect();
        let mut notes = notes(&self);
        let inputs = inputs(&mut self);
        notes.extend(trend::unordered(&cohorts));
        let shared_label = self.label_values.shared().filter(|_| !self.options.is_weighted);
        notes.extend(shared_label.as_ref().map(SharedLabel::sentence));
        let histograms = self.histograms.into_iter().map(|((name, cohort), (reports, values))| HistogramReport {
            name,
            cohort,
            reports,
            values,
        });
        let crashes = self.crashes.into_iter().map(|((cohort, place), count)| (cohort, place, count));
        let mut crashes: Vec<(Cohort, String, u64)> = crashes.collect();
        crashes.sort_by(|a, b| (&a.0, b.2, &a.1).cmp(&(&b.0, a.2, &b.1)));
        let mut report = FleetReport {
            crashes,
            histograms: histograms.collect(),
            inputs,
            findings: Vec::new(),
            trends: trend::of_cohorts(&cohorts),
            alerts,
            contrasts,
            runs: self.runs.into_iter().map(|run| run.row).collect(),
            notes,
            shared_label,
            selection: self.selection,
            options: self.options,
            cohorts,
        };
        report.trends.extend(trend::of_dates(&report));
        report.findings = findings(&report, tails);
        let places = Places { order, usual_weights };
        Ok(Finished { report, compared: self.compared, places, names: self.names, spilled })
    }
}

/// A report, and the data that it was built from.
struct Finished {
    report: FleetReport,
    compared: Option<ComparedRuns>,
    places: Places,
    names: FleetNames,
    spilled: Spilled,
}

/// Sorts runs by their sources, and cohorts by their labels. Returns the new position of each run.
fn put_in_order(builder: &mut FleetBuilder) -> Vec<u32> {
    let added: Vec<Cohort> = builder.cohorts.iter().map(|cohort| cohort.cohort.clone()).collect();
    builder.cohorts.sort_by(|a, b| a.cohort.cmp(&b.cohort));
    let place = |cohort: &Cohort| builder.cohorts.partition_point(|other| other.cohort < *cohort);
    let cohort_of: Vec<usize> = added.iter().map(place).collect();
    let mut runs: Vec<(usize, StoredRun)> = std::mem::take(&mut builder.runs).into_iter().enumerate().collect();
    runs.sort_by(|(_, a), (_, b)| (&a.row.source, &a.row.run_id).cmp(&(&b.row.source, &b.row.run_id)));
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
    for runs in builder.runs.chunk_by_mut(|a, b| a.row.source == b.row.source).filter(|runs| runs.len() > 1) {
        runs.iter_mut().for_each(|run| run.row.is_one_of_several = true);
    }
    builder.runs.iter_mut().for_each(|run| run.row.cohort = cohort_of[run.row.cohort]);
    builder.inputs.failed.sort_by(|a, b| a.source.cmp(&b.source));
    builder.inputs.without_time.sort();
    builder.inputs.damaged.sort();
    builder.notes.sort();
    order
}

/// The sort key of tables; chosen here if the options do not set it.
fn supported_sort(builder: &FleetBuilder) -> SortKey {
    let options = &builder.options;
    if options.sort != SortKey::HighestSupported {
        return options.sort;
    }
    let mut counts = vec![0_u64; builder.cohorts.len()];
    builder.runs.iter().for_each(|run| counts[run.row.cohort] += 1);
    let fewest = counts.into_iter().filter(|&count| count > 0).min().unwrap_or(0);
    let is_supported = |quantile: &&Quantile| **quantile <= Quantile::P99 && quantile.needed_count() <= fewest;
    options.quantiles.iter().filter(is_supported).max().map_or(SortKey::Max, |&quantile| SortKey::Quantile(quantile))
}

/// The notes added so far, and the notes of runs.
fn notes(builder: &FleetBuilder) -> Vec<String> {
    let of_runs = builder.run_notes.iter().map(|(note, (count, first))| match count {
        1 => format!("{first}: {note}"),
        _ => format!("{first} and {} more: {note}", count - 1),
    });
    let incomplete = builder.inputs.completeness.sentence(&builder.inputs.missing_shards);
    incomplete.into_iter().chain(builder.notes.iter().cloned()).chain(without_windows(builder)).chain(of_runs).collect()
}

/// A sentence about runs without windows, since no complete second of them is selected.
fn without_windows(builder: &FleetBuilder) -> Option<String> {
    let runs = builder.runs.len();
    // Reports from the field have no times at all.
    let is_without = |run: &&StoredRun| run.row.window_max.is_none() && run.row.recorded().is_some();
    let without = builder.runs.iter().filter(is_without).count();
    let is_said = without > 0 && !builder.selection.is_whole();
    is_said.then(|| {
        let all = if runs == 1 { "run" } else { "runs" };
        let (have, they_have) = if without == 1 { ("has", "it has") } else { ("have", "they have") };
        format!("{without} of {runs} {all} {have} no complete selected second, so {they_have} no windows.")
    })
}

/// Makes an alert undecided, since missing runs could change the outcome.
fn undecide(alert: &mut AlertOutcome, missing_shards: &[String]) {
    alert.state = AlertState::UNSURE;
    let what = match missing_shards {
        [] => "inputs are missing".to_owned(),
        [shard] => format!("shard {shard} is missing"),
        shards => format!("shards {} are missing", shards.join(", ")),
    };
    alert.note = Some(format!("{what}, which might change this"));
}

/// The outcome of a rule if there are only crashes or duration bins.
fn unmeasured(rule: &AlertRule) -> AlertOutcome {
    AlertOutcome::undecided(rule, Some(1), Some("crashes and binned durations have no measure".to_owned()))
}

/// The inputs, with the names that occur and the requested names that do not.
fn inputs(builder: &mut FleetBuilder) -> Inputs {
    let missing = |asked: &[String], names: &BTreeSet<String>| {
        asked.iter().filter(|name| !names.contains(*name)).cloned().collect()
    };
    let FleetBuilder { options, processes, threads, left_out_values, label_keys, sources, inputs, .. } = &*builder;
    let files: HashSet<&String> = sources.values().chain(inputs.failed.iter().map(|file| &file.source)).collect();
    Inputs {
        files: files.len() as u64,
        left_out_values: left_out_values.iter().map(|(key, values)| (key.clone(), in_order(values))).collect(),
        label_keys: label_keys.iter().cloned().collect(),
        missing_processes: missing(&options.processes, processes),
        processes: processes.iter().cloned().collect(),
        missing_threads: missing(options.threads.as_deref().unwrap_or_default(), threads),
        threads: threads.iter().cloned().collect(),
        ..std::mem::take(&mut builder.inputs)
    }
}

/// The values of a label, sorted like cohorts.
fn in_order(values: &BTreeSet<String>) -> Vec<String> {
    let mut values: Vec<String> = values.iter().cloned().collect();
    values.sort_by(|a, b| compare_labels(a, b));
    values
}

/// The runs in their order.
fn cohort_runs<'b>(builder: &'b FleetBuilder, order: &'b [u32]) -> CohortRuns<'b> {
    let mut members = vec![Vec::new(); builder.cohorts.len()];
    for (index, run) in builder.runs.iter().enumerate() {
        members[run.row.cohort].push(index);
    }
    let FleetBuilder { options, cohorts, runs, names, columns, decides_incomplete, .. } = builder;
    CohortRuns { options, decides_incomplete: *decides_incomplete, cohorts, runs, order, names, members, columns }
}
