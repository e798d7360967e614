//! `traceparse hangs`, `traceparse intervals` and `--table`: what they say, of which inputs, and what they refuse. The numbers are compared with another
//! program in `tests/oracles/stretches.rs`.

use unicode_width::UnicodeWidthStr;

use crate::command::{Folder, csv, fails, finish, json, stderr_of, stdout_of, traceparse};

/// A thread with its process, as `xctrace` writes it at first use; later uses are refs to 1.
const MAIN: &str = r#"<thread id="1" fmt="Main Thread 0x51 (Orchard, pid: 7)"><tid id="2" fmt="0x51">81</tid><process id="3" fmt="Orchard (7)"><pid id="4" fmt="7">7</pid></process></thread>"#;

/// A document of tables: schema, columns as `mnemonic:type`, and rows.
fn document(tables: &[(&str, &str, String)]) -> String {
    let mut xml = "<?xml version=\"1.0\"?>\n<trace-query-result>\n".to_owned();
    for (position, (schema, columns, rows)) in (1..).zip(tables) {
        let column = |column: &str| {
            let (mnemonic, kind) = column.split_once(':').unwrap();
            format!("<col><mnemonic>{mnemonic}</mnemonic><engineering-type>{kind}</engineering-type></col>")
        };
        let columns: String = columns.split(' ').map(column).collect();
        xml.push_str(&format!(
            "<node xpath='//trace-toc[1]/run[1]/data[1]/table[{position}]'><schema name=\"{schema}\">{columns}</schema>\n{rows}</node>\n"
        ));
    }
    xml + "</trace-query-result>\n"
}

/// 400 ms of samples of the main thread from 1 s on, one each millisecond; of the first 100 it was running.
fn samples(are_running: impl Fn(u64) -> bool) -> (&'static str, &'static str, String) {
    let mut rows = String::new();
    for index in 0..400 {
        let thread = if index == 0 { MAIN } else { r#"<thread ref="1"/>"# };
        let (state, leaf) = if are_running(index) { ("Running", "sort") } else { ("Blocked", "fsync") };
        rows.push_str(&format!(
            "<row><sample-time>{}</sample-time>{thread}<thread-state>{state}</thread-state><weight>1000000</weight>\
             <backtrace><frame name=\"{leaf}\" addr=\"0x3000\"/><frame name=\"Store.save()\" addr=\"0x2000\"/><frame name=\"main\" \
             addr=\"0x1000\"/></backtrace></row>\n",
            1_000_000_000 + index * 1_000_000
        ));
    }
    ("time-profile", "time:sample-time thread:thread thread-state:thread-state weight:weight stack:backtrace", rows)
}

fn hangs(rows: &str) -> (&'static str, &'static str, String) {
    ("potential-hangs", "start:start-time duration:duration hang-type:hang-type thread:thread", rows.to_owned())
}

const HANG: &str = r#"<row><start-time>1000000000</start-time><duration>400000000</duration><hang-type>Hang</hang-type><thread ref="1"/></row>"#;

fn signposts() -> (&'static str, &'static str, String) {
    let row = |name: &str, start: u64, length: u64| {
        format!(
            "<row><start-time>{start}</start-time><duration>{length}</duration><string>{name}</string><thread ref=\"1\"/></row>\n"
        )
    };
    let rows = row("Checkout", 900_000_000, 200_000_000)
        + &row("Later", 1_400_000_000, 5_000_000)
        + &row("Checkout", 1_500_000_000, 1_000_000);
    ("os-signpost-interval", "start:start-time duration:duration name:string start-thread:thread", rows)
}

fn written(folder: &Folder, tables: &[(&str, &str, String)]) -> String {
    folder.file("export.xml", document(tables))
}

fn run(args: &[&str]) -> String {
    let assert = finish(traceparse(args).env("COLUMNS", "80")).code(0);
    assert_eq!(stderr_of(&assert), "");
    let text = stdout_of(&assert);
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    text
}

#[test]
fn a_hang_has_its_cause() {
    let folder = Folder::new();
    let export = written(&folder, &[samples(|index| index < 100), hangs(HANG), signposts()]);
    let text = run(&["hangs", &export]);
    for expected in [
        "1 hang; the longest takes 400.00 ms",
        "At 1.000 s of run 1: Hang, 400.00 ms",
        "Main Thread (0x51) of Orchard (7)",
        "Blocked or waiting: 25% of the time on the CPU, 100.00 ms in 100 samples",
        "Off the CPU: 300.00 ms in 300 samples",
        "Open signposts: Checkout\n",
    ] {
        assert!(text.contains(expected), "{expected} is missing: {text}");
    }
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("100.0%")).collect();
    assert_eq!(lines.len(), 6, "two stacks of three functions: {text}");
    assert!(lines[2].contains("fsync") && lines[5].contains("sort"), "{text}");
    let busy = written(&folder, &[samples(|index| index < 360), hangs(HANG)]);
    assert!(run(&["hangs", &busy]).contains("  Busy: 90% of the time on the CPU"));
}

