//! Rules about any function or binary: each is judged, and chance has as many chances.
//!
//! Each name is judged as if the rule named it, with two differences that keep false alarms as rare as those about one name:
//!
//! * Intervals of percentiles hold for all n names together: each end misses with at most the n-th part of the probability that it
//!   otherwise misses with (Bonferroni). `.lower` and `.upper` are the ends of these.
//! * A percentile fires the rule only if the end of its interval is also beyond the threshold. If only the percentile
//!   is beyond it, chance may explain it, and the rule is undecided.
//!
//! Means, smallest and largest values describe the measured runs, and fire as for a single name. Names that represent
//! code of many functions ([`is_of_many`]) never fire: if one of them is beyond the threshold, the rule is undecided.

use std::io;

use super::alert::{AlertBound, AlertRule};
use super::alert_evaluation::{MAX_BEYOND, NO_RUNS, beyond, undecided, value, weights_note};
use super::alert_series::{EachSeries, is_of_many};
use super::cohort_runs::{CohortRuns, MOST_ENTRIES};
use super::entries::Entry;
use super::report::{AlertOutcome, AlertState};
use super::spill::Spilled;
use crate::stats::{Distribution, Estimate, Quantile, Support, ranks_with_tail};
use crate::units::Millionths;

/// A rule about each name, applied to one cohort.
struct Family<'e> {
    fleet: &'e CohortRuns<'e>,
    rule: &'e AlertRule,
    each: &'e EachSeries,
    cohort: usize,
    runs: Runs,
}

/// The outcomes of a rule about each name in these cohorts.
pub(super) fn outcomes(
    fleet: &CohortRuns<'_>,
    rule: &AlertRule,
    each: &EachSeries,
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
    fn new(fleet: &'e CohortRuns<'e>, rule: &'e AlertRule, each: &'e EachSeries, cohort: usize) -> Self {
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
        let name = self.each.name(key, self.fleet.names);
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
            let note = is_of_all
                .then(|| format!("an interval that holds for all {count} names together needs this many runs"));
            return note.or_else(|| weights_note(runs.effective, runs.count, state));
        }
        if names.iter().all(|judged| is_of_many(&judged.name)) {
            let names: Vec<String> = names.iter().map(|judged| format!("{:?}", judged.name)).collect();
            return Some(format!("{} is code that may be of any {scope}, and of many", names.join(" and ")));
        }
        Some(if self.fleet.options.is_weighted {
            "weighted percentiles have no intervals, so chance cannot be ruled out".to_owned()
        } else {
            format!("chance may explain it: {count} names were judged, and the interval includes the threshold")
        })
    }
}
