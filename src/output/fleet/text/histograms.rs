//! Tables of durations from metrics that are recorded as bins, one table for each kind of duration.

use super::labels;
use super::table::{Cell, Column, Page, Row, Table};
use crate::fleet::{FleetReport, HistogramReport};
use crate::output::fleet::histograms::percentile;
use crate::output::fleet::{many, thousands};
use crate::output::text::style::Tone;
use crate::settings::VIEW;

/// The number of rows on a screen.
const MOST: usize = 6;

/// Writes the tables: one for each kind of duration, or a short table for all of them.
pub(super) fn histograms(report: &FleetReport, is_short: bool, page: &mut Page<'_>) {
    let kinds: Vec<&[HistogramReport]> = report.histograms.chunk_by(|a, b| a.name == b.name).collect();
    if is_short && (kinds.len() > 1 || report.histograms.len() > MOST) {
        return short(report, page);
    }
    for rows in kinds {
        page.title(&format!("{} times from metrics · binned", rows[0].name));
        let names = report.options.by.join(" · ");
        let row = |row: &HistogramReport| Row::cohort(cells(report, row), labels::values(&row.cohort));
        let rows = rows.iter().map(row).collect();
        Table { names, columns: columns(report), rows, is_alike: false }.write(page);
    }
}

fn short(report: &FleetReport, page: &mut Page<'_>) {
    page.title("times from metrics · binned");
    let has_cohorts = !report.options.by.is_empty();
    let row = |row: &HistogramReport| {
        let cohort = if has_cohorts { labels::name(&row.cohort) } else { String::new() };
        Row::new(cells(report, row), &row.name, &cohort)
    };
    let rows = report.histograms.iter().take(MOST).map(row).collect();
    Table { names: "what".to_owned(), columns: columns(report), rows, is_alike: false }.write(page);
    if let more @ 1.. = report.histograms.len().saturating_sub(MOST) {
        page.painted(Tone::Dim, &format!("and {}; {VIEW} full has all", many(more as u64, "more row")));
    }
}

fn cells(report: &FleetReport, row: &HistogramReport) -> Vec<Cell> {
    let counts = [row.reports, row.values.count()].map(thousands);
    let percentiles = report.options.quantiles.iter().map(|&quantile| percentile(&row.values, quantile));
    let cells = counts.into_iter().chain(percentiles.map(|words| words.unwrap_or_else(|| "n/a".to_owned())));
    cells.map(|cell| Cell::new(&cell)).collect()
}

/// The columns. If space is short, the outermost percentiles are left out first.
fn columns(report: &FleetReport) -> Vec<Column> {
    let percentiles = report.options.quantiles.iter().enumerate();
    let percentiles =
        percentiles.map(|(index, quantile)| Column::new(&quantile.to_string(), 90 - index.min(30) as u32));
    [Column::new("reports", 40), Column::new("durations", 91)].into_iter().chain(percentiles).collect()
}
