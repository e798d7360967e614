//! Samples that count while signposts, or potential hangs, go on.

use std::fs::read;

use crate::command::{
    Folder, csv, fails, finish, fixture, json, ok, orchard, read_text, stderr_of, stdout_of, traceparse,
};

/// Six samples, of three in each run: at 104.250083, 105.250124 and 106.250165 ms, and at 104.250206, 105.250247 and 106.250288.
/// `Layout` goes on from the first of them on for 0.9 ms, 0.1 ms before the third one for 0.5 ms, and 1 µs before and after the first
/// one of run 2. `Draw` begins 5 µs before the second one and ends 5 µs after the third one. `Sync` begins with the last one,
/// and has no end.
fn signposts() -> String {
    fixture("27/signposts")
}

/// The times of the samples that count, in nanoseconds from 100 ms on.
fn times(args: &[&str]) -> Vec<u64> {
    let rows = csv(&[args, &["--view", "samples"]].concat());
    let at = rows[0].iter().position(|title| title == "time_ns").expect("a column of times");
    rows[1..].iter().map(|row| row[at].parse::<u64>().expect("a number") - 100_000_000).collect()
}

#[test]
fn samples_count_while_an_interval_is_open() {
    let path = signposts();
    assert_eq!(times(&[&path]).len(), 6);
    assert_eq!(times(&[&path, "--during", "Layout"]), [4_250_083, 6_250_165, 4_250_206]);
    assert_eq!(times(&[&path, "--during", "Draw"]), [5_250_124, 6_250_165]);
    assert_eq!(times(&[&path, "--during", "Draw", "--during", "Layout"]), [4_250_083, 5_250_124, 6_250_165, 4_250_206]);
}

#[test]
fn other_filters_narrow_further() {
    let path = signposts();
    assert_eq!(times(&[&path, "--during", "Layout", "--run", "1"]), [4_250_083, 6_250_165]);
    assert_eq!(times(&[&path, "--during", "Layout", "--time", "105ms.."]), [6_250_165]);
    assert_eq!(times(&[&path, "--during", "Draw", "--thread", "Main Thread"]), [6_250_165]);
    let message = fails(1, &[&path, "--during", "Draw", "--run", "2"]);
    assert!(message.contains("no sample passes the filters"), "{message}");
}

#[test]
fn the_summary_and_json_say_which_intervals_count() {
    let path = signposts();
    let text = ok(&[&path, "--during", "Layout", "--view", "summary"]);
    assert!(text.contains("\nduring 'Layout': 3 intervals, 1.40 ms in all\n"), "{text}");
    assert!(text.contains("time-profile run 1: 2.00 ms in 2 samples"), "{text}");
    assert!(text.contains("not counted, for the filters: 1.00 ms in 1 sample"), "{text}");
    let answer = json(&[&path, "--during", "Layout", "--view", "summary"]);
    let expected = serde_json::json!({
        "names": ["Layout"], "hangs": false, "combined_as": "union", "intervals": 3, "open": 0, "length_ns": 1_402_000,
        "covered_ns": 1_402_000,
    });
    assert_eq!(answer["asked"]["during"], expected);
    let left_out: Vec<&serde_json::Value> =
        answer["series"].as_array().expect("series").iter().map(|series| &series["filtered_out"]["samples"]).collect();
    assert_eq!(left_out, [1, 2]);
    // What overlaps is covered once: Draw and the second Layout.
    let text = ok(&[&path, "--during", "Layout", "--during", "Draw", "--view", "summary"]);
    assert!(text.contains("during 'Layout' or 'Draw': 4 intervals, 2.41 ms in all, which cover 2.31 ms\n"), "{text}");
    assert!(json(&[&path, "--view", "summary"])["asked"].get("during").is_none(), "nothing was asked");
}

