//! Tables of code: functions, binaries, categories, the calls between categories, and source lines. Programs that use the crate can also get
//! functions with names instead of ids.

use super::labels::{binary_of, function_of};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, NO_STACK, RowLimits, Shown};
use super::{Report, SeriesReport};
use crate::calltree::{
    CategoryRow, FunctionRow, KeySums, Label, LineRow, TransitionRow, categories_of_stacks, lines_of_stacks,
    sum_stacks_by_key, transitions_of_stacks,
};
use crate::hash::{HashMap, IndexMap};
use crate::profile::{Binary, BinaryId, Category, Profile, StringId};
use crate::settings::DSYM;
use crate::units::Uuid;
use crate::units::Weight;

pub(super) static FUNCTIONS: ListingKind = ListingKind::new(
    ["functions", "function"],
    &[
        Column::weight("self_weight", "self"),
        Column::weight("all_weight", "total {unit}"),
        Column::machine("self_samples", ColumnRole::Number),
        Column::number("samples", "samples").shown(Shown::WhereWide).at_least(8),
        Column::new("function", "function", ColumnRole::Name),
        Column::new("binary", "", ColumnRole::Owner),
    ],
    RowLimits::HeavyFirst,
    functions,
)
.csv(&["self_weight", "all_weight", "self_samples", "samples", "unit", "function", "binary"])
.json(&["function", "binary", "self_weight", "all_weight", "self_samples", "samples", "unit"]);

fn functions(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let cells = |row: &FunctionRow| {
        let label = row.label;
        let names = [Cell::Text(function_of(profile, label).to_owned()), Cell::optional(binary_of(profile, label))];
        numbers(&row.sums).into_iter().chain(names).collect()
    };
    Listing::new(series.counted.weight, series.all_functions().map(cells).collect(), Vec::new())
}

/// A function with its names, and its weights in the unit of its series. Serializes to the JSON row without the series index: `name` becomes
/// `function`, and `all_samples` becomes `samples`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamedFunction<'r> {
    /// The name; a hexadecimal address for unnamed code, and `None` for samples without a stack.
    #[cfg_attr(feature = "serde", serde(rename = "function", serialize_with = "label"))]
    pub name: Option<&'r str>,
    /// The name of the binary, if known.
    pub binary: Option<&'r str>,
    /// The unit of the weights: `ns`, `cycles`, `events` or `samples`.
    pub unit: &'static str,
    /// The weight of samples in which the function is the leaf.
    #[cfg_attr(feature = "serde", serde(serialize_with = "value"))]
    pub self_weight: Weight,
    /// The weight of samples with the function anywhere in their stack.
    #[cfg_attr(feature = "serde", serde(serialize_with = "value"))]
    pub all_weight: Weight,
    /// The number of samples in which the function is the leaf.
    pub self_samples: u64,
    /// The number of samples with the function anywhere in their stack.
    #[cfg_attr(feature = "serde", serde(rename = "samples"))]
    pub all_samples: u64,
}

#[cfg(feature = "serde")]
fn value<S: serde::Serializer>(weight: &Weight, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(weight.value)
}

#[cfg(feature = "serde")]
fn label<S: serde::Serializer>(name: &Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name.unwrap_or(super::NO_STACK))
}

impl<'e> Report<'e> {
    /// The label for code in no known binary.
    pub const NO_BINARY: &'static str = "[no known binary]";

    /// The functions of a series with their names, in the order of [`SeriesReport::functions`]. Empty unless the view is
    /// [`View::Functions`](super::View::Functions).
    pub fn named_functions<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = NamedFunction<'e>> + 'r {
        series.functions.iter().map(|row| self.named_function(series, row))
    }

    fn named_function(&self, series: &SeriesReport, row: &FunctionRow) -> NamedFunction<'e> {
        let profile = &self.recording.profile;
        let (name, binary) = match row.label {
            Label::Function(id) => (Some(profile.function_name(id)), profile.binary_name(id)),
            Label::NoStack | Label::Root => (None, None),
        };
        let KeySums { self_weight, all_weight, self_samples, all_samples } = row.sums;
        let [self_weight, all_weight] = [self_weight, all_weight].map(|weight| Weight::new(weight, series.unit));
        NamedFunction { name, binary, unit: series.unit.name(), self_weight, all_weight, self_samples, all_samples }
    }
}

pub(super) static BINARIES: ListingKind = ListingKind::new(
    ["binaries", "binary"],
    &[
        Column::weight("self_weight", "self {unit}"),
        Column::weight("all_weight", "total {unit}"),
        Column::machine("self_samples", ColumnRole::Number),
        Column::number("samples", "samples").shown(Shown::WhereWide),
        Column::new("binary", "binary", ColumnRole::Name),
        Column::machine("uuid", ColumnRole::Label),
        Column::machine("arch", ColumnRole::Label),
        Column::machine("load_address", ColumnRole::Label),
        Column::new("path", "", ColumnRole::Owner),
    ],
    RowLimits::All,
    binaries,
);

