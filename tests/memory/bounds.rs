//! Every command and format stays within `--memory` and 64 MiB, on inputs that are much smaller than their results.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::costly;

/// The data that the system gives a process, in KiB: 64 MB as in `--memory`, and 64 MiB.
const DATA: u64 = 64_000_000 / 1024 + (64 << 10);

/// The formats of a command.
const ROWS: &[&str] = &["text", "json", "csv", "ndjson", "parquet", "sql"];
const LISTS: &[&str] = &["text", "json"];
const TABLES: &[&str] = &["text", "json", "csv"];
const CHANGES: &[&str] = &["text", "json", "csv", "html", "svg"];
const REPORTS: &[&str] =
    &["text", "json", "csv", "ndjson", "folded", "svg", "html", "firefox", "speedscope", "pprof", "d3", "chrome-trace"];

/// An input, and the commands that read it with their formats.
type Case<'c> = (&'static str, String, &'c [(&'static [&'static str], &'static [&'static str])]);

/// Inputs of more than a MB each, for which a document in memory or a list per table would take hundreds.
fn cases<'c>() -> [Case<'c>; 10] {
    const TABLE: (&[&str], &[&str]) = (&["table", "FILE", "wide"], ROWS);
    // The writer of Parquet keeps 2 KB for each column.
    const WIDE: (&[&str], &[&str]) = (&["table", "FILE", "wide"], &["text", "json", "csv", "ndjson", "sql"]);
    const LIST: (&[&str], &[&str]) = (&["tables", "FILE"], LISTS);
    const TOC: (&[&str], &[&str]) = (&["toc", "FILE"], LISTS);
    const REPORT: (&[&str], &[&str]) = (&["FILE"], REPORTS);
    const DIFF: (&[&str], &[&str]) = (&["diff", "FILE", "FILE2"], CHANGES);
    [
        ("tables", costly::tables(4_000), &[TABLE, LIST, TOC]),
        ("columns", costly::columns(60_000, false), &[WIDE, LIST, TOC]),
        ("columns with one name", costly::columns(60_000, true), &[WIDE]),
        ("cells", costly::cells(500_000), &[(&["table", "FILE", "wide"], &["csv"])]),
        ("long texts", costly::long_texts(2 << 20), &[TABLE]),
        ("intervals", costly::intervals(32_000), &[(&["intervals", "FILE"], TABLES), (&["hangs", "FILE"], LISTS)]),
        ("threads", costly::threads(20_000), &[REPORT, DIFF, (&["uuid", "FILE"], LISTS)]),
        ("hangs", costly::hangs(16_000), &[(&["hangs", "FILE"], LISTS), REPORT]),
        ("contents", costly::contents(40_000), &[TOC]),
        ("bins", costly::metrics(2_000), &[(&["fleet", "report", "FILE"], &["html"])]),
    ]
}

pub(crate) fn commands_stay_within_their_limit() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["FILE", "FILE2"].map(|name| folder.path().join(name));
    let mut failures = String::new();
    for (what, input, commands) in cases() {
        files.iter().for_each(|file| std::fs::write(file, &input).unwrap());
        for (command, format) in commands.iter().flat_map(|(command, formats)| formats.iter().map(|f| (*command, *f))) {
            if let Err(message) = run(folder.path(), command, format) {
                writeln!(failures, "{what}: {} --format {format}: {message}", command.join(" ")).unwrap();
            }
        }
    }
    // The second recording has other stacks.
    files.iter().zip([1, 2]).for_each(|(file, seed)| std::fs::write(file, costly::deep(8_000, seed)).unwrap());
    for view in ["overview", "functions", "tree"] {
        if let Err(message) = run(folder.path(), &["diff", "FILE", "FILE2", "--view", view], "text") {
            writeln!(failures, "deep stacks: diff --view {view}: {message}").unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Runs a command, which may not get more memory than the limit and 64 MiB.
fn run(folder: &Path, command: &[&str], format: &str) -> Result<(), String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -d {DATA} && exec \"$@\""), "sh", env!("CARGO_BIN_EXE_traceparse")]);
    shell.args(command).args(["--memory", "64M", "--format", format, "-o", "out"]).current_dir(folder);
    let done = shell.stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("{}: {message}", done.status)),
    }
}
