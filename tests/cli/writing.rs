//! The destinations of output.

use std::io::Read;
use std::process::{Command, Stdio};

#[cfg(unix)]
use crate::command::fails;
#[cfg(target_os = "linux")]
use crate::command::fixture;
use crate::command::{BINARY, Folder, orchard, read_text};

#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_is_left_alone() {
    use std::fs::{Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let shut = folder.path("shut");
    create_dir(&shut).expect("a folder can be made");
    set_permissions(&shut, Permissions::from_mode(0o555)).expect("and shut");
    // Root may write everywhere, so there is nothing to test.
    if write(folder.path("shut/probe"), "").is_err() {
        let message = fails(1, &[&orchard(), "-o", &folder.path("shut/out")]);
        assert!(message.contains("cannot be written") && message.contains("denied"), "{message}");
    }
    set_permissions(&shut, Permissions::from_mode(0o755)).expect("and opened for those who clean up");
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_is_opened_in_the_browser() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Duration;

    let folder = Folder::new();
    let [opened, temporary] = [folder.path("opened"), folder.path("")];
    // A program in place of the browser, which writes the path that it gets.
    let browser =
        folder.file("xdg-open", format!("#!/bin/sh\necho \"$1\" > {opened}.new && mv {opened}.new {opened}\n"));
    set_permissions(&browser, Permissions::from_mode(0o755)).expect("it can be run");
    let path = format!("{}:/usr/bin:/bin", Path::new(&browser).parent().expect("a folder").display());
    let orchard = orchard();
    let run = |path: &str, args: &[&str]| {
        let mut command = Command::new(BINARY);
        command.args([&[orchard.as_str(), "--open"], args].concat()).env("PATH", path).env("TMPDIR", &temporary);
        let output = command.output().expect("the command starts");
        (output.status.code(), output.stdout, String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let page = folder.path("page.html");
    for (args, is_named) in [(&[][..], false), (&["--view", "tree"], false), (&["-o", page.as_str()], true)] {
        let (code, stdout, stderr) = run(&path, args);
        assert_eq!((code, stdout.len()), (Some(0), 0), "{stderr}");
        let wait = || std::thread::sleep(Duration::from_millis(10));
        (0..1_000).take_while(|_| !Path::new(&opened).exists()).for_each(|_| wait());
        let shown = read_text(&opened);
        std::fs::remove_file(&opened).expect("it was opened");
        assert!(read_text(shown.trim()).starts_with("<!doctype html>"), "{shown}");
        assert!(stderr.contains(&format!("opening {}", shown.trim())), "{stderr}");
        assert_eq!(shown.trim() == page, is_named, "{shown}");
        if !is_named {
            let folder = Path::new(shown.trim()).parent().expect("a folder");
            let mode = std::fs::metadata(folder).expect("it stays").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{shown}");
        }
    }
    // The page exists, so the exit code depends only on the answer.
    let (code, _, stderr) = run(&folder.path("nothing"), &[]);
    assert!(
        code == Some(0) && stderr.contains("no browser could be started; open ") && stderr.contains("report.html"),
        "{stderr}"
    );
    // A relative path could be an address.
    let mut command = Command::new(BINARY);
    command.args([orchard.as_str(), "--open", "-o", "https:page.html"]).env("PATH", &path).current_dir(&temporary);
    assert!(command.status().expect("the command starts").success());
    let wait = || std::thread::sleep(Duration::from_millis(10));
    (0..1_000).take_while(|_| !Path::new(&opened).exists()).for_each(|_| wait());
    assert!(read_text(&opened).starts_with('/'), "{}", read_text(&opened));
    // A failure leaves nothing.
    let folders = || std::fs::read_dir(&temporary).expect("it can be read").count();
    let before = folders();
    let (code, _, stderr) = run(&path, &["--thread", "Nobody"]);
    assert!(code == Some(1) && folders() == before, "{stderr}");
    for args in [&["--format", "json"][..], &["-o", "x.json"]] {
        let (code, _, stderr) = run(&path, args);
        assert!(code == Some(2) && stderr.contains("--open shows a page"), "{stderr}");
    }
}

/// A reader of the output may stop early, as `head` does.
#[test]
fn a_closed_pipe_is_success() {
    const RUNS: usize = 40;
    let folder = Folder::new();
    let path = folder.file("long.xml", read_text(&orchard()).repeat(RUNS));
    let mut bad = Vec::new();
    for args in [
        &[][..],
        &["--view", "tree"],
        &["--view", "functions", "--min-percent", "0"],
        &["--view", "samples"],
        &["--format", "json"],
        &["--view", "samples", "--format", "json"],
        &["--view", "tree", "--format", "csv"],
        &["--view", "samples", "--format", "csv"],
        &["--format", "folded"],
    ] {
        let mut child = Command::new(BINARY)
            .arg(&path)
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdout = child.stdout.take().expect("it has a standard output");
        stdout.read_exact(&mut [0; 10]).expect("it writes");
        drop(stdout);
        let output = child.wait_with_output().expect("it ends");
        if !output.status.success() || !output.stderr.is_empty() {
            bad.push(format!("{args:?}: {} {}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// A disk that is full is not a reader who stopped.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    for format in ["text", "csv", "json"] {
        let message = fails(1, &[&orchard(), "--view", "samples", "--format", format, "-o", "/dev/full"]);
        assert!(message.contains("No space left"), "{message}");
    }
}

/// Rust's standard library opens `/dev/null` in place of a closed stream. If the output is discarded on purpose, this is not an error.
#[cfg(unix)]
#[test]
fn a_closed_standard_output_is_a_failure() {
    let redirected = |to: &str| {
        let script = format!("\"$0\" \"$@\" {to}");
        Command::new("sh").args(["-c", &script, BINARY, &orchard()]).output().expect("sh is there")
    };
    let output = redirected(">&-");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("standard output is closed"), "{said}");
    for discarded in [">/dev/null", "1<>/dev/null"] {
        assert!(redirected(discarded).status.success(), "{discarded}");
    }
}

/// A log that cannot be written does not change the verdict.
#[cfg(target_os = "linux")]
#[test]
fn the_verdict_does_not_depend_on_standard_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let (before, after) = (fixture("26.4/time-profile"), orchard());
    let args = ["diff", &before, &after, "--alert", "total > 5%", "--format", "json"];
    let mut command = Command::new(BINARY);
    let status = command.args(args).stdout(Stdio::null()).stderr(full).status().expect("it runs");
    assert_eq!(status.code(), Some(3));
}
