//! Samples, one per line.

use std::io::{self, Write};

use super::style::{MIN_NAME, Style, Tone, fit, pad};
use super::table::{IN_FORMATS, write_left_out};
use super::words::clock;
use crate::calltree::Label;
use crate::output::byte_writer::{ByteWriter, LabelTexts, Put};
use crate::report::{Report, SeriesReport, binary_of, function_of, thread_label};
use crate::units::Unit;

/// The minimum and maximum width of a thread. The minimum fits its number.
const THREAD: [usize; 2] = [10, 28];

/// The width of times, with the space after them.
const TIME: usize = 17;
/// The width of cores and states, with the spaces after them.
const CORE_AND_STATE: usize = 4 + 1 + 10 + 1;

/// The widths of the columns between times and leaves; 0 if a column does not fit.
struct SampleColumns {
    weight: usize,
    thread: usize,
    /// True if there is space for cores and states.
    has_core: bool,
}

impl SampleColumns {
    fn new(report: &Report<'_>, style: &Style) -> Self {
        let Some(width) = style.width else {
            return Self { weight: weight_width(report), thread: THREAD[1], has_core: true };
        };
        // Samples often all have the same weight, so after cores, weights are dropped first.
        let room = width.saturating_sub(TIME + MIN_NAME);
        let least = THREAD[0] + 1;
        let weight = if room >= weight_width(report) + 2 + least { weight_width(report) } else { 0 };
        let columns = Self { weight, thread: 0, has_core: width >= 80 };
        if room < least {
            return columns;
        }
        let room = width.saturating_sub(columns.used() + 1);
        Self { thread: (room / 2).min(room.saturating_sub(MIN_NAME)).clamp(THREAD[0], THREAD[1]), ..columns }
    }

    /// The number of columns to the left of names.
    fn used(&self) -> usize {
        let gap = |width: usize, gap: usize| if width > 0 { width + gap } else { 0 };
        TIME + gap(self.weight, 2) + gap(self.thread, 1) + if self.has_core { CORE_AND_STATE } else { 0 }
    }

    /// The titles of the columns that do not fit.
    fn left_out(&self) -> Vec<String> {
        let columns = [
            ("weight", self.weight > 0),
            ("thread", self.thread > 0),
            ("core", self.has_core),
            ("state", self.has_core),
        ];
        columns.into_iter().filter(|(_, is_shown)| !is_shown).map(|(title, _)| title.to_owned()).collect()
    }

    fn header(&self) -> String {
        let mut header = format!("{:>1$} ", "time", TIME - 1);
        if self.weight > 0 {
            header += &format!("{:>1$}  ", "weight", self.weight);
        }
        if self.thread > 0 {
            header += &format!("{:<1$} ", "thread", self.thread);
        }
        if self.has_core {
            header += &format!("{:>4} {:<10} ", "core", "state");
        }
        header + "leaf"
    }
}

/// The width of weights: `837.20 Kcycles` is longer than `999.99 ms`.
fn weight_width(report: &Report<'_>) -> usize {
    let is_short = |series: &SeriesReport| matches!(series.unit, Unit::Nanoseconds | Unit::Samples);
    if report.series.iter().all(is_short) { 12 } else { 14 }
}

pub(super) fn write(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let columns = SampleColumns::new(report, style);
    let (weight_width, thread_width, used) = (columns.weight, columns.thread, columns.used());
    writeln!(out, "{}", style.paint(Tone::Dim, &fit(&columns.header(), style.width)))?;
    // Format each thread label once, since many rows share it.
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
        write!(writer.text, "{:>1$} ", clock(sample.time.as_nanos()), TIME - 1)?;
        if weight_width > 0 {
            write!(writer.text, "{:>weight_width$}  ", profile.weight(sample).to_string())?;
        }
        if thread_width > 0 {
            write!(writer.text, "{} ", threads[sample.thread.index()])?;
        }
        if columns.has_core {
            let core = sample.core.map(|core| profile.core(core).index.to_string()).unwrap_or_default();
            let state = sample.state.map_or("", |state| profile.string(state));
            write!(writer.text, "{core:>4} {:<10} ", fit(state, style.width.map(|_| 10)))?;
        }
        let leaf = profile.frames_leaf_first(sample.stack).next();
        writer.put(leaves.get(leaf.map_or(Label::NoStack, |frame| Label::Function(frame.function)))).put(b"\n");
        writer.flush_if_full()?;
    }
    write_left_out(&columns.left_out(), IN_FORMATS, style, &mut writer.text)?;
    writer.finish()
}
