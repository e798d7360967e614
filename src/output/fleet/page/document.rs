//! The document of the page: the report as JSON, limited to what the page shows, with sentences and links for it.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::run_pages::{MOST_COHORT_ROWS, MOST_COHORTS, MOST_ROWS, RunPage, RunPlace};
use crate::fleet::{CohortReport, FleetReport, HistogramReport, Summary};
use crate::output::fleet::cautions::caution;
use crate::output::fleet::definitions::{measure, method, narrowed};
use crate::output::fleet::first_screen::{Level, Levels, failed_files, failures, levels, outlier_words};
use crate::output::fleet::histograms::percentile as percentile_of_bins;
use crate::output::fleet::inputs::inputs;
use crate::output::fleet::json::{self, Extent, percentile, run_of, run_value};
use crate::output::fleet::measures::{Measures, noun};
use crate::output::fleet::sentences::{all_crashes, noun_of_all, points, subject, subject_of_all, too_few_to_compare};
use crate::output::fleet::{WITHIN, many, measure_unit};
use crate::units::capitalized;

/// The maximum number of rows in the table of runs.
const MOST_RUNS: usize = 2_000;

/// The title of the page.
pub(super) fn title(report: &FleetReport) -> String {
    match report.inputs.runs {
        0 if !report.crashes.is_empty() => all_crashes(report),
        runs => format!("{} across {}", capitalized(subject_of_all(report)), many(runs, noun_of_all(report))),
    }
}

/// Writes the document.
///
/// # Errors
/// If `out` fails.
pub(super) fn write(report: &FleetReport, pages: &[RunPage], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"words\":{},\"report\":", words(report, pages))?;
    let extent = Extent { cohorts: MOST_COHORTS, rows: MOST_ROWS, runs: MOST_RUNS, has_commands: true };
    json::write(report, &extent, out)?;
    out.write_all(b"}")
}

fn words(report: &FleetReport, pages: &[RunPage]) -> Value {
    let numbered = report.runs.iter().filter(|run| run.needs_number());
    let failures = failures(&report.inputs.failed);
    let failures = failures.iter().map(|(count, files, first)| json!([format!("{count} ({files})"), first.reason]));
    let few = report.contrasts.iter().map(|contrast| too_few_to_compare(report, contrast, |cohort| cohort.name()));
    let durations = |row: &HistogramReport| {
        let percentiles = report.options.quantiles.iter().map(|&quantile| percentile_of_bins(&row.values, quantile));
        json!({"cohort": row.cohort.name(), "percentiles": percentiles.collect::<Value>()})
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "title": title(report),
        "subject": subject_of_all(report),
        "nouns": report.cohorts.iter().map(|cohort| noun(cohort.cohort.unit)).collect::<Value>(),
        "subjects": report.cohorts.iter().map(|cohort| subject(report, cohort.cohort.unit)).collect::<Value>(),
        "findings": points(report).iter().map(|point| json!([point.mood.name(), point.text])).collect::<Value>(),
        "measure": measure(report),
        "narrowed": narrowed(report),
        "method": method(report),
        "confidence": report.options.confidence.to_string(),
        "assumption": report.assumption(),
        "within": WITHIN,
        "levels": levels(report).iter().map(|row| level(report, row)).collect::<Value>(),
        "failed": failed_files(&report.inputs.failed),
        "failures": failures.collect::<Value>(),
        "too_few_to_compare": few.collect::<Value>(),
        "durations": report.histograms.iter().map(durations).collect::<Value>(),
        "inputs": inputs(&report.inputs).into_iter().map(|(_, sentence)| sentence).collect::<Value>(),
        "cautions": report.cohorts.iter().map(cautions).collect::<Value>(),
        "most": {"cohorts": MOST_COHORTS, "cohort_rows": MOST_COHORT_ROWS},
        "hidden_runs": report.runs.len().saturating_sub(MOST_RUNS),
        "contrast_rows": report.contrasts.iter().map(|contrast| contrast.rows.len()).collect::<Value>(),
        "numbered": numbered.map(|run| run.run_id.as_str()).collect::<Value>(),
        "named_runs": RunPage::all(report).len(),
        "links": pages.iter().map(|page| links(report, page)).collect::<Value>(),
    })
}

/// The warnings about a cohort's runs and about their busiest seconds.
fn cautions(cohort: &CohortReport) -> Value {
    let of = |summary: &Summary| -> Vec<String> {
        let measures = Measures::of(cohort.cohort.unit, summary.max.unwrap_or_default());
        summary.cautions.iter().filter_map(|row| caution(row, summary, measures)).collect()
    };
    let peaks = cohort.within_runs.as_ref().map(|windows| of(&windows.peaks));
    json!([of(&cohort.across_runs), peaks.unwrap_or_default()])
}

/// The distribution over all runs of a unit, and the heaviest runs.
fn level(report: &FleetReport, levels: &Levels<'_>) -> Value {
    let tail = report.options.confidence.tail();
    let measures = Measures::of(levels.unit, levels.max);
    let row = |row: &Level| {
        json!({
            "name": row.name,
            "value": row.value,
            "percentile": row.estimate.as_ref().map(|estimate| percentile(report, estimate, tail)),
            "runs": row.runs.iter().map(|&run| run_of(report, Some(run))).collect::<Value>(),
        })
    };
    let outliers = |(count, limit)| outlier_words(count, &format!("{} {}", measures.text(limit), measures.unit()));
    json!({
        "subject": subject(report, levels.unit),
        "value_unit": measure_unit(levels.unit),
        "rows": levels.rows.iter().map(row).collect::<Value>(),
        "outliers": levels.outliers.map(outliers),
        "has_cohorts": levels.cohorts.len() > 1,
        "heaviest": levels.heaviest.iter().map(|(_, run)| run_value(report, run)).collect::<Value>(),
    })
}

/// The addresses of a run's page.
fn links(report: &FleetReport, page: &RunPage) -> Value {
    let place = |(place, address): (&RunPlace, &Option<String>)| {
        let name = match place {
            RunPlace::Whole => json!("whole"),
            RunPlace::BusiestSecond => json!("second"),
            RunPlace::Row(name) => json!([name.process, name.thread, name.binary, name.function]),
        };
        Some(json!([name, address.as_ref()?]))
    };
    let run_id = report.runs.get(page.run).map(|run| &run.run_id);
    json!({"run_id": run_id, "places": page.places.iter().filter_map(place).collect::<Value>()})
}
