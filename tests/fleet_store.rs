//! A dataset on disk: what is put in comes out, whatever was put before, and whenever the process was killed.
#![cfg(feature = "cli")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use traceparse::fleet::DatasetTable;
use traceparse::fleet::{Completeness, FailedInput, FleetSelection, RunMeasures};

// The store reads its files by it; the rest is the command's.
#[allow(dead_code)]
#[path = "../bin/bounds.rs"]
mod bounds;
#[path = "../bin/durable.rs"]
mod durable;
// Which the store asks before each change.
#[allow(dead_code)]
#[path = "../bin/guard.rs"]
mod guard;
#[path = "support/runs.rs"]
mod runs;
// Other tests use the rest.
#[allow(dead_code)]
#[path = "../bin/fleet/store/mod.rs"]
mod store;

use store::tests_only::STEPS;
use store::{MadeWith, Store};

/// The contents of a dataset, whatever its files are: runs by id, failures by source.
#[derive(Debug, Default, Clone, PartialEq)]
struct Content {
    runs: BTreeMap<String, RunMeasures>,
    failures: BTreeMap<String, FailedInput>,
}

impl Content {
    fn with(mut self, run: &RunMeasures) -> Self {
        self.runs.insert(run.record.run_id.clone(), run.clone());
        self
    }

    fn with_failure(mut self, failure: &FailedInput) -> Self {
        self.failures.insert(failure.source.clone(), failure.clone());
        self
    }
}

fn content(store: &Store) -> Content {
    let mut content = Content::default();
    let failures = store
        .read(|run| {
            let before = content.runs.insert(run.record.run_id.clone(), run);
            assert_eq!(before, None, "a run twice");
            Ok(())
        })
        .unwrap();
    for failure in failures {
        assert_eq!(content.failures.insert(failure.source.clone(), failure), None, "a failure twice");
    }
    content
}

fn put(store: &Store, run: &RunMeasures) {
    store.put(std::slice::from_ref(run)).unwrap();
    store.save().unwrap();
}

fn put_failure(store: &Store, failure: &FailedInput) {
    store.put_failure(failure).unwrap();
    store.save().unwrap();
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => drop(found.insert(path)),
        }
    }
    found
}

/// True if every table has the same data files, and nothing lies around.
fn is_tidy(folder: &Path) -> bool {
    let names = |table: DatasetTable| -> BTreeSet<_> {
        let files = files(&folder.join(table.name())).into_iter();
        files.map(|path| path.file_name().unwrap().to_owned()).collect()
    };
    let runs = names(DatasetTable::Runs);
    let is_complete = DatasetTable::ALL.into_iter().all(|table| names(table) == runs);
    let known = [".lock", "sources.json", "traceparse-dataset.json"];
    is_complete
        && fs::read_dir(folder)
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().is_file())
            .all(|entry| known.contains(&entry.file_name().to_str().unwrap()))
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}

/// An output must not replace one of them.
#[test]
fn the_files_of_a_dataset_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    store.begin(1, 0, MadeWith::default()).unwrap();
    put(&store, &runs::run(1, 3));
    store.save_stamps(&store.stamps()).unwrap();
    fs::write(folder.path().join("report.html"), "").unwrap();
    let mut all = files(folder.path());
    assert!(all.remove(&folder.path().join("report.html")) && all.len() > 8, "{all:?}");
    assert_eq!(Store::files(folder.path()).unwrap().into_iter().collect::<BTreeSet<_>>(), all);
}

#[test]
fn what_is_put_in_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b, c) = (runs::run(1, 30), runs::run(2, 0), runs::run(3, 30));
    let failure = runs::failure(4);
    {
        let store = Store::create_or_open(folder.path()).unwrap();
        store.put(&[a.clone(), b.clone()]).unwrap();
        put(&store, &c);
        put_failure(&store, &failure);
    }
    assert!(Store::is_dataset(folder.path()));
    let store = Store::open(folder.path()).unwrap();
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
    let store = Store::create_or_open(folder.path()).unwrap();
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
    let store = Store::create_or_open(folder.path()).unwrap();
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

    // A run of a part is replaced, and one that is alone.
    let mut relabelled = runs::run(7, 40);
    relabelled.record.labels.clear();
    put(&store, &relabelled);
    expected = expected.with(&relabelled);
    assert_eq!(content(&store), expected);
    drop(store);

    // The index in memory is that of the files.
    let store = Store::create_or_open(folder.path()).unwrap();
    store.forget(&HashSet::from([runs::failure(3).source])).unwrap();
    expected.failures.remove(&runs::failure(3).source);
    assert_eq!(store.compact(u64::MAX).unwrap().after, 1);
    assert_eq!(content(&store), expected);
    assert_eq!(store.compact(u64::MAX).unwrap().before, 1, "and there it stays");
    assert!(is_tidy(folder.path()));
}

