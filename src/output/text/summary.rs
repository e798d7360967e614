//! Summaries: the inputs, the selected and excluded samples, and the frames named by symbol files; and the contents of a table of contents or an
//! export.

use std::collections::BTreeMap;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::style::{Style, Tone, clean, fit, heading, labelled, pad, wrap};
use super::words::{amount_text, base_text, clock, counted_text, short_time};
use crate::calltree::{OperationSummary, percent};
use crate::profile::{BinaryId, IntervalFilter, Meaning};
use crate::recording::{Document, DocumentContent, Table, TableKind, Toc, TocRun, TocTable};
use crate::report::{Amount, Report, SeriesReport, UnnamedBinary, View};
use crate::settings::STATE;
use crate::symbolicate::SymbolicationSummary;
use crate::units::{Unit, Weight, several};

/// The maximum number of binaries that are listed; the rest is counted.
const BINARIES: usize = 5;
/// The maximum width of a binary name.
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
        writeln!(out)?;
        style.write_wrapped(None, 0, &during(intervals), out)?;
    }
    for series in &report.series {
        series_lines(report, series, style, out)?;
    }
    if let Some(summary) = &report.symbolication {
        symbols(summary, style, out)?;
    }
    unnamed(report, style, out)
}

/// `during 'Layout' or 'Commit': 12 intervals, 3.40 ms in all`; with `and` if a sample must be in an interval of every name.
pub(in crate::output) fn during(intervals: &IntervalFilter) -> String {
    let nanos = |sum: u128| Weight::new(u64::try_from(sum).unwrap_or(u64::MAX), Unit::Nanoseconds);
    let mut names: Vec<String> = intervals.names().iter().map(|name| format!("'{}'", clean(name))).collect();
    names.extend(intervals.has_hangs().then(|| "potential hangs".to_owned()));
    let (length, covered) = (nanos(intervals.length()), nanos(intervals.covered()));
    let joint = if intervals.is_intersection() { " and " } else { " or " };
    let mut text = format!("during {}: {}, {length} in all", names.join(joint), several(intervals.count(), "interval"));
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

/// Prints a note if a document is truncated.
pub(super) fn cut_note(document: &Document, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(byte) = document.cut_at else { return Ok(()) };
    let note = format!("{} is truncated at byte {byte}: only complete rows are used", document.input);
    style.write_wrapped(Some(Tone::Warning), 2, &note, out)
}

/// Writes one line for each table with the numbers of its rows.
pub(super) fn table_lines(tables: &[Table], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let name = |table: &Table| clean(table.schema.as_deref().unwrap_or("details of a track"));
    let width = tables.iter().map(|table| name(table).width()).max().unwrap_or(0);
    for table in tables {
        let rows = several(table.rows, "row");
        let left = format!("  {}  ", pad(&name(table), width));
        let text = format!("run {}  {rows:>12}", table.run);
        let line = |tone: Option<Tone>, rest: &str, out: &mut dyn Write| {
            style.write_lines(tone, &labelled(&left, &format!("{text}{rest}"), style.width), out)
        };
        if table.kind == TableKind::Other {
            line(Some(Tone::Dim), ", not a CPU table", out)?;
            continue;
        }
        let rejected = table.rejected.total();
        if table.rows == 0 {
            line(None, "", out)?;
            continue;
        }
        if rejected == 0 {
            line(None, ", all of them samples", out)?;
            continue;
        }
        let sum = format!(" = {} + {rejected} rejected", several(table.samples, "sample"));
        line(Some(Tone::Warning), &sum, out)?;
        for (reason, count) in table.rejected.iter() {
            style.write_wrapped(Some(Tone::Warning), 4, &format!("{count} rejected: {reason}"), out)?;
        }
    }
    Ok(())
}

/// Writes device, process and length of each run.
fn toc_lines(toc: &Toc, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for run in &toc.runs {
        let mut parts = vec![format!("run {}", run.number)];
        parts.extend(run.unread.as_ref().map(|_| "damaged, and not read".to_owned()));
        parts.extend(run.device_attribute("model").map(str::to_owned));
        parts.extend(run.os());
        parts.extend(run.process_attribute("name").map(|name| format!("process {name}")));
        parts.extend(run.is_all_processes.then(|| "all processes".to_owned()));
        parts.extend(run.summary_field("duration").map(|seconds| format!("{seconds} s")));
        parts.extend(run.summary_field("instruments-version").map(|version| format!("Instruments {version}")));
        let lines = heading(&parts, |_| false, style.width.map(|width| width.saturating_sub(2)));
        lines.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    Ok(())
}

/// `24.4% of one core over the selected 2.00 s`, and a line on the sampling interval and what it misses.
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
    // Several documents may each contain a run 1.
    let input = if report.recording.documents.len() > 1 {
        format!(" of {}", clean(profile.string(profile.run(row.run).input)))
    } else {
        String::new()
    };
    if series.is_filtered_out() {
        let left_out = amount_text(series.out_of_scope);
        let line = format!("{schema} run {run}{input}: left out by the filters, {left_out}");
        writeln!(out)?;
        return style.write_wrapped(Some(Tone::Dim), 0, &line, out);
    }
    let meaning = match row.meaning {
        Meaning::OnCpu => "",
        Meaning::Presence => ", of threads that ran or waited: not CPU time",
        Meaning::Writes => ", of threads that wrote to storage: not CPU time",
        Meaning::Stop => ", the stacks of threads at one moment",
    };
    let line = format!("{schema} run {run}{input}: {}{times}{meaning}", counted_text(row, series));
    let line = wrap(&line, 0, style.width).join("\n");
    // The line starts with the table's name.
    let (name, rest) = line.split_at_checked(schema.len()).unwrap_or(("", &line));
    writeln!(out, "\n{}{rest}", style.paint(Tone::Title, name))?;
    rate_lines(report, series).iter().try_for_each(|line| style.write_wrapped(None, 2, line, out))?;
    if series.no_stack.samples > 0 {
        let share = percent(series.no_stack.weight.value, series.counted.weight.value);
        let line = format!("{share:.1}% of it has no stack recorded: {}", amount_text(series.no_stack));
        style.write_wrapped(None, 2, &line, out)?;
    }
    if !series.other_states.is_empty() {
        let states =
            series.other_states.iter().map(|(state, left_out)| format!("{} {}", clean(state), amount_text(*left_out)));
        let states: Vec<String> = states.collect();
        let note = format!("not counted, for the thread's state: {} ({STATE} all counts them)", states.join(", "));
        style.write_wrapped(Some(Tone::Warning), 2, &note, out)?;
    }
    if series.out_of_scope.samples > 0 {
        let line = format!("not counted, for the filters: {}", amount_text(series.out_of_scope));
        style.write_wrapped(None, 2, &line, out)?;
    }
    operation_lines(report, series, style, out)?;
    if !series.counters.is_empty() {
        let names = report.recording.counter_names().swap_remove(series.series.index());
        let sum = |(index, sum): (usize, &u128)| match names.get(index) {
            Some(name) => format!("{sum} ({})", clean(name)),
            None => sum.to_string(),
        };
        let sums: Vec<String> = series.counters.iter().enumerate().map(sum).collect();
        let line = format!("counters, summed in the order of the table: {}", sums.join(", "));
        style.write_wrapped(None, 2, &line, out)?;
    }
    Ok(())
}

/// Writes the weight that each operation removed from the series, and the weight that it moved.
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
            style.write_wrapped(Some(Tone::Warning), 2, &format!("removed by {text}: {removed}"), out)?;
        }
        if change.changed_samples > 0 {
            let stacks = format!("stacks of {}", several(change.changed_samples, "sample"));
            let moves = match change.moved_samples {
                0 => String::new(),
                _ => format!(", which moves {} to callers", amount(change.moved_weight, change.moved_samples)),
            };
            let line = format!("{stacks} are shorter by {text}{moves}");
            style.write_wrapped(None, 2, &line, out)?;
        }
        if change.is_nothing() && !operation.inverts {
            let note = if operation.is_without_function { "matches no function" } else { "changes no selected sample" };
            style.write_wrapped(Some(Tone::Dim), 2, &format!("{text}: {note}"), out)?;
        }
    }
    let mut has_removed = OperationSummary::removed(&report.operations, series.series).1 > 0;
    if report.options.view.has_all_states() && series.removed_other_states.samples > 0 {
        let line = format!("removed of states that are not counted: {}", amount_text(series.removed_other_states));
        style.write_wrapped(Some(Tone::Warning), 2, &line, out)?;
        has_removed = true;
    }
    if has_removed {
        let left = match report.options.view {
            View::States => {
                let all = report.states(series).iter().map(|row| row.amount.weight.value).sum();
                format!("{} of all states that are left", Weight::new(all, series.unit))
            }
            _ => format!("{} that are left", series.counted.weight),
        };
        style.write_wrapped(None, 2, &format!("all percentages are relative to the {left}"), out)?;
    }
    Ok(())
}

