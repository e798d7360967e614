//! `--redact`: no output contains the name of a person, a device, another program or a place, and no number changes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;
use support::Table;
use support::bundle::{BundleOptions, to_folder, write_bundle};
use support::page::{payload, without_engine};

use crate::bundle_case;
use crate::command::{Folder, finish, fixture, stderr_of, traceparse};
use crate::fleet_case::write;
use crate::redact_case::{SECRETS, Written, spellings, written};

/// The views of a report, and of a comparison.
const VIEWS: [&str; 18] = [
    "overview",
    "full",
    "summary",
    "threads",
    "tree",
    "bottom-up",
    "functions",
    "heaviest",
    "binaries",
    "categories",
    "transitions",
    "lines",
    "processes",
    "states",
    "cores",
    "timeline",
    "samples",
    "flame-chart",
];
const DIFF_VIEWS: [&str; 4] = ["overview", "functions", "binaries", "tree"];

/// All output of a run, with compressed parts inflated.
fn outputs(args: &[&str]) -> String {
    let assert = finish(traceparse(args).env("LC_ALL", "C"));
    let output = assert.get_output();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 3 | 4)), "{args:?}: {}", stderr_of(&assert));
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text = with_payloads(text);
    if output.stdout.starts_with(b"\x1f\x8b") {
        let mut inflated = Vec::new();
        GzDecoder::new(output.stdout.as_slice()).read_to_end(&mut inflated).expect("gzip");
        text = String::from_utf8_lossy(&inflated).into_owned();
    }
    text + &stderr_of(&assert)
}

/// A page with inflated payloads and without its engine.
fn with_payloads(mut text: String) -> String {
    for (id, format) in [("profile", "traceparse-workbench"), ("before", "traceparse-workbench"), ("report", "words")] {
        if text.contains(&format!("<script id=\"{id}\"")) {
            let payload = String::from_utf8_lossy(&payload(id, &text)).into_owned();
            assert!(payload.contains(format));
            text += &payload;
        }
    }
    without_engine(&text)
}

/// Checks that a string contains none of the names, in any spelling.
#[track_caller]
fn assert_none(text: &str, names: &[&str], what: &[&str]) {
    let small = text.to_lowercase();
    for name in names.iter().flat_map(|name| spellings(name)) {
        if let Some(at) = small.find(&name) {
            let start = (0..at.saturating_sub(60) + 1).rev().find(|&at| small.is_char_boundary(at)).unwrap_or(0);
            let end = (at + name.len() + 60..).find(|&at| at >= small.len() || small.is_char_boundary(at)).unwrap();
            panic!("{what:?} tells {name}: {}", &small[start..end.min(small.len())]);
        }
    }
}

/// Every way to show these inputs.
fn ways(inputs: &[&str]) -> Vec<Vec<String>> {
    let mut ways: Vec<Vec<&str>> = Vec::new();
    for view in VIEWS {
        ways.push(vec!["--view", view]);
        if view != "flame-chart" || view == "overview" {
            ways.push(vec!["--view", view, "--format", "json"]);
        }
        if !["overview", "full", "flame-chart"].contains(&view) {
            ways.push(vec!["--view", view, "--format", "ndjson"]);
            ways.push(vec!["--view", view, "--format", "csv"]);
        }
    }
    for format in ["d3", "chrome-trace", "folded", "svg", "html", "firefox", "speedscope", "pprof"] {
        ways.push(vec!["--format", format]);
    }
    for separated in ["process", "state", "core-kind", "none"] {
        ways.push(vec!["--view", "tree", "--separate-by", separated, "--format", "json"]);
    }
    let all = ways.into_iter().map(|way| [way.as_slice(), inputs].concat());
    all.map(|way| way.into_iter().map(str::to_owned).collect()).collect()
}

#[test]
fn no_view_and_no_format_tells_a_name() {
    for has_target in [true, false] {
        let Written { export, toc, folder: _folder } = written(has_target);
        for way in ways(&[&export, &toc]) {
            let way: Vec<&str> = way.iter().map(String::as_str).collect();
            let open = outputs(&way);
            let small = open.to_lowercase();
            assert!(SECRETS.iter().any(|name| small.contains(name)), "{way:?} has nothing to hide");
            assert_none(&outputs(&[&way[..], &["--redact"]].concat()), &SECRETS, &way);
        }
    }
}

