//! Changes as one JSON document, for programs. `docs/formats.md` describes every field.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{DiffReport, DiffView};
use crate::calltree::OperationSummary;
use crate::output::alerts;
use crate::output::json::{during, field, operations, redacted, values};
use crate::report::diff::{Change, DiffNode, Function, LackingNames, Side, Sides};
use crate::report::{Report, SeriesReport};

/// The version of the format. Added fields keep the version; removed fields and changed meanings increase it.
pub(crate) const VERSION: u32 = 1;

/// Writes both sides, their totals, and the rows of the view.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &DiffReport<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let diff = report.diff;
    write!(out, "{{\"format\":\"traceparse-diff\",\"version\":{VERSION}")?;
    field(out, "before", &recording(report.before))?;
    field(out, "after", &recording(report.after))?;
    field(out, "unit", &json!(diff.unit.name()))?;
    field(out, "normalize", &json!(report.normalize.name()))?;
    field(out, "factor", &json!(diff.factor))?;
    if !report.alerts.is_empty() {
        field(out, "alerts", &report.alerts.iter().map(alerts::json).collect())?;
    }
    if !diff.lacking_names.is_empty() {
        let lacking = diff.lacking_names.iter().map(|LackingNames { binary, shares: [before, after], change }| {
            json!({"binary": binary, "before": before, "after": after, "change": change})
        });
        field(out, "lacking_names", &lacking.collect())?;
    }
    // Both sides use the same pseudonyms, and the second side lists all of them.
    if let Some(list) = &report.after.redacted {
        field(out, "redacted", &redacted(list))?;
    }
    field(out, "total", &row(None, &diff.total, [diff.self_change(&diff.total), diff.all_change(&diff.total)]))?;
    let rows = report.rows().iter().take(report.top.unwrap_or(usize::MAX));
    let rows = rows.map(|found| row(Some(&found.function), &found.sides, [found.self_change, found.all_change]));
    match report.view {
        DiffView::Overview => values(out, "own_functions", rows)?,
        DiffView::Functions => values(out, "functions", rows)?,
        DiffView::Binaries => values(out, "binaries", rows)?,
        DiffView::Tree => {
            let node = |node: DiffNode| {
                let changes = [diff.self_change(&node.sides), diff.all_change(&node.sides)];
                let mut value = row(diff.function(&node), &node.sides, changes);
                value["depth"] = json!(node.depth);
                value
            };
            values(out, "nodes", diff.nodes().map(node))?;
        }
    }
    out.write_all(b"}\n")
}

/// The facts about the recording of one side.
fn recording(report: &Report<'_>) -> Value {
    let profile = &report.recording.profile;
    // Includes series that operations removed completely.
    let is_shown = |series: &&SeriesReport| {
        let was_removed = || OperationSummary::removed(&report.operations, series.series).1 > 0;
        series.counted.samples > 0 || was_removed()
    };
    let shown: Vec<&SeriesReport> = report.series.iter().filter(is_shown).collect();
    let series = shown.iter().map(|series| {
        let origin = profile.series(series.series);
        let run = profile.run(origin.run);
        json!({
            "input": profile.string(run.input),
            "run": run.number,
            "schema": profile.string(origin.schema),
            "samples": series.counted.samples,
            "all_weight": series.counted.weight.value,
        })
    });
    let length = report.length();
    let mut recording = json!({
        "series": series.collect::<Value>(),
        "duration_ns": length.map(|length| length.nanos.as_nanos()),
        "duration_is_recorded": length.map(|length| length.is_recorded),
        "rejected_rows": report.rejected(),
    });
    if let Some(intervals) = &report.options.selection.intervals {
        recording["during"] = during(intervals);
    }
    if !report.operations.is_empty() {
        let position = |id| shown.iter().position(|series| series.series == id);
        recording["operations"] = operations(report, &position);
    }
    recording
}

fn row(function: Option<&Function>, sides: &Sides, [own, all]: [Change; 2]) -> Value {
    json!({
        "function": function.map(Function::title),
        "binary": function.and_then(Function::owner),
        "presence": sides.presence().name(),
        "before": side(&sides.before),
        "after": side(&sides.after),
        "self_change": change(&own),
        "all_change": change(&all),
    })
}

fn side(Side { sums, .. }: &Side) -> Value {
    json!({
        "self_weight": sums.self_weight,
        "all_weight": sums.all_weight,
        "self_samples": sums.self_samples,
        "samples": sums.all_samples,
    })
}

fn change(change: &Change) -> Value {
    json!({"weight": change.weight, "noise": change.noise, "beyond_noise": change.is_beyond_noise()})
}
