//! A profile of sums produces the same answers as a profile of samples, byte for byte.

use std::collections::BTreeMap;

use support::{Content, Node, RenderOptions, Shape, Size, Table, concatenate, render};
use traceparse::calltree::Metric;
use traceparse::output::{self, Cells, Format, Markers, Style};
use traceparse::profile::{Matcher, Profile, Selection, StateFilter, TimeRange};
use traceparse::read;
use traceparse::recording::{Options, Recording, SampleDetail};
use traceparse::report::{Report, ReportOptions, SeparateBy, View};
use traceparse::units::Nanos;

const VIEWS: [View; 11] = [
    View::Full,
    View::Summary,
    View::Threads,
    View::Tree,
    View::Functions,
    View::Binaries,
    View::Categories,
    View::Transitions,
    View::Lines,
    View::Processes,
    View::States,
];
const SEPARATIONS: [SeparateBy; 4] = [SeparateBy::Thread, SeparateBy::Process, SeparateBy::State, SeparateBy::Nothing];

fn open(xml: &str, samples: SampleDetail) -> Recording {
    read(xml.as_bytes(), "test.xml", &Options { samples, ..Options::default() }).unwrap()
}

/// Everything that is written of a report.
fn written(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let mut write = |name, result: std::io::Result<()>, out: Vec<u8>| {
        let text = String::from_utf8(out).unwrap();
        all.push((name, result.map_or_else(|error| error.to_string(), |()| text)));
    };
    let mut out = Vec::new();
    let result = output::write(report, &Format::Text(Style::default()), &mut out);
    write("text", result, out);
    let mut out = Vec::new();
    let result = output::write(report, &Format::Json, &mut out);
    write("json", result, out);
    if report.options.view != View::Full {
        let mut out = Vec::new();
        let result = output::write(report, &Format::Csv(Cells::AsTheyAre), &mut out);
        write("csv", result, out);
    }
    if report.options.view == View::Tree && report.check_one_measurement().is_ok() {
        let mut out = Vec::new();
        let result = output::write(report, &Format::Folded, &mut out);
        write("folded", result, out);
    }
    all
}

/// The selections that need no times.
fn selections(profile: &Profile) -> Vec<Selection> {
    let mut selections = vec![Selection::default(), Selection { states: StateFilter::All, ..Selection::default() }];
    let states = StateFilter::Only(vec!["blocked".to_owned(), "Runnable".to_owned()]);
    selections.push(Selection { states, runs: vec![1], ..Selection::default() });
    if let Some(thread) = profile.thread_ids().last() {
        let threads = vec![Matcher::new(profile.string(profile.thread(thread).name))];
        selections.push(Selection { threads, ..Selection::default() });
    }
    if let Some(process) = profile.process_ids().next() {
        let processes = vec![Matcher::new(profile.string(profile.process(process).name))];
        selections.push(Selection { processes, ..Selection::default() });
    }
    selections
}

/// Reads a document in both ways and holds every answer equal.
fn check(xml: &str, name: &str) {
    let (each, summed) = (open(xml, SampleDetail::Each), open(xml, SampleDetail::Summed));
    check_exports(&each, &summed, name);
}

fn check_exports(each: &Recording, summed: &Recording, name: &str) {
    assert_eq!(each.documents, summed.documents, "{name}: the accounting of rows");
    assert_eq!(each.diagnostics, summed.diagnostics, "{name}");
    assert!(each.profile.sums().len() == 0 && summed.profile.samples().is_empty(), "{name}");
    let accounted: u64 = summed.tables().map(|table| table.samples).sum();
    assert_eq!(summed.profile.sums().map(|sum| sum.samples).sum::<u64>(), accounted, "{name}");
    for (number, selection) in selections(&each.profile).into_iter().enumerate() {
        for (position, view) in VIEWS.into_iter().enumerate() {
            let metric = [Metric::Weight, Metric::Samples][(number + position) % 2];
            let separate_by = SEPARATIONS[(number + position) % SEPARATIONS.len()];
            let options =
                ReportOptions { selection: selection.clone(), view, metric, separate_by, ..ReportOptions::default() };
            let (expected, found) = (each.report(&options), summed.report(&options));
            let times = |report: &Report<'_>| report.series.iter().map(|series| series.times).collect::<Vec<_>>();
            assert_eq!(times(&expected), times(&found), "{name}: {options:?}");
            for (expected, found) in written(&expected).into_iter().zip(written(&found)) {
                assert_eq!(expected, found, "{name}: {options:?}");
            }
        }
    }
}

