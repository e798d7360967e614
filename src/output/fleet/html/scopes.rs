//! Tables of processes, threads, binaries and functions: one for each cohort, and the rows that differ most between cohorts.

use super::outline::{MAX_COHORTS, SCOPE_ROWS, section};
use super::run_pages::{Links, RunPlace};
use super::table::{
    Column, cohort_name, count, folded, hidden, measure, scope_row, small_numbers, summary_cells, summary_columns,
    table,
};
use crate::fleet::{
    CohortReport, Contrast, ContrastRow, FleetReport, FleetScope, ScopeName, ScopeRow, ScopeTable, Summary,
};
use crate::output::fleet::opening::{Behind, command, name_of};
use crate::output::fleet::sentences::{statistic_name, too_few_to_compare};
use crate::output::fleet::{many, thousands};
use crate::output::inert::{Text, cut, shortened};
use crate::stats::Quantile;
use crate::units::Unit;
use crate::units::capitalized;

/// Rows of a table of differences.
const MAX_ROWS: usize = 50;
/// Rows of a list of runs.
const RUN_ROWS: usize = 20;
/// Letters of the name of a cohort above its column.
const LONGEST_HEAD: usize = 40;

/// The section of tables, scope by scope.
pub(super) fn scopes(report: &FleetReport, links: &Links<'_>) -> String {
    let of_scope = |scope: FleetScope| {
        let tables = report
            .cohorts
            .iter()
            .filter_map(|cohort| Some((cohort, cohort.tables.iter().find(|table| table.scope == scope)?)));
        one_scope(report, scope, &tables.collect::<Vec<_>>(), links)
    };
    section(report, "scopes", || {
        format!(
            "<h2>Where the CPU time goes</h2>\n<p>Across runs; a run without a row counts as zero there. {} “~” marks percentiles \
             that are no more than sampling noise gives.</p>\n{}",
            small_numbers(report),
            FleetScope::ALL.map(of_scope).concat()
        )
    })
}

fn one_scope(
    report: &FleetReport,
    scope: FleetScope,
    tables: &[(&CohortReport, &ScopeTable)],
    links: &Links<'_>,
) -> String {
    if tables.is_empty() {
        return String::new();
    }
    let (id, words) = (scope.name(), capitalized(scope.plural()));
    let of_cohort = |&(cohort, table): &(&CohortReport, &ScopeTable)| {
        let (name, runs) = (cohort_name(&cohort.cohort), many(cohort.runs, "run"));
        let table = rows_of_cohort(report, (cohort, table), &name, links);
        format!("<details><summary>{} <small>{runs}</small></summary>\n{table}</details>\n", Text(&name))
    };
    let tables_of_cohorts: String = tables.iter().take(MAX_COHORTS).map(of_cohort).collect();
    let hidden = hidden(tables.len().saturating_sub(MAX_COHORTS), |hidden| {
        format!("{} more have no table here; JSON and CSV have all.", many(hidden, "cohort"))
    });
    let filter = filter(&format!("scope-{id}"), &words.to_lowercase());
    format!("<section id=\"scope-{id}\">\n<h3>{words}</h3>\n{filter}{tables_of_cohorts}{hidden}</section>\n")
}

/// A box that filters the rows of the tables of a section, if scripts run.
pub(super) fn filter(section: &str, what: &str) -> String {
    format!(
        "<p class=\"filter needs-script\"><label>Filter {what} <input type=\"search\" data-filter=\"{section}\" \
         autocomplete=\"off\" spellcheck=\"false\"></label> <output></output></p>\n"
    )
}

fn rows_of_cohort(
    report: &FleetReport,
    (cohort, rows): (&CohortReport, &ScopeTable),
    name: &str,
    links: &Links<'_>,
) -> String {
    let [one, many] = [rows.scope.name(), rows.scope.plural()].map(capitalized);
    let unit = cohort.cohort.unit;
    let mut columns = vec![Column::text(&one), Column::number("Runs").hint("Runs that have it, of all runs")];
    columns.extend(summary_columns(&report.options, Some(report.options.sort), true));
    columns.push(Column::number("Samples"));
    let label = format!("{many} of {name}, in {}", unit.rate_name());
    let shown = rows.rows.iter().take(SCOPE_ROWS).map(|row| cells(report, rows.scope, row, (unit, links)));
    let table = table(&label, &columns, shown);
    let named = rows.rows.iter().map(|row| (name_of(&row.name).0, &row.name, &row.summary));
    let hidden = hidden(rows.rows.len().saturating_sub(SCOPE_ROWS) + rows.hidden as usize, |hidden| {
        let order = statistic_name(&report.options.sort.name());
        format!("{} rows below these are not shown, in the order of {}.", thousands(hidden), Text(&order))
    });
    format!("{table}{}{hidden}", runs_behind(report, named))
}

