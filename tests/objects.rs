//! Inputs and datasets in an object store, with the feature `object-store`: the same answers as for files, except for the names of sources.
//!
//! The store is moto's S3 on the loopback interface (`tests/objects/server.py`). `TRACEPARSE_PYTHON` names the interpreter (default
//! `python3`); if it cannot `import moto.server`, the tests report themselves as ignored. No test contacts a real store.

#[path = "objects/store.rs"]
mod store;
#[path = "objects/writing.rs"]
mod writing;

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use store::{Bucket, answer, fails, ok, python, run, traceparse};
use support::fleet_exports::{file_name, fleet_export, manifest};
use support::page::payload;
use tempfile::TempDir;

const SEED: u64 = 22;
const MANIFEST: &str = "traceparse-dataset.json";

fn main() {
    let arguments = Arguments::from_args();
    let has_moto =
        Command::new(python()).args(["-c", "import moto.server"]).output().is_ok_and(|it| it.status.success());
    let tests: [(&str, fn()); 17] = [
        ("recordings_are_read", recordings_are_read),
        ("bundles_are_read_in_every_form", bundles_are_read_in_every_form),
        ("symbols_are_read", symbols_are_read),
        ("fleets_are_reported", fleets_are_reported),
        ("manifests_name_objects", manifests_name_objects),
        ("a_dataset_is_that_of_files", a_dataset_is_that_of_files),
        ("shards_are_merged_there", shards_are_merged_there),
        ("unchanged_objects_are_not_read_again", unchanged_objects_are_not_read_again),
        ("an_interrupted_extract_goes_on", writing::an_interrupted_extract_goes_on),
        ("an_extract_of_others_does_not_complete_it", writing::an_extract_of_others_does_not_complete_it),
        ("large_files_are_put_in_pieces", writing::large_files_are_put_in_pieces),
        ("a_killed_upload_leaves_the_dataset_before", writing::a_killed_upload_leaves_the_dataset_before),
        ("of_two_writers_one_wins", writing::of_two_writers_one_wins),
        ("damage_is_found", damage_is_found),
        ("space_is_limited", space_is_limited),
        ("what_is_missing_or_denied_is_said", what_is_missing_or_denied_is_said),
        ("uses_that_cannot_be_are_refused", uses_that_cannot_be_are_refused),
    ];
    let trials = tests.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
        .with_ignored_flag(!has_moto)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Writes exports of a fleet, each with its table of contents.
fn write_runs(folder: &Path, numbers: std::ops::Range<u32>) {
    fs::create_dir_all(folder.join("nested folder")).unwrap();
    for number in numbers {
        let run = fleet_export(SEED, number, 60);
        let below = if number % 3 == 0 { folder.join("nested folder") } else { folder.to_owned() };
        fs::write(below.join(format!("{}.xml", file_name(number))), run.export).unwrap();
        fs::write(below.join(format!("{}-toc.xml", file_name(number))), run.toc).unwrap();
    }
}

/// The key of a run.
fn key(number: u32) -> String {
    let below = if number.is_multiple_of(3) { "nested folder/" } else { "" };
    format!("runs/{below}{}.xml", file_name(number))
}

/// A folder of runs, and a copy of it in a bucket.
fn runs_in(name: &str, numbers: std::ops::Range<u32>) -> (TempDir, Bucket) {
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::new(name));
    write_runs(&folder.path().join("runs"), numbers);
    bucket.put_path(&folder.path().join("runs"), "runs");
    (folder, bucket)
}

fn path_of(folder: &TempDir, name: &str) -> String {
    fs::canonicalize(folder.path()).unwrap().join(name).to_str().unwrap().to_owned()
}

/// The same command writes the same output for files and objects, except for file names.
#[track_caller]
fn same(folder: &TempDir, bucket: &Bucket, args: &[&str]) {
    let [files, objects] = [path_of(folder, ""), bucket.url("")].map(|place| {
        let args: Vec<String> = args.iter().map(|arg| arg.replace("AT/", &place)).collect();
        let answer = run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        // A page contains file names in a compressed document.
        let document = args.iter().any(|arg| arg == "html").then(|| payload("report", &answer.stdout));
        let document = String::from_utf8(document.unwrap_or_default()).unwrap();
        let [stdout, stderr, document] =
            [answer.stdout, answer.stderr, document].map(|text| text.replace(&place, "AT/"));
        let stdout = if document.is_empty() { stdout } else { document };
        (answer.code, stdout, stderr)
    });
    assert!(files.1.len() > 100, "{args:?}: {}", files.2);
    assert_eq!(files.0, 0, "{args:?}: {}", files.2);
    assert_eq!(files, objects, "{args:?}");
}

