//! Writing a merged dataset: if the process is killed at any moment, the result does not look complete, and the same merge completes it.

use std::collections::BTreeMap;
use std::path::Path;

use traceparse::fleet::{Completeness, DatasetRow, FleetError, FleetSelection, MadeWith, MergedFacts, Store};

use crate::content::{self, Content, STEPS, create_or_open, open, storage};
use crate::runs;

/// The number of function rows in a part: enough for a few runs.
const PART: u64 = 60;

fn content(folder: &Path) -> Content {
    content::content(&open(folder).unwrap())
}

fn facts() -> MergedFacts {
    MergedFacts {
        selection: FleetSelection::default(),
        made_with: MadeWith::default(),
        inputs: Completeness::whole(9),
        shards: None,
        identity: "these".to_owned(),
        is_of_whole: true,
    }
}

/// Merges eight runs and a failure; `false` if that had been done.
fn merge(folder: &Path) -> Result<bool, FleetError> {
    let counts = Store::merge(&storage(), folder, facts(), PART, |each| {
        (0..8).try_for_each(|seed| each(DatasetRow::Run(Box::new(runs::run(seed, 30).into()))))?;
        each(DatasetRow::Failed(runs::failure(9)))
    })?;
    assert!(matches!(counts, None | Some((8, 1))), "{counts:?}");
    Ok(counts.is_some())
}

#[test]
fn a_killed_merge_never_looks_whole() {
    let folder = tempfile::tempdir().unwrap();
    let merged = folder.path().join("merged");
    let mut kills = 0;
    loop {
        STEPS.set(Some(kills));
        let result = merge(&merged);
        STEPS.set(None);
        if result.is_ok() {
            break;
        }
        kills += 1;
        if Store::is_dataset(&storage(), &merged) {
            let store = open(&merged).unwrap();
            // After the manifest, only cleaning up remains.
            let is_whole = store.completeness() == Completeness::whole(9);
            assert!(is_whole || store.completeness().is_incomplete(), "{kills}");
            let files = store.data_files().unwrap().len();
            drop(store);
            assert_eq!((files > 0, content(&merged).runs.len()), (is_whole, if is_whole { 8 } else { 0 }), "{kills}");
        }
    }
    assert!(kills > 60, "{kills}");
    let Content { runs, failures } = content(&merged);
    let expected: BTreeMap<_, _> =
        (0..8).map(|seed| runs::run(seed, 30)).map(|run| (run.record.run_id.clone(), run)).collect();
    assert_eq!((runs, failures.into_values().collect::<Vec<_>>()), (expected, vec![runs::failure(9)]));
    let store = open(&merged).unwrap();
    assert_eq!((store.completeness(), store.unnamed().unwrap()), (Completeness::whole(9), None));
    let parts = store.data_files().unwrap().len();
    assert!((3..8).contains(&parts), "{parts}");
    drop(store);
    // Done once more, it has nothing to do; and it replaces nothing.
    assert!(!merge(&merged).unwrap());
    let other = MergedFacts { identity: "others".to_owned(), ..facts() };
    let error = Store::merge(&storage(), &merged, other, PART, |_| Ok(())).expect_err("refused").to_string();
    assert!(error.contains("a dataset already"), "{error}");
    assert_eq!(content(&merged).runs.len(), 8);
}

#[test]
fn an_extract_is_never_taken_for_the_rest_of_a_merge() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_or_open(folder.path()).unwrap();
    store.begin(2, 0, MadeWith::default()).unwrap();
    store.put(&[runs::run(1, 12)]).unwrap();
    store.save().unwrap();
    drop(store);
    let error = merge(folder.path()).unwrap_err().to_string();
    assert!(error.contains("a dataset already"), "{error}");
    assert_eq!(content(folder.path()).runs.len(), 1);
}
