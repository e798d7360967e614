//! The overview fits on one screen for every recording, and its answer is right.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::command::{Folder, all_exports, csv, finish, json, orchard, stdout_of, traceparse};

/// The exports of the fixtures and, if available, the recordings, exports and `sample` reports of the corpus.
pub(crate) fn recordings() -> Vec<String> {
    let mut found = all_exports();
    found.push(support::repository("fixtures/sample/demo.sample.txt").display().to_string());
    if let Some(corpus) = std::env::var_os("TRACEPARSE_CORPUS") {
        let mut open = ["xctrace", "inputs/sample", "other/sample"].map(|name| Path::new(&corpus).join(name)).to_vec();
        while let Some(folder) = open.pop() {
            let entries: Vec<PathBuf> =
                std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            open.extend(entries.iter().filter(|path| path.is_dir()).cloned());
            found.extend(entries.iter().filter(|path| path.is_file()).map(|path| path.display().to_string()));
        }
    }
    found.sort();
    found
}

#[test]
fn every_recording_has_its_answer_on_one_screen() {
    let mut shown = 0;
    for (path, columns) in recordings().iter().flat_map(|path| [80, 100, 200].map(|columns| (path, columns))) {
        let output = traceparse(&[path]).env("COLUMNS", columns.to_string()).output().expect("the command starts");
        if !output.status.success() {
            continue;
        }
        shown += 1;
        let lines = String::from_utf8_lossy(&output.stdout).lines().count();
        assert!(lines <= 27, "{path}: {lines} lines");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert!(text.len() <= 4 << 10, "{path}: {} bytes", text.len());
        // Command lines and warnings contain the complete path of the file, regardless of its length.
        let is_bad = |line: &&str| (line.width() > columns || line.ends_with('…')) && !line.contains(path.as_str());
        let bad: Vec<&str> = text.lines().filter(is_bad).collect();
        assert!(bad.is_empty(), "{path} in {columns} columns: {bad:#?}");
    }
    assert!(shown > 30, "{shown} screens");
}

/// A row of a tree in CSV.
pub(crate) struct TreeRow {
    series: [String; 4],
    depth: usize,
    self_weight: u64,
    function: String,
    binary: String,
}

/// The identity of a series, as CSV records it.
fn key(series: &Value) -> [String; 4] {
    ["input", "run", "schema", "unit"].map(|name| {
        let value = &series[name];
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    })
}

/// The tree of each series across all threads, in the order of the output, without roots.
pub(crate) fn tree_rows(path: &str) -> Vec<TreeRow> {
    let rows = csv(&[path, "--view", "tree", "--no-threads"]);
    let at = |name: &str| rows[0].iter().position(|title| title == name).expect("the column is there");
    let series = ["input", "run", "schema", "unit"].map(at);
    let [depth, own, function, binary] = ["depth", "self_weight", "function", "binary"].map(at);
    let row = |row: &Vec<String>| TreeRow {
        series: series.map(|column| row[column].clone()),
        depth: row[depth].parse().expect("a depth"),
        self_weight: row[own].parse().expect("a weight"),
        function: row[function].clone(),
        binary: row[binary].clone(),
    };
    rows[1..].iter().map(row).filter(|row| row.depth > 0).collect()
}

/// The run loop functions in the test recordings. This list does not come from the library.
const RUN_LOOPS: [&str; 7] = [
    "CFRunLoopRun",
    "CFRunLoopRunSpecific",
    "_CFRunLoopRunSpecificWithOptions",
    "-[NSApplication run]",
    "NSApplicationMain",
    "UIApplicationMain",
    "xpc_main",
];

/// True for a function in which a program starts.
fn is_entry(name: &str) -> bool {
    name == "main" || (name.starts_with("static ") && name.ends_with("main()"))
}

