//! `traceparse toc`, `traceparse completions` and `traceparse man`, and the help of all commands.

use serde_json::Value;

use crate::command::{Folder, fails, finish, fixture, lines_of_words, ok, orchard, read_text, stdout_of, traceparse};

fn toc_json(path: &str) -> Value {
    let text = ok(&["toc", path, "--format", "json"]);
    serde_json::from_str(&text).expect("the output is JSON")
}

#[test]
fn a_table_of_contents_is_shown_run_by_run() {
    let path = fixture("toc/two-runs");
    let lines = lines_of_words(&ok(&["toc", &path]));
    assert_eq!(lines[0], path);
    for line in [
        "run 1",
        "run 2",
        "duration 0.118595",
        "instruments-version 27.0 (17A456)",
        "start-date 2031-05-06T09:20:00.125+02:00",
        "cpu-profile 14 CPU table",
        "time-profile 11 CPU table",
        "tick 4, 8, 12",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line:?} is not in {lines:#?}");
    }
}

#[test]
fn a_table_of_contents_is_json_too() {
    let contents = toc_json(&fixture("toc/two-runs"));
    assert_eq!((&contents["format"], &contents["version"]), (&"traceparse-toc".into(), &1.into()));
    let document = &contents["documents"][0];
    assert_eq!(document["kind"], "toc");
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(2));
    let run = &document["runs"][1];
    assert_eq!((&run["number"], &run["duration_ns"]), (&2.into(), &118_595_000.into()));
    assert_eq!((&run["device"]["model"], &run["process"]["name"]), (&"MacBook Pro".into(), &"Orchard".into()));
    assert_eq!(run["process"]["arguments"], "--trees 40 --label \"late & ripe\"");
    assert_eq!(run["tables"].as_array().map(Vec::len), Some(14));
    assert_eq!((&run["tables"][10]["schema"], &run["tables"][10]["position"]), (&"time-profile".into(), &11.into()));
    assert_eq!(run["tables"][10]["attributes"]["record-waiting-threads"], "1");
}

#[test]
fn an_export_is_shown_by_its_tables() {
    let lines = lines_of_words(&ok(&["toc", &fixture("27/several-tables")]));
    assert_eq!(
        lines[1..],
        [
            "fs-syscall run 1 2 rows, not a CPU table",
            "time-profile run 1 3 rows, all of them samples",
            "potential-hangs run 2 1 row, not a CPU table",
            "hang-risks run 2 0 rows, not a CPU table",
            "time-profile run 2 3 rows, all of them samples",
        ]
    );
    let contents = toc_json(&fixture("27/several-tables"));
    let document = &contents["documents"][0];
    assert_eq!(document["kind"], "tables");
    let rows = document["tables"].as_array().expect("tables").iter().map(|table| table["rows"].as_u64().unwrap());
    assert_eq!(rows.collect::<Vec<_>>(), [2, 3, 1, 0, 3]);
}

#[test]
fn contents_of_several_inputs_and_of_standard_input() {
    let path = fixture("toc/two-runs");
    let text = ok(&["toc", &path, &orchard()]);
    assert!(text.contains(&path) && text.contains("485 rows, all of them samples"), "{text}");
    let assert = finish(traceparse(&["toc", "-"]).write_stdin(read_text(&path))).success().stderr("");
    assert!(stdout_of(&assert).starts_with("-\nrun 1\n"));
}

#[test]
fn contents_can_be_written_to_a_file() {
    let folder = Folder::new();
    let path = folder.path("toc.txt");
    assert_eq!(ok(&["toc", &fixture("toc/two-runs"), "-o", &path]), "");
    assert_eq!(read_text(&path), ok(&["toc", &fixture("toc/two-runs")]));
    assert_eq!(folder.names(), ["toc.txt"]);
}

#[test]
fn contents_have_two_formats() {
    let message = fails(2, &["toc", &orchard(), "--format", "csv"]);
    assert!(message.contains("text, json"), "{message}");
}