#[test]
fn samples_may_have_to_be_in_an_interval_of_every_name() {
    let path = signposts();
    let both = ["--during", "Layout", "--during", "Draw", "--during-all"];
    assert_eq!(times(&[&[path.as_str()], &both[..]].concat()), [6_250_165]);
    let text = ok(&[&[path.as_str(), "--view", "summary"], &both[..]].concat());
    assert!(
        text.contains("during 'Layout' and 'Draw': 4 intervals, 2.41 ms in all, which share 105.00 µs\n"),
        "{text}"
    );
    let asked = json(&[&[path.as_str(), "--view", "summary"], &both[..]].concat())["asked"]["during"].clone();
    assert_eq!((&asked["combined_as"], &asked["covered_ns"]), (&"intersection".into(), &105_000.into()));
    assert_eq!(asked["names"], serde_json::json!(["Layout", "Draw"]));
    // One name, however often it is given, is all of them.
    assert_eq!(times(&[&path, "--during", "Draw", "--during", "Draw", "--during-all"]), [5_250_124, 6_250_165]);
    let diff = ok(&[&["diff", path.as_str(), path.as_str(), "--run", "1"], &both[..]].concat());
    assert_eq!(diff.matches("during 'Layout' and 'Draw': 4 intervals").count(), 2, "{diff}");
    // Sync begins when the others are over.
    let message = fails(1, &[&path, "--during", "Sync", "--during", "Draw", "--during-all"]);
    assert!(message.contains("at no time are all of them open"), "{message}");
    assert!(message.contains("no sample passes the filters"), "{message}");
}

/// Hangs are one name of all.
#[test]
fn samples_may_have_to_be_in_an_interval_during_a_hang() {
    let folder = Folder::new();
    // From 104.5 ms on, in run 2.
    let hangs = folder.edited("27/several-tables", &[(">120000000<", ">104500000<")]);
    let path = signposts();
    // `Sync` has no end, which is noted.
    let summary = |more: &[&str]| {
        let asked = [path.as_str(), "--intervals", &path, "--intervals", &hangs, "--during", "Sync", "--during-hang"];
        stdout_of(&finish(&mut traceparse(&[&asked[..], &["--view", "summary"], more].concat())).success())
    };
    let text = summary(&[]);
    assert!(text.contains("during 'Sync' or potential hangs: 2 intervals"), "{text}");
    assert!(text.contains("time-profile run 2: 2.00 ms in 2 samples"), "{text}");
    let text = summary(&["--during-all"]);
    assert!(text.contains("during 'Sync' and potential hangs: 2 intervals"), "{text}");
    assert!(text.contains("time-profile run 2: 1.00 ms in 1 sample"), "{text}");
}

#[test]
fn an_interval_without_an_end_lasts_until_the_recording_ends() {
    let assert = finish(&mut traceparse(&[&signposts(), "--during", "Sync", "--view", "summary"])).success();
    let note = stderr_of(&assert);
    assert!(note.starts_with("note: 1 of 1 intervals have no recorded end"), "{note}");
    let text = stdout_of(&assert);
    assert!(text.contains("during 'Sync': 1 interval, 0 ns in all, and 1 until the recording ends"), "{text}");
    assert!(text.contains("time-profile run 2: 1.00 ms in 1 sample"), "{text}");
}

#[test]
fn a_name_that_is_not_there_is_answered_with_those_there_are() {
    for name in ["layout", "Launch", ""] {
        let message = fails(1, &[&signposts(), "--during", "Draw", "--during", name]);
        assert!(message.contains(&format!("is named {name:?}")), "{message}");
        assert!(message.contains("there are: Draw, Layout, Sync\n"), "{message}");
    }
    let message = fails(1, &[&orchard(), "--during", "Layout"]);
    assert!(message.contains("no signpost interval in") && message.contains("os-signpost-interval"), "{message}");
    let message = fails(1, &[&signposts(), "--during-hang"]);
    assert!(message.contains("no potential hang in") && message.contains("potential-hangs"), "{message}");
}

