//! The samples that count.

use crate::command::{csv, fails, fixture, json, ok};

/// Six rows, a millisecond apart, each of one millisecond: main thread (0x2a101) running at 104 and 106 ms and
/// preempted at 108, a worker (0x2a117) blocked at 105 and 107 and running at 109.
fn waiting() -> String {
    fixture("27/time-profile-waiting")
}

/// Milliseconds that count, and those of the first and the last sample.
fn counted(args: &[&str]) -> (u64, u64, u64) {
    let answer = json(&[args, &["--view", "summary"]].concat());
    let series = &answer["series"][0];
    let millis = ["all_weight", "first_time_ns", "last_time_ns"].map(|name| series[name].as_u64().unwrap() / 1_000_000);
    assert_eq!(series["samples"], millis[0], "every sample is one millisecond");
    (millis[0], millis[1], millis[2])
}

#[track_caller]
fn check(args: &[&str], expected: (u64, u64, u64)) {
    assert_eq!(counted(&[&[waiting().as_str()], args].concat()), expected, "{args:?}");
}

#[test]
fn running_threads_count_unless_states_are_named() {
    check(&[], (3, 104, 109));
    check(&["--state", "running"], (3, 104, 109));
    check(&["--state", "Blocked"], (2, 105, 107));
    check(&["--state", "blocked", "--state", "Preempted"], (3, 105, 108));
    check(&["--state", "all"], (6, 104, 109));
    check(&["--state", "All", "--state", "Blocked"], (6, 104, 109));
}

#[test]
fn states_that_do_not_count_are_told() {
    let text = ok(&[&waiting(), "--view", "summary"]);
    assert!(text.contains("Blocked 2.00 ms in 2 samples, Preempted 1.00 ms in 1 sample"), "{text}");
    assert!(text.contains("--state all"), "{text}");
    let answer = json(&[&waiting(), "--view", "summary"]);
    let states = answer["series"][0]["other_states"].as_array().expect("states").iter();
    let states: Vec<_> = states.map(|row| (row["state"].as_str().unwrap(), row["samples"].as_u64().unwrap())).collect();
    assert_eq!(states, [("Blocked", 2), ("Preempted", 1)]);
}

#[test]
fn threads_are_chosen_by_name_or_tid() {
    for main in ["Main Thread", "172289", "0x2a101", "0X2A101"] {
        check(&["--thread", main], (2, 104, 106));
        check(&["--thread", main, "--state", "all"], (3, 104, 108));
    }
    check(&["--thread", "thread_start"], (1, 109, 109));
    check(&["--thread", "0x2a117", "--thread", "Main Thread"], (3, 104, 109));
}

#[test]
fn processes_are_chosen_by_name_or_pid() {
    check(&["--process", "Orchard"], (3, 104, 109));
    check(&["--process", "4150"], (3, 104, 109));
    let several = fixture("26.4/time-profile");
    let threads = csv(&[&several, "--view", "threads", "--process", "Orchard"]);
    assert!(threads[1..].iter().all(|row| row[5] == "Orchard"), "{threads:?}");
    assert!(csv(&[&several, "--view", "threads"])[1..].iter().any(|row| row[5] != "Orchard"), "there are others");
}

#[test]
fn times_may_be_spelled_as_people_do() {
    for range in [
        "0.106..0.108",
        "0.106s..0.108s",
        "106ms..108ms",
        "106.0ms..108ms",
        "106000us..108000us",
        "106000µs..108ms",
        "106000000ns..0.108",
        "00:00.106..00:00.108",
        "0:00.106.000..00:00.108.000",
    ] {
        check(&["--state", "all", "--time", range], (2, 106, 107));
    }
}

#[test]
fn a_range_of_time_may_be_open_and_excludes_its_end() {
    let check = |range: &str, expected| check(&["--state", "all", "--time", range], expected);
    check("..", (6, 104, 109));
    check("107ms..", (3, 107, 109));
    check("..107ms", (3, 104, 106));
    check("104250083ns..109250288ns", (5, 104, 108));
    check("104250084ns..109250289ns", (5, 105, 109));
}

