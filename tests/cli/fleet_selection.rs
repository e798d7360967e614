//! Selections of fleets on the command line: what is refused, what excludes a run, where intervals come from, and datasets of one selection.
//! The numbers are compared with a script in `tests/fleet_selection.rs`.

use serde_json::{Value, json};

use crate::bundle_case;
use crate::command::{Folder, fails, json, ok, read_text, warns};
use crate::fleet_case::{failures, of_runs, reason, report, report_with, run, says, sources, write};
use support::builder::Builder;
use support::{Content, Invented, Node, RenderOptions, Shape, Signpost, Table, TocOptions, render, render_toc};

const MILLISECOND: u64 = 1_000_000;

/// A thread that scrolls for 30 ms of 100 ms, from 10 ms on, and waits in it for the last 10 ms; a worker has one sample, so many nanoseconds
/// after 99 ms.
fn recording(runs: u32, after: u64) -> Invented {
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 501, "/Applications/Orchard.app/Contents/MacOS/Orchard");
    let main = builder.thread(process, 0x101, &["Main Thread"]);
    let worker = builder.thread(process, 0x102, &["com.orchard.worker"]);
    let app = builder.image("/Applications/Orchard", "arm64", "11111111-2222-3333-4444-555555555555", 0x1_0000_0000);
    for name in ["main", "scroll", "wait"] {
        builder.function(name, app, Some(name), None);
    }
    for run in 1..=runs {
        for time in 10..40 {
            let stack = if time < 30 { "main scroll" } else { "main scroll wait" };
            builder.row(time * MILLISECOND, main, stack).run = run;
        }
        builder.row(99 * MILLISECOND + after, worker, "main").run = run;
    }
    builder.recording
}

fn intervals(run: u32, name: &str, start: u64, end: u64) -> Node {
    let signpost = Signpost::new(name, start * MILLISECOND, end * MILLISECOND, 0);
    Node { run, table_index: 2, content: Content::SignpostIntervals(vec![signpost]) }
}

fn document(recording: &Invented, nodes: Vec<Node>) -> String {
    render(recording, &RenderOptions::with_nodes(Shape::Xcode26_4, nodes))
}

/// Writes `NAME.xml` with its table of contents.
fn write_run(folder: &Folder, name: &str) {
    let recording = recording(1, u64::from(name.as_bytes()[0]));
    let samples = vec![Node::samples(1, Table::TimeProfile, &recording)];
    write(folder, &format!("x/{name}.xml"), document(&recording, samples));
    let toc = render_toc(&recording, &TocOptions::new(Shape::Xcode26_4, vec![Table::TimeProfile]));
    write(folder, &format!("x/{name}-toc.xml"), toc);
}

fn write_intervals(folder: &Folder, path: &str, name: &str, start: u64, end: u64) {
    write(folder, path, document(&recording(1, 0), vec![intervals(1, name, start, end)]));
}

/// Three runs that scroll: from 0 to 20 ms, from 20 to 40 ms, and outside of what was recorded; one that does not, and one that nobody asked.
fn fleet(folder: &Folder) -> String {
    for (index, name) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        write_run(folder, name);
        let (name, signpost) = (format!("x/{name}-intervals.xml"), if index == 3 { "Layout" } else { "Scroll" });
        let start = [0, 20, 5_000, 0, 0][index];
        if index < 4 {
            write_intervals(folder, &name, signpost, start, start + 20);
        }
    }
    folder.path("x")
}

fn values(report: &Value) -> Vec<(String, f64)> {
    of_runs(report, "value").into_iter().map(|(name, value)| (name, value.as_f64().expect("a number"))).collect()
}

fn value(name: &str, value: f64) -> (String, f64) {
    (name.to_owned(), value)
}

