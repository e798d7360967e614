//! Text for people: aligned tables and trees, as wide as the terminal, coloured where asked.

mod contents;
mod scale;
mod style;
mod summary;
mod tree;

use std::io::{self, Write};

pub use contents::write_contents;
pub use style::Style;

use super::labels::{binary_of, function_of, process_label, thread_label};
use crate::calltree::{FunctionRow, Label};
use crate::profile::Profile;
use crate::report::{Amount, Report, SeriesReport, ThreadReport, View};
use crate::units::{Unit, Weight};
use scale::Scale;
use style::{Tone, fit, pad};

/// Rows that a table of the overview shows before it sums up the rest.
const OVERVIEW_ROWS: usize = 20;

/// Writes the view of a report.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let view = report.options.view;
    match view {
        View::Samples => return samples(report, style, out),
        View::Overview | View::Summary => summary::write(report, style, out)?,
        View::Threads | View::Tree | View::MergedTree | View::Functions => {}
    }
    for (index, series) in report.series.iter().enumerate() {
        let is_first = index == 0 && !matches!(view, View::Overview | View::Summary);
        if view == View::Summary {
            continue;
        }
        if !is_first {
            writeln!(out)?;
        }
        if report.series.len() > 1 || view != View::Overview {
            series_title(report, series, style, out)?;
        }
        match view {
            View::Overview => overview(report, series, style, out)?,
            View::Threads => threads(report, series, usize::MAX, style, out)?,
            View::Tree => trees(report, series, &series.threads, style, out)?,
            View::MergedTree => merged_tree(report, series, style, out)?,
            View::Functions => functions(report, series, style, out)?,
            View::Summary | View::Samples => {}
        }
    }
    Ok(())
}

fn overview(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    threads(report, series, OVERVIEW_ROWS, style, out)?;
    let is_shown =
        |thread: &&ThreadReport| share(thread.counted.weight.value, series) >= report.options.pruning.min_percent;
    let shown = series.threads.iter().filter(is_shown).count().max(1).min(series.threads.len());
    trees(report, series, &series.threads[..shown], style, out)?;
    if shown < series.threads.len() {
        let rest: u64 = series.threads[shown..].iter().map(|thread| thread.counted.weight.value).sum();
        let rest = Weight::new(rest, series.unit);
        let count = series.threads.len() - shown;
        let threads = if count == 1 { "thread has" } else { "threads have" };
        let note = format!(
            "{count} more {threads} less than {}% each, {rest} together; --min-percent 0 shows all",
            report.options.pruning.min_percent
        );
        writeln!(out, "\n{}", style.paint(Tone::Dim, &note))?;
    }
    Ok(())
}

/// `time-profile · run 1 · export.xml · 85.00 ms`.
fn series_title(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.export.profile;
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let title = format!(
        "{} · run {} · {} · {}",
        profile.string(row.schema),
        run.number,
        profile.string(run.input),
        amount_text(series.counted)
    );
    writeln!(out, "{}", style.paint(Tone::Title, &fit(&title, style.width)))
}

/// `85.00 ms in 85 samples`; where samples are the unit, `39 samples`, or `0 samples in 2 rows` if not all rows count.
fn amount_text(amount: Amount) -> String {
    let Amount { weight, samples } = amount;
    let plural = if samples == 1 { "" } else { "s" };
    match weight.unit {
        Unit::Samples if weight.value == samples => weight.to_string(),
        Unit::Samples => format!("{weight} in {samples} row{plural}"),
        _ => format!("{weight} in {samples} sample{plural}"),
    }
}

fn share(weight: u64, series: &SeriesReport) -> f64 {
    percent(weight, series.counted.weight.value)
}

/// `part` of `whole` in percent; 0 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn threads(
    report: &Report<'_>,
    series: &SeriesReport,
    rows: usize,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let profile = &report.export.profile;
    let scale = Scale::of(series.counted.weight);
    let header = format!("{:>12} {:>7} {:>9}  thread", scale.title(), "%", "samples");
    writeln!(out, "{}", style.paint(Tone::Dim, &header))?;
    let line = |weight: u64, samples: u64, name: &str, process: &str, out: &mut dyn Write| {
        let weight_text = style.paint(Tone::Weight, &format!("{:>12}", scale.number(weight)));
        let numbers = format!("{:>6.1}% {samples:>9}", share(weight, series));
        let (name, process) = style.two_parts(name, process, 33);
        writeln!(out, "{weight_text} {numbers}  {name}{process}")
    };
    // One row more costs no more room than saying that it is missing.
    let shown = if series.threads.len() <= rows + 1 { series.threads.len() } else { rows };
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
        let name = format!("{} more threads; --view threads shows all", rest.len());
        line(weight, samples, &name, "", out)?;
    }
    Ok(())
}

