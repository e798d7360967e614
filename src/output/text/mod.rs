//! Text for people: aligned tables and trees, as wide as the terminal, coloured where asked.

mod blocks;
mod contents;
mod flame_chart;
mod fork;
mod listing;
mod scale;
mod source;
pub(in crate::output) mod style;
mod summary;
#[cfg(feature = "symbols")]
mod symbols;
mod tables;
mod timeline;
mod tree;

use std::io::{self, Write};

pub(super) use super::labels::{binary_of, function_of, scope_labels};
use crate::calltree::{CallTree, Pruning, percent};
use crate::report::{Amount, ListingKind, Report, ScopeReport, SeriesReport, View};
use crate::units::{Unit, Weight};
pub use contents::write_contents;
pub(super) use fork::Lead;
pub(super) use scale::Scale;
pub use style::Style;
pub(super) use style::{Tone, fit, wrap};
pub(super) use summary::during;

/// Rows that a table of the overview shows before it sums up the rest.
const OVERVIEW_ROWS: usize = 20;

/// Writes the view of a report.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match report.options.view {
        View::Samples => return tables::samples(report, style, out),
        View::Summary => return summary::write(report, style, out),
        View::Overview => summary::write(report, style, out)?,
        _ => {
            for document in &report.export.documents {
                summary::cut_note(document, style, out)?;
            }
        }
    }
    let left = report.series.iter().filter(|series| !series.is_filtered_out());
    for (index, series) in left.enumerate() {
        if index > 0 || report.options.view == View::Overview {
            writeln!(out)?;
        }
        // The summary of a single series has just named it.
        if report.options.view != View::Overview || report.series.len() > 1 {
            series_title(report, series, style, out)?;
        }
        if report.options.view != View::Overview {
            summary::operation_lines(report, series, style, out)?;
        }
        match report.options.view {
            View::Overview => overview(report, series, style, out)?,
            View::Threads => tables::threads(report, series, report.options.top.unwrap_or(usize::MAX), style, out)?,
            View::Tree => trees(report, series, &series.scopes, style, out)?,
            View::Functions => tables::functions(report, series, style, out)?,
            View::Timeline => timeline::write(report, series, style, out)?,
            View::FlameChart => flame_chart::write(report, series, style, out)?,
            View::Summary | View::Samples => {}
            view => {
                if let Some((kind, rows)) = view.listing_kind().zip(report.listing(series)) {
                    listing::write(kind, &rows, &report.options.pruning, style, out)?;
                }
                if view == View::Lines {
                    source::write(report, series, style, out)?;
                }
                if let Some(kind) = view.second_listing_kind() {
                    second_listing(report, series, kind, style, out)?;
                }
            }
        }
    }
    Ok(())
}

fn overview(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    tables::threads(report, series, OVERVIEW_ROWS, style, out)?;
    let Pruning { min_percent, min_weight, .. } = report.options.pruning;
    let is_shown = |row: &&ScopeReport| {
        share(row.counted.weight.value, series) >= min_percent && row.counted.weight.value >= min_weight
    };
    let shown = series.scopes.iter().filter(is_shown).count().max(1).min(series.scopes.len());
    let (shown, hidden) = series.scopes.split_at(shown);
    trees(report, series, shown, style, out)?;
    if !hidden.is_empty() {
        let weight = hidden.iter().map(|row| row.counted.weight.value).sum();
        let weight = Weight::new(weight, series.unit);
        let limit = below_limit(min_percent, min_weight, series.unit);
        let all = if min_weight == 0 { "; --min-percent 0 shows all" } else { "" };
        let note = format!("{} more {limit} each, {weight} together{all}", hidden.len());
        writeln!(out, "\n{}", style.paint(Tone::Dim, &note))?;
    }
    Ok(())
}

/// The first rows of a second table.
fn second_listing(
    report: &Report<'_>,
    series: &SeriesReport,
    kind: &ListingKind,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut listing = report.listing_of(kind, series);
    if listing.rows.len() > OVERVIEW_ROWS {
        listing.keep_first(OVERVIEW_ROWS);
        listing.notes.push(format!("--view {} shows all", kind.name));
    }
    writeln!(out)?;
    listing::write(kind, &listing, &Pruning { min_percent: 0.0, ..report.options.pruning }, style, out)
}

fn trees(
    report: &Report<'_>,
    series: &SeriesReport,
    scopes: &[ScopeReport],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut write = |scope: &ScopeReport, tree: &CallTree| {
        let profile = &report.export.profile;
        let mut parts = scope_labels(profile, scope.scope);
        parts.reverse();
        parts.push(scope.counted.weight.to_string());
        parts.push(format!("{:.1}% of the total", share(scope.counted.weight.value, series)));
        writeln!(out, "\n{}", style.paint(Tone::Title, &fit(&parts.join(" · "), style.width)))?;
        tree::write(report, scope.scope, tree, series, style, out)
    };
    if report.options.pruning.min_percent > 0.0 {
        return report.walk_trees(series, scopes, |scope, tree| write(scope, &tree.call_tree()));
    }
    // Whole trees are large, and take far longer to be written than to be made: one at a time is enough.
    scopes.iter().zip(report.trees(series)).try_for_each(|(scope, row)| write(scope, &row.tree))
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
pub(super) fn amount_text(amount: Amount) -> String {
    let Amount { weight, samples } = amount;
    match weight.unit {
        Unit::Samples if weight.value == samples => weight.to_string(),
        Unit::Samples => format!("{weight} in {}", count(samples, "row")),
        _ => format!("{weight} in {}", count(samples, "sample")),
    }
}

/// `1 row`, `2 rows`.
fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The limit below which rows are hidden: `below 1%`, `below 5.00 ms`, or `below 1% or 5.00 ms`.
fn below_limit(min_percent: f64, min_weight: u64, unit: Unit) -> String {
    let weight = Weight::new(min_weight, unit);
    match (min_percent > 0.0, min_weight > 0) {
        (true, true) => format!("below {min_percent}% or {weight}"),
        (false, true) => format!("below {weight}"),
        (_, false) => format!("below {min_percent}%"),
    }
}

fn share(weight: u64, series: &SeriesReport) -> f64 {
    percent(weight, series.counted.weight.value)
}

/// A time as `MM:SS.mmm.uuu`, as Instruments shows it (truncated, not rounded).
fn clock(nanos: u64) -> String {
    let micros = nanos / 1000;
    let (seconds, minutes) = (micros / 1_000_000 % 60, micros / 60_000_000);
    format!("{minutes:02}:{seconds:02}.{:03}.{:03}", micros / 1000 % 1000, micros % 1000)
}
