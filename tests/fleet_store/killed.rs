//! If a process is killed at any moment, a dataset is in the state before or after a change.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use traceparse::fleet::{FleetError, Store};

use crate::content::{Content, STEPS, content, copy, create_or_open, is_tidy, open, put, put_failure};
use crate::runs;

/// Runs `change` again and again on copies of a dataset, killed before its first change on disk, its second, and so on; `check`
/// sees each dataset after it was opened again. Returns how many changes it takes.
fn killed_at_every_step(
    start: &Path,
    change: impl Fn(&Store) -> Result<(), FleetError>,
    check: impl Fn(usize, &Store, &Path),
) -> usize {
    for steps in 0.. {
        let folder = tempfile::tempdir().unwrap();
        copy(start, folder.path(), |_| true);
        let store = create_or_open(folder.path()).unwrap();
        STEPS.set(Some(steps));
        let result = change(&store);
        STEPS.set(None);
        drop(store);
        // Every second time a reader comes first.
        let store = if steps % 2 == 0 { create_or_open(folder.path()) } else { open(folder.path()) };
        check(steps, &store.unwrap(), folder.path());
        let writer = create_or_open(folder.path()).unwrap();
        assert!(is_tidy(folder.path()), "after {steps} steps");
        check(steps, &writer, folder.path());
        if result.is_ok() {
            return steps;
        }
        assert_eq!(result.unwrap_err().to_string(), "killed");
    }
    unreachable!()
}

#[test]
fn a_killed_compaction_loses_nothing() {
    let start = tempfile::tempdir().unwrap();
    let store = create_or_open(start.path()).unwrap();
    let mut expected = Content::default();
    for seed in 0..4 {
        let run = runs::run(seed, 10);
        put(&store, &run);
        expected = expected.with(&run);
    }
    put_failure(&store, &runs::failure(1));
    expected = expected.with_failure(&runs::failure(1));
    drop(store);
    let change = |store: &Store| store.compact(40).map(drop);
    let steps = killed_at_every_step(start.path(), change, |steps, store, _| {
        assert_eq!(content(store), expected, "after {steps} steps");
    });
    assert!(steps > 40, "{steps} steps");
}

#[test]
fn a_killed_put_leaves_the_old_or_the_new() {
    let start = tempfile::tempdir().unwrap();
    let store = create_or_open(start.path()).unwrap();
    let (old, other, new) = (runs::run(1, 10), runs::run(2, 10), runs::run(5, 10));
    put(&store, &old);
    put(&store, &other);
    store.compact(u64::MAX).unwrap();
    drop(store);
    let mut relabelled = old.clone();
    relabelled.record.labels.clear();
    let base = Content::default().with(&other);
    let before = base.clone().with(&old);
    for (run, after) in [(&relabelled, base.with(&relabelled)), (&new, before.clone().with(&new))] {
        let change = |store: &Store| store.put(std::slice::from_ref(run)).and_then(|()| store.save());
        let steps = killed_at_every_step(start.path(), change, |steps, store, _| {
            let found = content(store);
            assert!([&before, &after].contains(&&found), "after {steps} steps: {found:?}");
        });
        assert!(steps >= 16, "{steps} steps");
    }
}

/// A save that fails at any step, as on a full disk, leaves all rows to the next one.
#[test]
fn a_failed_save_loses_nothing() {
    let (old, copied, new, later) = (runs::run(1, 10), runs::failure(4), runs::run(2, 10), runs::run(3, 10));
    let mut relabelled = old.clone();
    relabelled.record.labels.clear();
    let expected = Content::default().with(&relabelled).with(&new).with(&later).with_failure(&copied);
    for steps in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let store = create_or_open(folder.path()).unwrap();
        store.put(&[old.clone(), later.clone()]).unwrap();
        store.save().unwrap();
        store.put(std::slice::from_ref(&new)).unwrap();
        store.put(&[relabelled.clone()]).unwrap();
        STEPS.set(Some(steps));
        let failed = store.save();
        STEPS.set(None);
        put_failure(&store, &copied);
        assert_eq!(content(&store), expected, "after {steps} steps");
        drop(store);
        assert_eq!(content(&create_or_open(folder.path()).unwrap()), expected, "after {steps} steps");
        assert!(is_tidy(folder.path()), "after {steps} steps");
        if failed.is_ok() {
            assert!(steps > 20, "{steps} steps");
            return;
        }
    }
}

/// The list is read by nothing of ours, as by an engine.
#[test]
fn the_manifest_names_a_run_once_at_every_step() {
    let start = tempfile::tempdir().unwrap();
    let store = create_or_open(start.path()).unwrap();
    (0..3).for_each(|seed| put(&store, &runs::run(seed, 10)));
    drop(store);
    for steps in 0..200 {
        let folder = tempfile::tempdir().unwrap();
        copy(start.path(), folder.path(), |_| true);
        let store = create_or_open(folder.path()).unwrap();
        STEPS.set(Some(steps));
        let result = store.compact(u64::MAX);
        STEPS.set(None);
        let manifest = fs::read(folder.path().join("traceparse-dataset.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let mut seen = BTreeSet::new();
        for id in manifest["files"].as_object().unwrap().keys() {
            let file = fs::File::open(folder.path().join(format!("runs/{id}.parquet"))).unwrap();
            for run in traceparse::fleet::KnownRun::all(file).unwrap() {
                assert!(seen.insert(run.run_id), "after {steps} steps");
            }
        }
        assert_eq!(seen.len(), 3, "after {steps} steps");
        assert_eq!(manifest["runs"], 3, "after {steps} steps");
        if result.is_ok() {
            assert!(steps > 20, "{steps} steps");
            return;
        }
    }
    panic!("never done");
}
