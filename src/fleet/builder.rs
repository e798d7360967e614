//! Collects a fleet's runs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::alert_series::AlertSeries;
use super::columns::ScopeColumn;
use super::compare::ComparedRuns;
#[cfg(feature = "dataset")]
use super::dataset::{DatasetRun, SharedNames};
use super::entries::Spilled;
use super::options::FleetOptions;
use super::report::{Cohort, Completeness, DamagedRecording, Inputs};
use super::run::{
    FailedInput, FailureKind, FleetNames, FrameRow, KnownNames, NameId, RunMeasures, RunNames, RunRecord, RunRows,
};
use super::scope::FleetScope;
use super::selection::FleetSelection;
use super::shared_label::LabelValues;
use super::stored_run::{StoredCohort, StoredRun};
use super::unmeasured::Unmeasured;
use super::windows::Series;
use crate::alert::AlertRule;
#[cfg(feature = "dataset")]
use crate::alert::AlertSubject;
use crate::files::StorageFile;
use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};
use crate::recording::TimeSource;
use crate::stats::{BinnedValues, ExponentialHistogram};
use crate::units::Unit;

/// The maximum number of process names, and of thread names, listed in a report in addition to the requested ones.
const MAX_NAMES: usize = 50;

/// Collects the runs of a fleet and builds the report.
///
/// For each run it keeps about half a KiB, its weight in each second (3 bytes), and its values for the selected processes, threads, binaries and
/// functions. A value takes about 3 bytes, plus the same for each alert rule about every function. Values can be [spilled](Self::spill) to a
/// file. Neither spilling nor the order of runs affects the report.
#[derive(Debug)]
pub struct FleetBuilder {
    pub(super) options: FleetOptions,
    pub(super) names: FleetNames,
    pub(super) cohorts: Vec<StoredCohort>,
    cohort_ids: HashMap<Cohort, usize>,
    pub(super) runs: Vec<StoredRun>,
    /// Maps run ids to sources.
    pub(super) sources: HashMap<String, String>,
    pub(super) columns: Vec<ScopeColumn>,
    pub(super) alert_series: Vec<AlertSeries>,
    /// Set for a comparison or a trend.
    pub(super) compared: Option<ComparedRuns>,
    /// The parts of the inputs that are counted one by one.
    pub(super) inputs: Inputs,
    pub(super) unmeasured: Unmeasured,
    pub(super) label_keys: BTreeSet<String>,
    pub(super) label_values: LabelValues,
    /// For each requested label, the values in skipped runs.
    pub(super) left_out_values: BTreeMap<String, BTreeSet<String>>,
    pub(super) processes: BTreeSet<String>,
    pub(super) threads: BTreeSet<String>,
    pub(super) selection: FleetSelection,
    /// True to evaluate alerts even if inputs are missing.
    pub(super) decides_incomplete: bool,
    pub(super) notes: Vec<String>,
    /// For each distinct note, the number of runs with it, and the first of them by source.
    pub(super) run_notes: BTreeMap<String, (u64, String)>,
    /// For each name and cohort, the number of reports and the histogram of durations.
    pub(super) histograms: BTreeMap<(String, Cohort), (u64, BinnedValues)>,
    /// The number of crashes by cohort and crashed function.
    pub(super) crashes: BTreeMap<(Cohort, String), u64>,
    /// The approximate size in bytes of everything kept per run or file, apart from tables.
    apart: u64,
    /// The names in the data file of the last run.
    #[cfg(feature = "dataset")]
    shared: Option<(SharedNames, KnownNames)>,
    /// Values moved to a file.
    pub(super) spilled: Spilled,
}