/// True if symbols were found for the binary that cannot name its frames. An earlier line reports this.
fn has_symbols(report: &Report<'_>, binary: BinaryId) -> bool {
    let uuid = report.recording.profile.binary(binary).uuid;
    report
        .symbolication
        .as_ref()
        .is_some_and(|summary| summary.binaries.iter().any(|row| row.uuid == uuid && row.has_symbols_without_names()))
}

/// Writes the number of unnamed frames, and the binaries whose symbols are missing.
fn unnamed(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let unnamed = report.unnamed();
    if unnamed.unnamed == 0 {
        return Ok(());
    }
    let profile = &report.recording.profile;
    let verb = if unnamed.unnamed == 1 { "has" } else { "have" };
    let mut text = format!("{} of {} {verb} no name", unnamed.unnamed, several(unnamed.frames, "frame"));
    let outside = unnamed.without_binary;
    match outside {
        0 => {}
        1 if unnamed.unnamed == 1 => text += "; it is in no known binary",
        1 => text += "; 1 of them is in no known binary",
        _ if outside == unnamed.unnamed => text += "; none of them is in a known binary",
        _ => text += &format!("; {outside} of them are in no known binary"),
    }
    let binaries: Vec<&UnnamedBinary> =
        unnamed.binaries.iter().filter(|row| !has_symbols(report, row.binary)).collect();
    let nameable: u64 = binaries.iter().map(|row| row.frames).sum();
    match (outside, nameable + outside == unnamed.unnamed) {
        _ if binaries.is_empty() => {}
        (0, true) => text += ". Symbols for these binaries would name them:",
        (_, true) => text += ". Symbols for these binaries would name the rest:",
        (_, false) => text += &format!(". Symbols for these binaries would name {nameable} of them:"),
    }
    writeln!(out)?;
    style.write_wrapped(None, 0, &text, out)?;
    // UUIDs must be copyable in full, so names are shortened.
    let name_width = style.width.map_or(NAME, |width| width.saturating_sub(60).clamp(8, NAME));
    for row in binaries.iter().take(BINARIES) {
        let binary = profile.binary(row.binary);
        let uuid = binary.uuid.map_or_else(|| "no UUID".to_owned(), |uuid| uuid.to_string());
        let arch = binary.arch.map_or("", |arch| profile.string(arch));
        let frames = several(row.frames, "frame");
        let name = fit(profile.string(binary.name), Some(name_width));
        let left = format!("  {} {uuid}  {} ", pad(&name, name_width), pad(arch, 7));
        let is_wide = style.width.is_some_and(|width| width < left.width() + frames.width());
        let frames = style.paint(Tone::Dim, &frames);
        match is_wide {
            true => writeln!(out, "  {name}  {arch}  {frames}\n    {uuid}")?,
            false => writeln!(out, "{left}{frames}")?,
        }
    }
    match binaries.len().saturating_sub(BINARIES) {
        0 => Ok(()),
        1 => writeln!(out, "  and 1 more binary; traceparse uuid FILE lists all"),
        more => writeln!(out, "  and {more} more binaries; traceparse uuid FILE lists all"),
    }
}

