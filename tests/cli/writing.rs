//! The destinations of output.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::command::{BINARY, Folder, fails, fixture, ok, orchard, read_text};

#[test]
fn output_is_the_same_in_a_file() {
    let folder = Folder::new();
    let out = folder.path("out");
    for format in [&[][..], &["--format", "json"], &["--view", "samples", "--format", "csv"], &["--format", "folded"]] {
        let path = orchard();
        let args = [&[path.as_str()], format].concat();
        assert_eq!(ok(&[&args[..], &["-o", &out]].concat()), "", "nothing is left for standard output");
        assert_eq!(read_text(&out), ok(&args), "{format:?}");
        assert_eq!(ok(&[&args[..], &["--output", "-"]].concat()), ok(&args), "- is standard output");
    }
    assert_eq!(folder.names(), ["out"], "files before were replaced, and nothing stays beside them");
}

#[test]
fn the_name_of_a_file_tells_the_format() {
    let folder = Folder::new();
    let path = orchard();
    let same = |name: &str, args: &[&str], format: &str| {
        let out = folder.path(name);
        ok(&[args, &["-o", &out]].concat());
        assert_eq!(read_text(&out), ok(&[args, &["--format", format]].concat()), "{name}");
        // What was asked for counts.
        ok(&[args, &["-o", &out, "--format", "text"]].concat());
        assert_eq!(read_text(&out), ok(args), "{name}");
    };
    same("flame.svg", &[&path], "svg");
    same("stacks.folded", &[&path], "folded");
    same("all.json", &[&path], "json");
    same("functions.csv", &[&path, "--view", "functions"], "csv");
    same("rows.jsonl", &[&path, "--view", "samples"], "ndjson");
    same("report.html", &[&path], "html");
    same("notes.txt", &[&path], "text");
    same("changes.json", &["diff", &path, &fixture("26.4/time-profile")], "json");
    same("changes.svg", &["diff", &path, &fixture("26.4/time-profile")], "svg");
    same("toc.json", &["toc", &path], "json");
    let message = fails(2, &[&path, "-o", &folder.path("functions.csv")]);
    assert!(message.contains("--format csv needs a --view"), "{message}");
}

/// Text in a picture's name would be of no use to anybody.
#[test]
fn names_of_other_formats_are_refused() {
    let (folder, path) = (Folder::new(), orchard());
    let reports = ".txt, .speedscope.json, .json, .csv, .ndjson, .jsonl, .svg, .folded, .pb.gz, .html, .htm,";
    let commands: [(&[&str], &[&str], &str); 4] = [
        (&[&path], &["x.png", "X.JPG", "x.xhtml", "x.tar.gz", "x.parquet"], reports),
        (&["diff", &path, &path], &["x.png", "x.folded", "x.md"], ".txt, .json, .csv, .svg, .html, .htm,"),
        (&["toc", &path], &["x.pdf", "x.csv"], ".txt, .json,"),
        (&["fleet", "report", &path], &["x.png", "x.svg", "x.xlsx"], ".txt, .json, .csv, .html, .htm,"),
    ];
    for (command, names, written) in commands {
        for name in names {
            let out = folder.path(name);
            let message = fails(2, &[command, &["-o", &out]].concat());
            let extension = name.rsplit('.').next().unwrap_or_default().to_uppercase();
            let said = format!("error: cannot write {extension} here; name a file {written} or pass --format");
            assert!(message.starts_with(&said), "{message}");
            assert_eq!(folder.names(), [""; 0], "{name}");
        }
    }
    let out = folder.path("x.png");
    ok(&[&path, "-o", &out, "--format", "svg"]);
    assert!(read_text(&out).contains("<svg"), "what was asked for counts");
    for name in ["x", "x.log", "x.out", "x.2026-11-23", ".hidden"] {
        ok(&[&path, "--view", "threads", "-o", &folder.path(name)]);
        assert_eq!(read_text(&folder.path(name)), ok(&[&path, "--view", "threads"]), "{name}");
    }
}

#[test]
fn a_longer_file_is_replaced_whole() {
    let folder = Folder::new();
    let out = folder.file("out", "old\n".repeat(100_000));
    ok(&[&orchard(), "--format", "folded", "-o", &out]);
    assert_eq!(read_text(&out), ok(&[&orchard(), "--format", "folded"]));
}

#[test]
fn a_failure_keeps_the_old_file() {
    let folder = Folder::new();
    let out = folder.file("out", "old");
    let bad = folder.file("bad.xml", "<?xml version=\"1.0\"?><trace-query-result><node>");
    let (good, two) = (orchard(), fixture("27/cpu-profile"));
    for args in [
        &[bad.as_str()][..],
        &[&folder.path("missing.xml")],
        &[&good, &bad],
        &[&good, "--run", "9"],
        &[&good, &two, "--format", "folded"],
    ] {
        fails(1, &[args, &["-o", &out]].concat());
        assert_eq!(read_text(&out), "old", "{args:?}");
    }
    fails(2, &[&good, "--format", "csv", "-o", &out]);
    assert_eq!(read_text(&out), "old");
    assert_eq!(folder.names(), ["bad.xml", "out"]);
}

#[test]
fn a_place_that_cannot_be_written_is_named_and_stays_clean() {
    let folder = Folder::new();
    let file = folder.file("file", "old");
    let folder_itself = folder.path("");
    for out in [folder.path("missing/out"), format!("{file}/out"), folder_itself] {
        let message = fails(1, &[&orchard(), "-o", &out]);
        assert!(message.contains(&format!("{out}: cannot be written")), "{message}");
    }
    assert_eq!(folder.names(), ["file"]);
    assert_eq!(read_text(&file), "old");
}

/// The temporary file beside the target is nobody's concern.
#[test]
fn messages_name_no_temporary_file() {
    let folder = Folder::new();
    let message = fails(1, &[&orchard(), "-o", &folder.path("missing/out")]);
    let (_, after) = message.split_once("missing").expect("the folder is named");
    assert!(!after.contains(".tmp"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_is_left_alone() {
    use std::fs::{Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let shut = folder.path("shut");
    create_dir(&shut).expect("a folder can be made");
    set_permissions(&shut, Permissions::from_mode(0o555)).expect("and shut");
    // Root may write everywhere, so there is nothing to see then.
    if write(folder.path("shut/probe"), "").is_err() {
        let message = fails(1, &[&orchard(), "-o", &folder.path("shut/out")]);
        assert!(message.contains("cannot be written") && message.contains("denied"), "{message}");
    }
    set_permissions(&shut, Permissions::from_mode(0o755)).expect("and opened for those who clean up");
}

/// `-o /dev/stdout > file` comes here, too: renaming over the link would take `/dev/stdout` from the machine.
#[cfg(unix)]
#[test]
fn an_output_that_is_a_link_stays_one() {
    let folder = Folder::new();
    let (target, link) = (folder.file("target", "old"), folder.path("link"));
    std::os::unix::fs::symlink(&target, &link).expect("a link can be made");
    ok(&[&orchard(), "--format", "folded", "-o", &link]);
    assert!(std::fs::symlink_metadata(&link).expect("it is there").is_symlink(), "the link was replaced");
    assert_eq!(read_text(&target), ok(&[&orchard(), "--format", "folded"]));
    assert_eq!(folder.names(), ["link", "target"]);
}

/// Whoever reads the output may stop early, as `head` does.
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

/// Rust's standard library opens `/dev/null` in place of a closed stream. What others discard is no error.
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