fn binaries(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let rows = report.binaries(series).into_iter().map(|row| {
        let cells = match row.binaries.as_slice() {
            [] => [Cell::text(row.name), Cell::Absent, Cell::Absent, Cell::Absent, Cell::Absent],
            binaries => binary_cells(profile, binaries),
        };
        numbers(&row.sums).into_iter().chain(cells).collect()
    });
    Listing::new(series.counted.weight, rows.collect(), Vec::new())
}

/// The weights of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BinaryRow<'e> {
    /// The binary's name, or a label for frames in no known binary and for samples without a stack.
    pub name: &'e str,
    /// The binary at each of its load addresses; empty for code in no known binary and for samples without a stack.
    pub binaries: Vec<BinaryId>,
    /// The weights of the binary. A sample is counted once, even if several of its frames are in the binary.
    pub sums: KeySums,
}

impl<'e> Report<'e> {
    /// The binaries of a series, sorted by self weight, then all weight, then name.
    pub fn binaries(&self, series: &SeriesReport) -> Vec<BinaryRow<'e>> {
        let profile = &self.recording.profile;
        let keys = Keys::new(profile);
        let of_binary = |binary: Option<BinaryId>| binary.map_or(keys.binaries.len(), |id| keys.of_binary[id.index()]);
        let key_of_frame: Vec<usize> = profile.frame_ids().map(|id| of_binary(profile.frame(id).binary)).collect();
        let (mut sums, no_stack) =
            sum_stacks_by_key(profile, self.stacks(series), &key_of_frame, keys.binaries.len() + 1);
        let outside = sums.pop().unwrap_or_default();
        let name = |binaries: &[BinaryId]| profile.string(profile.binary(binaries[0]).name);
        let known = keys.binaries.into_iter().zip(sums);
        let known = known.map(|(binaries, sums)| BinaryRow { name: name(&binaries), binaries, sums });
        let unknown = [(Self::NO_BINARY, outside), (NO_STACK, no_stack)];
        let unknown = unknown.map(|(name, sums)| BinaryRow { name, binaries: Vec::new(), sums });
        let mut rows: Vec<BinaryRow<'e>> = known.chain(unknown).filter(|row| row.sums.all_samples > 0).collect();
        // A stable sort keeps the order of first appearance for binaries with equal weights and names.
        rows.sort_by_key(|row| (row.sums.heaviest_first(), row.name));
        rows
    }
}

/// What identifies a binary: its UUID, regardless of the load address, or else its name and path.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    Uuid(Uuid),
    Names(StringId, StringId),
}

