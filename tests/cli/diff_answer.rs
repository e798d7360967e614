//! The answer of a comparison fits on one screen, and is right.

use std::collections::{HashMap, HashSet};

use unicode_width::UnicodeWidthStr;

use crate::answer::{categories, own_weights, recordings, tree_rows};
use crate::command::{fixture, json, orchard, traceparse};

/// Comparable pairs of recordings, each with the text of its comparison at 80 columns.
fn comparisons() -> Vec<([String; 2], String)> {
    let files = recordings();
    let mut found = Vec::new();
    for pair in files.windows(2).chain(std::iter::once(&[fixture("26.4/time-profile"), orchard()][..])) {
        let args = ["diff", &pair[0], &pair[1], "--force"];
        let output = traceparse(&args).env("COLUMNS", "80").output().expect("the command starts");
        if output.status.success() {
            let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
            found.push(([pair[0].clone(), pair[1].clone()], text));
        }
    }
    found
}

#[test]
fn every_comparison_has_its_answer_on_one_screen() {
    let comparisons = comparisons();
    assert!(comparisons.len() > 3, "{}", comparisons.len());
    for (pair, text) in comparisons {
        // Only warnings and command lines may be longer, since they contain complete paths. A terminal wraps them.
        let is_free =
            |line: &&str| line.starts_with("warning: ") || pair.iter().any(|path| line.contains(path.as_str()));
        let (free, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(is_free);
        let rows = lines.len() + free.len();
        assert!(rows <= 31 && lines.join("\n").len() <= 3 << 10, "{pair:?}: {text}");
        let wide: Vec<&&str> = lines.iter().filter(|line| line.width() > 80).collect();
        assert!(wide.is_empty(), "{pair:?}: {wide:#?}");
    }
}

/// The change of each app function with the system code that it called, computed from both trees.
fn changes([before, after]: [&str; 2]) -> HashMap<String, i64> {
    let mut changes: HashMap<String, i64> = HashMap::new();
    for (path, sign) in [(before, -1), (after, 1)] {
        let rows = tree_rows(path);
        for (function, weight) in own_weights(rows.iter(), &categories(path)) {
            *changes.entry(function.to_owned()).or_default() += sign * i64::try_from(weight).expect("a weight");
        }
    }
    changes
}

#[test]
fn the_answer_is_the_own_function_that_changed_most() {
    let mut compared = 0;
    for ([before, after], text) in comparisons() {
        // Recordings with warnings are also compared with warnings, which other tests cover.
        let is_quiet = |path: &str| traceparse(&[path]).output().expect("the command starts").stderr.is_empty();
        // If threads wait, the functions in which they wait are excluded, as in the overview.
        let waits = text.lines().any(|line| line.starts_with("before ") && line.contains(" sample "));
        if waits || text.contains("warning: ") || !is_quiet(&before) || !is_quiet(&after) {
            continue;
        }
        let changes = changes([&before, &after]);
        let answer = json(&["diff", &before, &after, "--force", "--view", "overview"]);
        let rows = answer["own_functions"].as_array().expect("rows");
        let mut sums: HashMap<&str, i64> = HashMap::new();
        for row in rows {
            *sums.entry(row["function"].as_str().expect("a name")).or_default() +=
                row["self_change"]["weight"].as_f64().expect("a change") as i64;
        }
        let names: HashSet<&str> = changes.keys().map(String::as_str).chain(sums.keys().copied()).collect();
        for name in names {
            // Trees show unnamed functions with different names.
            if name.contains("+0x") || name.starts_with("0x") {
                continue;
            }
            assert_eq!(changes.get(name).copied().unwrap_or(0), sums.get(name).copied().unwrap_or(0), "{name}: {text}");
        }
        let Some(first) = rows.first() else { continue };
        compared += 1;
        if first["self_change"]["beyond_noise"] == true {
            let name = first["function"].as_str().expect("a name");
            let start: String = name.chars().take(10).collect();
            assert!(text.contains(&start), "{name}: {text}");
        }
    }
    assert!(compared > 0, "{compared} comparisons");
}
