//! The fields before the rows of every document: options, inputs, and the results of reading.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::values::{array, begin, values};
use crate::calltree::{Change, Metric, OperationSummary};
use crate::error::Diagnostic;
use crate::profile::{IntervalFilter, Matcher, Selection, SeriesId, StateFilter};
use crate::recording::{Document, DocumentContent, Table, TableKind, TocProcess, TocRun, TocTable};
use crate::redact::Redacted;
use crate::report::{Amount, Report, ReportOptions, SeriesReport, View};
use crate::symbolicate::{Missing, SymbolicationSummary};
use crate::symbols::Found;
use crate::units::Nanos;

/// The version of the format. Added fields keep the version; removed fields and changed meanings increase it.
pub(crate) const VERSION: u32 = 1;

/// Writes every field except lists of rows, with `separator` between fields. The object is not closed.
pub(super) fn header(report: &Report<'_>, format: &str, separator: &str, out: &mut dyn Write) -> io::Result<()> {
    let metric = match report.options.metric {
        Metric::Weight if report.recording.profile.is_weighed_by_counters() => "counter",
        Metric::Weight => "weight",
        Metric::Samples => "samples",
    };
    write!(out, "{{\"format\":\"{format}\",\"version\":{VERSION},\"metric\":\"{metric}\"")?;
    let mut fields = Fields { separator, out };
    let recording = report.recording;
    fields.one("asked", &asked(&report.options))?;
    fields.list("documents", recording.documents.iter().map(document))?;
    fields.list("tables", tables(report))?;
    let names = recording.counter_names();
    fields.list("series", report.series.iter().enumerate().map(|(index, row)| series(report, index, row, &names)))?;
    fields.one("unnamed", &unnamed(report))?;
    if let Some(summary) = &report.symbolication {
        fields.one("symbolication", &symbolication(summary, listed(report)))?;
    }
    if !report.operations.is_empty() {
        fields.one("operations", &operations(report, &|id| report.position(id)))?;
    }
    if let Some(list) = &report.redacted {
        fields.one("redacted", &redacted(list))?;
    }
    fields.list("diagnostics", recording.diagnostics.iter().map(diagnostic))
}

/// Writes fields that are not the first in their object.
struct Fields<'o> {
    separator: &'o str,
    out: &'o mut dyn Write,
}

impl Fields<'_> {
    fn one(&mut self, name: &str, value: &Value) -> io::Result<()> {
        write!(self.out, "{}\"{name}\":", self.separator)?;
        Ok(serde_json::to_writer(&mut self.out, value)?)
    }

    /// Writes an array on one line.
    fn list(&mut self, name: &str, values: impl Iterator<Item = Value>) -> io::Result<()> {
        write!(self.out, "{}\"{name}\":", self.separator)?;
        let mut between = "[";
        for value in values {
            self.out.write_all(std::mem::replace(&mut between, ",").as_bytes())?;
            serde_json::to_writer(&mut self.out, &value)?;
        }
        self.out.write_all(if between == "[" { b"[]" } else { b"]" })
    }
}

/// The replaced names by kind, with their pseudonyms.
pub(in crate::output) fn redacted(list: &[Redacted]) -> Value {
    let row = |row: &Redacted| json!({"kind": row.kind.name(), "names": row.names, "pseudonyms": row.pseudonyms});
    list.iter().map(row).collect()
}

/// The filters and limits that apply to the numbers.
fn asked(options: &ReportOptions) -> Value {
    let Selection { runs, processes, threads, only_main_threads, time, intervals, states } = &options.selection;
    let texts = |matchers: &[Matcher]| -> Vec<String> { matchers.iter().map(|m| m.text().to_owned()).collect() };
    let states = match states {
        StateFilter::Running => json!("running"),
        StateFilter::All => json!("all"),
        StateFilter::Only(names) => json!(names),
    };
    let time =
        time.map(|time| json!({"start_ns": time.start.as_nanos(), "end_ns": time.end.map(|end| end.as_nanos())}));
    let mut asked = json!({
        "runs": runs,
        "schemas": options.schemas,
        "processes": texts(processes),
        "threads": texts(threads),
        "only_main_threads": only_main_threads,
        "time": time,
        "states": states,
        "min_percent": options.pruning.min_percent,
        "min_weight": options.pruning.min_weight,
        "depth": options.pruning.depth,
        "top": options.top.filter(|&top| top < usize::MAX),
        "function": options.function,
    });
    if let Some(sort) = options.sort {
        asked["sort"] = json!(sort.name());
    }
    if let Some(intervals) = intervals {
        asked["during"] = during(intervals);
    }
    asked
}

