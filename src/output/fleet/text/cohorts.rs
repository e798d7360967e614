//! CPU use across the runs of each cohort, and within them.

use crate::output::fleet::WITHIN;
use crate::output::fleet::sentences::subject;
use std::io;

use super::findings;
use super::labels;
use super::notes::Cell;
use super::page::Page;
use super::table::{Column, Row, SORTED, Table};
use super::words::{caution, many, thousands};
use crate::fleet::{CohortReport, FleetOptions, FleetReport, SortKey, Summary};
use crate::output::fleet::measures::Measures;
use crate::output::text::style::Tone;
use crate::stats::{Estimate, Quantile, Support};

/// Writes a table for each unit: values in different units are never compared.
pub(super) fn write(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    for cohorts in report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit) {
        let measures = measures_of(cohorts);
        page.title(&format!("{} across runs · {}", subject(report), measures.unit()))?;
        let names = labels::header(cohorts);
        if cohorts.iter().all(|cohort| cohort.runs == 1) {
            one_run_each(cohorts, names, measures, page)?;
            findings::runs_of_cohorts(report, cohorts, page)?;
            continue;
        }
        let mut columns = vec![Column::new("runs", 70)];
        columns.extend(value_columns(report, true));
        let rows = cohorts.iter().flat_map(|cohort| cohort_rows(report, cohort, measures));
        let rows = rows.collect();
        Table { names, columns, rows, is_alike: true }.write(page)?;
        for cohort in cohorts {
            for row in &cohort.across_runs.cautions {
                if let Some(text) = caution(row, &cohort.across_runs, measures) {
                    page.sentence(Some(Tone::Warning), 0, &format!("{}: {text}", labels::name(&cohort.cohort)))?;
                }
            }
        }
        page.explain_marks(&report.options)?;
        findings::runs_of_cohorts(report, cohorts, page)?;
    }
    Ok(())
}

/// One run has one value: no percentile, and no interval.
fn one_run_each(cohorts: &[CohortReport], names: String, measures: Measures, page: &mut Page<'_>) -> io::Result<()> {
    let row = |cohort: &CohortReport| {
        let cells = vec![Cell::value(cohort.across_runs.max, measures)];
        Row::cohort(cells, labels::values(&cohort.cohort))
    };
    let rows = cohorts.iter().map(row).collect();
    Table { names, columns: vec![value_column()], rows, is_alike: true }.write(page)?;
    let text = if cohorts.len() == 1 { "1 run" } else { "1 run in each cohort" };
    page.sentence(Some(Tone::Dim), 0, &format!("{text}: percentiles need more"))
}

/// The column of the values of one run.
pub(super) fn value_column() -> Column {
    Column { tone: Some(Tone::Weight), ..Column::new("value", SORTED) }
}

/// The measures of some cohorts' runs, in one unit.
pub(super) fn measures_of(cohorts: &[CohortReport]) -> Measures {
    let unit = cohorts[0].cohort.unit;
    Measures::of(unit, cohorts.iter().filter_map(|cohort| cohort.across_runs.max).fold(0.0, f64::max))
}

/// Columns for percentiles, the largest value and the mean, in the order of [`value_cells`]. They are the same for all
/// tables of a report, so that the same ones are dropped if there is too little space.
pub(super) fn value_columns(report: &FleetReport, has_mean_by_time: bool) -> Vec<Column> {
    let options = &report.options;
    let has_value = |index: usize| {
        let estimates = report.cohorts.iter().filter_map(|cohort| cohort.across_runs.estimates.get(index));
        // If every cohort is a single run, only windows have percentiles.
        let are_single = report.cohorts.iter().all(|cohort| cohort.runs == 1);
        are_single || estimates.into_iter().any(|estimate| !matches!(estimate.support, Support::TooFew { .. }))
    };
    let middle = options.quantiles.iter().position(|quantile| *quantile == Quantile::P50).unwrap_or(0);
    let highest = (0..options.quantiles.len()).rfind(|&index| has_value(index));
    let column = |(index, quantile): (usize, &Quantile)| {
        // Columns that are unknown for every cohort are dropped first. Percentiles nearer to the tail stay longest.
        let keep = match index {
            _ if !has_value(index) => index.min(9) as u32,
            _ if index == middle => 85,
            _ if Some(index) == highest => 80,
            _ => 20 + index.min(20) as u32,
        };
        let column = Column::new(&quantile.to_string(), keep);
        let column = sorted(column, options.sort == SortKey::Quantile(*quantile));
        Column { keep: if has_value(index) { column.keep } else { keep }, ..column }
    };
    let mut columns: Vec<Column> = options.quantiles.iter().enumerate().map(column).collect();
    columns.push(sorted(Column::new("max", 90), options.sort == SortKey::Max));
    columns.push(sorted(Column::new("mean", 75), options.sort == SortKey::Mean));
    if has_mean_by_time {
        columns.push(sorted(Column::new("by time", 15), options.sort == SortKey::WeightedMean));
    }
    columns
}

