//! Crash reports: both forms, damaged reports, and names in place of addresses. The expected names are in the tables `expected.tsv`, which were made
//! with llvm-symbolizer, not with this crate.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use traceparse::demangle::Demangler;
use traceparse::files::FileSystem;
use traceparse::memory::MemoryBudget;
use traceparse::profile::Category;
use traceparse::recording::{Options, Recording, RejectReason, TocRun};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::Locator;
use traceparse::{CrashReport, Error, read};

use crate::symbolicate::{built, locator};

const LOAD: u64 = 0x1_02af_4000;

/// A seed of the fuzz target.
fn seed(name: &str) -> Vec<u8> {
    fs::read(support::repository("tests/fuzz/corpus/crash").join(name)).unwrap()
}

fn read_bytes(bytes: &[u8]) -> Result<Recording, Error> {
    read(bytes, "input", &Options::default())
}

fn run(recording: &Recording) -> &TocRun {
    recording.tocs().flat_map(|toc| &toc.runs).next().expect("a run")
}

/// The stacks of a recording: the name of the thread, and its functions, innermost first.
fn stacks(recording: &Recording) -> Vec<(String, Vec<String>)> {
    let profile = &recording.profile;
    let stack = |sum: traceparse::profile::SampleSum| {
        let names = profile.frames_leaf_first(sum.stack).map(|frame| profile.function_name(frame.function).to_owned());
        (profile.string(profile.thread(sum.thread).name).to_owned(), names.collect())
    };
    profile.sums().map(stack).collect()
}

#[test]
fn both_forms_say_the_same() {
    let [ips, text] = ["json", "text"].map(|name| read_bytes(&seed(name)).unwrap());
    let facts = |recording: &Recording| {
        let run = run(recording);
        let device = run.device.iter().filter(|(key, _)| key != "architecture").cloned().collect::<Vec<_>>();
        (device, run.process.clone(), run.summary.clone(), run.processes.clone())
    };
    assert_eq!(facts(&ips), facts(&text));
    assert_eq!(stacks(&ips), stacks(&text));
    let summary = |key| run(&ips).summary_field(key);
    assert_eq!(summary("exception-type"), Some("EXC_CRASH"));
    assert_eq!(summary("signal"), Some("SIGABRT"));
    assert_eq!(summary("termination-reason"), Some("SIGNAL 6 Abort trap: 6"));
    assert_eq!(summary("exception-reason"), Some("*** Terminating app due to an exception; abort() called"));
    assert_eq!((summary("app-version"), summary("app-build")), (Some("3.1"), Some("42")));
    assert_eq!(run(&ips).device_attribute("os-version"), Some("17.5 (21F79)"));
    assert_eq!(summary("attributed-thread"), Some("2"), "the exception shows where it was raised");
    let names: Vec<String> = stacks(&ips).into_iter().map(|(name, _)| name).collect();
    let exception = "Last exception of Thread 0, attributed";
    assert_eq!(names, ["Thread 0 (com.apple.main-thread)", "Thread 1 (worker)", exception]);
}

#[test]
fn code_of_the_bundle_is_the_apps() {
    let recording = read_bytes(&seed("json")).unwrap();
    let profile = &recording.profile;
    for id in profile.binary_ids() {
        let name = profile.string(profile.binary(id).name);
        let expected = if name == "Orchard" { Category::User } else { Category::System };
        assert_eq!(Category::of_binary(profile, Some(id)), expected, "{name}");
    }
}

#[test]
fn a_frame_is_the_same_code_wherever_it_was_loaded() {
    let text = String::from_utf8(seed("json")).unwrap();
    let moved = text.replace("4294967296", "4311744512");
    assert_ne!(text, moved);
    let [here, there] = [text, moved].map(|text| stacks(&read_bytes(text.as_bytes()).unwrap()));
    assert_eq!(here, there);
}

#[test]
fn reads_text_and_json_of_every_kind() {
    let text = String::from_utf8(seed("text")).unwrap();
    let expected = stacks(&read_bytes(text.as_bytes()).unwrap());
    let header = "{\"bug_type\":\"109\",\"os_version\":\"iPhone OS 14.1 (18A8395)\"}\n";
    let crlf = text.replace('\n', "\r\n");
    for (what, text) in [("CRLF", crlf), ("BOM", format!("\u{feff}{text}")), (".ips", format!("{header}{text}"))] {
        assert_eq!(stacks(&read_bytes(text.as_bytes()).unwrap()), expected, "{what}");
    }
    let json = String::from_utf8(seed("json")).unwrap();
    let documents = json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let pretty: String = documents.map(|value| serde_json::to_string_pretty(&value).unwrap() + "\n").collect();
    assert_eq!(stacks(&read_bytes(pretty.as_bytes()).unwrap()), expected);
}

#[test]
fn accepts_truncated_text_and_rejects_truncated_json() {
    let text = seed("text");
    let end = text.windows(8).position(|window| window == b"Thread 0").unwrap() + 80;
    for end in end..text.len() {
        let recording = read_bytes(&text[..end]).unwrap();
        assert_eq!(recording.rejected(), 0, "{end}");
        let is_told = recording.diagnostics.iter().any(|note| note.to_string().contains("the text ends inside"));
        // The last line is that of a frame or image.
        let last = text[..end].rsplit(|&byte| byte == b'\n').next().unwrap();
        let is_in_list = last.first().is_some_and(u8::is_ascii_digit) && last.len() > 60;
        assert!(is_told || !is_in_list, "{end}");
        assert!(!is_told || text[end - 1] != b'\n', "{end}");
    }
    let json = seed("json");
    let first = json.iter().position(|&byte| byte == b'\n').unwrap();
    for end in first + 2..json.trim_ascii_end().len() {
        let error = read_bytes(&json[..end]).expect_err("it is cut");
        assert!(error.at.is_some_and(|at| at.byte <= end as u64), "cut at {end}");
    }
}

