//! Evaluates alert rules on the cohorts of a fleet.
//!
//! # Rules about any function or binary
//!
//! Every name is tested, so each one is a chance of a false alarm. Each name is judged as if the rule named it, with two differences that keep
//! false alarms as rare as for a single name:
//!
//! * Percentile intervals hold for all n names simultaneously: each end misses with at most 1/n of the usual probability (Bonferroni). `.lower`
//!   and `.upper` are the ends of these intervals.
//! * A percentile fires the rule only if the end of its interval is also beyond the limit. If only the percentile is, chance may explain it, and
//!   the rule is undecided.
//!
//! Means, minimums and maximums describe the measured runs, and fire as for a single name. Names that represent the code of several functions
//! ([`is_of_many`]) never fire: if one of them is beyond the limit, the rule is undecided.

use std::collections::HashSet;
use std::io;

use super::alert_series::{AlertNumbers, AlertSeries, OneSeries, is_of_many};
use super::cohort_runs::{CohortRuns, MOST_ENTRIES};
use super::columns::ScopeColumn;
use super::entries::{Entry, Spilled};
use crate::alert::{
    AlertBound, AlertCause, AlertMeasure, AlertOutcome, AlertRule, AlertState, AlertStatistic, AlertSubject, Candidate,
    judge, too_many_unmeasured,
};
use crate::stats::{Distribution, Estimate, Support, ranks_with_tail};
use crate::units::{Millionths, Unit, several};

/// The maximum number of runs and names in an outcome; the rest are counted.
const MAX_BEYOND: usize = 20;

/// The note for a rule that needs the interval of a percentile.
const NO_INTERVALS: &str = "weighted percentiles have no intervals, so chance cannot be ruled out";

/// The note for a cohort whose files all failed.
const NO_RUNS: &str = "none of the files of this cohort produced a run";

