//! `--format firefox` and `--format speedscope`. `tests/viewers_firefox.rs` and `tests/viewers_speedscope.rs` test what viewers make of
//! them.

use serde_json::Value;

use crate::command::{
    Folder, all_exports, fails, finish, fixture, json, ok, orchard, read_text, stderr_of, stdout_of, traceparse,
};
use crate::symbols_case::{Case, INLINED_LEAF, INLINED_NAMES, INLINING, built};
use support::firefox_file::{self as resolved, Frame, Thread};

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the output is JSON")
}

fn firefox(args: &[&str]) -> Vec<Thread> {
    resolved::threads(&parse(&ok(&[args, &["--format", "firefox"]].concat())))
}

fn speedscope(args: &[&str]) -> Value {
    parse(&ok(&[args, &["--format", "speedscope"]].concat()))
}

/// Weights of the threads as `--view threads` has them.
fn weights(args: &[&str]) -> Vec<u64> {
    let answer = json(&[args, &["--view", "threads"]].concat());
    let threads = answer["threads"].as_array().expect("threads").iter();
    threads.map(|thread| thread["all_weight"].as_u64().expect("a weight")).collect()
}

/// The weight of a thread in units of ours.
fn weight(thread: &Thread) -> u64 {
    let scale = if thread.weight_type == "tracing-ms" { 1e6 } else { 1.0 };
    thread.samples.iter().map(|sample| (sample.weight * scale).round() as u64).sum()
}

fn sum(numbers: &Value) -> u64 {
    numbers.as_array().expect("numbers").iter().map(|number| number.as_u64().expect("a number")).sum()
}

#[test]
fn every_thread_has_its_weight_in_both() {
    for path in all_exports() {
        let expected = weights(&[&path]);
        assert_eq!(firefox(&[&path]).iter().map(weight).collect::<Vec<_>>(), expected, "{path}");
        let file = speedscope(&[&path]);
        let profiles = file["profiles"].as_array().expect("profiles");
        let totals: Vec<u64> = profiles.iter().map(|profile| sum(&profile["weights"])).collect();
        assert_eq!(totals, expected, "{path}");
        for profile in profiles {
            assert_eq!(profile["endValue"].as_u64(), Some(sum(&profile["weights"])));
            let lengths = ["samples", "weights"].map(|name| profile[name].as_array().expect("a list").len());
            assert_eq!(lengths[0], lengths[1]);
        }
    }
}

#[test]
fn samples_stand_at_their_times_with_their_stacks() {
    let thread = ["--thread", "Main Thread"];
    let path = orchard();
    let args = [&[path.as_str()], &thread[..]].concat();
    let threads = firefox(&args);
    assert_eq!(threads.len(), 1);
    assert_eq!((threads[0].pid.as_str(), threads[0].tid.as_str(), threads[0].is_main), ("4150", "172289", true));
    let expected = json(&[&args[..], &["--view", "samples"]].concat());
    let expected = expected["samples"].as_array().expect("samples");
    assert_eq!(threads[0].samples.len(), expected.len());
    for (sample, expected) in threads[0].samples.iter().zip(expected) {
        assert_eq!(Some(sample.time), expected["time_ns"].as_u64());
        let frame = |frame: &Frame| (frame.function.clone(), frame.library.clone());
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let named = |frame: &Value| (text(&frame["function"]).unwrap_or_default(), text(&frame["binary"]));
        let stack: Vec<_> = expected["stack"].as_array().expect("a stack").iter().map(named).collect();
        assert_eq!(sample.stack.iter().map(frame).collect::<Vec<_>>(), stack);
        for (frame, expected) in sample.stack.iter().zip(expected["stack"].as_array().expect("a stack")) {
            let source = frame.source.as_ref().map(|(file, _)| file.as_str());
            assert!(expected["file"].is_null() || source == expected["file"].as_str(), "{frame:?}, {expected}");
        }
    }
}

