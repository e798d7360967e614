//! Parts that several objects share: findings and trends, references to cohorts and runs, names, percentiles.

use serde_json::{Map, Value, json};

use crate::fleet::{Cohort, CohortDifference, Finding, FleetReport, ScopeName, Trend, TrendOver, TrendPoint};
use crate::output::fleet::measure_unit;
use crate::stats::{Estimate, Quantile, Support};
use crate::units::Unit;

/// A finding: its kind and its numbers.
pub(super) fn finding(report: &FleetReport, finding: &Finding) -> Value {
    match finding {
        Finding::Alerts { fired, undecided, quiet, first } => {
            json!({"kind": "alerts", "fired": fired, "undecided": undecided, "quiet": quiet, "first": first})
        }
        Finding::Level { unit, runs, median, tail, lacking, max } => json!({
            "kind": "level",
            "value_unit": measure_unit(*unit),
            "runs": runs,
            "median": median,
            "tail": tail.map(named),
            "lacking": lacking.map(|(quantile, needed)| json!({"name": quantile.name(), "needed": needed})),
            "max": max.map(|(value, _)| value),
            "worst_run": run_of(report, max.map(|(_, run)| run)),
        }),
        Finding::Difference { from, to, difference, values, idle } => {
            let (kind, ratio, p) = match *difference {
                CohortDifference::Typical { ratio, interval } => ("typical", Some((ratio, interval)), None),
                CohortDifference::Idle { p } => ("idle", None, Some(p)),
            };
            json!({
                "kind": "difference",
                "of": kind,
                "value_unit": value_unit(report, *to),
                "from": cohort_of(report, *from),
                "to": cohort_of(report, *to),
                "from_value": values.0,
                "to_value": values.1,
                "ratio": ratio.map(|(ratio, _)| ratio),
                "lower": ratio.map(|(_, interval)| interval.0),
                "upper": ratio.map(|(_, interval)| interval.1),
                "p": p,
                "from_idle": idle.0,
                "to_idle": idle.1,
                "confidence": report.options.confidence.fraction(),
                "assumes_independent_runs": report.shared_label.is_some(),
            })
        }
        Finding::NoDifference { cohorts, is_newest, is_testable } => json!({
            "kind": "no-difference",
            "cohorts": cohorts.iter().map(|&cohort| cohort_of(report, cohort)).collect::<Value>(),
            "is_newest": is_newest,
            "is_testable": is_testable,
        }),
        Finding::RowDifference { scope, name, quantile, low, high } => {
            let mut object = row(report, high.0, scope.name(), name);
            object["kind"] = json!("row-difference");
            object["percentile"] = json!(quantile.name());
            object["low"] = of_cohort(report, *low);
            object["high"] = of_cohort(report, *high);
            object
        }
        Finding::MostUsed { cohort, scope, name, share, percentile } => {
            let mut object = row(report, *cohort, scope.name(), name);
            object["kind"] = json!("most-used");
            object["of"] = cohort_of(report, *cohort);
            object["share"] = json!(share);
            object["percentile"] = json!(percentile.map(named));
            object
        }
        Finding::Tail { unit, quantile, name, shares, runs, limit, high } => {
            let mut object = json!({"kind": "tail", "value_unit": measure_unit(*unit), "scope": "function"});
            names(name).into_iter().for_each(|(key, name)| object[key] = name);
            object["percentile"] = json!(quantile.name());
            object["high_share"] = json!(limit);
            let sides = [("beyond", (shares.0, runs.0, high.0)), ("others", (shares.1, runs.1, high.1))];
            for (side, (share, runs, high)) in sides {
                object[side] = json!({"share": share, "runs": runs, "high_runs": high});
            }
            object
        }
        Finding::Inputs { failed, files, without_time, damaged, estimated_time, rejected_rows } => json!({
            "kind": "inputs",
            "failed": failed,
            "files": files,
            "without_time": without_time,
            "damaged": damaged,
            "estimated_time": estimated_time,
            "rejected_rows": rejected_rows,
        }),
    }
}

fn value_unit(report: &FleetReport, cohort: usize) -> Option<&'static str> {
    report.cohorts.get(cohort).map(|cohort| measure_unit(cohort.cohort.unit))
}

fn named((quantile, value): (Quantile, f64)) -> Value {
    json!({"name": quantile.name(), "value": value})
}

/// A table row, identified by its names.
fn row(report: &FleetReport, cohort: usize, scope: &str, name: &ScopeName) -> Value {
    let mut object = json!({"kind": null, "value_unit": value_unit(report, cohort), "scope": scope});
    names(name).into_iter().for_each(|(key, name)| object[key] = name);
    object
}

fn of_cohort(report: &FleetReport, (cohort, value): (usize, f64)) -> Value {
    let mut object = cohort_of(report, cohort);
    object["value"] = json!(value);
    object
}

/// A trend with its points.
pub(super) fn trend(report: &FleetReport, trend: &Trend) -> Value {
    let (over, label) = match &trend.over {
        TrendOver::Label(key) => ("label", Some(key)),
        TrendOver::Week => ("week", None),
        TrendOver::Day => ("day", None),
    };
    let tail = report.options.confidence.tail();
    let point = |point: &TrendPoint| {
        json!({
            "name": point.name,
            "runs": point.runs,
            "percentiles": point.estimates.iter().map(|estimate| percentile(report, estimate, tail)).collect::<Value>(),
            "max": point.max,
        })
    };
    json!({
        "over": over,
        "label": label,
        "labels": labels_of(&trend.labels),
        "unit": Unit::name(trend.unit),
        "value_unit": measure_unit(trend.unit),
        "undated": trend.undated,
        "points": trend.points.iter().map(point).collect::<Value>(),
    })
}

/// A cohort, by its index in `cohorts` and by its labels.
pub(super) fn cohort_of(report: &FleetReport, position: usize) -> Value {
    let labels = report.cohorts.get(position).map(|cohort| labels(&cohort.cohort));
    json!({"cohort": position, "labels": labels})
}

pub(super) fn labels(cohort: &Cohort) -> Value {
    labels_of(&cohort.labels)
}

/// An object with the labels as fields.
pub(super) fn labels_of(labels: &[(String, Option<String>)]) -> Value {
    Value::Object(labels.iter().map(|(key, value)| (key.clone(), json!(value))).collect())
}

/// A run, by the fields that identify it.
pub(in crate::output::fleet) fn run_of(report: &FleetReport, position: Option<usize>) -> Value {
    let run = position.and_then(|position| report.runs.get(position));
    run.map_or(Value::Null, |run| json!({"run_id": run.run_id, "source": run.source, "run": run.number}))
}

/// A percentile with an interval. Each end of the interval misses the true value with the probability `tail`.
pub(in crate::output::fleet) fn percentile(report: &FleetReport, estimate: &Estimate, tail: f64) -> Value {
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
        // For the smallest and the largest value, no number of runs is enough.
        "needed": needed.filter(|&needed| needed < u64::MAX),
        "lower": estimate.interval.lower,
        "upper": estimate.interval.upper,
        "assumes_independent_runs": report.shared_label.is_some(),
    })
}

/// The names of a scope, as far as they are present.
pub(super) fn names(name: &ScopeName) -> Map<String, Value> {
    let parts =
        [("process", &name.process), ("thread", &name.thread), ("binary", &name.binary), ("function", &name.function)];
    parts.into_iter().filter_map(|(key, name)| Some((key.to_owned(), json!(name.as_ref()?)))).collect()
}
