//! A page that is read back produces the same answers as its recording.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Content, Invented, Node, RenderOptions, Rng, Shape, Signpost, Size, Table, render};
use traceparse::calltree::Metric;
use traceparse::output::{
    self, DiffReport, DiffView, Format, OverviewContext, OverviewSentences, Style, WorkbenchOptions, WorkbenchReduction,
};
use traceparse::profile::{Matcher, Selection, StateFilter, TimeRange};
use traceparse::recording::{Counter, Intervals, Options, Recording, SampleDetail};
use traceparse::redact::Redactor;
use traceparse::report::diff::{Diff, Normalize};
use traceparse::report::{Report, ReportOptions, SeparateBy, View};
use traceparse::symbolicate::{BinarySummary, Missing, SymbolicationSummary};
use traceparse::symbols::{Found, SourceKind};
use traceparse::units::{Nanos, Unit, Uuid};
use traceparse::{Analysis, Payload, read};

const VIEWS: [View; 16] = [
    View::Overview,
    View::Full,
    View::Threads,
    View::Tree,
    View::Functions,
    View::Heaviest,
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
const SEPARATIONS: [SeparateBy; 5] =
    [SeparateBy::Thread, SeparateBy::Process, SeparateBy::State, SeparateBy::CoreKind, SeparateBy::Nothing];
const MILLI: Nanos = Nanos::from_nanos(1_000_000);

/// What a page leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lost {
    Nothing,
    /// Times within bins.
    Bins(Nanos),
    /// All times and cores.
    Times,
}

fn page(report: &Report<'_>, intervals: &Intervals, reduction: WorkbenchReduction) -> Vec<u8> {
    let options = WorkbenchOptions { intervals: Some(intervals), reduction, ..WorkbenchOptions::default() };
    let mut out = Vec::new();
    output::write(report, &Format::Workbench(options), &mut out).unwrap();
    support::page::payload("profile", &String::from_utf8(out).unwrap())
}

/// The JSON of a report, line by line, without the documents of the inputs and the diagnostics of reading them.
fn json(report: &Report<'_>, lost: Lost) -> Vec<String> {
    let mut out = Vec::new();
    let format = if report.options.view == View::Overview { Format::Json } else { Format::JsonLines };
    if let Err(error) = output::write(report, &format, &mut out) {
        return vec![error.to_string()];
    }
    let text = String::from_utf8(out).unwrap();
    let (head, rows) =
        if matches!(format, Format::Json) { (text.as_str(), "") } else { text.split_once('\n').unwrap() };
    let mut head: Value = serde_json::from_str(head).unwrap();
    let fields = head.as_object_mut().unwrap();
    for field in ["documents", "tables", "diagnostics", "symbolication", "operations", "redacted"] {
        fields.remove(field);
    }
    if lost != Lost::Nothing {
        for series in fields["series"].as_array_mut().unwrap() {
            for time in ["first_time_ns", "last_time_ns"] {
                series.as_object_mut().unwrap().remove(time);
            }
        }
    }
    let mut rows: Vec<String> = rows.lines().map(str::to_owned).collect();
    if report.options.view == View::Samples {
        // A page has them in order of time.
        rows.sort();
    }
    std::iter::once(head.to_string()).chain(rows).collect()
}

/// Selections by thread, process, state and time.
fn selections(recording: &Recording, intervals: &Intervals, lost: Lost) -> Vec<Selection> {
    let profile = &recording.profile;
    let mut all = vec![Selection::default(), Selection { states: StateFilter::All, ..Selection::default() }];
    let states = StateFilter::Only(vec!["blocked".to_owned(), "Runnable".to_owned()]);
    all.push(Selection { states, runs: vec![1], ..Selection::default() });
    all.push(Selection { only_main_threads: true, ..Selection::default() });
    if let Some(thread) = profile.thread_ids().last() {
        let threads = vec![Matcher::new(profile.string(profile.thread(thread).name))];
        all.push(Selection { threads, ..Selection::default() });
    }
    let last = profile.samples().iter().map(|sample| sample.time).max().unwrap_or_default().as_nanos();
    let bin = match lost {
        Lost::Nothing => 1,
        Lost::Bins(length) => length.as_nanos(),
        Lost::Times => return all,
    };
    for (start, end) in [(last / 4, Some(last / 2)), (last / 3, None), (0, Some(last + 1))] {
        let [start, end] = [Some(start), end].map(|time| time.map(|time| Nanos::from_nanos(time / bin * bin)));
        let time = Some(TimeRange { start: start.unwrap(), end });
        all.push(Selection { time, ..Selection::default() });
    }
    if lost == Lost::Nothing {
        // A page has each interval once.
        let names = intervals.distinct().into_iter().filter_map(|row| row.name.as_deref());
        let names: Vec<String> = names.map(str::to_owned).collect();
        all.extend([true, false].map(|hangs| Selection {
            intervals: Some(intervals.filter(&names, hangs, false)),
            ..Selection::default()
        }));
    }
    all
}

