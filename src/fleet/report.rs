//! The answer about a fleet, as plain values.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::alert::AlertRule;
use super::finding::Finding;
use super::label_order::compare_labels;
use super::options::FleetOptions;
use super::run::{FailedInput, FailureKind};
use super::scope::{FleetScope, ScopeName};
use super::selection::FleetSelection;
use super::shared_label::SharedLabel;
use crate::recording::TimeSource;
use crate::stats::{Bin, BinnedValues, BoxPlot, Estimate, Quantile};
use crate::units::{Millionths, Nanos, Unit};

/// The distribution of CPU use over a fleet of runs.
///
/// Measures are in percent of one core where the unit is nanoseconds, else in units per second.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetReport {
    /// The options of the report.
    pub options: FleetOptions,
    /// The selection and the operations that the runs were measured with.
    pub selection: FleetSelection,
    /// The inputs that were read, and the inputs that could not be read.
    pub inputs: Inputs,
    /// The cohorts, by unit and then by their labels.
    pub cohorts: Vec<CohortReport>,
    /// The rows that differ most between cohorts of one unit, for each scope but the run; empty with a single cohort.
    pub contrasts: Vec<Contrast>,
    /// What to know first, in this order. Text and HTML begin with it.
    pub findings: Vec<Finding>,
    /// CPU use over versions or dates.
    pub trends: Vec<Trend>,
    /// The outcome of each alert rule in each cohort.
    pub alerts: Vec<AlertOutcome>,
    /// Durations of metrics, by name and cohort.
    pub histograms: Vec<HistogramReport>,
    /// The number of crashes by cohort and innermost function of app code, the most frequent first.
    pub(crate) crashes: Vec<(Cohort, String, u64)>,
    /// All measured runs, by source and then by run id.
    pub runs: Vec<RunRow>,
    /// Warnings to read before believing the numbers, in sentences.
    pub notes: Vec<String>,
    /// A label whose values repeat within cohorts, so intervals may be too narrow.
    pub(crate) shared_label: Option<SharedLabel>,
}

impl FleetReport {
    /// The ids and sources of the runs whose CPU use is at or beyond this percentile of their cohort, which must be among the options.
    pub fn runs_beyond(&self, quantile: Quantile) -> BTreeMap<String, String> {
        let value = |cohort: &CohortReport| {
            let mut estimates = cohort.across_runs.estimates.iter();
            estimates.find(|estimate| estimate.quantile == quantile).and_then(|estimate| estimate.value)
        };
        let values: Vec<Option<f64>> = self.cohorts.iter().map(value).collect();
        let is_beyond = |run: &&RunRow| values[run.cohort].is_some_and(|value| run.rate.as_f64() >= value);
        self.runs.iter().filter(is_beyond).map(|run| (run.run_id.clone(), run.source.clone())).collect()
    }

    /// The assumption of intervals, if it may be wrong: `, if runs are independent`, otherwise empty.
    pub fn assumption(&self) -> &'static str {
        if self.shared_label.is_some() { ", if runs are independent" } else { "" }
    }
}

/// Durations of the metrics of a cohort, which are known by bins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistogramReport {
    /// As [`DurationHistogram::name`](crate::recording::DurationHistogram::name).
    pub name: String,
    /// The cohort; its unit has no meaning.
    pub cohort: Cohort,
    /// The number of reports with such durations: a report is about a day of a device.
    pub reports: u64,
    /// All durations, in nanoseconds.
    pub values: BinnedValues,
}

