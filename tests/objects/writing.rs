//! Writing datasets to the store: interrupted, killed, by two extracts at a time, and with large files.

use std::fs;
use std::process::{Command, Stdio};

use super::store::{Bucket, Hold, answer, fails, ok, traceparse};
use super::{MANIFEST, SEED, extract, key, path_of, report, report_on_files, runs_in, write_runs};
use support::fleet_exports::fleet_export;

pub(crate) fn an_interrupted_extract_goes_on() {
    let (folder, bucket) = runs_in("interrupted", 0..6);
    std::thread::sleep(std::time::Duration::from_millis(3100));
    let args = ["fleet", "extract", &bucket.url("runs"), "-o", &bucket.url("ds"), "--jobs", "1"];
    let hold = Hold::first("GET", &bucket, &key(1), "pass");
    let child = traceparse(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hold.wait();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    std::thread::sleep(std::time::Duration::from_millis(200));
    drop(hold);
    let stopped = answer(child.wait_with_output().unwrap());
    assert_eq!(stopped.code, 130, "{}", stopped.stderr);
    assert!(stopped.stderr.contains(&format!("kept in {}", bucket.url("ds"))), "{}", stopped.stderr);
    let read = bucket.read_so_far().len();
    let message = fails(1, &["fleet", "report", &bucket.url("ds"), "--strict"]);
    assert!(message.contains("incomplete"), "{message}");
    let said = extract(&bucket);
    assert!(!said.contains(" 0 unchanged"), "{said}");
    assert!(
        bucket.read_so_far()[read..]
            .iter()
            .filter(|key| key.starts_with("runs/") && !key.ends_with("-toc.xml"))
            .count()
            < 6
    );
    assert_eq!(report(&bucket.url(""), &bucket.url("ds")), report_on_files(&folder));
}

/// The list of files that an interrupted extract has not finished is next to the manifest, as in a folder.
pub(crate) fn an_extract_of_others_does_not_complete_it() {
    let (folder, bucket) = runs_in("owed", 0..6);
    let args = ["fleet", "extract", &bucket.url("runs"), "-o", &bucket.url("ds"), "--jobs", "1"];
    let hold = Hold::first("GET", &bucket, &key(4), "pass");
    let child = traceparse(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hold.wait();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    std::thread::sleep(std::time::Duration::from_millis(200));
    drop(hold);
    assert_eq!(answer(child.wait_with_output().unwrap()).code, 130);
    let owed = String::from_utf8(bucket.get("ds/owed.json")).unwrap();
    assert!(owed.contains(&bucket.url(&key(5))), "{owed}");
    // A file that is there already, and one of another folder.
    fs::create_dir_all(folder.path().join("more")).unwrap();
    fs::write(folder.path().join("more/new.xml"), fleet_export(SEED, 90, 60).export).unwrap();
    bucket.put_path(&folder.path().join("more"), "more");
    let said = ok(&["fleet", "extract", &bucket.url("more"), "-o", &bucket.url("ds")]).stderr;
    assert!(said.contains("ds: incomplete without") || said.contains("of an extract that did not finish"), "{said}");
    assert!(fails(1, &["fleet", "report", &bucket.url("ds"), "--strict"]).contains("incomplete"));
    // The rest completes it, and nothing is owed.
    ok(&["fleet", "extract", &bucket.url("runs"), &bucket.url("more"), "-o", &bucket.url("ds")]);
    assert!(!bucket.keys().contains(&"ds/owed.json".to_owned()));
    assert!(ok(&["fleet", "report", &bucket.url("ds"), "--strict"]).stderr.is_empty());
}

/// More than 16 MiB in one file: labels that cannot be compressed.
pub(crate) fn large_files_are_put_in_pieces() {
    const RUNS: u32 = 44;
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::new("pieces"));
    write_runs(&folder.path().join("runs"), 0..RUNS);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = || {
        // Xorshift; letters, digits and signs that need no quotes.
        (0..512 << 10)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from(b'0' + ((state >> 33) % 75) as u8)
            })
            .collect::<String>()
    };
    let lines: String = (0..RUNS).map(|number| format!("{},{}\n", key(number), noise())).collect();
    let manifest = path_of(&folder, "fleet.csv");
    fs::write(&manifest, format!("path,noise\n{lines}")).unwrap();
    let here = path_of(&folder, "ds");
    ok(&["fleet", "extract", &manifest, "-o", &here]);
    let largest =
        fs::read_dir(folder.path().join("ds/labels")).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    assert!(largest.max() > Some(16 << 20));
    ok(&["fleet", "extract", &manifest, "-o", &bucket.url("ds")]);
    assert!(bucket.requests().iter().any(|line| line.starts_with("POST /pieces/ds/labels/")), "no upload in pieces");
    let report = |dataset: &str| ok(&["fleet", "report", dataset, "--format", "csv"]).stdout;
    assert_eq!(report(&bucket.url("ds")), report(&here));
}

pub(crate) fn a_killed_upload_leaves_the_dataset_before() {
    let (folder, bucket) = runs_in("killed", 0..3);
    extract(&bucket);
    let (before, keys) = (report(&bucket.url(""), &bucket.url("ds")), bucket.keys());
    write_runs(&folder.path().join("runs"), 0..5);
    bucket.put_path(&folder.path().join("runs"), "runs");
    let hold = Hold::first("PUT", &bucket, &format!("ds/{MANIFEST}"), "refuse");
    let args = ["fleet", "extract", &bucket.url("runs"), "-o", &bucket.url("ds")];
    let temporary = tempfile::tempdir().unwrap();
    let mut command = traceparse(&args);
    let mut child = command.env("TMPDIR", temporary.path()).stderr(Stdio::null()).spawn().unwrap();
    hold.wait();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(hold);
    let left: Vec<String> =
        bucket.keys().into_iter().filter(|key| key.starts_with("ds/") && !keys.contains(key)).collect();
    assert!(!left.is_empty(), "its files were put before the manifest");
    assert_eq!(report(&bucket.url(""), &bucket.url("ds")), before);
    assert!(extract(&bucket).contains("2 new"));
    assert_eq!(report(&bucket.url(""), &bucket.url("ds")), report_on_files(&folder));
}

pub(crate) fn of_two_writers_one_wins() {
    for (name, is_new) in [("writers-first", true), ("writers-later", false)] {
        let (folder, bucket) = runs_in(name, 0..3);
        if !is_new {
            extract(&bucket);
        }
        write_runs(&folder.path().join("runs"), 0..5);
        bucket.put_path(&folder.path().join("runs"), "runs");
        let hold = Hold::first("PUT", &bucket, &format!("ds/{MANIFEST}"), "pass");
        let args = ["fleet", "extract", &bucket.url(&key(3)), "-o", &bucket.url("ds")];
        let child = traceparse(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        hold.wait();
        extract(&bucket);
        drop(hold);
        let lost = answer(child.wait_with_output().unwrap());
        assert_eq!(lost.code, 1, "{}", lost.stderr);
        let words = [&bucket.url(&format!("ds/{MANIFEST}")), "another extract has changed this dataset", "again"];
        words.iter().for_each(|word| assert!(lost.stderr.contains(*word), "{}", lost.stderr));
        assert_eq!(report(&bucket.url(""), &bucket.url("ds")), report_on_files(&folder), "{name}");
    }
}
