//! Reports of spindump and related formats from the corpus, and twice 3,000 well-formed reports: with arbitrary changes, and with changed,
//! missing or repeated words. They are compared with `tests/oracle/spindump.py`.
//!
//! A report that the two read differently must be refused. `TRACEPARSE_SEED` selects the changes.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use std::io::Read;
use support::Rng;
use traceparse::decompress;
use traceparse::memory::MemoryBudget;
use traceparse::profile::{Process, Profile, Thread};
use traceparse::read;
use traceparse::recording::{Options, Recording, RejectReason};

use crate::programs::{Server, corpus, files, has_python, in_corpus, number};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python();
        changed_reports_are_those_of_the_oracle_or_refused, reports_with_other_words_are_those_of_the_oracle_or_refused];
    trials.extend(trials![if has_python() && corpus().is_some(); real_reports_are_those_of_the_oracle]);
    trials
}

fn asked(oracle: &mut Server, content: &[u8]) -> Result<Value, Failed> {
    oracle.ask(&[format!("{}\n", content.len()).as_bytes(), content].concat())
}

/// The key of a thread: pid and tid, or names if they are unknown.
fn thread_key(profile: &Profile, thread: &Thread, process: &Process) -> String {
    let of = |number: Option<u64>, name| number.map_or(profile.string(name).to_owned(), |number| number.to_string());
    format!("{}|{}", of(process.pid, process.name), of(thread.tid, thread.name))
}

/// What a recording holds, in the script's words, with one name for each thread.
fn told(recording: &Recording) -> Value {
    let profile = &recording.profile;
    let mut stacks: BTreeMap<_, BTreeMap<String, u64>> = BTreeMap::new();
    let mut threads: BTreeMap<_, BTreeMap<String, Value>> = BTreeMap::new();
    for sum in profile.sums() {
        let run = profile.series(sum.series).run;
        let frames = profile.frames_leaf_first(sum.stack).map(|frame| {
            let function = profile.function(frame.function);
            let name = if function.is_named { profile.string(function.name) } else { "?" };
            let Some(binary) = frame.binary.map(|id| profile.binary(id)) else {
                return format!("{name}@{}", frame.address);
            };
            let load = binary.load_address;
            // Without a load address, nothing can be looked up.
            let address = if load.get() == 0 { frame.address } else { frame.lookup_address };
            let offset = i128::from(address.get()) - i128::from(load.get());
            let sign = if offset < 0 { "-" } else { "" };
            let uuid = binary.uuid.map_or("None".to_owned(), |uuid| uuid.to_string());
            let source = frame.source.map(|source| format!(" {}:{}", profile.string(source.path), source.line));
            let name_of_binary = profile.string(binary.name);
            let offset = offset.unsigned_abs();
            format!("{name}@{name_of_binary}+{sign}{offset:#x},{uuid}{}", source.unwrap_or_default())
        });
        let mut frames: Vec<String> = frames.collect();
        let thread = profile.thread(sum.thread);
        let key = thread_key(profile, thread, profile.process(thread.process));
        frames.push(format!("{key}|{}", sum.state.map_or("", |state| profile.string(state))));
        frames.reverse();
        *stacks.entry(run).or_default().entry(frames.join(";")).or_default() += sum.samples;
        let thread = json!({"names": [profile.string(thread.name)], "main": thread.is_main});
        threads.entry(run).or_default().insert(key, thread);
    }
    // Runs without samples are not in the profile.
    let mut runs = profile.run_ids();
    let reports = recording.tables().zip(recording.tocs()).map(|(table, toc)| {
        let run = if table.samples > 0 { runs.next() } else { None };
        let mut series = profile.series_ids().map(|id| profile.series(id));
        let meaning = series.find(|series| Some(series.run) == run).map(|series| series.meaning.name());
        let contents = &toc.runs[0];
        let processes: Vec<Value> =
            contents.processes.iter().map(|process| json!([process.name, process.pid, process.path])).collect();
        let left_out = [RejectReason::UnreadThread, RejectReason::UnreadProcess, RejectReason::UnreadImage];
        let left_out = left_out.map(|reason| table.rejected.of(reason));
        json!({
            "left_out": left_out, "schema": table.schema, "meaning": meaning, "device": contents.device, "process": contents.process,
            "summary": contents.summary, "processes": processes,
            "threads": run.and_then(|run| threads.get(&run).cloned()).unwrap_or_default(),
            "stacks": run.and_then(|run| stacks.get(&run).cloned()).unwrap_or_default(),
        })
    });
    reports.collect()
}

