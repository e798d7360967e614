//! `--format firefox`, loaded by Firefox's `profiler-cli`: functions of every thread with their self and total, and what its
//! filters leave of them, which is what our operations on stacks leave, too (`tests/viewers/firefox.mjs`); drawn by its stack chart,
//! which shows no function over a wait, and with markers, as it lists them (`tests/viewers/stack_timing.mjs`).

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use super::node;

const SCRIPT: &str = "@firefox-devtools/profiler-cli/dist/profiler-cli.js";

pub(crate) fn trials() -> Vec<Trial> {
    let is_there = node::package("@firefox-devtools/profiler-cli").is_some();
    let arguments = is_there.then_some(arguments as fn(&Path) -> Vec<PathBuf>);
    let mut trials = node::trials("firefox.mjs", arguments);
    trials.extend(node::trials("stack_timing.mjs", arguments));
    trials
}

fn arguments(folder: &Path) -> Vec<PathBuf> {
    let modules = std::env::var_os("TRACEPARSE_NODE_MODULES").map(PathBuf::from).unwrap_or_default();
    vec![modules.join(SCRIPT), folder.to_owned()]
}
