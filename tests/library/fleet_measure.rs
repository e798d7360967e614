//! The measures of random recordings, compared with a slow implementation of each row; and the sources of labels and of the recorded
//! time.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use support::fleet::context;
use support::{Content, Node, RenderOptions, Shape, Size, Table, Target, TocOptions, concatenate, render, render_toc};
use traceparse::fleet::{FailureKind, FrameRow, MeasureOptions, Measured, NotMeasured, RunContext, RunMeasures};
use traceparse::profile::{Id, Matcher, Profile, Sample, SampleKind, Selection, Series, StateFilter, TimeRange};
use traceparse::read;
use traceparse::recording::{Options, Recording, TimeSource, Toc};
use traceparse::units::{Millionths, Nanos, Unit};

fn open(xml: &str) -> Recording {
    read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
}

fn every_state() -> MeasureOptions {
    MeasureOptions {
        selection: Selection { states: StateFilter::All, ..Selection::default() },
        ..MeasureOptions::default()
    }
}

fn measure(export: &Recording, context: &RunContext) -> Measured {
    export.measure(context, &MeasureOptions::default()).unwrap()
}

/// The tables of contents of a document that is one.
fn toc(xml: &str) -> Toc {
    open(xml).tocs().next().unwrap().clone()
}

/// Self weight, all weight, self samples and all samples.
type Sums = [u64; 4];
type Rows = BTreeMap<Vec<String>, Sums>;

/// The samples in order, with the names of each stack as sets.
#[derive(Default)]
struct Slow {
    frames: Rows,
    binaries: Rows,
    windows: BTreeMap<(String, String, u32), [u64; 2]>,
    total: [u64; 2],
}

impl Slow {
    fn new<'s>(profile: &Profile, samples: impl Iterator<Item = &'s Sample>) -> Self {
        let mut slow = Self::default();
        for sample in samples {
            let thread = profile.thread(sample.thread);
            let process = profile.string(profile.process(thread.process).name).to_owned();
            let scope = [process, profile.string(thread.name).to_owned()];
            let name = |frame: &traceparse::profile::Frame| {
                let function = profile.function(frame.function);
                let name = if function.is_named { profile.string(function.name) } else { FrameRow::UNNAMED };
                [profile.binary_name(frame.function).unwrap_or("").to_owned(), name.to_owned()]
            };
            let mut names: Vec<[String; 2]> = profile.frames_leaf_first(sample.stack).map(name).collect();
            if names.is_empty() {
                names.push([String::new(), FrameRow::STACKLESS.to_owned()]);
            }
            let count = [sample.weight, u64::from(sample.kind != SampleKind::Stackshot)];
            if count == [0, 0] {
                continue;
            }
            let of_function = |name: &[String; 2]| [&scope[..], &name[..]].concat();
            let of_binary = |name: &[String; 2]| [&scope[..], &name[..1]].concat();
            count_row(&mut slow.frames, names.iter().map(of_function).collect(), count);
            count_row(&mut slow.binaries, names.iter().map(of_binary).collect(), count);
            let second = (sample.time.as_nanos() / 1_000_000_000) as u32;
            let [process, thread] = scope;
            let window = slow.windows.entry((process, thread, second)).or_default();
            *window = [window[0] + count[0], window[1] + count[1]];
            slow.total = [slow.total[0] + count[0], slow.total[1] + count[1]];
        }
        slow
    }
}

impl Slow {
    /// True if threads with these process and thread names have samples.
    fn has_thread(&self, names: &[String]) -> bool {
        self.frames.keys().any(|key| key[..2] == *names)
    }
}

fn count_row(rows: &mut Rows, keys: Vec<Vec<String>>, [weight, samples]: [u64; 2]) {
    let leaf = rows.entry(keys[0].clone()).or_default();
    leaf[0] += weight;
    leaf[2] += samples;
    for key in keys.into_iter().collect::<BTreeSet<_>>() {
        let row = rows.entry(key).or_default();
        row[1] += weight;
        row[3] += samples;
    }
}

