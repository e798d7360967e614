//! The questions that a report on a fleet answers; a report in JSON records them.

use super::alert::AlertRule;
use super::measures::Measure;
use super::scope::FleetScope;
use crate::stats::{Confidence, Distribution, Quantile, QuantileMethod};
use crate::units::Millionths;
use serde_json::Value;

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
    /// True if only some processes or threads of a run count.
    pub(crate) fn has_filters(&self) -> bool {
        !self.processes.is_empty() || self.threads.is_some() || self.only_main_threads
    }

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
    /// More labels that make cohorts, even if no run has them. The labels of a cohort have them after `by`.
    pub by_if_known: Vec<String>,
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

impl FleetOptions {
    /// The value of the field `format` of a report in JSON.
    pub const REPORT_FORMAT: &'static str = "traceparse-fleet";
    /// The version of reports in JSON that [`from_report_json`](Self::from_report_json) reads.
    pub const REPORT_VERSION: u64 = 1;

    /// The options of a report in JSON: its field `options`. They produce the same report of the same runs.
    ///
    /// # Errors
    /// A sentence about the reason, if the text is not JSON, not a report of a fleet or a report with another version,
    /// or if an option is missing or invalid.
    pub fn from_report_json(text: &[u8]) -> Result<Self, String> {
        let report: Value = serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))?;
        if report["format"] != Self::REPORT_FORMAT {
            return Err(format!("not a report of a fleet: its format is {}", report["format"]));
        }
        if report["version"] != Self::REPORT_VERSION {
            let version = &report["version"];
            return Err(format!("the report has version {version}; version {} is read", Self::REPORT_VERSION));
        }
        let options = Fields(&report["options"]);
        Ok(Self {
            by_if_known: Vec::new(),
            by: options.texts("by", |text| Some(text.to_owned()))?,
            only: options
                .texts("only", |text| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())))?,
            processes: options.texts("processes", |text| Some(text.to_owned()))?,
            threads: options.field("threads", |value| match value {
                Value::Null => Some(None),
                names => all(names, |text| Some(text.to_owned())).map(Some),
            })?,
            only_main_threads: options.field("only_main_threads", Value::as_bool)?,
            measure: options.text("measure", measure_of)?,
            scopes: options.texts("scopes", |text| FleetScope::ALL.into_iter().find(|scope| scope.name() == text))?,
            quantiles: options.texts("quantiles", Quantile::from_percent)?,
            method: options.text("method", method_of)?,
            confidence: options.field("confidence", |value| confidence_of(value.as_f64()?))?,
            is_weighted: options.field("is_weighted", Value::as_bool)?,
            is_approximate: options.field("is_approximate", Value::as_bool)?,
            sort: options.text("sort", SortKey::from_name)?,
            top: options.field("top", |value| match value {
                Value::Null => Some(None),
                number => usize::try_from(number.as_u64()?).ok().map(Some),
            })?,
            alerts: options.texts("alerts", |text| AlertRule::parse(text).ok())?,
        })
    }
}

fn measure_of(name: &str) -> Option<Measure> {
    [Measure::Cpu, Measure::SelfWeight, Measure::AllWeight].into_iter().find(|measure| measure.name() == name)
}

fn method_of(name: &str) -> Option<QuantileMethod> {
    [QuantileMethod::NearestRank, QuantileMethod::Linear].into_iter().find(|method| method.name() == name)
}

fn confidence_of(fraction: f64) -> Option<Confidence> {
    // A fraction was a whole number of parts per million, which division and rounding give back.
    Confidence::from_parts_per_million((fraction * 1e6).round() as u32)
}

/// The fields of an object, each required.
struct Fields<'v>(&'v Value);

impl Fields<'_> {
    fn field<T>(&self, name: &str, read: impl FnOnce(&Value) -> Option<T>) -> Result<T, String> {
        let value = self.0.get(name).ok_or_else(|| format!("the option {name:?} is absent"))?;
        read(value).ok_or_else(|| format!("the option {name:?} has an invalid value: {value}"))
    }

    fn text<T>(&self, name: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, String> {
        self.field(name, |value| read(value.as_str()?))
    }

    fn texts<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
        self.field(name, |value| all(value, read))
    }
}

/// The values of the strings in an array, if each string is valid.
fn all<T>(array: &Value, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    array.as_array()?.iter().map(|value| read(value.as_str()?)).collect()
}
