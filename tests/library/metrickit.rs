//! MetricKit diagnostics: damage, limits, and documents without stacks. `tests/oracles/metrickit.rs` compares what is read.

use std::fs;

use traceparse::memory::MemoryBudget;
use traceparse::output::{self, Format};
use traceparse::profile::Category;
use traceparse::recording::{Options, Recording, RejectReason};
use traceparse::report::{ReportOptions, View};
use traceparse::{Error, ErrorKind, read};

/// A seed of the fuzz target.
fn seed(name: &str) -> String {
    fs::read_to_string(support::repository("tests/fuzz/corpus/metrickit").join(name)).unwrap()
}

fn read_text(text: &str) -> Result<Recording, Error> {
    read(text.as_bytes(), "input", &Options::default())
}

fn samples(recording: &Recording) -> u64 {
    recording.profile.sums().map(|sum| sum.samples).sum()
}

#[test]
fn cut_documents_are_refused_with_their_place() {
    for (name, expected) in [("payload", 9), ("report", 1), ("load-addresses", 1), ("tree", 18)] {
        let text = seed(name);
        assert_eq!(samples(&read_text(&text).unwrap()), expected, "{name}");
        for end in 1..text.len() {
            let error = read_text(&text[..end]).expect_err("it is cut");
            assert!(error.at.is_some_and(|at| at.byte <= end as u64), "{name} cut at {end}");
        }
    }
    // After a complete line, only the next document is missing.
    assert_eq!(samples(&read_text(&seed("lines")).unwrap()), 10);
}

#[test]
fn damage_is_told() {
    for (name, from, to, word) in [
        ("payload", "\"sampleCount\": 7", "\"sampleCount\": -7", "not a whole number"),
        ("payload", "\"sampleCount\": 7", "\"sampleCount\": 7, \"sampleCount\": 7", "sampleCount occurs twice"),
        ("payload", "\"hangDiagnostics\"", "\"x\": {\"y\": 1}, \"x\": 2, \"hangDiagnostics\"", "x occurs twice"),
        ("payload", "\"callStackRootFrames\"", "\"callStackFrames\"", "flattened"),
        ("payload", "hangDiagnostics", "others", "no call tree"),
    ] {
        let text = seed(name).replacen(from, to, 1);
        let error = read_text(&text).expect_err(word);
        assert!(error.to_string().contains(word) && error.at.is_some(), "{word}: {error}");
    }
}

#[test]
fn damage_costs_its_thread_or_binary() {
    use RejectReason::{UnreadImage, UnreadProcess, UnreadThread};
    for (name, from, to, reason, left_out, word) in [
        ("payload", "\"sampleCount\": 9", "\"sampleCount\": 8", UnreadThread, 8, "more samples than the frame"),
        ("payload", "\"sampleCount\": 7", "\"count\": 7", UnreadThread, 9, "no sampleCount"),
        ("payload", "00000000-0000-0000-0000-000000000003", "0003", UnreadImage, 1, "UUID of a binary"),
        ("report", "\"subFrames\": []", "\"subFrames\": [{}, {}]", UnreadThread, 2, "two callers"),
        ("payload", "hangDiagnostics", "novelDiagnostics", UnreadProcess, 1, "unknown kind"),
    ] {
        let recording = read_text(&seed(name).replacen(from, to, 1)).expect(word);
        let table = recording.tables().next().unwrap();
        assert_eq!((table.rejected.of(reason), table.rejected.total()), (left_out, left_out), "{word}");
        assert_eq!(table.samples, if reason == UnreadImage { 9 } else { 0 }, "{word}");
        let note = recording.diagnostics.iter().find(|note| note.message.contains(word));
        assert!(note.is_some_and(|note| note.at.is_some()), "{word}: {:?}", recording.diagnostics);
    }
}

#[test]
fn a_tree_that_does_not_show_its_order_is_refused() {
    let frame = |name: &str, callee: &str| {
        format!(
            "{{\"binaryName\":\"{name}\",\"offsetIntoBinaryTextSegment\":8,\"sampleCount\":1,\"subFrames\":[{callee}]}}"
        )
    };
    let tree = |first: &str, last: &str| {
        read_text(&format!("{{\"callStacks\":[{{\"callStackRootFrames\":[{}]}}]}}", frame(first, &frame(last, ""))))
    };
    let leaf = |recording: &Recording| {
        let stack = recording.profile.sums().next().unwrap().stack;
        let frame = recording.profile.frames_leaf_first(stack).next().unwrap();
        recording.profile.string(recording.profile.binary(frame.binary.unwrap()).name).to_owned()
    };
    assert_eq!(leaf(&tree("dyld", "App").unwrap()), "App");
    assert_eq!(leaf(&tree("App", "dyld").unwrap()), "App");
    // Other threads may have one frame.
    let beside = |name: &str| format!("{{\"callStackRootFrames\":[{}]}}", frame(name, ""));
    let both = format!("{{\"callStackRootFrames\":[{}]}}", frame("App", &frame("dyld", "")));
    let both = read_text(&format!("{{\"callStacks\":[{both},{}]}}", beside("libsystem_pthread.dylib"))).unwrap();
    assert_eq!((leaf(&both), samples(&both)), ("App".to_owned(), 2));
    assert!(tree("App", "UIKitCore").unwrap_err().to_string().contains("innermost or the outermost"));
}

#[test]
fn metrics_have_no_stacks() {
    let recording = read_text(&seed("metrics")).unwrap();
    let [note] = recording.diagnostics.as_slice() else { panic!("{:?}", recording.diagnostics) };
    assert!(note.message.contains("MetricKit metrics"), "{note:?}");
    let error = read_text("{\"callStackTree\":null, \"cpuMetrics\":{}}").unwrap_err();
    assert!(error.at.is_some(), "{error}");
}

