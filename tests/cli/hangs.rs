//! `traceparse hangs`, `traceparse intervals` and `--table`: their output, their inputs, and what they refuse. The numbers are compared with another
//! program in `tests/oracles/stretches.rs`.

use unicode_width::UnicodeWidthStr;

use crate::command::{Folder, csv, fails, finish, json, stderr_of, stdout_of, traceparse};

/// A thread with its process, as `xctrace` writes it at first use; later uses are refs to 1.
const MAIN: &str = r#"<thread id="1" fmt="Main Thread 0x51 (Orchard, pid: 7)"><tid id="2" fmt="0x51">81</tid><process id="3" fmt="Orchard (7)"><pid id="4" fmt="7">7</pid></process></thread>"#;

/// A document with these tables: schema, columns as `mnemonic:type`, and rows.
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

/// 400 samples of the main thread, one per millisecond from 1 s on. The thread was running during the first 100.
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

/// The first hang's verdict, and the bounds of its time on the CPU in whole percent.
fn verdict(export: &str) -> (String, Option<[u64; 2]>) {
    let found = json(&["hangs", export]);
    let activity = &found["hangs"][0]["activity"];
    let bound = |name: &str| activity[name].as_f64().map(|percent| percent.round() as u64);
    let bounds = bound("least_cpu_percent").zip(bound("most_cpu_percent")).map(|(least, most)| [least, most]);
    (activity["verdict"].as_str().unwrap().to_owned(), bounds)
}

#[test]
fn a_hang_is_told_with_its_evidence() {
    let folder = Folder::new();
    let export = written(&folder, &[samples(|index| index < 100), hangs(HANG), signposts()]);
    let text = run(&["hangs", &export]);
    for expected in [
        "1 hang of Orchard (7), 400.00 ms\n",
        "     at     length  type  it was ",
        "1.000 s  400.00 ms  Hang  partly busy, 20–30%  fsync\n",
        "At 1.000 s, Main Thread (0x51) of Orchard (7), 400.00 ms\n  Partly busy: on the CPU for 20 to 30% of it; otherwise it waits for I/O\n",
        "Open signposts: Checkout\n",
    ] {
        assert!(text.contains(expected), "{expected} is missing: {text}");
    }
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("100.0%")).collect();
    assert_eq!(lines.len(), 6, "two stacks of three functions: {text}");
    assert!(lines[2].contains("sort") && lines[5].contains("fsync"), "{text}");
    let busy = written(&folder, &[samples(|index| index < 360), hangs(HANG)]);
    assert_eq!(verdict(&busy), ("busy".to_owned(), Some([87, 93])));
    let waits = written(&folder, &[samples(|_| false), hangs(HANG)]);
    let text = run(&["hangs", &waits]);
    assert!(text.contains("  Waiting for I/O: it waits in 400 of its 400 samples\n"), "{text}");
    let (schema, columns, rows) = samples(|_| false);
    let queued = written(&folder, &[(schema, columns, rows.replace("Blocked", "Runnable")), hangs(HANG)]);
    assert!(run(&["hangs", &queued]).contains("Starved of a core: ready to run in 400 of its 400 samples"));
}

