//! Signpost and hang intervals of real and invented exports, compared with `tests/oracle/intervals.py`, which uses another XML reader;
//! damaged tables; and the samples that intervals select, compared with a slow implementation.

mod damaged;
mod selection;

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use support::{Content, HangRisk, Invented, Node, Part, RenderOptions, Rng, Shape, Signpost, Size, Table, render};
use traceparse::recording::{Interval, IntervalOrigin, Intervals, Options};
use traceparse::units::Nanos;

use crate::programs::{corpus, has_python, in_corpus, oracle};

/// Real exports, with the rows, pairs and hangs in them.
const CORPUS: [(&str, [usize; 3]); 9] = [
    ("26.2/signpost_intervals", [50, 0, 0]),
    ("26.2/signpost_events", [0, 13, 0]),
    ("26.2/hangs_potential_hangs", [0, 0, 1]),
    ("26.2/finder_cpu_profile", [0, 0, 0]),
    ("26.4/time-sample", [0, 0, 0]),
    ("27/potential-hangs", [0, 0, 23]),
    ("27/hang-risks", [0, 0, 0]),
    ("27/OSSignpostIntervals", [2, 0, 0]),
    ("27/PointsOfInterestEvents", [0, 0, 0]),
];

pub(crate) fn trials() -> Vec<Trial> {
    let (mut trials, has_corpus) = (damaged::trials(), corpus().is_some());
    trials.extend(selection::trials());
    for (file, counts) in CORPUS {
        let trial = trial!(format!("corpus::{file}"), move || compare_file(file, counts));
        trials.push(trial.with_ignored_flag(!has_corpus || !has_python()));
    }
    trials.extend(trials![if has_corpus; pairs_are_rows]);
    trials.extend(trials![if has_python(); invented_ones_are_those_of_the_oracle]);
    trials.extend(trials![invented_pairs_are_rows]);
    trials
}

fn real(file: &str) -> Result<Vec<u8>, Failed> {
    Ok(fs::read(in_corpus(&format!("xctrace/{file}.xml")))?)
}

fn find(xml: &[u8]) -> Intervals {
    let found = Intervals::read(xml, "test.xml", &Options::default()).expect("the export can be read");
    for size in [1, 61, 4_096] {
        let options = Options { buffer_size: size, ..Options::default() };
        assert_eq!(Intervals::read(xml, "test.xml", &options).unwrap(), found, "in blocks of {size} bytes");
    }
    for table in &found.tables {
        assert_eq!(table.rows, table.used + table.unused + table.rejected.total(), "{table:?}");
    }
    found
}

fn count(found: &Intervals, origin: IntervalOrigin) -> usize {
    found.intervals.iter().filter(|interval| interval.origin == origin).count()
}

fn compare_file(file: &str, counts: [usize; 3]) -> Result<(), Failed> {
    let xml = real(file)?;
    let found = find(&xml);
    let origins = [IntervalOrigin::Signpost, IntervalOrigin::SignpostEvents, IntervalOrigin::Hang];
    assert_eq!(origins.map(|origin| count(&found, origin)), counts);
    assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
    compare(&xml, &found)
}

/// The table that the oracle reads.
fn table(found: &Intervals) -> String {
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let word = |word: &Option<Arc<str>>| word.as_deref().unwrap_or_default().to_owned();
    let risks = found.hang_risks.iter().map(|risk| {
        let (run, time) = (risk.run.to_string(), risk.time.as_nanos().to_string());
        let [message, severity, event_type] = [&risk.message, &risk.severity, &risk.event_type].map(word);
        let whose = [word(&risk.process), number(risk.pid), number(risk.tid), String::new()];
        let what = ["risk".to_owned(), run, time, String::new(), message, severity, event_type, String::new()];
        [&what[..], &whose].concat()
    });
    let intervals = found.intervals.iter().map(|interval| {
        let origin = match interval.origin {
            IntervalOrigin::Signpost => "row",
            IntervalOrigin::SignpostEvents => "pair",
            IntervalOrigin::Hang => "hang",
            IntervalOrigin::Region | IntervalOrigin::Table => {
                unreachable!("exports have none, or they were not requested")
            }
        };
        let [start, end] = [Some(interval.start), interval.end].map(|time| number(time.map(Nanos::as_nanos)));
        let [name, subsystem, category] = [&interval.name, &interval.subsystem, &interval.category].map(word);
        let identifier = number(interval.identifier);
        let what = [origin.to_owned(), interval.run.to_string(), start, end, name, subsystem, category, identifier];
        let whose = [&interval.process, &interval.hang_type].map(word);
        let [process, hang_type] = whose;
        [&what[..], &[process, number(interval.pid), number(interval.tid), hang_type]].concat()
    });
    risks.chain(intervals).map(|fields| fields.join("\t") + "\n").collect()
}

fn compare(xml: &[u8], found: &Intervals) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (export, intervals) = (folder.path().join("export.xml"), folder.path().join("found.tsv"));
    fs::write(&export, xml)?;
    fs::write(&intervals, table(found))?;
    oracle("intervals.py", [export, intervals]).map(drop)
}

/// The identity of an interval, regardless of its table.
fn plain(interval: &Interval) -> Interval {
    Interval { origin: IntervalOrigin::Signpost, ..interval.clone() }
}

