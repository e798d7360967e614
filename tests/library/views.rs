//! Table views, and trees by state and kind of core, compared with slow implementations on the recorded data.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use support::{Invented, RenderOptions, Row, Shape, Size, Table, render};
use traceparse::calltree::Metric;
use traceparse::output::{self, Format};
use traceparse::profile::{Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording, SampleDetail};
use traceparse::report::{Cell, ReportOptions, Scope, SeparateBy, SeriesReport, View};
use traceparse::units::{Nanos, Unit};

fn recording(seed: u64) -> Invented {
    Invented::random(seed, &Size { rows: 60, ..Size::small() })
}

fn open(recording: &Invented, samples: SampleDetail) -> Recording {
    let xml = render(recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, recording));
    read(xml.as_bytes(), "test.xml", &Options { samples, ..Options::default() }).unwrap()
}

fn options(view: View) -> ReportOptions {
    ReportOptions { view, ..ReportOptions::default() }
}

/// Every state counts, or running threads only.
fn selection(every_state: bool) -> Selection {
    let states = if every_state { StateFilter::All } else { StateFilter::Running };
    Selection { states, ..Selection::default() }
}

fn is_running(state: &str) -> bool {
    ["Running", "Interrupted"].contains(&state)
}

fn is_counted(row: &Row, every_state: bool) -> bool {
    every_state || is_running(row.state)
}

/// A cell as text, so that rows can be compared.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Absent => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Number(number) | Cell::Weight(number) => number.to_string(),
        Cell::Percent(percent) => percent.to_string(),
        Cell::Time(time) => time.as_nanos().to_string(),
        Cell::Flag(flag) => flag.to_string(),
    }
}

/// The rows of the listing of a recording's one series, by the names of its columns.
fn rows(export: &Recording, options: &ReportOptions) -> Vec<BTreeMap<&'static str, String>> {
    let report = export.report(options);
    let kind = options.view.listing_kind().unwrap();
    let mut rows = Vec::new();
    for series in &report.series {
        let listing = report.listing(series).unwrap();
        assert_eq!(listing.total.unit, series.unit);
        for row in &listing.rows {
            assert_eq!(row.len(), kind.columns.len(), "{} has a cell for each column", kind.name);
            rows.push(kind.columns.iter().map(|column| column.name).zip(row.iter().map(text)).collect());
        }
    }
    rows
}