/// The inputs of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The number of measured runs.
    pub runs: u64,
    /// The number of idle runs among the measured ones: none of their threads was on the CPU, so their CPU use is 0.
    pub idle: u64,
    /// Runs without a known recorded time: they have no rate, and are in no distribution.
    pub without_time: Vec<String>,
    /// Runs whose recorded time is estimated as the time that their samples cover ([`TimeSource::Samples`]).
    pub estimated_time: u64,
    /// Rows of CPU tables and values of reports that could not be read, over all runs.
    pub rejected_rows: u64,
    /// Recordings with some runs that could not be read, by source.
    pub damaged: Vec<DamagedRecording>,
    /// Files that gave no run.
    pub failed: Vec<FailedInput>,
    /// Runs without the requested labels ([`FleetOptions::only`]).
    pub left_out: u64,
    /// The values that these runs have for the requested labels, sorted, by key.
    pub left_out_values: Vec<(String, Vec<String>)>,
    /// The keys of the labels that runs and failed files have, sorted.
    pub label_keys: Vec<String>,
    /// The first process names, sorted.
    pub processes: Vec<String>,
    /// Requested processes ([`FleetOptions::processes`]) that no run has.
    pub missing_processes: Vec<String>,
    /// The first thread names, sorted.
    pub threads: Vec<String>,
    /// Requested threads ([`FleetOptions::threads`]) that no run has.
    pub missing_threads: Vec<String>,
    /// The number of runs without selected samples in files with other runs; files without any run are in `failed`.
    pub excluded_runs: u64,
    /// The share of the inputs that these are.
    pub completeness: Completeness,
    /// The missing shards of the fleet, such as `16/16`; the first of many, and the number of others.
    pub missing_shards: Vec<String>,
}

impl Inputs {
    /// The number of inputs that should have a measure and have none.
    pub(super) fn unmeasured(&self) -> usize {
        let failed = self.failed.iter().filter(|failed| failed.kind != FailureKind::Duplicate).count();
        let damaged: u64 = self.damaged.iter().map(|recording| u64::from(recording.unread_runs)).sum();
        failed + self.without_time.len() + (damaged + self.excluded_runs) as usize
    }
}

/// A recording with some damaged runs, which do not count, and others that do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct DamagedRecording {
    /// The path that it was read from.
    pub source: String,
    /// The number of its runs that are damaged; at least one.
    pub unread_runs: u32,
}

/// A run of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunRow {
    /// The id of the run.
    pub run_id: String,
    /// The path that it was read from.
    pub source: String,
    /// Its number in that file, from 1.
    pub number: u32,
    /// True if the report has other runs of this file.
    pub is_one_of_several: bool,
    /// The time when recording started (ISO 8601), if it is known.
    pub start: Option<String>,
    /// The position of its cohort in [`FleetReport::cohorts`].
    pub cohort: usize,
    /// The length of its recording, or the second that a report from the field counts as.
    pub wall: Nanos,
    /// The source of that length.
    pub wall_source: TimeSource,
    /// The weight of the run's selected samples.
    pub weight: u64,
    /// The number of those samples.
    pub samples: u64,
    /// The number of runs that this run represents.
    pub run_weight: Millionths,
    /// The CPU use of the run: `weight` per `wall`.
    pub rate: Millionths,
    /// The requested nearest-rank percentiles of its one-second windows; `None` without a complete window.
    pub windows: Option<Vec<Millionths>>,
    /// The busiest window of one second.
    pub window_max: Option<Millionths>,
}

impl RunRow {
    /// The path that it was read from, and its number in that file if there are others: `hangs.ndjson (run 12)`.
    pub(crate) fn title(&self) -> Cow<'_, str> {
        match self.needs_number() {
            true => format!("{} (run {})", self.source, self.number).into(),
            false => Cow::Borrowed(&self.source),
        }
    }

    /// True if its file has other runs, so that the path does not name it.
    pub(crate) fn needs_number(&self) -> bool {
        self.is_one_of_several || self.number > 1
    }

    /// True if the length of its recording is estimated by its samples.
    pub(super) fn is_estimated(&self) -> bool {
        self.wall_source == TimeSource::Samples
    }

    /// The length of its recording; `None` for reports from the field, which have none.
    pub fn recorded(&self) -> Option<Nanos> {
        Some(self.wall).filter(|_| self.wall_source != TimeSource::Report)
    }
}

/// The runs that are compared with each other. Cohorts are ordered by unit, and then by their labels as people count: version 1.9 is before
/// 1.10, and a date before a later one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cohort {
    /// The unit of its weights; cycles and time are never in one cohort.
    pub unit: Unit,
    /// Keys and values, in the order of [`FleetOptions::by`]; `None` if the runs have no value.
    pub labels: Vec<(String, Option<String>)>,
}

