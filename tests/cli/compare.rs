//! `traceparse compare`: verdicts, exit codes, inputs and formats. `simulate-compare` counts how often verdicts are wrong in more cases.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::{BINARY, Folder, fails, finish, read_text, stdout_of, traceparse};
use crate::workbench::Payload;
use crate::workbench_diff::facts;
use support::builder::Builder;
use support::compare_command::{Outcome, compared};
use support::compared_runs::{Change, FIRST, Length, Sides};
use support::{RenderOptions, Shape, Table, render, rounds};

const MILLISECOND: u64 = 1_000_000;
/// Percent that a run deviates from a typical one, in turn.
const VARIATION: [i64; 10] = [0, 9, -8, 12, -10, 3, -5, 11, -12, 5];

/// An export with these functions, each with its callers after `main` and its number of samples of 1 ms.
fn export(functions: &[(&str, u64)], table: Table) -> String {
    let mut builder = Builder::default();
    let process = builder.process("Shop", 501, "/Applications/Shop.app/Contents/MacOS/Shop");
    let thread = builder.thread(process, 0x101, &["Main Thread"]);
    let uuid = "11111111-2222-3333-4444-555555555555";
    let app = builder.image("/Applications/Shop.app/Contents/MacOS/Shop", "arm64", uuid, 0x1_0000_0000);
    builder.function("main", app, Some("main"), None);
    let mut time = 0;
    for (name, samples) in functions {
        for name in name.split(' ') {
            builder.function(name, app, Some(name), None);
        }
        for _ in 0..*samples {
            builder.row(time, thread, &format!("main {name}"));
            time += MILLISECOND;
        }
    }
    render(&builder.recording, &RenderOptions::new(Shape::Xcode26_4, table, &builder.recording))
}

/// Writes a side of `count` runs and its manifest. The second device takes 1.5 times as long; `total` takes `factor` times as long.
fn side(folder: &Folder, name: &str, count: usize, factor: f64) -> String {
    fs::create_dir_all(folder.path(name)).unwrap();
    let mut manifest = "path,duration,device,device_id,app_version\n".to_owned();
    for index in 0..count {
        let (device, scale) = if index % 2 == 0 { ("iPhone 14", 1.0) } else { ("iPhone SE", 1.5) };
        // On the other side, different runs deviate.
        let variation = VARIATION[(index / 2 * 3 + 4 * name.len()) % VARIATION.len()] as f64;
        let samples = |typical: f64| (typical * scale * (1.0 + variation / 100.0)).round() as u64 + (index / 10) as u64;
        // Recordings with the same content would be treated as the same recording.
        let marker = (name, 1);
        let functions =
            [("layout", samples(100.0)), ("total", samples(60.0 * factor)), ("render", samples(200.0)), marker];
        folder.file(&format!("{name}/{index}.xml"), export(&functions, Table::TimeProfile));
        manifest += &format!("{index}.xml,2,{device},{device}-{},{name}\n", index / 4);
    }
    folder.file(&format!("{name}/runs.csv"), manifest)
}

fn run(args: &[&str], code: u8) -> String {
    stdout_of(&finish(&mut traceparse(&[&["compare"], args].concat())).code(i32::from(code)))
}

fn json(args: &[&str], code: u8) -> Value {
    serde_json::from_str(&run(&[args, &["--format", "json"]].concat(), code)).expect("JSON")
}

