//! Reports as plain structs: the rows that a view shows, and the totals of the rows that it hides.

mod build;
mod cache;
mod code_tables;
pub mod diff;
mod flame_chart;
mod from_cache;
mod hangs;
mod labels;
mod listing;
mod overview;
mod selection;
mod source_index;
mod sources;
mod stack_tables;
mod tables;
mod thread_tables;
mod timeline;
mod unnamed;

pub use cache::ReportCache;
pub use code_tables::{BinaryRow, NamedFunction};
pub use flame_chart::{FlameChart, Span, ThreadChart};
pub use hangs::{Hang, HangActivity, HangReport, HangStack, HangVerdict, HangWait, Hitches};
pub(crate) use labels::{ScopeParts, binary_of, function_of, process_label, scope_labels, series_label, thread_label};
pub use listing::{Cell, Column, ColumnRole, HiddenTotal, Listing, ListingKind};
pub(crate) use listing::{NO_STACK, RowLimits, Shown};
use overview::Owners;
pub(crate) use overview::Stop;
pub use overview::{
    Activity, Answer, AnswersIn, Busiest, LineOfTime, MainThread, Origin, Overview, Shares, Spent, Subtree, Work,
};
pub(crate) use overview::{highest_rate, is_own_binary};
pub use selection::Length;
#[cfg(feature = "compression")]
pub(crate) use source_index::SourceText;
use source_index::Sources;
pub(crate) use sources::AnnotatedFile;
pub use tables::{HiddenRows, HidingLimit};
pub use thread_tables::{CoreKindRow, ProcessRow, StateRow};
pub use timeline::{Timeline, TimelineLine, TimelinePart};
pub use unnamed::{UnnamedBinary, UnnamedFrames};

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::calltree::OperationSummary;
use crate::calltree::{
    CallTree, Draft, ForestWeights, FunctionRow, FunctionSet, MergePlan, Merger, Metric, Pruning, StackWeight,
    StackWeights,
};
use crate::ordered_pool;
use crate::profile::{
    ProcessId, Sample, SampleSum, SampledTime, SelectedSamples, Selection, SeriesId, StateFilter, StringId, ThreadId,
};
use crate::recording::{DocumentContent, Recording, Table};
use crate::redact::Redacted;
use crate::units::{Nanos, Unit, Weight};

/// The options of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportOptions {
    /// The selected samples.
    pub selection: Selection,
    /// The selected schemas, such as `time-profile`. Empty for all CPU tables.
    pub schemas: Vec<String>,
    /// What each sample adds: its weight, or one.
    pub metric: Metric,
    /// Which tree nodes are hidden.
    pub pruning: Pruning,
    /// The view. Parts that it does not show are not computed; see the fields of [`SeriesReport`].
    pub view: View,
    /// How trees and timelines are split.
    pub separate_by: SeparateBy,
    /// The maximum number of rows in tables sorted by weight (functions, threads, binaries and so on), both as [`Listing`] and in
    /// [`SeriesReport::functions`] and [`threads`](SeriesReport::threads), and of stacks in [`View::Heaviest`]. `None` keeps all, except in
    /// overviews and in the threads of [`View::Full`] as text, which have a default; `usize::MAX` keeps all there as well. Methods that compute
    /// rows, such as [`Report::binaries`], return all of them. [`Pruning::children`] limits trees.
    pub top: Option<usize>,
    /// The sort column of tables, in views that [have it](SortBy::applies_to). `None` sorts by weight.
    pub sort: Option<SortBy>,
    /// The function of [`View::Sandwich`], by its displayed name, in any binary.
    pub function: Option<String>,
    /// The length of a bin in [`View::Timeline`]. `None` (the default) or 0 chooses the shortest of 1, 2, 5, 10, 20, 50 … nanoseconds that meets
    /// two conditions: no series has more than 90 bins, and a bin is at least five times as long as the most frequent sample weight in
    /// nanoseconds.
    pub timeline_bin: Option<Nanos>,
    /// The maximum number of threads. From 2 on, trees are computed while others are written, and stacks are summed in parallel if there are very
    /// many. With 0 (the default) or 1, only the caller's thread works. The result does not depend on this number.
    pub jobs: usize,
}

impl ReportOptions {
    fn most_rows(&self) -> usize {
        self.top.unwrap_or(usize::MAX)
    }
}

