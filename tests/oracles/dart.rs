//! Dart CPU profiles, from the corpus and in 3,000 well-formed documents with changes, compared with `tests/oracle/dart.py`.
//!
//! A document that the two read differently must be refused. `TRACEPARSE_SEED` selects the changes.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use support::Rng;
use support::mutations::change_known_of;
use traceparse::output::{self, Format};
use traceparse::profile::Frame;
use traceparse::read;
use traceparse::recording::{Options, Recording, RejectReason, Toc};
use traceparse::report::{ReportOptions, SeparateBy, View};

use crate::metrickit::{asked, compare_documents};
use crate::programs::{Server, corpus, files, has_python, in_corpus};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python();
        changed_profiles_are_those_of_the_oracle_or_refused, profiles_with_other_words_are_those_of_the_oracle_or_refused];
    trials.extend(trials![if has_python() && corpus().is_some(); profiles_of_the_corpus_are_those_of_the_oracle]);
    trials
}

/// What a recording holds, in the script's words.
fn told(recording: &Recording) -> Result<Value, Failed> {
    let profile = &recording.profile;
    let shown = |frame: &Frame| {
        let function = profile.string(profile.function(frame.function).name);
        let binary = frame.binary.map_or("", |binary| profile.string(profile.binary(binary).name));
        format!("{function}|{binary}|{}", frame.source.map_or(0, |source| source.line))
    };
    let samples_of = |run| {
        let samples = profile.samples().iter().filter(move |sample| profile.series(sample.series).run == run);
        samples.map(|sample| {
            assert_eq!(sample.weight, 1);
            let mut frames: Vec<String> = profile.frames_leaf_first(sample.stack).map(shown).collect();
            frames.reverse();
            let thread = profile.thread(sample.thread);
            json!([sample.time.as_nanos(), profile.process(thread.process).pid, thread.tid, frames])
        })
    };
    let tags = tags(recording)?;
    // Runs without samples are not in the profile.
    let mut runs = profile.run_ids();
    let profiles = recording.tables().zip(recording.tocs()).map(|(table, Toc { runs: contents })| {
        let run = if table.rows > table.rejected.total() { runs.next() } else { None };
        let rejected: BTreeMap<&str, u64> =
            table.rejected.iter().map(|(reason, count): (RejectReason, u64)| (reason.name(), count)).collect();
        json!({
            "process": contents[0].process, "summary": contents[0].summary, "rows": table.rows, "rejected": rejected,
            "samples": run.map_or(Vec::new(), |run| samples_of(run).collect()),
            "tags": tags.get(&contents[0].number).cloned().unwrap_or_default(),
        })
    });
    Ok(profiles.collect())
}

/// The samples of each user tag, by run.
fn tags(recording: &Recording) -> Result<BTreeMap<u32, BTreeMap<String, u64>>, Failed> {
    let mut found: BTreeMap<u32, BTreeMap<String, u64>> = BTreeMap::new();
    let options = ReportOptions { view: View::Tree, separate_by: SeparateBy::Interval, ..ReportOptions::default() };
    let mut out = Vec::new();
    output::write(&recording.report(&options), &Format::Json, &mut out)?;
    let report: Value = serde_json::from_slice(&out)?;
    for scope in report["intervals"].as_array().into_iter().flatten() {
        let run = scope["run"].as_u64().unwrap_or_default() as u32;
        let tag = scope["interval"].as_str().unwrap_or("in none").to_owned();
        found.entry(run).or_default().insert(tag, scope["samples"].as_u64().unwrap_or_default());
    }
    found.retain(|_, tags| tags.keys().any(|tag| tag != "in none"));
    Ok(found)
}

/// Compares what was read with the answer of the oracle.
fn compare(recording: &Recording, mut expected: Value) -> Result<(), String> {
    let noted = |word: &str| {
        let noted = recording.diagnostics.iter().filter(|noted| noted.message.contains(word));
        noted.map(|noted| noted.count).sum::<u64>()
    };
    let mut found = told(recording).map_err(|error| format!("{error:?}"))?;
    for (key, word) in [("ticks", "inclusiveTicks"), ("left_out", "leaves out")] {
        let all = expected.as_array().into_iter().flatten();
        let stated: u64 = all.map(|profile| profile[key].as_u64().unwrap_or(u64::MAX)).sum();
        if stated != noted(word) {
            return Err(format!("{key}: {} and {stated}", noted(word)));
        }
    }
    for profile in expected.as_array_mut().into_iter().flatten().chain(found.as_array_mut().into_iter().flatten()) {
        let members = profile.as_object_mut().ok_or("no object")?;
        members.retain(|key, _| key != "ticks" && key != "left_out");
        // If two samples have the same time, either tag may be used.
        if noted("different user tags") > 0 {
            members.remove("tags");
        }
    }
    if found == expected { Ok(()) } else { Err(format!("{found:#} and {expected:#}")) }
}

fn profiles_of_the_corpus_are_those_of_the_oracle() -> Result<(), Failed> {
    let mut oracle = Server::start("dart.py")?;
    let mut read_ones = 0;
    for path in files(&in_corpus("inputs/dart"), "json") {
        let content = std::fs::read(&path)?;
        let expected = asked(&mut oracle, &content)?;
        let recording = read(content.as_slice(), "input", &Options::default())?;
        compare(&recording, expected).map_err(|error| format!("{}: {error}", path.display()))?;
        read_ones += 1;
    }
    ensure!(read_ones == 4, "{read_ones} files were read");
    Ok(())
}

fn changed_profiles_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    compare_changed(|_, _| ())
}