fn cells(report: &FleetReport, scope: FleetScope, row: &ScopeRow, (unit, links): (Unit, &Links<'_>)) -> Vec<String> {
    let (summary, place) = (&row.summary, RunPlace::Row(row.name.clone()));
    // Half of all runs are below the median even if they are identical: only values above it show a tail.
    let is_noise = |index: usize| summary.estimates[index].quantile > Quantile::P50 && row.is_noise(index);
    let noise =
        (0..summary.estimates.len()).map(|index| row.noise.get(index).copied().flatten().filter(|_| is_noise(index)));
    let title = Behind::of(report, summary).words().map(|words| shortened(&words));
    let link = |shown: &str, runs: &[usize]| links.number(shown, runs, &place);
    let mut cells = vec![scope_row(scope, &row.name), count(summary.count - summary.zeros.min(summary.count))];
    cells.extend(summary_cells(report, (summary, unit, true), &noise.collect::<Vec<_>>(), title.as_deref(), &link));
    cells.push(count(row.samples));
    cells
}

/// The runs behind the rows of a table, folded, with the command that opens the heaviest one.
pub(super) fn runs_behind<'r>(
    report: &FleetReport,
    rows: impl Iterator<Item = (String, &'r ScopeName, &'r Summary)>,
) -> String {
    let row = |(name, scope, summary): (String, &ScopeName, &Summary)| {
        let behind = Behind::of(report, summary);
        let words = shortened(&behind.words()?);
        let command = behind.max.and_then(|run| command(report, run, scope));
        let command = command.map(|words| format!("<code>{}</code>\n", Text(&words.join(" ")))).unwrap_or_default();
        Some(format!("<dt>{}</dt><dd>{}\n{command}</dd>\n", Text(&shortened(&name)), Text(&words)))
    };
    let rows: String = rows.take(RUN_ROWS).filter_map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("<details class=\"behind\"><summary>Runs behind the numbers</summary>\n<dl>\n{rows}</dl></details>\n")
}

/// The section of differences; none with a single cohort.
pub(super) fn contrasts(report: &FleetReport) -> String {
    let of_unit = |contrasts: &[&Contrast]| {
        // The cohorts of one unit are the same in every table.
        let few = too_few_to_compare(report, contrasts[0], cohort_name);
        let few = few.map(|few| format!("<ul class=\"cautions\"><li>{}</li></ul>\n", Text(&few))).unwrap_or_default();
        few + &contrasts.iter().map(|contrast| differences(report, contrast)).collect::<String>()
    };
    section(report, "contrasts", || {
        let shown: Vec<&Contrast> = report.contrasts.iter().filter(|contrast| !contrast.rows.is_empty()).collect();
        format!(
            "<h2>Largest differences between cohorts at {}</h2>\n\
             <p>The largest value of a row less its smallest. “~” marks rows whose largest value is no more than sampling \
             noise gives.</p>\n{}",
            Text(&statistic_name(&report.options.sort.name())),
            shown.chunk_by(|a, b| a.unit == b.unit).map(of_unit).collect::<String>()
        )
    })
}

fn differences(report: &FleetReport, contrast: &Contrast) -> String {
    let [one, many] = [contrast.scope.name(), contrast.scope.plural()].map(capitalized);
    let title = format!("{many}: {} across runs, in {}", statistic_name(&contrast.by), contrast.unit.rate_name());
    let shown = contrast.cohorts.len().min(MAX_COHORTS);
    let mut columns = vec![Column::text(&one), Column::number("Difference").sorted(true)];
    columns.extend(contrast.cohorts[..shown].iter().map(|&cohort| {
        let name = report.cohorts.get(cohort).map_or(String::new(), |cohort| cohort_name(&cohort.cohort));
        Column::number(&cut(&name, LONGEST_HEAD))
    }));
    let largest = contrast.rows.first().map_or(0.0, |row| row.difference);
    let rows = contrast.rows.iter().take(MAX_ROWS).map(|row| difference_cells(contrast, row, shown, largest));
    let table = folded(&title, &columns, rows);
    let rows = hidden(contrast.rows.len().saturating_sub(MAX_ROWS), |rows| {
        format!("{} rows with smaller differences are not shown.", thousands(rows))
    });
    let cohorts = hidden(contrast.cohorts.len() - shown, |cohorts| {
        format!("{} cohorts are compared but not shown.", thousands(cohorts))
    });
    format!("<h3>{}</h3>\n{table}{rows}{cohorts}", Text(&title))
}

fn difference_cells(contrast: &Contrast, row: &ContrastRow, shown: usize, largest: f64) -> Vec<String> {
    let html = |value: f64| Text(&measure(value, contrast.unit)).to_string();
    let share = if largest > 0.0 { (row.difference / largest * 100.0).round() } else { 0.0 };
    let (class, mark) = if row.is_noise { ("bar noise", "~") } else { ("bar", "") };
    let difference = format!(
        "<td class=\"{class}\" data-value=\"{}\"><svg aria-hidden=\"true\"><rect width=\"{share}%\" height=\"100%\"/></svg>{mark}{}</td>",
        row.difference,
        html(row.difference)
    );
    let most = row.values.iter().copied().fold(0.0, f64::max);
    let value = |&value: &f64| {
        let class = if value == most { " class=\"most\"" } else { "" };
        format!("<td{class} data-value=\"{value}\">{}</td>", html(value))
    };
    let values = row.values.iter().take(shown).map(value);
    [scope_row(contrast.scope, &row.name), difference].into_iter().chain(values).collect()
}