#[test]
fn only_what_counts_is_written() {
    let path = fixture("27/time-profile-waiting");
    let counts = |args: &[&str]| -> (usize, usize) {
        let threads = firefox(args);
        let file = speedscope(args);
        let samples = |profile: &Value| profile["samples"].as_array().expect("samples").len();
        let profiles = file["profiles"].as_array().expect("profiles").iter();
        (threads.iter().map(|thread| thread.samples.len()).sum(), profiles.map(samples).sum())
    };
    let all = json(&[&path, "--view", "samples"])["samples"].as_array().expect("samples").clone();
    let running = all.iter().filter(|sample| sample["state"].is_null() || sample["state"] == "Running").count();
    assert!(running < all.len(), "some wait");
    assert_eq!(counts(&[&path]), (running, running));
    assert_eq!(counts(&[&path, "--state", "all"]), (all.len(), all.len()));
    let path = orchard();
    assert_eq!(counts(&[&path, "--time", "0.4s..0.5s"]).0, {
        let samples = json(&[&path, "--view", "samples", "--time", "0.4s..0.5s"]);
        samples["samples"].as_array().expect("samples").len()
    });
    // Nothing of other threads is told.
    let text = ok(&[&path, "--thread", "com.orchard.render", "--format", "firefox"]);
    assert!(text.contains("com.orchard.render") && !text.contains("orchard::Press::filter"));
}

#[test]
fn samples_without_stack_keep_their_weight() {
    let threads = firefox(&[&orchard()]);
    let bare = |thread: &Thread| -> Vec<f64> {
        let is_bare = |stack: &[Frame]| stack.len() == 1 && stack[0].function == "[no stack recorded]";
        thread.samples.iter().filter(|sample| is_bare(&sample.stack)).map(|sample| sample.weight).collect()
    };
    assert_eq!(threads.iter().map(bare).collect::<Vec<_>>().concat(), [1.0]);
    let file = speedscope(&[&orchard()]);
    let frames = file["shared"]["frames"].as_array().expect("frames");
    assert_eq!(frames.iter().filter(|frame| frame["name"] == "[no stack recorded]").count(), 1);
}

#[test]
fn inlined_functions_have_their_depth_and_their_lines() {
    let case = Case::new();
    let export = case.export("Inlining", INLINING, &[INLINED_LEAF]);
    let args = [export.as_str(), "--dsym", &built("inlining/Inlining.dSYM")];
    let threads = resolved::threads(&parse(&case.answer(&[&args[..], &["--format", "firefox"]].concat())));
    let stack = &threads[0].samples[0].stack;
    assert_eq!(stack.iter().map(|frame| frame.function.as_str()).collect::<Vec<_>>(), INLINED_NAMES);
    assert_eq!(stack.iter().map(|frame| frame.is_inlined).collect::<Vec<_>>(), [false, true, true, true]);
    // The lines are those that llvm-symbolizer tells (`expected.tsv`).
    let lines: Vec<_> = stack.iter().map(|frame| frame.source.clone().expect("a file")).collect();
    assert_eq!(lines, [37, 30, 24, 19].map(|line| ("/src/inlining.cpp".to_owned(), Some(line))));
    assert!(stack.iter().all(|frame| frame.address == Some(0x3c8)), "{stack:?}");
    let file = parse(&case.answer(&[&args[..], &["--format", "speedscope"]].concat()));
    let frames = file["shared"]["frames"].as_array().expect("frames");
    let leaf = frames.iter().find(|frame| frame["name"] == INLINED_NAMES[3]).expect("the leaf");
    assert_eq!((&leaf["file"], &leaf["line"]), (&"/src/inlining.cpp".into(), &19.into()));
}

#[test]
fn recorded_marks_of_inlining_are_marks_too() {
    let threads = firefox(&[&fixture("27/cpu-profile")]);
    let frames: Vec<&Frame> = threads.iter().flat_map(|t| &t.samples).flat_map(|sample| &sample.stack).collect();
    let inlined: Vec<&Frame> = frames.into_iter().filter(|frame| frame.is_inlined).collect();
    assert!(!inlined.is_empty());
    for frame in inlined {
        assert_eq!(frame.function, "OrchardKit.Scene.render(into: inout OrchardKit.Canvas) -> ()");
    }
}

#[test]
fn weights_have_no_upper_limit_of_their_own() {
    let folder = Folder::new();
    let row = |time: u64, weight: u64| {
        format!(
            "<row><sample-time id=\"{time}\" fmt=\"x\">{time}</sample-time><weight id=\"9{time}\" fmt=\"x\">{weight}</weight>\
             <backtrace id=\"99{time}\"><frame id=\"999{time}\" name=\"work\" addr=\"0x1001\"/></backtrace></row>"
        )
    };
    let path = folder.file(
        "export.xml",
        format!(
            "<?xml version=\"1.0\"?><trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema \
             name=\"time-profile\"><col><mnemonic>time</mnemonic></col><col><mnemonic>weight</mnemonic></col>\
             <col><mnemonic>stack</mnemonic></col></schema>{}{}</node></trace-query-result>",
            // Later first, as rows may stand.
            row(2_000_001, 7_000_000_000_000_001),
            row(1_500_000, 1)
        ),
    );
    let text = ok(&[&path, "--format", "firefox"]);
    assert!(
        text.contains("\"time\":[1.499999,1.5,1.500001,2.000001,7000000002.000002]")
            && text.contains("\"weight\":[0,0.000001,0,7000000000.000001,0]"),
        "{text}"
    );
    let file = speedscope(&[&path]);
    assert_eq!(file["profiles"][0]["weights"], serde_json::json!([1, 7_000_000_000_000_001_u64]));
}