impl Ord for Cohort {
    fn cmp(&self, other: &Self) -> Ordering {
        let value = |a: &Option<String>, b: &Option<String>| match (a, b) {
            (Some(a), Some(b)) => compare_labels(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        let label =
            |a: &(String, Option<String>), b: &(String, Option<String>)| a.0.cmp(&b.0).then_with(|| value(&a.1, &b.1));
        let labels = self.labels.iter().zip(&other.labels).map(|(a, b)| label(a, b)).find(|order| order.is_ne());
        let labels = labels.unwrap_or_else(|| self.labels.len().cmp(&other.labels.len()));
        self.unit.cmp(&other.unit).then(labels)
    }
}

impl PartialOrd for Cohort {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Cohort {
    /// `app_version 1.2, device iPhone`; `all runs` without labels.
    pub fn name(&self) -> String {
        if self.labels.is_empty() {
            return "all runs".to_owned();
        }
        let label =
            |(key, value): &(String, Option<String>)| format!("{key} {}", value.as_deref().unwrap_or("unknown"));
        self.labels.iter().map(label).collect::<Vec<_>>().join(", ")
    }
}

/// The report on one cohort.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CohortReport {
    /// The runs that it is about.
    pub cohort: Cohort,
    /// The number of runs; 0 if every file of the cohort failed.
    pub runs: u64,
    /// CPU use across runs: one value per run.
    pub across_runs: Summary,
    /// The same values, counted in steps, for a picture.
    pub bins: Vec<Bin>,
    /// The same values as a box plot; `None` without runs.
    pub box_plot: Option<BoxPlot>,
    /// CPU use within runs: windows of one second.
    pub within_runs: Option<WindowReport>,
    /// CPU use over the time of the recordings.
    pub timeline: Vec<TimelinePoint>,
    /// One table for each requested scope, except the run.
    pub tables: Vec<ScopeTable>,
}

/// Windows of one second, of all runs of a cohort.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WindowReport {
    /// Runs that have a whole window.
    pub runs: u64,
    /// The pooled windows; its `count` is windows, not runs. Windows of one run are not independent, so there are no
    /// intervals.
    pub pooled: Summary,
    /// Each run's busiest window: one value per run.
    pub peaks: Summary,
    /// The pooled windows as a histogram that can be merged with histograms of other fleets: HdrHistogram V2,
    /// compressed, in base64; values are thousandths of a percent (or of a unit per second).
    pub hdr: String,
}

/// A second (or a longer step, for long recordings) of the recordings of a cohort.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TimelinePoint {
    /// Seconds since the start of the recordings.
    pub second: u32,
    /// The number of seconds that it covers.
    pub seconds: u32,
    /// Runs that recorded all of it.
    pub runs: u64,
    /// The requested nearest-rank percentiles of their CPU use in it.
    pub values: Vec<f64>,
    /// The largest.
    pub max: f64,
}

/// The distribution of one measure.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of values: runs of the cohort (or windows).
    pub count: u64,
    /// The number of zeros among them, where the scope is absent or did nothing.
    pub zeros: u64,
    /// The smallest; `None` without values, as are the largest and the mean.
    pub min: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
    /// The mean; every run counts once.
    pub mean: Option<f64>,
    /// The mean by recorded time and run weight: all time used over all time recorded. `None` for windows.
    pub weighted_mean: Option<f64>,
    /// The requested percentiles.
    pub estimates: Vec<Estimate>,
    /// By percentile: the positions in [`FleetReport::runs`] of the runs whose values it is. By nearest rank this is one run, with the linear
    /// method one or two, in the order of their values; of runs with equal values the first. None for windows, and where a value is zero.
    pub percentile_runs: Vec<Vec<usize>>,
    /// The position in [`FleetReport::runs`] of the run with the largest value, the first of several; `None` for
    /// windows, and without runs.
    pub max_run: Option<usize>,
    /// True if the values were kept one by one, false for buckets.
    pub is_exact: bool,
    /// Cautions about reading it.
    pub cautions: Vec<Caution>,
}

