//! The heaviest stack of each tree: from the root on, the heaviest child of each node.

use super::labels::{ScopeParts, binary_of, function_of};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, Shown};
use super::{Report, Scope, ScopeReport, SeriesReport};
use crate::calltree::{Draft, Label, Node, Pruning};
use crate::profile::{Profile, StringId};

pub(super) static KIND: ListingKind = ListingKind::new(
    ["heaviest", "function"],
    &[
        Column::machine("process", ColumnRole::Label),
        Column::machine("pid", ColumnRole::Number),
        Column::machine("thread", ColumnRole::Label),
        Column::machine("tid", ColumnRole::Number),
        // The thread state or the kind of core.
        Column::machine("part", ColumnRole::Label),
        // The owner of a stack, which is shown only in its first row.
        Column::new("whose", "", ColumnRole::Label).shown(Shown::Text),
        Column::machine("depth", ColumnRole::Number),
        Column::weight("all_weight", "all {unit}"),
        Column::weight("self_weight", "self {unit}").shown(Shown::WhereWide),
        Column::machine("samples", ColumnRole::Number),
        Column::new("function", "function", ColumnRole::Name),
        Column::new("binary", "", ColumnRole::Owner),
    ],
    RowLimits::None,
    make,
);

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let (scopes, notes) = heavy_scopes(report, series);
    let mut rows = Vec::new();
    let whole: Result<(), std::convert::Infallible> =
        report.walk_pruned_trees(series, scopes, &Pruning::default(), |scope, tree| {
            let owner = owner(profile, scope.scope);
            let nodes = heaviest(tree);
            rows.extend(nodes.iter().enumerate().map(|(place, node)| row(profile, &owner, place == 0, node)));
            Ok(())
        });
    let Ok(()) = whole;
    Listing::new(series.counted.weight, rows, notes)
}

/// The trees that the limits leave, at least one, and a note on the others. The heaviest come first.
fn heavy_scopes<'s>(report: &Report<'_>, series: &'s SeriesReport) -> (&'s [ScopeReport], Vec<String>) {
    let (pruning, total) = (&report.options.pruning, series.counted.weight.value);
    let is_heavy = |scope: &&ScopeReport| pruning.shows(scope.counted.weight.value, total);
    let heavy = series.scopes.iter().filter(is_heavy).count().min(report.options.top.unwrap_or(usize::MAX));
    let (shown, hidden) = series.scopes.split_at(heavy.max(1).min(series.scopes.len()));
    let notes =
        if hidden.is_empty() { Vec::new() } else { vec![format!("{} lighter ones are not shown", hidden.len())] };
    (shown, notes)
}

/// The nodes below the root, each of them the heaviest child of the one before.
fn heaviest(tree: &Draft) -> Vec<Node> {
    let (mut nodes, mut next_level) = (Vec::new(), 0);
    // The heaviest child is visited right after its parent.
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

/// Process, pid, thread, tid, and state or kind of core of a tree, as far as they apply.
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

fn row(profile: &Profile, owner: &[Cell; 5], is_first: bool, node: &Node) -> Vec<Cell> {
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