/// Keeps one of several names of a thread: the found name, if it is among them.
fn with_names_of(mut expected: Value, found: &Value) -> Value {
    for (report, found) in expected.as_array_mut().into_iter().flatten().zip(found.as_array().into_iter().flatten()) {
        for (key, thread) in report["threads"].as_object_mut().into_iter().flatten() {
            let name = &found["threads"][key]["names"][0];
            if thread["names"].as_array().is_some_and(|names| names.contains(name)) {
                thread["names"] = json!([name]);
            }
        }
    }
    expected
}

fn real_reports_are_those_of_the_oracle() -> Result<(), Failed> {
    let mut oracle = Server::start("spindump.py")?;
    let mut samples = Vec::new();
    for path in ["spindump", "microstackshots"].iter().flat_map(|folder| files(&in_corpus("inputs").join(folder), "")) {
        let mut content = Vec::new();
        decompress(std::fs::File::open(&path)?, &MemoryBudget::unlimited())?.read_to_end(&mut content)?;
        let expected = asked(&mut oracle, &content)?;
        match read(content.as_slice(), "input", &Options::default()) {
            Ok(recording) => {
                let found = told(&recording);
                let expected = with_names_of(expected, &found);
                ensure!(found == expected, "{}: {found:#}\nand\n{expected:#}", path.display());
                samples.push(recording.profile.sums().map(|sum| sum.samples).sum::<u64>());
            }
            Err(error) => {
                let is_cut = path.to_string_lossy().contains("12.7-timeline-cut");
                let is_placed = error.at.as_ref().is_some_and(|at| at.line > 60);
                ensure!(is_cut && is_placed && expected.get("refused").is_some(), "{}: {error}", path.display());
                samples.push(0);
            }
        }
    }
    samples.sort_unstable();
    ensure!(samples == [0, 0, 1_505, 20_573, 327_059], "{samples:?} samples");
    Ok(())
}

fn changed_reports_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    compare_changed(change)
}

fn reports_with_other_words_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    const WORDS: [&str; 32] = [
        "Process:",
        "Powerstats for:",
        "Path:",
        "Num samples:",
        "CPU Time:",
        "Thread ",
        "DispatchQueue",
        "(1)",
        "(9)",
        "7",
        "Thread name",
        " samples",
        "priority",
        "idle time",
        "Binary Images:",
        "<1672554C-5C48-3600-AEF8-97F330B62C01>",
        " - ",
        " + ",
        "[0x",
        "(running)",
        "blocked by",
        "<truncated backtrace>",
        "<User mode>",
        "Steps:",
        "Event:",
        "Data Source:",
        "Microstackshots",
        "Stackshots",
        "Report Version:",
        "%",
        "samples lost",
        "<multiple>",
    ];
    compare_changed(|rng, lines| support::mutations::change_known(rng, lines, &WORDS))
}

fn compare_changed(change: fn(&mut Rng, &mut Vec<String>)) -> Result<(), Failed> {
    let (count, seed) = (support::rounds(3_000), number("TRACEPARSE_SEED").unwrap_or(1));
    println!("{count} reports; to repeat: TRACEPARSE_SEED={seed}");
    let mut oracle = Server::start("spindump.py")?;
    let (mut equal, mut left_out, mut refused) = (0, 0, 0);
    for round in 0..count {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let mut lines = report(&mut rng);
        for _ in 0..rng.below(3) {
            change(&mut rng, &mut lines);
        }
        let content = lines.join("\n") + "\n";
        let expected = asked(&mut oracle, content.as_bytes())?;
        match read(content.as_bytes(), "input", &Options::default()) {
            Ok(recording) => {
                equal += 1;
                left_out += u64::from(recording.rejected() > 0);
                let found = told(&recording);
                let expected = with_names_of(expected, &found);
                ensure!(found == expected, "seed {}: {content}\n{found:#}\n{expected:#}", seed + round);
            }
            Err(error) => {
                refused += 1;
                ensure!(error.at.is_some(), "{error} has no place");
            }
        }
    }
    println!("{equal} equal, {left_out} of them with parts left out, {refused} refused");
    ensure!(equal > refused, "most reports are refused");
    Ok(())
}

const IMAGES: [(&str, u64); 4] = [
    ("Orchard", 0x1_0400_0000),
    ("dyld", 0x7ff8_0660_0000),
    ("libpress (x).dylib", 0x7ff8_0700_0000),
    ("kernel", KERNEL),
];
const KERNEL: u64 = 0xffff_ff80_0020_0000;