#[test]
fn refuses_reports_with_a_reason() {
    let options = Options::default();
    let error = |bytes: &[u8]| CrashReport::parse(bytes.to_vec(), "input", &options).expect_err("refused").to_string();
    for (bytes, word) in [
        (&b"{\"bug_type\":\"309\"}\n{\"threads\":[]}"[..], "no stacks"),
        (b"{\"bug_type\":\"309\"}\n{\"threads\":[}", "input:2:"),
        (b"{\"bug_type\":\"298\"}\n{}", "Jetsam"),
        (b"Exception Type: EXC_CRASH\n", "no stacks"),
        (b"hello", "only crash reports can be named"),
        (b"\xff\xfeP\0r\0o\0c\0e\0s\0s\0:\0\n\0T\0h\0r\0e\0a\0d\0 \x000\0 \0C\0r\0a\0s\0h\0e\0d\0:\0", "UTF-16"),
    ] {
        assert!(error(bytes).contains(word), "{word}: {}", error(bytes));
    }
}

/// Images are numbered in each report.
#[test]
fn several_reports_in_one_file_are_refused() {
    for name in ["json", "text"] {
        let twice = [seed(name), seed(name)].concat();
        let error = read_bytes(&twice).expect_err("two reports").to_string();
        assert!(error.contains("several crash reports"), "{name}: {error}");
    }
}

/// The report as a JSON document.
fn objects(report: &CrashReport) -> String {
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    String::from_utf8(json).unwrap()
}

fn seed_text(name: &str) -> String {
    String::from_utf8(seed(name)).unwrap()
}

#[test]
fn shows_all_messages_of_the_system() {
    let reason =
        "\"exceptionReason\":{\"composed_message\":\"unrecognized selector\",\"name\":\"NSInvalidArgumentException\"}";
    let ips = seed_text("json").replace("\"faultingThread\":0", reason);
    let said = run(&read_bytes(ips.as_bytes()).unwrap()).summary_field("exception-reason").unwrap().to_owned();
    assert!(said.ends_with("; unrecognized selector"), "{said}");
    let ips = seed_text("json")
        .replace("\"signal\":\"SIGABRT\"", "\"signal\":\"SIGABRT\",\"message\":\"Index out of range\"");
    let ips = ips.replace("\"flags\":0,", "\"reasons\":[\"Library not loaded: @rpath/A\"],");
    let text = seed_text("text")
        .replace("Termination Reason", "Exception Message: Index out of range\nTermination Reason")
        .replace("Triggered by", "Termination Description: Library not loaded: @rpath/A\nTriggered by");
    let line = text.replace("Termination Description: Library", "Library");
    let watchdog = "Termination Reason: FRONTBOARD 2343432205\n<RBSTerminateContext| domain:10 code:0x8BADF00D";
    let watchdog = seed_text("text").replace("Termination Reason: SIGNAL 6 Abort trap: 6", watchdog);
    let termination = |recording: &Recording| run(recording).summary_field("termination-reason").map(str::to_owned);
    let of_watchdog = termination(&read_bytes(watchdog.as_bytes()).unwrap());
    assert_eq!(of_watchdog.unwrap(), "FRONTBOARD 2343432205: <RBSTerminateContext| domain:10 code:0x8BADF00D");
    for report in [ips, text, line] {
        let recording = read_bytes(report.as_bytes()).unwrap();
        let summary = |key| run(&recording).summary_field(key);
        assert_eq!(summary("termination-reason"), Some("SIGNAL 6 Abort trap: 6: Library not loaded: @rpath/A"));
        let reason = "*** Terminating app due to an exception; abort() called; Index out of range";
        assert_eq!(summary("exception-reason"), Some(reason));
    }
}

#[test]
fn counts_frames_and_images_that_cannot_be_read() {
    let (ips, text) = (seed_text("json"), seed_text("text"));
    let frame = "{\"imageOffset\":61904,\"imageIndex\":1,\"symbol\":\"__pthread_kill\",\"symbolLocation\":8}";
    for (report, reason) in [
        (ips.replace(frame, "{\"imageIndex\":1}"), RejectReason::UnreadThread),
        (text.replace("0x000000023dddf1d0 ", "0xsomewhere "), RejectReason::UnreadThread),
        (text.replace("__pthread_kill + 8", "__pthread_kill\n + 8"), RejectReason::UnreadThread),
        (text.replace("Images:\n0x100000000 -", "Images:\n0x100000000"), RejectReason::UnreadImage),
        (ips.replace(frame, "{\"imageOffset\":\"x\",\"imageIndex\":1}"), RejectReason::UnreadThread),
        (ips.replace(frame, "{\"imageOffset\":-1,\"imageIndex\":1}"), RejectReason::UnreadThread),
        (ips.replace(frame, "{\"imageOffset\":1,\"imageIndex\":99}"), RejectReason::UnreadThread),
        (ips.replace(frame, "{\"symbol\":\"f\",\"imageOffset\":-1,\"imageIndex\":1}"), RejectReason::UnreadThread),
        (ips.replace(frame, "null"), RejectReason::UnreadThread),
        (
            ips.replace("\"frames\":[{\"imageOffset\":61904", "\"frames\":{},\"other\":[{\"imageOffset\":61904"),
            RejectReason::UnreadThread,
        ),
        (ips.replace("\"usedImages\":[", "\"usedImages\":[null,"), RejectReason::UnreadImage),
        (ips.replace("-8000-000000000001", "-8000-00000000000z"), RejectReason::UnreadImage),
        (ips.replace("\"base\":9627828224", "\"base\":\"?\""), RejectReason::UnreadImage),
    ] {
        let recording = read_bytes(report.as_bytes()).unwrap();
        let is_thread = reason == RejectReason::UnreadThread;
        assert_eq!(recording.rejected(), 1, "{report}");
        assert_eq!(stacks(&recording).len(), if is_thread { 2 } else { 3 });
        assert!(recording.diagnostics.iter().any(|note| note.to_string().contains("left out")), "{report}");
        let named = CrashReport::parse(report.clone().into_bytes(), "input", &Options::default()).unwrap();
        assert_eq!(objects(&named).contains("\"complete\":false"), is_thread, "{report}");
    }
    let null = read_bytes(ips.replace("\"threads\":[", "\"threads\":[null,").as_bytes()).unwrap();
    assert_eq!((null.rejected(), stacks(&null).len()), (1, 3));
    let list = seed_text("list").replace("0x18f04bc70", "0x18f04bc7z");
    assert_eq!(read_bytes(list.as_bytes()).unwrap().rejected(), 1);
}

