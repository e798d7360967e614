//! `fleet report --with-runs`: pages of runs next to the report, and links to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use support::page::{payload, without_engine};

use crate::command::{Folder, fails};
use crate::fleet_case::{export, extract, fleet, irregular_export, report, run, says, write};
use crate::workbench::Payload;

/// A link in a report: its address, its page and its run.
#[derive(Debug)]
struct Link {
    file: String,
    fragment: Vec<(String, String)>,
    run: String,
}

/// The document in a report's page.
fn document(page: &str) -> Value {
    serde_json::from_slice(&payload("report", page)).expect("JSON")
}

/// The links to pages of runs.
fn links(page: &str) -> Vec<Link> {
    let document = document(page);
    let rows = |name: &str| document["report"]["runs"].as_array().unwrap().iter().find(|run| run["run_id"] == name);
    let of_run = |links: &Value| -> Vec<Link> {
        let run = rows(links["run_id"].as_str().unwrap()).expect("its run")["source"].as_str().unwrap().to_owned();
        let addresses = links["places"].as_array().unwrap().iter().filter_map(|place| place[1].as_str());
        let link = |address: &str| {
            let (file, fragment) = address.split_once('#').unwrap_or((address, ""));
            let fragment = fragment.split('&').filter_map(|part| part.split_once('='));
            let fragment = fragment.map(|(key, value)| (key.to_owned(), decoded(value))).collect();
            Link { file: file.to_owned(), fragment, run: run.clone() }
        };
        addresses.map(link).collect()
    };
    document["words"]["links"].as_array().unwrap().iter().flat_map(of_run).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        (rest, bytes) = match first {
            b'%' => (&behind[2..], {
                bytes.push(u8::from_str_radix(std::str::from_utf8(&behind[..2]).unwrap(), 16).expect("two digits"));
                bytes
            }),
            &byte => (behind, {
                bytes.push(byte);
                bytes
            }),
        };
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// The names in a folder.
fn names(folder: impl AsRef<Path>) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The weight of all samples in a page with one series.
fn weight(page: &str) -> u64 {
    let payload = Payload::of(page);
    assert_eq!(payload.head["series"].as_array().unwrap().len(), 1);
    payload.head["series"][0]["weight"].as_str().expect("a weight").parse().expect("a number")
}

/// Everything that a link selects exists in its page, with the same spelling.
fn check_link(folder: &Folder, link: &Link) {
    let page = fs::read_to_string(folder.path(&decoded(&link.file))).expect("the page is there");
    let payload = Payload::of(&page);
    let head = &payload.head;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string().replace("null", ""), str::to_owned);
    let process = |process: &Value| {
        let run = &head["runs"][process["run"].as_u64().unwrap() as usize]["number"];
        format!("{run}/{}/{}", text(&process["pid"]), text(&process["name"]))
    };
    let thread = |thread: &Value| {
        let of = &head["processes"][thread["process"].as_u64().unwrap() as usize];
        let run = &head["runs"][of["run"].as_u64().unwrap() as usize]["number"];
        format!("{run}/{}/{}/{}", text(&of["pid"]), text(&thread["tid"]), text(&thread["name"]))
    };
    for (key, value) in &link.fragment {
        let rows = |table: &str| head[table].as_array().unwrap().clone();
        let is_known = match key.as_str() {
            "v" => value == "1",
            "tab" => ["callers", "threads", "binaries", "functions"].contains(&value.as_str()),
            "process" => rows("processes").iter().any(|row| process(row) == *value),
            "thread" => rows("threads").iter().any(|row| thread(row) == *value),
            "t" => value.ends_with('s') && value.contains("s.."),
            "fn" => payload.functions().contains(value),
            _ => false,
        };
        assert!(is_known, "{key}={value} of {link:?}");
    }
}

