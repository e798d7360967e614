//! The union of all tables with intervals, against a reader of whole tables (`bundle_tables.py`, beside the corpus), which shares nothing
//! with this library or with the reader of mutants. Its rows are paired and put together here, slowly.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;
use traceparse::bundle::Bundle;
use traceparse::files::FileSystem;
use traceparse::recording::{Intervals, Options};

use super::mutants::MARKS;
use super::oracle::Oracle;
use support::bundle::{BundleOptions, Version, from_zip, to_folder, write_bundle};
use support::other_tables::Hang;
use support::writer::Content;
use support::{HangRisk, Invented, Node, Part, Rng, Signpost, Size};

/// Run, name, process, start and end, all as texts; a hang has its type for a name.
type Outline = [String; 5];

/// Every interval once, hangs, and what risks read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Union {
    signposts: BTreeSet<Outline>,
    hangs: BTreeSet<Outline>,
    risks: Vec<[String; 5]>,
    rows: u64,
}

/// Run, name, process and start of what a row of a table says has an end.
type Ended = BTreeSet<[String; 4]>;

fn script(corpus: &Path) -> PathBuf {
    corpus.join("../oracles/bundle_tables.py")
}

pub(crate) fn is_there(corpus: Option<&Path>) -> bool {
    Oracle::is_there() && corpus.is_some_and(|corpus| script(corpus).is_file())
}

/// Real bundles: what no row was seen of must not be made up.
pub(crate) fn real(corpus: &Path) -> Result<(), Failed> {
    for (path, folder) in [("16.0/four-runs.trace.zip", "four-runs.trace"), ("26.2/finder.trace.zip", "finder.trace")] {
        let files = from_zip(&std::fs::read(corpus.join("xctrace").join(path))?, folder);
        let (union, found) = compare(corpus, &files)?;
        println!("{folder}: {} rows in {} tables", union.rows, found.tables.len());
        assert_eq!(found.tables.len(), if folder == "four-runs.trace" { 15 } else { 0 }, "{:?}", found.tables);
    }
    Ok(())
}

pub(crate) fn invented(corpus: &Path) -> Result<(), Failed> {
    let (mut signposts, mut doubles, mut risks) = (0, 0, 0);
    for seed in 0..24 {
        let recording = Invented::random(seed, &Size { rows: 12, runs: 1 + (seed % 2) as u32, ..Size::small() });
        let options = BundleOptions::random(nodes(&recording, seed), seed);
        let version = [Version::V13, Version::V16, Version::V26][seed as usize % 3];
        let options = BundleOptions { version, symbols: None, array_block_size: 4_000, ..options };
        let (union, found) = compare(corpus, &write_bundle(&recording, &options))?;
        signposts += union.signposts.len();
        doubles += found.intervals.len() - union.signposts.len() - union.hangs.len();
        risks += union.risks.len();
    }
    assert!(signposts > 300 && doubles > 200 && risks > 100, "{signposts} {doubles} {risks}");
    Ok(())
}

/// Tables of which some have what others have, and some do not.
fn nodes(recording: &Invented, seed: u64) -> Vec<Node> {
    let mut rng = Rng::new(seed ^ 0x0111);
    let mut nodes = Vec::new();
    for run in recording.runs() {
        let rows = recording.rows_of_run(run);
        let signpost = |rng: &mut Rng, category: &str| {
            let start = rng.below(5_000);
            Signpost {
                category: category.to_owned(),
                identifier: rng.below(4),
                scope: ["Process", "Process", "Thread", "System"][rng.index(4)],
                start_ns: (!rng.one_in(9)).then_some(start),
                end_ns: (!rng.one_in(9)).then(|| start + rng.below(1_000)),
                rows: (*rng.pick(&rows), *rng.pick(&rows)),
                ..Signpost::new(["load", "Möbius", "<a> & b"][rng.index(3)], 0, 0, 0)
            }
        };
        let [points, induced, others] = ["PointsOfInterest", "InduceCondition", "work"]
            .map(|category| (0..rng.index(10)).map(|_| signpost(&mut rng, category)).collect::<Vec<_>>());
        let hang = |start_ns: u64| Hang { start_ns, duration_ns: 400_000_000 + start_ns * 50_000_000, row: rows[0] };
        let risk = |time_ns| HangRisk {
            time_ns,
            message: vec![
                Part::Text("waited: ".to_owned()),
                Part::Log(vec![Part::Name("a".to_owned()), Part::Text("b".to_owned())]),
            ],
            severity: "High",
            event_type: "Wait",
            row: rows[1],
        };
        let contents = [
            Content::SignpostEvents(points.clone()),
            Content::Regions(points.clone()),
            Content::SignpostEvents(induced.clone()),
            Content::SignpostIntervals([points, others].concat()),
            Content::RecentIntervals(induced),
            Content::PotentialHangs((0..rng.below(5)).map(hang).collect()),
            Content::HangRisks((0..rng.below(9)).map(risk).collect()),
        ];
        let node = |(content, table_index)| Node { run, table_index, content };
        nodes.extend(contents.into_iter().zip(1..).map(node).filter(|_| !rng.one_in(5)));
    }
    nodes
}