/// The scopes that get separate call trees and timelines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeparateBy {
    /// By thread
    #[default]
    Thread,
    /// By process
    Process,
    /// By thread state. Select all states with [`Selection::states`].
    State,
    /// By kind of core, such as P Core
    ///
    /// The cores of samples that were added up ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)) are unknown.
    CoreKind,
    /// By signpost: the innermost one that was open on the thread
    ///
    /// Samples must have [labels](crate::Analysis::label_by).
    Interval,
    /// By Swift task that the thread ran
    ///
    /// Samples must have [labels](crate::Analysis::label_by).
    Task,
    /// Do not split: one tree for all threads
    Nothing,
}

impl SeparateBy {
    /// Returns the name of a value as it is used in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Process => "process",
            Self::State => "state",
            Self::CoreKind => "core-kind",
            Self::Interval => "interval",
            Self::Task => "task",
            Self::Nothing => "none",
        }
    }

    /// The name of the scope's field in machine-readable formats. `None` for threads, processes and all samples, which have their own fields.
    pub(crate) fn field(self) -> Option<&'static str> {
        match self {
            Self::State => Some("state"),
            Self::CoreKind => Some("core_kind"),
            Self::Interval => Some("interval"),
            Self::Task => Some("task"),
            Self::Thread | Self::Process | Self::Nothing => None,
        }
    }

    /// True if the separation needs individual samples instead of sums.
    pub fn needs_samples(self) -> bool {
        self == Self::CoreKind || self.needs_labels()
    }

    /// True if samples must have [labels](crate::Analysis::label_by).
    pub fn needs_labels(self) -> bool {
        matches!(self, Self::Interval | Self::Task)
    }
}

/// The view of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The short answer: how busy the app was, your heaviest functions, the busiest threads [default for text]
    ///
    /// [`Report::overview`] computes it.
    Overview,
    /// Summary, threads, and the call tree of each thread [default for other formats, and with options for trees]
    #[default]
    Full,
    /// Inputs, tables and their rows, totals, and what was left out
    Summary,
    /// Threads with their weights
    Threads,
    /// The call tree of each thread
    ///
    /// [`ReportOptions::separate_by`] may split it differently.
    Tree,
    /// Functions across all threads, by self weight
    Functions,
    /// The heaviest stack of each thread
    ///
    /// It goes from the outermost function to the heaviest callee of each function, and is never pruned.
    /// [`ReportOptions::separate_by`] may split stacks differently.
    Heaviest,
    /// Binaries across all threads, by self weight
    Binaries,
    /// Your code, the system, runtimes and the kernel, and the calls from your code into the others
    ///
    /// Text and JSON have the transitions as a second table.
    Categories,
    /// Every call from your code into other code
    Transitions,
    /// Source lines across all threads, by self weight
    Lines,
    /// Processes with their weights
    Processes,
    /// Thread states with their weights, including states that are not selected
    States,
    /// Cores and kinds of core, with the weight of the samples on them
    ///
    /// Empty if samples were summed ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    Cores,
    /// CPU use over time, by thread or as [`ReportOptions::separate_by`] splits it
    ///
    /// Empty if samples were summed ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    Timeline,
    /// One line for each sample, in the order of the input
    ///
    /// Empty if samples were summed ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    Samples,
    /// The functions that each thread ran, over time
    ///
    /// [`Report::flame_chart`] computes it. Empty if samples were summed ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    FlameChart,
    /// The callers and callees of [`ReportOptions::function`].
    Sandwich,
}

impl View {
    /// The name of the view: `overview`, `flame-chart`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Full => "full",
            Self::Summary => "summary",
            Self::Threads => "threads",
            Self::Tree => "tree",
            Self::Functions => "functions",
            Self::Heaviest => "heaviest",
            Self::Binaries => "binaries",
            Self::Categories => "categories",
            Self::Transitions => "transitions",
            Self::Lines => "lines",
            Self::Processes => "processes",
            Self::States => "states",
            Self::Cores => "cores",
            Self::Timeline => "timeline",
            Self::Samples => "samples",
            Self::FlameChart => "flame-chart",
            Self::Sandwich => "sandwich",
        }
    }

    /// True if the view shows samples in states that are not selected.
    pub const fn has_all_states(self) -> bool {
        matches!(self, Self::States | Self::Samples | Self::Timeline)
    }
}

