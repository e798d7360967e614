//! Datasets that are not whole: extracts that were interrupted or killed, files that are lost, and files of others.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{BINARY, Folder, fails, stdout_of};
use crate::fleet_case::{bytes, export, extract, failures, fleet, report_with, run, says, sources, write};

/// Waits until a process that was told to end has ended.
fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().expect("the process can be asked") {
            return status.code();
        }
        sleep(Duration::from_millis(10));
    }
    panic!("the process goes on");
}

/// Makes a pipe with a name. Its reader waits for its writer.
pub(crate) fn pipe(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo is there").success());
    path
}

/// A file of a dataset; null until it is there.
pub(crate) fn json_of(dataset: &Path, name: &str) -> Value {
    fs::read(dataset.join(name)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn interrupt(child: &Child) {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
}

#[cfg(unix)]
#[test]
fn an_interrupted_extraction_goes_on_where_it_was() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 10), folder.path("ds"));
    // The fifth file is read until the test has written it.
    fs::remove_file(folder.path("x/04.xml")).expect("it is there");
    let slow = pipe(&folder, "x/04.xml");
    let mut child = Command::new(BINARY)
        .args(["fleet", "extract", &path, &slow, "-o", &dataset, "--jobs", "1"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut writer = fs::OpenOptions::new().write(true).open(&slow).expect("the extraction opens it");
    interrupt(&child);
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    assert!(said.any(|line| line.starts_with("finishing the files being read")));
    writer.write_all(export(15).as_bytes()).expect("it is read");
    drop(writer);
    assert_eq!(wait(&mut child), Some(130));
    let said: Vec<String> = said.collect();
    assert!(
        said[0].contains("interrupted after 5 of 10 files") && said[0].contains("run the same command to continue"),
        "{said:?}"
    );
    let (said, answer) = report_with(0, &[&dataset]);
    assert!(said.contains("incomplete: the last extract did not finish (5 of 10 files done)"), "{said}");
    assert_eq!(sources(&answer), ["00.xml", "01.xml", "02.xml", "03.xml", "04.xml"]);
    fs::remove_file(&slow).expect("it is there");
    write(&folder, "x/04.xml", export(15));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 5 new, 0 changed, 5 unchanged, 0 failed");
    assert_eq!(report_with(0, &[&dataset]).0, "");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
}

#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_at_once() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    fs::remove_file(folder.path("x/02.xml")).expect("it is there");
    let slow = pipe(&folder, "x/02.xml");
    let mut child = Command::new(BINARY)
        .args(["fleet", "extract", &path, &slow, "-o", &dataset, "--jobs", "1"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let writer = fs::OpenOptions::new().write(true).open(&slow).expect("the extraction opens it");
    // Results are saved about a second later, although the next file takes longer.
    while json_of(Path::new(&dataset), "traceparse-dataset.json")["inputs_done"] != 2 {
        assert!(child.try_wait().expect("it can be asked").is_none());
    }
    interrupt(&child);
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    assert!(said.any(|line| line.contains("Ctrl-C again to quit at once")));
    interrupt(&child);
    assert_eq!(wait(&mut child), Some(130));
    drop(writer);
    // What was finished is there, and whole.
    let (said, answer) = report_with(0, &[&dataset]);
    assert!(said.contains("incomplete: the last extract did not finish (2 of 3 files done)"), "{said}");
    assert_eq!(sources(&answer), ["00.xml", "01.xml"]);
    incomplete_decides_nothing(&folder, &dataset);
}

/// The dataset has 2 of 3 files, of which one rule holds and the other does not.
#[cfg(unix)]
fn incomplete_decides_nothing(folder: &Folder, dataset: &str) {
    let rules = ["--alert", "cpu.mean > 0", "--alert", "cpu.max > 100000"];
    let states = |code: i32, more: &[&str]| {
        let answer = report_with(code, &[&[dataset], &rules[..], more].concat()).1;
        let states = answer["alerts"].as_array().expect("alerts").iter().map(|alert| alert["state"].clone());
        (states.collect::<Vec<_>>(), answer["inputs"].clone())
    };
    let (undecided, inputs) = states(4, &[]);
    assert_eq!(undecided, ["undecided", "undecided"]);
    assert_eq!(
        (&inputs["complete"], &inputs["inputs_done"], &inputs["inputs_expected"]),
        (&false.into(), &2.into(), &3.into())
    );
    assert_eq!(states(3, &["--allow-incomplete"]).0, ["fired", "quiet"]);
    let said = fails(1, &["fleet", "report", dataset, "--strict"]);
    assert!(said.contains("the dataset is incomplete, and --strict was given"), "{said}");
    // Every form of the report says so.
    for (format, words) in [
        ("text", "Incomplete: 2 of 3 input files are done."),
        ("html", "Incomplete: 2 of 3 input files are done."),
        ("csv", ",false,3,2\n"),
    ] {
        let report = stdout_of(&run(&["report", dataset, "--format", format]));
        assert!(report.contains(words), "{format}: {report}");
    }
    let said = fails(1, &["fleet", "sql", dataset]);
    assert!(
        said.contains("incomplete: the last extract did not finish") && said.contains("--allow-incomplete"),
        "{said}"
    );
    let sql = stdout_of(&run(&["sql", dataset, "--allow-incomplete"]));
    assert!(sql.starts_with("-- Dataset complete: NO; 2 of 3 input files\n"), "{sql}");
    let said = says(2, &["report", &folder.path("x/00.xml"), "--allow-incomplete"]);
    assert!(said.contains("--allow-incomplete applies to datasets"), "{said}");
}

#[test]
fn files_of_others_in_a_dataset_are_not_read() {
    let folder = Folder::new();
    let [one, two] = [("x", 3), ("y", 5)].map(|(name, files)| {
        let dataset = folder.path(&format!("{name}.dataset"));
        extract(&[&fleet(&folder, name, files), "-o", &dataset]);
        dataset
    });
    let before = bytes(&[&two]);
    let copied = Command::new("cp").args(["-r", "-n", &format!("{one}/."), &two]).status();
    assert!(copied.is_ok());
    let (said, answer) = report_with(0, &[&two]);
    assert!(said.contains("6 files not read, which the dataset does not name, such as "), "{said}");
    assert_eq!(answer["inputs"]["runs"], 5);
    assert_eq!(stdout_of(&run(&["report", &two, "--format", "json"])), before);
    let sql = stdout_of(&run(&["sql", &two]));
    let foreign = fs::read_dir(format!("{one}/runs")).expect("a table").flatten().next().expect("a file").file_name();
    assert!(sql.contains("/runs/part-") && !sql.contains(foreign.to_str().expect("UTF-8")), "{sql}");
    let said = fails(1, &["fleet", "extract", &folder.path("y"), "-o", &two]);
    assert!(said.contains("not a file of the dataset"), "{said}");
}

/// Nobody writes into it, so whoever opened it would wait for ever.
#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_not_read() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 2);
    let pipe = pipe(&folder, "x/pipe.xml");
    std::os::unix::fs::symlink(&pipe, folder.path("x/link.trace")).expect("a link can be made");
    let (said, answer) = report_with(0, &[&path]);
    assert_eq!(sources(&answer), ["00.xml", "01.xml"]);
    assert!(said.contains("2 paths skipped") && said.contains("link.trace"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_report_ends_without_one() {
    let folder = Folder::new();
    // Nobody writes into this pipe at first, so the report waits for it.
    let pipe = pipe(&folder, "pipe.xml");
    let mut child = Command::new(BINARY)
        .args(["fleet", "report", &pipe])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut writer = fs::OpenOptions::new().write(true).open(&pipe).expect("the report opens it");
    writer.write_all(b"<?xml version=\"1.0\"?>\n<trace-query-result>\n").expect("it is read");
    // It waits for bytes that never come.
    interrupt(&child);
    assert_eq!(wait(&mut child), Some(130));
    drop(writer);
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(said.contains("interrupted after 0 of 1 file, without a report"), "{said}");
}

/// Of what is lost only the number and a hash of the paths are known, and an extract of as many others is no replacement.
#[test]
fn what_was_lost_is_missed_until_it_is_back() {
    let folder = Folder::new();
    let (january, dataset) = (fleet(&folder, "january", 4), folder.path("ds"));
    let february = folder.path("february");
    for index in 0..4_u64 {
        write(&folder, &format!("february/{index}.xml"), export(40 + index));
    }
    let inputs = || report_with(0, &[&dataset]).1["inputs"].clone();
    let lose = |inputs: &[&str]| {
        fs::remove_dir_all(&dataset).ok();
        extract(&[inputs, &["-o", &dataset]].concat());
        let before = bytes(&[&dataset]);
        fs::remove_dir_all(folder.path("ds/runs")).expect("it is there");
        before
    };
    lose(&[&january]);
    for _ in 0..2 {
        let said = says(0, &["extract", &february, "-o", &dataset]);
        assert!(said.contains("incomplete: 4 files that it lost with data files are not back"), "{said}");
        let inputs = inputs();
        let of = |name: &str| inputs[name].as_u64();
        assert_eq!((&inputs["complete"], of("inputs_done"), of("inputs_expected")), (&false.into(), Some(4), Some(8)));
    }
    let said = fails(1, &["fleet", "report", &dataset, "--strict"]);
    assert!(said.contains("it lost files with data files that are gone (4 of 8 files done)"), "{said}");
    report_with(4, &[&dataset, "--alert", "cpu.mean > 0"]);
    // They are back.
    extract(&[&january, "-o", &dataset]);
    assert_eq!(bytes(&[&dataset]), bytes(&[&january, &february]));
    // The same extract again; others given up.
    let before = lose(&[&january, &february]);
    extract(&[&january, &february, "-o", &dataset]);
    assert_eq!(bytes(&[&dataset]), before);
    lose(&[&january]);
    extract(&[&february, "-o", &dataset]);
    extract(&[&february, "-o", &dataset, "--remove-others"]);
    assert_eq!(inputs()["complete"], true);
    // Of a merge, too.
    let merged = folder.path("merged");
    let [a, b] = [("a", &january), ("b", &february)].map(|(name, path)| {
        extract(&[path, "-o", &folder.path(name)]);
        folder.path(name)
    });
    says(0, &["merge", &a, &b, "-o", &merged]);
    let before = bytes(&[&merged]);
    fs::remove_dir_all(folder.path("merged/runs")).expect("it is there");
    extract(&[&january, "-o", &merged]);
    assert_eq!(report_with(0, &[&merged]).1["inputs"]["complete"], false);
    extract(&[&january, &february, "-o", &merged, "--remove-others"]);
    assert_eq!(bytes(&[&merged]), before);
}

/// What is missing now would be missing in every report.
#[test]
fn an_input_that_cannot_be_found_is_in_the_dataset() {
    let folder = Folder::new();
    let (january, dataset) = (fleet(&folder, "january", 3), folder.path("ds"));
    let pattern = folder.path("february/*.xml");
    for _ in 0..2 {
        let said = says(0, &["extract", &january, &pattern, "-o", &dataset]);
        assert!(said.contains("no file matches this pattern") && said.contains(" unchanged, 1 failed\n"), "{said}");
        assert!(!said.contains("not among the inputs"), "{said}");
        let answer = report_with(0, &[&dataset]).1;
        assert_eq!(failures(&answer), [("*.xml".to_owned(), "unreadable".to_owned())]);
        assert_eq!(answer["inputs"]["inputs_expected"], 4);
    }
    assert!(fails(1, &["fleet", "report", &dataset, "--strict"]).contains("no file matches this pattern"));
    // An extract of other inputs does not find it either.
    let said = says(0, &["extract", &january, "-o", &dataset]);
    assert!(said.contains("1 file of the dataset is not among the inputs"), "{said}");
    assert_eq!(failures(&report_with(0, &[&dataset]).1).len(), 1);
    let february = write(&folder, "february/9.xml", export(40));
    let said = says(0, &["extract", &january, &pattern, "-o", &dataset]);
    assert_eq!(said, "extracted 1 new, 0 changed, 3 unchanged, 0 failed\n");
    assert_eq!(bytes(&[&dataset]), bytes(&[&january, &february]));
    // Of every shard, and of the fleet once.
    let nothing = folder.path("march/*.xml");
    let shards = ["1/2", "2/2"].map(|shard| {
        let dataset = folder.path(&shard.replace('/', "of"));
        extract(&[&january, &nothing, "--shard", shard, "-o", &dataset]);
        dataset
    });
    let answer = report_with(0, &[&shards[0], &shards[1]]).1;
    let of = |name: &str| answer["inputs"][name].as_u64();
    assert_eq!((of("inputs_done"), of("inputs_expected"), failures(&answer).len()), (Some(4), Some(4), 1));
    assert_eq!(answer["inputs"]["complete"], true);
}

/// Files of a dataset that was copied into the folder of another one may be the only ones.
#[test]
fn an_incomplete_dataset_does_not_remove_files_of_others() {
    let folder = Folder::new();
    let (path, dataset, other) = (fleet(&folder, "x", 3), folder.path("ds"), folder.path("other"));
    write(&folder, "x/zero.xml", "");
    fails(1, &["fleet", "extract", &path, "-o", &dataset, "--strict"]);
    let february = write(&folder, "y/1.xml", export(40));
    extract(&[&february, "-o", &other]);
    for table in fs::read_dir(&other).expect("the dataset").flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(table.path()).expect("a table").flatten() {
            let table = table.file_name().into_string().expect("UTF-8");
            let name = file.file_name().into_string().expect("UTF-8");
            write(&folder, &format!("ds/{table}/{name}"), fs::read(file.path()).expect("a file"));
        }
    }
    let files = || fs::read_dir(folder.path("ds/runs")).expect("a table").count();
    let before = files();
    for args in [&["--strict"][..], &[]] {
        let said = fails(1, &[&["fleet", "extract", &path, "-o", &dataset], args].concat());
        assert!(said.contains("not a file of the dataset") && said.contains("move it to another folder"), "{said}");
        assert_eq!(files(), before);
    }
}

/// A nightly extract of what is new does not complete the one of the night before, which was killed.
#[test]
fn an_extract_of_others_does_not_complete_a_dataset() {
    let folder = Folder::new();
    let (january, dataset) = (fleet(&folder, "january", 4), folder.path("ds"));
    let february = write(&folder, "february/1.xml", export(40));
    write(&folder, "january/00.xml", "");
    // It ends at the first file.
    fails(1, &["fleet", "extract", &january, "-o", &dataset, "--strict", "--jobs", "1"]);
    for _ in 0..2 {
        let said = says(0, &["extract", &february, "-o", &dataset]);
        let words = "incomplete without 3 files of an extract that did not finish, such as ";
        assert!(said.contains(words) && said.contains("01.xml; name them, too"), "{said}");
        let inputs = report_with(0, &[&dataset]).1["inputs"].clone();
        let of = |name: &str| inputs[name].as_u64();
        assert_eq!((&inputs["complete"], of("inputs_done"), of("inputs_expected")), (&false.into(), Some(2), Some(5)));
    }
    // One comes alone, and the others in a folder that has grown meanwhile.
    extract(&[&folder.path("january/01.xml"), "-o", &dataset]);
    assert_eq!(report_with(0, &[&dataset]).1["inputs"]["inputs_done"], 3);
    write(&folder, "january/new.xml", export(60));
    says(0, &["extract", &january, "-o", &dataset]);
    assert_eq!(bytes(&[&dataset]), bytes(&[&january, &february]));
    assert!(!fs::exists(folder.path("ds/owed.json")).expect("a folder"));
}
