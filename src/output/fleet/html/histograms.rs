//! Tables of durations from metrics, of which only the bins are known, one for each kind of duration.

use super::outline::section;
use super::table::{Column, cohort_name, count, nothing, row_name, table, text};
use crate::fleet::{FleetReport, HistogramReport};
use crate::output::fleet::histograms::percentile;
use crate::output::inert::Text;

pub(super) fn histograms(report: &FleetReport) -> String {
    let quantiles = &report.options.quantiles;
    let titles = ["Cohort", "Reports", "Durations"].into_iter().map(str::to_owned);
    let titles = titles.chain(quantiles.iter().map(ToString::to_string));
    let columns: Vec<Column> = titles.map(|title| Column::text(&title)).collect();
    let row = |row: &HistogramReport| {
        let name = row_name(&Text(&cohort_name(&row.cohort)).to_string());
        let of = |quantile| percentile(&row.values, quantile).map_or_else(nothing, |words| text(&words));
        let percentiles = quantiles.iter().map(|&quantile| of(quantile));
        [name, count(row.reports), count(row.values.count())].into_iter().chain(percentiles).collect()
    };
    section(report, "durations", || {
        let tables = report.histograms.chunk_by(|a, b| a.name == b.name).map(|rows| {
            let title = format!("{} times", rows[0].name);
            format!("<h3>{}</h3>\n{}", Text(&title), table(&title, &columns, rows.iter().map(row)))
        });
        format!(
            "<h2>Durations of metrics</h2>\n<p>A report of metrics has the number of durations in each bin. A percentile is the \
             interval in which it is for certain; each report is about a day of a device.</p>\n{}",
            tables.collect::<String>()
        )
    })
}