impl FleetBuilder {
    /// Creates a fleet without runs.
    pub fn new(options: FleetOptions) -> Self {
        let scopes = FleetScope::ALL.into_iter().filter(|scope| *scope != FleetScope::Run);
        let wanted = scopes.filter(|scope| options.scopes.contains(scope));
        let columns = wanted.map(|scope| ScopeColumn::new(scope, options.measure, false)).collect();
        let alert_series = options.alerts.iter().map(|rule: &AlertRule| AlertSeries::new(rule.clone())).collect();
        Self {
            options,
            names: FleetNames::default(),
            cohorts: Vec::new(),
            cohort_ids: HashMap::default(),
            runs: Vec::new(),
            sources: HashMap::default(),
            columns,
            alert_series,
            compared: None,
            inputs: Inputs::default(),
            unmeasured: Unmeasured::default(),
            label_keys: BTreeSet::new(),
            label_values: LabelValues::default(),
            left_out_values: BTreeMap::new(),
            processes: BTreeSet::new(),
            threads: BTreeSet::new(),
            selection: FleetSelection::default(),
            decides_incomplete: false,
            notes: Vec::new(),
            run_notes: BTreeMap::new(),
            histograms: BTreeMap::new(),
            crashes: BTreeMap::new(),
            apart: 0,
            #[cfg(feature = "dataset")]
            shared: None,
            spilled: Spilled::default(),
        }
    }

    /// Creates one side of a [comparison](crate::fleet::compare::Comparison), without runs. Display options are ignored. `intervals` are the
    /// names of intervals whose durations are compared.
    pub fn for_comparison(options: FleetOptions, intervals: &[String]) -> Self {
        Self::with_runs_of(options, ComparedRuns::new(intervals, true))
    }

    /// Creates a collector for the runs of a [trend](super::TrendReport). `options` come from [`TrendOptions::fleet`](super::TrendOptions::fleet).
    pub fn for_trend(options: FleetOptions, intervals: &[String]) -> Self {
        Self::with_runs_of(options, ComparedRuns::new(intervals, false))
    }

    fn with_runs_of(options: FleetOptions, compared: ComparedRuns) -> Self {
        let options = FleetOptions { scopes: Vec::new(), alerts: Vec::new(), ..options };
        Self { compared: Some(compared), ..Self::new(options) }
    }

    /// Adds a run. If its id is already known, it is a copy and is recorded as a failed input.
    ///
    /// A run without a recorded time has no measure: the report lists it, but no number includes it.
    pub fn add(&mut self, measures: &RunMeasures) {
        self.add_selected(measures);
    }

    /// Like [`add`](Self::add). Returns true if the run is selected.
    pub(super) fn add_selected(&mut self, measures: &RunMeasures) -> bool {
        if !self.begin(&measures.record) {
            return false;
        }
        self.note_names(&RunRows::of(measures));
        let options = &self.options;
        let narrowed = match options.narrows_threads() {
            false => None,
            true => match measures.of_threads(|name, is_main| options.selects_thread(name, is_main)) {
                Some(narrowed) => Some(narrowed),
                None => {
                    self.inputs.failed.push(without_threads(&measures.record, options));
                    return false;
                }
            },
        };
        self.add_rows(&RunRows::of(narrowed.as_ref().unwrap_or(measures)), &mut KnownNames::default());
        self.add_histograms(measures);
        true
    }

    /// Merges the histograms of metrics into those of the cohort.
    fn add_histograms(&mut self, measures: &RunMeasures) {
        for (name, durations) in &measures.histograms {
            let labels = self.labels_of_cohort(&measures.record.labels);
            let cohort = Cohort { unit: Unit::DayTime, labels };
            let (reports, values) = self.histograms.entry((name.clone(), cohort)).or_default();
            *reports += 1;
            values.merge(durations);
        }
    }

