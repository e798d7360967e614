//! Makes reports from recordings.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::unnamed::unnamed_frames;
use super::{
    Amount, MadeOnce, Report, ReportOptions, Scope, ScopeReport, SeparateBy, SeriesReport, ThreadReport, UnnamedFrames,
    View,
};
use crate::calltree::{MergePlan, Metric, StackWeight, StackWeights, WeighedStacks, functions_of_stacks};
use crate::hash::HashMap;
use crate::ordered_pool;
use crate::profile::{
    Doing, Doings, ProcessId, Profile, Sample, SampleSum, SampledTime, SelectedSamples, SeriesId, StackId, StringId,
    SumRow, ThreadId,
};
use crate::recording::{DocumentContent, Recording};
use crate::units::Unit;

/// Below this number of stacks, the work is finished before a thread has started.
const STACKS_FOR_A_THREAD: usize = 100_000;

impl Recording {
    /// Makes a report about the recording.
    pub fn report(&self, options: &ReportOptions) -> Report<'_> {
        let profile = &self.profile;
        let selected = options.selection.on(profile);
        let mut sums = selected.added_up();
        sums.retain_series(|series| self.is_wanted(series, options));
        let merge_plan = OnceLock::new();
        let about_stacks = || {
            if options.view.has_trees() {
                merge_plan.get_or_init(|| Arc::new(MergePlan::new(profile)));
            }
            unnamed_frames(profile, sums.stacks())
        };
        // Visiting all stacks takes about as long as visiting all sums, so do both in parallel.
        let is_worth_a_thread = options.jobs > 1 && profile.stack_ids().len() >= STACKS_FOR_A_THREAD;
        let (unnamed, weights) = ordered_pool::both(is_worth_a_thread, about_stacks, || {
            StackWeights::of_sums(profile, &sums, options.metric)
        });
        drop(sums);
        self.report_on(options, &selected, OnceLock::from(unnamed), weights, merge_plan)
    }

    /// Like [`report`](Self::report), from precomputed weights of the selected samples.
    pub(super) fn report_of(&self, options: &ReportOptions, weights: StackWeights) -> Report<'_> {
        let selected = options.selection.on(&self.profile);
        let weights = weights.retain_series(|series| self.is_wanted(series, options));
        self.report_on(options, &selected, OnceLock::new(), weights, OnceLock::new())
    }

    fn is_wanted(&self, series: SeriesId, options: &ReportOptions) -> bool {
        let profile = &self.profile;
        // Counter events and time cannot be added.
        if profile.is_weighed_by_counters() && profile.series(series).counter.is_none() {
            return false;
        }
        let schema = profile.string(profile.series(series).schema);
        options.schemas.is_empty() || options.schemas.iter().any(|wanted| wanted == schema)
    }

    fn report_on<'e>(
        &'e self,
        options: &ReportOptions,
        selected: &SelectedSamples<'e>,
        unnamed: OnceLock<UnnamedFrames>,
        weights: StackWeights,
        merge_plan: OnceLock<Arc<MergePlan<'e>>>,
    ) -> Report<'e> {
        let profile = &self.profile;
        let has_trees = options.view.has_trees();
        let mut separated =
            if has_trees { separated_stacks(selected, options.metric, options.separate_by) } else { None };
        let tallies = tally(profile, selected, options.metric);
        let series = profile.series_ids().zip(tallies).filter(|&(id, _)| self.is_wanted(id, options));
        let series = series.map(|(id, tally)| {
            let separated = separated.as_mut().map(|all| std::mem::take(&mut all[id.index()]));
            series_report(profile, id, tally, weights.of_series(id), separated, options)
        });
        let series: Vec<SeriesReport> = series.collect();
        let mut positions = vec![None; profile.series_ids().len()];
        for (position, row) in series.iter().enumerate() {
            positions[row.series.index()] = Some(position);
        }
        let tables = tables_of_series(self);
        Report {
            recording: self,
            options: options.clone(),
            series,
            unnamed,
            symbolication: None,
            operations: Vec::new(),
            redacted: None,
            sources: None,
            weights,
            merge_plan,
            owners: OnceLock::new(),
            cache: None,
            merged: profile.series_ids().map(|_| OnceLock::new()).collect(),
            round_bin: OnceLock::new(),
            made_once: MadeOnce::default(),
            positions,
            tables,
        }
    }
}

impl View {
    fn has_trees(self) -> bool {
        matches!(self, Self::Full | Self::Tree | Self::Heaviest)
    }
}