/// The column by which the rows of tables are sorted. Numbers are in descending order, names in alphabetical order. Rows with equal values keep their
/// usual order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// Self weight
    SelfWeight,
    /// All weight
    AllWeight,
    /// The number of samples
    Samples,
    /// Names, from A to Z
    // Rows with the same name are sorted by the columns after it. Missing names come last.
    Name,
}

impl SortBy {
    /// The name of the column on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SelfWeight => "self",
            Self::AllWeight => "total",
            Self::Samples => "samples",
            Self::Name => "name",
        }
    }
}

/// The answer to one query about one or more inputs.
#[derive(Clone, Debug)]
pub struct Report<'e> {
    /// The inputs that were read.
    pub recording: &'e Recording,
    /// The options.
    pub options: ReportOptions,
    /// One entry per table and unit with samples, and one per idle run, in input order.
    pub series: Vec<SeriesReport>,
    /// The results of symbolication, set by the caller if symbol files were used.
    pub symbolication: Option<crate::symbolicate::SymbolicationSummary>,
    /// The effects of the operations on samples, set by the caller.
    pub operations: Vec<OperationSummary>,
    /// The replaced names, set by the caller if names were replaced.
    pub redacted: Option<Vec<Redacted>>,
    /// The text of source files, if [requested](Self::read_sources).
    pub(crate) sources: Option<Sources>,
    unnamed: OnceLock<UnnamedFrames>,
    weights: StackWeights,
    merge_plan: OnceLock<Arc<MergePlan<'e>>>,
    owners: OnceLock<Arc<Owners>>,
    cache: Option<&'e ReportCache>,
    /// By [`SeriesId`]: the stack weights merged by frame. Only used with a cache.
    merged: Vec<OnceLock<ForestWeights>>,
    round_bin: OnceLock<Nanos>,
    made_once: MadeOnce<'e>,
    /// By [`SeriesId`]: the index in `series`, and the (document, table) of the samples.
    positions: Vec<Option<usize>>,
    tables: Vec<Option<(usize, usize)>>,
}

/// Values that require a pass over all samples, computed on first use.
#[derive(Clone, Debug, Default)]
struct MadeOnce<'e> {
    selected: OnceLock<SelectedSamples<'e>>,
    /// By series: the range from its first to its last sample.
    ranges: OnceLock<Vec<Range<usize>>>,
}

impl<'e> Report<'e> {
    /// The unnamed frames of selected samples.
    pub fn unnamed(&self) -> &UnnamedFrames {
        self.unnamed.get_or_init(|| {
            unnamed::unnamed_frames(&self.recording.profile, self.weights.rows().iter().filter_map(|row| row.stack))
        })
    }

    /// The pruned call trees of a series with their scopes, heaviest first. Trees are computed lazily, since there may be thousands of threads,
    /// of which few are shown.
    pub fn trees<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = (&'r ScopeReport, CallTree)> {
        let mut merger = Merger::with_plan(self.merge_plan());
        series
            .scopes
            .iter()
            .map(move |row| (row, merger.pruned_tree(self.stacks_of(series, row), &self.options.pruning)))
    }

