//! Recordings (`.trace`): the output for every form, and combinations with other inputs.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::bundle_case::{Forms, gzip, recording, write_forms, zip_of};
use crate::command::{Folder, column, csv, fails, finish, json, ok, orchard, stderr_of, stdout_of, traceparse, warns};
use crate::fleet_case;
use support::bundle::{BundleOptions, to_folder, write_bundle};
use support::other_tables::Hang;
use support::{Content, HangRisk, Invented, Node, Part, RenderOptions, Shape, Signpost, Size, Table, render};

/// Views whose rows are the same for an export and its recording, since they contain no function names.
const NUMBERS: [&str; 5] = ["threads", "processes", "states", "cores", "samples"];

fn forms(folder: &Folder) -> Forms {
    write_forms(folder, &recording(), Table::TimeProfile)
}

/// Sorted rows without some columns: the input, function names (which archives may spell differently), and kinds of cores (which
/// bundles do not record).
fn without_input(args: &[&str]) -> Vec<Vec<String>> {
    let mut rows = csv(args);
    let left_out = ["input", "table", "stack", "function", "kind", "core_kind"];
    let kept: Vec<usize> = (0..rows[0].len()).filter(|&at| !left_out.contains(&rows[0][at].as_str())).collect();
    let level = rows[0].iter().position(|name| name == "level");
    rows.retain(|row| level.is_none_or(|level| row[level] != "kind"));
    let mut rows: Vec<Vec<String>> = rows.iter().map(|row| kept.iter().map(|&at| row[at].clone()).collect()).collect();
    rows[1..].sort();
    rows
}

#[test]
fn archives_say_what_the_folder_says() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let read = |path: &str, view: &str| ok(&[path, "--view", view, "--format", "csv"]).replace(path, "INPUT");
    for view in ["functions", "tree", "samples", "binaries", "timeline"] {
        let expected = read(&forms.folder, view);
        assert!(expected.lines().count() > 3, "{expected}");
        for archive in &forms.archives {
            let said = read(archive, view);
            // The recording is in a subfolder of an archive.
            let said = ["/Desktop/app.trace", "/app.trace"].iter().fold(said, |said, inside| said.replace(inside, ""));
            assert_eq!(said, expected, "{archive} --view {view}");
        }
    }
    for format in ["text", "json", "folded", "svg", "firefox", "speedscope", "d3", "chrome-trace"] {
        assert!(!ok(&[&forms.archives[0], "--format", format]).is_empty());
    }
}

#[test]
fn a_recording_says_what_its_export_says() {
    for table in [Table::TimeProfile, Table::CpuProfile] {
        let folder = Folder::new();
        let forms = write_forms(&folder, &recording(), table);
        for view in NUMBERS {
            let (bundle, export) = ([forms.folder.as_str(), "--view", view], [forms.export.as_str(), "--view", view]);
            assert_eq!(without_input(&bundle), without_input(&export), "{table:?} --view {view}");
        }
    }
}

#[test]
fn a_recording_names_itself_unless_that_is_not_wanted() {
    let folder = Folder::new();
    let forms = forms(&folder);
    for path in [&forms.folder, &forms.archives[0]] {
        let named = json(&[path, "--view", "functions"]);
        assert!(named["symbolication"]["binaries"].as_array().is_some_and(|binaries| binaries.len() > 3), "{named}");
        assert!(named.to_string().contains("orchard::Press::squeeze(orchard::Crate const&)"), "{named}");
        let addresses = json(&[path, "--view", "functions", "--no-bundled-symbols"]);
        assert_eq!(addresses["symbolication"], Value::Null);
        assert!(!addresses.to_string().contains("squeeze"));
    }
}

#[test]
fn inputs_may_be_recordings_and_exports() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let alone: u64 = column(&csv(&[&forms.export, "--view", "threads"]), "samples").iter().sum();
    assert!(alone > 100);
    let mixed = [forms.export.as_str(), &forms.folder, &forms.archives[0], "--view", "threads"];
    assert_eq!(column(&csv(&mixed), "samples").iter().sum::<u64>(), 3 * alone);
    let twice = fails(2, &[&forms.folder, &format!("{}/", forms.folder)]);
    assert!(twice.contains("passed twice"), "{twice}");
}

