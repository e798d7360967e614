//! Rules about any function or binary: each is judged, and chance has as many chances.
//!
//! Each name is judged as if the rule named it, with two differences that keep false alarms as rare as those about one name:
//!
//! * Intervals of percentiles hold for all n names together: each end misses with at most the n-th part of the probability that it
//!   otherwise misses with (Bonferroni). `.lower` and `.upper` are the ends of these.
//! * A percentile fires the rule only where the end of its interval is beyond the threshold, too. Where the percentile alone
//!   is, chance may explain it, and the rule is undecided.
//!
//! Means, smallest and largest values are those of the runs that are there, and fire as they do for one name. Names that stand for
//! code of many functions ([`is_of_many`]) fire nothing: where one of them is beyond the threshold, the rule is undecided.

use super::alert::{AlertBound, AlertRule, AlertStatistic};
use super::alert_evaluation::{AlertEvaluation, MAX_BEYOND, NO_RUNS, beyond, undecided, value, weights_note};
use super::alert_series::{EachEntry, EachSeries, is_of_many};
use super::report::{AlertOutcome, AlertState};
use crate::stats::{Distribution, Estimate, Quantile, Support, ranks_with_tail};
use crate::units::Millionths;

/// A rule about each name, and a cohort that it is asked of.
pub(super) struct Family<'e> {
    pub(super) evaluation: &'e AlertEvaluation<'e>,
    pub(super) rule: &'e AlertRule,
    pub(super) each: &'e EachSeries,
    pub(super) cohort: usize,
}

/// One name.
struct Judged {
    key: u32,
    name: String,
    value: f64,
    /// True where chance does not explain that it is beyond the threshold.
    is_sure: bool,
}

/// The numbers that are the same for each name.
struct Runs {
    /// Those that have a weight.
    count: u64,
    /// As many of one weight say as much.
    effective: u64,
    /// The sum of their weights.
    weight: u128,
    /// The ranks of the ends of intervals.
    ranks: (Option<u64>, Option<u64>),
    /// The number of runs from which on both ranks are known; 0 where there are no intervals.
    needed_for_ranks: u64,
}

