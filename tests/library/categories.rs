//! Categories, transitions and lines of random recordings, compared with slow implementations that read the stack of
//! each sample from the root.

use std::collections::{BTreeMap, BTreeSet};

use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::calltree::{KeySums, Label};
use traceparse::profile::{Category, Frame, Function, Id, Profile, Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{Report, ReportOptions, SeriesReport};

/// Paths of binaries, and the category that each gives.
const PLACES: [(&str, Category); 5] = [
    ("/Applications/Orchard.app/Contents/MacOS/Orchard", Category::User),
    ("/System/Library/Frameworks/Grove.framework/Versions/A/Grove", Category::System),
    ("/usr/lib/swift/libswiftCore.dylib", Category::Runtime),
    ("/System/Library/Kernels/kernel.release.t6000", Category::Kernel),
    ("/Users/ada/build/liborchard.dylib", Category::User),
];

/// A recording whose images are in these places, by their UUID: several processes load the same files.
fn recording(seed: u64) -> support::Invented {
    let mut recording = support::Invented::random(seed, &Size { rows: 80, inlined: true, ..Size::small() });
    for image in &mut recording.images {
        let place = usize::from_str_radix(&image.uuid[..2], 16).unwrap() + seed as usize;
        image.path = PLACES[place % PLACES.len()].0.to_owned();
    }
    recording
}

fn open(seed: u64) -> Recording {
    let (recording, shape) = (recording(seed), Shape::ALL[seed as usize % Shape::ALL.len()]);
    let xml = render(&recording, &RenderOptions::new(shape, Table::TimeProfile, &recording));
    read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
}

/// Calls `check` for each series of 400 recordings.
fn each_series(mut check: impl FnMut(&Report<'_>, &SeriesReport)) {
    let selection = Selection { states: StateFilter::All, ..Selection::default() };
    let options = ReportOptions { selection, ..ReportOptions::default() };
    for seed in 0..400 {
        let recording = open(seed);
        let report = recording.report(&options);
        assert!(!report.series.is_empty(), "seed {seed}");
        report.series.iter().for_each(|series| check(&report, series));
    }
}

/// The category of a frame, by the path of its binary.
fn category(profile: &Profile, frame: &Frame) -> Category {
    let path = frame.binary.map_or("", |binary| profile.string(profile.binary(binary).path));
    PLACES.iter().find(|place| place.0 == path).map_or(Category::Unknown, |place| place.1)
}

/// The weights of samples by a key of them: self weight, all weight, and the number of samples for each.
type Sums<K> = BTreeMap<K, [u64; 4]>;

/// Counts a sample at the key it has itself, and once at each that it has anywhere.
fn count<K: Ord>(sums: &mut Sums<K>, weight: u64, own: Option<K>, all: BTreeSet<K>) {
    if let Some(key) = own {
        let sums = sums.entry(key).or_default();
        (sums[0], sums[2]) = (sums[0] + weight, sums[2] + 1);
    }
    for key in all {
        let sums = sums.entry(key).or_default();
        (sums[1], sums[3]) = (sums[1] + weight, sums[3] + 1);
    }
}

fn values(sums: &KeySums) -> [u64; 4] {
    [sums.self_weight, sums.all_weight, sums.self_samples, sums.all_samples]
}

/// The frames of each sample of a series, from the root, with its weight.
fn stacks<'p>(profile: &'p Profile, series: &SeriesReport) -> impl Iterator<Item = (u64, Vec<&'p Frame>)> {
    profile.samples().iter().filter(|sample| sample.series == series.series).map(|sample| {
        let mut frames: Vec<&Frame> = profile.frames_leaf_first(sample.stack).collect();
        frames.reverse();
        (sample.weight, frames)
    })
}

#[test]
fn categories_are_sums_over_samples() {
    let mut seen = BTreeSet::new();
    each_series(|report, series| {
        let profile = &report.recording.profile;
        let mut expected = Sums::new();
        for (weight, frames) in stacks(profile, series) {
            let of = |frame: &&Frame| Some(category(profile, frame));
            // Samples without a stack have no category.
            let leaf = frames.last().and_then(of);
            let all = if frames.is_empty() { BTreeSet::from([None]) } else { frames.iter().map(of).collect() };
            count(&mut expected, weight, Some(leaf), all);
        }
        let rows = report.categories(series);
        let found: Sums<_> = rows.iter().map(|row| (row.category, values(&row.sums))).collect();
        assert_eq!(found, expected);
        assert_eq!(rows.iter().map(|row| row.sums.self_weight).sum::<u64>(), series.counted.weight.value);
        let order: Vec<usize> = rows.iter().map(|row| row.category.map_or(5, |category| category as usize)).collect();
        assert!(order.is_sorted(), "in the order of categories: {order:?}");
        seen.extend(found.into_keys());
    });
    assert_eq!(seen.len(), 6, "every category, and no stack: {seen:?}");
}

#[test]
fn transitions_are_sums_over_samples() {
    let (mut rows_seen, mut recursions) = (0, 0);
    each_series(|report, series| {
        let profile = &report.recording.profile;
        let mut expected: Sums<(Id<Function>, Id<Function>)> = Sums::new();
        for (weight, frames) in stacks(profile, series) {
            let is_user = |at: usize| category(profile, frames[at]) == Category::User;
            let pair = |at: usize| (frames[at].function, frames[at + 1].function);
            let crossings = (1..frames.len()).map(|at| at - 1).filter(|&at| is_user(at) && !is_user(at + 1));
            let crossings: Vec<(Id<Function>, Id<Function>)> = crossings.map(pair).collect();
            let innermost = (0..frames.len()).rev().find(|&at| is_user(at)).filter(|&at| at + 1 < frames.len());
            let distinct: BTreeSet<_> = crossings.iter().copied().collect();
            recursions += usize::from(distinct.len() < crossings.len());
            count(&mut expected, weight, innermost.map(pair), distinct);
        }
        let rows = report.transitions(series);
        rows_seen += rows.len();
        for row in &rows {
            let binary = profile.function(row.callee).binary;
            assert_eq!(row.category, Category::of_binary(profile, binary));
            assert!(row.category != Category::User);
        }
        assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse((row.sums.self_weight, row.sums.all_weight))));
        let found: Sums<_> = rows.iter().map(|row| ((row.caller, row.callee), values(&row.sums))).collect();
        assert_eq!(found, expected);
    });
    assert!(rows_seen > 1_000 && recursions > 10, "{rows_seen} transitions, {recursions} stacks where one recurs");
}