/// Threads may be missing or in another order, and the responsible one has a mark or is named in the header.
#[test]
fn threads_have_their_numbers_and_marks() {
    let text = seed_text("text");
    let (before, after) = text.split_once("Last Exception Backtrace:").unwrap();
    let text = format!("{before}{}", &after[after.find("Thread 0 name").unwrap()..]);
    let names = |text: &str| -> Vec<String> {
        stacks(&read_bytes(text.as_bytes()).unwrap()).into_iter().map(|(name, _)| name).collect()
    };
    let (main, worker) = ("Thread 0 (com.apple.main-thread)", "Thread 1 (worker)");
    let of_main = format!("{main}, attributed");
    assert_eq!(names(&text), [&of_main, worker]);
    for mark in ["Attributed", "Highlighted"] {
        let marked = text.replace("Thread 0 Crashed:", "Thread 0:").replace("Thread 1:", &format!("Thread 1 {mark}:"));
        assert_eq!(names(&marked), [main, "Thread 1 (worker), attributed"]);
    }
    let unknown = text.replace("Thread 0 Crashed:", "Thread 0 Paused:");
    assert_eq!(names(&unknown), [&of_main, worker], "the header names it");
    let seven = text.replace("Thread 0 Crashed:", "Thread 9:").replace("Thread 1:", "Thread 7:");
    let seven = seven.replace("Thread 0 name:", "Thread 9 name:").replace("Thread 1 name:", "Thread 7 name:");
    let seven = seven.replace("Triggered by Thread:  0", "Highlighted by Thread:  7");
    assert_eq!(names(&seven), ["Thread 9 (com.apple.main-thread)", "Thread 7 (worker), attributed"]);
    let json = seed_text("json").replace("\"lastExceptionBacktrace\"", "\"other\"");
    let json = json
        .replace("\"triggered\":true,", "")
        .replace("\"faultingThread\":0,", "")
        .replace("\"legacyInfo\":{", "\"legacyInfo\":{\"threadHighlighted\":1,");
    assert_eq!(names(&json), [main, "Thread 1 (worker), attributed"]);
}

/// The build comes before the version, the thread has another title, images have no paths, and no empty line ends the messages.
#[test]
fn reads_old_reports_of_ios() {
    let text = "Process: App [1]\nVersion: 34 (1.2)\nOS Version: iPhone OS 8.2 (12D508)\n\
        Exception Type:  EXC_CRASH (Code Signature Invalid)\nHighlighted Thread:  1\n\n\
        Application Specific Information:\nabort() called\nThread 7 was slow\n\
        Thread 0 name:  first\nThread 0:\n0   App 0x0000000100004000 0x100000000 + 16384\n\n\
        Thread 1:\n0   App 0x0000000100004010 0x100000000 + 16400\n\n\
        Binary Images:\n0x100000000 - 0x100007fff App arm64  <00000000000040008000000000000001>\n";
    let recording = read_bytes(text.as_bytes()).unwrap();
    let summary = |key| run(&recording).summary_field(key);
    assert_eq!((summary("app-version"), summary("app-build")), (Some("1.2"), Some("34")));
    assert_eq!(summary("exception-reason"), Some("abort() called; Thread 7 was slow"));
    assert_eq!((summary("signal"), summary("exception-type")), (None, Some("EXC_CRASH (Code Signature Invalid)")));
    let names: Vec<String> = stacks(&recording).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Thread 0 (first)", "Thread 1, attributed"]);
    let report = CrashReport::parse(text.as_bytes().to_vec(), "input", &Options::default()).unwrap();
    assert!(objects(&report).contains("\"binary\":\"App\""), "{}", objects(&report));
}

/// `symbolicate` replaces a list only if it can read all of it, and reports what it cannot read.
#[test]
fn a_damaged_list_stays() {
    let table = inlining();
    let list = format!("Last Exception Backtrace:\n({:#x} <redacted> {:#x})\n", LOAD + 0x31d, LOAD + 0x401);
    let report = text(&table).replacen("Thread 0:\n", &format!("{list}\nThread 0 Crashed:\n"), 1);
    assert!(named(&report, &locator(&built())).contains(&list), "{report}");
    let parsed = CrashReport::parse(report.into_bytes(), "input", &Options::default()).unwrap();
    assert!(parsed.unread().next().is_some_and(|what| what.contains("a frame that cannot be read")));
}

#[test]
fn a_report_of_what_ended_no_process_is_not_called_a_crash() {
    let (ips, text) = (seed_text("json"), seed_text("text"));
    let simulated = "Exception Note:  SIMULATED (this is NOT a crash)\nTermination Reason:";
    for report in [
        text.replace("Termination Reason:", simulated),
        ips.replace("\"faultingThread\":0", "\"isNonFatal\":1"),
        ips.replace("\"faultingThread\":0", "\"isSimulated\":true"),
    ] {
        let recording = read_bytes(report.as_bytes()).unwrap();
        assert_eq!(run(&recording).summary_field("diagnostic"), Some("non-fatal"), "{report}");
    }
    let corpse = text.replace("Termination Reason:", "Exception Note:  EXC_CORPSE_NOTIFY\nTermination Reason:");
    assert_eq!(run(&read_bytes(corpse.as_bytes()).unwrap()).summary_field("diagnostic"), Some("crash"));
}

