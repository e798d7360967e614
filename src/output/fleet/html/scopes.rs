//! Tables of processes, threads, binaries and functions: one for each cohort.

use std::io::{self, Write};

use super::findings;
use super::numbers::{count, counted, measure};
use super::outline::{MAX_COHORTS, SCOPE_ROWS, has_section};
use super::row_names::{cohort_name, scope_names, scope_words};
use super::run_pages::{Links, RunPlace};
use super::table::{self, Column, summary_columns};
use super::text::Text;
use crate::fleet::{CohortReport, FleetReport, FleetScope, ScopeRow, ScopeTable};
use crate::output::fleet::sentences::statistic_name;
use crate::stats::Quantile;
use crate::units::Unit;

/// The section, scope by scope.
pub(super) fn write(report: &FleetReport, links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !has_section(report, "scopes") {
        return Ok(());
    }
    out.write_all(b"<section id=\"scopes\">\n<h2>Where the CPU time goes</h2>\n")?;
    writeln!(
        out,
        "<p>Across runs; a run without a row counts as zero there. {} “~” marks percentiles that are no more than sampling \
         noise gives.</p>",
        table::small_numbers(report)
    )?;
    for scope in FleetScope::ALL {
        let tables: Vec<(&CohortReport, &ScopeTable)> = report
            .cohorts
            .iter()
            .filter_map(|cohort| Some((cohort, cohort.tables.iter().find(|table| table.scope == scope)?)))
            .collect();
        if !tables.is_empty() {
            write_scope(report, scope, &tables, links, out)?;
        }
    }
    out.write_all(b"</section>\n")
}

fn write_scope(
    report: &FleetReport,
    scope: FleetScope,
    tables: &[(&CohortReport, &ScopeTable)],
    links: &Links<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (id, words) = (scope.name(), scope_words(scope).1);
    writeln!(out, "<section id=\"scope-{id}\">\n<h3>{words}</h3>")?;
    filter(&format!("scope-{id}"), &words.to_lowercase(), out)?;
    for (index, &(cohort, table)) in tables.iter().take(MAX_COHORTS).enumerate() {
        let open = if index == 0 { " open" } else { "" };
        let name = cohort_name(&cohort.cohort);
        let runs = counted(cohort.runs, "run");
        writeln!(out, "<details{open}><summary>{} <small>{runs}</small></summary>", Text(&name))?;
        write_table(report, (cohort, table), &name, links, out)?;
        out.write_all(b"</details>\n")?;
    }
    if let hidden @ 1.. = tables.len().saturating_sub(MAX_COHORTS) {
        writeln!(
            out,
            "<p class=\"hidden\">{} more have no table here; JSON and CSV have all.</p>",
            counted(hidden as u64, "cohort")
        )?;
    }
    out.write_all(b"</section>\n")
}

/// A box that filters the rows of the tables of a section, if scripts run.
pub(super) fn filter(section: &str, what: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<p class=\"filter needs-script\"><label>Filter {what} <input type=\"search\" data-filter=\"{section}\" \
         autocomplete=\"off\" spellcheck=\"false\"></label> <output></output></p>"
    )
}

fn write_table(
    report: &FleetReport,
    (cohort, table): (&CohortReport, &ScopeTable),
    name: &str,
    links: &Links<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (one, many) = scope_words(table.scope);
    let unit = cohort.cohort.unit;
    let mut columns = vec![Column::text(one), Column::number("Runs").hint("Runs that have it, of all runs")];
    columns.extend(summary_columns(&report.options, Some(report.options.sort), true));
    columns.push(Column::number("Samples"));
    table::open(out, &format!("{many} of {name}, in {}", unit.rate_name()), &columns)?;
    for row in table.rows.iter().take(SCOPE_ROWS) {
        write_row(report, table.scope, row, (unit, links), out)?;
    }
    table::close(out)?;
    let rows = table.rows.iter().map(|row| (findings::short_name(&row.name), &row.name, &row.summary));
    findings::runs(report, rows, out)?;
    match table.rows.len().saturating_sub(SCOPE_ROWS) as u64 + table.hidden {
        0 => Ok(()),
        hidden => writeln!(
            out,
            "<p class=\"hidden\">{} rows below these are not shown, in the order of {}.</p>",
            count(hidden),
            Text(&statistic_name(&report.options.sort.name()))
        ),
    }
}

fn write_row(
    report: &FleetReport,
    scope: FleetScope,
    row: &ScopeRow,
    (unit, links): (Unit, &Links<'_>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let (name, within) = scope_names(scope, &row.name);
    let (summary, place) = (&row.summary, RunPlace::Row(row.name.clone()));
    table::open_row(out, &name, within.as_deref())?;
    table::count(out, summary.count - summary.zeros.min(summary.count))?;
    table::measure(out, summary.mean, unit)?;
    table::measure(out, summary.weighted_mean, unit)?;
    for (index, estimate) in summary.estimates.iter().enumerate() {
        // Half of all runs are below the median even if they are identical: only values above it show a tail.
        let is_noise = estimate.quantile > Quantile::P50 && row.is_noise(index);
        let noise = row.noise.get(index).copied().flatten().filter(|_| is_noise);
        let runs = summary.percentile_runs.get(index).map_or(&[][..], Vec::as_slice);
        table::estimate(out, report, (estimate, unit, noise), &|shown| links.number(shown, runs, &place))?;
    }
    let max = summary.max.unwrap_or(0.0);
    let shown = links.number(&measure(max, unit), summary.max_run.as_slice(), &place);
    largest(report, row, (max, &shown), out)?;
    table::count(out, row.samples)?;
    table::close_row(out)
}

/// The largest value as HTML, with the runs behind it and behind the highest percentile as its title.
fn largest(report: &FleetReport, row: &ScopeRow, (max, shown): (f64, &str), out: &mut dyn Write) -> io::Result<()> {
    match findings::title(report, &row.summary) {
        Some(title) => write!(out, "<td data-value=\"{max}\" title=\"{}\">{shown}</td>", Text(&title)),
        None => table::number_as(out, max, shown),
    }
}