    /// The weights of the stacks in a scope of a series.
    pub fn stacks_of<'r>(
        &'r self,
        series: &'r SeriesReport,
        scope: &'r ScopeReport,
    ) -> impl Iterator<Item = &'r StackWeight> {
        let weights = self.tree_weights(series);
        scope.stacks.iter().flat_map(move |range| &weights[range.clone()])
    }

    /// Visits the trees of these scopes in order, without converting them to [`CallTree`]s. Stops at the first error.
    pub(crate) fn walk_trees<E>(
        &self,
        series: &SeriesReport,
        scopes: &[ScopeReport],
        visit: impl FnMut(&ScopeReport, &Draft) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk_pruned_trees(series, scopes, &self.options.pruning, visit)
    }

    /// Like [`walk_trees`](Self::walk_trees), with a different pruning.
    fn walk_pruned_trees<E>(
        &self,
        series: &SeriesReport,
        scopes: &[ScopeReport],
        pruning: &Pruning,
        visit: impl FnMut(&ScopeReport, &Draft) -> Result<(), E>,
    ) -> Result<(), E> {
        let plan = self.merge_plan();
        let draft = |row: &ScopeReport, merger: &mut Merger<'_>, spare: Draft| {
            merger.draft_into(spare, self.stacks_of(series, row), pruning)
        };
        ordered_pool::visit(scopes, self.options.jobs, || Merger::with_plan(plan.clone()), draft, visit)
    }

    /// The stack weights that the scopes' `stacks` ranges index.
    fn tree_weights<'r>(&'r self, series: &'r SeriesReport) -> &'r [StackWeight] {
        series.separated.as_deref().unwrap_or_else(|| self.weights.of_series(series.series))
    }

    /// The precomputed data shared by all trees, created on first use.
    fn merge_plan(&self) -> Arc<MergePlan<'e>> {
        self.merge_plan.get_or_init(|| Arc::new(MergePlan::new(&self.recording.profile))).clone()
    }

    /// True if trees start at leaf functions and continue with their callers.
    pub fn is_inverted(&self) -> bool {
        self.operations.iter().filter(|operation| operation.inverts).count() % 2 == 1
    }

    /// The functions in which the threads of a series wait for work.
    pub(crate) fn idle_functions(&self, series: &SeriesReport) -> FunctionSet {
        let rows = self.weights.of_series(series.series).iter().map(|row| (row.stack, row.doing, row.samples));
        FunctionSet::of_waits(&self.recording.profile, rows, self.is_inverted())
    }

    /// The index of a series in [`series`](Self::series); `None` if it is not selected.
    pub fn position(&self, series: SeriesId) -> Option<usize> {
        self.positions.get(series.index()).copied().flatten()
    }

    /// The table of the first series without sample times; `None` if all series have times.
    pub fn table_without_times(&self) -> Option<&'e str> {
        let profile = &self.recording.profile;
        let series = self.series.iter().map(|series| profile.series(series.series)).find(|series| !series.has_times)?;
        Some(profile.string(series.schema))
    }

    /// The table of the first series whose [number of samples](Metric::Samples) is unknown; `None` if all are known.
    pub fn table_without_sample_counts(&self) -> Option<&'e str> {
        let profile = &self.recording.profile;
        let series = self.series.iter().map(|series| profile.series(series.series));
        Some(profile.string(series.into_iter().find(|series| !series.has_sample_counts())?.schema))
    }

    /// The number of rejected rows in the CPU tables of selected runs. Which of them other filters would have selected is unknown.
    pub(crate) fn rejected(&self) -> u64 {
        let runs = &self.options.selection.runs;
        let tables = self.recording.tables().filter(|table| runs.is_empty() || runs.contains(&table.run));
        tables.map(|table| table.rejected.total()).sum()
    }

    /// The table that contains the samples of a series.
    pub fn table(&self, series: SeriesId) -> Option<&Table> {
        let (document, table) = self.tables.get(series.index()).copied().flatten()?;
        match &self.recording.documents.get(document)?.content {
            DocumentContent::Tables(tables) => tables.get(table),
            DocumentContent::Toc(_) => None,
        }
    }

    /// The selected samples in input order, which trees and functions are made from. Empty if samples were summed
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    pub fn counted_samples(&self) -> impl Iterator<Item = &'e Sample> {
        let selected = self.options.selection.on(&self.recording.profile);
        self.recording.profile.samples().iter().filter(move |&sample| {
            self.position(sample.series).is_some() && selected.is_in_scope(sample) && selected.is_state_counted(sample)
        })
    }

    /// The samples of the selected tables, runs, processes, threads and times in input order: one per accepted row, with its index in
    /// [`Profile::samples`](crate::profile::Profile::samples). All thread states are included unless states were selected. Empty if samples were
    /// summed ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    pub fn samples(&self) -> impl Iterator<Item = (usize, &Sample)> {
        let profile = &self.recording.profile;
        let states = match &self.options.selection.states {
            StateFilter::Running => StateFilter::All,
            named => named.clone(),
        };
        let selected = Selection { states, ..self.options.selection.clone() }.on(profile);
        profile.samples().iter().enumerate().filter(move |&(_, sample)| {
            self.position(sample.series).is_some() && selected.is_in_scope(sample) && selected.is_state_counted(sample)
        })
    }

    /// The selected samples, summed by series, thread, stack, state and kind, in the order of first samples. These are recorded weights,
    /// regardless of [`ReportOptions::metric`].
    pub fn sums(&self) -> impl Iterator<Item = SampleSum> {
        let profile = &self.recording.profile;
        let selected = self.options.selection.on(profile);
        // The profile has either sums or samples.
        let added_up: Vec<SampleSum> = if profile.sums().len() == 0 { selected.sums().collect() } else { Vec::new() };
        let kept = move |sum: &SampleSum| selected.is_in_scope(*sum) && selected.is_state_counted(*sum);
        let sums = profile.sums().filter(kept).chain(added_up);
        sums.filter(|sum| self.position(sum.series).is_some())
    }
}

