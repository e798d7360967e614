//! Asking again what a report answered.

use serde_json::Value;

use super::alert::AlertRule;
use super::measures::Measure;
use super::options::{FleetOptions, SortKey};
use super::scope::FleetScope;
use crate::stats::{Confidence, Quantile, QuantileMethod};

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
        read(value).ok_or_else(|| format!("the option {name:?} has no meaning: {value}"))
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