/// The weight of each app function, with the system code that it called, from the tree of a series. `categories` are the binaries' categories.
pub(crate) fn own_weights<'r>(
    rows: impl Iterator<Item = &'r TreeRow>,
    categories: &HashMap<String, String>,
) -> HashMap<&'r str, u64> {
    let mut weights: HashMap<&str, u64> = HashMap::new();
    // By depth: the app function to which samples are charged.
    let mut owners: Vec<Option<&str>> = vec![None];
    for row in rows {
        owners.truncate(row.depth);
        let category = categories.get(&row.binary).map_or("unknown", String::as_str);
        let owner = match category {
            "user" => Some(row.function.as_str()),
            "unknown" => None,
            _ if RUN_LOOPS.contains(&row.function.as_str()) => None,
            _ => owners[row.depth - 1],
        };
        // An entry point is charged only for its own work.
        if let Some(owner) = owner.filter(|owner| category == "user" || !is_entry(owner)) {
            *weights.entry(owner).or_default() += row.self_weight;
        }
        owners.push(owner);
    }
    weights.retain(|_, weight| *weight > 0);
    weights
}

/// The category of each binary by its path, as docs/formats.md defines it: binaries outside of system folders belong to the program.
pub(crate) fn categories(path: &str) -> HashMap<String, String> {
    let system = ["/System/", "/usr/lib/", "/usr/libexec/", "/Library/Apple/", "/Library/Developer/"];
    let rows = json(&[path, "--view", "binaries", "--state", "all"]);
    let category = |path: &str| match path {
        path if !path.contains('/') => "unknown",
        path if system.iter().any(|folder| path.starts_with(folder)) => "system",
        path if path.ends_with("/libjvm.dylib")
            || path.ends_with("/libjli.dylib")
            || path.ends_with("/libjava.dylib") =>
        {
            "runtime"
        }
        path if path.ends_with("/libjimage.dylib") => "runtime",
        _ => "user",
    };
    let of_row = |row: &Value| Some((row["binary"].as_str()?.to_owned(), category(row["path"].as_str()?).to_owned()));
    rows["binaries"].as_array().into_iter().flatten().filter_map(of_row).collect()
}

#[test]
fn the_answer_is_the_heaviest_own_function() {
    let mut compared = 0;
    for path in recordings() {
        let output =
            traceparse(&[&path, "--view", "overview", "--format", "json"]).output().expect("the command starts");
        // Another test covers recordings with warnings.
        let Some(answer) =
            output.stderr.is_empty().then(|| serde_json::from_slice::<Value>(&output.stdout).ok()).flatten()
        else {
            continue;
        };
        let categories = categories(&path);
        let rows = tree_rows(&path);
        for overview in answer["overview"].as_array().expect("series") {
            let series = &answer["series"][overview["series"].as_u64().expect("an index") as usize];
            // If threads wait, the functions in which they wait are excluded.
            if series["meaning"] == "presence" {
                continue;
            }
            let key = key(series);
            // Series of several documents in a file may differ only in their rows.
            if answer["series"].as_array().into_iter().flatten().filter(|other| self::key(other) == key).count() > 1 {
                continue;
            }
            let weights = own_weights(rows.iter().filter(|row| row.series == key), &categories);
            let most = weights.values().copied().max().unwrap_or(0);
            let first = &overview["answers"][0];
            if most == 0 {
                assert_eq!(overview["answers_in"], "all", "{path}");
                continue;
            }
            compared += 1;
            assert_eq!(overview["answers_in"], "own", "{path}");
            assert_eq!(first["weight"], most, "{path}: {first}");
            assert_eq!(weights[first["function"].as_str().expect("a name")], most, "{path}");
        }
    }
    assert!(compared > 8, "{compared} series");
}

