//! Compares flame charts with a slow implementation that follows the documented rules, and `--format chrome-trace` with the results of a
//! Python script (`tests/oracle/trace.py`).
//!
//! Tests on real exports report themselves as ignored without `TRACEPARSE_CORPUS`, and tests in Python without an interpreter
//! (`TRACEPARSE_PYTHON`, or `python3` on PATH).

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use support::{RenderOptions, Rng, Shape, Size, Table, render};
use traceparse::calltree::{Label, Metric};
use traceparse::output::{self, Format};
use traceparse::profile::{Sample, Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording, SampleDetail};
use traceparse::report::{Report, ReportOptions, SeriesReport, Span, View};
use traceparse::units::{Nanos, Unit};

use super::{inputs, name_of};
use crate::programs::{has_python, oracle, repository};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![random_recordings, a_span_ends_at_a_pause, sums_have_no_times];
    trials.extend(trials![if has_python(); times_are_weights_where_samples_meet]);
    for path in inputs() {
        let (name, in_python) = (name_of(&path), path.clone());
        trials.push(trial!(format!("spans::{name}"), move || on_file(&path, equals_slow_form)));
        let trace = move || on_file(&in_python, |export| nests_in_python(export, false));
        trials.push(trial!(format!("trace::{name}"), trace).with_ignored_flag(!has_python()));
    }
    trials
}

fn on_file(path: &Path, check: fn(&Recording) -> Result<(), Failed>) -> Result<(), Failed> {
    check(&read(fs::File::open(path)?, "input.xml", &Options::default())?)
}

fn options() -> ReportOptions {
    ReportOptions { view: View::FlameChart, ..ReportOptions::default() }
}

/// The spans of all threads of a report.
fn spans(report: &Report<'_>) -> Vec<Vec<Span>> {
    let charts = report.series.iter().map(|series| report.flame_chart(series));
    charts.flat_map(|chart| chart.threads().map(|thread| thread.spans().collect()).collect::<Vec<_>>()).collect()
}

/// All selections and limits.
fn equals_slow_form(export: &Recording) -> Result<(), Failed> {
    for (metric, states, depth, min_percent) in [
        (Metric::Weight, StateFilter::Running, None, 0.0),
        (Metric::Samples, StateFilter::All, None, 0.0),
        (Metric::Weight, StateFilter::All, Some(3), 0.0),
        (Metric::Weight, StateFilter::Running, None, 4.0),
        (Metric::Weight, StateFilter::Running, Some(0), 0.0),
    ] {
        let mut options = ReportOptions { metric, ..options() };
        options.selection = Selection { states, ..Selection::default() };
        (options.pruning.depth, options.pruning.min_percent) = (depth, min_percent);
        let report = export.report(&options);
        for series in &report.series {
            let chart = report.flame_chart(series);
            ensure!(chart.typical_gap() == slow_gap(&report, series), "{:?}", chart.typical_gap());
            ensure!(
                chart.threads().map(|thread| thread.thread()).eq(series.threads.iter().map(|row| row.thread)),
                "threads"
            );
            for thread in chart.threads() {
                let found: Vec<Span> = thread.spans().collect();
                are_in_order(&found)?;
                let samples = samples_of(&report, series, thread.row.thread);
                let mut expected = slow_spans(&report, &samples, chart.typical_gap());
                expected.retain(|span| depth.is_none_or(|depth| span.depth <= depth));
                let total = thread.row.counted.weight.value;
                expected.retain(|span| total == 0 || span.all_weight as f64 * 100.0 / total as f64 >= min_percent);
                let (found, expected) = (sorted(found), sorted(expected));
                ensure!(found == expected, "{options:?}: {found:#?}\nexpected {expected:#?}");
                let outer: u64 = found.iter().filter(|span| span.depth == 1).map(|span| span.all_weight).sum();
                let is_whole = depth != Some(0) && min_percent == 0.0;
                ensure!(!is_whole || outer == total, "{outer} of {total}");
            }
        }
    }
    Ok(())
}

/// Spans are sorted by start, and callers precede callees.
fn are_in_order(spans: &[Span]) -> Result<(), Failed> {
    for pair in spans.windows(2) {
        ensure!(pair[0].start <= pair[1].start, "{pair:?}");
        ensure!(pair[1].depth <= pair[0].depth || pair[1].end <= pair[0].end, "{pair:?}");
    }
    Ok(())
}

fn sorted(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, span.depth, span.end, span.label, span.samples, span.self_weight));
    spans
}