/// Compares a run with a slow computation from the samples of its series, and its sums with each other.
fn assert_run(run: &RunMeasures, slow: &Slow) {
    let name = |id| run.name(id).to_owned();
    let frames: Vec<(Vec<String>, Sums)> = run
        .frames
        .iter()
        .map(|row| {
            let key = [row.process, row.thread, row.binary, row.function].map(name).to_vec();
            (key, [row.self_weight, row.all_weight, row.self_samples, row.all_samples])
        })
        .collect();
    let binaries: Vec<(Vec<String>, Sums)> = run
        .binaries
        .iter()
        .map(|row| {
            let key = [row.process, row.thread, row.binary].map(name).to_vec();
            (key, [row.self_weight, row.all_weight, row.self_samples, row.all_samples])
        })
        .collect();
    let windows: Vec<((String, String, u32), [u64; 2])> = run
        .windows
        .iter()
        .map(|row| ((name(row.process), name(row.thread), row.second), [row.weight, row.samples]))
        .collect();
    // Threads without selected samples, which are listed nevertheless; tests/library/fleet_narrow.rs tests the conditions.
    let (idle, frames): (Vec<_>, Vec<_>) = frames.into_iter().partition(|(_, sums)| *sums == Sums::default());
    assert!(idle.iter().all(|(key, _)| key[2..] == ["", FrameRow::STACKLESS] && !slow.has_thread(&key[..2])));
    // The maps are sorted by strings, so this also compares the order.
    assert_eq!(frames, slow.frames.clone().into_iter().collect::<Vec<_>>());
    assert_eq!(binaries, slow.binaries.clone().into_iter().collect::<Vec<_>>());
    assert_eq!(windows, slow.windows.clone().into_iter().collect::<Vec<_>>());
    let total = [run.record.weight, run.record.samples];
    assert_eq!(total, slow.total);
    for rows in [&frames, &binaries] {
        assert_eq!(total, [0, 2].map(|column| rows.iter().map(|(_, sums)| sums[column]).sum::<u64>()));
        assert!(rows.iter().all(|(_, sums)| sums[1] >= sums[0] && sums[3] >= sums[2] && sums[1] <= total[0]));
    }
    assert_eq!(total, [0, 1].map(|column| windows.iter().map(|(_, sums)| sums[column]).sum::<u64>()));
    let distinct: BTreeSet<&String> = run.names.iter().collect();
    assert_eq!(distinct.len(), run.names.len(), "each name once");
}

/// The selected samples of a series, and their sums from the record.
fn assert_record(run: &RunMeasures, profile: &Profile, samples: &[&Sample]) {
    let record = &run.record;
    let weights: Vec<u128> = samples.iter().map(|sample| u128::from(sample.weight)).collect();
    let (sum, squares) = (weights.iter().sum::<u128>(), weights.iter().map(|weight| weight * weight).sum::<u128>());
    let effective = (sum * sum).checked_div(squares);
    assert_eq!(Some(u128::from(record.effective_samples)), effective.or(Some(samples.len() as u128)));
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    samples.iter().filter(|sample| sample.weight > 0).for_each(|s| *counts.entry(s.weight).or_default() += 1);
    let most = counts.values().max().copied().unwrap_or(0);
    let usual = counts.iter().find(|(_, count)| **count == most).map_or(0, |(weight, _)| *weight);
    assert_eq!(record.usual_weight, usual);
    let cores: BTreeSet<u32> =
        samples.iter().filter_map(|sample| sample.core).map(|core| profile.core(core).index).collect();
    assert_eq!(record.cores as usize, cores.len());
}

