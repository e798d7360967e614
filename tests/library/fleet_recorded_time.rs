//! The estimated time of runs without a recorded time: cases counted by hand, and sampling at a fixed interval, with which no thread
//! exceeds 100 %.

use proptest::prelude::*;
use support::builder::Builder;
use support::{Content, Invented, Node, RenderOptions, Rng, SampleKind, Shape, Table, fleet, render};
use traceparse::fleet::{MeasureOptions, RunMeasures, RunRecord};
use traceparse::profile::{Selection, TimeRange};
use traceparse::read;
use traceparse::recording::{Options, Recording, TimeSource, Toc};
use traceparse::units::{Millionths, Nanos};

const MILLISECOND: u64 = 1_000_000;
/// A core that is busy all the time.
const WHOLE: Millionths = Millionths::new(100_000_000);

/// A recording with these samples: thread, time and weight.
fn recording(samples: &[(usize, u64, u64)]) -> Invented {
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 501, "/Applications/Orchard");
    let app = builder.image("/Applications/Orchard", "arm64", "11111111-2222-3333-4444-555555555555", 0x1_0000_0000);
    builder.function("main", app, Some("main"), None);
    for thread in 0..=samples.iter().map(|(thread, ..)| *thread).max().unwrap_or(0) {
        builder.thread(process, 0x101 + thread as u64, &[&format!("Worker {thread}")]);
    }
    for &(thread, time, weight) in samples {
        builder.row(time, thread, "main").weight = weight;
    }
    builder.recording
}

/// The same samples of one thread, in milliseconds.
fn millis(samples: &[(u64, u64)]) -> Vec<(usize, u64, u64)> {
    samples.iter().map(|(time, weight)| (0, time * MILLISECOND, weight * MILLISECOND)).collect()
}

fn xml(samples: &[(usize, u64, u64)], table: Table) -> String {
    let recording = recording(samples);
    render(&recording, &RenderOptions::new(Shape::Xcode27.for_table(table), table, &recording))
}

fn open(xml: &str) -> Recording {
    read(xml.as_bytes(), "test.xml", &Options { allow_truncated: true, ..Options::default() }).unwrap()
}

fn measured(export: &Recording, time: Option<TimeRange>, tocs: Vec<Toc>) -> RunMeasures {
    let options = MeasureOptions { selection: Selection { time, ..Selection::default() }, ..MeasureOptions::default() };
    export.measure(&fleet::context(tocs), &options).unwrap().runs.remove(0)
}

/// The recorded time in nanoseconds, and the CPU use of the run.
fn told(record: &RunRecord) -> (Option<u64>, Option<Millionths>) {
    assert_eq!(record.wall_source, TimeSource::Samples);
    (record.wall.map(Nanos::as_nanos), record.rate(record.weight))
}

fn estimate(samples: &[(usize, u64, u64)], table: Table) -> (Option<u64>, Option<Millionths>) {
    told(&measured(&open(&xml(samples, table)), None, Vec::new()).record)
}

fn percent(number: u64) -> Option<Millionths> {
    Some(Millionths::new(number * 1_000_000))
}

#[test]
fn samples_take_the_time_that_they_weigh() {
    let of = |samples: &[(u64, u64)]| estimate(&millis(samples), Table::TimeProfile);
    assert_eq!(of(&[(7, 1)]), (Some(MILLISECOND), percent(100)));
    assert_eq!(of(&[(7, 1), (8, 1)]), (Some(2 * MILLISECOND), percent(100)));
    // In seven of ten milliseconds, nothing ran.
    assert_eq!(of(&[(7, 1), (8, 1), (16, 1)]), (Some(10 * MILLISECOND), percent(30)));
    // One sample that represents many.
    assert_eq!(of(&[(0, 1), (1, 7), (8, 1)]), (Some(9 * MILLISECOND), percent(100)));
    assert_eq!(of(&[(0, 1), (2, 8)]), (Some(10 * MILLISECOND), percent(90)));
    // A sample without weight is a moment: it extends the time by its distance.
    assert_eq!(of(&[(0, 0), (4, 1)]), (Some(5 * MILLISECOND), percent(20)));
    assert_eq!(of(&[(4, 1), (8, 0)]), (Some(4 * MILLISECOND), percent(25)));
    assert_eq!(of(&[(4, 0)]), (None, None));
}