#[test]
fn a_sample_may_count_as_one() {
    let path = orchard();
    let args = [path.as_str(), "--metric", "samples"];
    let threads = firefox(&args);
    assert!(threads.iter().all(|thread| thread.weight_type == "samples"));
    assert_eq!(threads.iter().map(weight).collect::<Vec<_>>(), weights(&args));
    assert_eq!(speedscope(&args)["profiles"][0]["unit"], "none");
}

#[test]
fn several_tables_are_several_sets_of_threads() {
    let path = fixture("27/several-tables");
    let threads = firefox(&[&path]);
    let mut pids: Vec<&str> = threads.iter().map(|thread| thread.pid.as_str()).collect();
    pids.dedup();
    assert_eq!(pids, ["4150", "4150.1"]);
    let mut names: Vec<&str> = threads.iter().map(|thread| thread.process.as_str()).collect();
    names.dedup();
    assert_eq!(names, ["Orchard [time-profile, run 1]", "Orchard [time-profile, run 2]"]);
    let file = speedscope(&[&path]);
    assert_eq!(file["profiles"][2]["name"], "Orchard (4150), Main Thread (0x2a101) [time-profile, run 2]");
    // One run of them needs no name.
    assert_eq!(firefox(&[&path, "--run", "2"])[0].process, "Orchard");
    // Of tables that nothing but their place tells apart, the place is told.
    let processes: Vec<String> =
        firefox(&[&fixture("14.3/concatenated")]).into_iter().map(|thread| thread.process).collect();
    assert!(processes.windows(2).any(|pair| pair[0] != pair[1]), "{processes:?}");
}

#[test]
fn options_of_trees_are_refused() {
    let path = orchard();
    for format in ["firefox", "speedscope"] {
        assert_eq!(ok(&[&path, "--format", format]), ok(&[&path, "--format", format, "--view", "tree"]));
        for refused in [
            &["--view", "functions"][..],
            &["--min-percent", "1"],
            &["--depth", "3"],
            &["--separate-by", "process"],
            &["--no-threads"],
        ] {
            let said = fails(2, &[&[path.as_str(), "--format", format], refused].concat());
            assert!(said.contains(refused[0]) && said.contains(format), "{said}");
        }
    }
}

/// Name, start and end in nanoseconds from 100 ms on; 0 for none.
type Marker = (String, u64, u64);

/// By thread of a file: its tid, and its markers.
fn markers(args: &[&str]) -> Vec<(String, Vec<Marker>)> {
    markers_of(&parse(&ok(&[args, &["--format", "firefox"]].concat())))
}

fn markers_of(file: &Value) -> Vec<(String, Vec<Marker>)> {
    let nanos = |value: &Value| value.as_f64().map_or(0, |millis| (millis * 1e6).round() as u64 - 100_000_000);
    let threads = file["threads"].as_array().expect("threads").iter();
    let of_thread = |thread: &Value| {
        let table = &thread["markers"];
        let rows = 0..table["length"].as_u64().expect("a length") as usize;
        let name =
            |row: usize| file["shared"]["stringArray"][table["name"][row].as_u64().expect("a string") as usize].clone();
        let row = |row: usize| {
            let name = name(row).as_str().expect("a name").to_owned();
            (name, nanos(&table["startTime"][row]), nanos(&table["endTime"][row]))
        };
        (thread["tid"].as_str().expect("a tid").to_owned(), rows.map(row).collect())
    };
    threads.map(of_thread).collect()
}

fn marker(name: &str, start: u64, end: u64) -> Marker {
    (name.to_owned(), start, end)
}

