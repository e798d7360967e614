//! spindump reports: states, damage, cuts and limits. `tests/oracles/spindump.rs` compares what is read.

use std::collections::BTreeMap;
use std::fs;

use traceparse::memory::MemoryBudget;
use traceparse::profile::{Meaning, Selection, StateFilter};
use traceparse::recording::{Options, Recording, RejectReason};
use traceparse::{Error, ErrorKind, read};

/// A seed of the fuzz target.
fn seed(name: &str) -> String {
    fs::read_to_string(support::repository("tests/fuzz/corpus/spindump").join(name)).unwrap()
}

fn read_text(text: &str) -> Result<Recording, Error> {
    read(text.as_bytes(), "input", &Options::default())
}

fn samples(recording: &Recording) -> u64 {
    recording.profile.sums().map(|sum| sum.samples).sum()
}

/// The samples by state, and by the function in which they end.
fn leaves(recording: &Recording) -> BTreeMap<(String, String), u64> {
    let profile = &recording.profile;
    let mut found = BTreeMap::new();
    for sum in profile.sums() {
        let leaf = profile.frames_leaf_first(sum.stack).next();
        let name = leaf.map_or("", |frame| profile.function_name(frame.function));
        let state = sum.state.map_or("", |state| profile.string(state));
        *found.entry((state.to_owned(), name.to_owned())).or_default() += sum.samples;
    }
    found
}

#[test]
fn samples_have_the_state_of_their_thread() {
    let expected = [
        (("Blocked", "0xffffff80002dd000"), 3),
        (("Idle", "0xffffff80002de000"), 11),
        (("Runnable", "start"), 2),
        (("Running", "Squeeze"), 6),
        (("Waiting", "0x7ff806675310"), 4),
    ];
    let expected = expected.map(|((state, leaf), count)| ((state.to_owned(), leaf.to_owned()), count));
    let recording = read_text(&seed("heavy")).unwrap();
    assert_eq!(leaves(&recording), expected.into());
    let profile = &recording.profile;
    assert!(profile.samples().is_empty() && profile.sums().all(|sum| sum.times.is_none()));
    // Waiting threads count by default, since this is not CPU time.
    assert_eq!(Selection::default().on(profile).sums().map(|sum| sum.samples).sum::<u64>(), 26);
    let running = Selection { states: StateFilter::Only(vec!["running".to_owned()]), ..Selection::default() };
    assert_eq!(running.on(profile).sums().map(|sum| sum.samples).sum::<u64>(), 6);
    let main: Vec<_> = profile.thread_ids().filter(|&id| profile.thread(id).is_main).collect();
    assert!(main.len() == 1 && profile.string(profile.thread(main[0]).name) == "Main Thread");
    let toc = &recording.tocs().next().unwrap().runs[0];
    assert_eq!(
        toc.summary_field("blocked-by"),
        Some("turnstile waiting for Press [518] thread 0x2b, 3 samples of thread 0xeac")
    );
    assert!(toc.processes.iter().any(|process| process.name == "Press" && process.pid == Some(518)));
    assert_eq!((toc.summary_field("hang-duration"), toc.summary_field("cpu-time")), (Some("4.10s"), Some("1.859s")));
}

/// The nearest export of a stripped binary is not the function.
#[test]
fn a_symbol_that_is_far_away_is_no_name() {
    for (offset, name) in [(12, "Squeeze"), (262_144, "Squeeze"), (262_145, "0x10bd02010"), (17_314_803, "0x10bd02010")]
    {
        let text = seed("heavy").replace("Squeeze + 12 (", &format!("Squeeze + {offset} ("));
        let recording = read_text(&text).unwrap();
        assert_eq!(leaves(&recording)[&("Running".to_owned(), name.to_owned())], 6, "{offset}");
    }
}

#[test]
fn counts_mean_what_the_report_counts() {
    for (name, meaning, expected) in [
        ("heavy", Meaning::Presence, 26),
        ("timeline", Meaning::Presence, 9),
        ("old-hang", Meaning::Presence, 4),
        ("cpu-resource", Meaning::OnCpu, 8),
        ("disk-writes", Meaning::Writes, 8),
    ] {
        let recording = read_text(&seed(name)).unwrap();
        let profile = &recording.profile;
        let found: Vec<Meaning> = profile.series_ids().map(|id| profile.series(id).meaning).collect();
        assert_eq!((found, samples(&recording)), (vec![meaning], expected), "{name}");
    }
}