#[test]
fn a_report_without_stacks_states_its_facts() {
    let text = seed_text("text");
    let (head, _) = text.split_once("Last Exception Backtrace:").unwrap();
    let error = read_bytes(format!("{head}Backtrace not available\n").as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains("no stacks, only facts: EXC_CRASH · ") && error.contains("SIGNAL 6 Abort trap: 6"),
        "{error}"
    );
}

/// Since macOS 12, text has such lines in the stack of a stack overflow.
#[test]
fn marks_of_recursion_are_not_frames() {
    let text = seed_text("text");
    let expected = stacks(&read_bytes(text.as_bytes()).unwrap());
    let mark = "pthread_kill + 8\n-------- RECURSION LEVEL 9\n--------\n-------- ELIDED 3 LEVELS OF RECURSION THROUGH 0x1 f() + 8\n--------\n";
    let recording = read_bytes(text.replace("pthread_kill + 8\n", mark).as_bytes()).unwrap();
    assert_eq!((stacks(&recording), recording.rejected()), (expected, 0));
    assert_eq!(run(&recording).summary_field("recursion"), None, "the crash is attributed to the exception");

    let (before, after) = text.split_once("Last Exception Backtrace:").unwrap();
    let of_thread =
        format!("{before}{}", &after[after.find("Thread 0 name").unwrap()..]).replace("pthread_kill + 8\n", mark);
    let json = seed_text("json").replace("\"lastExceptionBacktrace\"", "\"other\"");
    let info = "\"queue\":\"com.apple.main-thread\",\"recursionInfoArray\":[{\"hottestElided\":20,\"coldestElided\":58004,\"depth\":57991,\"keyFrame\":{\"imageOffset\":1,\"symbol\":\"f()\",\"symbolLocation\":280}}]";
    let of_json = json.replacen("\"queue\":\"com.apple.main-thread\"", info, 1);
    let twice = of_thread.replace("ELIDED 3", "ELIDED 2 LEVELS OF RECURSION THROUGH g\n-------- ELIDED 1");
    let unknown = of_thread.replace("ELIDED 3", "ELIDED 3,000");
    let both = of_json
        .replace("\"recursionInfoArray\":[", "\"recursionInfoArray\":[{\"hottestElided\":3,\"coldestElided\":12},");
    let none = of_json.replace("\"recursionInfoArray\":[", "\"recursionInfoArray\":[7,");
    for (report, what) in [
        (of_thread, "3 levels"),
        (twice, "3 levels"),
        (unknown, "an unknown amount"),
        (of_json, "57,985 frames"),
        (both, "57,995 frames"),
        (none, "an unknown amount"),
    ] {
        let recording = read_bytes(report.as_bytes()).unwrap();
        let expected = format!("left out of the stack: {what} of recursion");
        assert_eq!(run(&recording).summary_field("recursion"), Some(expected.as_str()));
    }
}

/// Some tools write no offsets. Frames at one address are inlined if their names differ; a repeated name is recursion.
#[test]
fn recursion_is_not_inlined() {
    let lines = |lines: &[&str]| {
        let lines = lines.iter().map(|line| format!("1   Orchard  0x0000000100004e78 {line}\n"));
        seed_text("text").replace(
            "3   Orchard                       \t0x0000000100005000 0x100000000 + 20480\n",
            &lines.collect::<String>(),
        )
    };
    let inlined = |report: String| -> Vec<String> {
        let report = CrashReport::parse(report.into_bytes(), "input", &Options::default()).unwrap();
        let json: Value = serde_json::from_str(&objects(&report)).unwrap();
        let frames = json["threads"][0]["frames"].as_array().unwrap().iter().skip(3);
        frames
            .map(|frame| format!("{} {}", frame["function"].as_str().unwrap(), frame["inlined"] == json!(true)))
            .collect()
    };
    assert_eq!(inlined(lines(&["f (a.c:1)", "f (a.c:1)", "g (a.c:2)"])), ["f false", "f true", "g false"]);
    assert_eq!(inlined(lines(&["f (a.c:1)", "f + 8 (a.c:2)", "f + 8 (a.c:2)"])), ["f true", "f false", "f false"]);
}

#[test]
fn inlined_functions_do_not_make_a_stack_too_deep() {
    let lines = (0..1_000u64).map(|at| {
        format!("1   Orchard  {:#x} f (a.c:1)\n2   Orchard  {0:#x} g + 8 (a.c:2)\n", 0x1_0000_4e78 + 16 * at)
    });
    let text =
        seed_text("text").replace("pthread_kill + 8\n", &format!("pthread_kill + 8\n{}", lines.collect::<String>()));
    let recording = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(recording.rejected(), 0);
    assert_eq!(stacks(&recording)[0].1.len(), 2_004);
}

/// Frameworks record where an exception began in lines of text, with absolute addresses.
#[test]
fn reads_specific_backtraces_in_json() {
    let lines = "0   CoreFoundation 0x000000018f04bc70 __exceptionPreprocess + 164\\n1   Orchard 0x0000000100004e78 draw() + 92 (Draw.swift:140)\\n2   Plugin 0x77 f + 1\\n3   ??? 0x99 ???";
    let json =
        seed_text("json").replace("\"lastExceptionBacktrace\"", &format!("\"asiBacktraces\":[\"{lines}\"],\"other\""));
    let recording = read_bytes(json.as_bytes()).unwrap();
    let (name, functions) = stacks(&recording).pop().unwrap();
    assert_eq!(name, "Application specific backtrace 0 of Thread 0, attributed");
    assert_eq!(functions, ["__exceptionPreprocess", "draw()", "f", "0x99"]);
    let profile = &recording.profile;
    let sum = profile.sums().last().unwrap();
    let binary = |frame: &traceparse::profile::Frame| profile.binary_name(frame.function).map(str::to_owned);
    let binaries: Vec<_> = profile.frames_leaf_first(sum.stack).map(binary).collect();
    assert_eq!(binaries[..3], ["CoreFoundation", "Orchard", "Plugin"].map(|name| Some(name.to_owned())));
    assert_eq!(named(&json, &Locator::new(&FileSystem)), json);
}

