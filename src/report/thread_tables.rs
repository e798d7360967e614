//! The weights of threads, processes, thread states, and cores.

use super::build::{heavier, order};
use super::labels::{process_label, thread_label};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, SUMMED, Shown};
use super::{Amount, Report, Scope, SeriesReport, ThreadReport};
use crate::hash::{HashMap, IndexMap};
use crate::profile::{Core, ProcessId, SampleSum, StringId};
use crate::units::Weight;

pub(super) static THREADS: ListingKind = ListingKind::new(
    ["threads", "thread"],
    &[
        Column::machine("run", ColumnRole::Number),
        Column::machine("schema", ColumnRole::Label),
        Column::machine("thread", ColumnRole::Name),
        Column::machine("process", ColumnRole::Owner),
        Column::machine("tid", ColumnRole::Number),
        Column::machine("pid", ColumnRole::Number),
        Column::weight("all_weight", "{unit}"),
        Column::number("samples", "samples").at_least(9),
        Column::new("thread_label", "thread", ColumnRole::Name).shown(Shown::Text),
        Column::new("process_label", "", ColumnRole::Owner).shown(Shown::Text),
    ],
    RowLimits::Ordered,
    threads,
)
.csv(&["pid", "process", "tid", "thread", "samples", "all_weight", "unit"])
.json(&["run", "schema", "process", "pid", "thread", "tid", "samples", "all_weight", "unit"]);

fn threads(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let origin = profile.series(series.series);
    let (run, schema) = (profile.run(origin.run).number, profile.string(origin.schema));
    let cells = |row: &ThreadReport| {
        let thread = profile.thread(row.thread);
        let process = profile.process(thread.process);
        vec![
            Cell::Number(run.into()),
            Cell::Text(schema.to_owned()),
            Cell::Text(profile.string(thread.name).to_owned()),
            Cell::Text(profile.string(process.name).to_owned()),
            Cell::number(thread.tid),
            Cell::number(process.pid),
            Cell::Weight(row.counted.weight.value),
            Cell::Number(row.counted.samples),
            Cell::Text(thread_label(profile, thread)),
            Cell::Text(process_label(profile, process)),
        ]
    };
    Listing::new(series.counted.weight, series.all_threads().map(cells).collect(), Vec::new())
}

pub(super) static PROCESSES: ListingKind = ListingKind::new(
    ["processes", "process"],
    &[
        Column::number("pid", "pid"),
        Column::new("process", "process", ColumnRole::Name),
        Column::weight("all_weight", "{unit}"),
        Column::number("samples", "samples"),
        Column::number("threads", "threads"),
    ],
    RowLimits::Ordered,
    processes,
);

/// The selected samples of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessRow {
    /// The process.
    pub process: ProcessId,
    /// The selected samples.
    pub counted: Amount,
    /// The number of its threads with selected samples.
    pub threads: u64,
}

impl Report<'_> {
    /// The processes of a series, heaviest first.
    pub fn processes(&self, series: &SeriesReport) -> Vec<ProcessRow> {
        let profile = &self.recording.profile;
        let mut rows: IndexMap<ProcessId, ProcessRow> = IndexMap::default();
        for row in series.all_threads() {
            let process = profile.thread(row.thread).process;
            let new = ProcessRow { process, counted: Amount::none(series.unit), threads: 0 };
            let sum = rows.entry(process).or_insert(new);
            sum.counted.add(row.counted.weight.value, row.counted.samples);
            sum.threads += 1;
        }
        let mut rows: Vec<ProcessRow> = rows.into_values().collect();
        let order = |row: &ProcessRow| order(profile, Scope::Process(row.process));
        rows.sort_unstable_by(|a, b| heavier(a.counted, b.counted).then_with(|| order(a).cmp(&order(b))));
        rows
    }
}

fn processes(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let rows = report.processes(series).into_iter().map(|row| {
        let process = profile.process(row.process);
        vec![
            Cell::number(process.pid),
            Cell::Text(profile.string(process.name).to_owned()),
            Cell::Weight(row.counted.weight.value),
            Cell::Number(row.counted.samples),
            Cell::Number(row.threads),
        ]
    });
    Listing::new(series.counted.weight, rows.collect(), Vec::new())
}

pub(super) static STATES: ListingKind = ListingKind::new(
    ["states", "state"],
    &[
        Column::new("state", "state", ColumnRole::Name),
        Column::new("counted", "counts", ColumnRole::Label),
        Column::number("samples", "samples"),
        Column::weight("all_weight", "{unit}"),
    ],
    RowLimits::Ordered,
    states,
);

/// The weight of the samples in one thread state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateRow {
    /// The state; `None` for samples without one.
    pub state: Option<StringId>,
    /// True if the state is selected.
    pub is_counted: bool,
    /// The samples in this state in the selected threads and times.
    pub amount: Amount,
}

