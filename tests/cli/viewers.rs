//! `--format firefox` and `--format speedscope`. `tests/oracles/viewers/` tests how viewers read them.

use serde_json::Value;

use crate::command::{all_exports, json, ok, orchard};
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
fn inlined_functions_have_their_depth_and_their_lines() {
    let case = Case::new();
    let export = case.export("Inlining", INLINING, &[INLINED_LEAF]);
    let args = [export.as_str(), "--dsym", &built("inlining/Inlining.dSYM")];
    let threads = resolved::threads(&parse(&case.answer(&[&args[..], &["--format", "firefox"]].concat())));
    let stack = &threads[0].samples[0].stack;
    assert_eq!(stack.iter().map(|frame| frame.function.as_str()).collect::<Vec<_>>(), INLINED_NAMES);
    assert_eq!(stack.iter().map(|frame| frame.is_inlined).collect::<Vec<_>>(), [false, true, true, true]);
    // llvm-symbolizer reports the same lines (`expected.tsv`).
    let lines: Vec<_> = stack.iter().map(|frame| frame.source.clone().expect("a file")).collect();
    assert_eq!(lines, [37, 30, 24, 19].map(|line| ("/src/inlining.cpp".to_owned(), Some(line))));
    assert!(stack.iter().all(|frame| frame.address == Some(0x3c8)), "{stack:?}");
    let file = parse(&case.answer(&[&args[..], &["--format", "speedscope"]].concat()));
    let frames = file["shared"]["frames"].as_array().expect("frames");
    let leaf = frames.iter().find(|frame| frame["name"] == INLINED_NAMES[3]).expect("the leaf");
    assert_eq!((&leaf["file"], &leaf["line"]), (&"/src/inlining.cpp".into(), &19.into()));
}
