//! Timelines of fixtures and of real exports, compared with what `tests/oracle/timeline.py` makes of the samples of the same
//! export, which the command writes as CSV.
//!
//! `TRACEPARSE_PYTHON` names the interpreter (`python3` unless told); without one, the tests report themselves as ignored. So do
//! those of real exports without `TRACEPARSE_CORPUS`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

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

pub(crate) fn trials() -> Vec<Trial> {
    let has_python = Command::new(python()).arg("--version").output().is_ok_and(|output| output.status.success());
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let trial = |name: String, path: PathBuf, is_there: bool| {
        trial!(name, move || check_all(&path)).with_ignored_flag(!is_there)
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
    let recordings = recordings(&root).into_iter().chain(corpus.iter().flat_map(|folder| recordings(folder)));
    for path in recordings {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        trials.push(trial!(format!("clock::{name}"), move || check_clock(&path)).with_ignored_flag(!has_python));
    }
    trials.push(trial!("percentages_of_a_core_are_all_compared", percentages_of_a_core_are_all_compared));
    trials
}

/// Exports, recordings and reports of `sample` below a folder.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let is_recording = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_export = name.ends_with(".xml") && !path.components().any(|part| part.as_os_str() == "reproducers");
        is_export || name.ends_with(".trace.zip") || name.ends_with(".sample.txt")
    };
    let mut found = files_below(folder).unwrap_or_default();
    found.retain(|path| is_recording(path));
    found
}

/// All files below a folder, sorted.
fn files_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files_below(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

/// Every output that shows a time, or what divides by it, says the same.
fn check_clock(recording: &Path) -> Result<(), Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/clock.py");
    let done = Command::new(python()).arg(script).arg(env!("CARGO_BIN_EXE_traceparse")).arg(recording).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if done.status.success() { Ok(()) } else { Err(said.into()) }
}

/// The files that show a percentage of a core. `clock.py` compares all of them; of the page, `web/test/equality.mjs` does, and of fleets with
/// several runs, `fleet_duckdb.rs`.
const PERCENTAGES: [&str; 21] = [
    "bin/fleet/help.rs",
    "src/fleet/sql.rs",
    "src/output/diff/overview.rs",
    "src/output/fleet/measures.rs",
    "src/output/fleet/sentences.rs",
    "src/output/json/header.rs",
    "src/output/json/overview.rs",
    "src/output/svg/trees.rs",
    "src/output/text/overview/mod.rs",
    "src/output/text/overview/time.rs",
    "src/output/text/summary.rs",
    "src/output/text/timeline.rs",
    "src/report/overview/activity.rs",
    "src/report/selected_time.rs",
    "src/report/timeline.rs",
    "src/units.rs",
    "web/src/engine/index.ts",
    "web/src/engine/views/cpu_use.ts",
    "web/src/host/answers/overview.ts",
    "web/src/host/protocol.ts",
    "web/src/ui/views/overview_sentences.tsx",
];

/// A new output that shows one has to be compared, and listed.
fn percentages_of_a_core_are_all_compared() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["bin", "src", "web/src"] {
        for path in files_below(&root.join(folder))? {
            let is_code = path.extension().is_some_and(|end| ["rs", "ts", "tsx"].iter().any(|code| end == *code));
            let text = if is_code { fs::read_to_string(&path)? } else { continue };
            let is_comment = |line: &&str| line.trim_start().starts_with("//") || line.trim_start().starts_with("*");
            let shows = |line: &str| {
                ["percent_of_core", "cpu_use(", "of one core", "cpuPercent"].iter().any(|word| line.contains(word))
            };
            if text.lines().filter(|line| !is_comment(line)).any(shows) {
                found.push(path.strip_prefix(root)?.display().to_string());
            }
        }
    }
    if found == PERCENTAGES {
        Ok(())
    } else {
        Err(format!("compare these in tests/oracle/clock.py, and list them: {found:#?}").into())
    }
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