/// By series: the (document, table) of its samples.
fn tables_of_series(recording: &Recording) -> Vec<Option<(usize, usize)>> {
    let mut found = vec![None; recording.profile.series_ids().len()];
    for (index, document) in recording.documents.iter().enumerate() {
        let DocumentContent::Tables(tables) = &document.content else { continue };
        for (position, table) in tables.iter().enumerate() {
            for series in &table.series {
                found[series.index()] = Some((index, position));
            }
        }
    }
    found
}

/// The totals of one series: selected samples, and excluded samples by reason.
#[derive(Clone, Debug)]
struct Tally {
    counted: Amount,
    out_of_scope: Amount,
    other_states: HashMap<Option<StringId>, Amount>,
    no_stack: Amount,
    times: Option<SampledTime>,
    counters: Vec<u128>,
}

fn tally(profile: &Profile, selected: &SelectedSamples<'_>, metric: Metric) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = profile.series_ids().map(|id| Tally::new(unit(profile, id, metric))).collect();
    // The profile has either sums or samples.
    for (sum, has_stack) in totals_of_groups(profile) {
        let tally = &mut tallies[sum.series.index()];
        tally.add(&sum, has_stack, selected, metric);
    }
    for (index, row) in profile.sum_rows().iter().enumerate() {
        let values = profile.sum_counters(index);
        if !values.is_empty() {
            let sum = profile.sum_groups()[row.group as usize].sum(row);
            tallies[sum.series.index()].count_counters(&sum, values.iter().copied(), selected);
        }
    }
    for (index, sample) in profile.samples().iter().enumerate() {
        let (tally, sum) = (&mut tallies[sample.series.index()], sample.into());
        tally.add(&sum, sum.stack.is_some(), selected, metric);
        tally.count_counters(&sum, profile.counters(index).iter().map(|&value| u128::from(value)), selected);
    }
    tallies
}

/// The totals of all groups in a profile, separately for samples without a stack. The selection does not depend on stacks, so it applies to
/// groups.
fn totals_of_groups(profile: &Profile) -> impl Iterator<Item = (SampleSum, bool)> {
    let groups = profile.sum_groups();
    let nothing = |group| [SumRow { weight: 0, samples: 0, stack: None, group }; 2];
    let mut totals: Vec<_> = (0..groups.len() as u32).map(nothing).collect();
    for row in profile.sum_rows().iter() {
        let total = &mut totals[row.group as usize][usize::from(row.stack.is_some())];
        total.weight += row.weight;
        total.samples += row.samples;
    }
    let totals = totals.into_iter().flat_map(|totals| totals.into_iter().zip([false, true]));
    let totals = totals.filter(|(total, _)| total.samples > 0);
    totals.map(|(total, has_stack)| (groups[total.group as usize].sum(&total), has_stack))
}

/// The unit of a series' weights when measured by `metric`.
fn unit(profile: &Profile, series: SeriesId, metric: Metric) -> Unit {
    match metric {
        Metric::Weight => profile.series(series).unit,
        Metric::Samples => Unit::Samples,
    }
}

impl Tally {
    fn new(unit: Unit) -> Self {
        let none = Amount::none(unit);
        let (other_states, counters) = (HashMap::default(), Vec::new());
        Self { counted: none, out_of_scope: none, other_states, no_stack: none, times: None, counters }
    }

    fn add(&mut self, sum: &SampleSum, has_stack: bool, selected: &SelectedSamples<'_>, metric: Metric) {
        let weight = metric.of(*sum);
        let none = Amount::none(self.counted.weight.unit);
        if !selected.is_in_scope(*sum) {
            self.out_of_scope.add(weight, sum.samples);
        } else if !selected.is_state_counted(*sum) {
            self.other_states.entry(sum.state).or_insert(none).add(weight, sum.samples);
        } else {
            self.counted.add(weight, sum.samples);
            if !has_stack {
                self.no_stack.add(weight, sum.samples);
            }
            if let Some(own) = SampledTime::of_sum(sum, selected.profile().series(sum.series).unit) {
                self.times = Some(self.times.map_or(own, |times| times.join(own)));
            }
        }
    }

    fn count_counters(
        &mut self,
        sum: &SampleSum,
        values: impl ExactSizeIterator<Item = u128>,
        selected: &SelectedSamples<'_>,
    ) {
        if values.len() == 0 || !selected.is_in_scope(*sum) || !selected.is_state_counted(*sum) {
            return;
        }
        if self.counters.len() < values.len() {
            self.counters.resize(values.len(), 0);
        }
        for (total, value) in self.counters.iter_mut().zip(values) {
            *total += value;
        }
    }
}