#[test]
fn the_contents_of_a_recording_have_rows() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let samples: u64 = column(&csv(&[&forms.export, "--view", "threads"]), "samples").iter().sum();
    for path in [&forms.folder, &forms.archives[0], &forms.archives[3]] {
        let text = ok(&["toc", path]);
        assert!(text.contains(&format!("{samples} rows  CPU table")), "{text}");
        // A recording does not record at which position xctrace would list a table.
        assert!(text.contains("\n  tables\n"), "{text}");
        let answer = json(&["toc", path]);
        let tables = answer["documents"][0]["runs"][0]["tables"].as_array().expect("tables");
        let rows = |schema: &str| tables.iter().find(|table| table["schema"] == schema).map(|table| &table["rows"]);
        assert!(tables.iter().all(|table| table.get("position") == Some(&Value::Null)), "{answer}");
        assert_eq!(rows("time-profile"), Some(&samples.into()));
        assert_eq!(rows("os-signpost-interval"), Some(&2.into()));
        assert_eq!(answer["documents"][0]["input"], path.as_str());
    }
}

#[test]
fn the_contents_of_an_export_have_no_rows() {
    let folder = Folder::new();
    let toc = folder.file("toc.xml", fleet_case::toc(11));
    let answer = json(&["toc", &toc]);
    let tables = answer["documents"][0]["runs"][0]["tables"].as_array().expect("tables");
    assert!(tables.len() > 1 && tables.iter().all(|table| table.get("rows") == Some(&Value::Null)), "{answer}");
    assert!(!ok(&["toc", &toc]).contains("rows)"));
}

#[test]
fn a_recording_has_its_intervals_in_itself() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let zip = forms.archives[0].as_str();
    for asked in [&["--during", "Layout"][..], &["--during", "Draw"], &["--during-hang"]] {
        let times = |path: &str| column(&csv(&[&[path, "--view", "samples"], asked].concat()), "time_ns");
        let expected = times(&forms.export);
        assert!(!expected.is_empty() && expected.len() < 100, "{expected:?}");
        assert_eq!(times(&forms.folder), expected, "{asked:?}");
        assert_eq!(times(zip), expected, "{asked:?}");
        // Samples may also come from the export, and intervals from its recording.
        let from_zip = csv(&[&[&forms.export, "--view", "samples", "--intervals", zip], asked].concat());
        assert_eq!(column(&from_zip, "time_ns"), expected, "{asked:?}");
    }
    let missing = fails(1, &[zip, "--during", "Nothing"]);
    assert!(missing.contains("known names: Draw, Layout"), "{missing}");
}

#[test]
fn two_forms_of_a_recording_do_not_differ() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let rows = csv(&["diff", &forms.folder, &forms.archives[0]]);
    assert!(rows.len() > 3);
    let change = rows[0].iter().position(|title| title == "self_change").expect("a column of changes");
    assert!(rows[1..].iter().all(|row| row[change].parse::<f64>() == Ok(0.0)), "{rows:?}");
    ok(&["diff", &forms.archives[3], &forms.folder, "--during", "Layout", "--view", "tree"]);
}

#[test]
fn symbols_may_be_those_of_another_recording() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let stores = format!("{}/symbols/stores", forms.folder);
    let functions = [forms.folder.as_str(), "--view", "functions", "--no-cache"];
    let own = csv(&functions);
    assert!(own.iter().flatten().any(|cell| cell.contains("squeeze")), "{own:?}");
    assert_eq!(csv(&[&functions[..], &["--no-bundled-symbols", "--symbols", &stores]].concat()), own);
    assert_eq!(csv(&[&functions[..], &["--symbols", &stores]].concat()), own);
    // No other file in it is treated as a symbol file.
    assert!(Path::new(&forms.folder).join("instrument_data").is_dir());
    assert_eq!(csv(&[&functions[..], &["--dsym", &forms.folder]].concat()), own);
    assert!(ok(&["uuid", &format!("{}/symbols", forms.folder)]).lines().count() > 3);
    // It lists the binaries that stay unnamed, for every form of the recording.
    let wanted = |path: &str| stdout_of(&finish(&mut traceparse(&["uuid", path])).success());
    let of_folder = wanted(&forms.folder);
    assert!(!of_folder.is_empty() && of_folder.lines().all(|line| line.contains("wanted")), "{of_folder}");
    for archive in &forms.archives {
        assert_eq!(wanted(archive), of_folder);
    }
}

#[test]
fn what_is_no_recording_is_told_with_its_reason() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let empty = folder.path("Launch.trace");
    fs::create_dir(&empty).expect("a folder can be made");
    for args in [&[empty.as_str()][..], &["toc", &empty], &["diff", &empty, &forms.folder]] {
        let message = fails(1, args);
        assert!(message.contains("Launch.trace: it has no folder corespace"), "{message}");
    }
    let mut zip = fs::read(&forms.archives[0]).expect("it was written");
    zip.truncate(zip.len() / 2);
    let message = fails(1, &[&folder.file("cut.zip", &zip)]);
    assert!(message.contains("cut.zip: the zip archive is broken or truncated"), "{message}");
    assert!(message.contains("copy or download it again"), "{message}");
    // A fleet names it once.
    let said = fails(1, &["fleet", "report", &folder.path("cut.zip")]);
    assert_eq!(said.matches("cut.zip").count(), 1, "{said}");
    let two = folder.file("two.zip", zip_of(&[("a.trace/form.template", b""), ("b.trace/form.template", b"")]));
    let message = fails(1, &[&two]);
    assert!(message.contains("several inputs in it: a.trace, b.trace; unpack it"), "{message}");
}

