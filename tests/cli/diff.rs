//! `traceparse diff`, with what the views of both recordings say. The arithmetic of changes is tested in `tests/diff.rs`.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use crate::command::{Folder, csv, fails, finish, fixture, json, ok, orchard, read_text, stderr_of, traceparse, warns};

/// By name and binary: self weight, all weight, and samples of both, before and after.
type Rows = BTreeMap<(String, String), [[u64; 4]; 2]>;

const WEIGHTS: [&str; 4] = ["self_weight", "all_weight", "self_samples", "samples"];

fn before() -> String {
    fixture("26.4/time-profile")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn weights(row: &Value) -> [u64; 4] {
    WEIGHTS.map(|field| row[field].as_u64().expect("a number"))
}

fn rows<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().expect("rows")
}

/// The load addresses that an export gives for binaries of a name.
fn load_addresses(path: &str, name: &str) -> Vec<u64> {
    let text = read_text(path);
    let value = |element: &str, name: &str| {
        element.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next()).map(str::to_owned)
    };
    let binaries =
        text.split("<binary ").skip(1).map(|rest| format!(" {}", rest.split('>').next().unwrap_or_default()));
    let named = binaries.filter(|element| value(element, "name").as_deref() == Some(name));
    let addresses = named.filter_map(|element| value(&element, "load-addr"));
    addresses.map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address")).collect()
}

/// The functions of both; one without name is called by its place in its binary.
fn functions(sides: [&str; 2]) -> Rows {
    let mut functions = Rows::new();
    for (side, path) in sides.into_iter().enumerate() {
        for row in rows(&json(&[path, "--view", "functions"]), "functions") {
            let (mut name, binary) = (text(&row["function"]), text(&row["binary"]));
            if let Some(digits) = name.strip_prefix("0x").filter(|_| !binary.is_empty()) {
                let address = u64::from_str_radix(digits, 16).expect("an address");
                let below = load_addresses(path, &binary).into_iter().filter(|start| *start <= address);
                name = format!("{binary}+{:#x}", address - below.max().expect("the binary lies there"));
            }
            // One binary may have been loaded at several addresses.
            let sums = &mut functions.entry((name, binary)).or_default()[side];
            *sums = std::array::from_fn(|index| sums[index] + weights(row)[index]);
        }
    }
    functions
}

fn binaries(sides: [&str; 2]) -> Rows {
    let mut binaries = Rows::new();
    for (side, path) in sides.into_iter().enumerate() {
        for row in rows(&json(&[path, "--view", "binaries"]), "binaries") {
            binaries.entry((text(&row["binary"]), String::new())).or_default()[side] = weights(row);
        }
    }
    binaries
}

fn shown(rows: &[Value]) -> Rows {
    let row = |row: &Value| {
        ((text(&row["function"]), text(&row["binary"])), ["before", "after"].map(|side| weights(&row[side])))
    };
    rows.iter().map(row).collect()
}

/// The records of CSV, as the JSON has them.
fn shown_as_csv(args: &[&str]) -> (Rows, BTreeSet<String>) {
    let table = csv(args);
    let at =
        |name: &str| table[0].iter().position(|title| title == name).unwrap_or_else(|| panic!("{name} is missing"));
    let names = ["self_{}", "all_{}", "self_samples_{}", "samples_{}"];
    let sides = ["before", "after"].map(|side| names.map(|name| at(&name.replace("{}", side))));
    let (function, binary, presence) = (at("function"), at("binary"), at("presence"));
    let row = |row: &Vec<String>| {
        let numbers = sides.map(|side| side.map(|place| row[place].parse().expect("a number")));
        ((row[function].clone(), row[binary].clone()), numbers)
    };
    let presences = table[1..].iter().map(|row| row[presence].clone()).collect();
    (table[1..].iter().map(row).collect(), presences)
}

#[test]
fn functions_and_binaries_are_those_of_both_recordings() {
    let (before, after) = (before(), orchard());
    for (view, expected) in [("functions", functions([&before, &after])), ("binaries", binaries([&before, &after]))] {
        let args = ["diff", &before, &after, "--view", view];
        let answer = json(&args);
        assert_eq!(shown(rows(&answer, view)), expected, "{view}");
        assert_eq!(shown_as_csv(&args).0, expected, "{view}");
        for row in rows(&answer, view) {
            let [was, is] = ["before", "after"].map(|side| row[side]["samples"].as_u64() > Some(0));
            let presence = if was && is {
                "both"
            } else if is {
                "new"
            } else {
                "vanished"
            };
            assert_eq!(row["presence"], presence, "{row}");
            let change = row["after"]["self_weight"].as_f64().unwrap() - row["before"]["self_weight"].as_f64().unwrap();
            assert_eq!(row["self_change"]["weight"].as_f64(), Some(change));
        }
        // In text with every row: what both say of themselves, an empty line, the header, and what the star means.
        let lines = ok(&[&args[..], &["--min-percent", "0"]].concat());
        assert_eq!(lines.lines().count(), 3 + 2 + expected.len() + 1, "{lines}");
        let all = csv(&args);
        assert_eq!(csv(&[&args[..], &["--top", "2"]].concat()), all[..3], "{view}");
    }
    // Turned round, what was new has vanished.
    let presences = |args: [&str; 3]| shown_as_csv(&args).1;
    assert!(presences(["diff", &before, &after]).contains("new"));
    assert!(presences(["diff", &after, &before]).contains("vanished"));
    assert_eq!(functions([&before, &before]), shown_as_csv(&["diff", &before, &before]).0);
}

