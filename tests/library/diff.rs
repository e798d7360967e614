//! The changes between two random recordings, compared with obvious implementations.

use std::collections::{BTreeMap, BTreeSet};

use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::output::{self, Cells, DiffReport, DiffView, Format, Style};
use traceparse::profile::{Frame, Profile, Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording, SampleDetail};
use traceparse::report::ReportOptions;
use traceparse::report::diff::{Change, Diff, FunctionKey, Normalize, Presence, Side, Unlike};

fn open(seed: u64, shape: Shape, table: Table, samples: SampleDetail) -> Recording {
    let recording = support::Invented::random(seed, &Size { rows: 80, ..Size::small() });
    let xml = render(&recording, &RenderOptions::new(shape, table, &recording));
    read(xml.as_bytes(), "test.xml", &Options { samples, ..Options::default() }).unwrap()
}

fn options() -> ReportOptions {
    let selection = Selection { states: StateFilter::All, ..Selection::default() };
    ReportOptions { selection, ..ReportOptions::default() }
}

/// The name and binary of a function; without a name, its position in the binary.
type Key = (String, Option<String>);

fn key(profile: &Profile, frame: &Frame) -> Key {
    let function = profile.function(frame.function);
    let binary = profile.binary_name(frame.function).map(str::to_owned);
    let name = profile.function_name(frame.function);
    let place = function.binary.filter(|_| !function.is_named).map(|id| profile.binary(id));
    match place.filter(|binary| binary.uuid.is_some_and(|uuid| !uuid.is_nil())) {
        Some(place) => {
            let address = u64::from_str_radix(name.trim_start_matches("0x"), 16).unwrap();
            (format!("{}+{:#x}", binary.clone().unwrap(), address - place.load_address.get()), binary)
        }
        None => (name.to_owned(), binary),
    }
}

/// By function: self weight, all weight and their samples, and the stacks as paths of functions.
#[derive(Default)]
struct Slow {
    functions: BTreeMap<Key, [u64; 4]>,
    paths: BTreeMap<Vec<Key>, [u64; 2]>,
}

fn slow(profile: &Profile) -> Slow {
    let mut slow = Slow::default();
    for sum in profile.sums_or_samples() {
        let mut path: Vec<Key> = profile.frames_leaf_first(sum.stack).map(|frame| key(profile, frame)).collect();
        path.reverse();
        if path.is_empty() {
            path.push((String::new(), None));
        }
        let own = slow.functions.entry(path.last().unwrap().clone()).or_default();
        *own = [own[0] + sum.weight, own[1], own[2] + sum.samples, own[3]];
        for end in 1..=path.len() {
            let node = slow.paths.entry(path[..end].to_vec()).or_default();
            *node = [node[0] + sum.weight, node[1] + sum.samples];
        }
        path.sort();
        path.dedup();
        for key in path {
            let all = slow.functions.entry(key).or_default();
            *all = [all[0], all[1] + sum.weight, all[2], all[3] + sum.samples];
        }
    }
    slow
}

