//! A function between its callers and its callees.

use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, Shown};
use super::{Report, SeriesReport};
use crate::calltree::{FunctionSet, Sandwich};
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

/// The caller of functions at the start of a thread.
const OUTERMOST: &str = "[the thread itself]";

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let name = report.options.function.as_deref().unwrap_or_default();
    let chosen = FunctionSet::of_names(profile, |other| other == name);
    let Sandwich { own, callers, callees } = Sandwich::new(profile, report.weights.of_series(series.series), &chosen);
    let (pruning, top) = (&report.options.pruning, report.options.top.unwrap_or(usize::MAX));
    let is_shown = |weight: u64| pruning.shows(weight, own.all_weight);
    let mut rows = Vec::new();
    let other = |relation: &str, id: Option<FunctionId>, weight: u64, samples: u64| {
        let function = id.map_or(OUTERMOST, |id| profile.function_name(id));
        row(relation, weight, samples, function, id.and_then(|id| profile.binary_name(id)))
    };
    let shown_callers = callers.iter().take(top).filter(|caller| is_shown(caller.1));
    rows.extend(shown_callers.map(|&(id, weight, samples)| other("caller", id, weight, samples)));
    let binary = binaries(profile, &chosen);
    rows.push(row("all", own.all_weight, own.all_samples, name, Some(&binary)));
    rows.push(row("self", own.self_weight, own.self_samples, name, Some(&binary)));
    let shown_callees = callees.iter().take(top).filter(|callee| is_shown(callee.1));
    rows.extend(shown_callees.map(|&(id, weight, samples)| other("callee", Some(id), weight, samples)));
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

fn row(relation: &str, weight: u64, samples: u64, function: &str, binary: Option<&str>) -> Vec<Cell> {
    let binary = Cell::text(binary.unwrap_or_default());
    vec![Cell::text(relation), Cell::Weight(weight), Cell::Number(samples), Cell::Text(function.to_owned()), binary]
}

/// Functions with the same name may be in several binaries.
fn binaries(profile: &Profile, chosen: &FunctionSet) -> String {
    let functions = profile.function_ids().filter(|&id| chosen.contains(id));
    let mut names: Vec<&str> = functions.filter_map(|id| profile.binary_name(id)).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
