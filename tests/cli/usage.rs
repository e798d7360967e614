//! Arguments that do not go together, and help.

use crate::command::{Folder, VIEWS, fails, ok, orchard, read_text};

/// The arguments are refused before anything is read, with a message that says all of `words`.
#[track_caller]
fn refused(args: &[&str], words: &[&str]) {
    let message = fails(2, &[&["no-such-file.xml"], args].concat());
    for word in words {
        assert!(message.contains(word), "{args:?}: {word:?} is not in {message}");
    }
    assert!(message.contains("--help"), "{args:?}: {message}");
}

#[test]
fn folded_stacks_go_with_trees_only() {
    for view in VIEWS.into_iter().filter(|&view| view != "tree") {
        refused(&["--format", "folded", "--view", view], &["folded", "--view tree"]);
    }
}

#[test]
fn csv_needs_a_view() {
    refused(&["--format", "csv"], &[&["--view"], &VIEWS[..]].concat());
}

/// Both say what has a tree of its own.
#[test]
fn no_threads_and_separate_by_exclude_each_other() {
    refused(&["--no-threads", "--separate-by", "process"], &["--no-threads", "--separate-by"]);
}

/// In stacks that are turned round, the outermost function would seem to have the self weight.
#[test]
fn only_trees_are_turned_round() {
    for view in ["functions", "binaries", "categories", "transitions", "lines", "heaviest", "samples", "flame-chart"] {
        refused(&["--invert", "--view", view], &["--invert", "--view tree"]);
    }
    refused(&["--invert", "--function", "main"], &["--invert"]);
    refused(&["--invert", "--format", "chrome-trace"], &["--invert"]);
}

#[test]
fn callers_and_callees_are_a_view_of_their_own() {
    for args in [["--view", "threads"], ["--view", "tree"], ["--format", "folded"], ["--format", "pprof"]] {
        refused(&[&["--function", "main"][..], &args].concat(), &["--function", "--view functions"]);
    }
}

/// An option that would change nothing is refused.
#[test]
fn options_that_a_view_has_no_use_for_are_refused() {
    let refusals: [(&[&str], &[&str]); 6] = [
        (&["--separate-by", "process"], &["functions", "binaries", "lines", "threads", "samples", "cores", "summary"]),
        (&["--no-threads"], &["functions", "categories", "transitions", "processes", "states", "flame-chart"]),
        (&["--depth", "3"], &["functions", "heaviest", "samples", "timeline", "threads", "states", "cores"]),
        (&["--top", "3"], &["samples", "timeline", "cores", "flame-chart", "summary"]),
        (&["--min-percent", "3"], &["samples", "cores", "categories", "states", "processes", "threads", "summary"]),
        (&["--min-weight", "5ms"], &["samples", "cores", "timeline", "summary"]),
    ];
    for (option, views) in refusals {
        for view in views {
            let said = format!("--view {view} has none; leave it out");
            refused(&[option, &["--view", view]].concat(), &[option[0], &said]);
        }
    }
    for format in ["html", "firefox", "speedscope", "pprof", "chrome-trace"] {
        refused(&["--top", "3", "--format", format], &["--top", format, "leave"]);
    }
    refused(&["--depth", "3", "--function", "main"], &["--depth", "--function has none"]);
    for tree in [["--view", "tree"], ["--format", "svg"]] {
        let message = fails(2, &[&["diff", "no-such-a.xml", "no-such-b.xml", "--top", "3"], &tree[..]].concat());
        assert!(message.contains("--top") && message.contains("leave it out"), "{message}");
    }
    // It shows everything, wherever it stands.
    ok(&[&orchard(), "--view", "threads", "--min-percent", "0"]);
}

#[test]
fn values_that_are_none() {
    refused(&["--view", "flame"], &["flame", "functions"]);
    refused(&["--format", "xml"], &["xml", "folded"]);
    refused(&["--metric", "cycles"], &["cycles", "samples"]);
    refused(&["--color", "blue"], &["blue", "never"]);
    refused(&["--separate-by", "core"], &["core", "process", "none"]);
    refused(&["--min-percent", "101"], &["between 0 and 100"]);
    refused(&["--min-percent=-1"], &["between 0 and 100"]);
    refused(&["--min-percent", "few"], &["not a number"]);
    refused(&["--depth=-1"], &["--depth"]);
    refused(&["--run", "first"], &["--run"]);
    refused(&["--frobnicate"], &["--frobnicate"]);
}

#[test]
fn times_that_are_none() {
    for time in ["1s", "1.5", "a..b", "1s..2x", "-1s..", "1:2:3.."] {
        refused(&[&format!("--time={time}")], &[time, "START..END"]);
    }
    refused(&["--time", "2s..1s"], &["ends before it starts"]);
    refused(&["--time", "1s..1s"], &["its END does not count"]);
}

#[test]
fn a_file_is_needed() {
    assert!(fails(2, &[]).contains("<FILE>"));
    assert!(fails(2, &["toc"]).contains("<FILE>"));
    assert!(fails(2, &["--view", "summary"]).contains("<FILE>"));
}

#[test]
fn help_has_examples_and_exit_codes() {
    for flag in ["--help", "-h", "help"] {
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
fn the_version_is_the_crates() {
    for flag in ["--version", "-V"] {
        assert_eq!(ok(&[flag]), format!("traceparse {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn options_of_the_examples_exist() {
    let path = orchard();
    assert!(ok(&[&path, "--view", "functions", "--thread", "Main Thread"]).contains("main  Orchard"));
    assert!(ok(&[&path, "--format", "folded"]).contains(";main;"));
    let folder = Folder::new();
    let part = folder.path("part.json");
    ok(&[&path, "--time", "0.4s..2s", "--format", "json", "-o", &part]);
    assert!(read_text(&part).contains("\"filtered_out\""));
}
