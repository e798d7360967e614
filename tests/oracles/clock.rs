//! Every output that shows a time, or a value divided by it, of fixtures and of real recordings (`tests/oracle/clock.py`).

use std::fs;

use libtest_mimic::{Failed, Trial};

use crate::programs::{corpus, files, has_python, oracle, repository};

pub(crate) fn trials() -> Vec<Trial> {
    let root = repository("fixtures");
    let mut trials = trials![percentages_of_a_core_are_all_compared];
    for folder in corpus().into_iter().chain([root]) {
        let recordings = [".xml", ".trace.zip", ".sample.txt"].into_iter().flat_map(|ending| files(&folder, ending));
        for path in recordings.filter(|path| !path.iter().any(|part| part == "reproducers")) {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            let command = env!("CARGO_BIN_EXE_traceparse").as_ref();
            let test = move || oracle("clock.py", [command, path.as_os_str()]).map(|_| ());
            trials.push(trial!(name, test).with_ignored_flag(!has_python()));
        }
    }
    trials
}

/// The files that show a percentage of a core. `clock.py` compares all of them; the page shows those of `output/json`, and of fleets with
/// several runs, `fleet_duckdb.rs`.
const PERCENTAGES: [&str; 19] = [
    "bin/fleet/help.rs",
    "src/analysis.rs",
    // Shortens the unit of limits.
    "src/output/alerts.rs",
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
    "src/report/selection.rs",
    "src/report/timeline.rs",
    "src/units/unit.rs",
    "src/units/weight.rs",
    "web/src/fleet/measure.ts",
];

/// A new output that shows one has to be compared, and listed.
fn percentages_of_a_core_are_all_compared() -> Result<(), Failed> {
    let mut found = Vec::new();
    for folder in ["bin", "src", "web/src"] {
        for path in files(&repository(folder), "") {
            let is_code = path.extension().is_some_and(|end| ["rs", "ts", "tsx"].iter().any(|code| end == *code));
            let text = if is_code { fs::read_to_string(&path)? } else { continue };
            let is_comment = |line: &&str| line.trim_start().starts_with("//") || line.trim_start().starts_with("*");
            let shows = |line: &str| {
                ["percent_of_core", "cpu_use(", "of one core", "cpuPercent"].iter().any(|word| line.contains(word))
            };
            if text.lines().filter(|line| !is_comment(line)).any(shows) {
                found.push(path.strip_prefix(repository(""))?.display().to_string());
            }
        }
    }
    ensure!(found == PERCENTAGES, "compare these in tests/oracle/clock.py, and list them: {found:#?}");
    Ok(())
}
