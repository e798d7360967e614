//! All tables with all cells, of exports and of recordings.
//!
//! ```text
//! how document            an export: bit 7 of `how` is not set, and bits 0 to 3 are those of `xml.rs`
//! how base [script]       a recording: bit 7 is set, bits 0 and 1 say how files are packed; then as in `bundle.rs`
//! ```
//!
//! A recording is read twice: bits 2 and 3 say whether the second time is in two threads, and whether it is from a zip.

use std::path::Path;

use serde_json::{Value, json};
use traceparse::bundle::{Bundle, BundleFiles};
use traceparse::files::Files;
use traceparse::profile::{Id, Profile, Stack};
use traceparse::recording::{Limits, Options};
use traceparse::{Error, ErrorKind};

use super::{bundle, xml};
use support::all_tables::{self, Reading};
use support::bundle::{BUNDLE, Memory, to_zip};

/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    match input {
        [how, document @ ..] if how & 0x80 == 0 => check_export(*how, document),
        [how, base, script @ ..] => check_recording(*how, *base, script),
        _ => {}
    }
}

fn check_export(how: u8, document: &[u8]) {
    let read = |buffer_size, jobs| {
        let options = Options { jobs, ..xml::options(buffer_size, how & 1 == 1) };
        all_tables::read(&options, |recording, reading| recording.read_tables(document, "fuzz", reading), frames)
    };
    let found = read(xml::BUFFER_SIZES[usize::from(how >> 1 & 7)], 1);
    if let Ok(found) = &found {
        check_limits(found, &xml::options(1, false).limits);
    }
    // As in `xml.rs`: the result for byte order marks inside the document, and for large tokens, depends on the size of the buffer.
    let has_inner_mark = document.windows(3).skip(1).any(|bytes| bytes == b"\xef\xbb\xbf");
    if !has_inner_mark && document.len() <= 8_192 {
        check_same(&found, &read(document.len() + 1, 2), "with another buffer");
    }
}

fn check_recording(how: u8, base: u8, script: &[u8]) {
    let files = bundle::files(base, script, how & 3);
    let found = read(&Memory::of_bundle(&files), Path::new(BUNDLE), 1);
    assert!(!script.is_empty() || found.is_ok(), "{:?}", found.err());
    if let Ok(found) = &found {
        check_limits(found, &limits());
        assert!(!script.is_empty() || found.tables.iter().all(|table| table.unreadable.is_none()));
    }
    let jobs = if how & 4 == 0 { 1 } else { 2 };
    if how & 8 == 0 {
        let files = bundle::files(base, script, how >> 4 & 3);
        return check_same(&found, &read(&Memory::of_bundle(&files), Path::new(BUNDLE), jobs), "packed otherwise");
    }
    let archive = Path::new("/fuzz.zip");
    let (zip, mut memory) = (to_zip(&files, Some("fuzz.trace"), false), Memory::default());
    memory.add(archive, zip.as_slice().into());
    let mut files = BundleFiles::new(&memory);
    let place = files.mount(archive).expect("the zip is whole").expect("it has a recording");
    check_same(&found, &read(&files, &place, jobs), "from a zip");
}

fn limits() -> Limits {
    Limits { file_bytes: 4 << 20, ..Limits::default() }
}

fn read(files: &dyn Files, path: &Path, jobs: usize) -> Result<Reading, Error> {
    let options = Options { limits: limits(), jobs, ..Options::default() };
    let bundle = Bundle::open(files, path, &options)?;
    all_tables::read(&options, |recording, reading| bundle.read_tables(recording, "fuzz", reading), frames)
}

fn frames(profile: &Profile, stack: Id<Stack>) -> Vec<Value> {
    let frame = |frame: &traceparse::profile::Frame| {
        let function = profile.function(frame.function);
        json!([profile.string(function.name), frame.address.get(), frame.binary.map(|binary| binary.index())])
    };
    profile.frames_leaf_first(Some(stack)).map(frame).collect()
}

/// The visitor has checked that rows = read + rejected.
fn check_limits(found: &Reading, limits: &Limits) {
    for table in &found.tables {
        assert!(table.head.columns.len() <= limits.children, "{} columns", table.head.columns.len());
        assert!(table.unreadable.is_none() || table.rows.is_empty(), "rows of a table that cannot be read");
        let lists = table.rows.iter().flatten().filter_map(Value::as_array);
        let stacks = lists.filter(|list| list.first().is_some_and(|kind| kind == "stack"));
        for stack in stacks {
            // A raw stack has its callers and the program counter.
            assert!((2..=limits.stack_depth + 2).contains(&stack.len()), "a stack of {}", stack.len());
        }
    }
}

/// Checks that two readings are the same.
fn check_same(one: &Result<Reading, Error>, other: &Result<Reading, Error>, how: &str) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one.tables.len(), other.tables.len(), "tables, {how}");
            for (one, other) in one.tables.iter().zip(&other.tables) {
                let of = |table: &all_tables::ReadTable| (table.head.run, table.head.schema.clone(), table.rejected);
                assert_eq!((of(one), &one.head.columns), (of(other), &other.head.columns), "tables, {how}");
                assert_eq!(one.rows, other.rows, "rows, {how}");
                assert_eq!(one.unreadable.is_some(), other.unreadable.is_some(), "unreadable tables, {how}");
            }
            let notes = |reading: &Reading| reading.notes.iter().map(|note| note.count).collect::<Vec<_>>();
            assert_eq!(notes(one), notes(other), "diagnostics, {how}");
        }
        // The kind itself may contain a path, or the beginning of the input.
        (Err(one), Err(other)) => {
            let kind = |error: &Error| std::mem::discriminant::<ErrorKind>(&error.kind);
            assert_eq!(kind(one), kind(other), "errors, {how}: {one} and {other}");
        }
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("an error of one way only, {how}: {error}"),
    }
}
