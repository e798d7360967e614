//! The callers and callees of a function, and the heaviest stack of each tree.

use super::labels::{ScopeParts, binary_of, function_of};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, Shown};
use super::{Report, ReportOptions, Scope, ScopeReport, SeriesReport};
use crate::calltree::{Draft, FunctionSet, Label, Node, Pruning, Sandwich};
use crate::profile::{FunctionId, Profile, StringId};
use crate::settings::MIN_PERCENT;
use crate::units::Weight;

pub(super) static SANDWICH: ListingKind = ListingKind::new(
    ["sandwich", "function"],
    &[
        Column::new("relation", "", ColumnRole::Label),
        Column::weight("weight", "{unit}"),
        Column::number("samples", "samples").shown(Shown::WhereWide),
        Column::new("function", "function", ColumnRole::Name),
        Column::new("binary", "", ColumnRole::Owner),
    ],
    RowLimits::None,
    sandwich,
);

/// The label for the caller of a thread's outermost function.
const OUTERMOST: &str = "[the thread itself]";

fn sandwich(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let name = report.options.function.as_deref().unwrap_or_default();
    let chosen = FunctionSet::of_names(profile, |other| other == name);
    let Sandwich { own, callers, callees, recursive: _ } =
        Sandwich::new(profile, report.weights.of_series(series.series), &chosen);
    let (pruning, top) = (&report.options.pruning, report.options.most_rows());
    let is_shown = |weight: u64| pruning.shows(weight, own.all_weight);
    let mut rows = Vec::new();
    let other = |relation: &str, id: Option<FunctionId>, weight: u64, samples: u64| {
        let function = id.map_or(OUTERMOST, |id| profile.function_name(id));
        relative(relation, weight, samples, function, id.and_then(|id| profile.binary_name(id)))
    };
    let shown_callers = callers.iter().take(top).filter(|caller| is_shown(caller.1));
    rows.extend(shown_callers.map(|&(id, weight, samples)| other("caller", id, weight, samples)));
    let binary = binaries(profile, &chosen);
    rows.push(relative("all", own.all_weight, own.all_samples, name, Some(&binary)));
    rows.push(relative("self", own.self_weight, own.self_samples, name, Some(&binary)));
    let shown_callees = callees.iter().take(top).filter(|callee| is_shown(callee.1));
    rows.extend(shown_callees.map(|&(id, weight, samples)| other("callee", Some(id), weight, samples)));
    let hidden = callers.len() + callees.len() + 2 - rows.len();
    let mut notes = Vec::new();
    if own.all_samples == 0 {
        notes.push(format!("no selected sample has {name:?} in its stack"));
    }
    notes.extend(lighter(report, hidden, ["caller or callee is", "callers and callees are"]));
    Listing::new(Weight::new(own.all_weight, series.unit), rows, notes)
}

fn relative(relation: &str, weight: u64, samples: u64, function: &str, binary: Option<&str>) -> Vec<Cell> {
    let binary = Cell::text(binary.unwrap_or_default());
    vec![Cell::text(relation), Cell::Weight(weight), Cell::Number(samples), Cell::Text(function.to_owned()), binary]
}

