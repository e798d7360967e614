//! Collects the runs of recordings or datasets for a report.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::batch;
use super::extraction::WITHOUT_BINS;
use super::options::ThreadChoice;
use super::outcome::{Finished, Keeper, Outcome, of_failures};
use super::settings::FleetSettings;
use crate::alert::AlertRule;
use crate::fleet::combine::Datasets;
use crate::fleet::compare::Side;
use crate::fleet::error::{Context, FleetError, Result, bail, ensure, error};
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::{FleetInputs, Task};
use crate::fleet::runs_of::RunsOf;
use crate::fleet::{
    Completeness, DatasetRun, FailedInput, FailureKind, FleetBuilder, FleetReport, PoolError, PooledStacks,
    RunMeasures, RunRecord,
};
use crate::intervals::{IntervalPool, IntervalSummary};
use crate::memory::Reservation;
use crate::profile::Matcher;
use crate::recording::{Recording, Table};
use crate::settings::{HELP, STRICT, WEIGHTED};
use crate::stats::Quantile;
use crate::tables::{FieldValue, OutputColumn};
use crate::units::{Millionths, choice_of, counted, several};

/// Context for errors of the temporary file. It has no name in its folder, so it disappears however the process ends.
const TEMPORARY: &str = "the values of the runs need a temporary file (TMPDIR names the folder)";

/// The tables that contain most signposts and hangs.
const TABLES: [&str; 2] = ["os-signpost-interval", "potential-hangs"];

/// Collects a fleet's runs from recordings or datasets. Can be shared between threads.
pub struct Collector<'h> {
    host: &'h dyn FleetHost,
    /// True if warnings are suppressed.
    is_quiet: bool,
    counting: Mutex<Counting>,
}

struct Counting {
    builder: FleetBuilder,
    /// The memory reserved for the collected data.
    reserved: Reservation,
    /// Label keys that contain `weight`, and may be misspelt run weights.
    weight_labels: BTreeSet<String>,
    /// The patterns for threads, if any.
    patterns: Option<ThreadChoice>,
    pool: Option<Pool>,
    intervals: Option<IntervalPool>,
}

/// The summed stacks of runs.
struct Pool {
    stacks: PooledStacks,
    /// Adds only runs measured by one of these tables; empty for all.
    schemas: Vec<String>,
    /// The ids of requested runs that have not been added; `None` to add all selected runs.
    only: Option<BTreeSet<String>>,
    /// Searches the runs for calls.
    runs_of: Option<RunsOf>,
}

impl<'h> Collector<'h> {
    /// Creates a collector for a builder. Selects threads that match `patterns`, in addition to those named in the builder's options.
    pub fn new(host: &'h dyn FleetHost, builder: FleetBuilder, patterns: Option<ThreadChoice>) -> Self {
        let reserved = host.memory_of_kept().nothing();
        let counting =
            Counting { builder, reserved, weight_labels: BTreeSet::new(), patterns, pool: None, intervals: None };
        Self { host, is_quiet: false, counting: Mutex::new(counting) }
    }

    /// Also sums the stacks of selected runs for [`finish_pooled`](Self::finish_pooled): only runs measured by a table in `schemas` (unless it is
    /// empty), and only runs with an id in `only`. Recordings must be measured [with stacks](crate::fleet::MeasureOptions::with_stacks).
    #[must_use]
    pub fn pooling(self, schemas: Vec<String>, only: Option<BTreeSet<String>>) -> Self {
        let stacks = PooledStacks::new(&self.host.memory_of_kept());
        self.counting().pool = Some(Pool { stacks, schemas, only, runs_of: None });
        self
    }

    /// Also finds runs whose [pooled](Self::pooling) stacks contain a chain of these functions, each calling the next, for
    /// [`finish_runs_of`](Self::finish_runs_of). Functions are matched by their full name or by a predicate.
    ///
    /// # Errors
    /// If there are no functions, or more than 64.
    pub fn looking_for(self, calls: Vec<Matcher>) -> Result<Self> {
        ensure!((1..=64).contains(&calls.len()), "there are {} functions; one run of calls has 1 to 64", calls.len());
        let runs_of = RunsOf::new(calls, &self.host.memory_of_kept());
        if let Some(pool) = self.counting().pool.as_mut() {
            pool.runs_of = Some(runs_of);
        }
        Ok(self)
    }

