//! `sample` reports: the accounting, the stacks, and damage.
//!
//! 3,000 reports with missing, repeated and other words are compared with `tests/oracle/sample.py`. `TRACEPARSE_SEED` selects them.
//!
//! With `TRACEPARSE_CORPUS`, real reports are compared with an independent Python reader next to the corpus, and with the
//! table in each report.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::json;
use support::Rng;
use support::mutations::change_known;
use traceparse::demangle::Demangler;
use traceparse::memory::MemoryBudget;
use traceparse::profile::{Meaning, Profile, Thread};
use traceparse::read;
use traceparse::recording::{Options, Recording, RejectReason};
use traceparse::{Diagnostic, Error, ErrorKind};

use crate::programs::{Server, corpus, has_python, in_corpus, number, python};

const DEMO: &str = include_str!("../../fixtures/sample/demo.sample.txt");

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = panicking![
        every_sample_is_a_row,
        threads_have_names_and_stacks,
        several_reports_are_several_documents,
        damage_is_told_with_its_line,
        cut_reports_are_refused_or_told,
        a_table_that_differs_is_a_word,
        limits_hold,
        counts_that_no_recording_has_are_refused,
    ];
    trials.extend(trials![if has_python(); reports_with_other_words_are_those_of_the_oracle_or_refused]);
    trials.extend(trials![if has_python() && in_corpus(ORACLE).is_file(); real_reports_are_those_of_the_oracle]);
    trials.extend(trials![if corpus().is_some(); damaged_threads_are_left_out]);
    trials
}

const ORACLE: &str = "../oracles/sample_oracle.py";

fn read_text(text: &str) -> Result<Recording, Error> {
    read(text.as_bytes(), "report", &Options::default())
}

/// The samples by their stack, root first, with `???` for code without a name, below what `root` says of their thread.
fn stacks_below(export: &Recording, root: impl Fn(&Profile, &Thread) -> Option<String>) -> BTreeMap<String, u64> {
    let profile = &export.profile;
    let mut found = BTreeMap::new();
    for sum in profile.sums() {
        let frames =
            profile.frames_leaf_first(sum.stack).map(|frame| match profile.function(frame.function).is_named {
                true => profile.function_name(frame.function).to_owned(),
                false => "???".to_owned(),
            });
        let mut frames: Vec<String> = frames.chain(root(profile, profile.thread(sum.thread))).collect();
        frames.reverse();
        *found.entry(frames.join(";")).or_default() += sum.samples;
    }
    found
}

/// The samples by stack, below the thread's name if `with_threads`.
fn stacks(export: &Recording, with_threads: bool) -> BTreeMap<String, u64> {
    stacks_below(export, |profile, thread| with_threads.then(|| profile.string(thread.name).to_owned()))
}

fn every_sample_is_a_row() {
    let export = read_text(DEMO).unwrap();
    let profile = &export.profile;
    assert!(profile.samples().is_empty(), "nobody knows their times");
    assert_eq!(profile.sums().map(|sum| sum.samples).sum::<u64>(), 2000 + 1998 + 7);
    assert!(profile.sums().all(|sum| sum.times.is_none() && sum.weight == sum.samples));
    let series = profile.series(profile.series_ids().next().unwrap());
    assert_eq!((series.meaning, series.has_times, series.unit.name()), (Meaning::Presence, false, "samples"));
    let table = export.tables().next().unwrap();
    assert_eq!((table.rows, table.samples, table.rejected.total()), (4005, 4005, 0));
    assert_eq!(table.schema.as_deref(), Some("sample"));
    let toc = export.tocs().next().unwrap();
    let run = &toc.runs[0];
    assert_eq!(run.process_attribute("name"), Some("Demo"));
    assert_eq!(run.device_attribute("os-version"), Some("26.6.1 (25G76)"));
    // 06:23:48.640 of UTC-7.
    assert_eq!(run.start().unwrap().as_nanos() / 1_000_000, 1_795_181_028_640);
    assert_eq!(export.diagnostics, []);
}

