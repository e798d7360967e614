//! The questions that a report on a fleet answers.

use super::alert::AlertRule;
pub(super) use super::measures::Measure;
pub(super) use super::scope::FleetScope;
use crate::stats::{Confidence, Distribution, Quantile, QuantileMethod};
use crate::units::Millionths;

/// The key that tables are sorted by, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SortKey {
    /// The highest requested percentile up to P99 for which every cohort has enough runs; the largest value if there is
    /// no such percentile. In the options of a report it is replaced by the chosen key.
    HighestSupported,
    /// A percentile.
    Quantile(Quantile),
    /// The mean over runs.
    Mean,
    /// The weighted mean.
    WeightedMean,
    /// The largest.
    Max,
}

impl SortKey {
    /// The name in machine formats and on the command line: `p99`, `mean`, `weighted-mean`, `max`, `auto`.
    pub fn name(self) -> String {
        match self {
            Self::HighestSupported => "auto".to_owned(),
            Self::Quantile(quantile) => quantile.name(),
            Self::Mean => "mean".to_owned(),
            Self::WeightedMean => "weighted-mean".to_owned(),
            Self::Max => "max".to_owned(),
        }
    }

    /// The key with this name.
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
    /// True if a run with these labels counts.
    pub(super) fn selects(&self, labels: &[(String, String)]) -> bool {
        let has = |key: &str, value: &str| labels.iter().any(|label| label.0 == key && label.1 == value);
        self.only.iter().all(|(key, _)| self.only.iter().any(|(other, value)| other == key && has(key, value)))
    }
}

/// The options of a report on a fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetOptions {
    /// The labels that make cohorts; none is one cohort of all runs.
    pub by: Vec<String>,
    /// Only runs with these labels: key and value. Values of one key are alternatives; different keys narrow each other.
    pub only: Vec<(String, String)>,
    /// The selected processes, by name; empty selects all. The CPU use of a run only covers these processes.
    pub processes: Vec<String>,
    /// The selected threads, by name; `None` selects all. The CPU use of a run only covers these threads, and a run
    /// without such a thread is a failed input.
    pub threads: Option<Vec<String>>,
    /// True to select only [main threads](crate::profile::Thread::is_main) among the selected
    /// [`threads`](Self::threads).
    pub only_main_threads: bool,
    /// The measure.
    pub measure: Measure,
    /// The scopes that have distributions.
    pub scopes: Vec<FleetScope>,
    /// The percentiles, ascending.
    pub quantiles: Vec<Quantile>,
    /// The rule that defines them.
    pub method: QuantileMethod,
    /// The confidence of intervals.
    pub confidence: Confidence,
    /// True if percentiles count a run [`run_weight`](super::RunRecord::run_weight) times.
    pub is_weighted: bool,
    /// True if windows of one second are counted in buckets and not kept: their percentiles are then within
    /// [`ExponentialHistogram::RELATIVE_ERROR`](crate::stats::ExponentialHistogram::RELATIVE_ERROR), there are no
    /// timelines, and the memory for a run does not grow with its length. All other numbers stay exact.
    pub is_approximate: bool,
    /// The key that tables are sorted by.
    pub sort: SortKey,
    /// The number of rows that each table keeps; `None` keeps all. Rows that are left out are counted.
    pub top: Option<usize>,
    /// Alert rules as typed, parsed by [`AlertRule::parse`].
    pub alerts: Vec<AlertRule>,
}

impl Default for FleetOptions {
    /// CPU use in every scope, over all runs: P50, P90, P95, P99 and P99.9 by nearest rank, intervals of 95 %.
    fn default() -> Self {
        Self {
            by: Vec::new(),
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
    /// The distribution of values with their run weights, and of runs without a value. Run weights are ignored unless percentiles
    /// are [weighted](Self::is_weighted).
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
