//! The tables of scopes, and the rows that differ most between cohorts.
//!
//! Keys are processed one by one, in any order, each with all of its runs. Only rows that tables show are kept.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io;

use super::alert_series::is_of_many;
use super::cohort_runs::{CohortRuns, MOST_ENTRIES};
use super::columns::ScopeColumn;
use super::entries::{Entry, Spilled};
use super::finding::Finding;
use super::measures::Measure;
use super::options::SortKey;
use super::report::{CohortReport, Contrast, ContrastRow, ScopeRow, ScopeTable, is_noise};
use super::scope::{FleetScope, ScopeName};
use super::stored_run::EFFECTIVE_UNIT;
use super::summary::{RunValues, Totals, sort_value, summarize};
use super::tail::Tail;
use crate::stats::{Distribution, Interval, Quantile, QuantileMethod, ranks_with_tail};
use crate::units::{Millionths, Unit};

/// Numbers shared by all keys of a cohort.
struct CohortFacts {
    recorded: Totals,
    /// The total weight of the cohort's runs.
    weight: u128,
}

/// One key in one cohort.
struct Group<'e> {
    entries: &'e [Entry],
    distribution: Distribution,
    weighted_mean: Option<Millionths>,
    sort_value: f64,
    /// The effective sample size: the number of equally weighted samples with the same noise.
    effective_samples: f64,
}

/// A row's sort key in its table.
#[derive(Clone)]
struct Rank {
    sort_value: f64,
    max: Option<Millionths>,
    weighted_mean: Option<Millionths>,
    name: ScopeName,
}

impl Rank {
    /// Rows with equal sort values are ordered by largest value, then by weighted mean.
    fn compare(&self, other: &Self) -> Ordering {
        (other.sort_value.total_cmp(&self.sort_value))
            .then_with(|| other.max.cmp(&self.max))
            .then_with(|| other.weighted_mean.cmp(&self.weighted_mean))
            .then_with(|| self.name.cmp(&other.name))
    }
}

/// A table that accepts rows in any order.
struct GrowingTable {
    scope: FleetScope,
    /// The maximum number of shown rows.
    top: usize,
    rows: Vec<(Rank, ScopeRow)>,
    /// The last visible row so far. Rows after it are hidden.
    last: Option<Rank>,
    /// The number of all rows, including hidden ones.
    count: u64,
    most_used: Option<(Rank, ScopeRow)>,
}

impl GrowingTable {
    fn new(scope: FleetScope, top: Option<usize>) -> Self {
        Self { scope, top: top.unwrap_or(usize::MAX), rows: Vec::new(), last: None, count: 0, most_used: None }
    }

    fn add(&mut self, rank: Rank, row: impl FnOnce() -> ScopeRow) {
        self.count += 1;
        let is_shown = self.last.as_ref().is_none_or(|last| rank.compare(last).is_lt());
        let is_most_used = self.is_one(&rank.name)
            && self.most_used.as_ref().is_none_or(|(most, _)| {
                // On a tie, the row that sorts first.
                let by_mean = rank.weighted_mean.cmp(&most.weighted_mean);
                by_mean.is_gt() || (by_mean.is_eq() && rank.compare(most).is_lt())
            });
        if !is_shown && !is_most_used {
            return;
        }
        let row = row();
        if is_most_used {
            self.most_used = Some((rank.clone(), row.clone()));
        }
        if is_shown {
            self.rows.push((rank, row));
        }
        if self.rows.len() > self.top.saturating_mul(2).saturating_add(16) {
            self.put_in_order();
            self.last = self.rows.last().map(|(rank, _)| rank.clone());
        }
    }

    /// False for names that represent the code of several functions.
    fn is_one(&self, name: &ScopeName) -> bool {
        self.scope != FleetScope::Function || !is_of_many(name.function.as_deref().unwrap_or_default())
    }

    fn put_in_order(&mut self) {
        self.rows.sort_by(|(a, _), (b, _)| a.compare(b));
        self.rows.truncate(self.top);
    }