pub(super) fn symbols(summary: &SymbolicationSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if summary.binaries.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    style.write_wrapped(None, 0, &summary.counts(), out)?;
    let disagreements = summary.sum(|row| row.disagreements);
    if disagreements > 0 {
        let what = several(disagreements, "frame");
        let names = if disagreements == 1 { "name from the symbols is" } else { "names from the symbols are" };
        let text = format!(
            "{what} had another name in the recording; the symbols are of the same build, so the {names} shown"
        );
        style.write_wrapped(None, 2, &text, out)?;
    }
    for row in summary.binaries.iter().filter(|row| row.has_symbols_without_names()) {
        let (name, outside) = (clean(&row.name), row.frames - row.named_now - row.nameless);
        let nameless = (row.nameless > 0).then(|| {
            let what = several(row.nameless, "frame");
            format!(
                "the symbols of {name} have no names for the functions of {what}; these functions are named by \
                     their start address"
            )
        });
        let outside = (outside > 0).then(|| {
            format!("the symbols of {name} contain no function at the addresses of {}", several(outside, "frame"))
        });
        for text in nameless.into_iter().chain(outside) {
            style.write_wrapped(Some(Tone::Dim), 2, &text, out)?;
        }
    }
    Ok(())
}

/// Writes the contents of each document.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write_contents(documents: &[Document], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", style.paint(Tone::Title, &fit(&document.input, style.width)))?;
        cut_note(document, style, out)?;
        match &document.content {
            DocumentContent::Tables(tables) => table_lines(tables, style, out)?,
            DocumentContent::Toc(toc) => toc_runs(toc, style, out)?,
        }
    }
    Ok(())
}