fn series_report(
    profile: &Profile,
    id: SeriesId,
    tally: Tally,
    weights: &[StackWeight],
    separated: Option<SeparatedStacks>,
    options: &ReportOptions,
) -> SeriesReport {
    let unit = unit(profile, id, options.metric);
    let mut threads = thread_reports(profile, weights, unit);
    let mut functions = match options.view {
        View::Functions => functions_of_stacks(profile, WeighedStacks::Rows(weights, options.jobs)),
        _ => Vec::new(),
    };
    SeriesReport {
        series: id,
        unit,
        counted: tally.counted,
        out_of_scope: tally.out_of_scope,
        other_states: other_states(profile, &tally),
        removed_other_states: Amount::none(unit),
        no_stack: tally.no_stack,
        times: tally.times,
        counters: tally.counters,
        more_threads: threads.split_off(threads.len().min(options.most_rows())),
        threads,
        scopes: match &separated {
            _ if !options.view.has_trees() => Vec::new(),
            None => scope_reports(profile, threads_by_scope(profile, weights, options.separate_by), weights, unit),
            Some(SeparatedStacks { weights, scopes }) => {
                let scopes = scopes.iter().map(|(scope, range)| (*scope, vec![range.clone()]));
                scope_reports(profile, scopes.collect(), weights, unit)
            }
        },
        more_functions: functions.split_off(functions.len().min(options.most_rows())),
        functions,
        separated: separated.map(|separated| separated.weights),
    }
}

fn other_states(profile: &Profile, tally: &Tally) -> Vec<(String, Amount)> {
    let name = |state: Option<StringId>| state.map_or("no state", |state| profile.string(state)).to_owned();
    let mut states: Vec<(String, Amount)> =
        tally.other_states.iter().map(|(&state, amount)| (name(state), *amount)).collect();
    states.sort_unstable_by(|a, b| heavier(a.1, b.1).then_with(|| a.0.cmp(&b.0)));
    states
}

fn thread_reports(profile: &Profile, weights: &[StackWeight], unit: Unit) -> Vec<ThreadReport> {
    let threads = weights
        .chunk_by(|a, b| a.thread == b.thread)
        .map(|rows| ThreadReport { thread: rows[0].thread, counted: Amount::of_rows(rows.iter(), unit) });
    let mut threads: Vec<ThreadReport> = threads.collect();
    threads.sort_by(|a, b| {
        heavier(a.counted, b.counted)
            .then_with(|| order(profile, Scope::Thread(a.thread)).cmp(&order(profile, Scope::Thread(b.thread))))
    });
    threads
}

/// Each scope, with the ranges of its stacks in weights that are sorted by thread.
fn threads_by_scope(
    profile: &Profile,
    weights: &[StackWeight],
    separate_by: SeparateBy,
) -> Vec<(Scope, Vec<Range<usize>>)> {
    let mut scopes: Vec<(Scope, Vec<Range<usize>>)> = Vec::new();
    let mut index_of: HashMap<ProcessId, usize> = HashMap::default();
    let mut start = 0;
    for rows in weights.chunk_by(|a, b| a.thread == b.thread) {
        let (thread, next) = (rows[0].thread, scopes.len());
        let (scope, index) = match separate_by {
            SeparateBy::Thread => (Scope::Thread(thread), next),
            SeparateBy::Process => {
                let process = profile.thread(thread).process;
                (Scope::Process(process), *index_of.entry(process).or_insert(next))
            }
            _ => (Scope::All, 0),
        };
        if index == next {
            scopes.push((scope, Vec::new()));
        }
        scopes[index].1.push(start..start + rows.len());
        start += rows.len();
    }
    scopes
}

fn scope_reports(
    profile: &Profile,
    scopes: Vec<(Scope, Vec<Range<usize>>)>,
    weights: &[StackWeight],
    unit: Unit,
) -> Vec<ScopeReport> {
    let scopes = scopes.into_iter().map(|(scope, stacks)| {
        let rows = stacks.iter().flat_map(|range| &weights[range.clone()]);
        ScopeReport { scope, counted: Amount::of_rows(rows, unit), stacks }
    });
    let mut scopes: Vec<ScopeReport> = scopes.collect();
    scopes.sort_by(|a, b| {
        heavier(a.counted, b.counted).then_with(|| order(profile, a.scope).cmp(&order(profile, b.scope)))
    });
    scopes
}

