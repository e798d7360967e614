//! Incomplete datasets: interrupted or killed extracts, lost files, and files from other datasets.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{BINARY, Folder, finish, pipe, signal, stdout_of, traceparse};
use crate::fleet_case::{bytes, export, extract, fleet, report_with, run, sources, write};

/// Waits for the end of a process that has received a signal.
fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().expect("the process can be asked") {
            return status.code();
        }
        sleep(Duration::from_millis(10));
    }
    panic!("the process goes on");
}

/// A JSON file of a dataset; null until the file exists.
pub(crate) fn json_of(dataset: &Path, name: &str) -> Value {
    fs::read(dataset.join(name)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

#[test]
fn an_interrupted_extraction_goes_on_where_it_was() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 10), folder.path("ds"));
    // The fifth file is read until the test has written it.
    fs::remove_file(folder.path("x/04.xml")).expect("it is there");
    let slow = pipe(&folder, "x/04.xml");
    let mut child = Command::new(BINARY)
        .args(["fleet", "extract", &path, &slow, "-o", &dataset, "--jobs", "1"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut writer = fs::OpenOptions::new().write(true).open(&slow).expect("the extraction opens it");
    signal(&child, "-INT");
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    assert!(said.any(|line| line.starts_with("finishing the files being read")));
    writer.write_all(export(15).as_bytes()).expect("it is read");
    drop(writer);
    assert_eq!(wait(&mut child), Some(130));
    let said: Vec<String> = said.collect();
    assert!(
        said[0].contains("interrupted after 5 of 10 files") && said[0].contains("run the same command to continue"),
        "{said:?}"
    );
    let (said, answer) = report_with(0, &[&dataset]);
    assert!(said.contains("incomplete: the last extract did not finish (5 of 10 files done)"), "{said}");
    assert_eq!(sources(&answer), ["00.xml", "01.xml", "02.xml", "03.xml", "04.xml"]);
    fs::remove_file(&slow).expect("it is there");
    write(&folder, "x/04.xml", export(15));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 5 new, 0 changed, 5 unchanged, 0 failed");
    assert_eq!(report_with(0, &[&dataset]).0, "");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    fs::remove_file(folder.path("x/02.xml")).expect("it is there");
    let slow = pipe(&folder, "x/02.xml");
    let mut child = Command::new(BINARY)
        .args(["fleet", "extract", &path, &slow, "-o", &dataset, "--jobs", "1"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let writer = fs::OpenOptions::new().write(true).open(&slow).expect("the extraction opens it");
    // Results are saved about a second later, although the next file takes longer.
    while json_of(Path::new(&dataset), "traceparse-dataset.json")["inputs_done"] != 2 {
        assert!(child.try_wait().expect("it can be asked").is_none());
    }
    signal(&child, "-INT");
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    assert!(said.any(|line| line.contains("Ctrl-C again to quit immediately")));
    signal(&child, "-INT");
    assert_eq!(wait(&mut child), Some(130));
    drop(writer);
    // The finished results exist and are complete.
    let (said, answer) = report_with(0, &[&dataset]);
    assert!(said.contains("incomplete: the last extract did not finish (2 of 3 files done)"), "{said}");
    assert_eq!(sources(&answer), ["00.xml", "01.xml"]);
}

/// No process writes into the pipe, so opening it would block indefinitely.
#[test]
fn a_pipe_in_a_folder_is_not_read() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 2);
    let pipe = pipe(&folder, "x/pipe.xml");
    // The name of the table of contents of an export.
    let _ = fs::remove_file(folder.path("x/00-toc.xml"));
    std::os::unix::fs::symlink(&pipe, folder.path("x/00-toc.xml")).expect("a link can be made");
    std::os::unix::fs::symlink(&pipe, folder.path("x/link.trace")).expect("a link can be made");
    let (said, answer) = report_with(0, &[&path]);
    assert_eq!(sources(&answer), ["00.xml", "01.xml"]);
    assert!(said.contains("3 paths skipped") && said.contains("00-toc.xml"), "{said}");
}

#[test]
fn an_interrupted_report_ends_without_one() {
    let folder = Folder::new();
    // At first, no process writes into this pipe, so the report waits for it.
    let pipe = pipe(&folder, "pipe.xml");
    let mut child = Command::new(BINARY)
        .args(["fleet", "report", &pipe])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut writer = fs::OpenOptions::new().write(true).open(&pipe).expect("the report opens it");
    writer.write_all(b"<?xml version=\"1.0\"?>\n<trace-query-result>\n").expect("it is read");
    // The report waits for bytes that never arrive.
    signal(&child, "-INT");
    assert_eq!(wait(&mut child), Some(130));
    drop(writer);
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(said.contains("interrupted after 0 of 1 file, without a report"), "{said}");
}

#[test]
fn allow_incomplete_evaluates_alerts_on_the_measured_recordings() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 3);
    for name in ["x/7.xml", "x/8.xml"] {
        write(&folder, name, &export(20)[..2_000]);
    }
    let (never, always) = (["--alert", "cpu.mean > 1000"], ["--alert", "cpu.mean > 0"]);
    for (code, alert) in [(4, never), (4, always)] {
        report_with(code, &[&[path.as_str()], &alert[..]].concat());
    }
    for (code, alert) in [(0, never), (3, always)] {
        report_with(code, &[&[path.as_str(), "--allow-incomplete"], &alert[..]].concat());
    }
}

