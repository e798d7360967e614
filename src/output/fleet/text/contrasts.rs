//! The rows that differ most between cohorts.

use std::io;

use super::labels;
use super::notes::Cell;
use super::page::Page;
use super::scopes::words;
use super::table::{Column, Row, SORTED, Table};
use super::words::{many, scope_names};
use crate::fleet::{Contrast, ContrastRow, FleetReport, SortKey};
use crate::output::fleet::measures::Measures;
use crate::output::fleet::sentences::too_few_to_compare;
use crate::output::text::style::Tone;

/// Columns of a cohort's name above its values.
const LABEL: usize = 16;
/// Columns of a cohort's name next to its value.
const NAME: usize = 22;
/// Rows of a table; the whole of it is in JSON.
const ROWS: usize = 20;

pub(super) fn write(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    for contrasts in report.contrasts.chunk_by(|a, b| a.unit == b.unit) {
        // All tables have the same form, the one that fits everywhere.
        let fits = |contrast: &Contrast| every_cohort(report, contrast, measures_of(contrast)).fits(page.style.width);
        let make = if contrasts.iter().all(fits) { every_cohort } else { extremes };
        for contrast in contrasts {
            one(report, contrast, make, page)?;
        }
        // The mark for noise is about the largest value here, so its sentence is another.
        let shown = |contrast: &Contrast| contrast.rows.iter().take(ROWS).any(|row| row.is_noise);
        if contrasts.iter().any(shown) {
            let text = "~: the largest value is no more than sampling noise in identical runs.";
            page.sentence(Some(Tone::Dim), 0, text)?;
        }
        if let Some(sentence) = too_few_to_compare(report, &contrasts[0], labels::name) {
            page.sentence(Some(Tone::Warning), 0, &sentence)?;
        }
    }
    Ok(())
}

/// A way to show differences.
type Make = fn(&FleetReport, &Contrast, Measures) -> Table;

fn measures_of(contrast: &Contrast) -> Measures {
    let largest = contrast.rows.iter().flat_map(|row| row.values.iter().copied()).fold(0.0, f64::max);
    Measures::of(contrast.unit, largest)
}

fn one(report: &FleetReport, contrast: &Contrast, make: Make, page: &mut Page<'_>) -> io::Result<()> {
    let measures = measures_of(contrast);
    let (by, (what, _)) = (by_words(report), words(contrast.scope));
    page.title(&format!("largest differences between cohorts at {by} · {what} · {}", measures.unit()))?;
    if contrast.rows.is_empty() {
        return page.painted(Tone::Dim, "no differences");
    }
    make(report, contrast, measures).write(page)?;
    let more = contrast.rows.len().saturating_sub(ROWS);
    if more > 0 {
        page.painted(Tone::Dim, &format!("and {}; JSON has all", many(more as u64, "smaller difference")))?;
    }
    Ok(())
}

/// The value that is compared, in words.
fn by_words(report: &FleetReport) -> String {
    match report.options.sort {
        SortKey::Quantile(quantile) => quantile.to_string(),
        SortKey::Mean => "the mean".to_owned(),
        SortKey::WeightedMean => "the mean by time".to_owned(),
        SortKey::Max | SortKey::HighestSupported => "the largest".to_owned(),
    }
}

/// The names of the cohorts that are compared, short enough for columns.
fn short_names(report: &FleetReport, contrast: &Contrast, room: usize) -> Vec<String> {
    let cohorts = contrast.cohorts.iter().filter_map(|&cohort| report.cohorts.get(cohort));
    labels::names(cohorts.map(|cohort| &cohort.cohort), Some(room))
}

/// A column for each cohort.
fn every_cohort(report: &FleetReport, contrast: &Contrast, measures: Measures) -> Table {
    let mut columns = vec![difference_column()];
    columns.extend(short_names(report, contrast, LABEL).iter().map(|name| Column::new(name, 90)));
    let cells = |row: &ContrastRow| {
        let values = row.values.iter().map(|value| Cell::new(&measures.number(*value)));
        [difference(row, measures)].into_iter().chain(values).collect()
    };
    // A cohort's column must not be dropped because another table dropped it.
    Table { is_alike: false, ..table(contrast, columns, &cells) }
}

/// The cohorts with the smallest and the largest value.
fn extremes(report: &FleetReport, contrast: &Contrast, measures: Measures) -> Table {
    let names = short_names(report, contrast, NAME);
    let of = |position: Option<usize>| position.and_then(|index| names.get(index).cloned()).unwrap_or_default();
    let mut columns = vec![difference_column()];
    for (header, keep) in [("lowest", 80), ("lowest in", 70), ("highest", 80), ("highest in", 75)] {
        columns.push(Column::new(header, keep));
    }
    let cells = |row: &ContrastRow| {
        let positions = || 0..row.values.len();
        let lowest = positions().min_by(|&a, &b| row.values[a].total_cmp(&row.values[b]));
        // The first of equal ones, as among the lowest.
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
        let (name, owner) = scope_names(&row.name);
        Row::new(cells(row), &name, &owner)
    };
    let (_, names) = words(contrast.scope);
    Table { names: names.to_owned(), columns, rows: contrast.rows.iter().take(ROWS).map(row).collect(), is_alike: true }
}

fn difference_column() -> Column {
    Column { tone: Some(Tone::Weight), ..Column::new("difference", SORTED) }
}

fn difference(row: &ContrastRow, measures: Measures) -> Cell {
    let cell = Cell::new(&measures.number(row.difference));
    if row.is_noise { cell.noise() } else { cell }
}