/// Runs `change` again and again on copies of a dataset, killed before its first change on disk, its second, and so on; `check`
/// sees each dataset after it was opened again. Returns how many changes it takes.
fn killed_at_every_step(
    start: &Path,
    change: impl Fn(&Store) -> anyhow::Result<()>,
    check: impl Fn(usize, &Store, &Path),
) -> usize {
    for steps in 0.. {
        let folder = tempfile::tempdir().unwrap();
        copy(start, folder.path());
        let store = Store::create_or_open(folder.path()).unwrap();
        STEPS.set(Some(steps));
        let result = change(&store);
        STEPS.set(None);
        drop(store);
        // Every second time a reader comes first.
        let store = if steps % 2 == 0 { Store::create_or_open(folder.path()) } else { Store::open(folder.path()) };
        check(steps, &store.unwrap(), folder.path());
        let writer = Store::create_or_open(folder.path()).unwrap();
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
    let store = Store::create_or_open(start.path()).unwrap();
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
    let store = Store::create_or_open(start.path()).unwrap();
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
        assert!(steps >= 18, "{steps} steps");
    }
}

/// The list is read by nothing of ours, as by an engine.
#[test]
fn the_manifest_names_a_run_once_at_every_step() {
    let start = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(start.path()).unwrap();
    (0..3).for_each(|seed| put(&store, &runs::run(seed, 10)));
    drop(store);
    for steps in 0..200 {
        let folder = tempfile::tempdir().unwrap();
        copy(start.path(), folder.path());
        let store = Store::create_or_open(folder.path()).unwrap();
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

#[test]
fn folders_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "").unwrap();
    let error = Store::create_or_open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not empty, and not a dataset"), "{error}");
    assert_eq!(files(folder.path()).len(), 1);
    let error = Store::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not a dataset; make one with `traceparse fleet extract`"), "{error}");

    let newer = tempfile::tempdir().unwrap();
    fs::write(newer.path().join("traceparse-dataset.json"), r#"{"format":"traceparse-dataset","version":5}"#).unwrap();
    for error in [Store::create_or_open(newer.path()), Store::open(newer.path())].map(Result::unwrap_err) {
        assert!(error.to_string().contains("has version 5, but this traceparse reads versions up to 4"), "{error}");
    }
    // Where a file of a newer version may come, the whole says so.
    let marker = newer.path().join("traceparse-dataset.json");
    fs::write(&marker, r#"{"format":"traceparse-dataset","version":1}"#).unwrap();
    drop(Store::open(newer.path()).unwrap());
    assert!(fs::read_to_string(&marker).unwrap().ends_with(r#""version":1}"#));
    drop(Store::create_or_open(newer.path()).unwrap());
    assert!(fs::read_to_string(&marker).unwrap().contains("\"version\": 4"));
    fs::write(marker, "{").unwrap();
    assert!(Store::open(newer.path()).unwrap_err().to_string().contains("is damaged"));
}

#[test]
fn a_dataset_is_of_one_selection() {
    let folder = tempfile::tempdir().unwrap();
    let option = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
    let scroll = FleetSelection::new(vec![option("--during", Some("Feed Scroll")), option("--during-hang", None)]);
    let whole = FleetSelection::default();
    let store = Store::create_or_open(folder.path()).unwrap();
    assert_eq!(store.selection(), whole);
    // As long as nothing is in it.
    store.select(&scroll).unwrap();
    assert_eq!(store.selection(), scroll);
    put(&store, &runs::run(1, 5));
    store.select(&scroll).unwrap();
    let error = store.select(&whole).unwrap_err().to_string();
    let said =
        "measured with another selection (--during 'Feed Scroll' --during-hang) than this one (whole recordings)";
    assert!(error.contains(said), "{error}");
    drop(store);
    assert_eq!(Store::open(folder.path()).unwrap().selection(), scroll);
    // An older marker, which is raised to the version of today, is of whole recordings.
    let marker = folder.path().join("traceparse-dataset.json");
    fs::write(&marker, r#"{"format":"traceparse-dataset","version":2}"#).unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    assert_eq!(store.selection(), whole);
    assert!(store.select(&scroll).unwrap_err().to_string().contains("(whole recordings) than this one (--during"));
    drop(store);
    fs::write(&marker, r#"{"format":"traceparse-dataset","version":3,"selection":{"options":7}}"#).unwrap();
    assert!(Store::open(folder.path()).unwrap_err().to_string().contains("is damaged"));
}

#[test]
fn one_writes_or_many_read() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Store::create_or_open(folder.path()).unwrap();
    let busy = "another traceparse is using this dataset";
    assert!(Store::create_or_open(folder.path()).unwrap_err().to_string().contains(busy));
    assert!(Store::open(folder.path()).unwrap_err().to_string().contains(busy));
    drop(writer);
    let readers = [Store::open(folder.path()).unwrap(), Store::open(folder.path()).unwrap()];
    assert!(Store::create_or_open(folder.path()).unwrap_err().to_string().contains(busy));
    drop(readers);
    Store::create_or_open(folder.path()).unwrap();
}

#[test]
fn threads_put_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || (0..20).for_each(|seed| put(store, &runs::run(thread * 20 + seed, 10))));
        }
    });
    let expected = (0..80).fold(Content::default(), |content, seed| content.with(&runs::run(seed, 10)));
    assert_eq!(content(&store), expected);
}

