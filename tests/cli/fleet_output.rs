//! The output of a fleet besides JSON: text, CSV, HTML, SQL; and the names that symbol files give.

use serde_json::Value;

use crate::command::{Folder, fails, finish, read_text, stdout_of};
use crate::fleet_case::{export_of_functions, fleet, report_with, run, says, write};
use crate::symbols_case::{Case, DRAW_NAMES, built};

#[test]
fn every_format_is_written() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 3);
    let text = |args: &[&str]| stdout_of(&run(&[&["report", &path], args].concat()).success().stderr(""));
    assert!(text(&[]).contains("work"));
    let csv = text(&["--format", "csv"]);
    let lines = csv.lines().filter(|line| line.contains(",work,")).count();
    assert_eq!(lines, 1, "{csv}");
    let page = folder.path("fleet.html");
    assert_eq!(text(&["--format", "html", "-o", &page]), "");
    assert!(read_text(&page).starts_with("<!") && read_text(&page).contains("<svg"));
    let said = fails(1, &["fleet", "report", &path, "-o", &folder.path("no/such/folder")]);
    assert!(said.contains("the folder does not exist"), "{said}");
}

/// The report begins with what was found, and the command that it gives opens a run.
#[test]
fn a_report_tells_how_to_open_the_heaviest_run() {
    let folder = Folder::new();
    let path = fleet(&folder, "it's a fleet", 3);
    let text = stdout_of(&run(&["report", &path, "--process", "Orchard"]).success());
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("• CPU use of a run is ")), "{text}");
    let command = text.lines().find_map(|line| line.strip_prefix("open one: traceparse ")).expect("a command");
    assert!(command.ends_with(" --process Orchard --view functions"), "{command}");
    let script = format!("{} {command}", env!("CARGO_BIN_EXE_traceparse"));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
    let (said, functions) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success() && functions.contains("work"), "{script}: {said}{functions}");
}

#[test]
fn the_name_of_the_output_tells_the_format() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 3);
    let written = |name: &str, args: &[&str]| {
        let output = folder.path(name);
        assert_eq!(says(0, &[&["report", &path, "-o", &output], args].concat()), "");
        read_text(&output)
    };
    assert!(written("a.HTML", &[]).starts_with("<!") && written("a.htm", &[]).starts_with("<!"));
    assert!(written("a.json", &[]).starts_with("{\"format\""));
    assert!(written("a.csv", &[]).lines().all(|line| line.contains(',')));
    let text = written("a.txt", &[]);
    assert_eq!(written("a", &[]), text);
    assert_eq!(written("b.html", &["--format", "text"]), text);
}

#[test]
fn alerts_are_told_where_the_report_is_not_on_the_screen() {
    let folder = Folder::new();
    let (path, page) = (fleet(&folder, "x", 3), folder.path("fleet.html"));
    let rules = ["--alert", "cpu.max > 9", "--alert", "cpu.p99 > 9", "--alert", "cpu.max > 90"];
    let said = says(3, &[&["report", &path, "-o", &page], &rules[..]].concat());
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].starts_with("alert FIRED cpu.max > 9 · all runs: 9.") && lines[0].contains(" in 3 runs"),
        "{said}"
    );
    assert!(
        lines[1].starts_with("alert UNDECIDED cpu.p99 > 9 · all runs: ") && lines[1].contains("needs 100"),
        "{said}"
    );
    assert_eq!(says(3, &[&["report", &path, "--format", "csv"], &rules[..]].concat()), said);
    assert_eq!(says(3, &[&["report", &path], &rules[..]].concat()), "", "the text says it");
}

#[test]
fn weights_that_nobody_gave_are_missed() {
    let folder = Folder::new();
    fleet(&folder, "x", 2);
    let manifest = write(&folder, "m.csv", "path,Weight\nx/00.xml,3\n");
    let said = says(0, &["report", &folder.path("x"), "--manifest", &manifest, "--weighted"]);
    assert!(said.contains("no run has a run_weight other than 1, so --weighted changes nothing"), "{said}");
    assert!(said.contains("a label `Weight`"), "{said}");
    let manifest = write(&folder, "m.csv", "path,run_weight\nx/00.xml,3\n");
    assert_eq!(says(0, &["report", &folder.path("x"), "--manifest", &manifest, "--weighted"]), "");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 2);
    for (args, words) in [
        (&["report", &path, "--percentiles", "0.95,0.5"][..], "did you mean 95,50?"),
        (&["report", &path, "--top", "abc"], "not a number of rows"),
        (&["report", &path, "--by", ""], "--by has an empty label"),
        (&["report", &path, "--by", "os,"], "--by has an empty label"),
        (&["report", "-"], "cannot be read from standard input"),
        (&["extract", "-", "-o", "ds"], "cannot be read from standard input"),
        (&["sql", &path, "--top", "3"], "--top"),
        (&["sql", &path, "--sort", "max"], "--sort"),
        (&["sql", &path, "--alert", "cpu.p99 > 3"], "--alert"),
    ] {
        let said = says(2, args);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    says(0, &["report", &path, "--percentiles", "0.95,50"]);
}

#[test]
fn text_has_fifteen_rows_if_nothing_else_is_said() {
    let folder = Folder::new();
    let path = write(&folder, "a.xml", export_of_functions(20));
    let count = |args: &[&str]| {
        let text = stdout_of(&run(&[&["report", &path, "--scope", "function"], args].concat()).success());
        text.lines().filter(|line| line.contains("job_") && !line.contains(['•', '·'])).count()
    };
    assert_eq!((count(&[]), count(&["--top", "0"]), count(&["--top", "3"])), (15, 20, 3));
}