#[test]
fn without_a_table_of_hangs_work_is_called_work() {
    let folder = Folder::new();
    let export = written(&folder, &[samples(|index| index != 70)]);
    let text = run(&["hangs", &export]);
    assert!(text.starts_with("Hangs were not recorded. Once, a main thread was busy for at least 250.00 ms"), "{text}");
    assert!(text.contains("At 0.999 s of run 1: busy for 400.00 ms\n"), "{text}");
    let paused = written(&folder, &[samples(|index| !(150..160).contains(&index) && !(280..290).contains(&index))]);
    let text = run(&["hangs", &paused]);
    assert!(
        text.replace("\n  ", " ").contains("no main thread was on the CPU for 250.00 ms without a pause"),
        "{text}"
    );
    let empty = written(&folder, &[samples(|_| true), hangs("")]);
    assert_eq!(run(&["hangs", &empty]), "No hang was recorded\n");
}

#[test]
fn hitches_are_added_up() {
    let folder = Folder::new();
    let row = |start: u64, length: u64, process: &str| {
        format!(
            "<row><start-time>{start}</start-time><duration>{length}</duration>{process}<string>0x1</string><string>Expensive</string></row>\n"
        )
    };
    let process = r#"<process id="3" fmt="Orchard (7)"><pid id="4" fmt="7">7</pid></process>"#;
    let rows = row(5, 16_666_666, process) + &row(900_000_000, 33_333_334, r#"<process ref="3"/>"#);
    let hitches = (
        "hitches",
        "start:start-time duration:duration process:process label:string narrative-description:string",
        rows,
    );
    let export = written(&folder, &[hitches]);
    let text = run(&["hangs", &export]);
    assert!(text.starts_with("The input has no table of hangs, and no CPU samples of main threads\n"), "{text}");
    assert!(text.contains("2 hitches: frames were 50.00 ms late together"), "{text}");
    assert!(text.find("33.33 ms late at 0.900 s") < text.find("16.67 ms late at 0.000 s"), "{text}");
    let json = json(&["hangs", &export]);
    assert_eq!((json["is_recorded"].as_bool(), json["hitches"][1]["cause"].as_str()), (Some(false), Some("Expensive")));
}

#[test]
fn intervals_are_summed_by_name() {
    let folder = Folder::new();
    let export = written(&folder, &[samples(|index| index < 100), hangs(HANG), signposts()]);
    let rows = csv(&["intervals", &export, "--name", "Checkout"]);
    let expected = "os-signpost,Checkout,1,2,0,201000000,1000000,200000000,200000000,200000000,200000000,200000000,ns,100000000,100000000";
    assert_eq!(rows[1].join(","), expected);
    let text = stdout_of(&finish(traceparse(&["intervals", &export]).env("COLUMNS", "200")).code(0));
    let names: Vec<&str> = text.lines().map(|line| line.rsplit("  ").next().unwrap()).collect();
    assert_eq!(names, ["name", "Hang (potential-hangs)", "Checkout", "Later"]);
    let stderr = fails(1, &["intervals", &export, "--name", "Chekout"]);
    assert!(stderr.contains("no interval is named Chekout") && stderr.contains("Checkout"), "{stderr}");
}

#[test]
fn calls_of_a_hanging_thread_are_added_up() {
    let folder = Folder::new();
    let call = |start: u64, length: &str, name: &str, thread: &str| {
        format!(
            "<row><start-time>{start}</start-time>{length}<syscall fmt=\"{name}\">BSC_{name}</syscall>{thread}</row>\n"
        )
    };
    let (main, of) = (r#"<thread ref="1"/>"#, |nanos: u64| format!("<duration>{nanos}</duration>"));
    let other = r#"<thread fmt="x 0x9 (Orchard, pid: 7)"><tid fmt="0x9">9</tid><process ref="3"/></thread>"#;
    let rows = call(900_000_000, &of(150_000_000), "fsync", main)
        + &call(1_100_000_000, &of(1_000_000), "fsync", main)
        + &call(1_200_000_000, "<sentinel/>", "read", main)
        + &call(1_100_000_000, &of(90_000_000), "write", other);
    let calls = ("fs-syscall", "start:start-time duration:duration syscall:syscall thread:thread", rows);
    let export = written(&folder, &[samples(|index| index < 100), hangs(HANG), calls]);
    let text = run(&["hangs", &export]);
    assert!(
        text.contains("  200.00 ms in read (1 time, fs-syscall)\n  51.00 ms in fsync (2 times, fs-syscall)"),
        "{text}"
    );
    assert!(!text.contains("write"), "{text}");
    assert!(!text.contains("Busiest other thread"), "{text}");
    let waits = json(&["hangs", &export])["hangs"][0]["waits"].clone();
    assert_eq!((waits[1]["name"].as_str(), waits[1]["total_ns"].as_u64()), (Some("fsync"), Some(51_000_000)));
}

#[test]
fn rules_about_intervals_decide_the_exit_code() {
    let folder = Folder::new();
    let export = written(&folder, &[samples(|index| index < 100), signposts()]);
    let code = |rule: &str, code: i32| {
        let text = stdout_of(&finish(&mut traceparse(&["intervals", &export, "--alert", rule])).code(code));
        text.lines().last().unwrap().to_owned()
    };
    assert_eq!(
        code("interval(Checkout).max > 100ms", 3),
        "FIRED     interval(Checkout).max > 100ms: 200.00 ms, of 2 intervals"
    );
    assert!(code("interval(\"Checkout\").mean > 0.2s", 0).starts_with("ok        interval(\"Checkout\").mean"));
    assert!(code("interval(Checkout).p95 > 1s", 4).starts_with("undecided"));
    assert!(code("interval(Checkot).max > 1s", 4).ends_with("> 1s: of 0 intervals"));
    let stderr = fails(2, &["intervals", &export, "--alert", "interval(Checkout).p95 > 80"]);
    assert!(stderr.contains("is not a duration, such as 300ms"), "{stderr}");
    let stderr = fails(2, &["fleet", "report", &export, "--alert", "interval(Checkout).p95 > 80"]);
    assert!(stderr.contains("`traceparse fleet intervals` judges intervals"), "{stderr}");
}

#[test]
fn intervals_of_many_recordings_are_summed() {
    let folder = Folder::new();
    for (name, busy) in [("a.xml", 100), ("b.xml", 90)] {
        folder.file(name, document(&[samples(|index| index < busy), hangs(HANG), signposts()]));
    }
    folder.file("c.xml", document(&[samples(|index| index < 80)]));
    let fleet = folder.path(".");
    let found = json(&["fleet", "intervals", &fleet, "--alert", "interval(Checkout).median > 1s"]);
    let rows: Vec<_> = found["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["name"].as_str().unwrap(),
                row["runs"].as_u64(),
                row["count"].as_u64(),
                row["quantiles"]["p95"]["duration_ns"].as_u64(),
            )
        })
        .collect();
    let row = |name, count, p95| (name, Some(2), Some(count), Some(p95));
    assert_eq!(rows, [row("Hang", 2, 400_000_000), row("Checkout", 4, 200_000_000), row("Later", 2, 5_000_000)]);
    assert_eq!((found["runs"].as_u64(), found["alerts"][0]["state"].as_str()), (Some(3), Some("quiet")));
    assert!(found["intervals"][1]["longest"]["input"].as_str().unwrap().ends_with(".xml"));
}

