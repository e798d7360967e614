//! Tables of CPU use across the runs of each cohort and within them; of processes, threads, binaries and functions; and of the rows that differ most
//! between cohorts.

use super::header;
use super::labels;
use super::table::{Cell, Column, Page, Row, SORTED, Table};
use crate::fleet::{
    CohortReport, Contrast, ContrastRow, FleetOptions, FleetReport, ScopeRow, ScopeTable, SortKey, Summary,
};
use crate::output::fleet::cautions::caution;
use crate::output::fleet::measures::Measures;
use crate::output::fleet::measures::noun;
use crate::output::fleet::opening::name_of;
use crate::output::fleet::sentences::{subject_title, too_few_to_compare};
use crate::output::fleet::{WITHIN, many, thousands};
use crate::output::text::style::Tone;
use crate::stats::{Estimate, Quantile, Support};

/// Writes a table for each unit, since values in different units are never compared.
pub(super) fn across_runs(report: &FleetReport, page: &mut Page<'_>) {
    for cohorts in report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit) {
        let measures = measures_of(cohorts);
        let unit = cohorts[0].cohort.unit;
        page.title(&format!("{} across {}s · {}", subject_title(report, unit), noun(unit), measures.unit()));
        let names = labels::header(cohorts);
        if cohorts.iter().all(|cohort| cohort.runs == 1) {
            one_run_each(cohorts, names, measures, page);
            header::runs_of_cohorts(report, cohorts, page);
            continue;
        }
        let mut columns = vec![Column::new("runs", 70)];
        columns.extend(value_columns(report, true));
        let rows = cohorts.iter().flat_map(|cohort| cohort_rows(report, cohort, measures));
        let rows = rows.collect();
        Table { names, columns, rows, is_alike: true }.write(page);
        for cohort in cohorts {
            for row in &cohort.across_runs.cautions {
                if let Some(text) = caution(row, &cohort.across_runs, measures) {
                    page.sentence(Some(Tone::Warning), 0, &format!("{}: {text}", labels::name(&cohort.cohort)));
                }
            }
        }
        if !report.assumption().is_empty() && !report.options.is_weighted {
            let text = format!("from, to: the {} interval{}.", report.options.confidence, report.assumption());
            page.sentence(Some(Tone::Dim), 0, &text);
        }
        page.explain_marks(&report.options);
        header::runs_of_cohorts(report, cohorts, page);
    }
}

/// Writes the single value of each cohort with one run, without percentiles and intervals.
fn one_run_each(cohorts: &[CohortReport], names: String, measures: Measures, page: &mut Page<'_>) {
    let row = |cohort: &CohortReport| {
        let cells = vec![Cell::value(cohort.across_runs.max, measures)];
        Row::cohort(cells, labels::values(&cohort.cohort))
    };
    let rows = cohorts.iter().map(row).collect();
    Table { names, columns: vec![value_column()], rows, is_alike: true }.write(page);
    let text = if cohorts.len() == 1 { "1 run" } else { "1 run in each cohort" };
    page.sentence(Some(Tone::Dim), 0, &format!("{text}: percentiles need more"))
}

/// The column for the value of a single run.
pub(super) fn value_column() -> Column {
    Column::new("value", SORTED).toned(Tone::Weight)
}

/// The number format for the runs of some cohorts with the same unit.
pub(super) fn measures_of(cohorts: &[CohortReport]) -> Measures {
    let unit = cohorts[0].cohort.unit;
    Measures::of(unit, cohorts.iter().filter_map(|cohort| cohort.across_runs.max).fold(0.0, f64::max))
}

