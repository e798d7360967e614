//! Datasets: extracted once, extended, interrupted, and reported like the exports they come from.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::command::{BINARY, Folder, fails, stderr_of, stdout_of};
use crate::fleet_case::{export, failures, fleet, reason, report_with, run, says, sources, toc, write};

/// Extracts; the summary of what was done.
#[track_caller]
fn extract(args: &[&str]) -> String {
    let said = says(0, &[&["extract"], args].concat());
    said.lines().last().unwrap_or_default().to_owned()
}

/// The report on these, as bytes.
fn bytes(args: &[&str]) -> String {
    let assert = run(&[&["report", "--format", "json"], args].concat());
    let code = assert.get_output().status.code();
    assert!(code == Some(0), "{}", stderr_of(&assert));
    stdout_of(&assert)
}

#[test]
fn a_dataset_reports_as_its_exports_do() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 5), folder.path("ds"));
    write(&folder, "x/cut.xml", &export(40)[..2000]);
    write(&folder, "x/copy.xml", export(12));
    let manifest = write(&folder, "fleet.csv", "path,ring,run_weight\nx/00.xml,beta,2.5\nx/03.xml,beta,\n");
    let inputs = [path.as_str(), "--manifest", &manifest];
    let said = says(0, &[&["extract"], &inputs[..], &["-o", &dataset, "--compact"]].concat());
    let expected = "compacted 7 data files into 1\nextracted 5 new, 0 changed, 0 unchanged, 2 failed\n";
    assert!(said.ends_with(expected), "{said}");
    for options in [
        &[][..],
        &["--by", "ring", "--weighted"],
        &["--measure", "all", "--scope", "function,thread", "--percentiles", "25,75"],
        &["--alert", "cpu.p50 > 90", "--alert", "function(\"work\").self.mean > 90"],
    ] {
        let of_exports = bytes(&[&inputs[..], options].concat());
        assert_eq!(bytes(&[&[dataset.as_str()], options].concat()), of_exports, "{options:?}");
    }
    assert_eq!(failures(&report_with(0, &[&dataset]).1).len(), 2);
    // Without the option as well.
    extract(&[&inputs[..], &["-o", &folder.path("other")]].concat());
    for dataset in ["ds", "other"] {
        let frames = fs::read_dir(folder.path(&format!("{dataset}/frames"))).expect("a table");
        assert_eq!(frames.count(), 1, "{dataset}");
    }
    assert_eq!(bytes(&[&folder.path("other")]), bytes(&inputs));
}

#[test]
fn only_new_and_changed_exports_are_read_again() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 4), folder.path("ds"));
    let whole = export(40);
    write(&folder, "x/cut.xml", &whole[..whole.len() / 2]);
    write(&folder, "x/empty.xml", "");
    write(&folder, "x/copy.xml", export(11));
    let args = [path.as_str(), "-o", &dataset];
    assert_eq!(extract(&args), "extracted 4 new, 0 changed, 0 unchanged, 3 failed");
    let report = bytes(&[&dataset]);
    let said = says(0, &["extract", &path, "-o", &dataset]);
    let expected = format!(
        "warning: 3 failed as before; `traceparse fleet report {dataset}` lists them\n\
         extracted 0 new, 0 changed, 4 unchanged, 3 failed\n"
    );
    assert_eq!(said, expected, "what failed before is not read, and not complained of");
    assert_eq!(bytes(&[&dataset]), report);
    // A file is repaired, one is new.
    write(&folder, "x/cut.xml", &whole);
    write(&folder, "x/new.xml", export(50));
    assert_eq!(extract(&args), "extracted 2 new, 0 changed, 4 unchanged, 2 failed");
    // A table of contents, and what a manifest says, change a run.
    write(&folder, "x/new-toc.xml", toc(50));
    let manifest = write(&folder, "fleet.csv", "path,ring\nx/00.xml,beta\n");
    let both = [&args[..], &["--manifest", &manifest]].concat();
    assert_eq!(extract(&both), "extracted 0 new, 2 changed, 4 unchanged, 2 failed");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path, "--manifest", &manifest]));
    // Other settings change all, also what failed.
    assert_eq!(
        extract(&[&both[..], &["--allow-truncated"]].concat()),
        "extracted 0 new, 6 changed, 0 unchanged, 2 failed"
    );
    assert_eq!(bytes(&[&dataset]), bytes(&[&path, "--manifest", &manifest, "--allow-truncated"]));
}

/// The files are old, so their size and time tell that they are the same: nothing of them is read.
#[test]
fn unchanged_exports_are_not_even_opened() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    for name in ["00.xml", "01.xml", "02.xml"] {
        let old = Command::new("touch").args(["-d", "2020-01-01", &folder.path(&format!("x/{name}"))]).status();
        assert!(old.expect("touch is there").success());
    }
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 3 new, 0 changed, 0 unchanged, 0 failed");
    // Another content of the same size at the same time: only who reads it can tell.
    let file = folder.path("x/01.xml");
    let text = fs::read_to_string(&file).expect("it is there").replace("Orchard", "Drahcro");
    fs::write(&file, text).expect("it can be written");
    let old = Command::new("touch").args(["-d", "2020-01-01", &file]).status();
    assert!(old.expect("touch is there").success());
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 0 new, 0 changed, 3 unchanged, 0 failed");
}