#[test]
fn an_address_is_no_name() {
    let json = seed_text("json").replace("\"symbol\":\"__pthread_kill\"", "\"symbol\":\"0x23dddf1d0\"");
    assert_eq!(stacks(&read_bytes(json.as_bytes()).unwrap())[0].1[0], "0xf1d0");
    let of_image = "\"symbol\":\"libsystem_kernel.dylib\",\"symbolLocation\":61904";
    let json = seed_text("json").replace("\"symbol\":\"__pthread_kill\",\"symbolLocation\":8", of_image);
    assert_eq!(stacks(&read_bytes(json.as_bytes()).unwrap())[0].1[0], "0xf1d0");
}

/// People paste reports into mails and trackers, which wrap lines and add empty ones.
#[test]
fn empty_and_wrapped_lines_end_no_list() {
    let text = seed_text("text");
    let expected = read_bytes(text.as_bytes()).unwrap();
    for (before, after) in [
        ("__exceptionPreprocess + 164\n", "__exceptionPreprocess + 164\n\n"),
        ("Last Exception Backtrace:\n", "Last Exception Backtrace:\n\n"),
        ("__pthread_kill + 8\n", "__pthread_kill + 8\n\n-------- RECURSION LEVEL 9\n"),
        ("__pthread_kill + 8\n", "__pthread_kill + 8\n\n\n"),
        ("Orchard.app/Orchard\n0x23", "Orchard.app/Orchard\n\n0x23"),
        ("Orchard.app/Orchard\n0x23", "Orchard.app/\nOrchard\n0x23"),
        ("Orchard.app/Orchard\n0x23", "Orchard.app/Orc\nhard\n0x23"),
        ("Orchard.app/Orchard\n0x23", "Orchard.ap\np/Orchard\n0x23"),
        (" <1672554c5c", "\n<1672554c5c"),
        (" /private/var", "\n/private/var"),
        ("Triggered by Thread:  0", "Triggered by Thread: 0, Dispatch Queue: com.apple.main-thread"),
    ] {
        assert!(text.contains(before), "{before}");
        let recording = read_bytes(text.replace(before, after).as_bytes()).unwrap();
        assert_eq!(stacks(&recording), stacks(&expected), "{after:?}");
        let binaries = |recording: &Recording| -> Vec<(String, String)> {
            let binaries = recording.profile.binary_ids().map(|id| recording.profile.binary(id));
            let text = |id| recording.profile.string(id).to_owned();
            binaries.map(|binary| (text(binary.name), text(binary.path))).collect()
        };
        assert_eq!(binaries(&recording), binaries(&expected), "{after:?}");
        assert_eq!(recording.rejected(), 0, "{after:?}");
    }
    let said = |text: &str| run(&read_bytes(text.as_bytes()).unwrap()).summary.clone();
    let text = text.replace("\nabort() called\n", "\n\nThread 1: this is NOT a crash\n\nDetails:\n\nabort() called\n");
    let reason = said(&text).into_iter().find(|(key, _)| key == "exception-reason").unwrap().1;
    assert_eq!(
        reason,
        "*** Terminating app due to an exception; Thread 1: this is NOT a crash; Details:; abort() called"
    );
    let text = seed_text("text").replace("(SIGABRT)", "(SIGKILL (Code Signature Invalid))");
    assert!(said(&text).contains(&("signal".to_owned(), "SIGKILL (Code Signature Invalid)".to_owned())));
}

/// The name of an inlined function may be unknown. It has no address of its own.
#[test]
fn inlined_functions_without_a_name_stay_inlined() {
    let line = "1   Orchard  0x0000000100004e78 clamp(_:) (Clamp.swift:12)\n";
    let text = seed_text("text")
        .replace("1   Orchard                       \t0x0000000100004e78 clamp(_:) (Clamp.swift:12)\n", line);
    let unknown = "1   Orchard  0x0000000100004e78 <unknown>\n";
    let text = text.replace(line, &unknown.repeat(2)).replace("draw() + 92", "draw()");
    let report = CrashReport::parse(text.into_bytes(), "input", &Options::default()).unwrap();
    let json: Value = serde_json::from_str(&objects(&report)).unwrap();
    for index in [1, 2] {
        assert_eq!(json["threads"][0]["frames"][index]["inlined"], json!(true), "{json}");
    }
}

#[test]
fn a_long_message_is_cut() {
    let text = seed_text("text").replace("abort() called", &"é".repeat(40_000));
    let recording = read_bytes(text.as_bytes()).unwrap();
    let reason = run(&recording).summary_field("exception-reason").unwrap();
    assert!(reason.ends_with('é') && reason.len() > 60_000, "{}", reason.len());
}

#[test]
fn only_the_last_exception_is_called_one() {
    let text = seed_text("text");
    let names = |text: String| {
        let recording = read_bytes(text.as_bytes()).unwrap();
        stacks(&recording).into_iter().skip(2).map(|(name, _)| name).collect::<Vec<_>>()
    };
    let specific = text.replace("Last Exception Backtrace", "Application Specific Backtrace 1");
    assert_eq!(names(specific), ["Application specific backtrace 1 of Thread 0, attributed"]);
    let title = "Application Specific Backtrace 1:\n0   Orchard  0x100004e79 f + 1\n\nLast Exception Backtrace";
    let both = text.replace("Last Exception Backtrace", title);
    let expected = ["Application specific backtrace 1 of Thread 0", "Last exception of Thread 0, attributed"];
    assert_eq!(names(both), expected);
}

