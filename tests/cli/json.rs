//! JSON.

use serde_json::Value;

use crate::command::{all_exports, fixture, json, orchard};

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} of {value} is a number"))
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name} is an array"))
}

/// Checks that what is in a node, below it and hidden below it makes its weight. Gives the number of levels.
fn check_tree(node: &Value) -> u32 {
    let below = list(node, "children");
    let hidden = node.get("hidden_weight").map_or(0, |_| number(node, "hidden_weight"));
    let sum = number(node, "self_weight") + hidden + below.iter().map(|child| number(child, "all_weight")).sum::<u64>();
    assert_eq!(number(node, "all_weight"), sum, "{}", node["function"]);
    1 + below.iter().map(check_tree).max().unwrap_or(0)
}

/// The weight of the rows that count: of running threads, or without a state.
fn weight_of_rows(path: &str) -> u64 {
    let samples = json(&[path, "--view", "samples"]);
    let counts = |sample: &&Value| sample["state"].is_null() || sample["state"] == "Running";
    list(&samples, "samples").iter().filter(counts).map(|sample| number(sample, "weight")).sum()
}

#[test]
fn every_tree_accounts_for_its_weight() {
    for export in all_exports() {
        let weight = weight_of_rows(&export);
        for limits in [&[][..], &["--min-percent", "7"], &["--depth", "3"], &["--depth", "0"]] {
            for (separate_by, rows) in [("thread", "threads"), ("process", "processes"), ("none", "trees")] {
                let args = [&[export.as_str(), "--separate-by", separate_by], limits].concat();
                let answer = json(&args);
                for row in list(&answer, rows) {
                    check_tree(&row["tree"]);
                    assert_eq!(number(row, "all_weight"), number(&row["tree"], "all_weight"), "{args:?}");
                }
                for rows in [rows, "series"] {
                    let sum: u64 = list(&answer, rows).iter().map(|row| number(row, "all_weight")).sum();
                    assert_eq!(sum, weight, "{rows} of {args:?}");
                }
            }
        }
    }
}

#[test]
fn the_head_says_what_the_numbers_are() {
    let answer = json(&[&orchard()]);
    assert_eq!(answer["format"], "traceparse");
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["metric"], "weight");
    assert_eq!(answer["documents"][0]["input"], orchard());
    let series = &answer["series"][0];
    assert_eq!(series["schema"], "time-profile");
    assert_eq!(series["unit"], "ns");
    assert_eq!((number(series, "samples"), number(series, "all_weight")), (485, 485_000_000));
    assert_eq!((number(series, "first_time_ns"), number(series, "last_time_ns")), (312_400_369, 571_400_861));
    assert_eq!((number(&series["no_stack"], "samples"), number(&series["no_stack"], "weight")), (1, 1_000_000));
    let unnamed = &answer["unnamed"];
    let counts = ["frames", "unnamed", "without_binary"].map(|name| number(unnamed, name));
    assert_eq!(counts, [105, 12, 5]);
}

#[test]
fn each_view_has_its_own_rows() {
    let check = |args: &[&str], expected: &[(&str, usize)]| {
        let answer = json(&[&[orchard().as_str()], args].concat());
        let rows = ["threads", "processes", "trees", "functions", "samples"];
        let found = rows.iter().filter_map(|&name| Some((name, answer.get(name)?.as_array()?.len())));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{args:?}");
    };
    check(&[], &[("threads", 4)]);
    check(&["--view", "tree"], &[("threads", 4)]);
    check(&["--view", "tree", "--separate-by", "process"], &[("processes", 1)]);
    check(&["--view", "tree", "--no-threads"], &[("trees", 1)]);
    check(&["--view", "threads"], &[("threads", 4)]);
    check(&["--view", "functions"], &[("functions", 44)]);
    check(&["--view", "samples"], &[("samples", 485)]);
    check(&["--view", "summary"], &[]);
}

#[test]
fn limits_are_kept() {
    let shallow = json(&[&orchard(), "--no-threads", "--depth", "2"]);
    assert_eq!(check_tree(&shallow["trees"][0]["tree"]), 1 + 2, "the root and two levels");
    let heavy = json(&[&orchard(), "--no-threads", "--min-percent", "74.5"]);
    let mut node = &heavy["trees"][0]["tree"];
    let mut names = Vec::new();
    while let [child] = list(node, "children") {
        names.push(child["function"].as_str().expect("a function has a name"));
        node = child;
    }
    assert!(list(node, "children").is_empty(), "three quarters fork nowhere");
    assert_eq!(names, ["thread_start", "_pthread_start", "orchard::Worker::main(void*)"]);
}

#[test]
fn samples_hold_their_stack_root_first() {
    let answer = json(&[&fixture("27/time-profile-waiting"), "--view", "samples"]);
    let blocked = &list(&answer, "samples")[1];
    assert_eq!((number(blocked, "time_ns"), number(blocked, "tid")), (105_250_124, 172_311));
    assert_eq!((&blocked["state"], &blocked["core"]), (&Value::from("Blocked"), &Value::Null));
    let stack = list(blocked, "stack");
    assert_eq!(stack.len(), 5);
    assert_eq!(stack[0]["function"], "thread_start");
    assert_eq!(stack[4]["function"], "__psynch_cvwait");
    assert_eq!(stack[4]["address"], "0x18a41102d");
    assert_eq!(stack[4]["binary"], "libsystem_kernel.dylib");
}

#[test]
fn the_metric_is_named_and_changes_the_unit() {
    let answer = json(&[&fixture("26.2/cpu-profile"), "--metric", "samples"]);
    assert_eq!(answer["metric"], "samples");
    let series = &answer["series"][0];
    assert_eq!(series["unit"], "samples");
    assert_eq!(number(series, "all_weight"), number(series, "samples"));
    assert_eq!(json(&[&fixture("26.2/cpu-profile")])["series"][0]["unit"], "cycles");
}
