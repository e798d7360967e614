//! Evaluates alert rules on the cohorts of a fleet.
//!
//! # Rules about any function or binary
//!
//! Each name is judged, and chance has as many chances. Each is judged as if the rule named it, with two differences that keep false alarms as rare as those about one name:
//!
//! * Intervals of percentiles hold for all n names together: each end misses with at most the n-th part of the probability that it
//!   otherwise misses with (Bonferroni). `.lower` and `.upper` are the ends of these.
//! * A percentile fires the rule only if the end of its interval is also beyond the threshold. If only the percentile
//!   is beyond it, chance may explain it, and the rule is undecided.
//!
//! Means, smallest and largest values describe the measured runs, and fire as for a single name. Names that represent
//! code of many functions ([`is_of_many`]) never fire: if one of them is beyond the threshold, the rule is undecided.

use std::io;

use super::alert::{AlertBound, AlertMeasure, AlertRule, AlertStatistic, AlertSubject};
use super::alert_series::{AlertNumbers, AlertSeries, OneSeries, is_of_many};
use super::cohort_runs::{CohortRuns, MOST_ENTRIES};
use super::columns::ScopeColumn;
use super::entries::{Entry, Spilled};
use super::options::FleetOptions;
use super::report::{AlertOutcome, AlertState};
use super::unmeasured::too_many_unmeasured;
use crate::stats::{Distribution, Estimate, Quantile, Support, ranks_with_tail};
use crate::units::Millionths;

/// Runs and names that an outcome has; the others are counted.
pub(super) const MAX_BEYOND: usize = 20;

/// The note of a cohort of failed files.
pub(super) const NO_RUNS: &str = "none of the files of this cohort produced a run";

