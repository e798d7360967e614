//! Trees as nested nodes or as a row per node; and flame charts as threads with their spans.

use std::io::{self, Write};

use super::values::{Layout, Rows, scope};
use crate::calltree::{Draft, Label, Node};
use crate::output::byte_writer::{ByteWriter, LabelTexts, Put};
use crate::profile::Profile;
use crate::report::{Report, Scope, SeparateBy, Span, ThreadChart, binary_of, function_of};
use crate::units::Nanos;

/// Writes the trees in an array named after the kind of scope. In JSON lines, the nodes of a tree follow its scope and contain its number.
pub(super) fn trees(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let name = match report.options.separate_by {
        SeparateBy::Thread => "threads",
        SeparateBy::Process => "processes",
        SeparateBy::State => "states",
        SeparateBy::CoreKind => "core_kinds",
        SeparateBy::Interval => "intervals",
        SeparateBy::Task => "tasks",
        SeparateBy::Nothing => "trees",
    };
    let names = node_heads(&report.recording.profile);
    let mut writer = ByteWriter::new(out);
    let mut rows = Rows::begin(layout, name, &mut writer.text);
    let mut count = 0;
    for (index, series) in report.series.iter().enumerate() {
        report.walk_trees(series, &series.scopes, |row, tree| {
            // The tree is the last field of the object, so it can be streamed.
            let head = scope(report, index, row.scope, &row.counted).to_string();
            rows.next(&mut writer.text);
            writer.put(&head.as_bytes()[..head.len() - 1]);
            writer.put(b",\"tree\":");
            match layout {
                Layout::Document => write_nested(tree, &mut writer, |node, writer| {
                    writer.put(names.get(node.label));
                    numbers(node, writer);
                })?,
                Layout::Lines => {
                    writer.put_number(count);
                }
            }
            writer.put(b"}");
            if layout == Layout::Lines {
                lines_of_tree(tree, count, &names, &mut rows, &mut writer)?;
            }
            count += 1;
            io::Result::Ok(())
        })?;
    }
    rows.end(&mut writer.text);
    writer.finish()
}