fn assert_measured(export: &Recording, options: &MeasureOptions) {
    let profile = &export.profile;
    let selected = options.selection.on(profile);
    let measured = export.measure(&context(Vec::new()), options).unwrap();
    let series: Vec<Id<Series>> = profile.series_ids().collect();
    assert_eq!(measured.runs.len(), series.len(), "these recordings have one table a run");
    for (run, series) in measured.runs.iter().zip(series) {
        let of_series: Vec<&Sample> = selected.iter().filter(|sample| sample.series == series).collect();
        assert_run(run, &Slow::new(profile, of_series.iter().copied()));
        let counted: Vec<&Sample> =
            of_series.into_iter().filter(|sample| sample.weight > 0 || sample.kind != SampleKind::Stackshot).collect();
        assert_record(run, profile, &counted);
        let own = profile.samples().iter().filter(|sample| sample.series == series);
        let is_time = run.record.unit == Unit::Nanoseconds;
        let end = |sample: &Sample| sample.time.as_nanos() + if is_time { sample.weight } else { 0 };
        let (first, end) = (own.clone().map(|sample| sample.time).min().unwrap(), own.map(end).max().unwrap());
        let wall = Nanos::from_nanos(end - first.as_nanos());
        assert_eq!((run.record.wall, run.record.wall_start), (Some(wall), first));
        assert_eq!(run.record.wall_source, TimeSource::Samples);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_of_the_slow_form(
        seed in any::<u64>(),
        shape in proptest::sample::select(Shape::ALL.to_vec()),
        table in proptest::sample::select(vec![Table::TimeProfile, Table::CpuProfile, Table::TimeSample]),
        runs in 1..4_u32,
        all_states in any::<bool>(),
        order in proptest::option::of(any::<u64>()),
    ) {
        let mut recording = support::Invented::random(seed, &Size { runs, snapshots: true, inlined: true, ..Size::small() });
        // Over some seconds, and some of them in the same one.
        recording.rows.iter_mut().for_each(|row| row.time_ns *= 40);
        let options = RenderOptions::new(shape, table, &recording);
        let options = if let Some(order) = order { options.shuffled(order) } else { options };
        let export = open(&render(&recording, &options));
        assert_measured(&export, &if all_states { every_state() } else { MeasureOptions::default() });
    }
}

#[test]
fn a_selection_narrows_rows_and_not_what_was_recorded() {
    let recording = support::Invented::random(5, &Size { rows: 400, ..Size::small() });
    let export = open(&render(&recording, &RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &recording)));
    let name = recording.processes[1].name.as_str();
    let mut options = every_state();
    options.selection.processes = vec![Matcher::new(name)];
    let whole = export.measure(&context(Vec::new()), &every_state()).unwrap().runs.remove(0);
    let part = export.measure(&context(Vec::new()), &options).unwrap().runs.remove(0);
    let of_process = |run: &RunMeasures| {
        run.frames.iter().filter(|row| run.name(row.process) == name).map(|row| row.self_weight).sum::<u64>()
    };
    assert_eq!(part.record.weight, of_process(&whole));
    assert!(part.record.weight > 0 && part.record.weight < whole.record.weight);
    assert_eq!((part.record.wall, part.record.wall_start), (whole.record.wall, whole.record.wall_start));

    let (start, end) = (Nanos::from_millis(100), Nanos::from_millis(200));
    options.selection.time = Some(TimeRange { start, end: Some(end) });
    let cut = export.measure(&context(Vec::new()), &options).unwrap().runs.remove(0);
    // Ends are exact, including the end of an estimate.
    assert_eq!((cut.record.wall, cut.record.wall_start), (Some(Nanos::from_millis(100)), start));
    let mut context = context(Vec::new());
    // Samples slightly after the end in the manifest were recorded nevertheless.
    context.duration = Some(Nanos::from_millis(150));
    let cut = export.measure(&context, &options).unwrap().runs.remove(0);
    assert_eq!((cut.record.wall, cut.record.wall_start), (Some(Nanos::from_millis(100)), start));
    assert_eq!(cut.record.wall_source, TimeSource::Manifest);
}

