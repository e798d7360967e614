//! Many exports, some of them broken.

use crate::command::{Folder, fails, fixture, read_text, stdout_of};
use crate::fleet_case::{export, failures, fleet, reason, report, report_with, run, says, sources, write};

/// Six exports, and one of each kind of file that is none.
fn damaged(folder: &Folder) -> String {
    let path = fleet(folder, "x", 6);
    let whole = export(40);
    write(folder, "x/cut.xml", &whole[..whole.len() / 2]);
    write(folder, "x/empty-1.xml", "");
    write(folder, "x/empty-2.xml", "");
    write(folder, "x/copy.xml", export(12));
    write(folder, "x/page.xml", "<html><body>Sign in</body></html>");
    write(folder, "x/broken.xml", whole.replacen("</row>", "</wor>", 3));
    write(folder, "x/hangs.xml", whole.replace("time-profile", "potential-hangs"));
    path
}

const DAMAGED: [(&str, &str); 8] = [
    ("broken.xml", "malformed"),
    ("copy.xml", "duplicate"),
    ("cut.xml", "truncated"),
    ("empty-1.xml", "empty"),
    ("empty-2.xml", "empty"),
    ("gone.xml", "unreadable"),
    ("hangs.xml", "no-samples"),
    ("page.xml", "not-an-export"),
];

#[test]
fn a_broken_file_costs_itself_and_nothing_else() {
    let folder = Folder::new();
    let path = damaged(&folder);
    let args = [path.as_str(), &folder.path("x/gone.xml")];
    let (said, answer) = report_with(0, &args);
    let expected = DAMAGED.map(|(name, kind)| (name.to_owned(), kind.to_owned()));
    assert_eq!(failures(&answer), expected);
    assert_eq!(sources(&answer), ["00.xml", "01.xml", "02.xml", "03.xml", "04.xml", "05.xml"]);
    assert_eq!(answer["inputs"]["runs"], 6);
    assert!(said.contains("8 files gave no run (1 unreadable, 2 empty"), "{said}");
    for (name, words) in [
        ("broken.xml", "line "),
        ("copy.xml", "same content as"),
        ("cut.xml", "--allow-truncated"),
        ("empty-1.xml", "empty"),
        ("gone.xml", "cannot be read"),
        ("page.xml", "web page"),
    ] {
        assert!(reason(&answer, name).contains(words), "{name}: {}", reason(&answer, name));
        // A reason stands beside its file.
        assert!(!reason(&answer, name).contains(name), "{name}: {}", reason(&answer, name));
    }
    assert!(reason(&answer, "copy.xml").contains("01.xml"), "{}", reason(&answer, "copy.xml"));
    // Whichever worker is faster.
    for jobs in ["1", "2", "7"] {
        assert_eq!(report_with(0, &[&args[..], &["--jobs", jobs]].concat()).1, answer, "{jobs}");
    }
    let (_, cut) = report_with(0, &[&args[..], &["--allow-truncated"]].concat());
    assert!(sources(&cut).contains(&"cut.xml".to_owned()));
}

#[test]
fn of_equal_files_the_first_by_path_counts() {
    let folder = Folder::new();
    // The first is the last that could be read: it has more to be decompressed, and is as long.
    for name in ["a", "b", "c", "d", "e"] {
        write(&folder, &format!("x/{name}.xml"), export(300));
    }
    for _ in 0..5 {
        let (_, answer) = report_with(0, &[&folder.path("x"), "--jobs", "5"]);
        assert_eq!(sources(&answer), ["a.xml"]);
        let reasons = ["b.xml", "c.xml", "d.xml", "e.xml"].map(|name| reason(&answer, name));
        assert!(reasons.iter().all(|reason| reason.contains("/a.xml, which counts")), "{reasons:?}");
    }
}

#[test]
fn strict_names_the_first_file_that_is_not_whole() {
    let folder = Folder::new();
    let path = damaged(&folder);
    for jobs in ["1", "4"] {
        let said = fails(1, &["fleet", "report", &path, "--strict", "--jobs", jobs]);
        assert!(said.contains("broken.xml") && said.contains("--strict"), "{said}");
    }
    let whole = fleet(&folder, "y", 3);
    report(&[&whole, "--strict"]);
    // A row that is no sample.
    let text = export(20);
    let edited = text.replacen(">20000000</sample-time>", ">late</sample-time>", 1);
    assert_ne!(text, edited);
    write(&folder, "y/row.xml", edited);
    let (_, answer) = report_with(0, &[&whole]);
    assert_eq!(answer["inputs"]["rejected_rows"], 1);
    let said = fails(1, &["fleet", "report", &whole, "--strict"]);
    assert!(said.contains("row.xml") && said.contains("could not be read"), "{said}");
    // Also where it was read before.
    let dataset = folder.path("dataset");
    assert!(says(0, &["extract", &whole, "-o", &dataset]).contains("4 new"));
    let said = fails(1, &["fleet", "extract", &whole, "-o", &dataset, "--strict"]);
    assert!(said.contains("row.xml") && said.contains("could not be read"), "{said}");
}

