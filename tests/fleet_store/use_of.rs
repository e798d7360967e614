//! Which processes may use a dataset, and when.

use std::collections::BTreeMap;
use std::fs;

use traceparse::fleet::{DatasetRow, FleetError, FleetSelection};

use crate::content::{Content, content, create_or_open, files, is_tidy, open, put};
use crate::runs;

#[test]
fn folders_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "").unwrap();
    let error = create_or_open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not empty and not a dataset"), "{error}");
    assert_eq!(files(folder.path()).len(), 1);
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not a dataset; make one with `traceparse fleet extract`"), "{error}");

    let newer = tempfile::tempdir().unwrap();
    fs::write(newer.path().join("traceparse-dataset.json"), r#"{"format":"traceparse-dataset","version":8}"#).unwrap();
    for error in [create_or_open(newer.path()), open(newer.path())].map(Result::unwrap_err) {
        assert!(error.to_string().contains("has version 8, but this traceparse reads version 7"), "{error}");
    }
    for text in
        ["{", r#"{"format":"traceparse-dataset","version":6}"#, r#"{"format":"traceparse-dataset","version":7}"#]
    {
        fs::write(newer.path().join("traceparse-dataset.json"), text).unwrap();
        assert!(open(newer.path()).unwrap_err().to_string().contains(": damaged"), "{text}");
    }
}

#[test]
fn a_dataset_is_of_one_selection() {
    let folder = tempfile::tempdir().unwrap();
    let option = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
    let scroll = FleetSelection::new(vec![option("--during", Some("Feed Scroll")), option("--during-hang", None)]);
    let whole = FleetSelection::default();
    let store = create_or_open(folder.path()).unwrap();
    assert_eq!(store.selection(), whole);
    // As long as nothing is in it.
    store.select(&scroll).unwrap();
    assert_eq!(store.selection(), scroll);
    put(&store, &runs::run(1, 5));
    store.select(&scroll).unwrap();
    let error = store.select(&whole).unwrap_err().to_string();
    let said =
        "measured with a different selection (--during 'Feed Scroll' --during-hang) from this one (whole recordings)";
    assert!(error.contains(said), "{error}");
    drop(store);
    assert_eq!(open(folder.path()).unwrap().selection(), scroll);
}

#[test]
fn one_writes_or_many_read() {
    let folder = tempfile::tempdir().unwrap();
    let writer = create_or_open(folder.path()).unwrap();
    let busy = "another traceparse is using this dataset";
    assert!(create_or_open(folder.path()).unwrap_err().to_string().contains(busy));
    assert!(open(folder.path()).unwrap_err().to_string().contains(busy));
    drop(writer);
    let readers = [open(folder.path()).unwrap(), open(folder.path()).unwrap()];
    assert!(create_or_open(folder.path()).unwrap_err().to_string().contains(busy));
    drop(readers);
    create_or_open(folder.path()).unwrap();
}

#[test]
fn threads_put_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
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
    let store = create_or_open(folder.path()).unwrap();
    (0..50).for_each(|seed| put(&store, &runs::run(seed, 10)));
    let mut order = Vec::new();
    let read = store.rows(|row| {
        if let DatasetRow::Run(run) = row {
            order.push(run.record().run_id.clone());
        }
        Ok(())
    });
    read.unwrap();
    let known = store.known().unwrap();
    let file_of: BTreeMap<&String, &String> = known.values().map(|known| (&known.run_ids[0], &known.file)).collect();
    assert!(order.len() == 50 && order.iter().map(|run| file_of[run]).is_sorted());
    let mut count = 0;
    let result = store.rows(|_| {
        count += 1;
        if count < 7 { Ok(()) } else { Err(FleetError::new("enough")) }
    });
    assert_eq!((result.unwrap_err().to_string(), count), ("enough".to_owned(), 7));
}

#[test]
fn damaged_and_missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    let (run, other) = (runs::run(1, 30), runs::run(2, 30));
    put(&store, &run);
    put(&store, &other);
    let id = store.known().unwrap()[&run.record.source].file.clone();
    drop(store);
    let file = |table: &str| folder.path().join(table).join(format!("{id}.parquet"));
    let advice = format!("Delete {}, then run the same `traceparse fleet extract` again", file("runs").display());
    let frames = fs::read(file("frames")).unwrap();
    fs::write(file("frames"), &frames[..frames.len() / 2]).unwrap();
    for error in [open(folder.path()), create_or_open(folder.path())].map(Result::unwrap_err) {
        let error = error.to_string();
        assert!(error.starts_with(&format!("{}: damaged: ", file("frames").display())), "{error}");
        assert!(error.contains("(table frames)") && error.ends_with(&advice), "{error}");
    }
    fs::remove_file(file("frames")).unwrap();
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("{}: missing", file("frames").display())) && error.ends_with(&advice),
        "{error}"
    );
    // The next writer takes a data file without all its tables for none, and says how much is lost.
    let store = create_or_open(folder.path()).unwrap();
    assert_eq!(store.lost_runs(), 1);
    assert_eq!(store.known().unwrap().keys().collect::<Vec<_>>(), [&other.record.source]);
    assert_eq!(content(&store), Content::default().with(&other));
    assert!(store.completeness().is_incomplete() && is_tidy(folder.path()));
}
