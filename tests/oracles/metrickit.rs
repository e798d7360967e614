//! MetricKit diagnostics, from the corpus and in 3,000 well-formed documents with changes, compared with `tests/oracle/metrickit.py`.
//!
//! A document that the two read differently must be refused. `TRACEPARSE_SEED` selects the changes.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use support::Rng;
use support::mutations::change_known_of;
use traceparse::read;
use traceparse::recording::{Options, Recording, RejectReason, Toc};

use crate::programs::{Server, corpus, files, has_python, in_corpus, number};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python(); changed_documents_are_those_of_the_oracle_or_refused, documents_with_other_words_are_those_of_the_oracle_or_refused];
    trials.extend(trials![if has_python() && corpus().is_some(); real_diagnostics_are_those_of_the_oracle]);
    trials
}

/// The script's answer about an input.
pub(crate) fn asked(oracle: &mut Server, content: &[u8]) -> Result<Value, Failed> {
    oracle.ask(&[format!("{}\n", content.len()).as_bytes(), content].concat())
}

/// What a recording holds, in the script's words.
fn told(recording: &Recording) -> Value {
    let profile = &recording.profile;
    let mut stacks: BTreeMap<_, BTreeMap<String, u64>> = BTreeMap::new();
    for sum in profile.sums() {
        let frames = profile.frames_leaf_first(sum.stack).map(|frame| match frame.binary {
            Some(binary) => format!("{}+{}", profile.string(profile.binary(binary).name), frame.lookup_address),
            None => frame.lookup_address.to_string(),
        });
        let mut frames: Vec<String> = frames.collect();
        frames.push(profile.string(profile.thread(sum.thread).name).to_owned());
        frames.reverse();
        *stacks.entry(profile.series(sum.series).run).or_default().entry(frames.join(";")).or_default() += sum.samples;
    }
    // Runs without samples are not in the profile.
    let mut runs = profile.run_ids();
    let diagnostics = recording.tables().zip(recording.tocs()).map(|(table, toc)| {
        let run = if table.samples > 0 { runs.next() } else { None };
        let mut series = profile.series_ids().map(|id| profile.series(id));
        let meaning = series.find(|series| Some(series.run) == run).map(|series| series.meaning.name());
        let Toc { runs: contents } = toc;
        let left_out = [RejectReason::UnreadThread, RejectReason::UnreadProcess, RejectReason::UnreadImage];
        let left_out = left_out.map(|reason| table.rejected.of(reason));
        json!({
            "left_out": left_out, "schema": table.schema, "meaning": meaning, "device": contents[0].device, "process": contents[0].process,
            "summary": contents[0].summary, "stacks": run.and_then(|run| stacks.get(&run).cloned()).unwrap_or_default(),
        })
    });
    diagnostics.collect()
}

fn real_diagnostics_are_those_of_the_oracle() -> Result<(), Failed> {
    let mut oracle = Server::start("metrickit.py")?;
    let mut read_ones = 0;
    for path in
        files(&in_corpus("inputs/metrickit"), "json").into_iter().chain(files(&in_corpus("inputs/metrickit"), "ndjson"))
    {
        let content = std::fs::read(&path)?;
        let expected = asked(&mut oracle, &content)?;
        match read(content.as_slice(), "input", &Options::default()) {
            Ok(recording) => {
                read_ones += 1;
                ensure!(told(&recording) == expected, "{}: {:#} and {expected:#}", path.display(), told(&recording));
            }
            Err(error) => ensure!(expected.get("refused").is_some(), "{}: {error}, {expected}", path.display()),
        }
    }
    ensure!(read_ones == 16, "{read_ones} files were read");
    Ok(())
}

fn changed_documents_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    compare_changed(|_, _| ())
}

fn documents_with_other_words_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    const WORDS: [&str; 18] = [
        "hangDiagnostic",
        "crashDiagnostic",
        "Diagnostics",
        "callStackTree",
        "callStackPerThread",
        "callStacks",
        "callStackThreads",
        "threadAttributed",
        "callStackRootFrames",
        "rootFrames",
        "binaryInfo",
        "binaryUUID",
        "1672554C-5C48-3600-AEF8-97F330B62C01",
        "offsetIntoBinaryTextSegment",
        "sampleCount",
        "subFrames",
        "address",
        "dyld",
    ];
    compare_changed(|rng, content| change_known_of(rng, content, &WORDS))
}

fn compare_changed(change_words: fn(&mut Rng, &mut Vec<u8>)) -> Result<(), Failed> {
    compare_documents("metrickit.py", document, change_words, |recording, expected| {
        let found = told(recording);
        // Which of two names comes first is not defined.
        let has_two_names = recording.diagnostics.iter().any(|note| note.message.contains("several names"));
        if found == expected || has_two_names { Ok(()) } else { Err(format!("{found:#}\n{expected:#}")) }
    })
}

