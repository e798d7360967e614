//! Replays the corpora of the fuzzers: seeds that were made by hand or by `fuzz/seeds.rs`, and every input that ever failed.
//!
//! `TRACEPARSE_BLESS=1` writes the seeds of `fuzz/seeds.rs` again.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::seeds;
use crate::targets::{TARGETS, Target};

/// A test for each target; with `TRACEPARSE_BLESS` the seeds are written first.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    if std::env::var_os("TRACEPARSE_BLESS").is_some() {
        TARGETS.iter().for_each(write_seeds);
    }
    TARGETS.into_iter().map(|target| Trial::test(format!("corpus::{}", target.name), move || replay(&target)))
}

fn folder(target: &Target) -> PathBuf {
    support::repository("tests/fuzz/corpus").join(target.name)
}

fn write_seeds(target: &Target) {
    let folder = folder(target);
    fs::create_dir_all(&folder).expect("a folder for seeds");
    for (name, bytes) in seeds::seeds(target.name) {
        fs::write(folder.join(format!("seed-{name}")), bytes).expect("a seed can be written");
    }
}

fn replay(target: &Target) -> Result<(), Failed> {
    let folder = folder(target);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    assert!(paths.len() > 3, "{} has hardly any inputs", folder.display());
    let is_broken = |path: &&Path| {
        let input = fs::read(path).expect("an input can be read");
        panic::catch_unwind(|| (target.replay)(&input)).is_err()
    };
    let broken: Vec<&Path> = paths.iter().map(PathBuf::as_path).filter(is_broken).collect();
    assert!(broken.is_empty(), "inputs that failed, with messages above: {broken:#?}");
    Ok(())
}