/// Columns for percentiles, the largest value and the mean, in the order of [`value_cells`]. They are the same for all tables of a report, so all
/// tables leave out the same columns if space is short.
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
        // Columns that are unknown for every cohort are dropped first, from the tail on. Among the others, percentiles nearer to the tail stay
        // longest.
        let rank = match index {
            _ if !has_value(index) => 9 - index.min(9) as u32,
            _ if index == middle => 85,
            _ if Some(index) == highest => 80,
            _ => 20 + index.min(20) as u32,
        };
        let column = Column::new(&quantile.to_string(), rank);
        let column = sorted(column, options.sort == SortKey::Quantile(*quantile));
        if has_value(index) { column } else { column.ranked(rank) }
    };
    let mut columns: Vec<Column> = options.quantiles.iter().enumerate().map(column).collect();
    columns.push(sorted(Column::new("max", 90), options.sort == SortKey::Max));
    columns.push(sorted(Column::new("mean", 75), options.sort == SortKey::Mean));
    if has_mean_by_time {
        columns.push(sorted(Column::new("by time", 15), options.sort == SortKey::WeightedMean));
    }
    columns
}

/// Keeps the sort column on the page, and highlights it.
fn sorted(column: Column, is_sorted_by: bool) -> Column {
    if is_sorted_by { column.toned(Tone::Weight).ranked(SORTED) } else { column }
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

/// The values of a cohort, and the ends of their intervals below.
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
    rows.push(interval("  to", |estimate| estimate.interval.upper));
    rows
}

/// Writes the windows of one second. They show how bursty runs are, not how many runs are slow.
pub(super) fn within_runs(report: &FleetReport, cohort: &CohortReport, page: &mut Page<'_>) {
    if cohort.cohort.unit.is_of_reports() {
        return;
    }
    let Some(windows) = &cohort.within_runs else {
        return page.painted(Tone::Dim, "within runs: no run is as long as a window of 1 s");
    };
    let measures = Measures::of(cohort.cohort.unit, windows.pooled.max.unwrap_or(0.0));
    let buckets = if windows.pooled.is_exact { String::new() } else { format!(" · {WITHIN}") };
    page.sentence(Some(Tone::Title), 0, &format!("within runs: 1 s windows · {}{buckets}", measures.unit()));
    let mut columns = vec![Column::new("number", 10)];
    columns.extend(value_columns(report, false));
    let row = |summary: &Summary, name: &str| {
        let mut cells = vec![Cell::new(&thousands(summary.count))];
        cells.extend(value_cells(summary, false, measures, &report.options));
        Row::new(cells, name, "")
    };
    let runs = many(windows.runs, "run");
    let mut rows = vec![row(&windows.pooled, &format!("all windows of {runs}"))];
    // With a single run, the busiest window is the maximum of the windows above.
    if windows.runs > 1 {
        rows.push(row(&windows.peaks, "busiest window of each run"));
    }
    Table { names: String::new(), columns, rows, is_alike: true }.write(page)
}

pub(super) fn scope_table(
    report: &FleetReport,
    cohort: &CohortReport,
    name: &str,
    table: &ScopeTable,
    page: &mut Page<'_>,
) {
    let largest = table.rows.iter().filter_map(|row| row.summary.max).fold(0.0, f64::max);
    let measures = Measures::of(cohort.cohort.unit, largest);
    let (what, names) = (table.scope.plural(), table.scope.name());
    let runs = many(cohort.runs, "run");
    page.title(&format!("{what} of {name} · {} · {runs}", measures.unit()));
    if table.rows.is_empty() {
        return page.painted(Tone::Dim, &format!("no {what}"));
    }
    let names = names.to_owned();
    // The values in metrics are not counts of samples.
    let is_sampled = !cohort.cohort.unit.is_of_metrics();
    let samples = is_sampled.then(|| Column::new("samples", 10));
    let table_of_values = if cohort.runs == 1 {
        let rows = table.rows.iter().map(|row| one_run_row(row, measures, is_sampled)).collect();
        Table { names, columns: std::iter::once(value_column()).chain(samples).collect(), rows, is_alike: true }
    } else {
        let mut columns = value_columns(report, false);
        columns.push(Column::new("in runs", 45));
        columns.extend(samples);
        mark_headers(&mut columns, table);
        let rows = table.rows.iter().map(|row| scope_row(row, measures, is_sampled, &report.options)).collect();
        Table { names, columns, rows, is_alike: true }
    };
    table_of_values.write(page);
    header::runs_of_first_row(report, table, page);
    if table.hidden == 0 {
        return;
    }
    page.painted(Tone::Dim, &format!("and {} more {what}", thousands(table.hidden)))
}