/// Compares documents with changes with what a script makes of them.
pub(crate) fn compare_documents(
    script: &str,
    document: fn(&mut Rng) -> Value,
    change_words: fn(&mut Rng, &mut Vec<u8>),
    compare: fn(&Recording, Value) -> Result<(), String>,
) -> Result<(), Failed> {
    let (count, seed) = (support::rounds(3_000), number("TRACEPARSE_SEED").unwrap_or(1));
    println!("{count} documents; to repeat: TRACEPARSE_SEED={seed}");
    let mut oracle = Server::start(script)?;
    let (mut equal, mut refused) = (0, 0);
    for round in 0..count {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let mut input: Vec<Value> = (0..=rng.below(3) / 2).map(|_| document(&mut rng)).collect();
        for _ in 0..rng.below(4) {
            let document = rng.index(input.len());
            change(&mut rng, &mut input[document]);
        }
        let lines: Vec<String> = input.iter().map(Value::to_string).collect();
        let mut content = lines.join("\n").into_bytes();
        (0..rng.below(3)).for_each(|_| change_words(&mut rng, &mut content));
        let content = String::from_utf8(content)?;
        let expected = asked(&mut oracle, content.as_bytes())?;
        match read(content.as_bytes(), "input", &Options::default()) {
            Ok(recording) => {
                equal += 1;
                compare(&recording, expected).map_err(|error| format!("seed {}: {content}\n{error}", seed + round))?;
            }
            Err(error) => {
                refused += 1;
                ensure!(error.at.is_some(), "{error} has no place");
            }
        }
    }
    println!("{equal} equal, {refused} refused");
    ensure!(equal > refused, "most documents are refused");
    Ok(())
}

const KINDS: [&str; 6] = ["crash", "hang", "cpuException", "diskWriteException", "appLaunch", "memoryException"];

/// A payload, a report of iOS 27, a diagnostic, or a call tree.
pub(crate) fn document(rng: &mut Rng) -> Value {
    let kind = *rng.pick(&KINDS);
    let is_stop = ["crash", "memoryException"].contains(&kind);
    let is_new = rng.one_in(2);
    let tree = tree(rng, is_stop, is_new);
    let number = rng.below(90_000);
    let told = match kind {
        "diskWriteException" => {
            rng.pick(&[format!("{number} byte"), format!("{number},25 MB"), "200.000 kB".to_owned()]).clone()
        }
        _ => rng
            .pick(&[format!("{number} ms"), format!("{number}秒"), "1.234 ms".to_owned(), "9 sec".to_owned()])
            .clone(),
    };
    let unit = if kind == "diskWriteException" { "MB" } else { "ms" };
    let measure = match kind {
        "hang" => "hangDuration",
        "cpuException" => "totalCPUTime",
        "diskWriteException" => "writesCaused",
        "appLaunch" => "launchDuration",
        _ => "terminationReason",
    };
    if is_new {
        let event = 810_918_462.24 + rng.below(1_000) as f64 / 4.0;
        let mut report = json!({
            "version": "2.0.0", "timeRange": {"begin": event, "end": event},
            "environment": {
                "applicationVersion": "3.1", "bundleIdentifier": "org.example.App", "deviceType": "iPhone15,2", "pid": rng.below(9_999),
                "osVersion": {"platform": "iPhone OS", "number": "27.0", "buildNumber": "24A435"}, "isTestFlightApp": rng.one_in(2),
                "states": [{"domain": "screen", "label": "home", "duration": {"value": 1.5, "unit": "s"}}],
            },
            (format!("{kind}Diagnostic")): {(measure): {"value": number, "unit": unit}, "callStackTree": tree},
        });
        if is_stop {
            report[format!("{kind}Diagnostic")]["exceptionReason"] =
                json!({"exceptionName": "NSRangeException", "composedMessage": "5 is beyond", "arguments": ["5"]});
        }
        return report;
    }
    let events = [("hang", "hang"), ("appLaunch", "launches"), ("diskWriteException", "diskwrites")];
    if let (Some((_, event)), true) = (events.iter().find(|(of, _)| *of == kind), rng.one_in(8)) {
        let detail = format!("{number} {}", if kind == "diskWriteException" { "byte" } else { "ms" });
        let facts = json!({"event": event, "eventDetail": detail, "bundleId": "org.example.App", "appVersion": "3.1", "buildVersion": "7"});
        let log = json!({"callStackTree": [tree.clone(), tree], "diagnosticMetaData": facts});
        return json!({"productData": [{"signatureId": "1", "diagnosticLogs": [log]}], "version": "1.0"});
    }
    let mut diagnostic = json!({
        "version": "1.0.0", "callStackTree": tree,
        "diagnosticMetaData": {
            (measure): told, "appVersion": "3.1", "osVersion": "iPhone OS 17.5 (21F79)", "platformArchitecture": "arm64e", "regionFormat": "DE",
        },
    });
    if is_stop {
        let facts = &mut diagnostic["diagnosticMetaData"];
        facts["exceptionType"] = json!(rng.below(16));
        facts["exceptionCode"] = json!(rng.below(4));
        facts["signal"] = json!(rng.below(18));
    }
    match rng.below(4) {
        0 => diagnostic,
        1 => diagnostic["callStackTree"].take(),
        2 => json!([{"payload": {(format!("{kind}Diagnostics")): [diagnostic]}}]),
        _ => json!({"timeStampBegin": "2024-05-01 00:00:00 +0000", (format!("{kind}Diagnostics")): [diagnostic]}),
    }
}

