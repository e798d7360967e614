//! Tables of cohorts: CPU use across runs, and within them.

use std::collections::BTreeMap;

use super::figures;
use super::outline::{COHORT_ROWS, by_unit, section};
use super::run_pages::{Links, RunPlace};
use super::scopes::runs_behind;
use super::table::{
    Column, cohort_name, cohort_row, count, folded, hidden, measure_with_unit, number, small_numbers, summary_cells,
    summary_columns,
};
use crate::fleet::{Caution, CohortReport, FleetReport, ScopeName, Summary, WindowReport};
use crate::output::fleet::sentences::subject_of_all;
use crate::output::fleet::{WITHIN, many, thousands};
use crate::output::inert::Text;
use crate::stats::{Estimate, Support};
use crate::units::Unit;
use crate::units::capitalized;

/// CPU use across runs: a table and plots for each unit.
pub(super) fn across_runs(report: &FleetReport, links: &Links<'_>) -> String {
    if report.cohorts.is_empty() && report.inputs.runs == 0 {
        return "<p class=\"empty\">No run could be measured, so there are no distributions.</p>\n".to_owned();
    }
    section(report, "across-runs", || {
        let units = by_unit(report).map(|(unit, cohorts)| across_runs_of_unit(report, unit, cohorts, links));
        format!(
            "<h2>{} across runs</h2>\n<p>A run is one number: its {} over the whole recording. {}</p>\n{}{}",
            capitalized(subject_of_all(report)),
            subject_of_all(report),
            small_numbers(report),
            links.explanation(),
            units.collect::<String>()
        )
    })
}

fn across_runs_of_unit(report: &FleetReport, unit: Unit, cohorts: &[CohortReport], links: &Links<'_>) -> String {
    let title = format!("Across runs, in {}", unit.rate_name());
    let link = |shown: &str, runs: &[usize]| links.number(shown, runs, &RunPlace::Whole);
    let rows = cohorts.iter().take(COHORT_ROWS).map(|row| (row, vec![count(row.runs)], &row.across_runs));
    let table = table_of(report, &title, (unit, true), vec![Column::number("Runs")], rows, &link);
    let hidden = hidden(cohorts.len().saturating_sub(COHORT_ROWS), |hidden| {
        format!("{} not shown here; JSON and CSV have all.", many(hidden, "cohort"))
    });
    let all = ScopeName::default();
    let named = cohorts.iter().map(|cohort| (cohort_name(&cohort.cohort), &all, &cohort.across_runs));
    format!(
        "<h3>{}</h3>\n{}{table}{hidden}{}{}",
        Text(&title),
        figures::across_runs(report, unit, cohorts),
        runs_behind(report, named),
        cautions(cohorts, |cohort| Some(&cohort.across_runs), unit)
    )
}

/// A table of cohorts. `columns` and the cells of a row are between the cohort and its summary.
fn table_of<'r>(
    report: &FleetReport,
    title: &str,
    (unit, has_weighted): (Unit, bool),
    columns: Vec<Column>,
    rows: impl Iterator<Item = (&'r CohortReport, Vec<String>, &'r Summary)>,
    link: &dyn Fn(&str, &[usize]) -> String,
) -> String {
    let mut all = vec![Column::text("Cohort")];
    all.extend(columns);
    all.extend(summary_columns(&report.options, None, has_weighted));
    let rows = rows.map(|(cohort, numbers, summary)| {
        let mut cells = vec![cohort_row(&cohort.cohort)];
        cells.extend(numbers);
        cells.extend(summary_cells(report, (summary, unit, has_weighted), &[], None, link));
        cells
    });
    folded(title, &all, rows)
}

/// Warnings about summaries, in sentences.
fn cautions<'r>(
    cohorts: &'r [CohortReport],
    summary_of: impl Fn(&'r CohortReport) -> Option<&'r Summary>,
    unit: Unit,
) -> String {
    let mut sentences = Vec::new();
    let mut few = BTreeMap::<String, Vec<(String, u64)>>::new();
    for cohort in cohorts.iter().take(COHORT_ROWS) {
        let Some(summary) = summary_of(cohort) else { continue };
        let name = cohort_name(&cohort.cohort);
        for caution in &summary.cautions {
            match caution {
                Caution::TooFewRuns { needed } => {
                    let cohorts = few.entry(lacking(summary, *needed)).or_default();
                    cohorts.push((name.clone(), summary.count));
                }
                Caution::MeanAboveP90 => {
                    let mean = measure_with_unit(summary.mean.unwrap_or(0.0), unit);
                    sentences.push(format!(
                        "{name}: the mean ({mean}) is above P90. A few runs carry it; most are far below it."
                    ));
                }
                Caution::MostlyAbsent => {
                    let (zeros, all) = (thousands(summary.zeros), many(summary.count, "run"));
                    sentences.push(format!("{name}: {zeros} of {all} used none, so P50 is 0."));
                }
            }
        }
    }
    sentences.extend(few.iter().map(|(percentiles, few)| too_few(percentiles, few, cohorts.len())));
    if sentences.is_empty() {
        return String::new();
    }
    let items: String = sentences.iter().map(|sentence| format!("<li>{}</li>\n", Text(sentence))).collect();
    format!("<ul class=\"cautions\">\n{items}</ul>\n")
}