#[test]
fn functions_and_trees_are_those_of_the_obvious_form() {
    let (mut new, mut vanished, mut unnamed) = (0, 0, 0);
    for seed in 0..150 {
        let detail = if seed % 2 == 0 { SampleDetail::Each } else { SampleDetail::Summed };
        let exports = [seed, seed + 1].map(|seed| open(seed, Shape::Xcode27, Table::TimeProfile, detail));
        let reports = [exports[0].report(&options()), exports[1].report(&options())];
        let diff = Diff::new(&reports[0], &reports[1], Normalize::default());
        let [before, after] = [slow(&exports[0].profile), slow(&exports[1].profile)];
        let mut expected: BTreeMap<Key, [[u64; 4]; 2]> = BTreeMap::new();
        for (side, slow) in [&before, &after].into_iter().enumerate() {
            for (key, sums) in &slow.functions {
                expected.entry(key.clone()).or_default()[side] = *sums;
            }
        }
        let rows = diff.functions.iter().map(|row| {
            let sums = [row.sides.before, row.sides.after]
                .map(|side| side.sums)
                .map(|sums| [sums.self_weight, sums.all_weight, sums.self_samples, sums.all_samples]);
            new += usize::from(row.sides.presence() == Presence::New);
            vanished += usize::from(row.sides.presence() == Presence::Vanished);
            unnamed += usize::from(matches!(row.function.key, FunctionKey::Offset(..)));
            let change = row.sides.after.sums.self_weight as f64 - row.sides.before.sums.self_weight as f64;
            assert!((row.self_change.weight - change).abs() < 1e-6);
            ((row.function.name.clone(), row.function.binary.clone()), sums)
        });
        assert_eq!(rows.collect::<BTreeMap<_, _>>(), expected, "seed {seed}");
        let sizes = diff.functions.windows(2);
        assert!(sizes.into_iter().all(|pair| pair[0].self_change.weight.abs() >= pair[1].self_change.weight.abs()));

        let mut nodes: BTreeMap<Vec<Key>, [[u64; 2]; 2]> = BTreeMap::new();
        for (side, slow) in [&before, &after].into_iter().enumerate() {
            for (path, sums) in &slow.paths {
                nodes.entry(path.clone()).or_default()[side] = *sums;
            }
        }
        let mut path: Vec<Key> = Vec::new();
        for node in diff.nodes().skip(1) {
            path.truncate(node.depth as usize - 1);
            let function = diff.function(&node).unwrap();
            path.push((function.name.clone(), function.binary.clone()));
            let sums = [node.sides.before, node.sides.after].map(|side| [side.sums.all_weight, side.sums.all_samples]);
            assert_eq!(nodes.remove(&path), Some(sums), "{path:?}");
        }
        assert!(nodes.is_empty(), "{nodes:?}");
        // The changes of self weights add up to the total change.
        let sum: f64 = diff.functions.iter().map(|row| row.self_change.weight).sum();
        assert!((sum - diff.all_change(&diff.total).weight).abs() < 1e-3);
        let binaries: u64 = diff.binaries.iter().map(|row| row.sides.after.sums.self_weight).sum();
        assert_eq!(binaries, diff.total.after.sums.all_weight);
    }
    assert!(new > 50 && vanished > 50 && unnamed > 0, "{new} new, {vanished} vanished, {unnamed} without name");
}

/// By function: the sum of the squared weights of the samples that pass through it.
/// Exports of Xcode 12 contain no binaries.
#[test]
fn without_binaries_only_names_are_compared() {
    let mut both = 0;
    for seed in 0..20 {
        let shapes = [Shape::Xcode12, Shape::Xcode27];
        let exports = shapes.map(|shape| open(seed, shape, Table::TimeProfile, SampleDetail::Summed));
        let reports = [exports[0].report(&options()), exports[1].report(&options())];
        let diff = Diff::new(&reports[0], &reports[1], Normalize::default());
        let named = diff.functions.iter().filter(|row| row.function.key == FunctionKey::Named);
        assert!(diff.own_functions.is_empty(), "no function of Xcode 12 is known to be the app's");
        let mut names = BTreeSet::new();
        for row in named {
            assert!(names.insert(&row.function.name), "seed {seed}: {:?} has two rows", row.function);
            both += usize::from(row.sides.presence() == Presence::Both);
        }
    }
    assert!(both > 100, "{both}");
}

fn squares(profile: &Profile) -> BTreeMap<Key, f64> {
    let mut squares: BTreeMap<Key, f64> = BTreeMap::new();
    for sample in profile.samples() {
        let mut keys: Vec<Key> = profile.frames_leaf_first(sample.stack).map(|frame| key(profile, frame)).collect();
        if keys.is_empty() {
            keys.push((String::new(), None));
        }
        keys.sort();
        keys.dedup();
        keys.into_iter().for_each(|key| *squares.entry(key).or_default() += (sample.weight as f64).powi(2));
    }
    squares
}

