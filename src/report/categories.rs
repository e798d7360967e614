//! The weights of app code, the system, runtimes and the kernel, and the calls from app code into the others.

use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, NO_STACK, RowLimits, Shown};
use super::{Report, SeriesReport};
use crate::calltree::{CategoryRow, KeySums, TransitionRow, categories_of_stacks, transitions_of_stacks};
use crate::profile::Category;

pub(super) static KIND: ListingKind = ListingKind::new(
    ["categories", "category"],
    &[
        Column::weight("self_weight", "self {unit}"),
        Column::weight("all_weight", "all {unit}"),
        Column::machine("self_samples", ColumnRole::Number),
        Column::number("samples", "samples").shown(Shown::WhereWide),
        Column::new("category", "category", ColumnRole::Name),
    ],
    RowLimits::Weight,
    categories,
);

pub(super) static TRANSITIONS: ListingKind = ListingKind::new(
    ["transitions", "transition"],
    &[
        Column::weight("self_weight", "self {unit}"),
        Column::weight("all_weight", "all {unit}"),
        Column::machine("self_samples", ColumnRole::Number),
        Column::number("samples", "samples").shown(Shown::WhereWide),
        Column::new("category", "callee", ColumnRole::Label).shown(Shown::WhereWide),
        Column::new("call", "caller → callee", ColumnRole::Name).shown(Shown::Text),
        Column::machine("caller", ColumnRole::Name),
        Column::machine("caller_binary", ColumnRole::Label),
        Column::machine("callee", ColumnRole::Name),
        Column::new("callee_binary", "", ColumnRole::Owner),
    ],
    RowLimits::All,
    transitions,
);

fn categories(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let rows = categories_of_stacks(&report.recording.profile, report.weights.of_series(series.series));
    let cells = |row: &CategoryRow| {
        let name = row.category.map_or(NO_STACK, Category::name);
        numbers(&row.sums).into_iter().chain([Cell::text(name)]).collect()
    };
    Listing::new(series.counted.weight, rows.iter().map(cells).collect(), Vec::new())
}

fn transitions(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let rows = transitions_of_stacks(profile, report.weights.of_series(series.series));
    let cells = |row: &TransitionRow| {
        let (caller, callee) = (profile.function_name(row.caller), profile.function_name(row.callee));
        let binary = |function| Cell::text(profile.binary_name(function).unwrap_or_default());
        let names = [
            Cell::text(row.category.name()),
            Cell::Text(format!("{caller} → {callee}")),
            Cell::text(caller),
            binary(row.caller),
            Cell::text(callee),
            binary(row.callee),
        ];
        numbers(&row.sums).into_iter().chain(names).collect()
    };
    let notes = match rows.is_empty() {
        true => vec!["no calls from your code into other code".to_owned()],
        false => Vec::new(),
    };
    Listing::new(series.counted.weight, rows.iter().map(cells).collect(), notes)
}

/// The cells of the first four columns.
pub(super) fn numbers(sums: &KeySums) -> [Cell; 4] {
    [
        Cell::Weight(sums.self_weight),
        Cell::Weight(sums.all_weight),
        Cell::Number(sums.self_samples),
        Cell::Number(sums.all_samples),
    ]
}