/// A weight and a number of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The sum of weights.
    pub weight: Weight,
    /// The number of samples.
    pub samples: u64,
}

impl Amount {
    /// Zero samples in this unit.
    pub(crate) fn none(unit: Unit) -> Self {
        Self { weight: Weight::new(0, unit), samples: 0 }
    }

    /// Adds `samples` samples with the total weight `weight`.
    pub(crate) fn add(&mut self, weight: u64, samples: u64) {
        self.weight.value += weight;
        self.samples += samples;
    }

    pub(crate) fn of_rows<'r>(rows: impl Iterator<Item = &'r StackWeight>, unit: Unit) -> Self {
        let mut sum = Self::none(unit);
        rows.for_each(|row| sum.add(row.weight, row.samples));
        sum
    }
}

/// The report on one series of samples.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeriesReport {
    /// The series.
    pub series: SeriesId,
    /// The unit of every weight in this struct.
    pub unit: Unit,
    /// The selected samples.
    pub counted: Amount,
    /// The samples excluded by filters for run, process, thread or time.
    pub out_of_scope: Amount,
    /// The samples excluded because of their thread state, by state, heaviest first.
    pub other_states: Vec<(String, Amount)>,
    /// The part of `other_states` that operations removed. It is also missing in [`states`](Report::states).
    pub removed_other_states: Amount,
    /// The selected samples without a stack.
    pub no_stack: Amount,
    /// The times of the first and last selected sample, and the end of the covered time. Operations that remove part of a sum do not change its
    /// times.
    pub times: Option<SampledTime>,
    /// The sums of the selected samples' performance counters, in table order; empty without counters.
    pub counters: Vec<u128>,
    /// The threads, heaviest first, up to [`ReportOptions::top`].
    pub threads: Vec<ThreadReport>,
    /// The scopes with separate call trees in [`View::Full`] and [`View::Tree`], heaviest first. [`Report::trees`] computes the trees.
    pub scopes: Vec<ScopeReport>,
    /// The functions over all threads in [`View::Functions`], by self weight, up to [`ReportOptions::top`]. In `all_weight`, a recursive function
    /// counts once per sample.
    pub functions: Vec<FunctionRow>,
    /// The threads and functions beyond [`ReportOptions::top`].
    more_threads: Vec<ThreadReport>,
    more_functions: Vec<FunctionRow>,
    /// The stacks that trees are made from, unless they are the report's stacks by thread.
    separated: Option<Vec<StackWeight>>,
}

impl SeriesReport {
    /// All threads, heaviest first.
    pub(crate) fn all_threads(&self) -> impl Iterator<Item = &ThreadReport> {
        self.threads.iter().chain(&self.more_threads)
    }

    /// All functions, by self weight.
    fn all_functions(&self) -> impl Iterator<Item = &FunctionRow> {
        self.functions.iter().chain(&self.more_functions)
    }

    /// True if its table is empty, since nothing ran during the recording.
    pub fn is_empty(&self) -> bool {
        self.counted.samples == 0 && self.other_states.is_empty() && self.out_of_scope.samples == 0
    }

    /// True if filters excluded all its samples, for example because it belongs to another run.
    pub fn is_filtered_out(&self) -> bool {
        self.counted.samples == 0 && self.other_states.is_empty() && self.out_of_scope.samples > 0
    }
}

/// The samples of one thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadReport {
    /// The thread.
    pub thread: ThreadId,
    /// The samples of the thread.
    pub counted: Amount,
}

/// A scope with a separate call tree.
#[derive(Clone, Debug)]
pub struct ScopeReport {
    /// The scope of the tree.
    pub scope: Scope,
    /// The samples in it.
    pub counted: Amount,
    /// The ranges of its stacks in the [tree weights](Report::tree_weights) of the series.
    stacks: Vec<Range<usize>>,
}

/// The scope of a call tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One thread.
    Thread(ThreadId),
    /// One process.
    Process(ProcessId),
    /// A thread state; `None` for samples without one.
    State(Option<StringId>),
    /// A kind of core; `None` for samples whose core or kind of core was not recorded.
    CoreKind(Option<StringId>),
    /// A signpost or a task; `None` for samples without one.
    Label(Option<StringId>),
    /// All samples.
    All,
}
