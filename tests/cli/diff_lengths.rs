//! `traceparse diff`, as a command.

use std::fs;

use serde_json::Value;

use crate::command::{Folder, fails, finish, fixture, json, ok, orchard, read_text, stderr_of, traceparse, warns};
use crate::fleet_case::{export, toc};

fn diff(args: &[&str]) -> Value {
    serde_json::from_str(&ok(&[&["diff", "--format", "json"], args].concat())).expect("the output is JSON")
}

/// Of both tables of contents run 1 was exported; the second one says that it took twice as long.
#[test]
fn lengths_are_those_of_the_runs_and_the_time_that_count() {
    let folder = Folder::new();
    let toc = |name: &str, seconds: &str| {
        folder.file(name, read_text(&fixture("toc/two-runs")).replacen("0.118595", seconds, 1))
    };
    let (toc, longer) = (toc("toc.xml", "0.7"), toc("longer.xml", "1.4"));
    let args = [&orchard(), &orchard(), "--normalize", "duration", "--before-toc", &toc, "--after-toc", &longer];
    let found = diff(&args);
    assert_eq!(found["before"]["duration_ns"], 700_000_000);
    assert_eq!(found["after"]["duration_ns"], 1_400_000_000);
    assert_eq!(found["factor"], 0.5);
    // Both have the selected time.
    let path = orchard();
    let args = [&path, &path, "--time", "0.4s..0.5s", "--before-toc", &toc, "--after-toc", &longer];
    let found = diff(&args);
    assert_eq!(found["before"]["duration_is_recorded"], true);
    assert_eq!(
        (&found["before"]["duration_ns"], &found["after"]["duration_ns"]),
        (&100_000_000.into(), &100_000_000.into())
    );
}

/// Samples of 1 ms go up to 2.99 s and 3 s.
#[test]
fn a_table_of_contents_that_cannot_be_does_not_tell_the_length() {
    let folder = Folder::new();
    let (before, after) = (folder.file("before.xml", export(300)), folder.file("after.xml", export(301)));
    let (other, own) = (folder.file("other.xml", toc(30)), folder.file("own.xml", toc(301)));
    let args = ["diff", &before, &after, "--before-toc", &other, "--after-toc", &own, "--format", "json"];
    let found = |args: &[&str]| {
        let (text, said) = warns(args);
        assert!(!said.contains("the second recording"), "{said}");
        (serde_json::from_str::<Value>(&text).expect("the output is JSON"), said)
    };
    let (answer, said) = found(&[&args[..], &["--normalize", "duration"]].concat());
    assert_eq!(
        (&answer["before"]["duration_ns"], &answer["before"]["duration_is_recorded"]),
        (&2_991_000_000_u64.into(), &false.into())
    );
    assert_eq!(
        (&answer["after"]["duration_ns"], &answer["after"]["duration_is_recorded"]),
        (&3_012_345_000_u64.into(), &true.into())
    );
    let reason = "A table of contents says that run 1 took 0.302 s, but the export has samples up to 2.990 s";
    assert!(said.contains(&format!("the first recording, {before}: {reason}")), "{said}");
    assert!(said.contains("pass one with --before-toc"), "{said}");
    // Whoever names one is told, whatever it was for; and its device is not that of the recording.
    let (_, said) = found(&args);
    assert!(said.contains(reason) && !said.contains("pass one with --before-toc"), "{said}");
    let mini = folder.file("mini.xml", toc(30).replace("MacBook Pro", "Mac mini"));
    assert_ne!(read_text(&mini), toc(30));
    found(&["diff", &before, &after, "--before-toc", &mini, "--after-toc", &own, "--format", "json"]);
    // A ring buffer kept less than was recorded.
    let windowed = folder.file("windowed.xml", toc(300).replace("Deferred", "Windowed (5 seconds)"));
    let args = ["diff", &before, &after, "--before-toc", &windowed, "--after-toc", &own, "--format", "json"];
    let (answer, said) = found(&args);
    assert_eq!(answer["before"]["duration_ns"], 2_991_000_000_u64);
    assert!(said.contains("Windowed (5 seconds)"), "{said}");
}