/// People zip what they send: an export with its table of contents, or a report.
#[test]
fn exports_and_reports_are_read_in_archives() {
    let folder = Folder::new();
    let export = fs::read(orchard()).expect("a fixture");
    let packed = gzip(&export);
    let demo = support::repository("fixtures/sample/demo.sample.txt").display().to_string();
    let report = fs::read(&demo).expect("a fixture");
    let whole = folder.file("a.xml", &export);
    let functions = |path: &str| ok(&[path, "--view", "tree", "--format", "csv"]).replace(path, "INPUT");
    let toc: (&str, &[u8]) = ("x/toc.xml", b"<?xml version=\"1.0\"?><trace-toc></trace-toc>");
    let [readme, junk]: [(&str, &[u8]); 2] = [("x/README.txt", b"hello"), ("__MACOSX/x/._a.xml", b"\0\x05\x16\x07")];
    for (name, files) in [
        ("one.zip", &[("a.xml", &export[..])][..]),
        ("toc.zip", &[toc, junk, readme, ("x/a.xml", &export)]),
        ("gz.zip", &[("x/y/a.xml.gz", &packed), ("x/errors.txt", b"")]),
    ] {
        let zip = folder.file(name, zip_of(files));
        assert_eq!(functions(&zip), functions(&whole), "{name}");
    }
    let zipped = folder.file("b.zip", zip_of(&[("pond.sample.txt", &report), ("App.dSYM/Contents/Info.plist", b"")]));
    assert_eq!(functions(&zipped), functions(&demo));
    let two = folder.file("two.zip", zip_of(&[("a.xml", &export), ("x/b.xml", &export)]));
    let message = fails(1, &[&two]);
    assert!(message.contains("several inputs in it: a.xml, x/b.xml; unpack it"), "{message}");
    // A file that cannot be read may be the one that was meant.
    let mut damaged = zip_of(&[("a.xml", &export), ("b.xml", &export)]);
    damaged[2_000] ^= 1;
    let message = fails(1, &[&folder.file("damaged.zip", damaged)]);
    assert!(message.contains("several inputs in it: a.xml, b.xml; unpack it"), "{message}");
    let mut damaged = zip_of(&[("a.xml", &export), ("README", b"x")]);
    damaged[2_000] ^= 1;
    let message = fails(1, &[&folder.file("damaged.zip", damaged)]);
    assert!(message.contains("its checksum does not match"), "{message}");
    // So may one that is damaged, or packed again. Other files do not count.
    let utf16: Vec<u8> = "<?xml version=\"1.0\"?><a/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let late = [&b"<?xml version=\"1.0\"?><!--"[..], &[b' '; 70_000], b"--><trace-query-result/>"].concat();
    let recording = zip_of(&[("b.trace/form.template", b"")]);
    for (name, content) in [
        ("b.xml", &export[3_000..]),
        ("b.xml", &[0; 4_096]),
        ("b.xml", b""),
        ("b.xml", &utf16),
        ("b.xml", &late),
        ("b.xml", b"<?xml version=\"1.0\"?><!-- <a/> --><trace-query-result>"),
        ("b.XML.xz", b"\xfd7zXZ\0"),
        ("b.ips", b""),
        ("b.json", &[0; 64]),
        ("b.trace.zip", &recording),
        ("b.trace", b"a file"),
    ] {
        let message = fails(1, &[&folder.file("damaged.zip", zip_of(&[("a.xml", &export), (name, content)]))]);
        assert!(message.contains(&format!("several inputs in it: a.xml, {name}; unpack it")), "{name}: {message}");
    }
    let other: [(&str, &[u8]); 6] = [
        ("junit.xml", b"<?xml version=\"1.0\"?>\n<!DOCTYPE testsuite>\n<!-- <query> -->\n<testsuite/>"),
        ("a.json", b"{\"trace\": 1}"),
        ("hooks/pre-commit.sample", b"#!/bin/sh\n"),
        ("empty.txt", b""),
        ("App.dSYM.zip", &recording),
        ("a.xml", &export),
    ];
    assert_eq!(functions(&folder.file("other.zip", zip_of(&other))), functions(&whole));
    let twice = folder.file("twice.zip", zip_of(&[("a.trace/form.template", b""), ("b.trace.zip", &recording)]));
    let message = fails(1, &[&twice]);
    assert!(message.contains("several inputs in it: a.trace, b.trace.zip; unpack it"), "{message}");
    // Small files do not count, however many there are.
    let logs: Vec<String> = (0..150).map(|log| format!("log-{log}.txt")).collect();
    let all: Vec<(&str, &[u8])> =
        logs.iter().map(|name| (&**name, &b"built"[..])).chain([("a.xml", &*export)]).collect();
    assert_eq!(functions(&folder.file("logs.zip", zip_of(&all))), functions(&whole));
    // What is wrong with the only file is said as without the archive.
    for (files, sentence) in [
        (&[("a.txt", &b"x"[..]), ("b.txt", b"y")][..], "this is a zip archive, not an export; unpack it"),
        (&[("a.txt", b"x")], "this is not an xctrace export; pass the recording"),
        (&[("x/perf.data", b"PERFILE2")], "this is a Linux perf recording (perf.data), which traceparse cannot read"),
        (&[("a.zip", &zip_of(&[("a.xml", &export)]))], "this is a zip archive, not an export; unpack it"),
    ] {
        let message = fails(1, &[&folder.file("none.zip", zip_of(files))]);
        assert!(message.contains(sentence), "{message}");
    }
    // A recording counts more than an export beside it, or above it.
    let bundle = [("Desktop/a.trace/form.template", &b"x"[..]), ("a.xml", &export)];
    let message = fails(1, &[&folder.file("both.zip", zip_of(&bundle))]);
    assert!(message.contains("a.trace: it has no folder corespace"), "{message}");
    // A fleet knows that it is the same run.
    let report = fleet_case::report_with(0, &[&whole, &folder.path("gz.zip")]).1;
    assert_eq!(fleet_case::failures(&report), [("gz.zip".to_owned(), "duplicate".to_owned())]);
    fs::create_dir(folder.path("fleet")).expect("a folder can be made");
    fs::copy(folder.path("gz.zip"), folder.path("fleet/a.xml.zip")).expect("it can be copied");
    fs::copy(folder.path("gz.zip"), folder.path("fleet/b.zip")).expect("it can be copied");
    fs::copy(folder.path("gz.zip"), folder.path("fleet/App.dSYM.zip")).expect("it can be copied");
    let (said, report) = fleet_case::report_with(0, &[&folder.path("fleet")]);
    assert_eq!(fleet_case::sources(&report), ["a.xml.zip"]);
    assert!(said.contains("1 archive skipped, such as ") && said.contains("b.zip; name one"), "{said}");
}

