//! Inputs that change while they are read. The command waits for a pipe that it reads after them, or is stopped while reading an input.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::bundle_case::{recording, write_forms};
use crate::command::{BINARY, Folder, orchard, pipe, read_text, signal};
use crate::fleet_case::{export, failures, fleet, reason, sources, toc, write};
use crate::symbols_case::{Case, dwarf_file};
use support::Table;

const WHY: &str = "the file changed while it was read";

fn start(args: &[&str], folder: &Folder) -> Child {
    let mut command = Command::new(BINARY);
    command.args(args).env("XDG_CACHE_HOME", folder.path("cache")).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Ways in which a file changes.
const CHANGES: [fn(&str); 5] = [
    // A writer that continues to append.
    |path| OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(b"<more>")).expect("written"),
    // Other content of the same length, written to the same file.
    |path| fs::write(path, read_text(path).replace("fmt", "FMT")).expect("written"),
    // Another file with the same name.
    |path| {
        fs::copy(path, format!("{path}.new")).and_then(|_| fs::rename(format!("{path}.new"), path)).expect("renamed");
    },
    |path| fs::remove_file(path).expect("removed"),
    |path| drop(OpenOptions::new().write(true).truncate(true).open(path).expect("emptied")),
];

/// Runs a command that reads a pipe last, changes a file when the command reaches the pipe, and returns the result.
fn changed_before_the_pipe(args: &[&str], folder: &Folder, change: impl FnOnce()) -> Output {
    let _ = fs::remove_file(folder.path("pipe"));
    let pipe = pipe(folder, "pipe");
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "PIPE" { pipe.as_str() } else { arg }).collect();
    let child = start(&args, folder);
    // Opening the pipe for writing waits until the command reads it. By then, earlier reads are at least one clock tick old.
    let mut writer = OpenOptions::new().write(true).open(&pipe).expect("it is opened");
    sleep(Duration::from_millis(20));
    change();
    // The input may be refused before it is read completely.
    let _ = writer.write_all(read_text(&orchard()).as_bytes());
    drop(writer);
    child.wait_with_output().expect("it ends")
}

#[track_caller]
fn refused(output: &Output, name: &str) {
    let said = said(output);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
    assert!(said.contains(&format!("error: {name}: {WHY}")), "{name} is not named: {said}");
}

#[test]
fn an_export_that_changes_is_refused() {
    for change in CHANGES {
        let folder = Folder::new();
        let path = folder.file("a.xml", read_text(&orchard()));
        refused(&changed_before_the_pipe(&[&path, "PIPE"], &folder, || change(&path)), &path);
    }
    // A link with a different target.
    let folder = Folder::new();
    let (path, link) = (folder.file("a.xml", read_text(&orchard())), folder.path("link"));
    std::os::unix::fs::symlink(&path, &link).expect("links can be made");
    let other = folder.file("b.xml", read_text(&orchard()));
    let relink = || {
        fs::remove_file(&link).expect("it is there");
        std::os::unix::fs::symlink(&other, &link).expect("links can be made");
    };
    refused(&changed_before_the_pipe(&[&link, "PIPE"], &folder, relink), &link);
    // Other readers do not count as a change.
    let output = changed_before_the_pipe(&[&path, "PIPE"], &folder, || drop(read_text(&path)));
    assert!(output.status.success() && output.stderr.is_empty(), "{}", said(&output));
}

#[test]
fn whatever_is_read_with_it_must_not_change_either() {
    let grow = CHANGES[0];
    for command in [&[][..], &["toc"]] {
        let folder = Folder::new();
        let forms = write_forms(&folder, &recording(), Table::TimeProfile);
        for path in &forms.archives {
            refused(&changed_before_the_pipe(&[command, &[path, "PIPE"]].concat(), &folder, || grow(path)), path);
        }
        let path = format!("{}/form.template", forms.folder);
        let args = [command, &[&forms.folder, "PIPE"]].concat();
        refused(&changed_before_the_pipe(&args, &folder, || grow(&path)), &path);
        let path = folder.file("a.xml", export(20));
        refused(&changed_before_the_pipe(&[command, &[&path, "PIPE"]].concat(), &folder, || grow(&path)), &path);
    }
    let folder = Folder::new();
    let path = folder.file("a.xml", export(20));
    refused(&changed_before_the_pipe(&["diff", &path, "PIPE", "--force"], &folder, || grow(&path)), &path);
    // Intervals are read before samples.
    let forms = write_forms(&folder, &recording(), Table::TimeProfile);
    let args = ["PIPE", "--during", "Layout", "--intervals", &forms.export];
    refused(&changed_before_the_pipe(&args, &folder, || grow(&forms.export)), &forms.export);
}