#[test]
fn lines_are_sums_over_samples() {
    let mut lines_seen = 0;
    each_series(|report, series| {
        let profile = &report.recording.profile;
        let (mut lines, mut places, mut files) = (Sums::new(), Sums::new(), Sums::new());
        for (weight, frames) in stacks(profile, series) {
            let line = |frame: &Frame| (Label::Function(frame.function), frame.source.map(|s| (s.path, s.line)));
            let no_stack = (Label::NoStack, None);
            let all: BTreeSet<_> = match frames.is_empty() {
                true => BTreeSet::from([no_stack]),
                false => frames.iter().map(|frame| line(frame)).collect(),
            };
            let own = frames.last().map_or(no_stack, |frame| line(frame));
            let sources = || all.iter().filter_map(|line| line.1);
            count(&mut files, weight, own.1.map(|source| source.0), sources().map(|source| source.0).collect());
            let own_place = own.1.filter(|source| source.1 > 0);
            count(&mut places, weight, own_place, sources().filter(|source| source.1 > 0).collect());
            count(&mut lines, weight, Some(own), all);
        }
        let rows = report.lines(series);
        assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse((row.sums.self_weight, row.sums.all_weight))));
        let found = rows.iter().map(|row| {
            let source = row.source.map(|source| (source.path, source.line));
            ((row.label, source), values(&row.sums))
        });
        assert_eq!(found.collect::<Sums<_>>(), lines);
        let rows = report.source_files(series);
        lines_seen += rows.iter().map(|row| row.lines.len()).sum::<usize>();
        assert!(rows.iter().all(|row| row.lines.is_sorted_by_key(|line| line.0)));
        assert_eq!(rows.iter().map(|row| (row.path, values(&row.sums))).collect::<Sums<_>>(), files);
        let found = rows.iter().flat_map(|row| row.lines.iter().map(|(line, sums)| ((row.path, *line), values(sums))));
        assert_eq!(found.collect::<Sums<_>>(), places);
    });
    assert!(lines_seen > 1_000, "{lines_seen} lines");
}
