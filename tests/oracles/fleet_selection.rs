//! Selections from a fleet: the main thread, a time, intervals. Each report is compared with the sums that `tests/oracle/fleet_selection.py`
//! computes from the exports of the runs. A report on the selection's dataset, and the weight of each run alone, must be the same.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use support::builder::Builder;
use support::bundle::{BundleOptions, to_folder, write_bundle};
use support::{Content, Invented, Node, RenderOptions, Rng, Shape, Signpost, Table, TocOptions, render, render_toc};
use tempfile::TempDir;

use crate::programs::{has_python, oracle};

const MILLISECOND: u64 = 1_000_000;
/// The length of most runs.
const LENGTH: u64 = 6_000;
const RUNS: u64 = 14;

/// The fleet in a folder and the report on all of it, shared by all cases.
struct Fleet {
    folder: TempDir,
    whole: Value,
}

impl Fleet {
    fn write() -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        write_fleet(folder.path())?;
        let inputs = inputs(folder.path());
        let whole = report(&inputs.each_ref().map(String::as_str), &[])?;
        Ok(Self { folder, whole })
    }
}

fn inputs(fleet: &Path) -> [String; 2] {
    [fleet.join("*.xml"), fleet.join("*.trace")].map(|path| path.display().to_string())
}

pub(crate) fn trials() -> Vec<Trial> {
    let fleet = Arc::new(LazyLock::new(|| Fleet::write().map_err(|failed| format!("{failed:?}"))));
    let trial = |case: &'static Case| {
        let fleet = Arc::clone(&fleet);
        trial!(case.name, move || check(case, fleet.as_ref().as_ref()?)).with_ignored_flag(!has_python())
    };
    CASES.iter().map(trial).collect()
}

struct Case {
    name: &'static str,
    thread: Option<&'static str>,
    names: &'static [&'static str],
    is_all: bool,
    time: Option<(u64, Option<u64>)>,
    /// The last line of the oracle's output.
    said: &'static str,
}

/// In milliseconds.
const CASES: &[Case] = &[
    Case {
        name: "main_thread",
        thread: Some("Main Thread"),
        names: &[],
        is_all: false,
        time: None,
        said: "13 runs equal, 1 excluded, 0 idle, 13 with windows",
    },
    Case {
        name: "time_that_cuts_runs",
        thread: None,
        names: &[],
        is_all: false,
        time: Some((2_500, Some(5_100))),
        said: "13 runs equal, 1 excluded, 0 idle, 13 with windows",
    },
    Case {
        name: "during_of_the_main_thread",
        thread: Some("Main Thread"),
        names: &["Scroll"],
        is_all: false,
        time: None,
        said: "10 runs equal, 4 excluded, 1 idle, 10 with windows",
    },
    Case {
        name: "during_any",
        thread: None,
        names: &["Scroll", "Layout"],
        is_all: false,
        time: None,
        said: "13 runs equal, 1 excluded, 0 idle, 11 with windows",
    },
    Case {
        name: "during_all_within_a_time",
        thread: Some("Main Thread"),
        names: &["Scroll", "Layout"],
        is_all: true,
        time: Some((1_000, None)),
        said: "10 runs equal, 4 excluded, 1 idle, 0 with windows",
    },
];

/// The kinds of runs: most scroll twice, with an overlap.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Usual,
    /// Ends after two seconds.
    Short,
    /// Has signposts, but no signpost named Scroll.
    NoScroll,
    /// Has no signposts.
    NoSignposts,
    /// The main thread waits while the app scrolls.
    Idle,
    NoMainThread,
    /// The export itself contains the signposts.
    Inside,
    Bundle,
}

fn kind(index: u64) -> Kind {
    match index {
        1 => Kind::Short,
        2 | 9 => Kind::NoScroll,
        3 => Kind::NoSignposts,
        4 => Kind::Idle,
        5 => Kind::NoMainThread,
        6 => Kind::Inside,
        7 | 8 => Kind::Bundle,
        _ => Kind::Usual,
    }
}

fn recording(index: u64, kind: Kind) -> Invented {
    let mut rng = Rng::new(index);
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 501, "/Applications/Orchard.app/Contents/MacOS/Orchard");
    let main = if kind == Kind::NoMainThread { "Renderer" } else { "Main Thread" };
    let threads = [main, "Worker"].map(|name| builder.thread(process, 0x101 + name.len() as u64, &[name]));
    let uuid = "11111111-2222-3333-4444-555555555555";
    let app = builder.image("/Applications/Orchard.app/Contents/MacOS/Orchard", "arm64", uuid, 0x1_0000_0000);
    for name in ["main", "scroll", "wait"] {
        builder.function(name, app, Some(name), None);
    }
    let busy = 2 + rng.below(8);
    let length = if kind == Kind::Short { 2_000 } else { LENGTH };
    for time in 1..length {
        for thread in threads {
            let is_waiting = kind == Kind::Idle && thread == threads[0] && (900..4_200).contains(&time);
            if !is_waiting && rng.below(10) < busy {
                let stack = ["main", "main scroll", "main scroll wait"][rng.index(3)];
                builder.row(time * MILLISECOND + rng.below(MILLISECOND), thread, stack);
            }
        }
    }
    builder.recording
}