fn is_comparable(view: View, separate_by: SeparateBy, lost: Lost, selection: &Selection) -> bool {
    match (lost, view) {
        (Lost::Nothing, _) => true,
        (_, View::Samples | View::FlameChart | View::Timeline | View::Overview) => false,
        (Lost::Times, View::Cores) => false,
        (Lost::Times, _) => separate_by != SeparateBy::CoreKind,
        (Lost::Bins(_), _) => selection.intervals.is_none(),
    }
}

/// Compares every answer of both recordings.
fn compare(original: (&Recording, &Intervals), read: (&Recording, &Intervals), lost: Lost, name: &str) {
    let chosen = [original.1, read.1].map(|intervals| selections(original.0, intervals, lost));
    let [chosen, chosen_of_page] = chosen;
    let chosen = chosen.into_iter().zip(chosen_of_page);
    for (number, (selection, of_page)) in chosen.enumerate() {
        for (position, view) in VIEWS.into_iter().enumerate() {
            let metric = [Metric::Weight, Metric::Samples][(number + position) % 2];
            let separate_by = SEPARATIONS[(2 * number + position) % SEPARATIONS.len()];
            if !is_comparable(view, separate_by, lost, &selection) {
                continue;
            }
            let options =
                |selection| ReportOptions { selection, view, metric, separate_by, ..ReportOptions::default() };
            let [expected, found] = [(original.0, &selection), (read.0, &of_page)]
                .map(|(recording, selection)| json(&recording.report(&options(selection.clone())), lost));
            let pairs = expected.iter().zip(&found);
            let first = pairs.clone().find(|(expected, found)| expected != found);
            assert!(expected == found, "{name}: {:?}\n{first:#?}", options(selection.clone()));
        }
    }
}

/// Writes the payload that was read once more: its columns and its head are the same, except the answers about the inputs.
fn rewrite(bytes: &[u8], payload: &Payload<'_>, name: &str) {
    let report = payload.recording.report(&ReportOptions::default());
    let again = page(&report, &payload.intervals, WorkbenchReduction::None);
    let [(mut before, columns), (mut after, columns_again)] = [bytes, &again].map(parts);
    // Joined samples contain less information about hangs.
    let hangs = if before["reduction"].is_null() { "" } else { "hangs" };
    for head in [&mut before, &mut after] {
        for field in ["summary", "answer", "reduction", "sources", "producer", hangs] {
            head.as_object_mut().unwrap().remove(field);
        }
    }
    assert_eq!(before, after, "{name}");
    assert!(columns == columns_again, "{name}: the columns differ");
}

/// The head of a payload, and the bytes after it.
fn parts(bytes: &[u8]) -> (Value, &[u8]) {
    let (mut length, mut at) = (0, 4);
    for shift in (0..).step_by(7) {
        length |= usize::from(bytes[at] & 0x7f) << shift;
        at += 1;
        if bytes[at - 1] < 0x80 {
            break;
        }
    }
    (serde_json::from_slice(&bytes[at..at + length]).unwrap(), &bytes[at + length..])
}

/// Writes pages of a recording with every reduction, and compares each with the recording.
fn check(recording: &Recording, intervals: &Intervals, name: &str) {
    let reductions = [
        (WorkbenchReduction::None, Lost::Nothing),
        (WorkbenchReduction::Bins(MILLI), Lost::Bins(MILLI)),
        (WorkbenchReduction::Sums, Lost::Times),
    ];
    let report = recording.report(&ReportOptions::default());
    for (reduction, lost) in reductions {
        let name = format!("{name}, {lost:?}");
        let bytes = page(&report, intervals, reduction);
        let payload = Payload::read(&bytes, &name).unwrap();
        let lost = if recording.profile.sums().len() > 0 { Lost::Times } else { lost };
        compare((recording, intervals), (&payload.recording, &payload.intervals), lost, &name);
        rewrite(&bytes, &payload, &name);
    }
}

