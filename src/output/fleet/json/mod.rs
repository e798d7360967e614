//! One JSON document with the complete report, for programs. `docs/fleet-formats.md` describes every field.
//!
//! Each measure comes with its unit (`value_unit`), and each percentile with its method. The object `options` contains the options of the report.

mod parts;

use std::io::{self, Write};

use parts::{cohort_of, finding, labels, names, trend};
pub(super) use parts::{percentile, run_of};
use serde_json::{Map, Value, json};

use super::measure_unit;
use super::opening::{Behind, command};
use crate::alert::{AlertMeasure, AlertOutcome, AlertRule, AlertSubject, Kind};
use crate::fleet::{
    Caution, CohortReport, Contrast, ContrastRow, DamagedRecording, FailedInput, FleetOptions, FleetReport,
    HistogramReport, RunRow, ScopeName, ScopeRow, Summary, TimelinePoint, WindowReport,
};
use crate::output::alerts;
use crate::output::json::{array, field};
use crate::stats::{Bin, BoxPlot, ExponentialHistogram, Quantile};
use crate::units::{Millionths, Nanos, Unit};

/// The value of the field `format`.
const FORMAT: &str = "traceparse-fleet";
/// The version of the format. Added fields keep the version; removed fields and changed meanings increase it.
const VERSION: u64 = 1;

/// The amount of detail in a document.
pub(crate) struct Extent {
    /// The number of cohorts per unit with bins, timelines and tables.
    pub(super) cohorts: usize,
    /// The number of rows per table.
    pub(super) rows: usize,
    /// The number of runs. Runs with the highest values are kept.
    pub(super) runs: usize,
    /// True if cohorts and rows name the runs behind them, with a command that opens one.
    pub(super) has_commands: bool,
}

impl Extent {
    pub(crate) const ALL: Self = Self { cohorts: usize::MAX, rows: usize::MAX, runs: usize::MAX, has_commands: false };
}

/// Writes the report with this amount of detail.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &FleetReport, extent: &Extent, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"format\":\"{FORMAT}\",\"version\":{VERSION}")?;
    field(out, "options", &options(&report.options))?;
    field(out, "selection", &selection(report))?;
    field(out, "inputs", &inputs(report))?;
    array(out, "findings", report.findings.iter(), |row, out| value(out, &finding(report, row)))?;
    array(out, "cohorts", report.cohorts.iter().enumerate(), |(index, cohort), out| {
        cohort_object(report, extent, (index, cohort), out)
    })?;
    array(out, "contrasts", report.contrasts.iter(), |contrast, out| contrast_object(report, extent, contrast, out))?;
    array(out, "trends", report.trends.iter(), |row, out| value(out, &trend(report, row)))?;
    array(out, "histograms", report.histograms.iter(), |row, out| value(out, &histogram(report, row)))?;
    array(out, "crashes", report.crashes.iter(), |(cohort, place, count), out| {
        value(out, &json!({"labels": labels(cohort), "crashed_in": place, "crashes": count}))
    })?;
    array(out, "alerts", report.alerts.iter(), |alert, out| value(out, &alert_value(report, alert)))?;
    array(out, "runs", highest(report, extent.runs).into_iter(), |run, out| value(out, &run_value(report, run)))?;
    let shared = report.shared_label.as_ref();
    let shared = shared.map(|label| json!({"key": label.key, "runs": label.runs, "values": label.values}));
    field(out, "shared_label", &json!(shared))?;
    field(out, "notes", &json!(report.notes))?;
    out.write_all(b"}\n")
}

/// The `count` runs with the highest values of each unit, highest first. If there are no more than `count` runs, all of them in their order.
fn highest(report: &FleetReport, count: usize) -> Vec<&RunRow> {
    let mut runs: Vec<&RunRow> = report.runs.iter().collect();
    if runs.len() > count {
        let unit = |run: &RunRow| report.cohorts.get(run.cohort).map(|cohort| cohort.cohort.unit);
        runs.sort_by_key(|run| (unit(run), std::cmp::Reverse(run.rate)));
        runs.truncate(count);
    }
    runs
}

/// Durations that are recorded as bins, so each percentile is an interval.
fn histogram(report: &FleetReport, row: &HistogramReport) -> Value {
    let percentile = |&quantile: &Quantile| {
        let interval = row.values.quantile(quantile);
        json!({
            "name": quantile.name(),
            "quantile": quantile.fraction(),
            "needed": quantile.lacks(row.values.count()),
            "lower_ns": interval.map(|(lower, _)| lower),
            "upper_ns": interval.and_then(|(_, upper)| upper),
        })
    };
    json!({
        "name": row.name,
        "labels": labels(&row.cohort),
        "reports": row.reports,
        "count": row.values.count(),
        "percentiles": report.options.quantiles.iter().map(percentile).collect::<Value>(),
    })
}