#[test]
fn reads_half_a_character_in_json() {
    let text = seed_text("json").replace("abort() called", "abort() \\ud83d \\ud83d\\ude00 \\\\ud83d \\ude00");
    let recording = read_bytes(text.as_bytes()).unwrap();
    let reason = run(&recording).summary_field("exception-reason").unwrap();
    assert!(reason.ends_with("abort() \u{fffd} \u{1f600} \\ud83d \u{fffd}"), "{reason}");
    let none = Locator::new(&FileSystem);
    assert_eq!(named(&text, &none), text);
}

#[test]
fn describes_damaged_json_in_plain_words() {
    let text = seed_text("json");
    for (from, to, words) in [
        ("\"threads\":", "\"threads\"", "a colon is missing"),
        ("\"pid\":517", "\"pid\":51x", "a number is malformed"),
        ("\"pid\":517", "\"pid\":hello", "a value is expected"),
        (",\"pid\":517", "\"pid\":517", "a comma is missing"),
    ] {
        let error = read_bytes(text.replace(from, to).as_bytes()).expect_err("it is damaged").to_string();
        assert!(error.starts_with("input:2:") && error.contains(words), "{error}");
    }
}

#[test]
fn reads_a_report_without_its_header() {
    let text = seed_text("json");
    let body = text.lines().nth(1).unwrap();
    let [whole, body] = [text.as_str(), body].map(|text| read_bytes(text.as_bytes()).unwrap());
    assert_eq!(stacks(&whole), stacks(&body));
}

/// Before macOS 12, the address of a call of a null pointer has no prefix. Its caller is looked up before the return address.
#[test]
fn calls_outside_of_all_images_keep_their_place() {
    let report = "Process: App [1]\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n\nThread 0 Crashed:\n\
        0   ???                           \t000000000000000000 0 + 0\n\
        1   App                           \t0x0000000100000010 0x100000000 + 16\n\
        2   ???                           \t0x00000001deadbeef 0 + 8030240495\n\nBinary Images:\n\
        0x100000000 - 0x100000fff App arm64  <11111111222233334444555555555555> /App.app/App\n\
        0x0 - 0xffffffffffffffff ??? (*) <00000000-0000-0000-0000-000000000000> ???\n";
    let recording = read_bytes(report.as_bytes()).unwrap();
    let [(_, stack)] = &stacks(&recording)[..] else { panic!("one thread") };
    assert_eq!(stack.len(), 3, "{stack:?}");
    assert_eq!((stack[0].as_str(), stack[2].as_str()), ("0x0", "0x1deadbeef"), "{stack:?}");
    let profile = &recording.profile;
    let binaries: Vec<&str> = profile.binary_ids().map(|id| profile.string(profile.binary(id).name)).collect();
    assert_eq!(binaries, ["App"]);
}

#[test]
fn a_list_of_addresses_may_have_several_lines() {
    let head = "Process: App [1]\nException Type:  EXC_CRASH (SIGABRT)\n\nLast Exception Backtrace:\n";
    let one = read_bytes(format!("{head}(0x10 0x20 0x30 0x40)\n").as_bytes()).unwrap();
    let several = read_bytes(format!("{head}(0x10 0x20\n 0x30\n 0x40)\n").as_bytes()).unwrap();
    assert_eq!(stacks(&one), stacks(&several));
    assert_eq!(stacks(&one)[0].1.len(), 4);
}

#[test]
fn memory_is_limited() {
    let frames = "{\"imageOffset\":1},".repeat(600_000);
    let text = format!("{{\"bug_type\":\"309\"}}\n{{\"threads\":[{{\"frames\":[{}]}}]}}", frames.trim_end_matches(','));
    let options = Options { memory: MemoryBudget::new(20 << 20), ..Options::default() };
    let error = read(text.as_bytes(), "input", &options).expect_err("it does not fit");
    assert!(error.to_string().contains("memory"), "{error}");
    assert_eq!(options.memory.used(), 0);
}

/// A function as llvm-symbolizer names it: its name, file without folder, and line.
type Function = (String, String, u64);

/// An image, and its addresses with their functions, innermost first.
struct Table {
    name: String,
    arch: String,
    uuid: String,
    addresses: BTreeMap<u64, Vec<Function>>,
}

/// The tables of all cases.
fn tables() -> Vec<Table> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    for case in fs::read_dir(built()).unwrap().flatten().filter(|case| case.path().is_dir()) {
        // `bare` has worse symbols for images that also have a dSYM.
        if case.file_name() == "bare" {
            continue;
        }
        let text = fs::read_to_string(case.path().join("expected.tsv")).unwrap();
        for row in text.lines().skip(1) {
            let cells: Vec<&str> = row.split('\t').collect();
            let [file, arch, uuid, address, _, _, function, source, line, ..] = cells[..] else { panic!("{row}") };
            // A symbol table next to a dSYM answers what the dSYM does not know.
            if !file.contains(".dSYM") {
                continue;
            }
            let name = file.rsplit('/').next().unwrap().to_owned();
            let table = tables.entry(uuid.to_owned()).or_insert_with(|| {
                let (arch, uuid, addresses) = (arch.to_owned(), uuid.to_owned(), BTreeMap::new());
                Table { name, arch, uuid, addresses }
            });
            let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap();
            let functions = table.addresses.entry(address).or_default();
            if function != "-" && source != "-" {
                let file = source.rsplit('/').next().unwrap().to_owned();
                functions.push((Demangler::default().display_name(function).into_owned(), file, line.parse().unwrap()));
            }
        }
    }
    tables.into_values().collect()
}

/// The offsets of a report's stacks: each address as the first frame of a thread, and as the call of a return address.
fn offsets(table: &Table) -> Vec<Vec<u64>> {
    table.addresses.keys().filter(|&&address| address < 1 << 31).map(|&address| vec![address, address + 1]).collect()
}

