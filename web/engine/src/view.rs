//! A selection of a recording after operations, with caches that make the next selection fast.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use traceparse::calltree::{
    Forest, ForestWeights, FunctionSet, Metric, OperationEffects, OperationSummary, StackWeights, WeighedForest,
};
use traceparse::profile::{Id, IntervalFilter, Matcher, Profile, Selection, Series, StateFilter, TimeRange};
use traceparse::recording::{Counter, Intervals, Recording};
use traceparse::report::{
    Report, ReportCache, ReportOptions, Scope, ScopeReport, SeparateBy as Separation, SeriesReport, View as ReportView,
};
use traceparse::symbolicate::SymbolicationSummary;
use traceparse::units::{Nanos, Unit};

use crate::answers::tracks::Lengths;

use crate::operations::operation_of;
use crate::protocol::{self, During, Operation, Part, SeparateBy, States, StatesName};
use crate::wire::Refused;

/// A recording with one kind of weight, after operations. Nothing in it depends on the selection.
pub(crate) struct Base {
    pub(crate) recording: Recording,
    /// The states of samples, in the order of their first samples before operations.
    pub(crate) states: Vec<Id<str>>,
    /// Why binaries have no names.
    symbolication: Option<SymbolicationSummary>,
    lengths: RefCell<HashMap<usize, Rc<Lengths>>>,
    cache: ReportCache,
    /// The recording before operations, and the effects of the operations.
    before: Option<(Rc<Base>, OperationEffects)>,
}

impl Base {
    pub(crate) fn new(recording: Recording, symbolication: Option<SymbolicationSummary>) -> Self {
        let states = states_of(&recording.profile);
        let (lengths, cache) = (RefCell::default(), ReportCache::default());
        Self { recording, states, symbolication, lengths, cache, before: None }
    }

    /// The times that the weights of a series' samples cover.
    pub(crate) fn lengths(&self, series: usize) -> Rc<Lengths> {
        let new = || {
            let profile = self.profile();
            if let Some((before, effects)) = &self.before {
                // Removed samples still end the time of the samples before them.
                return Rc::new(before.lengths(series).retain(effects.keeps(before.profile())));
            }
            let is_time =
                profile.series_ids().nth(series).is_some_and(|id| profile.series(id).unit == Unit::Nanoseconds);
            Rc::new(Lengths::new(profile.samples(), series, profile.thread_ids().len(), is_time))
        };
        Rc::clone(self.lengths.borrow_mut().entry(series).or_insert_with(new))
    }

    /// The same recording, weighted by the events of a counter.
    pub(crate) fn weighed_by(&self, number: u32) -> Result<Self, Refused> {
        let mut analysis = traceparse::Analysis::new(self.recording.clone());
        let without =
            analysis.weigh_by_counter(&Counter::Number(number)).map_err(|error| Refused(error.to_string()))?;
        if without.iter().all(Option::is_none) {
            return Err(Refused(format!("this recording has no counter {number}")));
        }
        Ok(Self::new(analysis.recording().clone(), self.symbolication.clone()))
    }

    /// The recording after operations.
    pub(crate) fn operated(self: &Rc<Self>, operations: &[Operation]) -> Result<Self, Refused> {
        let profile = &self.recording.profile;
        let operations =
            operations.iter().map(|operation| operation_of(profile, operation)).collect::<Result<Vec<_>, _>>()?;
        let (after, effects) =
            OperationEffects::apply(profile, &operations).map_err(|error| Refused(error.to_string()))?;
        let before = Some((Rc::clone(self), effects));
        let states = self.states.clone();
        Ok(Self { before, states, ..Self::new(self.recording.with_profile(after), self.symbolication.clone()) })
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.recording.profile
    }

    pub(crate) fn forest(&self) -> &Forest {
        self.cache.forest(self.profile())
    }

    fn weigh(&self, options: &ReportOptions) -> StackWeights {
        self.cache.weights(self.profile(), options)
    }
}

/// The parts of a series, heaviest first, and the tree of one part.
pub(crate) struct Parts {
    pub(crate) parts: Vec<Part>,
    pub(crate) part: Option<i32>,
    pub(crate) tree: Option<Rc<ForestWeights>>,
}

/// A selection. It computes results on demand, and caches those that several answers need.
pub(crate) struct View {
    pub(crate) base: Rc<Base>,
    pub(crate) options: ReportOptions,
    /// The selected series; all if `None`.
    only: Option<Vec<usize>>,
    weights: OnceCell<StackWeights>,
    trees: RefCell<HashMap<(usize, SeparateBy, i32), Rc<ForestWeights>>>,
}

impl View {
    pub(crate) fn new(base: Rc<Base>, selection: &protocol::Selection, intervals: &Intervals) -> Result<Self, Refused> {
        let options = options_of(&base, selection, intervals)?;
        let only = selection.series.clone();
        Ok(Self { base, options, only, weights: OnceCell::new(), trees: RefCell::default() })
    }