/// One factor for all rows. The noise results from the weights of the samples, which differ.
#[test]
fn changes_follow_their_formulas() {
    let exports = [3, 4].map(|seed| open(seed, Shape::Xcode26_4, Table::TimeProfile, SampleDetail::Each));
    let mut unequal = 0;
    let squares = [squares(&exports[0].profile), squares(&exports[1].profile)];
    let reports = [exports[0].report(&options()), exports[1].report(&options())];
    for normalize in [Normalize::None, Normalize::Samples, Normalize::Duration] {
        let diff = Diff::new(&reports[0], &reports[1], normalize);
        let total = diff.total;
        // From the first sample to the end of what they cover.
        let length = |export: &Recording| {
            let samples = export.profile.samples().iter();
            let first = samples.clone().map(|sample| sample.time.as_nanos()).min().unwrap();
            (samples.map(|sample| sample.time.as_nanos() + sample.weight).max().unwrap() - first) as f64
        };
        let factor = match normalize {
            Normalize::None => 1.0,
            Normalize::Samples => total.before.sums.all_weight as f64 / total.after.sums.all_weight as f64,
            Normalize::Duration => length(&exports[0]) / length(&exports[1]),
        };
        assert!((diff.factor - factor).abs() < 1e-12, "{normalize:?}");
        for row in &diff.functions {
            let [before, after] = [row.sides.before, row.sides.after];
            let change = after.sums.all_weight as f64 * factor - before.sums.all_weight as f64;
            let key = (row.function.name.clone(), row.function.binary.clone());
            let [one, other] = [0, 1].map(|side| squares[side].get(&key).copied().unwrap_or(0.0));
            let variance = one + other * factor * factor;
            assert!((row.all_change.weight - change).abs() < 1e-3);
            assert!((row.all_change.noise - variance.sqrt()).abs() <= 1e-9 * variance.sqrt());
            let of_equal_weights =
                |side: &Side| (side.sums.all_weight as f64).powi(2) / side.sums.all_samples.max(1) as f64;
            unequal += usize::from(before.all_squares as f64 > 1.01 * of_equal_weights(&before));
            assert_eq!(row.all_change.is_beyond_noise(), change.abs() > Change::BEYOND_NOISE * row.all_change.noise);
        }
    }
    assert!(unequal > 10, "{unequal} functions of unequal weights");
}

#[test]
fn unlike_recordings_are_told() {
    let each = SampleDetail::Each;
    let time = open(1, Shape::Xcode27, Table::TimeProfile, each);
    let cycles = open(1, Shape::Xcode27, Table::CpuProfile, each);
    let reports = [time.report(&options()), cycles.report(&options()), time.report(&options())];
    let found = Unlike::between(&reports[0], &reports[1]);
    assert!(found.iter().any(|unlike| matches!(unlike, Unlike::Units(..)) && !unlike.is_forcible()), "{found:?}");
    assert!(found.iter().any(|unlike| matches!(unlike, Unlike::Schemas(..)) && unlike.is_forcible()), "{found:?}");
    assert_eq!(Unlike::between(&reports[0], &reports[2]), []);
    let nothing = ReportOptions { schemas: vec!["none".to_owned()], ..options() };
    let nothing = time.report(&nothing);
    assert!(Unlike::between(&reports[0], &nothing).iter().any(|unlike| matches!(unlike, Unlike::Nothing(_))));
}

/// Every writer has every row, and the numbers of the library.
#[test]
fn writers_say_the_same() {
    let exports = [5, 6].map(|seed| open(seed, Shape::Xcode27, Table::TimeProfile, SampleDetail::Summed));
    let reports = [exports[0].report(&options()), exports[1].report(&options())];
    let normalize = Normalize::Samples;
    let diff = Diff::new(&reports[0], &reports[1], normalize);
    for (view, name, count) in [
        (DiffView::Functions, "functions", diff.functions.len()),
        (DiffView::Binaries, "binaries", diff.binaries.len()),
        (DiffView::Tree, "nodes", diff.nodes().count()),
    ] {
        let [before, after] = [&reports[0], &reports[1]];
        let shown =
            DiffReport { before, after, diff: &diff, normalize, view, top: None, min_percent: 0.0, alerts: &[] };
        let (mut csv, mut json, mut text) = (Vec::new(), Vec::new(), Vec::new());
        output::write(&shown, &Format::Csv(Cells::AsTheyAre), &mut csv).unwrap();
        output::write(&shown, &Format::Json, &mut json).unwrap();
        output::write(&shown, &Format::Text(Style::default()), &mut text).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let rows = json[name].as_array().unwrap();
        let mut reader = csv::Reader::from_reader(csv.as_slice());
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!((rows.len(), records.len()), (count, count), "{name}");
        for (row, record) in rows.iter().zip(&records) {
            assert_eq!(record[1], row["before"]["self_weight"].to_string());
            assert_eq!(record[6], row["after"]["all_weight"].to_string());
            // JSON's reader may miss the last bit.
            let (text, number) = (record[7].parse::<f64>().unwrap(), row["all_change"]["weight"].as_f64().unwrap());
            assert!((text - number).abs() <= text.abs() * 1e-12, "{text} {number}");
            assert_eq!(&record[13], row["presence"].as_str().unwrap());
        }
        let text = String::from_utf8(text).unwrap();
        // Both sides, the change, the factor, an empty line, the header; below a table what the star means.
        let frame = if view == DiffView::Tree { 6 - 1 } else { 6 + 1 };
        assert_eq!(text.lines().count(), count + frame, "{text}");
        assert_eq!(json["total"]["after"]["all_weight"], diff.total.after.sums.all_weight);
    }
}