#[test]
fn one_table_of_a_run_is_measured() {
    let recording = support::Invented::random(3, &Size { runs: 2, ..Size::small() });
    let counters = Table::CountersProfile { pmi: false };
    let node = |run, table| Node::samples(run, table, &recording);
    let nodes = vec![node(1, Table::CpuProfile), node(1, counters), node(1, Table::TimeProfile), node(2, counters)];
    let export = open(&render(&recording, &RenderOptions::with_nodes(Shape::Xcode14_3, nodes)));
    let measured = measure(&export, &context(Vec::new()));
    let shown: Vec<_> =
        measured.runs.iter().map(|run| (run.record.run_id.as_str(), run.record.schema.as_str())).collect();
    assert_eq!(shown, [("c0ffee", "time-profile"), ("c0ffee-2", "counters-profile")]);
    let counted = measured.runs[0].record.samples;
    let note = format!(
        "Run 1 is measured by time-profile ({counted} samples); left out: cpu-profile ({counted} samples), \
         counters-profile ({counted} samples)."
    );
    assert_eq!(measured.notes, [note]);

    let options = MeasureOptions { schemas: vec!["cpu-profile".to_owned()], ..MeasureOptions::default() };
    let measured = export.measure(&context(Vec::new()), &options).unwrap();
    assert_eq!(measured.notes, [] as [&str; 0]);
    let shown: Vec<_> = measured.runs.iter().map(|run| (run.record.run_id.as_str(), run.record.unit)).collect();
    assert_eq!(shown, [("c0ffee", Unit::Cycles)]);
}

#[test]
fn of_two_tables_of_one_schema_the_larger_is_measured_and_of_equals_the_first() {
    let recording = support::Invented::random(9, &Size::small());
    let rows = recording.rows_of_run(1);
    let node = |table_index, rows: &[usize]| Node {
        run: 1,
        table_index,
        content: Content::Samples { table: Table::TimeProfile, rows: rows.to_vec() },
    };
    for (nodes, samples) in [
        (vec![node(3, &rows[..20]), node(5, &rows)], rows.len()),
        (vec![node(3, &rows), node(5, &rows[..20])], rows.len()),
        (vec![node(3, &rows[..30]), node(5, &rows[30..])], 30),
    ] {
        let export = open(&render(&recording, &RenderOptions::with_nodes(Shape::Xcode26_4, nodes)));
        let measured = export.measure(&context(Vec::new()), &every_state()).unwrap();
        assert_eq!((measured.runs.len(), measured.notes.len()), (1, 1));
        assert_eq!(measured.runs[0].record.samples, samples as u64);
        let windows: u64 = measured.runs[0].windows.iter().map(|row| row.weight).sum();
        assert_eq!(windows, measured.runs[0].record.weight);
    }
    let nodes = vec![node(3, &rows[..30]), node(5, &rows[30..])];
    let export = open(&render(&recording, &RenderOptions::with_nodes(Shape::Xcode26_4, nodes)));
    let first: u64 = rows[..30].iter().map(|&row| recording.rows[row].weight).sum();
    assert_eq!(export.measure(&context(Vec::new()), &every_state()).unwrap().runs[0].record.weight, first);
}

/// A recording, its export, and its table of contents.
fn recorded(runs: u32) -> (support::Invented, Recording, String) {
    let recording = support::Invented::random(11, &Size { runs, ..Size::small() });
    let export = open(&render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording)));
    let toc = render_toc(&recording, &TocOptions::new(Shape::Xcode27, vec![Table::TimeProfile]));
    (recording, export, toc)
}

fn labels(run: &RunMeasures) -> Vec<(&str, &str)> {
    run.record.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

#[test]
fn a_table_of_contents_tells_what_was_recorded() {
    let (recording, export, xml) = recorded(2);
    let measured = measure(&export, &context(vec![toc(&xml)]));
    assert_eq!(measured.notes, [] as [&str; 0]);
    let app = recording.processes[0].name.as_str();
    for (run, number) in measured.runs.iter().zip([1, 2]) {
        let last = recording.rows_of_run(number).into_iter().map(|row| recording.rows[row].time_ns).max().unwrap();
        let record = &run.record;
        // The renderer adds this to the last sample, and writes microseconds.
        let wall = Nanos::from_nanos((last + 12_345_678) / 1_000 * 1_000);
        assert_eq!((record.wall, record.wall_source), (Some(wall), TimeSource::Toc));
        assert_eq!(record.wall_start, Nanos::default());
        assert_eq!(record.start, Some(format!("2031-05-06T09:{}0:00.125+02:00", number)));
        let expected = [
            ("app", app),
            ("device", "MacBook Pro"),
            ("end_reason", "Target app exited"),
            ("exit_status", "0"),
            ("instruments", "27.0 (17A456)"),
            ("os", "macOS 27.0"),
            ("os_build", "26A101"),
        ];
        assert_eq!(labels(run), expected);
        assert!(!format!("{run:?}").contains("Dev’s"), "the owner's name is nowhere");
    }
    // Inside the export it is the same.
    let inside = open(&concatenate(&[
        xml.clone(),
        render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording)),
    ]));
    let other = toc(&xml.replace("MacBook Pro", "Mac Studio"));
    assert_eq!(measure(&inside, &context(vec![other])).runs, measured.runs);

    let options = TocOptions { target: Target::AllProcesses, ..TocOptions::new(Shape::Xcode27, Vec::new()) };
    let everything = toc(&render_toc(&recording, &options));
    assert_eq!(labels(&measure(&export, &context(vec![everything])).runs[0])[0], ("device", "MacBook Pro"));
}

