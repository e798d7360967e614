//! Threads, functions and samples as tables.

use std::io::{self, Write};

use super::name::MIN_NAME;
use super::scale::Scale;
use super::style::{Style, Tone, fit, pad};
use super::words::{below_limit, clock, count, share};
use crate::calltree::{FunctionRow, Label, Pruning};
use crate::output::byte_writer::{ByteWriter, FunctionTexts};
use crate::output::labels::{binary_of, function_of};
use crate::output::labels::{process_label, thread_label};
use crate::report::{Report, SeriesReport, View};
use crate::units::Unit;

pub(super) fn threads(
    report: &Report<'_>,
    series: &SeriesReport,
    rows: usize,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let profile = &report.recording.profile;
    let scale = Scale::of(series.counted.weight);
    let header = format!("{:>11} {:>6} {:>9}  thread", scale.title(), "%", "samples");
    writeln!(out, "{}", style.paint(Tone::Dim, &header))?;
    let line = |weight: u64, samples: u64, name: &str, process: &str, out: &mut dyn Write| {
        let weight_text = style.paint(Tone::Weight, &format!("{:>11}", scale.number(weight)));
        let numbers = format!("{:>5.1}% {samples:>9}", share(weight, series));
        let (name, process) = style.two_parts(name, process, 31);
        writeln!(out, "{weight_text} {numbers}  {name}{process}")
    };
    let heavy = report.threads_by_weight(series).0.len();
    // One row more costs no more room than saying that it is missing.
    let shown = if heavy <= rows.saturating_add(1) { heavy } else { rows };
    for thread in &series.threads[..shown] {
        let row = profile.thread(thread.thread);
        let process = process_label(profile, profile.process(row.process));
        let name = thread_label(profile, row);
        line(thread.counted.weight.value, thread.counted.samples, &name, &process, out)?;
    }
    if shown < series.threads.len() {
        let rest = &series.threads[shown..];
        let weight = rest.iter().map(|thread| thread.counted.weight.value).sum();
        let samples = rest.iter().map(|thread| thread.counted.samples).sum();
        let how = match (shown == heavy, report.options.view) {
            (true, _) => format!(" {}", below_limit(0.0, report.options.pruning.min_weight, series.unit)),
            (false, View::Full) if heavy == series.threads.len() => "; --view threads shows all".to_owned(),
            (false, _) => String::new(),
        };
        let name = format!("{}{how}", count(rest.len() as u64, "more thread"));
        line(weight, samples, &name, "", out)?;
    }
    Ok(())
}

pub(super) fn functions(
    report: &Report<'_>,
    series: &SeriesReport,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let profile = &report.recording.profile;
    let scale = Scale::of(series.counted.weight);
    // A narrow terminal needs the room for names.
    let samples_width = if style.width.is_some_and(|width| width < 100) { 0 } else { 9 };
    let samples = |text: &str| if samples_width == 0 { String::new() } else { format!("{text:>samples_width$}") };
    let all = format!("all {}", scale.title());
    let header = format!("{:>11} {:>6} {all:>11} {:>6}{}  function", "self", "%", "%", samples("samples"));
    writeln!(out, "{}", style.paint(Tone::Dim, &header))?;
    let used = 11 + 1 + 6 + 1 + 11 + 1 + 6 + samples_width + 2;
    let Pruning { min_percent, min_weight, .. } = report.options.pruning;
    // The self weight is a part of it.
    let is_shown = |row: &FunctionRow| share(row.all_weight, series) >= min_percent && row.all_weight >= min_weight;
    let top = report.options.top.unwrap_or(usize::MAX);
    let mut shown: Vec<&FunctionRow> = series.functions.iter().filter(|row| is_shown(row)).collect();
    let mut hidden: Vec<&FunctionRow> = series.functions.iter().filter(|row| !is_shown(row)).collect();
    let below = below_limit(min_percent, min_weight, series.unit);
    let is_below = !hidden.is_empty();
    hidden.extend(shown.drain(top.min(shown.len())..));
    let limit = match top <= shown.len() {
        // In order of weight, the light ones come after the first, too.
        true if is_below && report.options.sort.is_some() => format!("{below} or after the first {top}"),
        true => format!("after the first {top}"),
        false => below,
    };
    for row in shown {
        let weight = style.paint(Tone::Weight, &format!("{:>11}", scale.number(row.self_weight)));
        let numbers = format!(
            "{:>5.1}% {:>11} {:>5.1}%{}",
            share(row.self_weight, series),
            scale.number(row.all_weight),
            share(row.all_weight, series),
            samples(&row.all_samples.to_string())
        );
        let (name, binary) =
            style.two_parts(function_of(profile, row.label), binary_of(profile, row.label).unwrap_or_default(), used);
        writeln!(out, "{weight} {numbers}  {name}{binary}")?;
    }
    if !hidden.is_empty() {
        let weight: u64 = hidden.iter().map(|row| row.self_weight).sum();
        let note = format!("{} {limit}", count(hidden.len() as u64, "more function"));
        let rest = " ".repeat(used - 11 - 1 - 6);
        let line = format!("{:>11} {:>5.1}%{rest}{note}", scale.number(weight), share(weight, series));
        writeln!(out, "{}", style.paint(Tone::Dim, &line))?;
    }
    Ok(())
}

/// The widths of the columns of samples; times have 16 columns, and columns for which there is no more room are left out.
struct SampleColumns {
    weight: usize,
    thread: usize,
    /// True if there is room for cores and states.
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

pub(super) fn samples(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let columns = SampleColumns::new(report, style);
    let (weight_width, thread_width, used) = (columns.weight, columns.thread, columns.used());
    let core_and_state = if columns.has_core { format!("{:>4} {:<10} ", "core", "state") } else { String::new() };
    let header =
        format!("{:>16} {:>weight_width$}  {:<thread_width$} {core_and_state}leaf", "time", "weight", "thread");
    writeln!(out, "{}", style.paint(Tone::Dim, &fit(&header, style.width)))?;
    // What rows have in common is made once.
    let threads = profile.thread_ids().map(|id| {
        let label = thread_label(profile, profile.thread(id));
        pad(&fit(&label, style.width.map(|_| thread_width)), thread_width)
    });
    let threads: Vec<String> = threads.collect();
    let push_label = |label: Label, out: &mut Vec<u8>| {
        let (name, binary) = (function_of(profile, label), binary_of(profile, label).unwrap_or_default());
        let (name, binary) = style.two_parts(name, binary, used);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(binary.as_bytes());
    };
    let leaves = FunctionTexts::new(profile, |id, out| push_label(Label::Function(id), out));
    let mut no_stack = Vec::new();
    push_label(Label::NoStack, &mut no_stack);
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
        writer.put(leaf.map_or(&no_stack, |frame| leaves.get(frame.function)));
        writer.put(b"\n");
        writer.flush_if_full()?;
    }
    writer.finish()
}