fn trees(
    report: &Report<'_>,
    series: &SeriesReport,
    threads: &[ThreadReport],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let profile = &report.export.profile;
    for thread in threads {
        let row = profile.thread(thread.thread);
        let title = format!(
            "{} · {} · {} · {:.1}% of the total",
            thread_label(profile, row),
            process_label(profile, profile.process(row.process)),
            amount_text(thread.counted),
            share(thread.counted.weight.value, series)
        );
        writeln!(out, "\n{}", style.paint(Tone::Title, &fit(&title, style.width)))?;
        if let Some(tree) = &thread.tree {
            tree::write(profile, tree, series, style, out)?;
        }
    }
    Ok(())
}

fn merged_tree(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    series.tree.as_ref().map_or(Ok(()), |tree| tree::write(&report.export.profile, tree, series, style, out))
}

fn functions(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.export.profile;
    let scale = Scale::of(series.counted.weight);
    let unit = scale.title();
    let header =
        format!("{:>12} {:>7} {:>12} {:>7} {:>8}  function", format!("self {unit}"), "%", "all", "%", "samples");
    writeln!(out, "{}", style.paint(Tone::Dim, &header))?;
    let least = report.options.pruning.min_percent;
    let is_shown =
        |row: &FunctionRow| share(row.self_weight, series) >= least || share(row.all_weight, series) >= least;
    let (shown, hidden): (Vec<&FunctionRow>, Vec<&FunctionRow>) =
        series.functions.iter().partition(|row| is_shown(row));
    for row in shown {
        let weight = style.paint(Tone::Weight, &format!("{:>12}", scale.number(row.self_weight)));
        let numbers = format!(
            "{:>6.1}% {:>12} {:>6.1}% {:>8}",
            share(row.self_weight, series),
            scale.number(row.all_weight),
            share(row.all_weight, series),
            row.all_samples
        );
        let (name, binary) =
            style.two_parts(function_of(profile, row.label), binary_of(profile, row.label).unwrap_or_default(), 53);
        writeln!(out, "{weight} {numbers}  {name}{binary}")?;
    }
    if !hidden.is_empty() {
        let weight: u64 = hidden.iter().map(|row| row.self_weight).sum();
        let note = format!("{} more functions below {least}%", hidden.len());
        let line = format!("{:>12} {:>6.1}% {:>31}  {note}", scale.number(weight), share(weight, series), "");
        writeln!(out, "{}", style.paint(Tone::Dim, &line))?;
    }
    Ok(())
}

fn samples(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.export.profile;
    let header = format!("{:>16} {:>12}  {:<28} {:>4} {:<10} leaf", "time", "weight", "thread", "core", "state");
    writeln!(out, "{}", style.paint(Tone::Dim, &header))?;
    for sample in report.samples() {
        let thread = thread_label(profile, profile.thread(sample.thread));
        let core = sample.core.map(|core| profile.core(core).index.to_string()).unwrap_or_default();
        let state = sample.state.map_or("", |state| profile.string(state));
        let leaf = profile.frames_leaf_first(sample.stack).next();
        let label = leaf.map_or(Label::NoStack, |frame| Label::Function(frame.function));
        let time = clock(sample.time.as_nanos());
        let left = format!(
            "{time:>16} {:>12}  {} {core:>4} {state:<10} ",
            profile.weight(sample).to_string(),
            pad(&fit(&thread, Some(28)), 28)
        );
        let (name, binary) = style.two_parts(function_of(profile, label), binary_name(profile, label), 75);
        writeln!(out, "{left}{name}{binary}")?;
    }
    Ok(())
}

fn binary_name(profile: &Profile, label: Label) -> &str {
    if label == Label::NoStack { "" } else { binary_of(profile, label).unwrap_or_default() }
}

/// A time as `MM:SS.mmm.uuu`, as Instruments shows it (truncated, not rounded).
fn clock(nanos: u64) -> String {
    let micros = nanos / 1000;
    let (seconds, minutes) = (micros / 1_000_000 % 60, micros / 60_000_000);
    format!("{minutes:02}:{seconds:02}.{:03}.{:03}", micros / 1000 % 1000, micros % 1000)
}