/// A report with processes of any kind.
fn report(rng: &mut Rng) -> Vec<String> {
    let is_micro = rng.one_in(3);
    let mut lines = Vec::new();
    let processes: Vec<(Vec<String>, u64)> = (0..1 + rng.below(3)).map(|index| process(rng, index, is_micro)).collect();
    let samples: u64 = processes.iter().map(|(_, samples)| samples).sum();
    if rng.one_in(4) {
        lines.push("{\"bug_type\":\"202\"}".to_owned());
    }
    lines.push("Date/Time:        2022-10-29 16:19:34.990 -0700".to_owned());
    lines.push("OS Version:       macOS 13.0 (Build 22A380)".to_owned());
    lines.push(format!("Report Version:   {}", rng.pick(&["18", "25", "40", "72"])));
    lines.push(format!("Data Source:      {}", if is_micro { "Microstackshots" } else { "Stackshots" }));
    lines.push(format!("Event:            {}", rng.pick(&["hang", "cpu usage", "disk writes", "shutdown stall"])));
    if rng.one_in(2) {
        lines.extend(
            ["Command:          Orchard", "Version:          3.1 (4)", "PID:              12"].map(str::to_owned),
        );
    }
    lines.push("Duration:         4.28s (sampling started after 2 seconds)".to_owned());
    // Small processes may not be listed.
    let (unlisted, lost) = if is_micro && rng.one_in(2) { (rng.below(samples / 2 + 1), rng.below(3)) } else { (0, 0) };
    let steps = samples + unlisted;
    let lost = if lost > 0 { format!("{lost} samples lost, ") } else { String::new() };
    let has_shares = unlisted > 0 || rng.one_in(2);
    lines.push(format!("Steps:            {steps} ({lost}10.49 MB/step)"));
    lines.push("Writes:           1073.74 MB of file backed memory dirtied".to_owned());
    lines.push("Total CPU Time:   1.859s (4.5G cycles)".to_owned());
    lines.extend(
        ["", "Heaviest stack for the target process:", "  7  start + 1 (dyld + 9) [0x7ff806600009]", ""]
            .map(str::to_owned),
    );
    for (process, samples) in processes {
        let share =
            if is_micro && has_shares { format!(" ({}%)", 100 * samples / steps.max(1)) } else { String::new() };
        lines.extend(process.into_iter().map(|line| if line.starts_with("Num ") { line + &share } else { line }));
    }
    if rng.one_in(4) {
        lines.extend(["Kextstat:", "Process:          other [1]", "  9  f"].map(str::to_owned));
    }
    lines
}

/// A process and its number of samples.
fn process(rng: &mut Rng, index: u64, is_micro: bool) -> (Vec<String>, u64) {
    let mut stacks = Vec::new();
    let mut samples = 0;
    for thread in 0..1 + rng.below(3) {
        let has_steps = rng.one_in(4);
        let (lines, count) = frames(rng, 0, has_steps);
        samples += count;
        if !is_micro {
            let queue = [
                "",
                "    DispatchQueue \"com.apple.main-thread\"(1)",
                "    DispatchQueue 7",
                "    DispatchQueue \"press (x)\"(9)",
                "    DispatchQueue <multiple>",
            ];
            let name = ["", "    Thread name \"press: worker\""];
            let count = if rng.one_in(4) { String::new() } else { format!("    {count} samples (1-{count})") };
            let cpu = ["", "    cpu time <0.001s", "    idle time 7.774"];
            let tid = if rng.one_in(6) { "<multiple>".to_owned() } else { format!("{:#x}", 0x2a + thread) };
            let (queue, name, cpu) = (rng.pick(&queue), rng.pick(&name), rng.pick(&cpu));
            stacks.push(format!("  Thread {tid}{queue}{name}{count}    priority 31 (base 31){cpu}"));
        }
        stacks.extend(lines);
        if !is_micro {
            stacks.push(String::new());
        }
    }
    let title = if is_micro { "Powerstats for:   " } else { "Process:          " };
    let mut lines =
        vec![format!("{title}Orchard {index} [{}]", 500 + index), "Path:             /Applications/Orchard".to_owned()];
    lines.push(format!("Num samples:      {samples}"));
    lines.push("CPU Time:         0.004s".to_owned());
    lines.push(String::new());
    lines.extend(stacks);
    lines.push("  Binary Images:".to_owned());
    for (at, (name, low)) in IMAGES.iter().enumerate() {
        let kernel = if *low == KERNEL { "*" } else { " " };
        let high = if rng.one_in(8) { "???".to_owned() } else { format!("{:#x}", low + 0xf_ffff) };
        let segment = if *low == KERNEL { *rng.pick(&["", "__TEXT", "__HIB"]) } else { "" };
        let uuid =
            if rng.one_in(8) { "Unknown".to_owned() } else { format!("1672554C-5C48-3600-AEF8-97F330B62C{at:02X}") };
        lines.push(format!("   {kernel}{low:#x} - {high}  {name} (1.2)  <{uuid}>{segment}  /usr/lib/{name}"));
    }
    lines.extend([String::new(), String::new()]);
    (lines, samples)
}