impl Report<'_> {
    /// The thread states of a series, selected or not, heaviest first.
    pub fn states(&self, series: &SeriesReport) -> Vec<StateRow> {
        let profile = &self.recording.profile;
        let selected = self.selected();
        let mut rows: HashMap<Option<StringId>, StateRow> = HashMap::default();
        let is_here = |sum: &SampleSum| sum.series == series.series && selected.is_in_scope(*sum);
        for sum in profile.sums_or_samples().filter(is_here) {
            let row = rows.entry(sum.state).or_insert_with(|| {
                let is_counted = selected.is_state_counted(sum);
                StateRow { state: sum.state, is_counted, amount: Amount::none(series.unit) }
            });
            row.amount.add(self.options.metric.of(sum), sum.samples);
        }
        let name = |row: &StateRow| row.state.map_or("", |state| profile.string(state));
        let mut rows: Vec<StateRow> = rows.into_values().collect();
        rows.sort_unstable_by(|a, b| heavier(a.amount, b.amount).then_with(|| name(a).cmp(name(b))));
        rows
    }
}

fn states(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let rows = report.states(series);
    let total = rows.iter().map(|row| row.amount.weight.value).sum();
    let rows = rows.into_iter().map(|row| {
        vec![
            Cell::optional(row.state.map(|state| profile.string(state))),
            Cell::Flag(row.is_counted),
            Cell::Number(row.amount.samples),
            Cell::Weight(row.amount.weight.value),
        ]
    });
    Listing::new(Weight::new(total, series.unit), rows.collect(), Vec::new())
}

pub(super) static CORES: ListingKind = ListingKind::new(
    ["cores", "core"],
    &[
        Column::machine("level", ColumnRole::Label),
        Column::machine("kind", ColumnRole::Label),
        Column::machine("core", ColumnRole::Number),
        Column::weight("all_weight", "{unit}"),
        Column::number("samples", "samples"),
        Column::new("", "core", ColumnRole::Name).shown(Shown::Text),
    ],
    RowLimits::None,
    cores,
);

/// The selected samples on a kind of core.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreKindRow<'e> {
    /// The kind, if it was recorded.
    pub kind: Option<&'e str>,
    /// The samples on its cores.
    pub counted: Amount,
    /// The cores by number; `None` for samples without one.
    pub cores: Vec<(Option<u32>, Amount)>,
}

impl<'e> Report<'e> {
    /// The kinds of core of a series, heaviest first. Empty if samples were summed.
    pub fn core_kinds(&self, series: &SeriesReport) -> Vec<CoreKindRow<'e>> {
        let profile = &self.recording.profile;
        let nothing = Amount::none(series.unit);
        let mut cores: HashMap<Option<Core>, Amount> = HashMap::default();
        for sample in self.samples_of(series) {
            let amount = cores.entry(sample.core.map(|core| *profile.core(core))).or_insert(nothing);
            amount.add(self.options.metric.of(sample), sample.samples.into());
        }
        let mut kinds: HashMap<Option<&str>, CoreKindRow<'e>> = HashMap::default();
        for (core, amount) in cores {
            let kind = core.and_then(|core| core.kind).map(|kind| profile.string(kind));
            let row = kinds.entry(kind).or_insert(CoreKindRow { kind, counted: nothing, cores: Vec::new() });
            row.counted = plus(row.counted, amount);
            row.cores.push((core.map(|core| core.index), amount));
        }
        let mut kinds: Vec<CoreKindRow<'e>> = kinds.into_values().collect();
        for row in &mut kinds {
            row.cores.sort_unstable_by_key(|&(core, amount)| (core.is_none(), core, amount.samples));
        }
        kinds.sort_unstable_by(|a, b| heavier(a.counted, b.counted).then(a.kind.cmp(&b.kind)));
        kinds
    }
}

fn cores(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let mut rows = Vec::new();
    for CoreKindRow { kind, counted, cores } in report.core_kinds(series) {
        rows.push(core_cells("kind", kind, None, counted, kind_text(kind, cores.len())));
        rows.extend(cores.into_iter().map(|(core, amount)| {
            let text = core.map_or("  no core recorded".to_owned(), |core| format!("  core {core}"));
            core_cells("core", kind, core, amount, text)
        }));
    }
    let notes = if report.recording.profile.sums().len() == 0 { Vec::new() } else { vec![SUMMED.to_owned()] };
    Listing::new(series.counted.weight, rows, notes)
}

fn plus(mut sum: Amount, amount: Amount) -> Amount {
    sum.add(amount.weight.value, amount.samples);
    sum
}

fn kind_text(kind: Option<&str>, cores: usize) -> String {
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    kind.map_or_else(|| "kind not recorded".to_owned(), |kind| format!("{kind}: {cores}"))
}

fn core_cells(level: &str, kind: Option<&str>, core: Option<u32>, amount: Amount, text: String) -> Vec<Cell> {
    vec![
        Cell::text(level),
        Cell::optional(kind),
        Cell::number(core.map(u64::from)),
        Cell::Weight(amount.weight.value),
        Cell::Number(amount.samples),
        Cell::Text(text),
    ]
}
