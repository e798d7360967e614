//! Extracts that are killed, again and again: each report in between says what it lacks, and the last one lacks nothing.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::command::{BINARY, Folder, stderr_of, stdout_of};
use crate::fleet_case::{fleet, run, says};

const FILES: u64 = 40;

/// The report, unless there is none yet; one that says that it is complete is the whole one.
fn check(dataset: &str, whole: &str) -> bool {
    let report = run(&["report", dataset, "--format", "json"]);
    if report.get_output().status.code() != Some(0) {
        let said = stderr_of(&report);
        assert!(
            ["there are no exports", "cannot be read", "not a dataset"].iter().any(|words| said.contains(words)),
            "{said}"
        );
        return false;
    }
    let text = stdout_of(&report);
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let inputs = &answer["inputs"];
    if inputs["complete"] == true {
        assert_eq!(text, whole);
        return true;
    }
    assert_eq!(inputs["complete"], false);
    assert!(stderr_of(&report).contains("incomplete: the last extract did not finish"));
    let runs = answer["runs"].as_array().expect("runs").len() as u64;
    assert!(inputs["inputs_done"].as_u64().expect("a number") <= runs, "{inputs}");
    assert!(runs <= FILES && inputs["inputs_expected"] == FILES, "{inputs}");
    false
}

#[test]
fn a_killed_extract_never_looks_whole() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", FILES), folder.path("ds"));
    says(0, &["extract", &path, "-o", &folder.path("whole")]);
    let whole = stdout_of(&run(&["report", &folder.path("whole"), "--format", "json"]));
    let mut interrupted = 0;
    for step in 0..12 {
        let mut child = Command::new(BINARY)
            .args(["fleet", "extract", &path, "-o", &dataset, "--jobs", "2"])
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        sleep(Duration::from_millis(10 + 25 * (step * 5 % 12)));
        // On unix that is SIGKILL.
        child.kill().expect("it can be killed, or has ended");
        child.wait().expect("it has ended");
        interrupted += usize::from(!check(&dataset, &whole));
    }
    assert!(interrupted > 0, "every extract came to its end");
    says(0, &["extract", &path, "-o", &dataset]);
    assert!(check(&dataset, &whole));
}