#[test]
fn symbol_files_name_what_is_compared() {
    let case = Case::new();
    let manifest = case.folder.file("fleet.csv", "path,duration\nexport.xml,1\n");
    case.draw();
    let functions = |args: &[&str]| -> Vec<String> {
        let report: Value = {
            let options = ["--format", "json", "--scope", "function", "--measure", "all"];
            let args = [&["fleet", "report", &manifest], &options[..], args].concat();
            serde_json::from_str(&case.answer(&args)).expect("the report is JSON")
        };
        let rows = report["cohorts"][0]["tables"][0]["rows"].as_array().expect("rows").clone();
        let mut names: Vec<String> =
            rows.iter().map(|row| row["function"].as_str().expect("a name").to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(functions(&[]), ["(unnamed)"]);
    let mut names = DRAW_NAMES.map(str::to_owned).to_vec();
    names.sort();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    assert_eq!(functions(&["--dsym", &dsym]), names);
    // Other symbols are another measure of the same file.
    let dataset = case.folder.path("ds");
    let extract = |args: &[&str]| {
        let assert = finish(&mut case.command(&[&["fleet", "extract", &manifest, "-o", &dataset], args].concat()));
        String::from_utf8(assert.success().get_output().stderr.clone()).expect("UTF-8")
    };
    assert!(extract(&[]).ends_with("extracted 1 new, 0 changed, 0 unchanged, 0 failed\n"));
    assert!(extract(&["--dsym", &dsym]).ends_with("extracted 0 new, 1 changed, 0 unchanged, 0 failed\n"));
    assert!(extract(&["--dsym", &dsym]).ends_with("extracted 0 new, 0 changed, 1 unchanged, 0 failed\n"));
    assert!(
        extract(&["--dsym", &dsym, "--no-inlines"]).ends_with("extracted 0 new, 1 changed, 0 unchanged, 0 failed\n")
    );
}

#[test]
fn sql_asks_what_the_report_asked() {
    let folder = Folder::new();
    let (path, dataset, report) = (fleet(&folder, "x", 2), folder.path("ds"), folder.path("report.json"));
    let options = ["--by", "os_build,device", "--percentiles", "75,99.9", "--scope", "thread", "--measure", "all"];
    run(&["extract", &path, "-o", &dataset]).success();
    run(&[&["report", &dataset, "--format", "json", "-o", &report, "--top", "0"], &options[..]].concat()).success();
    let sql = |args: &[&str]| stdout_of(&run(&[&["sql"], args].concat()).success().stderr(""));
    let typed = sql(&[&[dataset.as_str()], &options[..]].concat());
    assert!(typed.contains("p99.9") && typed.contains(&dataset) && typed.contains("os_build"), "{typed}");
    assert_eq!(sql(&[&report, "--dataset", &dataset]), typed);
    assert_ne!(sql(&[&report, "--dataset", &dataset, "--engine", "spark"]), typed);
    // From wherever the statement is run.
    let indirect = folder.path("x/../ds");
    assert_eq!(sql(&[&[indirect.as_str()], &options[..]].concat()), typed);
    assert_eq!(sql(&[&report, "--dataset", &indirect]), typed);
    assert!(sql(&[&report, "--dataset", "/elsewhere/fleet"]).contains("/elsewhere/fleet/runs"));
    assert!(sql(&["hdfs://bucket/fleet", "--engine", "spark"]).contains("hdfs://bucket/fleet/runs"));
    for (args, words) in [
        (&["sql", &report][..], "--dataset"),
        (&["sql", &report, "--dataset", "ds", "--by", "os"], "cannot be used with"),
        (&["sql", &report, "--dataset", "ds", "--only-main-thread"], "cannot be used with"),
        (&["sql"], "<DIR|REPORT.json>"),
        (&["sql", "hdfs://bucket/fleet", "--thread", "/worker/"], "name them in full"),
    ] {
        let said = says(2, args);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    assert!(fails(1, &["fleet", "sql", &path]).contains("not a dataset"));
    assert!(fails(1, &["fleet", "sql", &folder.path("x/00.xml"), "--dataset", "hdfs://x"]).contains("not JSON"));
    assert!(fails(1, &["fleet", "sql", &report, "--dataset", &path]).contains("not a dataset"));
    // As the report on it does; a dataset that is elsewhere cannot be asked.
    for asked in [["--by", "nope"], ["--where", "nope=1"]] {
        let message = fails(1, &[&["fleet", "sql", &dataset], &asked[..]].concat());
        assert!(message.contains("no run has the label \"nope\"; known labels: ") && message.contains("os_build"));
    }
    assert!(sql(&["hdfs://bucket/fleet", "--by", "nope"]).contains("nope"));
    write(&folder, "ds/traceparse-dataset.json", r#"{"format":"traceparse-dataset","version":5}"#);
    assert!(fails(1, &["fleet", "sql", &dataset]).contains("has version 5"));
}

#[test]
fn buckets_have_nearest_ranks_only() {
    let folder = Folder::new();
    let path = fleet(&folder, "runs", 12);
    let error = says(2, &["report", &path, "--approximate", "--method", "linear"]);
    assert!(error.contains("--approximate percentiles are nearest ranks; leave out --method"), "{error}");
    let (_, report) = report_with(0, &[&path, "--approximate"]);
    assert_eq!(report["options"]["is_approximate"], true);
}
