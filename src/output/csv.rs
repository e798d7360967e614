//! Tables as CSV (RFC 4180: comma, double quotes where needed, LF), with a header. An absent value is an empty field.

use std::io::{self, Write};

use ::csv::Writer;

use super::labels::{binary_of, escape_folded, function_of};
use crate::export::{DocumentContent, TableKind};
use crate::profile::{Frame, Profile, Sample};
use crate::report::{Report, Scope, SeriesReport, View};

/// Writes the view of a report. The overview is written as the summary.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    match report.options.view {
        View::Overview | View::Summary => summary(report, &mut csv)?,
        View::Threads => threads(report, &mut csv)?,
        View::Tree => trees(report, &mut csv)?,
        View::Functions => functions(report, &mut csv)?,
        View::Samples => samples(report, &mut csv)?,
    }
    csv.flush()
}

pub(super) type Out<'o> = Writer<&'o mut dyn Write>;

/// Writes a record. The error of the writer below comes out as it is: a closed pipe stays one.
pub(super) fn record(csv: &mut Out<'_>, fields: &[&str]) -> io::Result<()> {
    csv.write_record(fields).map_err(|error| match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

fn optional(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn summary(report: &Report<'_>, csv: &mut Out<'_>) -> io::Result<()> {
    record(csv, &["input", "run", "table", "schema", "kind", "rows", "samples", "rejected"])?;
    for document in &report.export.documents {
        let DocumentContent::Tables(tables) = &document.content else { continue };
        for table in tables {
            let kind = if table.kind == TableKind::Cpu { "cpu" } else { "other" };
            record(
                csv,
                &[
                    document.input.as_str(),
                    &table.run.to_string(),
                    &optional(table.position.map(u64::from)),
                    table.schema.as_deref().unwrap_or_default(),
                    kind,
                    &table.rows.to_string(),
                    &table.samples.to_string(),
                    &table.rejected.total().to_string(),
                ],
            )?;
        }
    }
    Ok(())
}

/// Whose a row is: `input,run,table,schema`, then `pid,process,tid,thread` where they apply.
fn origin(report: &Report<'_>, series: &SeriesReport, scope: Scope) -> [String; 8] {
    let profile = &report.export.profile;
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let position = report.table(series.series).and_then(|table| table.position);
    let thread = match scope {
        Scope::Thread(id) => Some(profile.thread(id)),
        Scope::Process(_) | Scope::All => None,
    };
    let process = match scope {
        Scope::Process(id) => Some(profile.process(id)),
        _ => thread.map(|thread| profile.process(thread.process)),
    };
    [
        profile.string(run.input).to_owned(),
        run.number.to_string(),
        optional(position.map(u64::from)),
        profile.string(row.schema).to_owned(),
        optional(process.and_then(|process| process.pid)),
        process.map_or("", |process| profile.string(process.name)).to_owned(),
        optional(thread.and_then(|thread| thread.tid)),
        thread.map_or("", |thread| profile.string(thread.name)).to_owned(),
    ]
}

/// Writes a header, given as it stands in the file.
fn header(csv: &mut Out<'_>, columns: &str) -> io::Result<()> {
    record(csv, &columns.split(',').collect::<Vec<_>>())
}

/// Writes a record of columns that many records share and columns of its own.
fn record_of(csv: &mut Out<'_>, shared: &[String], own: &[&str]) -> io::Result<()> {
    let fields: Vec<&str> = shared.iter().map(String::as_str).chain(own.iter().copied()).collect();
    record(csv, &fields)
}

fn threads(report: &Report<'_>, csv: &mut Out<'_>) -> io::Result<()> {
    header(csv, "input,run,table,schema,pid,process,tid,thread,samples,all_weight,unit")?;
    for series in &report.series {
        for thread in &series.threads {
            let shared = origin(report, series, Scope::Thread(thread.thread));
            let (samples, weight) = (thread.counted.samples.to_string(), thread.counted.weight.value.to_string());
            record_of(csv, &shared, &[&samples, &weight, series.unit.name()])?;
        }
    }
    Ok(())
}

fn trees(report: &Report<'_>, csv: &mut Out<'_>) -> io::Result<()> {
    let profile = &report.export.profile;
    header(
        csv,
        "input,run,table,schema,pid,process,tid,thread,depth,all_weight,self_weight,hidden_weight,hidden_children,\
         samples,unit,function,binary",
    )?;
    for series in &report.series {
        for row in report.trees(series) {
            let shared = origin(report, series, row.scope);
            for node in row.tree.nodes() {
                let own = [
                    &node.depth.to_string(),
                    &node.all_weight.to_string(),
                    &node.self_weight.to_string(),
                    &node.hidden_weight.to_string(),
                    &node.hidden_children.to_string(),
                    &node.all_samples.to_string(),
                    series.unit.name(),
                    function_of(profile, node.label),
                    binary_of(profile, node.label).unwrap_or_default(),
                ];
                record_of(csv, &shared, &own)?;
            }
        }
    }
    Ok(())
}

fn functions(report: &Report<'_>, csv: &mut Out<'_>) -> io::Result<()> {
    let profile = &report.export.profile;
    header(csv, "input,run,table,schema,self_weight,all_weight,self_samples,samples,unit,function,binary")?;
    for series in &report.series {
        let shared = &origin(report, series, Scope::All)[..4];
        for row in &series.functions {
            let own = [
                &row.self_weight.to_string(),
                &row.all_weight.to_string(),
                &row.self_samples.to_string(),
                &row.all_samples.to_string(),
                series.unit.name(),
                function_of(profile, row.label),
                binary_of(profile, row.label).unwrap_or_default(),
            ];
            record_of(csv, shared, &own)?;
        }
    }
    Ok(())
}

fn samples(report: &Report<'_>, csv: &mut Out<'_>) -> io::Result<()> {
    header(csv, "run,schema,time_ns,weight,unit,pid,process,tid,thread,core,state,address,function,binary,stack")?;
    let mut stack = String::new();
    for (_, sample) in report.samples() {
        sample_row(&report.export.profile, sample, &mut stack, csv)?;
    }
    Ok(())
}

fn sample_row(profile: &Profile, sample: &Sample, stack: &mut String, csv: &mut Out<'_>) -> io::Result<()> {
    let series = profile.series(sample.series);
    let thread = profile.thread(sample.thread);
    let process = profile.process(thread.process);
    let leaf = profile.frames_leaf_first(sample.stack).next();
    join_stack(profile, sample, stack);
    record(
        csv,
        &[
            profile.run(series.run).number.to_string().as_str(),
            profile.string(series.schema),
            &sample.time.as_nanos().to_string(),
            &sample.weight.to_string(),
            series.unit.name(),
            &optional(process.pid),
            profile.string(process.name),
            &optional(thread.tid),
            profile.string(thread.name),
            &optional(sample.core.map(|core| u64::from(profile.core(core).index))),
            sample.state.map_or("", |state| profile.string(state)),
            &leaf.map(|frame| frame.address.to_string()).unwrap_or_default(),
            leaf.map_or("", |frame| profile.function_name(frame.function)),
            leaf.and_then(|frame| profile.binary_name(frame.function)).unwrap_or_default(),
            stack,
        ],
    )?;
    Ok(())
}

/// The function names of a sample's stack, root first, joined by `;`.
pub(super) fn join_stack(profile: &Profile, sample: &Sample, out: &mut String) {
    out.clear();
    let frames: Vec<&Frame> = profile.frames_leaf_first(sample.stack).collect();
    for frame in frames.iter().rev() {
        if !out.is_empty() {
            out.push(';');
        }
        out.push_str(&escape_folded(profile.function_name(frame.function)));
    }
}
