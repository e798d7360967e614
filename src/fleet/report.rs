//! The report on a fleet, as plain values.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::finding::Finding;
use super::label_order::compare_labels;
use super::options::FleetOptions;
use super::run::{FailedInput, FailureKind};
use super::scope::{FleetScope, ScopeName};
use super::selection::FleetSelection;
use super::shared_label::SharedLabel;
use crate::alert::AlertOutcome;
use crate::recording::TimeSource;
use crate::stats::{Bin, BinnedValues, BoxPlot, Estimate, Quantile};
use crate::units::{Millionths, Nanos, Unit};

/// The distribution of CPU use over a fleet of runs.
///
/// CPU use is in percent of one core if the unit is nanoseconds, and otherwise in units per second.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetReport {
    /// The options of the report.
    pub options: FleetOptions,
    /// The selection and operations with which the runs were measured.
    pub selection: FleetSelection,
    /// The inputs: measured runs, and files that could not be read.
    pub inputs: Inputs,
    /// The cohorts, sorted by unit, then by labels.
    pub cohorts: Vec<CohortReport>,
    /// For each scope except the run, the rows that differ most between cohorts of one unit. Empty for a single cohort.
    pub contrasts: Vec<Contrast>,
    /// The findings that readers should see first, in this order. Text and HTML begin with them.
    pub findings: Vec<Finding>,
    /// CPU use by version or over time.
    pub trends: Vec<Trend>,
    /// The outcome of each alert rule in each cohort.
    pub alerts: Vec<AlertOutcome>,
    /// Duration histograms from metrics, sorted by name and cohort.
    pub histograms: Vec<HistogramReport>,
    /// The number of crashes by cohort and innermost app function, most frequent first.
    pub(crate) crashes: Vec<(Cohort, String, u64)>,
    /// All measured runs, sorted by source and run id.
    pub runs: Vec<RunRow>,
    /// Reasons to distrust the numbers, one sentence each.
    pub notes: Vec<String>,
    /// A label whose values repeat within cohorts. The runs are then not independent, so intervals may be too narrow.
    pub(crate) shared_label: Option<SharedLabel>,
}

impl FleetReport {
    /// Returns the ids and sources of runs whose CPU use is at or above this percentile of their cohort, which must be in
    /// [`FleetOptions::quantiles`].
    pub fn runs_beyond(&self, quantile: Quantile) -> BTreeMap<String, String> {
        let value = |cohort: &CohortReport| {
            let mut estimates = cohort.across_runs.estimates.iter();
            estimates.find(|estimate| estimate.quantile == quantile).and_then(|estimate| estimate.value)
        };
        let values: Vec<Option<f64>> = self.cohorts.iter().map(value).collect();
        let is_beyond = |run: &&RunRow| values[run.cohort].is_some_and(|value| run.rate.as_f64() >= value);
        self.runs.iter().filter(is_beyond).map(|run| (run.run_id.clone(), run.source.clone())).collect()
    }

    /// Returns `, if runs are independent` if intervals depend on this assumption and it may be wrong; otherwise an empty string.
    pub fn assumption(&self) -> &'static str {
        if self.shared_label.is_some() { ", if runs are independent" } else { "" }
    }
}

/// The durations of one metric in a cohort, as a histogram, since exact durations are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistogramReport {
    /// As [`DurationHistogram::name`](crate::recording::DurationHistogram::name).
    pub name: String,
    /// The cohort. Its unit is meaningless.
    pub cohort: Cohort,
    /// The number of reports with this metric. A report covers about one day of one device.
    pub reports: u64,
    /// All durations, in nanoseconds.
    pub values: BinnedValues,
}