fn recordings_are_read() {
    let (folder, bucket) = runs_in("single", 0..3);
    fs::write(folder.path().join("runs/a b.xml"), fleet_export(SEED, 9, 80).export).unwrap();
    bucket.put_path(&folder.path().join("runs"), "runs");
    let [first, second, third] = [0, 1, 2].map(|number| format!("AT/{}", key(number)));
    let toc = "AT/runs/run-00001-toc.xml";
    same(&folder, &bucket, &[&first, "--format", "json"]);
    same(&folder, &bucket, &["AT/runs/a b.xml", "--view", "functions"]);
    same(&folder, &bucket, &[&first, &second, "--view", "threads"]);
    same(&folder, &bucket, &["toc", toc, "--format", "json"]);
    same(&folder, &bucket, &["diff", &second, &third, "--before-toc", toc, "--force", "--format", "json"]);
}

fn bundles_are_read_in_every_form() {
    use support::bundle::{BundleOptions, to_folder, to_zip, write_bundle};
    use support::{Content, Node, Shape, Signpost, Table, orchard};
    let mut recording = orchard::session(120, 7);
    recording.threads.iter_mut().for_each(|thread| thread.names.truncate(1));
    recording.rows.iter_mut().for_each(|row| row.thread_name = 0);
    let start = recording.rows[0].time_ns;
    let signposts = vec![Signpost::new("Layout", start, start + 20_000_000, 0)];
    let intervals = Node { run: 1, table_index: 2, content: Content::SignpostIntervals(signposts) };
    let nodes = vec![Node::samples(1, Table::TimeProfile, &recording), intervals];
    let export = support::render(&recording, &support::RenderOptions::with_nodes(Shape::Xcode26_2, nodes.clone()));
    let files = write_bundle(&recording, &BundleOptions::with_nodes(nodes));
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::new("bundles"));
    let fleet = folder.path().join("fleet");
    fs::create_dir(&fleet).unwrap();
    to_folder(&files, &fleet.join("app.trace"));
    fs::write(fleet.join("zipped.trace.zip"), to_zip(&files, Some("zipped.trace"), true)).unwrap();
    fs::write(folder.path().join("export.xml"), export).unwrap();
    bucket.put_path(&fleet, "fleet");
    bucket.put_path(&folder.path().join("export.xml"), "export.xml");
    for input in ["AT/fleet/app.trace", "AT/fleet/zipped.trace.zip"] {
        same(&folder, &bucket, &[input, "--format", "json"]);
        same(&folder, &bucket, &[input, "--view", "functions", "--during", "Layout"]);
        same(&folder, &bucket, &["toc", input]);
    }
    let during = ["--during", "Layout", "--intervals", "AT/export.xml"];
    same(&folder, &bucket, &[&["AT/fleet/app.trace", "--view", "functions"], &during[..]].concat());
    // The second one has the content of the first.
    same(&folder, &bucket, &["fleet", "report", "AT/fleet", "--format", "json"]);
    let (dataset, input) = (bucket.url("ds"), bucket.url("fleet/app.trace"));
    ok(&["fleet", "extract", &input, "-o", &dataset]);
    let read = bucket.read_so_far().len();
    let again = ok(&["fleet", "extract", &input, "-o", &dataset]);
    let of_bundle = bucket.read_so_far().split_off(read).into_iter().filter(|key| key.starts_with("fleet/")).count();
    // An object written less than two seconds ago may change again without a new modification time.
    assert!(of_bundle == 0 || of_bundle > 5, "a part of the bundle was read");
    assert!(again.stderr.contains("0 new, 0 changed, 1 unchanged, 0 failed"), "{}", again.stderr);
}