#[test]
fn runs_come_in_the_order_of_files_and_end_at_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    (0..50).for_each(|seed| put(&store, &runs::run(seed, 10)));
    let mut order = Vec::new();
    store
        .read(|run| {
            order.push(run.record.run_id);
            Ok(())
        })
        .unwrap();
    let known = store.known().unwrap();
    let file_of: BTreeMap<&String, &String> = known.values().map(|known| (&known.run_ids[0], &known.file)).collect();
    assert!(order.len() == 50 && order.iter().map(|run| file_of[run]).is_sorted());
    let mut count = 0;
    let result = store.read(|_| {
        count += 1;
        anyhow::ensure!(count < 7, "enough");
        Ok(())
    });
    assert_eq!((result.unwrap_err().to_string(), count), ("enough".to_owned(), 7));
}

#[test]
fn damaged_and_missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let (run, other) = (runs::run(1, 30), runs::run(2, 30));
    put(&store, &run);
    put(&store, &other);
    let id = store.known().unwrap()[&run.record.source].file.clone();
    drop(store);
    let file = |table: &str| folder.path().join(table).join(format!("{id}.parquet"));
    let advice = format!("Delete {}, then run the same `traceparse fleet extract` again", file("runs").display());
    let frames = fs::read(file("frames")).unwrap();
    fs::write(file("frames"), &frames[..frames.len() / 2]).unwrap();
    for error in [Store::open(folder.path()), Store::create_or_open(folder.path())].map(Result::unwrap_err) {
        let error = error.to_string();
        assert!(error.starts_with(&format!("{}: damaged: ", file("frames").display())), "{error}");
        assert!(error.contains("(table frames)") && error.ends_with(&advice), "{error}");
    }
    fs::remove_file(file("frames")).unwrap();
    let error = Store::open(folder.path()).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("{}: missing", file("frames").display())) && error.ends_with(&advice),
        "{error}"
    );
    // The next writer takes a data file without all its tables for none, and says how much is lost.
    let store = Store::create_or_open(folder.path()).unwrap();
    assert_eq!(store.lost_runs(), 1);
    assert_eq!(store.known().unwrap().keys().collect::<Vec<_>>(), [&other.record.source]);
    assert_eq!(content(&store), Content::default().with(&other));
    assert!(store.completeness().is_incomplete() && is_tidy(folder.path()));
}

#[test]
fn the_progress_of_an_extract_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let state = |is_complete: Option<bool>, done: u64| Completeness {
        is_complete,
        inputs_expected: Some(2_000),
        inputs_done: Some(done),
    };
    store.begin(2_000, 3, MadeWith::default()).unwrap();
    drop(store);
    assert_eq!(Store::open(folder.path()).unwrap().completeness(), state(Some(false), 3));
    let store = Store::create_or_open(folder.path()).unwrap();
    // The first changes are saved one by one.
    store.put(&[runs::run(1, 5)]).unwrap();
    store.progress(240, true, 100).unwrap();
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!((store.completeness(), content(&store).runs.len()), (state(Some(false), 240), 1));
    drop(store);
    let store = Store::create_or_open(folder.path()).unwrap();
    store.complete().unwrap();
    store.complete().unwrap();
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!((store.completeness(), content(&store).runs.len()), (state(Some(true), 2_000), 1));
    assert!(is_tidy(folder.path()));
}