#[test]
fn threads_share_the_time() {
    let ticks = |ticks: u64| -> Vec<(usize, u64, u64)> {
        (0..ticks).flat_map(|tick| (0..10).map(move |thread| (thread, tick * MILLISECOND, MILLISECOND))).collect()
    };
    assert_eq!(estimate(&ticks(1), Table::TimeProfile), (Some(MILLISECOND), percent(1_000)));
    assert_eq!(estimate(&ticks(2), Table::TimeProfile), (Some(2 * MILLISECOND), percent(1_000)));
    let run = measured(&open(&xml(&ticks(2), Table::TimeProfile)), None, Vec::new());
    let threads = thread_weights(&run);
    assert_eq!(threads.len(), 10);
    assert!(threads.iter().all(|&(_, weight)| run.record.rate(weight) == Some(WHOLE)));
}

/// The time in which a thread only waits was also recorded.
#[test]
fn what_does_not_count_was_recorded() {
    let mut recording = recording(&[(0, 0, MILLISECOND), (1, MILLISECOND, 9 * MILLISECOND)]);
    (recording.rows[1].state, recording.rows[1].core) = ("Blocked", None);
    let xml = render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording));
    assert_eq!(told(&measured(&open(&xml), None, Vec::new()).record), (Some(10 * MILLISECOND), percent(10)));
}

#[test]
fn what_is_no_time_ends_with_its_last_sample() {
    let of = |samples: &[(usize, u64, u64)], table| estimate(samples, table);
    let two = [(0, 0, 1_000_000), (0, 2 * MILLISECOND, 1_000_000)];
    // 2 M cycles, and 2 samples, in 2 ms.
    assert_eq!(of(&two, Table::CpuProfile), (Some(2 * MILLISECOND), Some(Millionths::new(1_000_000_000 * 1_000_000))));
    assert_eq!(of(&two, Table::TimeSample), (Some(2 * MILLISECOND), Some(Millionths::new(1_000 * 1_000_000))));
    assert_eq!(of(&two[..1], Table::CpuProfile), (None, None));
    assert_eq!(of(&two[..1], Table::TimeSample), (None, None));
    let mut snapshot = recording(&two);
    snapshot.rows[0].kind = SampleKind::Stackshot;
    let xml = render(&snapshot, &RenderOptions::new(Shape::TimeSample, Table::TimeSample, &snapshot));
    assert_eq!(told(&measured(&open(&xml), None, Vec::new()).record).0, Some(2 * MILLISECOND));
}

/// A run with two tables. The table of cycles begins first and ends last, except for the part that the other table's last sample covers.
#[test]
fn all_tables_of_a_run_tell() {
    let recording = recording(&millis(&[(0, 1), (2, 1), (3, 1), (5, 4), (6, 1)]));
    let node = |table: Table, rows: &[usize]| Node {
        run: 1,
        table_index: table.usual_index(),
        content: Content::Samples { table, rows: rows.to_vec() },
    };
    for nodes in [
        vec![node(Table::TimeProfile, &[1, 3]), node(Table::CpuProfile, &[0, 2, 4])],
        vec![node(Table::CpuProfile, &[0, 2, 4]), node(Table::TimeProfile, &[1, 3])],
    ] {
        let run =
            measured(&open(&render(&recording, &RenderOptions::with_nodes(Shape::Xcode27, nodes))), None, Vec::new());
        assert_eq!((run.record.schema.as_str(), run.record.wall_start), ("time-profile", Nanos::default()));
        assert_eq!(told(&run.record).0, Some(9 * MILLISECOND));
    }
}

#[test]
fn a_cut_file_ends_with_what_its_last_sample_covers() {
    let xml = xml(&millis(&[(3, 1), (4, 1), (5, 1)]), Table::TimeProfile);
    let cut = &xml[..xml.rfind("<row>").unwrap() + 20];
    assert_eq!(told(&measured(&open(cut), None, Vec::new()).record), (Some(2 * MILLISECOND), percent(100)));
    // A table of contents records when the run began.
    let toc = "<trace-toc><run number=\"1\"><info><summary><duration>10</duration></summary></info></run></trace-toc>";
    let toc = open(toc).tocs().next().unwrap().clone();
    let run = measured(&open(cut), None, vec![toc]);
    assert_eq!(told(&run.record), (Some(5 * MILLISECOND), percent(40)));
    assert!(run.record.notes.iter().any(|note| note.ends_with("ends with its last complete sample.")));
}