/// A caution for the reader of a summary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// The mean (by run weight, where percentiles are) is above P90: a few runs carry it, and most are far below it.
    MeanAboveP90,
    /// P50 is zero: at least half of the runs do not have it, and the mean includes them.
    MostlyAbsent,
    /// The distribution has fewer runs than a requested percentile needs.
    TooFewRuns {
        /// The number that the highest percentile needs.
        needed: u64,
    },
}

/// One process, thread, binary or function across the runs of a cohort.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScopeRow {
    /// Which.
    pub name: ScopeName,
    /// The distribution over all runs of the cohort; a run without the item is zero.
    pub summary: Summary,
    /// Samples over all runs.
    pub samples: u64,
    /// As many samples of one weight as are as noisy as these.
    pub effective_samples: f64,
    /// By percentile: the value that sampling noise alone would produce for identical runs (see
    /// [`noise_floor`](crate::stats::Quantile::noise_floor)). A percentile at or below it shows no difference between
    /// runs; see [`is_noise`](Self::is_noise).
    pub noise: Vec<Option<f64>>,
}

impl ScopeRow {
    /// True if the percentile at this index of the options is no more than sampling noise gives.
    pub fn is_noise(&self, index: usize) -> bool {
        let Some(estimate) = self.summary.estimates.get(index) else { return false };
        let noise = self.noise.get(index).copied().flatten();
        is_noise(estimate.quantile, estimate.value.unwrap_or(0.0), self.summary.mean.unwrap_or(0.0), noise)
    }
}

/// True if a percentile is above the middle of runs and yet no larger than sampling noise. Below the mean, the floor
/// has no meaning: there a few runs dominate the mean, and runs clearly differ.
pub(super) fn is_noise(quantile: Quantile, value: f64, mean: f64, noise: Option<f64>) -> bool {
    quantile > Quantile::P50 && value > 0.0 && value >= mean && noise.is_some_and(|noise| value <= noise)
}

/// CPU use over versions or dates: a distribution for each.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trend {
    /// The unit of the runs.
    pub unit: Unit,
    /// The meaning of the points.
    pub over: TrendOver,
    /// Keys and values of the other labels that all of its cohorts have.
    pub labels: Vec<(String, Option<String>)>,
    /// The points in order, at least three.
    pub points: Vec<TrendPoint>,
    /// Runs that are in no point, since their date is not known.
    pub undated: u64,
}

/// The order that a trend follows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrendOver {
    /// The values of the label with this key: each point is a cohort.
    Label(String),
    /// Days on which runs were recorded.
    Day,
    /// Weeks in which runs were recorded, from Monday on.
    Week,
}

/// The runs of one version, day or week.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendPoint {
    /// The value of the label, or the first day.
    pub name: String,
    /// The number of runs.
    pub runs: u64,
    /// The requested percentiles of CPU use across these runs.
    pub estimates: Vec<Estimate>,
    /// The largest; `None` without runs.
    pub max: Option<f64>,
}

/// The rows of one scope in one cohort.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScopeTable {
    /// The kind of the rows.
    pub scope: FleetScope,
    /// The rows, in the requested order.
    pub rows: Vec<ScopeRow>,
    /// The number of rows that were left out.
    pub hidden: u64,
    /// The row with the largest weighted mean, including hidden rows, if there are several; names that represent code of
    /// many functions are ignored.
    pub(super) most_used: Option<ScopeRow>,
}

/// The rows that differ most between the cohorts of one unit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contrast {
    /// The kind of the rows.
    pub scope: FleetScope,
    /// The unit of the cohorts that are compared.
    pub unit: Unit,
    /// The positions of the cohorts in [`FleetReport::cohorts`].
    pub cohorts: Vec<usize>,
    /// The name of the compared value, such as `p99`: the key that tables are sorted by.
    pub by: String,
    /// The rows, the largest difference first.
    pub rows: Vec<ContrastRow>,
}

