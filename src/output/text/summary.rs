//! The inputs, the selected samples, and the others.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::style::{Style, Tone, clean, cut, fit, pad, wrap};
use super::words::{amount_text, base_text, clock, count, short_time};
use crate::calltree::percent;
use crate::profile::{BinaryId, IntervalFilter, Meaning};
use crate::recording::{Document, DocumentContent, Table, TableKind, Toc};
use crate::report::{Amount, Report, SeriesReport, UnnamedBinary};
use crate::units::{Unit, Weight};

/// Binaries named before the rest is only counted.
const BINARIES: usize = 5;
/// The greatest width of their names.
const NAME: usize = 24;

pub(super) fn write(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for document in &report.recording.documents {
        writeln!(out, "{}", style.paint(Tone::Title, &fit(&document.input, style.width)))?;
        cut_note(document, style, out)?;
        match &document.content {
            DocumentContent::Tables(tables) => table_lines(tables, style, out)?,
            DocumentContent::Toc(toc) => toc_lines(toc, style, out)?,
        }
    }
    if let Some(intervals) = &report.options.selection.intervals {
        writeln!(out, "\n{}", during(intervals))?;
    }
    for series in &report.series {
        series_lines(report, series, style, out)?;
    }
    if let Some(summary) = &report.symbolication {
        super::symbols::write(summary, style, out)?;
    }
    unnamed(report, style, out)
}

/// `during 'Layout' or 'Commit': 12 intervals, 3.40 ms in all`; with `and`, where a sample has to be in an interval of every name.
pub(in crate::output) fn during(intervals: &IntervalFilter) -> String {
    let nanos = |sum: u128| Weight::new(u64::try_from(sum).unwrap_or(u64::MAX), Unit::Nanoseconds);
    let mut names: Vec<String> = intervals.names().iter().map(|name| format!("'{}'", clean(name))).collect();
    names.extend(intervals.has_hangs().then(|| "potential hangs".to_owned()));
    let (length, covered) = (nanos(intervals.length()), nanos(intervals.covered()));
    let joint = if intervals.is_intersection() { " and " } else { " or " };
    let mut text = format!("during {}: {}, {length} in all", names.join(joint), count(intervals.count(), "interval"));
    if intervals.open() > 0 {
        text += &format!(", and {} until the recording ends", intervals.open());
    }
    let has_end = intervals.ranges().last().is_none_or(|(_, range)| range.end.is_some());
    if intervals.is_intersection() && names.len() > 1 && has_end {
        text += &format!(", which share {covered}");
    } else if intervals.open() == 0 && length != covered {
        text += &format!(", which cover {covered}");
    }
    text
}

/// Notes that a document is truncated.
pub(super) fn cut_note(document: &Document, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(byte) = document.cut_at else { return Ok(()) };
    let note = format!("  {} is truncated at byte {byte}: only complete rows count", clean(&document.input));
    writeln!(out, "{}", style.paint(Tone::Warning, &note))
}

/// Writes one line for each table, with the results of its rows.
pub(super) fn table_lines(tables: &[Table], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let name = |table: &Table| clean(table.schema.as_deref().unwrap_or("details of a track"));
    let width = tables.iter().map(|table| name(table).width()).max().unwrap_or(0);
    for table in tables {
        let rows = count(table.rows, "row");
        let left = format!("  {}  run {}  {rows:>12}", pad(&name(table), width), table.run);
        if table.kind == TableKind::Other {
            writeln!(out, "{}", style.paint(Tone::Dim, &format!("{left}, not a CPU table")))?;
            continue;
        }
        let rejected = table.rejected.total();
        if table.rows == 0 {
            writeln!(out, "{left}")?;
            continue;
        }
        if rejected == 0 {
            writeln!(out, "{left}, all of them samples")?;
            continue;
        }
        let line = format!("{left} = {} + {rejected} rejected", count(table.samples, "sample"));
        writeln!(out, "{}", style.paint(Tone::Warning, &line))?;
        for (reason, count) in table.rejected.iter() {
            writeln!(out, "{}", style.paint(Tone::Warning, &format!("    {count} rejected: {reason}")))?;
        }
    }
    Ok(())
}

