//! Samples, one on each line.

use std::io::{self, Write};

use super::style::{MIN_NAME, Style, Tone, fit, pad};
use super::words::clock;
use crate::calltree::Label;
use crate::output::byte_writer::{ByteWriter, LabelTexts, Put};
use crate::report::{Report, SeriesReport, binary_of, function_of, thread_label};
use crate::units::Unit;

/// The widths of the columns of samples. Times have 16 columns, and columns that do not fit are left out.
struct SampleColumns {
    weight: usize,
    thread: usize,
    /// True if there is space for cores and states.
    has_core: bool,
}

impl SampleColumns {
    fn new(report: &Report<'_>, style: &Style) -> Self {
        // `837.20 Kcycles` is longer than `999.99 ms`.
        let is_short = |series: &SeriesReport| matches!(series.unit, Unit::Nanoseconds | Unit::Samples);
        let weight = if report.series.iter().all(is_short) { 12 } else { 14 };
        let has_core = style.width.is_none_or(|width| width >= 80);
        let columns = Self { weight, thread: 0, has_core };
        let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(columns.used()));
        Self { thread: (room / 2).min(room.saturating_sub(MIN_NAME)).clamp(8, 28), ..columns }
    }

    /// Columns left of the names.
    fn used(&self) -> usize {
        16 + 1 + self.weight + 2 + self.thread + 1 + if self.has_core { 4 + 1 + 10 + 1 } else { 0 }
    }
}

pub(super) fn write(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let columns = SampleColumns::new(report, style);
    let (weight_width, thread_width, used) = (columns.weight, columns.thread, columns.used());
    let core_and_state = if columns.has_core { format!("{:>4} {:<10} ", "core", "state") } else { String::new() };
    let header =
        format!("{:>16} {:>weight_width$}  {:<thread_width$} {core_and_state}leaf", "time", "weight", "thread");
    writeln!(out, "{}", style.paint(Tone::Dim, &fit(&header, style.width)))?;
    // The parts that rows share are made once.
    let threads = profile.thread_ids().map(|id| {
        let label = thread_label(profile, profile.thread(id));
        pad(&fit(&label, style.width.map(|_| thread_width)), thread_width)
    });
    let threads: Vec<String> = threads.collect();
    let leaves = LabelTexts::new(profile, |label, out| {
        let (name, binary) = (function_of(profile, label), binary_of(profile, label).unwrap_or_default());
        let (name, binary) = style.two_parts(name, binary, used);
        out.put(name.as_bytes()).put(binary.as_bytes());
    });
    let mut writer = ByteWriter::new(out);
    for (_, sample) in report.samples() {
        let (time, weight) = (clock(sample.time.as_nanos()), profile.weight(sample).to_string());
        let thread = &threads[sample.thread.index()];
        write!(writer.text, "{time:>16} {weight:>weight_width$}  {thread} ")?;
        if columns.has_core {
            let core = sample.core.map(|core| profile.core(core).index.to_string()).unwrap_or_default();
            let state = sample.state.map_or("", |state| profile.string(state));
            write!(writer.text, "{core:>4} {:<10} ", fit(state, style.width.map(|_| 10)))?;
        }
        let leaf = profile.frames_leaf_first(sample.stack).next();
        writer.put(leaves.get(leaf.map_or(Label::NoStack, |frame| Label::Function(frame.function)))).put(b"\n");
        writer.flush_if_full()?;
    }
    writer.finish()
}
