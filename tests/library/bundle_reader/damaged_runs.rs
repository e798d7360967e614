//! Recordings with one damaged run: the others are read, and all damage is reported, with one thread and with two.

use std::path::Path;

use traceparse::bundle::Bundle;
use traceparse::recording::{Options, Recording};
use traceparse::{Error, ErrorKind};

use super::{Case, assert_rows, read_files};
use support::bundle::mutations::{edit, remove};
use support::bundle::{BUNDLE, BundleOptions, Files, FoundRow, Memory, found_rows, write_bundle};
use support::other_tables::Hang;
use support::writer::Content;
use support::{Invented, Node, Size, Table};

/// A recording of two runs, each with a hang.
fn case() -> Case {
    let recording = Invented::random(29, &Size { runs: 2, ..Size::small() });
    let mut nodes = BundleOptions::new(Table::CpuProfile, &recording).nodes;
    for run in [1, 2] {
        let hang = Hang { start_ns: 5, duration_ns: 600_000_000, row: recording.rows_of_run(run)[0] };
        nodes.push(Node { run, table_index: 80, content: Content::PotentialHangs(vec![hang]) });
    }
    let options = BundleOptions::with_nodes(nodes);
    Case { recording, options }
}

/// The folder of the samples in the writer's runs.
const SAMPLES: &str = "stores/indexed-store-4";
const ARRAYS: &str = "uniquing/arrayUniquer/integeruniquer";

type Damage = Box<dyn Fn(&mut Files)>;

/// The kinds of damage to a run before its first row, each with the file that the message must name.
fn damages(run: u32) -> Vec<(String, Damage)> {
    let core = format!("corespace/run{run}/core");
    let mut damages: Vec<(String, Damage)> = Vec::new();
    for file in [
        "table-manager/tables.plist".to_owned(),
        "uniquing/strings".to_owned(),
        format!("{ARRAYS}.index"),
        format!("{ARRAYS}.data"),
        format!("{SAMPLES}/schema.xml"),
        format!("{SAMPLES}/bulkstore_descriptor"),
        format!("{SAMPLES}/bulkstore"),
    ] {
        let path = format!("{core}/{file}");
        let cut = path.clone();
        // A truncated file, and a missing file.
        damages.push((path.clone(), Box::new(move |files| whole(files, &cut).truncate(20))));
        let gone = path.clone();
        damages.push((path, Box::new(move |files| remove(files, &gone))));
    }
    // The last bytes are the checksum of the compressed file: all blocks but the end were read before.
    let data = format!("{core}/{ARRAYS}.data");
    let changed = data.clone();
    damages.push((data, Box::new(move |files| *whole(files, &changed).last_mut().unwrap() ^= 1)));
    let tables = format!("{core}/table-manager/tables.plist");
    let moved = tables.clone();
    let (right, wrong) = (format!("run{run}/core/{SAMPLES}"), format!("run9/core/{SAMPLES}"));
    damages.push((tables, Box::new(move |files| edit(files, &moved, |bytes| replace(bytes, &right, &wrong)))));
    damages
}

fn whole<'f>(files: &'f mut Files, path: &str) -> &'f mut Vec<u8> {
    let found = files.iter_mut().find(|(name, _)| name == path);
    &mut found.unwrap_or_else(|| panic!("there is no {path}")).1
}

/// The text may be ASCII or UTF-16 in a property list.
fn replace(bytes: &mut [u8], old: &str, new: &str) {
    let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(old.as_bytes())).collect();
    assert!(!places.is_empty() && old.len() == new.len(), "{old} is not there");
    places.into_iter().for_each(|at| bytes[at..at + old.len()].copy_from_slice(new.as_bytes()));
}

fn with_jobs(jobs: usize) -> Options {
    Options { jobs, ..Options::default() }
}

fn unread(export: &Recording) -> Vec<(u32, &str)> {
    export.unread_runs().map(|run| (run.number, run.unread.as_deref().unwrap())).collect()
}

