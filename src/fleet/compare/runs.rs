//! What a comparison keeps for each run of a side, in addition to its measure.

use std::collections::BTreeMap;

use super::calls::Calls;
use crate::fleet::columns::ScopeColumn;
use crate::fleet::measures::Measure;
use crate::fleet::run::{NameId, RunNames, RunRecord, RunRows};
use crate::fleet::scope::FleetScope;
use crate::recording::Interval;
use crate::units::Unit;

/// The maximum number of values kept for a label. Labels with more values identify runs.
const MOST_VALUES: usize = 1_000;

/// The functions and labels of all runs on a side.
#[derive(Debug)]
pub(in crate::fleet) struct ComparedRuns {
    /// The self weights of functions; empty unless `has_functions`.
    pub(in crate::fleet) own: ScopeColumn,
    has_functions: bool,
    /// The values of each label, including `table` and `sampling interval`, with the number of runs that have them.
    pub(super) labels: BTreeMap<String, BTreeMap<String, u64>>,
    /// The calls between keys of `own`; empty without stacks.
    pub(super) calls: Calls,
    count: u64,
    /// For each compared interval name, the runs with such intervals in order of addition, and their mean durations.
    intervals: BTreeMap<String, Vec<(u32, f64)>>,
    /// The number of intervals for each name.
    counts: BTreeMap<String, u64>,
}

impl ComparedRuns {
    /// `intervals` are the names to compare.
    pub(in crate::fleet) fn new(intervals: &[String], has_functions: bool) -> Self {
        Self {
            own: ScopeColumn::new(FleetScope::Function, Measure::Cpu, false),
            has_functions,
            labels: BTreeMap::new(),
            calls: Calls::default(),
            count: 0,
            intervals: intervals.iter().map(|name| (name.clone(), Vec::new())).collect(),
            counts: BTreeMap::new(),
        }
    }

    pub(in crate::fleet) fn add(
        &mut self,
        run: u32,
        rows: &RunRows<'_>,
        counts: &dyn Fn(NameId) -> bool,
        names: &mut RunNames<'_>,
    ) {
        if self.has_functions {
            self.own.add(run, rows, counts, names);
            self.calls.add(rows.stacks, |row| counts(row.process), &self.own, names);
        }
        self.note(rows.record);
        self.count += 1;
        for (name, means) in &mut self.intervals {
            if let Some((mean, count)) = rows.intervals.and_then(|intervals| mean_duration(&intervals.rows, name)) {
                means.push((run, mean));
                *self.counts.entry(name.clone()).or_default() += count;
            }
        }
    }

    pub(super) fn interval_means(&self, name: &str) -> &[(u32, f64)] {
        self.intervals.get(name).map_or(&[], Vec::as_slice)
    }

    /// The mean number of intervals in runs that have any.
    pub(super) fn intervals_per_run(&self, name: &str) -> f64 {
        self.counts.get(name).copied().unwrap_or(0) as f64 / self.interval_means(name).len().max(1) as f64
    }

    /// The share of runs with this label and a value for which `is` returns true.
    pub(super) fn share_with(&self, label: &str, is: fn(&str) -> bool) -> f64 {
        let values = self.labels.get(label).into_iter().flatten();
        let count: u64 = values.filter(|(value, _)| is(value)).map(|(_, runs)| runs).sum();
        count as f64 / self.count.max(1) as f64
    }

    fn note(&mut self, record: &RunRecord) {
        let interval = format!("{} {}", record.usual_weight, record.unit.name());
        // Only time is sampled at regular intervals: cycles vary from sample to sample, and reports from the field state a single quantity.
        let is_timed = record.unit == Unit::Nanoseconds;
        let facts = [("table", record.schema.as_str(), true), ("sampling interval", interval.as_str(), is_timed)];
        let facts = facts.into_iter().filter(|(.., is_known)| *is_known && record.samples > 0);
        let facts = facts.map(|(key, value, _)| (key, value));
        let labels = record.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in labels.chain(facts) {
            let values = self.labels.entry(key.to_owned()).or_default();
            if values.len() < MOST_VALUES || values.contains_key(value) {
                *values.entry(value.to_owned()).or_default() += 1;
            }
        }
    }
}

/// The mean duration of the complete intervals with a name, and their number.
fn mean_duration(intervals: &[Interval], name: &str) -> Option<(f64, u64)> {
    let durations = intervals.iter().filter(|interval| interval.is_named(name)).filter_map(Interval::duration);
    let (sum, count) = durations.fold((0.0, 0.0), |(sum, count), time| (sum + time.as_nanos() as f64, count + 1.0));
    (count > 0.0).then(|| (sum / count, count as u64))
}