impl CohortRuns<'_> {
    /// Evaluates an alert rule in each cohort with its unit. If no cohort has the unit, the rule is undecided for each set of labels.
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

    /// The outcome of a rule whose unit no run has.
    fn other_unit(&self, rule: &AlertRule, cohort: usize) -> AlertOutcome {
        let unit = self.unit(cohort);
        let recorded = match unit {
            Unit::Nanoseconds => "these runs were recorded in CPU time".to_owned(),
            _ if unit.is_of_reports() => format!("these reports have {}", unit.rate_name()),
            _ => format!("these runs were recorded in {}", unit.name()),
        };
        let note = match rule.measure {
            AlertMeasure::CpuTime => format!("the rule is about CPU time, but {recorded}"),
            AlertMeasure::Elapsed => format!("the rule is about recorded time, but {recorded}"),
            _ if rule.unit.is_of_reports() => format!("no report has a measure in {}", rule.unit.rate_name()),
            measure => {
                let advice = match unit {
                    _ if rule.is_of_system() => "iOS limits CPU time".to_owned(),
                    Unit::Nanoseconds => "write the limit in percent, such as 80".to_owned(),
                    Unit::Cycles => "write the limit in that unit, such as 2.5 Gcycles/s".to_owned(),
                    _ if unit.is_of_reports() => format!("their measure is {}", measure.name(unit)),
                    _ => format!("write the limit in {}", unit.rate_name()),
                };
                format!("the rule uses {}, but {recorded}; {advice}", rule.unit.rate_name())
            }
        };
        undecided(rule, cohort, note)
    }

    /// Evaluates a rule about one series.
    fn outcome(&self, rule: &AlertRule, series: &OneSeries, cohort: usize) -> AlertOutcome {
        let members = &self.members[cohort];
        if let (AlertSubject::Named(kind, name), false) = (&rule.subject, series.is_seen) {
            let (kind, similar) = (kind.name(), series.similar.as_ref());
            let similar = similar.map_or_else(String::new, |known| format!("; there is {known:?}"));
            let note = match series.is_left_out {
                true => format!("the {kind} {name:?} is not in any selected process"),
                false => format!("no run has a {kind} named {name:?}{similar}"),
            };
            return undecided(rule, cohort, note);
        }
        let values: Vec<(usize, Millionths)> =
            members.iter().filter_map(|&run| series.values[run].map(|value| (run, value))).collect();
        let outcome = self.judged(rule, &values, cohort);
        if self.with_unread(cohort).next().is_none() {
            return outcome;
        }
        let most =
            |&(run, value): &(usize, Millionths)| (run, value.saturating_add(self.runs[run].unread(rule.measure)));
        let most: Vec<_> = values.iter().map(most).collect();
        outcome.or_undecided(self.judged(rule, &most, cohort).state)
    }

    /// Evaluates a rule on values of runs.
    fn judged(&self, rule: &AlertRule, values: &[(usize, Millionths)], cohort: usize) -> AlertOutcome {
        let members = &self.members[cohort];
        let weighted = values.iter().map(|&(run, value)| (value, self.runs[run].row.run_weight));
        let distribution = self.options.distribution(weighted.collect(), 0, 0);
        let quantile = rule.statistic.quantile();
        let estimate =
            quantile.map(|quantile| distribution.estimate(quantile, self.options.method, self.options.confidence));
        let value = value(rule, &distribution, estimate.as_ref());
        // As in tables, unequal weights reduce the effective number of runs.
        let count = (distribution.effective_count() + 1e-9) as u64;
        let is_measured = rule.measure != AlertMeasure::Elapsed
            || too_many_unmeasured(members.len() - values.len(), members.len(), "").is_none();
        let needed = needed(rule, self.options.confidence.tail());
        // The end of an interval may be unknown at any count, but a percentile always has a value.
        let decided = value.filter(|_| count >= needed || rule.bound != AlertBound::Estimate);
        let state = match decided {
            _ if !is_measured => AlertState::UNSURE,
            // Weighted percentiles never have intervals.
            None if self.options.is_weighted && rule.bound != AlertBound::Estimate => AlertState::UNSURE,
            None => AlertState::Undecided { needed: Some(needed) },
            Some(value) => judge(rule, rule.limit, &mut vec![Candidate { of: (), value, is_sure: true }]).0,
        };
        let (beyond, beyond_count) = beyond(rule, values);
        let is_without_interval = self.options.is_weighted && rule.bound != AlertBound::Estimate && value.is_none();
        let note = note(rule, members.len(), values.len(), estimate.as_ref(), state)
            .or_else(|| is_without_interval.then(|| NO_INTERVALS.to_owned()))
            .or_else(|| weights_note(count, distribution.count(), state));
        let count = distribution.count();
        let base = AlertOutcome::undecided(rule, None, note);
        AlertOutcome { cohort, state, value, estimate, count, beyond, beyond_count, ..base }
    }
}

/// The outcome of a rule with nothing to measure.
fn undecided(rule: &AlertRule, cohort: usize, note: String) -> AlertOutcome {
    AlertOutcome { cohort, ..AlertOutcome::undecided(rule, Some(1), Some(note)) }
}

/// The most urgent of these states.
fn most_urgent(states: impl Iterator<Item = AlertState> + Clone) -> AlertState {
    let has = |state: &AlertState| states.clone().any(|own| own.name() == state.name());
    AlertState::ALL.into_iter().find(has).unwrap_or(AlertState::Quiet)
}

/// The number of runs that the statistic needs if an end of its interval may miss with probability `tail`.
fn needed(rule: &AlertRule, tail: f64) -> u64 {
    match (rule.statistic.quantile(), rule.bound) {
        (Some(quantile), AlertBound::Estimate) => quantile.needed_count(),
        (Some(quantile), _) => quantile.needed_with_tail(tail),
        (None, _) => 1,
    }
}

/// The number that is compared with the limit.
fn value(rule: &AlertRule, distribution: &Distribution, estimate: Option<&Estimate>) -> Option<f64> {
    let number = |value: Option<Millionths>| value.map(Millionths::as_f64);
    match (rule.statistic, rule.bound) {
        (AlertStatistic::Quantile(_), AlertBound::Estimate) => estimate?.value,
        (AlertStatistic::Quantile(_), AlertBound::Lower) => estimate?.interval.lower,
        (AlertStatistic::Quantile(_), AlertBound::Upper) => estimate?.interval.upper,
        (AlertStatistic::Mean, _) => number(distribution.mean()),
        (AlertStatistic::Min, _) => number(distribution.min()),
        (AlertStatistic::Max, _) => number(distribution.max()),
        (AlertStatistic::Growth, _) => None,
    }
}

