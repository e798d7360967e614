//! Views that are tables, and what is separated by state and kind of core.

use crate::command::{column, csv, fails, fixture, json, ok, orchard};

const ORIGIN: &str = "input,run,table,schema,";

#[test]
fn csv_has_the_columns_of_the_documentation() {
    let views = [
        ("binaries", "self_weight,all_weight,self_samples,samples,binary,uuid,arch,load_address,path,unit"),
        ("processes", "pid,process,all_weight,samples,threads,unit"),
        ("states", "state,counted,samples,all_weight,unit"),
        ("cores", "level,kind,core,all_weight,samples,unit"),
        (
            "timeline",
            "time_ns,bin_ns,selected_ns,pid,process,tid,thread,core_kind,state,samples,weight,cpu_percent,unit",
        ),
    ];
    for (view, columns) in views {
        let rows = csv(&[&orchard(), "--view", view]);
        assert_eq!(rows[0].join(","), format!("{ORIGIN}{columns}"), "{view}");
        assert_eq!(rows[1][1..4], ["1", "11", "time-profile"], "{view}");
        // JSON has the same rows.
        let fields: Vec<&str> = columns.split(',').collect();
        let document = json(&[&orchard(), "--view", view]);
        let array = document[view].as_array().expect("an array of the view's name");
        assert_eq!(array.len(), rows.len() - 1, "{view}");
        for (object, row) in array.iter().zip(&rows[1..]) {
            for (field, text) in fields.iter().zip(&row[4..]) {
                let value = &object[*field];
                match value.as_str().map(str::to_owned).or_else(|| value.as_f64().map(|_| value.to_string())) {
                    Some(value) if value.parse::<f64>().is_ok() => assert_eq!(value.parse::<f64>(), text.parse()),
                    Some(value) => assert_eq!(&value, text, "{view} {field}"),
                    None if value.is_boolean() => assert_eq!(&value.to_string(), text, "{view} {field}"),
                    None => assert!(value.is_null() && text.is_empty(), "{view} {field}: {value} and {text}"),
                }
            }
        }
    }
}

/// 485 samples of one millisecond each.
#[test]
fn the_parts_of_the_orchard_are_its_485_milliseconds() {
    let sum = |view: &str, name: &str| -> u64 { column(&csv(&[&orchard(), "--view", view]), name).iter().sum() };
    assert_eq!(sum("binaries", "self_weight"), 485_000_000);
    assert_eq!(sum("processes", "all_weight"), 485_000_000);
    assert_eq!(sum("states", "samples"), 485);
    assert_eq!(sum("cores", "samples"), 2 * 485, "kinds and cores");
    assert_eq!(sum("timeline", "weight"), 485_000_000);
}

#[test]
fn states_that_do_not_count_are_there() {
    let export = fixture("27/time-profile-waiting");
    let rows = csv(&[&export, "--view", "states"]);
    let cells: Vec<[&str; 3]> = rows[1..].iter().map(|row| [&row[4][..], &row[5], &row[6]]).collect();
    assert_eq!(cells, [["Running", "true", "3"], ["Blocked", "false", "2"], ["Preempted", "false", "1"]]);
    let rows = csv(&[&export, "--view", "states", "--state", "blocked"]);
    let counted: Vec<&str> = rows[1..].iter().map(|row| &row[5][..]).collect();
    assert_eq!(counted, ["false", "true", "false"]);
}

/// Of one state there is nothing to separate.
#[test]
fn trees_of_states_have_every_state_unless_some_are_named() {
    let export = fixture("27/time-profile-waiting");
    let states = |args: &[&str]| -> Vec<String> {
        let folded = ok(&[&[&export, "--format", "folded", "--separate-by", "state"], args].concat());
        folded.lines().map(|line| line.split(';').next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(states(&[]), ["Running", "Running", "Blocked", "Preempted"]);
    assert_eq!(states(&["--state", "blocked"]), ["Blocked"]);
}

/// Of the six milliseconds, three ran, two were blocked and one was preempted.
#[test]
fn heaviest_stacks_of_states_are_apart() {
    let export = fixture("27/time-profile-waiting");
    let rows = csv(&[&export, "--view", "heaviest", "--separate-by", "state"]);
    let outermost: Vec<[&str; 2]> =
        rows[1..].iter().filter(|row| row[9] == "1").map(|row| [&row[8][..], &row[10]]).collect();
    assert_eq!(rows[0][8..11], ["part", "depth", "all_weight"]);
    assert_eq!(outermost, [["Running", "2000000"], ["Blocked", "2000000"], ["Preempted", "1000000"]]);
    let rows = csv(&[&orchard(), "--view", "heaviest", "--separate-by", "core-kind"]);
    assert!(rows[1..].iter().all(|row| row[8].ends_with("Core")), "{rows:?}");
}

#[test]
fn trees_of_kinds_of_cores_say_whose_they_are() {
    let document = json(&[&orchard(), "--view", "tree", "--separate-by", "core-kind", "--depth", "1"]);
    let kinds = document["core_kinds"].as_array().expect("an array");
    let kinds: Vec<_> = kinds.iter().map(|row| (row["core_kind"].as_str(), row["samples"].as_u64())).collect();
    assert_eq!(kinds, [(Some("P Core"), Some(283)), (Some("E Core"), Some(202))]);
    let rows = csv(&[&orchard(), "--view", "tree", "--separate-by", "core-kind", "--depth", "1"]);
    assert_eq!(rows[0][8], "core_kind");
    assert_eq!((&rows[1][8][..], &rows[1][9][..]), ("P Core", "0"));
}

#[test]
fn bins_have_a_length_and_go_with_timelines() {
    for bad in ["0", "0ms", "-1ms", "fast"] {
        fails(2, &[&orchard(), "--view", "timeline", &format!("--bin={bad}")]);
    }
    assert!(fails(2, &[&orchard(), "--bin", "10ms"]).contains("--view timeline"));
    let rows = csv(&[&orchard(), "--view", "timeline", "--bin", "0.1s", "--separate-by", "none"]);
    let bins: Vec<(&str, &str)> = rows[1..].iter().map(|row| (&row[4][..], &row[5][..])).collect();
    assert_eq!(bins.first(), Some(&("300000000", "100000000")));
    assert!(bins.len() == 3 && rows[1..].iter().all(|row| row[8].is_empty()), "{rows:?}");
}

#[test]
fn a_timeline_has_a_line_for_each_thread_and_one_for_all() {
    let text = ok(&[&orchard(), "--view", "timeline"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(['▁', '▄', '█'])).collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[0].ends_with("  all") && lines[1].contains("press worker #2"), "{text}");
    assert!(text.contains("full height is one core"), "{text}");
}
