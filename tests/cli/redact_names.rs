//! `--redact` with names that are hard to recognise: folders inside text, users named like code, inputs named like words, names that become equal.

use serde_json::Value;

use crate::command::{Folder, finish, stderr_of, traceparse};
use crate::redact_case::{Row, export_of};

const APP: &str = "/Users/jane/Build/Orchard.app/Contents/MacOS/Orchard";

/// A frame of the app, and its source.
const fn own(name: &'static str, source: &'static str) -> (&'static str, &'static str, &'static str, &'static str) {
    (name, "Orchard", APP, source)
}

const fn row(weight: u64, frames: &'static [(&'static str, &'static str, &'static str, &'static str)]) -> Row {
    Row { thread: ("Main Thread", 11), process: ("Orchard", 100), weight, frames }
}

fn redacted(folder: &Folder, rows: &[Row], input: &str, view: &str) -> (Value, String) {
    folder.file(input, export_of(rows));
    let args = [input, "--redact", "--view", view, "--format", "json"];
    let assert = finish(traceparse(&args).current_dir(folder.path("."))).success();
    (serde_json::from_slice(&assert.get_output().stdout).expect("JSON"), stderr_of(&assert))
}

fn cells(value: &Value, rows: &str, cell: &str) -> Vec<String> {
    let rows = value[rows].as_array().unwrap_or_else(|| panic!("{rows}: {value}"));
    rows.iter().filter_map(|row| row[cell].as_str().map(str::to_owned)).collect()
}

#[test]
fn functions_that_become_equal_stay_two() {
    const ROWS: &[Row] = &[
        row(1, &[own("jane", "/Users/jane/Src/x.c")]),
        row(2, &[own("Jane", "/Users/jane/src/x.c")]),
        row(4, &[own("std::max<int>", "/Users/max/Muller/x.c")]),
        row(8, &[own("max", "/Users/max/M\u{fc}ller/x.c")]),
        row(16, &[own("Max", "")]),
    ];
    let (value, _) = redacted(&Folder::new(), ROWS, "rec.xml", "functions");
    let mut names = cells(&value, "functions", "function");
    names.sort();
    assert_eq!(names, ["Max", "max", "std::max<int>", "user-1", "user-1 (2)"], "{value}");
    let (value, _) = redacted(&Folder::new(), ROWS, "rec.xml", "lines");
    let text = value.to_string();
    let folders = (1..=9).filter(|number| text.contains(&format!("/path-{number}/x.c"))).count();
    assert_eq!(folders, 4, "{text}");
}

#[test]
fn an_input_is_no_word() {
    const ROWS: &[Row] = &[row(1, &[own("closure #1 in Feed", ""), own("std::max<int>", "")])];
    for input in ["1", "std", "Orchard"] {
        let (value, stderr) = redacted(&Folder::new(), ROWS, input, "functions");
        let names = cells(&value, "functions", "function");
        assert!(
            names.contains(&"closure #1 in Feed".to_owned()) && names.contains(&"std::max<int>".to_owned()),
            "{names:?}"
        );
        assert!(stderr.contains("1 input; kept as the app: Orchard"), "{stderr}");
        assert!(value.to_string().contains("\"input-1\""), "{input}: {value}");
    }
}

#[test]
fn the_app_keeps_its_name_if_a_user_has_it_too() {
    const ROWS: &[Row] =
        &[row(1, &[own("Orchard.main()", "/Users/orchard/x.c"), own("f", "/Users/orchard/Streng/x.c")])];
    let (value, stderr) = redacted(&Folder::new(), ROWS, "rec.xml", "functions");
    assert!(cells(&value, "functions", "function").contains(&"Orchard.main()".to_owned()), "{value}");
    assert!(stderr.contains("kept as the app: Orchard"), "{stderr}");
}

#[test]
fn no_binary_shows_its_folder_to_keep_its_category() {
    const XCODE: &str = "/Users/developer/Streng/Xcode.app/Contents/Developer/Foo";
    const ROWS: &[Row] = &[
        row(1, &[("f", "Foo", XCODE, "")]),
        row(2, &[("g", "jane", "/Users/jane/Streng/janes.kext/Contents/MacOS/jane", "")]),
        Row {
            process: ("App", 7),
            thread: ("Main Thread", 8),
            weight: 4,
            frames: &[("h", "App", "/Users/jane/Streng/App", "")],
        },
    ];
    let (value, _) = redacted(&Folder::new(), ROWS, "rec.xml", "binaries");
    let paths = cells(&value, "binaries", "path");
    assert!(paths.iter().any(|path| path.ends_with("/Xcode.app/Contents/Developer/Foo")), "{paths:?}");
    assert!(paths.iter().all(|path| !["Streng", "Users", "jane"].iter().any(|name| path.contains(name))), "{paths:?}");
}

#[test]
fn errors_before_anything_is_read_tell_no_names() {
    let folder = Folder::new();
    let input = folder.file("jane-secret.xml", "<x/>");
    let bad = folder.file("tangerine.txt", "function /Tangerine(/ => b\n");
    let missing = folder.path("tangerine-2.txt");
    for args in [
        &[&input, &input, "--redact"][..],
        &[&input, "--redact-rules", &bad],
        &[&input, "--redact-rules", &missing],
        &["diff", &input, &input, "--redact-rules", &bad],
        &["toc", &input, &input, "--redact"],
    ] {
        let assert = finish(&mut traceparse(args));
        let stderr = stderr_of(&assert).to_lowercase();
        assert_ne!(assert.get_output().status.code(), Some(0), "{args:?}");
        assert!(
            !stderr.contains("jane") && !stderr.contains("tangerine") && !stderr.contains("/tmp"),
            "{args:?}: {stderr}"
        );
    }
}