    /// Also sums the intervals of selected runs for [`finish_intervals`](Self::finish_intervals), and evaluates the rules. Recordings must be
    /// measured [with intervals](crate::fleet::MeasureOptions::with_intervals). Labels and rules refer to intervals by name, as in
    /// [`Recording::interval_summary`](crate::recording::Recording::interval_summary).
    #[must_use]
    pub fn summing_intervals(self, labels: &[String], alerts: &[AlertRule]) -> Self {
        self.counting().intervals = Some(IntervalPool::new(labels, alerts));
        self
    }

    /// Suppresses warnings, for a collector whose inputs another one shares.
    #[must_use]
    pub fn quietly(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    fn warn(&self, sentence: &str) {
        if !self.is_quiet {
            self.host.warn(sentence);
        }
    }

    /// Evaluates alerts even if inputs are missing or could not be measured.
    pub fn decide_incomplete(&self) {
        self.counting().builder.decide_incomplete();
    }

    fn counting(&self) -> MutexGuard<'_, Counting> {
        self.counting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the runs of datasets.
    ///
    /// # Errors
    /// If they are not one fleet, or have no runs.
    pub fn add_datasets(&self, paths: &[PathBuf]) -> Result<()> {
        Self::add_datasets_to(&[self], paths)
    }

    /// Adds the runs of datasets to several collectors, such as one per value of a label, reading the datasets once.
    ///
    /// # Errors
    /// As [`add_datasets`](Self::add_datasets).
    pub fn add_datasets_to(collectors: &[&Self], paths: &[PathBuf]) -> Result<()> {
        let [first, others @ ..] = collectors else { return Ok(()) };
        let datasets = Datasets::open(first.host, paths)?;
        collectors.iter().try_for_each(|collector| collector.tell_completeness(&datasets))?;
        let mut has_runs = false;
        let failures = datasets.read(|run| {
            has_runs = true;
            others.iter().try_for_each(|collector| collector.add_shared(run.clone()))?;
            first.add_shared(run)
        })?;
        // A shard of a small fleet may have no runs.
        let is_empty = !has_runs && failures.is_empty() && datasets.unfinished().is_none();
        if let Some(shards) = datasets.shards().filter(|_| is_empty) {
            let files = several(shards.inputs.unwrap_or(0), "file");
            bail!("{}: {} of a fleet of {files} has none of them", datasets.name(), shards.name());
        }
        let add =
            |failed: FailedInput| collectors.iter().try_for_each(|collector| collector.add_failure(failed.clone()));
        failures.into_iter().try_for_each(add)
    }

    /// Passes the datasets' completeness to the builder, and warns if they are incomplete.
    fn tell_completeness(&self, datasets: &Datasets) -> Result<()> {
        let builder = &mut self.counting().builder;
        builder.describe(datasets.selection(), datasets.completeness(), datasets.missing_shards());
        match datasets.incomplete() {
            Some(sentence) => self.warn(&sentence),
            None if datasets.has_engine_written() => builder.add_note(
                "An engine rewrote the dataset: it is unknown whether it is complete, and what was selected from its recordings."
                    .to_owned(),
            ),
            None => {}
        }
        if let Some((name, first, count)) = datasets.unnamed()? {
            let (files, first) = (several(count, "file"), first.display());
            self.warn(&format!("{name}: {files} not read because the dataset does not list them, such as {first}"));
        }
        Ok(())
    }

    /// Measures recordings and adds their runs.
    ///
    /// # Errors
    /// If memory is insufficient, or the settings are strict and an input fails.
    pub fn add_recordings(&self, inputs: &FleetInputs, settings: &FleetSettings<'_>) -> Result<()> {
        Self::add_recordings_to(&[self], inputs, settings)
    }

    /// Measures recordings once, adding their runs to several collectors.
    ///
    /// # Errors
    /// As [`add_recordings`](Self::add_recordings).
    pub fn add_recordings_to(collectors: &[&Self], inputs: &FleetInputs, settings: &FleetSettings<'_>) -> Result<()> {
        let [Self { host, is_quiet, .. }, ..] = collectors else { return Ok(()) };
        let FleetInputs { tasks, failures, notes, .. } = inputs;
        if !is_quiet {
            host.warn_of(notes);
        }
        let whole = Completeness::whole((tasks.len() + failures.len()) as u64);
        for collector in collectors {
            collector.counting().builder.describe(settings.options.described.clone(), whole, Vec::new());
            failures.iter().try_for_each(|failed| collector.add_failure(failed.clone()))?;
        }
        host.begin(tasks.len(), batch::total_bytes(*host, tasks));
        let ended = batch::run(tasks, settings, *host, &Each(collectors))?;
        if !is_quiet {
            host.warn_of(&ended.notes.lines());
            settings.warn_of_unseen_intervals(*host);
        }
        match ended.not_strict {
            Some((index, problem)) => bail!("{}: {problem} ({STRICT} makes this an error)", tasks[index].display),
            None => Ok(()),
        }
    }

    /// Builds the report.
    ///
    /// # Errors
    /// If there is nothing to report, or if `is_strict` and something is missing.
    pub fn finish(self, is_strict: bool) -> Result<FleetReport> {
        let Counting { builder, weight_labels, reserved: _held, .. } =
            self.counting.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut report = builder.try_finish().context(TEMPORARY)?;
        check(self.host, &mut report, is_strict, self.is_quiet)?;
        check_weights(self.host, &report, &weight_labels);
        Ok(report)
    }

    /// Like [`finish_pooled`](Self::finish_pooled), for a collector that is finished for another result as well. Does not check names.
    ///
    /// # Errors
    /// If there are no runs or stacks, or runs have different units.
    pub fn take_pooled(&self, name: &str) -> Result<Recording> {
        let pool = self.counting().pool.take();
        Ok(pool.map_or(Err(PoolError::Nothing), |pool| pool.stacks.finish(name))?)
    }

    /// Returns a recording with the summed stacks of the [pooled](Self::pooling) runs, called `12 runs of {name}` in reports.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), and if runs have different units or no stacks.
    pub fn finish_pooled(self, is_strict: bool, name: &str) -> Result<Recording> {
        Ok(self.finish_pool(is_strict)?.stacks.finish(name)?)
    }

    /// Returns a table of the runs that contain the [calls](Self::looking_for), heaviest first. Its columns include the weight of a run's samples
    /// in these calls, the weight of all its samples, and the number of samples in the calls.
    ///
    /// # Errors
    /// As [`finish_pooled`](Self::finish_pooled), and if no run contains the calls.
    pub fn finish_runs_of(self, is_strict: bool) -> Result<(Vec<OutputColumn>, Vec<Vec<FieldValue<'static>>>)> {
        let Pool { stacks, runs_of, .. } = self.finish_pool(is_strict)?;
        // Runs that cannot be summed cannot be ranked either.
        stacks.finish("")?;
        runs_of.context("no calls were requested")?.finish()
    }

    fn finish_pool(self, is_strict: bool) -> Result<Pool> {
        let Counting { builder, reserved: _held, pool, .. } =
            self.counting.into_inner().unwrap_or_else(PoisonError::into_inner);
        let report = builder.try_finish().context(TEMPORARY)?;
        check_whole(&report, is_strict)?;
        let Some(pool) = pool else { return Err(PoolError::Nothing.into()) };
        // A run without a recorded time has no CPU use, but may have stacks.
        let has_runs = pool.stacks.run_count() > 0;
        match &pool.only {
            None => check_names(&report, has_runs)?,
            // Another collector selected these runs and checked the names.
            Some(left) if left.is_empty() => {}
            Some(left) => {
                bail!("the inputs changed while they were read: {} cannot be found again", several(left.len(), "run"))
            }
        }
        check_runs(self.host, &report, has_runs.then_some(report.runs.len() as u64), self.is_quiet)?;
        Ok(pool)
    }

    /// Returns a summary of the selected runs' intervals by name, with the outcomes of rules about them.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_intervals(self, is_strict: bool, quantiles: &[Quantile]) -> Result<IntervalSummary> {
        let (host, is_quiet) = (self.host, self.is_quiet);
        let Counting { builder, reserved: _held, intervals, .. } =
            self.counting.into_inner().unwrap_or_else(PoisonError::into_inner);
        let pool = intervals.unwrap_or_default();
        // A run without a recorded time has intervals; a run without interval tables has no known ones.
        let failed = builder.unmeasured.total() - builder.inputs.without_time.len() as u64;
        let (runs, without, unmeasured) = (pool.runs(), pool.without_tables(), failed + pool.without_tables());
        let selected = runs + without;
        let decides_incomplete = builder.decides_incomplete;
        let report = builder.try_finish().context(TEMPORARY)?;
        check_whole(&report, is_strict)?;
        // Intervals need neither a CPU table nor a recorded time.
        check_names(&report, selected > 0)?;
        check_runs(host, &report, Some(selected).filter(|&runs| runs > 0), is_quiet)?;
        // The lengths of runs without CPU tables are not kept.
        let failed = (!decides_incomplete).then_some(failed);
        let summary = IntervalSummary { unmeasured, ..pool.finish(quantiles, failed, &|_, _| None) };
        if without > 0 {
            let (command, of) = (Table::export_command("X.trace", None, &TABLES), several(selected, "run"));
            let have = if without == 1 { "has" } else { "have" };
            host.warn(&format!(
                "{} of {of} {have} no table of signposts or hangs; if they were not exported, export them with: {command}",
                counted(without)
            ));
        }
        Ok(summary)
    }

