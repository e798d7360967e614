//! The exports of a fleet: folders, patterns, manifests, tables of contents.

use serde_json::{Value, json};

use crate::command::Folder;
use crate::fleet_case::{export, failures, fleet, of_runs, reason, report, report_with, says, sources, toc, write};

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

#[test]
fn a_folder_is_searched_to_the_bottom() {
    let folder = Folder::new();
    write(&folder, "x/b.xml", export(12));
    write(&folder, "x/a/deep/c.xml.gz", gzip(&export(13)));
    write(&folder, "x/a/d.xml.zst", zstd::encode_all(export(14).as_bytes(), 0).expect("memory takes everything"));
    write(&folder, "x/notes.txt", "not an export");
    let report = report(&[&folder.path("x")]);
    assert_eq!(sources(&report), ["d.xml.zst", "c.xml.gz", "b.xml"]);
    assert_eq!(failures(&report), []);
    // Without a table of contents, a run is as long as the time from its first sample to the end of its last one, of 1 ms.
    let walls: Vec<Value> = of_runs(&report, "wall_ns").into_iter().map(|(_, wall)| wall).collect();
    assert_eq!(walls, [131_000_000, 121_000_000, 111_000_000]);
    assert_eq!(report["inputs"]["estimated_time"], 3);
}

#[test]
fn hidden_files_are_left_out_and_named() {
    let folder = Folder::new();
    write(&folder, "x/a.xml", export(12));
    write(&folder, "x/.b.xml", export(13));
    write(&folder, "x/._a.xml", "resource fork");
    // A recording is one input, whatever it holds.
    write(&folder, "x/App.trace/form.xml", export(14));
    let (said, answer) = report_with(0, &[&folder.path("x")]);
    assert_eq!(sources(&answer), ["a.xml"]);
    assert!(said.contains(".b.xml") && !said.contains("._a.xml"), "{said}");
    // By name it is read.
    assert_eq!(sources(&report(&[&folder.path("x/.b.xml")])), [".b.xml"]);
    assert_eq!(failures(&answer), [("App.trace".to_owned(), "not-an-export".to_owned())]);
    assert!(reason(&answer, "App.trace").contains("xcrun xctrace export"));
}

