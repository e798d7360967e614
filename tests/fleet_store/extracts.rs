//! The state of a dataset during an extract, and at its end.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use traceparse::fleet::{Completeness, MadeWith, RunMeasures};

use crate::content::{Content, content, copy, create_or_open, files, is_tidy, open, put};
use crate::runs;

#[test]
fn the_progress_of_an_extract_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    let state = |is_complete: Option<bool>, done: u64| Completeness {
        is_complete,
        inputs_expected: Some(2_000),
        inputs_done: Some(done),
    };
    store.begin(2_000, 3, MadeWith::default()).unwrap();
    drop(store);
    assert_eq!(open(folder.path()).unwrap().completeness(), state(Some(false), 3));
    let store = create_or_open(folder.path()).unwrap();
    // A file is not done before its rows are saved.
    store.put(&[runs::run(1, 5)]).unwrap();
    store.count_done(240);
    let killed = tempfile::tempdir().unwrap();
    copy(folder.path(), killed.path(), |_| true);
    assert_eq!(open(killed.path()).unwrap().completeness(), state(Some(false), 3));
    assert!(store.save_some(100).unwrap());
    drop(store);
    let store = open(folder.path()).unwrap();
    assert_eq!((store.completeness(), content(&store).runs.len()), (state(Some(false), 240), 1));
    drop(store);
    let store = create_or_open(folder.path()).unwrap();
    store.complete().unwrap();
    store.complete().unwrap();
    drop(store);
    let store = open(folder.path()).unwrap();
    // The totals describe the existing runs, regardless of the expected number.
    assert_eq!((store.completeness(), content(&store).runs.len()), (Completeness::whole(1), 1));
    assert!(is_tidy(folder.path()));
}

/// A part is rewritten only once: until then, readers see none of the changes, and afterwards, they see all of them.
#[test]
fn many_runs_are_taken_out_of_a_part_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    let all: Vec<RunMeasures> = (0..10).map(|seed| runs::run(seed, 10)).collect();
    store.put(all.clone()).unwrap();
    store.save().unwrap();
    let before = content(&store);
    let mut expected = before.clone();
    for run in &all[2..6] {
        let mut relabelled = run.clone();
        relabelled.record.labels.clear();
        // The second version must replace the first.
        for label in ["first", "second"] {
            relabelled.record.labels = vec![("put".to_owned(), label.to_owned())];
            store.put(std::slice::from_ref(&relabelled)).unwrap();
        }
        expected = expected.with(&relabelled);
    }
    store.forget(&HashSet::from([all[9].record.source.clone()])).unwrap();
    expected.runs.remove(&all[9].record.run_id);
    assert_eq!(store.known().unwrap().len(), 9);
    let named = |folder: &Path| {
        let manifest = fs::read(folder.join("traceparse-dataset.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&manifest).unwrap()["runs"].clone()
    };
    assert_eq!(named(folder.path()), 10);
    let killed = tempfile::tempdir().unwrap();
    copy(folder.path(), killed.path(), |_| true);
    assert_eq!(content(&open(killed.path()).unwrap()), before);
    store.save().unwrap();
    assert_eq!((content(&store), named(folder.path())), (expected, 9.into()));
    // The part without them, and one of the four that were put again.
    assert!(is_tidy(folder.path()) && files(&folder.path().join("runs")).len() == 2);
}

/// A file of each run would cost more than measuring it.
#[test]
fn runs_are_written_together() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    store.begin(200, 0, MadeWith::default()).unwrap();
    let mut expected = Content::default();
    for seed in 0..200 {
        let run = runs::run(seed, 3);
        expected = expected.with(&run);
        store.put(&[run]).unwrap();
    }
    store.save().unwrap();
    assert_eq!(files(&folder.path().join("runs")).len(), 1);
    assert_eq!(content(&store), expected);
}

/// Files of one run each would be six for each run.
#[test]
fn a_long_extract_has_few_files_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    let (mut most, mut expected) = (0, Content::default());
    store.begin(400, 0, MadeWith::default()).unwrap();
    for seed in 0..400 {
        let run = runs::run(seed, 3);
        expected = expected.with(&run);
        store.put(&[run]).unwrap();
        store.count_done(seed as usize + 1);
        store.save_some(u64::MAX).unwrap();
        most = most.max(files(folder.path()).len());
    }
    store.complete().unwrap();
    assert_eq!(content(&store), expected);
    assert!(most <= 6 * 2 * 66, "{most} files");
    // Also where each process is killed before it has written many.
    drop(store);
    for seed in 400..600 {
        let store = create_or_open(folder.path()).unwrap();
        store.put(&[runs::run(seed, 3)]).unwrap();
        store.save_some(u64::MAX).unwrap();
        most = most.max(files(folder.path()).len());
    }
    assert!(most <= 6 * 2 * 66, "{most} files");
    let store = create_or_open(folder.path()).unwrap();
    assert_eq!(content(&store).runs.len(), 600);
    assert_eq!(store.compact(u64::MAX).unwrap().after, 1);
}

#[test]
fn label_keys_are_known_by_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    let (mut labelled, mut bare) = (runs::run(1, 10), runs::run(2, 10));
    labelled.record.labels = vec![("ring".to_owned(), "beta".to_owned()), ("lab".to_owned(), "7".to_owned())];
    bare.record.labels.clear();
    put(&store, &labelled);
    put(&store, &bare);
    let keys = store.label_keys().unwrap();
    assert_eq!(keys.len(), 1);
    assert!(keys[&labelled.record.run_id].iter().eq(["lab", "ring"]));
}