fn profiles_with_other_words_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    const WORDS: [&str; 18] = [
        "CpuSamples",
        "_CpuProfileTimeline",
        "samplePeriod",
        "sampleCount",
        "functions",
        "samples",
        "stackFrames",
        "traceEvents",
        "stack\"",
        "tid",
        "timestamp",
        "vmTag",
        "userTag",
        "kind",
        "name",
        "parent",
        "truncated",
        "Dart",
    ];
    compare_changed(|rng, content| change_known_of(rng, content, &WORDS))
}

fn compare_changed(change_words: fn(&mut Rng, &mut Vec<u8>)) -> Result<(), Failed> {
    compare_documents("dart.py", document, change_words, compare)
}

/// A profile of either form, alone or in what contains one.
fn document(rng: &mut Rng) -> Value {
    let profile = if rng.one_in(2) { samples(rng) } else { timeline(rng) };
    match rng.below(4) {
        0 => json!({"jsonrpc": "2.0", "id": "7", "result": profile}),
        1 => json!({"devToolsSnapshot": true, "activeScreenId": "cpu-profiler", "cpu-profiler": profile}),
        _ => profile,
    }
}

const URLS: [&str; 5] = [
    "package:app/main.dart",
    "dart:core-patch/uri_patch.dart",
    "org-dartlang-sdk:///sdk/lib/core/uri.dart",
    "file:///a/b.dart",
    "",
];

/// Functions, and samples with the ticks that they give.
fn samples(rng: &mut Rng) -> Value {
    let mut functions: Vec<Value> = (0..2 + rng.below(5)).map(|index| function(rng, index)).collect();
    let samples: Vec<Value> = (0..rng.below(9)).map(|index| sample(rng, index, functions.len())).collect();
    for (index, function) in functions.iter_mut().enumerate() {
        let stacks = || samples.iter().filter_map(|sample| sample["stack"].as_array());
        let inclusive = stacks().filter(|stack| stack.contains(&json!(index))).count();
        let exclusive = stacks().filter(|stack| stack.first() == Some(&json!(index))).count();
        function["inclusiveTicks"] = json!(inclusive);
        function["exclusiveTicks"] = json!(exclusive);
    }
    json!({
        "type": "CpuSamples", "samplePeriod": 1000, "sampleCount": samples.len(), "timeOriginMicros": 1_000_000, "timeExtentMicros": 9_000,
        "pid": 4242, "functions": functions, "samples": samples, "timeSpan": -1,
    })
}

fn function(rng: &mut Rng, index: u64) -> Value {
    let kind = *rng.pick(&["Dart", "Dart", "Dart", "Native", "Stub", "Collected", "Tag"]);
    if kind != "Dart" {
        let name = rng.pick(&["[Native] /usr/lib/libapp.so+0x1a", "[Stub] Allocate", "[Collected] f", "write"]);
        return json!({"kind": kind, "resolvedUrl": "", "function": {"type": "NativeFunction", "name": name}});
    }
    let library = json!({"type": "@Library", "name": "app"});
    let mut owner = match rng.below(3) {
        0 => library,
        _ => json!({"type": "@Class", "name": format!("C{}", rng.below(2)), "library": library}),
    };
    if rng.one_in(3) {
        owner = json!({"type": "@Function", "name": "outer", "owner": owner});
    }
    let script = json!({"type": "@Script", "uri": rng.pick(&URLS)});
    let location = json!({"type": "SourceLocation", "script": script, "line": rng.below(40), "tokenPos": -1});
    json!({
        "kind": kind, "resolvedUrl": rng.pick(&URLS),
        "function": {"type": "@Function", "name": format!("f{index}"), "owner": owner, "location": location},
    })
}

fn sample(rng: &mut Rng, index: u64, functions: usize) -> Value {
    let stack: Vec<usize> = (0..rng.below(5)).map(|_| rng.index(functions)).collect();
    let mut sample = json!({
        "tid": 771 + rng.below(2), "timestamp": 1_000_000 + 1_009 * index, "stack": stack, "vmTag": "Dart", "userTag": tag(rng),
    });
    if rng.one_in(4) {
        sample["truncated"] = json!(rng.one_in(2));
    }
    sample
}

fn tag(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(&["Default", "Default", "Parsing", "Layout"])
}

/// Frames with callers, of which some may be missing, and events.
fn timeline(rng: &mut Rng) -> Value {
    let count = 1 + rng.below(6);
    let frames = (0..count).map(|index| {
        let parent = if index == 0 { "cpuProfileRoot".to_owned() } else { format!("140-{}", rng.below(index)) };
        let frame = json!({
            "category": "Dart", "name": rng.pick(&["main", "C.f", "[Stub] Allocate", "write"]), "parent": parent,
            "resolvedUrl": rng.pick(&URLS), "packageUri": rng.pick(&URLS), "sourceLine": rng.below(40),
        });
        (format!("140-{index}"), frame)
    });
    let frames: serde_json::Map<String, Value> = frames.collect();
    let events: Vec<Value> = (0..rng.below(9))
        .map(|index| {
            json!({
                "ph": "P", "name": "", "pid": 7, "tid": 771 + rng.below(2), "ts": 50 * index, "cat": "Dart",
                "args": {"userTag": tag(rng), "vmTag": "Dart"}, "sf": format!("140-{}", rng.below(count + 1)),
            })
        })
        .collect();
    json!({
        "type": "_CpuProfileTimeline", "samplePeriod": 50, "sampleCount": events.len() as u64 + rng.below(2), "timeOriginMicros": 0,
        "stackFrames": frames, "traceEvents": events,
    })
}
