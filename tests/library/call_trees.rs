//! Instruments Deep Copies and dotTrace reports: damage, limits, and what is refused. `tests/oracles` compares what is read.

use std::fs;

use traceparse::memory::MemoryBudget;
use traceparse::output::{self, Format, Style};
use traceparse::recording::{Options, Recording};
use traceparse::report::ReportOptions;
use traceparse::report::diff::{Diff, Normalize, Unlike};
use traceparse::{Error, ErrorKind, read};

/// A seed of a fuzz target.
fn seed(path: &str) -> Vec<u8> {
    fs::read(support::repository("tests/fuzz/corpus").join(path)).unwrap()
}

fn text(path: &str) -> String {
    String::from_utf8(seed(path)).unwrap()
}

fn read_bytes(bytes: &[u8]) -> Result<Recording, Error> {
    read(bytes, "input", &Options::default())
}

fn weight(recording: &Recording) -> u64 {
    recording.profile.sums().map(|sum| sum.weight).sum()
}

#[test]
fn every_form_is_read() {
    for (path, expected, unit) in [
        ("deep_copy/time", 4_927_000_000, "ns"),
        ("deep_copy/utf-16-le", 4_927_000_000, "ns"),
        ("deep_copy/utf-16-be", 4_927_000_000, "ns"),
        ("deep_copy/self-in-ms", 4_273_000_000, "ns"),
        ("deep_copy/cycles", 96_084_750_532, "cycles"),
        ("deep_copy/decimal-comma", 1_234_500_000, "ns"),
        ("deep_copy/allocations", 640, "bytes"),
        ("dottrace/instances", 1_057_500_000, "elapsed_ns"),
        ("dottrace/slashes", 3_000_000, "elapsed_ns"),
    ] {
        let recording = read_bytes(&seed(path)).unwrap();
        let series: Vec<_> = recording.profile.series_ids().map(|id| recording.profile.series(id)).collect();
        assert_eq!((weight(&recording), series[0].unit.name(), series.len()), (expected, unit, 1), "{path}");
        assert!(!series[0].has_times && !recording.diagnostics.is_empty(), "{path}");
    }
}

#[test]
fn copies_with_contradictions_are_refused_with_their_line() {
    for (path, from, to, line, word) in [
        ("time", "846.00 ms\t", "746.00 ms\t", 3, "less than its total"),
        ("time", "846.00 ms\t", "946.00 ms\t", 3, "more than its total"),
        ("time", "3.28 s  \u{2007}0.0%", "3,28 s  \u{2007}0.0%", 4, "unknown form"),
        ("time", "\t     fill", "\t      fill", 4, "more than its total"),
        ("time", "\t     squeeze", "\t      squeeze", 4, "more than one level"),
        ("time", "\t     squeeze", "", 4, "columns of the first line"),
        ("time", "\t801.00 ms\t", "\t801.00 x\t", 5, "not a number with a unit"),
        ("time", "801.00 ms\t", "801.00 Kc\t", 5, "a different unit from its columns"),
        ("time", "squeeze", "\u{fffd}", 4, "not valid UTF-8"),
        ("time", "squeeze", "", 4, "no symbol"),
        ("time", "Self Weight", "Self Bytes", 1, "is not a call tree"),
        ("allocations", "512 Bytes", "512 KB", 3, "cannot be computed"),
        ("allocations", "512 Bytes", "1,512 Bytes", 2, "more than its total"),
        ("decimal-comma", "1.234,50 ms  100,0\u{a0}%", "1.234 ms", 2, "thousands or decimals"),
    ] {
        let changed = text(&format!("deep_copy/{path}")).replacen(from, to, 1);
        let error = read_bytes(changed.as_bytes()).expect_err(word);
        assert!(error.to_string().contains(word), "{word}: {error}");
        assert_eq!(error.at.map(|at| at.line), Some(line), "{word}");
    }
}

