//! Text for people: aligned tables and trees, as wide as the terminal, in colour if requested.

mod flame_chart;
mod listing;
mod overview;
mod samples;
mod source;
pub(in crate::output) mod style;
mod summary;
pub(in crate::output) mod table;
mod timeline;
mod tree;
mod words;

use std::io::{self, Write};

pub use overview::OverviewContext;
pub(crate) use overview::write_overview;
pub(super) use overview::{WIDTH as OVERVIEW_WIDTH, command_lines};
pub use style::Style;
pub(super) use style::{LEAST_NAME, Tone, fit, heading, labelled, wrap};
pub(super) use summary::during;
pub(crate) use summary::write_contents;
pub(super) use tree::{Lines, TreeLine};
#[cfg(feature = "compression")]
pub(super) use words::short_time;
pub(super) use words::{base_text, clock, counted_text};
use words::{below_limit, share};

use crate::calltree::{CallTree, Pruning, percent};
use crate::report::{Listing, ListingKind, Report, RowLimits, ScopeReport, SeriesReport, View, scope_labels};
use crate::settings::{MIN_PERCENT, VIEW};
use crate::units::Weight;
pub use overview::OverviewSentences;
pub(super) use overview::answered;

/// The maximum number of rows in a table of the overview; one line sums up the rest.
const OVERVIEW_ROWS: usize = 20;

/// Writes the view of a report.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match report.options.view {
        View::Samples => return samples::write(report, style, out),
        View::Summary => return summary::write(report, style, out),
        View::Overview => return write_overview(report, &OverviewContext::default(), style, out),
        View::Full => summary::write(report, style, out)?,
        _ => {
            for document in &report.recording.documents {
                summary::cut_note(document, style, out)?;
            }
        }
    }
    let left = report.series.iter().filter(|series| !series.is_filtered_out());
    for (index, series) in left.enumerate() {
        if index > 0 || report.options.view == View::Full {
            writeln!(out)?;
        }
        // With a single series, the summary has already named it.
        if report.options.view != View::Full || report.series.len() > 1 {
            series_title(report, series, style, out)?;
        }
        if report.options.view != View::Full {
            summary::operation_lines(report, series, style, out)?;
        }
        match report.options.view {
            View::Full => full(report, series, style, out)?,
            View::Threads => {
                let top = report.options.top.unwrap_or(usize::MAX);
                listing::write_threads(report, series, top, style, out)?;
            }
            View::Tree => trees(report, series, &series.scopes, style, out)?,
            View::Timeline => timeline::write(report, series, style, out)?,
            View::FlameChart => flame_chart::write(report, series, style, out)?,
            View::Overview | View::Summary | View::Samples => {}
            view => {
                if let Some(kind) = view.listing_kind() {
                    first_listing(report, series, kind, style, out)?;
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

fn full(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    listing::write_threads(report, series, report.options.top.unwrap_or(OVERVIEW_ROWS), style, out)?;
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
        let all = if min_weight == 0 { format!("; {MIN_PERCENT} 0 shows all") } else { String::new() };
        let note = format!("{} more {limit} each, {weight} together{all}", hidden.len());
        writeln!(out)?;
        style.write_wrapped(Some(Tone::Dim), 0, &note, out)?;
    }
    Ok(())
}

fn first_listing(
    report: &Report<'_>,
    series: &SeriesReport,
    kind: &ListingKind,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if kind.limits == RowLimits::HeavyFirst {
        return listing::write_heavy_first(report, kind, series, style, out);
    }
    let listing = report.listing_of(kind, series);
    if report.options.view == View::Sandwich {
        style.write_wrapped(None, 2, &whole_share(&listing, series), out)?;
    }
    listing::write(kind, listing, &report.options.pruning, style, out)
}

/// A function's share of all samples. The percentages in its own table are relative to the function.
fn whole_share(listing: &Listing, series: &SeriesReport) -> String {
    let (weight, total) = (listing.total, series.counted.weight);
    let percent = percent(weight.value, total.value);
    format!("the function: {weight}, {percent:.1}% of {total}; the percentages below are relative to the {weight}")
}

/// Writes the first rows of a second table.
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
        listing.notes.push(format!("{VIEW} {} shows all", kind.name));
    }
    writeln!(out)?;
    listing::write(kind, listing, &Pruning { min_percent: 0.0, ..report.options.pruning }, style, out)
}

fn trees(
    report: &Report<'_>,
    series: &SeriesReport,
    scopes: &[ScopeReport],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let idle = report.idle_functions(series);
    let mut left_out = Vec::new();
    let mut write = |scope: &ScopeReport, tree: &CallTree| {
        let profile = &report.recording.profile;
        let mut parts = scope_labels(profile, scope.scope);
        parts.reverse();
        let names = parts.len();
        parts.push(scope.counted.weight.to_string());
        parts.push(format!("{:.1}% of the total", share(scope.counted.weight.value, series)));
        writeln!(out)?;
        style.write_heading(&parts, |index| index < names, out)?;
        left_out = tree::write(report, scope.scope, tree, (series, &idle), style, out)?;
        Ok::<(), io::Error>(())
    };
    if report.options.pruning.min_percent > 0.0 {
        report.walk_trees(series, scopes, |scope, tree| write(scope, &tree.call_tree()))?;
    } else {
        // Unpruned trees are large, and writing them takes far longer than building them, so one at a time is enough.
        scopes.iter().zip(report.trees(series)).try_for_each(|(scope, (_, tree))| write(scope, &tree))?;
    }
    // All trees have the same columns.
    table::write_left_out(&left_out, "", style, out)
}

/// `time-profile · run 1 · export.xml · 85.00 ms`.
fn series_title(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let mut parts = vec![profile.string(row.schema).to_owned()];
    parts.extend((!run.is_several()).then(|| format!("run {}", run.number)));
    parts.extend([profile.string(run.input).to_owned(), counted_text(row, series)]);
    let input = parts.len() - 2;
    style.write_heading(&parts, |index| index == input, out)
}