fn value(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    Ok(serde_json::to_writer(out, value)?)
}

/// Writes an object without its closing brace, so that more fields can be streamed.
fn open_object(out: &mut dyn Write, object: &Value) -> io::Result<()> {
    let text = object.to_string();
    out.write_all(&text.as_bytes()[..text.len() - 1])
}

fn options(options: &FleetOptions) -> Value {
    json!({
        "by": options.by,
        "only": options.only.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>(),
        "processes": options.processes,
        "threads": options.threads,
        "only_main_threads": options.only_main_threads,
        "measure": options.measure.name(),
        "scopes": options.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>(),
        "quantiles": options.quantiles.iter().map(|quantile| quantile.name()).collect::<Vec<_>>(),
        "method": options.method.name(),
        "confidence": options.confidence.fraction(),
        "is_weighted": options.is_weighted,
        "is_approximate": options.is_approximate,
        "sort": options.sort.name(),
        "top": options.top,
        "alerts": options.alerts.iter().map(|rule| rule.text.as_str()).collect::<Vec<_>>(),
    })
}

/// The options that restricted runs when they were measured; null for complete recordings.
pub(in crate::output::fleet) fn selection(report: &FleetReport) -> Value {
    let option = |(option, value): &(String, Option<String>)| json!({"option": option, "value": value});
    match &report.selection {
        selection if selection.is_whole() => Value::Null,
        selection => json!({
            "text": selection.to_string(),
            "options": selection.options().iter().map(option).collect::<Value>(),
        }),
    }
}

pub(in crate::output::fleet) fn inputs(report: &FleetReport) -> Value {
    let failed = |failed: &FailedInput| {
        json!({
            "source": failed.source,
            "bytes": failed.source_bytes,
            "run_id": failed.run_id,
            "kind": failed.kind.name(),
            "reason": failed.reason,
        })
    };
    let damaged = |damaged: &DamagedRecording| json!({"source": damaged.source, "unread_runs": damaged.unread_runs});
    let inputs = &report.inputs;
    json!({
        "complete": inputs.completeness.is_complete,
        "inputs_expected": inputs.completeness.inputs_expected,
        "inputs_done": inputs.completeness.inputs_done,
        "missing_shards": inputs.missing_shards,
        "runs": inputs.runs,
        "left_out": inputs.left_out,
        "label_keys": inputs.label_keys,
        "processes": inputs.processes,
        "missing_processes": inputs.missing_processes,
        "threads": inputs.threads,
        "missing_threads": inputs.missing_threads,
        "excluded_runs": inputs.excluded_runs,
        "idle": inputs.idle,
        "without_time": inputs.without_time,
        "estimated_time": inputs.estimated_time,
        "rejected_rows": inputs.rejected_rows,
        "damaged": inputs.damaged.iter().map(damaged).collect::<Value>(),
        "failed": inputs.failed.iter().map(failed).collect::<Value>(),
    })
}

fn cohort_object(
    report: &FleetReport,
    extent: &Extent,
    (index, cohort): (usize, &CohortReport),
    out: &mut dyn Write,
) -> io::Result<()> {
    let unit = cohort.cohort.unit;
    // Cohorts with the same unit are consecutive.
    let before = index.checked_sub(extent.cohorts).and_then(|before| report.cohorts.get(before));
    let (bins, timeline, tables) = match before.is_some_and(|before| before.cohort.unit == unit) {
        true => Default::default(),
        false => (&cohort.bins[..], &cohort.timeline[..], &cohort.tables[..]),
    };
    let mut head = json!({
        "cohort": index,
        "labels": labels(&cohort.cohort),
        "name": cohort.cohort.name(),
        "unit": unit.name(),
        "value_unit": measure_unit(unit),
        "runs": cohort.runs,
        "across_runs": summary(report, &cohort.across_runs, unit, "runs"),
        "worst_run": run_of(report, cohort.across_runs.max_run),
        "bins": bins.iter().map(bin).collect::<Value>(),
        "box_plot": cohort.box_plot.as_ref().map(box_plot),
        "within_runs": cohort.within_runs.as_ref().map(|windows| within_runs(report, windows, unit)),
        "timeline": timeline.iter().map(|point| timeline_point(report, point)).collect::<Value>(),
    });
    if extent.has_commands {
        head["behind"] = behind(report, &cohort.across_runs, &ScopeName::default());
    }
    open_object(out, &head)?;
    array(out, "tables", tables.iter(), |table, out| {
        let hidden = table.hidden + table.rows.len().saturating_sub(extent.rows) as u64;
        open_object(out, &json!({"scope": table.scope.name(), "hidden": hidden}))?;
        array(out, "rows", table.rows.iter().take(extent.rows), |row, out| {
            let mut object = scope_row(report, row, unit);
            if extent.has_commands {
                object["behind"] = behind(report, &row.summary, &row.name);
            }
            value(out, &object)
        })?;
        out.write_all(b"}")
    })?;
    out.write_all(b"}")
}

