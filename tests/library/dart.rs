//! Dart CPU profiles: damage, limits, and what cannot be read. `tests/oracles/dart.rs` compares what is read.

use std::fs;

use traceparse::memory::MemoryBudget;
use traceparse::output::{self, Format};
use traceparse::recording::{Options, Recording, RejectReason, SampleDetail};
use traceparse::report::{ReportOptions, View};
use traceparse::units::Unit;
use traceparse::{Error, ErrorKind, read};

/// A seed of the fuzz target.
fn seed(name: &str) -> String {
    fs::read_to_string(support::repository("tests/fuzz/corpus/dart").join(name)).unwrap()
}

fn read_text(text: &str) -> Result<Recording, Error> {
    read(text.as_bytes(), "input", &Options::default())
}

fn folded(recording: &Recording) -> String {
    let options = ReportOptions { view: View::Tree, ..ReportOptions::default() };
    let mut out = Vec::new();
    output::write(&recording.report(&options), &Format::Folded, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn stacks_and_times_are_those_of_the_file() {
    let recording = read_text(&seed("samples")).unwrap();
    let times: Vec<u64> = recording.profile.samples().iter().map(|sample| sample.time.as_nanos()).collect();
    assert_eq!(times, [0, 1_010_000, 2_020_000, 2_030_000, 3_040_000]);
    let series = recording.profile.series(recording.profile.series_ids().next().unwrap());
    assert_eq!((series.unit, series.meaning.name(), series.has_times), (Unit::Samples, "on-cpu", true));
    assert_eq!(recording.diagnostics, [], "stubs may have other ticks");
    let lines = folded(&recording);
    for expected in [
        "main;Press.press 1",
        "main;Press.press;List.sort.<anonymous closure> 1",
        "<truncated backtrace>;main;Press.press 1",
    ] {
        assert!(lines.lines().any(|line| line.ends_with(expected)), "{expected}: {lines}");
    }
    assert!(lines.contains("main;[Stub] AllocateArray 1"), "a tag is no frame: {lines}");
}

#[test]
fn cut_documents_are_refused_with_their_place() {
    for (name, expected, rejected) in [("samples", 5, 0), ("timeline", 3, 1), ("circle", 1, 1)] {
        let text = seed(name);
        let recording = read_text(&text).unwrap();
        assert_eq!((recording.profile.samples().len(), recording.rejected()), (expected, rejected), "{name}");
        for end in 1..text.trim_end().len() {
            let error = read_text(&text[..end]).expect_err("it is cut");
            assert!(error.at.is_some_and(|at| at.byte <= end as u64), "{name} cut at {end}");
        }
    }
}

#[test]
fn damage_is_told() {
    for (name, from, to, word) in [
        ("samples", "\"sampleCount\": 5", "\"sampleCount\": 6", "has 5 samples, and sampleCount is 6"),
        ("samples", "\"stack\": [1, 0]", "\"stack\": [5, 0]", "the function 5, but there are only 5"),
        ("samples", "\"stack\": [1, 0]", "\"stack\": [-1, 0]", "not a whole number"),
        ("samples", "\"tid\": 771", "\"tid\": 771, \"tid\": 771", "tid occurs twice"),
        ("samples", "\"name\": \"press\"", "\"names\": \"press\"", "a function has no name"),
        ("samples", "\"samples\": [", "\"others\": [", "no samples"),
        ("samples", "\"type\": \"CpuSamples\"", "\"type\": \"_CpuProfileTimeline\"", "no samples"),
        ("timeline", "\"sampleCount\": 5", "\"sampleCount\": 3", "has 4 samples, and sampleCount is 3"),
        ("timeline", "\"140-2\": {", "\"140-1\": {", "140-1 occurs twice"),
        ("circle", "\"cpu-profiler\": {", "\"performance\": {", "without a CPU profile"),
        ("allocations", "", "", "a Dart allocation trace"),
    ] {
        let text = seed(name).replacen(from, to, 1);
        let error = read_text(&text).expect_err(word);
        assert!(error.to_string().contains(word) && error.at.is_some(), "{word}: {error}");
    }
}

#[test]
fn differences_are_noted() {
    let noted = |text: &str| {
        let recording = read_text(text).unwrap();
        recording.diagnostics.iter().map(|noted| (noted.message.clone(), noted.count)).collect::<Vec<_>>()
    };
    let other = noted(&seed("samples").replacen("\"inclusiveTicks\": 3", "\"inclusiveTicks\": 2", 1));
    assert!(matches!(other.as_slice(), [(text, 1)] if text.contains("inclusiveTicks")), "{other:?}");
    let left_out = noted(&seed("timeline"));
    assert!(left_out.iter().any(|(text, count)| text.contains("leaves out") && *count == 1), "{left_out:?}");
}

#[test]
fn rows_that_cannot_be_read_have_a_reason() {
    for (name, reasons) in [
        ("timeline", &[RejectReason::UndefinedRef][..]),
        ("circle", &[RejectReason::StackTooDeep]),
        ("answer", &[RejectReason::NoTime, RejectReason::EmptyCell]),
    ] {
        let recording = read_text(&seed(name)).unwrap();
        let found: Vec<RejectReason> =
            recording.tables().flat_map(|table| table.rejected.iter().map(|(reason, _)| reason)).collect();
        assert_eq!(found, reasons, "{name}");
        assert!(recording.diagnostics.iter().all(|noted| noted.at.as_ref().is_some_and(|at| at.line > 0)), "{name}");
    }
    let early = seed("samples").replacen("\"timestamp\": 2010", "\"timestamp\": 999", 1);
    let recording = read_text(&early).unwrap();
    assert_eq!(recording.tables().map(|table| table.rejected.of(RejectReason::BadNumber)).sum::<u64>(), 1);
}

#[test]
fn limits_hold() {
    let limited = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        read(seed("samples").as_bytes(), "input", &options)
    };
    assert_eq!(limited(|options| options.limits.stack_depth = 2).unwrap().rejected(), 2);
    assert_eq!(limited(|options| options.limits.stack_depth = 3).unwrap().rejected(), 0);
    let summed = limited(|options| options.samples = SampleDetail::Summed).unwrap();
    assert_eq!(summed.profile.sums().map(|sum| sum.samples).sum::<u64>(), 5);
    let long = seed("samples").replace("Pressing", &"P".repeat(1 << 20));
    assert!(matches!(read_text(&long).unwrap_err().kind, ErrorKind::Limit(_)));
}

#[test]
fn deep_stacks_of_frames_reject_only_their_own_rows() {
    let frames: Vec<String> =
        (1..3_000).map(|index| format!("\"{index}\":{{\"name\":\"f\",\"parent\":\"{}\"}}", index - 1)).collect();
    let event = |leaf| format!("{{\"ph\":\"P\",\"ts\":1,\"sf\":\"{leaf}\"}}");
    let text = format!(
        "{{\"type\":\"_CpuProfileTimeline\",\"stackFrames\":{{\"0\":{{\"name\":\"f\"}},{}}},\"traceEvents\":[{},{},{}]}}",
        frames.join(","),
        event(2_999),
        event(1_023),
        event(1_024)
    );
    let recording = read_text(&text).unwrap();
    let [table] = recording.tables().collect::<Vec<_>>()[..] else { panic!("one table") };
    assert_eq!((table.samples, table.rejected.of(RejectReason::StackTooDeep)), (1, 2));
    assert_eq!(recording.profile.frames_leaf_first(recording.profile.samples()[0].stack).count(), 1_024);
}

#[test]
fn memory_is_taken_for_what_is_there() {
    let sample = "{\"tid\":1,\"timestamp\":5,\"stack\":[0]}";
    let document = |samples: usize| {
        let samples = vec![sample; samples].join(",");
        format!(
            "{{\"type\":\"CpuSamples\",\"functions\":[{{\"function\":{{\"name\":\"main\"}}}}],\"samples\":[{samples}]}}"
        )
    };
    let within = |text: &str, bytes: u64| {
        read(text.as_bytes(), "input", &Options { memory: MemoryBudget::new(bytes), ..Options::default() })
    };
    assert_eq!(within(&document(2_000), 4 << 20).unwrap().profile.samples().len(), 2_000);
    let error = within(&document(50_000), 4 << 20).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Memory(_)) && error.at.is_some(), "{error}");
}