#[test]
fn copies_of_other_versions_are_read() {
    let old = "Running Time\tSelf\t\tSymbol Name\n21.0ms   10.6%\t7\t \tpress\n14.0ms    7.0%\t14.0\t \t squeeze\n";
    let unnamed = "33.00 s  100.0%\t0 s\t \tOrchard (5)\n33.00 s   99.2%\t33.00 s\t \t main\n";
    for (text, expected, note) in [(old, 21_000_000, "rounds"), (unnamed, 33_000_000_000, "names of its columns")] {
        let recording = read_bytes(text.as_bytes()).unwrap();
        assert_eq!(weight(&recording), expected, "{text}");
        assert!(recording.diagnostics.iter().any(|noted| noted.message.contains(note)), "{:?}", recording.diagnostics);
    }
    let inverted = "Weight\tSelf Weight\t\tSymbol Name\n20.00 ms   66.6%\t20.00 ms\t \tfree\n20.00 ms   50.0%\t0 s\t \t work()\n\
                    20.00 ms   50.0%\t0 s\t \t  main\n";
    let error = read_bytes(inverted.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("uncheck Invert Call Tree"), "{error}");
}

#[test]
fn missing_rows_are_refused_unless_the_rounding_of_the_tree_is_larger() {
    let without = |path: &str, last: usize| {
        let text = text(path);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        read_bytes(lines[..lines.len() - last].join("\n").as_bytes())
    };
    let told =
        |recording: Recording| recording.diagnostics.iter().filter(|note| note.message.contains("cut off")).count();
    assert_eq!(told(read_bytes(&seed("deep_copy/cycles")).unwrap()), 1);
    assert_eq!(told(read_bytes(&seed("deep_copy/time")).unwrap()), 0);
    assert_eq!(told(without("deep_copy/cycles", 1).unwrap()), 1);
    for (path, last) in [("time", 1), ("time", 2), ("time", 3), ("cycles", 3), ("self-in-ms", 1), ("decimal-comma", 1)]
    {
        let error = without(&format!("deep_copy/{path}"), last).expect_err("rows are missing");
        assert!(error.to_string().contains("rows are missing") && error.at.is_some(), "{path}: {error}");
    }
}

#[test]
fn cut_reports_are_refused_with_their_place() {
    for path in ["dottrace/instances", "dottrace/slashes"] {
        let bytes = seed(path);
        for end in 1..bytes.len() - 1 {
            let error = read_bytes(&bytes[..end]).expect_err("it is cut");
            assert!(error.at.is_some_and(|at| at.byte <= end as u64), "{path} cut at {end}");
        }
    }
}

#[test]
fn rejects_reports_that_are_not_a_sampled_tree() {
    for (path, from, to, line, word) in [
        ("instances", "Samples=\"5\"", "Calls=\"5\"", 3, "tracing (Calls)"),
        ("instances", "Samples=\"5\"", "", 3, "unknown how it was measured"),
        ("instances", "<Instance", "<Row", 1, "instances that differs from its attribute"),
        ("instances", "OwnTime=\"30\"", "OwnTime=\"35\"", 3, "differs from the sum of its instances"),
        (
            "instances",
            "TotalTime=\"37.5\" OwnTime=\"7.5\" Samples=\"4\" />",
            "TotalTime=\"17.5\" OwnTime=\"7.5\" />",
            8,
            "TotalTime",
        ),
        ("instances", "OwnTime=\"30\"", "OwnTime=\"30,5\"", 4, "not milliseconds with a decimal point"),
        ("instances", "OwnTime=\"1,050\"", "Other=\"1\"", 3, "compare snapshots"),
        ("instances", "Run/Orchard.Press.Squeeze", "Run/Other", 4, "does not end with the FQN"),
        ("instances", "Main/Orchard.Day.Run/", "Main//", 4, "empty name"),
        ("slashes", "\"A/A/B/C\"", "\"A/D/B/C\"", 2, "contain /"),
        ("slashes", "\"A/A/B/C\"", "\"B/C/B/C\"", 2, "contain /"),
    ] {
        let changed = text(&format!("dottrace/{path}")).replacen(from, to, 1);
        let error = read_bytes(changed.as_bytes()).expect_err(word);
        assert!(error.to_string().contains(word), "{word}: {error}");
        assert!(line == 1 || error.at.as_ref().is_some_and(|at| at.line == line), "{word}: {error}");
    }
    let flat = "<Report><Function FQN=\"A\" TotalTime=\"3\" OwnTime=\"1\" Samples=\"3\" Instances=\"1\"/></Report>";
    assert!(read_bytes(flat.as_bytes()).unwrap_err().to_string().contains("PrintCallstacks"));
}

