//! Parts of several objects: references to cohorts and runs, names, percentiles.

use serde_json::{Map, Value, json};

use crate::fleet::{Cohort, FleetReport, ScopeName};
use crate::stats::{Estimate, Support};

/// A cohort, by its position in `cohorts` and by its labels.
pub(super) fn cohort_of(report: &FleetReport, position: usize) -> Value {
    let labels = report.cohorts.get(position).map(|cohort| labels(&cohort.cohort));
    json!({"cohort": position, "labels": labels})
}

pub(super) fn labels(cohort: &Cohort) -> Value {
    labels_of(&cohort.labels)
}

/// An object from keys to values.
pub(super) fn labels_of(labels: &[(String, Option<String>)]) -> Value {
    Value::Object(labels.iter().map(|(key, value)| (key.clone(), json!(value))).collect())
}

/// A run, by the fields that find it again.
pub(super) fn run_of(report: &FleetReport, position: Option<usize>) -> Value {
    let run = position.and_then(|position| report.runs.get(position));
    run.map_or(Value::Null, |run| json!({"run_id": run.run_id, "source": run.source}))
}

/// A percentile with an interval, each end of which misses with this probability.
pub(super) fn percentile(report: &FleetReport, estimate: &Estimate, tail: f64) -> Value {
    let needed = match estimate.support {
        Support::Enough => None,
        Support::UpperUnknown => Some(estimate.quantile.needed_with_tail(tail)),
        Support::TooFew { needed } => Some(needed),
    };
    json!({
        "quantile": estimate.quantile.fraction(),
        "name": estimate.quantile.name(),
        "value": estimate.value,
        "support": estimate.support.name(),
        // For the smallest and the largest no number is enough.
        "needed": needed.filter(|&needed| needed < u64::MAX),
        "lower": estimate.interval.lower,
        "upper": estimate.interval.upper,
        "assumes_independent_runs": report.shared_label.is_some(),
    })
}

/// The names that a scope has.
pub(super) fn names(name: &ScopeName) -> Map<String, Value> {
    let parts =
        [("process", &name.process), ("thread", &name.thread), ("binary", &name.binary), ("function", &name.function)];
    parts.into_iter().filter_map(|(key, name)| Some((key.to_owned(), json!(name.as_ref()?)))).collect()
}
