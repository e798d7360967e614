//! From the runs of a fleet to its report.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::alert_evaluation::AlertEvaluation;
use super::alert_series::{AlertNumbers, AlertSeries, is_of_many};
use super::builder::FleetBuilder;
use super::columns::{Entry, FleetNames, ScopeColumn};
use super::findings::findings;
use super::label_order::compare_labels;
use super::options::{FleetOptions, SortKey};
use super::report::{
    AlertOutcome, AlertState, Cohort, CohortReport, Contrast, ContrastRow, FleetReport, Inputs, RunRow, ScopeRow,
    ScopeTable, is_noise,
};
use super::run::WallSource;
use super::runs_behind::RunValues;
use super::scope::FleetScope;
use super::scope_name::ScopeName;
use super::stored_run::StoredRun;
use super::summary::{Totals, sort_value, summarize};
use super::timeline::{timeline, window_max, window_quantiles, window_report};
use super::trend;
use crate::hash::HashMap;
use crate::stats::{BoxPlot, Distribution, Interval, Quantile, ranks_with_tail};
use crate::units::{Millionths, Unit};

/// Steps of a histogram.
const MAX_BINS: usize = 30;

impl FleetBuilder {
    /// The report on all runs that were added.
    pub fn finish(mut self) -> FleetReport {
        self.add_failed_cohorts();
        put_in_order(&mut self);
        self.options.sort = supported_sort(&self);
        let fleet = Fleet::new(&self);
        let cohorts: Vec<CohortReport> = (0..fleet.cohorts.len()).map(|cohort| fleet.cohort_report(cohort)).collect();
        let Fleet { cohorts: labels, runs, options, members, names, .. } = &fleet;
        let evaluation = AlertEvaluation { runs, cohorts: labels, members, options, names };
        let mut alerts: Vec<AlertOutcome> =
            self.alert_series.iter().flat_map(|series| evaluation.outcomes(series)).collect();
        if self.completeness.is_incomplete() && !self.decides_incomplete {
            alerts.iter_mut().for_each(|alert| undecide(alert, &self.missing_shards));
        }
        let mut report = FleetReport {
            inputs: inputs(&self),
            findings: Vec::new(),
            trends: trend::of_cohorts(&cohorts),
            alerts,
            contrasts: fleet.contrasts(),
            runs: self.runs.iter().map(|run| fleet.run_row(run)).collect(),
            notes: notes(&self),
            selection: self.selection.clone(),
            options: self.options.clone(),
            cohorts,
        };
        report.trends.extend(trend::of_dates(&report));
        report.findings = findings(&report);
        report
    }
}

/// Puts runs in the order of their sources, cohorts in the order of their labels, and entries by cohort and key, whatever
/// order they came in.
fn put_in_order(builder: &mut FleetBuilder) {
    let mut sorted = builder.cohorts.clone();
    sorted.sort();
    let cohort_of: Vec<u32> =
        builder.cohorts.iter().map(|cohort| sorted.partition_point(|other| other < cohort) as u32).collect();
    builder.cohorts = sorted;
    let mut runs: Vec<(usize, StoredRun)> = std::mem::take(&mut builder.runs).into_iter().enumerate().collect();
    runs.sort_by(|(_, a), (_, b)| (&a.record.source, &a.record.run_id).cmp(&(&b.record.source, &b.record.run_id)));
    let mut order = vec![0; runs.len()];
    for (new, (old, _)) in runs.iter().enumerate() {
        order[*old] = new as u32;
    }
    for AlertSeries { numbers, .. } in &mut builder.alert_series {
        if let AlertNumbers::One(one) = numbers {
            one.values = runs.iter().map(|(old, _)| one.values[*old]).collect();
        }
    }
    builder.runs =
        runs.into_iter().map(|(_, run)| StoredRun { cohort: cohort_of[run.cohort as usize], ..run }).collect();
    let FleetBuilder { columns, runs, alert_series, .. } = builder;
    for column in columns {
        column.entries.iter_mut().for_each(|entry| entry.run = order[entry.run as usize]);
        column.entries.sort_unstable_by_key(|entry| (runs[entry.run as usize].cohort, entry.key, entry.run));
    }
    for AlertSeries { numbers, .. } in alert_series {
        if let AlertNumbers::Each(each) = numbers {
            each.entries.iter_mut().for_each(|entry| entry.run = order[entry.run as usize]);
            each.entries.sort_unstable_by_key(|entry| (runs[entry.run as usize].cohort, entry.key, entry.run));
        }
    }
    builder.failed.sort_by(|a, b| a.source.cmp(&b.source));
    builder.without_time.sort();
    builder.damaged.sort();
    builder.notes.sort();
}

