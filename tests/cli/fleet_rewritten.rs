//! Datasets whose manifest is gone, as engines leave them that wrote the tables anew: reported, merged, and refused.

use std::fs;
use std::path::Path;

use crate::command::{Folder, fails, stdout_of};
use crate::fleet_case::{export, fleet, report_with, run, says, sources, write};

/// A dataset of so many exports, of which an engine wrote the tables anew.
fn rewritten(folder: &Folder, name: &str, count: u64) -> String {
    let (path, dataset) = (fleet(folder, "x", count), folder.path(name));
    says(0, &["extract", &path, "-o", &dataset]);
    for entry in fs::read_dir(&dataset).expect("a folder").flatten().filter(|entry| entry.path().is_file()) {
        fs::remove_file(entry.path()).expect("it is there");
    }
    for (index, table) in ["runs", "labels", "frames", "modules", "windows"].iter().enumerate() {
        let folder = Path::new(&dataset).join(table);
        let file = fs::read_dir(&folder).expect("a table").flatten().next().expect("a file").path();
        fs::rename(file, folder.join(format!("part-0000{index}-of-spark.snappy.parquet"))).expect("it can be renamed");
        fs::write(folder.join("_SUCCESS"), "").expect("it can be written");
    }
    dataset
}

#[test]
fn merges_make_datasets_of_them_again() {
    let folder = Folder::new();
    let dataset = rewritten(&folder, "rewritten", 3);
    let more = write(&folder, "y/run.xml", export(40));
    let (other, merged) = (folder.path("other"), folder.path("merged"));
    says(0, &["extract", &more, "-o", &other]);
    assert_eq!(says(0, &["merge", &dataset, &other, "-o", &merged]), "merged 2 datasets: 4 runs, 0 failed\n");
    let (said, answer) = report_with(0, &[&merged]);
    assert_eq!((said.as_str(), sources(&answer).len()), ("", 4));
    // Nobody knows if all that was merged was whole.
    assert_eq!(answer["inputs"]["complete"], serde_json::Value::Null);
    assert_eq!(says(0, &["merge", &dataset, &other, "-o", &merged]).lines().count(), 1);
    // The numbers are those of the exports.
    let csv = |inputs: &[&str]| stdout_of(&run(&[&["report", "--format", "csv"], inputs].concat()).code(0));
    let of_exports = csv(&[&folder.path("x"), &more]);
    assert!(of_exports.contains(",true,4,4\n"));
    assert_eq!(csv(&[&merged]), of_exports.replace(",true,4,4\n", ",,,\n"));
    // A dataset is merged into a new folder.
    let said = says(1, &["merge", &other, "-o", &dataset]);
    assert!(said.contains("an engine rewrote it; merge into a new folder"), "{said}");
}

#[test]
fn a_table_that_is_missing_is_named() {
    let folder = Folder::new();
    let dataset = rewritten(&folder, "rewritten", 2);
    assert_eq!(sources(&report_with(0, &[&dataset]).1).len(), 2);
    for table in ["modules", "labels"] {
        let (path, kept) = (Path::new(&dataset).join(table), folder.path("kept"));
        let without = |args: &[&str]| {
            let said = fails(1, args);
            assert!(said.contains(&format!("rewritten: a rewritten dataset without the table {table}")), "{said}");
        };
        fs::rename(&path, &kept).expect("it is there");
        without(&["fleet", "report", &dataset]);
        fs::create_dir(&path).expect("it can be made");
        without(&["fleet", "merge", &dataset, "-o", &folder.path("merged")]);
        fs::remove_dir(&path).expect("it is empty");
        fs::rename(&kept, &path).expect("it is there");
    }
}
