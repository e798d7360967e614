//! `--sort` in every table: the rows of CSV, put in order here.

use std::cmp::Reverse;

use crate::command::{Folder, csv, fails, finish, fixture, json, ok, orchard, stdout_of, traceparse};

type Row = Vec<String>;

/// Views with a fixture, and the columns by which rows of one name are told apart.
const TABLES: [(&str, &str, &[&str]); 10] = [
    ("27/orchard", "functions", &["function", "binary"]),
    ("27/cpu-profile", "functions", &["function", "binary"]),
    ("27/orchard", "binaries", &["binary"]),
    ("27/orchard", "lines", &["path", "line", "function"]),
    ("27/orchard", "categories", &["category"]),
    ("27/orchard", "transitions", &["caller", "caller_binary", "callee"]),
    ("27/orchard", "threads", &["thread"]),
    ("27/cpu-profile", "threads", &["thread"]),
    ("26.4/time-profile", "processes", &["process"]),
    ("27/time-profile-waiting", "states", &["state"]),
];

fn column(header: &Row, name: &str) -> usize {
    header.iter().position(|title| title == name).unwrap_or_else(|| panic!("{name} is not in {header:?}"))
}

/// The rows in the order that is asked for; the order of equal ones stays.
fn sorted(all: &[Row], by: &str, names: &[&str]) -> Vec<Row> {
    let mut rows = all[1..].to_vec();
    if by == "name" {
        let names: Vec<usize> = names.iter().map(|name| column(&all[0], name)).collect();
        // Nothing stands behind any name, and numbers of lines are numbers.
        let key = |row: &Row| {
            let key = |&at: &usize| (row[at].is_empty(), row[at].parse::<u64>().unwrap_or(0), row[at].clone());
            names.iter().map(key).collect::<Vec<_>>()
        };
        rows.sort_by_key(key);
    } else {
        let at = column(
            &all[0],
            match by {
                "self" => "self_weight",
                "all" => "all_weight",
                _ => "samples",
            },
        );
        rows.sort_by_key(|row| Reverse(row[at].parse::<u64>().expect("a number")));
    }
    rows
}

#[test]
fn tables_are_sorted_alike_in_every_format() {
    let mut other = Vec::new();
    for (case, view, names) in TABLES {
        let export = fixture(case);
        let args = [export.as_str(), "--view", view];
        let all = csv(&args);
        let has_self = all[0].iter().any(|title| title == "self_weight");
        for by in ["self", "all", "samples", "name"].into_iter().filter(|&by| by != "self" || has_self) {
            let args = [&args[..], &["--sort", by]].concat();
            let expected = sorted(&all, by, names);
            assert_eq!(csv(&args)[1..], expected, "{case} {args:?}");
            if expected != all[1..] {
                other.push((view, by));
            }
            let name = column(&all[0], names[0]);
            let answer = json(&args);
            assert_eq!(answer["asked"]["sort"], by);
            let rows = answer[view].as_array().expect("rows").iter();
            let rows: Vec<&str> = rows.map(|row| row[names[0]].as_str().unwrap_or_default()).collect();
            assert!(rows.iter().eq(expected.iter().map(|row| &row[name])), "{args:?}: {rows:?}");
            let text = ok(&[&args[..], &["--min-percent", "0"]].concat());
            let lines = text.lines().skip(2).take(expected.len());
            // Lines have the last part of their path only, and what has no name shows something else.
            let shown = |row: &Row| row[name].rsplit('/').next().unwrap_or_default().to_owned();
            for (line, row) in lines.zip(&expected) {
                assert!(line.contains(&shown(row)), "{args:?}: {line:?} has no {row:?}");
            }
        }
    }
    for expected in [("functions", "all"), ("functions", "samples"), ("threads", "name"), ("states", "name")] {
        assert!(other.contains(&expected), "{expected:?} is in the usual order in all fixtures: {other:?}");
    }
}