fn open(xml: &str, samples: SampleDetail) -> (Recording, Intervals) {
    let options = Options { samples, ..Options::default() };
    let recording = read(xml.as_bytes(), "test.xml", &options).unwrap();
    (recording, Intervals::read(xml.as_bytes(), "test.xml", &options).unwrap())
}

#[test]
fn fixtures_are_the_same_on_their_pages() {
    let root = support::repository("fixtures");
    let folders = |folder: &Path| -> Vec<_> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let inputs = folders(&root).into_iter().flat_map(|version| folders(&version)).map(|case| case.join("input.xml"));
    let inputs: Vec<_> = inputs.filter(|input| input.exists()).collect();
    assert!(inputs.len() >= 14);
    for input in inputs {
        let (recording, intervals) = open(&fs::read_to_string(&input).unwrap(), SampleDetail::Each);
        if recording.tables().next().is_none() {
            continue;
        }
        check(&recording, &intervals, &input.display().to_string());
    }
}

/// An export of several runs, tables and states, with signposts and, if the table has them, performance counters.
/// A crash of the second of two threads.
const CRASH: &str = r#"{"timeStampBegin": "2024-05-06 07:08:09", "timeStampEnd": "2024-05-06 07:08:09", "crashDiagnostics": [{"version": "1.0.0",
    "diagnosticMetaData": {"appVersion": "2.1", "osVersion": "iPhone OS 17.4 (21E219)", "deviceType": "iPhone15,2", "exceptionType": 6,
        "exceptionCode": 1, "signal": 5, "terminationReason": "Namespace SIGNAL, Code 0x5"},
    "callStackTree": {"callStackPerThread": true, "callStacks": [
        {"threadAttributed": false, "callStackRootFrames": [{"binaryUUID": "70B89F27-1634-3580-A695-57CDB41D7743", "binaryName": "libsystem_kernel.dylib",
            "offsetIntoBinaryTextSegment": 16, "sampleCount": 1, "address": 4128}]},
        {"threadAttributed": true, "callStackRootFrames": [{"binaryUUID": "80B89F27-1634-3580-A695-57CDB41D7744", "binaryName": "Orchard",
            "offsetIntoBinaryTextSegment": 32, "sampleCount": 1, "address": 8224}]}]}}]}"#;

#[test]
fn a_crash_is_the_same_on_its_page() {
    let recording = read(CRASH.as_bytes(), "crash.json", &Options::default()).unwrap();
    let facts =
        |recording: &Recording| recording.tocs().flat_map(|toc| &toc.runs).map(|run| run.summary.len()).sum::<usize>();
    assert!(facts(&recording) >= 5);
    check(&recording, &Intervals::default(), "a crash");
}

fn export(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let size = Size { runs: 1 + (seed % 2) as u32, snapshots: seed.is_multiple_of(3), waiting: true, ..Size::small() };
    let recording = Invented::random(seed, &size);
    let tables = [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample];
    let table = tables[(seed % 4) as usize];
    let shape = if table == Table::TimeSample { Shape::TimeSample } else { Shape::Xcode27 };
    let mut options = RenderOptions::new(shape, table, &recording);
    for run in recording.runs() {
        let rows = recording.rows_of_run(run);
        let signposts = (0..4).map(|_| {
            let [one, other] = [0, 1].map(|_| *rng.pick(&rows));
            let [start, end] = [one, other].map(|row| recording.rows[row].time_ns);
            Signpost::new(["Layout", "Load"][rng.index(2)], start.min(end), start.max(end), one)
        });
        let content = Content::SignpostIntervals(signposts.collect());
        options.nodes.push(Node { run, table_index: 40, content });
    }
    render(&recording, &options.shuffled(seed))
}

#[test]
fn invented_recordings_are_the_same_on_their_pages() {
    for seed in 0..support::rounds(80) {
        for detail in [SampleDetail::Each, SampleDetail::Summed] {
            let (recording, intervals) = open(&export(seed), detail);
            check(&recording, &intervals, &format!("seed {seed}, {detail:?}"));
        }
    }
}