/// Two real exports of one recording, each cut after 50 rows: one has pairs, the other has rows of the same intervals.
fn pairs_are_rows() -> Result<(), Failed> {
    let events = find(&real("26.2/signpost_events")?);
    let rows = find(&real("26.2/signpost_intervals")?);
    let known: HashSet<Interval> = rows.intervals.iter().map(plain).collect();
    let (pairs, open): (Vec<_>, Vec<_>) = events.intervals.iter().partition(|interval| interval.end.is_some());
    assert_eq!((pairs.len(), open.len()), (10, 3));
    assert!(pairs.iter().all(|pair| known.contains(&plain(pair))), "all 10 pairs are rows");
    // The ends of open intervals came after the cut, but the rows contain them.
    for interval in open {
        let same = |row: &&Interval| Interval { end: None, ..plain(row) } == plain(interval);
        assert_eq!(rows.intervals.iter().filter(same).count(), 1, "{interval:?}");
    }
    // Every row that ended while events were kept also exists as a pair.
    let last = events.intervals.iter().map(|interval| interval.start).max().unwrap();
    let ended = rows.intervals.iter().filter(|row| row.end.is_some_and(|end| end < last)).count();
    assert_eq!(ended, 10);
    let mut both = events.clone();
    both.append(rows.clone());
    assert_eq!(both.distinct().len(), rows.intervals.len(), "together they are those of the rows");
    Ok(())
}

/// Signposts with few names and identifiers, so some are nested. A few have no end.
fn signposts(recording: &Invented, run: u32, rng: &mut Rng) -> Vec<Signpost> {
    let rows = recording.rows_of_run(run);
    let count = rng.below(40);
    let one = |rng: &mut Rng| {
        let (row, other) = (*rng.pick(&rows), *rng.pick(&rows));
        let start = recording.rows[row].time_ns + rng.below(2_000_000);
        let scope = *rng.pick(&["Thread", "Process", "System"]);
        let end_row = if scope == "System" { other } else { row };
        let name = *rng.pick(&["Layout", "Draw <all> & \"more\"", "Sync"]);
        let identifier = *rng.pick(&[1, 2, 0xeeee_b0b5_b2b2_eeee]);
        let whole = Signpost::new(name, start, start + rng.below(5_000_000), row);
        let (start_ns, end_ns) = match rng.below(10) {
            0 => (None, whole.end_ns),
            1 => (whole.start_ns, None),
            _ => (whole.start_ns, whole.end_ns),
        };
        Signpost { identifier, scope, start_ns, end_ns, rows: (row, end_row), ..whole }
    };
    (0..count).map(|_| one(rng)).collect()
}

/// With a message whose parts have separate ids.
fn risk(time_ns: u64, row: usize) -> HangRisk {
    let parts =
        vec![Part::Name("Layout".to_owned()), Part::Number(1_000 * time_ns), Part::Duration(time_ns * 1_280_000)];
    let message = vec![Part::Text("waited for ".to_owned()), Part::Log(parts), Part::None];
    HangRisk { time_ns, message, severity: "High", event_type: "Begin", row }
}

/// A document with samples, and with intervals in every table and run.
fn invented(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let recording = Invented::random(seed, &Size { runs: 2, ..Size::small() });
    let mut nodes = Vec::new();
    for run in recording.runs() {
        let all = signposts(&recording, run, &mut rng);
        let row = recording.rows_of_run(run)[0];
        let hang = |start_ns| support::other_tables::Hang { start_ns, duration_ns: 600_000_000, row };
        let contents = [
            Content::SignpostIntervals(all.clone()),
            Content::RecentIntervals(all[all.len() / 2..].to_vec()),
            Content::SignpostEvents(all),
            Content::HangRisks((0..4).map(|time| risk(time, row)).collect()),
            Content::PotentialHangs(vec![hang(5), hang(1_000)]),
            Content::FileCalls(vec![row]),
        ];
        nodes.extend(contents.into_iter().map(|content| Node { run, table_index: 3, content }));
        nodes.insert(rng.index(nodes.len()), Node::samples(run, Table::TimeProfile, &recording));
    }
    rng.shuffle(&mut nodes);
    let shape = *rng.pick(&[Shape::Xcode12, Shape::Xcode14_3, Shape::Xcode26_4, Shape::Xcode27]);
    render(&recording, &RenderOptions::with_nodes(shape, nodes))
}

fn invented_ones_are_those_of_the_oracle() -> Result<(), Failed> {
    let mut total = 0;
    for seed in 0..25 {
        let xml = invented(seed);
        let found = find(xml.as_bytes());
        total += found.intervals.len();
        assert!(found.diagnostics.is_empty(), "seed {seed}: {:?}", found.diagnostics);
        compare(xml.as_bytes(), &found).map_err(|failed| format!("seed {seed}: {failed:?}"))?;
    }
    assert!(total > 500, "only {total}");
    Ok(())
}

/// Signposts that are not nested in signposts of the same kind are equal in both tables.
fn invented_pairs_are_rows() -> Result<(), Failed> {
    let recording = Invented::random(3, &Size::small());
    let last = recording.rows.len() - 1;
    let signposts: Vec<Signpost> = (0..40)
        .map(|number| Signpost {
            identifier: number / 2,
            rows: (0, if number % 3 == 0 { last } else { 0 }),
            scope: "System",
            ..Signpost::new(["A", "B"][number as usize % 2], 1_000 * number, 1_000 * number + 900, 0)
        })
        .collect();
    let node = |content| Node { run: 1, table_index: 2, content };
    let nodes = vec![
        node(Content::SignpostEvents(signposts.clone())),
        node(Content::SignpostIntervals(signposts)),
        Node::samples(1, Table::TimeProfile, &recording),
    ];
    let found = find(render(&recording, &RenderOptions::with_nodes(Shape::Xcode27, nodes)).as_bytes());
    let (pairs, rows) = found.intervals.split_at(40);
    assert_eq!(pairs.iter().map(plain).collect::<Vec<_>>(), rows);
    assert_eq!(found.distinct().len(), 40);
    assert_eq!((found.tables[0].rows, found.tables[0].used, found.tables[0].unused), (80 + 14, 80, 14));
    Ok(())
}