pub(super) fn heavier(a: Amount, b: Amount) -> Ordering {
    b.weight.value.cmp(&a.weight.value).then(b.samples.cmp(&a.samples))
}

/// The sort key for scopes of equal weight: name, then first occurrence.
pub(super) fn order(profile: &Profile, scope: Scope) -> (&str, usize) {
    match scope {
        Scope::Thread(id) => (profile.string(profile.thread(id).name), id.index()),
        Scope::Process(id) => (profile.string(profile.process(id).name), id.index()),
        Scope::State(name) | Scope::CoreKind(name) | Scope::Label(name) => {
            (name.map_or("", |name| profile.string(name)), name.map_or(0, |name| name.index()))
        }
        Scope::All => ("", 0),
    }
}

/// The scope of a sample. For a sum of samples, core and label are unknown.
pub(super) fn scope_of(profile: &Profile, separate_by: SeparateBy, sum: &SampleSum, sample: Option<&Sample>) -> Scope {
    let core_kind = |sample: &Sample| profile.core(sample.core?).kind;
    match separate_by {
        SeparateBy::Thread => Scope::Thread(sum.thread),
        SeparateBy::Process => Scope::Process(profile.thread(sum.thread).process),
        SeparateBy::State => Scope::State(sum.state),
        SeparateBy::CoreKind => Scope::CoreKind(sample.and_then(core_kind)),
        SeparateBy::Interval | SeparateBy::Task => Scope::Label(sample.and_then(|sample| profile.label(sample))),
        SeparateBy::Nothing => Scope::All,
    }
}

/// The selected stacks of one series, grouped by scope.
#[derive(Clone, Debug, Default)]
pub(super) struct SeparatedStacks {
    pub(super) weights: Vec<StackWeight>,
    /// Each scope with the range of its stacks.
    pub(super) scopes: Vec<(Scope, Range<usize>)>,
}

/// By series: the stacks, separated by state, kind of core or label. Empty if the weights by thread suffice.
pub(super) fn separated_stacks(
    selected: &SelectedSamples<'_>,
    metric: Metric,
    separate_by: SeparateBy,
) -> Option<Vec<SeparatedStacks>> {
    separate_by.field()?;
    let profile = selected.profile();
    let (mut sums, doings) = (Sums::default(), Doings::new(profile));
    let mut add = |sum: &SampleSum, sample: Option<&Sample>| {
        let scope = scope_of(profile, separate_by, sum, sample);
        let (weight, samples) =
            sums.entry((sum.series, part(scope), sum.thread, sum.stack, doings.of(sum))).or_default();
        *weight += metric.of(*sum);
        *samples += sum.samples;
    };
    match separate_by {
        SeparateBy::State => selected.sums().for_each(|sum| add(&sum, None)),
        _ if profile.sums().len() > 0 => selected.sums().for_each(|sum| add(&sum, None)),
        _ => selected.iter().for_each(|sample: &Sample| add(&sample.into(), Some(sample))),
    }
    let scope_of_part = |part| match separate_by {
        SeparateBy::State => Scope::State(part),
        SeparateBy::CoreKind => Scope::CoreKind(part),
        _ => Scope::Label(part),
    };
    Some(by_series(profile, sums, scope_of_part))
}

/// Weights and sample counts by stack of a thread, by its state, kind of core or label, and by its activity.
type Sums = HashMap<(SeriesId, Option<StringId>, ThreadId, Option<StackId>, Doing), (u64, u64)>;

/// The state, kind of core or label of a scope.
fn part(scope: Scope) -> Option<StringId> {
    match scope {
        Scope::State(part) | Scope::CoreKind(part) | Scope::Label(part) => part,
        Scope::Thread(_) | Scope::Process(_) | Scope::All => None,
    }
}

fn by_series(profile: &Profile, sums: Sums, scope_of_part: impl Fn(Option<StringId>) -> Scope) -> Vec<SeparatedStacks> {
    let mut all = vec![SeparatedStacks::default(); profile.series_ids().len()];
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|&(key, _)| key);
    for rows in sums.chunk_by(|(a, _), (b, _)| (a.0, a.1) == (b.0, b.1)) {
        let (series, part, ..) = rows[0].0;
        let SeparatedStacks { weights, scopes } = &mut all[series.index()];
        let start = weights.len();
        weights.extend(rows.iter().map(|&((series, _, thread, stack, doing), (weight, samples))| StackWeight {
            series,
            thread,
            stack,
            doing,
            weight,
            samples,
        }));
        scopes.push((scope_of_part(part), start..weights.len()));
    }
    all
}
