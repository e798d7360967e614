//! The weights of threads in each state, whether the state counts or not.

use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits};
use super::{Report, SeriesReport};
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
    // Weight, samples, and whether they count.
    let mut states: HashMap<Option<StringId>, (u64, u64, bool)> = HashMap::default();
    let is_here = |sum: &SampleSum| sum.series == series.series && every.is_in_scope(*sum);
    for sum in profile.sums_or_samples().filter(is_here) {
        let (weight, samples, is_counted) = states.entry(sum.state).or_default();
        *weight += options.metric.of(sum);
        *samples += sum.samples;
        *is_counted = counted.is_state_counted(sum);
    }
    let name = |state: Option<StringId>| state.map_or("", |state| profile.string(state));
    let mut states: Vec<_> = states.into_iter().collect();
    states.sort_unstable_by(|(a, (weight_a, samples_a, _)), (b, (weight_b, samples_b, _))| {
        (weight_b, samples_b).cmp(&(weight_a, samples_a)).then_with(|| name(*a).cmp(name(*b)))
    });
    let total = states.iter().map(|(_, (weight, _, _))| weight).sum();
    let rows = states.into_iter().map(|(state, (weight, samples, is_counted))| {
        vec![
            Cell::optional(state.map(|state| profile.string(state))),
            Cell::Flag(is_counted),
            Cell::Number(samples),
            Cell::Weight(weight),
        ]
    });
    Listing::new(Weight::new(total, series.unit), rows.collect(), Vec::new())
}