#[test]
fn every_shape_of_every_table_gives_the_same_answers() {
    let tables = [
        Table::TimeProfile,
        Table::CpuProfile,
        Table::CountersProfile { pmi: false },
        Table::CountersProfile { pmi: true },
        Table::TimeSample,
    ];
    for seed in 0..6 {
        let size = Size { runs: 1 + (seed % 2) as u32, snapshots: seed % 3 == 0, ..Size::small() };
        let recording = support::Invented::random(seed, &size);
        for shape in Shape::ALL {
            for table in tables {
                let shape = shape.for_table(table);
                if shape == Shape::TimeSample && table != Table::TimeSample {
                    continue;
                }
                let xml = render(&recording, &RenderOptions::new(shape, table, &recording));
                check(&xml, &format!("seed {seed}, {shape:?}, {table:?}"));
            }
        }
    }
}

#[test]
fn a_recording_with_many_rows_gives_the_same_answers() {
    let recording = support::Invented::random(11, &Size { snapshots: true, ..Size::medium() });
    for (shape, table) in
        [(Shape::Xcode27, Table::CountersProfile { pmi: false }), (Shape::TimeSample, Table::TimeSample)]
    {
        check(&render(&recording, &RenderOptions::new(shape, table, &recording)), "many rows");
    }
}

#[test]
fn several_tables_and_documents_give_the_same_answers() {
    let recording = support::Invented::random(5, &Size { runs: 2, ..Size::small() });
    let half = |table: Table, is_first: bool| {
        let rows = (0..recording.rows.len()).filter(|row| (row % 2 == 0) == is_first).collect();
        Node { run: 1, table_index: table.usual_index(), content: Content::Samples { table, rows } }
    };
    let nodes = vec![
        half(Table::TimeProfile, true),
        half(Table::CountersProfile { pmi: false }, true),
        half(Table::TimeSample, true),
        half(Table::TimeProfile, false),
    ];
    let document = render(&recording, &RenderOptions::with_nodes(Shape::Xcode26_4, nodes));
    check(&document, "four tables");
    check(&concatenate(&[document.clone(), document]), "two documents");
}

/// A table with these columns and rows.
fn table(schema: &str, columns: &[&str], rows: &str) -> String {
    let columns: String = columns.iter().map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
         <schema name=\"{schema}\">{columns}</schema>{rows}</node></trace-query-result>\n"
    )
}

/// Six rows of one thread and one stack: two states, none, and times out of order.
fn states() -> String {
    let thread = "<thread id=\"1\" fmt=\"Main Thread 0x7 (App, pid: 9)\"><tid id=\"2\">7</tid></thread>";
    let stack = "<backtrace id=\"3\"><frame id=\"4\" name=\"work\" addr=\"0x1001\"/></backtrace>";
    let states = [
        "<thread-state id=\"5\">Running</thread-state>",
        "<thread-state id=\"6\">Blocked</thread-state>",
        "<sentinel/>",
        "<thread-state ref=\"5\"/>",
        "<thread-state ref=\"6\"/>",
        "<sentinel/>",
    ];
    let row = |(index, state): (usize, &&str)| {
        let (thread, stack) =
            if index == 0 { (thread, stack) } else { ("<thread ref=\"1\"/>", "<backtrace ref=\"3\"/>") };
        let (time, weight) = ([30, 50, 20, 10, 70, 40][index], 1 << index);
        format!("<row><sample-time>{time}</sample-time>{thread}<weight>{weight}</weight>{state}{stack}</row>")
    };
    let rows: String = states.iter().enumerate().map(row).collect();
    table("time-profile", &["time", "thread", "weight", "thread-state", "stack"], &rows)
}