/// The percentiles that a summary has too few values for, and how many they need.
fn lacking(summary: &Summary, needed: u64) -> String {
    let is_lacking = |estimate: &Estimate| matches!(estimate.support, Support::TooFew { .. });
    let lacking: Vec<&Estimate> = summary.estimates.iter().filter(|estimate| is_lacking(estimate)).collect();
    let needs = |estimate: &Estimate| thousands(estimate.quantile.needed_count());
    let (first, others) = match lacking[..] {
        [] => return format!("the farthest percentile, which needs {}", thousands(needed)),
        [one] => return format!("{}, which needs {}", one.quantile, needs(one)),
        [first, ref others @ ..] => (first, others),
    };
    let all: Vec<String> = lacking.iter().map(|row| format!("{} needs {}", row.quantile, needs(row))).collect();
    // Those at the lower end may lack runs as well.
    let is_upper_end = summary.estimates.iter().skip_while(|estimate| !is_lacking(estimate)).all(is_lacking);
    let percentiles = if is_upper_end {
        format!("{} and above", first.quantile)
    } else {
        format!("{} and {} more percentiles", first.quantile, others.len())
    };
    format!("{percentiles} ({})", all.join(", "))
}

/// One sentence for all cohorts that lack runs for the same percentiles.
fn too_few(percentiles: &str, few: &[(String, u64)], cohorts: usize) -> String {
    let names: Vec<String> = match few {
        few if few.len() == cohorts && few.len() > 3 => vec![format!("all {} cohorts", few.len())],
        few if few.len() > 6 => vec![format!("{} cohorts", few.len())],
        few => few.iter().map(|(name, runs)| format!("{name} ({})", many(*runs, "run"))).collect(),
    };
    format!("Too few runs for {percentiles}: {}.", names.join(", "))
}

/// CPU use within runs: windows of one second.
pub(super) fn within_runs(report: &FleetReport, links: &Links<'_>) -> String {
    let of_unit = |(unit, cohorts)| pooled(report, unit, cohorts) + &peaks(report, unit, cohorts, links);
    section(report, "within-runs", || {
        format!(
            "<h2>{} within runs</h2>\n\
             <p>The numbers here are windows of one second, not runs: they say how bursty runs are, and nothing about how \
             many users have a slow run.</p>\n{}",
            capitalized(subject_of_all(report)),
            by_unit(report).map(of_unit).collect::<String>()
        )
    })
}

fn windows(cohorts: &[CohortReport]) -> impl Iterator<Item = (&CohortReport, &WindowReport)> {
    cohorts.iter().take(COHORT_ROWS).filter_map(|cohort| Some((cohort, cohort.within_runs.as_ref()?)))
}

fn pooled(report: &FleetReport, unit: Unit, cohorts: &[CohortReport]) -> String {
    let title = format!("Seconds of all runs, pooled, in {}", unit.rate_name());
    let columns = vec![
        Column::number("Runs").hint("Runs of at least one whole second"),
        Column::number("Seconds"),
        Column::number("Idle").hint("Seconds without a sample"),
    ];
    let rows = windows(cohorts).map(|(cohort, windows)| {
        let idle = windows.pooled.zeros as f64 * 100.0 / windows.pooled.count.max(1) as f64;
        let numbers = vec![count(windows.runs), count(windows.pooled.count), number(idle, &format!("{idle:.1} %"))];
        (cohort, numbers, &windows.pooled)
    });
    let plain = |shown: &str, _: &[usize]| Text(shown).to_string();
    let is_exact = windows(cohorts).all(|(_, windows)| windows.pooled.is_exact);
    let buckets = if is_exact { String::new() } else { format!(" Percentiles are {WITHIN}.") };
    format!(
        "<h3>{}</h3>\n{}<p class=\"legend\">Seconds of one run are not independent, so there are no intervals.{buckets}</p>\n",
        Text(&title),
        table_of(report, &title, (unit, false), columns, rows, &plain)
    )
}

fn peaks(report: &FleetReport, unit: Unit, cohorts: &[CohortReport], links: &Links<'_>) -> String {
    let title = format!("The busiest second of each run, in {}", unit.rate_name());
    let link = |shown: &str, runs: &[usize]| links.number(shown, runs, &RunPlace::BusiestSecond);
    let rows = windows(cohorts).map(|(cohort, windows)| (cohort, vec![count(windows.runs)], &windows.peaks));
    format!(
        "<h3>{}</h3>\n{}{}",
        Text(&title),
        table_of(report, &title, (unit, false), vec![Column::number("Runs")], rows, &link),
        cautions(cohorts, |cohort| cohort.within_runs.as_ref().map(|windows| &windows.peaks), unit)
    )
}
