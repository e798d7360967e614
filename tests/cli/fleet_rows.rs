//! Every row of functions in the report on a fleet, with what happened in its runs.

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
    // What is in the tail of one version stands out.
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
fn a_compressed_copy_is_the_same_run() {
    let folder = Folder::new();
    let run = fleet_export(SEED, 0, 60);
    let compressed = zstd_of(run.export.as_bytes());
    write(&folder, "runs/a.xml", &run.export);
    write(&folder, "runs/b.xml.zst", compressed);
    let (out, _) =
        crate::command::warns(&["fleet", "report", &folder.path("runs"), "--scope", "run", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(|row| row.unwrap()).collect();
    assert_eq!((rows.len(), rows[0]["runs"].as_str()), (1, "1"));
}

/// A frame of zstd whose blocks are raw.
fn zstd_of(content: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 1 << 16;
    // No content size, no checksum; a window of 1 MiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50];
    let count = content.chunks(BLOCK).count();
    for (index, block) in content.chunks(BLOCK).enumerate() {
        let header = (block.len() as u32) << 3 | u32::from(index + 1 == count);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
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

#[test]
fn names_that_nothing_has_are_refused() {
    let (_folder, manifest, _) = fleet();
    let fails = |args: &[&str]| crate::command::fails(1, &[&["fleet", "report", manifest.as_str()], args].concat());
    let message = fails(&["--by", "app_vers"]);
    assert!(message.contains("\"app_vers\"") && message.contains("app_version, device, lab"), "{message}");
    let message = fails(&["--process", "Orchad"]);
    assert!(message.contains("\"Orchad\"") && message.contains("there are: Orchard"), "{message}");
    let message = fails(&["--where", "app_version=9"]);
    assert!(message.contains("none of 240 runs has app_version=9; there are: app_version 1.0, 1.1, 1.2"), "{message}");
    let some = ["--where", "app_version=1.2", "--scope", "run", "--format", "json"];
    let text = ok(&[&["fleet", "report", manifest.as_str()], some.as_slice()].concat());
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&report["inputs"]["runs"], &report["inputs"]["left_out"]), (&60.into(), &180.into()));
}
