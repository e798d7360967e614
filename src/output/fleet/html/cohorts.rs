//! Tables of cohorts: CPU use across runs, and within them.

use crate::output::fleet::WITHIN;
use crate::output::fleet::sentences::{subject, subject_inside};
use std::collections::BTreeMap;
use std::io::{self, Write};

use super::figures;
use super::findings;
use super::numbers::{count, counted, measure, measure_with_unit};
use super::outline::{COHORT_ROWS, by_unit, has_section};
use super::row_names::cohort_name;
use super::run_pages::{Links, RunPlace};
use super::table::{self, Column, summary_columns};
use super::text::Text;
use crate::fleet::{Caution, CohortReport, FleetReport, Summary, WindowReport};
use crate::stats::{Estimate, Support};
use crate::units::Unit;

/// CPU use across runs: a table and plots for each unit.
pub(super) fn across_runs(report: &FleetReport, links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    if report.cohorts.is_empty() {
        return match report.inputs.runs {
            0 => out.write_all(b"<p class=\"empty\">No run could be measured, so there are no distributions.</p>\n"),
            _ => Ok(()),
        };
    }
    writeln!(out, "<section id=\"across-runs\">\n<h2>{} across runs</h2>", subject(report))?;
    writeln!(
        out,
        "<p>A run is one number: its {} over the whole recording. {}</p>",
        subject_inside(report),
        table::small_numbers(report)
    )?;
    links.explain(out)?;
    for (unit, cohorts) in by_unit(report) {
        let title = format!("Across runs, in {}", unit.rate_name());
        writeln!(out, "<h3>{}</h3>", Text(&title))?;
        figures::across_runs(report, unit, cohorts, out)?;
        table_across(report, (unit, cohorts), &title, links, out)?;
        findings::runs_of_cohorts(report, cohorts, out)?;
        cautions(cohorts, |cohort| Some(&cohort.across_runs), unit, "runs", out)?;
    }
    out.write_all(b"</section>\n")
}

fn table_across(
    report: &FleetReport,
    (unit, cohorts): (Unit, &[CohortReport]),
    title: &str,
    links: &Links<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut columns = vec![Column::text("Cohort"), Column::number("Runs")];
    columns.extend(summary_columns(&report.options, None, true));
    table::open(out, title, &columns)?;
    for cohort in cohorts.iter().take(COHORT_ROWS) {
        table::open_row(out, &cohort_name(&cohort.cohort), None)?;
        table::count(out, cohort.runs)?;
        summary(
            report,
            &cohort.across_runs,
            unit,
            true,
            &|shown, runs| links.number(shown, runs, &RunPlace::Whole),
            out,
        )?;
        table::close_row(out)?;
    }
    table::close(out)?;
    hidden(cohorts.len(), COHORT_ROWS, out)
}

/// The cells of a summary, in the order of [`summary_columns`]. `link` makes HTML of a number and its runs.
fn summary(
    report: &FleetReport,
    summary: &Summary,
    unit: Unit,
    has_weighted: bool,
    link: &dyn Fn(&str, &[usize]) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    table::measure(out, summary.mean, unit)?;
    if has_weighted {
        table::measure(out, summary.weighted_mean, unit)?;
    }
    for (index, estimate) in summary.estimates.iter().enumerate() {
        let runs = summary.percentile_runs.get(index).map_or(&[][..], Vec::as_slice);
        table::estimate(out, report, (estimate, unit, None), &|shown| link(shown, runs))?;
    }
    let Some(max) = summary.max else { return table::nothing(out) };
    table::number_as(out, max, &link(&measure(max, unit), summary.max_run.as_slice()))
}

fn hidden(rows: usize, most: usize, out: &mut dyn Write) -> io::Result<()> {
    match rows.saturating_sub(most) {
        0 => Ok(()),
        hidden => {
            let hidden = counted(hidden as u64, "cohort");
            writeln!(out, "<p class=\"hidden\">{hidden} not shown here; JSON and CSV have all.</p>")
        }
    }
}

/// Writes warnings about summaries, in sentences.
fn cautions<'r>(
    cohorts: &'r [CohortReport],
    summary_of: impl Fn(&'r CohortReport) -> Option<&'r Summary>,
    unit: Unit,
    what: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
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
                        "{name}: the mean ({mean}) is above P90. A few {what} carry it; most are far below it."
                    ));
                }
                Caution::MostlyAbsent => {
                    let (zeros, all) = (count(summary.zeros), counted(summary.count, "run"));
                    sentences.push(format!("{name}: {zeros} of {all} used none, so P50 is 0."));
                }
            }
        }
    }
    sentences.extend(few.iter().map(|(percentiles, few)| too_few(percentiles, few, cohorts.len())));
    if sentences.is_empty() {
        return Ok(());
    }
    out.write_all(b"<ul class=\"cautions\">\n")?;
    for sentence in sentences {
        writeln!(out, "<li>{}</li>", Text(&sentence))?;
    }
    out.write_all(b"</ul>\n")
}

