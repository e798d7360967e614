//! Derives a report's findings from its numbers.

use std::collections::BTreeSet;

use super::differences::Compared;
use super::finding::{CohortDifference, Finding};
use super::measures::Measure;
use super::options::SortKey;
use super::report::{CohortReport, ContrastRow, FleetReport, RunRow, Summary, TrendOver};
use super::scope::FleetScope;
use super::summary::{RunValues, summarize};
use super::trend::{distribution, same_but_for};
use crate::alert::AlertState;
use crate::stats::{Estimate, Quantile, Support};
use crate::units::Unit;

/// Collects the findings, most urgent first. `tails` are the findings about the slowest runs of each unit.
pub(super) fn findings(report: &FleetReport, tails: Vec<Finding>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = alerts(report).into_iter().collect();
    let units: BTreeSet<Unit> = report.cohorts.iter().map(|cohort| cohort.cohort.unit).collect();
    if report.runs.is_empty() {
        let unit = units.first().copied().unwrap_or(Unit::Nanoseconds);
        findings.push(Finding::Level { unit, runs: 0, median: None, tail: None, lacking: None, max: None });
    }
    let mut used_most = None;
    for unit in units.into_iter().filter(|unit| runs_of(report, *unit).next().is_some()) {
        findings.push(level(report, unit));
        let differences = compared(report, unit).findings();
        let higher = differences.iter().find_map(|finding| match finding {
            Finding::Difference { from, to, difference, values, .. } => {
                let is_more = (values.1 > values.0) == matches!(difference, CohortDifference::Typical { .. });
                Some(if is_more { *to } else { *from })
            }
            _ => None,
        });
        findings.extend(differences);
        findings.extend(row_difference(report, unit));
        used_most = used_most.or(higher).or_else(|| newest_or_heaviest(report, unit));
    }
    findings.extend(used_most.map(|cohort| most_used(report, cohort)).unwrap_or_default());
    findings.extend(tails);
    findings.extend(inputs(report));
    findings
}

fn runs_of(report: &FleetReport, unit: Unit) -> impl Iterator<Item = (usize, &RunRow)> {
    let is_of_unit = move |(_, run): &(usize, &RunRow)| report.cohorts[run.cohort].cohort.unit == unit;
    report.runs.iter().enumerate().filter(is_of_unit)
}

fn alerts(report: &FleetReport) -> Option<Finding> {
    let [fired, undecided, quiet] = AlertState::count(&report.alerts);
    let urgent = if fired > 0 { AlertState::Fired } else { AlertState::UNSURE };
    let first = report.alerts.iter().position(|alert| alert.state.name() == urgent.name());
    (!report.alerts.is_empty()).then_some(Finding::Alerts { fired, undecided, quiet, first })
}

impl FleetReport {
    /// The distribution over all runs with a unit, in any cohort.
    pub(crate) fn summary_of(&self, unit: Unit) -> Summary {
        let runs = distribution(&self.options, runs_of(self, unit).map(|(_, run)| run));
        let values = runs_of(self, unit).map(|(position, run)| (run.rate, run.run_weight, position));
        summarize(&runs, &RunValues::new(values, self.options.is_weighted), None, &self.options)
    }
}

fn level(report: &FleetReport, unit: Unit) -> Finding {
    let options = &report.options;
    let runs = distribution(&report.options, runs_of(report, unit).map(|(_, run)| run));
    let summary = report.summary_of(unit);
    let is_supported = |estimate: &Estimate| !matches!(estimate.support, Support::TooFew { .. });
    // The median of a single run is its value, so it needs no support.
    let median = Some(runs.estimate(Quantile::P50, options.method, options.confidence));
    let median = median.filter(|median| runs.count() == 1 || is_supported(median));
    let is_above = |quantile: Quantile| quantile > Quantile::P50 && quantile <= Quantile::P99;
    let above: Vec<_> = summary.estimates.iter().filter(|estimate| is_above(estimate.quantile)).collect();
    let known = above.iter().rfind(|estimate| is_supported(estimate));
    let lacking = above.iter().find_map(|estimate| match estimate.support {
        Support::TooFew { needed } => Some((estimate.quantile, needed)),
        Support::Enough | Support::UpperUnknown => None,
    });
    Finding::Level {
        unit,
        runs: runs.count(),
        median: median.and_then(|estimate| estimate.value),
        tail: known.and_then(|estimate| Some((estimate.quantile, estimate.value?))),
        lacking,
        max: summary.max.zip(summary.max_run),
    }
}

