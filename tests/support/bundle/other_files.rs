//! Files that every bundle contains and that do not describe samples. Readers must accept them.

use super::archive::Archive;
use super::pack::{Files, to_zip};
use super::store::Store;

const INSTRUMENT: &str = "25F89EDD-C8E1-435A-9E90-E4BD39FD2CDA";

/// The files outside `corespace`.
pub fn other_files(runs: &[u32]) -> Files {
    let mut files = vec![("UI_state_metadata.bin".to_owned(), Archive::default().finish(Vec::new()))];
    for run in runs {
        // The first page of a database.
        let mut issues = b"SQLite format 3\0\x10\0".to_vec();
        issues.resize(0x1000, 0);
        files.push((format!("Trace{run}.run/RunIssues.storedata"), issues));
        let inside = vec![(format!("{run}.run"), Archive::default().finish(Vec::new()))];
        files.push((format!("instrument_data/{INSTRUMENT}/run_data/{run}.run.zip"), to_zip(&inside, None, true)));
    }
    files
}

/// `exposedTableInfo.plist`: the tables that the user interface requests.
pub fn exposed_tables(stores: &[Store]) -> Vec<u8> {
    let mut archive = Archive::default();
    let mut specs = Vec::new();
    for (index, store) in stores.iter().enumerate() {
        specs.push((index as u64 + 1, store.spec(&mut archive)));
    }
    let entries = vec![
        ("biproductTableIDs", archive.list("NSMutableSet", Vec::new())),
        ("readOnlySpecsByID", archive.by_number(specs)),
    ];
    let root = archive.named(entries);
    archive.finish(vec![("root", root)])
}

/// `spindex.0`: an index of rows by time. It exists if there are rows.
pub fn time_index(store: &Store) -> Option<Vec<u8>> {
    let mut index = b"SPINDEXv2\0\x0a\0\0\0\0\0\x04".to_vec();
    index.resize(0x400, 0);
    (store.count() > 0).then_some(index)
}