#[test]
fn ends_a_range_of_time_exactly() {
    let micros = |number: u64| Nanos::from_nanos(number * 1_000);
    // A sample every millisecond from 0.3 ms on: until 5.3 ms.
    let samples: Vec<_> = (0..5).map(|tick| (0, tick * MILLISECOND + 300_000, MILLISECOND)).collect();
    let export = open(&xml(&samples, Table::TimeProfile));
    let of = |start: u64, end: Option<u64>| {
        let range = TimeRange { start: micros(start), end: end.map(micros) };
        told(&measured(&export, Some(range), Vec::new()).record)
    };
    assert_eq!(of(0, None), (Some(5 * MILLISECOND), percent(100)));
    // A sample keeps its complete weight, even if the range ends within its time.
    assert_eq!(of(0, Some(3_000)), (Some(2_700_000), Some(Millionths::new(111_111_111))));
    assert_eq!(of(1_300, Some(2_300)), (Some(MILLISECOND), percent(100)));
    assert_eq!(of(1_300, Some(2_550)), (Some(1_250_000), percent(160)));
    assert_eq!(of(1_300, Some(3_300)), (Some(2 * MILLISECOND), percent(100)));
    // The recording ends at 5.3 ms.
    assert_eq!(of(2_000, Some(9_000)).0, Some(3_300_000));
    // The second half has no samples, but it was recorded.
    let export = open(&xml(&millis(&[(0, 1), (9, 1)]), Table::TimeProfile));
    let range = TimeRange { start: Nanos::default(), end: Some(Nanos::from_millis(4)) };
    assert_eq!(told(&measured(&export, Some(range), Vec::new()).record), (Some(4 * MILLISECOND), percent(25)));
}

/// A second full of samples is a complete second, and shows one core in use.
#[test]
fn a_second_of_samples_is_a_whole_second() {
    let samples: Vec<_> = (0..1_000).map(|tick| (0, tick * MILLISECOND, MILLISECOND)).collect();
    let seconds =
        |samples| measured(&open(&xml(samples, Table::TimeProfile)), None, Vec::new()).record.whole_seconds().remove(0);
    assert_eq!(seconds(&samples), 0..1);
    assert_eq!(seconds(&samples[..999]), 0..0);
    assert_eq!(seconds(&samples[1..]), 1..1);
}

/// By thread: the weight of its samples.
fn thread_weights(run: &RunMeasures) -> Vec<(String, u64)> {
    let rows = run.windows.chunk_by(|a, b| a.thread == b.thread);
    rows.map(|rows| (run.name(rows[0].thread).to_owned(), rows.iter().map(|row| row.weight).sum())).collect()
}

/// The samples of a sampler at a fixed interval: each thread at some of its ticks, or at one for several of them.
fn sampled(seed: u64, interval: u64, ticks: u64, threads: usize) -> Vec<(usize, u64, u64)> {
    let mut rng = Rng::new(seed);
    let phase = rng.below(2 * interval);
    let mut samples = Vec::new();
    for thread in 0..threads {
        let mut tick = rng.below(3);
        while tick < ticks {
            let covered = if rng.below(4) == 0 { 1 + rng.below(5) } else { 1 };
            samples.push((thread, phase + tick * interval, covered * interval));
            tick += covered + if rng.below(3) == 0 { rng.below(4) } else { 0 };
        }
    }
    if samples.is_empty() {
        samples.push((0, phase, interval));
    }
    samples
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_thread_runs_more_than_all_the_time(
        seed in any::<u64>(),
        interval in 1_000..20_000_000_u64,
        ticks in 1..60_u64,
        threads in 1..6_usize,
        range in proptest::option::of((0..600_u64, 1..600_u64)),
        order in any::<u64>(),
    ) {
        let recording = recording(&sampled(seed, interval, ticks, threads));
        let options = RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &recording).shuffled(order);
        let export = open(&render(&recording, &options));
        // In tenths of an interval.
        let time = |tenths: u64| Nanos::from_nanos(tenths * interval / 10);
        let range = range.map(|(start, length)| TimeRange { start: time(start), end: Some(time(start + length)) });
        let counts = |range: TimeRange| export.profile.samples().iter().any(|sample| range.contains(sample.time));
        let range = range.filter(|&range| counts(range));
        let run = measured(&export, range, Vec::new());
        let threads = thread_weights(&run);
        prop_assert!(!threads.is_empty());
        // The last sample of a range may cover time after the range.
        let beyond = export.profile.samples().iter().map(|sample| sample.weight).max().unwrap();
        for (thread, weight) in threads {
            let inside = if range.is_some() { weight.saturating_sub(beyond) } else { weight };
            prop_assert!(run.record.rate(inside).unwrap() <= WHOLE, "{thread}: {weight} in {:?}", run.record.wall);
        }
    }
}