#[test]
fn a_slower_version_is_named_with_its_function() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1.9", 10, 1.0), side(&folder, "2.0", 10, 2.0));
    let args = [base.as_str(), "--against", &new, "--block", "device"];
    let text = run(&args, 3);
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("Slower: +") && first.contains("10 against 10 runs on 2 devices, blocked by device. total +"),
        "{text}"
    );
    assert!(first.ends_with("all of the growth."), "{text}");
    assert!(text.contains("app_version: 1.9 (10 runs) only in the base; 2.0 (10 runs) only in the new side"), "{text}");
    let answer = json(&args, 3);
    assert_eq!(
        (answer["verdict"].as_str(), &answer["reasons"]),
        (Some("slower"), &serde_json::json!(["total", "function"]))
    );
    assert_eq!((answer["n"]["base"].as_u64(), answer["family"]["size"].as_u64()), (Some(10), Some(3)));
    // 60 of 360 samples took twice as long.
    let ratio = answer["measures"][0]["effect"]["ratio"].as_f64().unwrap();
    assert!((1.14..1.20).contains(&ratio), "{ratio}");
    let total = &answer["functions"][0];
    assert_eq!((total["function"].as_str(), total["is_slower"].as_bool()), (Some("total"), Some(true)));
    assert!((1.9..2.1).contains(&total["ratio"].as_f64().unwrap()), "{total}");
    // With the sides swapped, it is faster.
    let args = [new.as_str(), "--against", &base, "--block", "device"];
    assert!(run(&args, 0).starts_with("Faster: −"));
    run(&["--fail-on", "unknown", &base, "--against", &new, "--block", "device"], 0);
}

#[test]
fn the_same_version_is_never_slower() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "a", 10, 1.0), side(&folder, "bb", 10, 1.0));
    let args = [base.as_str(), "--against", &new, "--block", "device"];
    let answer = json(&args, 0);
    assert_eq!(answer["verdict"], "unknown");
    let needed = answer["needed_runs"]["base"].as_u64().unwrap();
    assert!((30..300).contains(&needed), "{needed}");
    let text = run(&args, 0);
    let said = format!("about {needed} runs per side would show 3.0 %");
    assert!(text.starts_with("Cannot tell: ") && text.contains("could hide in") && text.contains(&said), "{text}");
    assert!(run(&[&args[..], &["--min-effect", "20%"]].concat(), 0).starts_with("No slowdown above "));
    run(&[&args[..], &["--fail-on", "slower,unknown"]].concat(), 4);
}

#[test]
fn few_runs_claim_nothing() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "a", 20, 1.0), side(&folder, "bb", 2, 4.0));
    let text = run(&[&base, "--against", &new], 0);
    assert!(text.starts_with("Cannot tell: +") && text.contains("a claim needs at least 3 runs per side"), "{text}");
    let four = side(&folder, "four", 4, 4.0);
    let answer = json(&[&base, "--against", &four], 3);
    assert_eq!((&answer["reasons"], &answer["family"]["size"]), (&serde_json::json!(["total"]), &0.into()));
}

#[test]
fn several_outputs_come_from_one_measurement() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1.9", 6, 1.0), side(&folder, "2.0", 6, 2.0));
    let paths = ["a.md", "b.json", "c.csv", "d.txt"].map(|name| folder.path(name));
    let [markdown, json_path, csv, text] = &paths;
    let outputs = ["-o", markdown, "-o", json_path, "-o", csv, "-o", text, "--runs"];
    assert_eq!(run(&[&[base.as_str(), "--against", &new][..], &outputs].concat(), 3), "");
    assert!(read_text(markdown).starts_with("🔴 **Slower"));
    let answer: Value = serde_json::from_str(&read_text(json_path)).expect("JSON");
    assert_eq!(answer, json(&[&base, "--against", &new], 3));
    let rows = read_text(csv);
    assert_eq!((rows.lines().count(), rows.lines().next().unwrap().starts_with("side,run,value,cpu_time")), (13, true));
    assert!(read_text(text).contains("recorded"));
    fails(2, &["compare", &base, "--against", &new, "--format", "text", "-o", markdown, "-o", text]);
    fails(2, &["compare", &base, "--against", &new, "--runs", "-o", markdown]);
}

#[test]
fn quantities_share_alpha_and_missing_ones_are_invalid() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1.9", 6, 1.0), side(&folder, "2.0", 6, 2.0));
    let args = [base.as_str(), "--against", &new];
    let answer = json(&[&args[..], &["--measure", "cpu-time", "--measure", "elapsed"]].concat(), 3);
    let names: Vec<&str> =
        answer["measures"].as_array().unwrap().iter().map(|of| of["measure"].as_str().unwrap()).collect();
    assert_eq!((names, &answer["levels"]["slower"]), (vec!["cpu-time", "elapsed"], &0.0125.into()));
    let answer = json(&[&args[..], &["--measure", "interval:Checkout"]].concat(), 1);
    assert_eq!(answer["verdict"], "invalid");
    assert!(answer["because"].as_str().unwrap().starts_with("no run has a complete interval named \"Checkout\""));
    fails(2, &["compare", &base, "--against", &new, "--measure", "time"]);
}