/// Keeps the column that rows are sorted by on the page, and makes it stand out.
fn sorted(column: Column, is_sorted_by: bool) -> Column {
    if is_sorted_by { Column { keep: SORTED, tone: Some(Tone::Weight), ..column } } else { column }
}

/// The numbers of a summary, in the order of [`value_columns`].
pub(super) fn value_cells(
    summary: &Summary,
    has_mean_by_time: bool,
    measures: Measures,
    options: &FleetOptions,
) -> Vec<Cell> {
    let percentile = |estimate: &Estimate| match summary.count {
        1 => Cell::one_run(),
        _ => Cell::estimate(estimate, measures, options),
    };
    let mut cells: Vec<Cell> = summary.estimates.iter().map(percentile).collect();
    cells.push(Cell::value(summary.max, measures));
    cells.push(Cell::mean(summary, measures));
    if has_mean_by_time {
        cells.push(Cell::value(summary.weighted_mean, measures));
    }
    cells
}

/// The values of a cohort, and below them the ends of their intervals.
fn cohort_rows(report: &FleetReport, cohort: &CohortReport, measures: Measures) -> Vec<Row> {
    let options = &report.options;
    let summary = &cohort.across_runs;
    let mut cells = vec![Cell::new(&thousands(cohort.runs))];
    cells.extend(value_cells(summary, true, measures, options));
    let mut rows = vec![Row::cohort(cells, labels::values(&cohort.cohort))];
    if cohort.runs == 1 || options.is_weighted || summary.estimates.is_empty() {
        return rows;
    }
    let interval = |name: &str, end: fn(&Estimate) -> Option<f64>| {
        let mut cells = vec![Cell::default()];
        cells.extend(summary.estimates.iter().map(|estimate| Cell::end(end(estimate), measures)));
        cells.extend([Cell::default(), Cell::default(), Cell::default()]);
        Row::dim(cells, name)
    };
    rows.push(interval(&format!("  {} from", options.confidence), |estimate| estimate.interval.lower));
    rows.push(interval(&format!("  to{}", report.assumption()), |estimate| estimate.interval.upper));
    rows
}

/// Windows of one second: they show how bursty runs are, and not how many of them are slow.
pub(super) fn within_runs(report: &FleetReport, cohort: &CohortReport, page: &mut Page<'_>) -> io::Result<()> {
    let Some(windows) = &cohort.within_runs else {
        return page.painted(Tone::Dim, "within runs: no run is as long as a window of 1 s");
    };
    let measures = Measures::of(cohort.cohort.unit, windows.pooled.max.unwrap_or(0.0));
    let buckets = if windows.pooled.is_exact { String::new() } else { format!(" · {WITHIN}") };
    page.sentence(Some(Tone::Title), 0, &format!("within runs: 1 s windows · {}{buckets}", measures.unit()))?;
    let mut columns = vec![Column::new("number", 10)];
    columns.extend(value_columns(report, false));
    let row = |summary: &Summary, name: &str| {
        let mut cells = vec![Cell::new(&thousands(summary.count))];
        cells.extend(value_cells(summary, false, measures, &report.options));
        Row::new(cells, name, "")
    };
    let runs = many(windows.runs, "run");
    let mut rows = vec![row(&windows.pooled, &format!("all windows of {runs}"))];
    // The busiest window of one run is the largest of the windows above.
    if windows.runs > 1 {
        rows.push(row(&windows.peaks, "busiest window of each run"));
    }
    Table { names: String::new(), columns, rows, is_alike: true }.write(page)
}
