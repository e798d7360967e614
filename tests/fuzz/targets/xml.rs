//! Exports as XML, through both readers, the reports and the writers; also intervals.
//!
//! An input is one byte that selects how to read, followed by the document. Only the low four bits of the byte are used, so the characters
//! `0` to `?` cover all ways, and seeds stay text:
//!
//! ```text
//! 5<?xml version="1.0"?><trace-query-result>…      0b0101: allow_truncated, buffers of 64 bytes
//! ```

use traceparse::read;
use traceparse::recording::{Intervals, Limits, Options, Recording};
use traceparse::{Diagnostic, Error, ErrorKind};

use super::reports;

/// The sizes that bits 1 to 3 of the first byte choose from.
pub(super) const BUFFER_SIZES: [usize; 8] = [1, 7, 64, 200, 1_000, 4_096, 16_384, 65_536];

/// Reads the input, and asks two questions about it.
///
/// # Panics
/// If a check fails.
pub(crate) fn check(input: &[u8]) {
    check_with(input, reports::check_some);
}

/// The same with every question, for the corpus.
pub(crate) fn check_everything(input: &[u8]) {
    check_with(input, |export, _| reports::check_all(export));
}

fn check_with(input: &[u8], ask: impl Fn(&Recording, usize)) {
    let Some((&how, document)) = input.split_first() else { return };
    let allow_truncated = how & 1 == 1;
    let buffer_size = BUFFER_SIZES[usize::from(how >> 1 & 7)];
    let chosen = read(document, "fuzz", &options(buffer_size, allow_truncated));
    let whole = read(document, "fuzz", &options(document.len() + 1, allow_truncated));
    // quick-xml drops a byte order mark at the start of a buffer. Inside text, this depends on the buffer size.
    let has_inner_mark = document.windows(3).skip(1).any(|bytes| bytes == b"\xef\xbb\xbf");
    if !has_inner_mark {
        check_same(&chosen, &whole);
        check_scanner(document, buffer_size, allow_truncated);
        check_intervals(document, buffer_size, allow_truncated);
    }
    let Ok(export) = chosen else { return };
    reports::check_rows(&export);
    assert!(allow_truncated || export.documents.iter().all(|document| document.cut_at.is_none()));
    // Inputs of the same length get the same questions, so a changed byte changes the execution, not the questions.
    ask(&export, document.len());
}

/// The scanner must agree with the XML reader. This requires the usual limits.
fn check_scanner(document: &[u8], buffer_size: usize, allow_truncated: bool) {
    let usual = Options { allow_truncated, ..Options::default() };
    let scanned = read(document, "fuzz", &Options { buffer_size, jobs: 1 + document.len() % 2, ..usual.clone() });
    let whole = document.len() + 1;
    let xml = read(document, "fuzz", &Options { buffer_size: whole, jobs: 1, uses_scanner: false, ..usual });
    check_same(&scanned, &xml);
}

/// Intervals do not depend on block sizes, and the row counts of their tables add up.
fn check_intervals(document: &[u8], buffer_size: usize, allow_truncated: bool) {
    let chosen = Intervals::read(document, "fuzz", &options(buffer_size, allow_truncated));
    let whole = Intervals::read(document, "fuzz", &options(document.len() + 1, allow_truncated));
    let (chosen, whole) = match (chosen, whole) {
        (Ok(chosen), Ok(whole)) => (chosen, whole),
        (chosen, whole) => {
            let kinds = (chosen.err().map(|error| error.kind), whole.err().map(|error| error.kind));
            let is_same = match &kinds {
                // What the input looks like is told from the start that was in memory.
                (Some(ErrorKind::NotAnExport(_)), Some(ErrorKind::NotAnExport(_))) => true,
                (chosen, whole) => chosen == whole,
            };
            // A token that is too large exceeds one of two limits, depending on how much of it is in memory.
            assert!(is_same || document.len() > 8_192, "another error in other blocks: {kinds:?}");
            return;
        }
    };
    assert_eq!((&chosen.intervals, &chosen.tables), (&whole.intervals, &whole.tables));
    for table in &chosen.tables {
        assert_eq!(table.rows, table.used + table.unused + table.rejected.total(), "{table:?}");
    }
    assert!(chosen.intervals.iter().all(|interval| interval.end.is_none_or(|end| interval.start <= end)));
    assert!(chosen.distinct().len() <= chosen.intervals.len());
}

/// Limits that are small enough for a fuzzer to reach.
pub(super) fn options(buffer_size: usize, allow_truncated: bool) -> Options {
    // A kernel stack on top of a user stack is twice as deep, and JSON nests twice per frame. JSON parsers stop at 128 levels.
    let limits = Limits {
        element_depth: 24,
        token_bytes: 8_192,
        children: 100,
        stack_depth: 24,
        tables: 16,
        name_bytes: 4_096,
        counters: 8,
        free_stacks: 200,
        file_bytes: Limits::default().file_bytes,
    };
    Options { allow_truncated, buffer_size, limits, ..Options::default() }
}

/// The result must not depend on the buffer size.
fn check_same(chosen: &Result<Recording, Error>, whole: &Result<Recording, Error>) {
    match (chosen, whole) {
        (Ok(chosen), Ok(whole)) => {
            assert_eq!(chosen.documents, whole.documents, "documents by size of the buffer");
            assert_eq!(noted(chosen), noted(whole), "diagnostics by size of the buffer");
            assert_eq!(chosen.profile.samples(), whole.profile.samples(), "samples by size of the buffer");
        }
        // The size of a token matters only if it does not fit, so this limit depends on the buffer.
        (Err(Error { kind: ErrorKind::Limit(_), .. }), _) | (_, Err(Error { kind: ErrorKind::Limit(_), .. })) => {}
        // What the input looks like is told from the start that was in memory.
        (Err(Error { kind: ErrorKind::NotAnExport(_), .. }), Err(Error { kind: ErrorKind::NotAnExport(_), .. })) => {}
        (Err(chosen), Err(whole)) => {
            let byte = |error: &Error| error.at.as_ref().map(|at| at.byte);
            assert_eq!((&chosen.kind, byte(chosen)), (&whole.kind, byte(whole)), "errors by size of the buffer");
        }
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("an error of one size of the buffer only: {error}"),
    }
}

/// The notes, with their places and counts. If a byte is no longer in the buffer, its line is known only within its element.
fn noted(export: &Recording) -> Vec<(Option<u64>, &str, u64)> {
    let byte = |diagnostic: &Diagnostic| diagnostic.at.as_ref().map(|at| at.byte);
    export.diagnostics.iter().map(|row| (byte(row), row.message.as_str(), row.count)).collect()
}