#[test]
fn a_page_of_a_selection_has_its_time() {
    let (recording, intervals) = open(&export(2), SampleDetail::Each);
    let names = ["Layout".to_owned(), "Load".to_owned()];
    let during = Selection { intervals: Some(intervals.filter(&names, false, false)), ..Selection::default() };
    let options = ReportOptions { selection: during.clone(), ..ReportOptions::default() };
    let bytes = page(&recording.report(&options), &intervals, WorkbenchReduction::None);
    let payload = Payload::read(&bytes, "page").unwrap();
    let run = recording.profile.run_ids().next().unwrap();
    let expected = recording.selected_time(run, &during);
    assert!(!expected.parts().is_empty() && expected.is_part());
    assert_eq!(payload.recording.selected_time(run, &Selection::default()), expected);
    let &(start, end) = expected.parts().last().unwrap();
    for limit in [start, end, Nanos::from_nanos(start.as_nanos().midpoint(end.as_nanos()))] {
        let time = Some(TimeRange { start: Nanos::from_nanos(0), end: Some(limit) });
        let [both, of_page] = [during.clone(), Selection::default()].map(|selection| Selection { time, ..selection });
        let expected = recording.selected_time(run, &both);
        assert_eq!(payload.recording.selected_time(run, &of_page), expected);
    }
}

#[test]
fn a_redacted_page_has_the_categories_of_its_binaries() {
    for seed in 0..12 {
        let (recording, intervals) = open(&export(seed), SampleDetail::Each);
        let (mut analysis, mut options) = (Analysis::new(recording), ReportOptions::default());
        let mut redactor = Redactor::new(Vec::new());
        redactor.collect_intervals(&intervals);
        analysis.redact(&mut redactor, &mut options).unwrap();
        let mut intervals = intervals;
        redactor.intervals(&mut intervals);
        let bytes = page(&analysis.report(&options), &intervals, WorkbenchReduction::None);
        let payload = Payload::read(&bytes, "page").unwrap();
        // The categories of binaries are in the head.
        rewrite(&bytes, &payload, "redacted");
        let read = (&payload.recording, &payload.intervals);
        compare((analysis.recording(), &intervals), read, Lost::Nothing, "redacted");
    }
}

#[test]
fn counters_become_weights() {
    let mut compared = 0;
    for seed in 0..24 {
        let (recording, intervals) = open(&export(seed), SampleDetail::Each);
        if recording.counter_counts().iter().all(|&count| count == 0) {
            continue;
        }
        compared += 1;
        let bytes = page(&recording.report(&ReportOptions::default()), &intervals, WorkbenchReduction::None);
        let payload = Payload::read(&bytes, "page").unwrap();
        assert_eq!(recording.counter_counts(), payload.recording.counter_counts());
        assert_eq!(recording.counter_names(), payload.recording.counter_names());
        let [mut original, mut of_page] = [recording, payload.recording.clone()].map(Analysis::new);
        for analysis in [&mut original, &mut of_page] {
            analysis.weigh_by_counter(&Counter::Number(1)).unwrap();
        }
        let original = (original.recording(), &intervals);
        compare(original, (of_page.recording(), &payload.intervals), Lost::Nothing, "weighed after it was read");
        let bytes = page(&original.0.report(&ReportOptions::default()), &intervals, WorkbenchReduction::None);
        let payload = Payload::read(&bytes, "page").unwrap();
        compare(original, (&payload.recording, &payload.intervals), Lost::Nothing, "weighed before it was written");
    }
    assert!(compared >= 3);
}

#[test]
fn both_recordings_of_a_comparison_are_on_its_page() {
    let exports = [1, 5].map(|seed| open(&export(seed), SampleDetail::Each));
    let [before, after] = [&exports[0], &exports[1]].map(|(recording, _)| recording.report(&ReportOptions::default()));
    let (before, after, normalize) = (&before, &after, Normalize::None);
    let diff = Diff::new(before, after, normalize);
    let view = DiffView::Functions;
    let report = DiffReport { before, after, diff: &diff, normalize, view, top: None, min_percent: 0.0, alerts: &[] };
    let intervals = [0, 1].map(|side: usize| Some(&exports[side].1));
    let options = WorkbenchOptions { before_intervals: intervals[0], intervals: intervals[1], ..Default::default() };
    let mut out = Vec::new();
    output::write(&report, &Format::Workbench(options), &mut out).unwrap();
    let html = String::from_utf8(out).unwrap();
    let payloads = ["before", "profile"].map(|id| support::page::payload(id, &html));
    let payloads = payloads.each_ref().map(|bytes| Payload::read(bytes, "page").unwrap());
    for ((recording, intervals), payload) in exports.iter().zip(&payloads) {
        compare((recording, intervals), (&payload.recording, &payload.intervals), Lost::Nothing, "a side");
    }
    let [old, new] = [0, 1].map(|side: usize| payloads[side].recording.report(&ReportOptions::default()));
    let read = Diff::new(&old, &new, normalize);
    let report = DiffReport { before: &old, after: &new, diff: &read, ..report };
    let original = DiffReport { before, after, diff: &diff, ..report };
    let [read, original] = [&report, &original].map(|report| {
        let mut out = Vec::new();
        output::write(report, &Format::Json, &mut out).unwrap();
        serde_json::from_slice::<Value>(&out).unwrap()["functions"].clone()
    });
    assert!(read.is_array() && read == original);
}