#[test]
fn the_other_commands_tell_none() {
    let Written { export, toc, folder } = written(true);
    for way in [
        &["toc", &toc, &export][..],
        &["toc", &toc, &export, "--format", "json"],
        &[&export, &toc, "--process", "Zaubertrank", "--format", "json"],
        &[&export, &toc, "--process", "zauber", "--format", "html"],
        &[&export, &toc, "--thread", "/worker|queue/", "--during", "Layout of Siobhán", "--format", "json"],
        &[&export, &toc, "--focus", "Zaubertrank", "--format", "json"],
        &[&export, &toc, "--binary", "Zaubertrank"],
        &[&export, &toc, "--function", "jane\u{301}::Feed::layout(int)"],
        &[&export, &toc, "--function", "Zaubertrank::brew()", "--format", "json"],
        &[&export, &toc, "--view", "lines", "--source", &folder.path(".")],
    ] {
        // A process named with --process is the app: its name and the name of its bundle are kept.
        let is_kept = |name: &&str| way.contains(&"--process") && ["zaubertrank", "geheimnis"].contains(name);
        let secrets: Vec<&str> = SECRETS.into_iter().filter(|name| !is_kept(name)).collect();
        assert_none(&outputs(&[way, &["--redact"]].concat()), &secrets, way);
    }
    let after = folder.file("ruud-bericht.xml", crate::redact_case::export().replace("4000000", "9000000"));
    for view in DIFF_VIEWS {
        for format in ["text", "json", "csv", "svg"] {
            if (format == "csv" || format == "svg") && (view == "overview" || (view == "tree") != (format == "svg")) {
                continue;
            }
            let way = ["diff", &export, &after, "--before-toc", &toc, "--force", "--view", view, "--format", format];
            assert_none(&outputs(&[&way[..], &["--redact"]].concat()), &SECRETS, &way);
        }
    }
    let way = ["diff", &export, &after, "--before-toc", &toc, "--force", "--format", "html"];
    let open = outputs(&way);
    assert!(SECRETS.iter().any(|name| open.to_lowercase().contains(name)), "the page tells them otherwise");
    assert_none(&outputs(&[&way[..], &["--redact"]].concat()), &SECRETS, &way);
    let way = ["diff", &export, &after, "--alert", "function(\"Zaubertrank::brew()\").self > 1%", "--redact"];
    assert!(outputs(&way).contains("process-"), "the alert is about what the function is called now");
    assert_none(&outputs(&way), &SECRETS, &way);
}

#[test]
fn messages_about_inputs_tell_none() {
    let folder = Folder::new();
    let broken = folder.file("jané-bericht.xml", "<?xml version=\"1.0\"?><trace-query-result><node");
    for args in [vec![broken.as_str()], vec!["toc", &broken], vec!["diff", &broken, &broken]] {
        let assert = finish(&mut traceparse(&[&args[..], &["--redact"]].concat()));
        assert_ne!(assert.get_output().status.code(), Some(0), "{args:?}");
        if args[0] != "diff" {
            assert!(stderr_of(&assert).contains("input-1.xml"), "{}", stderr_of(&assert));
        }
        assert_none(&stderr_of(&assert), &SECRETS, &args);
    }
}

/// All numbers of a JSON document, keyed by position; rows of equal weight may be in a different order.
fn numbers(value: &Value, place: &str, found: &mut BTreeMap<String, Vec<String>>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| *key != "redacted") {
                numbers(value, &format!("{place}/{key}"), found);
            }
        }
        Value::Array(rows) => rows.iter().for_each(|row| numbers(row, place, found)),
        Value::Number(_) | Value::Bool(_) => found.entry(place.to_owned()).or_default().push(value.to_string()),
        Value::String(_) | Value::Null => {}
    }
}

fn numbers_of(args: &[&str]) -> BTreeMap<String, Vec<String>> {
    // Trees in a document are nested as deeply as stacks.
    let format = if args.contains(&"tree") { "ndjson" } else { "json" };
    let assert = finish(&mut traceparse(&[args, &["--format", format]].concat())).success();
    let mut found = BTreeMap::new();
    for value in serde_json::Deserializer::from_slice(&assert.get_output().stdout).into_iter::<Value>() {
        numbers(&value.expect("JSON"), "", &mut found);
    }
    found.values_mut().for_each(|numbers| numbers.sort());
    found
}