/// The inputs of a report: the number of measured runs, and what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The number of distinct files, with and without runs.
    pub(crate) files: u64,
    /// The number of measured runs.
    pub runs: u64,
    /// The number of idle runs: none of their threads was on the CPU, so their CPU use is 0.
    pub idle: u64,
    /// Runs without a known recorded time, which have no rate and are in no distribution.
    pub without_time: Vec<String>,
    /// The number of runs whose recorded time is estimated from their samples ([`TimeSource::Samples`]).
    pub estimated_time: u64,
    /// The number of unreadable rows in CPU tables and unreadable values in reports, over all runs.
    pub rejected_rows: u64,
    /// Recordings with some unreadable runs, sorted by source.
    pub(crate) damaged: Vec<DamagedRecording>,
    /// Files without any measured run.
    pub failed: Vec<FailedInput>,
    /// The number of runs omitted because they lack the requested labels ([`FleetOptions::only`]).
    pub left_out: u64,
    /// For each requested label, the values that the omitted runs have instead, sorted.
    pub left_out_values: Vec<(String, Vec<String>)>,
    /// The label keys of runs and failed files, sorted.
    pub label_keys: Vec<String>,
    /// The first process names, sorted.
    pub processes: Vec<String>,
    /// Requested processes ([`FleetOptions::processes`]) that no run has.
    pub missing_processes: Vec<String>,
    /// The first thread names, sorted.
    pub threads: Vec<String>,
    /// Requested threads ([`FleetOptions::threads`]) that no run has.
    pub missing_threads: Vec<String>,
    /// The number of runs without selected samples, in files that have other runs. Files without any run are in `failed`.
    pub excluded_runs: u64,
    /// Whether these are all inputs of the fleet.
    pub completeness: Completeness,
    /// The fleet's missing shards, such as `16/16`. If there are many, only the first ones and the number of others.
    pub missing_shards: Vec<String>,
}

impl Inputs {
    /// The number of inputs that should have been measured but were not.
    pub(super) fn unmeasured(&self) -> usize {
        let failed = self.failed.iter().filter(|failed| failed.kind != FailureKind::Duplicate).count();
        let damaged: u64 = self.damaged.iter().map(|recording| u64::from(recording.unread_runs)).sum();
        failed + self.without_time.len() + (damaged + self.excluded_runs) as usize
    }
}

/// A recording in which some runs are damaged and omitted, while others are used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub(crate) struct DamagedRecording {
    /// The path of the recording.
    pub(crate) source: String,
    /// The number of damaged runs; at least one.
    pub(crate) unread_runs: u32,
}

/// A run of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunRow {
    /// The id of the run.
    pub run_id: String,
    /// The path of the file that contains it.
    pub source: String,
    /// The number of the run in that file, from 1.
    pub number: u32,
    /// True if the report contains other runs of this file.
    pub is_one_of_several: bool,
    /// When the recording started (ISO 8601), if known.
    pub start: Option<String>,
    /// The index of its cohort in [`FleetReport::cohorts`].
    pub cohort: usize,
    /// The recorded time; one second for a report from the field.
    pub wall: Nanos,
    /// The source of `wall`.
    pub wall_source: TimeSource,
    /// The weight of the run's selected samples.
    pub weight: u64,
    /// The number of selected samples.
    pub samples: u64,
    /// The number of unreadable rows in its CPU table.
    pub rejected: u64,
    /// True if more than 1 % of the rows in its CPU table are unreadable. Such runs are not compared.
    pub(crate) is_damaged: bool,
    /// The number of runs that this run represents.
    pub run_weight: Millionths,
    /// The CPU use: `weight` per `wall`.
    pub rate: Millionths,
    /// The requested nearest-rank percentiles over the run's one-second windows; `None` without a complete window.
    pub windows: Option<Vec<Millionths>>,
    /// The value of the busiest one-second window.
    pub window_max: Option<Millionths>,
}

impl RunRow {
    /// The path of the file, and the run number if the file has other runs: `hangs.ndjson (run 12)`.
    pub(crate) fn title(&self) -> Cow<'_, str> {
        match self.needs_number() {
            true => format!("{} (run {})", self.source, self.number).into(),
            false => Cow::Borrowed(&self.source),
        }
    }

    /// True if the file has other runs, so its path alone does not identify this one.
    pub(crate) fn needs_number(&self) -> bool {
        self.is_one_of_several || self.number > 1
    }

    /// True if the recorded time is estimated from the samples.
    pub(super) fn is_estimated(&self) -> bool {
        self.wall_source == TimeSource::Samples
    }

    /// The recorded time; `None` for reports from the field.
    pub fn recorded(&self) -> Option<Nanos> {
        Some(self.wall).filter(|_| self.wall_source != TimeSource::Report)
    }
}