/// Scroll is open twice, with an overlap, and once more for less than a second; Layout overlaps it.
fn signposts(index: u64, kind: Kind) -> Vec<Signpost> {
    let new = |name, start: u64, end: u64| Signpost::new(name, start * MILLISECOND + index, end * MILLISECOND, 0);
    let scroll = [new("Scroll", 950, 2_500), new("Scroll", 2_100, 3_600), new("Scroll", 4_000, 4_100 + index)];
    let layout = [new("Layout", 1_200, 1_300), new("Layout", 3_500, 3_700)];
    match kind {
        Kind::NoSignposts => Vec::new(),
        Kind::NoScroll => layout.to_vec(),
        _ => [&scroll[..], &layout[..]].concat(),
    }
}

/// Writes the fleet: exports, with tables of contents and files of intervals next to them, and bundles.
fn write_fleet(folder: &Path) -> Result<(), Failed> {
    fs::create_dir(folder.join("exports"))?;
    for index in 0..RUNS {
        let kind = kind(index);
        let recording = recording(index, kind);
        let name = format!("run{index:02}");
        let samples = Node::samples(1, Table::TimeProfile, &recording);
        let node = |content| Node { run: 1, table_index: 2, content };
        let intervals = node(Content::SignpostIntervals(signposts(index, kind)));
        let write = |name: String, nodes: Vec<Node>| {
            fs::write(folder.join(name), render(&recording, &RenderOptions::with_nodes(Shape::Xcode26_4, nodes)))
        };
        match kind {
            Kind::Bundle => {
                let nodes = vec![samples, intervals];
                let files = write_bundle(&recording, &BundleOptions::with_nodes(nodes.clone()));
                to_folder(&files, &folder.join(format!("{name}.trace")));
                write(format!("exports/{name}.xml"), nodes)?;
                continue;
            }
            Kind::Inside => write(format!("{name}.xml"), vec![samples, intervals])?,
            Kind::NoSignposts => write(format!("{name}.xml"), vec![samples])?,
            _ => {
                write(format!("{name}.xml"), vec![samples])?;
                write(format!("{name}-intervals.xml"), vec![intervals])?;
            }
        }
        let toc = render_toc(&recording, &TocOptions::new(Shape::Xcode26_4, vec![Table::TimeProfile]));
        fs::write(folder.join(format!("{name}-toc.xml")), toc)?;
    }
    Ok(())
}

impl Case {
    fn filters(&self) -> Vec<String> {
        let mut options: Vec<String> =
            self.names.iter().flat_map(|name| ["--during".to_owned(), (*name).to_owned()]).collect();
        options.extend(self.is_all.then(|| "--during-all".to_owned()));
        if let Some((start, end)) = self.time {
            let end = end.map(|end| format!("{end}ms")).unwrap_or_default();
            options.extend(["--time".to_owned(), format!("{start}ms..{end}")]);
        }
        options
    }

    fn threads(&self) -> Vec<String> {
        self.thread.into_iter().flat_map(|name| ["--thread".to_owned(), name.to_owned()]).collect()
    }

    fn asked(&self) -> Value {
        let time = self.time.map(|(start, end)| json!([start * MILLISECOND, end.map(|end| end * MILLISECOND)]));
        json!({"thread": self.thread, "names": self.names, "all": self.is_all, "time": time})
    }
}

fn traceparse(args: &[&str]) -> Result<String, Failed> {
    Ok(String::from_utf8(crate::programs::traceparse(args)?.stdout)?)
}

fn report(inputs: &[&str], options: &[String]) -> Result<Value, Failed> {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let args = [&["fleet", "report", "--format", "json"], inputs, &options[..]].concat();
    Ok(serde_json::from_str(&traceparse(&args)?)?)
}

