//! The symbol fixtures are what their sources and `build.sh` make, byte for byte, where the compiler is the one they
//! were made with. Without it the test reports itself as ignored, which the standard runner cannot do.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

/// The version whose code the fixtures hold.
const VERSION: &str = "19.1.7";

pub(crate) fn trials() -> Vec<Trial> {
    let output = Command::new("clang-19").arg("--version").output();
    let has_clang = output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION));
    let has_tools = ["ld64.lld-19", "dsymutil-19", "llvm-lipo-19"]
        .iter()
        .all(|tool| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success()));
    let trial = trial!("a_rebuild_gives_the_same_bytes", rebuild).with_ignored_flag(!(has_clang && has_tools));
    vec![trial]
}

fn rebuild() -> Result<(), Failed> {
    let symbols = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/symbols");
    let folder = tempfile::tempdir()?;
    let output = Command::new("bash").arg(symbols.join("build.sh")).arg(folder.path().join("out")).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let sums = |built: &Path| std::fs::read_to_string(built.join("SHA256SUMS"));
    let (ours, theirs) = (sums(&folder.path().join("out"))?, sums(&symbols.join("built"))?);
    if ours == theirs {
        return Ok(());
    }
    let differing: Vec<&str> = ours.lines().filter(|line| !theirs.contains(line)).collect();
    Err(format!("files that differ: {differing:#?}").into())
}