/// The runs beyond the limit, farthest first and limited to [`MAX_BEYOND`], and their total number.
fn beyond(rule: &AlertRule, values: &[(usize, Millionths)]) -> (Vec<(usize, Millionths)>, u64) {
    let candidate = |&of: &(usize, Millionths)| Candidate { of, value: of.1.as_f64(), is_sure: true };
    let mut candidates: Vec<_> = values.iter().map(candidate).collect();
    let count = judge(rule, rule.limit, &mut candidates).1;
    (candidates.into_iter().take(count.min(MAX_BEYOND)).map(|candidate| candidate.of).collect(), count as u64)
}

/// If the rule is undecided, a note that unequal weights reduce the effective number of runs.
fn weights_note(effective: u64, count: u64, state: AlertState) -> Option<String> {
    let is_fewer = effective < count && state.is_undecided();
    is_fewer.then(|| {
        let runs = several(effective, "run");
        format!("because of their weights, these runs contain as much information as {runs} of equal weight")
    })
}

/// Why an outcome is uncertain.
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
        AlertMeasure::Window(seconds) => Some(format!("shorter than {seconds} s")),
        AlertMeasure::Elapsed => Some("of unknown length".to_owned()),
        _ => None,
    };
    if let Some(why) = why.filter(|_| measured < runs) {
        let left_out = runs - measured;
        let (is, does) = if left_out == 1 { ("is", "does") } else { ("are", "do") };
        let all = if runs == 1 { "run" } else { "runs" };
        return Some(format!("{left_out} of {runs} {all} {is} {why} and {does} not count"));
    }
    let interval = estimate.map(|estimate| estimate.interval)?;
    let limit = rule.limit;
    // An unknown upper end has already been reported as the support of the percentile.
    let includes = interval.lower.unwrap_or(0.0) <= limit && interval.upper.is_some_and(|upper| upper >= limit);
    if rule.bound != AlertBound::Estimate || !includes {
        return None;
    }
    let end = if rule.comparison.is_upper() { "lower" } else { "upper" };
    let statistic = rule.statistic.name();
    let said = "the interval of the percentile includes the limit";
    match state {
        AlertState::Fired => Some(format!("{said}, so it could be chance; a rule on {statistic}.{end} is stricter")),
        AlertState::Quiet => Some(format!("{said}, so the true value may be beyond the limit")),
        AlertState::Undecided { .. } => None,
    }
}

/// A rule about every name, applied to one cohort.
struct Family<'e> {
    fleet: &'e CohortRuns<'e>,
    rule: &'e AlertRule,
    each: &'e ScopeColumn,
    cohort: usize,
    runs: Runs,
}