/// Reads a damaged payload. If it is accepted, its answers must not panic.
fn read_damaged(bytes: &[u8]) -> bool {
    match Payload::read(bytes, "damaged") {
        Ok(payload) => {
            for view in [View::Full, View::Overview, View::Samples, View::FlameChart, View::Lines] {
                let report = payload.recording.report(&ReportOptions { view, ..ReportOptions::default() });
                output::write(&report, &Format::Json, &mut std::io::sink()).unwrap();
            }
            true
        }
        Err(error) => {
            assert!(error.to_string().starts_with("damaged:"), "{error}");
            false
        }
    }
}

#[test]
fn damaged_payloads_are_refused_or_read() {
    let (recording, intervals) = open(&export(6), SampleDetail::Each);
    let bytes = page(&recording.report(&ReportOptions::default()), &intervals, WorkbenchReduction::Bins(MILLI));
    assert!(read_damaged(&bytes));
    for end in (0..bytes.len()).step_by(7) {
        assert!(!read_damaged(&bytes[..end]), "cut at {end}");
    }
    let (mut rng, mut outcomes) = (Rng::new(1), HashSet::new());
    for _ in 0..support::rounds(20_000) {
        let mut damaged = bytes.clone();
        for _ in 0..=rng.index(3) {
            let at = rng.index(bytes.len());
            damaged[at] ^= 1 << rng.index(8);
        }
        outcomes.insert(read_damaged(&damaged));
    }
    assert_eq!(outcomes.len(), 2);
}

/// An export with one stack of this depth.
fn deep_export(depth: usize) -> String {
    let frame =
        |index: usize| format!("<frame id=\"{}\" name=\"f{}\" addr=\"{:#x}\"/>", index + 10, index % 3, index + 1);
    let frames: String = (0..depth).map(frame).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
         <schema name=\"time-profile\"><col><mnemonic>time</mnemonic></col><col><mnemonic>weight</mnemonic></col>\
         <col><mnemonic>stack</mnemonic></col></schema><row><sample-time>1</sample-time><weight>5</weight>\
         <backtrace id=\"1\">{frames}</backtrace></row></node></trace-query-result>\n"
    )
}

#[test]
fn the_depth_of_stacks_is_limited() {
    for (depth, is_read) in [(1 << 14, true), ((1 << 14) + 1, false)] {
        let mut options = Options::default();
        options.limits.stack_depth = depth;
        let recording = read(deep_export(depth).as_bytes(), "test.xml", &options).unwrap();
        let report = recording.report(&ReportOptions::default());
        assert_eq!(report.series[0].counted.samples, 1);
        let bytes = page(&report, &Intervals::default(), WorkbenchReduction::None);
        assert_eq!(read_damaged(&bytes), is_read);
    }
}

/// A payload with this head.
fn payload_of(head: &Value) -> Vec<u8> {
    let head = head.to_string();
    let mut bytes = b"TPWB".to_vec();
    let mut length = head.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(head.bytes());
    bytes
}

#[test]
fn rows_without_bytes_are_limited() {
    let (recording, intervals) = open(&export(6), SampleDetail::Each);
    let bytes = page(&recording.report(&ReportOptions::default()), &intervals, WorkbenchReduction::None);
    let (head, rest) = parts(&bytes);
    let columns = head["columns"].as_array().unwrap();
    for (place, rows) in (0..columns.len()).flat_map(|place| [1_u64 << 40, u64::MAX].map(|rows| (place, rows))) {
        let mut head = head.clone();
        let column = &mut head["columns"][place];
        (column["rows"], column["encoding"], column["value"]) = (rows.into(), "constant".into(), 0.into());
        let damaged = [payload_of(&head), rest.to_vec()].concat();
        assert!(!read_damaged(&damaged), "{}", columns[place]["name"]);
        for column in head["columns"].as_array_mut().unwrap() {
            (column["rows"], column["encoding"], column["value"]) = (rows.into(), "constant".into(), 0.into());
        }
        assert!(!read_damaged(&payload_of(&head)));
    }
}