/// The intervals to which samples were limited.
pub(in crate::output) fn during(intervals: &IntervalFilter) -> Value {
    // Sums may exceed 64 bits. JSON allows such numbers, but serde_json does not.
    let nanos = |sum: u128| u64::try_from(sum).map_or_else(|_| json!(sum.to_string()), |sum| json!(sum));
    json!({
        "names": intervals.names(),
        "hangs": intervals.has_hangs(),
        "combined_as": if intervals.is_intersection() { "intersection" } else { "union" },
        "intervals": intervals.count(),
        "open": intervals.open(),
        "length_ns": nanos(intervals.length()),
        "covered_ns": nanos(intervals.covered()),
    })
}

fn document(document: &Document) -> Value {
    let kind = match document.content {
        DocumentContent::Tables(_) => "tables",
        DocumentContent::Toc(_) => "toc",
    };
    let mut value = json!({"input": document.input, "kind": kind, "cut_at": document.cut_at});
    if let DocumentContent::Toc(toc) = &document.content {
        let rows = toc.runs.iter().flat_map(TocRun::stated_percentiles);
        let rows: Vec<Value> = rows.map(|(of, value)| json!({"of": of, "value": value})).collect();
        if !rows.is_empty() {
            value["percentiles"] = json!(rows);
        }
    }
    value
}

pub(super) fn contents(row: &Document, out: &mut dyn Write) -> io::Result<()> {
    begin(out, &document(row))?;
    match &row.content {
        DocumentContent::Tables(tables) => values(out, "tables", tables.iter().map(table))?,
        DocumentContent::Toc(toc) => array(out, "runs", toc.runs.iter(), toc_run)?,
    }
    out.write_all(b"}")
}

fn tables(report: &Report<'_>) -> impl Iterator<Item = Value> {
    let documents = report.recording.documents.iter().enumerate();
    documents.flat_map(|(index, document)| {
        let tables = match &document.content {
            DocumentContent::Tables(tables) => tables.as_slice(),
            DocumentContent::Toc(_) => &[],
        };
        tables.iter().map(move |row| {
            let mut value = table(row);
            value["document"] = json!(index);
            value
        })
    })
}

fn table(table: &Table) -> Value {
    let reasons: Map<String, Value> =
        table.rejected.iter().map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect();
    json!({
        "run": table.run,
        "position": table.position,
        "schema": table.schema,
        "kind": if table.kind == TableKind::Cpu { "cpu" } else { "other" },
        "rows": table.rows,
        "samples": table.samples,
        "rejected": {"total": table.rejected.total(), "reasons": reasons},
    })
}

fn toc_run(run: &TocRun, out: &mut dyn Write) -> io::Result<()> {
    let object = |pairs: &[(String, String)]| -> Value {
        Value::Object(pairs.iter().map(|(key, value)| (key.clone(), json!(value))).collect())
    };
    let facts = json!({
        "number": run.number,
        "duration_ns": run.duration().map(|duration| duration.as_nanos()),
        "device": object(&run.device),
        "host_device": object(&run.host_device),
        "process": object(&run.process),
        "environment_variables": run.environment_variables,
        "has_arguments": run.has_arguments,
        "all_processes": run.is_all_processes,
        "summary": object(&run.summary),
        "tracks": run.tracks,
        "unread": run.unread,
    });
    begin(out, &facts)?;
    let process = |row: &TocProcess| json!({"name": row.name, "pid": row.pid, "path": row.path});
    values(out, "processes", run.processes.iter().map(process))?;
    let table = |row: &TocTable| {
        let attributes = object(&row.attributes);
        json!({"position": row.position, "schema": row.schema, "attributes": attributes, "rows": row.rows})
    };
    values(out, "tables", run.tables.iter().map(table))?;
    out.write_all(b"}")
}

fn amount(amount: &Amount) -> Value {
    json!({"weight": amount.weight.value, "samples": amount.samples})
}