fn threads_have_names_and_stacks() {
    let export = read_text(DEMO).unwrap();
    let expected = [
        ("Main Thread;start;???", 10),
        ("Main Thread;start;???;???;???;???;???", 1200),
        ("Main Thread;start;???;???;???;???;nearest_export", 300),
        ("Main Thread;start;???;???;mach_msg2_trap", 490),
        ("org.example.press", 7),
        ("press worker (x);thread_start;_pthread_start;__psynch_cvwait", 1998),
    ];
    assert_eq!(stacks(&export, true), expected.map(|(stack, count)| (stack.to_owned(), count)).into());
    let profile = &export.profile;
    let tids: Vec<_> = profile.thread_ids().map(|id| profile.thread(id).tid.unwrap()).collect();
    assert_eq!(tids, [172_289, 172_301, 172_399]);
    // Callers are looked up inside of the call.
    let lookups: Vec<(u64, u64)> = profile
        .frame_ids()
        .map(|id| profile.frame(id))
        .filter(|frame| frame.binary.is_some_and(|binary| profile.string(profile.binary(binary).name) == "Demo"))
        .map(|frame| (frame.address.get() & 0xfff, frame.address.get() - frame.lookup_address.get()))
        .collect();
    assert_eq!(lookups, [(0x714, 1), (0x670, 1), (0x600, 1), (0x50c, 1), (0x564, 0), (0x564, 0)]);
}

fn several_reports_are_several_documents() {
    let export = read_text(&format!("{DEMO}\n{DEMO}")).unwrap();
    assert_eq!(export.profile.sums().map(|sum| sum.samples).sum::<u64>(), 2 * 4005);
    assert_eq!((export.tables().count(), export.tocs().count(), export.profile.run_ids().len()), (2, 2, 2));
}

fn damage_is_told_with_its_line() {
    let line_of = |text: &str| 1 + DEMO.lines().position(|line| line.contains(text)).unwrap() as u64;
    for (from, to, word, left_out) in [
        ("    +   1990 ???", "    +  1990 ???", "odd number of columns", 2_000),
        ("    +   ! 1990 ???", "    +   !   1990 ???", "more than one level", 2_000),
        ("    +   1990 ???", "    +   x ???", "lacks its number", 2_000),
        ("    +   1990 ???", "    +   2990 ???", "more samples than the function", 2_000),
        ("    1998 Thread_172301", "    1998 Worker_172301", "must begin with a thread", 1_998),
        ("    1998 Thread_172301", "    x Thread_172301", "lacks its number", 1_998),
        ("       0x1882b0000 -", "       1882b0000 -", "list of images", 1),
    ] {
        let export = read_text(&DEMO.replacen(from, to, 1)).unwrap();
        let [note] = export.diagnostics.as_slice() else { panic!("{word}: {:?}", export.diagnostics) };
        assert!(note.message.contains(word), "{note}");
        let at = note.at.as_ref().unwrap();
        let place: u64 = DEMO.lines().take(line_of(from) as usize - 1).map(|line| line.len() as u64 + 1).sum();
        assert_eq!((at.line, at.byte), (line_of(from), place), "{note}");
        let table = export.tables().next().unwrap();
        let samples = if word == "list of images" { 4_005 } else { 4_005 - left_out };
        assert_eq!(
            (table.samples, table.rejected.total(), table.rows),
            (samples, left_out, samples + left_out),
            "{word}"
        );
    }
    let graph = DEMO.find("Call graph:").unwrap();
    let error = read_text(&DEMO[..graph]).unwrap_err();
    assert!(error.to_string().contains("before its call graph"), "{error}");
    let error = read_text(&DEMO[graph..]).unwrap_err();
    assert!(error.to_string().contains("without its first line"), "{error}");
}

/// A truncated report is refused or reported, unless only the part after its images is missing.
fn cut_reports_are_refused_or_told() {
    let (images, behind) = (DEMO.find("Binary Images:").unwrap(), DEMO.find("Sample analysis of").unwrap());
    for end in 0..behind {
        match read_text(&DEMO[..end]) {
            Ok(export) => {
                let samples: u64 = export.profile.sums().map(|sum| sum.samples).sum();
                assert_eq!(samples, 4005, "cut at {end}");
                let is_told =
                    export.diagnostics.iter().any(|note| note.message.contains("end of the report is missing"));
                // A list of images may end after any image.
                assert!(is_told || end > images, "cut at {end}: {:?}", export.diagnostics);
            }
            Err(error) => assert!(end < DEMO.find("Sort by").unwrap(), "cut at {end}: {error}"),
        }
    }
}

