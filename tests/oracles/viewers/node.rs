//! The scripts that load our files with the viewers' own programs.
//!
//! `TRACEPARSE_NODE_MODULES` names a folder that holds the npm packages `node`, `@firefox-devtools/profiler-cli` and
//! `speedscope`, as `npm install` makes it. Without it, the tests that need it report themselves as ignored.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;

use crate::programs::{corpus, repository, runs, said};

/// The inputs of the tests: real exports, and fixtures of every kind of table.
const CORPUS: [&str; 4] =
    ["26.2/finder_cpu_profile.xml", "14.3.1/cpu-profile.xml", "14.3.1/time-profile.xml", "14-16/time-profile.xml"];
const FIXTURES: [&str; 10] = [
    "12/time-profile",
    "14.0/cpu-profile",
    "14.3/concatenated",
    "14.3/counters-profile-by-cycles",
    "26.4/time-sample",
    "27/cpu-profile",
    "27/orchard",
    "27/several-tables",
    "27/signposts",
    "27/time-profile-waiting",
];

/// The folder of a package, if it is there.
pub(crate) fn package(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("TRACEPARSE_NODE_MODULES")?).join(name);
    folder.is_dir().then_some(folder)
}

/// The interpreter, if it is there and runs.
pub(crate) fn node() -> Option<PathBuf> {
    let node = package("node")?.join("bin/node");
    runs(Command::new(&node).arg("--version")).then_some(node)
}

/// One test for each input, named after the script. `arguments` makes the script's arguments before the input, with a new folder for each test.
pub(crate) fn trials(script: &'static str, arguments: Option<fn(&Path) -> Vec<PathBuf>>) -> Vec<Trial> {
    let node = node();
    let in_corpus = |name| (format!("corpus/{name}"), corpus().map(|folder| folder.join("xctrace").join(name)));
    let made = |name: &str| (name.to_owned(), Some(repository("fixtures").join(name).join("input.xml")));
    let inputs = CORPUS.into_iter().map(in_corpus).chain(FIXTURES.into_iter().map(made));
    let trial = |(name, input): (String, Option<PathBuf>)| {
        let is_missing = input.is_none() || arguments.is_none() || node.is_none();
        let node = node.clone();
        let test = move || {
            let (Some(input), Some(arguments), Some(node)) = (input, arguments, node) else { return Ok(()) };
            let folder = tempfile::tempdir()?;
            let mut command = Command::new(node);
            command.arg(repository("tests/viewers").join(script)).arg(env!("CARGO_BIN_EXE_traceparse"));
            println!("{}", said(command.args(arguments(folder.path())).arg(input))?);
            Ok(())
        };
        let script = script.trim_end_matches(".mjs");
        Trial::test(format!("{script}::{name}"), test).with_ignored_flag(is_missing)
    };
    inputs.map(trial).collect()
}
