//! From an export to a report.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::unnamed::unnamed_frames;
use super::{Amount, Report, ReportOptions, SeriesReport, ThreadReport, View};
use crate::calltree::{Merger, Metric, StackWeight, StackWeights, functions};
use crate::export::Export;
use crate::profile::{Profile, Sample, SelectedSamples, SeriesId, StringId, ThreadId};
use crate::units::{Unit, Weight};

/// Answers what `options` ask about `export`.
pub fn report<'e>(export: &'e Export, options: &ReportOptions) -> Report<'e> {
    let profile = &export.profile;
    let selected = options.selection.on(profile);
    let mut weights = StackWeights::new(&selected, options.metric);
    let is_wanted = |series: SeriesId| {
        let schema = profile.string(profile.series(series).schema);
        options.schemas.is_empty() || options.schemas.iter().any(|wanted| wanted == schema)
    };
    weights.retain_series(is_wanted);
    let mut tallies = tally(profile, &selected, options.metric);
    let mut merger = Merger::new(profile);
    let series = profile.series_ids().filter(|&id| is_wanted(id)).map(|id| {
        let tally = std::mem::take(&mut tallies[id.index()]);
        series_report(profile, id, tally, weights.of_series(id), &mut merger, options)
    });
    Report { export, options: options.clone(), series: series.collect(), unnamed: unnamed_frames(profile, &weights) }
}

/// Sums over the samples of one series, by whether they count.
#[derive(Clone, Debug, Default)]
struct Tally {
    counted: Sum,
    out_of_scope: Sum,
    other_states: HashMap<Option<StringId>, Sum, FxBuildHasher>,
    no_stack: Sum,
    times: Option<(crate::units::Nanos, crate::units::Nanos)>,
    counters: Vec<u128>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    weight: u64,
    samples: u64,
}

impl Sum {
    fn add(&mut self, weight: u64) {
        self.weight += weight;
        self.samples += 1;
    }

    fn plus(self, row: &StackWeight) -> Self {
        Self { weight: self.weight + row.weight, samples: self.samples + row.samples }
    }

    fn amount(self, unit: Unit) -> Amount {
        Amount { weight: Weight::new(self.weight, unit), samples: self.samples }
    }
}

fn tally(profile: &Profile, selected: &SelectedSamples<'_>, metric: Metric) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); profile.series_ids().len()];
    for (index, sample) in profile.samples().iter().enumerate() {
        let tally = &mut tallies[sample.series.index()];
        let weight = metric.of(sample);
        if !selected.is_in_scope(sample) {
            tally.out_of_scope.add(weight);
        } else if !selected.is_state_counted(sample) {
            tally.other_states.entry(sample.state).or_default().add(weight);
        } else {
            tally.count(sample, weight, profile.counters(index));
        }
    }
    tallies
}

impl Tally {
    fn count(&mut self, sample: &Sample, weight: u64, counters: &[u64]) {
        self.counted.add(weight);
        if sample.stack.is_none() {
            self.no_stack.add(weight);
        }
        let (first, last) = self.times.unwrap_or((sample.time, sample.time));
        self.times = Some((first.min(sample.time), last.max(sample.time)));
        if self.counters.len() < counters.len() {
            self.counters.resize(counters.len(), 0);
        }
        for (sum, &value) in self.counters.iter_mut().zip(counters) {
            *sum += u128::from(value);
        }
    }
}

fn series_report(
    profile: &Profile,
    id: SeriesId,
    tally: Tally,
    weights: &[StackWeight],
    merger: &mut Merger<'_>,
    options: &ReportOptions,
) -> SeriesReport {
    let unit = match options.metric {
        Metric::Weight => profile.series(id).unit,
        Metric::Samples => Unit::Samples,
    };
    let functions = match options.view {
        View::Functions => functions(profile, &merger.tree(weights)),
        _ => Vec::new(),
    };
    SeriesReport {
        series: id,
        unit,
        counted: tally.counted.amount(unit),
        out_of_scope: tally.out_of_scope.amount(unit),
        other_states: other_states(profile, &tally, unit),
        no_stack: tally.no_stack.amount(unit),
        times: tally.times,
        counters: tally.counters,
        threads: thread_reports(profile, weights, merger, unit, options),
        tree: (options.view == View::MergedTree).then(|| merger.pruned_tree(weights, &options.pruning)),
        functions,
    }
}

fn other_states(profile: &Profile, tally: &Tally, unit: Unit) -> Vec<(String, Amount)> {
    let name = |state: Option<StringId>| state.map_or("no state", |state| profile.string(state)).to_owned();
    let mut states: Vec<(String, Amount)> =
        tally.other_states.iter().map(|(&state, sum)| (name(state), sum.amount(unit))).collect();
    states.sort_unstable_by(|a, b| {
        let by_size = b.1.weight.value.cmp(&a.1.weight.value).then(b.1.samples.cmp(&a.1.samples));
        by_size.then_with(|| a.0.cmp(&b.0))
    });
    states
}

fn thread_reports(
    profile: &Profile,
    weights: &[StackWeight],
    merger: &mut Merger<'_>,
    unit: Unit,
    options: &ReportOptions,
) -> Vec<ThreadReport> {
    let has_trees = matches!(options.view, View::Overview | View::Tree);
    let threads = weights.chunk_by(|a, b| a.thread == b.thread).map(|rows| ThreadReport {
        thread: rows[0].thread,
        counted: rows.iter().fold(Sum::default(), |sum, row| sum.plus(row)).amount(unit),
        tree: has_trees.then(|| merger.pruned_tree(rows, &options.pruning)),
    });
    let mut threads: Vec<ThreadReport> = threads.collect();
    let name = |id: ThreadId| profile.string(profile.thread(id).name);
    threads.sort_by(|a, b| {
        let by_weight = b.counted.weight.value.cmp(&a.counted.weight.value);
        let by_size = by_weight.then(b.counted.samples.cmp(&a.counted.samples));
        by_size.then_with(|| (name(a.thread), a.thread).cmp(&(name(b.thread), b.thread)))
    });
    threads
}