#[test]
fn the_use_during_intervals_is_of_their_time() {
    let folder = Folder::new();
    let path = fleet(&folder);
    let (said, report) = report_with(0, &[&path, "--during", "Scroll", "--only-main-thread"]);
    assert_eq!(values(&report), [value("a.xml", 50.0), value("b.xml", 100.0)]);
    assert!(said.contains("3 files gave no run (3 not-selected), 2 runs did"), "{said}");
    let kind = |name: &str| (name.to_owned(), "not-selected".to_owned());
    assert_eq!(failures(&report), ["c.xml", "d.xml", "e.xml"].map(kind));
    let outside = "Run 1 was recorded from 0.000 s to 0.111 s, which has nothing of the selected intervals.";
    assert_eq!(reason(&report, "c.xml"), outside);
    assert_eq!(reason(&report, "d.xml"), "There is no interval named \"Scroll\"; there are: Layout.");
    let none = reason(&report, "e.xml");
    assert!(
        none.starts_with("It has no table of signposts, and there is no e-intervals.xml next to it; export"),
        "{none}"
    );
    let options = json!([{"option": "--during", "value": "Scroll"}]);
    assert_eq!(report["selection"], json!({"text": "--during Scroll", "options": options}));
    assert_eq!(report["options"]["only_main_threads"], json!(true));
    let (text, _) = warns(&["fleet", "report", &path, "--during", "Scroll", "--only-main-thread"]);
    for words in [
        "only what was selected of each run counts: --during Scroll",
        "only what these threads use counts: main threads",
        "3 files gave no run: 3 not-selected",
        "Nothing that was selected in 2 of 2 runs is a whole second: they have no windows.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (_, short) = report_with(0, &[&path, "--time", "10ms..25ms"]);
    let note = "The selected time of run 1 is as long as 15 samples, so its CPU use is mostly chance.";
    assert!(
        short["notes"].as_array().expect("notes").iter().any(|text| text.as_str().is_some_and(|it| it.contains(note)))
    );
}

#[test]
fn idle_is_zero_and_absent_is_excluded() {
    let folder = Folder::new();
    let path = fleet(&folder);
    let asked = |thread: &str| report_with(0, &[&path, "--thread", thread, "--time", "50ms..100ms"]).1;
    assert_eq!(values(&asked("Main Thread")).len(), 5);
    assert!(values(&asked("Main Thread")).iter().all(|(_, value)| *value == 0.0));
    assert!(values(&asked("/worker/")).iter().all(|(_, value)| *value == 2.0));
    assert_eq!(asked("/worker/")["options"]["threads"], json!(["com.orchard.worker"]));
    for (name, text) in [("f", "Renderer"), ("g", "Main Thread 2")] {
        let other = read_text(&folder.path("x/a.xml")).replace("Main Thread", text);
        write(&folder, &format!("x/{name}.xml"), other);
    }
    let (_, found) = report_with(0, &[&path, "--only-main-thread", "--time", "..50ms"]);
    assert_eq!(sources(&found), ["a.xml", "b.xml", "c.xml", "d.xml", "e.xml"]);
    assert_eq!(reason(&found, "f.xml"), "There is no known main thread.");
    let all = report(&[&path, "--thread", "/^Main Thread( 2)?$/", "--thread", "Renderer", "--time", "..50ms"]);
    assert_eq!(sources(&all).len(), 7);
    assert_eq!(all["options"]["threads"], json!(["Main Thread", "Main Thread 2", "Renderer"]));
    let nobody = says(1, &["report", &path, "--thread", "Nobody"]);
    assert!(nobody.contains("no run has a thread named \"Nobody\"; there are: Main Thread, "), "{nobody}");
    assert!(says(1, &["report", &path, "--thread", "/Nobody/"]).contains("7 not-selected"));
}

#[test]
fn a_manifest_names_intervals() {
    let folder = Folder::new();
    fleet(&folder);
    write_intervals(&folder, "signposts/1.xml", "Scroll", 10, 20);
    let manifest = write(&folder, "fleet.csv", "path,intervals\nx/a.xml,signposts/1.xml\nx/b.xml,\n");
    let (_, found) = report_with(0, &[&manifest, "--during", "Scroll"]);
    assert_eq!(values(&found), [value("a.xml", 100.0), value("b.xml", 100.0)]);
    assert_eq!(
        of_runs(&found, "wall_ns"),
        [("a.xml".to_owned(), json!(10_000_000)), ("b.xml".to_owned(), json!(20_000_000))]
    );
    let missing = write(&folder, "missing.csv", "path,intervals\nx/a.xml,none.xml\nx/b.xml,\n");
    let (_, found) = report_with(0, &[&missing, "--during", "Scroll"]);
    assert_eq!(failures(&found), [("a.xml".to_owned(), "unreadable".to_owned())]);
    assert!(reason(&found, "a.xml").contains("none.xml"), "{}", reason(&found, "a.xml"));
}

#[test]
fn a_file_may_have_runs_with_and_without() {
    let folder = Folder::new();
    let recording = recording(3, 0);
    let samples = |run| Node::samples(run, Table::TimeProfile, &recording);
    let nodes = vec![samples(1), samples(2), intervals(2, "Scroll", 10, 30), samples(3), intervals(3, "Scroll", 0, 20)];
    let path = write(&folder, "three.xml", document(&recording, nodes));
    let (_, found) = report_with(0, &[&path, "--during", "Scroll", "--thread", "Main Thread"]);
    // Their time is estimated, and begins with the first sample.
    assert_eq!(values(&found).into_iter().map(|(_, value)| value).collect::<Vec<_>>(), [100.0, 100.0]);
    assert_eq!(
        of_runs(&found, "wall_ns").into_iter().map(|(_, wall)| wall).collect::<Vec<_>>(),
        [20_000_000, 10_000_000]
    );
    assert_eq!(found["inputs"]["excluded_runs"], 1);
    let said = "Excluded: Run 1 has no interval named \"Scroll\".";
    assert!(
        found["notes"].as_array().expect("notes").iter().any(|note| note.as_str().is_some_and(|it| it.ends_with(said)))
    );
    let dataset = folder.path("ds");
    says(0, &["extract", &path, "--during", "Scroll", "--thread", "Main Thread", "-o", &dataset]);
    let (_, again) = report_with(0, &[&dataset]);
    assert_eq!((&again["inputs"]["excluded_runs"], values(&again)), (&json!(1), values(&found)));
}

#[test]
fn a_dataset_is_of_one_selection_and_narrows_to_threads() {
    let folder = Folder::new();
    let path = fleet(&folder);
    let dataset = folder.path("ds");
    let extract = |options: &[&str]| run(&[&["extract", &path, "-o", &dataset], options].concat());
    let said = |options: &[&str], code| crate::command::stderr_of(&extract(options).code(code));
    assert!(said(&["--during", "Scroll"], 0).contains("extracted 2 new, 0 changed, 0 unchanged, 3 failed"));
    assert!(said(&["--during", "Scroll"], 0).contains("0 new, 0 changed, 2 unchanged, 3 failed"));
    for (options, asked) in [
        (&[][..], "whole recordings"),
        (&["--during", "Scroll", "--only-main-thread"], "--during Scroll --only-main-thread"),
        (&["--during", "Scroll", "--hide-system"], "--during Scroll --hide-system"),
    ] {
        let said = said(options, 1);
        let expected = format!("measured with another selection (--during Scroll) than this one ({asked}); repeat");
        assert!(said.contains(&expected), "{said}");
    }
    // Other signposts, other numbers.
    write_intervals(&folder, "x/a-intervals.xml", "Scroll", 15, 35);
    assert!(said(&["--during", "Scroll"], 0).contains("0 new, 1 changed, 1 unchanged, 3 failed"));
    let (_, whole) = report_with(0, &[&dataset]);
    assert_eq!(values(&whole), [value("a.xml", 100.0), value("b.xml", 100.0)]);
    assert_eq!(whole["selection"]["text"], "--during Scroll");
    let (_, worker) = report_with(0, &[&dataset, "--thread", "com.orchard.worker"]);
    assert_eq!(values(&worker), [value("a.xml", 0.0), value("b.xml", 0.0)], "it is there, and idle while they scroll");
    let sql = ok(&["fleet", "sql", &dataset, "--thread", "/^com/"]);
    let head = "-- Dataset complete: yes; 5 of 5 input files\n-- Runs were measured with: --during Scroll\n";
    assert!(sql.starts_with(head), "{sql}");
    assert!(sql.contains("\"thread\" IN ('com.orchard.worker')"), "{sql}");
    for (options, named) in [
        (&["--time", "1s.."][..], "traceparse fleet extract RECORDINGS --time 1s.. -o NEW_DATASET"),
        (&["--focus", "scroll", "--during", "X y"], "extract RECORDINGS --during 'X y' --focus scroll -o NEW_DATASET"),
        (&["--hide-system"], "--hide-system selects from recordings, but "),
    ] {
        let said = says(2, &[&["report", &dataset], options].concat());
        assert!(said.contains(named), "{said}");
    }
}

#[test]
fn operations_are_done_in_their_order() {
    let folder = Folder::new();
    write_run(&folder, "a");
    let path = folder.path("x");
    let weight = |options: &[&str]| of_runs(&report(&[&[path.as_str()], options].concat()), "weight").remove(0).1;
    assert_eq!(weight(&["--focus", "wait"]), 10 * MILLISECOND);
    assert_eq!(weight(&["--charge", "wait", "--focus", "wait"]), 0, "nothing is left to be found");
    assert_eq!(weight(&["--focus", "wait", "--charge", "wait"]), 10 * MILLISECOND);
    assert_eq!(weight(&["--prune", "scroll"]), MILLISECOND);
    let dataset = folder.path("ds");
    says(0, &["extract", &path, "--prune", "wait", "--charge", "scroll", "-o", &dataset]);
    let found = report(&[&dataset]);
    assert_eq!(found["selection"]["text"], "--prune wait --charge scroll");
    assert_eq!(of_runs(&found, "weight")[0].1, 21 * MILLISECOND);
}

/// An export and the bundle of the same recording, which has a hang of 10 ms: each as by itself.
#[test]
fn hangs_are_intervals() {
    let folder = Folder::new();
    let forms = bundle_case::write_forms(&folder, &bundle_case::recording(), Table::TimeProfile);
    let alone = json(&[&forms.export, "--during-hang", "--view", "summary"]);
    let weight = alone["series"][0]["all_weight"].clone();
    assert!(weight.as_u64() > Some(0), "{alone}");
    for path in [&forms.export, &forms.folder, &forms.archives[0]] {
        let (_, found) = report_with(0, &[path, "--during-hang"]);
        assert_eq!(of_runs(&found, "weight")[0].1, weight, "{path}");
        assert_eq!(of_runs(&found, "wall_ns")[0].1, 10 * MILLISECOND, "{path}");
        assert_eq!(found["selection"]["text"], "--during-hang");
        let never = says(1, &["report", path, "--during-hang", "--during", "Layout", "--during-all"]);
        assert!(
            never.contains("Run 1 has no time in which all of these are open: \"Layout\", a potential hang."),
            "{never}"
        );
    }
}

#[test]
fn options_that_a_fleet_cannot_have_are_refused() {
    let folder = Folder::new();
    let path = fleet(&folder);
    for (options, words) in [
        (&["--invert"][..], "--invert turns trees upside down, and a fleet shows none"),
        (&["--during-all"], "--during-all only applies to --during and --during-hang"),
        (&["--thread", "751"], "a TID is another thread in each recording; name the thread, or /^751$/"),
        (&["--thread", ""], "the name of a thread is empty"),
        (&["--thread", "//"], "the name of a thread is empty"),
        (&["--thread", "/(/"], "unclosed group"),
    ] {
        let dataset = folder.path("ds");
        for command in [&["report", &path][..], &["extract", &path, "-o", &dataset]] {
            let said = says(2, &[command, options].concat());
            assert!(said.contains(words), "{options:?}: {said}");
        }
    }
    let typo = says(0, &["report", &path, "--during", "Scroll", "--during", "Scrol"]);
    assert!(typo.contains("no recording has an interval named \"Scrol\""), "{typo}");
    let none = fails(1, &["fleet", "report", &path, "--during", "Scrol"]);
    assert!(none.contains("5 not-selected"), "{none}");
}

#[test]
fn time_of_threads_that_wait_is_not_called_cpu_use() {
    let folder = Folder::new();
    let path = fleet(&folder);
    let text = ok(&["fleet", "report", &path, "--state", "all"]);
    assert!(text.contains("Thread time of a run is ") && !text.contains("CPU use of"), "{text}");
    let page = folder.path("page.html");
    ok(&["fleet", "report", &path, "--state", "all", "-o", &page]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("<title>Thread time across 5 runs</title>"), "{page}");
    assert!(!page.contains("CPU use of a run") && !page.contains("CPU use across"), "it is not CPU use");
    let text = ok(&["fleet", "report", &path, "--state", "Running"]);
    assert!(text.contains("CPU use of a run is "), "{text}");
}