#[test]
fn one_input_is_split_by_a_label() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1.9", 8, 1.0), side(&folder, "2.0", 8, 1.5));
    let expected = json(&[&base, "--against", &new, "--block", "device"], 3);
    let split = ["--base", "app_version=1.9", "--new", "app_version=2.0", "--block", "device"];
    assert_eq!(json(&[&[base.as_str(), &new][..], &split].concat(), 3), expected);
    let dataset = folder.path("dataset");
    finish(&mut traceparse(&["fleet", "extract", &base, &new, "-o", &dataset])).success();
    assert_eq!(json(&[&[dataset.as_str()][..], &split].concat(), 3), expected, "from a dataset");
    let message = fails(1, &["compare", &dataset, "--base", "app_version=1.8", "--new", "app_version=2.0"]);
    assert!(
        message.contains("the base: none of 16 runs has app_version=1.8; known values: app_version 1.9, 2.0"),
        "{message}"
    );
    fails(2, &["compare", &dataset, "--base", "app_version=1.8"]);
    fails(2, &["compare", &dataset]);
}

#[test]
fn units_are_what_a_label_says() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "a", 40, 1.0), side(&folder, "bb", 40, 1.0));
    let answer = json(&[&base, "--against", &new, "--unit", "device_id"], 0);
    assert_eq!((answer["n"]["base"].as_u64(), answer["runs"]["base"].as_u64()), (Some(20), Some(40)));
    assert!(answer["warnings"].to_string().contains("--block device_id compares each with itself"), "{answer}");
    let warned = json(&[&base, "--against", &new], 0);
    assert!(warned["warnings"].to_string().contains("use --block device_id, since both sides have 20"), "{warned}");
}

#[test]
fn runs_and_their_spread_are_in_json() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1.9", 10, 1.0), side(&folder, "2.0", 10, 2.0));
    let answer = json(&[&base, "--against", &new, "--block", "device"], 3);
    let (mut chi_squared, mut degrees) = (0.0, 0.0);
    for block in answer["blocks"].as_array().unwrap() {
        for name in ["base", "new"] {
            let runs = block["runs"][name].as_array().unwrap();
            let uses: Vec<f64> = runs.iter().map(|run| run["cpu_use"].as_f64().unwrap()).collect();
            assert!(uses.is_sorted() && runs.iter().all(|run| run["source"].as_str().unwrap().ends_with(".xml")));
            // Five runs: the second, third and fourth.
            let summary = &block["summary"][name];
            assert_eq!(
                ["p25", "p50", "p75"].map(|name| summary[name].as_f64().unwrap()),
                [1, 2, 3].map(|place: usize| uses[place])
            );
            let product: f64 = uses.iter().product();
            assert!((summary["geometric_mean"].as_f64().unwrap() - product.powf(0.2)).abs() < 1e-9);
            // A percent of two seconds is 20 samples, of 1 ms each.
            let counts: Vec<f64> = uses.iter().map(|percent| percent * 20.0).collect();
            let mean = counts.iter().sum::<f64>() / counts.len() as f64;
            chi_squared += counts.iter().map(|count| (count - mean).powi(2) / mean).sum::<f64>();
            degrees += counts.len() as f64 - 1.0;
        }
    }
    let expected = (chi_squared / degrees).sqrt();
    let factor = answer["noise_factor"].as_f64().unwrap();
    assert!(expected > 1.1 && (factor - expected).abs() < 1e-9, "{factor} instead of {expected}");
}

/// The weight of a side of a page, in samples of 1 ms.
fn samples_of(id: &str, page: &str) -> u64 {
    Payload::named(id, page).column("samples.weight").iter().sum::<u64>() / MILLISECOND
}

