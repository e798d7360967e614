//! The weights of binaries.

use std::cmp::Reverse;

use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, NO_STACK, RowLimits, Shown};
use super::{Report, SeriesReport};
use crate::calltree::{KeySums, sum_stacks_by_key};
use crate::hash::IndexMap;
use crate::profile::{Binary, BinaryId, Profile, StringId};
use crate::units::Uuid;

pub(super) static KIND: ListingKind = ListingKind::new(
    ["binaries", "binary"],
    &[
        Column::weight("self_weight", "self {unit}"),
        Column::weight("all_weight", "all {unit}"),
        Column::machine("self_samples", ColumnRole::Number),
        Column::number("samples", "samples").shown(Shown::WhereWide),
        Column::new("binary", "binary", ColumnRole::Name),
        Column::machine("uuid", ColumnRole::Label),
        Column::machine("arch", ColumnRole::Label),
        Column::machine("load_address", ColumnRole::Label),
        Column::new("path", "", ColumnRole::Owner),
    ],
    RowLimits::All,
    make,
);

/// Frames outside every known binary.
const NO_BINARY: &str = "[no known binary]";
fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let keys = Keys::new(profile);
    let of_binary = |binary: Option<BinaryId>| binary.map_or(keys.binaries.len(), |id| keys.of_binary[id.index()]);
    let key_of_frame: Vec<usize> = profile.frame_ids().map(|id| of_binary(profile.frame(id).binary)).collect();
    let weights = report.weights.of_series(series.series);
    let jobs = report.options.jobs;
    let (mut sums, no_stack) = sum_stacks_by_key(profile, weights, &key_of_frame, keys.binaries.len() + 1, jobs);
    let outside = sums.pop().unwrap_or_default();
    let known = keys.binaries.iter().zip(sums).map(|(same, sums)| (cells(profile, same), sums));
    let unknown = [(NO_BINARY, outside), (NO_STACK, no_stack)].map(|(name, sums)| (unknown_cells(name), sums));
    let rows = known.chain(unknown).filter(|(_, sums)| sums.all_samples > 0);
    let mut rows: Vec<([Cell; 5], KeySums)> = rows.collect();
    // Binaries with equal weights and names stay in the order of their first appearance.
    let name = |cells: &[Cell; 5]| if let Cell::Text(name) = &cells[0] { name.clone() } else { String::new() };
    rows.sort_by_cached_key(|(cells, sums)| (Reverse((sums.self_weight, sums.all_weight)), name(cells)));
    let rows = rows.into_iter().map(|(cells, sums)| {
        let numbers = [
            Cell::Weight(sums.self_weight),
            Cell::Weight(sums.all_weight),
            Cell::Number(sums.self_samples),
            Cell::Number(sums.all_samples),
        ];
        numbers.into_iter().chain(cells).collect()
    });
    Listing::new(series.counted.weight, rows.collect(), Vec::new())
}

/// The key for binaries that are counted as one: the UUID, regardless of the load address. Without a UUID, it is the name and path.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    Uuid(Uuid),
    Names(StringId, StringId),
}

/// The binaries grouped by identity.
struct Keys {
    /// By key: the binaries that are one.
    binaries: Vec<Vec<BinaryId>>,
    /// By binary: its key.
    of_binary: Vec<usize>,
}

impl Keys {
    fn new(profile: &Profile) -> Self {
        let mut binaries: IndexMap<Identity, Vec<BinaryId>> = IndexMap::default();
        let of_binary = profile.binary_ids().map(|id| {
            let Binary { uuid, name, path, .. } = *profile.binary(id);
            let entry = binaries.entry(uuid.map_or(Identity::Names(name, path), Identity::Uuid));
            let key = entry.index();
            entry.or_default().push(id);
            key
        });
        let of_binary = of_binary.collect();
        Self { binaries: binaries.into_values().collect(), of_binary }
    }
}

/// Name, UUID, architecture, load address and path. The load address is absent if there are several.
fn cells(profile: &Profile, same: &[BinaryId]) -> [Cell; 5] {
    let Some(&first) = same.first() else { return unknown_cells(NO_BINARY) };
    let binary = profile.binary(first);
    let address = binary.load_address;
    let is_one = same.iter().all(|&id| profile.binary(id).load_address == address);
    let text = |text: Option<String>| text.map_or(Cell::Absent, Cell::Text);
    [
        Cell::Text(profile.string(binary.name).to_owned()),
        text(binary.uuid.map(|uuid| uuid.to_string())),
        text(binary.arch.map(|arch| profile.string(arch).to_owned())),
        text(is_one.then(|| address.to_string())),
        Cell::text(profile.string(binary.path)),
    ]
}

fn unknown_cells(name: &str) -> [Cell; 5] {
    [Cell::text(name), Cell::Absent, Cell::Absent, Cell::Absent, Cell::Absent]
}
