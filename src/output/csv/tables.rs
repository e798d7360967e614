//! Tables of listings, trees and flame charts: a record for each row, node or span.

use std::io::{self, Write};

use super::records::{Cells, push_field, push_function, scope_fields, series_fields};
use crate::calltree::Chain;
use crate::output::byte_writer::{ByteWriter, LabelTexts, Put, push_number};
use crate::report::{Cell, ListingKind, Report, Scope};

/// Writes the header and the rows of all series: whose they are, the columns of the listing, the unit.
pub(super) fn listing(report: &Report<'_>, kind: &ListingKind, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ByteWriter::new(out);
    writer.put(b"input,run,table,schema");
    let fields = kind.csv_fields();
    for field in &fields {
        writer.put(format!(",{}", field.name).as_bytes());
    }
    writer.put(b"\n");
    for series in &report.series {
        let listing = report.listing_of(kind, series);
        let shared = series_fields(report, series, cells);
        for row in &listing.rows {
            writer.put(&shared);
            for (index, field) in fields.iter().enumerate() {
                writer.put(if index == 0 { b"" } else { b"," });
                push_cell(&field.value(row, &listing), cells, &mut writer.text);
            }
            writer.put(b"\n");
            writer.flush_if_full()?;
        }
    }
    writer.finish()
}

fn push_cell(cell: &Cell, cells: Cells, out: &mut Vec<u8>) {
    match *cell {
        Cell::Absent => {}
        Cell::Text(ref text) => push_field(&cells.text(text), out),
        Cell::Number(number) | Cell::Weight(number) => push_number(number, out),
        Cell::Time(time) => push_number(time.as_nanos(), out),
        Cell::Percent(percent) => out.extend_from_slice(format!("{percent}").as_bytes()),
        Cell::Flag(flag) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
    }
}

const TREE_ORIGIN: &[u8] = b"input,run,table,schema,pid,process,tid,thread";
const TREE_COLUMNS: &[u8] =
    b",depth,all_weight,self_weight,hidden_weight,hidden_children,samples,unit,function,binary\n";

pub(super) fn trees(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = LabelTexts::new(profile, |label, out| push_function(profile, label, cells, out));
    let mut writer = ByteWriter::new(out);
    writer.put(TREE_ORIGIN);
    let part = report.options.separate_by.field();
    if let Some(part) = part {
        writer.put(b",");
        writer.put(part.as_bytes());
    }
    writer.put(TREE_COLUMNS);
    for series in &report.series {
        let series_fields = series_fields(report, series, cells);
        report.walk_trees(series, &series.scopes, |row, tree| {
            let mut shared = [series_fields.clone(), scope_fields(profile, row.scope, cells)].concat();
            if part.is_some() {
                let part = row.scope.parts(profile).part;
                push_field(&cells.text(part.map_or("", |part| profile.string(part))), &mut shared);
                shared.push(b',');
            }
            let rows = Rows { shared, unit: series.unit.name(), names: &names };
            tree.walk(|chain| rows.chain(&chain, &mut writer))
        })?;
    }
    writer.finish()
}

/// The rows of one tree.
struct Rows<'t> {
    /// The fields that they all start with.
    shared: Vec<u8>,
    unit: &'static str,
    names: &'t LabelTexts,
}

impl Rows<'_> {
    fn chain(&self, chain: &Chain<'_>, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        for node in chain.nodes() {
            writer.put(&self.shared);
            writer.put_number(node.depth.into());
            let weights = [node.all_weight, node.self_weight, node.hidden_weight];
            for number in weights.into_iter().chain([node.hidden_children.into(), node.all_samples]) {
                writer.put(b",").put_number(number);
            }
            writer.put(b",").put(self.unit.as_bytes()).put(b",").put(self.names.get(node.label)).put(b"\n");
            writer.flush_if_full()?;
        }
        Ok(())
    }
}

const SPAN_COLUMNS: &[u8] =
    b"input,run,table,schema,pid,process,tid,thread,start_ns,end_ns,estimated,depth,all_weight,\
self_weight,samples,unit,function,binary\n";

pub(super) fn flame_chart(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = LabelTexts::new(profile, |label, out| push_function(profile, label, cells, out));
    let mut writer = ByteWriter::new(out);
    writer.put(SPAN_COLUMNS);
    for series in &report.series {
        let series_fields = series_fields(report, series, cells);
        let chart = report.flame_chart(series);
        let is_estimated: &[u8] = if chart.typical_gap().is_none() { b",false" } else { b",true" };
        for thread in chart.threads() {
            let thread_fields = scope_fields(profile, Scope::Thread(thread.thread()), cells);
            for span in thread.spans() {
                writer.put(&series_fields).put(&thread_fields);
                writer.put_number(span.start.as_nanos());
                writer.put(b",").put_number(span.end.as_nanos());
                writer.put(is_estimated);
                for number in [span.depth.into(), span.all_weight, span.self_weight, span.samples] {
                    writer.put(b",").put_number(number);
                }
                writer.put(format!(",{},", series.unit.name()).as_bytes());
                writer.put(names.get(span.label));
                writer.put(b"\n");
                writer.flush_if_full()?;
            }
        }
    }
    writer.finish()
}
