//! Bundles that are incomplete, unsaved, or from another version: what is reported, and what is read nevertheless.

use std::path::Path;

use traceparse::bundle::Bundle;
use traceparse::recording::{Options, Recording};
use traceparse::{Error, ErrorKind};

use super::{Case, assert_rows, read_files};
use support::bundle::mutations::{edit, remove, set_field_type};
use support::bundle::{BUNDLE, BundleOptions, Files, FoundRow, Memory, found_rows, write_bundle};
use support::writer::Content;
use support::{Invented, Node, Size, Table};

/// A recording with two runs.
fn case(table: Table) -> Case {
    let recording = Invented::random(17, &Size { runs: 2, ..Size::small() });
    let options = BundleOptions::new(table, &recording);
    Case { recording, options }
}

fn open(files: &Files) -> Result<Recording, Error> {
    read_files(files, &Options::default())
}

/// The only message.
fn told(export: &Recording) -> &str {
    let [diagnostic] = &export.diagnostics[..] else { panic!("{:?}", export.diagnostics) };
    &diagnostic.message
}

/// All messages.
fn all_told(files: &Files) -> String {
    let export = open(files).unwrap();
    export.diagnostics.into_iter().map(|diagnostic| diagnostic.message + "\n").collect()
}

fn rename(files: &mut Files, from: &str, to: &str) {
    files.iter_mut().for_each(|(path, _)| *path = path.replace(from, to));
}

#[test]
fn a_recording_that_was_not_saved_is_told() {
    let mut files = write_bundle(&case(Table::TimeProfile).recording, &case(Table::TimeProfile).options);
    remove(&mut files, "corespace/run2/");
    remove(&mut files, "corespace/currentRun/");
    rename(&mut files, "corespace/run1/", "corespace/currentRun/");
    let error = open(&files).unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::UnsupportedBundle(text) if text.contains("never saved")), "{error}");
    remove(&mut files, "corespace/currentRun/");
    let error = open(&files).unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::UnsupportedBundle(text) if text.contains("no runs")), "{error}");
    remove(&mut files, "corespace/");
    let error = open(&files).unwrap_err();
    assert!(
        matches!(&error.kind, ErrorKind::UnsupportedBundle(text) if text.contains("no folder corespace")),
        "{error}"
    );
}

#[test]
fn saved_runs_beside_one_that_was_not_are_read() {
    let case = case(Table::TimeProfile);
    let mut files = write_bundle(&case.recording, &case.options);
    remove(&mut files, "corespace/currentRun/");
    rename(&mut files, "corespace/run2/", "corespace/currentRun/");
    let export = open(&files).unwrap();
    assert!(told(&export).contains("the last run was not saved"), "{}", told(&export));
    // The run lacks the list of its tables and their descriptions, but it has rows.
    remove(&mut files, "corespace/currentRun/core/table-manager/");
    assert!(all_told(&files).contains("the last run was not saved"));
    files.retain(|(path, _)| !path.contains("/currentRun/core/stores/") || path.ends_with("/bulkstore"));
    assert!(all_told(&files).contains("the last run was not saved"));
    let expected: Vec<FoundRow> = case.expected().into_iter().filter(|row| row.run == 1).collect();
    assert_rows(&found_rows(&export.profile), &expected, "run 1");
}

/// Instruments 13.4 and 16.0 leave this after the last run.
#[test]
fn a_run_that_nobody_began_is_not_told() {
    let case = case(Table::TimeProfile);
    let mut files = write_bundle(&case.recording, &case.options);
    let before = all_told(&files);
    let page = |bytes: &[u8]| {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut out, bytes).unwrap();
        out.finish().unwrap()
    };
    let mut rows = [0; 4096];
    for (word, number) in [0x1234_0a0a_u32, 3, 0x28, 0x1000, 0x30, 0x30_0000, 0x1_0000].into_iter().enumerate() {
        rows[4 * word..][..4].copy_from_slice(&number.to_le_bytes());
    }
    for store in 0..40 {
        let path = format!("corespace/currentRun/core/stores/indexed-store-{store}/bulkstore");
        files.push((path, if store % 2 == 0 { page(&rows) } else { rows.to_vec() }));
    }
    assert_eq!(all_told(&files), before);
    rows[4095] = 1;
    files.push(("corespace/currentRun/core/stores/indexed-store-40/bulkstore".to_owned(), page(&rows)));
    assert!(all_told(&files).contains("the last run was not saved"));
}