/// A group of runs that is compared with other groups. Cohorts are sorted by unit, then by labels in natural order: version 1.9 comes before
/// 1.10, and dates are chronological.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cohort {
    /// The unit of all weights. Cycles and time are never in one cohort.
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
    /// A name such as `app_version 1.2, device iPhone`; `all runs` without labels.
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
    /// The cohort.
    pub cohort: Cohort,
    /// The number of runs; 0 if all files of the cohort failed.
    pub runs: u64,
    /// CPU use across runs: one value per run.
    pub across_runs: Summary,
    /// A histogram of the same values, for a chart.
    pub bins: Vec<Bin>,
    /// The same values as a box plot; `None` without runs.
    pub box_plot: Option<BoxPlot>,
    /// CPU use within runs, in windows of one second.
    pub within_runs: Option<WindowReport>,
    /// CPU use over the course of the recordings.
    pub timeline: Vec<TimelinePoint>,
    /// One table for each requested scope, except the run.
    pub tables: Vec<ScopeTable>,
}

/// The one-second windows of a cohort's runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WindowReport {
    /// The number of runs with at least one complete window.
    pub runs: u64,
    /// The pooled windows. `count` is the number of windows, not of runs. Windows of one run are not independent, so there are no intervals.
    pub pooled: Summary,
    /// The busiest window of each run: one value per run.
    pub peaks: Summary,
}

/// A step of a cohort's timeline: one second, or longer for long recordings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TimelinePoint {
    /// Seconds since the start of the recordings.
    pub second: u32,
    /// The length of the step in seconds.
    pub seconds: u32,
    /// The number of runs that recorded the entire step.
    pub runs: u64,
    /// The requested nearest-rank percentiles of these runs' CPU use during the step.
    pub values: Vec<f64>,
    /// The largest CPU use during the step.
    pub max: f64,
}

/// The distribution of one measure.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of values: one per run of the cohort, or per window.
    pub count: u64,
    /// The number of zeros: the scope was absent or idle.
    pub zeros: u64,
    /// The smallest value. Like `max` and `mean`, `None` without values.
    pub min: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
    /// The unweighted mean, in which each run counts once.
    pub mean: Option<f64>,
    /// The mean weighted by recorded time and run weight: total use divided by total recorded time. `None` for windows.
    pub weighted_mean: Option<f64>,
    /// The requested percentiles.
    pub estimates: Vec<Estimate>,
    /// For each percentile, the indices in [`FleetReport::runs`] of the runs that determine it, in order of their values: one with nearest rank,
    /// one or two with the linear method. If several runs have the same value, only the first is listed. Empty for windows, and if a value is
    /// zero.
    pub percentile_runs: Vec<Vec<usize>>,
    /// The index in [`FleetReport::runs`] of the (first) run with the largest value. `None` for windows and without runs.
    pub max_run: Option<usize>,
    /// True if individual values were kept; false if they were counted in buckets.
    pub is_exact: bool,
    /// Cautions for interpreting this summary.
    pub cautions: Vec<Caution>,
}

/// A caution for interpreting a summary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// The mean (weighted by run weight, if percentiles are) is above P90: a few runs dominate it, and most are far below.
    MeanAboveP90,
    /// P50 is zero: at least half of the runs lack the item, but the mean includes them.
    MostlyAbsent,
    /// There are fewer runs than a requested percentile needs.
    TooFewRuns {
        /// The number of runs that the highest requested percentile needs.
        needed: u64,
    },
}

/// One process, thread, binary or function across the runs of a cohort.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScopeRow {
    /// The name of the item.
    pub name: ScopeName,
    /// The distribution over all runs of the cohort, with zero for runs without the item.
    pub summary: Summary,
    /// The number of samples over all runs.
    pub samples: u64,
    /// The effective sample size: the number of equally weighted samples with the same noise.
    pub effective_samples: f64,
    /// For each percentile, the value that sampling noise alone would cause if all runs were identical
    /// ([`noise_floor`](crate::stats::Quantile::noise_floor)). A percentile up to this value does not show that runs differ; see
    /// [`is_noise`](Self::is_noise).
    pub noise: Vec<Option<f64>>,
}

