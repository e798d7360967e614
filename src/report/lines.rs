//! The weights of source lines.

use super::categories::numbers;
use super::labels::{binary_of, function_of};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, Shown};
use super::{Report, SeriesReport};
use crate::calltree::{Label, LineRow, lines_of_stacks};
use crate::hash::HashMap;
use crate::profile::{Profile, StringId};

pub(super) static KIND: ListingKind = ListingKind::new(
    ["lines", "line"],
    &[
        Column::weight("self_weight", "self {unit}"),
        Column::weight("all_weight", "all {unit}"),
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
    make,
);

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let rows = lines_of_stacks(profile, report.weights.of_series(series.series));
    let has_lines = rows.iter().any(|row| row.source.is_some_and(|source| source.line > 0));
    let mut notes = Vec::new();
    if !has_lines && !rows.is_empty() {
        notes.push("no frame here has a source line, so these are functions; --dsym adds lines".to_owned());
    }
    let names = short_names(profile, rows.iter().filter_map(|row| row.source).map(|source| source.path));
    let cells = rows.iter().map(|row| {
        let texts = texts(profile, row, &names, has_lines);
        numbers(&row.sums).into_iter().chain(texts).collect()
    });
    Listing::new(series.counted.weight, cells.collect(), notes)
}

/// The names in a row: place and owner for text; path, line, function and binary for other formats.
fn texts(profile: &Profile, row: &LineRow, names: &HashMap<StringId, String>, has_lines: bool) -> [Cell; 6] {
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

/// By path: the shortest suffix of components that distinguishes it from the other paths.
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

/// The end of a path from its `count`th last component on.
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
