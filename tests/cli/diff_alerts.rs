//! `traceparse diff --alert`: what becomes of rules, where that is told, and exit codes.

use serde_json::Value;

use crate::command::{Folder, finish, fixture, orchard, read_text, stderr_of, stdout_of, traceparse};

/// The first recording has 7 ms in 7 samples, the second one 485 ms in 485.
fn diff(code: i32, args: &[&str]) -> (String, String) {
    let (before, after) = (fixture("26.4/time-profile"), orchard());
    let assert = finish(&mut traceparse(&[&["diff", &before, &after], args].concat())).code(code);
    (stdout_of(&assert), stderr_of(&assert))
}

fn alerts(code: i32, rules: &[&str]) -> Vec<Value> {
    let rules = rules.iter().flat_map(|rule| ["--alert", rule]);
    let args: Vec<&str> = ["--format", "json"].into_iter().chain(rules).collect();
    let answer: Value = serde_json::from_str(&diff(code, &args).0).expect("JSON");
    answer["alerts"].as_array().expect("alerts").clone()
}

#[test]
fn exit_codes_say_what_became_of_rules() {
    for (code, state, rule) in [
        (3, "fired", "total > 5%"),
        (3, "fired", "total > 477ms"),
        (0, "quiet", "total > 478ms"),
        (3, "fired", "function(\"fruit_copy_fast\").self > 68.9ms"),
        (0, "quiet", "function(\"fruit_copy_fast\").self > 69ms"),
        (3, "fired", "binary(\"libfruit.dylib\").self > 10%"),
        (3, "fired", "function(*).self > 162ms"),
        (0, "quiet", "function(*).self > 163ms"),
        (4, "unknown", "function(\"fruit_copy\").self > 1%"),
        (4, "other-unit", "total > 1 Kcycles"),
    ] {
        let found = alerts(code, &[rule]);
        assert_eq!((found[0]["state"].as_str(), found[0]["rule"].as_str()), (Some(state), Some(rule)));
    }
    // One that fired counts more than one that nobody can decide.
    let found = alerts(3, &["binary(\"nope\").all > 1%", "total > 1%", "total > 1s"]);
    let states: Vec<&str> = found.iter().filter_map(|alert| alert["state"].as_str()).collect();
    assert_eq!(states, ["unknown", "fired", "quiet"]);
    // 1 % of 7 ms; 478 ms more, and √(7 + 485) ms of noise.
    assert_eq!(found[1]["limit"], 70_000.0);
    let cause = &found[1]["causes"][0];
    assert_eq!((&cause["function"], &cause["change"]), (&Value::Null, &478e6.into()));
    assert!((cause["noise"].as_f64().unwrap() - 492_f64.sqrt() * 1e6).abs() < 1.0, "{cause}");
    assert_eq!(found[0]["causes"], Value::Array(Vec::new()));
}

#[test]
fn what_chance_explains_fires_nothing() {
    let text = read_text(&orchard());
    let (start, end) = (text.rfind("<row>").expect("a row"), text.rfind("</row>").expect("its end") + "</row>".len());
    let folder = Folder::new();
    // One sample of 485 less.
    let before = folder.file("before.xml", [&text[..start], &text[end..]].concat());
    for (code, rule) in [(4, "total > 0%"), (4, "total > 0.99ms"), (0, "total > 1ms"), (0, "total > 1%")] {
        let assert = finish(&mut traceparse(&["diff", &before, &orchard(), "--alert", rule])).code(code);
        let told = stdout_of(&assert).contains("chance alone may do that");
        assert_eq!(told, code == 4, "{rule}: {}", stdout_of(&assert));
    }
}

#[test]
fn text_and_standard_error_tell_of_alerts() {
    let rules = ["--alert", "total > 5%", "--alert", "binary(\"nope\").all > 1%", "--alert", "total > 1s"];
    let (text, message) = diff(3, &rules);
    for line in [
        "alert   FIRED      total > 5%: +478.00 ms ± 22.18 ms, where 350.00 µs is allowed",
        "alert   UNDECIDED  binary(\"nope\").all > 1%: neither recording has a sample of it",
        "alert   ok         total > 1s: +478.00 ms ± 22.18 ms, and 1.00 s is allowed",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert_eq!(message, "");
    let (csv, message) = diff(3, &[&rules[..], &["--format", "csv"]].concat());
    assert!(!csv.contains("alert"), "{csv}");
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 2, "{message}");
    assert!(lines[0].starts_with("alert FIRED total > 5%: +478.00 ms"), "{message}");
    assert!(lines[1].starts_with("alert UNDECIDED binary(\"nope\")"), "{message}");
}

#[test]
fn recordings_of_other_lengths_are_warned_of() {
    let folder = Folder::new();
    let toc = |name: &str, seconds: &str| {
        let text =
            read_text(&fixture("toc/two-runs")).replacen("<duration>0.118595<", &format!("<duration>{seconds}<"), 1);
        folder.file(name, text)
    };
    let (toc, longer) = (toc("toc.xml", "0.7"), toc("longer.xml", "1.4"));
    let tocs = ["--format", "json", "--before-toc", &toc, "--after-toc", &longer];
    let alert = ["--alert", "total > 5%"];
    let (_, message) = diff(3, &[&tocs[..], &alert].concat());
    assert!(message.contains("the recordings took 700.00 ms and 1.40 s"), "{message}");
    let (_, message) = diff(3, &[&tocs[..], &alert, &["--normalize", "duration"]].concat());
    assert!(!message.contains("took"), "{message}");
    let (_, message) = diff(0, &tocs);
    assert!(!message.contains("took"), "nobody asked for alerts: {message}");
}

#[test]
fn samples_without_stack_have_the_name_that_is_shown() {
    let found = alerts(0, &["function(\"[no stack recorded]\").self > 1s"]);
    assert_eq!(found[0]["state"], "quiet");
}

/// A log that cannot be written does not change the verdict.
#[cfg(target_os = "linux")]
#[test]
fn the_verdict_does_not_depend_on_standard_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let (before, after) = (fixture("26.4/time-profile"), orchard());
    let args = ["diff", &before, &after, "--alert", "total > 5%", "--format", "json"];
    let mut command = std::process::Command::new(crate::command::BINARY);
    let status = command.args(args).stdout(std::process::Stdio::null()).stderr(full).status().expect("it runs");
    assert_eq!(status.code(), Some(3));
}

#[test]
fn what_is_no_rule_is_wrong_usage() {
    let (_, message) = diff(2, &["--alert", "total > 5"]);
    assert!(message.contains("\"5\" is not a percentage of the first recording, or a weight"), "{message}");
    let (_, message) = diff(2, &["--alert", "function(\"\").self > 5%"]);
    assert!(message.contains("is not a name in double quotes"), "{message}");
    let (_, message) = diff(2, &["--alert", "cpu.p95 > 80"]);
    assert!(message.contains("`traceparse fleet report` has measures of whole runs"), "{message}");
}
