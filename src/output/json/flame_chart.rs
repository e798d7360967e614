//! Flame charts: threads with their spans.

use std::io::{self, Write};

use super::rows::{Layout, Rows};
use super::trees::Names;
use super::values::{push_optional, scope};
use crate::output::texts::Page;
use crate::report::flame_chart::{Coverage, Span, ThreadChart};
use crate::report::{Report, Scope};

/// Writes the threads of every series. In lines, spans stand behind their thread and bear its number.
pub(super) fn write(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let names = Names::new(&report.recording.profile);
    let mut page = Page::new(out);
    let mut rows = Rows::begin(layout, "flame_chart", &mut page.text);
    let mut count = 0;
    for (index, series) in report.series.iter().enumerate() {
        let chart = report.flame_chart(series);
        for thread in chart.threads() {
            rows.next(&mut page.text);
            let head = scope(report, index, Scope::Thread(thread.thread()), &thread.row.counted).to_string();
            page.put(&head.as_bytes()[..head.len() - 1]);
            put_coverage(chart.coverage(), &mut page);
            match layout {
                Layout::Document => nested(&thread, &names, &mut page)?,
                Layout::Lines => lines(&thread, count, &names, &mut rows, &mut page)?,
            }
            count += 1;
        }
    }
    rows.end(&mut page.text);
    page.finish()
}

/// The rest of a thread, with its spans inside.
fn nested(thread: &ThreadChart<'_>, names: &Names, page: &mut Page<'_>) -> io::Result<()> {
    let mut rows = Rows::begin(Layout::Document, "spans", &mut page.text);
    for span in thread.spans() {
        rows.next(&mut page.text);
        put_span(&span, names, page);
        page.put(b"}");
        page.turn()?;
    }
    rows.end(&mut page.text);
    page.put(b"}");
    Ok(())
}

/// The rest of a thread, and its spans as rows behind it.
fn lines(thread: &ThreadChart<'_>, chart: u64, names: &Names, rows: &mut Rows, page: &mut Page<'_>) -> io::Result<()> {
    put_field(b",\"chart\":", chart, page);
    page.put(b"}");
    for span in thread.spans() {
        rows.next(&mut page.text);
        put_span(&span, names, page);
        put_field(b",\"chart\":", chart, page);
        page.put(b"}");
        page.turn()?;
    }
    Ok(())
}

fn put_coverage(coverage: Coverage, page: &mut Page<'_>) {
    let (is_estimated, typical) = match coverage {
        Coverage::Weight => (false, None),
        Coverage::Gap { typical } => (true, Some(typical.as_nanos())),
    };
    page.put(format!(",\"estimated\":{is_estimated},\"typical_gap_ns\":").as_bytes());
    push_optional(typical, &mut page.text);
}

/// A span, but for its end.
fn put_span(span: &Span, names: &Names, page: &mut Page<'_>) {
    let Span { label, depth, start, end, all_weight, self_weight, samples } = *span;
    page.put(names.of_label(label));
    for (name, number) in [
        (&b",\"start_ns\":"[..], start.as_nanos()),
        (b",\"end_ns\":", end.as_nanos()),
        (b",\"depth\":", depth.into()),
        (b",\"all_weight\":", all_weight),
        (b",\"self_weight\":", self_weight),
        (b",\"samples\":", samples),
    ] {
        put_field(name, number, page);
    }
}

fn put_field(name: &[u8], number: u64, page: &mut Page<'_>) {
    page.put(name);
    page.put_number(number);
}