/// Marks headers instead of cells: all rows of a table have the same number of runs, so a note about a percentile applies to its whole column.
fn mark_headers(columns: &mut [Column], table: &ScopeTable) {
    for (index, column) in columns.iter_mut().enumerate() {
        let mut estimates = table.rows.iter().filter_map(|row| row.summary.estimates.get(index));
        if estimates.any(|estimate| estimate.support == Support::UpperUnknown) {
            column.mark = '*';
        }
    }
}

/// A row of a cohort with one run.
fn one_run_row(row: &ScopeRow, measures: Measures, is_sampled: bool) -> Row {
    let (name, owner) = name_of(&row.name);
    let mut cells = vec![Cell::value(row.summary.max, measures)];
    cells.extend(is_sampled.then(|| Cell::new(&thousands(row.samples))));
    Row::new(cells, &name, &owner)
}

fn scope_row(row: &ScopeRow, measures: Measures, is_sampled: bool, options: &FleetOptions) -> Row {
    let mut cells = value_cells(&row.summary, false, measures, options);
    for (index, cell) in cells.iter_mut().enumerate().take(row.summary.estimates.len()) {
        cell.plain();
        if row.is_noise(index) && !cell.is_too_few() {
            *cell = std::mem::take(cell).noise();
        }
    }
    cells.push(Cell::new(&thousands(row.summary.count - row.summary.zeros)));
    cells.extend(is_sampled.then(|| Cell::new(&thousands(row.samples))));
    let (name, owner) = name_of(&row.name);
    Row::new(cells, &name, &owner)
}

/// The maximum width of a cohort's name above its values.
const NAME_ABOVE_VALUES: usize = 16;
/// The maximum width of a cohort's name next to its value.
const NAME_AT_VALUE: usize = 22;
/// The maximum number of rows in a table; JSON contains all rows.
const ROWS: usize = 20;

pub(super) fn contrasts(report: &FleetReport, page: &mut Page<'_>) {
    for contrasts in report.contrasts.chunk_by(|a, b| a.unit == b.unit) {
        // All tables have the same layout: the first one that fits all of them.
        let fits =
            |contrast: &Contrast| every_cohort(report, contrast, measures_of_contrast(contrast)).fits(page.style.width);
        let make = if contrasts.iter().all(fits) { every_cohort } else { extremes };
        for contrast in contrasts {
            contrast_table(report, contrast, make, page);
        }
        // Here, the noise mark refers to the largest value, so it needs a different sentence.
        let shown = |contrast: &Contrast| contrast.rows.iter().take(ROWS).any(|row| row.is_noise);
        if contrasts.iter().any(shown) {
            let text = "~: the largest value is within the sampling noise of identical runs.";
            page.sentence(Some(Tone::Dim), 0, text);
        }
        if let Some(sentence) = too_few_to_compare(report, &contrasts[0], labels::name) {
            page.sentence(Some(Tone::Warning), 0, &sentence);
        }
    }
}

/// A layout for differences.
type Make = fn(&FleetReport, &Contrast, Measures) -> Table;

fn measures_of_contrast(contrast: &Contrast) -> Measures {
    let largest = contrast.rows.iter().flat_map(|row| row.values.iter().copied()).fold(0.0, f64::max);
    Measures::of(contrast.unit, largest)
}

