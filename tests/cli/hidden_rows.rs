//! `--min-weight` in views that are tables: each row that is left out is counted, with its weight, in every format.

use serde_json::Value;

use crate::command::{column, csv, fails, finish, fixture, json, ok, orchard, stderr_of, stdout_of, traceparse};

/// Views of tables with a fixture, what a row of them is and what several are, and a limit between their weights, in milliseconds.
const TABLES: [(&str, &str, &str, &str, u64); 8] = [
    ("27/orchard", "threads", "thread", "threads", 110),
    ("27/orchard", "functions", "function", "functions", 20),
    ("27/orchard", "binaries", "binary", "binaries", 30),
    ("27/orchard", "transitions", "transition", "transitions", 3),
    ("27/orchard", "lines", "line", "lines", 20),
    ("27/orchard", "categories", "category", "categories", 20),
    ("26.4/time-profile", "processes", "process", "processes", 2),
    ("27/time-profile-waiting", "states", "state", "states", 2),
];

/// The columns of weights, the first of which adds up.
fn weights(rows: &[Vec<String>]) -> Vec<Vec<u64>> {
    let names: Vec<&String> = rows[0].iter().filter(|name| name.ends_with("weight")).collect();
    let columns: Vec<Vec<u64>> = names.into_iter().map(|name| column(rows, name)).collect();
    (1..rows.len()).map(|row| columns.iter().map(|column| column[row - 1]).collect()).collect()
}

#[test]
fn light_rows_are_left_out_and_told() {
    for (case, view, singular, plural, millis) in TABLES {
        let export = fixture(case);
        let all = csv(&[&export, "--view", view]);
        let weights = weights(&all);
        let is_heavy = |weights: &Vec<u64>| weights.iter().any(|weight| *weight >= millis * 1_000_000);
        let heavy = all[1..].iter().zip(&weights).filter(|(_, weights)| is_heavy(weights)).map(|(row, _)| row.clone());
        let heavy: Vec<Vec<String>> = heavy.collect();
        let light: Vec<u64> = weights.iter().filter(|weights| !is_heavy(weights)).map(|weights| weights[0]).collect();
        assert!(!heavy.is_empty() && !light.is_empty(), "{view}: {weights:?}");
        let (rows, weight) = (light.len(), light.iter().sum::<u64>());

        let limit = format!("{millis}ms");
        let args = [export.as_str(), "--view", view, "--min-weight", &limit];
        let answer = json(&args);
        assert_eq!(answer[plural].as_array().expect("rows").len(), heavy.len(), "{view}");
        let hidden = answer["hidden_rows"].as_array().expect("hidden rows").iter();
        let hidden: Vec<&Value> = hidden.filter(|hidden| hidden["table"] == plural).collect();
        let expected = serde_json::json!({"series": 0, "table": plural, "limit": "min_weight", "rows": rows, "weight": weight, "unit": "ns"});
        assert_eq!(hidden, [&expected], "{view}");

        let text = ok(&[&args[..], &["--min-percent", "0"]].concat());
        let what = if rows == 1 { singular } else { plural };
        let line = text.lines().find(|line| line.ends_with(&format!("{rows} more {what} below {millis}.00 ms")));
        let line = line.unwrap_or_else(|| panic!("{view}: {text}"));
        assert!(
            line.trim_start().starts_with(&format!("{}.{:03} ", weight / 1_000_000, weight / 1_000 % 1_000)),
            "{line}"
        );

        for format in ["csv", "ndjson"] {
            let assert = finish(&mut traceparse(&[&args[..], &["--format", format]].concat())).success();
            let several = if rows == 1 { "row" } else { "rows" };
            let said = stderr_of(&assert);
            let expected = format!("note: {rows} {several} of {plural} below {millis}.00 ms not written, ");
            assert!(said.contains(&expected), "{view}: {said}");
            assert_eq!(said.lines().count(), 1, "of what is written only: {said}");
            let lines = stdout_of(&assert).lines().count();
            assert_eq!(lines, heavy.len() + 1, "{view} {format}, with the line before the rows");
        }
        let csv_text = stdout_of(&finish(&mut traceparse(&[&args[..], &["--format", "csv"]].concat())).success());
        let mut reader = csv::ReaderBuilder::new().from_reader(csv_text.as_bytes());
        let written = reader.records().map(|row| row.expect("CSV").iter().map(str::to_owned).collect());
        assert_eq!(written.collect::<Vec<Vec<String>>>(), heavy, "{view}");
    }
}

