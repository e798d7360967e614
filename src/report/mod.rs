//! Finished answers as plain structs: what a view shows, and what it leaves out.

mod ahead;
mod binaries;
mod build;
mod categories;
mod cores;
pub mod diff;
pub mod flame_chart;
mod heaviest;
mod light;
mod lines;
mod listing;
mod processes;
mod sandwich;
mod separate;
mod source_index;
mod sources;
mod states;
mod timeline;
mod unnamed;

pub use build::report;
pub use flame_chart::FlameChart;
pub use light::{HiddenRows, HidingLimit, LightRows};
pub use listing::{Cell, Column, ColumnRole, Listing, ListingKind, NO_STACK, RowLimits, Shown};
pub use source_index::{SourceIndex, SourceMatch};
pub use sources::{AnnotatedFile, AnnotatedLine, SourceText, Sources};
pub use timeline::{Timeline, TimelineLine, TimelinePart};
pub use unnamed::{UnnamedBinary, UnnamedFrames};

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::calltree::operations::OperationSummary;
use crate::calltree::{CallTree, Draft, FunctionRow, MergePlan, Merger, Metric, Pruning, StackWeight, StackWeights};
use crate::hash::HashMap;
use crate::profile::{
    ProcessId, Sample, SampleSum, SampledTime, Selection, SeriesId, StackId, StateFilter, StringId, ThreadId,
};
use crate::recording::{DocumentContent, Export, Table};
use crate::units::{Nanos, Unit, Weight};

/// What to answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportOptions {
    /// Which samples count.
    pub selection: Selection,
    /// Schemas that count, such as `time-profile`; empty is every CPU table.
    pub schemas: Vec<String>,
    /// What a sample counts for.
    pub metric: Metric,
    /// Which nodes of trees are hidden.
    pub pruning: Pruning,
    /// What is shown. What a view does not show is not made: see the fields of [`SeriesReport`].
    pub view: View,
    /// What has a call tree, or a line of the timeline, of its own.
    pub separate_by: SeparateBy,
    /// Of tables whose rows are in order of weight, only so many rows: functions, threads, binaries and the like, and in
    /// [`View::Heaviest`] stacks. `None` is all.
    pub top: Option<usize>,
    /// The function that [`View::Sandwich`] is of, by its name as it is shown, in whatever binaries.
    pub function: Option<String>,
    /// The length of a bin in [`View::Timeline`]. With `None` (the default) and 0 it is the shortest of 1, 2, 5, 10, 20, 50 …
    /// nanoseconds by which no series has more than 90 bins, and which is at least five times the most frequent weight of the
    /// samples in nanoseconds.
    pub timeline_bin: Option<Nanos>,
    /// How many threads may work at once: from 2 on, trees are made while one is written, and stacks are summed side by side where
    /// there are very many. With 0 (the default) and 1 it is the caller's thread only. The answer is the same.
    pub jobs: usize,
}

/// What has a call tree of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeparateBy {
    /// Each thread.
    #[default]
    Thread,
    /// Each process, over its threads.
    Process,
    /// Each thread state that the selection counts, over all threads.
    State,
    /// Each kind of core, over all threads. Of samples that were added up
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)) the core is not known.
    CoreKind,
    /// Nothing: one tree over all threads.
    Nothing,
}

/// What of a report is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Summary, threads, and the heaviest call tree of each thread.
    #[default]
    Overview,
    /// Inputs, tables and their rows, totals, and what was left out.
    Summary,
    /// The threads with their weights.
    Threads,
    /// The call tree of each thread, or of what else [`ReportOptions::separate_by`] says.
    Tree,
    /// The functions over all threads.
    Functions,
    /// The binaries over all threads.
    Binaries,
    /// The heaviest stack of each thread, or of what else [`ReportOptions::separate_by`] says: from the outermost function on,
    /// always the heaviest callee. Nothing of it is pruned.
    Heaviest,
    /// The callers and the callees of [`ReportOptions::function`].
    Sandwich,
    /// Whose code ran: the program's own, the system's, runtimes', the kernel's; text and JSON have the transitions, too.
    Categories,
    /// The calls from the program's own code into other code.
    Transitions,
    /// The source lines over all threads.
    Lines,
    /// The processes with their weights.
    Processes,
    /// Thread states with their weights, those that do not count, too.
    States,
    /// The cores and kinds of cores with what they ran; nothing where samples were added up
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    Cores,
    /// Weights over time, in bins, of each thread or of what else [`ReportOptions::separate_by`] says; nothing where samples were
    /// added up ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    Timeline,
    /// The samples, one a row of the input, in its order; none where they were added up
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    Samples,
    /// What each thread did, in order of time ([`Report::flame_chart`]); nothing where samples were added up
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    FlameChart,
}