/// The binaries grouped by identity.
struct Keys {
    /// By key: the binaries with this identity.
    binaries: Vec<Vec<BinaryId>>,
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

/// Name, UUID, architecture, load address and path. There is no load address if there are several.
fn binary_cells(profile: &Profile, same: &[BinaryId]) -> [Cell; 5] {
    let binary = profile.binary(same[0]);
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

pub(super) static CATEGORIES: ListingKind = ListingKind::new(
    ["categories", "category"],
    &[
        Column::weight("self_weight", "self {unit}"),
        Column::weight("all_weight", "total {unit}"),
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
        Column::weight("all_weight", "total {unit}"),
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
    let rows = report.categories(series);
    let cells = |row: &CategoryRow| {
        let name = row.category.map_or(NO_STACK, Category::name);
        numbers(&row.sums).into_iter().chain([Cell::text(name)]).collect()
    };
    Listing::new(series.counted.weight, rows.iter().map(cells).collect(), Vec::new())
}

fn transitions(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let rows = report.transitions(series);
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

impl Report<'_> {
    /// The categories of code, in the order of [`Category::ALL`], followed by samples without a stack.
    pub fn categories(&self, series: &SeriesReport) -> Vec<CategoryRow> {
        categories_of_stacks(&self.recording.profile, self.stacks(series))
    }

    /// The calls from app code into other code, sorted by self weight, then all weight, then caller and callee.
    pub fn transitions(&self, series: &SeriesReport) -> Vec<TransitionRow> {
        transitions_of_stacks(&self.recording.profile, self.stacks(series))
    }

    /// The lines, sorted by self weight, then all weight, then path and line, then function.
    pub fn lines(&self, series: &SeriesReport) -> Vec<LineRow> {
        lines_of_stacks(&self.recording.profile, self.stacks(series))
    }
}

/// The cells of the four columns for weights and samples.
fn numbers(sums: &KeySums) -> [Cell; 4] {
    [
        Cell::Weight(sums.self_weight),
        Cell::Weight(sums.all_weight),
        Cell::Number(sums.self_samples),
        Cell::Number(sums.all_samples),
    ]
}

pub(super) static LINES: ListingKind = ListingKind::new(
    ["lines", "line"],
    &[
        Column::weight("self_weight", "self {unit}"),
        Column::weight("all_weight", "total {unit}"),
        Column::machine("self_samples", ColumnRole::Number),
        Column::number("samples", "samples").shown(Shown::WhereWide),
        Column::new("place", "line", ColumnRole::Name).shown(Shown::Text),
        Column::new("of", "", ColumnRole::Owner).shown(Shown::Text),
        Column::machine("path", ColumnRole::Name),
        Column::machine("line", ColumnRole::Number),
        Column::machine("function", ColumnRole::Name),
        Column::machine("binary", ColumnRole::Owner),
    ],
    RowLimits::All,
    lines,
);

fn lines(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let rows = report.lines(series);
    let has_lines = rows.iter().any(|row| row.source.is_some_and(|source| source.line > 0));
    let mut notes = Vec::new();
    if !has_lines && !rows.is_empty() {
        notes.push(format!("no frame here has a source line, so these are functions; {DSYM} adds lines"));
    }
    let names = short_names(profile, rows.iter().filter_map(|row| row.source).map(|source| source.path));
    let cells = rows.iter().map(|row| {
        let texts = line_texts(profile, row, &names, has_lines);
        numbers(&row.sums).into_iter().chain(texts).collect()
    });
    Listing::new(series.counted.weight, cells.collect(), notes)
}

/// The strings of a row: place and owner in text output; path, line, function and binary in other formats.
fn line_texts(profile: &Profile, row: &LineRow, names: &HashMap<StringId, String>, has_lines: bool) -> [Cell; 6] {
    let (function, binary) = (function_of(profile, row.label), binary_of(profile, row.label).unwrap_or_default());
    let path = row.source.map(|source| source.path);
    let line = row.source.map(|source| source.line).filter(|&line| line > 0);
    let name = path.and_then(|path| names.get(&path)).map_or("", String::as_str);
    let (place, of) = match (line, name) {
        (Some(line), name) => (format!("{name}:{line}"), function.to_owned()),
        (None, _) if !has_lines || row.label == Label::NoStack => (function.to_owned(), binary.to_owned()),
        (None, "") => (function.to_owned(), "no line".to_owned()),
        (None, name) => (function.to_owned(), format!("no line, in {name}")),
    };
    [
        Cell::Text(place),
        Cell::text(&of),
        Cell::text(path.map_or("", |path| profile.string(path))),
        Cell::number(line.map(u64::from)),
        Cell::text(function),
        Cell::text(binary),
    ]
}

/// By path: its shortest suffix that no other path has.
fn short_names(profile: &Profile, paths: impl Iterator<Item = StringId>) -> HashMap<StringId, String> {
    let mut open: Vec<StringId> = paths.collect();
    open.sort_unstable();
    open.dedup();
    let mut names = HashMap::default();
    for count in 1.. {
        let mut used: HashMap<&str, u32> = HashMap::default();
        for &path in &open {
            *used.entry(last_components(profile.string(path), count)).or_default() += 1;
        }
        let is_told = |path: &str| used.get(last_components(path, count)) == Some(&1);
        let is_whole = |path: &str| last_components(path, count).len() == path.len();
        let (told, left): (Vec<StringId>, Vec<StringId>) =
            open.iter().partition(|&&path| is_told(profile.string(path)) || is_whole(profile.string(path)));
        names.extend(told.iter().map(|&path| (path, last_components(profile.string(path), count).to_owned())));
        if left.is_empty() {
            break;
        }
        open = left;
    }
    names
}

/// The last `count` components of a path.
fn last_components(path: &str, count: usize) -> &str {
    path.rmatch_indices('/').nth(count - 1).map_or(path, |(at, _)| &path[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileBuilder;

    #[test]
    fn shortens_paths_but_keeps_them_distinct() {
        let mut builder = ProfileBuilder::new();
        let paths = ["/a/x/mod.rs", "/b/x/mod.rs", "/b/y/mod.rs", "/b/lib.rs", "main.c", "/main.c"];
        let ids: Vec<StringId> = paths.iter().map(|path| builder.string(path).unwrap()).collect();
        let profile = builder.finish();
        let names = short_names(&profile, ids.iter().copied().chain([ids[0]]));
        let names: Vec<&str> = ids.iter().map(|id| names[id].as_str()).collect();
        assert_eq!(names, ["a/x/mod.rs", "b/x/mod.rs", "y/mod.rs", "lib.rs", "main.c", "/main.c"]);
    }
}
