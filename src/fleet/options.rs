//! The options of a fleet report, which JSON reports contain.

use super::measures::Measure;
use super::scope::FleetScope;
use crate::alert::AlertRule;
use crate::stats::{Confidence, Distribution, Quantile, QuantileMethod};
use crate::units::Millionths;

/// The quantity by which tables are sorted, in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SortKey {
    /// The highest requested percentile up to P99 for which every cohort has enough runs, or else the largest value. The options of a finished
    /// report contain the chosen key instead.
    HighestSupported,
    /// A percentile.
    Quantile(Quantile),
    /// The mean over runs.
    Mean,
    /// The weighted mean.
    WeightedMean,
    /// The largest value.
    Max,
}

impl SortKey {
    /// The name in machine-readable formats and on the command line: `p99`, `mean`, `weighted-mean`, `max`, `auto`.
    pub fn name(self) -> String {
        match self {
            Self::HighestSupported => "auto".to_owned(),
            Self::Quantile(quantile) => quantile.name(),
            Self::Mean => "mean".to_owned(),
            Self::WeightedMean => "weighted-mean".to_owned(),
            Self::Max => "max".to_owned(),
        }
    }

    /// Returns the key with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::HighestSupported),
            "mean" => Some(Self::Mean),
            "weighted-mean" => Some(Self::WeightedMean),
            "max" => Some(Self::Max),
            _ => Quantile::from_percent(name).map(Self::Quantile),
        }
    }
}

impl FleetOptions {
    /// True if only some processes or threads are selected.
    pub(crate) fn has_filters(&self) -> bool {
        !self.processes.is_empty() || self.threads.is_some() || self.only_main_threads
    }

    pub(super) fn selects(&self, labels: &[(String, String)]) -> bool {
        let has = |key: &str, value: &str| labels.iter().any(|label| label.0 == key && label.1 == value);
        self.only.iter().all(|(key, _)| self.only.iter().any(|(other, value)| other == key && has(key, value)))
    }
}

/// The options of a report on a fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetOptions {
    /// The labels that group runs into cohorts. If empty, all runs are one cohort.
    pub by: Vec<String>,
    /// Optional labels for cohorts, which runs may lack. In a cohort's labels, they follow `by`.
    pub by_if_known: Vec<String>,
    /// Selects only runs with these labels (key and value). Values of one key are alternatives, but every key must match.
    pub only: Vec<(String, String)>,
    /// The names of selected processes; empty for all. A run's CPU use covers only these processes.
    pub processes: Vec<String>,
    /// The names of selected threads; `None` for all. A run's CPU use covers only these threads, and a run without them is a failed input.
    pub threads: Option<Vec<String>>,
    /// True to select only [main threads](crate::profile::Thread::is_main) among the selected [`threads`](Self::threads).
    pub only_main_threads: bool,
    /// The measure.
    pub measure: Measure,
    /// The scopes to report.
    pub scopes: Vec<FleetScope>,
    /// The percentiles, in ascending order.
    pub quantiles: Vec<Quantile>,
    /// The method to compute percentiles.
    pub method: QuantileMethod,
    /// The confidence of intervals.
    pub confidence: Confidence,
    /// True to count each run [`run_weight`](super::RunRecord::run_weight) times in percentiles.
    pub is_weighted: bool,
    /// True to count one-second windows in buckets instead of keeping them. Their percentiles are then within 0.55 %, there are no timelines, and
    /// a run's memory does not grow with its length. All other numbers stay exact.
    pub is_approximate: bool,
    /// The key that tables are sorted by.
    pub sort: SortKey,
    /// The maximum number of rows in a table; `None` for no limit. Omitted rows are counted.
    pub top: Option<usize>,
    /// The alert rules, as parsed from user input by [`AlertRule::of_runs`].
    pub alerts: Vec<AlertRule>,
}

impl Default for FleetOptions {
    /// CPU use in every scope, over all runs: P50, P90, P95, P99 and P99.9 by nearest rank, with 95 % intervals.
    fn default() -> Self {
        Self {
            by: Vec::new(),
            by_if_known: Vec::new(),
            only: Vec::new(),
            processes: Vec::new(),
            threads: None,
            only_main_threads: false,
            measure: Measure::Cpu,
            scopes: FleetScope::ALL.to_vec(),
            quantiles: vec![Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P999],
            method: QuantileMethod::NearestRank,
            confidence: Confidence::default(),
            is_weighted: false,
            is_approximate: false,
            sort: SortKey::HighestSupported,
            top: None,
            alerts: Vec::new(),
        }
    }
}

impl FleetOptions {
    /// Creates the distribution of values with run weights, plus runs without a value. Weights are ignored unless percentiles are
    /// [weighted](Self::is_weighted).
    pub(super) fn distribution(
        &self,
        values: Vec<(Millionths, Millionths)>,
        zeros: u64,
        zero_weight: u128,
    ) -> Distribution {
        if self.is_weighted {
            Distribution::weighted(values, zeros, zero_weight)
        } else {
            Distribution::new(values.into_iter().map(|(value, _)| value).collect(), zeros)
        }
    }
}
