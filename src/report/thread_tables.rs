//! The weights of threads, processes, thread states, and cores.

use super::build::{heavier, order};
use super::labels::{process_label, thread_label};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, SUMMED, Shown};
use super::{Amount, Report, Scope, SeriesReport, ThreadReport};
use crate::hash::HashMap;
use crate::profile::{Core, ProcessId, Profile, SampleSum, Selection, StateFilter, StringId};
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
    Listing::new(series.counted.weight, series.threads.iter().map(cells).collect(), Vec::new())
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

fn processes(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let nothing = Amount::none(series.unit);
    let mut processes: HashMap<ProcessId, (Amount, u64)> = HashMap::default();
    for row in &series.threads {
        let process = profile.thread(row.thread).process;
        let (amount, threads) = processes.entry(process).or_insert((nothing, 0));
        amount.add(row.counted.weight.value, row.counted.samples);
        *threads += 1;
    }
    let mut processes: Vec<(ProcessId, (Amount, u64))> = processes.into_iter().collect();
    let order = |id: ProcessId| order(profile, Scope::Process(id));
    processes.sort_unstable_by(|a, b| heavier(a.1.0, b.1.0).then_with(|| order(a.0).cmp(&order(b.0))));
    let rows = processes.into_iter().map(|(id, (amount, threads))| {
        let process = profile.process(id);
        vec![
            Cell::number(process.pid),
            Cell::Text(profile.string(process.name).to_owned()),
            Cell::Weight(amount.weight.value),
            Cell::Number(amount.samples),
            Cell::Number(threads),
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

fn states(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let (profile, options) = (&report.recording.profile, &report.options);
    let counted = options.selection.on(profile);
    let every = Selection { states: StateFilter::All, ..options.selection.clone() }.on(profile);
    // By state: its samples, and whether it is selected.
    let mut states: HashMap<Option<StringId>, (Amount, bool)> = HashMap::default();
    let is_here = |sum: &SampleSum| sum.series == series.series && every.is_in_scope(*sum);
    for sum in profile.sums_or_samples().filter(is_here) {
        let state = states.entry(sum.state).or_insert((Amount::none(series.unit), counted.is_state_counted(sum)));
        state.0.add(options.metric.of(sum), sum.samples);
    }
    let name = |state: Option<StringId>| state.map_or("", |state| profile.string(state));
    let mut states: Vec<_> = states.into_iter().collect();
    states.sort_unstable_by(|(a, (amount_a, _)), (b, (amount_b, _))| {
        heavier(*amount_a, *amount_b).then_with(|| name(*a).cmp(name(*b)))
    });
    let total = states.iter().map(|(_, (amount, _))| amount.weight.value).sum();
    let rows = states.into_iter().map(|(state, (amount, is_counted))| {
        vec![
            Cell::optional(state.map(|state| profile.string(state))),
            Cell::Flag(is_counted),
            Cell::Number(amount.samples),
            Cell::Weight(amount.weight.value),
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

fn cores(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let (profile, options) = (&report.recording.profile, &report.options);
    let nothing = Amount::none(series.unit);
    let mut cores: HashMap<Option<Core>, Amount> = HashMap::default();
    for sample in options.selection.on(profile).iter().filter(|sample| sample.series == series.series) {
        let core = sample.core.map(|core| *profile.core(core));
        let amount = cores.entry(core).or_insert(nothing);
        amount.add(options.metric.of(sample), sample.samples.into());
    }
    let mut rows = Vec::new();
    for (kind, cores) in kinds(profile, cores) {
        let sum = cores.iter().fold(nothing, |sum, &(_, amount)| plus(sum, amount));
        rows.push(core_cells("kind", kind, None, sum, kind_text(kind, cores.len())));
        rows.extend(cores.into_iter().map(|(core, amount)| {
            let text = core.map_or("  no core recorded".to_owned(), |core| format!("  core {core}"));
            core_cells("core", kind, core, amount, text)
        }));
    }
    let notes = if profile.sums().len() == 0 { Vec::new() } else { vec![SUMMED.to_owned()] };
    Listing::new(series.counted.weight, rows, notes)
}

/// The samples of a core, by its number, or of no core.
type OfCore = (Option<u32>, Amount);

/// The kinds, heaviest first, with their cores in the order of their numbers.
fn kinds(profile: &Profile, cores: HashMap<Option<Core>, Amount>) -> Vec<(Option<&str>, Vec<OfCore>)> {
    let mut kinds: HashMap<Option<&str>, Vec<OfCore>> = HashMap::default();
    for (core, amount) in cores {
        let kind = core.and_then(|core| core.kind).map(|kind| profile.string(kind));
        kinds.entry(kind).or_default().push((core.map(|core| core.index), amount));
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    for (_, cores) in &mut kinds {
        cores.sort_unstable_by_key(|&(core, amount)| (core.is_none(), core, amount.samples));
    }
    let total = |cores: &[OfCore]| cores.iter().map(|&(_, amount)| amount).reduce(plus);
    kinds.sort_unstable_by(|(kind_a, a), (kind_b, b)| match (total(a), total(b)) {
        (Some(a), Some(b)) => heavier(a, b).then(kind_a.cmp(kind_b)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    kinds
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
