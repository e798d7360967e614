//! Findings and trends.

use serde_json::{Value, json};

use super::super::measure_unit;
use super::parts::{cohort_of, labels_of, names, percentile, run_of};
use crate::fleet::{Finding, FleetReport, ScopeName, Trend, TrendOver, TrendPoint};
use crate::stats::Quantile;
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
        Finding::Difference { from, to, quantile, values, interval } => json!({
            "kind": "difference",
            "value_unit": value_unit(report, *to),
            "from": cohort_of(report, *from),
            "to": cohort_of(report, *to),
            "percentile": quantile.name(),
            "from_value": values.0,
            "to_value": values.1,
            "difference": values.1 - values.0,
            "lower": interval.lower,
            "upper": interval.upper,
            "confidence": report.options.confidence.fraction(),
            "assumes_independent_runs": report.shared_label.is_some(),
        }),
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

/// A row of a table, by its names.
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
