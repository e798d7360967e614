//! Tables of durations from metrics, of which only the bins are known, one for each kind of duration.

use super::labels;
use super::table::{Cell, Column, Page, Row, Table};
use crate::fleet::{FleetReport, HistogramReport};
use crate::output::fleet::histograms::percentile;
use crate::output::fleet::thousands;

/// Writes the tables.
pub(super) fn histograms(report: &FleetReport, page: &mut Page<'_>) {
    let quantiles = &report.options.quantiles;
    for rows in report.histograms.chunk_by(|a, b| a.name == b.name) {
        page.title(&format!("{} times of metrics · by bins", rows[0].name));
        let row = |row: &HistogramReport| {
            let counts = [row.reports, row.values.count()].map(thousands);
            let percentiles = quantiles.iter().map(|&quantile| percentile(&row.values, quantile));
            let cells = counts.into_iter().chain(percentiles.map(|words| words.unwrap_or_else(|| "n/a".to_owned())));
            Row::cohort(cells.map(|cell| Cell::new(&cell)).collect(), labels::values(&row.cohort))
        };
        // The outermost percentiles are the first that do not fit.
        let percentiles = quantiles
            .iter()
            .enumerate()
            .map(|(index, quantile)| Column::new(&quantile.to_string(), 90 - index.min(30) as u32));
        let columns = [Column::new("reports", 40), Column::new("durations", 91)].into_iter().chain(percentiles);
        let names = report.options.by.join(" · ");
        let rows = rows.iter().map(row).collect();
        Table { names, columns: columns.collect(), rows, is_alike: false }.write(page);
    }
}