/// The corpus exports with samples; empty without a corpus.
fn corpus() -> Vec<Vec<String>> {
    let Some(corpus) = std::env::var_os("TRACEPARSE_CORPUS") else { return Vec::new() };
    let path = |name: &str| std::path::Path::new(&corpus).join("xctrace").join(name).display().to_string();
    [
        &["26.2/finder.trace.zip"][..],
        &["26.2/finder_cpu_profile.xml", "26.2/finder_toc.xml"],
        &["14.3.1/time-profile.xml", "14.3.1/time-toc.xml"],
        &["26.4/time-sample.xml", "26.4/sample-toc.xml"],
        &["26.5/cpu-profile.xml", "26.5/toc.xml"],
        &["26.4.1/time-profile.xml"],
    ]
    .iter()
    .map(|names| names.iter().map(|name| path(name)).collect())
    .collect()
}

#[test]
fn numbers_stay_what_they_are() {
    let Written { export, toc, folder: _folder } = written(false);
    let fixtures = ["27/time-profile-waiting", "27/several-tables", "26.4/time-sample", "27/orchard"].map(fixture);
    let mut cases: Vec<Vec<String>> = fixtures.into_iter().map(|path| vec![path]).collect();
    cases.push(vec![export, toc]);
    cases.extend(corpus());
    for case in &cases {
        let case: Vec<&str> = case.iter().map(String::as_str).collect();
        for view in ["overview", "tree", "functions", "categories", "transitions", "lines", "processes"] {
            let args = [&case[..], &["--view", view]].concat();
            let before = numbers_of(&args);
            assert!(before.values().map(Vec::len).sum::<usize>() > 20, "{args:?}");
            assert_eq!(numbers_of(&[&args[..], &["--redact"]].concat()), before, "{args:?}");
        }
    }
}

#[test]
fn real_recordings_tell_no_device_and_no_home() {
    for case in corpus() {
        let case: Vec<&str> = case.iter().map(String::as_str).collect();
        let toc = case.last().expect("an input");
        let open = String::from_utf8_lossy(
            &finish(&mut traceparse(&["toc", toc, "--format", "json"])).success().get_output().stdout,
        )
        .into_owned();
        let open: Value = serde_json::from_str(&open).expect("JSON");
        let device = &open["documents"][0]["runs"][0]["device"];
        let model = device["model"].as_str().unwrap_or_default().to_lowercase();
        let names = [&device["name"], &device["uuid"]].map(|name| name.as_str().unwrap_or_default().to_lowercase());
        let mut secrets: Vec<&str> = vec!["/users/", "work/shared"];
        secrets.extend(names.iter().map(String::as_str).filter(|name| !name.is_empty() && *name != model));
        for way in [
            &["--view", "full"][..],
            &["--view", "lines", "--format", "json"],
            &["--format", "html"],
            &["--format", "firefox"],
            &["--format", "pprof"],
        ] {
            let way = [&case[..], way, &["--redact"]].concat();
            // Some recordings have no times.
            if finish(&mut traceparse(&way)).get_output().status.success() {
                assert_none(&outputs(&way), &secrets, &way);
            }
        }
        let way = [&["toc"][..], &case, &["--redact"]].concat();
        assert_none(&outputs(&way), &secrets, &way);
    }
}

