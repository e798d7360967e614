//! One table as CSV (RFC 4180), with a header: a row for each scope of each cohort, the whole run among them.
//!
//! The columns from the labels to `weighted_mean` match the result of a SQL query over the same runs. Numbers are the
//! shortest decimals that read back as the same double, without exponents. An absent value is an empty field.
//! `docs/fleet-formats.md` describes every column.

use std::io::{self, Write};

use ::csv::Writer;

use super::runs_of;
use crate::fleet::{CohortReport, Completeness, FleetReport, FleetScope, ScopeName, ScopeRow, Summary};
use crate::output::csv::{Cells, Out, record};
use crate::stats::Quantile;

/// Writes the table, with strings in cells escaped as in `cells`.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write(report: &FleetReport, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    row(&mut csv, header(report, cells))?;
    for (index, cohort) in report.cohorts.iter().enumerate() {
        if report.options.scopes.contains(&FleetScope::Run) {
            let mut fields = head(report, cohort, FleetScope::Run, &ScopeName::default(), &cohort.across_runs, cells);
            let samples: u64 = runs_of(report, index).map(|run| run.samples).sum();
            fields.push(samples.to_string());
            tail(&cohort.across_runs, &[], &mut fields);
            fields.extend(sources(report, &cohort.across_runs, cells));
            fields.extend(completeness(report, cells));
            row(&mut csv, fields)?;
        }
        for table in &cohort.tables {
            for scope in &table.rows {
                row(&mut csv, scope_fields(report, cohort, table.scope, scope, cells))?;
            }
        }
    }
    csv.flush()
}

fn row(csv: &mut Out<'_>, fields: Vec<String>) -> io::Result<()> {
    record(csv, &fields.iter().map(String::as_str).collect::<Vec<_>>())
}

fn header(report: &FleetReport, cells: Cells) -> Vec<String> {
    let texts = |names: &str| names.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut columns: Vec<String> = report.options.by.iter().map(|label| cells.text(label).into_owned()).collect();
    columns.extend(texts("unit,scope,measure,process,thread,binary,function,runs,zero_runs,min"));
    columns.extend(report.options.quantiles.iter().map(|quantile| quantile.name()));
    columns.extend(texts("max,mean,weighted_mean,samples"));
    let details = |quantile: &Quantile| {
        ["lower", "upper", "support", "noise"].map(|detail| format!("{}_{detail}", quantile.name()))
    };
    columns.extend(report.options.quantiles.iter().flat_map(details));
    columns.push("worst_run_source".to_owned());
    columns.extend(report.options.quantiles.iter().map(|quantile| format!("{}_run_source", quantile.name())));
    columns.extend(texts("shared_label,complete,inputs_expected,inputs_done"));
    columns
}

fn scope_fields(
    report: &FleetReport,
    cohort: &CohortReport,
    scope: FleetScope,
    row: &ScopeRow,
    cells: Cells,
) -> Vec<String> {
    let mut fields = head(report, cohort, scope, &row.name, &row.summary, cells);
    fields.push(row.samples.to_string());
    tail(&row.summary, &row.noise, &mut fields);
    fields.extend(sources(report, &row.summary, cells));
    fields.extend(completeness(report, cells));
    fields
}

/// The completeness of the inputs, and the label that runs share; repeated in every row, so that a row that was cut out
/// still has it.
fn completeness(report: &FleetReport, cells: Cells) -> [String; 4] {
    let Completeness { is_complete, inputs_expected, inputs_done } = report.inputs.completeness;
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let shared = report.shared_label.as_ref().map_or("", |label| label.key.as_str());
    let complete = is_complete.map(|is| is.to_string()).unwrap_or_default();
    [cells.text(shared).into_owned(), complete, number(inputs_expected), number(inputs_done)]
}

/// The sources of the run with the largest value, and of the runs at the percentiles; of two runs around one, the one
/// above.
fn sources(report: &FleetReport, summary: &Summary, cells: Cells) -> Vec<String> {
    let runs = std::iter::once(summary.max_run).chain(summary.percentile_runs.iter().map(|runs| runs.last().copied()));
    let source = |run: Option<usize>| run.and_then(|run| report.runs.get(run)).map(|run| run.source.as_str());
    runs.map(|run| cells.text(source(run).unwrap_or_default()).into_owned()).collect()
}

/// From the labels to the weighted mean.
fn head(
    report: &FleetReport,
    cohort: &CohortReport,
    scope: FleetScope,
    name: &ScopeName,
    summary: &Summary,
    cells: Cells,
) -> Vec<String> {
    let text = |text: &Option<String>| cells.text(text.as_deref().unwrap_or_default()).into_owned();
    let mut fields: Vec<String> = cohort.cohort.labels.iter().map(|(_, value)| text(value)).collect();
    fields.extend([cohort.cohort.unit.name(), scope.name(), report.options.measure.name()].map(str::to_owned));
    let names = [&name.process, &name.thread, &name.binary, &name.function];
    fields.extend(names.map(text));
    fields.extend([summary.count, summary.zeros].map(|number| number.to_string()));
    fields.push(decimal(summary.min));
    fields.extend(summary.estimates.iter().map(|estimate| decimal(estimate.value)));
    fields.extend([summary.max, summary.mean, summary.weighted_mean].map(decimal));
    fields
}

/// Appends the columns that say how reliable each percentile is.
fn tail(summary: &Summary, noise: &[Option<f64>], fields: &mut Vec<String>) {
    for (index, estimate) in summary.estimates.iter().enumerate() {
        fields.push(decimal(estimate.interval.lower));
        fields.push(decimal(estimate.interval.upper));
        fields.push(estimate.support.name().to_owned());
        fields.push(decimal(noise.get(index).copied().flatten()));
    }
}

/// The shortest decimal that is this number.
fn decimal(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}
