//! Alert rules, asked of the cohorts of a fleet.

use std::io;

use super::alert::{AlertBound, AlertMeasure, AlertRule, AlertStatistic, AlertSubject};
use super::alert_family;
use super::alert_series::{AlertNumbers, AlertSeries, OneSeries};
use super::cohort_runs::CohortRuns;
use super::options::FleetOptions;
use super::report::{AlertOutcome, AlertState};
use super::spill::Spilled;
use crate::stats::{Distribution, Estimate};
use crate::units::Millionths;

/// Runs and names that an outcome has; the others are counted.
pub(super) const MAX_BEYOND: usize = 20;

/// The note of a cohort of failed files.
pub(super) const NO_RUNS: &str = "none of the files of this cohort gave a run";

impl CohortRuns<'_> {
    /// The outcome of an alert rule in each cohort of its unit. If no cohort has that unit, the rule is undecided in each
    /// cohort.
    pub(super) fn outcomes(&self, series: &AlertSeries, spilled: &mut Spilled) -> io::Result<Vec<AlertOutcome>> {
        let rule = &series.rule;
        let is_asked = |&cohort: &usize| self.unit(cohort) == rule.unit;
        let all = 0..self.cohorts.len();
        let asked: Vec<usize> = all.clone().filter(is_asked).collect();
        if asked.is_empty() {
            return Ok(all.map(|cohort| self.other_unit(rule, cohort)).collect());
        }
        match &series.numbers {
            AlertNumbers::One(one) => Ok(asked.into_iter().map(|cohort| self.outcome(rule, one, cohort)).collect()),
            AlertNumbers::Each(each) => alert_family::outcomes(self, rule, each, &asked, spilled),
        }
    }

    /// The outcome of an alert rule in a unit that no run has.
    fn other_unit(&self, rule: &AlertRule, cohort: usize) -> AlertOutcome {
        let note = format!(
            "the rule is about {}, but these runs were recorded in {}; write the threshold in that unit, such as 2.5 Gcycles/s",
            rule.unit.rate_name(),
            self.unit(cohort).name()
        );
        undecided(rule, cohort, Some(1), Some(note))
    }

    /// The outcome of an alert rule about one series.
    fn outcome(&self, rule: &AlertRule, series: &OneSeries, cohort: usize) -> AlertOutcome {
        let members = &self.members[cohort];
        if let (AlertSubject::Named(scope, name), false) = (&rule.subject, series.is_seen) {
            if series.is_left_out {
                let note = format!("the {} {name:?} is in no process that counts here", scope.name());
                return undecided(rule, cohort, Some(1), Some(note));
            }
            let similar = series.similar.as_ref().map_or(String::new(), |known| format!("; there is {known:?}"));
            let note = format!("no run has a {} named {name:?}{similar}", scope.name());
            return undecided(rule, cohort, Some(1), Some(note));
        }
        let values: Vec<(usize, Millionths)> =
            members.iter().filter_map(|&run| series.values[run].map(|value| (run, value))).collect();
        let weighted = values.iter().map(|&(run, value)| (value, self.runs[run].row.run_weight));
        let distribution = self.options.distribution(weighted.collect(), 0, 0);
        let quantile = rule.statistic.quantile();
        let estimate =
            quantile.map(|quantile| distribution.estimate(quantile, self.options.method, self.options.confidence));
        let value = value(rule, &distribution, estimate.as_ref());
        // As in tables, unequal weights count for fewer runs.
        let count = (distribution.effective_count() + 1e-9) as u64;
        let state = state(rule, value, count, self.options);
        let (beyond, beyond_count) = beyond(rule, &values);
        let note = note(rule, members.len(), values.len(), estimate.as_ref(), state)
            .or_else(|| weights_note(count, distribution.count(), state));
        let runs = distribution.count();
        AlertOutcome { state, value, estimate, runs, beyond, beyond_count, ..undecided(rule, cohort, None, note) }
    }
}

pub(super) fn undecided(rule: &AlertRule, cohort: usize, needed: Option<u64>, note: Option<String>) -> AlertOutcome {
    AlertOutcome {
        rule: rule.clone(),
        cohort,
        state: AlertState::Undecided { needed },
        value: None,
        estimate: None,
        runs: 0,
        beyond: Vec::new(),
        beyond_count: 0,
        causes: Vec::new(),
        causes_count: 0,
        judged: 0,
        note,
    }
}