/// The answer to one question about one or more inputs.
#[derive(Clone, Debug)]
pub struct Report<'e> {
    /// What was read.
    pub export: &'e Export,
    /// What was asked.
    pub options: ReportOptions,
    /// One for each table and unit that has samples, in the order of the inputs.
    pub series: Vec<SeriesReport>,
    /// Frames of counted samples that have no name.
    pub unnamed: UnnamedFrames,
    /// What symbol files named, where some were given; the caller sets it.
    #[cfg(feature = "symbols")]
    pub symbolication: Option<crate::symbolicate::SymbolicationSummary>,
    /// What operations did to the samples before, where there were some; the caller sets it.
    pub operations: Vec<OperationSummary>,
    /// The texts of source files, where they were asked for ([`read_sources`](Self::read_sources)).
    pub sources: Option<Sources>,
    weights: StackWeights,
    merge_plan: OnceLock<Arc<MergePlan<'e>>>,
    round_bin: OnceLock<Nanos>,
    /// By [`SeriesId`]: the position in `series`, and the table (document, table) of its samples.
    positions: Vec<Option<usize>>,
    tables: Vec<Option<(usize, usize)>>,
}

impl<'e> Report<'e> {
    /// The call trees of a series, heaviest first. Each is made when it is asked for: there may be thousands of threads,
    /// and few are looked at.
    pub fn trees<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = TreeReport> + 'r {
        let mut merger = Merger::with_plan(self.merge_plan());
        let weights = self.tree_weights(series);
        series.scopes.iter().map(move |row| {
            let stacks = row.stacks.iter().flat_map(|range| &weights[range.clone()]);
            let tree = merger.pruned_tree(stacks, &self.options.pruning);
            TreeReport { scope: row.scope, counted: row.counted, tree }
        })
    }

    /// By stack: the sum of the squared weights of its samples, of all series. Where samples were added up, those of a stack of a thread
    /// are taken to weigh the same.
    fn squared_weights(&self) -> HashMap<Option<StackId>, u128> {
        let mut squares: HashMap<Option<StackId>, u128> = HashMap::default();
        let mut add = |stack, square: u128| {
            let sum = squares.entry(stack).or_default();
            *sum = sum.saturating_add(square);
        };
        let profile = &self.export.profile;
        if profile.samples().is_empty() {
            for row in self.weights.rows().iter().filter(|row| row.samples > 0) {
                add(row.stack, u128::from(row.weight).pow(2) / u128::from(row.samples));
            }
            return squares;
        }
        for sample in self.options.selection.on(profile).iter() {
            if self.positions[sample.series.index()].is_some() {
                add(sample.stack, u128::from(self.options.metric.of(sample)).pow(2));
            }
        }
        squares
    }

    /// What each thread of a series did, in order of time; nothing where samples were added up
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    pub fn flame_chart<'r>(&'r self, series: &'r SeriesReport) -> FlameChart<'r> {
        FlameChart::new(self, series)
    }

    /// Visits the trees of these scopes of a series, in their order, until `visit` fails, without making [`CallTree`]s of
    /// them.
    pub(crate) fn walk_trees<E>(
        &self,
        series: &SeriesReport,
        scopes: &[ScopeReport],
        visit: impl FnMut(&ScopeReport, &Draft) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk_pruned_trees(series, scopes, &self.options.pruning, visit)
    }

    /// The same, of trees that are pruned otherwise.
    fn walk_pruned_trees<E>(
        &self,
        series: &SeriesReport,
        scopes: &[ScopeReport],
        pruning: &Pruning,
        visit: impl FnMut(&ScopeReport, &Draft) -> Result<(), E>,
    ) -> Result<(), E> {
        let plan = self.merge_plan();
        let weights = self.tree_weights(series);
        let draft = |row: &ScopeReport, merger: &mut Merger<'_>, spare: Draft| {
            merger.draft_into(spare, row.stacks.iter().flat_map(|range| &weights[range.clone()]), pruning)
        };
        ahead::visit(scopes, self.options.jobs, || Merger::with_plan(plan.clone()), draft, visit)
    }

    /// The stacks that the scopes of a series have their ranges in.
    fn tree_weights<'r>(&'r self, series: &'r SeriesReport) -> &'r [StackWeight] {
        series.separated.as_deref().unwrap_or_else(|| self.weights.of_series(series.series))
    }

    /// What all trees need, made when the first one is.
    fn merge_plan(&self) -> Arc<MergePlan<'e>> {
        self.merge_plan.get_or_init(|| Arc::new(MergePlan::new(&self.export.profile))).clone()
    }

    /// Whether trees start at the functions that samples were taken in, and go on to their callers.
    pub fn is_inverted(&self) -> bool {
        self.operations.iter().filter(|operation| operation.inverts).count() % 2 == 1
    }

    /// Where a series is in [`series`](Self::series); `None` if it was not asked for.
    pub fn position(&self, series: SeriesId) -> Option<usize> {
        self.positions.get(series.index()).copied().flatten()
    }

    /// The table that holds the samples of a series.
    pub fn table(&self, series: SeriesId) -> Option<&Table> {
        let (document, table) = self.tables.get(series.index()).copied().flatten()?;
        match &self.export.documents.get(document)?.content {
            DocumentContent::Tables(tables) => tables.get(table),
            DocumentContent::Toc(_) => None,
        }
    }

    /// The samples that count, in the order of the input: those that trees and functions are made of. There are none where
    /// samples were added up ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    pub fn counted_samples(&self) -> impl Iterator<Item = &'e Sample> {
        let selected = self.options.selection.on(&self.export.profile);
        self.export.profile.samples().iter().filter(move |&sample| {
            self.position(sample.series).is_some() && selected.is_in_scope(sample) && selected.is_state_counted(sample)
        })
    }

    /// The samples of the tables, run, process, thread and time that were asked for, in the order of the input, of
    /// every thread state unless states were named: one for each row that was not rejected. Each comes with its index in
    /// [`Profile::samples`](crate::profile::Profile::samples). There are none where samples were added up
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    pub fn samples(&self) -> impl Iterator<Item = (usize, &Sample)> {
        let profile = &self.export.profile;
        let states = match &self.options.selection.states {
            StateFilter::Running => StateFilter::All,
            named => named.clone(),
        };
        let selected = Selection { states, ..self.options.selection.clone() }.on(profile);
        profile.samples().iter().enumerate().filter(move |&(_, sample)| {
            self.position(sample.series).is_some() && selected.is_in_scope(sample) && selected.is_state_counted(sample)
        })
    }

    /// What counts, added up by series, thread, stack, state and kind, in the order of the first samples. The weights are those
    /// that were recorded, whatever [`ReportOptions::metric`] says.
    pub fn sums(&self) -> impl Iterator<Item = SampleSum> {
        let profile = &self.export.profile;
        let selected = self.options.selection.on(profile);
        // One of the two is empty.
        let added_up: Vec<SampleSum> = if profile.sums().len() == 0 { selected.sums().collect() } else { Vec::new() };
        let kept = move |sum: &SampleSum| selected.is_in_scope(*sum) && selected.is_state_counted(*sum);
        let sums = profile.sums().filter(kept).chain(added_up);
        sums.filter(|sum| self.position(sum.series).is_some())
    }
}