#[test]
fn numbers_link_to_pages_of_their_runs() {
    let folder = Folder::new();
    let exports = fleet(&folder, "x", 12);
    let page = folder.path("fleet.html");
    let plain = folder.path("plain.html");
    assert_eq!(says(0, &["report", &exports, "-o", &page, "--with-runs", "3"]), "");
    assert_eq!(says(0, &["report", &exports, "-o", &plain]), "");
    assert_eq!(names(folder.path("fleet.runs")), set(&["0001.html", "0002.html", "0003.html", "runs.json"]));
    assert!(!Path::new(&folder.path("plain.runs")).exists());
    let (html, plain) = (fs::read_to_string(&page).unwrap(), fs::read_to_string(&plain).unwrap());
    assert!(links(&plain).is_empty());
    // The largest value first, then P90 and P50: no other percentile has enough runs.
    let list: Value = serde_json::from_slice(&fs::read(folder.path("fleet.runs/runs.json")).unwrap()).unwrap();
    let json = report(&[&exports]);
    let runs = json["cohorts"][0]["across_runs"]["percentiles"].as_array().unwrap();
    let shown = runs.iter().rev().filter(|row| row["support"] != "too-few");
    let mut expected = vec!["x/11.xml".to_owned()];
    expected.extend(shown.map(|row| row["runs"][0]["source"].as_str().unwrap().to_owned()));
    expected.dedup();
    let listed = list["pages"].as_array().unwrap().iter().map(|page| page["source"].as_str().unwrap().to_owned());
    let listed: Vec<String> = listed.collect();
    for (listed, expected) in listed.iter().zip(&expected) {
        assert!(listed.ends_with(expected.as_str()), "{listed:?} {expected:?}");
    }
    // The weight of each page equals the weight of its run.
    for row in list["pages"].as_array().unwrap() {
        let file = fs::read_to_string(folder.path(&format!("fleet.runs/{}", row["file"].as_str().unwrap()))).unwrap();
        let of_run = json["runs"].as_array().unwrap().iter().find(|run| run["run_id"] == row["run_id"]).unwrap();
        assert_eq!(weight(&file), of_run["weight"].as_u64().unwrap(), "{row}");
    }
    let links = links(&html);
    links.iter().for_each(|link| check_link(&folder, link));
    let files: BTreeSet<&str> = links.iter().map(|link| link.file.as_str()).collect();
    assert_eq!(files.len(), 3, "each page is linked");
    let has =
        |key: &str, value: &str| links.iter().any(|link| link.fragment.contains(&(key.to_owned(), value.to_owned())));
    assert!(has("fn", "work@Orchard") && has("tab", "callers") && has("process", "1/501/Orchard"), "{links:?}");
    assert!(has("thread", "1/501/257/Main Thread") && has("tab", "binaries"), "{links:?}");
    assert!(links.iter().any(|link| link.run.ends_with("x/11.xml")), "{links:?}");
    // Only links were added.
    let mut without = document(&html);
    without["words"]["links"] = Value::Array(Vec::new());
    assert_eq!(without, document(&plain));
}

#[test]
fn the_busiest_second_of_a_run_is_selected() {
    let folder = Folder::new();
    // 5,000 samples of 1 ms, one every 0.5 ms: two and a half seconds, of which the first two are complete.
    write(&folder, "x/a.xml", irregular_export(5_000));
    says(0, &["report", &folder.path("x"), "-o", &folder.path("fleet.html"), "--with-runs", "1", "--thread", "worker"]);
    let links = links(&fs::read_to_string(folder.path("fleet.html")).unwrap());
    links.iter().for_each(|link| check_link(&folder, link));
    let payload = Payload::of(&fs::read_to_string(folder.path("fleet.runs/0001.html")).unwrap());
    let worker = payload.head["threads"].as_array().unwrap().iter().position(|row| row["name"] == "worker").unwrap();
    // Computed by hand: the worker's weight in each complete second.
    let mut seconds = [0_u64; 3];
    let [times, weights, threads] =
        ["samples.time", "samples.weight", "samples.thread"].map(|name| payload.column(name));
    for ((time, weight), &thread) in times.iter().zip(weights).zip(threads) {
        seconds[(time / 1_000_000_000) as usize] += if thread == worker as u64 { *weight } else { 0 };
    }
    let busiest = if seconds[1] > seconds[0] { "1s..2s" } else { "0s..1s" };
    let times: BTreeSet<&str> = links
        .iter()
        .flat_map(|link| link.fragment.iter().filter(|(key, _)| key == "t").map(|(_, value)| value.as_str()))
        .collect();
    assert_eq!(times, BTreeSet::from([busiest]), "{seconds:?}");
    // The requested thread is selected in every link.
    assert!(
        links.iter().all(|link| link.fragment.iter().any(|(key, value)| key == "thread" && value.ends_with("/worker")))
    );
}