/// The key that tables are sorted by, chosen here if the options left it open.
fn supported_sort(builder: &FleetBuilder) -> SortKey {
    let options = &builder.options;
    if options.sort != SortKey::HighestSupported {
        return options.sort;
    }
    let mut counts = vec![0_u64; builder.cohorts.len()];
    builder.runs.iter().for_each(|run| counts[run.cohort as usize] += 1);
    let fewest = counts.into_iter().filter(|&count| count > 0).min().unwrap_or(0);
    let is_supported = |quantile: &&Quantile| **quantile <= Quantile::P99 && quantile.needed_count() <= fewest;
    options.quantiles.iter().filter(is_supported).max().map_or(SortKey::Max, |&quantile| SortKey::Quantile(quantile))
}

/// The notes made while collecting, and those of the runs.
fn notes(builder: &FleetBuilder) -> Vec<String> {
    let of_runs = builder.run_notes.iter().map(|(note, (count, first))| match count {
        1 => format!("{first}: {note}"),
        _ => format!("{first} and {} more: {note}", count - 1),
    });
    let incomplete = builder.completeness.sentence(&builder.missing_shards);
    incomplete.into_iter().chain(builder.notes.iter().cloned()).chain(without_windows(builder)).chain(of_runs).collect()
}

/// A sentence about runs of which no whole second was selected: they have no windows.
fn without_windows(builder: &FleetBuilder) -> Option<String> {
    let runs = builder.runs.len();
    let without = builder.runs.iter().filter(|run| run.series.is_empty()).count();
    let is_said = without > 0 && !builder.selection.is_whole();
    is_said.then(|| {
        format!("Nothing that was selected in {without} of {runs} runs is a whole second: they have no windows.")
    })
}

/// Takes the decision of an alert back: the runs that are missing might change it either way.
fn undecide(alert: &mut AlertOutcome, missing_shards: &[String]) {
    alert.state = AlertState::Undecided { needed: None };
    let what = match missing_shards {
        [] => "inputs are missing".to_owned(),
        [shard] => format!("shard {shard} is missing"),
        shards => format!("shards {} are missing", shards.join(", ")),
    };
    alert.note = Some(format!("{what}, which might change this"));
}

fn inputs(builder: &FleetBuilder) -> Inputs {
    let asked = builder.options.processes.iter();
    let missing = asked.filter(|name| !builder.processes.contains(*name)).cloned();
    let estimated = builder.runs.iter().filter(|run| run.record.wall_source == WallSource::Samples);
    Inputs {
        runs: builder.runs.len() as u64,
        without_time: builder.without_time.clone(),
        estimated_time: estimated.count() as u64,
        rejected_rows: builder.rejected_rows,
        damaged: builder.damaged.clone(),
        failed: builder.failed.clone(),
        left_out: builder.left_out,
        left_out_values: builder.left_out_values.iter().map(|(key, values)| (key.clone(), in_order(values))).collect(),
        label_keys: builder.label_keys.iter().cloned().collect(),
        processes: builder.processes.iter().cloned().collect(),
        missing_processes: missing.collect(),
        threads: builder.threads.iter().cloned().collect(),
        missing_threads: (builder.options.threads.iter().flatten())
            .filter(|name| !builder.threads.contains(*name))
            .cloned()
            .collect(),
        excluded_runs: builder.excluded_runs,
        completeness: builder.completeness,
        missing_shards: builder.missing_shards.clone(),
    }
}

/// The values of a label in the order of cohorts.
fn in_order(values: &BTreeSet<String>) -> Vec<String> {
    let mut values: Vec<String> = values.iter().cloned().collect();
    values.sort_by(|a, b| compare_labels(a, b));
    values
}

/// The runs in order, ready to be asked.
struct Fleet<'b> {
    options: &'b FleetOptions,
    cohorts: &'b [Cohort],
    runs: &'b [StoredRun],
    names: &'b FleetNames,
    /// By cohort: its runs.
    members: Vec<Vec<usize>>,
    /// With their entries sorted by cohort and key.
    columns: &'b [ScopeColumn],
}

