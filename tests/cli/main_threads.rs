//! One rule for main threads: every output of a recording agrees on which threads they are, and on their weight.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Folder, all_exports, finish, stdout_of, traceparse};
use crate::workbench::Payload;

/// Standard output, if the command succeeds.
fn said(args: &[&str]) -> Option<String> {
    let assert = finish(&mut traceparse(args));
    assert.get_output().status.success().then(|| stdout_of(&assert))
}

fn json(args: &[&str]) -> Option<Value> {
    said(&[args, &["--format", "json"]].concat()).map(|text| serde_json::from_str(&text).expect("JSON"))
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// Run, schema, and the weight in a series.
type Weights = BTreeMap<(u64, String), u64>;

fn weights<'v>(rows: impl IntoIterator<Item = &'v Value>) -> Weights {
    let mut sums = Weights::new();
    for row in rows {
        let key = (row["run"].as_u64().unwrap(), row["schema"].as_str().unwrap().to_owned());
        *sums.entry(key).or_default() += row["all_weight"].as_u64().unwrap();
    }
    sums
}

/// A thread as text: process, number and name.
fn thread(process: &Value, pid: &Value, tid: &Value, name: &Value) -> String {
    let number = |number: &Value| number.as_u64().map(|number| number.to_string()).unwrap_or_default();
    format!("{} {} {} {}", process.as_str().unwrap(), number(pid), number(tid), name.as_str().unwrap())
}

/// The main threads of a recording with samples, and their weights, after a check of all outputs; `None` if it has no samples.
fn checked(path: &str) -> Option<(Vec<String>, Weights)> {
    let all = json(&[path, "--view", "threads"])?;
    let marked = marked_in_page(path);
    let of_row = |row: &Value| thread(&row["process"], &row["pid"], &row["tid"], &row["thread"]);
    let is_main: Vec<bool> = list(&all, "threads").iter().map(|row| marked.contains(&of_row(row))).collect();
    let rows = list(&all, "threads").iter().zip(&is_main);
    let main: Vec<&Value> = rows.filter(|(_, is_main)| **is_main).map(|(row, _)| row).collect();
    let expected = weights(main.iter().copied());
    let only = |view: &[&str]| json(&[&[path, "--only-main-thread"], view].concat());
    let threads = only(&["--view", "threads"]).map(|all| weights(list(&all, "threads"))).unwrap_or_default();
    let overview = only(&["--view", "overview"]).map(|all| weights(list(&all, "series"))).unwrap_or_default();
    assert_eq!((&threads, &overview), (&expected, &expected), "{path}");
    if list(&all, "series").iter().all(|series| series["meaning"] == "on-cpu") {
        check_firefox(path, &is_main);
        check_fleet(path, &expected);
    }
    let mut names: Vec<String> = main.into_iter().map(of_row).collect();
    names.sort();
    names.dedup();
    Some((names, expected))
}

/// The main threads that the payload of the page marks.
fn marked_in_page(path: &str) -> Vec<String> {
    let folder = Folder::new();
    let page = folder.path("page.html");
    said(&[path, "-o", &page]).expect("a page");
    let head = Payload::of(&fs::read_to_string(&page).unwrap()).head;
    let main = list(&head, "threads").iter().filter(|row| row["is_main"] == true).map(|row| {
        let process = &head["processes"][row["process"].as_u64().unwrap() as usize];
        thread(&process["name"], &process["pid"], &row["tid"], &row["name"])
    });
    main.collect()
}

/// The threads of JSON and of profiles for Firefox have one order.
fn check_firefox(path: &str, is_main: &[bool]) {
    let firefox: Value = serde_json::from_str(&said(&[path, "--format", "firefox"]).expect("a profile")).expect("JSON");
    let threads = list(&firefox, "threads");
    assert_eq!(threads.iter().map(|thread| thread["isMainThread"] == true).collect::<Vec<_>>(), is_main, "{path}");
    let mut pids: Vec<&str> = threads
        .iter()
        .zip(is_main)
        .filter(|(_, is_main)| **is_main)
        .map(|(row, _)| row["pid"].as_str().unwrap())
        .collect();
    pids.sort_unstable();
    assert!(
        pids.windows(2).all(|pair| pair[0] != pair[1]),
        "{path}: the viewer shows one main thread of each pid: {pids:?}"
    );
}

/// Compares fleets of this recording, read from it and from a dataset.
fn check_fleet(path: &str, expected: &Weights) {
    let folder = Folder::new();
    for schema in expected.keys().map(|(_, schema)| schema).collect::<BTreeSet<_>>() {
        let schema_args = ["--schema", schema.as_str()];
        if json(&[&["fleet", "report", path], &schema_args[..]].concat()).is_none() {
            continue;
        }
        let own: u64 = expected.iter().filter(|((_, of), _)| of == schema).map(|(_, &weight)| weight).sum();
        let dataset = folder.path(schema);
        said(&[&["fleet", "extract", path, "-o", &dataset], &schema_args[..]].concat()).expect("a dataset");
        let narrowed = folder.path(&format!("{schema}.main"));
        said(&[&["fleet", "extract", path, "-o", &narrowed, "--only-main-thread"], &schema_args[..]].concat());
        for (input, more) in [
            (path, &["--only-main-thread", "--schema", schema.as_str()][..]),
            (&dataset, &["--only-main-thread"]),
            (&narrowed, &[]),
        ] {
            let report = json(&[&["fleet", "report", input], more].concat());
            let rows = report.as_ref().map_or(&[][..], |report| list(report, "runs"));
            let weight: u64 = rows.iter().map(|row| row["weight"].as_u64().unwrap()).sum();
            assert_eq!(weight, own, "{input} {more:?}");
        }
    }
}