    fn finish(mut self) -> ScopeTable {
        self.put_in_order();
        // A single row needs no mention.
        let most_used = self.most_used.filter(|_| self.count > 1).map(|(_, row)| row);
        let rows: Vec<ScopeRow> = self.rows.into_iter().map(|(_, row)| row).collect();
        ScopeTable { scope: self.scope, hidden: self.count - rows.len() as u64, rows, most_used }
    }
}

impl CohortRuns<'_> {
    /// Adds the tables of all scopes to the cohort reports. Returns the rows that differ between the cohorts of each unit, and the function that is
    /// typical of each unit's tail.
    pub(super) fn add_tables(
        &self,
        reports: &mut [CohortReport],
        spilled: &mut Spilled,
    ) -> io::Result<(Vec<Contrast>, Vec<Finding>)> {
        // A cohort without runs has no values, but does not differ.
        let positions: Vec<usize> = (0..self.cohorts.len()).filter(|&cohort| self.count(cohort) > 0).collect();
        let compared = positions.chunk_by(|&a, &b| self.unit(a) == self.unit(b)).filter(|cohorts| cohorts.len() > 1);
        let compared: Vec<&[usize]> = compared.collect();
        let facts = |cohort| CohortFacts { recorded: self.recorded(cohort), weight: self.run_weight(cohort) };
        let facts: Vec<CohortFacts> = (0..self.cohorts.len()).map(facts).collect();
        let mut contrasts: Vec<Vec<Contrast>> = vec![Vec::new(); compared.len()];
        let mut tails = Vec::new();
        for column in self.columns {
            let mut of_column = self.tails(column);
            let (tables, of_units) = self.tables(column, (&facts, &compared), &mut of_column, spilled)?;
            tails.extend(of_column.into_iter().filter_map(Tail::finish));
            reports.iter_mut().zip(tables).for_each(|(report, table)| report.tables.push(table));
            contrasts.iter_mut().zip(of_units).for_each(|(contrasts, contrast)| contrasts.push(contrast));
        }
        Ok((contrasts.into_iter().flatten().collect(), tails))
    }

    /// The tail of each unit, if the column sums functions by self weight: with callees included, the callers of a slow function would be typical of
    /// the tail. The tail begins at the unweighted P95, so there is none if the report computes P95 in another way.
    fn tails(&self, column: &ScopeColumn) -> Vec<Tail<'_>> {
        let has_same_p95 = self.options.method == QuantileMethod::NearestRank && !self.options.is_weighted;
        if column.scope != FleetScope::Function || self.options.measure == Measure::AllWeight || !has_same_p95 {
            return Vec::new();
        }
        let units: BTreeSet<Unit> = (0..self.cohorts.len()).map(|cohort| self.unit(cohort)).collect();
        let level = |unit| self.options.confidence.tail() / column.used_in(unit).max(1) as f64;
        units.into_iter().filter_map(|unit| Tail::new(self.runs, unit, level(unit))).collect()
    }

    /// The table of each cohort, and the contrast of each unit. Adds the rows to the tails.
    fn tables(
        &self,
        column: &ScopeColumn,
        (facts, compared): (&[CohortFacts], &[&[usize]]),
        tails: &mut [Tail<'_>],
        spilled: &mut Spilled,
    ) -> io::Result<(Vec<ScopeTable>, Vec<Contrast>)> {
        let table = |_| GrowingTable::new(column.scope, self.options.top);
        let mut tables: Vec<GrowingTable> = (0..self.cohorts.len()).map(table).collect();
        let mut contrasts: Vec<GrowingContrast> =
            compared.iter().map(|cohorts| self.growing_contrast(column, cohorts)).collect();
        let mut by_cohort = vec![Vec::new(); self.cohorts.len()];
        column.entries.each_key(self, spilled, MOST_ENTRIES, |key, entries| {
            self.split(entries, &mut by_cohort);
            let name = column.name(key, self.names);
            let is_one = !is_of_many(name.function.as_deref().unwrap_or_default());
            tails.iter_mut().filter(|_| is_one).for_each(|tail| tail.add(&name, entries));
            let groups: Vec<Option<Group<'_>>> =
                (0..self.cohorts.len()).map(|cohort| self.group(&by_cohort[cohort], cohort, &facts[cohort])).collect();
            for (cohort, (table, group)) in tables.iter_mut().zip(&groups).enumerate() {
                if let Some(group) = group {
                    table.add(group.rank(&name), || self.row(&name, group, cohort));
                }
            }
            for contrast in contrasts.iter_mut().filter(|contrast| contrast.has_any(|cohort| groups[cohort].is_some()))
            {
                contrast.add(&name, |cohort, ranks| {
                    groups[cohort].as_ref().map(|group| self.compared(group, cohort, ranks))
                });
            }
        })?;
        let tables = tables.into_iter().map(GrowingTable::finish).collect();
        Ok((tables, contrasts.into_iter().map(GrowingContrast::finish).collect()))
    }

    /// Groups a key's entries in a cohort. `None` for a key with zero weight in every run. Otherwise, samples in runs without weight are counted
    /// as well.
    fn group<'e>(&self, entries: &'e [Entry], cohort: usize, facts: &CohortFacts) -> Option<Group<'e>> {
        if entries.iter().all(|entry| entry.weight == 0) {
            return None;
        }
        let mut totals = facts.recorded;
        let mut values = Vec::with_capacity(entries.len());
        let (mut seen_weight, mut effective_samples) = (0_u128, 0_u128);
        for entry in entries {
            let run = &self.runs[entry.run as usize];
            totals.add_weight(entry.weight, run.row.run_weight);
            seen_weight += u128::from(run.row.run_weight.get());
            effective_samples += run.effective(entry.samples);
            values.push((run.rate_of(entry.weight), run.row.run_weight));
        }
        let zeros = self.count(cohort) - entries.len() as u64;
        let distribution = self.options.distribution(values, zeros, facts.weight - seen_weight);
        let weighted_mean = totals.rate(self.unit(cohort));
        let sort_value = sort_value(&distribution, weighted_mean, self.options);
        let effective_samples = effective_samples as f64 / EFFECTIVE_UNIT;
        Some(Group { entries, distribution, weighted_mean, sort_value, effective_samples })
    }

    fn row(&self, name: &ScopeName, group: &Group<'_>, cohort: usize) -> ScopeRow {
        let value = |entry: &Entry| {
            let run = &self.runs[entry.run as usize];
            (run.rate_of(entry.weight), run.row.run_weight, entry.run as usize)
        };
        let of_runs = RunValues::new(group.entries.iter().map(value), self.options.is_weighted);
        ScopeRow {
            name: name.clone(),
            summary: summarize(&group.distribution, &of_runs, group.weighted_mean, self.options),
            // Saturates, far beyond any real sum.
            samples: group.entries.iter().map(|entry| entry.samples).fold(0, u64::saturating_add),
            effective_samples: group.effective_samples,
            noise: self.options.quantiles.iter().map(|&quantile| self.noise(group, cohort, quantile)).collect(),
        }
    }

    /// The value of a quantile that sampling noise alone would cause.
    fn noise(&self, group: &Group<'_>, cohort: usize, quantile: Quantile) -> Option<f64> {
        // Noise is defined only for runs of equal weight.
        if self.options.is_weighted {
            return None;
        }
        quantile.noise_floor(group.effective_samples / self.count(cohort) as f64, group.distribution.mean()?)
    }

    /// An empty contrast of a scope between cohorts.
    fn growing_contrast(&self, column: &ScopeColumn, cohorts: &[usize]) -> GrowingContrast {
        let unit = self.unit(cohorts[0]);
        let intervals = column.used_in(unit) * cohorts.len();
        let of_cohort = |&cohort: &usize| {
            let ranks = self.ranks(cohort, intervals);
            // A run without the row counts as zero, and so does an entire cohort.
            let interval = Distribution::new(Vec::new(), self.count(cohort)).interval(ranks);
            (cohort, ranks, Compared { value: 0.0, interval, is_noise: false })
        };
        let contrast = Contrast {
            scope: column.scope,
            unit,
            cohorts: cohorts.to_vec(),
            by: self.options.sort.name(),
            rows: Vec::new(),
        };
        GrowingContrast::new(contrast, cohorts.iter().map(of_cohort).collect(), self.options.top)
    }

    /// The ranks of the interval's ends for the percentile that tables are sorted by, if `intervals` of them must hold simultaneously.
    fn ranks(&self, cohort: usize, intervals: usize) -> (Option<u64>, Option<u64>) {
        match self.options.sort {
            SortKey::Quantile(quantile) if !self.options.is_weighted => {
                let tail = self.options.confidence.tail() / intervals.max(1) as f64;
                ranks_with_tail(self.count(cohort), quantile, tail)
            }
            _ => (None, None),
        }
    }

    fn compared(&self, group: &Group<'_>, cohort: usize, ranks: (Option<u64>, Option<u64>)) -> Compared {
        let interval = group.distribution.interval(ranks);
        Compared { value: group.sort_value, interval, is_noise: self.is_noise(group, cohort) }
    }

    /// True if sampling noise alone explains the value that tables are sorted by.
    fn is_noise(&self, group: &Group<'_>, cohort: usize) -> bool {
        let SortKey::Quantile(quantile) = self.options.sort else { return false };
        let mean = group.distribution.mean().map_or(0.0, Millionths::as_f64);
        is_noise(quantile, group.sort_value, mean, self.noise(group, cohort, quantile))
    }
}

