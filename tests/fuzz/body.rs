//! What must hold for any input, shared by the fuzz target and the test that replays its corpus.
//!
//! An input is one byte that says how to read, then the document. Only the low four bits of the byte count, so that the
//! digits `0` to `9` and what follows them up to `?` spell every way and seeds stay text:
//!
//! ```text
//! 5<?xml version="1.0"?><trace-query-result>…      0b0101: allow_truncated, buffers of 64 bytes
//! ```

use std::io;

use traceparse::calltree::{CallTree, Metric, Pruning};
use traceparse::export::{Export, Limits, Options, TableKind, read, read_intervals};
use traceparse::output::{chrome_trace, csv, folded, json, text};
use traceparse::profile::{Selection, StateFilter};
use traceparse::report::{Report, ReportOptions, SeparateBy, SeriesReport, View, report};
use traceparse::units::Nanos;
use traceparse::{Diagnostic, Error, ErrorKind};

/// The sizes that bits 1 to 3 of the first byte choose from.
const BUFFER_SIZES: [usize; 8] = [1, 7, 64, 200, 1_000, 4_096, 16_384, 65_536];

const VIEWS: [View; 17] = [
    View::Overview,
    View::Summary,
    View::Threads,
    View::Tree,
    View::Functions,
    View::Heaviest,
    View::Sandwich,
    View::Binaries,
    View::Categories,
    View::Transitions,
    View::Lines,
    View::Processes,
    View::States,
    View::Cores,
    View::Timeline,
    View::Samples,
    View::FlameChart,
];

/// Reads the input and writes everything that can be asked about it.
///
/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    let Some((&how, document)) = input.split_first() else { return };
    let allow_truncated = how & 1 == 1;
    let chosen = read(document, "fuzz", &options(BUFFER_SIZES[usize::from(how >> 1 & 7)], allow_truncated));
    let whole = read(document, "fuzz", &options(document.len() + 1, allow_truncated));
    // quick-xml drops a byte order mark at the start of what it is given, which inside a text is one size's matter.
    let has_inner_mark = document.windows(3).skip(1).any(|bytes| bytes == b"\xef\xbb\xbf");
    if !has_inner_mark {
        check_same(&chosen, &whole);
        check_scanner(document, BUFFER_SIZES[usize::from(how >> 1 & 7)], allow_truncated);
        check_intervals(document, BUFFER_SIZES[usize::from(how >> 1 & 7)], allow_truncated);
    }
    let Ok(export) = chosen else { return };
    check_rows(&export, allow_truncated);
    let mut sink = io::sink();
    json::write_contents(&export.documents, &mut sink).expect("a sink takes everything");
    text::write_contents(&export.documents, &text::Style::default(), &mut sink).expect("a sink takes everything");
    for view in VIEWS {
        for options in questions(view) {
            let report = report(&export, &options);
            check_report(&report);
            write(&report);
        }
    }
}

/// The scanner must read what XML says. It does so under usual limits only.
fn check_scanner(document: &[u8], buffer_size: usize, allow_truncated: bool) {
    let usual = Options { allow_truncated, ..Options::default() };
    let scanned = read(document, "fuzz", &Options { buffer_size, jobs: 2, ..usual.clone() });
    let whole = document.len() + 1;
    let xml = read(document, "fuzz", &Options { buffer_size: whole, jobs: 1, uses_scanner: false, ..usual });
    check_same(&scanned, &xml);
}

