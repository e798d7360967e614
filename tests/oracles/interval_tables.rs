//! Intervals by name of all tables: the corpus and 300 invented recordings, compared with the results of
//! `tests/oracle/interval_tables.py`, which uses another XML reader.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::programs::{corpus, files, has_python, in_corpus, oracle, traceparse};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python(); invented_ones_agree];
    trials.extend(trials![if has_python() && corpus().is_some(); those_of_the_corpus_agree]);
    trials
}

/// The exports of a recording, and the process that is selected.
struct Case {
    exports: Vec<PathBuf>,
    process: String,
}

fn compare(cases: &[Case]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut list = String::new();
    for (index, Case { exports, process }) in cases.iter().enumerate() {
        let answer = folder.path().join(format!("{index}.json"));
        let selected = [OsStr::new("--process"), OsStr::new(process)];
        let selected = &selected[..if process.is_empty() { 0 } else { 2 }];
        let written = [OsStr::new("-o"), answer.as_os_str()];
        let exports = || exports.iter().map(|path| path.as_os_str());
        // It fails if there is no interval, and writes no answer.
        let _ = traceparse(
            [OsStr::new("intervals")].into_iter().chain(exports()).chain(selected.iter().copied()).chain(written),
        );
        let exports: Vec<_> = exports().map(OsStr::to_string_lossy).collect();
        writeln!(list, "{}\t{process}\t{}", answer.display(), exports.join("\t"))?;
    }
    let path = folder.path().join("cases.tsv");
    fs::write(&path, list)?;
    oracle("interval_tables.py", [OsStr::new("check"), path.as_os_str()]).map(drop)
}

fn invented_ones_agree() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    oracle("interval_tables.py", [OsStr::new("make"), folder.path().as_os_str(), OsStr::new("300")])?;
    let case = |folder: &Path| Case {
        exports: files(folder, ".xml"),
        process: fs::read_to_string(folder.join("process")).unwrap_or_default(),
    };
    let cases: Vec<Case> = (0..300).map(|seed| case(&folder.path().join(format!("{seed:03}")))).collect();
    compare(&cases)
}

fn those_of_the_corpus_agree() -> Result<(), Failed> {
    let mut exports = files(&in_corpus("xctrace"), ".xml");
    exports.extend([".xml", ".xml.gz"].iter().flat_map(|ending| files(&in_corpus("reproducers/causes"), ending)));
    let mut cases: Vec<Case> =
        exports.iter().map(|path| Case { exports: vec![path.clone()], process: String::new() }).collect();
    ensure!(cases.len() > 60, "only {} exports", cases.len());
    // Two exports of one recording have the same signposts, and one export twice has the same of everything.
    let path = |name: &str| in_corpus(&format!("xctrace/{name}.xml"));
    let both = |exports: [PathBuf; 2]| Case { exports: exports.to_vec(), process: String::new() };
    cases.push(both(["26.2/signpost_events", "26.2/signpost_intervals"].map(path)));
    compare(&cases)
}