/// A page knows why binaries have no names, since its advice depends on that.
#[test]
fn a_page_has_the_reasons_for_missing_names() {
    let (recording, intervals) = open(&export(1), SampleDetail::Each);
    let uuid = Uuid::parse("1AB331D4-7151-31F1-AA9A-D7F955C391E5").unwrap();
    let of_another_build = Found {
        path: "/a/Other.dSYM".into(),
        kind: SourceKind::Dsym,
        uuid,
        arch: "arm64".to_owned(),
        name: String::new(),
        image_path: None,
        text_address: None,
        text_size: None,
        range: (0, 0),
    };
    let mut summary = SymbolicationSummary::default();
    let reasons = [Missing::NoFile { same_name: vec![of_another_build] }, Missing::OutsideFunctions, Missing::Nameless];
    for missing in reasons {
        let mut binary = BinarySummary::default();
        (binary.name, binary.uuid, binary.arch) = ("App".to_owned(), Some(uuid), "arm64e".to_owned());
        (binary.frames, binary.named_now, binary.missing) = (7, 3, Some(missing));
        summary.binaries.push(binary);
    }
    summary.images = Some(2);
    let mut report = recording.report(&ReportOptions::default());
    report.symbolication = Some(summary);
    let bytes = page(&report, &intervals, WorkbenchReduction::None);
    assert_eq!(Payload::read(&bytes, "page").unwrap().symbolication, report.symbolication);
}

/// The page of a recording has the sentences of its overview, in which functions are marked.
#[test]
fn sentences_are_those_of_the_overview() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mark = |text: &str| {
        text.split('\u{1}').skip(1).map(|rest| rest.split_once('\u{2}').unwrap().0.to_owned()).collect::<Vec<_>>()
    };
    let mut marked = 0;
    for seed in 0..40 {
        let invented = Invented::random(seed, &Size::small());
        let xml = render(&invented, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &invented));
        let (recording, _) = open(&xml, SampleDetail::Each);
        for states in [StateFilter::Running, StateFilter::All] {
            let selection = Selection { states, ..Selection::default() };
            let options = ReportOptions { selection, view: View::Overview, ..ReportOptions::default() };
            let report = recording.report(&options);
            let mut out = Vec::new();
            output::write(&report, &Format::Overview(Style::default(), OverviewContext::default()), &mut out).unwrap();
            let text = words(&String::from_utf8(out).unwrap());
            let heaviest = report
                .series
                .iter()
                .max_by_key(|series| (series.unit == Unit::Nanoseconds, series.counted.weight.value))
                .unwrap();
            let overview = report.overview(heaviest, 5, 1, 0);
            let subtree = overview.subtrees.first().map(|subtree| subtree.function);
            let first = subtree.or_else(|| overview.answers.first().map(|answer| answer.function));
            let found = OverviewSentences::new(&report, heaviest, overview, &Intervals::default());
            // The answer may begin with what the main thread does.
            let names = mark(&found.answer.join(" "));
            if let Some(first) = first.filter(|_| !names.is_empty()) {
                assert!(names.contains(&first.index().to_string()), "seed {seed}: {first:?} is not in {names:?}");
                marked += 1;
            }
            // In text, a fact has its label before it, and functions are rows of a table.
            let facts = found.answer.iter().filter_map(|line| line.split_once(": "));
            let facts = facts.map(|(label, fact)| match fact.split_once(" on ") {
                // A row has less space for the name of a thread.
                Some((share, _)) if label.ends_with("own+sys") => format!("{share} on"),
                _ => fact.trim_end_matches('.').to_owned(),
            });
            let (_, activity) = found.activity.split_once(": ").expect("a label");
            let activity = activity.split("; busiest").next().unwrap_or_default().to_owned();
            for sentence in facts.chain([activity, found.left_out, found.shares, found.advice]) {
                let plain = sentence.split('\u{1}').map(|part| part.split_once('\u{2}').map_or(part, |(_, name)| name));
                let plain = words(&plain.collect::<String>().replace('\u{3}', ""));
                // Text ends after some lines.
                let beginning: String = plain.chars().take(200).collect();
                assert!(text.contains(&beginning), "seed {seed}: {plain}\n{text}");
            }
        }
    }
    assert!(marked > 20);
}