#[test]
fn exports_that_are_gone_stay_in_the_dataset() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 4), folder.path("ds"));
    extract(&[&path, "-o", &dataset]);
    fs::remove_file(folder.path("x/02.xml")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(
        said.contains("1 file of the dataset is not among the inputs, ") && said.contains("02.xml; its runs stay"),
        "{said}"
    );
    assert_eq!(sources(&report_with(0, &[&dataset]).1), ["00.xml", "01.xml", "02.xml", "03.xml"]);
    // Also where it is asked for by name.
    let said = says(0, &["extract", &path, &folder.path("x/02.xml"), "-o", &dataset]);
    assert!(
        said.contains("02.xml: cannot be read") && said.ends_with("0 new, 0 changed, 3 unchanged, 1 failed\n"),
        "{said}"
    );
    assert_eq!(sources(&report_with(0, &[&dataset]).1).len(), 4);
}

#[test]
fn files_that_are_gone_are_forgotten_where_that_is_asked() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 4), folder.path("ds"));
    write(&folder, "x/copy.xml", export(11));
    extract(&[&path, "-o", &dataset]);
    let before = bytes(&[&dataset]);
    // Not by mistake.
    for (input, words) in [("y/*.xml", "no file matches"), ("z.jsonl", "cannot be opened")] {
        let said = fails(1, &["fleet", "extract", &path, &folder.path(input), "-o", &dataset, "--remove-others"]);
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(bytes(&[&dataset]), before);
    // The copy counts when what it is a copy of is forgotten.
    fs::remove_file(folder.path("x/00.xml")).expect("it is there");
    fs::remove_file(folder.path("x/02.xml")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(
        said.contains("2 files of the dataset are not among the inputs") && said.contains("--remove-others"),
        "{said}"
    );
    let said = says(0, &["extract", &path, "-o", &dataset, "--remove-others"]);
    assert!(said.contains("removed 2 files not among the inputs"), "{said}");
    assert!(said.ends_with("extracted 1 new, 0 changed, 2 unchanged, 0 failed\n"), "{said}");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
}

#[test]
fn labels_do_not_get_lost_without_a_word() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    let text = "path,app_version,lab\nx/00.xml,1.0,7\nx/01.xml,1.0,\n";
    let manifest = write(&folder, "fleet.csv", text);
    let said = says(0, &["extract", &path, "--manifest", &manifest, "-o", &dataset]);
    assert_eq!(said, "extracted 3 new, 0 changed, 0 unchanged, 0 failed\n");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(said.contains("warning: 2 runs lose labels they had (app_version, lab): no manifest line"), "{said}");
    assert!(said.ends_with("extracted 0 new, 2 changed, 1 unchanged, 0 failed\n"), "{said}");
    // They come back, and one of them goes.
    let said = says(0, &["extract", &manifest, "-o", &dataset]);
    assert!(!said.contains("lose"), "{said}");
    fs::write(&manifest, text.replace("1.0,7", "2.0,")).expect("it can be written");
    let said = says(0, &["extract", &path, "--manifest", &manifest, "-o", &dataset]);
    assert!(said.contains("1 run loses labels it had (lab)"), "{said}");
    // Also those of a file that was moved.
    fs::rename(folder.path("x/01.xml"), folder.path("x/moved.xml")).expect("it is there");
    fs::rename(folder.path("x/01-toc.xml"), folder.path("x/moved-toc.xml")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(said.contains("2 runs lose labels they had (app_version"), "{said}");
}

#[test]
fn a_damaged_data_file_is_extracted_again() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    extract(&[&path, "-o", &dataset]);
    let before = bytes(&[&dataset]);
    let first = |table: &str| {
        let mut files: Vec<_> =
            fs::read_dir(folder.path(&format!("ds/{table}"))).expect("a table").flatten().map(|e| e.path()).collect();
        files.sort();
        files.swap_remove(0)
    };
    let frames = fs::read(first("frames")).expect("it is there");
    fs::write(first("frames"), &frames[..frames.len() / 2]).expect("it can be written");
    let said = fails(1, &["fleet", "report", &dataset]);
    let advice = || format!("Delete {}, then run the same `traceparse fleet extract` again", first("runs").display());
    assert!(said.contains(&advice()), "{said}");
    // Nothing of it is written into another file.
    for args in [&["fleet", "extract", &path, "-o", &dataset][..], &["fleet", "sql", &dataset]] {
        assert!(fails(1, args).contains(&advice()), "{args:?}");
    }
    fs::remove_file(first("runs")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(said.contains("ds: lost 3 runs with data files that are gone"), "{said}");
    assert!(said.ends_with("extracted 3 new, 0 changed, 0 unchanged, 0 failed\n"), "{said}");
    assert_eq!(bytes(&[&dataset]), before);
    // Who deletes another table gets the same.
    let advice = advice();
    fs::remove_file(first("frames")).expect("it is there");
    assert!(fails(1, &["fleet", "report", &dataset]).contains(&advice));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 3 new, 0 changed, 0 unchanged, 0 failed");
    assert_eq!(bytes(&[&dataset]), before);
}

#[test]
fn of_copies_the_one_of_which_most_is_known_counts() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        write(&folder, &format!("x/{name}.xml"), export(20));
    }
    let (path, dataset) = (folder.path("x"), folder.path("ds"));
    let counting = |args: &[&str]| {
        says(0, &[&["extract", &path, "-o", &dataset], args].concat());
        assert_eq!(bytes(&[&dataset]), bytes(&[&[path.as_str()], args].concat()));
        sources(&report_with(0, &[&dataset]).1)
    };
    assert_eq!(counting(&[]), ["a.xml"]);
    write(&folder, "x/b-toc.xml", toc(20));
    assert_eq!(counting(&[]), ["b.xml"]);
    let manifest = write(&folder, "m.csv", "path\nx/c.xml\n");
    assert_eq!(counting(&["--manifest", &manifest]), ["c.xml"]);
    fs::write(&manifest, "path,app_version\nx/c.xml,1.0\nx/a.xml,1.1\n").expect("it can be written");
    assert_eq!(counting(&["--manifest", &manifest]), ["a.xml"]);
    let why = |name: &str| reason(&report_with(0, &[&dataset]).1, name);
    assert!(why("b.xml").ends_with("a.xml, which counts"));
    let expected = "a.xml, which counts; but its manifest line says app_version 1.0, and that of ";
    assert!(why("c.xml").contains(expected) && why("c.xml").ends_with("a.xml app_version 1.1"), "{}", why("c.xml"));
    // What is said of the one that counts changes the reason of the other.
    fs::write(&manifest, "path,app_version\nx/c.xml,1.0\nx/a.xml,1.2\n").expect("it can be written");
    counting(&["--manifest", &manifest]);
    assert!(why("c.xml").ends_with("app_version 1.2"), "{}", why("c.xml"));
}