/// A frame with its callees, and its samples.
fn frames(rng: &mut Rng, depth: usize, has_steps: bool) -> (Vec<String>, u64) {
    let callees = if rng.below(6) < depth as u64 { 0 } else { 1 + rng.below(2) };
    let (mut lines, mut count) = (Vec::new(), rng.below(9) + u64::from(callees == 0));
    for _ in 0..callees {
        let (inner, samples) = frames(rng, depth + 1, has_steps);
        lines.extend(inner);
        count += samples;
    }
    let (name, low) = rng.pick(&IMAGES);
    let offset = 4 * rng.below(0x3_0000);
    let address = low + offset;
    let state = *rng.pick(&[
        "",
        "",
        " (running)",
        " (runnable)",
        " (blocked by wait4 on spindump [546])",
        " (blocked by turnstile waiting for Orchard 1 [501] thread 0x2b)",
        " (suspended)",
    ]);
    let symbol = *rng.pick(&["???", "start + 12", "-[Press(Air) run:] + 3", "f(int (*)()) + 7"]);
    let text = match rng.below(9) {
        0 if callees == 0 => format!("<User mode>{state}"),
        1 if depth == 0 => "<truncated backtrace>".to_owned(),
        2 => format!("{symbol} (Press.swift:31,1 in {name} + {offset}) [{address:#x}]{state}"),
        3 => format!("{symbol} ({name}) [{address:#x}]{state}"),
        4 => format!("??? [{address:#x}]{state}"),
        5 => format!("??? (<1672554C-5C48-3600-AEF8-97F330B62C01> + {offset}) [{address:#x}]"),
        _ => format!("{symbol} ({name} + {offset}) [{address:#x}]{state}"),
    };
    let steps = if has_steps && count > 0 { format!(" 1-{count}") } else { String::new() };
    let indent = 2 + 2 * depth;
    let mark = if *low == KERNEL && indent > 2 { format!("{}*", " ".repeat(indent - 1)) } else { " ".repeat(indent) };
    lines.insert(0, format!("{mark}{count}  {text}{steps}"));
    (lines, count)
}

/// Changes a line, or the order of lines.
fn change(rng: &mut Rng, lines: &mut Vec<String>) {
    let at = rng.index(lines.len());
    let other = rng.index(lines.len());
    match rng.below(9) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[other].clone()),
        2 => lines.swap(at, other),
        3 => lines.truncate(at + 1),
        4 => lines[at] = change_number(rng, &lines[at]),
        5 => lines[at].insert_str(0, rng.pick::<&str>(&["  ", " ", "*"])),
        6 => lines[at] = lines[at].get(rng.index(3)..).unwrap_or_default().to_owned(),
        7 => {
            let (from, to) = (*rng.pick(&[" + ", "(", "[0x", "\"", ":"]), *rng.pick(&[" ", "", "(("]));
            lines[at] = lines[at].replacen(from, to, 1);
        }
        _ => {
            let words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
            lines[at] = words[..rng.index(words.len() + 1)].join(" ");
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
}

/// Changes one of the numbers of a line.
fn change_number(rng: &mut Rng, line: &str) -> String {
    let starts: Vec<usize> = line
        .char_indices()
        .filter(|&(at, character)| {
            character.is_ascii_digit() && !line[..at].ends_with(|before: char| before.is_ascii_digit())
        })
        .map(|(at, _)| at)
        .collect();
    if starts.is_empty() {
        return line.to_owned();
    }
    let start = *rng.pick(&starts);
    let length = line[start..].find(|character: char| !character.is_ascii_digit()).unwrap_or(line.len() - start);
    let old: u64 = line[start..start + length].parse().unwrap_or(7);
    let new = rng.pick(&[old + 1, old / 2, 0, old ^ 4, u64::MAX]).to_string();
    format!("{}{new}{}", &line[..start], &line[start + length..])
}