#[test]
fn a_manifest_wins() {
    let (_, export, xml) = recorded(2);
    let mut context = context(vec![toc(&xml)]);
    context.duration = Some(Nanos::from_millis(60_000));
    context.run_weight = Millionths::new(2_500_000);
    context.labels = [("os", "lab image"), ("app_version", "5.1"), ("device", "")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .to_vec();
    let measured = measure(&export, &context);
    let notes = &measured.notes;
    assert_eq!(notes[0], "The file has 2 runs; the manifest's duration applies to each of them.");
    assert!(
        notes[1].starts_with("According to the manifest, run 1 took 60.000 s; according to its table of contents, "),
        "{notes:?}"
    );
    assert_eq!((notes.len(), measured.runs[0].record.notes.as_slice()), (3, &notes[..2]));
    for run in &measured.runs {
        let record = &run.record;
        assert_eq!((record.wall, record.wall_source), (context.duration, TimeSource::Manifest));
        assert_eq!((record.run_weight, record.wall_start), (context.run_weight, Nanos::default()));
        assert_eq!([record.label("os"), record.label("app_version")], [Some("lab image"), Some("5.1")]);
        assert_eq!(record.label("device"), Some("MacBook Pro"), "an empty cell says nothing");
    }
    context.duration = Some(Nanos::default());
    assert_eq!(measure(&export, &context).runs[0].record.wall_source, TimeSource::Toc);
}

/// If 10 s of weight were divided by a part of that time, the CPU use would exceed the possible maximum.
#[test]
fn a_manifest_that_cannot_be_is_not_believed() {
    let mut recording = support::Invented::random(2, &Size::small());
    recording.rows.iter_mut().for_each(|row| row.weight = 1_000_000);
    let last = recording.rows.len() - 1;
    let export_of = |recording: &support::Invented| {
        open(&render(recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, recording)))
    };
    let of = |export: &Recording, duration: u64, tocs: Vec<Toc>| {
        let context = RunContext { duration: Some(Nanos::from_nanos(duration)), ..context(tocs) };
        let Measured { mut runs, notes, .. } = export.measure(&context, &every_state()).unwrap();
        let record = runs.remove(0).record;
        ((record.wall.map(Nanos::as_nanos), record.wall_source, record.wall_start.as_nanos()), notes)
    };
    let first = recording.rows[0].time_ns;
    recording.rows[last].time_ns = first + 9_000_000_000;
    let (export, end) = (export_of(&recording), first + 9_000_000_000);
    let (told, notes) = of(&export, 7_999_999_999, Vec::new());
    assert_eq!(told, (Some(9_001_000_000), TimeSource::Samples, first));
    assert_eq!(
        notes,
        [
            "According to the manifest, run 1 took 8.000 s, but its samples span 9.000 s; the manifest's duration is not used."
        ]
    );
    let (told, notes) = of(&export, 1_000_000_000, vec![toc_of("12", "Deferred", "Mac")]);
    assert_eq!((told, notes.len()), ((Some(12_000_000_000), TimeSource::Toc, 0), 1));
    // Times may differ by a second from the recorded time.
    assert_eq!(of(&export, 8_000_000_001, Vec::new()).0.1, TimeSource::Manifest);
    assert_eq!(of(&export, 8_000_000_001, Vec::new()).0.0, Some(9_001_000_000));
    assert_eq!(of(&export, end, Vec::new()), ((Some(end), TimeSource::Manifest, 0), vec![]));
    // A ring buffer kept its last 9 s, and the 1 ms of the last sample's weight.
    recording.rows.iter_mut().for_each(|row| row.time_ns += 50_000_000_000);
    let (told, notes) = of(&export_of(&recording), 10_000_000_000, Vec::new());
    assert_eq!(told, (Some(10_000_000_000), TimeSource::Manifest, end + 40_001_000_000));
    assert!(notes.len() == 1 && notes[0].ends_with("ends with the last sample."), "{notes:?}");
    let (told, _) = of(&export_of(&recording), 8_500_000_000, Vec::new());
    assert_eq!(told, (Some(9_001_000_000), TimeSource::Manifest, end + 41_000_000_000));
}