/// The times are those that the fixture writer was given (`xcode_27_signposts`).
#[test]
fn signposts_are_markers_of_their_threads() {
    let path = fixture("27/signposts");
    let expected = [
        ("172289", vec![marker("Layout", 4_250_083, 5_150_083), marker("Layout", 6_150_165, 6_650_165)]),
        ("172311", vec![marker("Draw", 5_245_124, 6_255_165)]),
        ("172289.1", vec![marker("Layout", 4_249_206, 4_251_206)]),
        ("172311.1", vec![marker("Sync", 6_250_288, 0)]),
    ];
    let expected = expected.map(|(tid, markers)| (tid.to_owned(), markers));
    assert_eq!(markers(&[&path]), expected);
    assert_eq!(markers(&[&path, "--intervals", &path]), expected, "from a file of their own");
    assert_eq!(markers(&[&path, "--during", "Layout"])[0].1.len(), 2, "also those in which samples do not count");
    // Those of other times, and of threads that are not shown.
    assert_eq!(
        markers(&[&path, "--run", "1", "--time", "106ms..", "--only-main-thread"]),
        [("172289".to_owned(), vec![marker("Layout", 6_150_165, 6_650_165)])]
    );
}

#[test]
fn what_is_read_once_has_no_markers_and_says_so() {
    let path = fixture("27/signposts");
    let xml = read_text(&path);
    let piped = finish(traceparse(&["-", "--format", "firefox"]).write_stdin(xml.clone())).success();
    assert!(stderr_of(&piped).contains("standard input cannot be read twice"), "{}", stderr_of(&piped));
    let named = ["-", "--format", "firefox", "--intervals", &path];
    finish(traceparse(&named).write_stdin(xml)).success().stderr("");
    // Nothing is missing where there are no such tables.
    let xml = read_text(&orchard());
    finish(traceparse(&["-", "--format", "firefox"]).write_stdin(xml)).success().stderr("");
}

#[test]
fn hangs_are_markers_of_the_main_thread() {
    let columns =
        ["start", "duration", "hang-type", "process"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>"));
    let rows: String = [("4150", 104_300_000), ("7", 1)]
        .map(|(pid, start)| {
            format!(
                "<row><start-time>{start}</start-time><duration>250000</duration><hang-type>Severe Hang</hang-type>\
                 <process fmt=\"Orchard ({pid})\"><pid>{pid}</pid></process></row>"
            )
        })
        .concat();
    let table = format!("<schema name=\"potential-hangs\">{}</schema>{rows}", columns.concat());
    let folder = Folder::new();
    let hangs = format!(
        "<trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{table}</node></trace-query-result>"
    );
    let hangs = folder.file("hangs.xml", hangs);
    let path = fixture("27/time-profile-waiting");
    let shown = finish(&mut traceparse(&[&path, "--intervals", &hangs, "--format", "firefox"])).success();
    let note = "1 signposts and hangs of threads without samples are not written";
    assert!(stderr_of(&shown).contains(note), "{}", stderr_of(&shown));
    let found = markers_of(&parse(&stdout_of(&shown)));
    let main = found.iter().find(|(tid, _)| tid == "172289").expect("the main thread");
    assert_eq!(main.1, [marker("Severe Hang", 4_300_000, 4_550_000), marker("Preempted", 8_250_247, 9_250_247)]);
    let other = found.iter().find(|(tid, _)| tid == "172311").expect("the other thread");
    assert_eq!(other.1, [marker("Blocked", 5_250_124, 9_250_288)], "two samples, then one that runs");
}

#[test]
fn a_recording_has_its_start_and_its_machine() {
    let folder = Folder::new();
    let toc = "<trace-toc><run number=\"1\"><info><target><device model=\"Mac14,9\" os-version=\"15.7.3 (24G419)\" platform=\"macOS\"/>\
               </target><summary><start-date>2026-03-05T18:27:38.879+01:00</start-date></summary></info></run></trace-toc>";
    let toc = folder.file("toc.xml", toc);
    let meta = |args: &[&str]| parse(&ok(&[args, &["--format", "firefox"]].concat()))["meta"].clone();
    let known = meta(&[&orchard(), &toc]);
    assert_eq!(known["startTime"].as_f64(), Some(1_772_731_658_879.0));
    assert_eq!((&known["oscpu"], &known["device"]), (&Value::from("macOS 15.7.3 (24G419)"), &Value::from("Mac14,9")));
    let unknown = meta(&[&orchard()]);
    assert_eq!((unknown["startTime"].as_f64(), &unknown["oscpu"]), (Some(0.0), &Value::Null));
    assert_eq!(unknown["interval"].as_f64(), Some(1.0));
}
