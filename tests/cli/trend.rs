//! `traceparse trend`: the answer, its exit code, inputs and formats. How often answers are wrong is tested in `tests/library/trend.rs`.

use std::fmt::Write as _;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::command::{Folder, fails, finish, stderr_of, stdout_of, traceparse};
use crate::fleet_case::{export, write};

/// Percent that a run deviates from a typical one, in turn.
const VARIATION: [f64; 8] = [0.0, 0.9, -0.8, 1.2, -1.0, 0.3, -0.5, -1.1];

/// Writes `versions` versions with two runs on each of two devices, the slow one from the third version on, and returns their manifest. From
/// `slower` on, they use a tenth more.
fn history(folder: &Folder, versions: usize, slower: usize) -> String {
    let mut manifest = "path,duration,app_version,device,ring\n".to_owned();
    for index in 0..4 * versions {
        let (version, is_slow) = (index / 4, index % 2 == 1);
        if is_slow && version < 2 {
            continue;
        }
        let factor = if version >= slower { 1.1 } else { 1.0 } * if is_slow { 1.5 } else { 1.0 };
        let share = 0.03 * factor * (1.0 + VARIATION[index * 5 % 8] / 100.0);
        write(folder, &format!("{index}.xml"), export((30_000.0 * share).round() as u64));
        let device = if is_slow { "iPhone SE" } else { "iPhone 15" };
        writeln!(manifest, "{index}.xml,30,2.{version},{device},{}", ["red", "amber"][version % 2]).unwrap();
    }
    folder.file("fleet.csv", manifest)
}

fn run(args: &[&str], code: i32) -> String {
    let assert = finish(traceparse(&[&["trend"], args].concat()).env("COLUMNS", "80")).code(code);
    assert_eq!(stderr_of(&assert), "");
    stdout_of(&assert)
}

#[test]
fn names_the_version_since_which_an_app_is_slower() {
    let folder = Folder::new();
    let manifest = history(&folder, 14, 8);
    let args = [manifest.as_str(), "--over", "app_version", "--block", "device"];
    let text = run(&args, 3);
    let first = text.split("\n\n").next().unwrap().replace("\n  ", " ");
    let command = "compare functions: traceparse compare ";
    assert!(first.starts_with("Slower since 2.8: +") && first.contains(", 28 runs before, 24 after."), "{text}");
    assert!(first.contains(command), "{text}");
    assert!(text.contains('▲') && text.contains("trend over app_version · "), "{text}");
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    let json: Value = serde_json::from_str(&run(&[&args[..], &["--format", "json"]].concat(), 3)).unwrap();
    let change = &json["measures"][0]["changes"][0];
    assert_eq!((json["verdict"].as_str(), change["point"].as_u64()), (Some("slower"), Some(8)));
    let number = |field: &str| change[field].as_f64().unwrap();
    assert!((number("ratio") - 1.1).abs() < 0.01 && number("lower") < 1.1 && number("upper") > 1.1, "{change}");
    assert!(
        number("p") < 1e-6
            && json["measures"][0]["points"][1]["blocks"] == 1
            && json["measures"][0]["points"][2]["blocks"] == 2,
        "{json}"
    );
    // Values refer to the mean of both devices, which use 3 % and 4.5 %.
    assert!((json["measures"][0]["points"][0]["value"].as_f64().unwrap() - 3.0 * 1.5_f64.sqrt()).abs() < 0.1, "{json}");
    let csv = run(&[&args[..], &["--format", "csv"]].concat(), 3);
    assert_eq!(csv.lines().filter(|line| !line.ends_with(",,,,")).count(), 2, "{csv}");
    assert!(csv.lines().nth(9).unwrap().contains(",2.8,1."), "{csv}");
    assert_eq!(csv.lines().count(), 15);
    run(&[&args[..], &["--fail-on", "unknown"]].concat(), 0);
    assert!(
        run(&[&args[..], &["--min-effect", "20%"]].concat(), 0)
            .starts_with("No change above 20 % in CPU use was shown in 14 versions.\n")
    );
}

#[test]
fn accepts_a_known_change() {
    let folder = Folder::new();
    let manifest = history(&folder, 14, 8);
    let args = [manifest.as_str(), "--over", "app_version", "--block", "device", "--accepted"];
    let text = run(&[&args[..], &["2.8"]].concat(), 0);
    assert!(text.starts_with("No change above 3 % in CPU use since 2.8 was shown in 14 versions.\n"), "{text}");
    assert!(text.contains("\nAccepted: Slower since 2.8: +"), "{text}");
    run(&[&args[..], &["2.7"]].concat(), 3);
    let text = run(&[&args[..], &["3.0"]].concat(), 1);
    assert!(text.starts_with("Invalid: no run has app_version 3.0, which --accepted names.\n"), "{text}");
}

#[test]
fn a_dataset_has_the_same_trend() {
    let folder = Folder::new();
    let (manifest, dataset) = (history(&folder, 12, 12), folder.path("dataset"));
    finish(&mut traceparse(&["fleet", "extract", &manifest, "-o", &dataset])).success();
    let of = |input: &str, code| {
        run(&[input, "--over", "app_version", "--where", "device=iPhone 15", "--format", "json"], code)
    };
    assert_eq!(of(&manifest, 0), of(&dataset, 0));
    assert!(of(&manifest, 0).contains("\"verdict\":\"no-change\""));
}

#[test]
fn reports_too_few_points_and_missing_order() {
    let folder = Folder::new();
    let manifest = history(&folder, 4, 2);
    let text = run(&[&manifest, "--over", "app_version", "--fail-on", "slower,unknown"], 4);
    assert!(text.starts_with("Too few points: 4; a change needs 5 before it and 5 after it.\n"), "{text}");
    run(&[&manifest, "--over", "app_version"], 0);
    let text = run(&[&manifest, "--over", "date"], 1);
    assert!(
        text.starts_with("Invalid: no run has a known date.\n12 runs without a known date are left out."),
        "{text}"
    );
    let names: Vec<String> = "abcdefghij".chars().map(|letter| format!("{letter}{letter}")).collect();
    let mut manifest = "path,duration,commit\n".to_owned();
    for (index, name) in names.iter().enumerate() {
        write(&folder, &format!("c{index}.xml"), export(100 + index as u64));
        writeln!(manifest, "c{index}.xml,3,{name}").unwrap();
    }
    let manifest = folder.file("commits.csv", manifest);
    let text = run(&[&manifest, "--over", "commit"], 1);
    let expected = "Invalid: commit has no order, since values such as aa and jj differ in more than their numbers;";
    assert!(text.replace("\n  ", " ").starts_with(expected), "{text}");
}

#[test]
fn refuses_labels_that_make_no_trend() {
    let folder = Folder::new();
    let manifest = history(&folder, 2, 1);
    let run = |args: &[&str], words: &str| {
        let message = fails(2, &[&["trend", manifest.as_str()], args].concat());
        assert!(message.contains(words), "{message}");
    };
    run(&["--over", "app_version", "--block", "app_version"], "different labels");
    run(&["--over", " "], "a label is empty");
    run(&["--over", "app_version", "--accepted", ""], "--accepted is empty");
    run(&[], "--over");
    run(&["--over", "date", "-o", "t.html"], "cannot write HTML here");
}
