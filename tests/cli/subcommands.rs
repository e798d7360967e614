//! `traceparse completions` and `traceparse man`, and the help of all commands.

use crate::command::{fails, finish, ok, stderr_of, stdout_of, traceparse};

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
const COMMANDS: [&[&str]; 18] = [
    &[],
    &["diff"],
    &["compare"],
    &["trend"],
    &["toc"],
    &["tables"],
    &["table"],
    &["symbolicate"],
    &["demangle"],
    &["uuid"],
    &["symbols"],
    &["fleet"],
    &["fleet", "report"],
    &["fleet", "tree"],
    &["fleet", "extract"],
    &["fleet", "merge"],
    &["completions"],
    &["man"],
];

/// The long options that a help text describes, each at the start of a line.
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
        // At the start of a line, it would be a macro.
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
    assert!(
        message
            .contains("traceparse has no subcommand 'diffs'; it has only diff, compare, trend, hangs, intervals, toc,"),
        "{message}"
    );
    let message = fails(2, &["man", "fleet", "reports"]);
    assert!(
        message.contains(
            "traceparse fleet has no subcommand 'reports'; it has only report, tree, intervals, extract, merge"
        ),
        "{message}"
    );
    assert!(fails(2, &["man", "toc", "x"]).contains("traceparse toc has no subcommand 'x'"));
}

#[test]
fn help_has_all_exit_codes() {
    for command in COMMANDS {
        let has_alerts = [&[][..], &["diff"], &["fleet"], &["fleet", "report"]].contains(&command);
        let has_answer = command == ["trend"] || command == ["compare"];
        {
            let flag = "--help";
            let help = ok(&[command, &[flag]].concat());
            let (_, codes) = help.split_once("Exit codes: ").unwrap_or_else(|| panic!("{command:?}: {help}"));
            let codes = codes.split_whitespace().collect::<Vec<_>>().join(" ");
            let all =
                [("0 success", !has_answer), ("1 ", true), ("2 wrong usage", true), ("3 an alert fired", has_alerts)];
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

#[test]
fn help_has_examples_and_exit_codes() {
    for flag in ["--help", "help"] {
        let help = ok(&[flag]);
        for word in ["Examples:", "traceparse export.xml --view functions", "xcrun xctrace export", "Exit codes"] {
            assert!(help.contains(word), "{flag}: {word:?} is not in {help}");
        }
    }
    assert!(ok(&["toc", "--help"]).contains("--toc"));
}

#[test]
fn every_command_has_color_among_the_usual_options() {
    let commands: [&[&str]; 8] =
        [&[], &["diff"], &["toc"], &["symbolicate"], &["demangle"], &["uuid"], &["fleet"], &["fleet", "report"]];
    for command in commands {
        for flag in ["--help", "-h"] {
            let help = ok(&[command, &[flag]].concat());
            let before = &help[..help.find("--color <WHEN>").unwrap_or_else(|| panic!("{command:?}: {help}"))];
            let mut headings = before.lines().filter(|line| line.ends_with(':') && !line.starts_with(' '));
            assert_eq!(headings.next_back(), Some("Options:"), "{command:?} {flag}: {help}");
        }
    }
}

#[test]
fn short_help_has_one_line_for_each_option() {
    for command in COMMANDS {
        let help = traceparse(&[command, &["-h"]].concat()).env("COLUMNS", "80").assert().success();
        let help = stdout_of(&help);
        assert!(help.lines().all(|line| line.chars().count() <= 80) && !help.contains("possible values"), "{help}");
        let long = ok(&[command, &["--help"]].concat());
        let [short_options, long_options] = [&help, &long].map(|help| options(help));
        assert!(short_options.iter().all(|option| long_options.contains(option)), "{command:?}: {help}");
        // Options and commands start in these columns; continuation lines start further to the right.
        let (_, listed) = help.split_once("Usage: ").expect("there is a usage");
        let listed = listed.split("Examples:").next().unwrap_or_default();
        for line in listed.lines().skip(1).filter(|line| line.starts_with("    ")) {
            let is_start = line.starts_with("      --") || line.starts_with("       traceparse");
            assert!(is_start, "{command:?}: {line:?} belongs to the line above\n{help}");
        }
    }
    let help = ok(&["-h"]);
    assert!(help.lines().count() <= 90, "{help}");
    assert_eq!(options(&help)[..2], ["--view", "--function"], "common options come first");
    assert!(ok(&["--help"]).contains("--charge-path") && !help.contains("--charge-path"));
}

#[test]
fn explains_itself_without_arguments() {
    let page = fails_without_error(&[]);
    let examples = page.split_once("Examples:").expect("examples").1.split("Commands:").next().unwrap_or_default();
    assert_eq!(examples.lines().filter(|line| line.starts_with("  traceparse ")).count(), 6, "{page}");
    for word in ["Usage: traceparse [OPTIONS] <FILE>...", "\n  diff ", "\n  fleet ", "traceparse --help"] {
        assert!(page.contains(word), "{word:?} is not in {page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
}

/// What a wrong call prints instead of an error.
fn fails_without_error(args: &[&str]) -> String {
    stderr_of(&finish(traceparse(args).env("COLUMNS", "80")).code(2).stdout(""))
}

#[test]
fn the_version_is_the_crates() {
    for flag in ["--version", "-V"] {
        assert_eq!(ok(&[flag]), format!("traceparse {}\n", env!("CARGO_PKG_VERSION")));
    }
}