/// The runs behind a row, and the command that opens the run with the largest value.
fn behind(report: &FleetReport, summary: &Summary, name: &ScopeName) -> Value {
    let behind = Behind::of(report, summary);
    let command = behind.max.and_then(|run| command(report, run, name));
    behind.words().map_or(Value::Null, |runs| json!({"runs": runs, "command": command.map(|words| words.join(" "))}))
}

fn summary(report: &FleetReport, summary: &Summary, unit: Unit, counts: &str) -> Value {
    let options = &report.options;
    let none = Vec::new();
    let percentiles = summary.estimates.iter().enumerate().map(|(index, row)| {
        let mut object = percentile(report, row, options.confidence.tail());
        let runs = summary.percentile_runs.get(index).unwrap_or(&none);
        object["runs"] = runs.iter().map(|&run| run_of(report, Some(run))).collect();
        object
    });
    json!({
        "value_unit": measure_unit(unit),
        "counts": counts,
        "count": summary.count,
        "zeros": summary.zeros,
        "min": summary.min,
        "max": summary.max,
        "mean": summary.mean,
        "weighted_mean": summary.weighted_mean,
        "method": options.method.name(),
        "confidence": options.confidence.fraction(),
        "is_exact": summary.is_exact,
        "relative_error": (!summary.is_exact).then_some(ExponentialHistogram::RELATIVE_ERROR),
        "percentiles": percentiles.collect::<Value>(),
        "cautions": summary.cautions.iter().map(caution).collect::<Value>(),
    })
}

fn caution(caution: &Caution) -> Value {
    match caution {
        Caution::MeanAboveP90 => json!({"kind": "mean-above-p90"}),
        Caution::MostlyAbsent => json!({"kind": "mostly-absent"}),
        Caution::TooFewRuns { needed } => json!({"kind": "too-few-runs", "needed": needed}),
    }
}

fn bin(bin: &Bin) -> Value {
    json!({"lower": bin.lower, "upper": bin.upper, "count": bin.count})
}

fn box_plot(plot: &BoxPlot) -> Value {
    json!({
        "min": plot.min,
        "whisker_low": plot.whisker_low,
        "p25": plot.p25,
        "median": plot.median,
        "p75": plot.p75,
        "whisker_high": plot.whisker_high,
        "max": plot.max,
        "outliers": plot.outliers,
        "outlier_count": plot.outlier_count,
    })
}

fn within_runs(report: &FleetReport, windows: &WindowReport, unit: Unit) -> Value {
    json!({
        "window_seconds": 1,
        "runs": windows.runs,
        "pooled": summary(report, &windows.pooled, unit, "windows"),
        "peaks": summary(report, &windows.peaks, unit, "runs"),
        "worst_run": run_of(report, windows.peaks.max_run),
    })
}

/// Maps the names of the requested percentiles to values.
fn by_quantile(quantiles: &[Quantile], values: impl Iterator<Item = f64>) -> Value {
    let pairs: Map<String, Value> =
        quantiles.iter().zip(values).map(|(quantile, value)| (quantile.name(), json!(value))).collect();
    Value::Object(pairs)
}

fn timeline_point(report: &FleetReport, point: &TimelinePoint) -> Value {
    json!({
        "second": point.second,
        "seconds": point.seconds,
        "runs": point.runs,
        "values": by_quantile(&report.options.quantiles, point.values.iter().copied()),
        "max": point.max,
    })
}

fn scope_row(report: &FleetReport, row: &ScopeRow, unit: Unit) -> Value {
    let mut object = names(&row.name);
    let mut own = summary(report, &row.summary, unit, "runs");
    if let Some(percentiles) = own["percentiles"].as_array_mut() {
        for (index, percentile) in percentiles.iter_mut().enumerate() {
            percentile["noise"] = json!(row.noise.get(index).copied().flatten());
            percentile["is_noise"] = json!(row.is_noise(index));
        }
    }
    object.insert("summary".to_owned(), own);
    object.insert("samples".to_owned(), json!(row.samples));
    object.insert("effective_samples".to_owned(), json!(row.effective_samples));
    object.insert("worst_run".to_owned(), run_of(report, row.summary.max_run));
    Value::Object(object)
}

