//! A function between its callers and its callees.

use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, Shown};
use super::{Report, SeriesReport};
use crate::calltree::FunctionSet;
use crate::calltree::Sandwich;
use crate::profile::{FunctionId, Profile};
use crate::units::Weight;

pub(super) static KIND: ListingKind = ListingKind::new(
    ["sandwich", "function"],
    &[
        Column::new("relation", "", ColumnRole::Label),
        Column::weight("weight", "{unit}"),
        Column::number("samples", "samples").shown(Shown::WhereWide),
        Column::new("function", "function", ColumnRole::Name),
        Column::new("binary", "", ColumnRole::Owner),
    ],
    RowLimits::None,
    make,
);

/// The caller of functions that nobody calls.
const OUTERMOST: &str = "[the thread itself]";

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let name = report.options.function.as_deref().unwrap_or_default();
    let chosen = FunctionSet::of_names(profile, |other| other == name);
    let Sandwich { own, callers, callees } = Sandwich::new(profile, report.weights.of_series(series.series), &chosen);
    let (pruning, top) = (&report.options.pruning, report.options.top.unwrap_or(usize::MAX));
    let is_shown = |weight: u64| pruning.shows(weight, own.all_weight);
    let mut rows = Vec::new();
    let shown_callers = callers.iter().take(top).filter(|caller| is_shown(caller.1));
    rows.extend(shown_callers.map(|&(id, weight, samples)| row("caller", weight, samples, named(profile, id))));
    let itself = (name.to_owned(), binaries(profile, &chosen));
    rows.push(row("all", own.all_weight, own.all_samples, itself.clone()));
    rows.push(row("self", own.self_weight, own.self_samples, itself));
    let shown_callees = callees.iter().take(top).filter(|callee| is_shown(callee.1));
    rows.extend(shown_callees.map(|&(id, weight, samples)| row("callee", weight, samples, named(profile, Some(id)))));
    let hidden = callers.len() + callees.len() + 2 - rows.len();
    let mut notes = Vec::new();
    if own.all_samples == 0 {
        notes.push(format!("no sample that counts has {name:?} in its stack"));
    }
    if hidden > 0 {
        notes.push(format!("{hidden} lighter callers and callees are not shown"));
    }
    Listing::new(Weight::new(own.all_weight, series.unit), rows, notes)
}

fn row(relation: &str, weight: u64, samples: u64, (function, binary): (String, String)) -> Vec<Cell> {
    vec![Cell::text(relation), Cell::Weight(weight), Cell::Number(samples), Cell::Text(function), Cell::text(&binary)]
}

/// Name and binary of a caller or callee.
fn named(profile: &Profile, function: Option<FunctionId>) -> (String, String) {
    match function {
        Some(id) => (profile.function_name(id).to_owned(), profile.binary_name(id).unwrap_or_default().to_owned()),
        None => (OUTERMOST.to_owned(), String::new()),
    }
}

/// Functions of one name may be of several binaries.
fn binaries(profile: &Profile, chosen: &FunctionSet) -> String {
    let functions = profile.function_ids().filter(|&id| chosen.contains(id));
    let mut names: Vec<&str> = functions.filter_map(|id| profile.binary_name(id)).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