    pub(crate) fn profile(&self) -> &Profile {
        self.base.profile()
    }

    pub(crate) fn is_selected(&self, series: usize) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&series))
    }

    /// The weights of all series.
    pub(crate) fn weights(&self) -> &StackWeights {
        self.weights.get_or_init(|| self.base.weigh(&self.options))
    }

    /// The weights of a series.
    pub(crate) fn weights_of(&self, series: usize) -> StackWeights {
        self.series_id(series).map_or_else(StackWeights::default, |id| self.weights().only(id))
    }

    /// The id of a series, if it is selected.
    fn series_id(&self, series: usize) -> Option<Id<Series>> {
        self.profile().series_ids().nth(series).filter(|_| self.is_selected(series))
    }

    /// The effects of the operations on the selected samples of each series.
    pub(crate) fn effects(&self) -> Vec<OperationSummary> {
        match &self.base.before {
            Some((before, effects)) => effects.summaries(&before.weigh(&self.options)),
            None => Vec::new(),
        }
    }

    /// Makes a report of this selection, and calls `answer` with the part on one series.
    pub(crate) fn report<T>(
        &self,
        series: usize,
        separate_by: SeparateBy,
        answer: impl FnOnce(&Report<'_>, &SeriesReport) -> T,
    ) -> Result<T, Refused> {
        let options = ReportOptions { separate_by: separation(separate_by), ..self.options.clone() };
        let report = self.cached_report(&options, self.weights_of(series));
        let id = self.profile().series_ids().nth(series);
        let position = id.and_then(|id| report.position(id));
        match position {
            Some(position) => Ok(answer(&report, &report.series[position])),
            None => Err(Refused(format!("there is no series {series}"))),
        }
    }

    /// A report of this selection on all series.
    pub(crate) fn report_of_all(&self) -> Report<'_> {
        let weights = match &self.only {
            None => self.weights().clone(),
            Some(only) => self.weights().clone().retain_series(|series| only.contains(&series.index())),
        };
        self.cached_report(&self.options, weights)
    }

    fn cached_report(&self, options: &ReportOptions, weights: StackWeights) -> Report<'_> {
        let mut report = self.base.recording.report_cached(options, weights, &self.base.cache);
        report.symbolication.clone_from(&self.base.symbolication);
        report
    }

    /// A report of this selection in which a series is the only table, as if the command had been told its schema and its run.
    #[cfg(feature = "reader")]
    pub(crate) fn separate_report(&self, series: usize, of: ReportView) -> Result<Report<'_>, Refused> {
        let profile = self.profile();
        let id = self.series_id(series).ok_or_else(|| Refused(format!("there is no series {series}")))?;
        let row = profile.series(id);
        let mut options = ReportOptions { view: of, ..self.options.clone() };
        options.schemas = vec![profile.string(row.schema).to_owned()];
        options.selection.runs = vec![profile.run(row.run).number];
        let mut report = self.base.recording.report(&options);
        // Other documents may have a run with this number.
        report.series.retain(|row| row.series == id);
        Ok(report)
    }

    /// The threads of a series, heaviest first. The report must be separated by thread.
    pub(crate) fn threads(&self, series: &SeriesReport) -> Vec<Part> {
        series.scopes.iter().map(|scope| part_of(&self.base, scope)).collect()
    }

    /// The parts of a series, heaviest first, and the tree of the requested part, which is the heaviest by default.
    pub(crate) fn part_and_tree(&self, series: usize, by: SeparateBy, wanted: Option<i32>) -> Result<Parts, Refused> {
        if by == SeparateBy::None {
            let tree = self.tree(series);
            let total = crate::answers::amount_of(&tree);
            let part = Part { id: -1, name: None, amount: total };
            let parts = if tree.total().all_samples > 0 { vec![part] } else { Vec::new() };
            let is_there = !parts.is_empty();
            return Ok(Parts { parts, part: is_there.then_some(-1), tree: is_there.then_some(tree) });
        }
        self.report(series, by, |report, row| {
            let parts: Vec<Part> = row.scopes.iter().map(|scope| part_of(&self.base, scope)).collect();
            let place = parts.iter().position(|part| Some(part.id) == wanted).or((!parts.is_empty()).then_some(0));
            let id = place.map(|place| parts[place].id);
            let tree = place.zip(id).map(|(place, id)| {
                let key = (series, by, id);
                let known = self.trees.borrow().get(&key).cloned();
                known.unwrap_or_else(|| {
                    let stacks = report.stacks_of(row, &row.scopes[place]);
                    let tree = Rc::new(self.base.forest().weigh(stacks));
                    self.trees.borrow_mut().insert(key, Rc::clone(&tree));
                    tree
                })
            });
            Parts { parts, part: id, tree }
        })
    }

    /// The call tree of a series over all threads.
    pub(crate) fn tree(&self, series: usize) -> Rc<ForestWeights> {
        let key = (series, SeparateBy::None, -1);
        if let Some(known) = self.trees.borrow().get(&key) {
            return Rc::clone(known);
        }
        let tree = Rc::new(self.base.forest().weigh(self.weights_of(series).rows()));
        self.trees.borrow_mut().insert(key, Rc::clone(&tree));
        tree
    }

    pub(crate) fn weighed<'v>(&'v self, weights: &'v ForestWeights) -> WeighedForest<'v> {
        WeighedForest { profile: self.profile(), forest: self.base.forest(), weights }
    }

    /// The set of functions marked with 1 in `matches`.
    pub(crate) fn functions(&self, matches: &[u8]) -> FunctionSet {
        FunctionSet::new(self.profile(), |id| matches.get(id.index()) == Some(&1))
    }
}