    /// Returns one side of a comparison, if the builder was created [for one](FleetBuilder::for_comparison).
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_side(self, is_strict: bool) -> Result<Side> {
        let Counting { builder, reserved: _held, .. } =
            self.counting.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut side = Side::new(builder).context(TEMPORARY)?;
        check(self.host, &mut side.report, is_strict, self.is_quiet)?;
        Ok(side)
    }

    fn add(&self, run: &RunMeasures) -> Result<()> {
        let mut counting = self.counting();
        counting.note_weights(&run.record);
        let Counting { builder, patterns, pool, intervals, .. } = &mut *counting;
        if let Some(patterns) = patterns {
            builder.count_threads(patterns.of_run(run));
        }
        let is_selected = builder.add_selected(run);
        if let Some(intervals) = intervals.as_mut().filter(|_| is_selected) {
            intervals.add_run(&run.record.source, run.intervals.as_ref());
        }
        if let Some(pool) = pool.as_mut()
            && is_selected
            && pool.takes(&run.record)
        {
            let is_wanted =
                |process: &str, thread: &str, is_main| builder.options.selects_stack(process, thread, is_main);
            pool.stacks.add(run, is_wanted)?;
            pool.runs_of.as_mut().map_or(Ok(()), |runs_of| runs_of.add(run, is_wanted))?;
        }
        counting.reserve(self.host)
    }

