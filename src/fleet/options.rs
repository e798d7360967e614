//! The questions that a report on a fleet answers.

use crate::stats::{Confidence, Quantile, QuantileMethod};

/// The units of code that get a distribution each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FleetScope {
    /// The whole run.
    Run,
    /// Each process, by name.
    Process,
    /// Each thread, by process and name.
    Thread,
    /// Each binary, by name.
    Binary,
    /// Each function, by binary and name.
    Function,
}

impl FleetScope {
    /// All of them, the widest first.
    pub const ALL: [Self; 5] = [Self::Run, Self::Process, Self::Thread, Self::Binary, Self::Function];

    /// The name in machine formats and on the command line: `run`, `process`, `thread`, `binary`, `function`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Binary => "binary",
            Self::Function => "function",
        }
    }
}

/// The measure of a scope in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// CPU use: all samples of a run, process or thread; of a binary or function, those whose leaf it is.
    #[default]
    Cpu,
    /// Samples whose leaf is in the scope. The same as [`Cpu`](Self::Cpu).
    SelfWeight,
    /// Samples that have the binary or function anywhere in their stack, once each. For runs, processes and threads the
    /// same as [`Cpu`](Self::Cpu).
    AllWeight,
}

impl Measure {
    /// The name in machine formats and on the command line: `cpu`, `self`, `all`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::SelfWeight => "self",
            Self::AllWeight => "all",
        }
    }
}

/// The key that tables are sorted by, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// The highest percentile up to P99, of those that are asked for, for which every cohort has enough runs; the largest
    /// where there is none. In the options of a report it is replaced by what it was.
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
    /// Only runs with these labels: key and value. Of one key the values are alternatives; keys narrow each other.
    pub only: Vec<(String, String)>,
    /// Only these processes, by name; empty is all of them. The CPU use of a run is that of these processes then.
    pub processes: Vec<String>,
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
    /// True if percentiles count a run as many times as its [`run_weight`](super::RunRecord::run_weight) says.
    pub is_weighted: bool,
    /// The key that tables are sorted by.
    pub sort: SortKey,
    /// The number of rows that each table keeps; `None` keeps all. Rows that are left out are counted.
    pub top: Option<usize>,
    /// Alert rules as they were typed, parsed by [`AlertRule::parse`](super::AlertRule::parse).
    pub alerts: Vec<super::AlertRule>,
}

impl Default for FleetOptions {
    /// CPU use in every scope, over all runs: P50, P90, P95, P99 and P99.9 by nearest rank, intervals of 95 %.
    fn default() -> Self {
        Self {
            by: Vec::new(),
            only: Vec::new(),
            processes: Vec::new(),
            measure: Measure::Cpu,
            scopes: FleetScope::ALL.to_vec(),
            quantiles: vec![Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P999],
            method: QuantileMethod::NearestRank,
            confidence: Confidence::default(),
            is_weighted: false,
            sort: SortKey::HighestSupported,
            top: None,
            alerts: Vec::new(),
        }
    }
}