/// Recovers the depth of each row from the indentation, the marks and the parts of a tree.
fn depths(text: &str) -> Vec<(usize, String)> {
    let mut rows = Vec::new();
    // By indentation: the depth of the last row with this indentation.
    let (mut forks, mut last, mut parts): (Vec<(usize, usize)>, usize, HashMap<String, usize>) =
        (Vec::new(), 0, HashMap::new());
    for line in text.lines() {
        if let Some(part) = line.trim_start().strip_prefix('▶') {
            let number = part.split(' ').next().expect("a number").to_owned();
            (forks, last) = (Vec::new(), parts[&number]);
            continue;
        }
        if !line.contains('%') || line.contains("of the total") || line.trim_start().starts_with("total ") {
            if line.contains("of the total") {
                (forks, last) = (Vec::new(), 0);
            }
            continue;
        }
        let right: String = line.chars().skip(38).collect();
        if right.starts_with(" …") || right.starts_with("…") {
            continue;
        }
        let lead: String = right.chars().take_while(|c| "│├└─ ".contains(*c)).collect();
        let name = right.trim_start_matches(|c| "│├└─ ".contains(c)).to_owned();
        let depth = if lead.contains('├') || lead.contains('└') {
            let at = lead.chars().position(|c| c == '├' || c == '└').expect("a fork");
            forks.retain(|(column, _)| *column <= at);
            match forks.iter().find(|(column, _)| *column == at) {
                Some((_, above)) => above + 1,
                None => {
                    forks.push((at, last));
                    last + 1
                }
            }
        } else {
            last + 1
        };
        last = depth;
        if let Some((_, number)) = name.rsplit_once('▶') {
            parts.insert(number.trim().to_owned(), depth);
        }
        rows.push((depth, name));
    }
    rows
}

/// The prefix of a name that every width shows.
fn start(name: &str) -> String {
    // The binary and the hidden weight follow two spaces.
    let name = name.split("  ").next().unwrap_or_default();
    let name = name.split(" …+").next().unwrap_or_default();
    name.split(" ▶").next().unwrap_or_default().chars().take(8).collect()
}

/// An export whose stacks are 200 deep, and fork at each level: `f…7` calls `f…8` and `leaf…7`.
fn deep() -> String {
    let mut rows = String::new();
    for level in 0..200 {
        let frames =
            (0..level).rev().map(|below| format!(r#"<frame name="f{below:03} call" addr="{:#x}"/>"#, 0x1000 + below));
        let frames: String = frames.collect();
        rows += &format!(
            r#"<row><sample-time>{level}000000</sample-time><weight>1000000</weight><backtrace>{}{frames}</backtrace></row>"#,
            format_args!(r#"<frame name="leaf{level:03}" addr="{:#x}"/>"#, 0x8000 + level)
        );
    }
    let column = |name: &str| format!("<col><mnemonic>{name}</mnemonic></col>");
    let columns: String = ["time", "weight", "stack"].map(column).concat();
    let table = format!(r#"<schema name="time-profile">{columns}</schema>{rows}"#);
    let node = format!("<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{table}</node>");
    format!(r#"<?xml version="1.0"?><trace-query-result>{node}</trace-query-result>"#)
}

#[test]
fn depths_can_be_read_back_from_trees_at_80_columns() {
    let folder = Folder::new();
    let invented = folder.path("deep.xml");
    std::fs::write(&invented, deep()).expect("the folder is writable");
    let mut files = vec![orchard(), invented.clone()];
    if let Some(corpus) = std::env::var_os("TRACEPARSE_CORPUS") {
        let file = |name: &str| Path::new(&corpus).join("xctrace").join(name).display().to_string();
        files.extend(["14.0.1/cpu-profile.xml", "14.3.1/time-profile.xml", "14.3.1/cpu-profile.xml"].map(file));
    }
    for path in files {
        let args = [path.as_str(), "--view", "tree", "--no-threads", "--min-percent", "0"];
        let text = stdout_of(&finish(traceparse(&args).env("COLUMNS", "80")).success());
        let rows = tree_rows(&path);
        let mut expected: Vec<(usize, String)> = rows.iter().map(|row| (row.depth, start(&row.function))).collect();
        let mut found: Vec<(usize, String)> =
            depths(&text).into_iter().map(|(depth, name)| (depth, start(&name))).collect();
        // Parts follow the tree.
        assert_eq!(found.len(), expected.len(), "{path}: every node has a row");
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{path}");
        let deepest = found.iter().map(|(depth, _)| *depth).max();
        assert!(path != invented || (found.len(), deepest) == (399, Some(200)), "{path}");
    }
}