#[test]
fn standard_input_that_is_a_file_must_not_change() {
    let folder = Folder::new();
    let path = folder.file("a.xml", read_text(&orchard()).repeat(400));
    let spawn = || {
        let stdin = fs::File::open(&path).expect("it is there");
        let mut command = Command::new(BINARY);
        command.arg("-").stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let output = in_the_middle(spawn, &path, || CHANGES[0](&path));
    refused(&output, "standard input");
}

/// Stops a process in the middle of a file, makes a change, and lets the process continue.
fn in_the_middle(spawn: impl Fn() -> Child, path: &str, change: impl Fn()) -> Output {
    let (start, length) = (Instant::now(), fs::metadata(path).expect("it is there").len());
    while start.elapsed() < Duration::from_secs(120) {
        let mut child = spawn();
        while child.try_wait().expect("it can be asked").is_none() {
            if position(&child, path).is_some_and(|position| position > 0) {
                signal(&child, "-STOP");
                let is_inside = position(&child, path).is_some_and(|position| position > 0 && position < length);
                if is_inside {
                    change();
                }
                signal(&child, "-CONT");
                let output = child.wait_with_output().expect("it ends");
                if is_inside {
                    return output;
                }
                break;
            }
        }
    }
    panic!("{path} is always read too fast");
}

/// The current read position of a process in a file.
fn position(child: &Child, path: &str) -> Option<u64> {
    let process = format!("/proc/{}", child.id());
    let open = fs::read_dir(format!("{process}/fd")).ok()?.flatten();
    let mut open = open.filter(|entry| fs::read_link(entry.path()).is_ok_and(|link| link == Path::new(path)));
    let info = format!("{process}/fdinfo/{}", open.next()?.file_name().display());
    let info = fs::read_to_string(info).ok()?;
    info.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()
}

#[test]
fn an_export_that_changes_in_the_middle_is_refused() {
    let folder = Folder::new();
    let text = read_text(&orchard()).repeat(400);
    for change in [CHANGES[0], CHANGES[2], CHANGES[3], CHANGES[4]] {
        let path = folder.file("a.xml", &text);
        let output = in_the_middle(|| start(&[&path], &folder), &path, || change(&path));
        refused(&output, &path);
    }
}

/// One of two recordings is rewritten. Without a check, old and new runs would be added up.
#[test]
fn in_a_fleet_it_is_the_reason_of_that_file() {
    let folder = Folder::new();
    let runs = fleet(&folder, "runs", 3);
    let path = write(&folder, "runs/large.xml", read_text(&orchard()).repeat(400));
    let args = ["fleet", "report", &runs, "--format", "json", "--jobs", "1"];
    let output = in_the_middle(|| start(&args, &folder), &path, || CHANGES[0](&path));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let report = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(sources(&report), ["00.xml", "01.xml", "02.xml"]);
    assert_eq!(failures(&report), [("large.xml".to_owned(), "unreadable".to_owned())]);
    assert!(reason(&report, "large.xml").starts_with(WHY), "{}", reason(&report, "large.xml"));
    // With --strict, this is an error.
    fs::write(&path, read_text(&orchard()).repeat(400)).expect("written");
    let args = ["fleet", "report", &runs, "--jobs", "1", "--strict"];
    let output = in_the_middle(|| start(&args, &folder), &path, || CHANGES[2](&path));
    assert!(
        output.status.code() == Some(1) && said(&output).contains(&format!("large.xml: {WHY}")),
        "{}",
        said(&output)
    );
}

/// A changed file is treated as unreadable.
#[test]
fn a_table_of_contents_that_changes_is_of_no_use() {
    let folder = Folder::new();
    let runs = fleet(&folder, "runs", 1);
    let path = write(&folder, "runs/00-toc.xml", toc(11) + &" ".repeat(60 << 20));
    let args = ["fleet", "report", &runs, "--format", "json", "--jobs", "1"];
    let output = in_the_middle(|| start(&args, &folder), &path, || CHANGES[0](&path));
    let said = said(&output);
    assert!(said.contains("00-toc.xml cannot be used: ") && said.contains(WHY), "{said}");
}

/// Otherwise, names would come from two builds.
#[test]
fn a_symbol_file_that_changes_is_the_reason_of_the_next_file() {
    let case = Case::new();
    let (export, symbols) = (case.draw(), case.folder.path("dw"));
    fs::copy(dwarf_file("arm64-dwarf4", "Demo"), &symbols).expect("it can be copied");
    let args = ["fleet", "report", &export, "PIPE", "--dsym", &symbols, "--jobs", "1", "--format", "json"];
    let output = changed_before_the_pipe(&args, &case.folder, || CHANGES[2](&symbols));
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert_eq!(sources(&report), ["export.xml"]);
    let why = reason(&report, "pipe");
    assert!(why.contains(&format!("the symbol file {symbols}: {WHY}")), "{why}");
}