/// The reading of a bundle by both readers, which must be the same.
fn compare(corpus: &Path, files: &support::bundle::Files) -> Result<(Union, Intervals), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("orchard.trace");
    to_folder(files, &path);
    let python = std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let done = Command::new(python).arg(script(corpus)).arg(&path).args(MARKS).output()?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
    }
    let (mut expected, mut ended) = (Union::default(), Ended::new());
    for line in done.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        expected.add(&serde_json::from_slice(line)?, &mut ended);
    }
    // What is open in one table and not in another one has an end.
    let beginning = |[run, name, pid, start, _]: &Outline| [run, name, pid, start].map(String::clone);
    expected.signposts.retain(|outline| outline[4] != "open" || !ended.contains(&beginning(outline)));
    expected.risks.sort();
    let bundle = Bundle::open(&FileSystem, &path, &Options::default())?;
    let found = bundle.intervals("orchard")?;
    assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
    let (union, count) = union(&found);
    assert_eq!(union, expected);
    assert!(count >= union.signposts.len(), "as an outline tells less");
    Ok((union, found))
}

fn spelled(value: &Value) -> String {
    if value.is_null() { "none".to_owned() } else { value.as_str().map_or_else(|| value.to_string(), str::to_owned) }
}

impl Union {
    /// Adds a table of the other reader.
    fn add(&mut self, table: &Value, ended: &mut Ended) {
        let run = table["run"].to_string();
        let rows: Vec<&Value> = table["rows"].as_array().into_iter().flatten().collect();
        self.rows += rows.len() as u64;
        let number = |row: &Value, name: &str| row[name].as_u64().expect("a number");
        let outline = |row: &Value, name: &str| {
            let (start, duration) = (number(row, "start"), number(row, "duration"));
            let pid = spelled(&row["process"]["pid"]);
            [run.clone(), spelled(&row[name]), pid, start.to_string(), (start + duration).to_string()]
        };
        match table["schema"].as_str().expect("a name") {
            "os-signpost" => self.signposts.extend(pairs(&run, rows)),
            "region-of-interest" => {
                let intervals = rows.into_iter().filter(|row| row["class"] == "Interval");
                self.add_ended(intervals.map(|row| outline(row, "name")), ended);
            }
            "potential-hangs" => self.hangs.extend(rows.into_iter().map(|row| outline(row, "hang-type"))),
            "hang-risks" => {
                let text = |row: &Value| {
                    let part = |part: &Value| match part["value"].as_array() {
                        Some(parts) => parts.iter().map(|part| spelled(&part["value"])).collect::<Vec<_>>().join(" "),
                        None => spelled(&part["value"]),
                    };
                    row["message"].as_array().expect("parts").iter().map(part).collect::<String>()
                };
                let risk = |row: &Value| {
                    let pid = spelled(&row["process"]["pid"]);
                    [run.clone(), number(row, "time").to_string(), text(row), spelled(&row["severity"]), pid]
                };
                self.risks.extend(rows.into_iter().map(risk));
            }
            _ => self.add_ended(rows.into_iter().map(|row| outline(row, "name")), ended),
        }
    }

    fn add_ended(&mut self, outlines: impl Iterator<Item = Outline>, ended: &mut Ended) {
        for outline in outlines {
            let [run, name, pid, start, _] = outline.clone();
            ended.insert([run, name, pid, start]);
            self.signposts.insert(outline);
        }
    }
}

/// The intervals of a table of events: for each beginning in turn, the end that comes when nothing of its kind is open within it.
fn pairs(run: &str, mut rows: Vec<&Value>) -> Vec<Outline> {
    rows.sort_by_key(|row| row["time"].as_u64());
    let key = |row: &Value| {
        let whose = match row["scope"].as_str() {
            Some("Thread") => vec![&row["process"]["pid"], &row["thread"]["tid"]],
            Some("System") => Vec::new(),
            _ => vec![&row["process"]["pid"]],
        };
        let names = ["subsystem", "category", "name", "identifier", "scope"].map(|name| &row[name]);
        names.into_iter().chain(whose).map(Value::to_string).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row["event-type"] == "Begin") {
        let mut depth = 1;
        let mut end = "open".to_owned();
        for later in rows[index + 1..].iter().filter(|later| key(later) == key(row)) {
            depth += match later["event-type"].as_str() {
                Some("Begin") => 1,
                Some("End") => -1,
                _ => 0,
            };
            if depth == 0 {
                end = spelled(&later["time"]);
                break;
            }
        }
        let pid = spelled(&row["process"]["pid"]);
        found.push([run.to_owned(), spelled(&row["name"]), pid, spelled(&row["time"]), end]);
    }
    found
}

/// The reading of the library, and the number of distinct intervals of signposts.
fn union(found: &Intervals) -> (Union, usize) {
    let mut union = Union { rows: found.tables.iter().map(|table| table.rows).sum(), ..Union::default() };
    let distinct = found.distinct();
    let count = distinct.iter().filter(|interval| !interval.is_hang()).count();
    for interval in distinct {
        let name = if interval.is_hang() { &interval.hang_type } else { &interval.name };
        let outline = [
            interval.run.to_string(),
            name.as_deref().unwrap_or("none").to_owned(),
            interval.pid.map_or_else(|| "none".to_owned(), |pid| pid.to_string()),
            interval.start.as_nanos().to_string(),
            interval.end.map_or_else(|| "open".to_owned(), |end| end.as_nanos().to_string()),
        ];
        if interval.is_hang() {
            union.hangs.insert(outline)
        } else {
            union.signposts.insert(outline)
        };
    }
    let risk = |risk: &traceparse::recording::HangRisk| {
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().unwrap_or("none").to_owned();
        let pid = risk.pid.map_or_else(|| "none".to_owned(), |pid| pid.to_string());
        [risk.run.to_string(), risk.time.as_nanos().to_string(), text(&risk.message), text(&risk.severity), pid]
    };
    union.risks = found.hang_risks.iter().map(risk).collect();
    union.risks.sort();
    (union, count)
}