#[test]
fn states_are_apart_and_times_are_the_first_the_last_and_the_end() {
    check(&states(), "states");
    let summed = open(&states(), SampleDetail::Summed);
    let found: BTreeMap<Option<&str>, (u64, u64, [u64; 3])> = summed
        .profile
        .sums()
        .map(|sum| {
            let times = sum.times.map(|times| [times.first, times.last, times.end]).unwrap().map(Nanos::as_nanos);
            (sum.state.map(|state| summed.profile.string(state)), (sum.weight, sum.samples, times))
        })
        .collect();
    let expected = [
        (None, (4 + 32, 2, [20, 40, 40 + 32])),
        (Some("Blocked"), (2 + 16, 2, [50, 70, 70 + 16])),
        (Some("Running"), (1 + 8, 2, [10, 30, 30 + 1])),
    ];
    assert_eq!(found, BTreeMap::from(expected));
}

#[test]
fn counters_are_summed_by_sum() {
    let row = |counters: &str, name: &str| {
        format!(
            "<row><sample-time>1</sample-time><weight>1</weight><pmc-events>{counters}</pmc-events>\
             <backtrace><frame name=\"{name}\" addr=\"0x1001\"/></backtrace></row>"
        )
    };
    let max = u64::MAX.to_string();
    let rows = [row(&max, "a"), row("5 6", "b"), row(&format!("{max} 3"), "a"), row("1", "b"), row("", "c")].concat();
    let xml = table("counters-profile", &["time", "weight", "counters-array", "stack"], &rows);
    check(&xml, "counters");
    let profile = open(&xml, SampleDetail::Summed).profile;
    assert_eq!(profile.sum_counters(0), [2 * u128::from(u64::MAX), 3]);
    assert_eq!(profile.sum_counters(1), [6, 6]);
    assert_eq!((profile.sum_counters(2), profile.sum_counters(3)), (&[][..], &[][..]));
    assert!(profile.counters(0).is_empty(), "those are of samples");
}

#[test]
fn weights_that_overflow_are_rejected_in_both_ways() {
    let row = |weight: u64| {
        format!(
            "<row><sample-time>1</sample-time><weight>{weight}</weight><backtrace><frame name=\"a\" addr=\"0x1001\"/>\
             </backtrace></row>"
        )
    };
    let xml = table("time-profile", &["time", "weight", "stack"], &[row(u64::MAX), row(1), row(0)].concat());
    check(&xml, "overflow");
    let summed = open(&xml, SampleDetail::Summed);
    assert_eq!((summed.rejected(), summed.profile.sums().next().unwrap().weight), (1, u64::MAX));
    assert_eq!(summed.profile.sums().next().unwrap().samples, 2);
}

#[test]
fn a_time_counts_nothing_in_a_profile_of_sums() {
    let time = Some(TimeRange { start: Nanos::default(), end: None });
    let options = ReportOptions { selection: Selection { time, ..Selection::default() }, ..ReportOptions::default() };
    let counted = |samples| open(&states(), samples).report(&options).series[0].counted.samples;
    assert_eq!((counted(SampleDetail::Each), counted(SampleDetail::Summed)), (4, 0));
    let summed = open(&states(), SampleDetail::Summed);
    let report = summed.report(&options);
    assert_eq!((report.series[0].out_of_scope.samples, report.samples().count()), (6, 0));
}

/// Frames that become one function, several, or another, as symbols make of them.
#[test]
fn formats_that_need_each_sample_say_so() {
    let (xml, options) = (states(), ReportOptions { view: View::Tree, ..ReportOptions::default() });
    let (summed, each) = (open(&xml, SampleDetail::Summed), open(&xml, SampleDetail::Each));
    for format in [Format::Firefox(&Markers::default()), Format::Speedscope] {
        let refused = output::write(&summed.report(&options), &format, &mut Vec::new()).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
        assert!(refused.to_string().starts_with("the samples were summed"), "{refused}");
        output::write(&each.report(&options), &format, &mut Vec::new()).unwrap();
        // Without samples, nothing was summed, so nothing is refused.
        output::write(&Recording::default().report(&options), &format, &mut Vec::new()).unwrap();
    }
}