#[test]
fn a_copy_counts_when_the_first_is_another_file_now() {
    let folder = Folder::new();
    write(&folder, "x/a.xml", export(20));
    write(&folder, "x/b.xml", export(20));
    let (path, dataset) = (folder.path("x"), folder.path("ds"));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 1 new, 0 changed, 0 unchanged, 1 failed");
    write(&folder, "x/a.xml", export(21));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 1 new, 1 changed, 0 unchanged, 0 failed");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
    // A first copy that comes later takes the place.
    write(&folder, "x/0.xml", export(20));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 1 new, 0 changed, 1 unchanged, 1 failed");
    let (_, answer) = report_with(0, &[&dataset]);
    assert_eq!(
        (sources(&answer), failures(&answer)[0].0.as_str()),
        (vec!["0.xml".to_owned(), "a.xml".to_owned()], "b.xml")
    );
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
}

#[test]
fn strict_keeps_what_was_measured_and_fails() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    write(&folder, "x/zero.xml", "");
    let said = fails(1, &["fleet", "extract", &path, "-o", &dataset, "--strict"]);
    assert!(said.contains("zero.xml: the file is empty; and --strict was given"), "{said}");
    assert_eq!(report_with(0, &[&dataset]).1["inputs"]["runs"], 3);
    let said = fails(1, &["fleet", "extract", &path, "-o", &dataset, "--strict"]);
    assert!(said.contains("zero.xml"), "{said}");
    let said = fails(1, &["fleet", "report", &dataset, "--strict"]);
    assert!(said.contains("zero.xml"), "{said}");
}

#[test]
fn a_dataset_stands_alone() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 2), folder.path("ds"));
    extract(&[&path, "-o", &dataset]);
    for (args, word) in [
        (&["report", &dataset, &path][..], "must be the only input"),
        (&["report", &dataset, "--manifest", "m.csv"], "must be the only input"),
        (&["report", &dataset, "--schema", "time-profile"], "--schema"),
        (&["report", &dataset, "--dsym", "x.dSYM"], "--dsym"),
        (&["extract", &dataset, "-o", &dataset], "already a dataset"),
    ] {
        let said = says(2, args);
        assert!(said.contains(word), "{args:?}: {said}");
    }
    let said = fails(1, &["fleet", "extract", &path, "-o", &path]);
    assert!(said.contains("not empty, and not a dataset"), "{said}");
}

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
fn pipe(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo is there").success());
    path
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