#[test]
fn the_page_has_all_runs_and_their_sums() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1.9", 10, 1.0), side(&folder, "2.0", 10, 2.0));
    let (args, path) = ([base.as_str(), "--against", &new, "--block", "device"], folder.path("compare.html"));
    run(&[&args[..], &["-o", &path]].concat(), 3);
    let (page, answer, text) = (read_text(&path), json(&args, 3), run(&args, 3));
    let facts = facts(&page);
    let shown = &facts["comparison"];
    assert_eq!(shown["sentence"].as_str(), text.lines().next());
    for name in ["verdict", "measures", "n", "family", "warnings", "noise_factor"] {
        assert_eq!(shown[name], answer[name], "{name}");
    }
    assert_eq!(
        (&shown["blocks"][0]["runs"], &shown["blocks"][0]["count"]["base"]),
        (&answer["blocks"][0]["runs"], &5.into())
    );
    // Only `total` changed.
    assert_eq!(
        (shown["functions"].as_array().map(Vec::len), &shown["functions"][0]["name"]),
        (Some(1), &"total".into())
    );
    for (side, name, id) in [(0, "base", "before"), (1, "new", "profile")] {
        let runs =
            answer["blocks"].as_array().unwrap().iter().flat_map(|block| block["runs"][name].as_array().unwrap());
        let percent: f64 = runs.map(|run| run["cpu_use"].as_f64().unwrap()).sum();
        assert_eq!(samples_of(id, &page), (percent * 20.0).round() as u64, "{side}");
    }
    // The noise of the sums is the sampling noise times the factor.
    let samples = ["before", "profile"].map(|id| samples_of(id, &page) as f64);
    let noise = (samples[0] + samples[1]).sqrt() * answer["noise_factor"].as_f64().unwrap() * MILLISECOND as f64;
    let found = facts["total"]["all_change"]["noise"].as_f64().unwrap();
    assert!((found / noise - 1.0).abs() < 1e-9, "{found} instead of {noise}");
    assert_eq!((&facts["noise_factor"], &facts["normalize"]), (&answer["noise_factor"], &"duration".into()));
}

#[test]
fn runs_that_do_not_count_are_not_summed() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1", 8, 1.0), side(&folder, "22", 8, 1.0));
    fs::write(&new, read_text(&new).replace("iPhone SE,", "iPad,")).unwrap();
    let dataset = folder.path("dataset");
    finish(&mut traceparse(&["fleet", "extract", &base, &new, "-o", &dataset, "--stacks"])).success();
    let split = [dataset.as_str(), "--base", "app_version=1", "--new", "app_version=22"];
    let page = |inputs: &[&str]| run(&[inputs, &["--block", "device", "--format", "html"]].concat(), 0);
    let pages = [page(&[&base, "--against", &new]), page(&split)];
    let answer = json(&[&base, "--against", &new, "--block", "device"], 0);
    let runs = answer["blocks"][0]["runs"]["base"].as_array().unwrap();
    let percent: f64 = runs.iter().map(|run| run["cpu_use"].as_f64().unwrap()).sum();
    for page in &pages {
        assert_eq!(samples_of("before", page), (percent * 20.0).round() as u64);
    }
    // Links to recordings are relative to the page; a dataset does not record their location.
    let root = pages.each_ref().map(|page| facts(page)["comparison"]["root"].clone());
    assert_eq!(root, [Value::from(""), Value::Null]);
    let without = folder.path("without");
    finish(&mut traceparse(&["fleet", "extract", &base, &new, "-o", &without])).success();
    let message = fails(1, &[&["compare", &without][..], &split[1..], &["-o", &folder.path("x.html")]].concat());
    assert!(message.contains("have no stacks") && message.contains("--stacks"), "{message}");
}

