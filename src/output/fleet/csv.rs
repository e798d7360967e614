//! One table as CSV (RFC 4180), with a header and a row for each scope of each cohort, including complete runs.
//!
//! The columns from the labels to `weighted_mean` match the result of a SQL query over the same runs. Numbers are the shortest decimals that parse to
//! the same double, without exponents. An absent value is an empty field. `docs/fleet-formats.md` describes every column.

use std::io::{self, Write};

use super::runs_of;
use crate::fleet::{CohortReport, Completeness, FleetReport, FleetScope, RunRow, ScopeName, ScopeRow};
use crate::output::csv::{Cells, Csv, Field};
use crate::stats::Quantile;

/// Writes the table, with text in cells in the form `cells`.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &FleetReport, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Csv::new(header(report), cells, out)?;
    for (index, cohort) in report.cohorts.iter().enumerate() {
        let whole = report.options.scopes.contains(&FleetScope::Run).then(|| ScopeRow {
            samples: runs_of(report, index).map(|run| run.samples).sum(),
            effective_samples: 0.0,
            name: ScopeName::default(),
            summary: cohort.across_runs.clone(),
            noise: Vec::new(),
        });
        let scopes = cohort.tables.iter().flat_map(|table| table.rows.iter().map(|row| (table.scope, row)));
        for (scope, row) in whole.iter().map(|row| (FleetScope::Run, row)).chain(scopes) {
            csv.record(fields(report, cohort, scope, row))?;
        }
    }
    csv.finish()
}

fn header(report: &FleetReport) -> Vec<String> {
    let texts = |names: &str| names.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut columns: Vec<String> = report.options.by.clone();
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

fn fields<'r>(
    report: &'r FleetReport,
    cohort: &'r CohortReport,
    scope: FleetScope,
    row: &'r ScopeRow,
) -> Vec<Field<'r>> {
    let ScopeRow { name, summary, .. } = row;
    let mut fields: Vec<Field<'r>> = cohort.cohort.labels.iter().map(|(_, value)| value.as_deref().into()).collect();
    fields.extend([cohort.cohort.unit.name(), scope.name(), report.options.measure.name()].map(Field::from));
    let names = [&name.process, &name.thread, &name.binary, &name.function];
    fields.extend(names.map(|name| name.as_deref().into()));
    fields.extend([summary.count, summary.zeros].map(Field::from));
    fields.push(summary.min.into());
    fields.extend(summary.estimates.iter().map(|estimate| estimate.value.into()));
    fields.extend([summary.max, summary.mean, summary.weighted_mean].map(Field::from));
    fields.push(row.samples.into());
    // The reliability of each percentile.
    for (index, estimate) in summary.estimates.iter().enumerate() {
        fields.extend([estimate.interval.lower, estimate.interval.upper].map(Field::from));
        fields.extend([estimate.support.name().into(), row.noise.get(index).copied().flatten().into()]);
    }
    // The titles of the runs with the largest value and at the percentiles. For a percentile between two runs, the upper one.
    let runs = std::iter::once(summary.max_run).chain(summary.percentile_runs.iter().map(|runs| runs.last().copied()));
    fields.extend(runs.map(|run| run.and_then(|run| report.runs.get(run)).map(RunRow::title).into()));
    // The label that runs share, and the completeness of the inputs. They are in every row, so that a row remains complete if it is copied elsewhere.
    let Completeness { is_complete, inputs_expected, inputs_done } = report.inputs.completeness;
    let shared = report.shared_label.as_ref().map(|label| &label.key);
    fields.extend([shared.into(), is_complete.into(), inputs_expected.into(), inputs_done.into()]);
    fields
}
