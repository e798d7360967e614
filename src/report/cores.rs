//! The samples of each core, and of each kind of core.

use super::build::heavier;
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, SUMMED, Shown};
use super::{Amount, Report, SeriesReport};
use crate::hash::HashMap;
use crate::profile::{Core, Profile};

pub(super) static KIND: ListingKind = ListingKind::new(
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
    make,
);

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let (profile, options) = (&report.recording.profile, &report.options);
    let nothing = Amount::none(series.unit);
    let mut cores: HashMap<Option<Core>, Amount> = HashMap::default();
    for sample in options.selection.on(profile).iter().filter(|sample| sample.series == series.series) {
        let core = sample.core.map(|core| *profile.core(core));
        let amount = cores.entry(core).or_insert(nothing);
        amount.add(options.metric.of(sample), 1);
    }
    let mut rows = Vec::new();
    for (kind, cores) in kinds(profile, cores) {
        let sum = cores.iter().fold(nothing, |sum, &(_, amount)| plus(sum, amount));
        rows.push(cells("kind", kind, None, sum, kind_text(kind, cores.len())));
        rows.extend(cores.into_iter().map(|(core, amount)| {
            let text = core.map_or("  no core recorded".to_owned(), |core| format!("  core {core}"));
            cells("core", kind, core, amount, text)
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

fn cells(level: &str, kind: Option<&str>, core: Option<u32>, amount: Amount, text: String) -> Vec<Cell> {
    vec![
        Cell::text(level),
        Cell::optional(kind),
        Cell::number(core.map(u64::from)),
        Cell::Weight(amount.weight.value),
        Cell::Number(amount.samples),
        Cell::Text(text),
    ]
}