impl Family<'_> {
    /// The outcome of the rule.
    pub(super) fn outcome(&self) -> AlertOutcome {
        let count = self.each.count();
        if count == 0 {
            let note = format!("no run has a {} that counts", self.each.scope.name());
            return undecided(self.rule, self.cohort, Some(1), Some(note));
        }
        let runs = self.runs();
        let mut names = self.judge(&runs);
        let threshold = self.rule.threshold.as_f64();
        let is_beyond = |judged: &Judged| self.rule.comparison.holds(judged.value, threshold);
        let state = if names.is_empty() || !self.has_runs_enough(&runs) {
            AlertState::Undecided { needed: Some(self.needed()) }
        } else if names.iter().any(|judged| judged.is_sure) {
            names.retain(|judged| judged.is_sure);
            AlertState::Fired
        } else if names.iter().any(is_beyond) {
            AlertState::Undecided { needed: self.needed_to_be_sure(&runs) }
        } else {
            AlertState::Quiet
        };
        let causes_count = names.iter().filter(|judged| is_beyond(judged)).count();
        names.truncate(causes_count.clamp(1, MAX_BEYOND));
        let first = names.first().map(|judged| judged.key);
        let note = self.note(&runs, &names, state);
        self.told(
            &runs,
            first,
            AlertOutcome {
                state,
                note,
                causes: names.into_iter().map(|judged| (judged.name, judged.value)).collect(),
                causes_count: causes_count as u64,
                judged: count as u64,
                runs: runs.count,
                ..undecided(self.rule, self.cohort, None, None)
            },
        )
    }

    /// Adds what is told of the first name.
    fn told(&self, runs: &Runs, first: Option<u32>, outcome: AlertOutcome) -> AlertOutcome {
        let Some(key) = first else { return outcome };
        let distribution = self.distribution(key, runs);
        let estimate = self.estimate(&distribution, runs);
        let members = self.evaluation.members[self.cohort].iter();
        let entries = self.entries(key);
        let of_run = |&run: &usize| {
            let entry = entries.binary_search_by_key(&run, |entry| entry.run as usize);
            (run, entry.map_or(Millionths::default(), |at| entries[at].value))
        };
        let (beyond, beyond_count) = beyond(self.rule, &members.map(of_run).collect::<Vec<_>>());
        AlertOutcome {
            value: value(self.rule, &distribution, estimate.as_ref()),
            estimate,
            beyond,
            beyond_count,
            ..outcome
        }
    }

    /// The names, the furthest beyond the threshold first; none without a number to compare.
    fn judge(&self, runs: &Runs) -> Vec<Judged> {
        let comparison = self.rule.comparison;
        let judge = |key: u32| {
            let distribution = self.distribution(key, runs);
            let estimate = self.estimate(&distribution, runs);
            let value = value(self.rule, &distribution, estimate.as_ref())?;
            let name = self.each.name(key, self.evaluation.names);
            let is_sure = !is_of_many(&name) && self.is_sure(value, estimate.as_ref());
            Some(Judged { key, name, value, is_sure })
        };
        let mut names: Vec<Judged> = (0..self.each.count() as u32).filter_map(judge).collect();
        names.sort_by(|a, b| {
            let by_value =
                if comparison.is_upper() { b.value.total_cmp(&a.value) } else { a.value.total_cmp(&b.value) };
            by_value.then_with(|| a.name.cmp(&b.name))
        });
        names
    }

    /// True where a value is beyond the threshold, and more than chance makes of one of so many names.
    fn is_sure(&self, value: f64, estimate: Option<&Estimate>) -> bool {
        let AlertRule { comparison, threshold, bound, .. } = self.rule;
        let holds = |value: f64| comparison.holds(value, threshold.as_f64());
        let Some(interval) = estimate.map(|estimate| estimate.interval).filter(|_| *bound == AlertBound::Estimate)
        else {
            return holds(value);
        };
        let end = if comparison.is_upper() { interval.lower } else { interval.upper };
        holds(value) && end.is_some_and(holds)
    }

    fn runs(&self) -> Runs {
        let AlertEvaluation { runs, members, options, .. } = self.evaluation;
        let one = |&run: &usize| (Millionths::ONE, runs[run].record.run_weight);
        let all: Vec<(Millionths, Millionths)> = members[self.cohort].iter().map(one).collect();
        let weight = all.iter().map(|(_, weight)| u128::from(weight.get())).sum();
        let all = if options.is_weighted {
            Distribution::weighted(all, 0, 0)
        } else {
            Distribution::new(all.into_iter().map(|(value, _)| value).collect(), 0)
        };
        let ranks = self.quantile().filter(|_| !options.is_weighted);
        let needed_for_ranks = ranks.map_or(0, |quantile| quantile.needed_with_tail(self.tail()));
        let ranks = ranks.map(|quantile| ranks_with_tail(all.count(), quantile, self.tail()));
        let effective = (all.effective_count() + 1e-9) as u64;
        Runs { count: all.count(), effective, weight, ranks: ranks.unwrap_or_default(), needed_for_ranks }
    }

    /// The values of a name in the runs of the cohort.
    fn distribution(&self, key: u32, runs: &Runs) -> Distribution {
        let entries = self.entries(key);
        if !self.evaluation.options.is_weighted {
            let values = entries.iter().map(|entry| entry.value).collect();
            return Distribution::new(values, runs.count.saturating_sub(entries.len() as u64));
        }
        let weight = |entry: &EachEntry| self.evaluation.runs[entry.run as usize].record.run_weight;
        let mut values: Vec<_> = entries.iter().map(|entry| (entry.value, weight(entry))).collect();
        values.retain(|(_, weight)| weight.get() > 0);
        let seen: u128 = values.iter().map(|(_, weight)| u128::from(weight.get())).sum();
        let zeros = runs.count.saturating_sub(values.len() as u64);
        Distribution::weighted(values, zeros, runs.weight.saturating_sub(seen))
    }

    /// The runs of the cohort in which a name is above zero.
    fn entries(&self, key: u32) -> &[EachEntry] {
        let (entries, runs) = (&self.each.entries, self.evaluation.runs);
        let place = |entry: &EachEntry| (runs[entry.run as usize].cohort as usize, entry.key);
        let start = entries.partition_point(|entry| place(entry) < (self.cohort, key));
        let end = start + entries[start..].partition_point(|entry| place(entry) <= (self.cohort, key));
        &entries[start..end]
    }

    /// The percentile with the interval that holds for all names together; `None` for other statistics.
    fn estimate(&self, distribution: &Distribution, runs: &Runs) -> Option<Estimate> {
        let (quantile, options) = (self.quantile()?, self.evaluation.options);
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
        match self.rule.statistic {
            AlertStatistic::Quantile(quantile) => Some(quantile),
            AlertStatistic::Mean | AlertStatistic::Min | AlertStatistic::Max => None,
        }
    }

    /// The probability that an end of one interval may miss with.
    fn tail(&self) -> f64 {
        self.evaluation.options.confidence.tail() / self.each.count().max(1) as f64
    }

    /// The number of runs that the statistic needs, whatever chance does.
    fn needed(&self) -> u64 {
        match (self.rule.statistic, self.rule.bound) {
            (AlertStatistic::Quantile(quantile), AlertBound::Estimate) => quantile.needed_count(),
            (AlertStatistic::Quantile(quantile), _) => quantile.needed_with_tail(self.tail()),
            _ => 1,
        }
    }

    /// True where there are so many runs. An end of an interval is known or not, whatever this number is.
    fn has_runs_enough(&self, runs: &Runs) -> bool {
        self.rule.bound != AlertBound::Estimate || runs.effective >= self.needed()
    }

    /// The number of runs from which on the end that decides is known; `None` where it is known, or nothing makes it known.
    fn needed_to_be_sure(&self, runs: &Runs) -> Option<u64> {
        let end = if self.rule.comparison.is_upper() { runs.ranks.0 } else { runs.ranks.1 };
        let is_missing = end.is_none() && (1..u64::MAX).contains(&runs.needed_for_ranks);
        is_missing.then_some(runs.needed_for_ranks)
    }

    /// The reason why the outcome is doubtful.
    fn note(&self, runs: &Runs, names: &[Judged], state: AlertState) -> Option<String> {
        let AlertState::Undecided { needed } = state else { return None };
        if runs.count == 0 {
            return Some(NO_RUNS.to_owned());
        }
        let (scope, count) = (self.each.scope.name(), self.each.count());
        if let Some(needed) = needed {
            let is_of_all = self.rule.bound == AlertBound::Estimate && needed > self.needed();
            let note =
                is_of_all.then(|| format!("an interval that holds for all {count} names together needs so many runs"));
            return note.or_else(|| weights_note(runs.effective, runs.count, state));
        }
        if names.iter().all(|judged| is_of_many(&judged.name)) {
            let names: Vec<String> = names.iter().map(|judged| format!("{:?}", judged.name)).collect();
            return Some(format!("{} is code that may be of any {scope}, and of many", names.join(" and ")));
        }
        Some(if self.evaluation.options.is_weighted {
            "weighted percentiles have no intervals, so chance cannot be ruled out".to_owned()
        } else {
            format!("chance may explain it: {count} names were judged, and the interval includes the threshold")
        })
    }
}
