//! Processes, threads, binaries and functions as tables.

use std::io;

use super::cohorts::{value_cells, value_column, value_columns};
use super::findings;
use super::notes::Cell;
use super::page::Page;
use super::table::{Column, Row, Table};
use super::words::{many, scope_names, thousands};
use crate::fleet::{CohortReport, FleetOptions, FleetReport, FleetScope, ScopeRow, ScopeTable};
use crate::output::fleet::measures::Measures;
use crate::output::text::style::Tone;
use crate::stats::Support;

pub(super) fn write(
    report: &FleetReport,
    cohort: &CohortReport,
    name: &str,
    table: &ScopeTable,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let largest = table.rows.iter().filter_map(|row| row.summary.max).fold(0.0, f64::max);
    let measures = Measures::of(cohort.cohort.unit, largest);
    let (what, names) = words(table.scope);
    let runs = many(cohort.runs, "run");
    page.title(&format!("{what} of {name} · {} · {runs}", measures.unit()))?;
    if table.rows.is_empty() {
        return page.painted(Tone::Dim, &format!("no {what}"));
    }
    let names = names.to_owned();
    let samples = Column::new("samples", 10);
    let table_of_values = if cohort.runs == 1 {
        let rows = table.rows.iter().map(|row| one_run_row(row, measures)).collect();
        Table { names, columns: vec![value_column(), samples], rows, is_alike: true }
    } else {
        let mut columns = value_columns(report, false);
        columns.extend([Column::new("in runs", 45), samples]);
        mark_headers(&mut columns, table);
        let rows = table.rows.iter().map(|row| scope_row(row, measures, &report.options)).collect();
        Table { names, columns, rows, is_alike: true }
    };
    table_of_values.write(page)?;
    findings::runs_of_first_row(report, table, page)?;
    if table.hidden == 0 {
        return Ok(());
    }
    page.painted(Tone::Dim, &format!("and {} more {what}", thousands(table.hidden)))
}

/// The words for rows: the plural, and the heading above their names.
pub(super) const fn words(scope: FleetScope) -> (&'static str, &'static str) {
    match scope {
        FleetScope::Run => ("runs", "run"),
        FleetScope::Process => ("processes", "process"),
        FleetScope::Thread => ("threads", "thread"),
        FleetScope::Binary => ("binaries", "binary"),
        FleetScope::Function => ("functions", "function"),
    }
}

/// All rows of a table have the same number of runs, so what is true of a percentile is true of its whole column, and
/// the header has the mark.
fn mark_headers(columns: &mut [Column], table: &ScopeTable) {
    for (index, column) in columns.iter_mut().enumerate() {
        let mut estimates = table.rows.iter().filter_map(|row| row.summary.estimates.get(index));
        if estimates.any(|estimate| estimate.support == Support::UpperUnknown) {
            column.header = column.header.replacen(' ', "*", 1);
        }
    }
}

/// A row of a cohort of one run.
fn one_run_row(row: &ScopeRow, measures: Measures) -> Row {
    let (name, owner) = scope_names(&row.name);
    Row::new(vec![Cell::value(row.summary.max, measures), Cell::new(&thousands(row.samples))], &name, &owner)
}

fn scope_row(row: &ScopeRow, measures: Measures, options: &FleetOptions) -> Row {
    let mut cells = value_cells(&row.summary, false, measures, options);
    for (index, cell) in cells.iter_mut().enumerate().take(row.summary.estimates.len()) {
        cell.text = cell.text.replace('*', " ");
        if row.is_noise(index) && !cell.is_too_few() {
            *cell = std::mem::take(cell).noise();
        }
    }
    cells.push(Cell::new(&thousands(row.summary.count - row.summary.zeros)));
    cells.push(Cell::new(&thousands(row.samples)));
    let (name, owner) = scope_names(&row.name);
    Row::new(cells, &name, &owner)
}