/// Weight and number of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The sum of weights.
    pub weight: Weight,
    /// How many samples.
    pub samples: u64,
}

/// What one series of samples says.
#[derive(Clone, Debug)]
pub struct SeriesReport {
    /// The series.
    pub series: SeriesId,
    /// The unit of every weight in this struct.
    pub unit: Unit,
    /// What counts.
    pub counted: Amount,
    /// What the filters left out (run, process, thread, time).
    pub out_of_scope: Amount,
    /// What was left out for its thread state, by state, heaviest first.
    pub other_states: Vec<(String, Amount)>,
    /// What counts but has no stack.
    pub no_stack: Amount,
    /// Times of the first and the last sample that counts, and until when those cover time. A sum keeps its times when operations
    /// remove a part of it.
    pub times: Option<SampledTime>,
    /// Sums of the performance counters of the samples that count, in the order of the table; empty without counters.
    pub counters: Vec<u128>,
    /// The threads, heaviest first.
    pub threads: Vec<ThreadReport>,
    /// What has a call tree, heaviest first, in [`View::Overview`] and [`View::Tree`]; [`Report::trees`] makes them.
    pub scopes: Vec<ScopeReport>,
    /// The functions over all threads, by self weight, in [`View::Functions`]. Recursion counts once in `all_weight`.
    pub functions: Vec<FunctionRow>,
    /// What trees are made of, where that is not what the report has by thread.
    separated: Option<Vec<StackWeight>>,
}

impl SeriesReport {
    /// Whether the filters left nothing of it (it is of another run, say).
    pub fn is_filtered_out(&self) -> bool {
        self.counted.samples == 0 && self.other_states.is_empty() && self.out_of_scope.samples > 0
    }
}

/// What one thread did.
#[derive(Clone, Debug)]
pub struct ThreadReport {
    /// The thread.
    pub thread: ThreadId,
    /// Its samples.
    pub counted: Amount,
}

/// What has a call tree.
#[derive(Clone, Debug)]
pub struct ScopeReport {
    /// Whose the tree is.
    pub scope: Scope,
    /// The samples in it.
    pub counted: Amount,
    /// Where its stacks are in the weights of the series' trees.
    stacks: Vec<Range<usize>>,
}

/// A call tree and whose it is.
#[derive(Clone, Debug)]
pub struct TreeReport {
    /// Whose it is.
    pub scope: Scope,
    /// The samples in it.
    pub counted: Amount,
    /// The tree, pruned as asked.
    pub tree: CallTree,
}

/// Whose a call tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A thread's.
    Thread(ThreadId),
    /// A process's.
    Process(ProcessId),
    /// That of a thread state; `None` is that of samples without one.
    State(Option<StringId>),
    /// That of a kind of core; `None` is that of samples whose core, or its kind, was not recorded.
    CoreKind(Option<StringId>),
    /// Everybody's.
    All,
}