#[test]
fn a_folder_of_somebody_else_stays() {
    let folder = Folder::new();
    let exports = fleet(&folder, "x", 2);
    let page = folder.path("fleet.html");
    let args = ["fleet", "report", &exports, "-o", &page, "--with-runs", "2"];
    write(&folder, "fleet.runs/notes.txt", "mine");
    let said = fails(1, &args);
    assert!(said.contains("fleet.runs: not a folder of --with-runs, which would replace it; move it away"), "{said}");
    assert_eq!(names(folder.path("fleet.runs")), set(&["notes.txt"]));
    assert!(!Path::new(&page).exists());
    // Our folder, with an additional file.
    fs::remove_dir_all(folder.path("fleet.runs")).unwrap();
    assert_eq!(says(0, &args[1..]), "");
    write(&folder, "fleet.runs/notes.txt", "mine");
    let said = fails(1, &args);
    assert!(said.contains("notes.txt in it was not written by --with-runs, which would remove it"), "{said}");
    fs::remove_file(folder.path("fleet.runs/notes.txt")).unwrap();
    // The folder of another report.
    let said = fails(
        1,
        &["fleet", "report", &exports, "-o", &folder.path("fleet.htm"), "--format", "html", "--with-runs", "1"],
    );
    assert!(said.contains("has the runs of the report fleet.html"), "{said}");
    // Our folder is replaced completely.
    assert_eq!(says(0, &["report", &exports, "-o", &page, "--with-runs", "1"]), "");
    assert_eq!(names(folder.path("fleet.runs")), set(&["0001.html", "runs.json"]));
    fs::remove_dir_all(folder.path("fleet.runs")).unwrap();
    write(&folder, "fleet.runs", "a file");
    assert!(fails(1, &args).contains("fleet.runs: not a folder, and --with-runs would write one there"));
    assert_eq!(fs::read_to_string(folder.path("fleet.runs")).unwrap(), "a file");
    // No temporary files are left.
    assert_eq!(names(folder.path("")), set(&["fleet.html", "fleet.runs", "x"]));
}

#[test]
fn runs_of_datasets_have_pages_while_their_files_are_there() {
    let folder = Folder::new();
    let exports = fleet(&folder, "x", 4);
    let (dataset, page) = (folder.path("ds"), folder.path("fleet.html"));
    let options = ["--time", "..80ms", "--prune", "^work$"];
    extract(&[&[exports.as_str(), "-o", &dataset], &options[..]].concat());
    let args = ["report", &dataset, "-o", &page, "--with-runs", "9"];
    assert_eq!(says(0, &args), "");
    let html = fs::read_to_string(&page).unwrap();
    links(&html).iter().for_each(|link| check_link(&folder, link));
    let json = report(&[&dataset]);
    let list: Value = serde_json::from_slice(&fs::read(folder.path("fleet.runs/runs.json")).unwrap()).unwrap();
    for row in list["pages"].as_array().unwrap() {
        let file = fs::read_to_string(folder.path(&format!("fleet.runs/{}", row["file"].as_str().unwrap()))).unwrap();
        let of_run = json["runs"].as_array().unwrap().iter().find(|run| run["run_id"] == row["run_id"]).unwrap();
        assert_eq!(weight(&file), of_run["weight"].as_u64().unwrap(), "{row}");
    }
    let pages = list["pages"].as_array().unwrap().len();
    assert!(pages > 0);
    let named: Vec<&str> =
        list["pages"].as_array().unwrap().iter().map(|page| page["source"].as_str().unwrap()).collect();
    // One recording has changed; everything else is unchanged.
    write(&folder, &format!("x/{}", named[0].rsplit('/').next().unwrap()), export(100));
    let said = says(0, &args);
    assert!(said.contains("this run has no page: its content differs from the measured one"), "{said}");
    assert_eq!(names(folder.path("fleet.runs")).len(), pages, "one less, and the list");
    let html = fs::read_to_string(&page).unwrap();
    assert!(!links(&html).iter().any(|link| link.run.contains(named[0])), "{said}");
    fs::remove_file(named[0]).unwrap();
    let said = says(0, &args);
    assert!(said.contains("this run has no page: it no longer exists"), "{said}");
    let said = fails(1, &[&["fleet"], &args[..], &["--strict"]].concat());
    assert!(said.contains("it no longer exists (--strict makes this an error)"), "{said}");
    // A dataset does not record this, so it can be passed.
    let said = says(0, &[&args[..], &["--schema", "cpu-profile"]].concat());
    assert!(said.contains("this run has no page"), "{said}");
}