#[test]
fn names_stand_for_the_same_and_are_listed() {
    let Written { export, toc, folder: _folder } = written(true);
    let assert =
        finish(&mut traceparse(&[&export, &toc, "--redact", "--format", "json", "--view", "functions"])).success();
    let value: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    let redacted = value["redacted"].as_array().unwrap();
    let kind = |name: &str| redacted.iter().find(|row| row["kind"] == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(kind("process")["names"], 4);
    assert_eq!(kind("input")["pseudonyms"], serde_json::json!(["input-1.xml", "input-2.xml"]));
    assert_eq!(kind("device")["names"], 2);
    for row in redacted {
        let names = row["pseudonyms"].as_array().unwrap();
        assert!(!names.is_empty() && names.len() <= row["names"].as_u64().unwrap() as usize, "{row}");
    }
    let names: Vec<&str> =
        value["functions"].as_array().unwrap().iter().map(|row| row["function"].as_str().unwrap()).collect();
    let users: Vec<&str> =
        kind("user")["pseudonyms"].as_array().unwrap().iter().map(|user| user.as_str().unwrap()).collect();
    let is_of_both = |user: &&str| {
        [format!("{user}::Feed::layout(int)"), format!("Feed::{user}::run()")]
            .iter()
            .all(|name| names.contains(&name.as_str()))
    };
    assert_eq!(users.iter().filter(|user| is_of_both(user)).count(), 1, "{users:?} {names:?}");
    for kept in ["start", "main", "-[UIView layout]", "_dispatch_worker_thread", "Cider::press()"] {
        assert!(names.contains(&kept), "{kept}: {names:?}");
    }
    let stderr = stderr_of(&assert);
    assert!(stderr.contains("note: redacted: ") && stderr.contains("kept as the app: Orchard"), "{stderr}");
}

#[test]
fn paths_keep_what_tells_code() {
    let Written { export, toc, folder: _folder } = written(true);
    let assert =
        finish(&mut traceparse(&[&export, &toc, "--redact", "--format", "json", "--view", "binaries"])).success();
    let value: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    let text = value["binaries"].to_string();
    let paths: Vec<&str> =
        value["binaries"].as_array().unwrap().iter().filter_map(|row| row["path"].as_str()).collect();
    let ends = |end: &str| paths.iter().any(|path| path.ends_with(end));
    for end in [
        "/Orchard.app/Contents/MacOS/Orchard",
        "/usr/lib/dyld",
        "/iOS 16.4.simruntime/Contents/Resources/RuntimeRoot/usr/lib/libz.dylib",
        "/iOS DeviceSupport/iPhone14,2 17.0 (21A329)/Symbols/System/Library/Frameworks/UIKit.framework/UIKit",
    ] {
        assert!(ends(end), "{end}: {text}");
    }
    assert!(paths.iter().any(|path| path.starts_with("/System/Library/CoreServices/process-")), "{text}");
}

#[test]
fn rules_rename_and_merge_and_say_what_they_do_not_match() {
    let Written { export, toc, folder } = written(true);
    let rules = folder.file(
        "rules.txt",
        "# of the product\nfunction /Tangerine::\\w+/ => Feature\nfunction /^Cider::/ => f{n}::\nbinary \"Cider\" => Kit\nthread /worker$/ => w\n\
         signpost /Tangerine/ => Feature\nfunction /nothing at all/ => x\n",
    );
    let args =
        [&export, &toc, "--redact", "--redact-rules", &rules, "--no-threads", "--view", "tree", "--format", "json"];
    let assert = finish(&mut traceparse(&args)).success();
    let page = outputs(&[&export, &toc, "--redact", "--redact-rules", &rules, "--format", "html"]);
    assert_none(&page, &["tangerine"], &args);
    assert!(page.contains("\"Feature /path-"), "the signpost");
    let (text, stderr) = (String::from_utf8_lossy(&assert.get_output().stdout).into_owned(), stderr_of(&assert));
    assert_none(&text, &["tangerine", "cider"], &args);
    assert!(text.contains("f1::press()") && text.contains("\"Kit\""), "{text}");
    assert!(stderr.contains("warning: --redact-rules: the rule for a function of line 7 matches nothing"), "{stderr}");
    assert!(!stderr.contains("line 2") && !stderr.contains("signpost of line 6"), "{stderr}");
    // Two functions with the same name call each other: they become one function, counted once per sample.
    let assert = finish(&mut traceparse(&[
        &export,
        &toc,
        "--redact",
        "--redact-rules",
        &rules,
        "--view",
        "functions",
        "--format",
        "json",
    ]))
    .success();
    let value: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    let merged: Vec<&Value> =
        value["functions"].as_array().unwrap().iter().filter(|row| row["function"] == "secret::Feature()").collect();
    assert_eq!(merged.len(), 1, "{value}");
    assert_eq!((&merged[0]["self_weight"], &merged[0]["all_weight"]), (&32_000_000.into(), &32_000_000.into()));
    for (text, message) in
        [("function /(/ => x", "line 1"), ("", "no rule"), ("frames /a/ => b", "function, binary, thread or signpost")]
    {
        let bad = folder.file("bad.txt", text);
        let assert = finish(&mut traceparse(&[&export, "--redact", "--redact-rules", &bad])).code(1);
        assert!(stderr_of(&assert).contains(message), "{text}: {}", stderr_of(&assert));
    }
    let alone = [export.as_str(), "--redact-rules", &rules, "--view", "full"];
    assert_none(&outputs(&alone), &["tangerine", "jané"], &alone);
}

#[test]
fn texts_of_sources_are_left_out() {
    let folder = Folder::new();
    fs::create_dir(folder.path("Sources")).unwrap();
    folder.file("Sources/Tree.cpp", "int secret_of_the_tree = 1;\n".repeat(100));
    let (export, sources) = (fixture("27/time-profile-waiting"), folder.path("Sources"));
    for format in [&["--view", "lines"][..], &["--view", "lines", "--format", "json"], &["--format", "html"]] {
        let args = [&[&export[..], "--source", &sources][..], format].concat();
        assert!(outputs(&args).contains("secret_of_the_tree"), "{format:?}");
        let redacted = outputs(&[&args[..], &["--redact"]].concat());
        assert!(!redacted.contains("secret_of_the_tree") && redacted.contains("leaves out source code"), "{format:?}");
    }
}

/// A folder with two recordings that contain names. The name of its parent folder is also private.
fn fleet() -> Folder {
    let folder = Folder::new();
    let export = crate::redact_case::export();
    for (name, export) in [("jané/bericht", export.clone()), ("ruud/bericht", export.replace("4000000", "9000000"))] {
        write(&folder, &format!("streng/{name}.xml"), export);
        write(&folder, &format!("streng/{name}_toc.xml"), crate::redact_case::toc(true));
    }
    write(&folder, "streng/siobhán.xml", "<?xml");
    folder
}

/// All strings in the data files of a dataset, as DuckDB reads them.
fn texts_of(dataset: &str) -> Option<String> {
    let python = std::env::var_os("TRACEPARSE_PYTHON")?;
    let script = "import duckdb, glob, sys\nfor path in glob.glob(sys.argv[1] + '/**/*.parquet', recursive=True):\n    print(duckdb.sql(f\"select * from read_parquet('{path}')\").fetchall())";
    let output = std::process::Command::new(python).args(["-c", script, dataset]).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// The contents of all text files in a folder.
fn bytes_of(folder: &std::path::Path, found: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        found.push_str(&entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            bytes_of(&entry.path(), found);
        } else {
            found.push_str(&String::from_utf8_lossy(&fs::read(entry.path()).unwrap()));
        }
    }
}

#[test]
fn fleets_tell_none_and_count_the_same() {
    let folder = fleet();
    let (runs, open, redacted) = (folder.path("streng"), folder.path("open"), folder.path("redacted"));
    // The target of the recordings is the app, and its name is kept.
    let manifest = write(
        &folder,
        "labels.csv",
        "path,ring,place\nstreng/jané/bericht.xml,beta,/Users/ruud/Streng/lab\nstreng/ruud/bericht.xml,beta,lab\n",
    );
    let inputs = [runs.as_str(), "--manifest", &manifest];
    outputs(&[&["fleet", "extract"][..], &inputs, &["-o", &open]].concat());
    let extract = [&["fleet", "extract"][..], &inputs, &["-o", &redacted, "--redact", "--focus", "."]].concat();
    let said = outputs(&extract);
    assert_none(&said, &SECRETS, &extract);
    assert!(said.contains("2 new"), "{said}");
    // Nothing is read again: the dataset identifies files by their pseudonyms.
    let again = outputs(&extract);
    assert!(again.contains("2 unchanged"), "{again}");
    assert_none(&again, &SECRETS, &extract);
    let mut bytes = String::new();
    bytes_of(std::path::Path::new(&redacted), &mut bytes);
    assert_none(&bytes, &SECRETS, &["the dataset"]);
    if let Some(texts) = texts_of(&redacted) {
        assert!(texts.contains("Orchard") && texts.contains("process"), "{texts}");
        assert_none(&texts, &SECRETS, &["the data files"]);
        assert!(texts_of(&open).unwrap().contains("Zaubertrank"));
    }
    for format in ["text", "json", "csv", "html"] {
        let output = folder.path("report.out");
        for inputs in [
            &[redacted.as_str()][..],
            &[&runs, "--redact"],
            &[&runs, "--manifest", &manifest, "--redact", "--by", "ring"],
        ] {
            let way = [&["fleet", "report"][..], inputs, &["--format", format, "-o", &output]].concat();
            let text = outputs(&way) + &with_payloads(fs::read_to_string(&output).unwrap());
            assert_none(&text, &SECRETS, &way);
        }
    }
    let sums = |dataset: &str| {
        let assert =
            finish(&mut traceparse(&["fleet", "report", dataset, "--format", "json", "--scope", "run"])).success();
        let value: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
        let mut found = BTreeMap::new();
        numbers(&value["cohorts"], "", &mut found);
        assert!(found.values().map(Vec::len).sum::<usize>() > 10, "{value}");
        found
    };
    assert_eq!(sums(&open), sums(&redacted));
    let mixed = finish(&mut traceparse(&[&["fleet", "extract"][..], &inputs, &["-o", &open, "--redact"]].concat()));
    assert_eq!(mixed.get_output().status.code(), Some(1), "{}", stderr_of(&mixed));
    let late = finish(&mut traceparse(&["fleet", "report", &open, "--redact"]));
    assert_eq!(late.get_output().status.code(), Some(2), "{}", stderr_of(&late));
    assert!(stderr_of(&late).contains("fleet extract RECORDINGS --redact"), "{}", stderr_of(&late));
}

/// The environment and arguments of the recorded process are only counted, never shown, with or without `--redact`.
#[test]
fn launch_data_is_counted_and_never_shown() {
    let folder = Folder::new();
    let recording = bundle_case::recording();
    let options = BundleOptions {
        launch_data: true,
        ..BundleOptions::with_nodes(bundle_case::nodes(&recording, Table::TimeProfile))
    };
    let bundle = folder.path("app.trace");
    to_folder(&write_bundle(&recording, &options), std::path::Path::new(&bundle));
    let of_toc = [
        "<process name=\"Orchard\" pid=\"7\" arguments=\"--password swordfish\"/>",
        "<process name=\"Orchard\" pid=\"7\" arguments=\"--password swordfish\"><environment QUAXTOKEN=\"hunter2\"/></process>",
        "<process name=\"Orchard\" pid=\"7\" arguments=\"\"><environment><variable name=\"QUAXTOKEN\" value=\"hunter2\"/></environment></process>",
        "<process name=\"Orchard\" pid=\"7\"><environment>QUAXTOKEN=hunter2</environment></process>",
    ];
    let found = [
        "launch arguments",
        "1 environment variable and launch arguments",
        "1 environment variable",
        "1 environment variable",
    ];
    let tocs = of_toc.iter().zip(found).map(|(process, found)| {
        let toc = format!("<trace-toc><run number=\"1\"><info><target>{process}</target></info></run></trace-toc>");
        (folder.file(&format!("{}.xml", toc.len()), toc), found)
    });
    let inputs: Vec<_> = std::iter::once((bundle.clone(), found[1])).chain(tocs).collect();
    let secrets = ["hunter2", "swordfish", "QUAXTOKEN"];
    for (input, found) in &inputs {
        for more in [&[][..], &["--redact"], &["--format", "json"]] {
            let shown = outputs(&[&["toc", input.as_str()], more].concat());
            assert_none(&shown, &secrets, &["toc", input]);
            assert!(!more.is_empty() || shown.contains(&format!("  {found} (not shown)\n")), "{shown}");
        }
    }
    for format in ["text", "json", "html", "firefox", "chrome-trace"] {
        let way = vec![bundle.as_str(), "--format", format];
        let redacted = [way.as_slice(), &["--redact"]].concat();
        [way, redacted].iter().for_each(|way| assert_none(&outputs(way), &secrets, way));
    }
}

/// Some collectors write the path of a binary in place of its name.
#[test]
fn paths_in_metrickit_names_are_replaced() {
    let folder = Folder::new();
    let diagnostic = crate::field_reports::payload("hang", "hangDuration", "9 sec", "1.9");
    let named = diagnostic.replace("\"binaryName\":\"Orchard\"", "\"binaryName\":\"/opt/Tangerine Project/Orchard\"");
    assert_ne!(named, diagnostic);
    let file = folder.file("hang.json", named);
    for view in ["binaries", "functions", "tree"] {
        let text = outputs(&[&file, "--redact", "--view", view, "--format", "json"]);
        assert!(!text.contains("Tangerine") && text.contains("/Orchard\""), "{view}: {text}");
    }
}