    fn add_shared(&self, run: DatasetRun) -> Result<()> {
        let mut counting = self.counting();
        if counting.patterns.is_some() || counting.pool.is_some() {
            drop(counting);
            return self.add(&run.into_measures());
        }
        counting.note_weights(run.record());
        counting.builder.add_shared(run);
        counting.reserve(self.host)
    }

    fn add_failure(&self, failed: FailedInput) -> Result<()> {
        let mut counting = self.counting();
        counting.builder.add_failure(failed);
        counting.reserve(self.host)
    }
}

impl Pool {
    /// True if this run's stacks should be added. Marks a requested run as added.
    fn takes(&mut self, record: &RunRecord) -> bool {
        let is_wanted = self.only.as_mut().is_none_or(|only| only.remove(&record.run_id));
        is_wanted && (self.schemas.is_empty() || self.schemas.contains(&record.schema))
    }
}

impl Counting {
    fn note_weights(&mut self, record: &RunRecord) {
        let keys = record.labels.iter().map(|(key, _)| key);
        self.weight_labels.extend(keys.filter(|key| key.to_ascii_lowercase().contains("weight")).cloned());
    }

    /// Reserves memory for the collected data, moving large amounts to a temporary file.
    fn reserve(&mut self, host: &dyn FleetHost) -> Result<()> {
        if self.builder.spillable() > host.memory_of_values() {
            self.builder.spill(|| host.temporary_file()).context(TEMPORARY)?;
        }
        let free = host.memory_of_run().saturating_mul(self.builder.run_count() as u64);
        let intervals = self.intervals.as_ref().map_or(0, IntervalPool::memory);
        Ok(self.reserved.resize(self.builder.memory().saturating_sub(free) + intervals)?)
    }
}

