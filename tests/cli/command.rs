//! Runs the command in tests.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::{self, Child};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_traceparse");

/// Views of the command.
pub(crate) const VIEWS: [&str; 5] = ["summary", "threads", "tree", "functions", "samples"];

/// The command, without the colour settings of the test environment.
pub(crate) fn traceparse(args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("RUST_BACKTRACE", "0").args(args);
    command
}

/// The result of a command, which did not panic.
pub(crate) fn finish(command: &mut Command) -> Assert {
    command.assert().stderr(contains("panicked").not())
}

/// Standard output of a run that succeeds without messages.
pub(crate) fn ok(args: &[&str]) -> String {
    stdout_of(&finish(&mut traceparse(args)).success().stderr(""))
}

/// Standard output and standard error of a run that succeeds with a warning.
pub(crate) fn warns(args: &[&str]) -> (String, String) {
    let assert = finish(&mut traceparse(args)).success().stderr(contains("warning: "));
    (stdout_of(&assert), stderr_of(&assert))
}

/// Standard error of a run that ends with `code` and writes no output.
pub(crate) fn fails(code: i32, args: &[&str]) -> String {
    stderr_of(&finish(&mut traceparse(args)).code(code).stdout("").stderr(contains("error: ")))
}

pub(crate) fn stdout_of(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("the output is UTF-8")
}

pub(crate) fn stderr_of(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).expect("messages are UTF-8")
}

/// The JSON output of a run that succeeds.
pub(crate) fn json(args: &[&str]) -> Value {
    let text = ok(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&text).expect("the output is JSON")
}

/// The rows of the CSV output of a run that succeeds, the header first.
pub(crate) fn csv(args: &[&str]) -> Vec<Vec<String>> {
    let text = ok(&[args, &["--format", "csv"]].concat());
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.expect("the output is CSV").iter().map(str::to_owned).collect()).collect()
}

/// One column of rows with a header, as numbers.
pub(crate) fn column(rows: &[Vec<String>], name: &str) -> Vec<u64> {
    let at = rows[0].iter().position(|title| title == name).expect("the column is in the header");
    rows[1..].iter().map(|row| row[at].parse().expect("the column holds numbers")).collect()
}

fn fixtures() -> PathBuf {
    support::repository("fixtures")
}

/// The path of a fixture, such as `27/orchard`.
pub(crate) fn fixture(case: &str) -> String {
    let path = fixtures().join(case).join("input.xml");
    assert!(path.is_file(), "{} is not there", path.display());
    path.into_os_string().into_string().expect("the path is UTF-8")
}

/// The fixture of most tests: one time-profile of 485 rows.
pub(crate) fn orchard() -> String {
    fixture("27/orchard")
}

/// The exports among the fixtures.
pub(crate) fn all_exports() -> Vec<String> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).expect("the folder can be read").map(|entry| entry.expect("and its entries"));
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    let versions = folders(&fixtures()).into_iter().filter(|path| !path.ends_with("toc") && !path.ends_with("symbols"));
    let cases = versions.flat_map(|version| folders(&version)).map(|case| case.join("input.xml"));
    let mut paths: Vec<String> = cases.map(|path| path.into_os_string().into_string().expect("UTF-8")).collect();
    paths.sort();
    assert!(paths.len() > 10, "the fixtures are there");
    paths
}

/// A folder for one test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder can be made"))
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).into_os_string().into_string().expect("the path is UTF-8")
    }

    /// A file in the folder.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("the file can be written");
        path
    }

    /// A copy of a fixture in which the second string of each pair replaces all occurrences of the first.
    pub(crate) fn edited(&self, case: &str, edits: &[(&str, &str)]) -> String {
        let mut text = read_text(&fixture(case));
        for (from, to) in edits {
            assert!(text.contains(from), "{case} has no {from}");
            text = text.replace(from, to);
        }
        self.file("edited.xml", text)
    }
}

pub(crate) fn read_text(path: &str) -> String {
    fs::read_to_string(path).expect("the file can be read")
}

/// Creates a named pipe. Its reader waits for its writer.
#[cfg(unix)]
pub(crate) fn pipe(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    assert!(process::Command::new("mkfifo").arg(&path).status().expect("mkfifo is there").success());
    path
}

/// Sends a signal, such as `-INT`, to a process.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = process::Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
}