/// The table of contents of a run of `duration` seconds.
fn toc_of(duration: &str, mode: &str, model: &str) -> Toc {
    toc(&format!(
        "<?xml version=\"1.0\"?>\n<trace-toc><run number=\"1\"><info><target><device model=\"{model}\"/></target><summary>\
         <start-date>2031-05-06T09:10:00.125+02:00</start-date><duration>{duration}</duration>\
         <recording-mode>{mode}</recording-mode></summary></info></run></trace-toc>"
    ))
}

#[test]
fn a_table_of_contents_that_cannot_be_is_not_believed() {
    let mut recording = support::Invented::random(2, &Size::small());
    let last = recording.rows.len() - 1;
    (recording.rows[last].time_ns, recording.rows[last].weight) = (10_000_000_000, 1_000_000);
    let first = recording.rows[0].time_ns;
    let export = open(&render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording)));
    let of_samples = (Some(Nanos::from_nanos(10_001_000_000 - first)), TimeSource::Samples, Nanos::from_nanos(first));
    let of = |tocs: Vec<Toc>| {
        let Measured { mut runs, notes, .. } = export.measure(&context(tocs), &every_state()).unwrap();
        let record = runs.remove(0).record;
        let device = record.label("device").map(str::to_owned);
        ((record.wall, record.wall_source, record.wall_start), device, record.start.is_some(), notes)
    };
    let told = |nanos| (Some(Nanos::from_nanos(nanos)), TimeSource::Toc, Nanos::default());
    let mac = || Some("Mac".to_owned());

    // Times may differ by a second from the recorded time; one nanosecond more means a different recording.
    assert_eq!(of(vec![toc_of("9.0", "Deferred", "Mac")]), (told(10_001_000_000), mac(), true, vec![]));
    // The part of the last sample after a recorded end was not recorded.
    assert_eq!(of(vec![toc_of("10.0", "Deferred", "Mac")]), (told(10_000_000_000), mac(), true, vec![]));
    let (wall, device, has_start, notes) = of(vec![toc_of("8.999999999", "Deferred", "Mac")]);
    assert_eq!((wall, device, has_start), (of_samples, None, false));
    assert_eq!(
        notes,
        [
            "According to a table of contents, run 1 took 9.000 s, but the export has samples up to 10.000 s; it belongs to another \
          recording and is not used."
        ]
    );

    // The fitting table of contents is used, although another one does not fit.
    let (wall, device, _, notes) = of(vec![toc_of("2", "Deferred", "Mac"), toc_of("12", "Deferred", "Mac")]);
    assert_eq!((wall, device, notes.len()), (told(12_000_000_000), mac(), 1));

    // Ring buffers keep only the end: device and date are right, but the duration does not describe the samples.
    let (wall, device, has_start, notes) = of(vec![toc_of("60", "Windowed (5 seconds)", "Mac")]);
    assert_eq!((wall, device, has_start, notes.len()), (of_samples, mac(), true, 1));
    assert!(notes[0].contains("\"Windowed (5 seconds)\""), "{notes:?}");

    // Two different tables of contents; two equal ones; one without a duration.
    let (wall, device, _, notes) = of(vec![toc_of("20", "Deferred", "Mac"), toc_of("21", "Deferred", "Mac")]);
    assert_eq!((wall, device), (of_samples, None));
    assert_eq!(notes, ["2 tables of contents differ on run 1; none of them is used."]);
    let twice = vec![toc_of("20", "Deferred", "Mac"), toc_of("20", "Deferred", "Mac")];
    assert_eq!(of(twice), (told(20_000_000_000), mac(), true, vec![]));
    assert_eq!(of(vec![toc_of("", "Deferred", "Mac")]), (of_samples, mac(), true, vec![]));
    assert_eq!(of(vec![toc_of("0.0", "Deferred", "Mac")]), (of_samples, mac(), true, vec![]));
    assert_eq!(
        of(vec![toc_of("", "Deferred", "Other"), toc_of("20", "Deferred", "Mac")]),
        (told(20_000_000_000), mac(), true, vec![])
    );
}

