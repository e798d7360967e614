//! CPU use across the runs of each cohort, and within them.

use std::io;

use super::measures::Measures;
use super::notes::{Cell, Footnotes};
use super::page::Page;
use super::table::{Column, Row, SORTED, Table};
use super::words::{caution, many, thousands};
use crate::fleet::{CohortReport, FleetOptions, FleetReport, SortKey, Summary};
use crate::output::text::style::Tone;
use crate::stats::Estimate;

/// A table for each unit: what is counted in different units is never compared.
pub(super) fn write(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    for cohorts in report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit) {
        let measures = measures_of(cohorts);
        let mut footnotes = Footnotes::default();
        page.title(&format!("CPU use across runs · {}", measures.unit()))?;
        let mut columns = vec![Column::new("runs", 80)];
        columns.extend(value_columns(&report.options, true));
        let rows = cohorts.iter().flat_map(|cohort| cohort_rows(cohort, measures, &report.options));
        let rows = rows.collect();
        Table { names: "cohort".to_owned(), columns, rows }.write(&mut footnotes, page)?;
        for cohort in cohorts {
            for row in &cohort.across_runs.cautions {
                if let Some(text) = caution(row, &cohort.across_runs, measures) {
                    page.sentence(Some(Tone::Warning), 0, &format!("{}: {text}", cohort.cohort.name()))?;
                }
            }
        }
        footnotes.write(&report.options, page)?;
    }
    Ok(())
}

/// The measures of the runs of some cohorts of one unit.
pub(super) fn measures_of(cohorts: &[CohortReport]) -> Measures {
    let unit = cohorts[0].cohort.unit;
    Measures::of(unit, cohorts.iter().map(|cohort| cohort.across_runs.max).fold(0.0, f64::max))
}

/// Columns for percentiles, the largest and the mean, in the order of [`value_cells`].
pub(super) fn value_columns(options: &FleetOptions, has_weighted_mean: bool) -> Vec<Column> {
    let last = options.quantiles.len().saturating_sub(1);
    let mut columns: Vec<Column> = options
        .quantiles
        .iter()
        .enumerate()
        .map(|(index, quantile)| {
            // The ends tell most; in between, what is nearer to the tail tells more.
            let keep = if index == last {
                60
            } else if index == 0 {
                50
            } else {
                20 + index.min(20) as u32
            };
            sorted(Column::new(&quantile.to_string(), keep), options.sort == SortKey::Quantile(*quantile))
        })
        .collect();
    columns.push(sorted(Column::new("max", 90), options.sort == SortKey::Max));
    columns.push(sorted(Column::new("mean", 55), options.sort == SortKey::Mean));
    if has_weighted_mean {
        columns.push(sorted(Column::new("weighted", 15), options.sort == SortKey::WeightedMean));
    }
    columns
}

/// What rows are sorted by stays, and stands out.
fn sorted(column: Column, is_sorted_by: bool) -> Column {
    if is_sorted_by { Column { keep: SORTED, tone: Some(Tone::Weight), ..column } } else { column }
}

/// The numbers of a summary, in the order of [`value_columns`].
pub(super) fn value_cells(
    summary: &Summary,
    has_weighted_mean: bool,
    measures: Measures,
    options: &FleetOptions,
) -> Vec<Cell> {
    let estimates = summary.estimates.iter();
    let mut cells: Vec<Cell> = estimates.map(|estimate| Cell::estimate(estimate, measures, options)).collect();
    cells.push(Cell::new(&measures.number(summary.max)));
    cells.push(Cell::mean(summary, measures));
    if has_weighted_mean {
        let mean = summary.weighted_mean.map_or_else(|| "–".to_owned(), |mean| measures.number(mean));
        cells.push(Cell::new(&mean));
    }
    cells
}

/// The values of a cohort, and below them the ends of their intervals.
fn cohort_rows(cohort: &CohortReport, measures: Measures, options: &FleetOptions) -> Vec<Row> {
    let summary = &cohort.across_runs;
    let mut cells = vec![Cell::new(&thousands(cohort.runs))];
    cells.extend(value_cells(summary, true, measures, options));
    let mut rows = vec![Row::new(cells, &cohort.cohort.name(), "")];
    if options.is_weighted || summary.estimates.is_empty() {
        return rows;
    }
    let interval = |name: &str, end: fn(&Estimate) -> Option<f64>| {
        let mut cells = vec![Cell::default()];
        cells.extend(summary.estimates.iter().map(|estimate| Cell::end(end(estimate), measures)));
        cells.extend([Cell::default(), Cell::default(), Cell::default()]);
        Row::dim(cells, name)
    };
    rows.push(interval(&format!("  {} from", options.confidence), |estimate| estimate.interval.lower));
    rows.push(interval("  to", |estimate| estimate.interval.upper));
    rows
}

/// Windows of one second: how bursty runs are, and nothing about how many of them are slow.
pub(super) fn within_runs(
    report: &FleetReport,
    cohort: &CohortReport,
    footnotes: &mut Footnotes,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let Some(windows) = &cohort.within_runs else {
        return page.painted(Tone::Dim, "within runs: no run is as long as a window of 1 s");
    };
    let measures = Measures::of(cohort.cohort.unit, windows.pooled.max);
    page.sentence(Some(Tone::Title), 0, &format!("within runs: 1 s windows · {}", measures.unit()))?;
    let mut columns = vec![Column::new("number", 10)];
    columns.extend(value_columns(&report.options, false));
    let row = |summary: &Summary, name: &str| {
        let mut cells = vec![Cell::new(&thousands(summary.count))];
        cells.extend(value_cells(summary, false, measures, &report.options));
        Row::new(cells, name, "")
    };
    let runs = many(windows.runs, "run");
    let rows = vec![
        row(&windows.pooled, &format!("all windows of {runs}")),
        row(&windows.peaks, "busiest window of each run"),
    ];
    Table { names: String::new(), columns, rows }.write(footnotes, page)
}
