//! Cells that refer to something that is no value: the row is rejected, the recording refused, or the row named. Only all bits set, or a
//! column that is not there, is nothing.

use traceparse::Diagnostic;
use traceparse::Error;
use traceparse::ErrorKind;
use traceparse::recording::{Options, Recording, RejectReason};

use super::read_files;
use support::bundle::archive::binary;
use support::bundle::mutations::edit;
use support::bundle::{BundleOptions, ChunkedVec, Compression, Files, found_rows, write_bundle};
use support::{Invented, Size, Table};

const STORE: &str = "corespace/run1/core/stores/indexed-store-4";
const THREADS: &str = "corespace/run1/core/stores/indexed-store-0";
const PROCESSES: &str = "corespace/run1/core/stores/indexed-store-1";
const ARRAYS: &str = "corespace/run1/core/uniquing/arrayUniquer/integeruniquer.data";

/// The first row of a `time-profile`, and where its cells are.
const ROW: usize = 0x1000;
const THREAD: usize = ROW + 8;
const PROCESS: usize = ROW + 16;
const STATE: usize = ROW + 24;
const STACK: usize = ROW + 36;

fn bundle(table: Table) -> Files {
    let recording = Invented::random(11, &Size { processes: 2, ..Size::small() });
    let options = BundleOptions {
        chunks: ChunkedVec::One,
        compression: Compression::Zlib,
        ..BundleOptions::new(table, &recording)
    };
    write_bundle(&recording, &options)
}

/// Writes words into a file.
fn put(files: &mut Files, path: &str, at: usize, new: &[u8]) {
    edit(files, path, |bytes| bytes[at..at + new.len()].copy_from_slice(new));
}

fn word(files: &mut Files, at: usize, value: u32) {
    put(files, &format!("{STORE}/bulkstore"), at, &value.to_le_bytes());
}

