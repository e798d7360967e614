//! Helpers for tests of fleets: invented exports in a temporary folder, and reports read back.

use std::fs;
use std::path::Path;

use assert_cmd::assert::Assert;
use serde_json::Value;

use crate::command::{Folder, finish, stderr_of, stdout_of, traceparse};
use support::builder::Builder;
use support::{Invented, RenderOptions, Shape, Table, TocOptions, render, render_toc};

const MILLISECOND: u64 = 1_000_000;

/// The recording of an app that works for `samples` milliseconds, a tenth of the recorded time.
pub(crate) fn recording(samples: u64) -> Invented {
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 501, "/Applications/Orchard.app/Contents/MacOS/Orchard");
    let thread = builder.thread(process, 0x101, &["Main Thread"]);
    let uuid = "11111111-2222-3333-4444-555555555555";
    let app = builder.image("/Applications/Orchard.app/Contents/MacOS/Orchard", "arm64", uuid, 0x1_0000_0000);
    builder.function("main", app, Some("main"), None);
    builder.function("work", app, Some("work"), None);
    for index in 0..samples {
        let stack = if index.is_multiple_of(4) { "main" } else { "main work" };
        builder.row(10 * MILLISECOND * index, thread, stack);
    }
    builder.recording
}

/// An export with this many samples of 1 ms, one every 10 ms.
pub(crate) fn export(samples: u64) -> String {
    let recording = recording(samples);
    render(&recording, &RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &recording))
}

/// An export of so many samples that follow each other after 0.1 ms to 0.9 ms, of two threads and eight functions.
pub(crate) fn irregular_export(samples: u64) -> String {
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 501, "/Applications/Orchard.app/Contents/MacOS/Orchard");
    let threads = [(0x101, "Main Thread"), (0x102, "worker")].map(|(tid, name)| builder.thread(process, tid, &[name]));
    let app = builder.image("/Applications/Orchard", "arm64", "11111111-2222-3333-4444-555555555555", 0x1_0000_0000);
    for index in 0..8 {
        builder.function(&format!("job_{index}"), app, Some(&format!("job_{index}")), None);
    }
    let (mut state, mut time) = (1_u64, 0);
    for _ in 0..samples {
        // A linear congruential generator: the same numbers everywhere.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> 33;
        time += 100_000 + random % 800_000;
        builder.row(time, threads[(random / 8 % 2) as usize], &format!("job_{}", random / 16 % 8));
    }
    render(&builder.recording, &RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &builder.recording))
}

/// The table of contents of that recording: 12.345678 ms longer than the time of its last sample.
pub(crate) fn toc(samples: u64) -> String {
    render_toc(&recording(samples), &TocOptions::new(Shape::Xcode26_4, vec![Table::TimeProfile]))
}

/// Writes a file below a folder, and the folders that it needs.
pub(crate) fn write(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path(name);
    fs::create_dir_all(Path::new(&path).parent().expect("it is in a folder")).expect("folders can be made");
    fs::write(&path, content).expect("the file can be written");
    path
}

/// `count` exports `NN.xml` in a folder, with 11, 12, 13 … samples, each next to its table of contents.
pub(crate) fn fleet(folder: &Folder, below: &str, count: u64) -> String {
    for index in 0..count {
        write(folder, &format!("{below}/{index:02}.xml"), export(11 + index));
        write(folder, &format!("{below}/{index:02}-toc.xml"), toc(11 + index));
    }
    folder.path(below)
}

/// The result of `fleet` with these arguments.
pub(crate) fn run(args: &[&str]) -> Assert {
    finish(&mut traceparse(&[&["fleet"], args].concat()))
}

/// Standard error of `fleet` with these arguments, which ends with this code.
#[track_caller]
pub(crate) fn says(code: i32, args: &[&str]) -> String {
    stderr_of(&run(args).code(code))
}

/// Standard error and the report of `fleet report`, which ends with this code.
#[track_caller]
pub(crate) fn report_with(code: i32, args: &[&str]) -> (String, Value) {
    let assert = run(&[&["report", "--format", "json"], args].concat()).code(code);
    (stderr_of(&assert), serde_json::from_str(&stdout_of(&assert)).expect("the report is JSON"))
}

/// The report, about which there is nothing to say.
#[track_caller]
pub(crate) fn report(args: &[&str]) -> Value {
    let (said, report) = report_with(0, args);
    assert_eq!(said, "");
    report
}

/// A field of each run: the file name of its source, and the field.
pub(crate) fn of_runs(report: &Value, field: &str) -> Vec<(String, Value)> {
    let runs = report["runs"].as_array().expect("runs");
    runs.iter().map(|run| (file_name(&run["source"]), run[field].clone())).collect()
}

/// The file names of the runs in a report.
pub(crate) fn sources(report: &Value) -> Vec<String> {
    of_runs(report, "source").into_iter().map(|(name, _)| name).collect()
}

/// The file names of failed inputs, with the kind of each.
pub(crate) fn failures(report: &Value) -> Vec<(String, String)> {
    let failed = report["inputs"]["failed"].as_array().expect("failed inputs");
    let kind = |failed: &Value| failed["kind"].as_str().expect("a kind").to_owned();
    failed.iter().map(|failed| (file_name(&failed["source"]), kind(failed))).collect()
}

/// The reason why the input of this file name failed.
pub(crate) fn reason(report: &Value, name: &str) -> String {
    let failed = report["inputs"]["failed"].as_array().expect("failed inputs");
    let failed = failed.iter().find(|failed| file_name(&failed["source"]) == name).expect("it is named");
    failed["reason"].as_str().expect("a reason").to_owned()
}

fn file_name(source: &Value) -> String {
    source.as_str().expect("a path").rsplit('/').next().unwrap_or_default().to_owned()
}

/// Extracts; the summary of what was done.
#[track_caller]
pub(crate) fn extract(args: &[&str]) -> String {
    let said = says(0, &[&["extract"], args].concat());
    said.lines().last().unwrap_or_default().to_owned()
}

/// The report on these, as bytes.
#[cfg(unix)]
#[track_caller]
pub(crate) fn bytes(args: &[&str]) -> String {
    let assert = run(&[&["report", "--format", "json"], args].concat());
    let code = assert.get_output().status.code();
    assert!(code == Some(0), "{}", stderr_of(&assert));
    stdout_of(&assert)
}