#[test]
fn of_many_names_eight_are_listed() {
    let names = |number: u32| format!("<string>N{number:02}</string>");
    let rows =
        (0..11).map(|number| format!("<row><start-time>1</start-time><duration>2</duration>{}</row>", names(number)));
    let columns = ["start", "duration", "name"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let xml = format!(
        "<trace-query-result><node xpath='//trace-toc[1]/run[1]'><schema name=\"os-signpost-interval\">{columns}</schema>{}\
         </node></trace-query-result>",
        rows.collect::<String>()
    );
    let folder = Folder::new();
    let path = folder.file("many.xml", xml);
    let message = fails(1, &[&orchard(), "--during", "N", "--intervals", &path]);
    assert!(message.contains("there are: N00, N01, N02, N03, N04, N05, N06, N07 and 3 more\n"), "{message}");
}

/// Run 2 hangs from 120 ms on for 710.25 ms; its samples are before.
#[test]
fn hangs_are_intervals() {
    let several = fixture("27/several-tables");
    let message = fails(1, &[&several, "--during-hang"]);
    assert!(message.contains("no sample passes the filters"), "{message}");
    let folder = Folder::new();
    // From 104.5 ms on.
    let earlier = folder.edited("27/several-tables", &[(">120000000<", ">104500000<")]);
    let text = ok(&[&earlier, "--during-hang", "--view", "summary"]);
    assert!(text.contains("during potential hangs: 1 interval, 710.25 ms in all"), "{text}");
    assert_eq!(times(&[&earlier, "--during-hang"]), [5_250_247, 6_250_288]);
}

#[test]
fn intervals_may_be_in_another_file_which_is_the_only_one_then() {
    let (path, folder) = (signposts(), Folder::new());
    let late = folder.edited("27/signposts", &[(">104250083<", ">105000000<")]);
    let asked = ["--during", "Layout", "--run", "1"];
    assert_eq!(times(&[&[path.as_str(), "--intervals", &late], &asked[..]].concat()), [5_250_124, 6_250_165]);
    let hang = fixture("27/several-tables");
    let message = fails(1, &[&[path.as_str(), "--intervals", &hang], &asked[..]].concat());
    assert!(message.contains("no signpost interval"), "{message}");
    assert_eq!(times(&[&[path.as_str(), "--intervals", &hang, "--intervals", &path], &asked[..]].concat()).len(), 2);
}

#[test]
fn compressed_exports_have_intervals_too() {
    let folder = Folder::new();
    let xml = read(signposts()).expect("the fixture can be read");
    let path = folder.file("export.zst", zstd::encode_all(xml.as_slice(), 0).expect("memory takes everything"));
    assert_eq!(times(&[&path, "--during", "Layout"]).len(), 3);
    assert_eq!(times(&[&signposts(), "--during", "Layout", "--intervals", &path]).len(), 3);
}

#[test]
fn standard_input_is_read_once() {
    let xml = read_text(&signposts());
    let asked = ["-", "--during", "Layout", "--view", "summary"];
    let message = stderr_of(&finish(traceparse(&asked).write_stdin(xml.clone())).code(2).stdout(""));
    assert!(message.contains("standard input cannot be read twice") && message.contains("--intervals"), "{message}");
    let path = signposts();
    let named = [&asked[..], &["--intervals", &path]].concat();
    let text = stdout_of(&finish(traceparse(&named).write_stdin(xml.clone())).success().stderr(""));
    assert!(text.contains("3 intervals"), "{text}");
    // The other way round.
    let args = [path.as_str(), "--during", "Layout", "--view", "summary", "--intervals", "-"];
    let text = stdout_of(&finish(traceparse(&args).write_stdin(xml)).success().stderr(""));
    assert!(text.contains("3 intervals"), "{text}");
}

#[test]
fn options_that_do_not_go_together() {
    let path = signposts();
    let message = fails(2, &[&path, "--intervals", &path]);
    assert!(message.contains("--intervals only applies to --during, --during-hang"), "{message}");
    let message = fails(2, &[&path, "--during-all"]);
    assert!(message.contains("--during-all only applies to --during and --during-hang"), "{message}");
    let message = fails(2, &[&path, "--during", "Draw", "--intervals", &path, "--intervals", &path]);
    assert!(message.contains("named twice"), "{message}");
    fails(1, &[&path, "--during", "Draw", "--intervals", "no-such-file.xml"]);
}

#[test]
fn rows_that_cannot_be_read_are_told() {
    let folder = Folder::new();
    let broken = folder.edited("27/signposts", &[(">900000<", ">-900000<")]);
    let assert = finish(&mut traceparse(&[&broken, "--during", "Draw", "--view", "summary"])).success();
    let message = stderr_of(&assert);
    assert!(message.contains("row of os-signpost-interval rejected: a number in the row"), "{message}");
    let message = fails(1, &[&broken, "--during", "Draw", "--strict"]);
    assert!(message.contains("1 of 15 rows of intervals could not be read"), "{message}");
    let cut = &read(signposts()).expect("the fixture can be read")[..9_000];
    let cut = folder.file("cut.xml", cut);
    let message = fails(1, &[&signposts(), "--during", "Draw", "--intervals", &cut]);
    assert!(message.contains("cut.xml") && message.contains("the file is truncated"), "{message}");
}

#[test]
fn every_view_and_format_has_intervals() {
    let path = signposts();
    for view in [
        "summary",
        "threads",
        "tree",
        "bottom-up",
        "functions",
        "heaviest",
        "binaries",
        "categories",
        "transitions",
        "lines",
        "processes",
        "states",
        "cores",
        "timeline",
        "samples",
        "flame-chart",
    ] {
        let text = |filter: &[&str]| ok(&[&[path.as_str(), "--view", view, "--format", "json"], filter].concat());
        assert_ne!(text(&["--during", "Layout"]), text(&[]), "{view}");
        let both = text(&["--during", "Layout", "--during", "Draw", "--run", "1"]);
        // Together they have every sample of run 1, and what the view shows is that of the run.
        let (both, whole) = (rows(&both), rows(&text(&["--run", "1"])));
        assert_eq!(both, whole, "{view}");
    }
    for format in ["text", "folded", "svg", "d3", "firefox", "speedscope", "chrome-trace"] {
        let text = |filter: &[&str]| ok(&[&[path.as_str(), "--run", "1", "--format", format], filter].concat());
        assert_ne!(text(&["--during", "Layout"]), text(&[]), "{format}");
    }
}

/// The answer without the question.
fn rows(json: &str) -> serde_json::Value {
    let mut answer: serde_json::Value = serde_json::from_str(json).expect("the output is JSON");
    let fields = answer.as_object_mut().expect("an object");
    fields.remove("asked");
    without_times(&mut answer);
    answer
}

/// Removes the selected time and what divides by it: intervals cover a part of the run only.
fn without_times(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Array(rows) => rows.iter_mut().for_each(without_times),
        serde_json::Value::Object(fields) => {
            for name in ["length_ns", "cpu_percent", "selected_ns", "bin_ns", "time_ns", "activity"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_times);
        }
        _ => {}
    }
}