fn value(files: &Files, path: &str, at: usize) -> u32 {
    let mut found = 0;
    edit(&mut files.clone(), path, |bytes| found = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
    found
}

/// Reads with one thread and with several, which must agree.
fn open(files: &Files) -> Result<Recording, Error> {
    let [one, several] = [1, 3].map(|jobs| read_files(files, &Options { jobs, ..Options::default() }));
    let told = |export: &Result<Recording, Error>| {
        export.as_ref().map(|export| export.diagnostics.clone()).map_err(Error::to_string)
    };
    assert_eq!(told(&one), told(&several));
    one
}

/// The one row that was rejected is the first, and the others are as they were.
fn assert_rejected(files: &Files, changed: &Files, reason: RejectReason) {
    let (before, export) = (open(files).unwrap(), open(changed).unwrap());
    let table = export.tables().next().unwrap();
    assert_eq!((table.rejected.of(reason), table.rejected.total(), table.rows), (1, 1, table.samples + 1));
    assert_eq!(found_rows(&export.profile), found_rows(&before.profile)[1..]);
    assert_names_row(&export.diagnostics, STORE, ROW as u64);
}

/// The one thing that is told is about this row.
fn assert_names_row(told: &[Diagnostic], store: &str, at: u64) -> String {
    let [diagnostic] = told else { panic!("{told:?}") };
    let place = diagnostic.at.as_ref().unwrap_or_else(|| panic!("{diagnostic:?}"));
    assert!(place.input.ends_with(&format!("{store}/bulkstore")) && place.byte == at, "{diagnostic:?}");
    diagnostic.message.clone()
}

#[test]
fn a_state_without_a_text_is_not_running() {
    let files = bundle(Table::TimeProfile);
    let mut changed = files.clone();
    // The first string is empty.
    word(&mut changed, STATE, 0);
    assert_rejected(&files, &changed, RejectReason::WrongType);
    word(&mut changed, STATE, u32::MAX);
    let export = open(&changed).unwrap();
    assert_eq!((export.rejected(), export.diagnostics.len()), (0, 0), "all bits set is nothing");
    assert_eq!(found_rows(&export.profile)[0].state, None);
}

#[test]
fn a_stack_without_frames_is_not_an_absent_one() {
    let files = bundle(Table::TimeProfile);
    // Its only piece is the mark of an end.
    let (mut changed, stack) = (files.clone(), value(&files, &format!("{STORE}/bulkstore"), STACK));
    let index = ARRAYS.replace(".data", ".index");
    let at = value(&files, &index, 40 + 8 * stack as usize) as usize;
    put(&mut changed, ARRAYS, at + 4, &u32::MAX.to_le_bytes());
    let (before, export) = (open(&files).unwrap(), open(&changed).unwrap());
    let table = export.tables().next().unwrap();
    assert!(table.rejected.of(RejectReason::UnknownStack) >= 1);
    assert_eq!(table.samples + table.rejected.total(), before.profile.samples().len() as u64);
    assert_names_row(&export.diagnostics, STORE, ROW as u64);
    word(&mut changed, STACK, u32::MAX);
    assert_eq!(found_rows(&open(&changed).unwrap().profile)[0].stack, None, "all bits set is nothing");
}

#[test]
fn threads_and_processes_are_not_arrays_of_something_else() {
    let files = bundle(Table::TimeProfile);
    let thread = value(&files, &format!("{STORE}/bulkstore"), THREAD);
    let process = value(&files, &format!("{STORE}/bulkstore"), PROCESS);
    let stack = value(&files, &format!("{STORE}/bulkstore"), STACK);
    for (place, other, what) in [(THREAD, stack, "thread"), (PROCESS, stack, "process"), (THREAD, process, "process")] {
        let mut changed = files.clone();
        word(&mut changed, place, other);
        let error = open(&changed).unwrap_err();
        let ErrorKind::BrokenBundle { file, rule } = &error.kind else { panic!("{error}") };
        assert!(file.ends_with("/bulkstore") && rule.contains("row at 0x1000"), "{error}");
        assert!(rule.contains(&format!("is not a {what}")), "{error}");
    }
    let mut changed = files.clone();
    // A thread looks like a process with a string behind it, but no list has it.
    word(&mut changed, PROCESS, thread);
    let told = open(&changed).unwrap().diagnostics;
    assert_names_row(&told, STORE, ROW as u64);
}

/// Each row of a thread that no list has is counted, though they are alike.
#[test]
fn threads_that_no_list_has_are_told() {
    let mut files = bundle(Table::TimeProfile);
    let thread = value(&files, &format!("{STORE}/bulkstore"), THREAD);
    let rows = open(&files).unwrap();
    let tid = found_rows(&rows.profile)[0].tid;
    let of_thread = found_rows(&rows.profile).iter().filter(|row| row.tid == tid).count() as u64;
    let at = value(&files, &ARRAYS.replace(".data", ".index"), 40 + 8 * thread as usize) as usize;
    put(&mut files, ARRAYS, at + 4, &0x7777_u64.to_le_bytes());
    let told = open(&files).unwrap().diagnostics;
    assert!(
        told.iter()
            .any(|told| told.message.contains("the row describes thread") && told.message.contains("another one")),
        "{told:?}"
    );
    // `thread-info` has the array all the same; without it, only form.template lists threads.
    let mut unlisted = files.clone();
    edit(&mut unlisted, &format!("{THREADS}/bulkstore"), |bytes| {
        for row in bytes[ROW..].chunks_exact_mut(44).filter(|row| row[28..32] == thread.to_le_bytes()) {
            row[28..32].copy_from_slice(&u32::MAX.to_le_bytes());
        }
    });
    let told = open(&unlisted).unwrap().diagnostics;
    let row =
        told.iter().find(|told| told.message.contains("in no list of threads")).unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!((row.at.as_ref().unwrap().byte, row.count), (ROW as u64, of_thread), "{told:?}");
}

#[test]
fn a_time_long_after_the_run_is_told() {
    let mut files = bundle(Table::TimeProfile);
    let at = ROW + 4;
    word(&mut files, at, 0x1000_0000);
    let told = open(&files).unwrap().diagnostics;
    assert!(assert_names_row(&told, STORE, ROW as u64).contains("long after the end"), "{told:?}");
}

#[test]
fn callstacks_may_have_no_callers() {
    let files = bundle(Table::TimeSample);
    let mut changed = files.clone();
    // Time, thread, core, state, two callstacks, kind.
    let row = (0..60)
        .map(|row| ROW + 36 * row)
        .find(|row| value(&files, &format!("{STORE}/bulkstore"), row + 28) != u32::MAX);
    let row = row.unwrap();
    let callstack = value(&files, &format!("{STORE}/bulkstore"), row + 28);
    let at = value(&files, &ARRAYS.replace(".data", ".index"), 40 + 8 * callstack as usize) as usize;
    put(&mut changed, ARRAYS, at + 4, &u64::from(u32::MAX).to_le_bytes());
    let export = open(&changed).unwrap();
    assert_eq!((export.rejected(), export.diagnostics.len()), (0, 0));
    let (before, found) = (found_rows(&open(&files).unwrap().profile), found_rows(&export.profile));
    let index = (row - ROW) / 36;
    assert_eq!(found[index].stack.as_ref().unwrap()[..], before[index].stack.as_ref().unwrap()[..1]);
}

fn replace(bytes: &mut [u8], old: &str, new: &str) {
    let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(old.as_bytes())).collect();
    assert!(!places.is_empty() && old.len() == new.len(), "{old} is not there");
    places.into_iter().for_each(|at| bytes[at..at + new.len()].copy_from_slice(new.as_bytes()));
}