impl ScopeRow {
    /// True if sampling noise alone explains the percentile at this index of the options.
    pub fn is_noise(&self, index: usize) -> bool {
        let Some(estimate) = self.summary.estimates.get(index) else { return false };
        let noise = self.noise.get(index).copied().flatten();
        is_noise(estimate.quantile, estimate.value.unwrap_or(0.0), self.summary.mean.unwrap_or(0.0), noise)
    }
}

/// True if a percentile above the median is at most its noise floor. Below the mean, the floor is meaningless: a few runs then dominate the mean,
/// so runs clearly differ.
pub(super) fn is_noise(quantile: Quantile, value: f64, mean: f64, noise: Option<f64>) -> bool {
    quantile > Quantile::P50 && value > 0.0 && value >= mean && noise.is_some_and(|noise| value <= noise)
}

/// CPU use by version or over time: a distribution per point.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trend {
    /// The unit of the runs.
    pub unit: Unit,
    /// The unit of a point: a version, a day or a week.
    pub over: TrendOver,
    /// The other labels, which all cohorts of the trend share: keys and values.
    pub labels: Vec<(String, Option<String>)>,
    /// The points in order, at least three.
    pub points: Vec<TrendPoint>,
    /// The number of runs without a known date, which are in no point.
    pub undated: u64,
}

/// The unit of a trend's points.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrendOver {
    /// The values of the label with this key. Each point is a cohort.
    Label(String),
    /// The days on which runs were recorded.
    Day,
    /// The weeks in which runs were recorded, starting on Monday.
    Week,
}

/// The runs of one version, day or week.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendPoint {
    /// The value of the label, or the first day of the period.
    pub name: String,
    /// The number of runs.
    pub runs: u64,
    /// The requested percentiles of CPU use over these runs.
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
    /// The row with the largest weighted mean, including hidden rows, but ignoring names that represent the code of several functions. `None` if
    /// there is only one row.
    pub(super) most_used: Option<ScopeRow>,
}

/// The rows that differ most between cohorts of one unit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contrast {
    /// The kind of the rows.
    pub scope: FleetScope,
    /// The unit of the compared cohorts.
    pub unit: Unit,
    /// The indices of the cohorts in [`FleetReport::cohorts`].
    pub cohorts: Vec<usize>,
    /// The name of the compared value, such as `p99`, which tables are sorted by.
    pub by: String,
    /// The rows, by descending difference.
    pub rows: Vec<ContrastRow>,
}

/// One row in several cohorts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContrastRow {
    /// The name of the item.
    pub name: ScopeName,
    /// The value in each cohort of the contrast.
    pub values: Vec<f64>,
    /// The largest value minus the smallest.
    pub difference: f64,
    /// A lower bound for the difference: the lower end of the largest value's interval minus the upper end of the smallest value's. The report's
    /// confidence applies to all rows of the contrast together. Above zero, chance does not explain the difference between cohorts. `None` if an
    /// end is unknown, or no percentile is compared.
    pub at_least: Option<f64>,
    /// True if sampling noise alone explains the largest value in its cohort.
    pub is_noise: bool,
}

/// How many of a fleet's expected inputs have been processed, including failed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completeness {
    /// True if nothing is missing; `None` if unknown, since an engine rewrote the dataset.
    pub is_complete: Option<bool>,
    /// The number of expected files, if known.
    pub inputs_expected: Option<u64>,
    /// The number of files with runs or a recorded failure, if known; at most `inputs_expected`.
    pub inputs_done: Option<u64>,
}

impl Completeness {
    /// A complete fleet with this many files.
    pub const fn whole(inputs: u64) -> Self {
        Self { is_complete: Some(true), inputs_expected: Some(inputs), inputs_done: Some(inputs) }
    }

    /// Describes in a sentence what an incomplete fleet lacks.
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

    /// True if the fleet is known to be incomplete.
    pub fn is_incomplete(&self) -> bool {
        self.is_complete == Some(false)
    }
}