#[test]
fn rows_after_the_first_are_told_with_their_weight() {
    for (case, view, _, plural, _) in TABLES.into_iter().filter(|row| row.1 != "categories") {
        let export = fixture(case);
        let all = weights(&csv(&[&export, "--view", view]));
        // One row less than there are: text has room for one more.
        let top = if view == "threads" { all.len() - 2 } else { all.len() - 1 };
        let (rows, weight) = (all.len() - top, all[top..].iter().map(|weights| weights[0]).sum::<u64>());
        let first = top.to_string();
        let args = [export.as_str(), "--view", view, "--top", &first];
        let expected = serde_json::json!(
            [{"series": 0, "table": plural, "limit": "top", "rows": rows, "weight": weight, "unit": "ns"}]
        );
        assert_eq!(json(&args)["hidden_rows"], expected, "{view}");
        let text = ok(&[&args[..], &["--min-percent", "0"]].concat());
        let told = format!("{}.{:03} ", weight / 1_000_000, weight / 1_000 % 1_000);
        let what = format!("{rows} more ");
        let is_told = |line: &str| line.trim_start().starts_with(&told) && line.contains(&what);
        assert!(text.lines().any(is_told), "{view}: {told:?} and {what:?} are not in {text}");
        for format in ["csv", "ndjson"] {
            let assert = finish(&mut traceparse(&[&args[..], &["--format", format]].concat())).success();
            let (said, several) = (stderr_of(&assert), if rows == 1 { "row" } else { "rows" });
            let expected = format!("note: {rows} {several} of {plural} after the first {top} not written, ");
            assert!(said.contains(&expected) && said.ends_with(" together\n"), "{view}: {said}");
            assert_eq!((said.lines().count(), stdout_of(&assert).lines().count()), (1, top + 1), "{view}: {said}");
        }
    }
}

#[test]
fn calls_between_categories_are_told_with_their_weight() {
    let export = orchard();
    let all = weights(&csv(&[&export, "--view", "transitions"]));
    let weight: u64 = all[1..].iter().map(|weights| weights[0]).sum();
    let text = ok(&[&export, "--view", "categories", "--top", "1"]);
    let line =
        text.lines().find(|line| line.ends_with(&format!("{} more transitions after the first 1", all.len() - 1)));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.trim_start().starts_with(&format!("{}.{:03} ", weight / 1_000_000, weight / 1_000 % 1_000)), "{line}");
}

#[test]
fn nothing_is_said_where_nothing_is_light() {
    for (case, view, ..) in TABLES {
        let export = fixture(case);
        let args = [export.as_str(), "--view", view];
        let limited = [&args[..], &["--min-weight", "1ns"]].concat();
        // Of rows without weight, every one is lighter than that.
        if weights(&csv(&args)).iter().all(|weights| weights.iter().any(|weight| *weight > 0)) {
            assert_eq!(csv(&limited), csv(&args), "{view}");
            assert_eq!(json(&limited).get("hidden_rows"), None, "{view}");
        }
    }
}

#[test]
fn light_rows_do_not_count_among_the_first() {
    let export = orchard();
    let args = [export.as_str(), "--view", "functions", "--min-weight", "20ms", "--top", "3"];
    let answer = json(&args);
    let rows = answer["functions"].as_array().expect("rows");
    assert!(rows.len() == 3 && rows.iter().all(|row| row["all_weight"].as_u64() >= Some(20_000_000)), "{answer}");
    let (text, all) = (ok(&args), json(&[&export, "--view", "functions"]));
    let count = all["functions"].as_array().expect("rows").len() - 3;
    assert!(text.contains(&format!("{count} more functions after the first 3")), "{text}");
}

