//! Intervals of signposts and hangs: those of real exports and invented ones, compared with what `tests/oracle/intervals.py` finds
//! with another XML reader; damaged tables; and which samples they select, compared with a slow form.
//!
//! `TRACEPARSE_PYTHON` names the interpreter (`python3` unless told); without one, what needs it reports itself as ignored. So does
//! what needs real exports without `TRACEPARSE_CORPUS`.

mod damaged;
mod selection;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use support::{Content, HangRisk, Invented, Node, Part, RenderOptions, Rng, Shape, Signpost, Size, Table, render};
use traceparse::recording::{Interval, IntervalOrigin, Intervals, Options};

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
    let has_python = Command::new(python()).arg("--version").output().is_ok_and(|output| output.status.success());
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let has_corpus = corpus.is_some();
    let folder = corpus.unwrap_or_default().join("xctrace");
    let mut trials = damaged::trials();
    trials.extend(selection::trials());
    for (file, counts) in CORPUS {
        let path = folder.join(format!("{file}.xml"));
        let test = move || compare_file(&path, counts);
        trials.push(trial!(format!("corpus::{file}"), test).with_ignored_flag(!(has_corpus && has_python)));
    }
    let real_pairs = move || pairs_are_rows(&folder);
    trials.push(trial!("corpus::pairs_are_rows", real_pairs).with_ignored_flag(!has_corpus));
    trials.push(trial!("invented::random", compare_random).with_ignored_flag(!has_python));
    trials.push(trial!("invented::pairs_are_rows", invented_pairs_are_rows));
    trials
}

fn python() -> String {
    std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned())
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

fn compare_file(path: &Path, counts: [usize; 3]) -> Result<(), Failed> {
    let xml = fs::read(path)?;
    let found = find(&xml);
    let origins = [IntervalOrigin::Signpost, IntervalOrigin::SignpostEvents, IntervalOrigin::Hang];
    assert_eq!(origins.map(|origin| count(&found, origin)), counts);
    assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
    compare(&xml, &found)
}

/// The table that the oracle reads.
fn table(found: &Intervals) -> String {
    let mut text = String::new();
    for risk in &found.hang_risks {
        let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let (run, time) = (risk.run, risk.time.as_nanos());
        let [message, severity, event_type, process] = [&risk.message, &risk.severity, &risk.event_type, &risk.process]
            .map(|word| word.as_deref().unwrap_or_default());
        let (pid, tid) = (number(risk.pid), number(risk.tid));
        writeln!(text, "risk\t{run}\t{time}\t\t{message}\t{severity}\t{event_type}\t\t{process}\t{pid}\t{tid}\t")
            .unwrap();
    }
    for interval in &found.intervals {
        let origin = match interval.origin {
            IntervalOrigin::Signpost => "row",
            IntervalOrigin::SignpostEvents => "pair",
            IntervalOrigin::Hang => "hang",
            IntervalOrigin::Region => unreachable!("exports have none"),
        };
        let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let word = |word: &Option<std::sync::Arc<str>>| word.as_deref().unwrap_or_default().to_owned();
        let fields = [
            origin.to_owned(),
            interval.run.to_string(),
            number(Some(interval.start.as_nanos())),
            number(interval.end.map(|end| end.as_nanos())),
            word(&interval.name),
            word(&interval.subsystem),
            word(&interval.category),
            number(interval.identifier),
            word(&interval.process),
            number(interval.pid),
            number(interval.tid),
            word(&interval.hang_type),
        ];
        writeln!(text, "{}", fields.join("\t")).unwrap();
    }
    text
}

fn compare(xml: &[u8], found: &Intervals) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (export, intervals) = (folder.path().join("export.xml"), folder.path().join("found.tsv"));
    fs::write(&export, xml)?;
    fs::write(&intervals, table(found))?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/intervals.py");
    let done = Command::new(python()).arg(script).args([export, intervals]).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if done.status.success() { Ok(()) } else { Err(said.into()) }
}

/// The same interval, whichever table it is of.
fn plain(interval: &Interval) -> Interval {
    Interval { origin: IntervalOrigin::Signpost, ..interval.clone() }
}

/// Two real exports of one recording, each cut after 50 rows: what is paired of one are rows of the other one.
fn pairs_are_rows(folder: &Path) -> Result<(), Failed> {
    let events = find(&fs::read(folder.join("26.2/signpost_events.xml"))?);
    let rows = find(&fs::read(folder.join("26.2/signpost_intervals.xml"))?);
    let known: HashSet<Interval> = rows.intervals.iter().map(plain).collect();
    let (pairs, open): (Vec<_>, Vec<_>) = events.intervals.iter().partition(|interval| interval.end.is_some());
    assert_eq!((pairs.len(), open.len()), (10, 3));
    assert!(pairs.iter().all(|pair| known.contains(&plain(pair))), "all 10 pairs are rows");
    // The ends of those that are open stood behind the cut: the rows have them.
    for interval in open {
        let same = |row: &&Interval| Interval { end: None, ..plain(row) } == plain(interval);
        assert_eq!(rows.intervals.iter().filter(same).count(), 1, "{interval:?}");
    }
    // Of the rows that ended while events were kept, none is missing among the pairs.
    let last = events.intervals.iter().map(|interval| interval.start).max().unwrap();
    let ended = rows.intervals.iter().filter(|row| row.end.is_some_and(|end| end < last)).count();
    assert_eq!(ended, 10);
    let mut both = events.clone();
    both.append(rows.clone());
    assert_eq!(both.distinct().len(), rows.intervals.len(), "together they are those of the rows");
    Ok(())
}

/// Signposts of a recording: of a few names and identifiers, so that some nest; a few without an end.
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

/// With a message whose parts have ids of their own.
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

fn compare_random() -> Result<(), Failed> {
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

/// Signposts that do not nest in others of their kind are the same in both tables.
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
