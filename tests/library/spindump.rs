//! Reports of spindump: states, damage, cuts and limits. `tests/oracles/spindump.rs` compares what is read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use traceparse::memory::MemoryBudget;
use traceparse::profile::{Meaning, Selection, StateFilter};
use traceparse::recording::{Options, Recording};
use traceparse::{Error, ErrorKind, read};

/// A seed of the fuzz target.
fn seed(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/spindump").join(name)).unwrap()
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
    assert_eq!(toc.summary_field("blocked-by"), Some("turnstile waiting for Press [518] thread 0x2b, 3 samples"));
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
fn damage_is_told_with_its_line() {
    for (name, from, to, line, word) in [
        ("heavy", "    9   pick", "    7   pick", 36, "more samples than the function"),
        ("heavy", "      6   Squeeze", "       6   Squeeze", 35, "odd number of columns"),
        ("heavy", "      6   Squeeze", "        6   Squeeze", 35, "more than one level"),
        ("heavy", "      6   Squeeze", "      Squeeze", 35, "lacks its number"),
        (
            "heavy",
            "11 samples (1-11)    priority 46",
            "12 samples (1-12)    priority 46",
            31,
            "and 12 in its first line",
        ),
        ("heavy", "0xec0,0xec1", "0xzz", 39, "first line of a thread"),
        ("heavy", "0x7ff80666f000 - ", "0x7ff80666f000 ", 45, "list of images"),
        ("timeline", "1-3,6", "1-3", 17, "steps"),
        ("cpu-resource", "Num samples:      8", "Num samples:      9", 22, "9 in its head"),
        ("cpu-resource", "Steps:            8", "Steps:            9", 2, "9 steps"),
        ("no-stacks", "Powerstats", "Power", 1, "before its first process"),
    ] {
        let text = seed(name);
        assert!(text.contains(from), "{name}: {from}");
        let error = read_text(&text.replacen(from, to, 1)).expect_err(word);
        let place = error.at.as_ref().map(|at| at.line);
        assert!(error.to_string().contains(word) && place == Some(line), "{word}, {line}: {error}");
    }
    let error = read_text("{\"bug_type\":\"228\"}\n{\"a\": 1}\n").unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::NotAnExport(text) if text.contains("does not follow")), "{error}");
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