fn options_of(base: &Base, selection: &protocol::Selection, intervals: &Intervals) -> Result<ReportOptions, Refused> {
    let profile = base.profile();
    let needs_times = selection.time.is_some() || selection.during.is_some();
    if needs_times && profile.sums().len() > 0 {
        let why = "this recording does not record when samples were taken, so no time can be selected";
        return Err(Refused(why.to_owned()));
    }
    let selected = Selection {
        threads: threads_of(profile, selection),
        only_main_threads: selection.main_only == Some(true),
        time: selection.time.as_ref().map(|time| TimeRange {
            start: Nanos::from_nanos(time.start.0),
            end: time.end.map(|end| Nanos::from_nanos(end.0)),
        }),
        intervals: selection.during.as_ref().map(|during| filter_of(intervals, during)),
        states: match &selection.states {
            None | Some(States::Named(StatesName::Running)) => StateFilter::Running,
            Some(States::Named(StatesName::All)) => StateFilter::All,
            Some(States::Only(names)) => StateFilter::Only(names.clone()),
        },
        ..Selection::default()
    };
    Ok(ReportOptions {
        selection: selected,
        metric: if selection.metric.as_deref() == Some("samples") { Metric::Samples } else { Metric::Weight },
        view: ReportView::Tree,
        ..ReportOptions::default()
    })
}

/// The number of the counter that weights samples, if any.
pub(crate) fn counter_of(selection: &protocol::Selection) -> Option<u32> {
    selection.metric.as_deref()?.strip_prefix("counter:")?.parse().ok()
}

/// Matchers for the selected runs, processes and threads; empty if all are selected.
fn threads_of(profile: &Profile, selection: &protocol::Selection) -> Vec<Matcher> {
    let protocol::Selection { runs, processes, threads, .. } = selection;
    if runs.is_none() && processes.is_none() && threads.is_none() {
        return Vec::new();
    }
    let has = |wanted: &Option<Vec<usize>>, index: usize| wanted.as_ref().is_none_or(|wanted| wanted.contains(&index));
    let chosen = profile.thread_ids().filter(|&id| {
        let process = profile.thread(id).process;
        has(threads, id.index()) && has(processes, process.index()) && has(runs, profile.process(process).run.index())
    });
    vec![Matcher::of_threads("the selected threads", chosen.collect())]
}

fn filter_of(intervals: &Intervals, During { names, hangs, needs_all }: &During) -> IntervalFilter {
    intervals.filter(names, *hangs, *needs_all)
}

fn separation(by: SeparateBy) -> Separation {
    match by {
        SeparateBy::Thread => Separation::Thread,
        SeparateBy::Process => Separation::Process,
        SeparateBy::State => Separation::State,
        SeparateBy::CoreKind => Separation::CoreKind,
        SeparateBy::None => Separation::Nothing,
    }
}

fn part_of(base: &Base, row: &ScopeReport) -> Part {
    let profile = base.profile();
    let text = |id| profile.string(id).to_owned();
    let (id, name) = match row.scope {
        Scope::Thread(id) => (id.index(), Some(text(profile.thread(id).name))),
        Scope::Process(id) => (id.index(), Some(text(profile.process(id).name))),
        Scope::State(state) => {
            let place = base.states.iter().position(|&known| Some(known) == state);
            return Part { id: place.map_or(-1, |place| place as i32), name: state.map(text), amount: amount(row) };
        }
        Scope::CoreKind(kind) => {
            let first = kind.and_then(|kind| profile.core_ids().find(|&id| profile.core(id).kind == Some(kind)));
            let id = first.map_or(-1, |id| id.index() as i32);
            return Part { id, name: kind.map(text), amount: amount(row) };
        }
        // The page does not separate trees by labels.
        Scope::Label(_) | Scope::All => return Part { id: -1, name: None, amount: amount(row) },
    };
    Part { id: id as i32, name, amount: amount(row) }
}

fn amount(row: &ScopeReport) -> protocol::Amount {
    crate::answers::amount(row.counted)
}

/// The states of samples, in the order of their first samples.
fn states_of(profile: &Profile) -> Vec<Id<str>> {
    let mut found = Vec::new();
    for state in profile.sums_or_samples().filter_map(|sum| sum.state) {
        if found.last() != Some(&state) && !found.contains(&state) {
            found.push(state);
        }
    }
    found
}