/// One key in one cohort.
struct Group<'e> {
    key: u32,
    entries: &'e [Entry],
    distribution: Distribution,
    weighted_mean: Option<Millionths>,
    sort_value: f64,
}

impl<'b> Fleet<'b> {
    fn new(builder: &'b FleetBuilder) -> Self {
        let mut members = vec![Vec::new(); builder.cohorts.len()];
        for (index, run) in builder.runs.iter().enumerate() {
            members[run.cohort as usize].push(index);
        }
        let FleetBuilder { options, cohorts, runs, names, columns, .. } = builder;
        Self { options, cohorts, runs, names, members, columns }
    }

    fn members(&self, cohort: usize) -> impl Iterator<Item = &'b StoredRun> {
        self.members[cohort].iter().map(|&run| &self.runs[run])
    }

    fn unit(&self, cohort: usize) -> Unit {
        self.cohorts[cohort].unit
    }

    fn cohort_report(&self, cohort: usize) -> CohortReport {
        let unit = self.unit(cohort);
        let members: Vec<&StoredRun> = self.members(cohort).collect();
        let mut totals = self.recorded(cohort);
        for run in &members {
            totals.add_weight(run.weight, run.record.run_weight);
        }
        let positions = &self.members[cohort];
        let rates = members.iter().map(|run| (run.rate, run.record.run_weight));
        let rates: Vec<(Millionths, Millionths)> = rates.collect();
        let of_runs = rates.iter().zip(positions).map(|(&(rate, weight), &run)| (rate, weight, run));
        let of_runs = RunValues::new(of_runs, self.options.is_weighted);
        let distribution = self.distribution(rates, 0, 0);
        CohortReport {
            cohort: self.cohorts[cohort].clone(),
            runs: members.len() as u64,
            across_runs: summarize(&distribution, &of_runs, totals.rate(unit), self.options),
            bins: distribution.bins(MAX_BINS),
            box_plot: BoxPlot::new(&distribution),
            within_runs: window_report(&members, positions, unit, self.options),
            timeline: timeline(&members, unit, self.options),
            tables: self.columns.iter().map(|column| self.table(column, cohort)).collect(),
        }
    }

    /// The distribution of values and their run weights, and of runs without a value.
    fn distribution(&self, values: Vec<(Millionths, Millionths)>, zeros: u64, zero_weight: u128) -> Distribution {
        if self.options.is_weighted {
            Distribution::weighted(values, zeros, zero_weight)
        } else {
            Distribution::new(values.into_iter().map(|(value, _)| value).collect(), zeros)
        }
    }

    /// The recorded time of a cohort.
    fn recorded(&self, cohort: usize) -> Totals {
        let mut totals = Totals::default();
        for run in self.members(cohort) {
            totals.add_wall(run.record.wall.unwrap_or_default(), run.record.run_weight);
        }
        totals
    }

    /// The keys of a scope in a cohort, in the order of the options.
    fn groups<'e>(&self, column: &'e ScopeColumn, cohort: usize) -> Vec<Group<'e>> {
        let cohort_of = |entry: &Entry| self.runs[entry.run as usize].cohort as usize;
        let start = column.entries.partition_point(|entry| cohort_of(entry) < cohort);
        let end = column.entries.partition_point(|entry| cohort_of(entry) <= cohort);
        let recorded = self.recorded(cohort);
        let all_weight: u128 = self.members(cohort).map(|run| u128::from(run.record.run_weight.get())).sum();
        let groups = column.entries[start..end].chunk_by(|a, b| a.key == b.key);
        // What has weight in no run is the same as what was not seen; in runs among others that have some, its samples count.
        let groups = groups.filter(|entries| entries.iter().any(|entry| entry.weight > 0));
        let mut groups: Vec<Group<'e>> =
            groups.map(|entries| self.group(entries, cohort, recorded, all_weight)).collect();
        let by_name = |group: &Group<'_>| column.name(group.key, self.names);
        groups.sort_by(|a, b| {
            descending(a.sort_value, b.sort_value)
                .then_with(|| self.tie(a, b))
                .then_with(|| by_name(a).cmp(&by_name(b)))
        });
        groups
    }

    /// Equal values are in the order of their largest value, and then of all they used.
    fn tie(&self, a: &Group<'_>, b: &Group<'_>) -> Ordering {
        let max = |group: &Group<'_>| group.distribution.max();
        max(b).cmp(&max(a)).then_with(|| b.weighted_mean.cmp(&a.weighted_mean))
    }

    fn group<'e>(&self, entries: &'e [Entry], cohort: usize, recorded: Totals, all_weight: u128) -> Group<'e> {
        let mut totals = recorded;
        let mut values = Vec::with_capacity(entries.len());
        let mut seen_weight = 0_u128;
        for entry in entries {
            let record = &self.runs[entry.run as usize].record;
            totals.add_weight(entry.weight, record.run_weight);
            seen_weight += u128::from(record.run_weight.get());
            values.push((record.rate(entry.weight).unwrap_or_default(), record.run_weight));
        }
        let zeros = self.members[cohort].len() as u64 - entries.len() as u64;
        let distribution = self.distribution(values, zeros, all_weight - seen_weight);
        let weighted_mean = totals.rate(self.unit(cohort));
        let sort_value = sort_value(&distribution, weighted_mean, self.options);
        Group { key: entries[0].key, entries, distribution, weighted_mean, sort_value }
    }

    fn table(&self, column: &ScopeColumn, cohort: usize) -> ScopeTable {
        let groups = self.groups(column, cohort);
        let shown = self.options.top.unwrap_or(usize::MAX).min(groups.len());
        let rows = groups[..shown].iter().map(|group| self.row(column, group, cohort)).collect();
        let by_mean = |a: &&Group<'_>, b: &&Group<'_>| a.weighted_mean.cmp(&b.weighted_mean);
        // Of equal ones the first; of a single one there is nothing to say.
        let is_one = |group: &&Group<'_>| {
            let name = column.name(group.key, self.names);
            column.scope != FleetScope::Function || !is_of_many(name.function.as_deref().unwrap_or_default())
        };
        let most_used = groups.iter().filter(is_one).rev().max_by(by_mean).filter(|_| groups.len() > 1);
        let most_used = most_used.map(|group| self.row(column, group, cohort));
        ScopeTable { scope: column.scope, rows, hidden: (groups.len() - shown) as u64, most_used }
    }

    fn row(&self, column: &ScopeColumn, group: &Group<'_>, cohort: usize) -> ScopeRow {
        let value = |entry: &Entry| {
            let record = &self.runs[entry.run as usize].record;
            (record.rate(entry.weight).unwrap_or_default(), record.run_weight, entry.run as usize)
        };
        let of_runs = RunValues::new(group.entries.iter().map(value), self.options.is_weighted);
        ScopeRow {
            name: column.name(group.key, self.names),
            summary: summarize(&group.distribution, &of_runs, group.weighted_mean, self.options),
            samples: added(group.entries.iter().map(|entry| entry.samples)),
            noise: self.options.quantiles.iter().map(|&quantile| self.noise(group, cohort, quantile)).collect(),
        }
    }

    /// The value of a quantile that sampling noise alone would give.
    fn noise(&self, group: &Group<'_>, cohort: usize, quantile: Quantile) -> Option<f64> {
        let samples = added(group.entries.iter().map(|entry| entry.effective_samples));
        // It is about runs that count alike.
        if self.options.is_weighted {
            return None;
        }
        quantile.noise_floor(samples, self.members[cohort].len() as u64, group.distribution.mean()?)
    }

    fn run_row(&self, run: &StoredRun) -> RunRow {
        let unit = run.record.unit;
        RunRow {
            run_id: run.record.run_id.clone(),
            source: run.record.source.clone(),
            start: run.record.start.clone(),
            cohort: run.cohort as usize,
            wall: run.record.wall.unwrap_or_default(),
            wall_source: run.record.wall_source,
            weight: run.weight,
            samples: run.samples,
            run_weight: run.record.run_weight,
            rate: run.rate,
            windows: window_quantiles(run, unit, self.options),
            window_max: window_max(run, unit),
        }
    }

    /// The rows that differ between the cohorts of each unit, if it has several.
    fn contrasts(&self) -> Vec<Contrast> {
        let mut contrasts = Vec::new();
        // A cohort without runs uses nothing, but that is no difference.
        let positions: Vec<usize> =
            (0..self.cohorts.len()).filter(|&cohort| !self.members[cohort].is_empty()).collect();
        for cohorts in positions.chunk_by(|&a, &b| self.unit(a) == self.unit(b)).filter(|cohorts| cohorts.len() > 1) {
            contrasts.extend(self.columns.iter().map(|column| self.contrast(column, cohorts)));
        }
        contrasts
    }

    fn contrast(&self, column: &ScopeColumn, cohorts: &[usize]) -> Contrast {
        let groups: Vec<Vec<Group<'_>>> = cohorts.iter().map(|&cohort| self.groups(column, cohort)).collect();
        let keys: BTreeSet<u32> = groups.iter().flatten().map(|group| group.key).collect();
        let ranks: Vec<_> = cohorts.iter().map(|&cohort| self.ranks(cohort, keys.len() * cohorts.len())).collect();
        let mut values: HashMap<u32, Vec<Compared>> = HashMap::default();
        for (index, groups) in groups.iter().enumerate() {
            for group in groups {
                // A run without the row counts as zero, and so does a cohort without it.
                let row = values.entry(group.key).or_insert_with(|| {
                    cohorts.iter().zip(&ranks).map(|(&cohort, ranks)| self.nothing(cohort, *ranks)).collect()
                });
                row[index] = self.compared(group, cohorts[index], ranks[index]);
            }
        }
        let mut rows: Vec<ContrastRow> = values
            .into_iter()
            .map(|(key, values)| contrast_row(column.name(key, self.names), &values))
            .filter(|row| row.difference > 0.0)
            .collect();
        rows.sort_by(|a, b| descending(a.difference, b.difference).then_with(|| a.name.cmp(&b.name)));
        rows.truncate(self.options.top.unwrap_or(usize::MAX));
        Contrast {
            scope: column.scope,
            unit: self.unit(cohorts[0]),
            cohorts: cohorts.to_vec(),
            by: self.options.sort.name(),
            rows,
        }
    }

    /// The ranks of the ends of intervals of the percentile that tables are sorted by, all of `intervals` of which hold together.
    fn ranks(&self, cohort: usize, intervals: usize) -> (Option<u64>, Option<u64>) {
        match self.options.sort {
            SortKey::Quantile(quantile) if !self.options.is_weighted => {
                let tail = self.options.confidence.tail() / intervals.max(1) as f64;
                ranks_with_tail(self.members[cohort].len() as u64, quantile, tail)
            }
            _ => (None, None),
        }
    }

    fn compared(&self, group: &Group<'_>, cohort: usize, ranks: (Option<u64>, Option<u64>)) -> Compared {
        let interval = group.distribution.interval(ranks);
        Compared { value: group.sort_value, interval, is_noise: self.is_noise(group, cohort) }
    }

    /// A row that a cohort does not have.
    fn nothing(&self, cohort: usize, ranks: (Option<u64>, Option<u64>)) -> Compared {
        let interval = Distribution::new(Vec::new(), self.members[cohort].len() as u64).interval(ranks);
        Compared { value: 0.0, interval, is_noise: false }
    }

    /// True if the value that tables are sorted by is no more than sampling noise gives.
    fn is_noise(&self, group: &Group<'_>, cohort: usize) -> bool {
        let SortKey::Quantile(quantile) = self.options.sort else { return false };
        let mean = group.distribution.mean().map_or(0.0, Millionths::as_f64);
        is_noise(quantile, group.sort_value, mean, self.noise(group, cohort, quantile))
    }
}

/// One row in one cohort.
#[derive(Clone, Copy)]
struct Compared {
    value: f64,
    interval: Interval,
    is_noise: bool,
}

/// The row of at least two cohorts.
fn contrast_row(name: ScopeName, cohorts: &[Compared]) -> ContrastRow {
    let by_value = |a: &&Compared, b: &&Compared| a.value.total_cmp(&b.value);
    let (largest, smallest) = (cohorts.iter().max_by(by_value), cohorts.iter().min_by(by_value));
    let (largest, smallest) = (largest.unwrap_or(&cohorts[0]), smallest.unwrap_or(&cohorts[0]));
    let at_least = largest.interval.lower.zip(smallest.interval.upper).map(|(lower, upper)| lower - upper);
    ContrastRow {
        name,
        values: cohorts.iter().map(|cohort| cohort.value).collect(),
        difference: largest.value - smallest.value,
        at_least,
        is_noise: largest.is_noise,
    }
}

/// The sum; the largest number if it is too large for the type, which nothing real comes near.
fn added(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

fn descending(a: f64, b: f64) -> Ordering {
    b.total_cmp(&a)
}