#[test]
fn reports_without_stacks_are_read_with_a_word() {
    let recording = read_text(&seed("no-stacks")).unwrap();
    let [note] = recording.diagnostics.as_slice() else { panic!("{:?}", recording.diagnostics) };
    assert!(samples(&recording) == 0 && note.message.contains("no stacks"), "{note:?}");
}

#[test]
fn cut_reports_are_refused_with_their_place() {
    for name in ["heavy", "timeline", "cpu-resource", "disk-writes", "old-hang"] {
        let text = seed(name);
        let all = samples(&read_text(&text).unwrap());
        let end_of_stacks = text.rfind("  Binary Images:").unwrap();
        for end in (1..text.len()).filter(|&end| text.is_char_boundary(end)) {
            match read_text(&text[..end]) {
                Err(error) => assert!(error.at.is_some_and(|at| at.byte <= end as u64), "{name} cut at {end}"),
                // Between two processes, and before the first stack, no line shows the cut.
                Ok(recording) => {
                    let found = samples(&recording);
                    let is_between = text[..end].matches("Process:").count() < 2 && name == "heavy";
                    assert!(found == 0 || is_between || (found == all && end > end_of_stacks), "{name} cut at {end}");
                }
            }
        }
    }
}

#[test]
fn damage_costs_its_thread_process_or_image() {
    use RejectReason::{UnreadImage, UnreadProcess, UnreadThread};
    for (name, from, to, reason, left_out, line, word) in [
        ("heavy", "    9   pick", "    7   pick", UnreadThread, 11, 36, "more samples than the function"),
        ("heavy", "      6   Squeeze", "       6   Squeeze", UnreadThread, 11, 35, "odd number of columns"),
        ("heavy", "      6   Squeeze", "        6   Squeeze", UnreadThread, 11, 35, "more than one level"),
        ("heavy", "      6   Squeeze", "      Squeeze", UnreadThread, 11, 35, "lacks its number"),
        (
            "heavy",
            "11 samples (1-11)    priority 46",
            "12 samples    priority 46",
            UnreadThread,
            12,
            31,
            "12 in its first line",
        ),
        ("heavy", "0xec0,0xec1", "0xzz", UnreadThread, 4, 39, "first line of a thread"),
        ("heavy", "DispatchQueue \"org", "DispatchQueue org", UnreadThread, 4, 39, "first line of a thread"),
        ("heavy", "        0x7ff80666f000 - ", "        0x7ff80666f000 ", UnreadImage, 1, 45, "list of images"),
        ("heavy", "Process:          kernel_task [0]", "", UnreadProcess, 11, 53, "first line of a process"),
        ("timeline", "1-3,6", "1-3", UnreadThread, 9, 17, "steps"),
        ("cpu-resource", "Num samples:      8", "Num samples:      x", UnreadProcess, 8, 25, "is missing"),
    ] {
        let text = seed(name);
        assert!(text.contains(from), "{name}: {from}");
        let all = samples(&read_text(&text).unwrap());
        let recording = read_text(&text.replacen(from, to, 1)).expect(word);
        let table = recording.tables().next().unwrap();
        let [note] = recording.diagnostics.as_slice() else { panic!("{word}: {:?}", recording.diagnostics) };
        assert_eq!((table.rejected.of(reason), table.rejected.total()), (left_out, left_out), "{word}");
        assert_eq!(note.at.as_ref().map(|at| at.line), Some(line), "{note}");
        assert!(note.message.contains(word), "{note}");
        assert_eq!(table.rows, samples(&recording) + left_out);
        // The stated number of samples of a thread may differ from the number in its frames.
        let lost = if reason == UnreadImage { 0 } else { left_out.min(11) };
        assert_eq!(samples(&recording), all - lost, "{word}");
    }
}