impl Group<'_> {
    fn rank(&self, name: &ScopeName) -> Rank {
        let Self { sort_value, weighted_mean, .. } = *self;
        Rank { sort_value, max: self.distribution.max(), weighted_mean, name: name.clone() }
    }
}

/// The ranks of the interval ends.
type Ranks = (Option<u64>, Option<u64>);

/// The values of one row in one cohort.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    pub(super) value: f64,
    pub(super) interval: Interval,
    pub(super) is_noise: bool,
}

/// A contrast that accepts rows in any order.
pub(super) struct GrowingContrast {
    contrast: Contrast,
    /// The cohorts, the ranks of their intervals' ends, and their values for rows that they lack.
    cohorts: Vec<(usize, Ranks, Compared)>,
    /// The maximum number of shown rows.
    top: usize,
}

impl GrowingContrast {
    pub(super) fn new(contrast: Contrast, cohorts: Vec<(usize, Ranks, Compared)>, top: Option<usize>) -> Self {
        Self { contrast, cohorts, top: top.unwrap_or(usize::MAX) }
    }

    /// True if any of its cohorts satisfies the predicate.
    pub(super) fn has_any(&self, is: impl Fn(usize) -> bool) -> bool {
        self.cohorts.iter().any(|(cohort, ..)| is(*cohort))
    }