#[test]
fn samples_are_separated_by_what_was_open() {
    let folder = Folder::new();
    let task = |start: u64, state: &str, id: u64| {
        format!(
            "<row><start-time>{start}</start-time><duration>50000000</duration><analysis-core-swift-task fmt=\"0x1 ({id})\">\
             <swift-task-id fmt=\"{id}\">{id}</swift-task-id><process ref=\"3\"/></analysis-core-swift-task>\
             <swift-task-state fmt=\"{state}\">{state}</swift-task-state><thread ref=\"1\"/></row>\n"
        )
    };
    let rows =
        task(1_000_000_000, "Running", 5) + &task(1_050_000_000, "Suspended", 5) + &task(1_100_000_000, "Running", 6);
    let columns =
        "start:start-time duration:duration task:analysis-core-swift-task state:swift-task-state thread:thread";
    let export = written(&folder, &[samples(|_| true), signposts(), ("SwiftTaskStateTable", columns, rows)]);
    let parts = |by: &str, list: &str, field: &str| -> Vec<(Option<String>, u64)> {
        let found = json(&[&export, "--separate-by", by, "--view", "tree"]);
        let part = |row: &serde_json::Value| (row[field].as_str().map(str::to_owned), row["samples"].as_u64().unwrap());
        found[list].as_array().unwrap().iter().map(part).collect()
    };
    let named = |name: &str, count| (Some(name.to_owned()), count);
    assert_eq!(parts("interval", "intervals", "interval"), [(None, 300), named("Checkout", 100)]);
    let tasks = [(None, 300), named("task 5 of Orchard (7)", 50), named("task 6 of Orchard (7)", 50)];
    assert_eq!(parts("task", "tasks", "task"), tasks);
    let text = stdout_of(&finish(traceparse(&["intervals", &export]).env("COLUMNS", "120")).code(0));
    assert!(text.contains("\n2 Swift tasks; at most 1 alive at the same time\n"), "{text}");
    let found = json(&["intervals", &export]);
    let of_task = |index: usize| {
        let task = &found["tasks"][index];
        (task["id"].as_u64(), task["states_ns"]["Running"].as_u64(), task["states_ns"]["Suspended"].as_u64())
    };
    assert_eq!(
        (of_task(0), of_task(1)),
        ((Some(5), Some(50_000_000), Some(50_000_000)), (Some(6), Some(50_000_000), None))
    );
    assert_eq!(
        csv(&[&export, "--separate-by", "task", "--view", "timeline", "--bin", "1s"])[2][11],
        "task 5 of Orchard (7)"
    );
    let bare = folder.file("bare.xml", document(&[samples(|_| true)]));
    let stderr = fails(1, &[&bare, "--separate-by", "interval"]);
    assert!(stderr.contains("no signpost interval of a thread in"), "{stderr}");
}

