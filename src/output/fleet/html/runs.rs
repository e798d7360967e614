//! The runs, sorted by CPU use, highest first.

use super::outline::section;
use super::run_pages::Links;
use super::scopes::filter;
use super::table::{
    Column, cohort_name, count, folded, hidden, measure_with_unit, nothing, number, row_name, seconds, text, weight,
};
use crate::fleet::{FleetReport, RunRow};
use crate::output::fleet::sentences::subject_of_all;
use crate::output::fleet::thousands;
use crate::output::inert::Text;
use crate::recording::TimeSource;
use crate::units::capitalized;
use crate::units::{Millionths, Nanos, Unit};

/// Rows of the table.
const MAX_ROWS: usize = 2_000;

/// The section; none without runs.
pub(super) fn runs(report: &FleetReport, links: &Links<'_>) -> String {
    let unit = |run: &RunRow| report.cohorts.get(run.cohort).map_or(Unit::Nanoseconds, |cohort| cohort.cohort.unit);
    let mut runs: Vec<(usize, &RunRow)> = report.runs.iter().enumerate().collect();
    // Stable: equal runs stay in the order of their sources.
    runs.sort_by(|(_, a), (_, b)| unit(a).cmp(&unit(b)).then(b.rate.cmp(&a.rate)));
    let is_one_unit = runs.iter().all(|(_, run)| unit(run) == unit(runs[0].1));
    let mut columns = vec![Column::text("Run")];
    if report.cohorts.len() > 1 {
        columns.push(Column::text("Cohort"));
    }
    columns.extend([
        Column::number(&capitalized(subject_of_all(report))).sorted(is_one_unit),
        Column::number("Busiest second"),
        Column::number("Recorded, s").hint("≈ is the time that samples cover: CPU use is overstated"),
        Column::number("Weight"),
        Column::number("Samples"),
    ]);
    if report.options.is_weighted {
        columns.push(Column::number("Run weight"));
    }
    let row = |&(position, run): &(usize, &RunRow)| {
        let name = row_name(&links.run(position));
        std::iter::once(name).chain(cells(report, run, unit(run))).collect()
    };
    section(report, "runs", || {
        let table = folded("Runs", &columns, runs.iter().take(MAX_ROWS).map(row));
        let hidden = hidden(runs.len().saturating_sub(MAX_ROWS), |hidden| {
            format!("{} runs with lower {} are not shown.", thousands(hidden), subject_of_all(report))
        });
        format!("<h2>Runs</h2>\n{}{table}{hidden}", filter("runs", "runs"))
    })
}

/// The cells of a run after its name.
fn cells(report: &FleetReport, run: &RunRow, unit: Unit) -> Vec<String> {
    let measured = |value: f64| number(value, &Text(&measure_with_unit(value, unit)).to_string());
    let mut cells = Vec::new();
    if report.cohorts.len() > 1 {
        let cohort = report.cohorts.get(run.cohort).map_or(String::new(), |cohort| cohort_name(&cohort.cohort));
        cells.push(text(&cohort));
    }
    let mark = if run.wall_source == TimeSource::Samples { "≈ " } else { "" };
    let wall =
        |wall: Nanos| number(wall.as_nanos() as f64 / 1e9, &Text(&format!("{mark}{}", seconds(wall))).to_string());
    cells.extend([
        measured(run.rate.as_f64()),
        run.window_max.map(Millionths::as_f64).map_or_else(nothing, measured),
        run.recorded().map_or_else(nothing, wall),
        number(run.weight as f64, &weight(run.weight, unit)),
        count(run.samples),
    ]);
    if report.options.is_weighted {
        cells.push(format!("<td data-value=\"{0}\">{0}</td>", Text(&run.run_weight.to_string())));
    }
    cells
}