#[test]
fn limits_hold() {
    let limited = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        read(seed("deep").as_bytes(), "input", &options).unwrap_err()
    };
    assert!(read_text(&seed("deep")).is_err(), "its order is unknown");
    assert!(limited(|options| options.limits.stack_depth = 59).to_string().contains("more than 59 frames"));
    let long = seed("payload").replace("9 sec", &"9".repeat(1 << 20));
    let error = read_text(&long).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit(_)) && error.to_string().contains("longer than"), "{error}");
}

#[test]
fn folded_stacks_tell_equal_offsets_of_two_binaries_apart() {
    let text =
        seed("payload").replace("\"offsetIntoBinaryTextSegment\": 1284", "\"offsetIntoBinaryTextSegment\": 2380");
    let recording = read_text(&text).unwrap();
    let options = ReportOptions { view: View::Tree, ..ReportOptions::default() };
    let mut out = Vec::new();
    output::write(&recording.report(&options), &Format::Folded, &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let leaves: Vec<&str> = lines.lines().filter_map(|line| line.rsplit(';').next()).collect();
    assert_eq!(leaves, ["0x94c (in libsystem_kernel.dylib) 7", "0x94c (in App) 2"]);
}

#[test]
fn memory_is_taken_for_what_is_there() {
    let thread =
        "{\"callStackRootFrames\":[{\"binaryName\":\"App\",\"offsetIntoBinaryTextSegment\":8,\"sampleCount\":1}]}";
    let document = |threads: usize| {
        format!(
            "{{\"hangDiagnostics\":[{{\"callStackTree\":{{\"callStacks\":[{}]}}}}]}}",
            vec![thread; threads].join(",")
        )
    };
    let within = |text: &str, bytes: u64| {
        read(text.as_bytes(), "input", &Options { memory: MemoryBudget::new(bytes), ..Options::default() })
    };
    assert_eq!(samples(&within(&document(2_000), 4 << 20).unwrap()), 2_000);
    let error = within(&document(50_000), 4 << 20).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Memory(_)), "{error}");
    // A diagnostic is larger than its two braces.
    let empty = |count: usize| format!("{{\"hangDiagnostics\":[{}]}}", vec!["{}"; count].join(","));
    assert_eq!(within(&empty(10_001), 64 << 20).unwrap().documents.len(), 2 * 10_001);
    let error = within(&empty(100_000), 4 << 20).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Memory(_)), "{error}");
}

/// A hang in a bundle on a system, with a binary at each of these addresses.
fn categories(bundle: &str, system: &str, binaries: &[(&str, u64)]) -> Vec<&'static str> {
    let frame = |(name, address): &(&str, u64)| {
        format!(
            "{{\"binaryName\":\"{name}\",\"address\":{address},\"offsetIntoBinaryTextSegment\":64,\"sampleCount\":1}}"
        )
    };
    let frames: Vec<String> = binaries.iter().map(frame).collect();
    let text = format!(
        "{{\"hangDiagnostics\":[{{\"callStackTree\":{{\"callStacks\":[{{\"callStackRootFrames\":[{}]}}]}},\
         \"diagnosticMetaData\":{{\"bundleIdentifier\":\"{bundle}\",\"osVersion\":\"{system}\"}}}}]}}",
        frames.join(",")
    );
    let recording = read_text(&text).unwrap();
    let profile = &recording.profile;
    profile.binary_ids().map(|id| Category::of_binary(profile, Some(id)).name()).collect()
}

#[test]
fn app_code_is_known_by_the_bundle_by_names_and_by_addresses() {
    const IOS: &str = "iPhone OS 18.6 (22G86)";
    const MAC: &str = "macOS 15.6 (24G84)";
    let kit = ("UIKitCore", 0x1_9a53_8194);
    for (bundle, system, binaries, expected) in [
        // The names of the bundle, its debug library, an extension, Apple's libraries, and other binaries.
        ("com.example.DemoApp", IOS, vec![("DemoApp", 0x1_0010_0000)], vec!["user"]),
        ("io.example.sample.iOS-Swift", IOS, vec![("iOS Swift.debug.dylib", 0x1_0010_0000)], vec!["user"]),
        ("com.example.DemoApp.Widget", IOS, vec![("Widget", 1 << 33), ("DemoApp", 1 << 33)], vec!["user", "user"]),
        ("com.example.DemoApp", IOS, vec![("libsqlite3.dylib", 0x1_0010_0000)], vec!["system"]),
        ("com.example.DemoApp", IOS, vec![("Cider", 0x1_0010_0000)], vec!["unknown"]),
        ("com.example.SwiftUI", IOS, vec![("SwiftUI", 0x1_0010_0000)], vec!["system"]),
        // Addresses: a framework of the app, one of Apple that is not in the list, and an app with the name of a library of Apple.
        ("com.example", IOS, vec![kit, ("Cider", 0x1_0010_0000)], vec!["system", "user"]),
        ("com.example", IOS, vec![kit, ("CiderServices", 0x2_0010_0000)], vec!["system", "system"]),
        ("com.example.Charts", IOS, vec![kit, ("Charts", 0x2_0010_0000)], vec!["system", "system"]),
        ("com.example.Gestures", IOS, vec![kit, ("Gestures", 0x1_0010_0000)], vec!["system", "user"]),
        // A Mac has other people's libraries there as well.
        ("com.example", MAC, vec![kit, ("Cider", 0x1_0010_0000)], vec!["system", "unknown"]),
    ] {
        assert_eq!(categories(bundle, system, &binaries), expected, "{bundle} {binaries:?}");
    }
}