fn contrast_object(report: &FleetReport, extent: &Extent, contrast: &Contrast, out: &mut dyn Write) -> io::Result<()> {
    let cohorts = contrast.cohorts.iter().map(|&cohort| cohort_of(report, cohort));
    let head = json!({
        "scope": contrast.scope.name(),
        "unit": contrast.unit.name(),
        "value_unit": measure_unit(contrast.unit),
        "by": contrast.by,
        "assumes_independent_runs": report.shared_label.is_some(),
        "method": report.options.method.name(),
        "cohorts": cohorts.collect::<Value>(),
    });
    open_object(out, &head)?;
    array(out, "rows", contrast.rows.iter().take(extent.rows), |row, out| value(out, &contrast_row(row)))?;
    out.write_all(b"}")
}

fn contrast_row(row: &ContrastRow) -> Value {
    let mut object = names(&row.name);
    object.insert("values".to_owned(), json!(row.values));
    object.insert("difference".to_owned(), json!(row.difference));
    object.insert("at_least".to_owned(), json!(row.at_least));
    object.insert("is_noise".to_owned(), json!(row.is_noise));
    Value::Object(object)
}

fn alert_value(report: &FleetReport, alert: &AlertOutcome) -> Value {
    let run = |&(run, value): &(usize, Millionths)| {
        let mut run = run_of(report, Some(run));
        run["value"] = json!(value.as_f64());
        run
    };
    let mut object = cohort_of(report, alert.cohort);
    let unit = report.cohorts.get(alert.cohort).map(|cohort| match alert.rule.measure.is_time() {
        true => "ms",
        false => measure_unit(alert.rule.value_unit(cohort.cohort.unit)),
    });
    // For a rule about many names, the intervals hold for all names together.
    let tail = report.options.confidence.tail() / alert.judged.max(1) as f64;
    let fields = [
        ("asks", rule(&alert.rule)),
        ("value_unit", json!(unit)),
        ("percentile", json!(alert.estimate.as_ref().map(|estimate| percentile(report, estimate, tail)))),
        ("beyond_count", json!(alert.beyond_count)),
        ("beyond", alert.beyond.iter().map(run).collect()),
    ];
    if let Value::Object(common) = alerts::json(alert) {
        common.into_iter().for_each(|(name, value)| object[name] = value);
    }
    fields.into_iter().for_each(|(name, value)| object[name] = value);
    object
}

/// The parts of a rule.
fn rule(rule: &AlertRule) -> Value {
    let (scope, name) = match &rule.subject {
        AlertSubject::Run | AlertSubject::Total => ("run", None),
        AlertSubject::Named(kind, name) => (kind.name(), Some(name)),
        AlertSubject::Each(Kind::Function) => ("any-function", None),
        AlertSubject::Each(Kind::Binary) => ("any-binary", None),
        AlertSubject::Each(_) => ("every-process", None),
    };
    let seconds = match rule.measure {
        AlertMeasure::Window(seconds) => Some(seconds),
        _ => None,
    };
    json!({
        "scope": scope,
        "name": name,
        "measure": rule.measure.name(rule.unit),
        "window_seconds": seconds,
        "statistic": rule.statistic.name(),
        "end": rule.bound.end(),
        "comparison": rule.comparison.sign(),
    })
}

pub(super) fn run_value(report: &FleetReport, run: &RunRow) -> Value {
    let unit = report.cohorts.get(run.cohort).map(|cohort| cohort.cohort.unit);
    let of_windows =
        |values: &Vec<Millionths>| by_quantile(&report.options.quantiles, values.iter().map(|value| value.as_f64()));
    let mut object = json!({"run_id": run.run_id, "source": run.source, "run": run.number, "start": run.start});
    let Value::Object(cohort) = cohort_of(report, run.cohort) else { return object };
    cohort.into_iter().for_each(|(name, value)| object[name] = value);
    let fields = [
        ("wall_ns", json!(run.recorded().map(Nanos::as_nanos))),
        ("wall_source", json!(run.wall_source.name())),
        ("weight", json!(run.weight)),
        ("unit", json!(unit.map(Unit::name))),
        ("samples", json!(run.samples)),
        ("rejected_rows", json!(run.rejected)),
        ("run_weight", json!(run.run_weight.as_f64())),
        ("value", json!(run.rate.as_f64())),
        ("value_unit", json!(unit.map(measure_unit))),
        ("windows", json!(run.windows.as_ref().map(of_windows))),
        ("window_max", json!(run.window_max.map(Millionths::as_f64))),
    ];
    fields.into_iter().for_each(|(name, value)| object[name] = value);
    object
}
