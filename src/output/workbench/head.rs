//! The head of a payload: everything except long columns, as JSON.

use std::io;

use serde_json::{Value, json};

use super::columns::{Column, exact};
use super::intervals::PageIntervals;
use super::reduction::WorkbenchReduction;
use super::rows::{Rows, SeriesRows};
use super::titles::{Titles, file_name};
use crate::output::json::write_summary;
use crate::profile::{BinaryId, Category, CoreId, ProcessId, Profile, RunId, StringId, ThreadId};
use crate::recording::{HangRisk, is_stop_field};
use crate::report::{Report, SeriesReport, SourceText, is_own_binary};
use crate::units::Nanos;

/// The version of the payload. Added fields and columns keep the version; removed and changed ones increase it.
const VERSION: u32 = 2;

/// Makes the head of a report with these rows and columns.
pub(super) fn head(
    (report, titles): (&Report<'_>, &Titles),
    (intervals, hang_risks): (&PageIntervals<'_>, &[HangRisk]),
    rows: &Rows<'_>,
    reduction: WorkbenchReduction,
    columns: &[Column<'_>],
) -> io::Result<Value> {
    let profile = &report.recording.profile;
    let mut summary = Vec::new();
    write_summary(report, &mut summary)?;
    let mut summary = serde_json::from_slice(&summary)?;
    titles.apply(&mut summary);
    let names = report.recording.counter_names();
    let series = report.series.iter().enumerate().map(|(place, row)| {
        let mut value = series(report, row, &rows.series[place]);
        let sums = rows.counters.sums.get(place).filter(|sums| !sums.is_empty());
        if let Some(sums) = sums {
            value["counters"] = counters(sums, &names[row.series.index()], rows.counters.kept());
        }
        value
    });
    let mut head = json!({
        "format": "traceparse-workbench",
        "version": VERSION,
        "producer": concat!("traceparse ", env!("CARGO_PKG_VERSION")),
        "form": if rows.are_sums() { "sums" } else { "samples" },
        "reduction": reduction.head(),
        "columns": columns.iter().map(Column::head).collect::<Value>(),
        "runs": profile.run_ids().map(|id| run(report, titles, id)).collect::<Value>(),
        "series": series.collect::<Value>(),
        "processes": profile.process_ids().map(|id| process(profile, id)).collect::<Value>(),
        "threads": profile.thread_ids().map(|id| thread(profile, id)).collect::<Value>(),
        "cores": profile.core_ids().map(|id| core(profile, id)).collect::<Value>(),
        "states": rows.states.iter().map(|&id| profile.string(id)).collect::<Value>(),
        "binaries": profile.binary_ids().map(|id| binary(profile, id)).collect::<Value>(),
        "hang_risks": hang_risks.iter().map(hang_risk).collect::<Value>(),
        "sources": sources(report),
        "summary": summary,
    });
    intervals.add_to(&mut head);
    Ok(head)
}

/// A run with the facts from its table of contents.
fn run(report: &Report<'_>, titles: &Titles, id: RunId) -> Value {
    let profile = &report.recording.profile;
    let row = profile.run(id);
    let mut run =
        json!({"input": titles.get(profile.string(row.input)), "document": row.document, "number": row.number});
    let time = report.recording.selected_time(id, &report.options.selection);
    if !time.parts().is_empty() {
        let parts: Value = time.parts().iter().map(|&(start, end)| json!([nanos(start), nanos(end)])).collect();
        run["time"] = json!({"parts": parts, "source": time.source().name(), "is_part": time.is_part()});
    }
    let Some(toc) = report.recording.toc_of_run(id) else { return run };
    if let Some(duration) = toc.duration() {
        run["duration_ns"] = nanos(duration);
    }
    if let Some(date) = toc.summary_field("start-date") {
        run["start_date"] = json!(date);
    }
    if let Some(name) = toc.process_attribute("name").filter(|name| !name.is_empty()) {
        run["process"] = json!(name);
    }
    let stop = toc.summary.iter().filter(|(key, _)| is_stop_field(key));
    let stop: serde_json::Map<String, Value> = stop.map(|(key, value)| (key.clone(), json!(value))).collect();
    if !stop.is_empty() {
        run["stop"] = Value::Object(stop);
    }
    let device = [("name", "name"), ("model", "model"), ("platform", "platform"), ("os_version", "os-version")];
    for (field, attribute) in device {
        if let Some(text) = toc.device_attribute(attribute).filter(|text| !text.is_empty()) {
            run["device"][field] = json!(text);
        }
    }
    run
}

fn series(report: &Report<'_>, row: &SeriesReport, rows: &SeriesRows) -> Value {
    let profile = &report.recording.profile;
    let series = profile.series(row.series);
    let mut value = json!({
        "run": series.run.index(),
        "schema": profile.string(series.schema),
        "table": series.table,
        "position": report.table(row.series).and_then(|table| table.position),
        "unit": series.unit.name(),
        "meaning": series.meaning.name(),
        "has_times": series.has_times,
        "rows": rows.rows,
        // As strings, since programs that add doubles could otherwise not check whether their sum is exact.
        "weight": rows.weight.to_string(),
        "samples": rows.samples.to_string(),
        "usual_weight": profile.most_frequent_weight(row.series).map(exact),
    });
    if let Some(counter) = series.counter {
        value["counter"] = json!(counter + 1);
    }
    value
}

/// The performance counters of a series: their sums, and their names if known.
fn counters(sums: &[u128], names: &[String], kept: &[usize]) -> Value {
    let counter = |(counter, sum): (usize, &u128)| json!({"name": names.get(counter), "sum": sum.to_string(), "has_column": kept.contains(&counter)});
    sums.iter().enumerate().map(counter).collect()
}

fn process(profile: &Profile, id: ProcessId) -> Value {
    let row = profile.process(id);
    json!({"run": row.run.index(), "pid": row.pid.map(exact), "name": profile.string(row.name)})
}

fn thread(profile: &Profile, id: ThreadId) -> Value {
    let row = profile.thread(id);
    json!({
        "process": row.process.index(),
        "tid": row.tid.map(exact),
        "name": profile.string(row.name),
        "is_main": row.is_main,
    })
}

fn core(profile: &Profile, id: CoreId) -> Value {
    let row = profile.core(id);
    json!({"index": row.index, "kind": row.kind.map(|kind| profile.string(kind))})
}

fn binary(profile: &Profile, id: BinaryId) -> Value {
    let row = profile.binary(id);
    let text = |id: StringId| profile.string(id);
    json!({
        "name": text(row.name),
        "uuid": row.uuid.map(|uuid| uuid.to_string()),
        "arch": row.arch.map(text),
        "load_address": row.load_address.to_string(),
        "path": text(row.path),
        "category": Category::of_binary(profile, Some(id)).name(),
        "is_own": is_own_binary(profile, id),
    })
}

fn hang_risk(row: &HangRisk) -> Value {
    json!({
        "run": row.run,
        "time_ns": nanos(row.time),
        "message": row.message.as_deref(),
        "severity": row.severity.as_deref(),
        "event_type": row.event_type.as_deref(),
        "process": row.process.as_deref(),
        "pid": row.pid.map(exact),
        "tid": row.tid.map(exact),
    })
}

/// The contents of source files, by recorded path; empty if they were not requested.
fn sources(report: &Report<'_>) -> Value {
    let source = |(path, answer): (&str, &Result<SourceText, String>)| match answer {
        Ok(SourceText { file, text }) => json!({"path": path, "file": file_name(file), "text": text}),
        Err(missing) => json!({"path": path, "missing": missing}),
    };
    report.sources.iter().flat_map(|sources| sources.texts()).map(source).collect()
}

fn nanos(time: Nanos) -> Value {
    exact(time.as_nanos())
}