#[test]
fn a_table_of_contents_is_found_beside_its_export() {
    let folder = Folder::new();
    for (index, name) in ["a-toc.xml", "b.toc.xml", "c_toc.xml", "d-toc.xml.gz"].into_iter().enumerate() {
        let samples = 20 + index as u64;
        write(&folder, &format!("x/{}.xml", &name[..1]), export(samples));
        let toc = toc(samples);
        write(&folder, &format!("x/{name}"), if name.ends_with("gz") { gzip(&toc) } else { toc.into_bytes() });
    }
    write(&folder, "x/e.xml", export(30));
    let whole = report(&[&folder.path("x")]);
    let sources_of_time = of_runs(&whole, "wall_source");
    let expected = [("a.xml", "toc"), ("b.xml", "toc"), ("c.xml", "toc"), ("d.xml", "toc"), ("e.xml", "samples")];
    assert_eq!(sources_of_time, expected.map(|(name, source)| (name.to_owned(), json!(source))));
    assert_eq!(of_runs(&whole, "wall_ns")[0].1, 190_000_000 + 12_345_000);
    // What the shell makes of *.xml names tables of contents, too.
    let named = ["a-toc.xml", "a.xml", "b.toc.xml", "b.xml", "c.xml", "c_toc.xml", "d.xml", "e.xml"];
    let named: Vec<String> = named.iter().map(|name| folder.path(&format!("x/{name}"))).collect();
    let named = report(&named.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(of_runs(&named, "wall_source"), sources_of_time);
}

#[test]
fn a_table_of_contents_alone_is_no_export() {
    let folder = Folder::new();
    write(&folder, "x/a.xml", export(12));
    write(&folder, "x/gone-toc.xml", toc(12));
    let (said, answer) = report_with(0, &[&folder.path("x")]);
    assert!(said.contains("1 TOC file without an export") && said.contains("gone-toc.xml"), "{said}");
    assert_eq!((sources(&answer), failures(&answer)), (vec!["a.xml".to_owned()], vec![]));
    let (_, answer) = report_with(0, &[&folder.path("x/a.xml"), &folder.path("x/gone-toc.xml")]);
    assert_eq!(failures(&answer), [("gone-toc.xml".to_owned(), "no-samples".to_owned())]);
}

#[test]
fn a_broken_table_of_contents_costs_the_time_and_not_the_run() {
    let folder = Folder::new();
    write(&folder, "x/a.xml", export(12));
    write(&folder, "x/a-toc.xml", &toc(12)[..200]);
    let (said, answer) = report_with(0, &[&folder.path("x")]);
    assert!(said.contains("a-toc.xml cannot be used") && said.contains("truncated"), "{said}");
    assert_eq!(of_runs(&answer, "wall_source"), [("a.xml".to_owned(), json!("samples"))]);
}

#[test]
fn patterns_that_no_shell_expanded() {
    let folder = Folder::new();
    fleet(&folder, "x/one", 2);
    fleet(&folder, "x/two", 1);
    write(&folder, "x/two/10.xml", export(50));
    let sources = |pattern: &str| sources(&report_with(0, &[&folder.path(pattern)]).1);
    assert_eq!(sources("x/one/*.xml"), ["00.xml", "01.xml"]);
    assert_eq!(sources("x/*/0[1-9].xml"), ["01.xml"]);
    assert_eq!(sources("x/t*"), ["00.xml", "10.xml"]);
    let (_, all) = report_with(0, &[&folder.path("x/**/*.xml")]);
    assert_eq!(all["inputs"]["runs"], 3, "two/00.xml has the content of one/00.xml");
    let (said, answer) = report_with(0, &[&folder.path("x/one"), &folder.path("y/*.xml")]);
    assert_eq!(reason(&answer, "*.xml"), "no file matches this pattern", "{said}");
}

#[test]
fn a_file_that_is_named_twice_counts_once() {
    let folder = Folder::new();
    fleet(&folder, "x", 2);
    let (said, answer) = report_with(0, &[&folder.path("x"), &folder.path("x/../x/00.xml")]);
    assert_eq!((sources(&answer), failures(&answer)), (vec!["00.xml".to_owned(), "01.xml".to_owned()], vec![]));
    assert!(said.contains("named more than once") && said.contains("counts once"), "{said}");
    let (said, answer) = report_with(0, &[&folder.path("x"), &folder.path("x")]);
    assert_eq!(sources(&answer).len(), 2);
    assert_eq!(said, "warning: 2 exports are named more than once; each counts once\n");
}

/// Their contents differ, so both count; only their names tell.
#[test]
fn a_recording_beside_its_export_is_told_of() {
    let folder = Folder::new();
    for name in ["x/app.trace.zip", "x/app.xml", "x/other.xml", "y/app.xml"] {
        write(&folder, name, export(10 + name.len() as u64));
    }
    let (said, _) = report_with(0, &[&folder.path("x"), &folder.path("y")]);
    let [export, recording] = ["x/app.xml", "x/app.trace.zip"].map(|name| folder.path(name));
    assert!(said.contains(&format!("{export} is probably the export of {recording}")), "{said}");
    assert_eq!(said.matches("probably the export of").count(), 1, "{said}");
    assert!(said.contains("would count twice") && said.contains("leave one of them out"), "{said}");
    assert!(!report_with(0, &[&folder.path("x/*.xml")]).0.contains("probably"));
}

#[test]
fn manifests_that_say_different_things_are_named() {
    let folder = Folder::new();
    fleet(&folder, "x", 2);
    let one = write(&folder, "one.csv", "path,ring\nx/00.xml,beta\nx/01.xml,beta\nx/01.xml,beta\n");
    let two = write(&folder, "two.csv", "path,ring\nx/00.xml,dogfood\n");
    let (said, answer) = report_with(0, &["--manifest", &one, "--manifest", &two, "--by", "ring"]);
    assert_eq!(answer["cohorts"][0]["name"], "ring beta");
    assert!(said.contains("x/01.xml: named more than once; it counts once, as "), "{said}");
    let (one, two) =
        (format!("{one}, line 2 says ring beta, which is used"), format!("{two}, line 2 says ring dogfood"));
    assert!(said.contains(&one) && said.contains(&two), "{said}");
}

#[test]
fn datasets_among_folders_are_told_of() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 2);
    for name in ["ds1", "ds2"] {
        says(0, &["extract", &path, "-o", &folder.path(name)]);
    }
    let said = says(2, &["report", &folder.path("ds*")]);
    assert!(said.contains("found no exports, only 2 datasets, such as ") && said.contains("ds1;"), "{said}");
    assert!(!said.contains("found no exports and no recordings"), "{said}");
    let said = says(2, &["report", &folder.path("*1")]);
    assert!(said.contains("only a dataset, ") && said.contains("ds1; pass that to `fleet report`"), "{said}");
    assert!(says(2, &["extract", &folder.path("ds*"), "-o", &folder.path("ds3")]).contains("2 datasets"));
    assert_eq!(sources(&report(&[&folder.path("*")])), ["00.xml", "01.xml"]);
}

#[test]
fn many_files_that_are_no_exports_are_one_note() {
    let folder = Folder::new();
    for name in ["a", "b", "c", "d", "e"] {
        write(&folder, &format!("x/{name}.xml"), "<html/>");
    }
    let said = says(1, &["report", &folder.path("x")]);
    assert!(said.contains("warning: 5 files are no exports, such as ") && said.contains("x/a.xml: "), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("warning: ")).count(), 1, "{said}");
}