/// The percentiles that a summary has too few values for, and how many they need.
fn lacking(summary: &Summary, needed: u64) -> String {
    let is_lacking = |estimate: &Estimate| matches!(estimate.support, Support::TooFew { .. });
    let lacking: Vec<&Estimate> = summary.estimates.iter().filter(|estimate| is_lacking(estimate)).collect();
    let (first, others) = match lacking[..] {
        [] => return format!("the farthest percentile, which needs {}", count(needed)),
        [one] => return format!("{}, which needs {}", one.quantile, count(one.quantile.needed_count())),
        [first, ref others @ ..] => (first, others),
    };
    let needs =
        |estimate: &&Estimate| format!("{} needs {}", estimate.quantile, count(estimate.quantile.needed_count()));
    let all: Vec<String> = lacking.iter().map(needs).collect();
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
        few => few.iter().map(|(name, runs)| format!("{name} ({})", counted(*runs, "run"))).collect(),
    };
    format!("Too few runs for {percentiles}: {}.", names.join(", "))
}

/// CPU use within runs: windows of one second.
pub(super) fn within_runs(report: &FleetReport, links: &Links<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !has_section(report, "within-runs") {
        return Ok(());
    }
    writeln!(out, "<section id=\"within-runs\">\n<h2>{} within runs</h2>", subject(report))?;
    out.write_all(
        b"<p>The numbers here are windows of one second, not runs: they say how bursty runs are, and nothing about how \
          many users have a slow run.</p>\n",
    )?;
    for (unit, cohorts) in by_unit(report) {
        pooled(report, unit, cohorts, out)?;
        peaks(report, (unit, cohorts), links, out)?;
    }
    out.write_all(b"</section>\n")
}

fn windows(cohorts: &[CohortReport]) -> impl Iterator<Item = (&CohortReport, &WindowReport)> {
    cohorts.iter().take(COHORT_ROWS).filter_map(|cohort| Some((cohort, cohort.within_runs.as_ref()?)))
}

fn pooled(report: &FleetReport, unit: Unit, cohorts: &[CohortReport], out: &mut dyn Write) -> io::Result<()> {
    let title = format!("Seconds of all runs, pooled, in {}", unit.rate_name());
    let mut columns = vec![
        Column::text("Cohort"),
        Column::number("Runs").hint("Runs of at least one whole second"),
        Column::number("Seconds"),
        Column::number("Idle").hint("Seconds without a sample"),
    ];
    columns.extend(summary_columns(&report.options, None, false));
    writeln!(out, "<h3>{}</h3>", Text(&title))?;
    table::open(out, &title, &columns)?;
    for (cohort, windows) in windows(cohorts) {
        table::open_row(out, &cohort_name(&cohort.cohort), None)?;
        table::count(out, windows.runs)?;
        table::count(out, windows.pooled.count)?;
        let idle = windows.pooled.zeros as f64 * 100.0 / windows.pooled.count.max(1) as f64;
        table::number(out, idle, &format!("{idle:.1} %"))?;
        summary(report, &windows.pooled, unit, false, &|shown, _| Text(shown).to_string(), out)?;
        table::close_row(out)?;
    }
    table::close(out)?;
    let is_exact = windows(cohorts).all(|(_, windows)| windows.pooled.is_exact);
    let buckets = if is_exact { String::new() } else { format!(" Percentiles are {WITHIN}.") };
    writeln!(out, "<p class=\"legend\">Seconds of one run are not independent, so there are no intervals.{buckets}</p>")
}

fn peaks(
    report: &FleetReport,
    (unit, cohorts): (Unit, &[CohortReport]),
    links: &Links<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let title = format!("The busiest second of each run, in {}", unit.rate_name());
    let mut columns = vec![Column::text("Cohort"), Column::number("Runs")];
    columns.extend(summary_columns(&report.options, None, false));
    writeln!(out, "<h3>{}</h3>", Text(&title))?;
    table::open(out, &title, &columns)?;
    for (cohort, windows) in windows(cohorts) {
        table::open_row(out, &cohort_name(&cohort.cohort), None)?;
        table::count(out, windows.runs)?;
        let link = |shown: &str, runs: &[usize]| links.number(shown, runs, &RunPlace::BusiestSecond);
        summary(report, &windows.peaks, unit, false, &link, out)?;
        table::close_row(out)?;
    }
    table::close(out)?;
    cautions(cohorts, |cohort| cohort.within_runs.as_ref().map(|windows| &windows.peaks), unit, "runs", out)
}