#[test]
fn each_side_of_a_diff_has_intervals_of_its_own() {
    let (path, folder) = (signposts(), Folder::new());
    let late = folder.edited("27/signposts", &[(">104250083<", ">105000000<")]);
    let diff = |args: &[&str]| {
        let text = ok(&[&["diff", path.as_str(), path.as_str(), "--run", "1", "--during", "Layout"], args].concat());
        serde_json::from_str::<serde_json::Value>(&text).expect("the output is JSON")
    };
    let sides = |answer: &serde_json::Value| {
        let total = &answer["total"];
        ["before", "after"].map(|side| total[side]["samples"].as_u64().expect("a number"))
    };
    let same = diff(&["--format", "json"]);
    assert_eq!(sides(&same), [2, 2]);
    let other = diff(&["--format", "json", "--after-intervals", &late]);
    assert_eq!(sides(&other), [2, 2]);
    assert_ne!(other["functions"], same["functions"], "the second sample instead of the first");
    assert_eq!(other["after"]["during"]["intervals"], 4, "row and pair begin at other times");
    let text = ok(&["diff", &path, &path, "--run", "1", "--during", "Layout"]);
    assert_eq!(text.matches("during 'Layout': 3 intervals, 1.40 ms in all").count(), 2, "{text}");
    let message = fails(1, &["diff", &path, &orchard(), "--during", "Layout"]);
    assert!(message.contains("no signpost interval in") && message.contains("orchard"), "{message}");
}