#[test]
fn a_manifest_says_what_no_export_does() {
    let folder = Folder::new();
    for (name, samples) in [("a", 10), ("b", 20), ("c", 30)] {
        write(&folder, &format!("x/runs/{name}.xml"), export(samples));
    }
    write(&folder, "x/tocs/c.xml", toc(30));
    let csv = "path,toc,duration,run_weight,app_version,ring\n\
        runs/a.xml,,1,3,5.1,beta\n\
        runs/b.xml,,0.5,,5.2,beta\n\
        runs/c.xml,tocs/c.xml,,,5.2,\n";
    let lines = "{\"path\":\"runs/a.xml\",\"duration\":1,\"run_weight\":3,\"app_version\":\"5.1\",\"ring\":\"beta\"}\n\
        {\"path\":\"runs/b.xml\",\"duration\":0.5,\"app_version\":\"5.2\",\"ring\":\"beta\"}\n\
        {\"path\":\"runs/c.xml\",\"toc\":\"tocs/c.xml\",\"app_version\":\"5.2\"}\n";
    let csv = write(&folder, "x/fleet.csv", csv);
    let lines = write(&folder, "x/fleet.jsonl", lines);
    let list = write(&folder, "x/list", std::fs::read(&csv).expect("just written"));
    let by = ["--by", "app_version,ring,device"];
    let answer = report(&[&[csv.as_str()], &by[..]].concat());
    // 10 samples of 1 ms in 1 s, 20 in 0.5 s; the third by its table of contents.
    assert_eq!(of_runs(&answer, "value")[..2], [("a.xml".to_owned(), json!(1.0)), ("b.xml".to_owned(), json!(4.0))]);
    let times: Vec<Value> = of_runs(&answer, "wall_source").into_iter().map(|(_, source)| source).collect();
    assert_eq!(times, ["manifest", "manifest", "toc"]);
    assert_eq!(of_runs(&answer, "run_weight")[0].1, 3.0);
    let labels: Vec<Value> = of_runs(&answer, "labels").into_iter().map(|(_, labels)| labels).collect();
    assert_eq!(labels[0], json!({"app_version": "5.1", "ring": "beta", "device": null}));
    assert_eq!(labels[2], json!({"app_version": "5.2", "ring": null, "device": "MacBook Pro"}));
    assert_eq!(answer["cohorts"].as_array().map(Vec::len), Some(3));
    assert_eq!(report(&[&[lines.as_str()], &by[..]].concat()), answer, "JSON lines say the same");
    assert_eq!(report(&[&["--manifest", list.as_str()], &by[..]].concat()), answer, "whatever its name");
    // Beside a folder, a manifest describes what is in it.
    let both = report(&[&[folder.path("x/runs").as_str(), "--manifest", &csv], &by[..]].concat());
    assert_eq!(both, answer);
}

/// An e with an accent is one character, or two.
#[test]
fn equal_labels_are_one_cohort_however_they_are_composed() {
    let folder = Folder::new();
    fleet(&folder, "x", 3);
    let (composed, decomposed) = ("Gen\u{e8}ve", "Gene\u{300}ve");
    let lines =
        format!("path,lab\nx/00.xml,{composed}\nx/01.xml,{decomposed}\nx/02.xml,Bern\nx/gone.xml,{decomposed}\n");
    let manifest = write(&folder, "m.csv", lines);
    let cohorts = |args: &[&str]| -> Vec<(String, u64)> {
        let (_, answer) = report_with(0, args);
        let of = |cohort: &Value| (cohort["labels"]["lab"].as_str().unwrap_or("?").to_owned(), cohort["runs"].as_u64());
        answer["cohorts"].as_array().expect("cohorts").iter().map(|it| (of(it).0, of(it).1.unwrap_or(9))).collect()
    };
    let both = [("Bern".to_owned(), 1), (composed.to_owned(), 2)];
    assert_eq!(cohorts(&["--manifest", &manifest, "--by", "lab"]), both);
    let only = format!("lab={decomposed}");
    assert_eq!(cohorts(&["--manifest", &manifest, "--by", "lab", "--where", &only]), both[1..]);
    let dataset = folder.path("ds");
    says(0, &["extract", "--manifest", &manifest, "-o", &dataset]);
    assert_eq!(cohorts(&[&dataset, "--by", "lab"]), both);
}

#[test]
fn a_wrong_manifest_says_where() {
    let folder = Folder::new();
    write(&folder, "a.xml", export(10));
    for (text, words) in [
        ("file\na.xml\n", ["line 1", "`path`"]),
        ("path,duration\na.xml,1\na.xml,soon\n", ["line 3, column duration", "soon"]),
        ("{\"path\":\"a.xml\"}\n{\"run_weight\":2}\n", ["line 2, column path", "empty"]),
    ] {
        let path = folder.file("m.csv", text);
        let said = says(1, &["report", &path]);
        assert!(said.contains("m.csv") && words.iter().all(|word| said.contains(word)), "{said}");
    }
    let said = says(1, &["report", "--manifest", &folder.path("no.csv")]);
    assert!(said.contains("no.csv: cannot be opened"), "{said}");
    let path = folder.file("wrong.csv", "path\nx/a.xml\nx/b.xml\n");
    let said = says(1, &["report", &path]);
    assert!(said.contains("none of the 2 paths of ") && said.lines().count() == 1, "{said}");
    // What it names is an input like any other.
    let path = folder.file("m.csv", "path\na.xml\ngone.xml\n");
    let (_, answer) = report_with(0, &[&path]);
    assert_eq!(failures(&answer), [("gone.xml".to_owned(), "unreadable".to_owned())]);
}