#[test]
fn tables_of_contents_are_read_in_archives() {
    let folder = Folder::new();
    let (export, toc) = (fleet_case::export(20), fleet_case::toc(20));
    let whole = fleet_case::write(&folder, "runs/a.xml", &export);
    let beside = fleet_case::write(&folder, "runs/a-toc.xml", &toc);
    let files = [("x/contents.xml", toc.as_bytes()), ("x/a.xml", export.as_bytes()), ("demo.sample.txt", b"")];
    let packed = folder.file("b.xml.zip", zip_of(&files));
    let summary = |paths: &[&str]| {
        let mut answer = json(&[paths, &["--view", "summary"]].concat());
        for document in answer["documents"].as_array_mut().expect("there are documents") {
            document["input"] = "".into();
        }
        answer["documents"].take()
    };
    assert_eq!(summary(&[&packed]), summary(&[&whole, &beside]));
    assert_eq!(json(&["toc", &packed])["documents"].as_array().map(Vec::len), Some(2));
    // Both have a duration, and are copies.
    let report = fleet_case::report_with(0, &[&folder.path("runs"), &packed]).1;
    assert_eq!(fleet_case::sources(&report), ["b.xml.zip"]);
    assert_eq!(fleet_case::failures(&report), [("a.xml".to_owned(), "duplicate".to_owned())]);
    let duration = |path: &str| fleet_case::report_with(0, &[path]).1["runs"][0]["wall_ns"].clone();
    assert!(duration(&packed).is_number() && duration(&packed) == duration(&folder.path("runs")));
    // What a dataset keeps depends on it.
    let dataset = folder.path("b.dataset");
    let extract = || fleet_case::says(0, &["extract", &packed, "-o", &dataset]);
    assert!(extract().contains("1 new"), "{}", extract());
    assert!(extract().contains("1 unchanged"), "{}", extract());
    folder.file("b.xml.zip", zip_of(&[("a.xml", export.as_bytes()), ("b.xml", fleet_case::toc(21).as_bytes())]));
    assert!(extract().contains("1 changed"), "{}", extract());
    let message = fails(1, &[&folder.file("two.zip", zip_of(&[files[0], files[1], ("toc.xml", toc.as_bytes())]))]);
    assert!(message.contains("several inputs in it: toc.xml, x/a.xml, x/contents.xml;"), "{message}");
}