fn a_table_that_differs_is_a_word() {
    let export = read_text(&DEMO.replace("        1998\n", "        1997\n")).unwrap();
    let [note] = export.diagnostics.as_slice() else { panic!("{:?}", export.diagnostics) };
    assert!(note.message.starts_with("1 of 5 rows"), "{note:?}");
    // Without images, only names remain.
    let export = read_text(&DEMO[..DEMO.find("Binary Images:").unwrap()]).unwrap();
    assert!(export.profile.binary_ids().all(|id| export.profile.binary(id).uuid.is_none()));
    assert_eq!(stacks(&export, true), stacks(&read_text(DEMO).unwrap(), true));
}

fn limits_hold() {
    let limited = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        read(DEMO.as_bytes(), "report", &options).unwrap_err()
    };
    assert!(limited(|options| options.limits.stack_depth = 3).to_string().contains("more than 3 frames"));
    assert!(limited(|options| options.limits.name_bytes = 50).to_string().contains("longer than 50 bytes"));
    let mut recording = traceparse::recording::RecordingBuilder::new(Options::default());
    assert!(recording.read(&b"Analysis of sampling x"[..], "report").is_err());
    assert!(recording.finish().is_err(), "it holds a part of a broken input");
}

fn counts_that_no_recording_has_are_refused() {
    let report = |samples: u64| {
        let text = "Analysis of sampling a (pid 1) every 1 millisecond\nCall graph:\n    COUNT Thread_1\n      COUNT f  (in a) + 1  [0x10]\n\n\
                    Sort by top of stack, same collapsed (when >= 5):\n        f  (in a)        COUNT\n        f  (in a)        COUNT\n";
        text.replace("COUNT", &samples.to_string())
    };
    let most = 1 << 48;
    assert_eq!(read_text(&report(most)).unwrap().tables().map(|table| table.samples).sum::<u64>(), most);
    for text in [report(u64::MAX), report(most + 1), report(most).repeat(2)] {
        let error = read_text(&text).unwrap_err();
        assert!(matches!(&error.kind, ErrorKind::Limit(text) if text.contains("2^48")), "{error}");
        assert!(error.at.is_some(), "{error}");
    }
}

fn real_reports_are_those_of_the_oracle() -> Result<(), Failed> {
    let reports = [
        ("inputs/sample/10.14-plugin-container.sample.txt.gz", 1_629_019),
        ("inputs/sample/10.8-chrome.sample.txt", 64_906),
        ("inputs/sample/26.6.1-tillandsias.sample.txt", 1_571),
        ("other/sample/inferno_sample.txt", 2_475),
    ];
    for (name, samples) in reports {
        let path = in_corpus(name);
        let source = traceparse::decompress(std::fs::File::open(&path)?, &MemoryBudget::unlimited())?;
        let export = read(source, "report", &Options::default())?;
        // The reader compares the report with the table in it, and would report a difference.
        let is_whole = !path.ends_with("inferno_sample.txt");
        let is_end = |note: &Diagnostic| !is_whole && note.message.contains("end of the report is missing");
        ensure!(export.diagnostics.iter().all(is_end), "{name}: {:?}", export.diagnostics);
        let found: u64 = export.profile.sums().map(|sum| sum.samples).sum();
        ensure!(found == samples, "{name}: {found} samples");
        let folded = python().arg(in_corpus(ORACLE)).arg("--folded").arg(&path).output()?;
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for line in String::from_utf8(folded.stdout)?.lines() {
            let (stack, count) = line.rsplit_once(' ').ok_or("no count")?;
            let stack = stack.split_once(';').map_or("", |(_, frames)| frames);
            // Names are as in the report, unless the demangler recovers more.
            let names: Vec<_> = stack.split(';').map(|name| Demangler::default().display_name(name)).collect();
            *expected.entry(names.join(";")).or_default() += count.parse::<u64>()?;
        }
        ensure!(expected == stacks(&export, false), "{name}: other stacks");
    }
    Ok(())
}

fn damaged_threads_are_left_out() -> Result<(), Failed> {
    for (name, line) in [("odd-indentation.txt", 22), ("skipped-indentation.txt", 23)] {
        let file = std::fs::File::open(in_corpus("inputs/sample").join(name))?;
        let export = read(file, name, &Options::default())?;
        let found =
            export.diagnostics.iter().find(|note| note.message.contains("left out")).ok_or("nothing is left out")?;
        ensure!(found.at.as_ref().map(|at| at.line) == Some(line) && export.rejected() > 0, "{found}");
    }
    Ok(())
}

