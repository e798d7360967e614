//! Narrow text: sentences are wrapped, and columns that do not fit are named.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use crate::command::{Folder, fails, finish, fixture, ok, orchard, stdout_of, traceparse};
use crate::fleet_case::{export, write};

fn at(columns: usize, args: &[&str]) -> String {
    let assert = finish(traceparse(args).env("COLUMNS", columns.to_string()));
    stdout_of(&assert)
}

/// The sentences of a text, unwrapped.
fn unwrapped(text: &str) -> String {
    text.replace("\n  ", " ")
}

/// Twelve runs in each of two versions, and their manifest.
fn versions(folder: &Folder) -> String {
    let mut manifest = "path,duration,app_version\n".to_owned();
    for index in 0..24 {
        write(folder, &format!("{index}.xml"), export(20 + index * 7 % 13 + index));
        writeln!(manifest, "{index}.xml,1,1.{}", index / 12).unwrap();
    }
    folder.file("fleet.csv", manifest)
}

#[test]
fn alerts_in_findings_are_whole_sentences() {
    let folder = Folder::new();
    let fleet = versions(&folder);
    for width in [40, 80, 200] {
        for view in ["overview", "full"] {
            let text = unwrapped(&at(width, &["fleet", "report", &fleet, "--view", view, "--alert", "cpu.p50 > 3.5"]));
            let finding = text.lines().find(|line| line.starts_with("• ") && line.contains("fired:")).expect(&text);
            let why = "so it could be chance; a rule on p50.lower is stricter.";
            assert!(finding.ends_with(why) && !finding.contains('…'), "{width} {view}: {finding}");
        }
    }
}

#[test]
fn tables_name_the_columns_that_do_not_fit() {
    let folder = Folder::new();
    let fleet = versions(&folder);
    let orchard = orchard();
    let earlier = fixture("26.4/time-profile");
    let diff = ["diff", &earlier, &orchard];
    let report = ["fleet", "report", &fleet, "--by", "app_version"];
    for (args, titles) in
        [(&report[..], &["value", "95 % interval"][..]), (&diff, &["before", "after", "Δ total ms", "sampling"])]
    {
        for width in 40..=44 {
            let text = at(width, args);
            let (table, note) = text.split_once("Columns that do not fit at this width:").unwrap_or((&text, ""));
            let note = unwrapped(note);
            for title in titles {
                assert!(table.contains(title) || note.contains(title), "{title} at {width}: {text}");
            }
        }
    }
    let runs = at(40, &["fleet", "tree", &fleet, "--runs-of", "work"]);
    assert!(runs.starts_with("  weight  source") && runs.contains("xml"), "{runs}");
    assert!(unwrapped(&runs).contains(". CSV and JSON have all.") && !runs.contains("--columns"), "{runs}");
    let selected = at(40, &["table", &orchard, "time-profile"]);
    assert!(unwrapped(&selected).contains("--columns selects."), "{selected}");
}

#[test]
fn the_level_of_an_interval_keeps_its_unit() {
    let folder = Folder::new();
    let fleet = versions(&folder);
    let text = at(40, &["compare", &fleet, "--base", "app_version=1.0", "--new", "app_version=1.1"]);
    let note = unwrapped(text.split_once("Columns that do not fit at this width:").expect(&text).1);
    assert!(note.contains(" %, p (Holm)"), "{note}");
}

#[test]
fn a_note_hides_no_column() {
    let text = at(80, &["diff", &orchard(), &orchard(), "--view", "binaries"]);
    assert!(text.contains("8 more, with smaller changes") && text.contains("sampling"), "{text}");
    assert!(!text.contains("do not fit"), "{text}");
}

#[test]
fn intervals_explain_only_marks_that_are_shown() {
    let text = at(40, &["intervals", &fixture("27/signposts"), "--union"]);
    assert!(!text.contains("n/a") && text.contains("too few intervals"), "{text}");
}

#[test]
fn hidden_rows_come_with_the_option_that_shows_them() {
    let text = ok(&[&orchard(), "--view", "heaviest", "--min-percent", "26"]);
    assert!(text.ends_with("3 lighter stacks are not shown; --min-percent 0 shows all\n"), "{text}");
    let text = ok(&[&orchard(), "--function", "fruit_copy_fast", "--min-percent", "40"]);
    assert!(text.contains("not shown; --min-percent 0 shows all\n"), "{text}");
}

#[test]
fn no_line_is_wider_than_44_columns() {
    let folder = Folder::new();
    let fleet = versions(&folder);
    let (orchard, earlier) = (orchard(), fixture("26.4/time-profile"));
    let by = ["fleet", "report", &fleet, "--by", "app_version"];
    for args in [
        &["diff", &earlier, &orchard, "--view", "functions"][..],
        &["diff", &earlier, &orchard, "--view", "binaries"],
        &["diff", &earlier, &orchard, "--view", "tree"],
        &by,
        &[&by[..], &["--view", "full"]].concat(),
        &["fleet", "tree", &fleet],
        &["fleet", "tree", &fleet, "--runs-of", "work"],
        &["intervals", &fixture("27/signposts")],
        &["toc", &fixture("toc/two-runs")],
    ] {
        let text = at(44, args);
        let wide: Vec<&str> = text.lines().filter(|line| line.width() > 44).collect();
        assert!(wide.is_empty() && !text.is_empty(), "{args:?}: {wide:#?}");
    }
}

#[test]
fn fields_may_follow_a_space() {
    let table = |columns| ok(&["table", &orchard(), "time-profile", "--columns", columns]);
    assert_eq!(table("time, weight"), table("time,weight"));
}

#[test]
fn refuses_options_without_effect() {
    let folder = Folder::new();
    let fleet = versions(&folder);
    let (orchard, signposts) = (orchard(), fixture("27/signposts"));
    let report = |args: &[&'static str]| {
        [&["fleet", "report", &fleet], args].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let owned = |args: &[&str]| args.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (args, message) in [
        (
            owned(&[&orchard, "--view", "bottom-up", "--invert"]),
            "--view bottom-up is already inverted; leave out --invert",
        ),
        (
            owned(&[&orchard, "--view", "summary", "--full-names"]),
            "--full-names has no effect on --view summary, only on views with function names",
        ),
        (report(&["--scope", "run", "--top", "3"]), "--top only applies to tables"),
        (report(&["--scope", "run", "--sort", "max"]), "--sort only applies to tables"),
        (report(&["--view", "overview", "--approximate"]), "--approximate only applies to windows"),
        (report(&["--format", "csv", "--approximate"]), "--approximate only applies to windows"),
        (owned(&["intervals", &signposts, "--union", "--format", "json"]), "--union has no effect on JSON"),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = fails(2, &args);
        assert!(said.contains(message), "{args:?}: {said}");
    }
    let text = ok(&["fleet", "report", &fleet, "--approximate"]);
    assert!(text.contains("within runs: 1 s windows"), "{text}");
}