    /// Adds a run of a data file, like [`add`](Self::add).
    #[cfg(feature = "dataset")]
    pub fn add_shared(&mut self, run: DatasetRun) {
        // These options compare names as strings, so they need the run's own names.
        let options = &self.options;
        let is_of_names = options.narrows_threads() || !options.processes.is_empty();
        if is_of_names || options.alerts.iter().any(|rule| matches!(rule.subject, AlertSubject::Named(..))) {
            return self.add(&run.into_measures());
        }
        if !self.begin(run.record()) {
            return;
        }
        let mut known = match self.shared.take() {
            Some((names, known)) if names.is(run.names()) => known,
            _ => KnownNames::default(),
        };
        let names = run.names().get();
        let rows = run.rows(&names);
        self.note_names(&rows);
        self.add_rows(&rows, &mut known);
        self.shared = Some((run.names().clone(), known));
    }

    /// Decides from a run's labels and id whether it is used, and records both.
    fn begin(&mut self, record: &RunRecord) -> bool {
        for (key, _) in &record.labels {
            if !self.label_keys.contains(key) {
                self.label_keys.insert(key.clone());
            }
        }
        if !self.options.selects(&record.labels) {
            self.inputs.left_out += 1;
            let is_asked = |key: &String| self.options.only.iter().any(|(asked, _)| asked == key);
            for (key, value) in record.labels.iter().filter(|(key, _)| is_asked(key)) {
                self.left_out_values.entry(key.clone()).or_default().insert(value.clone());
            }
            return false;
        }
        if let Some(first) = self.sources.get(&record.run_id) {
            self.inputs.failed.push(record.copy_of(first));
            return false;
        }
        self.apart += (record.run_id.len() + record.source.len()) as u64;
        self.sources.insert(record.run_id.clone(), record.source.clone());
        self.inputs.rejected_rows = self.inputs.rejected_rows.saturating_add(record.rejected);
        // An unreadable value of a report is a missing run.
        let unread = if record.unit.is_of_reports() { record.rejected } else { 0 };
        self.unmeasured.add(self.labels_of_cohort(&record.labels), unread + u64::from(record.unread_runs));
        if record.unread_runs > 0 {
            self.inputs
                .damaged
                .push(DamagedRecording { source: record.source.clone(), unread_runs: record.unread_runs });
        }
        self.inputs.excluded_runs += u64::from(record.excluded_runs);
        if let Some(place) = record.label(RunRecord::CRASHED_IN) {
            let cohort = Cohort { unit: record.unit, labels: self.labels_of_cohort(&record.labels) };
            *self.crashes.entry((cohort, place.to_owned())).or_default() += 1;
        }
        true
    }

    /// Adds the rows of a run with a known recorded time.
    fn add_rows(&mut self, rows: &RunRows<'_>, known: &mut KnownNames) {
        let record = rows.record;
        let counted = self.counted_processes(rows);
        let counts = |process: NameId| counted.as_ref().is_none_or(|counted| counted[process.0 as usize]);
        let (weight, samples) = match &counted {
            None => (record.weight, record.samples),
            Some(_) => rows.frames.iter().filter(|row| counts(row.process)).fold((0, 0), |sum, row| {
                (u64::saturating_add(sum.0, row.self_weight), u64::saturating_add(sum.1, row.self_samples))
            }),
        };
        let Some(rate) = record.rate(weight) else {
            // A day's metrics without CPU use may still contain other values.
            if !record.unit.is_of_metrics() {
                self.inputs.without_time.push(record.source.clone());
                self.unmeasured.add(self.labels_of_cohort(&record.labels), 1);
            }
            return;
        };
        let run = self.runs.len() as u32;
        let mut names = RunNames { names: rows.names, known, all: &mut self.names };
        for column in &mut self.columns {
            column.add(run, rows, &counts, &mut names);
        }
        if let Some(compared) = &mut self.compared {
            compared.add(run, rows, &counts, &mut names);
        }
        for series in &mut self.alert_series {
            series.add(run, rows, &counts, (weight, rate), &mut names);
        }
        let series = Series::new(record, rows.windows, &|row| counts(row.process));
        let cohort = self.cohort_of(record);
        self.label_values.add(cohort as u32, &record.labels, &self.options.by);
        let windows = self.options.is_approximate.then(|| &mut self.cohorts[cohort].windows);
        // Unreadable values of reports already count as missing runs.
        let rejected = if record.unit.is_of_reports() { 0 } else { rows.rejected() };
        let stored =
            StoredRun::new((record, rejected), (cohort, windows), (weight, samples, rate), series, &self.options);
        self.apart += stored.memory();
        self.inputs.runs += 1;
        self.inputs.idle += u64::from(record.samples == 0);
        self.inputs.estimated_time += u64::from(record.wall_source == TimeSource::Samples);
        self.runs.push(stored);
    }

