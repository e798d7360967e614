//! Whether alert rules fire.

use super::alert::{AlertMeasure, AlertStatistic, AlertSubject};
use super::builder::StoredRun;
use super::options::FleetOptions;
use super::report::{AlertOutcome, AlertRun, AlertState};
use super::watch::Watch;
use crate::stats::{Distribution, Estimate};
use crate::units::Millionths;

/// Runs that an outcome names; the others are counted.
const MAX_BEYOND: usize = 20;

/// What became of a rule in one cohort, whose runs these are by position.
pub(super) fn outcome(
    watch: &Watch,
    cohort: usize,
    runs: &[StoredRun],
    members: &[usize],
    options: &FleetOptions,
) -> AlertOutcome {
    let rule = &watch.rule;
    let values: Vec<(usize, Millionths)> =
        members.iter().filter_map(|&run| watch.values[run].map(|value| (run, value))).collect();
    let distribution = if options.is_weighted {
        let weighted = values.iter().map(|&(run, value)| (value, runs[run].record.run_weight));
        Distribution::weighted(weighted.collect(), 0, 0)
    } else {
        Distribution::new(values.iter().map(|&(_, value)| value).collect(), 0)
    };
    let estimate = match rule.statistic {
        AlertStatistic::Quantile(quantile) => Some(distribution.estimate(quantile, options.method, options.confidence)),
        _ => None,
    };
    let number = |value: Option<Millionths>| value.map(Millionths::as_f64);
    let value = match rule.statistic {
        AlertStatistic::Quantile(_) => estimate.as_ref().and_then(|estimate| estimate.value),
        AlertStatistic::Mean => number(distribution.mean()),
        AlertStatistic::Min => number(distribution.min()),
        AlertStatistic::Max => number(distribution.max()),
    };
    let threshold = rule.threshold.as_f64();
    let needed = match rule.statistic {
        AlertStatistic::Quantile(quantile) => quantile.needed_count(),
        _ => 1,
    };
    let state = match value {
        Some(value) if distribution.count() >= needed => {
            if rule.comparison.holds(value, threshold) {
                AlertState::Fired
            } else {
                AlertState::Quiet
            }
        }
        _ => AlertState::Undecided { needed },
    };
    let mut beyond: Vec<AlertRun> = values
        .iter()
        .filter(|(_, value)| rule.comparison.holds(value.as_f64(), threshold))
        .map(|&(run, value)| AlertRun { run, value })
        .collect();
    beyond.sort_by(|a, b| {
        let by_value = if rule.comparison.is_upper() { b.value.cmp(&a.value) } else { a.value.cmp(&b.value) };
        by_value.then(a.run.cmp(&b.run))
    });
    let beyond_count = beyond.len() as u64;
    beyond.truncate(MAX_BEYOND);
    let note = note(watch, members.len(), values.len(), estimate.as_ref(), state);
    AlertOutcome {
        rule: rule.clone(),
        cohort,
        state,
        value,
        estimate,
        runs: distribution.count(),
        beyond,
        beyond_count,
        note,
    }
}

/// What makes the outcome doubtful.
fn note(watch: &Watch, runs: usize, measured: usize, estimate: Option<&Estimate>, state: AlertState) -> Option<String> {
    let rule = &watch.rule;
    if let (AlertSubject::Named(scope, name), false) = (&rule.subject, watch.is_seen) {
        return Some(format!("no run has a {} of the name {name:?}; it counts as zero", scope.name()));
    }
    if let (AlertMeasure::Window { seconds }, true) = (rule.measure, measured < runs) {
        let shorter = runs - measured;
        return Some(format!("{shorter} of {runs} runs are shorter than {seconds} s and do not count"));
    }
    let interval = estimate.map(|estimate| estimate.interval)?;
    let threshold = rule.threshold.as_f64();
    let includes =
        interval.lower.is_none_or(|lower| lower <= threshold) && interval.upper.is_none_or(|upper| upper >= threshold);
    let is_decided = matches!(state, AlertState::Fired | AlertState::Quiet);
    (is_decided && includes).then(|| "the interval of the percentile includes the threshold".to_owned())
}