fn number(row: &BTreeMap<&'static str, String>, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

type Amounts<K> = BTreeMap<K, (u64, u64)>;

fn add<K: Ord>(amounts: &mut Amounts<K>, key: K, row: &Row) {
    let (weight, samples) = amounts.entry(key).or_default();
    *weight += row.weight;
    *samples += 1;
}

#[test]
fn the_first_rows_are_those_of_the_structs_and_of_every_table() {
    for seed in 0..20 {
        let export = open(&recording(seed), SampleDetail::Each);
        for view in [View::Functions, View::Threads, View::Full, View::Overview, View::Processes, View::Binaries] {
            let all = export.report(&options(view));
            for top in [0, 1, 2, 5, 1000] {
                let report = export.report(&ReportOptions { top: Some(top), ..options(view) });
                for (series, all_of_it) in report.series.iter().zip(&all.series) {
                    let threads = |series: &SeriesReport| -> Vec<_> {
                        series.threads.iter().map(|row| (row.thread, row.counted)).collect()
                    };
                    let first = |count: usize| count.min(top);
                    assert_eq!(threads(series), threads(all_of_it)[..first(all_of_it.threads.len())]);
                    assert_eq!(series.functions, all_of_it.functions[..first(all_of_it.functions.len())]);
                    assert_eq!(report.named_functions(series).count(), series.functions.len());
                    // The number of all threads and the sums of processes stay.
                    assert_eq!(report.processes(series), all.processes(all_of_it));
                    let (Some(rows), Some(all_rows)) = (report.listing(series), all.listing(all_of_it)) else {
                        continue;
                    };
                    assert_eq!(rows.rows, all_rows.rows[..first(all_rows.rows.len())]);
                    assert_eq!(rows.after.rows as usize, all_rows.rows.len() - rows.rows.len());
                }
            }
        }
    }
}

#[test]
fn states_are_all_there_whatever_counts() {
    let mut states = BTreeSet::new();
    for seed in 0..60 {
        let (recording, every_state) = (recording(seed), seed % 2 == 0);
        let mut expected: Amounts<String> = BTreeMap::new();
        recording.rows.iter().for_each(|row| add(&mut expected, row.state.to_owned(), row));
        for detail in [SampleDetail::Each, SampleDetail::Summed] {
            let export = open(&recording, detail);
            let options = ReportOptions { selection: selection(every_state), ..options(View::States) };
            let rows = rows(&export, &options);
            let found =
                rows.iter().map(|row| (row["state"].clone(), (number(row, "all_weight"), number(row, "samples"))));
            assert_eq!(found.collect::<Amounts<String>>(), expected, "seed {seed}");
            for row in &rows {
                assert_eq!(row["counted"], (every_state || is_running(&row["state"])).to_string());
            }
            let weights: Vec<u64> = rows.iter().map(|row| number(row, "all_weight")).collect();
            assert!(weights.is_sorted_by(|a, b| a >= b), "heaviest first");
            assert_eq!(weights.iter().sum::<u64>(), recording.total_weight());
        }
        states.extend(expected.into_keys());
    }
    assert!(states.len() > 2, "only {states:?}");
}

#[test]
fn cores_add_up_to_their_kinds_and_kinds_to_the_total() {
    let mut kinds = BTreeSet::new();
    for seed in 0..60 {
        let (recording, every_state) = (recording(seed), seed % 2 == 0);
        let export = open(&recording, SampleDetail::Each);
        let mut expected: Amounts<(String, String, String)> = BTreeMap::new();
        for row in recording.rows.iter().filter(|row| is_counted(row, every_state)) {
            let core = row.core.map(|(index, _)| index.to_string()).unwrap_or_default();
            let kind = row.core.map(|(index, kind)| kind_of(index, kind)).unwrap_or_default();
            add(&mut expected, ("core".to_owned(), kind.clone(), core), row);
            add(&mut expected, ("kind".to_owned(), kind, String::new()), row);
        }
        let options = ReportOptions { selection: selection(every_state), ..options(View::Cores) };
        let rows = rows(&export, &options);
        let key = |row: &BTreeMap<_, String>| (row["level"].clone(), row["kind"].clone(), row["core"].clone());
        let found = rows.iter().map(|row| (key(row), (number(row, "all_weight"), number(row, "samples"))));
        assert_eq!(found.collect::<Amounts<_>>(), expected, "seed {seed}");
        assert_eq!(rows.len(), expected.len(), "no row twice");
        kinds.extend(expected.into_keys().map(|(_, kind, _)| kind));
        let summed = open(&recording, SampleDetail::Summed);
        let report = summed.report(&options);
        let listing = report.listing(&report.series[0]).unwrap();
        assert!(listing.rows.is_empty() && listing.notes.len() == 1, "sums have no cores, and it is said");
    }
    assert!(kinds.len() > 2, "only {kinds:?}");
}

/// As Instruments writes it, `CPU 5 (P Core)`, or nothing.
fn kind_of(index: u32, kind: support::CoreKind) -> String {
    let label = Shape::Xcode27.core_label(index, kind);
    label.split_once('(').map_or("", |(_, kind)| kind.trim_end_matches(')')).to_owned()
}

#[test]
fn processes_add_up_to_the_total() {
    for seed in 0..30 {
        let recording = recording(seed);
        let mut expected: Amounts<u64> = BTreeMap::new();
        let mut threads: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for row in recording.rows.iter().filter(|row| is_counted(row, false)) {
            let pid = u64::from(recording.process_of(row).pid);
            add(&mut expected, pid, row);
            threads.entry(pid).or_default().insert(recording.thread_of(row).tid);
        }
        for detail in [SampleDetail::Each, SampleDetail::Summed] {
            let rows = rows(&open(&recording, detail), &options(View::Processes));
            let found =
                rows.iter().map(|row| (number(row, "pid"), (number(row, "all_weight"), number(row, "samples"))));
            assert_eq!(found.collect::<Amounts<u64>>(), expected, "seed {seed}");
            for row in &rows {
                assert_eq!(number(row, "threads"), threads[&number(row, "pid")].len() as u64);
            }
        }
    }
}

/// Each sample once for each binary in its stack.
#[test]
fn binaries_count_a_sample_once() {
    let mut several_addresses = 0;
    for seed in 0..60 {
        let recording = recording(seed);
        let export = open(&recording, SampleDetail::Each);
        let profile = &export.profile;
        // UUID, or name and path; self weight, all weight, self samples, samples.
        let mut expected: BTreeMap<String, [u64; 4]> = BTreeMap::new();
        let mut addresses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for sample in profile.samples().iter().filter(|sample| is_running(profile.string(sample.state.unwrap()))) {
            let keys = profile.frames_leaf_first(sample.stack).map(|frame| match frame.binary {
                None => "[no known binary]".to_owned(),
                Some(id) => {
                    let binary = profile.binary(id);
                    let key =
                        binary.uuid.map_or_else(|| profile.string(binary.path).to_owned(), |uuid| uuid.to_string());
                    addresses.entry(key.clone()).or_default().insert(binary.load_address.to_string());
                    key
                }
            });
            let mut keys: Vec<String> = keys.collect();
            if keys.is_empty() {
                keys.push("[no stack recorded]".to_owned());
            }
            let own = expected.entry(keys[0].clone()).or_default();
            own[0] += sample.weight;
            own[2] += 1;
            for key in keys.into_iter().collect::<BTreeSet<String>>() {
                let all = expected.entry(key).or_default();
                all[1] += sample.weight;
                all[3] += 1;
            }
        }
        let rows = rows(&export, &options(View::Binaries));
        let found = rows.iter().map(|row| {
            let key = [&row["uuid"], &row["path"], &row["binary"]].into_iter().find(|text| !text.is_empty()).unwrap();
            (key.clone(), ["self_weight", "all_weight", "self_samples", "samples"].map(|column| number(row, column)))
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "seed {seed}");
        assert_eq!(rows.len(), expected.len(), "no binary twice");
        let total: u64 = recording.rows.iter().filter(|row| is_counted(row, false)).map(|row| row.weight).sum();
        assert_eq!(rows.iter().map(|row| number(row, "self_weight")).sum::<u64>(), total);
        for row in rows.iter().filter(|row| !row["load_address"].is_empty()) {
            assert!(addresses.get(&row["uuid"]).is_none_or(|known| known.contains(&row["load_address"])));
        }
        several_addresses +=
            rows.iter().filter(|row| row["load_address"].is_empty() && !row["uuid"].is_empty()).count();
    }
    assert!(several_addresses > 0, "no binary was loaded at two addresses");
}

/// Folded stacks that start with a state or a kind of core have the weight of those samples.
#[test]
fn trees_of_states_and_kinds_of_cores_have_their_samples() {
    for seed in 0..60 {
        let recording = recording(seed);
        let export = open(&recording, SampleDetail::Each);
        let profile = &export.profile;
        for separate_by in [SeparateBy::State, SeparateBy::CoreKind] {
            let label = |sample: &traceparse::profile::Sample| match separate_by {
                SeparateBy::State => profile.string(sample.state.unwrap()),
                _ => {
                    let kind = sample.core.and_then(|core| profile.core(core).kind);
                    kind.map_or("unknown kind of core", |kind| profile.string(kind))
                }
            };
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            let mut by_label: BTreeMap<&str, u64> = BTreeMap::new();
            for sample in profile.samples() {
                let mut names: Vec<&str> = profile
                    .frames_leaf_first(sample.stack)
                    .map(|frame| profile.function_name(frame.function))
                    .collect();
                names.push(label(sample));
                names.reverse();
                let mut names: Vec<_> = names.into_iter().map(support::escaped).collect();
                if names.len() == 1 {
                    names.push(traceparse::report::Report::NO_STACK.into());
                }
                *expected.entry(names.join(";")).or_default() += sample.weight;
                *by_label.entry(label(sample)).or_default() += sample.weight;
            }
            expected.retain(|_, weight| *weight > 0);
            let options = ReportOptions { selection: selection(true), separate_by, ..options(View::Tree) };
            let report = export.report(&options);
            let mut out = Vec::new();
            output::write(&report, &Format::Folded, &mut out).unwrap();
            let mut found: BTreeMap<String, u64> = BTreeMap::new();
            for line in String::from_utf8(out).unwrap().lines() {
                let (stack, weight) = line.rsplit_once(' ').unwrap();
                *found.entry(stack.to_owned()).or_default() += weight.parse::<u64>().unwrap();
            }
            assert_eq!(found, expected, "seed {seed}, {separate_by:?}");
            let weights: Vec<u64> = report.series[0].scopes.iter().map(|row| row.counted.weight.value).collect();
            assert!(weights.is_sorted_by(|a, b| a >= b), "heaviest first");
            let mut expected: Vec<u64> = by_label.into_values().collect();
            expected.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(weights, expected);
            for (row, tree) in report.trees(&report.series[0]) {
                assert_eq!(tree.root().all_weight, row.counted.weight.value);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Every bin of every thread (process, state, kind of core) has the samples whose times are in it.
    #[test]
    fn timelines_have_every_sample_in_its_bin(
        seed in any::<u64>(),
        bin in proptest::option::of(prop_oneof![1..1_000_u64, 1_000..100_000_000_u64, Just(u64::MAX)]),
        every_state in any::<bool>(),
        is_counting in any::<bool>(),
        separated in 0..5_usize,
    ) {
        let recording = recording(seed);
        let export = open(&recording, SampleDetail::Each);
        let separate_by = [
            SeparateBy::Thread, SeparateBy::Process, SeparateBy::State, SeparateBy::CoreKind, SeparateBy::Nothing,
        ][separated];
        let options = ReportOptions {
            selection: selection(every_state),
            metric: if is_counting { Metric::Samples } else { Metric::Weight },
            separate_by,
            timeline_bin: bin.map(Nanos::from_nanos),
            ..options(View::Timeline)
        };
        let report = export.report(&options);
        let series = &report.series[0];
        let timeline = report.timeline(series);
        let length = timeline.bin.as_nanos();
        prop_assert!(bin.is_none_or(|bin| bin == length));
        if bin.is_none() {
            prop_assert!(timeline.bins.end - timeline.bins.start <= 90);
            let digits = length.to_string();
            prop_assert!(["1", "2", "5"].contains(&digits.trim_end_matches('0')), "{digits} is round");
        }
        let weight_of = |row: &Row| match (is_counting, row.kind) {
            (false, _) => row.weight,
            (true, support::SampleKind::Stackshot) => 0,
            (true, _) => 1,
        };
        let mut expected: BTreeMap<(u64, String, String), (u64, u64)> = BTreeMap::new();
        for row in &recording.rows {
            let scope = match separate_by {
                SeparateBy::Thread => format!("{} {}", recording.process_of(row).pid, recording.thread_of(row).tid),
                SeparateBy::Process => format!("{} ", recording.process_of(row).pid),
                SeparateBy::State => row.state.to_owned(),
                SeparateBy::CoreKind => row.core.map(|(index, kind)| kind_of(index, kind)).unwrap_or_default(),
                SeparateBy::Nothing | SeparateBy::Interval | SeparateBy::Task => String::new(),
            };
            let (weight, samples) = expected.entry((row.time_ns / length, scope, row.state.to_owned())).or_default();
            *weight += weight_of(row);
            *samples += 1;
        }
        let profile = &export.profile;
        let optional = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let name = |scope: Scope| match scope {
            Scope::Thread(id) => {
                let thread = profile.thread(id);
                format!("{} {}", optional(profile.process(thread.process).pid), optional(thread.tid))
            }
            Scope::Process(id) => format!("{} ", optional(profile.process(id).pid)),
            Scope::State(id) | Scope::CoreKind(id) => id.map(|id| profile.string(id)).unwrap_or_default().to_owned(),
            Scope::All | Scope::Label(_) => String::new(),
        };
        let mut found = BTreeMap::new();
        for line in &timeline.lines {
            let mut counted = 0;
            for part in &line.parts {
                prop_assert!(timeline.bins.contains(&part.bin));
                let state = profile.string(part.state.unwrap()).to_owned();
                prop_assert_eq!(part.is_counted, every_state || is_running(&state));
                counted += if part.is_counted { part.amount.weight.value } else { 0 };
                let twice = found.insert((part.bin, name(line.scope), state), (part.amount.weight.value, part.amount.samples));
                prop_assert!(twice.is_none());
            }
            prop_assert_eq!(counted, line.counted.weight.value);
        }
        prop_assert_eq!(&found, &expected);
        let total: u64 = timeline.lines.iter().map(|line| line.counted.weight.value).sum();
        prop_assert_eq!(total, series.counted.weight.value);
        // The table has the same rows.
        let listed = rows(&export, &options);
        prop_assert_eq!(listed.len(), expected.len());
        prop_assert!(listed.is_sorted_by_key(|row| number(row, "time_ns")));
        let weights_are_time = series.unit == Unit::Nanoseconds || is_counting;
        let covered = |row: &Row| row.time_ns + if weights_are_time { row.weight } else { 0 };
        let first = recording.rows.iter().map(|row| row.time_ns).min().unwrap_or(0);
        let end = recording.rows.iter().map(covered).max().unwrap_or(0);
        for row in listed {
            let bin = number(&row, "time_ns");
            let selected = end.min(bin.saturating_add(length)).saturating_sub(first.max(bin));
            prop_assert_eq!(number(&row, "selected_ns"), selected);
            let percent = row["cpu_percent"].parse::<f64>().ok();
            let is_cpu = is_running(&row["state"]) && series.unit == Unit::Nanoseconds;
            prop_assert_eq!(percent, is_cpu.then(|| number(&row, "weight") as f64 * 100.0 / selected as f64));
            prop_assert_eq!(number(&row, "bin_ns"), length);
            prop_assert!(found.values().any(|&(weight, samples)| (weight, samples) == (number(&row, "weight"), number(&row, "samples"))));
        }
    }
}

#[test]
fn a_timeline_of_sums_is_empty() {
    let export = open(&recording(1), SampleDetail::Summed);
    let options = options(View::Timeline);
    let report = export.report(&options);
    assert!(report.timeline(&report.series[0]).lines.is_empty());
    assert_eq!(report.listing(&report.series[0]).unwrap().notes.len(), 1);
}