#[test]
fn damage_of_the_report_is_told_with_its_line() {
    for (name, from, to, line, word) in [
        ("cpu-resource", "Steps:            8", "Steps:            9", 2, "which are not 100% of 9 steps"),
        ("cpu-resource", "Steps:            8", "Steps:            7", 2, "7 steps"),
        ("cpu-resource", "8 (100%)\n", "8\n", 0, ""),
        ("disk-writes", "Num samples:", "Samples:", 0, ""),
        ("no-stacks", "Powerstats", "Power", 1, "before its first process"),
        ("heavy", "Process:          Orchard", "Task:             Orchard", 31, "without the line that names it"),
    ] {
        let text = seed(name);
        assert!(text.contains(from), "{name}: {from}");
        let read = read_text(&text.replacen(from, to, 1));
        if word.is_empty() {
            assert_eq!(samples(&read.unwrap()), 8, "{from}");
            continue;
        }
        let error = read.expect_err(word);
        let place = error.at.as_ref().map(|at| at.line);
        assert!(error.to_string().contains(word) && place == Some(line), "{word}, {line}: {error}");
    }
    let error = read_text("{\"bug_type\":\"228\"}\n{\"a\": 1}\n").unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::NotAnExport(text) if text.contains("does not follow")), "{error}");
}

#[test]
fn words_of_real_reports_are_read() {
    let report = seed("heavy")
        .replace("DispatchQueue \"org.example.press\"(12)", "DispatchQueue <multiple>")
        .replace("<00000000-0000-0000-0000-000000000002>  /usr", "<Unknown>  /usr");
    let recording = read_text(&report).unwrap();
    assert_eq!((samples(&recording), recording.rejected(), recording.diagnostics.len()), (26, 0, 0));
    let dyld = recording.profile.binary_ids().map(|id| recording.profile.binary(id));
    let uuids: Vec<_> =
        dyld.filter(|binary| recording.profile.string(binary.name) == "dyld").map(|binary| binary.uuid).collect();
    assert!(uuids.contains(&None), "{uuids:?}");
    // A process with less than 5% of the samples is not listed, and some samples were lost.
    let shortened = seed("cpu-resource")
        .replace("Steps:            8", "Steps:            11 (10 gigacycles/step, 2 samples lost)")
        .replace("8 (100%)", "8 (88%)");
    let recording = read_text(&shortened).unwrap();
    assert_eq!((samples(&recording), recording.rejected()), (8, 0));
    let [note] = recording.diagnostics.as_slice() else { panic!("{:?}", recording.diagnostics) };
    assert!(note.message.contains("lost while the system recorded: 2 samples"), "{note}");
    assert!(read_text(&shortened.replace("(88%)", "(60%)")).is_err());
}

#[test]
fn microstackshots_have_no_states() {
    for event in ["wakeups", "powerstats", "hang"] {
        let recording = read_text(&seed("cpu-resource").replace("cpu usage", event)).unwrap();
        let profile = &recording.profile;
        let series = profile.series(profile.series_ids().next().unwrap());
        assert_eq!(series.meaning, Meaning::OnCpu, "{event}");
        assert!(profile.sums().all(|sum| sum.state.is_none()), "{event}");
    }
    let other = read_text(&seed("heavy").replace("Stackshots", "KPerf Lightweight PET")).unwrap();
    assert!(other.profile.sums().all(|sum| sum.state.is_none()));
    assert!(other.diagnostics[0].message.contains("\"KPerf Lightweight PET\" is unknown"), "{:?}", other.diagnostics);
}

#[test]
fn several_reports_are_several_documents() {
    let text = seed("timeline") + "\n\n" + &seed("cpu-resource");
    let recording = read_text(&text).unwrap();
    assert_eq!((recording.tocs().count(), samples(&recording)), (2, 17));
}

#[test]
fn limits_hold() {
    let within = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        let stack: String =
            (0..9_000).map(|at| format!("  Thread {at:#x}    1 sample (1)\n  1  f [0x{at:x}]\n")).collect();
        let text = seed("timeline").replace("  Binary", &format!("{stack}\n  Binary"));
        read(text.as_bytes(), "input", &options)
    };
    assert_eq!(samples(&within(|_| {}).unwrap()), 9_009);
    let error = within(|options| options.memory = MemoryBudget::new(1 << 20)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Memory(_)), "{error}");
    let many: String = (0..40_000).map(|pid| format!("Process: a [{pid}]\n")).collect();
    let options = Options { memory: MemoryBudget::new(4 << 20), ..Options::default() };
    let error = read((seed("no-stacks") + &many).as_bytes(), "input", &options).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Memory(_)), "{error}");
    let error = within(|options| options.limits.stack_depth = 0).unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::Limit(text) if text.contains("more than 0 frames")), "{error}");
}