#[test]
fn what_has_neither_is_refused() {
    let folder = Folder::new();
    let export = written(&folder, &[("tick", "time:event-time", "<row><event-time>5</event-time></row>".to_owned())]);
    let stderr = fails(1, &["hangs", &export]);
    assert!(stderr.contains("no table with a start and a duration, and no CPU samples"), "{stderr}");
    let stderr = fails(2, &["intervals", "-"]);
    assert!(stderr.contains("standard input cannot be read twice"), "{stderr}");
    let stderr = fails(2, &["hangs", &export, "-o", "x.csv"]);
    assert!(stderr.contains("cannot write CSV here"), "{stderr}");
    let stderr = fails(2, &["intervals", &export, "--csv-safe"]);
    assert!(stderr.contains("--csv-safe only applies to --format csv"), "{stderr}");
}

#[test]
fn rows_of_a_table_become_trees() {
    let folder = Folder::new();
    let row = |start: u64, duration: &str, bytes: &str, leaf: &str| {
        let thread = if start == 0 { MAIN } else { r#"<thread ref="1"/>"# };
        format!(
            "<row><start-time>{start}</start-time>{duration}{thread}{bytes}<backtrace><frame name=\"{leaf}\" addr=\"0x3000\"/><frame \
             name=\"main\" addr=\"0x1000\"/></backtrace></row>\n"
        )
    };
    let duration = |nanos: u64| format!("<duration>{nanos}</duration>");
    let bytes = |count: u64| format!("<size-in-bytes>{count}</size-in-bytes>");
    let rows = row(0, &duration(5_000_000), &bytes(4096), "read")
        + &row(10, &duration(2_000_000), "<sentinel/>", "stat")
        + &row(20, &duration(1_000_000), &bytes(100), "read");
    let columns = "start:start-time duration:duration thread:thread bytes:size-in-bytes backtrace:backtrace";
    let export = written(&folder, &[("fs-syscall", columns, rows.clone())]);
    let weights = |options: &[&str]| -> Vec<String> {
        let args = [&[export.as_str(), "--table", "fs-syscall", "--view", "functions"], options].concat();
        let found = json(&args);
        let unit = found["series"][0]["unit"].as_str().unwrap().to_owned();
        let row =
            |row: &serde_json::Value| format!("{} {} {unit}", row["function"].as_str().unwrap(), row["self_weight"]);
        found["functions"].as_array().unwrap().iter().map(row).collect()
    };
    assert_eq!(weights(&[]), ["read 6000000 elapsed_ns", "stat 2000000 elapsed_ns", "main 0 elapsed_ns"]);
    assert_eq!(weights(&["--metric", "bytes"]), ["read 4196 bytes", "main 0 bytes", "stat 0 bytes"]);
    assert_eq!(weights(&["--metric", "count"]), ["read 2 samples", "stat 1 samples", "main 0 samples"]);
    let text = run(&[&export, "--table", "fs-syscall"]);
    assert!(text.contains("fs-syscall: 8.00 ms in 3 samples") && !text.contains("% of one core"), "{text}");
    // Without an end, there is no duration.
    let open = written(&folder, &[("fs-syscall", columns, rows + &row(30, "<sentinel/>", &bytes(1), "read"))]);
    let stderr = fails(1, &[&open, "--table", "fs-syscall", "--strict"]);
    assert!(stderr.contains("row of fs-syscall rejected: the row has no weight"), "{stderr}");
    for (args, message) in [
        (["--table", "fs-syscal"].as_slice(), "there is no table \"fs-syscal\". The tables are: fs-syscall"),
        (&["--table", "fs-syscall", "--metric", "counter:1"], "--metric counter does not apply to --table"),
        (&["--metric", "bytes"], "only apply to --table"),
    ] {
        let code = if message.starts_with("there is") { 1 } else { 2 };
        assert!(fails(code, &[&[export.as_str()], args].concat()).contains(message), "{args:?}");
    }
}

#[test]
fn the_thread_that_may_hold_a_lock_is_named() {
    let folder = Folder::new();
    let (schema, columns, mut rows) = samples(|_| false);
    for index in 0..300 {
        let thread = match index {
            0 => {
                r#"<thread id="90" fmt="Indexer 0x9 (Orchard, pid: 7)"><tid fmt="0x9">9</tid><process ref="3"/></thread>"#
            }
            _ => r#"<thread ref="90"/>"#,
        };
        rows.push_str(&format!(
            "<row><sample-time>{}</sample-time>{thread}<thread-state>Running</thread-state><weight>1000000</weight><backtrace><frame \
             name=\"rebuild\" addr=\"0x5000\"/></backtrace></row>\n",
            1_000_000_000 + index * 1_000_000
        ));
    }
    let export = written(&folder, &[(schema, columns, rows), hangs(HANG)]);
    let text = run(&["hangs", &export]);
    let expected = "  Busiest other thread, Indexer (0x9), 300.00 ms in 300 samples:\n    100.0%  rebuild\n";
    assert!(text.contains(expected), "{text}");
    let other = json(&["hangs", &export])["hangs"][0]["activity"]["busiest_other_thread"].clone();
    assert_eq!((other["tid"].as_u64(), other["weight"].as_u64()), (Some(9), Some(300_000_000)));
}

#[test]
fn a_cut_file_is_told_once() {
    let folder = Folder::new();
    let xml = document(&[hangs(HANG), samples(|_| true)]);
    let cut = folder.file("cut.xml", &xml[..xml.len() - 500]);
    for command in [&["hangs"][..], &["tables"], &["table", "time-profile"]] {
        let (_, stderr) =
            crate::command::warns(&[&command[..1], &[&cut], &command[1..], &["--allow-truncated"]].concat());
        let count =
            stderr.lines().filter(|line| line.contains("the file is truncated here; only complete rows")).count();
        assert_eq!(count, 1, "{command:?}: {stderr}");
    }
}