#[test]
fn columns_and_lists_under_other_names_are_told() {
    let files = bundle(Table::TimeProfile);
    let renames = [
        (STORE, "thread-state", "thread-statE", "it has no column thread-state, and its column thread-statE"),
        (STORE, "\"process\"", "\"procesS\"", "it has no column process"),
        (PROCESSES, "process-name", "process-namE", "its names are not read: it has no column process-name"),
    ];
    for (store, old, new, told) in renames {
        let mut changed = files.clone();
        edit(&mut changed, &format!("{store}/schema.xml"), |bytes| replace(bytes, old, new));
        let [old, new] = [old, new].map(|name| name.trim_matches('"'));
        edit(&mut changed, &format!("{store}/bulkstore_descriptor"), |bytes| replace(bytes, old, new));
        let diagnostics = open(&changed).unwrap().diagnostics;
        assert!(
            diagnostics.iter().any(|one| one.message.contains(told) && one.message.contains(store)),
            "{diagnostics:?}"
        );
    }
    for name in ["threadsByTID", "processDatas", "allObjects", "com.apple.xray.run.data"] {
        let mut changed = files.clone();
        let other = name.replace('a', "A");
        edit(&mut changed, "form.template", |bytes| replace(bytes, name, &other));
        let told = open(&changed).unwrap().diagnostics;
        assert!(told.iter().any(|one| one.message.contains("form.template: run 1")), "{name}: {told:?}");
    }
}

/// A document that is not well-formed is no list of strings, and no schema.
#[test]
fn broken_xml_is_refused() {
    let files = bundle(Table::TimeProfile);
    let strings = "corespace/run1/core/uniquing/strings";
    for (path, old, new) in [
        (strings, "<string>Running", "<string>R&nning"),
        (strings, "<string>Running", "<string>R\u{1}nning"),
        (&*format!("{STORE}/schema.xml"), "topologyField=", "topologyField&"),
        (&*format!("{STORE}/schema.xml"), "mnemonic=\"thread-state\"", "mnemonic=\"thread-&tate\""),
    ] {
        let mut changed = files.clone();
        edit(&mut changed, path, |bytes| replace(bytes, old, new));
        let error = open(&changed).unwrap_err();
        assert!(matches!(&error.kind, ErrorKind::BrokenBundle { file, .. } if file.ends_with(path)), "{error}");
    }
}

/// If rows are there although their descriptor has none, something was recorded.
#[test]
fn rows_that_the_descriptor_does_not_count_are_told() {
    let mut files = bundle(Table::TimeProfile);
    edit(&mut files, &format!("{STORE}/bulkstore_descriptor"), |descriptor| {
        let mut archive = plist::Value::from_reader(std::io::Cursor::new(&*descriptor)).unwrap();
        let objects =
            archive.as_dictionary_mut().and_then(|archive| archive.get_mut("$objects")?.as_array_mut()).unwrap();
        let count = objects.iter_mut().filter(|object| object.as_unsigned_integer() == Some(60));
        count.for_each(|object| *object = plist::Value::Integer(0.into()));
        *descriptor = binary(&archive);
    });
    let error = open(&files).unwrap_err();
    assert!(error.to_string().contains("room for rows at 0x1000: it is not empty"), "{error}");
}