#[test]
fn profiles_with_other_frames_give_the_same_answers() {
    let renamed = |export: &Recording| {
        let profile = export.profile.with_frames(|builder, id| {
            let frame = *export.profile.frame(id);
            let mut frames = Vec::new();
            for number in 0..=id.index() % 3 {
                let name = builder.string(&format!("function {}", (id.index() + number) % 5))?;
                let function = builder.function(name, frame.binary, true)?;
                frames.push(builder.frame(traceparse::profile::FrameKey {
                    function,
                    binary: frame.binary,
                    address: frame.address,
                    source: None,
                    is_inlined: number == 0,
                    group: 0,
                })?);
            }
            Ok(traceparse::profile::Replacement { frames, covers_callers: id.index() % 2 == 0 })
        });
        with_profile(export, profile.unwrap())
    };
    for seed in 0..20 {
        let recording = support::Invented::random(seed, &Size { inlined: true, ..Size::small() });
        let table = Table::CountersProfile { pmi: false };
        let xml = render(&recording, &RenderOptions::new(Shape::Xcode27, table, &recording));
        let (each, summed) = (open(&xml, SampleDetail::Each), open(&xml, SampleDetail::Summed));
        check_exports(&renamed(&each), &renamed(&summed), &format!("seed {seed}"));
    }
}

fn with_profile(export: &Recording, profile: Profile) -> Recording {
    let mut export = export.clone();
    export.profile = profile;
    export
}

/// If only names change, frames keep their ids, and stacks are reused. With an additional frame that no stack contains, all are rebuilt.
#[test]
fn stacks_whose_frames_got_names_only_are_what_they_were() {
    use traceparse::profile::{FrameKey, Replacement};
    let renamed = |export: &Recording, shift: bool| {
        let mut is_first = shift;
        let profile = export.profile.with_frames(|builder, id| {
            let frame = *export.profile.frame(id);
            let name = builder.string(&format!("function {}", id.index() % 7))?;
            let function = builder.function(name, frame.binary, true)?;
            let key = FrameKey {
                function,
                binary: frame.binary,
                address: frame.address,
                source: frame.source,
                is_inlined: frame.is_inlined,
                group: 0,
            };
            if std::mem::take(&mut is_first) {
                builder.frame(FrameKey { group: 1, ..key })?;
            }
            Ok(Replacement { frames: vec![builder.frame(key)?], covers_callers: false })
        });
        with_profile(export, profile.unwrap())
    };
    for seed in 0..20 {
        let recording = support::Invented::random(seed, &Size { inlined: true, ..Size::small() });
        let table = Table::CountersProfile { pmi: false };
        let xml = render(&recording, &RenderOptions::new(Shape::Xcode27, table, &recording));
        let (each, summed) = (open(&xml, SampleDetail::Each), open(&xml, SampleDetail::Summed));
        let (kept, shifted) = (renamed(&each, false), renamed(&each, true));
        assert_eq!(kept.profile.frame_ids().len() + 1, shifted.profile.frame_ids().len(), "seed {seed}");
        let stacks = |export: &Recording| {
            let profile = &export.profile;
            profile
                .stack_ids()
                .map(|id| (profile.stack(id).parent, profile.frame(profile.stack(id).frame).address))
                .collect::<Vec<_>>()
        };
        assert_eq!(stacks(&kept), stacks(&shifted), "seed {seed}");
        assert_eq!(kept.profile.samples(), shifted.profile.samples(), "seed {seed}");
        for index in 0..kept.profile.samples().len() {
            assert_eq!(kept.profile.counters(index), shifted.profile.counters(index), "seed {seed}");
        }
        check_exports(&kept, &renamed(&summed, true), &format!("seed {seed}"));
        check_exports(&shifted, &renamed(&summed, false), &format!("seed {seed}"));
    }
}