#[test]
fn one_sample_of_cycles_has_no_recorded_time() {
    let mut recording = support::Invented::random(2, &Size { rows: 1, waiting: false, ..Size::small() });
    recording.rows[0].time_ns = 3_400_000_000;
    let export = open(&render(&recording, &RenderOptions::new(Shape::Xcode27, Table::CpuProfile, &recording)));
    let record = measure(&export, &context(Vec::new())).runs.remove(0).record;
    assert_eq!((record.wall, record.wall_source, record.samples), (None, TimeSource::Samples, 1));
    assert_eq!(record.rate(record.weight), None);
    let record = measure(&export, &context(vec![toc_of("4", "Deferred", "Mac")])).runs.remove(0).record;
    assert_eq!(record.wall, Some(Nanos::from_millis(4_000)));
}

#[test]
fn what_gives_no_run_says_what_there_is() {
    let (recording, export, xml) = recorded(1);
    let refused = |export: &Recording, options: &MeasureOptions| {
        let NotMeasured { kind, reason } = export.measure(&context(Vec::new()), options).unwrap_err();
        assert_eq!(kind, FailureKind::NoSamples);
        reason
    };
    let default = MeasureOptions::default();
    let toc_only = "The file contains only a table of contents; export a CPU table, such as time-profile, with \
                    --xpath.";
    assert_eq!(refused(&open(&xml), &default), toc_only);
    assert_eq!(refused(&Recording::default(), &default), "There is no table.");

    let nodes = |content| RenderOptions::with_nodes(Shape::Xcode27, vec![Node { run: 1, table_index: 4, content }]);
    let empty = |schema| open(&render(&recording, &nodes(Content::Empty(schema))));
    assert_eq!(refused(&empty("os-log"), &default), "The file has no CPU table, only os-log.");
    assert_eq!(refused(&empty("time-profile"), &default), "There are no rows in time-profile.");

    let only = MeasureOptions { schemas: vec!["cpu-profile".to_owned()], ..default.clone() };
    assert_eq!(refused(&export, &only), "The file has no table cpu-profile, only time-profile.");
    let mut nobody = default.clone();
    nobody.selection.processes = vec![Matcher::new("nobody")];
    let reason = "None of the 60 samples of time-profile has a selected process, thread and state.";
    assert_eq!(refused(&export, &nobody), reason);
    let broken = render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording))
        .replace("<mnemonic>weight</mnemonic>", "<mnemonic>mass</mnemonic>")
        .replace("<mnemonic>time</mnemonic>", "<mnemonic>hour</mnemonic>");
    assert_eq!(refused(&open(&broken), &default), "None of the 60 rows of time-profile could be read.");
}

#[test]
fn rejected_rows_are_those_of_the_measured_table() {
    let recording = support::Invented::random(21, &Size { waiting: false, ..Size::small() });
    let xml = render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording));
    // The last row loses its cells.
    let start = xml.rfind("<row>").unwrap();
    let end = start + xml[start..].find("</row>").unwrap();
    let export = open(&format!("{}<row>{}", &xml[..start], &xml[end..]));
    let record = measure(&export, &context(Vec::new())).runs.remove(0).record;
    assert_eq!((record.rejected, record.samples), (1, recording.rows.len() as u64 - 1));
}
