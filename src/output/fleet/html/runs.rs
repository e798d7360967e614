//! The runs, sorted by CPU use, highest first.

use crate::output::fleet::sentences::{subject, subject_inside};
use std::io::{self, Write};

use super::numbers::{count, measure_with_unit, seconds, weight};
use super::row_names::cohort_name;
use super::run_pages::Links;
use super::scopes;
use super::table::{self, Column};
use super::text::Text;
use crate::fleet::{FleetReport, RunRow};
use crate::recording::TimeSource;
use crate::units::{Millionths, Unit};

/// Rows of the table.
const MAX_ROWS: usize = 2_000;

/// The section; none without runs.
pub(super) fn write(report: &FleetReport, links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    if report.runs.is_empty() {
        return Ok(());
    }
    out.write_all(b"<section id=\"runs\">\n<h2>Runs</h2>\n")?;
    scopes::filter("runs", "runs", out)?;
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
        Column::number(subject(report)).sorted(is_one_unit),
        Column::number("Busiest second"),
        Column::number("Recorded, s").hint("≈ is the time that samples cover: CPU use is overstated"),
        Column::number("Weight"),
        Column::number("Samples"),
    ]);
    if report.options.is_weighted {
        columns.push(Column::number("Run weight"));
    }
    table::open(out, "Runs", &columns)?;
    for &(position, run) in runs.iter().take(MAX_ROWS) {
        table::open_row_as(out, &links.run(position))?;
        row(report, run, unit(run), out)?;
    }
    table::close(out)?;
    if let hidden @ 1.. = runs.len().saturating_sub(MAX_ROWS) {
        writeln!(
            out,
            "<p class=\"hidden\">{} runs with lower {} are not shown.</p>",
            count(hidden as u64),
            subject_inside(report)
        )?;
    }
    out.write_all(b"</section>\n")
}

/// The cells of a run after its name.
fn row(report: &FleetReport, run: &RunRow, unit: Unit, out: &mut dyn Write) -> io::Result<()> {
    if report.cohorts.len() > 1 {
        let cohort = report.cohorts.get(run.cohort).map_or(String::new(), |cohort| cohort_name(&cohort.cohort));
        table::text(out, &cohort)?;
    }
    let rate = run.rate.as_f64();
    table::number(out, rate, &measure_with_unit(rate, unit))?;
    match run.window_max.map(Millionths::as_f64) {
        Some(max) => table::number(out, max, &measure_with_unit(max, unit))?,
        None => table::nothing(out)?,
    }
    let mark = if run.wall_source == TimeSource::Samples { "≈ " } else { "" };
    table::number(out, run.wall.as_nanos() as f64 / 1e9, &format!("{mark}{}", seconds(run.wall)))?;
    table::number(out, run.weight as f64, &weight(run.weight, unit))?;
    table::count(out, run.samples)?;
    if report.options.is_weighted {
        write!(out, "<td data-value=\"{0}\">{0}</td>", Text(&run.run_weight.to_string()))?;
    }
    table::close_row(out)
}