/// Passes each run to every collector.
struct Each<'c, 'h>(&'c [&'c Collector<'h>]);

impl Keeper for Each<'_, '_> {
    fn keep(&self, _: &Task, finished: Finished, _: Option<&Task>) -> Result<()> {
        let add = |collector: &&Collector<'_>| match &finished.outcome {
            Outcome::Runs(runs) => runs.iter().try_for_each(|run| collector.add(run)),
            Outcome::Failed(failed) => collector.add_failure(failed.clone()),
            Outcome::Kept(_) => Ok(()),
        };
        self.0.iter().try_for_each(add)
    }
}

/// Fails if there is nothing to report, or if strict and something is missing.
fn check(host: &dyn FleetHost, report: &mut FleetReport, is_strict: bool, is_quiet: bool) -> Result<()> {
    // Sorted, since they are in order of discovery.
    report.options.threads.iter_mut().for_each(|names| names.sort());
    // A metric may have only a histogram of durations, which process filters cannot use.
    let has_bins = !report.histograms.is_empty() || !report.crashes.is_empty();
    let has_runs = report.inputs.runs > 0 || has_bins && report.options.processes.is_empty();
    check_whole(report, is_strict)?;
    check_names(report, has_runs)?;
    check_runs(host, report, has_runs.then_some(report.runs.len() as u64), is_quiet)
}

/// Fails if strict and something is missing.
fn check_whole(report: &FleetReport, is_strict: bool) -> Result<()> {
    let inputs = &report.inputs;
    if is_strict {
        if let Some(failed) = inputs.failed.first() {
            bail!("{}: {} ({STRICT} makes this an error)", failed.source, failed.reason);
        }
        if let Some(damaged) = inputs.damaged.first() {
            let runs = several(damaged.unread_runs, "run");
            let verb = if damaged.unread_runs == 1 { "is" } else { "are" };
            bail!("{}: {runs} {verb} damaged and could not be read ({STRICT} makes this an error)", damaged.source);
        }
        if inputs.rejected_rows > 0 {
            let rows = several(inputs.rejected_rows, "row");
            bail!("{rows} or values of reports could not be read ({STRICT} makes this an error)");
        }
        if inputs.completeness.is_incomplete() {
            bail!("the dataset is incomplete ({STRICT} makes this an error)");
        }
    }
    Ok(())
}

/// Fails if there are no runs, and warns about files without runs.
fn check_runs(host: &dyn FleetHost, report: &FleetReport, runs: Option<u64>, is_quiet: bool) -> Result<()> {
    let failed = &report.inputs.failed;
    let Some(runs) = runs else {
        host.warn_of(&of_failures(failed.iter()));
        return Err(nothing(report));
    };
    if !failed.is_empty() && !is_quiet {
        let (files, runs) = (several(failed.len(), "file"), several(runs, "run"));
        host.warn(&format!("{files} produced no run ({}), {runs} did", kinds(failed)));
    }
    Ok(())
}