/// Instruments 13.4 and 16.0 append the number of a thread to its name; Instruments 26 does not.
#[test]
fn threads_have_the_same_names_in_every_version() {
    let case = case(Table::TimeProfile);
    let names = |files: &Files| -> Vec<String> {
        found_rows(&open(files).unwrap().profile).into_iter().map(|row| row.thread_name).collect()
    };
    let of_26 = write_bundle(&case.recording, &case.options);
    let of_16 = write_bundle(&case.recording, &BundleOptions { numbered_threads: true, ..case.options });
    assert_ne!(of_26, of_16);
    assert!(names(&of_26).iter().any(|name| !name.is_empty()));
    assert_eq!(names(&of_16), names(&of_26));
}

/// Addresses are kept, and values that are no longer recorded are empty.
#[test]
fn without_form_template_addresses_and_numbers_stay() {
    let case = case(Table::CpuProfile);
    let mut files = write_bundle(&case.recording, &case.options);
    remove(&mut files, "form.template");
    let export = open(&files).unwrap();
    assert!(told(&export).contains("form.template is missing"), "{}", told(&export));
    let mut expected = case.expected();
    for frame in expected.iter_mut().flat_map(|row| row.stack.iter_mut().flatten()) {
        (frame.image, frame.binary_name) = (None, String::new());
    }
    assert_rows(&found_rows(&export.profile), &expected, "names are those of thread-info");
}

#[test]
fn without_image_lists_frames_have_no_binary() {
    let case = case(Table::CpuProfile);
    let mut files = write_bundle(&case.recording, &case.options);
    // Old versions did not write these keys.
    edit(&mut files, "form.template", |bytes| {
        replace(bytes, "com.apple.xray.symbolstoremanager.", "com.apple.xray.symbolstoremanageR.")
    });
    let export = open(&files).unwrap();
    assert!(told(&export).contains("no image lists"), "{}", told(&export));
    let found = found_rows(&export.profile);
    assert!(found.iter().flat_map(|row| row.stack.iter().flatten()).all(|frame| frame.image.is_none()));
    let names =
        |rows: &[FoundRow]| -> Vec<_> { rows.iter().map(|row| (row.time_ns, row.thread_name.clone())).collect() };
    assert_eq!(names(&found), names(&case.expected()));
}

fn replace(bytes: &mut Vec<u8>, old: &str, new: &str) {
    let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(old.as_bytes())).collect();
    assert!(!places.is_empty(), "{old} is not there");
    for at in places.into_iter().rev() {
        bytes.splice(at..at + old.len(), new.bytes());
    }
}

/// The store of the table at this index among its run's nodes.
fn store(node: usize) -> String {
    format!("corespace/run1/core/stores/indexed-store-{}", 4 + node)
}

/// Two tables in one run, each with half of the rows.
fn two_tables(first: Table, second: Table) -> Case {
    let recording = Invented::random(23, &Size { snapshots: true, ..Size::small() });
    let (even, odd) = (0..recording.rows.len()).partition(|row| row % 2 == 0);
    let node = |table, rows| Node { run: 1, table_index: 1, content: Content::Samples { table, rows } };
    let options = BundleOptions::with_nodes(vec![node(first, even), node(second, odd)]);
    Case { recording, options }
}

#[test]
fn a_table_with_a_column_of_an_unknown_type_is_left_out() {
    let case = two_tables(Table::CpuProfile, Table::TimeProfile);
    let files = write_bundle(&case.recording, &case.options);
    let columns = [
        "XRSampleTimestampTypeID",
        "XRThreadTypeID",
        "XRProcessTypeID",
        "XRCPUCoreTypeID",
        "XRThreadStateTypeID",
        "XRTimeSampleWeightTypeID",
        "XRBacktraceTypeID",
    ];
    for column in columns {
        let mut files = files.clone();
        edit(&mut files, &format!("{}/schema.xml", store(1)), |bytes| replace(bytes, column, "XRNewIn28TypeID"));
        let export = open(&files).unwrap();
        assert!(told(&export).contains("time-profile of run 1 (30 rows) is not read"), "{}", told(&export));
        assert!(told(&export).contains("XRNewIn28TypeID"), "{}", told(&export));
        let expected: Vec<FoundRow> = case.expected().into_iter().filter(|row| row.schema == "cpu-profile").collect();
        assert_rows(&found_rows(&export.profile), &expected, column);
    }
}