/// Writes a tree of any depth without recursion. `put` writes a node from its `{` to the last field before `children`.
pub(in crate::output) fn write_nested(
    tree: &Draft,
    writer: &mut ByteWriter<'_>,
    mut put: impl FnMut(&Node, &mut ByteWriter<'_>),
) -> io::Result<()> {
    let mut open = 0;
    tree.walk(|chain| {
        for node in chain.nodes() {
            let is_sibling = open > node.depth;
            while open > node.depth {
                writer.put(b"]}");
                open -= 1;
            }
            if is_sibling {
                writer.put(b",");
            }
            put(&node, writer);
            writer.put(b",\"children\":[");
            writer.flush_if_full()?;
            open += 1;
        }
        io::Result::Ok(())
    })?;
    for _ in 0..open {
        writer.put(b"]}");
    }
    Ok(())
}

fn numbers(node: &Node, writer: &mut ByteWriter<'_>) {
    let Node { all_weight, self_weight, all_samples, hidden_weight, hidden_children, .. } = *node;
    writer.put(b",\"all_weight\":").put_number(all_weight);
    writer.put(b",\"self_weight\":").put_number(self_weight);
    writer.put(b",\"samples\":").put_number(all_samples);
    if hidden_children > 0 {
        writer.put(b",\"hidden_weight\":").put_number(hidden_weight);
        writer.put(b",\"hidden_children\":").put_number(hidden_children.into());
    }
}

/// Writes the nodes of a tree as rows, a parent before its children.
fn lines_of_tree(
    tree: &Draft,
    number: u64,
    names: &LabelTexts,
    rows: &mut Rows,
    writer: &mut ByteWriter<'_>,
) -> io::Result<()> {
    tree.walk(|chain| {
        for node in chain.nodes() {
            rows.next(&mut writer.text);
            writer.put(names.get(node.label));
            numbers(&node, writer);
            writer.put(b",\"depth\":").put_number(node.depth.into());
            writer.put(b",\"tree\":").put_number(number).put(b"}");
            writer.flush_if_full()?;
        }
        io::Result::Ok(())
    })
}

/// The starts of nodes: `{"function":"…","binary":"…"`.
pub(super) fn node_heads(profile: &Profile) -> LabelTexts {
    LabelTexts::new(profile, |label, out| push_head(profile, label, out))
}

fn push_head(profile: &Profile, label: Label, out: &mut Vec<u8>) {
    let name = Some(function_of(profile, label)).filter(|name| !name.is_empty());
    out.put(b"{\"function\":").put_text(name);
    out.put(b",\"binary\":").put_text(binary_of(profile, label));
}

/// Writes the threads of every series. In JSON lines, spans follow their thread and contain its number.
pub(super) fn flame_chart(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let names = node_heads(&report.recording.profile);
    let mut writer = ByteWriter::new(out);
    let mut rows = Rows::begin(layout, "flame_chart", &mut writer.text);
    let mut count = 0;
    for (index, series) in report.series.iter().enumerate() {
        let chart = report.flame_chart(series);
        for thread in chart.threads() {
            rows.next(&mut writer.text);
            let head = scope(report, index, Scope::Thread(thread.thread()), &thread.row.counted).to_string();
            writer.put(&head.as_bytes()[..head.len() - 1]);
            put_gap(chart.typical_gap(), &mut writer);
            match layout {
                Layout::Document => nested_spans(&thread, &names, &mut writer)?,
                Layout::Lines => lines_of_thread(&thread, count, &names, &mut rows, &mut writer)?,
            }
            count += 1;
        }
    }
    rows.end(&mut writer.text);
    writer.finish()
}

/// Writes the rest of a thread with its spans nested in it.
fn nested_spans(thread: &ThreadChart<'_>, names: &LabelTexts, writer: &mut ByteWriter<'_>) -> io::Result<()> {
    let mut rows = Rows::begin(Layout::Document, "spans", &mut writer.text);
    for span in thread.spans() {
        rows.next(&mut writer.text);
        put_span(&span, names, writer);
        writer.put(b"}");
        writer.flush_if_full()?;
    }
    rows.end(&mut writer.text);
    writer.put(b"}");
    Ok(())
}

/// Writes the rest of a thread, followed by its spans as rows.
fn lines_of_thread(
    thread: &ThreadChart<'_>,
    chart: u64,
    names: &LabelTexts,
    rows: &mut Rows,
    writer: &mut ByteWriter<'_>,
) -> io::Result<()> {
    put_field(b",\"chart\":", chart, writer);
    writer.put(b"}");
    for span in thread.spans() {
        rows.next(&mut writer.text);
        put_span(&span, names, writer);
        put_field(b",\"chart\":", chart, writer);
        writer.put(b"}");
        writer.flush_if_full()?;
    }
    Ok(())
}

fn put_gap(typical: Option<Nanos>, writer: &mut ByteWriter<'_>) {
    writer.put(format!(",\"estimated\":{},\"typical_gap_ns\":", typical.is_some()).as_bytes());
    writer.put_optional(typical.map(Nanos::as_nanos));
}

/// Writes a span without its closing brace.
fn put_span(span: &Span, names: &LabelTexts, writer: &mut ByteWriter<'_>) {
    let Span { label, depth, start, end, all_weight, self_weight, samples } = *span;
    writer.put(names.get(label));
    for (name, number) in [
        (&b",\"start_ns\":"[..], start.as_nanos()),
        (b",\"end_ns\":", end.as_nanos()),
        (b",\"depth\":", depth.into()),
        (b",\"all_weight\":", all_weight),
        (b",\"self_weight\":", self_weight),
        (b",\"samples\":", samples),
    ] {
        put_field(name, number, writer);
    }
}

fn put_field(name: &[u8], number: u64, writer: &mut ByteWriter<'_>) {
    writer.put(name);
    writer.put_number(number);
}