/// Evaluates a rule about every name in these cohorts.
fn family_outcomes(
    fleet: &CohortRuns<'_>,
    rule: &AlertRule,
    each: &ScopeColumn,
    cohorts: &[usize],
    spilled: &mut Spilled,
) -> io::Result<Vec<AlertOutcome>> {
    let of_cohort = |&cohort: &usize| {
        let family = Family { fleet, rule, each, cohort, runs: Runs::default() };
        Family { runs: family.count_runs(), ..family }
    };
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

/// A name that is judged.
struct Name {
    key: u32,
    name: String,
    /// The state of the rule if all unreadable rows belong to it.
    with_unread: AlertState,
}

type Judged = Candidate<Name>;

/// Numbers shared by all names.
#[derive(Default)]
struct Runs {
    /// The number of runs with a nonzero weight.
    count: u64,
    /// The effective number of runs: the number of equally weighted runs with the same information.
    effective: u64,
    /// The total weight of the runs.
    weight: u128,
    /// The ranks of the interval's ends.
    ranks: (Option<u64>, Option<u64>),
    /// The number of runs from which both ranks are known; 0 without intervals.
    needed_for_ranks: u64,
    /// The runs with unreadable rows.
    unread: Vec<u32>,
}

impl Family<'_> {
    /// Evaluates the rule.
    fn outcome(&self, mut names: Vec<Judged>, spilled: &mut Spilled) -> io::Result<AlertOutcome> {
        let (count, runs) = (self.each.count(), &self.runs);
        if count == 0 {
            return Ok(undecided(self.rule, self.cohort, format!("no run has a selected {}", self.each.scope.name())));
        }
        let is_known = !names.is_empty() && self.has_runs_enough();
        names.sort_by(|a, b| a.of.name.cmp(&b.of.name));
        let with_unread = names.iter().map(|judged| judged.of.with_unread);
        let with_unread = most_urgent(with_unread);
        let (state, causes_count) = judge(self.rule, self.rule.limit, &mut names);
        let state = match state {
            _ if !is_known => AlertState::Undecided { needed: Some(self.needed()) },
            AlertState::Undecided { .. } => AlertState::Undecided { needed: self.needed_to_be_sure() },
            state => state,
        };
        names.truncate(MAX_BEYOND);
        let first = names.first().map(|judged| judged.of.key);
        let note = self.note(&names, state);
        let cause = |Judged { of, value, .. }| AlertCause { name: of.name, binary: None, value, noise: None };
        let outcome = AlertOutcome {
            cohort: self.cohort,
            state,
            causes: names.into_iter().map(cause).collect(),
            causes_count: causes_count as u64,
            judged: count as u64,
            count: runs.count,
            ..AlertOutcome::undecided(self.rule, None, note)
        };
        let outcome = outcome.or_undecided(with_unread);
        match first {
            Some(key) => self.told(key, outcome, spilled),
            None => Ok(outcome),
        }
    }

    /// Adds the details of the first name to its outcome.
    fn told(&self, key: u32, outcome: AlertOutcome, spilled: &mut Spilled) -> io::Result<AlertOutcome> {
        let CohortRuns { runs, members, .. } = self.fleet;
        let mut entries = self.each.entries.of_key(key, self.fleet, spilled)?;
        entries.retain(|entry| runs[entry.run as usize].row.cohort == self.cohort);
        entries.sort_unstable_by_key(|entry| entry.run);
        let distribution = self.distribution(&entries, false);
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

    /// Judges a name by its values in the cohort's runs. `None` if there is nothing to compare.
    fn judge(&self, key: u32, entries: &[Entry]) -> Option<Judged> {
        let name = self.each.first_name(key, self.fleet.names);
        let (value, is_sure) = self.value(&name, &self.distribution(entries, false))?;
        let state = |(value, is_sure): (f64, bool)| {
            judge(self.rule, self.rule.limit, &mut vec![Candidate { of: (), value, is_sure }]).0
        };
        let with_unread = match self.runs.unread.is_empty() {
            true => state((value, is_sure)),
            false => self.value(&name, &self.distribution(entries, true)).map_or(AlertState::UNSURE, state),
        };
        Some(Judged { of: Name { key, name, with_unread }, value, is_sure })
    }

    /// The value of a name, and true if chance cannot explain that it is beyond the limit.
    fn value(&self, name: &str, distribution: &Distribution) -> Option<(f64, bool)> {
        let estimate = self.estimate(distribution);
        let value = value(self.rule, distribution, estimate.as_ref())?;
        // If the interval includes the limit, chance may explain the percentile.
        let interval = estimate.filter(|_| self.rule.bound == AlertBound::Estimate).map(|estimate| estimate.interval);
        let is_sure = interval.is_none_or(|interval| {
            let end = if self.rule.comparison.is_upper() { interval.lower } else { interval.upper };
            end.is_some_and(|end| self.rule.is_broken_by(end))
        });
        Some((value, is_sure && !is_of_many(name)))
    }

    fn count_runs(&self) -> Runs {
        let CohortRuns { runs, members, options, .. } = self.fleet;
        let one = |&run: &usize| (Millionths::ONE, runs[run].row.run_weight);
        let all: Vec<(Millionths, Millionths)> = members[self.cohort].iter().map(one).collect();
        let weight = all.iter().map(|(_, weight)| u128::from(weight.get())).sum();
        let all = options.distribution(all, 0, 0);
        let ranks = self.rule.statistic.quantile().filter(|_| !options.is_weighted);
        let needed_for_ranks = ranks.map_or(0, |quantile| quantile.needed_with_tail(self.tail()));
        let ranks = ranks.map(|quantile| ranks_with_tail(all.count(), quantile, self.tail()));
        let effective = (all.effective_count() + 1e-9) as u64;
        let unread = self.fleet.with_unread(self.cohort).map(|run| run as u32);
        let (count, ranks, unread) = (all.count(), ranks.unwrap_or_default(), unread.collect());
        Runs { count, effective, weight, ranks, needed_for_ranks, unread }
    }

    /// The distribution of a name's values over the cohort's runs. If `with_unread`, all unreadable rows belong to the name.
    fn distribution(&self, entries: &[Entry], with_unread: bool) -> Distribution {
        let (all, count) = (self.fleet.runs, self.runs.count);
        let value = |entry: &Entry| {
            let run = &all[entry.run as usize];
            let unread = if with_unread { run.unread(self.rule.measure) } else { Millionths::default() };
            (run.rate_of(entry.weight).saturating_add(unread), run.row.run_weight)
        };
        let seen: HashSet<u32> = entries.iter().filter(|_| with_unread).map(|entry| entry.run).collect();
        let others = self.runs.unread.iter().filter(|&run| with_unread && !seen.contains(run));
        let others: Vec<Entry> = others.map(|&run| Entry { run, ..Entry::default() }).collect();
        let options = self.fleet.options;
        let has_weight = |weight: Millionths| !options.is_weighted || weight.get() > 0;
        let values =
            entries.iter().chain(&others).map(value).filter(|&(value, weight)| value.get() > 0 && has_weight(weight));
        let values: Vec<_> = values.collect();
        let seen: u128 = values.iter().map(|(_, weight)| u128::from(weight.get())).sum();
        let zeros = count.saturating_sub(values.len() as u64);
        options.distribution(values, zeros, self.runs.weight.saturating_sub(seen))
    }

    /// The percentile with an interval that holds for all names simultaneously; `None` for other statistics.
    fn estimate(&self, distribution: &Distribution) -> Option<Estimate> {
        let (quantile, options, runs) = (self.rule.statistic.quantile()?, self.fleet.options, &self.runs);
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

    /// The miss probability at one end of one interval.
    fn tail(&self) -> f64 {
        self.fleet.options.confidence.tail() / self.each.count().max(1) as f64
    }

    /// The number of runs that the statistic needs if chance is ignored.
    fn needed(&self) -> u64 {
        needed(self.rule, self.tail())
    }

    /// True if there are enough runs. Always true for the end of an interval, which may be unknown for any number of runs.
    fn has_runs_enough(&self) -> bool {
        self.rule.bound != AlertBound::Estimate || self.runs.effective >= self.needed()
    }

    /// The number of runs from which the relevant end of the interval is known. `None` if it is already known, or if no number suffices.
    fn needed_to_be_sure(&self) -> Option<u64> {
        let runs = &self.runs;
        let end = if self.rule.comparison.is_upper() { runs.ranks.0 } else { runs.ranks.1 };
        let is_missing = end.is_none() && (1..u64::MAX).contains(&runs.needed_for_ranks);
        is_missing.then_some(runs.needed_for_ranks)
    }

    /// Why an outcome is uncertain.
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
        if names.iter().all(|judged| is_of_many(&judged.of.name)) {
            let names: Vec<String> = names.iter().map(|judged| format!("{:?}", judged.of.name)).collect();
            return Some(format!("{} is code that may belong to any {scope}, or to several", names.join(" and ")));
        }
        Some(if self.fleet.options.is_weighted {
            NO_INTERVALS.to_owned()
        } else {
            format!("chance may explain it: {count} names were judged, and the interval includes the limit")
        })
    }
}
