//! Flame charts as a list: each call below its caller, in order of time.

use std::io::{self, Write};

use super::style::{MIN_NAME, Style, Tone, fit, wrap};
use super::words::{Scale, clock};
use crate::calltree::Pruning;
use crate::output::byte_writer::ByteWriter;
use crate::report::{Report, SeriesReport, Span, ThreadChart, binary_of, function_of, process_label, thread_label};
use crate::units::Weight;

/// Calls are not indented by more than this.
const INDENT: usize = 32;
/// Columns left of the names.
const LEFT: usize = 16 + 1 + 11 + 1 + 11 + 2;

pub(super) fn write(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let chart = report.flame_chart(series);
    let mut writer = ByteWriter::new(out);
    if let Some(typical) = chart.typical_gap() {
        let typical = Scale::number_of_millis(typical);
        let note =
            format!("times are estimated: from the thread's last sample on, which is typically {typical} ms earlier");
        for line in wrap(&note, 0, style.width) {
            writeln!(writer.text, "{}", style.paint(Tone::Dim, &line))?;
        }
    }
    for thread in chart.threads() {
        write_thread(report, series, &thread, style, &mut writer)?;
    }
    if let Some(note) = hidden(&report.options.pruning, series) {
        writeln!(writer.text)?;
        for line in wrap(&note, 0, style.width) {
            writeln!(writer.text, "{}", style.paint(Tone::Dim, &line))?;
        }
    }
    writer.finish()
}

/// A sentence on the calls that are left out, if any are.
fn hidden(pruning: &Pruning, series: &SeriesReport) -> Option<String> {
    let (percent, weight) = (pruning.min_percent, Weight::new(pruning.min_weight, series.unit));
    match (percent > 0.0, pruning.min_weight > 0) {
        (false, false) => None,
        (true, false) => {
            Some(format!("calls below {percent}% of their thread are left out; --min-percent 0 shows all"))
        }
        (false, true) => Some(format!("calls below {weight} are left out")),
        (true, true) => Some(format!("calls below {percent}% of their thread or {weight} are left out")),
    }
}

fn write_thread(
    report: &Report<'_>,
    series: &SeriesReport,
    thread: &ThreadChart<'_>,
    style: &Style,
    writer: &mut ByteWriter<'_>,
) -> io::Result<()> {
    let profile = &report.recording.profile;
    let row = profile.thread(thread.thread());
    let labels = [thread_label(profile, row), process_label(profile, profile.process(row.process))];
    let title = format!("{} · {}", labels.join(" · "), thread.row.counted.weight);
    let scale = Scale::of(series.counted.weight);
    let header = format!("{:>16} {:>11} {:>11}  function", "start", "length ms", format!("self {}", scale.title()));
    writeln!(writer.text, "\n{}", style.paint(Tone::Title, &fit(&title, style.width)))?;
    writeln!(writer.text, "{}", style.paint(Tone::Dim, &header))?;
    let room = style.width.map_or(INDENT, |width| width.saturating_sub(LEFT + MIN_NAME).min(INDENT));
    for span in thread.spans() {
        let Span { start, end, depth, self_weight, .. } = span;
        let indent = (depth as usize - 1).min(room);
        let (name, binary) = (function_of(profile, span.label), binary_of(profile, span.label).unwrap_or_default());
        let (name, binary) = style.two_parts(name, binary, LEFT + indent);
        let own = style.paint(Tone::Weight, &format!("{:>11}", scale.number(self_weight)));
        let (start, length) = (clock(start.as_nanos()), Scale::number_of_millis(end.since(start)));
        writeln!(writer.text, "{start:>16} {length:>11} {own}  {:indent$}{name}{binary}", "")?;
        writer.flush_if_full()?;
    }
    Ok(())
}