/// The cohorts of a unit to compare: consecutive ones if a label has an order, otherwise all.
fn compared(report: &FleetReport, unit: Unit) -> Compared<'_> {
    let mut runs = vec![Vec::new(); report.cohorts.len()];
    report.runs.iter().for_each(|run| runs[run.cohort].push(run));
    let is_compared = |&position: &usize| report.cohorts[position].cohort.unit == unit && !runs[position].is_empty();
    let positions: Vec<usize> = (0..runs.len()).filter(is_compared).collect();
    let of = |&position: &usize| (position, runs[position].clone());
    let ordered = report.trends.iter().find_map(|trend| match &trend.over {
        TrendOver::Label(key) if trend.unit == unit => Some(key),
        _ => None,
    });
    let neighbours = ordered.map(|key| {
        let cohorts: Vec<&CohortReport> = positions.iter().map(|&position| &report.cohorts[position]).collect();
        same_but_for(&cohorts, key)
    });
    Compared { options: &report.options, cohorts: positions.iter().map(of).collect(), neighbours }
}

/// The largest difference that chance does not explain, in the narrowest scope that has one.
fn row_difference(report: &FleetReport, unit: Unit) -> Option<Finding> {
    let SortKey::Quantile(quantile) = report.options.sort else { return None };
    let mut contrasts = report.contrasts.iter().rev().filter(|contrast| contrast.unit == unit);
    let (contrast, row) = contrasts.find_map(|contrast| {
        let is_difference = |row: &&ContrastRow| row.at_least.is_some_and(|least| least > 0.0);
        Some((contrast, contrast.rows.iter().find(is_difference)?))
    })?;
    let cohort = |index: usize| (contrast.cohorts[index], row.values[index]);
    let order = |a: &usize, b: &usize| row.values[*a].total_cmp(&row.values[*b]);
    let (low, high) = ((0..row.values.len()).min_by(order)?, (0..row.values.len()).max_by(order)?);
    let is_supported = |index: usize| report.cohorts[contrast.cohorts[index]].runs >= quantile.needed_count();
    if !is_supported(low) || !is_supported(high) {
        return None;
    }
    Some(Finding::RowDifference {
        scope: contrast.scope,
        name: row.name.clone(),
        quantile,
        low: cohort(low),
        high: cohort(high),
    })
}

/// Chooses the cohort to examine if no difference is known: the newest cohort of a trend, or else the cohort with the highest CPU use.
fn newest_or_heaviest(report: &FleetReport, unit: Unit) -> Option<usize> {
    let cohorts = report.cohorts.iter().enumerate();
    let cohorts: Vec<(usize, &CohortReport)> =
        cohorts.filter(|(_, cohort)| cohort.cohort.unit == unit && cohort.runs > 0).collect();
    let has_order = report.trends.iter().any(|trend| trend.unit == unit && matches!(trend.over, TrendOver::Label(_)));
    if has_order {
        return cohorts.last().map(|(index, _)| *index);
    }
    let used = |cohort: &CohortReport| cohort.across_runs.weighted_mean.unwrap_or(0.0);
    cohorts.into_iter().max_by(|a, b| used(a.1).total_cmp(&used(b.1)).then(b.0.cmp(&a.0))).map(|(index, _)| index)
}

/// The process, thread and function that use the most CPU time in a cohort.
fn most_used(report: &FleetReport, position: usize) -> Vec<Finding> {
    let cohort = &report.cohorts[position];
    let all = cohort.across_runs.weighted_mean.filter(|&all| all > 0.0);
    let own = |scope: FleetScope| match scope {
        FleetScope::Run | FleetScope::Binary => false,
        FleetScope::Process | FleetScope::Thread => true,
        // With callees included, `main` always has everything.
        FleetScope::Function => report.options.measure != Measure::AllWeight,
    };
    let tables = cohort.tables.iter().filter(|table| own(table.scope));
    let finding = |table: &super::report::ScopeTable| {
        let row = table.most_used.as_ref()?;
        let estimates = row.summary.estimates.iter();
        let mut sorted = estimates.filter(|estimate| report.options.sort == SortKey::Quantile(estimate.quantile));
        let supported = sorted.find(|estimate| !matches!(estimate.support, Support::TooFew { .. }));
        Some(Finding::MostUsed {
            cohort: position,
            scope: table.scope,
            name: row.name.clone(),
            share: row.summary.weighted_mean? / all?,
            percentile: supported.and_then(|estimate| Some((estimate.quantile, estimate.value?))),
        })
    };
    tables.filter_map(finding).collect()
}

fn inputs(report: &FleetReport) -> Option<Finding> {
    let inputs = &report.inputs;
    let (failed, without_time) = (inputs.failed.len() as u64, inputs.without_time.len() as u64);
    let damaged: u64 = inputs.damaged.iter().map(|recording| u64::from(recording.unread_runs)).sum();
    let (estimated_time, rejected_rows) = (inputs.estimated_time, inputs.rejected_rows);
    let is_whole = [failed, without_time, damaged, estimated_time, rejected_rows] == [0; 5];
    let files = inputs.files;
    (!is_whole).then_some(Finding::Inputs { failed, files, without_time, damaged, estimated_time, rejected_rows })
}