#[test]
fn fleets_take_recordings() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let below = folder.path("fleet");
    fs::create_dir(&below).expect("a folder can be made");
    fs::rename(&forms.folder, folder.path("fleet/a.trace")).expect("it is on the same disk");
    fs::rename(&forms.archives[0], folder.path("fleet/b.trace.zip")).expect("it is on the same disk");
    fleet_case::write(&folder, "fleet/c.xml", fleet_case::export(20));
    let (said, report) = fleet_case::report_with(0, &[&below, "--measure", "all"]);
    assert_eq!(fleet_case::sources(&report), ["a.trace", "c.xml"], "{said}");
    assert_eq!(fleet_case::failures(&report), [("b.trace.zip".to_owned(), "duplicate".to_owned())]);
    let text = report.to_string();
    assert!(text.contains("squeeze"), "its own symbols name it");
    let (_, without) = fleet_case::report_with(0, &[&below, "--measure", "all", "--no-bundled-symbols"]);
    assert!(!without.to_string().contains("squeeze"));
    let named = fleet_case::report_with(0, &[&folder.path("fleet/*.trace*")]).1;
    assert_eq!(fleet_case::sources(&named), ["a.trace"]);
}

#[test]
fn a_dataset_knows_a_recording_again() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let (dataset, template) = (folder.path("fleet.dataset"), format!("{}/form.template", forms.folder));
    let extract = || fleet_case::says(0, &["extract", &forms.folder, "-o", &dataset]);
    assert!(extract().contains("1 new"), "{}", extract());
    assert!(extract().contains("1 unchanged"), "{}", extract());
    // Files that the report does not need are also part of the recording.
    fs::write(format!("{}/instrument_notes", forms.folder), "noted").expect("the folder is writable");
    let said = extract();
    assert!(!said.contains("1 unchanged"), "{said}");
    fs::remove_file(&template).expect("it was written");
    let said = extract();
    assert!(!said.contains("1 unchanged"), "{said}");
}

/// Two runs, the second of which is damaged.
fn with_a_damaged_run(folder: &Folder) -> String {
    let recording = Invented::random(29, &Size { runs: 2, ..Size::small() });
    let mut nodes = BundleOptions::new(Table::CpuProfile, &recording).nodes;
    for run in [1, 2] {
        let hang = Hang { start_ns: 0, duration_ns: 60_000_000_000, row: recording.rows_of_run(run)[0] };
        nodes.push(Node { run, table_index: 80, content: Content::PotentialHangs(vec![hang]) });
    }
    let mut files = write_bundle(&recording, &BundleOptions::with_nodes(nodes));
    let strings = files.iter_mut().find(|(path, _)| path == "corespace/run2/core/uniquing/strings");
    strings.expect("run 2 has strings").1.truncate(20);
    let path = folder.path("two runs.trace");
    to_folder(&files, Path::new(&path));
    path
}

#[test]
fn a_damaged_run_is_left_out_with_a_word() {
    let folder = Folder::new();
    let path = with_a_damaged_run(&folder);
    let (said, warning) = warns(&[&path, "--view", "summary"]);
    assert!(said.contains("run 2 · damaged, and not read · "), "{said}");
    assert!(said.contains("cpu-profile run 1") && !said.contains("cpu-profile run 2"), "{said}");
    let file = "corespace/run2/core/uniquing/strings";
    assert!(warning.contains("run 2 is damaged") && warning.contains(file), "{warning}");
    let export = r#"xctrace export --input 'two runs.trace' --xpath '/trace-toc/run[@number="2"]/data/table[@schema="cpu-profile"]'"#;
    assert!(warning.contains(export), "{warning}");
    // The same if its intervals are also read.
    let (_, warning) = warns(&[&path, "--view", "summary", "--during-hang"]);
    assert_eq!(warning.matches("run 2 is damaged").count(), 1, "{warning}");
    let refused = fails(1, &[&path, "--strict", "--during-hang"]);
    assert!(refused.contains("run 2 is damaged and was not read (--strict makes this an error)"), "{refused}");
    let refused = fails(1, &[&path, "--strict"]);
    assert!(refused.contains("run 2 is damaged and was not read (--strict makes this an error)"), "{refused}");
    let alone = fails(1, &[&path, "--run", "2"]);
    assert!(alone.contains("no sample passes --run '2'; the input has runs: 1"), "{alone}");
}

