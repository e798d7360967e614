//! The weights of threads in each state, whether the state counts or not.

use super::build::heavier;
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits};
use super::{Amount, Report, SeriesReport};
use crate::hash::HashMap;
use crate::profile::{SampleSum, Selection, StateFilter, StringId};
use crate::units::Weight;

pub(super) static KIND: ListingKind = ListingKind::new(
    ["states", "state"],
    &[
        Column::new("state", "state", ColumnRole::Name),
        Column::new("counted", "counts", ColumnRole::Label),
        Column::number("samples", "samples"),
        Column::weight("all_weight", "{unit}"),
    ],
    RowLimits::Ordered,
    make,
);

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
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