impl CohortRuns<'_> {
    /// The outcome of an alert rule in each cohort of its unit. If no cohort has that unit, the rule is undecided for
    /// each set of labels.
    pub(super) fn outcomes(&self, series: &AlertSeries, spilled: &mut Spilled) -> io::Result<Vec<AlertOutcome>> {
        let rule = &series.rule;
        let is_asked = |&cohort: &usize| rule.is_about(self.unit(cohort));
        let all = 0..self.cohorts.len();
        let asked: Vec<usize> = all.clone().filter(is_asked).collect();
        if asked.is_empty() {
            let is_first = |&cohort: &usize| (0..cohort).all(|other| self.labels(other) != self.labels(cohort));
            return Ok(all.filter(is_first).map(|cohort| self.other_unit(rule, cohort)).collect());
        }
        match &series.numbers {
            AlertNumbers::One(one) => Ok(asked.into_iter().map(|cohort| self.outcome(rule, one, cohort)).collect()),
            AlertNumbers::Each(each) => family_outcomes(self, rule, each, &asked, spilled),
        }
    }

    /// The outcome of an alert rule in a unit that no run has.
    fn other_unit(&self, rule: &AlertRule, cohort: usize) -> AlertOutcome {
        let unit = self.unit(cohort).name();
        let note = match rule.measure {
            AlertMeasure::CpuTime => format!("the rule is about CPU time, but these runs were recorded in {unit}"),
            AlertMeasure::Elapsed => format!("the rule is about recorded time, which {unit} of reports do not have"),
            _ if rule.unit.is_of_reports() => format!("no report has a measure in {}", rule.unit.rate_name()),
            _ => format!(
                "the rule uses {}, but these runs were recorded in {}; write the threshold in that unit, such as 2.5 \
             Gcycles/s",
                rule.unit.rate_name(),
                unit
            ),
        };
        undecided(rule, cohort, Some(1), Some(note))
    }

    /// The outcome of an alert rule about one series.
    fn outcome(&self, rule: &AlertRule, series: &OneSeries, cohort: usize) -> AlertOutcome {
        let members = &self.members[cohort];
        if let (AlertSubject::Named(scope, name), false) = (&rule.subject, series.is_seen) {
            if series.is_left_out {
                let note = format!("the {} {name:?} is not in any selected process", scope.name());
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
        let is_measured = rule.measure != AlertMeasure::Elapsed
            || too_many_unmeasured(members.len() - values.len(), members.len(), "").is_none();
        let state = match is_measured {
            true => state(rule, value, count, self.options),
            false => AlertState::Undecided { needed: None },
        };
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
    is_fewer.then(|| {
        format!("because of their weights, these runs contain as much information as {effective} runs of equal weight")
    })
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
    let why = match rule.measure {
        AlertMeasure::Window { seconds } => Some(format!("shorter than {seconds} s")),
        AlertMeasure::Elapsed => Some("of unknown length".to_owned()),
        AlertMeasure::Whole(_) | AlertMeasure::CpuTime => None,
    };
    if let Some(why) = why.filter(|_| measured < runs) {
        let left_out = runs - measured;
        let (is, does) = if left_out == 1 { ("is", "does") } else { ("are", "do") };
        let all = if runs == 1 { "run" } else { "runs" };
        return Some(format!("{left_out} of {runs} {all} {is} {why} and {does} not count"));
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

/// A rule about each name, applied to one cohort.
struct Family<'e> {
    fleet: &'e CohortRuns<'e>,
    rule: &'e AlertRule,
    each: &'e ScopeColumn,
    cohort: usize,
    runs: Runs,
}

/// The outcomes of a rule about each name in these cohorts.
fn family_outcomes(
    fleet: &CohortRuns<'_>,
    rule: &AlertRule,
    each: &ScopeColumn,
    cohorts: &[usize],
    spilled: &mut Spilled,
) -> io::Result<Vec<AlertOutcome>> {
    let of_cohort = |&cohort: &usize| Family::new(fleet, rule, each, cohort);
    let families: Vec<Family<'_>> = cohorts.iter().map(of_cohort).collect();
    let mut judged: Vec<Vec<Judged>> = families.iter().map(|_| Vec::new()).collect();
    let mut is_judged = vec![false; each.count()];
    let mut by_cohort = vec![Vec::new(); fleet.cohorts.len()];
    each.entries.each_key(fleet, spilled, MOST_ENTRIES, |key, entries| {
        is_judged[key as usize] = true;
        fleet.split(entries, &mut by_cohort);
        for (family, judged) in families.iter().zip(&mut judged) {
            judged.extend(family.judge(key, &by_cohort[family.cohort]));
        }
    })?;
    for key in (0..each.count() as u32).filter(|&key| !is_judged[key as usize]) {
        for (family, judged) in families.iter().zip(&mut judged) {
            judged.extend(family.judge(key, &[]));
        }
    }
    families.iter().zip(judged).map(|(family, judged)| family.outcome(judged, spilled)).collect()
}

/// The result for one name.
struct Judged {
    key: u32,
    name: String,
    value: f64,
    /// True where chance does not explain that it is beyond the threshold.
    is_sure: bool,
}

/// The numbers that are the same for each name.
#[derive(Default)]
struct Runs {
    /// The number of runs with a weight.
    count: u64,
    /// The number of equally weighted runs with the same information.
    effective: u64,
    /// The sum of their weights.
    weight: u128,
    /// The ranks of the ends of intervals.
    ranks: (Option<u64>, Option<u64>),
    /// The number of runs needed to know both ranks; 0 without intervals.
    needed_for_ranks: u64,
}

impl<'e> Family<'e> {
    fn new(fleet: &'e CohortRuns<'e>, rule: &'e AlertRule, each: &'e ScopeColumn, cohort: usize) -> Self {
        let mut family = Self { fleet, rule, each, cohort, runs: Runs::default() };
        family.runs = family.count_runs();
        family
    }

    /// The outcome of the rule.
    fn outcome(&self, mut names: Vec<Judged>, spilled: &mut Spilled) -> io::Result<AlertOutcome> {
        let (count, runs) = (self.each.count(), &self.runs);
        if count == 0 {
            let note = format!("no run has a selected {}", self.each.scope.name());
            return Ok(undecided(self.rule, self.cohort, Some(1), Some(note)));
        }
        self.put_in_order(&mut names);
        let is_beyond = |judged: &Judged| self.rule.is_broken_by(judged.value);
        let state = if names.is_empty() || !self.has_runs_enough() {
            AlertState::Undecided { needed: Some(self.needed()) }
        } else if names.iter().any(|judged| judged.is_sure) {
            names.retain(|judged| judged.is_sure);
            AlertState::Fired
        } else if names.iter().any(is_beyond) {
            AlertState::Undecided { needed: self.needed_to_be_sure() }
        } else {
            AlertState::Quiet
        };
        let causes_count = names.iter().filter(|judged| is_beyond(judged)).count();
        names.truncate(causes_count.clamp(1, MAX_BEYOND));
        let first = names.first().map(|judged| judged.key);
        let note = self.note(&names, state);
        let outcome = AlertOutcome {
            state,
            note,
            causes: names.into_iter().map(|judged| (judged.name, judged.value)).collect(),
            causes_count: causes_count as u64,
            judged: count as u64,
            runs: runs.count,
            ..undecided(self.rule, self.cohort, None, None)
        };
        match first {
            Some(key) => self.told(key, outcome, spilled),
            None => Ok(outcome),
        }
    }

    /// Adds the details of the first name.
    fn told(&self, key: u32, outcome: AlertOutcome, spilled: &mut Spilled) -> io::Result<AlertOutcome> {
        let CohortRuns { runs, members, .. } = self.fleet;
        let mut entries = self.each.entries.of_key(key, self.fleet, spilled)?;
        entries.retain(|entry| runs[entry.run as usize].row.cohort == self.cohort);
        entries.sort_unstable_by_key(|entry| entry.run);
        let distribution = self.distribution(&entries);
        let estimate = self.estimate(&distribution);
        let of_run = |&run: &usize| {
            let entry = entries.binary_search_by_key(&run, |entry| entry.run as usize);
            (run, entry.map_or(Millionths::default(), |at| runs[run].rate_of(entries[at].weight)))
        };
        let (beyond, beyond_count) = beyond(self.rule, &members[self.cohort].iter().map(of_run).collect::<Vec<_>>());
        Ok(AlertOutcome {
            value: value(self.rule, &distribution, estimate.as_ref()),
            estimate,
            beyond,
            beyond_count,
            ..outcome
        })
    }

    /// A name with what it has in the runs of the cohort; `None` without a number to compare.
    fn judge(&self, key: u32, entries: &[Entry]) -> Option<Judged> {
        let distribution = self.distribution(entries);
        let estimate = self.estimate(&distribution);
        let value = value(self.rule, &distribution, estimate.as_ref())?;
        let name = self.each.first_name(key, self.fleet.names);
        let is_sure = !is_of_many(&name) && self.is_sure(value, estimate.as_ref());
        Some(Judged { key, name, value, is_sure })
    }

    /// The furthest beyond the threshold first.
    fn put_in_order(&self, names: &mut [Judged]) {
        let is_upper = self.rule.comparison.is_upper();
        names.sort_by(|a, b| {
            let by_value = if is_upper { b.value.total_cmp(&a.value) } else { a.value.total_cmp(&b.value) };
            by_value.then_with(|| a.name.cmp(&b.name))
        });
    }

    /// True if a value is beyond the threshold by more than chance explains for one of this many names.
    fn is_sure(&self, value: f64, estimate: Option<&Estimate>) -> bool {
        let AlertRule { comparison, bound, .. } = self.rule;
        let holds = |value: f64| self.rule.is_broken_by(value);
        let Some(interval) = estimate.map(|estimate| estimate.interval).filter(|_| *bound == AlertBound::Estimate)
        else {
            return holds(value);
        };
        let end = if comparison.is_upper() { interval.lower } else { interval.upper };
        holds(value) && end.is_some_and(holds)
    }

    fn count_runs(&self) -> Runs {
        let CohortRuns { runs, members, options, .. } = self.fleet;
        let one = |&run: &usize| (Millionths::ONE, runs[run].row.run_weight);
        let all: Vec<(Millionths, Millionths)> = members[self.cohort].iter().map(one).collect();
        let weight = all.iter().map(|(_, weight)| u128::from(weight.get())).sum();
        let all = options.distribution(all, 0, 0);
        let ranks = self.quantile().filter(|_| !options.is_weighted);
        let needed_for_ranks = ranks.map_or(0, |quantile| quantile.needed_with_tail(self.tail()));
        let ranks = ranks.map(|quantile| ranks_with_tail(all.count(), quantile, self.tail()));
        let effective = (all.effective_count() + 1e-9) as u64;
        Runs { count: all.count(), effective, weight, ranks: ranks.unwrap_or_default(), needed_for_ranks }
    }

    /// The values of a name in the runs of the cohort.
    fn distribution(&self, entries: &[Entry]) -> Distribution {
        let (all, count) = (self.fleet.runs, self.runs.count);
        let value = |entry: &Entry| {
            let run = &all[entry.run as usize];
            (run.rate_of(entry.weight), run.row.run_weight)
        };
        let options = self.fleet.options;
        let has_weight = |weight: Millionths| !options.is_weighted || weight.get() > 0;
        let values = entries.iter().map(value).filter(|&(value, weight)| value.get() > 0 && has_weight(weight));
        let values: Vec<_> = values.collect();
        let seen: u128 = values.iter().map(|(_, weight)| u128::from(weight.get())).sum();
        let zeros = count.saturating_sub(values.len() as u64);
        options.distribution(values, zeros, self.runs.weight.saturating_sub(seen))
    }

    /// The percentile with the interval that holds for all names together; `None` for other statistics.
    fn estimate(&self, distribution: &Distribution) -> Option<Estimate> {
        let (quantile, options, runs) = (self.quantile()?, self.fleet.options, &self.runs);
        if options.is_weighted {
            return Some(distribution.estimate(quantile, options.method, options.confidence));
        }
        let support = match Support::of(quantile, options.confidence, runs.count) {
            Support::Enough if runs.count < runs.needed_for_ranks => Support::UpperUnknown,
            support => support,
        };
        let value = distribution.quantile(quantile, options.method);
        Some(Estimate { quantile, value, support, interval: distribution.interval(runs.ranks) })
    }

    fn quantile(&self) -> Option<Quantile> {
        self.rule.statistic.quantile()
    }

    /// The probability that an end of one interval may miss with.
    fn tail(&self) -> f64 {
        self.fleet.options.confidence.tail() / self.each.count().max(1) as f64
    }

    /// The number of runs that the statistic needs, apart from chance.
    fn needed(&self) -> u64 {
        self.rule.needed(self.tail())
    }

    /// True if there are enough runs. An end of an interval is known or unknown regardless of this number.
    fn has_runs_enough(&self) -> bool {
        self.rule.bound != AlertBound::Estimate || self.runs.effective >= self.needed()
    }

    /// The number of runs needed to know the deciding end; `None` if it is known, or no number is enough.
    fn needed_to_be_sure(&self) -> Option<u64> {
        let runs = &self.runs;
        let end = if self.rule.comparison.is_upper() { runs.ranks.0 } else { runs.ranks.1 };
        let is_missing = end.is_none() && (1..u64::MAX).contains(&runs.needed_for_ranks);
        is_missing.then_some(runs.needed_for_ranks)
    }

    /// The reason why the outcome is doubtful.
    fn note(&self, names: &[Judged], state: AlertState) -> Option<String> {
        let runs = &self.runs;
        let AlertState::Undecided { needed } = state else { return None };
        if runs.count == 0 {
            return Some(NO_RUNS.to_owned());
        }
        let (scope, count) = (self.each.scope.name(), self.each.count());
        if let Some(needed) = needed {
            let is_of_all = self.rule.bound == AlertBound::Estimate && needed > self.needed();
            let note =
                is_of_all.then(|| format!("an interval that holds for all {count} names at once needs this many runs"));
            return note.or_else(|| weights_note(runs.effective, runs.count, state));
        }
        if names.iter().all(|judged| is_of_many(&judged.name)) {
            let names: Vec<String> = names.iter().map(|judged| format!("{:?}", judged.name)).collect();
            return Some(format!("{} is code that may belong to any {scope}, or to several", names.join(" and ")));
        }
        Some(if self.fleet.options.is_weighted {
            "weighted percentiles have no intervals, so chance cannot be ruled out".to_owned()
        } else {
            format!("chance may explain it: {count} names were judged, and the interval includes the threshold")
        })
    }
}