/// The binaries of the chosen functions. Functions in several binaries may have the same name.
fn binaries(profile: &Profile, chosen: &FunctionSet) -> String {
    let functions = profile.function_ids().filter(|&id| chosen.contains(id));
    let mut names: Vec<&str> = functions.filter_map(|id| profile.binary_name(id)).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

pub(super) static HEAVIEST: ListingKind = ListingKind::new(
    ["heaviest", "function"],
    &[
        Column::machine("process", ColumnRole::Label),
        Column::machine("pid", ColumnRole::Number),
        Column::machine("thread", ColumnRole::Label),
        Column::machine("tid", ColumnRole::Number),
        // Thread state or kind of core.
        Column::machine("part", ColumnRole::Label),
        // The owner of a stack, only in its first row.
        Column::new("whose", "", ColumnRole::Label).shown(Shown::Text),
        Column::machine("depth", ColumnRole::Number),
        Column::weight("all_weight", "total {unit}"),
        Column::weight("self_weight", "self {unit}").shown(Shown::WhereWide),
        Column::machine("samples", ColumnRole::Number),
        Column::new("function", "function", ColumnRole::Name),
        Column::new("binary", "", ColumnRole::Owner),
    ],
    RowLimits::None,
    heaviest_stacks,
);

fn heaviest_stacks(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let (scopes, notes) = heavy_scopes(report, series);
    let mut rows = Vec::new();
    let whole: Result<(), std::convert::Infallible> =
        report.walk_pruned_trees(series, scopes, &Pruning::default(), |scope, tree| {
            let owner = owner(profile, scope.scope);
            let nodes = heaviest(tree);
            rows.extend(nodes.iter().enumerate().map(|(place, node)| node_cells(profile, &owner, place == 0, node)));
            Ok(())
        });
    let Ok(()) = whole;
    Listing::new(series.counted.weight, rows, notes)
}

/// The trees within the limits, heaviest first and at least one, with a note about the others.
fn heavy_scopes<'s>(report: &Report<'_>, series: &'s SeriesReport) -> (&'s [ScopeReport], Vec<String>) {
    let (pruning, total) = (&report.options.pruning, series.counted.weight.value);
    let is_heavy = |scope: &&ScopeReport| pruning.shows(scope.counted.weight.value, total);
    let heavy = series.scopes.iter().filter(is_heavy).count().min(report.options.most_rows());
    let (shown, hidden) = series.scopes.split_at(heavy.max(1).min(series.scopes.len()));
    (shown, lighter(report, hidden.len(), ["stack is", "stacks are"]).into_iter().collect())
}

/// A note about hidden rows, if any.
fn lighter(report: &Report<'_>, hidden: usize, [one, several]: [&str; 2]) -> Option<String> {
    let ReportOptions { pruning: Pruning { min_percent, min_weight, .. }, top, .. } = report.options;
    let is_percent_only = min_percent > 0.0 && min_weight == 0 && top.is_none();
    let all = if is_percent_only { format!("; {MIN_PERCENT} 0 shows all") } else { String::new() };
    let what = if hidden == 1 { one } else { several };
    (hidden > 0).then(|| format!("{hidden} lighter {what} not shown{all}"))
}

/// The nodes below the root, each the heaviest child of the previous one.
fn heaviest(tree: &Draft) -> Vec<Node> {
    let (mut nodes, mut next_level) = (Vec::new(), 0);
    // The heaviest child is visited directly after its parent.
    let _: Result<(), ()> = tree.walk(|chain| {
        if chain.level < next_level {
            return Err(());
        }
        next_level = chain.level + 1;
        nodes.extend(chain.nodes().filter(|node| node.label != Label::Root));
        Ok(())
    });
    nodes
}

/// Process, pid, thread, tid, and the state or kind of core of a tree, where applicable.
fn owner(profile: &Profile, scope: Scope) -> [Cell; 5] {
    let ScopeParts { process, thread, part } = scope.parts(profile);
    let text = |text: Option<StringId>| text.map_or(Cell::Absent, |text| Cell::text(profile.string(text)));
    [
        text(process.map(|process| process.name)),
        Cell::number(process.and_then(|process| process.pid)),
        text(thread.map(|thread| thread.name)),
        Cell::number(thread.and_then(|thread| thread.tid)),
        text(part),
    ]
}

fn node_cells(profile: &Profile, owner: &[Cell; 5], is_first: bool, node: &Node) -> Vec<Cell> {
    let [process, _, thread, _, part] = owner;
    let whose = [thread, part, process].into_iter().find(|cell| **cell != Cell::Absent).filter(|_| is_first);
    let numbers = [
        Cell::Number(node.depth.into()),
        Cell::Weight(node.all_weight),
        Cell::Weight(node.self_weight),
        Cell::Number(node.all_samples),
    ];
    let whose = whose.cloned().unwrap_or(Cell::Absent);
    owner
        .iter()
        .cloned()
        .chain([whose])
        .chain(numbers)
        .chain([
            Cell::Text(function_of(profile, node.label).to_owned()),
            Cell::optional(binary_of(profile, node.label)),
        ])
        .collect()
}
