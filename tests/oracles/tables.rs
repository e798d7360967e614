//! The rows of every table that `traceparse table` writes, compared with what other readers find (`tests/oracle/tables.py`): ElementTree in
//! exports, a reader of bundles that came with the corpus, and DuckDB and pyarrow in the files that are written.
//!
//! `docs/tables.md` lists the schemas that were compared. With `TRACEPARSE_BLESS=1`, the list is written anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};

use crate::programs::{corpus, files, has_python, in_corpus, oracle, python, repository, runs};

/// The reader of bundles.
const READER: &str = "../oracles/bundle_tables.py";
/// A file that is read although it is not well-formed.
const ILL_FORMED: &str = "VM-Tracker__Regions-Map.xml";

/// Tables with every kind of column.
const WRITTEN: [(&str, &str); 8] = [
    ("26.2/signpost_intervals.xml", "os-signpost-interval"),
    ("27/SwiftTaskStateTable.xml", "SwiftTaskStateTable"),
    ("27/fs-syscall.xml", "fs-syscall"),
    ("27/swiftui-causes.xml", "swiftui-causes"),
    ("27/hang-risks.xml", "hang-risks"),
    ("14.3.1/counters-time-profile.xml", "counters-profile"),
    ("14.0.1/cpu-profile.xml", "cpu-profile"),
    ("16.0/four-runs.trace.zip", "time-profile"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let has_corpus = corpus().is_some() && has_python();
    let has_reader = has_corpus && in_corpus(READER).is_file();
    let mut trials = trials![if has_reader; every_table_is_that_of_another_reader];
    let has_engines = has_corpus && runs(python().args(["-c", "import duckdb, pyarrow.parquet"]));
    for (file, name) in WRITTEN {
        let compare = move || {
            let file = in_corpus("xctrace").join(file);
            oracle("tables.py", ["formats", env!("CARGO_BIN_EXE_traceparse"), &file.display().to_string(), name])
                .map(drop)
        };
        trials.push(trial!(format!("formats::{name}"), compare).with_ignored_flag(!has_engines));
    }
    trials
}

/// The number of files and rows of a schema.
#[derive(Clone, Copy, Default)]
struct Checked {
    files: u64,
    rows: u64,
}

fn every_table_is_that_of_another_reader() -> Result<(), Failed> {
    let mut schemas: BTreeMap<String, [Checked; 2]> = BTreeMap::new();
    let reader = in_corpus(READER).display().to_string();
    for (kind, ending) in [("export", ".xml"), ("bundle", ".trace.zip")] {
        for path in files(&in_corpus("xctrace"), ending).iter().filter(|path| !path.ends_with(ILL_FORMED)) {
            let path = path.display().to_string();
            let mut arguments = vec![kind, env!("CARGO_BIN_EXE_traceparse"), &path];
            arguments.extend((kind == "bundle").then_some(reader.as_str()));
            for line in oracle("tables.py", arguments)?.lines() {
                let mut words = line.split(' ');
                let (Some(schema), Some(rows)) = (words.next(), words.next()) else { continue };
                let checked = &mut schemas.entry(schema.to_owned()).or_default()[usize::from(kind == "bundle")];
                checked.files += 1;
                checked.rows += rows.parse::<u64>()?;
            }
        }
    }
    ensure!(schemas.len() > 50, "{} schemas", schemas.len());
    check_list(&list(&schemas))
}

fn list(schemas: &BTreeMap<String, [Checked; 2]>) -> String {
    let counted = |checked: Checked, what: &str| match checked.files {
        0 => String::new(),
        1 => format!("{} in 1 {what}", checked.rows),
        files => format!("{} in {files} {what}s", checked.rows),
    };
    let mut list = "| schema | rows of exports | rows of recordings | compared with |\n|---|---|---|---|\n".to_owned();
    for (schema, [exports, bundles]) in schemas {
        let with = match (exports.rows > 0, bundles.rows > 0) {
            (true, true) => "both",
            (true, false) => "ElementTree",
            (false, true) => "the other reader of recordings",
            (false, false) => "columns only",
        };
        let (exports, bundles) = (counted(*exports, "export"), counted(*bundles, "recording"));
        list += &format!("| `{schema}` | {exports} | {bundles} | {with} |\n");
    }
    list
}

/// Checks that `docs/tables.md` has this list.
fn check_list(list: &str) -> Result<(), Failed> {
    let path: &Path = &repository("docs/tables.md");
    let text = fs::read_to_string(path)?;
    let start = text.find("| schema | rows of exports").ok_or("docs/tables.md has no list of schemas")?;
    let end = text[start..].find("\n\n").map_or(text.len(), |end| start + end + 1);
    if std::env::var_os("TRACEPARSE_BLESS").is_some_and(|value| value == "1") {
        return Ok(fs::write(path, [&text[..start], list, &text[end..]].concat())?);
    }
    ensure!(text[start..end] == *list, "docs/tables.md lists other schemas; TRACEPARSE_BLESS=1 writes the list");
    Ok(())
}
