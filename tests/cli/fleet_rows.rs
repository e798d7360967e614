//! Compares every function row in the report on a fleet with the events in its runs.

use std::collections::BTreeMap;

use crate::command::{Folder, ok};
use crate::fleet_case::write;
use support::fleet_expected::{Expected, ExpectedRow};
use support::fleet_exports::{SLOW, file_name, fleet_export, manifest};

const SEED: u64 = 5;
const RUNS: u32 = 240;
const ROWS: u32 = 250;

/// The fleet in a folder, and what happened in it.
fn fleet() -> (Folder, String, Expected) {
    let folder = Folder::new();
    let mut expected = Expected::default();
    for index in 0..RUNS {
        let run = fleet_export(SEED, index, ROWS);
        expected.add(&run);
        write(&folder, &(file_name(index) + ".xml"), run.export);
        write(&folder, &(file_name(index) + "-toc.xml"), run.toc);
    }
    let manifest = write(&folder, "manifest.csv", manifest(SEED, RUNS));
    (folder, manifest, expected)
}

#[test]
fn functions_are_as_recorded() {
    let (folder, manifest, expected) = fleet();
    let report = ["fleet", "report", &manifest, "--by", "app_version", "--scope", "function", "--format", "csv"];
    let text = ok(&report);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(|row| row.unwrap()).collect();
    let expected = expected.rows();
    assert_eq!(rows.len(), expected.len());
    for row in &expected {
        let is_it = |found: &&BTreeMap<String, String>| {
            (&found["app_version"], &found["binary"], &found["function"]) == (&row.version, &row.binary, &row.function)
        };
        assert_row(rows.iter().find(is_it).unwrap_or_else(|| panic!("{row:?} is missing")), row);
    }
    // The function in the tail of one version stands out.
    let worst = |version: &str| expected.iter().find(|row| row.version == version && row.function == SLOW).unwrap();
    assert!(worst("1.3").values[5] > 2.0 * worst("1.0").values[5]);
    // The same from the dataset, by the same rows.
    let dataset = folder.path("dataset");
    crate::command::finish(&mut crate::command::traceparse(&["fleet", "extract", &manifest, "-o", &dataset])).success();
    let mut again = report;
    again[2] = &dataset;
    assert_eq!(ok(&again), text);
}

fn assert_row(found: &BTreeMap<String, String>, row: &ExpectedRow) {
    let ExpectedRow { version, function, runs, zero_runs, values, .. } = row;
    assert_eq!((&found["runs"], &found["zero_runs"]), (&runs.to_string(), &zero_runs.to_string()), "{row:?}");
    let names = ["p50", "p90", "p95", "p99", "p99.9", "max", "mean"];
    let numbers: Vec<f64> = names.iter().map(|&name| found[name].parse().unwrap()).collect();
    assert_eq!(&numbers, values, "{version} {function}");
}

#[test]
fn files_of_one_name_in_two_folders_are_two() {
    let folder = Folder::new();
    for day in ["monday", "tuesday"] {
        let run = fleet_export(SEED, u32::from(day == "monday"), 60);
        write(&folder, &format!("{day}/a.xml"), run.export);
        let mut command = crate::command::traceparse(&["fleet", "extract", ".", "-o", "../dataset"]);
        crate::command::finish(command.current_dir(folder.path(day))).success();
    }
    let text = ok(&["fleet", "report", &folder.path("dataset"), "--scope", "run", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["inputs"]["runs"], 2);
}
