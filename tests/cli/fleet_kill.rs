//! Repeatedly kills extracts and merges: each report in between lists what is missing, and the last report is complete. Also flips bits of
//! a dataset. `TRACEPARSE_THOROUGH` increases the number of both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

#[cfg(unix)]
use crate::command::pipe;
use crate::command::{BINARY, Folder, stderr_of, stdout_of};
use crate::fleet_case::{fleet, run, says};
#[cfg(unix)]
use crate::fleet_incomplete::json_of;
use support::Rng;

const FILES: u64 = 40;

/// The report, if the dataset exists. A report that claims to be complete must be complete.
fn check(dataset: &str, whole: &str) -> bool {
    let report = run(&["report", dataset, "--format", "json"]);
    if report.get_output().status.code() != Some(0) {
        let said = stderr_of(&report);
        let known =
            ["there are no exports", "cannot be read", "not a dataset", "neither an export nor", "No such file"];
        assert!(known.iter().any(|words| said.contains(words)), "{said}");
        return false;
    }
    let text = stdout_of(&report);
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let inputs = &answer["inputs"];
    if inputs["complete"] == true {
        assert_eq!(text, whole);
        return true;
    }
    assert_eq!(inputs["complete"], false);
    assert!(stderr_of(&report).contains("incomplete: the last extract did not finish"), "{}", stderr_of(&report));
    let runs = answer["runs"].as_array().expect("runs").len() as u64;
    assert!(inputs["inputs_done"].as_u64().expect("a number") <= runs, "{inputs}");
    assert!(runs <= FILES && inputs["inputs_expected"] == FILES, "{inputs}");
    false
}

/// Starts `fleet` with these arguments, and kills it after this time; true if it had not ended.
fn kill(args: &[&str], after: Duration) -> bool {
    let mut child = Command::new(BINARY).arg("fleet").args(args).stderr(Stdio::null()).spawn().expect("it starts");
    sleep(after);
    let has_ended = child.try_wait().expect("it can be asked").is_some();
    // On Unix, this sends SIGKILL.
    child.kill().expect("it can be killed, or has ended");
    child.wait().expect("it has ended");
    !has_ended
}

fn time(args: &[&str]) -> Duration {
    let began = Instant::now();
    says(0, args);
    began.elapsed()
}

/// Kills a command that writes a dataset at arbitrary times, and continues with the remaining work until the dataset is complete; then starts
/// again in a new folder. Returns how often the command was killed before it ended.
fn kill_often(kills: u64, random: &mut Rng, dataset: &str, args: &[&str], whole: &str) -> u64 {
    let args = [args, &["-o", dataset]].concat();
    let all = time(&args);
    assert!(check(dataset, whole));
    let mut killed = 0;
    for round in 0..kills {
        if Path::new(dataset).exists() && (check(dataset, whole) || round % 5 == 0) {
            says(0, &args);
            assert!(check(dataset, whole), "round {round}");
            fs::remove_dir_all(dataset).expect("it can be removed");
        }
        let after = Duration::from_micros(random.below(1 + all.as_micros() as u64));
        killed += u64::from(kill(&args, after));
        if Path::new(dataset).exists() {
            check(dataset, whole);
        }
    }
    says(0, &args);
    assert!(check(dataset, whole));
    killed
}

#[test]
fn killed_extracts_and_merges_never_look_whole() {
    let folder = Folder::new();
    let (path, kills) = (fleet(&folder, "x", FILES), support::rounds(50));
    let mut random = Rng::new(22);
    let shards = ["1/2", "2/2"].map(|shard| {
        let dataset = folder.path(&shard.replace('/', "of"));
        says(0, &["extract", &path, "--shard", shard, "-o", &dataset]);
        dataset
    });
    says(0, &["extract", &path, "-o", &folder.path("whole")]);
    let whole = stdout_of(&run(&["report", &folder.path("whole"), "--format", "json"]));
    let extracts = kill_often(kills / 2, &mut random, &folder.path("ds"), &["extract", &path, "--jobs", "2"], &whole);
    let merges =
        kill_often(kills - kills / 2, &mut random, &folder.path("m"), &["merge", &shards[0], &shards[1]], &whole);
    println!("killed at work: {extracts} extracts, {merges} merges");
    assert!(extracts >= kills / 8 && merges >= kills / 8, "{extracts} {merges}");
}

/// Results are saved while the next file is read, together with the stamps of their files, which need not be hashed again.
#[cfg(unix)]
#[test]
fn a_killed_extract_remembers_its_files() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", FILES), folder.path("ds"));
    // Clocks of file systems are coarse: a file that changed just now may change again.
    let before = std::time::SystemTime::now() - Duration::from_secs(3_600);
    for entry in fs::read_dir(&path).expect("the folder") {
        let file = fs::File::options().write(true).open(entry.expect("an entry").path()).expect("a file");
        file.set_modified(before).expect("its time");
    }
    let slow = pipe(&folder, "y.xml");
    let mut child = Command::new(BINARY)
        .args(["fleet", "extract", &path, &slow, "-o", &dataset, "--jobs", "1"])
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    // No process writes into the pipe, so the extract waits for it.
    while json_of(Path::new(&dataset), "sources.json").as_object().is_none_or(|known| known.len() < FILES as usize) {
        assert!(child.try_wait().expect("it can be asked").is_none());
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
    let said = stderr_of(&run(&["extract", &path, "-o", &dataset]));
    assert!(said.contains(&format!("extracted 0 new, 0 changed, {FILES} unchanged, 0 failed")), "{said}");
}

/// A flipped bit in any file is detected, or changes nothing.
#[test]
fn flipped_bits_change_no_number() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 6);
    let shards = ["1/2", "2/2"].map(|shard| {
        let dataset = folder.path(&shard.replace('/', "of"));
        says(0, &["extract", &path, "--shard", shard, "-o", &dataset]);
        dataset
    });
    let dataset = folder.path("ds");
    says(0, &["merge", &shards[0], &shards[1], "-o", &dataset]);
    let whole = stdout_of(&run(&["report", &dataset, "--format", "json"]));
    let (files, mut random) = (files_in(Path::new(&dataset)), Rng::new(22));
    let (mut refused, mut harmless) = (0, 0);
    for _ in 0..support::rounds(500) {
        let file = &files[random.below(files.len() as u64) as usize];
        let before = fs::read(file).expect("a file");
        if before.is_empty() {
            continue;
        }
        let mut bytes = before.clone();
        let (at, bit) = (random.below(bytes.len() as u64) as usize, random.below(8));
        bytes[at] ^= 1 << bit;
        fs::write(file, bytes).expect("it can be written");
        let report = run(&["report", &dataset, "--format", "json"]);
        if report.get_output().status.code() == Some(0) {
            assert_eq!(stdout_of(&report), whole, "{}: byte {at}, bit {bit}", file.display());
            harmless += 1;
        } else {
            assert_eq!(stdout_of(&report), "", "{}: byte {at}, bit {bit}", file.display());
            refused += 1;
        }
        fs::write(file, before).expect("it can be written");
    }
    println!("{refused} flips refused, {harmless} changed no byte of the report");
    assert!(refused > 0);
    assert_eq!(stdout_of(&run(&["report", &dataset, "--format", "json"])), whole);
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect();
    files.sort();
    files
}
