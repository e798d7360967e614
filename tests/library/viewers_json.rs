//! JSON lines, compared with the document that has the same rows, and `--format d3`, compared with folded stacks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use traceparse::output::{self, Cells, Format};
use traceparse::read;
use traceparse::recording::{Options, Recording, RecordingBuilder, SampleDetail};
use traceparse::report::{Report, ReportOptions, SeparateBy, View};

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
        if entry.is_dir() {
            found.extend(inputs(&entry));
        } else if entry.ends_with("input.xml") {
            found.push(entry);
        }
    }
    found.sort();
    found
}

fn exports(samples: SampleDetail) -> Vec<Recording> {
    let paths = inputs(&support::repository("fixtures"));
    assert!(paths.len() >= 15, "only {} fixtures", paths.len());
    let options = Options { samples, ..Options::default() };
    paths.into_iter().map(|path| read(fs::File::open(path).unwrap(), "input.xml", &options).unwrap()).collect()
}

fn document(report: &Report<'_>) -> Value {
    let mut out = Vec::new();
    output::write(report, &Format::Json, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn lines(report: &Report<'_>) -> Vec<Value> {
    let mut out = Vec::new();
    output::write(report, &Format::JsonLines, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with("}\n"), "the last line ends");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Removes a field from an object.
fn take(object: &mut Value, field: &str) -> Value {
    object.as_object_mut().unwrap().shift_remove(field).unwrap_or(Value::Null)
}

#[test]
fn lines_have_what_the_document_has() {
    for export in exports(SampleDetail::Each) {
        for (view, name) in [
            (View::Summary, ""),
            (View::Threads, "threads"),
            (View::Functions, "functions"),
            (View::Samples, "samples"),
        ] {
            let report = export.report(&ReportOptions { view, ..ReportOptions::default() });
            let (mut document, mut lines) = (document(&report), lines(&report).into_iter());
            let mut header = lines.next().unwrap();
            assert_eq!(take(&mut header, "format"), "traceparse-lines");
            let rows = if name.is_empty() { Value::Array(Vec::new()) } else { take(&mut document, name) };
            take(&mut document, "format");
            assert_eq!(header, document);
            assert_eq!(Value::Array(lines.collect()), rows, "{view:?}");
        }
    }
}

/// The nodes of a tree as lines should have them.
fn flatten(mut node: Value, depth: u64, tree: usize, out: &mut Vec<Value>) {
    let children = take(&mut node, "children");
    node["depth"] = depth.into();
    node["tree"] = tree.into();
    out.push(node);
    for child in children.as_array().unwrap() {
        flatten(child.clone(), depth + 1, tree, out);
    }
}

#[test]
fn nodes_are_those_of_the_nested_tree() {
    for export in exports(SampleDetail::Summed) {
        for (separate_by, name, min_percent) in [
            (SeparateBy::Thread, "threads", 0.0),
            (SeparateBy::Process, "processes", 5.0),
            (SeparateBy::Nothing, "trees", 0.0),
        ] {
            let mut options = ReportOptions { view: View::Tree, separate_by, ..ReportOptions::default() };
            options.pruning.min_percent = min_percent;
            let report = export.report(&options);
            let mut expected = Vec::new();
            for (number, scope) in document(&report)[name].as_array().unwrap().iter().enumerate() {
                let mut head = scope.clone();
                let tree = std::mem::replace(&mut head["tree"], number.into());
                expected.push(head);
                flatten(tree, 0, number, &mut expected);
            }
            assert_eq!(lines(&report)[1..], expected);
        }
    }
}

/// The spans of a thread follow it, and CSV has a row for each.
#[test]
fn spans_are_those_of_the_chart() {
    for export in exports(SampleDetail::Each) {
        let report = export.report(&ReportOptions { view: View::FlameChart, ..ReportOptions::default() });
        let mut expected = Vec::new();
        for (chart, thread) in document(&report)["flame_chart"].as_array().unwrap().iter().enumerate() {
            let mut head = thread.clone();
            let spans = take(&mut head, "spans");
            for mut row in [head].into_iter().chain(spans.as_array().unwrap().clone()) {
                row["chart"] = chart.into();
                expected.push(row);
            }
        }
        assert_eq!(lines(&report)[1..], expected);
        let mut table = Vec::new();
        output::write(&report, &Format::Csv(Cells::AsTheyAre), &mut table).unwrap();
        let rows: Vec<BTreeMap<String, String>> =
            csv::Reader::from_reader(table.as_slice()).deserialize().collect::<Result<_, _>>().unwrap();
        let spans: Vec<&Value> = expected.iter().filter(|row| row.get("start_ns").is_some()).collect();
        let charts = report.series.iter().map(|series| report.flame_chart(series));
        let count: usize =
            charts.map(|chart| chart.threads().map(|thread| thread.spans().count()).sum::<usize>()).sum();
        assert_eq!((rows.len(), spans.len()), (count, count));
        for (row, span) in rows.iter().zip(spans) {
            for name in ["start_ns", "end_ns", "depth", "all_weight", "self_weight", "samples", "function", "binary"] {
                let value = match &span[name] {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    number => number.to_string(),
                };
                assert_eq!(row[name], value, "{name}");
            }
        }
    }
}

/// By path of names from the root on: the weight of samples that end there, with what is hidden below.
fn own_values(node: &Value, path: &mut Vec<String>, out: &mut BTreeMap<String, u64>) {
    let children = node["children"].as_array().unwrap();
    let value = |node: &Value| node["value"].as_u64().unwrap();
    let below: u64 = children.iter().map(value).sum();
    let own = value(node).checked_sub(below).expect("children weigh no more than their parent");
    if own > 0 {
        *out.entry(path.join(";")).or_default() += own;
    }
    // The root contains the trees of one run, followed by the trees of another.
    for pair in children.windows(2).filter(|_| !path.is_empty()) {
        assert!(value(&pair[0]) >= value(&pair[1]), "the heaviest is first");
    }
    for child in children {
        path.push(support::escaped(child["name"].as_str().unwrap()));
        own_values(child, path, out);
        path.pop();
    }
}

fn d3_tree(report: &Report<'_>) -> Value {
    let mut out = Vec::new();
    output::write(report, &Format::D3, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn the_tree_for_d3_is_that_of_folded_stacks() {
    let mut compared = 0;
    for export in exports(SampleDetail::Summed) {
        for separate_by in [SeparateBy::Thread, SeparateBy::Process, SeparateBy::Nothing] {
            let options = ReportOptions { view: View::Tree, separate_by, ..ReportOptions::default() };
            let report = export.report(&options);
            if report.check_one_measurement().is_err() {
                assert!(output::write(&report, &Format::D3, &mut Vec::new()).is_err());
                continue;
            }
            let tree = d3_tree(&report);
            assert_eq!(tree["name"], "all");
            let mut found = BTreeMap::new();
            own_values(&tree, &mut Vec::new(), &mut found);
            let mut out = Vec::new();
            output::write(&report, &Format::Folded, &mut out).unwrap();
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for line in String::from_utf8(out).unwrap().lines() {
                let (stack, weight) = line.rsplit_once(' ').unwrap();
                let elements: Vec<&str> = stack.split(';').collect();
                // Folded stacks have process and thread as two elements.
                let path = match separate_by {
                    SeparateBy::Thread => format!("{} · {};{}", elements[1], elements[0], elements[2..].join(";")),
                    SeparateBy::Nothing if report.series.len() > 1 => continue,
                    _ => elements.join(";"),
                };
                *expected.entry(path).or_default() += weight.parse::<u64>().unwrap();
                compared += 1;
            }
            if separate_by == SeparateBy::Nothing && report.series.len() > 1 {
                let names: Vec<&str> =
                    tree["children"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect();
                assert!(names.iter().all(|name| name.starts_with("run ")), "{names:?}");
                continue;
            }
            assert_eq!(found, expected);
        }
    }
    assert!(compared > 100, "only {compared} stacks");
}

#[test]
fn stacks_that_were_not_recorded_and_hidden_ones_stay_in_the_total() {
    let path = support::repository("fixtures/27/orchard/input.xml");
    let mut recording = RecordingBuilder::new(Options::default());
    recording.read(fs::File::open(path).unwrap(), "input.xml").unwrap();
    let export = recording.finish().unwrap();
    let separate_by = SeparateBy::Nothing;
    let mut options = ReportOptions { view: View::Tree, separate_by, ..ReportOptions::default() };
    let whole = d3_tree(&export.report(&options));
    assert_eq!(whole["value"], 485_000_000);
    assert!(whole["children"].as_array().unwrap().iter().any(|child| child["name"] == Report::NO_STACK));
    options.pruning.depth = Some(1);
    let cut = d3_tree(&export.report(&options));
    assert_eq!(cut["value"], 485_000_000);
    for (cut, whole) in cut["children"].as_array().unwrap().iter().zip(whole["children"].as_array().unwrap()) {
        assert_eq!((&cut["name"], &cut["value"]), (&whole["name"], &whole["value"]));
        assert_eq!(cut["children"], Value::Array(Vec::new()));
    }
}