fn ips(table: &Table) -> String {
    let frame = |offset: &u64| json!({"imageOffset": offset, "imageIndex": 0});
    let thread = |offsets: &Vec<u64>| json!({"id": 1, "frames": offsets.iter().map(frame).collect::<Vec<_>>()});
    let threads: Vec<Value> = offsets(table).iter().map(thread).collect();
    let image = json!({"base": LOAD, "size": 1_u64 << 31, "uuid": table.uuid.to_lowercase(), "arch": table.arch,
                       "name": table.name, "path": format!("/A.app/{}", table.name)});
    let report = json!({"procName": "A", "threads": threads, "usedImages": [image], "asi": {"a": ["\u{e9}\t\\/"]}});
    format!("{{\"bug_type\":\"309\"}}\n{report}\n")
}

fn text(table: &Table) -> String {
    let Table { name, arch, uuid, .. } = table;
    let mut text = "Process:   A [1]\nException Type:  EXC_CRASH (SIGABRT)\n\n".to_owned();
    for (index, offsets) in offsets(table).iter().enumerate() {
        writeln!(text, "Thread {index}:").unwrap();
        for (index, offset) in offsets.iter().enumerate() {
            writeln!(text, "{index:<4}{name:<30}\t{:#018x} {LOAD:#x} + {offset}", LOAD + offset).unwrap();
        }
        text.push('\n');
    }
    let uuid = uuid.replace('-', "").to_lowercase();
    text + &format!("Binary Images:\n{LOAD:#x} - {:#x} {name} {arch}  <{uuid}> /A.app/{name}\n", LOAD + (1 << 31))
}

fn named(report: &str, finder: &Locator<'_>) -> String {
    let report = CrashReport::parse(report.as_bytes().to_vec(), "input", &Options::default()).unwrap();
    let (named, _) = report.symbolicate(finder, &SymbolicateOptions::default()).unwrap();
    String::from_utf8(named).unwrap()
}

/// The functions of a named `.ips` file, for each frame of each thread. The list is empty for a frame without a name.
fn of_ips(text: &str) -> Vec<Vec<(u64, Vec<Function>)>> {
    let report: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let thread = |thread: &Value| {
        let (mut frames, mut functions) = (Vec::new(), Vec::new());
        for frame in thread["frames"].as_array().unwrap() {
            if let Some(symbol) = frame["symbol"].as_str() {
                let file = frame["sourceFile"].as_str().unwrap_or_default().to_owned();
                functions.push((symbol.to_owned(), file, frame["sourceLine"].as_u64().unwrap_or_default()));
            }
            assert_eq!(frame["imageIndex"], 0);
            if frame["inline"] != true {
                frames.push((frame["imageOffset"].as_u64().unwrap(), std::mem::take(&mut functions)));
            }
        }
        frames
    };
    report["threads"].as_array().unwrap().iter().map(thread).collect()
}

/// The functions of a named text, as [`of_ips`]. Only the last function at an address has an offset.
fn of_text(text: &str) -> Vec<Vec<(u64, Vec<Function>)>> {
    let mut threads = Vec::new();
    let mut functions = Vec::new();
    for line in text.lines() {
        if line.starts_with("Thread ") {
            threads.push(Vec::new());
        }
        let Some((before, rest)) = line.split_once("\t0x").filter(|_| !line.contains(" - 0x")) else { continue };
        let thread: &mut Vec<(u64, Vec<Function>)> = threads.last_mut().unwrap();
        let (address, name) = rest.split_once(' ').unwrap();
        let offset = u64::from_str_radix(address, 16).unwrap() - LOAD;
        let number: usize = before.split(' ').next().unwrap().parse().unwrap();
        let shown: usize = thread.iter().map(|(_, functions)| functions.len().max(1)).sum::<usize>() + functions.len();
        assert_eq!(number, shown, "lines are numbered: {line}");
        if name.starts_with("0x") {
            thread.push((offset, Vec::new()));
            continue;
        }
        let (name, source) = match name.rsplit_once(" (") {
            Some((name, source)) if source.contains(':') => (name, source.trim_end_matches(')')),
            _ => (name, ":0"),
        };
        let (file, line) = source.rsplit_once(':').unwrap();
        let (name, is_last) = match name.rsplit_once(" + ") {
            Some((name, offset)) if offset.parse::<u64>().is_ok() => (name, true),
            _ => (name, false),
        };
        functions.push((name.to_owned(), file.to_owned(), line.parse().unwrap()));
        if is_last {
            thread.push((offset, std::mem::take(&mut functions)));
        }
    }
    threads
}

#[test]
fn frames_have_the_names_of_llvm_symbolizer() {
    let locator = locator(&built());
    let (tables, mut compared) = (tables(), 0);
    assert!(tables.len() >= 10, "{}", tables.len());
    for table in &tables {
        let expected: Vec<Vec<(u64, &Vec<Function>)>> = offsets(table)
            .iter()
            .map(|offsets| {
                vec![(offsets[0], &table.addresses[&offsets[0]]), (offsets[1], &table.addresses[&offsets[0]])]
            })
            .collect();
        for (report, read) in [(ips(table), of_ips as fn(&str) -> _), (text(table), of_text)] {
            let once = named(&report, &locator);
            for (expected, found) in expected.iter().zip(read(&once)) {
                for ((offset, functions), found) in expected.iter().zip(&found) {
                    // A symbol table may have names that llvm-symbolizer lacks.
                    if functions.is_empty() {
                        continue;
                    }
                    assert_eq!((offset, *functions), (&found.0, &found.1), "{} {}", table.name, table.arch);
                    compared += 1;
                }
            }
            assert!(named(&once, &locator) == once, "naming {} twice is the same", table.name);
        }
    }
    println!("{compared} frames in {} reports", 2 * tables.len());
    assert!(compared > 1000, "{compared}");
}