#[test]
fn the_overview_leaves_light_threads_out() {
    let export = orchard();
    let text = ok(&[&export, "--min-weight", "120ms"]);
    let light = column(&csv(&[&export, "--view", "threads"]), "all_weight").into_iter();
    let light: Vec<u64> = light.filter(|weight| *weight < 120_000_000).collect();
    let (count, sum) = (light.len(), light.iter().sum::<u64>() / 1_000_000);
    assert!(text.contains(&format!("{count} more threads below 120.00 ms")), "{text}");
    assert!(text.contains(&format!("{count} more below 1% or 120.00 ms each, {sum}.00 ms together")), "{text}");
}

#[test]
fn flame_charts_say_what_they_leave_away() {
    let args = [&orchard(), "--view", "flame-chart", "--min-weight", "40ms"];
    let text = ok(&args);
    assert!(text.ends_with("\ncalls below 1% of their thread or 40.00 ms are left out\n"), "{text}");
    let text = ok(&[&args[..], &["--min-percent", "0"]].concat());
    assert!(text.ends_with("\ncalls below 40.00 ms are left out\n"), "{text}");
}

#[test]
fn what_has_no_light_rows_refuses_the_limit() {
    let export = orchard();
    for view in ["summary", "cores", "timeline", "samples"] {
        let message = fails(2, &[&export, "--view", view, "--min-weight", "5ms"]);
        assert!(message.contains("--min-weight") && message.contains(&format!("--view {view} ")), "{message}");
    }
}

/// Leaves each node its first children, which are the heaviest; the weight and number of the others are added to what was hidden.
fn cut(node: &mut Value, top: usize) {
    let children = node["children"].as_array_mut().expect("children");
    let others: Vec<Value> = children.drain(top.min(children.len())..).collect();
    children.iter_mut().for_each(|child| cut(child, top));
    if !others.is_empty() {
        let weight: u64 = others.iter().map(|child| child["all_weight"].as_u64().expect("a weight")).sum();
        node["hidden_weight"] = weight.into();
        node["hidden_children"] = others.len().into();
    }
}

/// The last part of each line of folded stacks.
fn folded_weight(args: &[&str]) -> u64 {
    let weight = |line: &str| line.rsplit(' ').next().and_then(|weight| weight.parse::<u64>().ok());
    ok(&[args, &["--format", "folded"]].concat()).lines().map(|line| weight(line).expect("a weight")).sum()
}

#[test]
fn trees_have_the_heaviest_children_of_each_node() {
    let export = orchard();
    for view in ["full", "tree", "bottom-up"] {
        for top in [0, 1, 2, 3] {
            let (args, first) = ([export.as_str(), "--view", view], top.to_string());
            let limited = [&args[..], &["--top", &first]].concat();
            let mut expected = json(&args);
            let threads = expected["threads"].as_array_mut().expect("threads");
            threads.iter_mut().for_each(|thread| cut(&mut thread["tree"], top));
            assert_eq!(json(&limited)["threads"], expected["threads"], "{view} {top}");
        }
    }
    let tree = [export.as_str(), "--view", "tree", "--no-threads"];
    let rows = csv(&[&tree[..], &["--top", "2"]].concat());
    assert!(rows.len() < csv(&tree).len());
    let whole = column(&csv(&tree), "self_weight").iter().sum::<u64>();
    let [own, hidden] = ["self_weight", "hidden_weight"].map(|name| column(&rows, name).iter().sum::<u64>());
    assert!(hidden > 0 && own + hidden == whole, "{own} + {hidden} is not {whole}");
    for top in ["0", "1", "2"] {
        assert_eq!(folded_weight(&[&export, "--top", top]), whole, "{top}");
    }
    let text = ok(&[&tree[..], &["--top", "1", "--min-percent", "0"]].concat());
    assert!(text.contains("123.000   25.4%  25.4%            … 2 more calls"), "{text}");
}

#[test]
fn formats_made_of_trees_take_the_heaviest_children_too() {
    let export = orchard();
    for format in ["svg", "d3"] {
        let whole = ok(&[&export, "--format", format]);
        let cut = ok(&[&export, "--format", format, "--top", "1"]);
        assert!(whole.contains("fruit_alloc") && !cut.contains("fruit_free") && cut.contains("drawFrame"), "{format}");
    }
}
