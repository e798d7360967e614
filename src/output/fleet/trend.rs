//! A trend with its changes: its sentences, and JSON and CSV. `docs/fleet-formats.md` describes every field.

use std::io::{self, Write};

use ::csv::Writer;
use serde_json::{Value, json};

use super::comparison::sentences::{change, confidence, interval};
use super::json::{inputs, selection};
use super::{many, measure_unit};
use crate::fleet::{TrendChange, TrendOver, TrendReport, TrendValue};
use crate::output::csv::{Cells, record};
use crate::units::counted;

/// The version of the format. A new field keeps it; a field that goes or changes its meaning raises it.
const VERSION: u64 = 1;

/// The answer, in a sentence.
pub(super) fn verdict(trend: &TrendReport<'_>) -> String {
    match (&trend.problem, trend.changes.last()) {
        (Some(problem), _) => problem.clone(),
        (None, Some(last)) => sentence(trend, last),
        (None, None) => format!("No change in {}.", points(trend)),
    }
}

/// `Slower since 2.3: +8.1 % CPU (95 %: +5.0 to +11.2 %), 41 runs before, 24 after.`
pub(super) fn sentence(trend: &TrendReport<'_>, changed: &TrendChange) -> String {
    let word = if changed.ratio > 1.0 { "Slower" } else { "Faster" };
    let (name, [before, after]) = (&trend.points[changed.point].name, changed.runs);
    let (level, interval) = (confidence(1.0 - changed.confidence), interval(changed.interval));
    let (by, before) = (change(changed.ratio), many(before, "run"));
    format!("{word} since {name}: {by} CPU ({level}: {interval}), {before} before, {} after.", counted(after))
}

/// `30 versions`, `12 weeks`, `30 values of ring`.
fn points(trend: &TrendReport<'_>) -> String {
    let count = trend.points.iter().filter(|point| point.value.is_some()).count();
    match &trend.over {
        TrendOver::Label(key) if key == "app_version" => many(count, "version"),
        TrendOver::Label(key) => format!("{} of {key}", many(count, "value")),
        TrendOver::Day => many(count, "day"),
        TrendOver::Week => many(count, "week"),
    }
}

/// Writes the trend as one JSON document.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write_json(trend: &TrendReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (over, label) = match &trend.over {
        TrendOver::Label(key) => ("label", Some(key)),
        TrendOver::Day => ("day", None),
        TrendOver::Week => ("week", None),
    };
    let point = |point: &TrendValue| {
        let TrendValue { name, runs, idle, blocks, value } = point;
        json!({"name": name, "runs": runs, "idle_runs": idle, "blocks": blocks, "value": value})
    };
    let change = |change: &TrendChange| {
        json!({
            "point": change.point,
            "name": trend.points[change.point].name,
            "ratio": change.ratio,
            "lower": change.interval.0,
            "upper": change.interval.1,
            "confidence": change.confidence,
            "p": change.p,
            "runs_before": change.runs[0],
            "runs_after": change.runs[1],
        })
    };
    let document = json!({
        "format": "traceparse-trend",
        "version": VERSION,
        "verdict": trend.verdict().name(),
        "problem": trend.problem,
        "over": over,
        "label": label,
        "block": trend.options.block,
        "alpha": trend.options.alpha,
        "min_effect": trend.options.min_effect,
        "unit": trend.unit.name(),
        "value_unit": measure_unit(trend.unit),
        "changes": trend.changes.iter().map(change).collect::<Value>(),
        "points": trend.points.iter().map(point).collect::<Value>(),
        "selection": selection(trend.fleet),
        "inputs": inputs(trend.fleet),
        "notes": trend.notes,
    });
    serde_json::to_writer(&mut *out, &document)?;
    out.write_all(b"\n")
}

/// Writes a table with a row for each point.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write_csv(trend: &TrendReport<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    record(&mut csv, &["point", "value", "value_unit", "runs", "idle_runs", "blocks", "ratio", "lower", "upper", "p"])?;
    for (index, point) in trend.points.iter().enumerate() {
        let change = trend.changes.iter().find(|change| change.point == index);
        let of_change = |of: fn(&TrendChange) -> f64| change.map(of);
        let decimal = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let mut fields =
            vec![cells.text(&point.name).into_owned(), decimal(point.value), measure_unit(trend.unit).to_owned()];
        fields.extend([point.runs, point.idle, point.blocks].map(|count| count.to_string()));
        let changed =
            [of_change(|c| c.ratio), of_change(|c| c.interval.0), of_change(|c| c.interval.1), of_change(|c| c.p)];
        fields.extend(changed.map(decimal));
        record(&mut csv, &fields.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    csv.flush()
}