#[test]
fn every_output_has_the_same_main_threads() {
    all_exports().iter().for_each(|path| drop(checked(path)));
    let orchard = checked(&crate::command::orchard()).unwrap();
    assert_eq!(orchard.0, ["Orchard 4150 172289 Main Thread"]);
    assert_eq!(orchard.1.into_values().collect::<Vec<_>>(), [122_000_000]);
}

#[test]
fn threads_of_one_name_are_main_threads_of_their_process_only() {
    let folder = Folder::new();
    // Process 4150 has a `Main Thread`, so that its thread `main` is another one; the other process has `main` only.
    let path = folder.edited("27/orchard", &[("\"com.orchard.render (", "\"main (")]);
    assert_eq!(checked(&path).unwrap().0, ["Orchard 4150 172289 Main Thread"]);
    let (names, weights) = checked(&two_mains(&folder)).unwrap();
    assert_eq!(names, ["Orchard 501 257 Main Thread", "Orchard 502 259 main"]);
    assert_eq!(weights.into_values().collect::<Vec<_>>(), [(1 + 4) * 1_000_000]);
    let both = ["--thread", "main", "--only-main-thread", "--view", "threads"];
    let rows = json(&[&[two_mains(&folder).as_str()], &both[..]].concat()).unwrap();
    assert_eq!(list(&rows, "threads").iter().map(|row| &row["tid"]).collect::<Vec<_>>(), [259]);
    let fleet = json(&["fleet", "report", &two_mains(&folder), "--thread", "main", "--only-main-thread"]).unwrap();
    assert_eq!(fleet["runs"][0]["weight"], 4_000_000);
    let pattern = json(&["fleet", "report", &two_mains(&folder), "--thread", "/^m/", "--only-main-thread"]).unwrap();
    assert_eq!(pattern["runs"][0]["weight"], 4_000_000);
}

/// Two processes with the same name: one has 1 ms on `Main Thread` and 2 ms on `main`; the other has 4 ms on `main`.
fn two_mains(folder: &Folder) -> String {
    use support::builder::Builder;
    use support::{RenderOptions, Shape, Table, render};
    let mut builder = Builder::default();
    let [first, second] = [501, 502].map(|pid| builder.process("Orchard", pid, "/Applications/Orchard"));
    let app = builder.image("/Applications/Orchard", "arm64", "11111111-2222-3333-4444-555555555555", 0x1_0000_0000);
    builder.function("work", app, Some("work"), None);
    let threads = [(first, 0x101, "Main Thread", 1), (first, 0x102, "main", 2), (second, 0x103, "main", 4)];
    let mut time = 0;
    for (process, tid, name, samples) in threads {
        let thread = builder.thread(process, tid, &[name]);
        for _ in 0..samples {
            time += 1_000_000;
            builder.row(time, thread, "work");
        }
    }
    let export =
        render(&builder.recording, &RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &builder.recording));
    folder.file("two.xml", export)
}

#[test]
fn the_main_queue_tells_the_main_thread() {
    let folder = Folder::new();
    let report = |threads: &str| {
        let head = "Analysis of sampling Browser (pid 4242) every 1 millisecond\nProcess:         Browser [4242]\n\
                    Report Version:  7\n----\n\nCall graph:\n";
        folder.file(
            "report.txt",
            format!("{head}{threads}\nTotal number in stack (recursive counted multiple, when >=5):\n"),
        )
    };
    let queue = "DispatchQueue_1: com.apple.main-thread  (serial)";
    let thread = |tid: u32, text: &str, count: u32| {
        format!("    {count} Thread_{tid}{text}\n      {count} work  (in Browser) + 64  [0x100003c3d]\n")
    };
    let named =
        report(&(thread(1, &format!(": GUI   {queue}"), 7) + &thread(2, ": Main Thread", 3) + &thread(3, ": main", 2)));
    assert_eq!(checked(&named).unwrap().0, ["Browser 4242 1 GUI"]);
    let note = finish(&mut traceparse(&[&named, "--only-main-thread"])).success();
    assert!(crate::command::stderr_of(&note).contains("note: --only-main-thread: GUI (Browser)"));
    let redacted = json(&[&named, "--only-main-thread", "--redact", "--view", "threads"]).unwrap();
    assert_eq!(list(&redacted, "threads").len(), 1);
    assert_eq!(list(&redacted, "threads")[0]["samples"], 7);
    let unnamed = report(&(thread(1, &format!("   {queue}"), 7) + &thread(2, ": Compositor", 3)));
    assert_eq!(checked(&unnamed).unwrap().0, ["Browser 4242 1 Main Thread"]);
    let without = report(&(thread(1, ": Main Thread", 7) + &thread(2, ": main", 3)));
    assert_eq!(checked(&without).unwrap().0, ["Browser 4242 1 Main Thread"]);
}

#[test]
fn real_recordings_have_the_same_main_threads_everywhere() {
    let Some(corpus) = std::env::var_os("TRACEPARSE_CORPUS") else { return };
    let mut paths = Vec::new();
    for folder in ["xctrace", "other/sample", "inputs/sample", "reproducers/sample-main-thread"] {
        files(&Path::new(&corpus).join(folder), &mut paths);
    }
    let with_main = paths.iter().filter_map(|path| checked(path.to_str()?)).filter(|(names, _)| !names.is_empty());
    let count = with_main.count();
    assert!(count > 15, "{count}");
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, found);
        } else if [".xml", ".zip", ".txt", ".gz"].iter().any(|end| path.to_string_lossy().ends_with(end)) {
            found.push(path);
        }
    }
}