    /// Adds a file without runs.
    pub fn add_failure(&mut self, failed: FailedInput) {
        self.apart += failed.memory();
        self.label_keys.extend(failed.labels.iter().map(|(key, _)| key.clone()));
        if failed.labels.is_empty() || self.options.selects(&failed.labels) {
            let count = u64::from(failed.kind.is_unmeasured());
            self.unmeasured.add(self.labels_of_cohort(&failed.labels), count);
            self.inputs.failed.push(failed);
        }
    }

    /// The approximate memory use in bytes, which grows with each run and failed file. The report needs about as much again.
    pub fn memory(&self) -> u64 {
        let columns = self.all_columns().map(ScopeColumn::memory).sum::<u64>();
        let alert_series = self.alert_series.iter().map(AlertSeries::memory).sum::<u64>();
        let lists = of_vec(&self.runs) + of_vec(&self.inputs.failed) + of_map(&self.sources);
        self.names.memory() + columns + alert_series + lists + self.label_values.memory() + self.apart
    }

    /// The approximate number of bytes that [`spill`](Self::spill) would free.
    pub fn spillable(&self) -> u64 {
        let of_alerts = self.alert_series.iter().filter_map(AlertSeries::each);
        self.all_columns().chain(of_alerts).map(|column| column.entries.spillable()).sum()
    }

    fn all_columns(&self) -> impl Iterator<Item = &ScopeColumn> {
        self.columns.iter().chain(self.compared.iter().map(|compared| &compared.own))
    }

    /// Moves the values of functions, binaries, threads and processes from memory to a file. [`try_finish`](Self::try_finish) reads them back, so
    /// the report is the same. `open` is called once to create the file, which must be empty and used by nothing else.
    ///
    /// # Errors
    ///
    /// If `open` or writing fails.
    pub fn spill(&mut self, open: impl FnOnce() -> io::Result<Box<dyn StorageFile>>) -> io::Result<()> {
        if !self.spilled.is_open() {
            self.spilled = Spilled::new(open()?);
        }
        let of_alerts = self.alert_series.iter_mut().filter_map(AlertSeries::each_mut);
        let compared = self.compared.iter_mut().map(|compared| &mut compared.own);
        self.columns
            .iter_mut()
            .chain(compared)
            .chain(of_alerts)
            .try_for_each(|column| column.entries.spill(&mut self.spilled))
    }

    /// The number of bytes that were [spilled](Self::spill).
    pub fn spilled(&self) -> u64 {
        self.spilled.length()
    }

    /// Sets what the report shows about its origin: the selection with which runs were measured, completeness (unknown by default), and missing
    /// shards, such as `16/16`.
    pub fn describe(&mut self, selection: FleetSelection, completeness: Completeness, missing_shards: Vec<String>) {
        self.selection = selection;
        (self.inputs.completeness, self.inputs.missing_shards) = (completeness, missing_shards);
    }

    /// Evaluates alerts even if inputs are [missing](Completeness::is_incomplete) or could not be measured. By default, alerts are then
    /// undecided.
    pub fn decide_incomplete(&mut self) {
        self.decides_incomplete = true;
    }