/// Device, process and length of each run.
fn toc_lines(toc: &Toc, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for run in &toc.runs {
        let mut parts = vec![format!("run {}", run.number)];
        parts.extend(run.unread.as_ref().map(|_| "damaged, and not read".to_owned()));
        let device = |key| run.device_attribute(key);
        parts.extend(device("model").map(str::to_owned));
        parts.extend(match (device("platform"), device("os-version")) {
            (Some(platform), Some(version)) => Some(format!("{platform} {version}")),
            _ => None,
        });
        parts.extend(run.process_attribute("name").map(|name| format!("process {name}")));
        parts.extend(run.is_all_processes.then(|| "all processes".to_owned()));
        parts.extend(run.summary_field("duration").map(|seconds| format!("{seconds} s")));
        parts.extend(run.summary_field("instruments-version").map(|version| format!("Instruments {version}")));
        writeln!(out, "  {}", fit(&parts.join(" · "), style.width.map(|width| width.saturating_sub(2))))?;
    }
    Ok(())
}

/// `24.4% of one core over the selected 2.00 s`, and the sampling interval with what it misses.
fn rate_lines(report: &Report<'_>, series: &SeriesReport) -> Vec<String> {
    let rate =
        report.cpu_use(series).map(|(percent, length)| format!("{percent:.1}% of one core over {}", base_text(length)));
    let interval = report
        .sampling_interval(series)
        .map(|interval| format!("{} between samples; calls shorter than that may be missing", short_time(interval)));
    rate.into_iter().chain(interval).collect()
}

fn series_lines(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let row = profile.series(series.series);
    let (schema, run) = (clean(profile.string(row.schema)), profile.run(row.run).number);
    let times = series.times.map_or_else(String::new, |times| {
        format!(", from {} to {}", clock(times.first.as_nanos()), clock(times.last.as_nanos()))
    });
    // Several documents may each have a run 1.
    let input = if report.recording.documents.len() > 1 {
        format!(" of {}", clean(profile.string(profile.run(row.run).input)))
    } else {
        String::new()
    };
    if series.is_filtered_out() {
        let left_out = amount_text(series.out_of_scope);
        let line = format!("\n{schema} run {run}{input}: left out by the filters, {left_out}");
        return writeln!(out, "{}", style.paint(Tone::Dim, &line));
    }
    let meaning = match row.meaning {
        Meaning::OnCpu => "",
        Meaning::Presence => ", of threads that ran or waited: not CPU time",
    };
    let line = format!("{schema} run {run}{input}: {}{times}{meaning}", amount_text(series.counted));
    let line = wrap(&line, 0, style.width).join("\n");
    // The table's name is at the start of it.
    let (name, rest) = line.split_at_checked(schema.len()).unwrap_or(("", &line));
    writeln!(out, "\n{}{rest}", style.paint(Tone::Title, name))?;
    for line in rate_lines(report, series).iter().flat_map(|line| wrap(line, 2, style.width)) {
        writeln!(out, "{line}")?;
    }
    if series.no_stack.samples > 0 {
        let share = percent(series.no_stack.weight.value, series.counted.weight.value);
        writeln!(out, "  {share:.1}% of it has no stack recorded: {}", amount_text(series.no_stack))?;
    }
    if !series.other_states.is_empty() {
        let states =
            series.other_states.iter().map(|(state, left_out)| format!("{} {}", clean(state), amount_text(*left_out)));
        let states: Vec<String> = states.collect();
        let note = format!("not counted, for the thread's state: {} (--state all counts them)", states.join(", "));
        for line in wrap(&note, 2, style.width) {
            writeln!(out, "{}", style.paint(Tone::Warning, &line))?;
        }
    }
    if series.out_of_scope.samples > 0 {
        writeln!(out, "  not counted, for the filters: {}", amount_text(series.out_of_scope))?;
    }
    operation_lines(report, series, style, out)?;
    if !series.counters.is_empty() {
        let names = report.recording.counter_names().swap_remove(series.series.index());
        let sum = |(index, sum): (usize, &u128)| match names.get(index) {
            Some(name) => format!("{sum} ({})", clean(name)),
            None => sum.to_string(),
        };
        let sums: Vec<String> = series.counters.iter().enumerate().map(sum).collect();
        writeln!(out, "  counters, summed in the order of the table: {}", sums.join(", "))?;
    }
    Ok(())
}