#[test]
fn the_tree_has_both_recordings() {
    let (before, after) = (before(), orchard());
    let args = ["diff", &before, &after, "--view", "tree"];
    let answer = json(&args);
    let nodes = rows(&answer, "nodes");
    let totals = ["before", "after"].map(|side| nodes[0][side]["all_weight"].as_u64());
    assert_eq!(totals, [Some(7_000_000), Some(485_000_000)]);
    for (side, path) in [("before", &before), ("after", &after)] {
        // The nodes of a side are those of its own tree, by depth and weight.
        let table = csv(&[path, "--view", "tree", "--no-threads"]);
        let at = |name: &str| table[0].iter().position(|title| title == name).expect("the column is there");
        let columns = ["depth", "all_weight", "self_weight", "samples"].map(at);
        let mut expected: Vec<[u64; 4]> =
            table[1..].iter().map(|row| columns.map(|place| row[place].parse().expect("a number"))).collect();
        let there = nodes.iter().filter(|node| node[side]["samples"].as_u64() > Some(0));
        let mut shown: Vec<[u64; 4]> = there
            .map(|node| {
                let [own, all, _, samples] = weights(&node[side]);
                [node["depth"].as_u64().expect("a depth"), all, own, samples]
            })
            .collect();
        expected.sort_unstable();
        shown.sort_unstable();
        assert_eq!(shown, expected, "{side}");
    }
    assert_eq!(csv(&args).len() - 1, nodes.len());
    let text = ok(&args);
    assert!(text.contains("├─ thread_start") && text.contains("485.00 ms in 485 samples"), "{text}");
}