/// Intervals are the same whatever the blocks are, and rows of their tables add up.
fn check_intervals(document: &[u8], buffer_size: usize, allow_truncated: bool) {
    let chosen = read_intervals(document, "fuzz", &options(buffer_size, allow_truncated));
    let whole = read_intervals(document, "fuzz", &options(document.len() + 1, allow_truncated));
    let (chosen, whole) = match (chosen, whole) {
        (Ok(chosen), Ok(whole)) => (chosen, whole),
        (chosen, whole) => {
            let is_same = chosen.map_err(|error| error.kind).err() == whole.map_err(|error| error.kind).err();
            // A token that is too large is one of two limits, by what is in memory of it.
            assert!(is_same || document.len() > 8_192, "another error in other blocks");
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

/// Limits so small that a fuzzer reaches each of them.
fn options(buffer_size: usize, allow_truncated: bool) -> Options {
    // A kernel stack on a user stack is twice as deep, and JSON nests twice for each frame; its parsers stop at 128.
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

/// The shortest bin of a timeline.
const ONE: Nanos = Nanos::from_nanos(1);

fn questions(view: View) -> [ReportOptions; 5] {
    let everything = ReportOptions {
        selection: Selection { states: StateFilter::All, ..Selection::default() },
        view,
        ..ReportOptions::default()
    };
    let pruned = ReportOptions {
        metric: Metric::Samples,
        pruning: Pruning { min_percent: 10.0, depth: Some(5), ..Pruning::default() },
        separate_by: SeparateBy::Process,
        view,
        ..ReportOptions::default()
    };
    let merged = ReportOptions { separate_by: SeparateBy::Nothing, ..everything.clone() };
    let of_states = ReportOptions { separate_by: SeparateBy::State, ..everything.clone() };
    let of_cores = ReportOptions { separate_by: SeparateBy::CoreKind, timeline_bin: Some(ONE), ..everything.clone() };
    [everything, pruned, merged, of_states, of_cores]
}

/// The size of the buffer must not show in what was read.
fn check_same(chosen: &Result<Export, Error>, whole: &Result<Export, Error>) {
    match (chosen, whole) {
        (Ok(chosen), Ok(whole)) => {
            assert_eq!(chosen.documents, whole.documents, "documents by size of the buffer");
            assert_eq!(noted(chosen), noted(whole), "diagnostics by size of the buffer");
            assert_eq!(chosen.profile.samples(), whole.profile.samples(), "samples by size of the buffer");
        }
        // How large a token is shows when it does not fit, so that limit goes with the buffer.
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

/// What was noted, where and how often. The line of a byte that has left the buffer is known to within its element only.
fn noted(export: &Export) -> Vec<(Option<u64>, &str, u64)> {
    let byte = |diagnostic: &Diagnostic| diagnostic.at.as_ref().map(|at| at.byte);
    export.diagnostics.iter().map(|row| (byte(row), row.message.as_str(), row.count)).collect()
}

/// rows = samples + rejected.
fn check_rows(export: &Export, allow_truncated: bool) {
    for table in export.tables() {
        match table.kind {
            TableKind::Cpu => assert_eq!(table.rows, table.samples + table.rejected.total(), "{table:?}"),
            TableKind::Other => assert_eq!((table.samples, table.rejected.total()), (0, 0), "{table:?}"),
        }
    }
    let samples: u64 = export.tables().map(|table| table.samples).sum();
    assert_eq!(samples, export.profile.samples().len() as u64);
    assert!(allow_truncated || export.documents.iter().all(|document| document.cut_at.is_none()));
}

/// No sample and no weight is lost between the profile and any part of the report.
fn check_report(report: &Report<'_>) {
    let mut samples = 0;
    for series in &report.series {
        let left_out = series.other_states.iter().map(|(_, amount)| amount).chain([&series.out_of_scope]);
        samples += series.counted.samples + left_out.map(|amount| amount.samples).sum::<u64>();
        check_series(report, series);
    }
    assert_eq!(samples, report.export.profile.samples().len() as u64);
    if report.options.selection.states == StateFilter::All {
        assert_eq!(report.samples().count() as u64, samples);
    }
}

fn check_series(report: &Report<'_>, series: &SeriesReport) {
    let counted = (series.counted.weight.value, series.counted.samples);
    let add = |sum: (u64, u64), part: (u64, u64)| (sum.0 + part.0, sum.1 + part.1);
    let threads = series.threads.iter().map(|thread| (thread.counted.weight.value, thread.counted.samples));
    assert_eq!(threads.fold((0, 0), add), counted, "threads");
    let scopes = series.scopes.iter().map(|row| (row.counted.weight.value, row.counted.samples));
    assert!(series.scopes.is_empty() || scopes.fold((0, 0), add) == counted, "scopes");
    for row in report.trees(series) {
        check_tree(&row.tree, (row.counted.weight.value, row.counted.samples));
    }
    if !series.functions.is_empty() {
        let own = series.functions.iter().map(|row| (row.self_weight, row.self_samples));
        assert_eq!(own.fold((0, 0), add), counted, "functions");
    }
    for row in &series.functions {
        assert!(row.self_weight <= row.all_weight && row.all_weight <= counted.0, "{row:?}");
        assert!(row.self_samples <= row.all_samples && row.all_samples <= counted.1, "{row:?}");
    }
}

/// `all_weight = self_weight + Σ children's all_weight + hidden_weight`, in every node.
fn check_tree(tree: &CallTree, counted: (u64, u64)) {
    assert_eq!((tree.root().all_weight, tree.root().all_samples), counted, "root");
    for (index, node) in tree.nodes().iter().enumerate() {
        let mut weight = node.self_weight + node.hidden_weight;
        let mut samples = node.self_samples;
        for child in tree.children(index) {
            let child = &tree.nodes()[child];
            assert_eq!(child.depth, node.depth + 1);
            weight += child.all_weight;
            samples += child.all_samples;
        }
        assert_eq!(weight, node.all_weight, "{node:?}");
        assert!(samples <= node.all_samples && (node.hidden_children > 0 || samples == node.all_samples), "{node:?}");
    }
}

/// Writes the report in every format; what can be read back cheaply is.
fn write(report: &Report<'_>) {
    let mut out = Vec::new();
    json::write(report, &mut out).expect("a vector takes everything");
    serde_json::from_slice::<serde_json::Value>(&out).expect("JSON is JSON");
    out.clear();
    json::write_lines(report, &mut out).expect("a vector takes everything");
    for line in out.split_inclusive(|&byte| byte == b'\n') {
        serde_json::from_slice::<serde_json::Value>(line).expect("every line is JSON");
    }
    if report.options.view == View::FlameChart {
        out.clear();
        chrome_trace::write(report, &mut out).expect("a vector takes everything");
        serde_json::from_slice::<serde_json::Value>(&out).expect("a trace is JSON");
    }
    csv::write(report, &mut io::sink()).expect("a sink takes everything");
    for style in [text::Style::default(), text::Style { width: Some(40), is_coloured: true }] {
        text::write(report, &style, &mut io::sink()).expect("a sink takes everything");
    }
    if report.options.view == View::Tree && folded::check(report).is_ok() {
        check_folded(report);
    }
}

/// The lines of folded stacks add up to what was counted.
fn check_folded(report: &Report<'_>) {
    let mut out = Vec::new();
    folded::write(report, &mut out).expect("a vector takes everything");
    let text = String::from_utf8(out).expect("names are UTF-8");
    let weight = |line: &str| line.rsplit_once(' ').and_then(|(_, weight)| weight.parse::<u128>().ok());
    // Not `lines()`: a carriage return within a name would be taken for an end.
    let lines = text.split_terminator('\n');
    let sum: u128 = lines.map(|line| weight(line).unwrap_or_else(|| panic!("a line without weight: {line:?}"))).sum();
    let counted: u128 = report.series.iter().map(|series| u128::from(series.counted.weight.value)).sum();
    assert_eq!(sum, counted, "folded stacks");
}