fn series(report: &Report<'_>, index: usize, series: &SeriesReport, names: &[Vec<String>]) -> Value {
    let profile = &report.recording.profile;
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let states = series
        .other_states
        .iter()
        .map(|(state, left_out)| json!({"state": state, "weight": left_out.weight.value, "samples": left_out.samples}));
    // Sums of counters may exceed 64 bits. JSON allows such numbers, but serde_json does not.
    let counters: Vec<Value> = series
        .counters
        .iter()
        .map(|&sum| u64::try_from(sum).map_or_else(|_| json!(sum.to_string()), |sum| json!(sum)))
        .collect();
    let names = names.get(series.series.index()).filter(|names| !names.is_empty());
    let time = report.selected_time(series);
    let length = Some(time.length().as_nanos()).filter(|length| *length > 0);
    let mut value = json!({
        "series": index,
        "input": profile.string(run.input),
        "run": run.number,
        "table": report.table(series.series).and_then(|table| table.position),
        "schema": profile.string(row.schema),
        "unit": series.unit.name(),
        "meaning": row.meaning.name(),
        "samples": series.counted.samples,
        "all_weight": series.counted.weight.value,
        "first_time_ns": series.times.map(|times| times.first.as_nanos()),
        "last_time_ns": series.times.map(|times| times.last.as_nanos()),
        "length_ns": length,
        "length_source": length.map(|_| time.source().name()),
        "cpu_percent": report.cpu_use(series).map(|(percent, _)| percent),
        "sampling_interval_ns": report.sampling_interval(series).map(Nanos::as_nanos),
        "no_stack": amount(&series.no_stack),
        "filtered_out": amount(&series.out_of_scope),
        "other_states": states.collect::<Value>(),
        "counters": counters,
    });
    if series.removed_other_states.samples > 0 {
        value["removed_other_states"] = amount(&series.removed_other_states);
    }
    if let Some(names) = names {
        value["counter_names"] = json!(names);
    }
    if let Some(counter) = row.counter {
        value["counter"] = json!(counter + 1);
    }
    value
}

fn unnamed(report: &Report<'_>) -> Value {
    let profile = &report.recording.profile;
    let binaries = report.unnamed().binaries.iter().take(listed(report)).map(|row| {
        let binary = profile.binary(row.binary);
        json!({
            "name": profile.string(binary.name),
            "uuid": binary.uuid.map(|uuid| uuid.to_string()),
            "arch": binary.arch.map(|arch| profile.string(arch)),
            "path": profile.string(binary.path),
            "frames": row.frames,
        })
    });
    json!({
        "frames": report.unnamed().frames,
        "unnamed": report.unnamed().unnamed,
        "without_binary": report.unnamed().without_binary,
        "binaries": binaries.collect::<Value>(),
    })
}

/// The maximum number of binaries in lists of missing names: few in the overview, which is short.
fn listed(report: &Report<'_>) -> usize {
    if report.options.view == View::Overview { 3 } else { usize::MAX }
}

/// The effects of operations, by series; `position` returns the index of a series in the document.
pub(in crate::output) fn operations(report: &Report<'_>, position: &dyn Fn(SeriesId) -> Option<usize>) -> Value {
    let changes = |summary: &OperationSummary| -> Value {
        let changes = summary.changes.iter().filter_map(|(id, change)| Some((position(*id)?, change)));
        let change = |(series, change): (usize, &Change)| {
            json!({
                "series": series,
                "removed": {"weight": change.removed_weight, "samples": change.removed_samples},
                "changed_samples": change.changed_samples,
                "moved": {"weight": change.moved_weight, "samples": change.moved_samples},
            })
        };
        changes.map(change).collect()
    };
    let row = |summary: &OperationSummary| json!({"operation": summary.text, "series": changes(summary)});
    report.operations.iter().map(row).collect()
}

fn symbolication(summary: &SymbolicationSummary, listed: usize) -> Value {
    let file = |found: &Found| {
        json!({
            "path": found.path.display().to_string(),
            "kind": found.kind.name(),
            "uuid": found.uuid.to_string(),
            "arch": found.arch,
        })
    };
    let binaries =
        summary.binaries.iter().filter(|row| row.missing.is_some() || listed == usize::MAX).take(listed).map(|row| {
            let (missing, same_name) = match &row.missing {
                None => (Value::Null, &[][..]),
                Some(Missing::Nameless) => (json!("nameless"), &[][..]),
                Some(Missing::OutsideFunctions) => (json!("outside-functions"), &[][..]),
                Some(Missing::NoFile { same_name }) => (json!("no-file"), same_name.as_slice()),
            };
            json!({
                "name": row.name,
                "uuid": row.uuid.map(|uuid| uuid.to_string()),
                "arch": row.arch,
                "frames": row.frames,
                "named_before": row.named_before,
                "named_now": row.named_now,
                "nameless": row.nameless,
                "disagreements": row.disagreements,
                "frames_now": row.frames_now,
                "files": row.used.iter().map(file).collect::<Value>(),
                "missing": missing,
                "other_builds": same_name.iter().map(file).collect::<Value>(),
            })
        });
    json!({
        "binaries": binaries.collect::<Value>(),
        "images": summary.images,
        "frames_without_binary": summary.frames_without_binary,
        "notes": summary.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn diagnostic(diagnostic: &Diagnostic) -> Value {
    json!({
        "message": diagnostic.message,
        "count": diagnostic.count,
        "input": diagnostic.at.as_ref().map(|at| &at.input),
        "line": diagnostic.at.as_ref().map(|at| at.line),
        "byte": diagnostic.at.as_ref().map(|at| at.byte),
    })
}