fn symbols_are_read() {
    let symbols = support::repository("fixtures/symbols/built/arm64-dwarf4/Demo.dSYM");
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::new("symbols"));
    copy_folder(&symbols, &folder.path().join("symbols/Demo.dSYM"));
    bucket.put_path(&folder.path().join("symbols"), "symbols");
    same(&folder, &bucket, &["uuid", "AT/symbols"]);
    same(&folder, &bucket, &["uuid", "AT/symbols/Demo.dSYM", "--format", "json"]);
    let file = "symbols/Demo.dSYM/Contents/Resources/DWARF/Demo";
    let [here, there] = [path_of(&folder, file), bucket.url(file)]
        .map(|file| ok(&["symbolicate", "-o", &file, "--offset", "0x565", "0x5a0"]).stdout);
    assert!(here == there && here.contains("(in Demo)"), "{here}{there}");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, place) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() { copy_folder(&path, &place) } else { fs::copy(path, place).map(drop).unwrap() }
    }
}

fn fleets_are_reported() {
    let (folder, bucket) = runs_in("fleets", 0..7);
    let runs = folder.path().join("runs");
    fs::write(runs.join("broken.xml"), "<broken").unwrap();
    fs::write(runs.join("empty.xml"), "").unwrap();
    fs::copy(folder.path().join(key(1)), runs.join("same.xml")).unwrap();
    bucket.put_path(&runs, "runs");
    let formats = [["--format", "json"], ["--format", "csv"], ["--format", "html"]];
    for format in formats {
        same(&folder, &bucket, &[&["fleet", "report", "AT/runs"], &format[..]].concat());
    }
    same(
        &folder,
        &bucket,
        &["fleet", "report", "AT/runs/*-0000*.xml", "AT/runs/**/run-0000[036].xml", "--format", "json"],
    );
    // Named one by one, together with their tables of contents.
    let [first, second] = [0, 1].map(|number| format!("AT/{}", key(number)));
    same(&folder, &bucket, &["fleet", "report", &first, &second, "--format", "json"]);
}