#[test]
fn redacted_pages_tell_no_names() {
    let folder = Folder::new();
    let exports = fleet(&folder, "jane-appleseed", 3);
    let page = folder.path("fleet.html");
    says(0, &["report", &exports, "-o", &page, "--with-runs", "2", "--redact"]);
    let html = fs::read_to_string(&page).unwrap();
    links(&html).iter().for_each(|link| check_link(&folder, link));
    assert!(!links(&html).is_empty());
    let list = fs::read_to_string(folder.path("fleet.runs/runs.json")).unwrap();
    for (name, text) in [("report", document(&html).to_string()), ("list", list)] {
        assert!(!text.contains("jane"), "{name}");
    }
    for file in names(folder.path("fleet.runs")).iter().filter(|name| name.ends_with(".html")) {
        let page = fs::read_to_string(folder.path(&format!("fleet.runs/{file}"))).unwrap();
        let bytes = payload("profile", &page);
        assert!(!without_engine(&page).contains("jane") && !bytes.windows(4).any(|part| part == b"jane"), "{file}");
        assert!(Payload::of(&page).head["summary"]["redacted"].is_array(), "{file}");
    }
    // A dataset of redacted recordings does not record their paths.
    extract(&[&exports, "--redact", "-o", &folder.path("ds")]);
    let said = says(2, &["report", &folder.path("ds"), "-o", &page, "--with-runs", "2"]);
    assert!(said.contains("extracted with --redact, and does not record where its recordings are"), "{said}");
}

#[test]
fn pages_without_a_place_are_refused() {
    let folder = Folder::new();
    let exports = fleet(&folder, "x", 2);
    let out = folder.path("fleet.json");
    for (args, words) in [
        (&["--with-runs", "2"][..], "--with-runs only applies to --format html"),
        (&["--with-runs", "2", "-o", &out], "--with-runs only applies to --format html"),
        (&["--with-runs", "2", "--format", "html"], "so it needs -o, such as -o fleet.html"),
        (&["--with-runs", "2", "--format", "html", "-o", "-"], "so it needs -o, such as -o fleet.html"),
        (&["--with-runs", "2", "--format", "html", "-o", "/dev/null"], "/dev/null: not a file"),
        (&["--with-runs", "0", "-o", "fleet.html"], "not a whole number of at least 1"),
        (&["--max-size", "1M", "-o", "fleet.html"], "--max-size only applies to --with-runs"),
    ] {
        let said = says(2, &[&["report", &exports], args].concat());
        assert!(said.contains(words), "{args:?}: {said}");
    }
    let said =
        fails(1, &["fleet", "report", &exports, "--with-runs", "2", "--format", "html", "-o", &folder.path("a.runs")]);
    assert!(said.contains("would create a folder with the same name"), "{said}");
    assert_eq!(names(folder.path("")), set(&["x"]));
}

#[test]
fn pages_that_are_too_large_are_left_out() {
    let folder = Folder::new();
    let exports = fleet(&folder, "x", 2);
    let page = folder.path("fleet.html");
    let said = says(0, &["report", &exports, "-o", &page, "--with-runs", "2", "--max-size", "1kB"]);
    assert!(
        said.contains("this run has no page: the page would have") && said.contains("(--max-size is 1kB)"),
        "{said}"
    );
    assert_eq!(names(folder.path("fleet.runs")), set(&["runs.json"]));
    assert!(links(&fs::read_to_string(&page).unwrap()).is_empty());
    let said = fails(1, &["fleet", "report", &exports, "-o", &page, "--with-runs", "1", "--max-output", "1kB"]);
    assert!(said.contains("--max-output"), "{said}");
}

#[test]
fn names_of_reports_are_encoded() {
    let folder = Folder::new();
    let exports = fleet(&folder, "x", 1);
    run(&["report", &exports, "-o", &folder.path("a b#c?100%.html"), "--with-runs", "1"]).success();
    let links = links(&fs::read_to_string(folder.path("a b#c?100%.html")).unwrap());
    assert!(links.iter().all(|link| link.file == "a%20b%23c%3F100%25.runs/0001.html"), "{links:?}");
    links.iter().for_each(|link| check_link(&folder, link));
}
