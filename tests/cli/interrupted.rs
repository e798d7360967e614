//! Ctrl-C and SIGTERM leave no incomplete files. These tests need signals.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::command::{BINARY, Folder, pipe, signal};
use crate::fleet_case::fleet;

/// An export of `rows` samples of two deep stacks in turn: as a flame chart it is a thousand times as long.
fn deep(rows: u64) -> String {
    const DEPTH: u64 = 300;
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let stack = |id: u64| {
        let frame = |index: u64| format!("<frame name=\"f{id}_{index}\" addr=\"{:#x}\"/>", 0x1000 * id + 16 * index);
        format!("<tagged-backtrace id=\"{id}\">{}</tagged-backtrace>", (0..DEPTH).map(frame).collect::<String>())
    };
    let row = |index: u64| {
        let id = 1 + index % 2;
        let stack = if index < 2 { stack(id) } else { format!("<tagged-backtrace ref=\"{id}\"/>") };
        format!("<row><sample-time>{}</sample-time><weight>1000000</weight>{stack}</row>\n", index * 1_000_000)
    };
    let rows: String = (0..rows).map(row).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node><schema name=\"time-profile\">{columns}</schema>{rows}</node>\
         </trace-query-result>\n"
    )
}

/// The signals that end the command, and its exit codes. A test that runs below `nohup` cannot send all of them.
fn signals() -> Vec<(&'static str, i32)> {
    let mut signals = vec![("-INT", 130), ("-TERM", 143)];
    if cfg!(target_os = "linux") {
        let ignored = ignored_signals();
        signals.extend([("-HUP", 129), ("-QUIT", 131)].iter().filter(|(_, code)| ignored & (1 << (code - 129)) == 0));
    }
    signals
}

/// The signals that are ignored here, as bits.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a line");
    u64::from_str_radix(mask.trim(), 16).expect("a number")
}

fn names(folder: &str) -> Vec<String> {
    let names = fs::read_dir(folder).expect("it is a folder").flatten().map(|entry| entry.file_name());
    names.map(|name| name.into_string().expect("UTF-8")).collect()
}

/// Sends a signal to a command as soon as it has a temporary file in the folder; its exit code, and whether there was one.
fn interrupted(args: &[&str], folder: &str, name: &str) -> (Option<i32>, bool) {
    let mut child = Command::new(BINARY).args(args).stderr(Stdio::null()).spawn().expect("it starts");
    let start = Instant::now();
    let mut has_begun = false;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "the process goes on");
        if !has_begun && names(folder).iter().any(|name| name.starts_with(".tmp")) {
            has_begun = true;
            signal(&child, name);
        }
        sleep(Duration::from_millis(1));
    };
    (status.code(), has_begun)
}

fn is_json(path: &str) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(&text).is_ok()
}

#[test]
fn an_interrupted_output_leaves_nothing() {
    let (exports, out) = (Folder::new(), Folder::new());
    let mut rows = 1_000;
    for (name, code) in signals() {
        for (command, old) in [("report", None), ("report", Some("old")), ("diff", None)] {
            let target = out.path("out");
            let _ = fs::remove_file(&target);
            old.into_iter().for_each(|old| drop(out.file("out", old)));
            // The output has to be long enough to be interrupted: on a fast machine, a longer one.
            loop {
                let export = exports.file("deep.xml", deep(rows));
                let other = exports.file("other.xml", deep(rows + 2));
                let args = match command {
                    "report" => vec![export.as_str(), "--format", "chrome-trace", "-o", &target],
                    _ => vec!["diff", &export, &other, "--view", "tree", "--format", "json", "-o", &target],
                };
                let (ended, has_begun) = interrupted(&args, &out.path(""), name);
                // The file may be finished before the signal arrives, although it was temporary when the signal was sent.
                let is_finished = ended == Some(0) || is_json(&target);
                if is_finished && command == "diff" {
                    break;
                } else if is_finished && rows < 1_000_000 {
                    rows *= 4;
                } else {
                    assert_eq!((ended, has_begun), (Some(code), true), "{name} {command}");
                    assert_eq!(fs::read_to_string(&target).ok().as_deref(), old, "{name} {command}");
                    break;
                }
                let _ = fs::remove_file(&target);
                old.into_iter().for_each(|old| drop(out.file("out", old)));
            }
            assert!(names(&out.path("")).iter().all(|name| name == "out"), "{name}: {:?}", names(&out.path("")));
        }
    }
}

/// Fleets say with which signal they ended, too.
#[test]
fn a_fleet_ends_with_the_code_of_the_signal() {
    let folder = Folder::new();
    let runs = fleet(&folder, "x", 3);
    for (name, code) in signals() {
        for action in ["report", "extract"] {
            let slow = pipe(&folder, &format!("x/{action}{code}"));
            // A report is named after its format, a dataset is a folder.
            let out =
                folder.path(&if action == "report" { format!("report{code}.json") } else { format!("dataset{code}") });
            let mut child = Command::new(BINARY)
                .args(["fleet", action, &runs, &slow, "--jobs", "1", "-o", &out])
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts");
            let mut writer = fs::OpenOptions::new().write(true).open(&slow).expect("the fleet opens it");
            signal(&child, name);
            if action == "extract" {
                sleep(Duration::from_millis(200));
                // The input is read to its end.
                let _ = writer.write_all(b"no export");
            } else {
                while child.try_wait().expect("it can be asked").is_none() {
                    sleep(Duration::from_millis(5));
                }
            }
            drop(writer);
            assert_eq!(child.wait().expect("it ends").code(), Some(code), "{name} {action}");
            fs::remove_file(&slow).expect("it is there");
        }
    }
    assert!(!Path::new(&folder.path("report130.json")).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn nohup_is_respected() {
    let folder = Folder::new();
    let (runs, out) = (fleet(&folder, "x", 3), folder.path("out.json"));
    let slow = pipe(&folder, "x/slow");
    let args = ["fleet", "report", &runs, &slow, "--jobs", "1", "-o", &out];
    let mut command = Command::new("nohup");
    let mut child = command.arg(BINARY).args(args).stderr(Stdio::null()).spawn().expect("nohup is there");
    let mut writer = fs::OpenOptions::new().write(true).open(&slow).expect("the fleet opens it");
    signal(&child, "-HUP");
    sleep(Duration::from_millis(200));
    let _ = writer.write_all(b"no export");
    drop(writer);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(Path::new(&out).exists());
}