#[test]
fn contents_show_a_damaged_run() {
    let folder = Folder::new();
    let path = with_a_damaged_run(&folder);
    // `toc` does not read files that it does not need.
    assert!(!ok(&["toc", &path]).contains("damaged"));
    let tables = Path::new(&path).join("corespace/run2/core/table-manager/tables.plist");
    fs::write(tables, "no list").expect("the folder is writable");
    let (text, _) = warns(&["toc", &path]);
    let (_, second) = text.split_once("run 2").expect("both runs are listed");
    assert!(second.contains("damaged") && second.contains("tables.plist") && !second.contains("CPU table"), "{text}");
    let (text, _) = warns(&["toc", &path, "--format", "json"]);
    let answer: Value = serde_json::from_str(&text).expect("the output is JSON");
    let runs = &answer["documents"][0]["runs"];
    assert_eq!(runs[0]["unread"], Value::Null);
    assert!(runs[1]["unread"].as_str().is_some_and(|reason| reason.contains("tables.plist")), "{answer}");
}

#[test]
fn fleets_leave_a_damaged_run_out() {
    let folder = Folder::new();
    let path = with_a_damaged_run(&folder);
    let (said, report) = fleet_case::report_with(0, &[&path]);
    assert!(said.contains("run 2 is damaged"), "{said}");
    assert_eq!(fleet_case::sources(&report), ["two runs.trace"]);
    let said = fails(1, &["fleet", "report", &path, "--strict"]);
    assert!(said.contains("a run is damaged and could not be read"), "{said}");
}

/// The damage is reported even if the recording was read by an earlier extract.
#[test]
fn datasets_know_of_damaged_runs() {
    let folder = Folder::new();
    let (path, dataset) = (with_a_damaged_run(&folder), folder.path("dataset"));
    let said = fleet_case::says(0, &["extract", &path, "-o", &dataset]);
    assert_eq!(said.matches("run 2 is damaged").count(), 1, "{said}");
    let (_, of_file) = fleet_case::report_with(0, &[&path]);
    let of_dataset = fleet_case::report(&[&dataset]);
    for report in [&of_file, &of_dataset] {
        let damaged = &report["inputs"]["damaged"];
        assert_eq!(damaged.as_array().map(Vec::len), Some(1), "{report}");
        assert!(damaged[0]["source"].as_str().is_some_and(|source| source.ends_with("two runs.trace")), "{report}");
        assert_eq!(damaged[0]["unread_runs"], 1);
        let note = report["notes"][0].as_str().expect("a note");
        let expected = "two runs.trace: Run 2 is damaged and is not read at all: ";
        assert!(note.contains(expected) && note.contains("corespace/run2/core/uniquing/strings"), "{note}");
    }
    let text = ok(&["fleet", "report", &dataset]);
    let line = "1 damaged run could not be read.";
    assert!(text.contains(line), "{text}");
    let refused = fails(1, &["fleet", "report", &dataset, "--strict"]);
    let expected = "two runs.trace: 1 run is damaged and could not be read (--strict makes this an error)";
    assert!(refused.contains(expected), "{refused}");
    // Nothing is read again, but the extract still reports the damage.
    let refused = fails(1, &["fleet", "extract", &path, "-o", &dataset, "--strict"]);
    assert!(refused.contains("a run is damaged and could not be read (--strict makes this an error)"), "{refused}");
}

/// The suggested command is correct, regardless of the recording's name.
#[cfg(unix)]
#[test]
fn a_shell_takes_the_command_that_exports_a_damaged_run() {
    let folder = Folder::new();
    let name = r#"It's "$HOME" again.trace"#;
    let path = folder.path(name);
    fs::rename(with_a_damaged_run(&folder), &path).expect("it is on the same disk");
    let (_, warning) = warns(&[&path, "--view", "summary"]);
    let command =
        warning.lines().find_map(|line| line.find("xcrun ").map(|at| &line[at..])).expect("a command is told");
    let script = format!("xcrun() {{ printf '%s\n' \"$@\"; }}\n{command}");
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
    let words = String::from_utf8(output.stdout).expect("the words are UTF-8");
    let table = r#"/trace-toc/run[@number="2"]/data/table[@schema="cpu-profile"]"#;
    let expected = ["xctrace", "export", "--input", name, "--xpath", table, "--output", "export.xml"];
    assert_eq!(words.lines().collect::<Vec<_>>(), expected, "{warning}");
}

/// A recording with these tables.
fn with_nodes(folder: &Folder, name: &str, nodes: Vec<Node>) -> String {
    let path = folder.path(name);
    to_folder(&write_bundle(&recording(), &BundleOptions::with_nodes(nodes)), Path::new(&path));
    path
}