/// The samples of a thread that cover time, in order of time.
fn samples_of<'r>(
    report: &'r Report<'_>,
    series: &SeriesReport,
    thread: traceparse::profile::Id<traceparse::profile::Thread>,
) -> Vec<&'r Sample> {
    let profile = &report.recording.profile;
    let selected = report.options.selection.on(profile);
    let of_thread = |sample: &&Sample| sample.series == series.series && sample.thread == thread && sample.weight > 0;
    let mut samples: Vec<&Sample> =
        profile.samples().iter().filter(of_thread).filter(|&sample| selected.is_state_counted(sample)).collect();
    samples.sort_by_key(|sample| sample.time);
    samples
}

fn slow_gap(report: &Report<'_>, series: &SeriesReport) -> Option<Nanos> {
    if report.recording.profile.series(series.series).unit == Unit::Nanoseconds {
        return None;
    }
    let mut gaps = Vec::new();
    for row in &series.threads {
        let samples = samples_of(report, series, row.thread);
        gaps.extend(samples.windows(2).map(|pair| pair[1].time.since(pair[0].time)).filter(|gap| gap.as_nanos() > 0));
    }
    gaps.sort_unstable();
    Some(gaps.get(gaps.len().saturating_sub(1) / 2).copied().unwrap_or_default())
}

/// For every depth, the runs of samples with equal callers, found by comparing complete paths.
fn slow_spans(report: &Report<'_>, samples: &[&Sample], gap_of_samples: Option<Nanos>) -> Vec<Span> {
    let profile = &report.recording.profile;
    let path = |sample: &Sample| -> Vec<Label> {
        let functions = profile.frames_leaf_first(sample.stack).map(|frame| Label::Function(frame.function));
        let mut path: Vec<Label> = functions.collect();
        path.reverse();
        if path.is_empty() { vec![Label::NoStack] } else { path }
    };
    let paths: Vec<Vec<Label>> = samples.iter().map(|sample| path(sample)).collect();
    let time = |at: usize| samples[at].time.as_nanos();
    let gap_behind = |at: usize| (at + 1 < samples.len()).then(|| time(at + 1) - time(at));
    let goes_on = |at: usize| match (gap_of_samples, gap_behind(at)) {
        (_, None) => false,
        (None, Some(gap)) => gap < samples[at].weight + samples[at].weight / 2,
        (Some(typical), Some(gap)) => gap <= 2 * typical.as_nanos(),
    };
    // Weights in time units cover the time after the sample; other weights cover the time before it.
    let covered = |at: usize| match gap_of_samples {
        None => (time(at), time(at) + gap_behind(at).map_or(samples[at].weight, |gap| gap.min(samples[at].weight))),
        Some(_) if at > 0 && goes_on(at - 1) => (time(at - 1), time(at)),
        Some(typical) => (time(at).saturating_sub(typical.as_nanos()), time(at)),
    };
    let mut spans = Vec::new();
    for depth in 1..=paths.iter().map(Vec::len).max().unwrap_or(0) {
        let mut at = 0;
        while at < samples.len() {
            let first = at;
            at += 1;
            if paths[first].len() < depth {
                continue;
            }
            let is_same = |at: usize| paths[at].get(..depth) == Some(&paths[first][..depth]);
            while at < samples.len() && goes_on(at - 1) && is_same(at) {
                at += 1;
            }
            let weight = |at: usize| report.options.metric.of(samples[at]);
            spans.push(Span {
                label: paths[first][depth - 1],
                depth: depth as u32,
                start: Nanos::from_nanos(covered(first).0),
                end: Nanos::from_nanos(covered(at - 1).1),
                all_weight: (first..at).map(weight).sum(),
                self_weight: (first..at).filter(|&at| paths[at].len() == depth).map(weight).sum(),
                samples: (at - first) as u64,
            });
        }
    }
    spans
}

fn random_recordings() -> Result<(), Failed> {
    let tables = [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: true }, Table::TimeSample];
    for seed in 0..8 {
        let size = Size { runs: 1 + (seed % 2) as u32, snapshots: seed % 3 == 0, ..Size::small() };
        let recording = support::Invented::random(seed, &size);
        for table in tables {
            let shape = Shape::Xcode27.for_table(table);
            let xml = render(&recording, &RenderOptions::new(shape, table, &recording));
            equals_slow_form(&read(xml.as_bytes(), "test.xml", &Options::default())?)?;
        }
    }
    Ok(())
}

/// Compares with the script's reading of the trace; `is_exact` if times must be weights.
fn nests_in_python(export: &Recording, is_exact: bool) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes);
    let (mut trace, mut functions) = (Vec::new(), Vec::new());
    output::write(&export.report(&options()), &Format::ChromeTrace, &mut trace)?;
    output::write(
        &export.report(&ReportOptions { view: View::Functions, ..options() }),
        &Format::Json,
        &mut functions,
    )?;
    write("trace.json", trace)?;
    write("functions.json", functions)?;
    if is_exact {
        write("exact", Vec::new())?;
    }
    oracle("trace.py", [folder.path()]).map(|_| ())
}