/// Rejects labels and processes that no run has: ignoring them would report on everything.
fn check_names(report: &FleetReport, has_runs: bool) -> Result<()> {
    let (inputs, options) = (&report.inputs, &report.options);
    let mut asked = options.by.iter().chain(options.only.iter().map(|(key, _)| key));
    if let Some(key) = asked.find(|key| !inputs.label_keys.contains(key)) {
        let known = if inputs.label_keys.is_empty() { "none".to_owned() } else { choice_of(&inputs.label_keys) };
        bail!("no run has the label {key:?}; known labels: {known}. A manifest adds labels (see {HELP})");
    }
    if !has_runs && inputs.left_out > 0 {
        let pairs: Vec<String> = options.only.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let there_are: Vec<String> =
            inputs.left_out_values.iter().map(|(key, values)| values_of(key, values)).collect();
        let runs = several(inputs.left_out, "run");
        let failed = match inputs.failed.len() {
            0 => String::new(),
            failed => format!(", and {} that may have it produced no run", several(failed, "file")),
        };
        bail!("none of {runs} has {}{failed}; known values: {}", pairs.join(" and "), there_are.join("; "));
    }
    if let Some(name) = inputs.missing_threads.first().filter(|_| !inputs.threads.is_empty()) {
        bail!("no run has a thread named {name:?}; known threads: {}", choice_of(&inputs.threads));
    }
    if let Some(name) = inputs.missing_processes.first().filter(|_| inputs.runs > 0) {
        bail!("no run has a process named {name:?}; known processes: {}", choice_of(&inputs.processes));
    }
    Ok(())
}

/// The maximum number of label values listed.
const NAMED_VALUES: usize = 8;

/// Lists values: `app_version 1.0, 1.1 and 3 more`.
fn values_of(key: &str, values: &[String]) -> String {
    let named = values[..values.len().min(NAMED_VALUES)].join(", ");
    match values.len().saturating_sub(NAMED_VALUES) {
        0 => format!("{key} {named}"),
        more => format!("{key} {named} and {} more", counted(more)),
    }
}

/// Warns if weights have no effect, since they may be in another column.
fn check_weights(host: &dyn FleetHost, report: &FleetReport, weight_labels: &BTreeSet<String>) {
    if report.options.is_weighted && report.runs.iter().all(|run| run.run_weight == Millionths::ONE) {
        let hint =
            weight_labels.first().map(|key| format!("; there is a label `{key}`: rename that column `run_weight`"));
        let hint = hint.unwrap_or_default();
        host.warn(&format!("no run has a run_weight other than 1, so {WEIGHTED} changes nothing{hint}"));
    }
}

fn nothing(report: &FleetReport) -> FleetError {
    let inputs = &report.inputs;
    match (inputs.without_time.as_slice(), inputs.failed.len()) {
        ([first, ..], _) => error!(
            "no run has a recorded time, so CPU use is unknown; put a table of contents (xcrun xctrace export --toc) next to {first}, or add a column `duration` to a manifest"
        ),
        ([], 0) if !report.crashes.is_empty() => error!("only crashes are known, which have no processes"),
        ([], 0) if !report.histograms.is_empty() => {
            error!("only binned hang and launch times are known, which have no processes")
        }
        ([], 0) if let Some(note) = report.notes.iter().find(|note| note.ends_with(WITHOUT_BINS)) => {
            error!("there are no runs with numbers: {note}")
        }
        ([], 0) => error!("there are no exports"),
        ([], 1) => error!("the only file produced no run"),
        ([], files) => error!("none of the {files} files produced a run ({})", kinds(&inputs.failed)),
    }
}

/// Counts failures by kind: `2 truncated, 1 empty`.
fn kinds(failed: &[FailedInput]) -> String {
    let count = |kind: FailureKind| failed.iter().filter(|failed| failed.kind == kind).count();
    let counts = FailureKind::ALL.into_iter().map(|kind| (count(kind), kind)).filter(|(count, _)| *count > 0);
    counts.map(|(count, kind)| format!("{count} {}", kind.name())).collect::<Vec<_>>().join(", ")
}