/// No message suggests an export: everything in a recording can be read, and nothing else could be exported.
#[test]
fn what_a_recording_lacks_is_not_to_be_exported() {
    let folder = Folder::new();
    let samples = Node::samples(1, Table::TimeProfile, &recording());
    let node = |table_index, content| Node { run: 1, table_index, content };
    let without = with_nodes(&folder, "without.trace", vec![samples.clone()]);
    for (asked, lack) in
        [(&["--during", "Layout"][..], "no signpost interval in"), (&["--during-hang"], "no potential hang in")]
    {
        let message = fails(1, &[&[without.as_str()], asked].concat());
        assert!(message.contains(lack) && message.contains("they were not recorded"), "{message}");
        assert!(!message.contains("xctrace"), "{message}");
    }
    let empty = node(3, Content::PotentialHangs(Vec::new()));
    let empty = with_nodes(&folder, "empty.trace", vec![samples.clone(), empty]);
    let message = fails(1, &[&empty, "--during-hang"]);
    assert!(message.contains("no rows in potential-hangs") && !message.contains("xctrace"), "{message}");
    let no_samples = with_nodes(&folder, "none.trace", vec![node(3, Content::Empty("kdebug"))]);
    let message = fails(1, &[&no_samples]);
    assert!(
        message.contains("the recording has no CPU table; record with") && !message.contains("xctrace"),
        "{message}"
    );
    let message = fleet_case::says(1, &["report", &no_samples]);
    assert!(message.contains("The recording has no readable CPU table"), "{message}");
    // An export may lack tables of its recording.
    let export = fails(1, &[&fleet_case::write(&folder, "a.xml", fleet_case::export(20)), "--during-hang"]);
    assert!(export.contains("export them with: xcrun xctrace"), "{export}");
}