/// In other tables, rows are only counted, and a field of an unknown type prevents even that. In a table of samples, such a field is an error.
#[test]
fn fields_of_unknown_types_matter_where_samples_are() {
    let case = case(Table::CpuProfile);
    let files = write_bundle(&case.recording, &case.options);
    // `tick` has only a topology.
    let (tick, cpu) = ("corespace/run1/core/stores/indexed-store-2", store(0));
    let rows = |files: &Files, schema: &str| {
        let memory = Memory::of_bundle(files);
        let bundle = Bundle::open(&memory, Path::new(BUNDLE), &Options::default())?;
        let run = bundle.toc()?.runs.remove(0);
        Ok::<_, Error>(run.tables.into_iter().find(|table| table.schema == schema).and_then(|table| table.rows))
    };
    assert_eq!(rows(&files, "tick").unwrap(), Some(34));
    let mut odd = files.clone();
    edit(&mut odd, &format!("{tick}/bulkstore_descriptor"), |bytes| set_field_type(bytes, "topology", 9));
    assert_eq!(rows(&odd, "tick").unwrap(), None);
    assert_rows(&found_rows(&open(&odd).unwrap().profile), &case.expected(), "all samples are there");
    for field in ["topology", "process", "weight"] {
        let mut odd = files.clone();
        // This must be the only run: another run would be read instead.
        remove(&mut odd, "corespace/run2/");
        edit(&mut odd, &format!("{cpu}/bulkstore_descriptor"), |bytes| set_field_type(bytes, field, 9));
        let error = rows(&odd, "cpu-profile").unwrap_err();
        let is_told = |file: &str, rule: &str| file.contains(&cpu) && rule.contains("type") && rule.contains('9');
        assert!(matches!(&error.kind, ErrorKind::BrokenBundle { file, rule } if is_told(file, rule)), "{error}");
    }
}

/// Raw samples repeat the same time.
#[test]
fn raw_samples_count_where_no_profile_has_rows() {
    let case = two_tables(Table::TimeSample, Table::TimeProfile);
    let export = open(&write_bundle(&case.recording, &case.options)).unwrap();
    let profile: Vec<FoundRow> = case.expected().into_iter().filter(|row| row.schema == "time-profile").collect();
    assert_eq!(profile.len(), 30);
    assert_rows(&found_rows(&export.profile), &profile, "profile");
    let mut case = two_tables(Table::TimeSample, Table::TimeProfile);
    let Content::Samples { rows, .. } = &mut case.options.nodes[1].content else { unreachable!() };
    rows.clear();
    let export = open(&write_bundle(&case.recording, &case.options)).unwrap();
    assert_eq!(case.expected().len(), 30);
    assert_rows(&found_rows(&export.profile), &case.expected(), "raw samples");
}

/// The tables of another run do not matter.
#[test]
fn each_run_decides_about_its_raw_samples() {
    let case = case(Table::TimeSample);
    let mut options = case.options.clone();
    options.nodes.push(Node::samples(1, Table::CpuProfile, &case.recording));
    let case = Case { options, ..case };
    let export = open(&write_bundle(&case.recording, &case.options)).unwrap();
    let expected: Vec<FoundRow> =
        case.expected().into_iter().filter(|row| row.run == 2 || row.schema == "cpu-profile").collect();
    assert_eq!(expected.len(), 120);
    assert_rows(&found_rows(&export.profile), &expected, "runs");
}

#[test]
fn files_above_the_limit_are_an_error() {
    let case = case(Table::CpuProfile);
    let files = write_bundle(&case.recording, &case.options);
    let mut options = Options::default();
    options.limits.file_bytes = 20_000;
    let error = read_files(&files, &options).unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::Limit(text) if text.contains("20000 bytes")), "{error}");
}