#[test]
fn a_damaged_run_costs_itself() {
    let case = case();
    let files = write_bundle(&case.recording, &case.options);
    for run in [1, 2] {
        let expected: Vec<FoundRow> = case.expected().into_iter().filter(|row| row.run != run).collect();
        assert!(expected.len() > 10);
        for (file, damage) in damages(run) {
            let mut damaged = files.clone();
            damage(&mut damaged);
            for jobs in [1, 2] {
                let what = format!("run {run}, {file}, {jobs} jobs");
                let export = read_files(&damaged, &with_jobs(jobs)).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_rows(&found_rows(&export.profile), &expected, &what);
                let [(number, reason)] = unread(&export)[..] else { panic!("{what}: {:?}", unread(&export)) };
                assert!(number == run && reason.contains(&file), "{what}: {reason}");
                let [told] = &export.diagnostics[..] else { panic!("{what}: {:?}", export.diagnostics) };
                assert!(told.message.contains(&format!("run {run} is damaged")), "{what}: {told}");
                assert!(told.message.contains(&file), "{what}: {told}");
                assert!(
                    told.message.contains(&format!("/run[@number=\"{run}\"]/data/table[@schema=")),
                    "{what}: {told}"
                );
            }
            let memory = Memory::of_bundle(&damaged);
            let bundle = Bundle::open(&memory, Path::new(BUNDLE), &Options::default()).unwrap();
            let numbers: Vec<u32> = bundle.toc().unwrap().runs.iter().map(|run| run.number).collect();
            assert_eq!(numbers, [1, 2], "{file}");
        }
    }
}

/// A run that lacks some rows would look complete.
#[test]
fn damage_behind_the_first_row_costs_the_recording() {
    let case = case();
    let files = write_bundle(&case.recording, &case.options);
    for run in [1, 2] {
        let mut damaged = files.clone();
        let store = format!("corespace/run{run}/core/{SAMPLES}/bulkstore");
        edit(&mut damaged, &store, |bytes| bytes.truncate(0x1000 + 400));
        for jobs in [1, 2] {
            let error = read_files(&damaged, &with_jobs(jobs)).unwrap_err();
            let ErrorKind::BrokenBundle { file, rule } = &error.kind else { panic!("{error}") };
            assert!(file.ends_with(&store) && rule.contains("rows are missing"), "{error}");
            let table = format!("/run[@number=\"{run}\"]/data/table[@schema=\"cpu-profile\"]");
            assert!(rule.contains(&table) && rule.contains("--input orchard.trace"), "{error}");
        }
    }
}

#[test]
fn a_recording_without_a_good_run_is_an_error() {
    let case = case();
    let files = write_bundle(&case.recording, &case.options);
    for (first, (file, damage)) in damages(1).into_iter().enumerate() {
        for (_, other) in damages(2).into_iter().skip(first % 3).step_by(3) {
            let mut damaged = files.clone();
            damage(&mut damaged);
            other(&mut damaged);
            let errors: Vec<Error> =
                [1, 2].map(|jobs| read_files(&damaged, &with_jobs(jobs)).unwrap_err()).into_iter().collect();
            assert_eq!(errors[0].to_string(), errors[1].to_string(), "{file}");
            assert!(matches!(&errors[0].kind, ErrorKind::BrokenBundle { .. }), "{}", errors[0]);
        }
    }
}

/// A run without samples must not prevent reading the run that has samples.
#[test]
fn a_damaged_run_beside_an_empty_one_is_an_error() {
    let mut case = case();
    for node in case.options.nodes.iter_mut().filter(|node| node.run == 2) {
        if let Content::Samples { rows, .. } = &mut node.content {
            rows.clear();
        }
    }
    let mut files = write_bundle(&case.recording, &case.options);
    let strings = "corespace/run1/core/uniquing/strings";
    whole(&mut files, strings).truncate(20);
    for jobs in [1, 2] {
        let error = read_files(&files, &with_jobs(jobs)).unwrap_err();
        assert!(matches!(&error.kind, ErrorKind::BrokenBundle { file, .. } if file.ends_with(strings)), "{error}");
    }
}