    /// Adds a row with these values in the cohorts.
    pub(super) fn add(&mut self, name: &ScopeName, value: impl Fn(usize, Ranks) -> Option<Compared>) {
        let of_cohort = |&(cohort, ranks, nothing): &(usize, Ranks, Compared)| value(cohort, ranks).unwrap_or(nothing);
        let values: Vec<Compared> = self.cohorts.iter().map(of_cohort).collect();
        let row = contrast_row(name, &values);
        if row.difference > 0.0 {
            self.contrast.rows.push(row);
        }
        if self.contrast.rows.len() > self.top.saturating_mul(2).saturating_add(16) {
            self.put_in_order();
        }
    }

    fn put_in_order(&mut self) {
        let rows = &mut self.contrast.rows;
        rows.sort_by(|a, b| b.difference.total_cmp(&a.difference).then_with(|| a.name.cmp(&b.name)));
        rows.truncate(self.top);
    }

    pub(super) fn finish(mut self) -> Contrast {
        self.put_in_order();
        self.contrast
    }
}

/// Creates a row from at least two cohorts.
fn contrast_row(name: &ScopeName, cohorts: &[Compared]) -> ContrastRow {
    let by_value = |a: &&Compared, b: &&Compared| a.value.total_cmp(&b.value);
    let (largest, smallest) = (cohorts.iter().max_by(by_value), cohorts.iter().min_by(by_value));
    let (largest, smallest) = (largest.unwrap_or(&cohorts[0]), smallest.unwrap_or(&cohorts[0]));
    let at_least = largest.interval.lower.zip(smallest.interval.upper).map(|(lower, upper)| lower - upper);
    ContrastRow {
        name: name.clone(),
        values: cohorts.iter().map(|cohort| cohort.value).collect(),
        difference: largest.value - smallest.value,
        at_least,
        is_noise: largest.is_noise,
    }
}