    /// Selects more thread names for all later runs, if only [some](FleetOptions::threads) threads are selected.
    pub fn count_threads<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        let Some(threads) = &mut self.options.threads else { return };
        for name in names {
            if !threads.iter().any(|known| known == name) {
                threads.push(name.to_owned());
            }
        }
    }

    /// Adds a sentence to the notes of the report.
    pub fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The number of runs in use so far.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Records a run's process names, thread names and notes.
    fn note_names(&mut self, rows: &RunRows<'_>) {
        let FleetOptions { processes, threads, .. } = &self.options;
        note_names(&mut self.processes, processes, rows, |row| row.process);
        note_names(&mut self.threads, threads.as_deref().unwrap_or_default(), rows, |row| row.thread);
        let record = rows.record;
        for note in &record.notes {
            let entry = self.run_notes.entry(note.clone()).or_insert_with(|| (0, record.source.clone()));
            entry.0 += 1;
            if record.source < entry.1 {
                entry.1.clone_from(&record.source);
            }
        }
    }

    /// For each name, true if it is a selected process; `None` if all are selected.
    fn counted_processes(&self, rows: &RunRows<'_>) -> Option<Vec<bool>> {
        let wanted = &self.options.processes;
        (!wanted.is_empty()).then(|| rows.names.iter().map(|name| wanted.contains(name)).collect())
    }

    fn cohort_of(&mut self, record: &RunRecord) -> usize {
        let cohort = Cohort { unit: record.unit, labels: self.labels_of_cohort(&record.labels) };
        self.cohort_id(cohort)
    }

    fn labels_of_cohort(&self, labels: &[(String, String)]) -> Vec<(String, Option<String>)> {
        let value = |key: &String| labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        let keys = self.options.by.iter().chain(&self.options.by_if_known);
        keys.map(|key| (key.clone(), value(key))).collect()
    }

    /// Creates cohorts for labels whose files all failed, so that such a version does not look as if it never existed.
    pub(super) fn add_failed_cohorts(&mut self) {
        if self.options.by.is_empty() {
            return;
        }
        let unit = self.cohorts.iter().map(|cohort| cohort.cohort.unit).min().unwrap_or(Unit::Nanoseconds);
        let counted = self.inputs.failed.iter().filter(|failed| failed.kind != FailureKind::Duplicate);
        let labels: Vec<_> = counted.map(|failed| self.labels_of_cohort(&failed.labels)).collect();
        let mut known: BTreeSet<_> = self.cohorts.iter().map(|cohort| cohort.cohort.labels.clone()).collect();
        for labels in labels {
            let is_told = labels.iter().any(|(_, value)| value.is_some());
            if is_told && known.insert(labels.clone()) {
                self.cohort_id(Cohort { unit, labels });
            }
        }
    }

    fn cohort_id(&mut self, cohort: Cohort) -> usize {
        if let Some(&id) = self.cohort_ids.get(&cohort) {
            return id;
        }
        let id = self.cohorts.len();
        self.cohort_ids.insert(cohort.clone(), id);
        self.cohorts.push(StoredCohort { cohort, windows: ExponentialHistogram::default() });
        id
    }
}

/// Adds the requested names in a run's rows, and up to [`MAX_NAMES`] others.
fn note_names(names: &mut BTreeSet<String>, asked: &[String], rows: &RunRows<'_>, of: impl Fn(&FrameRow) -> NameId) {
    let mut last = None;
    for id in rows.frames.iter().map(of).filter(|id| last.replace(*id) != Some(*id)) {
        let name = rows.name(id);
        if !names.contains(name) && (names.len() < MAX_NAMES || asked.iter().any(|asked| asked == name)) {
            names.insert(name.to_owned());
        }
    }
}

/// The failure for a run without selected threads.
fn without_threads(record: &RunRecord, options: &FleetOptions) -> FailedInput {
    let reason = RunMeasures::no_thread(options.threads.as_deref().unwrap_or_default(), options.only_main_threads);
    record.failure(FailureKind::NotSelected, reason)
}
