//! The symbol fixtures equal the output of `build.sh` for their sources, byte for byte, if the compiler has the same
//! version. Without it the test reports itself as ignored, which the standard runner cannot do.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::programs::{repository, runs, said};

/// The version whose code the fixtures hold.
const VERSION: &str = "19.1.7";

pub(crate) fn trials() -> Vec<Trial> {
    let has_clang = said(Command::new("clang-19").arg("--version")).is_ok_and(|said| said.contains(VERSION));
    let has_tool = |tool: &&str| runs(Command::new(tool).arg("--version"));
    trials![if has_clang && ["ld64.lld-19", "dsymutil-19", "llvm-lipo-19"].iter().all(has_tool);
        a_rebuild_gives_the_same_bytes]
}

fn a_rebuild_gives_the_same_bytes() -> Result<(), Failed> {
    let (symbols, folder) = (repository("fixtures/symbols"), tempfile::tempdir()?);
    let out = folder.path().join("out");
    said(Command::new("bash").arg(symbols.join("build.sh")).arg(&out))?;
    let sums = |built: &Path| std::fs::read_to_string(built.join("SHA256SUMS"));
    let (ours, theirs) = (sums(&out)?, sums(&symbols.join("built"))?);
    let differing: Vec<&str> = ours.lines().filter(|line| !theirs.contains(line)).collect();
    ensure!(ours == theirs, "files that differ: {differing:#?}");
    Ok(())
}
