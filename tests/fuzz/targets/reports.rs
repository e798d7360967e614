//! The rules for every readable recording: rows add up, reports add up, and output can be read back.

use std::io;

use traceparse::calltree::{CallTree, Metric, Pruning};
use traceparse::output::{self, Cells, Format, Style};
use traceparse::profile::{Selection, StateFilter};
use traceparse::recording::{Recording, TableKind};
use traceparse::report::{Report, ReportOptions, SeparateBy, SeriesReport, View};
use traceparse::units::Nanos;

const VIEWS: [View; 18] = [
    View::Overview,
    View::Full,
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

/// Asks two questions of all, which a number chooses.
pub(crate) fn check_some(export: &Recording, choice: usize) {
    check_one(export, choice);
    check_one(export, choice.wrapping_mul(31).wrapping_add(7));
}

/// Asks one of them.
pub(crate) fn check_one(export: &Recording, choice: usize) {
    let questions = questions(VIEWS[choice % VIEWS.len()]);
    check_question(export, &questions[choice / VIEWS.len() % questions.len()]);
}

/// Asks everything.
pub(crate) fn check_all(export: &Recording) {
    let mut sink = io::sink();
    output::write(&export.documents, &Format::Json, &mut sink).expect("a sink takes everything");
    output::write(&export.documents, &Format::Text(Style::default()), &mut sink).expect("a sink takes everything");
    for question in VIEWS.into_iter().flat_map(questions) {
        check_question(export, &question);
    }
}

fn check_question(export: &Recording, question: &ReportOptions) {
    let report = export.report(question);
    check_report(&report);
    write(&report);
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

/// rows = samples + rejected.
pub(crate) fn check_rows(export: &Recording) {
    for table in export.tables() {
        match table.kind {
            TableKind::Cpu => assert_eq!(table.rows, table.samples + table.rejected.total(), "{table:?}"),
            TableKind::Other => assert_eq!((table.samples, table.rejected.total()), (0, 0), "{table:?}"),
        }
    }
    let samples: u64 = export.tables().map(|table| table.samples).sum();
    assert_eq!(samples, export.profile.samples().len() as u64);
}

/// No sample and no weight is lost between the profile and any part of the report.
fn check_report(report: &Report<'_>) {
    let mut samples = 0;
    for series in &report.series {
        let left_out = series.other_states.iter().map(|(_, amount)| amount).chain([&series.out_of_scope]);
        samples += series.counted.samples + left_out.map(|amount| amount.samples).sum::<u64>();
        check_series(report, series);
    }
    assert_eq!(samples, report.recording.profile.samples().len() as u64);
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
    for (row, tree) in report.trees(series) {
        check_tree(&tree, (row.counted.weight.value, row.counted.samples));
    }
    if !series.functions.is_empty() {
        let own = series.functions.iter().map(|row| (row.sums.self_weight, row.sums.self_samples));
        assert_eq!(own.fold((0, 0), add), counted, "functions");
    }
    for sums in series.functions.iter().map(|row| row.sums) {
        assert!(sums.self_weight <= sums.all_weight && sums.all_weight <= counted.0, "{sums:?}");
        assert!(sums.self_samples <= sums.all_samples && sums.all_samples <= counted.1, "{sums:?}");
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

/// Writes the report in every format, and reads formats back if that is cheap.
fn write(report: &Report<'_>) {
    let mut out = Vec::new();
    output::write(report, &Format::Json, &mut out).expect("a vector takes everything");
    serde_json::from_slice::<serde_json::Value>(&out).expect("JSON is JSON");
    out.clear();
    output::write(report, &Format::JsonLines, &mut out).expect("a vector takes everything");
    for line in out.split_inclusive(|&byte| byte == b'\n') {
        serde_json::from_slice::<serde_json::Value>(line).expect("every line is JSON");
    }
    if report.options.view == View::FlameChart {
        out.clear();
        output::write(report, &Format::ChromeTrace, &mut out).expect("a vector takes everything");
        serde_json::from_slice::<serde_json::Value>(&out).expect("a trace is JSON");
    }
    output::write(report, &Format::Csv(Cells::AsTheyAre), &mut io::sink()).expect("a sink takes everything");
    for style in [Style::default(), Style { width: Some(40), is_coloured: true, ..Style::default() }] {
        output::write(report, &Format::Text(style), &mut io::sink()).expect("a sink takes everything");
    }
    if report.options.view == View::Tree && report.check_one_measurement().is_ok() {
        check_folded(report);
    }
}

/// The lines of folded stacks add up to what was counted.
fn check_folded(report: &Report<'_>) {
    let mut out = Vec::new();
    output::write(report, &Format::Folded, &mut out).expect("a vector takes everything");
    let text = String::from_utf8(out).expect("names are UTF-8");
    let weight = |line: &str| line.rsplit_once(' ').and_then(|(_, weight)| weight.parse::<u128>().ok());
    // Not `lines()`: it would treat a carriage return in a name as a line end.
    let lines = text.split_terminator('\n');
    let sum: u128 = lines.map(|line| weight(line).unwrap_or_else(|| panic!("a line without weight: {line:?}"))).sum();
    let counted: u128 = report.series.iter().map(|series| u128::from(series.counted.weight.value)).sum();
    assert_eq!(sum, counted, "folded stacks");
}