/// A call tree in the shape of the kind and of the version.
fn tree(rng: &mut Rng, is_stop: bool, is_new: bool) -> Value {
    let (stacks, roots) =
        if is_new { ("callStackThreads", "rootFrames") } else { ("callStacks", "callStackRootFrames") };
    let style = rng.below(4);
    let threads: Vec<Value> = (0..1 + rng.below(3))
        .map(|_| {
            let frames: Vec<Value> = (0..1 + rng.below(2)).map(|_| frame(rng, is_stop, style, 0).0).collect();
            json!({"threadAttributed": rng.one_in(2), (roots): frames})
        })
        .collect();
    let names: Vec<Value> =
        BINARIES.iter().enumerate().map(|(index, name)| json!({"uuid": uuid(index), "name": name})).collect();
    json!({"callStackPerThread": !rng.one_in(4), (stacks): threads, "binaryInfo": names})
}

const BINARIES: [&str; 4] = ["dyld", "App", "UIKitCore", "libsystem_kernel.dylib"];

fn uuid(index: usize) -> String {
    format!("1672554C-5C48-3600-AEF8-97F330B62C{index:02X}")
}

/// A frame with its callees, and its samples. `style` is how offsets are written: load addresses, raw offsets, or offsets of which callers have one less.
fn frame(rng: &mut Rng, is_stop: bool, style: u64, depth: u64) -> (Value, u64) {
    let callees = if rng.below(8) < depth { 0 } else { 1 + u64::from(!is_stop) * rng.below(2) };
    let (frames, counts): (Vec<Value>, Vec<u64>) = (0..callees).map(|_| frame(rng, is_stop, style, depth + 1)).unzip();
    let own = if is_stop { u64::from(callees == 0) } else { rng.below(9) + u64::from(callees == 0) };
    let count = own + counts.iter().sum::<u64>();
    let index = rng.index(BINARIES.len());
    let load = 0x1_0400_0000 + 0x1000_0000 * index as u64;
    let offset = 4 * rng.below(0x4000);
    let written = match style {
        0 => load,
        1 if callees > 0 && !is_stop => offset.saturating_sub(1),
        _ => offset,
    };
    let mut frame = json!({
        "binaryUUID": uuid(index), "address": load + offset, "offsetIntoBinaryTextSegment": written, "sampleCount": count,
        "binaryName": BINARIES[index],
    });
    if callees > 0 || rng.one_in(2) {
        frame["subFrames"] = Value::Array(frames);
    }
    (frame, count)
}

/// Changes a value somewhere in a document.
fn change(rng: &mut Rng, document: &mut Value) {
    let mut at = document;
    loop {
        let inner = match at {
            Value::Array(values) => values.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        if inner == 0 || rng.one_in(8) {
            return change_value(rng, at);
        }
        let index = rng.index(inner);
        at = match at {
            Value::Array(values) => &mut values[index],
            Value::Object(members) => members.values_mut().nth(index).expect("a member"),
            _ => unreachable!("it has values"),
        };
    }
}

fn change_value(rng: &mut Rng, value: &mut Value) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(rng.index(members.len())).expect("a member").clone();
            match rng.below(4) {
                0 => drop(members.shift_remove(&key)),
                1 => *members = std::mem::take(members).into_iter().rev().collect(),
                2 => drop(members.insert("another".to_owned(), json!([{"address": [null, 1.5e3]}, "\u{1f980}\\\""]))),
                _ => {
                    let value = members.shift_remove(&key).unwrap_or_default();
                    members.insert(format!("{key}s"), value);
                }
            }
        }
        Value::Array(values) if !values.is_empty() => {
            let index = rng.index(values.len());
            match rng.below(3) {
                0 => drop(values.remove(index)),
                1 => values.push(values[index].clone()),
                _ => values.reverse(),
            }
        }
        Value::Number(number) => {
            let old = number.as_u64().unwrap_or(7);
            *value = rng
                .pick(&[
                    json!(old + 1),
                    json!(old ^ 4),
                    json!(0),
                    json!(old / 2),
                    json!(-1),
                    json!(1.5),
                    json!(1_u64 << 36),
                ])
                .clone();
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::String(text) => {
            *value =
                rng.pick(&[json!(""), json!(format!("{text}x")), json!("dyld"), json!(uuid(3)), json!(12)]).clone();
        }
        _ => *value = rng.pick(&[json!("dyld"), json!([]), json!({}), json!(3)]).clone(),
    }
    if rng.one_in(16) {
        *value = Value::Null;
    }
}