fn manifests_name_objects() {
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::new("manifests"));
    let runs = folder.path().join("runs");
    fs::create_dir(&runs).unwrap();
    for number in 0..5 {
        fs::write(runs.join(format!("{}.xml", file_name(number))), fleet_export(SEED, number, 60).export).unwrap();
    }
    fs::write(runs.join("fleet.csv"), manifest(SEED, 5)).unwrap();
    bucket.put_path(&runs, "runs");
    same(&folder, &bucket, &["fleet", "report", "AT/runs/fleet.csv", "--by", "app_version", "--format", "json"]);
    // A local manifest names objects in the store.
    let here = folder.path().join("here.csv");
    let lines: String = (0..5)
        .map(|number| format!("{},1.{number}\n", bucket.url(&format!("runs/{}.xml", file_name(number)))))
        .collect();
    fs::write(&here, format!("path,app_version\n{lines}{},9\n", bucket.url("runs/none.xml"))).unwrap();
    let report = ok(&["fleet", "report", here.to_str().unwrap(), "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["runs"].as_array().unwrap().len(), 5);
    assert_eq!(report["inputs"]["failed"][0]["source"], bucket.url("runs/none.xml"));
}

/// The JSON of a report, with file names that do not depend on the location.
#[track_caller]
fn report(place: &str, dataset: &str) -> String {
    ok(&["fleet", "report", dataset, "--format", "json"]).stdout.replace(place, "AT/")
}

/// Extracts the runs of a folder into a local dataset, and returns its report.
fn report_on_files(folder: &TempDir) -> String {
    let [runs, dataset] = [path_of(folder, "runs"), path_of(folder, "ds")];
    ok(&["fleet", "extract", &runs, "-o", &dataset]);
    report(&path_of(folder, ""), &dataset)
}

fn extract(bucket: &Bucket) -> String {
    ok(&["fleet", "extract", &bucket.url("runs"), "-o", &bucket.url("ds")]).stderr
}

fn a_dataset_is_that_of_files() {
    let (folder, bucket) = runs_in("dataset", 0..7);
    fs::write(folder.path().join("runs/broken.xml"), "<broken").unwrap();
    bucket.put_path(&folder.path().join("runs"), "runs");
    let expected = report_on_files(&folder);
    assert!(extract(&bucket).contains("extracted 7 new, 0 changed, 0 unchanged, 1 failed"));
    assert_eq!(report(&bucket.url(""), &bucket.url("ds")), expected);
    // The objects equal the files of the local dataset, which are named by the hash of their content.
    let keys: Vec<String> = bucket.keys().into_iter().filter(|key| key.starts_with("ds/")).collect();
    assert!(keys.contains(&format!("ds/{MANIFEST}")) && keys.len() == 8, "{keys:?}");
    // Objects that do not belong to the dataset, such as the files of a killed extract, change nothing.
    bucket.put("ds/runs/part-00000000000000000000000000000000.parquet", "no parquet");
    assert_eq!(report(&bucket.url(""), &bucket.url("ds")), expected);
    let message = fails(1, &["fleet", "extract", &bucket.url("runs"), "-o", &bucket.url("runs")]);
    assert!(message.contains("not empty and not a dataset"), "{message}");
}

/// Three shards of a list of objects, and their merge, with the root passed or detected.
fn shards_are_merged_there() {
    let (folder, bucket) = runs_in("shards", 0..9);
    let list = folder.path().join("list");
    let urls: Vec<String> = (0..9).map(|number| bucket.url(&key(number))).collect();
    fs::write(&list, urls.join("\n")).unwrap();
    let (list, root) = (list.to_str().unwrap().to_owned(), bucket.url("runs"));
    let mut merge = vec!["fleet".to_owned(), "merge".to_owned()];
    for index in 1..=3 {
        let (shard, dataset) = (format!("{index}/3"), bucket.url(&format!("shards/{index}")));
        let root = if index == 2 { vec!["--root", &root] } else { Vec::new() };
        let extract = ["fleet", "extract", "--files-from", &list, "--shard", &shard, "-o", &dataset];
        ok(&[&extract[..], &root[..]].concat());
        merge.push(dataset);
    }
    merge.extend(["-o".to_owned(), bucket.url("ds")]);
    ok(&merge.iter().map(String::as_str).collect::<Vec<_>>());
    let expected = report_on_files(&folder);
    assert_eq!(report(&bucket.url(""), &bucket.url("ds")), expected);
    assert_eq!(report(&bucket.url(""), &bucket.url("shards")), expected);
}

fn unchanged_objects_are_not_read_again() {
    let (folder, bucket) = runs_in("resume", 0..5);
    // Younger objects might change again without another time.
    std::thread::sleep(std::time::Duration::from_millis(3100));
    extract(&bucket);
    let read = |bucket: &Bucket, number| bucket.read_so_far().iter().filter(|name| **name == key(number)).count();
    assert_eq!([0, 1, 4].map(|number| read(&bucket, number)), [1, 1, 1]);
    write_runs(&folder.path().join("runs"), 0..7);
    fs::write(folder.path().join(key(1)), fleet_export(SEED, 100, 60).export).unwrap();
    for number in [1, 5, 6] {
        let [run, toc] = [key(number), key(number).replace(".xml", "-toc.xml")];
        [run, toc].iter().for_each(|name| bucket.put_path(&folder.path().join(name), name));
    }
    assert!(extract(&bucket).contains("extracted 2 new, 1 changed, 4 unchanged, 0 failed"));
    assert_eq!([0, 1, 4, 5].map(|number| read(&bucket, number)), [1, 2, 1, 1]);
    assert_eq!(report(&bucket.url(""), &bucket.url("ds")), report_on_files(&folder));
    // The replaced objects no longer exist.
    let named = String::from_utf8(bucket.get(&format!("ds/{MANIFEST}"))).unwrap();
    for name in bucket.keys().iter().filter_map(|key| key.strip_prefix("ds/runs/")?.strip_suffix(".parquet")) {
        assert!(named.contains(name), "{name} is not removed");
    }
}

fn damage_is_found() {
    let (_folder, bucket) = runs_in("damage", 0..3);
    extract(&bucket);
    let frames = bucket.keys().into_iter().find(|key| key.starts_with("ds/frames/")).unwrap();
    let whole = bucket.get(&frames);
    for key in [frames.clone(), format!("ds/{MANIFEST}")] {
        let bytes = bucket.get(&key);
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 4;
        bucket.put(&key, flipped);
        let message = fails(1, &["fleet", "report", &bucket.url("ds")]);
        assert!(message.contains(&bucket.url(&key)), "{message}");
        bucket.put(&key, bytes);
    }
    bucket.delete(&frames);
    let message = fails(1, &["fleet", "report", &bucket.url("ds")]);
    assert!(message.contains(&format!("{}: missing", bucket.url(&frames))), "{message}");
    bucket.put(&frames, whole);
    ok(&["fleet", "report", &bucket.url("ds")]);
}

fn space_is_limited() {
    let (folder, bucket) = runs_in("space", 0..5);
    let sizes = (0..5).map(|number| {
        let toc = key(number).replace(".xml", "-toc.xml");
        [key(number), toc].iter().map(|name| fs::metadata(folder.path().join(name)).unwrap().len()).sum::<u64>()
    });
    let largest = sizes.max().unwrap();
    let report = |space: u64| {
        let space = space.to_string();
        run(&["fleet", "report", &bucket.url("runs"), "--jobs", "4", "--format", "json", "--object-space", &space])
    };
    let whole = report(1 << 30);
    assert_eq!((whole.code, report(largest).stdout), (0, whole.stdout), "one recording at a time");
    let refused = report(largest - 1);
    assert!(refused.stdout.contains("raise it with --object-space"), "{}", refused.stdout);
    let message = fails(1, &[&bucket.url(&key(0)), "--object-space", "1K"]);
    assert!(message.contains("raise it with --object-space"), "{message}");
}

fn what_is_missing_or_denied_is_said() {
    let (_folder, bucket) = runs_in("errors", 0..1);
    let (none, elsewhere) = (bucket.url("none.xml"), "s3://no-such-bucket/a.xml");
    let (input, dataset) = (bucket.url(&key(0)), bucket.url("ds"));
    for (args, words) in [
        (vec![none.as_str()], [none.as_str(), "object does not exist"]),
        (vec!["fleet", "report", &none], [none.as_str(), "object does not exist"]),
        (vec![elsewhere], [elsewhere, "bucket does not exist"]),
        (vec!["fleet", "report", elsewhere], [elsewhere, "bucket does not exist"]),
        (
            vec!["fleet", "extract", &input, "-o", "s3://no-such-bucket/ds"],
            ["s3://no-such-bucket/ds", "bucket does not exist"],
        ),
        (vec!["s3://denied/a.xml"], ["s3://denied/a.xml", "access denied; check the credentials"]),
        (vec!["fleet", "report", "s3://denied/runs"], ["s3://denied/runs", "access denied"]),
        (vec!["fleet", "extract", &input, "-o", "s3://denied/ds"], ["s3://denied/ds", "access denied"]),
        (vec!["fleet", "report", &dataset], [dataset.as_str(), "object does not exist"]),
        (vec!["s3://"], ["s3://", "the bucket is missing"]),
    ] {
        let message = fails(1, &args);
        words.iter().for_each(|word| assert!(message.contains(word), "{args:?}: {word:?} is not in {message}"));
        assert!(!message.contains("traceparse-objects-"), "{message}");
    }
    let refused = traceparse(&[&input]).env("AWS_ENDPOINT_URL", "http://127.0.0.1:9").output().unwrap();
    let refused = answer(refused);
    assert!(refused.code == 1 && refused.stderr.contains("check the endpoint"), "{}", refused.stderr);
}

fn uses_that_cannot_be_are_refused() {
    for (args, words) in [
        (vec!["s3://bucket/a.xml", "-o", "s3://bucket/a.json"], ["s3://bucket/a.json", "only a dataset"]),
        (vec!["a.xml", "--source", "s3://bucket/src"], ["s3://bucket/src", "copy the sources here"]),
        (vec!["fleet", "report", "hdfs://cluster/fleet"], ["hdfs://cluster/fleet", "download it"]),
        (vec!["https://bucket/a.xml"], ["https://bucket/a.xml", "download it"]),
    ] {
        let message = fails(2, &args);
        words.iter().for_each(|word| assert!(message.contains(word), "{args:?}: {word:?} is not in {message}"));
    }
}
