//! Replays the corpus of the fuzzer: seeds that were made by hand, and every input that ever failed.

#[path = "fuzz/body.rs"]
mod body;

use std::fs;
use std::panic;
use std::path::Path;

#[test]
fn every_input_of_the_corpus_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/reader");
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("the corpus is a folder")
        .map(|entry| entry.expect("the folder can be listed").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    let is_broken = |path: &&Path| {
        let input = fs::read(path).expect("an input can be read");
        panic::catch_unwind(|| body::check(&input)).is_err()
    };
    let broken: Vec<_> = paths.iter().map(|path| path.as_path()).filter(is_broken).collect();
    assert!(broken.is_empty(), "inputs that failed, with messages above: {broken:#?}");
}
