//! The output that people see.

use crate::command::{
    Folder, VIEWS, all_exports, finish, fixture, lines_of_words, ok, orchard, read_text, stderr_of, stdout_of,
    traceparse,
};

#[test]
fn the_full_view_says_what_was_read_and_what_counts() {
    let text = ok(&[&orchard(), "--view", "full"]);
    let lines = lines_of_words(&text);
    for line in [
        orchard().as_str(),
        "time-profile run 1 485 rows, all of them samples",
        "time-profile run 1: 485.00 ms in 485 samples, from 00:00.312.400 to 00:00.571.400",
        "0.2% of it has no stack recorded: 1.00 ms in 1 sample",
        "12 of 105 frames have no name, 5 of them in no known binary; symbols of these would name the others:",
        "OrchardKit C2A4E1B7-5D90-3E6F-8B13-7F0A6D4C95E8 arm64 7 frames",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn the_full_view_lists_threads_by_weight() {
    let text = ok(&[&orchard(), "--view", "full"]);
    let lines = lines_of_words(&text);
    let header = lines.iter().position(|line| line == "ms % samples thread").expect("there is a table of threads");
    assert_eq!(
        lines[header + 1..header + 5],
        [
            "141.000 29.1% 141 press worker #2 (pool) (0x2a118) Orchard (4150)",
            "122.000 25.2% 122 Main Thread (0x2a101) Orchard (4150)",
            "119.000 24.5% 119 press worker #1 (pool) (0x2a117) Orchard (4150)",
            "103.000 21.2% 103 com.orchard.render (0x2a11f) Orchard (4150)",
        ]
    );
}

#[test]
fn the_full_view_shows_the_tree_of_each_thread() {
    let lines = lines_of_words(&ok(&[&orchard(), "--view", "full"]));
    let titles = lines.iter().filter(|line| line.ends_with("of the total")).count();
    assert_eq!(titles, 4, "one tree a thread");
    let has = |start: &str, end: &str| lines.iter().any(|line| line.starts_with(start) && line.ends_with(end));
    assert!(has("122.000 100.0% 25.2% 0.000", "start dyld"), "the root of the main thread");
    assert!(has("92.000 65.2% 19.0% 92.000", "filter(float*, unsigned long, float) Orchard"), "the heaviest leaf");
}

#[test]
fn functions_come_by_self_weight() {
    let text = ok(&[&orchard(), "--view", "functions", "--min-percent", "0"]);
    let lines = lines_of_words(&text);
    let heaviest = [
        "164.000 33.8% 258.000 53.2% 258 orchard::Press::filter(float*, unsigned long, float) Orchard",
        "69.000 14.2% 69.000 14.2% 69 fruit_copy_fast libfruit.dylib",
        "56.000 11.5% 73.000 15.1% 73 ok_blend_row_neon OrchardKit",
        "46.000 9.5% 46.000 9.5% 46 orchard::checksum(unsigned char const*, unsigned long) Orchard",
    ];
    assert_eq!(lines[2..6], heaviest);
    assert_eq!(lines.len(), 2 + 43 + 1, "title, header, 43 functions, and the samples without stack");
}

#[test]
fn text_of_the_other_views_names_what_they_show() {
    let view = |name: &str| ok(&[&orchard(), "--view", name]);
    let threads = lines_of_words(&view("threads"));
    assert_eq!(threads.len(), 2 + 4, "title, header, and four threads");
    assert_eq!(view("samples").lines().count(), 1 + 485, "header and one line a row");
    assert!(view("tree").contains("Main Thread (0x2a101) · Orchard (4150) · 122.00 ms · "));
    assert!(view("summary").contains("485 rows, all of them samples"));
    assert!(!view("summary").contains("thread_start"), "a summary has no functions");
}

#[test]
fn no_threads_merges_the_trees() {
    let lines = lines_of_words(&ok(&[&orchard(), "--no-threads", "--view", "tree"]));
    let has = |start: &str, end: &str| lines.iter().any(|line| line.starts_with(start) && line.ends_with(end));
    assert!(has("362.000 74.6% 74.6% 0.000", "thread_start libsystem_pthread.dylib"));
    assert!(has("122.000 25.2% 25.2% 0.000", "start dyld"));
}

#[test]
fn trees_may_be_of_threads_of_processes_or_of_all() {
    let path = fixture("26.4/time-profile");
    let titles = |separate_by: &str| {
        let lines = lines_of_words(&ok(&[&path, "--view", "tree", "--separate-by", separate_by]));
        lines.iter().filter(|line| line.ends_with("of the total")).cloned().collect::<Vec<_>>()
    };
    let processes = [
        "Orchard (4150) · 6.00 ms · 85.7% of the total",
        "Orchard Helper (Labels) (4162) · 1.00 ms · 14.3% of the total",
    ];
    assert_eq!(titles("process"), processes);
    assert_eq!(titles("none"), ["7.00 ms · 100.0% of the total"]);
    assert_eq!(titles("thread").len(), 4);
    for format in ["text", "json", "folded"] {
        let args = [&path, "--format", format];
        let merged = ok(&[&args[..], &["--separate-by", "none"]].concat());
        assert_eq!(ok(&[&args[..], &["--no-threads"]].concat()), merged, "{format}");
    }
}

#[test]
fn small_nodes_and_deep_levels_are_hidden_and_accounted_for() {
    let text = ok(&[&orchard(), "--no-threads", "--view", "tree", "--min-percent", "30"]);
    assert!(text.contains("thread_start") && !text.contains("dyld"), "{text}");
    assert!(lines_of_words(&text).contains(&"123.000 25.4% 25.4% … 2 more calls".to_owned()), "{text}");
    let text = ok(&[&orchard(), "--no-threads", "--view", "tree", "--depth", "1", "--min-percent", "0"]);
    assert!(text.contains("thread_start") && !text.contains("_pthread_start"), "{text}");
    assert_eq!(ok(&[&orchard(), "--min-percent", "5"]), ok(&[&orchard(), "--min-percent", "5%"]));
}

#[test]
fn several_tables_are_never_added_up() {
    let lines = lines_of_words(&ok(&[&fixture("27/several-tables"), "--view", "full"]));
    for line in [
        "fs-syscall run 1 2 rows, not a CPU table",
        "potential-hangs run 2 1 row, not a CPU table",
        "hang-risks run 2 0 rows, not a CPU table",
        "time-profile run 1: 3.00 ms in 3 samples, from 00:00.104.250 to 00:00.106.250",
        "time-profile run 2: 3.00 ms in 3 samples, from 00:00.104.250 to 00:00.106.250",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line:?} is not in {lines:#?}");
    }
}

/// Every fixture in every view and format: no complaint, and twice the same bytes.
#[test]
fn every_fixture_is_shown_in_every_view_and_format() {
    let mut shapes = vec![vec!["--view", "tree", "--format", "folded"]];
    for format in ["text", "json", "folded"] {
        shapes.extend(["thread", "process", "none"].map(|what| vec!["--format", format, "--separate-by", what]));
    }
    for view in VIEWS {
        shapes.extend(["text", "json", "csv"].map(|format| vec!["--view", view, "--format", format]));
    }
    let mut bad = Vec::new();
    for export in all_exports() {
        for shape in &shapes {
            let args = [&[export.as_str()], shape.as_slice()].concat();
            let outputs = [0, 1].map(|_| traceparse(&args).output().expect("the command starts"));
            let is_good = outputs[0].status.success() && outputs[0].stderr.is_empty() && !outputs[0].stdout.is_empty();
            if !is_good || outputs[0].stdout != outputs[1].stdout {
                let message = String::from_utf8_lossy(&outputs[0].stderr).trim().to_owned();
                bad.push(format!("{args:?}: {} {}", outputs[0].status, message.lines().next().unwrap_or_default()));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn nothing_counts_in_a_table_without_rows() {
    let folder = Folder::new();
    let text = read_text(&orchard());
    let (start, end) = (text.find("<row>").expect("a row"), text.rfind("</row>").expect("its end") + "</row>".len());
    let path = folder.file("no-rows.xml", format!("{}{}", &text[..start], &text[end..]));
    let assert = finish(&mut traceparse(&[&path])).success();
    assert!(stdout_of(&assert).contains("0 rows"));
    assert!(stderr_of(&assert).contains("note: the CPU tables have no rows"));
}

#[test]
fn keeps_weights_over_time_without_each_sample() {
    let folder = Folder::new();
    let rows: String = (1..=100_000)
        .map(|index| {
            format!(
                "<row><sample-time>{index}00000</sample-time><weight>1000000</weight><backtrace><frame name=\"work\" \
                 addr=\"0x1001\"/></backtrace></row>"
            )
        })
        .collect();
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let table = format!("<schema name=\"time-profile\">{columns}</schema>{rows}");
    let path = folder.file(
        "large.xml",
        format!(
            "<?xml version=\"1.0\"?><trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{table}\
             </node></trace-query-result>"
        ),
    );
    let of = |memory: &str, options: &[&str]| {
        let assert = finish(&mut traceparse(&[&[&*path, "--memory", memory], options].concat())).success();
        (stdout_of(&assert), stderr_of(&assert))
    };
    let (small, note) = of("4M", &[]);
    assert!(
        small.contains("100.00 s in 100000 samples") && small.contains("peak ") && note.is_empty(),
        "{small}{note}"
    );
    let answer = |text: &str| text.lines().filter(|line| !line.starts_with("traceparse ")).collect::<String>();
    assert_eq!(answer(&of("64M", &[]).0), answer(&small));
    let text = std::fs::read(&path).expect("it was written");
    let piped = finish(traceparse(&["-", "--memory", "4M"]).write_stdin(&*text)).success();
    assert!(stdout_of(&piped).contains("peak "), "{}", stdout_of(&piped));
    // Operations change the weights of samples, so each is kept, if there is room.
    let (small, note) = of("4M", &["--charge-system"]);
    assert!(note.contains("too large to keep each sample in memory") && !small.contains("peak "), "{small}{note}");
    assert!(of("64M", &["--charge-system"]).0.contains("peak "));
    // What is piped cannot be read again.
    let piped = finish(traceparse(&["-", "--memory", "4M", "--charge-system"]).write_stdin(text)).code(1);
    assert!(stderr_of(&piped).contains("--view full"), "{}", stderr_of(&piped));
}