/// One row in several cohorts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContrastRow {
    /// Which.
    pub name: ScopeName,
    /// The value in each cohort of the contrast.
    pub values: Vec<f64>,
    /// The largest value less the smallest.
    pub difference: f64,
    /// The lower bound of the difference, with the confidence of the report for all rows of the contrast together: the
    /// lower end of the largest value's interval less the upper end of the smallest value's interval. Above zero, the
    /// cohorts differ by more than chance explains. `None` if an end is unknown, or no percentile is compared.
    pub at_least: Option<f64>,
    /// True if the largest value is no more than sampling noise gives in its cohort.
    pub is_noise: bool,
}

/// The state of a rule in one cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertState {
    /// The value is on the bad side of the threshold.
    Fired,
    /// The value is not beyond the threshold.
    Quiet,
    /// The rule cannot be decided, usually because there are too few runs for its percentile.
    Undecided {
        /// The number of runs that it needs; `None` if more runs would not help, since chance may explain the value beyond the threshold.
        needed: Option<u64>,
    },
}

/// The outcome of a rule in one cohort.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AlertOutcome {
    /// The rule.
    pub rule: AlertRule,
    /// The position of the cohort in [`FleetReport::cohorts`].
    pub cohort: usize,
    /// The state of the rule.
    pub state: AlertState,
    /// The value; `None` without runs or windows.
    pub value: Option<f64>,
    /// The interval of the value, if it is a percentile.
    pub estimate: Option<Estimate>,
    /// Runs it was computed from.
    pub runs: u64,
    /// The runs beyond the threshold, the largest first: the position in [`FleetReport::runs`], and the value.
    pub beyond: Vec<(usize, Millionths)>,
    /// The number of runs beyond it; `beyond` contains those farthest beyond it.
    pub beyond_count: u64,
    /// For a rule about any function or binary, the names that fired it with their values, the furthest beyond the
    /// threshold first. If the rule is undecided, the names that may fire it. If nothing is beyond the threshold, the
    /// nearest name. `value`, `estimate` and `beyond` describe the first name. Empty for other rules.
    pub causes: Vec<(String, f64)>,
    /// The number of names that fired it or may fire it; `causes` contains those farthest beyond the threshold.
    pub causes_count: u64,
    /// The number of names that were judged; 0 for other rules.
    pub judged: u64,
    /// A reason to doubt the outcome, in a sentence: a name that no run has, an interval that includes the threshold.
    pub note: Option<String>,
}

/// The expected inputs of a fleet, and the inputs with a result. A failed input is done: it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completeness {
    /// True if nothing is missing; `None` if unknown: an engine rewrote the dataset.
    pub is_complete: Option<bool>,
    /// The number of expected files, if known.
    pub inputs_expected: Option<u64>,
    /// Files that it has runs or a failure of, if that is known; at most `inputs_expected`.
    pub inputs_done: Option<u64>,
}

impl Completeness {
    /// The state of a fleet with this many files, all of them done.
    pub const fn whole(inputs: u64) -> Self {
        Self { is_complete: Some(true), inputs_expected: Some(inputs), inputs_done: Some(inputs) }
    }

    /// The sentence for a fleet of which something is missing.
    pub(super) fn sentence(&self, missing_shards: &[String]) -> Option<String> {
        let files = match (self.inputs_done, self.inputs_expected) {
            (Some(done), Some(expected)) => format!("{done} of {expected} input files are done"),
            (None, Some(expected)) => format!("it is unknown how many of {expected} input files are done"),
            (_, None) => "its last extract did not finish".to_owned(),
        };
        let shards = match missing_shards {
            [] => String::new(),
            [shard] => format!("shard {shard} is missing; "),
            shards => format!("shards {} are missing; ", shards.join(", ")),
        };
        self.is_incomplete().then(|| format!("Incomplete: {shards}{files}."))
    }

    /// True if something is known to be missing.
    pub fn is_incomplete(&self) -> bool {
        self.is_complete == Some(false)
    }
}