#[test]
fn sides_that_are_not_alike_have_no_verdict() {
    let folder = Folder::new();
    let base = side(&folder, "base", 6, 1.0);
    fs::create_dir(folder.path("cycles")).unwrap();
    let cycles: Vec<String> = (0..3)
        .map(|index| folder.file(&format!("cycles/{index}.xml"), export(&[("f", 50 + index)], Table::CpuProfile)))
        .collect();
    let message = fails(
        1,
        &[&["compare", &base, "--against"], &cycles.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat(),
    );
    assert!(message.contains("the base is measured in ns and the new side in cycles"), "{message}");
    let new = side(&folder, "failed", 6, 3.0);
    for name in ["failed/0.xml", "failed/1.xml"] {
        fs::write(folder.path(name), "").unwrap();
    }
    let answer = json(&[&base, "--against", &new, "--block", "device"], 1);
    assert_eq!(
        answer["because"],
        "2 of 6 inputs of the new side could not be measured, and the others may not be like them"
    );
}

#[test]
fn blocks_of_one_side_do_not_count() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1", 8, 1.0), side(&folder, "22", 8, 1.0));
    let edited = read_text(&new).replace("iPhone SE,", "iPad,");
    fs::write(&new, edited).unwrap();
    let answer = json(&[&base, "--against", &new, "--block", "device"], 0);
    assert_eq!((answer["n"]["base"].as_u64(), answer["blocks"].as_array().map(Vec::len)), (Some(4), Some(1)));
    let warnings = answer["warnings"].to_string();
    assert!(
        warnings.contains("4 runs of the base are not used, since only this side has device iPhone SE."),
        "{warnings}"
    );
}

#[test]
fn sides_without_a_common_block_have_no_verdict() {
    let folder = Folder::new();
    let (base, new) = (side(&folder, "1", 4, 1.0), side(&folder, "22", 4, 1.0));
    fs::write(&new, read_text(&new).replace("iPhone", "iPad")).unwrap();
    let answer = json(&[&base, "--against", &new, "--block", "device"], 1);
    assert_eq!(
        (answer["because"].as_str(), &answer["family"]),
        (Some("the sides have no device in common"), &Value::Null)
    );
    let text = run(&[&base, "--against", &new, "--block", "device", "--format", "markdown"], 1);
    assert!(text.starts_with("⛔ **No comparison is possible**") && !text.contains("NaN"), "{text}");
    // Without blocks, the device explains everything.
    let because = json(&[&base, "--against", &new], 1)["because"].clone();
    assert!(because.as_str().unwrap().starts_with("the sides have no device in common, so"), "{because}");
}

#[test]
fn names_are_inert_in_markdown_and_junit() {
    let folder = Folder::new();
    let hostile = "a|b]<img/src=x>*_`@octocat#1&amp;www.evil.example";
    let write = |name: &str, times: u64| {
        fs::create_dir(folder.path(name)).unwrap();
        for index in 0..6 {
            let samples = (80 + 3 * (index % 3)) * times + index;
            folder.file(
                &format!("{name}/{index}.xml"),
                export(&[(hostile, samples), ("g", 300 + index)], Table::TimeProfile),
            );
        }
        folder.path(name)
    };
    let (base, new) = (write("base", 1), write("new", 2));
    let markdown = folder.path("verdict.md");
    run(&[&base, "--against", &new, "-o", &markdown], 3);
    let text = read_text(&markdown);
    assert!(text.starts_with("🔴 **Slower**"), "{text}");
    for active in ["<img", "@octocat", "#1&", "www.", "`", "*_"] {
        assert!(!text.contains(active), "{active}: {text}");
    }
    // Every line of the table has the same number of cells.
    let cells = |line: &str| line.matches('|').count();
    assert!(text.lines().filter(|line| line.starts_with('|')).all(|line| cells(line) == 7), "{text}");
    let junit = folder.path("junit.xml");
    run(&[&base, "--against", &new, "-o", &junit], 3);
    let text = read_text(&junit);
    assert!(text.contains("<testsuites tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\">"), "{text}");
    assert!(text.contains("name=\"a|b]&lt;img/src=x&gt;*_`@octocat#1&amp;amp;www.evil.example\""), "{text}");
    let junit = run(&[&base, "--against", &base, "--format", "junit", "--functions", "off"], 1);
    let message = "No comparison is possible: both sides have the same 6 recordings; pass each to only one side.";
    assert!(junit.contains(&format!("<error type=\"invalid\" message=\"{message}\"/>")), "{junit}");
}