#[test]
fn the_first_rows_are_those_of_the_order() {
    for (case, view, names) in TABLES.into_iter().filter(|(_, view, _)| *view != "categories") {
        let export = fixture(case);
        let args = [export.as_str(), "--view", view];
        let all = csv(&args);
        let args = [&args[..], &["--sort", "name", "--top", "1"]].concat();
        let assert = finish(&mut traceparse(&[&args[..], &["--format", "csv"]].concat())).success();
        let text = stdout_of(&assert);
        let mut rows = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let rows: Vec<Row> = rows.records().map(|row| row.expect("CSV").iter().map(str::to_owned).collect()).collect();
        let expected = sorted(&all, "name", names);
        assert_eq!(rows, expected[..1], "{case} {view}");
        let weight = all[0].iter().position(|title| title.ends_with("weight")).expect("a weight");
        let rest: u64 = expected[1..].iter().map(|row| row[weight].parse::<u64>().expect("a number")).sum();
        let hidden = &json(&args)["hidden_rows"][0];
        assert_eq!((&hidden["rows"], &hidden["weight"]), (&(expected.len() - 1).into(), &rest.into()), "{case} {view}");
    }
}

/// The heaviest thread has fewer samples than another one.
#[test]
fn threads_are_sorted_by_samples() {
    let folder = Folder::new();
    let export = folder.edited("27/cpu-profile", &[(">1000090<", ">9000090<")]);
    let samples = |by: &str| {
        let rows = csv(&[&export, "--view", "threads", "--sort", by]);
        let at = column(&rows[0], "samples");
        rows[1..].iter().map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    assert_eq!(samples("all")[0], "2");
    assert_eq!(samples("samples"), ["3", "2", "2"]);
}

/// Light threads are left out wherever they stand in the order.
#[test]
fn light_rows_are_left_out_of_any_order() {
    let export = orchard();
    let limited = [export.as_str(), "--view", "threads", "--sort", "name", "--min-weight", "110ms"];
    let answer = json(&limited);
    let names =
        answer["threads"].as_array().expect("rows").iter().map(|row| row["thread"].as_str().unwrap_or_default());
    assert!(names.eq(["Main Thread", "press worker #1 (pool)", "press worker #2 (pool)"]));
    assert_eq!(answer["hidden_rows"][0]["weight"], 103_000_000);
    assert!(ok(&limited).contains("103.000  21.2%       103  1 more thread below 110.00 ms"), "{}", ok(&limited));
    let text = ok(&[&orchard(), "--view", "functions", "--sort", "name", "--top", "2"]);
    assert!(
        text.ends_with("485.000 100.0%                              42 more functions below 1% or after the first 2\n"),
        "{text}"
    );
}

#[test]
fn views_without_the_column_name_those_that_have_it() {
    for view in
        ["full", "overview", "summary", "tree", "bottom-up", "heaviest", "cores", "timeline", "samples", "flame-chart"]
    {
        let message = fails(2, &["no-such-file.xml", "--view", view, "--sort", "name"]);
        let said = "--sort orders functions, binaries, lines, categories, transitions, threads, processes and states";
        assert!(message.contains(said) && message.contains(&format!("--view {view} has none")), "{message}");
    }
    for view in ["threads", "processes", "states"] {
        let message = fails(2, &["no-such-file.xml", "--view", view, "--sort", "self"]);
        assert!(
            message.contains("--sort self orders functions, binaries, lines, categories and transitions"),
            "{message}"
        );
    }
    for format in ["folded", "svg", "d3", "firefox", "speedscope", "pprof", "chrome-trace"] {
        assert!(fails(2, &["no-such-file.xml", "--format", format, "--sort", "all"]).contains("--sort"), "{format}");
    }
    assert!(fails(2, &["no-such-file.xml", "--sort", "all"]).contains("the overview has none"));
    assert!(fails(2, &["no-such-file.xml", "--function", "main", "--sort", "all"]).contains("--function has none"));
}