fn toc_runs(toc: &Toc, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for run in &toc.runs {
        writeln!(out, "{}", style.paint(Tone::Title, &format!("run {}", run.number)))?;
        pairs("device", &run.device, style, out)?;
        pairs("host", &run.host_device, style, out)?;
        if run.is_all_processes {
            contents_line("process", "all processes", style, out)?;
        }
        pairs("process", &run.process, style, out)?;
        if let Some(found) = run.launch_data() {
            contents_line("private data", &format!("{found} (not shown)"), style, out)?;
        }
        for (name, value) in run.summary.iter().filter(|(_, value)| !value.is_empty()) {
            contents_line(name, value, style, out)?;
        }
        match &run.unread {
            Some(reason) => contents_line("damaged", reason, style, out)?,
            None => tables(run, style, out)?,
        }
    }
    Ok(())
}

/// Writes one line for each pair; the first line starts with the name.
fn pairs(name: &str, pairs: &[(String, String)], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, (key, value)) in pairs.iter().enumerate() {
        contents_line(if index == 0 { name } else { "" }, &format!("{key}: {value}"), style, out)?;
    }
    Ok(())
}

fn contents_line(name: &str, value: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let label = format!("  {} ", pad(name, style.least(21).max(10)));
    let lines = labelled(&label, value, style.width);
    // The name is at the start of the first line.
    let (name, rest) = lines[0].split_at_checked(label.len()).unwrap_or((&lines[0], ""));
    writeln!(out, "{}{rest}", style.paint(Tone::Dim, name))?;
    style.write_lines(None, &lines[1..], out)
}

/// Writes the tables by schema with their XPath positions, CPU tables first. If row counts are known, each table gets a line with the attributes
/// that distinguish it from others with the same name.
fn tables(run: &TocRun, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut by_schema: BTreeMap<(bool, &str), Vec<&TocTable>> = BTreeMap::new();
    for table in &run.tables {
        let is_other = TableKind::of_schema(&table.schema) == TableKind::Other;
        by_schema.entry((is_other, &table.schema)).or_default().push(table);
    }
    let width = by_schema.keys().map(|(_, schema)| clean(schema).width()).max().unwrap_or(0);
    let has_positions = run.tables.iter().any(|table| table.position.is_some());
    let title = if has_positions { "tables, by position" } else { "tables" };
    writeln!(out, "  {}", style.paint(Tone::Dim, title))?;
    for ((is_other, schema), tables) in by_schema {
        let has_rows = tables.iter().any(|table| table.rows.is_some());
        let lines: Vec<String> = match has_rows || !tables.iter().all(|table| table.position.is_some()) {
            true => tables.iter().map(|table| format!("{}{}", about(table), differences(table, &tables))).collect(),
            false => vec![tables.iter().map(|table| about(table)).collect::<Vec<_>>().join(", ")],
        };
        for text in lines {
            let lines = labelled(&format!("    {}  ", pad(schema, width)), &text, style.width);
            if is_other {
                style.write_lines(Some(Tone::Dim), &lines, out)?;
                continue;
            }
            let (last, first) = lines.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
            style.write_lines(None, first, out)?;
            let mark = style.paint(Tone::Weight, "CPU table");
            let has_room = style.width.is_none_or(|width| last.width() + 2 + "CPU table".len() <= width);
            let between = if has_room { "  " } else { "\n      " };
            writeln!(out, "{last}{between}{mark}")?;
        }
    }
    Ok(())
}

/// The position of a table and its number of rows, as far as they are known.
fn about(table: &TocTable) -> String {
    let rows = table.rows.map(|rows| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") });
    match (table.position, rows) {
        (Some(position), Some(rows)) => format!("{position} ({rows})"),
        (Some(position), None) => position.to_string(),
        (None, rows) => rows.unwrap_or_else(|| "rows unknown".to_owned()),
    }
}

/// The attributes of a table that are missing or different in another table with the same name.
fn differences(table: &TocTable, others: &[&TocTable]) -> String {
    let is_own =
        |(key, value): &&(String, String)| others.iter().any(|other| other.attribute(key) != Some(value.as_str()));
    let own = table.attributes.iter().filter(is_own).map(|(key, value)| format!("  {}: {}", clean(key), clean(value)));
    own.collect()
}
