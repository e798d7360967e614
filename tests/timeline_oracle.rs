//! Timelines of fixtures and of real exports, compared with what `tests/oracle/timeline.py` makes of the samples of the same
//! export, which the command writes as CSV.
//!
//! `TRACEPARSE_PYTHON` names the interpreter (`python3` unless told); without one, the tests report themselves as ignored. So do
//! those of real exports without `TRACEPARSE_CORPUS`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// Fixtures, by their folder. Of several documents or tables of one run, a row of CSV does not tell which it is of.
const FIXTURES: [&str; 6] = [
    "12/time-profile",
    "14.3/counters-profile-by-cycles",
    "26.4/time-sample",
    "27/orchard",
    "27/time-profile-waiting",
    "27/cpu-profile",
];

/// Real exports that have CPU samples.
const CORPUS: [&str; 11] = [
    "12.5/time-profile",
    "14.0.1/cpu-profile",
    "14.3.1/time-profile",
    "14.3.1/cpu-profile",
    "14.3.1/counters-time-profile",
    "14-16/time-profile",
    "26.2/finder_cpu_profile",
    "26.4/time-sample",
    "26.4.1/time-profile",
    "26.5/cpu-profile",
    "27/cpu-profile",
];

fn main() {
    let arguments = Arguments::from_args();
    let has_python = Command::new(python()).arg("--version").output().is_ok_and(|output| output.status.success());
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let trial = |name: String, path: PathBuf, is_there: bool| {
        Trial::test(name, move || check_all(&path)).with_ignored_flag(!is_there)
    };
    let mut trials = Vec::new();
    for fixture in FIXTURES {
        let path = root.join(fixture).join("input.xml");
        trials.push(trial(format!("fixture::{fixture}"), path, has_python));
    }
    for file in CORPUS {
        let path = corpus.clone().unwrap_or_default().join("xctrace").join(format!("{file}.xml"));
        trials.push(trial(format!("corpus::{file}"), path, has_python && corpus.is_some()));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn python() -> String {
    std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// The separation and the length of the bins: the command's choice, and others.
const CASES: [(&str, Option<u64>); 6] = [
    ("thread", None),
    ("thread", Some(1)),
    ("thread", Some(7_654_321)),
    ("process", Some(1_000_000)),
    ("process", None),
    ("none", Some(1_000_000_000)),
];

fn check_all(export: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let samples = folder.path().join("samples.csv");
    traceparse(export, &["--view", "samples"], &samples)?;
    let timeline = folder.path().join("timeline.csv");
    for (separate_by, bin) in CASES {
        let text = bin.map(|bin: u64| format!("{bin}ns"));
        let mut options = vec!["--view", "timeline", "--separate-by", separate_by];
        options.extend(text.iter().flat_map(|text| ["--bin", text]));
        traceparse(export, &options, &timeline)?;
        compare(&samples, &timeline, separate_by, bin)?;
    }
    Ok(())
}

fn traceparse(export: &Path, options: &[&str], output: &Path) -> Result<(), Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceparse"));
    let done = command.arg(export).args(options).args(["--format", "csv", "-o"]).arg(output).output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    if done.status.success() && fs::exists(output)? { Ok(()) } else { Err(format!("{options:?}: {said}").into()) }
}

fn compare(samples: &Path, timeline: &Path, separate_by: &str, bin: Option<u64>) -> Result<(), Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/timeline.py");
    let mut command = Command::new(python());
    command.arg(script).args([samples, timeline]).arg(separate_by).env_remove("BIN");
    if let Some(bin) = bin {
        command.env("BIN", bin.to_string());
    }
    let done = command.output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if done.status.success() { Ok(()) } else { Err(format!("{separate_by}, bin {bin:?}: {said}").into()) }
}