#[test]
fn warns_of_self_time_without_a_stack() {
    let recording = read_bytes(&seed("dottrace/instances")).unwrap();
    let note = recording.diagnostics.iter().find(|note| note.message.contains("left out")).unwrap();
    let unlisted = recording.diagnostics.iter().find(|note| note.message.contains("contain no /")).unwrap();
    assert!(unlisted.count == 3 && unlisted.at.as_ref().unwrap().line == 4, "{unlisted}");
    assert!(note.message.contains("4.00 ms") && note.at.as_ref().unwrap().line == 10, "{note}");
}

#[test]
fn warns_of_time_in_functions_that_a_report_leaves_out() {
    let all = text("dottrace/instances");
    let outside = |text: &str| {
        let recording = read_bytes(text.as_bytes()).unwrap();
        recording.diagnostics.into_iter().find(|note| note.message.contains("callees that the report does not contain"))
    };
    assert_eq!(outside(&all), None);
    // 37.5 of the 137.5 ms below the outer function are in functions of the report.
    let note = outside(&all.replace("TotalTime=\"37.5\"", "TotalTime=\"137.5\"")).unwrap();
    assert!(note.message.starts_with("100.00 ms") && note.at.as_ref().unwrap().line == 5, "{note}");
}

#[test]
fn numbers_of_samples_are_unknown() {
    let [copy, other] = ["time", "self-in-ms"].map(|name| read_bytes(&seed(&format!("deep_copy/{name}"))).unwrap());
    let [copy, other] = [&copy, &other].map(|recording| recording.report(&ReportOptions::default()));
    assert_eq!(copy.table_without_sample_counts(), Some("deep-copy"));
    assert_eq!(copy.table_without_times(), Some("deep-copy"));
    assert!(copy.sampling_interval(&copy.series[0]).is_none());
    assert_eq!(Unlike::between(&copy, &other), []);
    let diff = Diff::new(&copy, &other, Normalize::None);
    let change = diff.all_change(&diff.total);
    assert!(change.noise.is_infinite() && !change.is_beyond_noise() && change.weight < 0.0, "{change:?}");
    assert!(diff.functions.iter().all(|row| row.self_change.noise.is_infinite() && row.all_change.noise.is_infinite()));
    let mut text = Vec::new();
    output::write(&copy, &Format::Text(Style::default()), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("of input: 4.93 s\n") && !text.contains("between samples"), "{text}");
}

#[test]
fn limits_hold() {
    let limited = |bytes: &[u8], change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        read(bytes, "input", &options).unwrap_err()
    };
    let rows = |count: usize| -> String {
        let row = |depth: usize| format!("1.00 ms  100.0%\t-\t{}f{depth}\n", " ".repeat(depth));
        format!("Weight\tSelf Weight\tSymbol Name\n{}", (0..count).map(row).collect::<String>())
    };
    for bytes in [rows(3).into_bytes(), seed("dottrace/instances")] {
        let error = limited(&bytes, |options| options.limits.stack_depth = 2);
        assert!(error.to_string().contains("more than 2 frames"), "{error}");
    }
    let many: String = (0..20_000).map(|row| format!("1.00 ms  100.0%\t1.00 ms\tf{row}\n")).collect();
    let many = format!("Weight\tSelf Weight\tSymbol Name\n{many}");
    let large = text("dottrace/slashes").replace("</Report>", &format!("<!--{}--></Report>", "x".repeat(1 << 20)));
    assert!(read_bytes(large.as_bytes()).is_ok() && read_bytes(many.as_bytes()).is_ok());
    for bytes in [many, large] {
        let error = limited(bytes.as_bytes(), |options| options.memory = MemoryBudget::new(1 << 20));
        assert!(matches!(error.kind, ErrorKind::Memory(_)), "{error}");
    }
}
