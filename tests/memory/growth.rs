//! The number of instructions of commands for an input and for an input of twice the size. valgrind counts them, since time depends on other
//! work on the machine.

use std::path::Path;
use std::process::{Command, Stdio};

use super::costly;

/// Twice the input may take this many times the instructions.
const MOST: f64 = 2.3;

/// An input of a size, and the command that reads it.
type Case = (&'static str, fn(usize) -> String, usize, &'static [&'static str]);

const TABLE: &[&str] = &["table", "FILE", "wide"];
const CSV: &[&str] = &["table", "FILE", "wide", "--format", "csv"];

const CASES: [Case; 6] = [
    ("columns with one name", |size| costly::columns(size, true), 500, CSV),
    ("columns with different names", |size| costly::columns(size, false), 500, TABLE),
    ("columns of intervals", |size| costly::columns(size, false), 500, &["hangs", "FILE"]),
    ("hangs", costly::hangs, 500, &["hangs", "FILE"]),
    ("tables", costly::tables, 120, TABLE),
    ("names of intervals", costly::intervals, 120, &["intervals", "FILE", "--format", "json"]),
];

/// True if there is a valgrind; the tests of instructions are ignored without.
pub(crate) fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

pub(crate) fn twice_the_input_takes_twice_the_instructions() {
    let folder = tempfile::tempdir().unwrap();
    for (what, input, size, arguments) in CASES {
        let path = folder.path().join("input");
        // The first differences leave out what starting takes.
        let [one, two, four] = [1, 2, 4].map(|times| {
            std::fs::write(&path, input(times * size)).unwrap();
            instructions(&path, arguments) as f64
        });
        let growth = (four - two) / (two - one);
        println!("{what}: {:.1} million instructions, then {growth:.2} times as many", (two - one) / 1e6);
        assert!(growth <= MOST, "{what}: {growth:.2}");
    }
}

fn instructions(path: &Path, arguments: &[&str]) -> u64 {
    let arguments =
        arguments.iter().map(|argument| if *argument == "FILE" { path.as_os_str() } else { argument.as_ref() });
    let tool = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
    let mut command = Command::new("valgrind");
    command.args(tool).arg(env!("CARGO_BIN_EXE_traceparse")).args(arguments);
    let done = command.stdout(Stdio::null()).output().unwrap();
    let log = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {log}");
    let count = log.lines().find_map(|line| line.split_once("I refs:").or_else(|| line.split_once("I   refs:")));
    let (_, count) = count.unwrap_or_else(|| panic!("{command:?}: {log}"));
    count.trim().replace(',', "").parse().unwrap()
}
