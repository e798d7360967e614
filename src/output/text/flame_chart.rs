//! Flame charts as a chronological list, with each call below its caller.

use std::io::{self, Write};

use super::style::{MIN_NAME, Style, Tone};
use super::table::{Cell, Column, FUNCTIONS, KEPT, Table, write_left_out};
use super::words::clock;
use crate::calltree::Pruning;
use crate::output::byte_writer::ByteWriter;
use crate::report::{Report, SeriesReport, Span, ThreadChart, binary_of, function_of, process_label, thread_label};
use crate::settings::MIN_PERCENT;
use crate::units::{Scale, Weight};

/// The maximum indentation of calls.
const INDENT: usize = 32;

pub(super) fn write(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let chart = report.flame_chart(series);
    let mut writer = ByteWriter::new(out);
    if let Some(typical) = chart.typical_gap() {
        let start = "start times are estimated: a call is assumed to begin at the thread's previous sample, typically";
        let note = format!("{start} {} {} earlier", Scale::MILLIS.number(typical.as_nanos()), Scale::MILLIS);
        style.write_wrapped(Some(Tone::Dim), 0, &note, &mut writer.text)?;
    }
    let mut left_out = Vec::new();
    for thread in chart.threads() {
        left_out = write_thread(report, series, &thread, style, &mut writer)?;
    }
    // All threads have the same columns.
    write_left_out(&left_out, "", style, &mut writer.text)?;
    if let Some(note) = hidden(&report.options.pruning, series) {
        writeln!(writer.text)?;
        style.write_wrapped(Some(Tone::Dim), 0, &note, &mut writer.text)?;
    }
    writer.finish()
}

/// A sentence about the omitted calls; `None` if there are none.
fn hidden(pruning: &Pruning, series: &SeriesReport) -> Option<String> {
    let (percent, weight) = (pruning.min_percent, Weight::new(pruning.min_weight, series.unit));
    match (percent > 0.0, pruning.min_weight > 0) {
        (false, false) => None,
        (true, false) => {
            Some(format!("calls below {percent}% of their thread are left out; {MIN_PERCENT} 0 shows all"))
        }
        (false, true) => Some(format!("calls below {weight} are left out")),
        (true, true) => Some(format!("calls below {percent}% of their thread or {weight} are left out")),
    }
}

/// Writes the calls of a thread, and returns the titles of the columns that did not fit.
fn write_thread(
    report: &Report<'_>,
    series: &SeriesReport,
    thread: &ThreadChart<'_>,
    style: &Style,
    writer: &mut ByteWriter<'_>,
) -> io::Result<Vec<String>> {
    let profile = &report.recording.profile;
    let row = profile.thread(thread.thread());
    let process = process_label(profile, profile.process(row.process));
    let title = [thread_label(profile, row), process, thread.row.counted.weight.to_string()];
    let scale = Scale::of(series.counted.weight);
    let widest = scale.number(thread.row.counted.weight.value).len().max(11);
    let own = Column::new(&format!("self {}", scale.short()), KEPT).sized(widest, 1).toned(Tone::Weight);
    let columns = vec![Column::new("start", KEPT).sized(16, 1), Column::new("length ms", KEPT).sized(11, 1), own];
    let mut table = Table::new(columns, "function", FUNCTIONS, Vec::new());
    let left_out = table.fit(style.width);
    writeln!(writer.text)?;
    style.write_heading(&title, |index| index < 2, &mut writer.text)?;
    writeln!(writer.text, "{}", table.header(style))?;
    let left = table.used();
    let room = style.width.map_or(INDENT, |width| width.saturating_sub(left + MIN_NAME).min(INDENT));
    for span in thread.spans() {
        let Span { start, end, depth, self_weight, .. } = span;
        let indent = (depth as usize - 1).min(room);
        let (name, binary) = (function_of(profile, span.label), binary_of(profile, span.label).unwrap_or_default());
        let (name, binary) = style.two_parts(name, binary, left + indent);
        let length = Scale::MILLIS.number(end.since(start).as_nanos());
        let cells = [clock(start.as_nanos()), length, scale.number(self_weight)].map(Cell::from);
        writeln!(writer.text, "{}{:indent$}{name}{binary}", table.numbers(&cells, style), "")?;
        writer.flush_if_full()?;
    }
    Ok(left_out)
}