/// A part is written anew once, whenever that is: readers see none of the changes until then, and all of them afterwards.
#[test]
fn many_runs_are_taken_out_of_a_part_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let all: Vec<RunMeasures> = (0..10).map(|seed| runs::run(seed, 10)).collect();
    store.put(&all).unwrap();
    store.save().unwrap();
    let before = content(&store);
    let mut expected = before.clone();
    for run in &all[2..6] {
        let mut relabelled = run.clone();
        relabelled.record.labels.clear();
        // The first has to make room for the second.
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
    copy(folder.path(), killed.path());
    assert_eq!(content(&Store::open(killed.path()).unwrap()), before);
    store.save().unwrap();
    assert_eq!((content(&store), named(folder.path())), (expected, 9.into()));
    // The part without them, and the four that were put again.
    assert!(is_tidy(folder.path()) && files(&folder.path().join("runs")).len() == 5);
}

/// Files of one run each would be six for each run.
#[test]
fn a_long_extract_has_few_files_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let (mut most, mut expected) = (0, Content::default());
    store.begin(400, 0, MadeWith::default()).unwrap();
    for seed in 0..400 {
        let run = runs::run(seed, 3);
        expected = expected.with(&run);
        store.put(&[run]).unwrap();
        store.progress(seed as usize + 1, true, u64::MAX).unwrap();
        most = most.max(files(folder.path()).len());
    }
    store.complete().unwrap();
    assert_eq!(content(&store), expected);
    assert!(most <= 6 * 2 * 66, "{most} files");
    // Also where each process is killed before it has written many.
    drop(store);
    for seed in 400..600 {
        let store = Store::create_or_open(folder.path()).unwrap();
        store.put(&[runs::run(seed, 3)]).unwrap();
        store.progress(1, true, u64::MAX).unwrap();
        most = most.max(files(folder.path()).len());
    }
    assert!(most <= 6 * 2 * 66, "{most} files");
    let store = Store::create_or_open(folder.path()).unwrap();
    assert_eq!(content(&store).runs.len(), 600);
    assert_eq!(store.compact(u64::MAX).unwrap().after, 1);
}

#[test]
fn label_keys_are_known_by_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let (mut labelled, mut bare) = (runs::run(1, 10), runs::run(2, 10));
    labelled.record.labels = vec![("ring".to_owned(), "beta".to_owned()), ("lab".to_owned(), "7".to_owned())];
    bare.record.labels.clear();
    put(&store, &labelled);
    put(&store, &bare);
    let keys = store.label_keys().unwrap();
    assert_eq!(keys.len(), 1);
    assert!(keys[&labelled.record.run_id].iter().eq(["lab", "ring"]));
}

#[test]
fn stamps_hold_as_long_as_size_and_time_do() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export.xml");
    let write = |text: &str, age: u64| {
        fs::write(&export, text).unwrap();
        let file = fs::File::options().write(true).open(&export).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        fs::metadata(&export).unwrap()
    };
    let dataset = folder.path().join("dataset");
    let metadata = write("one", 60);
    {
        let store = Store::create_or_open(&dataset).unwrap();
        let mut stamps = store.stamps();
        stamps.remember("export.xml", &metadata, "hash of one");
        store.save_stamps(&stamps).unwrap();
        assert_eq!(store.stamps(), stamps);
    }
    let store = Store::create_or_open(&dataset).unwrap();
    let mut stamps = store.stamps();
    assert_eq!(stamps.hash("export.xml", &metadata), Some("hash of one"));
    assert_eq!(stamps.hash("other.xml", &metadata), None);
    assert_eq!(stamps.hash("export.xml", &write("two", 50)), None, "another time");
    let time = metadata.modified().unwrap();
    let longer = write("longer", 60);
    fs::File::options().write(true).open(&export).unwrap().set_modified(time).unwrap();
    assert_eq!(fs::metadata(&export).unwrap().modified().unwrap(), time);
    assert_eq!(stamps.hash("export.xml", &longer), None, "another size");
    stamps.remember("export.xml", &write("six", 0), "hash of six");
    assert_eq!(stamps.hash("export.xml", &fs::metadata(&export).unwrap()), None, "may change again within the second");
    fs::write(dataset.join("sources.json"), "{\"export.xml\":7").unwrap();
    assert_eq!(store.stamps(), store::SourceStamps::default());
}
