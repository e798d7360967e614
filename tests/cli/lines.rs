//! `--view lines`, `--source`, and the categories.

use crate::command::{Folder, fails, json, ok, orchard};
use crate::symbols_case::{Case, built};

/// The folder of the sources of the symbol fixtures.
fn sources() -> String {
    format!("{}/fixtures/symbols/src", env!("CARGO_MANIFEST_DIR"))
}

/// The stack `draw` with its lines: `recording.md` has 72, 61, 52, 31 of `demo.c` for the calls and 24 for the leaf.
fn draw(case: &Case, args: &[&str]) -> Vec<String> {
    let (export, dsym) = (case.draw(), built("arm64-dwarf4/Demo.dSYM"));
    [&[export.as_str(), "--dsym", &dsym, "--view", "lines"], args]
        .concat()
        .iter()
        .map(|arg| (*arg).to_owned())
        .collect()
}

fn answer(case: &Case, args: &[&str]) -> String {
    let args = draw(case, args);
    case.ok(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn lines_stand_in_their_files() {
    let case = Case::new();
    let text = answer(&case, &["--source", &sources()]);
    let source = std::fs::read_to_string(sources() + "/demo.c").unwrap();
    let lines: Vec<&str> = source.lines().collect();
    for number in [72, 61, 52, 31] {
        let shown = format!("{number}  {}", lines[number - 1].trim_end());
        let row = text.lines().find(|row| row.ends_with(&shown)).unwrap_or_else(|| panic!("{shown} is not in {text}"));
        assert!(row.contains("100.0%"), "{row}");
        // Three lines around it, without a weight.
        let shown = format!("{}  {}", number - 3, lines[number - 4].trim_end());
        let row = text.lines().find(|row| row.trim_start() == shown.trim_end());
        assert!(row.is_some(), "{shown:?} is not in {text}");
    }
    assert!(text.contains("/src/demo.c  from "), "{text}");
    assert!(!text.contains("not found"), "{text}");
}

#[test]
fn files_that_are_missing_are_named() {
    let case = Case::new();
    let empty = Folder::new();
    let text = answer(&case, &["--source", &empty.path("")]);
    assert!(text.contains("1 source file not found\n") && text.contains("/src/demo.c  no such file\n"), "{text}");
    // Two that end alike: none is taken.
    for folder in ["a", "b"] {
        std::fs::create_dir(empty.path(folder)).unwrap();
        empty.file(&format!("{folder}/demo.c"), "int main(void);\n");
    }
    let text = answer(&case, &["--source", &empty.path("")]);
    assert!(text.contains("it may be ") && text.contains("/a/demo.c or "), "{text}");
    // One of them by itself is taken, and is too short.
    let text = answer(&case, &["--source", &empty.path("a")]);
    assert!(text.contains("72  the file found is shorter\n"), "{text}");
    // One that is more alike wins.
    std::fs::create_dir(empty.path("b/src")).unwrap();
    empty.file("b/src/demo.c", "int main(void);\n");
    let text = answer(&case, &["--source", &empty.path("a"), "--source", &empty.path("b")]);
    assert!(text.contains("/b/src/demo.c\n"), "{text}");
}

#[test]
fn json_has_the_lines_of_each_file() {
    let case = Case::new();
    let text = answer(&case, &["--source", &sources(), "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let file = &answer["sources"][0];
    assert_eq!((file["path"].as_str(), file["missing"].is_null()), (Some("/src/demo.c"), true));
    assert!(file["file"].as_str().unwrap().ends_with("/src/demo.c"));
    let heavy = |line: &&serde_json::Value| line["samples"] == 1;
    let lines: Vec<u64> =
        file["lines"].as_array().unwrap().iter().filter(heavy).map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [24, 31, 52, 61, 72]);
    // Without --source there are no sources.
    assert!(json(&[&orchard(), "--view", "lines"])["sources"].is_null());
}

#[test]
fn without_lines_functions_are_shown() {
    let case = Case::new();
    let text = case.ok(&[&case.draw(), "--view", "lines"]);
    assert!(text.contains("no frame here has a source line"), "{text}");
    assert!(text.contains("0x102a40565  Demo"), "{text}");
}

#[test]
fn sources_go_with_lines_only() {
    for args in [&["--view", "functions"][..], &[], &["--view", "lines", "--format", "csv"]] {
        let message = fails(2, &[&["no-such-file.xml", "--source", "."], args].concat());
        assert!(message.contains("--source") && message.contains("--view lines"), "{message}");
    }
    assert!(fails(1, &[&orchard(), "--view", "lines", "--source", "/no/such/folder"]).contains("/no/such/folder"));
}

#[test]
fn categories_are_followed_by_their_transitions() {
    let text = ok(&[&orchard(), "--view", "categories"]);
    assert!(text.contains("  user\n") && text.contains("caller → callee"), "{text}");
    let answer = json(&[&orchard(), "--view", "categories"]);
    let alone = json(&[&orchard(), "--view", "transitions"]);
    assert_eq!(answer["transitions"], alone["transitions"]);
    let sum = |rows: &serde_json::Value| -> u64 {
        rows.as_array().unwrap().iter().map(|row| row["self_weight"].as_u64().unwrap()).sum()
    };
    assert_eq!(sum(&answer["categories"]), 485_000_000);
    assert_eq!(alone["categories"], serde_json::Value::Null);
}