#[test]
fn nothing_that_can_be_read_is_an_error() {
    let folder = Folder::new();
    write(&folder, "x/empty.xml", "");
    write(&folder, "x/page.xml", "<html/>");
    let said = fails(1, &["fleet", "report", &folder.path("x")]);
    assert!(
        said.contains("none of the 2 files") && said.contains("empty.xml: ") && said.contains("page.xml: "),
        "{said}"
    );
    write(&folder, "y/notes.txt", "");
    let said = fails(1, &["fleet", "report", &folder.path("y")]);
    assert!(said.contains("no exports"), "{said}");
    // One sample of 1 ms took 1 ms; one that only says how many cycles took a moment.
    let path = write(&folder, "one.xml", export(1));
    let report = report(&[&path]);
    assert_eq!((&report["runs"][0]["wall_ns"], &report["runs"][0]["value"]), (&1_000_000.into(), &100.0.into()));
    let cycles = read_text(&fixture("27/cpu-profile"));
    let first_row = cycles.find("</row>").expect("a row") + "</row>".len();
    let path = write(&folder, "cycles.xml", format!("{}</node></trace-query-result>", &cycles[..first_row]));
    let said = fails(1, &["fleet", "report", &path]);
    assert!(said.contains("no run has a recorded time") && said.contains("duration"), "{said}");
}

#[test]
fn alerts_decide_the_exit_code() {
    let folder = Folder::new();
    // 10 % each: one sample of 1 ms every 10 ms.
    let path = fleet(&folder, "x", 6);
    let code = |rules: &[&str]| {
        let rules: Vec<&str> = rules.iter().flat_map(|rule| ["--alert", rule]).collect();
        let assert = run(&[&["report", &path, "--format", "json"], &rules[..]].concat());
        let report: serde_json::Value = serde_json::from_str(&stdout_of(&assert)).expect("the report comes anyway");
        let states = report["alerts"].as_array().expect("alerts").iter().map(|alert| alert["state"].clone());
        (assert.get_output().status.code(), states.collect::<Vec<_>>())
    };
    assert_eq!(code(&[]), (Some(0), vec![]));
    assert_eq!(code(&["cpu.max > 50"]), (Some(0), vec!["quiet".into()]));
    assert_eq!(code(&["cpu.max > 1"]), (Some(3), vec!["fired".into()]));
    assert_eq!(code(&["cpu.p99.9 > 50"]), (Some(4), vec!["undecided".into()]));
    assert_eq!(code(&["function(*).self.max > 1"]), (Some(3), vec!["fired".into()]));
    assert_eq!(code(&["function(*).self.max > 50", "binary(*).all.mean > 50"]).0, Some(0));
    assert_eq!(code(&["function(*).self.p99 > 50"]), (Some(4), vec!["undecided".into()]));
    assert_eq!(code(&["cpu.p99.9 > 50", "cpu.mean > 1"]), (Some(3), vec!["undecided".into(), "fired".into()]));
    assert_eq!(code(&["cpu.p50 > 50", "cpu.p99.9 > 50"]), (Some(4), vec!["quiet".into(), "undecided".into()]));
    // The reader of the report went away; the alert stays.
    let pipe =
        format!("{} fleet report {path} --alert 'cpu.max > 1' | true; exit ${{PIPESTATUS[0]}}", crate::command::BINARY);
    let status = std::process::Command::new("bash").args(["-c", &pipe]).status().expect("bash is there");
    assert_eq!(status.code(), Some(3));
}

#[test]
fn arguments_that_do_not_go_together() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 2);
    for (args, words) in [
        (&["report"][..], "<INPUT>"),
        (&["extract", &path], "--output"),
        (&["report", &path, "--alert", "cpu > 5"], "cpu > 5"),
        (&["report", &path, "--alert", "function(\"\").self.p99 > 5"], "is not a name in double quotes"),
        (&["report", &path, "--alert", "total > 5%"], "`traceparse diff` has growth between two recordings"),
        (&["report", &path, "--percentiles", "50,101"], "101"),
        (&["report", &path, "--sort", "size"], "weighted-mean"),
        (&["report", &path, "--scope", "core"], "binary"),
        (&["report", &path, "--jobs", "0"], "--jobs"),
        (&["report", &path, "--weighted", "--method", "linear"], "cannot be interpolated"),
    ] {
        let said = says(2, args);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    let help = says(2, &[]);
    assert!(help.contains("report") && help.contains("extract") && help.contains("Examples:"), "{help}");
}

#[test]
fn options_shape_the_answer() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 4);
    let answer =
        report(&[&path, "--percentiles", "99.9,50,50", "--scope", "function,run", "--top", "1", "--sort", "max"]);
    let options = &answer["options"];
    assert_eq!(options["quantiles"], serde_json::json!(["p50", "p99.9"]));
    assert_eq!(options["scopes"], serde_json::json!(["run", "function"]));
    assert_eq!((&options["sort"], &options["top"]), (&"max".into(), &1.into()));
    let tables = answer["cohorts"][0]["tables"].as_array().expect("tables");
    assert_eq!(
        (tables.len(), tables[0]["rows"].as_array().map(Vec::len), &tables[0]["hidden"]),
        (1, Some(1), &1.into())
    );
    assert_eq!(tables[0]["rows"][0]["function"], "work");
    let all = report(&[&path, "--top", "0", "--process", "Orchard", "--measure", "all", "--method", "linear"]);
    assert_eq!(all["options"]["top"], serde_json::Value::Null);
    assert_eq!((&all["options"]["measure"], &all["options"]["method"]), (&"all".into(), &"linear".into()));
    assert!(all["runs"][0]["weight"].as_u64().is_some_and(|weight| weight > 0));
}
