//! One table as CSV (RFC 4180), with a header: a row for each scope of each cohort, the whole run among them.
//!
//! The columns from the labels to `weighted_mean` match the result of a SQL query over the same runs. Numbers are the
//! shortest decimals that read back as the same double, without exponents. An absent value is an empty field.
//! `docs/fleet-formats.md` describes every column.

use std::io::{self, Write};

use ::csv::Writer;

use super::runs_of;
use crate::fleet::{CohortReport, Completeness, FleetReport, FleetScope, RunRow, ScopeName, ScopeRow};
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
        let whole = report.options.scopes.contains(&FleetScope::Run).then(|| ScopeRow {
            samples: runs_of(report, index).map(|run| run.samples).sum(),
            effective_samples: 0.0,
            name: ScopeName::default(),
            summary: cohort.across_runs.clone(),
            noise: Vec::new(),
        });
        let scopes = cohort.tables.iter().flat_map(|table| table.rows.iter().map(|row| (table.scope, row)));
        for (scope, scope_row) in whole.iter().map(|row| (FleetScope::Run, row)).chain(scopes) {
            row(&mut csv, fields(report, cohort, scope, scope_row, cells))?;
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
    columns.push("worst_run".to_owned());
    columns.extend(report.options.quantiles.iter().map(|quantile| format!("{}_run", quantile.name())));
    columns.extend(texts("shared_label,complete,inputs_expected,inputs_done"));
    columns
}

fn fields(report: &FleetReport, cohort: &CohortReport, scope: FleetScope, row: &ScopeRow, cells: Cells) -> Vec<String> {
    let text = |text: Option<&str>| cells.text(text.unwrap_or_default()).into_owned();
    let ScopeRow { name, summary, .. } = row;
    let mut fields: Vec<String> = cohort.cohort.labels.iter().map(|(_, value)| text(value.as_deref())).collect();
    fields.extend([cohort.cohort.unit.name(), scope.name(), report.options.measure.name()].map(str::to_owned));
    let names = [&name.process, &name.thread, &name.binary, &name.function];
    fields.extend(names.map(|name| text(name.as_deref())));
    fields.extend([summary.count, summary.zeros].map(|number| number.to_string()));
    fields.push(decimal(summary.min));
    fields.extend(summary.estimates.iter().map(|estimate| decimal(estimate.value)));
    fields.extend([summary.max, summary.mean, summary.weighted_mean].map(decimal));
    fields.push(row.samples.to_string());
    // How reliable each percentile is.
    for (index, estimate) in summary.estimates.iter().enumerate() {
        fields.extend([estimate.interval.lower, estimate.interval.upper].map(decimal));
        fields.push(estimate.support.name().to_owned());
        fields.push(decimal(row.noise.get(index).copied().flatten()));
    }
    // The titles of the run with the largest value, and of the runs at the percentiles; of two runs around one, the one above.
    let runs = std::iter::once(summary.max_run).chain(summary.percentile_runs.iter().map(|runs| runs.last().copied()));
    let titles = runs.map(|run| run.and_then(|run| report.runs.get(run)).map(RunRow::title));
    fields.extend(titles.map(|title| text(title.as_deref())));
    // The label that runs share, and the completeness of the inputs; repeated in every row, so that a row that was cut out still has them.
    let Completeness { is_complete, inputs_expected, inputs_done } = report.inputs.completeness;
    fields.push(text(report.shared_label.as_ref().map(|label| label.key.as_str())));
    fields.push(is_complete.map(|is| is.to_string()).unwrap_or_default());
    fields.extend([inputs_expected, inputs_done].map(|count| count.map(|count| count.to_string()).unwrap_or_default()));
    fields
}

/// The shortest decimal that is this number.
fn decimal(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}