/// Time Profiler records signposts only as events, and only points of interest.
#[test]
fn signposts_that_are_events_are_intervals() {
    let folder = Folder::new();
    let recording = recording();
    let start = recording.rows[0].time_ns;
    let point = |name: &str, first: u64, length: u64| Signpost {
        category: "PointsOfInterest".to_owned(),
        ..Signpost::new(name, start + first, start + first + length, 0)
    };
    let signposts = vec![
        point("Layout", 0, 20_000_000),
        point("Layout", 5_000_000, 1_000_000),
        point("Draw", 15_000_000, 9_000_000),
    ];
    let induced = Signpost { category: "InduceCondition".to_owned(), ..point("Induced", 0, 5) };
    let risk = HangRisk {
        time_ns: 1_280_000_000,
        message: vec![Part::Text("waited for ".to_owned()), Part::Name("disk".to_owned())],
        severity: "High",
        event_type: "I/O",
        row: 0,
    };
    let node = |table_index, content| Node { run: 1, table_index, content };
    let events = vec![
        Node::samples(1, Table::TimeProfile, &recording),
        node(2, Content::SignpostEvents(signposts.clone())),
        node(3, Content::SignpostEvents(vec![induced])),
        node(4, Content::Regions(signposts.clone())),
        node(5, Content::PotentialHangs(vec![Hang { start_ns: start, duration_ns: 30_000_000, row: 0 }])),
        node(6, Content::HangRisks(vec![risk])),
    ];
    let path = with_nodes(&folder, "events.trace", events);
    let rows = vec![Node::samples(1, Table::TimeProfile, &recording), node(2, Content::SignpostIntervals(signposts))];
    let export = folder.file("rows.xml", render(&recording, &RenderOptions::with_nodes(Shape::Xcode27, rows)));
    for asked in [&["--during", "Layout"][..], &["--during", "Layout", "--during", "Draw", "--during-all"]] {
        let times = |path: &str| column(&csv(&[&[path, "--view", "samples"], asked].concat()), "time_ns");
        assert!(!times(&export).is_empty(), "{asked:?}");
        assert_eq!(times(&path), times(&export), "{asked:?}");
    }
    let text = ok(&[&path, "--during", "Layout", "--view", "summary"]);
    assert!(text.contains("during 'Layout': 2 intervals, 21.00 ms in all, which cover 20.00 ms\n"), "{text}");
    let text = ok(&["diff", &path, &path, "--during", "Layout", "--during", "Draw", "--during-all"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        text.matches("during 'Layout' and 'Draw': 3 intervals, 30.00 ms in all, which share 5.00 ms").count(),
        2,
        "{text}"
    );
    let missing = fails(1, &[&path, "--during", "Fetch"]);
    let of = "com.apple.ConditionInducer.LowSeverity";
    let categories =
        format!("(only signposts of these categories were recorded: InduceCondition of {of}, PointsOfInterest;");
    assert!(missing.contains("known names: Draw, Induced, Layout (only"), "{missing}");
    assert!(missing.contains(&categories) && !missing.contains("xctrace"), "{missing}");
    let assert = finish(&mut traceparse(&[&path, "--during-hang", "--view", "summary"])).success();
    let note = stderr_of(&assert);
    let process = &recording.process_of(&recording.rows[0]).name;
    let risk = format!("at 1.280 s of run 1 in {process}: I/O: waited for disk (High)");
    assert!(
        note.contains("hang-risks has 1; hang risks are moments and do not select samples") && note.contains(&risk),
        "{note}"
    );
}

/// A missing file is reported once, and as missing.
#[test]
fn missing_image_lists_are_no_old_export() {
    let folder = Folder::new();
    let forms = forms(&folder);
    fs::remove_file(format!("{}/form.template", forms.folder)).expect("it was written");
    let (_, warning) = warns(&[&forms.folder, "--view", "summary"]);
    assert!(warning.contains("form.template is missing: frames have no binary"), "{warning}");
    assert!(warning.contains("nothing to look up") && !warning.contains("Xcode"), "{warning}");
}

#[test]
fn a_recording_has_the_table_of_contents_beside_it_in_every_form() {
    let recorded = Folder::new();
    let forms = forms(&recorded);
    let named = ["app.trace.zip", "app.trace.tar", "app.trace.tgz", "app.trace.tar.zst"];
    let archives = [0, 3, 4, 5].map(|at| forms.archives[at].as_str());
    for (name, path) in named.into_iter().zip(archives).chain([("app.trace", forms.folder.as_str())]) {
        for toc in ["app-toc.xml", "app.trace.toc.xml"] {
            let folder = Folder::new();
            fleet_case::write(&folder, &format!("fleet/{toc}"), fleet_case::toc(40));
            fs::rename(path, folder.path(&format!("fleet/{name}"))).expect("it is on the same disk");
            let (said, report) = fleet_case::report_with(0, &[&folder.path("fleet")]);
            assert!(!said.contains("TOC file"), "{name}, {toc}: {said}");
            assert_eq!(fleet_case::sources(&report), [name]);
            fs::rename(folder.path(&format!("fleet/{name}")), path).expect("it is on the same disk");
        }
    }
}

/// The same for all kinds of archives, packing programs and file names.
#[test]
fn a_recording_counts_once_in_a_fleet_in_all_its_forms() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let unnamed = ["first", "second"].map(|name| folder.path(name));
    fs::copy(&forms.archives[0], &unnamed[0]).expect("it was written");
    fs::copy(&forms.archives[4], &unnamed[1]).expect("it was written");
    // Files that macOS adds to folders on other disks are not part of the recording.
    fs::write(format!("{}/.DS_Store", forms.folder), "icons").expect("the folder is writable");
    let all: Vec<&str> = forms.archives.iter().chain([&forms.folder]).chain(&unnamed).map(String::as_str).collect();
    for inputs in [&all[..], &[unnamed[0].as_str(), &unnamed[1]], &[&forms.archives[1], &forms.folder]] {
        let (_, report) = fleet_case::report_with(0, inputs);
        assert_eq!(fleet_case::sources(&report).len(), 1, "{inputs:?}");
        let failures = fleet_case::failures(&report);
        assert_eq!(failures.len(), inputs.len() - 1, "{failures:?}");
        assert!(failures.iter().all(|(_, kind)| kind == "duplicate"), "{failures:?}");
    }
}

/// An export and the bundle of the same recording, which has a hang of 10 ms: both are reported separately.
#[test]
fn hangs_select_from_each_run_of_a_fleet() {
    let folder = Folder::new();
    let forms = forms(&folder);
    let alone = json(&[&forms.export, "--during-hang", "--view", "summary"]);
    let weight = alone["series"][0]["all_weight"].clone();
    assert!(weight.as_u64() > Some(0), "{alone}");
    for path in [&forms.export, &forms.folder, &forms.archives[0]] {
        let (_, found) = fleet_case::report_with(0, &[path, "--during-hang"]);
        assert_eq!(fleet_case::of_runs(&found, "weight")[0].1, weight, "{path}");
        assert_eq!(fleet_case::of_runs(&found, "wall_ns")[0].1, 10_000_000, "{path}");
        assert_eq!(found["selection"]["text"], "--during-hang");
        let never = fleet_case::says(1, &["report", path, "--during-hang", "--during", "Layout", "--during-all"]);
        assert!(
            never.contains("Run 1 has no time in which all of these are open: \"Layout\", a potential hang."),
            "{never}"
        );
    }
}