/// An export in which the times of the last `lost` samples are unreadable.
fn damaged(samples: u64, lost: usize) -> String {
    let text = export(samples);
    let mut parts: Vec<&str> = text.split("</sample-time>").collect();
    let end = parts.pop().expect("an end");
    let readable = parts.len() - lost;
    let row = |(index, part): (usize, &&str)| match part.rfind('>').filter(|_| index >= readable) {
        Some(tag) => format!("{}>lost</sample-time>", &part[..tag]),
        None => format!("{part}</sample-time>"),
    };
    parts.iter().enumerate().map(row).chain([end.to_owned()]).collect()
}

#[test]
fn rows_that_could_not_be_read_may_decide_alerts() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 30);
    // Each run uses 10 % CPU. One run loses two thirds of its samples.
    write(&folder, "x/15.xml", damaged(26, 17));
    let states = |rule: &str, extra: &[&str]| {
        let answer = run(&[&["report", &path, "--format", "json", "--alert", rule], extra].concat());
        let report: Value = serde_json::from_slice(&answer.get_output().stdout).expect("JSON");
        report["alerts"][0]["state"].as_str().expect("a state").to_owned()
    };
    for (rule, state, of_the_others) in [
        ("cpu.min < 5", "undecided", "fired"),
        ("cpu.min < 50", "fired", "fired"),
        ("cpu.max > 9", "fired", "fired"),
        ("cpu.max > 11", "quiet", "quiet"),
        ("cpu.p50 > 9", "fired", "fired"),
        ("cpu.p90 > 50", "quiet", "quiet"),
        ("cpu.mean < 9.85", "undecided", "fired"),
        ("elapsed.min < 1ms", "quiet", "quiet"),
        ("function(work).self.min < 4", "undecided", "fired"),
        ("function(*).self.min < 4", "fired", "fired"),
        ("function(*).self.max > 11", "quiet", "quiet"),
    ] {
        assert_eq!(states(rule, &[]), state, "{rule}");
        assert_eq!(states(rule, &["--allow-incomplete"]), of_the_others, "{rule}");
    }
    let dataset = folder.path("ds");
    extract(&[&path, "-o", &dataset]);
    let said = crate::fleet_case::says(4, &["report", &dataset, "--alert", "cpu.min < 5", "--format", "csv"]);
    assert!(
        said.contains("UNDECIDED cpu.min < 5") && said.contains("rows that could not be read may decide it"),
        "{said}"
    );
}

#[test]
fn runs_that_lost_rows_are_not_compared() {
    let folder = Folder::new();
    let (base, new) = (fleet(&folder, "base", 20), folder.path("new"));
    for index in 0..20 {
        write(&folder, &format!("new/{index:02}.xml"), damaged(41 + index, if index < 12 { 5 } else { 0 }));
        write(&folder, &format!("new/{index:02}-toc.xml"), crate::fleet_case::toc(41 + index));
    }
    let answer = finish(&mut traceparse(&["compare", &base, "--against", &new, "--measure", "cpu-use"])).code(1);
    let text = stdout_of(&answer);
    assert!(text.contains("12 of 20 inputs of the new side could not be measured"), "{text}");
    assert!(text.contains("12 runs of the new side with more than 1 % of unreadable rows are not compared"), "{text}");
}