#[test]
fn nothing_is_said_of_time_without_samples() {
    let folder = Folder::new();
    let at = |start: u64, length: &str, thread: &str| {
        hangs(&format!("<row><start-time>{start}</start-time>{length}<hang-type>Hang</hang-type>{thread}</row>"))
    };
    let (main, length) = (r#"<thread ref="1"/>"#, "<duration>400000000</duration>");
    let cases = [
        (at(500_000_000, length, main), "no sample of its thread in the table time-profile is in that time"),
        (at(1_200_000_000, length, main), "samples cover 50% of that time"),
        (at(1_000_000_000, length, "<sentinel/>"), "no sample of the run is known to come from the main thread"),
    ];
    for (hang, reason) in cases {
        let export = written(&folder, &[samples(|index| index < 100), hang]);
        assert_eq!(verdict(&export), ("unknown".to_owned(), None), "{reason}");
        let text = run(&["hangs", &export]);
        assert!(text.contains(&format!("nknown: {reason}")) && !text.contains("% of it"), "{reason}: {text}");
    }
    // An open hang ends with the recording.
    let open = written(&folder, &[samples(|_| true), at(1_100_000_000, "<sentinel/>", main)]);
    let text = run(&["hangs", &open]);
    assert!(
        text.starts_with("1 hang of Orchard (7), at least 300.00 ms\n") && text.contains("≥ 300.00 ms  Hang  busy"),
        "{text}"
    );
}

/// The rows of `samples`, one every 20 ms.
fn slower((schema, columns, rows): (&'static str, &'static str, String)) -> (&'static str, &'static str, String) {
    let row = |(index, row): (u64, &str)| {
        let (time, slow) = (1_000_000_000 + index * 1_000_000, 1_000_000_000 + index * 20_000_000);
        row.replace(&time.to_string(), &slow.to_string()).replace("<weight>1000000<", "<weight>20000000<") + "\n"
    };
    (schema, columns, (0..).zip(rows.lines()).map(row).collect())
}

#[test]
fn samples_that_are_far_apart_leave_no_holes() {
    let folder = Folder::new();
    let hang = hangs(&HANG.replace("400000000", "4000000000"));
    let busy = written(&folder, &[slower(samples(|_| true)), hang.clone()]);
    assert_eq!(verdict(&busy), ("busy".to_owned(), Some([99, 100])));
    let (schema, columns, rows) = slower(samples(|_| true));
    // Every third sample is missing.
    let rows: String =
        rows.lines().enumerate().filter(|(row, _)| row % 3 != 1).map(|(_, row)| row.to_owned() + "\n").collect();
    let lost = written(&folder, &[(schema, columns, rows), hang]);
    assert_eq!(verdict(&lost).0, "unknown");
    assert!(run(&["hangs", &lost]).contains("nknown: samples cover 33% of that time"));
}

#[test]
fn an_interrupted_thread_runs_on_each_screen() {
    let folder = Folder::new();
    let (schema, columns, rows) = samples(|_| true);
    let export = written(&folder, &[(schema, columns, rows.replace("Running", "Interrupted")), hangs(HANG)]);
    assert_eq!(verdict(&export).0, "busy");
    let text = run(&[&export]);
    assert!(text.contains("100.0% of one core: 400.00 ms in 400 samples") && !text.contains("idle"), "{text}");
}

/// Even if no thread runs, and there are too few samples for a line of CPU use.
#[test]
fn a_first_screen_always_tells_of_hangs() {
    let folder = Folder::new();
    let waits = run(&[&written(&folder, &[samples(|_| false), hangs(HANG)])]);
    assert!(waits.contains("1 potential hang; the longest takes 400.00 ms from 1.00 s on"), "{waits}");
    let first = waits.lines().find(|line| line.starts_with("traceparse ")).expect("commands to try next");
    assert!(first.starts_with("traceparse hangs ") && first.contains("export.xml"), "{waits}");
    // A hang without an end lasts at least this long.
    let open = run(&[&written(
        &folder,
        &[samples(|_| true), hangs(&HANG.replace("<duration>400000000</duration>", "<sentinel/>"))],
    )]);
    assert!(open.contains("the longest takes at least 400.00 ms from 1.00 s on"), "{open}");
    let (schema, columns, rows) = samples(|_| true);
    let rows: String = rows.lines().step_by(80).map(|row| row.to_owned() + "\n").collect();
    let few = run(&[&written(
        &folder,
        &[(schema, columns, rows.replace("<weight>1000000<", "<weight>80000000<")), hangs(HANG)],
    )]);
    assert!(few.contains("1 potential hang; the longest takes 400.00 ms from 1.00 s on"), "{few}");
}

#[test]
fn a_hang_below_main_alone_is_that_of_the_system() {
    let folder = Folder::new();
    let (schema, columns, rows) = samples(|_| true);
    let binary = r#"<binary name="Orchard" path="/Applications/Orchard.app/Contents/MacOS/Orchard" UUID="11111111-2222-3333-4444-555555555555" arch="arm64" load-addr="0x0"/>"#;
    let rows = rows.replace(r#"<frame name="Store.save()" addr="0x2000"/>"#, "");
    let rows = rows.replace(
        r#"<frame name="main" addr="0x1000"/>"#,
        &format!(r#"<frame name="main" addr="0x1000">{binary}</frame>"#),
    );
    let text = run(&["hangs", &written(&folder, &[(schema, columns, rows), hangs(HANG)])]);
    assert!(text.contains("Hang  busy    sort\n"), "{text}");
}

/// A thread without samples may have run if nothing of its process was recorded.
#[test]
fn the_cpu_time_of_another_process_is_unknown() {
    let folder = Folder::new();
    let of = |process: &str| {
        let thread = format!(r#"<thread id="80" fmt="Main Thread 0x9"><tid fmt="0x9">9</tid>{process}</thread>"#);
        let row = format!(
            "<row><start-time>1100000000</start-time><duration>5000000</duration><string>Load</string>{thread}</row>"
        );
        let table = ("os-signpost-interval", "start:start-time duration:duration name:string start-thread:thread", row);
        json(&["intervals", &written(&folder, &[samples(|_| true), table])])["intervals"][0]["thread_cpu"].clone()
    };
    assert_eq!(of(r#"<process ref="3"/>"#)["weight"], 0);
    assert!(of(r#"<process fmt="Other (8)"><pid fmt="8">8</pid></process>"#).is_null());
}

#[test]
fn cycles_give_bounds() {
    let folder = Folder::new();
    // The main thread uses a million cycles every 2 ms, and the other thread uses as many every 0.25 ms.
    let row = |time: u64, thread: &str, core: u64| {
        format!(
            "<row><sample-time>{time}</sample-time>{thread}<core fmt=\"CPU {core} (P Core)\">{core}</core><cycle-weight>1000000</cycle-weight><backtrace><frame name=\"work\" addr=\"0x5000\"/></backtrace></row>\n"
        )
    };
    let worker =
        r#"<thread id="90" fmt="Worker 0x9 (Orchard, pid: 7)"><tid fmt="0x9">9</tid><process ref="3"/></thread>"#;
    let mut rows = row(1_000_000_000, MAIN, 0) + &row(1_000_000_000, worker, 1);
    (1..200).for_each(|index| rows += &row(1_000_000_000 + index * 2_000_000, r#"<thread ref="1"/>"#, 0));
    (1..1600).for_each(|index| rows += &row(1_000_000_000 + index * 250_000, r#"<thread ref="90"/>"#, 1));
    let columns = "time:sample-time thread:thread core:core weight:cycle-weight stack:backtrace";
    let export = written(&folder, &[("cpu-profile", columns, rows), hangs(HANG)]);
    let (word, bounds) = verdict(&export);
    assert_eq!(word, "unknown", "{bounds:?}");
    let text = run(&["hangs", &export]);
    assert!(
        text.contains("do not show whether it was busy") && text.contains("Busy meanwhile, Worker (0x9)"),
        "{text}"
    );
}

#[test]
fn intervals_of_several_processes_are_told() {
    let folder = Folder::new();
    let (schema, columns, rows) = signposts();
    let one = written(&folder, &[(schema, columns, rows.replacen("<thread ref=\"1\"/>", MAIN, 1))]);
    let note = "rows add up intervals of several processes; --process takes a name or a number: Orchard (7), Other (8)";
    assert!(!run(&["intervals", &one]).contains("several processes"));
    let other = MAIN.replace("Orchard", "Other").replace("id=\"", "id=\"1").replace('7', "8");
    let other =
        format!("<row><start-time>1600000000</start-time><duration>9</duration><string>Later</string>{other}</row>");
    let both = rows.replacen("<thread ref=\"1\"/>", MAIN, 1) + &other;
    let both = written(&folder, &[(schema, columns, both)]);
    assert!(run(&["intervals", &both]).replace("\n  ", " ").contains(note), "{}", run(&["intervals", &both]));
    let selected = run(&["intervals", &both, "--process", "Orchard"]);
    assert!(!selected.contains("several processes"), "{selected}");
    let none = run(&["intervals", &written(&folder, &[(schema, columns, String::new())])]);
    assert_eq!(none, "no intervals: no table here has a row with a start and a duration\n");
}

#[test]
fn stretches_without_a_pause_are_no_hangs() {
    let folder = Folder::new();
    let export = written(&folder, &[samples(|index| index != 70)]);
    let text = run(&["hangs", &export]).replace("\n  ", " ");
    assert!(
        text.starts_with("Hangs were not recorded. Once, samples show a main thread of Orchard (7) on the CPU"),
        "{text}"
    );
    assert!(text.contains("1.071 s  328.00 ms  busy"), "{text}");
    for is_running in [|index: u64| index % 8 < 4, |index: u64| index % 200 < 180] {
        let text = run(&["hangs", &written(&folder, &[samples(is_running)])]).replace("\n  ", " ");
        assert!(
            text.starts_with(
                "Hangs were not recorded, so it is unknown whether there was one: no samples show a known main thread"
            ),
            "{text}"
        );
    }
    let (schema, columns, rows) = samples(|_| true);
    let text = run(&["hangs", &written(&folder, &[(schema, columns, rows.replace("Main Thread", "Thread 1"))])])
        .replace("\n  ", " ");
    assert!(text.ends_with("there was one: no thread is known to be a main thread\n"), "{text}");
    let empty = written(&folder, &[samples(|_| true), hangs("")]);
    assert_eq!(run(&["hangs", &empty]), "No hang was recorded\n");
}

#[test]
fn hitches_are_those_of_one_process() {
    let folder = Folder::new();
    let row = |start: u64, length: u64, process: &str| {
        format!(
            "<row><start-time>{start}</start-time><duration>{length}</duration>{process}<string>0x1</string><string>Expensive</string></row>\n"
        )
    };
    let other = r#"<process id="30" fmt="Other (8)"><pid fmt="8">8</pid></process>"#;
    let own = r#"<process ref="3"/>"#;
    let rows = row(5, 16_666_666, own) + &row(900_000_000, 33_333_334, own) + &row(950_000_000, 500_000_000, other);
    let columns = "start:start-time duration:duration process:process label:string narrative-description:string";
    let export = written(&folder, &[samples(|index| index < 9), ("hitches", columns, rows.clone())]);
    let text = run(&["hangs", &export]);
    let first = text.find("1 hitch of Other (8): frames were 500.00 ms late together\n").unwrap();
    let second = text.find("2 hitches of Orchard (7): frames were 50.00 ms late together\n").unwrap();
    assert!(first < second && !text.contains("disturbing"), "{text}");
    assert!(text.contains("Animations were not recorded"), "{text}");
    let text = run(&["hangs", &export, "--process", "Orchard"]);
    assert!(
        !text.contains("Other") && text.find("33.33 ms late at 0.900 s") < text.find("16.67 ms late at 0.000 s"),
        "{text}"
    );
    let scroll = |length: u64| {
        let row = format!(
            "<row><start-time>800000000</start-time><duration>{length}</duration><string>Scroll</string><thread ref=\"1\"/></row>"
        );
        ("os-signpost-interval", "start:start-time duration:duration name:string start-thread:thread", row)
    };
    for (length, late) in [(2_000_000_000, Some(16.666_667)), (900_000_000, None)] {
        let export = written(&folder, &[samples(|_| true), ("hitches", columns, rows.clone()), scroll(length)]);
        let found = json(&["hangs", &export, "--process", "7"])["hitches"][0].clone();
        assert_eq!(found["late_ms_per_second"].as_f64(), late, "{found}");
        assert_eq!(
            (found["rows"][0]["cause"].as_str(), found["late_ns"].as_u64()),
            (Some("Expensive"), Some(50_000_000))
        );
        let text = run(&["hangs", &export]).replace("\n  ", " ");
        assert_eq!(text.contains("33.33 ms in 2.00 s of Scroll (disturbing: 10 or more"), late.is_some(), "{text}");
    }
}

#[test]
fn intervals_are_summed_by_name() {
    let folder = Folder::new();
    let export = written(&folder, &[samples(|index| index < 100), hangs(HANG), signposts()]);
    let rows = csv(&["intervals", &export, "--name", "Checkout"]);
    let expected = "os-signpost,Checkout,1,2,0,201000000,1000000,,,,,200000000,ns,100000000,100000000,101000000";
    assert_eq!(rows[1].join(","), expected);
    let text = stdout_of(&finish(traceparse(&["intervals", &export]).env("COLUMNS", "200")).code(0));
    let names: Vec<&str> = text.lines().map(|line| line.rsplit("  ").next().unwrap()).collect();
    let needed = "n/a: too few intervals; P50 needs 2, P90 needs 10, P95 needs 20, P99 needs 100, P99.9 needs 1,000";
    assert_eq!(names[..5], ["name", "potential-hangs", "Checkout", "Later", needed]);
    let cells = |line: usize| -> Vec<&str> {
        text.lines().nth(line).unwrap().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
    };
    assert_eq!(cells(0), ["count", "total", "P50", "max", "CPU of thread", "CPU of all", "name"]);
    let checkout = ["2", "201.00 ms", "1.00 ms", "200.00 ms", "≥ 100.00 ms", "≥ 100.00 ms", "Checkout"];
    assert_eq!(cells(2), checkout, "{text}");
    // After the last sample, nothing is known.
    assert_eq!(cells(3)[4..], ["–", "–", "Later"], "{text}");
    assert!(text.contains("≥: some intervals are partly outside the sampled time"), "{text}");
    let p50 = |row: usize| json(&["intervals", &export])["intervals"][row]["quantiles"]["p50"]["needed"].clone();
    assert_eq!((p50(0).as_u64(), p50(1).as_u64()), (Some(2), None));
    let stderr = fails(1, &["intervals", &export, "--name", "Chekout"]);
    assert!(stderr.contains("no interval is named Chekout") && stderr.contains("Checkout"), "{stderr}");
}

/// Rows of a table with a start, a duration and one more column, all at 1 ms and of this process.
fn rows_at_once(kind: &str, texts: &[&str]) -> String {
    let row = |text: &&str| {
        format!(
            "<row><start-time>1000000</start-time><duration>42</duration><{kind} fmt=\"{text}\">{text}</{kind}>\
             <process fmt=\"Orchard (7)\"><pid fmt=\"7\">7</pid></process></row>\n"
        )
    };
    texts.iter().map(row).collect()
}

#[test]
fn equal_rows_of_a_table_are_different_intervals() {
    let folder = Folder::new();
    let columns = "start:start-time duration:duration description:string process:process";
    let updates = || ("swiftui-updates", columns, rows_at_once("string", &["Text", "Text", "Image", "Text"]));
    let posts = || {
        let (schema, columns, rows) = signposts();
        (schema, columns, rows.replacen(r#"<thread ref="1"/>"#, MAIN, 1))
    };
    let export = written(&folder, &[updates(), posts()]);
    let rows = |args: &[&str]| -> Vec<String> {
        csv(&[&["intervals"], args].concat()).iter().skip(1).map(|row| row[..6].join(",")).collect()
    };
    let expected = [
        "os-signpost,Checkout,1,2,0,201000000",
        "os-signpost,Later,1,1,0,5000000",
        "swiftui-updates,Text,1,3,0,126",
        "swiftui-updates,Image,1,1,0,42",
    ];
    assert_eq!(rows(&[&export]), expected);
    // Four times 285 years exceed 64 bits.
    let long = rows_at_once("string", &["Text"; 4]).replace(">42<", ">9000000000000000000<");
    let long = written(&folder, &[("swiftui-updates", columns, long)]);
    assert_eq!(rows(&[&long]), ["swiftui-updates,Text,1,4,0,"]);
    assert!(json(&["intervals", &long])["intervals"][0]["total_ns"].is_null());
    let export = written(&folder, &[updates(), posts()]);
    // The same tables in another export of the recording, and the same signposts in a table of events.
    let event = |time: u64, kind: &str| {
        format!(
            "<row><event-time>{time}</event-time><event-type>{kind}</event-type><string>Later</string><thread ref=\"1\"/></row>\n"
        )
    };
    let events = event(1_400_000_000, "Begin") + &event(1_400_000_000, "Begin") + &event(1_405_000_000, "End");
    let columns = "time:event-time event-type:event-type name:string thread:thread";
    let again = folder.file("again.xml", document(&[updates(), posts(), ("os-signpost", columns, events)]));
    // Two intervals began at the same time. One of them has no end in any table.
    assert_eq!(rows(&[&export, &again])[1], "os-signpost,Later,1,1,1,5000000");
    let others = |rows: Vec<String>| [rows[0].clone(), rows[2].clone(), rows[3].clone()];
    assert_eq!(others(rows(&[&export, &again])), others(expected.map(str::to_owned).to_vec()));
}

/// A label that differs in every row is not a name, but it can be requested.
#[test]
fn labels_are_found_by_name_and_rule() {
    let folder = Folder::new();
    let labels: Vec<String> = (0..40).map(|index| format!("item-{}", index.max(1))).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let columns = "start:start-time duration:duration label:string process:process";
    let export = written(&folder, &[("other-intervals", columns, rows_at_once("string", &labels))]);
    let rows = |args: &[&str]| -> Vec<String> {
        csv(&[&["intervals", &export], args].concat()).iter().skip(1).map(|row| row[1..4].join(" ")).collect()
    };
    assert_eq!(rows(&[]), [" 1 40"]);
    assert_eq!(rows(&["--name", "item-1"]), ["item-1 1 2"]);
    let rule = |limit: &str| format!("interval(item-1).max > {limit}");
    finish(&mut traceparse(&["intervals", &export, "--alert", &rule("41ns")])).code(3);
    run(&["intervals", &export, "--alert", &rule("42ns")]);
    // The rule does not change the table.
    let found = json(&["intervals", &export, "--alert", &rule("1s")]);
    assert_eq!((found["intervals"][0]["count"].as_u64(), found["alerts"][0]["count"].as_u64()), (Some(40), Some(2)));
}

#[test]
fn intervals_are_named_by_what_they_are() {
    let folder = Folder::new();
    let names = |schema: &'static str, columns: &'static str, rows: String| -> Vec<String> {
        let export = written(&folder, &[(schema, columns, rows)]);
        csv(&["intervals", &export]).iter().skip(1).map(|row| format!("{} {}", row[3], row[1])).collect()
    };
    let of = |mnemonic: &str, kind: &'static str, texts: &[&str]| {
        let columns = format!("start:start-time duration:duration {mnemonic}:{kind} process:process");
        names("other-intervals", columns.leak(), rows_at_once(kind, texts))
    };
    assert_eq!(of("channel-name", "gpu-channel-name", &["Vertex", "Fragment"]), ["1 Fragment", "1 Vertex"]);
    assert_eq!(of("state", "thread-state", &["Blocked", "Running", "Blocked"]), ["2 Blocked", "1 Running"]);
    assert_eq!(of("performance", "gpu-performance-state", &["Minimum", "Maximum"]), ["1 Maximum", "1 Minimum"]);
    assert_eq!(of("operation", "vm-op", &["Zero Fill", "Zero Fill"]), ["2 Zero Fill"]);
    // Each image is loaded once.
    let images: Vec<String> = (0..20).map(|image| format!("/usr/lib/lib{image}.dylib")).collect();
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    assert_eq!(of("path", "file-path", &images).len(), 20);
    // Addresses and counters are not names, and neither are labels that differ in every row.
    assert_eq!(of("label", "string", &["0xbbdb0", "0xbc069", "17"]), ["3 "]);
    assert_eq!(of("description", "string", &images), ["20 "]);
    assert_eq!(of("label", "string", &["Save", "Load", "Save"]), ["2 Save", "1 Load"]);
    let columns = "start:start-time duration:duration state:gpu-state channel-name:gpu-channel-name process:process";
    let rows = rows_at_once("gpu-state", &["Active"])
        .replace("<process", "<gpu-channel-name>Compute</gpu-channel-name><process");
    assert_eq!(names("metal-gpu-intervals", columns, rows), ["1 Compute"]);
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
        "FIRED      interval(Checkout).max > 100ms: max is 200.00 ms in 2 intervals; limit 100.00 ms"
    );
    assert!(code("interval(\"Checkout\").mean > 0.2s", 0).starts_with("quiet      interval(\"Checkout\").mean"));
    assert!(code("interval(Checkout).p95 > 1s", 4).starts_with("UNDECIDED"));
    assert!(code("interval(Checkot).max > 1s", 4).ends_with("> 1s: no intervals to take max of"));
    let stderr = fails(2, &["intervals", &export, "--alert", "interval(Checkout).p95 > 80"]);
    assert!(stderr.contains("is not a duration, such as 300ms"), "{stderr}");
    let stderr = fails(2, &["fleet", "report", &export, "--alert", "interval(Checkout).p95 > 80"]);
    assert!(stderr.contains("about intervals, which `traceparse intervals` judges"), "{stderr}");
}

#[test]
fn intervals_of_many_recordings_are_summed() {
    let folder = Folder::new();
    for (name, busy) in [("a.xml", 100), ("b.xml", 90)] {
        folder.file(name, document(&[samples(|index| index < busy), hangs(HANG), signposts()]));
    }
    folder.file("c.xml", document(&[samples(|index| index < 80)]));
    let fleet = folder.path(".");
    // The third export has no table of intervals.
    let asked = ["fleet", "intervals", &fleet, "--format", "json", "--alert", "interval(Checkout).median > 1s"];
    let found: serde_json::Value = serde_json::from_str(&stdout_of(&finish(&mut traceparse(&asked)).code(4))).unwrap();
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
    assert_eq!((found["runs"].as_u64(), found["alerts"][0]["state"].as_str()), (Some(2), Some("undecided")));
    assert!(found["intervals"][1]["longest"]["input"].as_str().unwrap().ends_with(".xml"));
}

#[test]
fn a_run_without_the_table_of_a_rule_is_not_measured() {
    let folder = Folder::new();
    for (name, busy) in [("a.xml", 100), ("b.xml", 90)] {
        folder.file(name, document(&[samples(|index| index < busy), hangs(HANG), signposts()]));
    }
    folder.file("c.xml", document(&[samples(|index| index < 80), hangs(HANG)]));
    let fleet = folder.path(".");
    for (rule, code) in [("interval(Checkout).max > 1s", 4), ("interval(Hang).max > 1s", 0)] {
        let asked = ["fleet", "intervals", &fleet, "--alert", rule];
        let text = stdout_of(&finish(&mut traceparse(&asked)).code(code));
        assert_eq!(text.contains("1 of 3 inputs could not be measured"), code == 4, "{text}");
        finish(&mut traceparse(&[&asked[..], &["--allow-incomplete"]].concat())).code(0);
    }
}

#[test]
fn intervals_of_fleets_need_no_cpu_table() {
    let folder = Folder::new();
    let hang = HANG.replace(r#"<thread ref="1"/>"#, MAIN);
    folder.file("a.xml", document(&[hangs(&hang), signposts()]));
    folder.file("b.xml", document(&[samples(|_| true)]));
    folder.file("c.xml", document(&[("tick", "time:event-time", "<row><event-time>5</event-time></row>".to_owned())]));
    let assert = finish(&mut traceparse(&["fleet", "intervals", &folder.path("."), "--format", "csv"])).code(0);
    assert_eq!(
        stdout_of(&assert)
            .lines()
            .map(|line| line.split(',').take(5).collect::<Vec<_>>().join(","))
            .collect::<Vec<_>>(),
        [
            "table,name,runs,count,open",
            "potential-hangs,Hang,1,1,0",
            "os-signpost,Checkout,1,2,0",
            "os-signpost,Later,1,1,0"
        ]
    );
    let stderr = stderr_of(&assert);
    assert!(stderr.contains("1 file produced no run (1 no-samples), 2 runs did"), "{stderr}");
    assert!(stderr.contains("1 of 2 runs has no table of signposts or hangs; if they were not exported"), "{stderr}");
    let asked = ["fleet", "intervals", &folder.path("a.xml"), &folder.path("b.xml"), "--format", "json"];
    let found: serde_json::Value = serde_json::from_str(&stdout_of(&finish(&mut traceparse(&asked)).code(0))).unwrap();
    assert_eq!((found["runs"].as_u64(), found["unmeasured"].as_u64()), (Some(1), Some(1)));
    let only = folder.path("a.xml");
    let alert = ["fleet", "intervals", &only, "--alert", "interval(Checkout).max > 100ms"];
    let judged = stdout_of(&finish(&mut traceparse(&alert)).code(3));
    assert!(judged.contains("\nmeasured in 1 run\n"), "{judged}");
    let assert = finish(&mut traceparse(&["fleet", "intervals", &folder.path("b.xml")])).code(0);
    let stderr = stderr_of(&assert);
    assert!(stderr.contains("1 of 1 run has no table of signposts or hangs; if they were not exported"), "{stderr}");
    let stderr = fails(1, &["fleet", "intervals", &folder.path("c.xml")]);
    assert!(stderr.contains("It has no table of signposts or hangs either."), "{stderr}");
}

#[test]
fn an_export_without_samples_has_other_commands() {
    let folder = Folder::new();
    let hang = HANG.replace(r#"<thread ref="1"/>"#, MAIN);
    let call = "<row><start-time>1</start-time><duration>2</duration><backtrace><frame name=\"a\" addr=\"0x1\"/></backtrace></row>\n";
    let calls = ("fs-syscall", "start:start-time duration:duration backtrace:backtrace", call.to_owned());
    let export = written(&folder, &[hangs(&hang), calls]);
    let stderr = fails(1, &[&export]);
    let expected = "; or see what is here: `traceparse intervals FILE`, `traceparse hangs FILE`, `traceparse table FILE potential-hangs`, \
                    `traceparse FILE --table fs-syscall`";
    assert!(stderr.contains("no CPU table here, only: potential-hangs") && stderr.contains(expected), "{stderr}");
    let ticks = ("tick", "time:event-time", "<row><event-time>5</event-time></row>".to_owned());
    let stderr = fails(1, &[&written(&folder, &[ticks])]);
    assert!(stderr.trim_end().ends_with("; or see what is here: `traceparse table FILE tick`"), "{stderr}");
}

#[test]
fn unions_and_gaps_are_of_one_process_if_asked() {
    let folder = Folder::new();
    let row = |start: u64, length: Option<u64>, process: &str| {
        let length = length.map_or("<sentinel/>".to_owned(), |length| format!("<duration>{length}</duration>"));
        format!(
            "<row><start-time>{start}</start-time>{length}<gpu-channel-name>Vertex</gpu-channel-name>{process}</row>\n"
        )
    };
    let process =
        |name: &str, pid: u64| format!("<process fmt=\"{name} ({pid})\"><pid fmt=\"{pid}\">{pid}</pid></process>");
    let (orchard, helper) = (process("Orchard", 7), process("Orchard Helper", 8));
    let rows = row(100, Some(50), &orchard)
        + &row(120, Some(50), &orchard)
        + &row(180, Some(0), &orchard)
        + &row(200, Some(10), &orchard)
        + &row(300, Some(5), &orchard)
        + &row(150, Some(300), &helper)
        + &row(400, Some(1), "<sentinel/>");
    let columns = "start:start-time duration:duration channel-name:gpu-channel-name process:process";
    let export = written(&folder, &[("metal-gpu-intervals", columns, rows.clone())]);
    let unions = |args: &[&str]| -> String {
        let assert = finish(&mut traceparse(&[&["intervals", "--union", "--format", "csv"], args].concat())).code(0);
        let text = stdout_of(&assert);
        let cells: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
        [&cells[3..6], &cells[12..16]].concat().join(" ") + " " + stderr_of(&assert).trim_end()
    };
    // At least one interval is open from 100 to 450.
    assert_eq!(unions(&[&export]), "7 0 416 350 0 0  ");
    let left_out = "note: 1 interval without a process left out";
    assert_eq!(unions(&[&export, "--process", "Orchard"]), format!("5 0 115 85 2 120 90 {left_out}"));
    assert_eq!(unions(&[&export, "--process", "8"]), format!("1 0 300 300 0 0  {left_out}"));
    let partly = unions(&[&export, "--process", "helper"]);
    assert!(partly.starts_with("1 0 300 300 0 0") && partly.contains("Orchard Helper (8)"), "{partly}");
    let stderr = fails(1, &["intervals", &export, "--process", "Pear"]);
    assert!(stderr.contains("--process 'Pear' matches no process"), "{stderr}");
    // The end of the recording is unknown.
    let open = written(&folder, &[("metal-gpu-intervals", columns, rows.clone() + &row(320, None, &orchard))]);
    let of_open = unions(&[&open, "--process", "7"]);
    assert!(of_open.starts_with("5 1 115  3 135 90"), "{of_open}");
    let toc = "<trace-toc><run number=\"1\"><info><summary><duration>0.000001</duration></summary></info><data/></run></trace-toc>";
    let toc = folder.file("toc.xml", format!("<?xml version=\"1.0\"?>\n{toc}\n"));
    let of_open = unions(&[&open, &toc, "--process", "7"]);
    assert!(of_open.starts_with("5 1 115 765 3 135 90"), "{of_open}");
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
    assert!(text.contains("total     8.00 ms in 3 rows\n") && !text.contains("% of one core"), "{text}");
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
    let indexer = |busy: std::ops::Range<u64>| {
        let mut rows = String::new();
        for index in 0..500 {
            let thread = match index {
                0 => {
                    r#"<thread id="90" fmt="Indexer 0x9 (Orchard, pid: 7)"><tid fmt="0x9">9</tid><process ref="3"/></thread>"#
                }
                _ => r#"<thread ref="90"/>"#,
            };
            let (state, leaf) =
                if busy.contains(&index) { ("Running", "rebuild") } else { ("Blocked", "__workq_kernreturn") };
            rows.push_str(&format!(
                "<row><sample-time>{}</sample-time>{thread}<thread-state>{state}</thread-state><weight>1000000</weight><backtrace><frame name=\"{leaf}\" addr=\"0x5000\"/></backtrace></row>\n",
                950_000_000 + index * 1_000_000
            ));
        }
        rows
    };
    let found = |busy| {
        let (schema, columns, rows) = samples(|_| false);
        let rows = rows.replace("fsync", "__psynch_mutexwait") + &indexer(busy);
        let export = written(&folder, &[(schema, columns, rows), hangs(HANG)]);
        (run(&["hangs", &export]).replace("\n    ", " "), json(&["hangs", &export])["hangs"][0]["activity"].clone())
    };
    let (text, activity) = found(40..450);
    assert!(text.contains("Waiting for a lock: it waits in 400 of its 400 samples"), "{text}");
    assert!(
        text.contains(
            "Indexer (0x9) may hold it: it worked during the wait, and it is the only thread with a function"
        ),
        "{text}"
    );
    assert_eq!(activity["holder"]["tid"].as_u64(), Some(9));
    // The thread continues to work after the wait, so the end of its work did not end the wait.
    let (text, activity) = found(40..500);
    assert!(
        text.contains("Which thread holds it is unknown") && text.contains("Busy meanwhile, Indexer (0x9)"),
        "{text}"
    );
    assert!(activity["holder"].is_null());
}

#[test]
fn reports_of_hangs_are_answered() {
    let folder = Folder::new();
    let report = |own: &str, version: &str| {
        let thread = |tid: u64, name: &str, leaf: &str| {
            format!(
                "\n  Thread 0x{tid:x}    {name}    50 samples (1-50)    priority 46 (base 46)\n  50  start + 10 (dyld + 100) [0x200000064]\n{leaf}"
            )
        };
        let frames =
            |method: &str, leaf: &str| format!("    50  {method} + 8 (App + 8192) [0x100002000]\n      50  {leaf}\n");
        let wait = "__psynch_cvwait + 8 (libsystem_kernel.dylib + 500) [0x3000001f4]";
        let run = if version == "35.1" { " (running)" } else { "" };
        folder.file(
            "app.spin",
            format!(
                "Date/Time:        2025-12-17 19:00:41.615 -0500\nOS Version:       macOS 14.5 (Build 23F79)\nReport Version:   {version}\n\n\
                 Data Source:      Stackshots\n\nCommand:          App\nPath:             /Applications/App.app/Contents/MacOS/App\nPID:              100\n\n\
                 Event:            hang\nDuration:         5.00s\nSteps:            50 (100ms sampling interval)\n\n\
                 Process:          App [100]\nUUID:             11111111-2222-3333-4444-555555555555\nPath:             /Applications/App.app/Contents/MacOS/App\nNum samples:      150 (1-50)\n\
                 {}{}{}\n  Binary Images:\n    0x100000000 - 0x1000fffff  App (1)  <11111111-2222-3333-4444-555555555555>  /Applications/App.app/Contents/MacOS/App\n\
                 \x20   0x200000000 - 0x2000fffff  dyld (1)  <21111111-2222-3333-4444-555555555555>  /usr/lib/dyld\n\
                 \x20   0x300000000 - 0x3000fffff  libsystem_kernel.dylib (1)  <31111111-2222-3333-4444-555555555555>  /usr/lib/system/libsystem_kernel.dylib\n",
                thread(1, "DispatchQueue \"com.apple.main-thread\"(1)", &frames("Store.save()", own)),
                thread(2, "Thread name \"saver\"", &frames("Store.flush()", &format!("compress + 4 (App + 16384) [0x100004000]{run}"))),
                thread(3, "Thread name \"pool\"", &frames("Pool.run()", wait)),
            ),
        )
    };
    for version in ["35.1", "18"] {
        let waits = report("__psynch_mutexwait + 8 (libsystem_kernel.dylib + 300) [0x30000012c]", version);
        let text = run(&["hangs", &waits]).replace("\n    ", " ");
        for expected in [
            "1 hang of App (100), 5.00 s\n",
            "5.00 s  waiting for a lock  Store.save()  App\n",
            "Waiting for a lock: it waits in 50 of its 50 samples\n",
            "saver (0x2) may hold it: of all threads, only it does not wait, and its stacks have methods of the same type\n",
            "Did not wait meanwhile, saver (0x2):",
        ] {
            assert!(text.contains(expected), "{version}: {expected} is missing: {text}");
        }
        assert!(!text.contains("Pool.run()"), "{text}");
    }
    let runs = report("parse + 8 (App + 9000) [0x100002328] (running)", "35.1");
    assert!(run(&["hangs", &runs]).contains("  Busy: running in 50 of its 50 samples\n"));
    let code = report("parse + 8 (App + 9000) [0x100002328]", "18");
    assert!(
        run(&["hangs", &code])
            .contains("  Running or ready to run: in code that does not wait in 50 of its 50 samples\n")
    );
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