/// Runs begin at zero, each by itself.
#[test]
fn runs_stand_one_after_the_other() {
    let folder = Folder::new();
    let (one, text) = (orchard(), read_text(&orchard()));
    let second = text.replace("/run[1]/", "/run[2]/");
    assert_ne!(text, second);
    let two = folder.file("two.xml", text + &second);
    let found = diff(&[&one, &two]);
    let length = |side: &str| found[side]["duration_ns"].as_u64().expect("a length");
    assert_eq!(length("after"), 2 * length("before"));
}

/// The table in front has cycles, and nothing of the thread that is asked for.
#[test]
fn the_unit_is_that_of_what_counts() {
    let folder = Folder::new();
    let both = folder.file("both.xml", read_text(&fixture("27/cpu-profile")) + &read_text(&orchard()));
    let copy = folder.path("copy.xml");
    fs::copy(&both, &copy).expect("a file can be copied");
    assert_eq!(diff(&[&both, &copy, "--thread", "press worker #2 (pool)"])["unit"], "ns");
}

#[test]
fn only_trees_are_turned_round() {
    for view in [&[][..], &["--view", "functions"], &["--view", "binaries"]] {
        let message = fails(2, &[&["diff", "a.xml", "b.xml", "--invert"], view].concat());
        assert!(message.contains("--invert") && message.contains("--view tree"), "{message}");
    }
    ok(&["diff", &orchard(), &orchard(), "--invert", "--view", "tree"]);
}

#[test]
fn rows_after_the_first_ones_are_no_small_changes() {
    let args = ["diff", &orchard(), &orchard(), "--min-percent", "0", "--top", "2"];
    let text = ok(&args);
    assert!(text.contains("more after the first 2") && !text.contains("smaller changes"), "{text}");
}

/// 258 of the 485 samples have it in their stack.
#[test]
fn what_operations_removed_is_said_of_both_sides() {
    for format in ["text", "csv", "svg"] {
        let args = ["diff", &orchard(), &orchard(), "--prune", "filter", "--format", format];
        let said = stderr_of(&finish(&mut traceparse(&args)).success());
        assert_eq!(
            said.matches("removed by --prune 'filter': 258.00 ms in 258 samples").count(),
            2,
            "{format}: {said}"
        );
    }
    // JSON has it in itself.
    let answer = json(&["diff", &orchard(), &orchard(), "--prune", "filter"]);
    for side in ["before", "after"] {
        let operations = &answer[side]["operations"];
        assert_eq!(operations[0]["operation"], "--prune 'filter'");
        let expected = serde_json::json!({"weight": 258_000_000, "samples": 258});
        assert_eq!(operations[0]["series"][0]["removed"], expected, "{side}");
    }
}

/// Each side as in a report on it alone, but for where its series stand.
#[test]
fn operations_of_both_sides_are_named() {
    let (before, after) = (fixture("27/several-tables"), orchard());
    let asked = ["--schema", "time-profile", "--hide-system", "--focus", "main", "--invert"];
    let diff = json(&[&["diff", &before, &after, "--view", "tree", "--force"], &asked[..]].concat());
    for (side, path) in [("before", &before), ("after", &after)] {
        let alone = json(&[&[path.as_str(), "--view", "tree"], &asked[..]].concat());
        let summed = |answer: &Value| -> Vec<(Value, u64, u64)> {
            let operations = answer["operations"].as_array().expect("operations");
            let sum = |operation: &Value, of: &str, what: &str| {
                let series = operation["series"].as_array().expect("series").iter();
                series.map(|series| series[of][what].as_u64().expect("a number")).sum()
            };
            let row =
                |row: &Value| (row["operation"].clone(), sum(row, "removed", "weight"), sum(row, "moved", "samples"));
            operations.iter().map(row).collect()
        };
        assert_eq!(summed(&diff[side]), summed(&alone), "{side}");
        let texts: Vec<&Value> = alone["operations"].as_array().unwrap().iter().map(|row| &row["operation"]).collect();
        assert_eq!(texts, ["--hide-system", "--focus 'main'", "--invert"]);
        for series in
            diff[side]["operations"].as_array().unwrap().iter().flat_map(|row| row["series"].as_array().unwrap())
        {
            let at = series["series"].as_u64().expect("an index") as usize;
            let of_side = diff[side]["series"].as_array().expect("series");
            assert!(series["removed"]["samples"].as_u64() > Some(0) || of_side[at]["samples"].as_u64() > Some(0));
        }
    }
    assert_eq!(
        json(&["diff", &before, &after, "--schema", "time-profile", "--force"])["before"].get("operations"),
        None
    );
}
