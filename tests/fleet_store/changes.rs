//! Stored data is read back, regardless of earlier content.

use std::collections::{BTreeSet, HashSet};
use std::fs;

use traceparse::fleet::{MadeWith, Store};

use crate::content::{Content, content, create_or_open, files, is_tidy, open, put, put_failure, storage};
use crate::runs;

/// An output must not replace one of them.
#[test]
fn the_files_of_a_dataset_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    store.begin(1, 0, MadeWith::default()).unwrap();
    put(&store, &runs::run(1, 3));
    fs::write(folder.path().join(Store::STAMPS), "{}").unwrap();
    fs::write(folder.path().join("report.html"), "").unwrap();
    let mut all = files(folder.path());
    assert!(all.remove(&folder.path().join("report.html")) && all.len() > 8, "{all:?}");
    assert_eq!(Store::files(&storage(), folder.path()).unwrap().into_iter().collect::<BTreeSet<_>>(), all);
}

#[test]
fn what_is_put_in_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b, c) = (runs::run(1, 30), runs::run(2, 0), runs::run(3, 30));
    let failure = runs::failure(4);
    {
        let store = create_or_open(folder.path()).unwrap();
        store.put(&[a.clone(), b.clone()]).unwrap();
        store.save().unwrap();
        put(&store, &c);
        put_failure(&store, &failure);
    }
    assert!(Store::is_dataset(&storage(), folder.path()));
    let store = open(folder.path()).unwrap();
    assert_eq!(content(&store), Content::default().with(&a).with(&b).with(&c).with_failure(&failure));
    let known = store.known().unwrap();
    assert_eq!(known.len(), 4);
    let known_a = &known[&a.record.source];
    assert_eq!((&known_a.fingerprint, known_a.is_failed), (&a.record.fingerprint, false));
    assert_eq!(known_a.run_ids.as_slice(), [a.record.run_id.clone()].as_slice());
    assert_eq!(known_a.file, known[&b.record.source].file);
    assert_ne!(known_a.file, known[&c.record.source].file);
    assert!(known[&failure.source].is_failed);
    assert!(store.put_failure(&failure).is_err(), "open for reading");
    assert!(is_tidy(folder.path()));
}

#[test]
fn putting_again_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    let (old, other) = (runs::run(1, 30), runs::run(2, 30));
    put(&store, &old);
    put(&store, &other);

    // The same content with other labels.
    let mut relabelled = old.clone();
    relabelled.record.labels = vec![("app".to_owned(), "Other".to_owned())];
    put(&store, &relabelled);
    assert_eq!(content(&store), Content::default().with(&relabelled).with(&other));

    // Other content at the same path.
    let mut changed = runs::run(3, 30);
    changed.record.source = old.record.source.clone();
    put(&store, &changed);
    assert_eq!(content(&store), Content::default().with(&changed).with(&other));

    // The file broke, and was repaired.
    let mut broken = runs::failure(1);
    broken.source = old.record.source.clone();
    put_failure(&store, &broken);
    assert_eq!(content(&store), Content::default().with_failure(&broken).with(&other));
    put(&store, &changed);
    assert_eq!(content(&store), Content::default().with(&changed).with(&other));

    // A copy of another file is a failure with its id, and takes nothing away.
    let mut copy = runs::failure(2);
    copy.run_id = Some(other.record.run_id.clone());
    put_failure(&store, &copy);
    assert_eq!(content(&store), Content::default().with(&changed).with(&other).with_failure(&copy));

    let sources = [&copy.source, &changed.record.source, &other.record.source];
    store.forget(&HashSet::from(sources.map(String::clone))).unwrap();
    store.save().unwrap();
    assert_eq!(content(&store), Content::default());
    assert!(store.known().unwrap().is_empty() && is_tidy(folder.path()));
}

#[test]
fn many_small_files_become_few() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    let mut expected = Content::default();
    for seed in 0..30 {
        let run = runs::run(seed, 40);
        put(&store, &run);
        put_failure(&store, &runs::failure(seed));
        expected = expected.with(&run).with_failure(&runs::failure(seed));
    }
    let compacted = store.compact(400).unwrap();
    assert_eq!(compacted.before, 60);
    assert!((2..12).contains(&compacted.after), "{compacted:?}");
    assert_eq!(content(&store), expected);
    assert!(is_tidy(folder.path()));
    assert_eq!(files(&folder.path().join("frames")).len(), compacted.after);
    let known = store.known().unwrap();
    assert!(known.values().any(|known| known.file.starts_with("part-")));

    // Replaces a run that is stored in a part.
    let mut relabelled = runs::run(7, 40);
    relabelled.record.labels.clear();
    put(&store, &relabelled);
    expected = expected.with(&relabelled);
    assert_eq!(content(&store), expected);
    drop(store);

    // The index in memory equals the index of the files.
    let store = create_or_open(folder.path()).unwrap();
    store.forget(&HashSet::from([runs::failure(3).source])).unwrap();
    expected.failures.remove(&runs::failure(3).source);
    assert_eq!(store.compact(u64::MAX).unwrap().after, 1);
    assert_eq!(content(&store), expected);
    assert_eq!(store.compact(u64::MAX).unwrap().before, 1, "and there it stays");
    assert!(is_tidy(folder.path()));
}