#[test]
fn runs_and_tables_can_be_chosen() {
    let several = fixture("27/several-tables");
    let samples = |args: &[&str]| csv(&[&[several.as_str(), "--view", "samples"], args].concat()).len() - 1;
    assert_eq!(samples(&[]), 6);
    assert_eq!(samples(&["--run", "2"]), 3);
    assert_eq!(samples(&["--run", "1", "--run", "2"]), 6);
    assert_eq!(samples(&["--schema", "time-profile", "--run", "1"]), 3);
    let functions = ok(&[&several, "--run", "2", "--view", "functions"]);
    assert!(functions.contains("0x10140a000") && !functions.contains("orchard::Press::filter"), "{functions}");
    let answer = json(&[&several, "--run", "2", "--view", "summary"]);
    assert_eq!(answer["series"].as_array().map(Vec::len), Some(2), "what is left out is told");
    assert_eq!(answer["series"][0]["filtered_out"]["samples"], 3);
}

#[test]
fn filters_narrow_each_other_in_every_view() {
    let filters = ["--state", "all", "--thread", "Main Thread", "--time", "105ms..", "--process", "4150"];
    check(&filters, (2, 106, 108));
    let waiting = waiting();
    let with = |view: &[&str]| ok(&[&[waiting.as_str()], view, &filters[..]].concat());
    assert_eq!(with(&["--view", "samples"]).lines().count(), 1 + 2);
    assert!(with(&["--view", "threads", "--format", "csv"]).contains("Main Thread,2,2000000,ns"));
    for view in [&[][..], &["--view", "tree"], &["--view", "functions"], &["--format", "folded"]] {
        assert!(!with(view).contains("__psynch_cvwait"), "{view:?}");
    }
}

#[test]
fn samples_are_of_every_state_unless_states_are_named() {
    let rows = |args: &[&str]| csv(&[&[waiting().as_str(), "--view", "samples"], args].concat()).len() - 1;
    assert_eq!(rows(&[]), 6);
    assert_eq!(rows(&["--state", "Running"]), 3);
}

#[test]
fn a_filter_that_nothing_passes_names_what_there_is() {
    for filter in [
        ["--run", "7"],
        ["--schema", "cpu-profile"],
        ["--process", "Orchid"],
        ["--thread", "idle thread"],
        ["--thread", "0x1"],
        ["--time", "1s.."],
        ["--state", "Blackout"],
    ] {
        for view in [&[][..], &["--view", "samples"], &["--format", "json"], &["--format", "folded"]] {
            let path = waiting();
            let message = fails(1, &[&[path.as_str()], &filter[..], view].concat());
            for name in ["runs: 1;", "time-profile", "Orchard", "Main Thread, thread_start"] {
                assert!(message.contains(name), "{filter:?}: {name} is not in {message}");
            }
        }
    }
}

#[test]
fn a_state_that_no_sample_has_is_answered_with_those_there_are() {
    let message = fails(1, &[&waiting(), "--state", "Blackout"]);
    for state in ["Running", "Blocked", "Preempted"] {
        assert!(message.contains(state), "{state} is not in {message}");
    }
}

/// All samples of the threads that ran have `main` or `thread_start` in their stacks; others waited.
#[test]
fn operations_that_leave_nothing_are_named() {
    let last = "--prune 'thread_start' removed the last ones";
    for args in [&[][..], &["--thread", "Main Thread", "--thread", "0x2a117"], &["--time", "0s..1s"]] {
        let message = fails(1, &[&[&waiting(), "--prune", "^main$", "--prune", "thread_start"], args].concat());
        assert!(message.contains(last), "{args:?}: {message}");
    }
}

/// A sum does not know which of its samples is left; one by one they do.
#[test]
fn times_of_what_is_left_are_right_or_missing() {
    let export = waiting();
    let args = [&export[..], "--prune", "filter", "--state", "all"];
    let summed = json(&[&args[..], &["--view", "summary"]].concat());
    assert!(summed["series"][0]["first_time_ns"].is_null() && summed["series"][0]["last_time_ns"].is_null());
    assert_eq!(counted(&[&args[..], &["--time", "0s..1s"]].concat()), (5, 104, 108));
}