/// Writes the amount that each operation removed from the series, and the amount that it moved.
pub(super) fn operation_lines(
    report: &Report<'_>,
    series: &SeriesReport,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let amount = |weight, samples| amount_text(Amount { weight: Weight::new(weight, series.unit), samples });
    for operation in &report.operations {
        let change = operation.change(series.series);
        let text = clean(&operation.text);
        if change.removed_samples > 0 {
            let removed = amount(change.removed_weight, change.removed_samples);
            writeln!(out, "{}", style.paint(Tone::Warning, &format!("  removed by {text}: {removed}")))?;
        }
        if change.changed_samples > 0 {
            let stacks = format!("stacks of {}", count(change.changed_samples, "sample"));
            let moved = amount(change.moved_weight, change.moved_samples);
            writeln!(out, "  {stacks} are shorter by {text}, which moves {moved} to callers")?;
        }
        if change.is_nothing() && !operation.inverts {
            let note = if operation.is_without_function { "matches no function" } else { "changes no selected sample" };
            writeln!(out, "{}", style.paint(Tone::Dim, &format!("  {text}: {note}")))?;
        }
    }
    Ok(())
}

/// True if symbols were found that do not name the binary, which a line above reports.
fn has_symbols(report: &Report<'_>, binary: BinaryId) -> bool {
    let uuid = report.recording.profile.binary(binary).uuid;
    report
        .symbolication
        .as_ref()
        .is_some_and(|summary| summary.binaries.iter().any(|row| row.uuid == uuid && row.has_symbols_without_names()))
}

/// Writes the number of frames without a name, and the binaries whose symbols are missing.
fn unnamed(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let unnamed = &report.unnamed;
    if unnamed.unnamed == 0 {
        return Ok(());
    }
    let profile = &report.recording.profile;
    let verb = if unnamed.unnamed == 1 { "has" } else { "have" };
    let mut text = format!("{} of {} {verb} no name", unnamed.unnamed, count(unnamed.frames, "frame"));
    let outside = unnamed.without_binary;
    match outside {
        0 => {}
        _ if outside == unnamed.unnamed => text += ", in no known binary",
        _ => text += &format!(", {outside} of them in no known binary"),
    }
    let binaries: Vec<&UnnamedBinary> =
        unnamed.binaries.iter().filter(|row| !has_symbols(report, row.binary)).collect();
    let nameable: u64 = binaries.iter().map(|row| row.frames).sum();
    match (outside, nameable + outside == unnamed.unnamed) {
        _ if binaries.is_empty() => {}
        (0, true) => text += "; symbols of these binaries would name them:",
        (_, true) => text += "; symbols of these would name the others:",
        (_, false) => text += &format!("; symbols of these binaries would name {nameable} of them:"),
    }
    writeln!(out, "\n{}", wrap(&text, 0, style.width).join("\n"))?;
    // UUIDs are for copying: names give way.
    let name_width = style.width.map_or(NAME, |width| width.saturating_sub(60).clamp(8, NAME));
    for row in binaries.iter().take(BINARIES) {
        let binary = profile.binary(row.binary);
        let uuid = binary.uuid.map_or_else(|| "no UUID".to_owned(), |uuid| uuid.to_string());
        let arch = binary.arch.map_or("", |arch| profile.string(arch));
        let frames = count(row.frames, "frame");
        let name = fit(profile.string(binary.name), Some(name_width));
        let left = format!("  {} {uuid}  {} ", pad(&name, name_width), pad(&clean(arch), 7));
        let room = style.width.map(|width| width.saturating_sub(left.width()));
        let frames = if room.is_some_and(|room| room == 0) { String::new() } else { cut(&frames, room) };
        writeln!(out, "{}", format!("{}{}", cut(&left, style.width), style.paint(Tone::Dim, &frames)).trim_end())?;
    }
    match binaries.len().saturating_sub(BINARIES) {
        0 => Ok(()),
        1 => writeln!(out, "  and 1 more binary; --format json lists all"),
        more => writeln!(out, "  and {more} more binaries; --format json lists all"),
    }
}