#[test]
fn completions_know_the_options() {
    for shell in ["bash", "zsh", "fish"] {
        let script = ok(&["completions", shell]);
        for word in ["traceparse", "view", "functions", "min-percent", "toc", "completions"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
    let message = fails(2, &["completions", "cmd.exe"]);
    assert!(message.contains("bash") && message.contains("zsh") && message.contains("fish"), "{message}");
}

/// Every command, by its words.
const COMMANDS: [&[&str]; 13] = [
    &[],
    &["diff"],
    &["toc"],
    &["symbolicate"],
    &["demangle"],
    &["uuid"],
    &["fleet"],
    &["fleet", "report"],
    &["fleet", "extract"],
    &["fleet", "merge"],
    &["fleet", "sql"],
    &["completions"],
    &["man"],
];

/// The long options that a help describes, which stand first on their lines.
fn options(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start).map(|line| line.strip_prefix("-o, ").unwrap_or(line));
    let options = lines.filter(|line| line.starts_with("--"));
    let name = |line: &str| line.chars().take_while(|&letter| letter == '-' || letter.is_ascii_lowercase()).collect();
    options.map(name).collect()
}

#[test]
fn every_command_has_a_manual_page_with_its_options() {
    for command in COMMANDS {
        let page = ok(&[&["man"], command].concat());
        let name = [&["traceparse"], command].concat().join("-");
        assert!(page.starts_with(&format!(".TH \"{name}\" \"1\" \"\" \"traceparse ")), "{page}");
        assert!(page.is_ascii(), "{name}: {page}");
        for title in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\""] {
            assert_eq!(page.lines().filter(|line| *line == format!(".SH {title}")).count(), 1, "{name}: {title}");
        }
        let help = ok(&[command, &["--help"]].concat());
        let options = options(&help);
        assert!(options.contains(&"--color".to_owned()), "{help}");
        for option in options {
            assert!(page.contains(&option.replace('-', "\\-")), "{name}: {option} is not in {page}");
        }
        // What stands first on a line would be a macro.
        let known = [".TH", ".SH", ".TP", ".br", ".RS", ".RE", ".IP", ".PP", ".nf", ".fi", ".ie", ".el"];
        for line in page.lines().filter(|line| line.starts_with(['.', '\''])) {
            assert!(known.iter().any(|macro_name| line.starts_with(macro_name)), "{name}: {line}");
        }
    }
    assert!(ok(&["man"]).contains("traceparse\\-fleet(1)") && !ok(&["man"]).contains("traceparse\\-help"));
}

#[test]
fn commands_that_are_not_there_have_no_page() {
    let message = fails(2, &["man", "diffs"]);
    assert!(message.contains("traceparse has no command 'diffs'; it has only diff, toc,"), "{message}");
    let message = fails(2, &["man", "fleet", "reports"]);
    assert!(
        message.contains("traceparse fleet has no command 'reports'; it has only report, extract, merge, sql"),
        "{message}"
    );
    assert!(fails(2, &["man", "toc", "x"]).contains("traceparse toc has no command 'x'"));
}

#[test]
fn help_has_all_exit_codes() {
    for command in COMMANDS {
        let has_alerts = [&[][..], &["diff"], &["fleet"], &["fleet", "report"]].contains(&command);
        for flag in ["-h", "--help"] {
            let help = ok(&[command, &[flag]].concat());
            let (_, codes) = help.split_once("Exit codes: ").unwrap_or_else(|| panic!("{command:?}: {help}"));
            let codes = codes.split_whitespace().collect::<Vec<_>>().join(" ");
            let all = [("0 success", true), ("1 ", true), ("2 wrong usage", true), ("3 an alert fired", has_alerts)];
            let others = [
                ("4 no alert fired", has_alerts),
                ("130 interrupted", true),
                ("143 terminated", true),
                ("129 hung up", true),
                ("131 quit", true),
            ];
            for (code, has_it) in all.into_iter().chain(others) {
                assert_eq!(codes.contains(code), has_it, "{command:?} {flag}: {code}: {codes}");
            }
        }
    }
}