/// An export of samples: thread, time and weight in ns, and the functions of the stack, root first.
fn export_of(samples: &[(u64, u64, u64, Vec<&str>)]) -> Result<Recording, Failed> {
    let columns = ["time", "thread", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>"));
    let mut xml = format!("<trace-query-result><node><schema name=\"time-profile\">{}</schema>", columns.concat());
    for (thread, time, weight, stack) in samples {
        let frames = stack.iter().rev().map(|name| format!("<frame name=\"{name}\" addr=\"0x{:x}1\"/>", name.len()));
        let (tid, pid) = (format!("<tid>{thread}</tid>"), "<process fmt=\"App (7)\"><pid>7</pid></process>");
        xml += &format!(
            "<row><sample-time>{time}</sample-time><thread fmt=\"T {thread} (App, pid: 7)\">{tid}{pid}</thread>\
             <weight>{weight}</weight><tagged-backtrace>{}</tagged-backtrace></row>",
            frames.collect::<String>()
        );
    }
    xml += "</node></trace-query-result>";
    let export = read(xml.as_bytes(), "test.xml", &Options::default())?;
    ensure!(export.profile.samples().len() == samples.len(), "{:?}", export.diagnostics);
    Ok(export)
}

/// Random stacks, one right after the other: self times are self weights, to the nanosecond.
fn times_are_weights_where_samples_meet() -> Result<(), Failed> {
    let mut random = Rng::new(3);
    let mut below = |limit: u64| random.next_u64() % limit;
    let names = ["main", "run", "work", "rest", "run2", "a::b", "c"];
    let mut samples = Vec::new();
    for thread in 1..5_u64 {
        let mut time = below(1 << 40);
        for _ in 0..400 {
            let depth = 1 + below(6) as usize;
            let stack =
                (0..depth).map(|level| if level < 2 { names[level] } else { names[below(7) as usize] }).collect();
            let weight = 1 + below(2_000_000);
            samples.push((thread, time, weight, stack));
            time += weight;
            // A pause is long enough if it is longer than any sample.
            if below(20) == 0 {
                time += 3_000_000;
            }
        }
    }
    nests_in_python(&export_of(&samples)?, true)
}

/// The picture in the module documentation.
fn a_span_ends_at_a_pause() -> Result<(), Failed> {
    const MS: u64 = 1_000_000;
    let work = vec!["main", "work"];
    let rest = vec!["main", "rest"];
    let at = |time, stack: &Vec<&'static str>| (1, time, MS, stack.clone());
    let export = export_of(&[at(0, &work), at(MS, &work), at(2 * MS, &rest), at(4 * MS, &rest)])?;
    let report = export.report(&options());
    let found = spans(&report);
    let label = |span: &Span| match span.label {
        Label::Function(id) => export.profile.function_name(id).to_owned(),
        _ => String::new(),
    };
    let row = |span: &Span| (label(span), span.start.as_nanos() / MS, span.end.as_nanos() / MS, span.self_weight / MS);
    let rows: Vec<_> = found[0].iter().map(row).collect();
    let expected = [("main", 0, 3, 0), ("work", 0, 2, 2), ("rest", 2, 3, 1), ("main", 4, 5, 0), ("rest", 4, 5, 1)];
    ensure!(rows == expected.map(|(name, start, end, own)| (name.to_owned(), start, end, own)), "{rows:?}");
    // An early sample ends the previous span; a slightly late sample does not cause a pause.
    let export = export_of(&[at(0, &work), at(MS - 9, &work), at(2 * MS + 9, &rest), at(3 * MS + MS / 2 + 9, &rest)])?;
    let report = export.report(&options());
    let rows: Vec<_> =
        spans(&report)[0].iter().map(|span| (span.depth, span.start.as_nanos(), span.end.as_nanos())).collect();
    let expected = [(1, 0, 3 * MS + 9), (2, 0, 2 * MS - 9), (2, 2 * MS + 9, 3 * MS + 9)];
    ensure!(rows[..3] == expected && rows.len() == 5, "{rows:?}");
    Ok(())
}

fn sums_have_no_times() -> Result<(), Failed> {
    let path = repository("fixtures/27/orchard/input.xml");
    let summed = Options { samples: SampleDetail::Summed, ..Options::default() };
    let export = read(fs::File::open(path)?, "input.xml", &summed)?;
    let report = export.report(&options());
    ensure!(!report.series[0].threads.is_empty() && spans(&report).iter().all(Vec::is_empty), "spans of sums");
    Ok(())
}