#[test]
fn cost_that_moved_is_no_claim() {
    let folder = Folder::new();
    let write = |name: &str, functions: &[(&str, u64)]| {
        fs::create_dir(folder.path(name)).unwrap();
        for index in 0..8 {
            let vary = |&(function, samples): &(_, u64)| (function, samples * (96 + index) / 100);
            let mut functions: Vec<(&str, u64)> = functions.iter().map(vary).collect();
            functions.push((name, 1));
            folder.file(&format!("{name}/{index}.xml"), export(&functions, Table::TimeProfile));
        }
        let lines = (0..8).map(|index| format!("{index}.xml,2\n")).collect::<String>();
        folder.file(&format!("{name}/runs.csv"), format!("path,duration\n{lines}"))
    };
    // `helper` became a part of `total`, and `measure` was split from `layout`; `draw` takes twice as long.
    let base = write("base", &[("total", 100), ("total helper", 100), ("layout", 200), ("draw", 50), ("rest", 300)]);
    let new = write("new", &[("total", 200), ("layout", 120), ("layout measure", 80), ("draw", 100), ("rest", 300)]);
    let named = |answer: &Value, is: &dyn Fn(&Value) -> bool| {
        let rows = answer["functions"].as_array().unwrap().iter().filter(|row| is(row));
        let mut names: Vec<String> = rows.map(|row| row["function"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let from = |answer: &Value, name: &str| {
        let row = answer["functions"].as_array().unwrap().iter().find(|row| row["function"] == name).cloned();
        row.unwrap()["moved_from"].as_array().unwrap().iter().map(|from| from["function"].clone()).collect::<Vec<_>>()
    };
    let check = |answer: &Value| {
        assert_eq!(named(answer, &|row| row["is_slower"] == true), ["draw"], "{answer}");
        assert_eq!((from(answer, "total"), from(answer, "measure")), (vec!["helper".into()], vec!["layout".into()]));
    };
    check(&json(&[&base, "--against", &new], 3));
    // A dataset contains callers only if it was extracted with stacks; otherwise, the origin of moved cost is unknown.
    for option in [Some("--stacks"), None] {
        let datasets = [&base, &new].map(|runs| {
            let dataset = format!("{runs}{}.dataset", option.unwrap_or_default());
            let options =
                [&["fleet", "extract", runs.as_str(), "-o", &dataset][..], &option.into_iter().collect::<Vec<_>>()]
                    .concat();
            finish(&mut traceparse(&options)).success();
            dataset
        });
        check(&json(&[&datasets[0], "--against", &datasets[1]], 3));
    }
}

/// Answers to comparisons of invented runs with different seeds.
fn outcomes(sides: &[Sides], each: u64) -> Vec<Outcome> {
    let folder = Folder::new();
    let dataset = folder.path("dataset");
    let compared = |sides, seed| compared(Path::new(BINARY), Path::new(&dataset), sides, seed).expect("an answer");
    sides.iter().flat_map(|sides| (0..rounds(each)).map(move |seed| compared(sides, seed))).collect()
}

/// A small version of `simulate-compare`.
#[test]
fn identical_code_is_rarely_claimed_to_differ() {
    let usual = Sides::default();
    let sides = [
        usual,
        Sides { runs: [20, 2], ..usual },
        Sides { length: Length::Users, ..usual },
        Sides { change: Change::Renamed, is_flat: true, ..usual },
    ];
    let outcomes = outcomes(&sides, 200);
    let claims = outcomes.iter().filter(|outcome| outcome.claims()).count();
    // If the rate is 5.5 %, a higher count occurs once in ten thousand series.
    let expected = 0.055 * outcomes.len() as f64;
    assert!(claims as f64 <= expected + 3.7 * expected.sqrt(), "{claims} of {}: {outcomes:?}", outcomes.len());
}

#[test]
fn longer_work_is_found() {
    let everything = Sides { runs: [3, 3], change: Change::Everything(2.0), ..Sides::default() };
    let slower = outcomes(&[everything, Sides { length: Length::LaunchToExit, ..everything }], 50);
    assert!(slower.iter().all(|outcome| outcome.verdict == "slower" && outcome.exit_code == 3), "{slower:?}");
    let named = outcomes(&[Sides { change: Change::First(2.0), ..Sides::default() }], 100);
    let count = named.iter().filter(|outcome| outcome.names(FIRST)).count();
    assert!(count as f64 >= 0.8 * named.len() as f64, "{count}: {named:?}");
}

/// Replaces all elements with this name.
fn replaced(text: &str, name: &str, by: &str) -> String {
    let (mut rest, mut replaced) = (text, String::new());
    while let Some((before, element)) = rest.split_once(&format!("<{name} ")) {
        let (tag, after) = element.split_once('>').expect("it ends");
        let end = format!("</{name}>");
        rest = if tag.ends_with('/') { after } else { after.split_once(&end).expect("it ends").1 };
        replaced += before;
        replaced += by;
    }
    replaced + rest
}

/// A side whose functions have no binaries, stacks or names cannot show that functions are new.
#[test]
fn functions_that_only_one_side_names_are_not_called_slower() {
    let folder = Folder::new();
    let without_binaries = |text: &str| replaced(text, "binary", "");
    let without_stacks = |text: &str| replaced(text, "tagged-backtrace", "<sentinel/>");
    let without_names = |text: &str| text.replace("name=\"render\"", "name=\"0x100000999\"");
    let samples = |index: usize| 100 + VARIATION[index].unsigned_abs();
    for index in 0..6 {
        let functions = [("layout", samples(index)), ("render", 2 * samples(index + 3)), ("total", samples(index + 2))];
        let text = export(&functions, Table::TimeProfile);
        let write = |name: &str, text: &str| crate::fleet_case::write(&folder, &format!("{name}/{index}.xml"), text);
        write("whole", &text);
        write("no-binaries", &without_binaries(&text));
        write("no-names", &without_names(&text));
        write("no-stacks", &without_stacks(&text));
    }
    let whole = folder.path("whole");
    let said_of = |args: &[&str]| {
        let output = traceparse(args).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
        (output.status.code(), text)
    };
    for (other, said) in [
        ("no-binaries", "have no binary or no stack, which may explain changes"),
        ("no-stacks", "have no binary or no stack, which may explain changes"),
        ("no-names", "Shop has unnamed code"),
    ] {
        let other = folder.path(other);
        for [base, new] in [[&other, &whole], [&whole, &other]] {
            let (code, text) = said_of(&["compare", base, "--against", new, "--min-effect", "50%"]);
            assert!(code != Some(3) && text.contains(said) && !text.contains("Slower"), "{base} {new}: {text}");
        }
    }
    // Unnamed code that did not change explains nothing.
    for (index, factor) in (0..6).flat_map(|index| [(index, 1), (index, 3)]) {
        let functions = [("layout", 60), ("render", factor * samples(index)), ("total", samples(index + 2))];
        let text = export(&functions, Table::TimeProfile).replace("name=\"layout\"", "name=\"0x100000999\"");
        crate::fleet_case::write(&folder, &format!("grown-{factor}/{index}.xml"), text);
    }
    let grown = ["grown-1", "grown-3"].map(|name| folder.path(name));
    let (code, text) = said_of(&["compare", &grown[0], "--against", &grown[1]]);
    assert!(code == Some(3) && text.contains("render") && !text.contains("unnamed code"), "{text}");
    let grown = grown.map(|folder| format!("{folder}/1.xml"));
    let (code, text) = said_of(&["diff", &grown[0], &grown[1], "--alert", "function(*).self > 3%"]);
    assert!(code == Some(3) && text.contains("is render") && !text.contains("unnamed code"), "{text}");
    // A comparison of two recordings matches names without binaries.
    let [whole, unnamed, stackless] =
        ["whole", "no-names", "no-stacks"].map(|name| folder.path(&format!("{name}/1.xml")));
    for (before, said) in [(&unnamed, "Shop has unnamed code"), (&stackless, "have no binary or no stack")] {
        let (code, text) = said_of(&["diff", before, &whole, "--alert", "function(*).self > 3%"]);
        assert!(code == Some(4) && text.contains(said) && text.contains("names are missing"), "{text}");
        assert!(!text.contains("largest change"), "{text}");
    }
}