/// The lines of a report that are not frames.
fn others(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').filter(|line| !line.contains("\t0x")).collect()
}

#[test]
fn everything_else_stays() {
    let locator = locator(&built());
    for table in tables() {
        for report in [text(&table), text(&table).replace('\n', "\r\n")] {
            let named = named(&report, &locator);
            assert_eq!(others(&named), others(&report));
            assert_eq!(named.contains('\r'), report.contains('\r'));
            assert!(named.split_inclusive('\n').all(|line| line.ends_with("\r\n") == report.contains('\r')));
        }
        let report = ips(&table);
        // Without the members and frames that were added, it is as before.
        let mut value: Vec<Value> =
            named(&report, &locator).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for thread in value[1]["threads"].as_array_mut().unwrap() {
            let frames = thread["frames"].as_array_mut().unwrap();
            frames.retain(|frame| frame["inline"] != true);
            for frame in frames.iter_mut().map(|frame| frame.as_object_mut().unwrap()) {
                frame.retain(|key, _| key.starts_with("image"));
            }
        }
        assert_eq!(format!("{}\n{}\n", value[0], value[1]), report);
    }
}

/// The image of most cases, with a leaf under three inlined calls.
fn inlining() -> Table {
    tables().into_iter().find(|table| table.name == "Inlining").unwrap()
}

#[test]
fn json_keeps_its_style() {
    let table = Table { addresses: BTreeMap::from([(0x3c8, Vec::new())]), ..inlining() };
    let pretty = "{\n  \"bug_type\" : \"309\"\n}\n{\n  \"threads\" : [\n    {\n      \"frames\" : [\n        {\n          \
                  \"imageOffset\" : 968,\n          \"symbol\" : \"old\\/name\",\n          \"imageIndex\" : 0\n        }\n      ]\n    \
                  }\n  ],\n  \"usedImages\" : [\n    {\"uuid\" : \"UUID\", \"name\" : \"Inlining\"}\n  ]\n}\n";
    let named = named(&pretty.replace("UUID", &table.uuid), &locator(&built()));
    let innermost = "        {\n          \"symbol\" : \"paint::clamp_channel(int)\",\n          \"inline\" : true,\n          \
                     \"imageIndex\" : 0,\n          \"imageOffset\" : 968,\n";
    assert!(named.contains(innermost), "{named}");
    let outermost = "          \"imageOffset\" : 968,\n          \"symbol\" : \"paint::blend_image(";
    assert!(
        named.contains(outermost) && named.contains("\"imageIndex\" : 0,\n          \"symbolLocation\" : "),
        "{named}"
    );
}

#[test]
fn lists_of_addresses_become_frames() {
    let table = inlining();
    let list = format!("Last Exception Backtrace:\n({:#x} 0x99 {:#x})\n\nThread 0 Crashed:\n", LOAD + 0x3c9, LOAD + 1);
    let report = text(&table).replacen("Thread 0:\n", &list, 1);
    let named = named(&report, &locator(&built()));
    let lines: Vec<&str> = named.lines().skip_while(|line| !line.starts_with("Last")).skip(1).take(6).collect();
    assert!(
        lines[0].starts_with("0   Inlining                      \t0x0000000102af43c9 paint::clamp_channel(int) ("),
        "{lines:#?}"
    );
    assert!(lines[3].contains("blend_image") && lines[3].contains(" + "), "{lines:#?}");
    assert_eq!(lines[4], "4   ???                           \t0x0000000000000099 ???");
    assert_eq!(lines[5], "5   Inlining                      \t0x0000000102af4001 0x102af4000 + 1");
}

/// Each form of a report has the same objects, with the names and offsets of its frames.
#[test]
fn frames_are_objects() {
    let table = inlining();
    let locator = locator(&built());
    let [of_ips, of_text] = [ips(&table), text(&table)].map(|report| {
        let named = named(&report, &locator).into_bytes();
        let named = CrashReport::parse(named, "input", &Options::default()).unwrap();
        serde_json::from_str::<Value>(&objects(&named)).unwrap()
    });
    assert_eq!(of_ips["threads"], of_text["threads"]);
    let frames: Vec<&Value> =
        of_ips["threads"].as_array().unwrap().iter().flat_map(|thread| thread["frames"].as_array().unwrap()).collect();
    let inlined = frames.iter().find(|frame| frame["address"] == format!("{:#x}", LOAD + 0x3c8)).unwrap();
    let expected = json!({"function": "paint::clamp_channel(int)", "binary": "Inlining", "uuid": table.uuid, "address": inlined["address"],
                          "offset": null, "file": inlined["file"], "line": inlined["line"], "inlined": true});
    assert_eq!(**inlined, expected);
    let outer = frames
        .iter()
        .find(|frame| frame["function"].as_str().is_some_and(|name| name.contains("blend_image(")))
        .unwrap();
    assert!(outer["offset"].as_u64().is_some() && outer.get("inlined").is_none(), "{outer}");
}

#[test]
fn without_inlines_and_without_symbols() {
    let report = text(&inlining());
    let parsed = CrashReport::parse(report.clone().into_bytes(), "input", &Options::default()).unwrap();
    let options = SymbolicateOptions { with_inlines: false, ..SymbolicateOptions::default() };
    let written = |path: &Path, options| {
        let locator = locator(path);
        let (named, summary) = parsed.symbolicate(&locator, options).unwrap();
        (String::from_utf8(named).unwrap(), summary.lacking())
    };
    let (outer, lacking) = written(&built(), &options);
    assert_eq!((outer.lines().count(), lacking), (report.lines().count(), None));
    let (same, lacking) = written(&built().join("moved"), &SymbolicateOptions::default());
    assert_eq!(same, report);
    assert!(lacking.is_some_and(|sentence| sentence.contains("4C4C446D-5555-3144-A14C-ADA0C4848C5D (Inlining)")));
}