/// The document is well-formed; how many frames it has.
fn frames_of_picture(text: &str) -> usize {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let (mut depth, mut frames) = (0_i64, 0);
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("not XML: {error}")) {
            Event::Start(element) => {
                assert!(element.attributes().all(|attribute| attribute.is_ok()));
                frames += usize::from(element.name().as_ref() == "g");
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    frames
}

#[test]
fn the_flame_graph_is_xml() {
    let (before, after) = (before(), orchard());
    let folder = Folder::new();
    let path = folder.path("changes.svg");
    for args in [&[][..], &["--view", "tree"], &["--icicle", "--title", "a < b & \"c\"", "--width", "900"]] {
        ok(&[&["diff", &before, &after, "--format", "svg", "-o", &path], args].concat());
        let text = read_text(&path);
        assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{}", &text[..80]);
        assert!(frames_of_picture(&text) > 10, "{args:?}");
        assert!(text.contains("Before 7.00 ms, after 485.00 ms"), "{args:?}");
    }
    let error = fails(2, &["diff", &before, &after, "--format", "svg", "--view", "binaries"]);
    assert!(error.contains("--view tree"), "{error}");
    let error = fails(2, &["diff", &before, &after, "--icicle"]);
    assert!(error.contains("--icicle only applies to flame graphs"), "{error}");
}

#[test]
fn unlike_recordings_are_refused() {
    // Cycles, samples and nanoseconds cannot be compared, whatever is asked.
    for (other, unit) in [("27/cpu-profile", "cycles"), ("26.4/time-sample", "samples")] {
        for force in [&[][..], &["--force"]] {
            let message = fails(1, &[&["diff", &fixture(other), &orchard()], force].concat());
            assert!(message.contains("cannot be compared") && message.contains(unit), "{message}");
        }
    }
    // Two tables that count time can, but should not.
    let counters = fixture("14.3/counters-profile");
    let message = fails(1, &["diff", &counters, &orchard()]);
    let reason = "the table is counters-profile before and time-profile after";
    assert!(message.contains(reason) && message.contains("--force"), "{message}");
    let (text, message) = warns(&["diff", &counters, &orchard(), "--force"]);
    assert!(message.contains(reason) && text.contains("counters-profile"), "{message}");
    // Several measurements need a choice.
    let several = fixture("27/several-tables");
    let message = fails(1, &["diff", &several, &several, "--schema", "nothing"]);
    assert!(message.contains("no sample passes the filters"), "{message}");
}

#[test]
fn devices_are_compared_where_they_are_known() {
    let folder = Folder::new();
    let toc = fixture("toc/two-runs");
    let other = folder.edited("toc/two-runs", &[("model=\"MacBook Pro\"", "model=\"Mac mini\"")]);
    let args = ["diff", &before(), &orchard(), "--before-toc", &toc, "--after-toc", &other].map(str::to_owned);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let message = fails(1, &args);
    assert!(message.contains("the device is MacBook Pro before and Mac mini after"), "{message}");
    let (_, message) = warns(&[&args[..], &["--force"]].concat());
    assert!(message.contains("Mac mini"), "{message}");
    // A table of contents that is named as the recording, too, would count twice.
    assert!(fails(2, &["diff", &toc, &orchard(), "--before-toc", &toc]).contains("named twice"));
}

#[test]
fn the_second_recording_is_scaled() {
    let (before, after) = (before(), orchard());
    let factor = |args: &[&str]| {
        let answer = json(&[&["diff", &before, &after], args].concat());
        let row = &rows(&answer, "functions")[0];
        let [was, is] = ["before", "after"].map(|side| row[side]["self_weight"].as_f64().expect("a weight"));
        let factor = answer["factor"].as_f64().expect("a factor");
        let change = row["self_change"]["weight"].as_f64().expect("a change");
        assert!((change - (is * factor - was)).abs() < 1e-3, "{row}");
        factor
    };
    assert_eq!(factor(&[]), 1.0);
    assert_eq!(factor(&["--normalize", "none"]), 1.0);
    assert!((factor(&["--normalize", "samples"]) - 7.0 / 485.0).abs() < 1e-12);
    // Both are longer than the time of the samples, one twice as long as the other.
    let folder = Folder::new();
    let toc = |name: &str, seconds: &str| {
        let text =
            read_text(&fixture("toc/two-runs")).replacen("<duration>0.118595<", &format!("<duration>{seconds}<"), 1);
        folder.file(name, text)
    };
    let (toc, longer) = (toc("toc.xml", "0.7"), toc("longer.xml", "1.4"));
    let tocs = ["--before-toc", &toc, "--after-toc", &longer, "--normalize", "duration"];
    assert!((factor(&tocs) - 0.5).abs() < 1e-12);
    let answer = json(&[&["diff", &before, &after], &tocs[..]].concat());
    assert_eq!(
        (&answer["before"]["duration_ns"], &answer["after"]["duration_ns"]),
        (&700_000_000.into(), &1_400_000_000.into())
    );
    assert_eq!((&answer["after"]["duration_is_recorded"], &answer["normalize"]), (&true.into(), &"duration".into()));
    // Without them, from the first sample to the end of the last one, which weighs 1 ms, and a word about it.
    let (text, message) = warns(&["diff", &before, &after, "--normalize", "duration", "--format", "json"]);
    for option in ["--before-toc", "--after-toc"] {
        assert!(message.contains(&format!("(pass one with {option})")), "{message}");
    }
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let length = |path: &str| {
        let series = &json(&[path, "--view", "summary"])["series"][0];
        series["last_time_ns"].as_f64().unwrap() + 1e6 - series["first_time_ns"].as_f64().unwrap()
    };
    let expected = length(&before) / length(&after);
    assert!((answer["factor"].as_f64().unwrap() - expected).abs() < 1e-12, "{expected}");
    assert_eq!(answer["before"]["duration_is_recorded"], false);
}

#[test]
fn both_sides_are_selected_and_operated_on() {
    let (before, after) = (before(), orchard());
    let answer = json(&["diff", &before, &after, "--thread", "Main Thread"]);
    for (side, path) in [("before", &before), ("after", &after)] {
        let threads = json(&[path, "--view", "summary", "--thread", "Main Thread"]);
        assert_eq!(answer["total"][side]["all_weight"], threads["series"][0]["all_weight"], "{side}");
    }
    let prune = ["diff", &before, &after, "--prune", "^main$"];
    let assert = finish(&mut traceparse(&[&prune[..], &["--format", "csv"]].concat())).success();
    assert_eq!(stderr_of(&assert).matches("note: removed by --prune '^main$'").count(), 2, "{}", stderr_of(&assert));
    let message = fails(1, &["diff", &before, &after, "--focus", "main", "--prune", "."]);
    assert!(message.contains("--prune '.' removed the last ones"), "{message}");
    let rooted = json(&["diff", &before, &after, "--root-at", "grind", "--charge", "grind"]);
    assert_eq!(rooted["total"]["after"]["all_weight"], 258_000_000);
    assert_eq!(rooted["before"]["operations"][0]["operation"], "--root-at 'grind'");
    assert!(
        fails(1, &["diff", &before, &after, "--charge", "grind", "--root-at", "grind"]).contains("--root-at 'grind'")
    );
}