fn check(case: &Case, fleet: &Fleet) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let inputs = inputs(fleet.folder.path());
    let inputs = inputs.each_ref().map(String::as_str);
    let selected = report(&inputs, &[case.threads(), case.filters()].concat())?;
    let mut arguments = vec![fleet.folder.path().to_owned()];
    for (index, value) in [&selected, &fleet.whole, &case.asked()].into_iter().enumerate() {
        arguments.push(folder.path().join(format!("{index}.json")));
        fs::write(&arguments[index + 1], value.to_string())?;
    }
    let said = oracle("fleet_selection.py", arguments)?;
    ensure!(said.trim_end() == case.said, "{said}");
    check_dataset(case, &inputs, &selected, folder.path())?;
    check_single_runs(case, &selected)
}

/// A report without its query and the folders of the runs.
fn answer(report: &Value) -> Value {
    fn without_folders(value: &mut Value) {
        match value {
            Value::String(text) if text.starts_with('/') => {
                *text = text.rsplit('/').next().unwrap_or_default().to_owned();
            }
            Value::Array(values) => values.iter_mut().for_each(without_folders),
            Value::Object(fields) => fields.values_mut().for_each(without_folders),
            _ => {}
        }
    }
    let mut answer = json!([report["runs"], report["inputs"]["failed"], report["cohorts"], report["notes"]]);
    without_folders(&mut answer);
    answer
}

/// A dataset of the selection results in the same report, whether threads are chosen before or after the extract.
fn check_dataset(case: &Case, inputs: &[&str], expected: &Value, folder: &Path) -> Result<(), Failed> {
    for (name, before, after) in
        [("before", [case.threads(), case.filters()].concat(), Vec::new()), ("after", case.filters(), case.threads())]
    {
        let dataset = folder.join(name).display().to_string();
        let options: Vec<&str> = before.iter().map(String::as_str).collect();
        traceparse(&[&["fleet", "extract", "-o", &dataset], inputs, &options[..]].concat())?;
        let found = report(&[&dataset], &after)?;
        if answer(&found) != answer(expected) {
            return Err(format!("{name}: {:#}\nnot\n{:#}", answer(&found), answer(expected)).into());
        }
    }
    Ok(())
}

/// Each run alone has the same weight, also with operations on stacks.
fn check_single_runs(case: &Case, selected: &Value) -> Result<(), Failed> {
    let runs = selected["runs"].as_array().ok_or("runs")?;
    for operations in [&[][..], &["--focus", "scroll", "--prune", "wait"], &["--charge", "wait"]] {
        let operations: Vec<String> = operations.iter().map(|&text| text.to_owned()).collect();
        let options = [case.threads(), case.filters(), operations].concat();
        // A usual run, a run that ends early, an export that contains its signposts, and a bundle. Alone, each must have every name.
        let names = ["run00.xml", "run01.xml", "run06.xml", "run07.trace"];
        let sources = runs.iter().filter_map(|run| run["source"].as_str());
        for source in sources.filter(|source| names.iter().any(|name| source.ends_with(name))) {
            let beside = source.replace(".xml", "-intervals.xml");
            let has_intervals = !case.names.is_empty() && beside != source && Path::new(&beside).exists();
            let mut single: Vec<&str> = vec![source, "--format", "json", "--view", "functions"];
            single.extend(options.iter().map(String::as_str));
            single.extend(has_intervals.then_some(["--intervals", &beside]).into_iter().flatten());
            let single: Value = serde_json::from_str(&traceparse(&single)?)?;
            let of_fleet = report(&[source], &options)?;
            let expected = functions(&single["functions"]);
            let rows = of_fleet["cohorts"][0]["tables"].as_array().ok_or("tables")?;
            let table = rows.iter().find(|table| table["scope"] == "function").ok_or("functions")?;
            let wall = of_fleet["runs"][0]["wall_ns"].as_f64().ok_or("a wall")?;
            let found = table["rows"].as_array().ok_or("rows")?.iter().map(|row| {
                let weight = row["summary"]["max"].as_f64().unwrap_or_default() / 100.0 * wall;
                (row["function"].as_str().unwrap_or_default().to_owned(), (weight / 1e6).round() as u64)
            });
            let mut found: Vec<(String, u64)> = found.collect();
            found.sort();
            if found != expected || found.is_empty() {
                return Err(format!("{source} {options:?}: {found:?}, by itself {expected:?}").into());
            }
        }
    }
    Ok(())
}

/// The functions with self weight, in milliseconds.
fn functions(rows: &Value) -> Vec<(String, u64)> {
    let rows = rows.as_array().into_iter().flatten();
    let of_row = |row: &Value| {
        let weight = row["self_weight"].as_u64().unwrap_or_default();
        (row["function"].as_str().unwrap_or_default().to_owned(), weight / MILLISECOND)
    };
    let mut functions: Vec<(String, u64)> = rows.map(of_row).filter(|(_, weight)| *weight > 0).collect();
    functions.sort();
    functions
}