/// The number that is compared.
pub(super) fn value(rule: &AlertRule, distribution: &Distribution, estimate: Option<&Estimate>) -> Option<f64> {
    let number = |value: Option<Millionths>| value.map(Millionths::as_f64);
    match (rule.statistic, rule.bound) {
        (AlertStatistic::Quantile(_), AlertBound::Estimate) => estimate?.value,
        (AlertStatistic::Quantile(_), AlertBound::Lower) => estimate?.interval.lower,
        (AlertStatistic::Quantile(_), AlertBound::Upper) => estimate?.interval.upper,
        (AlertStatistic::Mean, _) => number(distribution.mean()),
        (AlertStatistic::Min, _) => number(distribution.min()),
        (AlertStatistic::Max, _) => number(distribution.max()),
    }
}

fn state(rule: &AlertRule, value: Option<f64>, count: u64, options: &FleetOptions) -> AlertState {
    let needed = rule.needed(options.confidence.tail());
    match value {
        // An end of an interval is known or unknown regardless of the count; a percentile always has some value.
        Some(value) if count >= needed || rule.bound != AlertBound::Estimate => {
            if rule.is_broken_by(value) {
                AlertState::Fired
            } else {
                AlertState::Quiet
            }
        }
        _ => AlertState::Undecided { needed: Some(needed) },
    }
}

/// The runs beyond the threshold, the furthest first, and how many they are.
pub(super) fn beyond(rule: &AlertRule, values: &[(usize, Millionths)]) -> (Vec<(usize, Millionths)>, u64) {
    let is_beyond = |(_, value): &&(usize, Millionths)| rule.is_broken_by(value.as_f64());
    let mut beyond: Vec<(usize, Millionths)> = values.iter().filter(is_beyond).copied().collect();
    beyond.sort_by(|a, b| {
        let by_value = if rule.comparison.is_upper() { b.1.cmp(&a.1) } else { a.1.cmp(&b.1) };
        by_value.then(a.0.cmp(&b.0))
    });
    let count = beyond.len() as u64;
    beyond.truncate(MAX_BEYOND);
    (beyond, count)
}

/// Unequal weights leave fewer runs than there are.
pub(super) fn weights_note(effective: u64, count: u64, state: AlertState) -> Option<String> {
    let is_fewer = effective < count && matches!(state, AlertState::Undecided { .. });
    is_fewer.then(|| format!("by their weights, these runs say as much as {effective} of equal weight"))
}

/// The reason why the outcome is doubtful.
fn note(
    rule: &AlertRule,
    runs: usize,
    measured: usize,
    estimate: Option<&Estimate>,
    state: AlertState,
) -> Option<String> {
    if runs == 0 {
        return Some(NO_RUNS.to_owned());
    }
    if let (AlertMeasure::Window { seconds }, true) = (rule.measure, measured < runs) {
        let shorter = runs - measured;
        let (is, does) = if shorter == 1 { ("is", "does") } else { ("are", "do") };
        let all = if runs == 1 { "run" } else { "runs" };
        return Some(format!("{shorter} of {runs} {all} {is} shorter than {seconds} s and {does} not count"));
    }
    let interval = estimate.map(|estimate| estimate.interval)?;
    let threshold = rule.threshold.as_f64();
    // An unknown end is reported by the support of the percentile.
    let includes = interval.lower.unwrap_or(0.0) <= threshold && interval.upper.is_some_and(|upper| upper >= threshold);
    if rule.bound != AlertBound::Estimate || !includes {
        return None;
    }
    let end = if rule.comparison.is_upper() { "lower" } else { "upper" };
    let statistic = rule.statistic.name();
    let said = "the interval of the percentile includes the threshold";
    match state {
        AlertState::Fired => Some(format!("{said}, so it could be chance; a rule on {statistic}.{end} asks for more")),
        AlertState::Quiet => Some(format!("{said}, so the truth may be beyond it")),
        AlertState::Undecided { .. } => None,
    }
}
