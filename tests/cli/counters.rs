//! Performance counters as weights: `--metric counter:N`. The values were read from the fixtures with another XML reader.

use serde_json::{Value, json as value};

use crate::command::{Folder, csv, fails, finish, fixture, json, ok, orchard, stderr_of, stdout_of, traceparse};

/// The values of the rows that have some, by innermost function: of the first counter and of the second.
const VALUES: [(&str, [u64; 2]); 3] = [
    ("[no stack recorded]", [120_511, 214_003]),
    ("orchard::Tree::shake(double)", [2_400_100, 980]),
    ("orchard::operator<(orchard::Apple const&, orchard::Apple const&)", [75, 1_000_000]),
];
const SUMS: [u64; 2] = [2_520_686, 1_214_983];

/// A table of contents whose table has these counters.
fn toc(folder: &Folder, name: &str, events: &str) -> String {
    let table = format!(r#"<table schema="counters-profile" trigger="time" pmc-events="{events}"/>"#);
    let other = r#"<table schema="tick"/>"#;
    let text = format!(
        r#"<?xml version="1.0"?><trace-toc><run number="1"><info><target><process name="Orchard" pid="1"/></target>
<summary><duration>3.5</duration></summary></info><data>{other}{other}{table}</data></run></trace-toc>"#
    );
    folder.file(name, text)
}

fn total(answer: &Value) -> &Value {
    &answer["series"][0]["all_weight"]
}

#[test]
fn samples_weigh_the_events_of_a_counter() {
    for case in ["14.3/counters-profile", "14.3/counters-profile-by-cycles"] {
        let path = fixture(case);
        for (place, sum) in SUMS.into_iter().enumerate() {
            let metric = format!("counter:{}", place + 1);
            let answer = json(&[&path, "--view", "functions", "--metric", &metric]);
            assert_eq!(answer["metric"], "counter");
            let series = &answer["series"][0];
            assert_eq!(series["counter"], place + 1);
            assert_eq!(series["unit"], "events");
            assert_eq!(series["all_weight"], sum);
            assert_eq!(series["samples"], 5, "samples without events are samples");
            assert_eq!(series["counters"], value!(SUMS));
            let functions = answer["functions"].as_array().unwrap();
            for (name, values) in VALUES {
                let row = functions.iter().find(|row| row["function"] == name).unwrap_or_else(|| panic!("{name}"));
                assert_eq!(row["self_weight"], values[place], "{name}");
            }
            let listed: u64 = functions.iter().map(|row| row["self_weight"].as_u64().unwrap()).sum();
            assert_eq!(listed, sum);
        }
    }
}

#[test]
fn filters_and_operations_count_events() {
    let path = fixture("14.3/counters-profile");
    let answer = |more: &[&str]| json(&[&[path.as_str(), "--metric", "counter:2"], more].concat());
    let weight = |more: &[&str]| total(&answer(more)).as_u64().unwrap();
    assert_eq!(weight(&["--view", "threads"]), SUMS[1]);
    assert_eq!(weight(&["--view", "threads", "--time", "105ms..107ms"]), 980);
    assert_eq!(weight(&["--view", "threads", "--prune", "Tree::shake"]), SUMS[1] - 980);
    let pruned = answer(&["--view", "threads", "--prune", "Tree::shake"]);
    assert_eq!(pruned["operations"][0]["series"][0]["removed"], value!({"weight": 980, "samples": 1}));
    let table = csv(&[&path, "--metric", "counter:1", "--view", "threads"]);
    let at = table[0].iter().position(|title| title == "all_weight").unwrap();
    let sum: u64 = table[1..].iter().map(|row| row[at].parse::<u64>().unwrap()).sum();
    assert_eq!(sum, SUMS[0]);
    let folded = ok(&[&path, "--metric", "counter:1", "--format", "folded"]);
    let folded: u64 = folded.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(folded, SUMS[0]);
}

#[test]
fn names_are_those_of_the_table_of_contents() {
    let folder = Folder::new();
    let path = fixture("14.3/counters-profile");
    let named = toc(&folder, "toc.xml", "&quot;INST_ALL&quot; &quot;CORE_ACTIVE_CYCLE&quot;");
    let answer = json(&[&path, &named, "--view", "threads", "--metric", "counter:CORE_ACTIVE_CYCLE"]);
    assert_eq!(*total(&answer), SUMS[1]);
    assert_eq!(answer["series"][0]["counter"], 2);
    assert_eq!(answer["series"][0]["counter_names"], value!(["INST_ALL", "CORE_ACTIVE_CYCLE"]));
    let summary = ok(&[&path, &named, "--view", "summary"]);
    assert!(summary.contains("2520686 (INST_ALL), 1214983 (CORE_ACTIVE_CYCLE)"), "{summary}");
    // Names of another number of counters are those of another recording.
    let three = toc(&folder, "three.xml", "&quot;INST_ALL&quot; &quot;CORE_ACTIVE_CYCLE&quot; &quot;INST_BRANCH&quot;");
    assert_eq!(json(&[&path, &three, "--view", "summary"])["series"][0].get("counter_names"), None);
    let refused = fails(1, &[&path, &three, "--metric", "counter:INST_ALL"]);
    assert!(refused.contains("names are not known"), "{refused}");
    // Nor are they known if two differ.
    let other = toc(&folder, "other.xml", "&quot;A&quot; &quot;B&quot;");
    assert_eq!(json(&[&path, &named, &other, "--view", "summary"])["series"][0].get("counter_names"), None);
}

#[test]
fn counters_that_are_not_there_are_refused() {
    let path = fixture("14.3/counters-profile");
    let refused = fails(1, &[&path, "--metric", "counter:3"]);
    assert!(refused.contains("no table has a counter 3: counters-profile has 2"), "{refused}");
    let refused = fails(1, &[&orchard(), "--metric", "counter:1"]);
    assert!(refused.contains("no table has counters"), "{refused}");
}

#[test]
fn tables_without_the_counter_do_not_count() {
    // Two recordings' exports: one has counters.
    let (with, without) = (fixture("14.3/counters-profile"), fixture("14.3/time-profile"));
    let args = [with.as_str(), &without, "--view", "threads", "--metric", "counter:1", "--format", "json"];
    let assert = finish(&mut traceparse(&args)).success();
    let (answer, note) = (stdout_of(&assert), stderr_of(&assert));
    assert!(note.contains("time-profile has no such counter and does not count"), "{note}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["series"].as_array().map(Vec::len), Some(1));
    assert_eq!(*total(&answer), SUMS[0]);
}
