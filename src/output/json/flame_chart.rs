//! Flame charts: threads with their spans.

use std::io::{self, Write};

use super::trees::node_heads;
use super::values::{Layout, Rows, scope};
use crate::output::byte_writer::{ByteWriter, LabelTexts, Put};
use crate::report::{Report, Scope};
use crate::report::{Span, ThreadChart};
use crate::units::Nanos;

/// Writes the threads of every series. In lines, spans follow their thread and have its number.
pub(super) fn write(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
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
                Layout::Document => nested(&thread, &names, &mut writer)?,
                Layout::Lines => lines(&thread, count, &names, &mut rows, &mut writer)?,
            }
            count += 1;
        }
    }
    rows.end(&mut writer.text);
    writer.finish()
}

/// The rest of a thread, with its spans inside.
fn nested(thread: &ThreadChart<'_>, names: &LabelTexts, writer: &mut ByteWriter<'_>) -> io::Result<()> {
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
fn lines(
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