fn contrast_table(report: &FleetReport, contrast: &Contrast, make: Make, page: &mut Page<'_>) {
    let measures = measures_of_contrast(contrast);
    let (by, what) = (by_words(report), contrast.scope.plural());
    page.title(&format!("largest differences between cohorts at {by} · {what} · {}", measures.unit()));
    if contrast.rows.is_empty() {
        return page.painted(Tone::Dim, "no differences");
    }
    make(report, contrast, measures).write(page);
    let more = contrast.rows.len().saturating_sub(ROWS);
    if more > 0 {
        page.painted(Tone::Dim, &format!("and {}; JSON has all", many(more as u64, "smaller difference")));
    }
}

/// The compared value, in words.
fn by_words(report: &FleetReport) -> String {
    match report.options.sort {
        SortKey::Quantile(quantile) => quantile.to_string(),
        SortKey::Mean => "the mean".to_owned(),
        SortKey::WeightedMean => "the weighted mean".to_owned(),
        SortKey::Max | SortKey::HighestSupported => "the largest".to_owned(),
    }
}

/// The names of the compared cohorts, shortened for columns.
fn short_names(report: &FleetReport, contrast: &Contrast, room: usize) -> Vec<String> {
    let cohorts = contrast.cohorts.iter().filter_map(|&cohort| report.cohorts.get(cohort));
    labels::names(cohorts.map(|cohort| &cohort.cohort), Some(room))
}

/// A layout with a column for each cohort.
fn every_cohort(report: &FleetReport, contrast: &Contrast, measures: Measures) -> Table {
    let mut columns = vec![difference_column()];
    columns.extend(short_names(report, contrast, NAME_ABOVE_VALUES).iter().map(|name| Column::new(name, 90)));
    let cells = |row: &ContrastRow| {
        let values = row.values.iter().map(|value| Cell::new(&measures.number(*value)));
        [difference(row, measures)].into_iter().chain(values).collect()
    };
    // A cohort's column must not be dropped because another table dropped it.
    Table { is_alike: false, ..table(contrast, columns, &cells) }
}

/// A layout with the cohorts with the smallest and the largest value.
fn extremes(report: &FleetReport, contrast: &Contrast, measures: Measures) -> Table {
    let names = short_names(report, contrast, NAME_AT_VALUE);
    let of = |position: Option<usize>| position.and_then(|index| names.get(index).cloned()).unwrap_or_default();
    let mut columns = vec![difference_column()];
    for (header, rank) in [("lowest", 80), ("lowest in", 70), ("highest", 80), ("highest in", 75)] {
        columns.push(Column::new(header, rank));
    }
    let cells = |row: &ContrastRow| {
        let positions = || 0..row.values.len();
        let lowest = positions().min_by(|&a, &b| row.values[a].total_cmp(&row.values[b]));
        // If several are equal, take the first, as for the lowest.
        let highest = positions().rev().max_by(|&a, &b| row.values[a].total_cmp(&row.values[b]));
        let value = |position: Option<usize>| {
            position.map(|position| Cell::new(&measures.number(row.values[position]))).unwrap_or_default()
        };
        let name = |position| Cell::new(&of(position));
        vec![difference(row, measures), value(lowest), name(lowest), value(highest), name(highest)]
    };
    table(contrast, columns, &cells)
}

fn table(contrast: &Contrast, columns: Vec<Column>, cells: &dyn Fn(&ContrastRow) -> Vec<Cell>) -> Table {
    let row = |row: &ContrastRow| {
        let (name, owner) = name_of(&row.name);
        Row::new(cells(row), &name, &owner)
    };
    let names = contrast.scope.name();
    Table { names: names.to_owned(), columns, rows: contrast.rows.iter().take(ROWS).map(row).collect(), is_alike: true }
}

fn difference_column() -> Column {
    Column::new("difference", SORTED).toned(Tone::Weight)
}

fn difference(row: &ContrastRow, measures: Measures) -> Cell {
    let cell = Cell::new(&measures.number(row.difference));
    if row.is_noise { cell.noise() } else { cell }
}