fn reports_with_other_words_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    const WORDS: [&str; 20] = [
        "Analysis",
        "Process:",
        "Call graph:",
        "Thread_",
        "DispatchQueue_",
        "com.apple.main-thread",
        "(serial)",
        ": ",
        "(in ",
        " + ",
        "[0x",
        "  ",
        "load address",
        "Total number",
        "Sort by",
        "Binary Images:",
        " - ",
        "<6F1D2C00-0000-3000-A000-00000000000A>",
        "!",
        "1",
    ];
    let (count, seed) = (support::rounds(3_000), number("TRACEPARSE_SEED").unwrap_or(1));
    println!("{count} reports; to repeat: TRACEPARSE_SEED={seed}");
    let mut oracle = Server::start("sample.py")?;
    let (mut equal, mut left_out, mut refused) = (0, 0, 0);
    for round in 0..count {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let mut lines = random_report(&mut rng);
        for _ in 0..rng.below(3) {
            change_known(&mut rng, &mut lines, &WORDS);
        }
        let content = lines.join("\n") + "\n";
        let expected = oracle.ask(&[format!("{}\n", content.len()).as_bytes(), content.as_bytes()].concat())?;
        match read_text(&content) {
            Ok(export) => {
                equal += 1;
                left_out += u64::from(export.rejected() > 0);
                let of = |reason| export.tables().map(|table| table.rejected.of(reason)).sum::<u64>();
                let left_out = [of(RejectReason::UnreadThread), of(RejectReason::UnreadImage)];
                let found = json!({"left_out": left_out, "stacks": stacks_by_id(&export)});
                ensure!(found == expected, "seed {}: {content}\n{found:#}\n{expected:#}", seed + round);
            }
            Err(error) => {
                refused += 1;
                ensure!(error.at.is_some(), "{error} has no place");
            }
        }
    }
    println!("{equal} equal, {left_out} of them with parts left out, {refused} refused");
    ensure!(left_out > count / 20 && refused < count / 5, "{left_out} left out, {refused} refused");
    Ok(())
}

/// The samples by stack, below the thread's number, or its name if it has none.
fn stacks_by_id(export: &Recording) -> BTreeMap<String, u64> {
    stacks_below(export, |profile, thread| {
        Some(thread.tid.map_or(profile.string(thread.name).to_owned(), |tid| tid.to_string()))
    })
}

fn random_report(rng: &mut Rng) -> Vec<String> {
    let end = DEMO.find("    2000 Thread").unwrap_or_default();
    let mut lines: Vec<String> = DEMO[..end].lines().map(str::to_owned).collect();
    for thread in 0..1 + rng.below(4) {
        let (below, count) = random_frames(rng, 1);
        let name = ["", ": press worker (x)", "   DispatchQueue_1: com.apple.main-thread  (serial)"];
        lines.push(format!("    {count} Thread_{}{}", 7 + thread, rng.pick(&name)));
        lines.extend(below);
    }
    let start = DEMO.find("\nTotal number").unwrap_or_default();
    let is_of_top = |line: &&str| !line.starts_with("        ");
    lines.extend(DEMO[start..].lines().filter(is_of_top).map(str::to_owned));
    lines
}

/// Adds frames below a line of the call graph, with their samples and some samples of the line itself.
fn random_frames(rng: &mut Rng, depth: usize) -> (Vec<String>, u64) {
    let (mut lines, mut count) = (Vec::new(), 1 + rng.below(20));
    for _ in 0..if depth < 6 { rng.below(3) } else { 0 } {
        let (below, of_callee) = random_frames(rng, depth + 1);
        let marks: String = (1..depth).map(|at| if at % 2 == 0 { "! " } else { "  " }).collect();
        let frame = *rng.pick(&[
            "start  (in dyld) + 6992  [0x1882b84e4]",
            "???  (in Demo)  load address 0x102a40000 + 0x714  [0x102a40714]",
            "nearest_export  (in Demo) + 1376,1384  [0x102a40564,0x102a40568]  press.c:12",
            "???  (in <unknown binary>)  [0x10f000010]",
        ]);
        lines.push(format!("    + {marks}{of_callee} {frame}"));
        lines.extend(below);
        count += of_callee;
    }
    (lines, count)
}
