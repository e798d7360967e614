//! The programs of `examples/`, run on a bundle and on fixtures. They are built as tests are, so that mostly nothing is left to be built.
//!
//! `main_thread` needs the feature `serde`, and so does the comparison of what is serialized with what is written.
//! `TRACEPARSE_CARGO_CONFIG` is a setting of cargo with which the programs are built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use support::bundle::{BundleOptions, write_bundle};
use support::{Invented, Row, Size, Table};
use traceparse::report::{ReportOptions, View};

fn main() {
    libtest_mimic::run(&Arguments::from_args(), trials()).exit();
}

fn trials() -> Vec<Trial> {
    vec![
        Trial::test("a_format_of_ones_own", a_format_of_ones_own),
        Trial::test("an_input_of_ones_own", an_input_of_ones_own),
        Trial::test("many_files", each_of_many_files_has_a_line),
        #[cfg(feature = "serde")]
        Trial::test("the_main_thread_of_a_bundle", serialized::the_main_thread_of_a_bundle),
        #[cfg(feature = "serde")]
        Trial::test("the_main_thread_is_a_short_program", serialized::the_main_thread_is_a_short_program),
        #[cfg(feature = "serde")]
        Trial::test("what_is_serialized_is_the_json", serialized::what_is_serialized_is_the_json),
    ]
}

/// The output of an example.
fn output(example: &str, paths: &[&Path]) -> Result<String, Failed> {
    let features: &[&str] = if cfg!(feature = "serde") { &["--features", "serde"] } else { &[] };
    let build = ["build", "--locked", "--quiet", "--profile", "test", "--example", example];
    // What `--config` tells the cargo that runs this test is not told to it.
    let config = std::env::var("TRACEPARSE_CARGO_CONFIG").ok();
    let config: Vec<&str> = config.iter().flat_map(|it| ["--config", it]).collect();
    let mut cargo = Command::new(env!("CARGO"));
    let built = cargo.args(build).args(features).args(config).current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
    }
    // This test stands in `deps`, beside `examples`.
    let test = std::env::current_exe()?;
    let folder = test.parent().and_then(Path::parent).ok_or("the test is in no folder")?;
    let program = folder.join("examples").join(example);
    let output = Command::new(program).args(paths).current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// An invented recording as a bundle in this folder, of whose main thread there are samples.
fn bundle(folder: &Path) -> Result<PathBuf, Failed> {
    let invented = |seed| Invented::random(seed, &Size { rows: 300, depth: 8, ..Size::small() });
    let has_main = |recording: &Invented| {
        let is_main = |row: &&Row| recording.threads[row.thread].names == ["Main Thread"] && row.stack.is_some();
        recording.rows.iter().filter(is_main).filter(|row| row.state == "Running").count() > 10
    };
    let recording = (0..1_000).map(invented).find(has_main).ok_or("no recording has a main thread")?;
    let path = folder.join("orchard.trace");
    for (name, bytes) in write_bundle(&recording, &BundleOptions::new(Table::TimeProfile, &recording)) {
        let file = path.join(name);
        fs::create_dir_all(file.parent().ok_or("a file in no folder")?)?;
        fs::write(file, bytes)?;
    }
    Ok(path)
}

fn a_format_of_ones_own() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = bundle(folder.path())?;
    let table = output("own_output", &[&path])?;
    let analysis = traceparse::open(&path)?;
    let report = analysis.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
    let rows = report.series.iter().map(|series| series.functions.len().min(10)).sum::<usize>();
    let found = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| self")).count();
    if rows == 0 || found != rows {
        return Err(format!("{found} rows, expected {rows}:\n{table}").into());
    }
    let fixture = output("own_output", &[])?;
    if !fixture.starts_with("| self | all | function | binary |\n|---:|---:|---|---|\n| ")
        || !fixture.contains(" ms | ")
    {
        return Err(fixture.into());
    }
    Ok(())
}

fn an_input_of_ones_own() -> Result<(), Failed> {
    let found = output("own_input", &[])?;
    let expected = "  12   12  parse\n   5    5  idle\n   3   15  work\n   0   20  main\n";
    if found != expected { Err(found.into()) } else { Ok(()) }
}

fn each_of_many_files_has_a_line() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let bundle = bundle(folder.path())?;
    let sample = Path::new("fixtures/sample/demo.sample.txt");
    let found = output("many_files", &[&bundle, sample])?;
    let lines: Vec<&str> = found.lines().collect();
    if !lines[0].contains("orchard.trace: ") || !found.contains("demo.sample.txt: __psynch_cvwait, 1998 samples") {
        return Err(found.into());
    }
    Ok(())
}

#[cfg(feature = "serde")]
mod serialized {
    use serde_json::Value;
    use traceparse::output::{self, Format};
    use traceparse::report::Report;

    use super::*;

    fn document(report: &Report<'_>) -> Result<Value, Failed> {
        let mut json = Vec::new();
        output::write(report, &Format::Json, &mut json)?;
        Ok(serde_json::from_slice(&json)?)
    }

    /// The functions of all series in the JSON document, with the names and units that serialized ones have.
    fn functions(report: &Report<'_>) -> Result<Vec<Value>, Failed> {
        let document = document(report)?;
        let mut rows = document["functions"].as_array().ok_or("no functions")?.clone();
        for row in &mut rows {
            let row = row.as_object_mut().ok_or("a row is no object")?;
            row.remove("series");
        }
        Ok(rows)
    }

    pub(super) fn the_main_thread_of_a_bundle() -> Result<(), Failed> {
        let folder = tempfile::tempdir()?;
        let path = bundle(folder.path())?;
        let found: Vec<Value> = serde_json::from_str(&super::output("main_thread", &[&path])?)?;
        let analysis = traceparse::open(&path)?;
        let mut options = ReportOptions { view: View::Functions, ..ReportOptions::default() };
        options.selection.threads.push("Main Thread".into());
        let report = analysis.report(&options);
        let expected: Vec<Value> = functions(&report)?.into_iter().take(5).collect();
        if report.series.len() != 1 || found.is_empty() || found != expected {
            return Err(format!("{found:#?}, expected {expected:#?}").into());
        }
        Ok(())
    }

    /// The crate's front page shows it.
    pub(super) fn the_main_thread_is_a_short_program() -> Result<(), Failed> {
        let code = include_str!("../examples/main_thread.rs");
        let lines = code.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//")).count();
        if lines > 15 {
            return Err(format!("{lines} lines").into());
        }
        Ok(())
    }

    pub(super) fn what_is_serialized_is_the_json() -> Result<(), Failed> {
        let analysis = traceparse::open("fixtures/27/orchard/input.xml")?;
        for view in [View::Full, View::Functions, View::Tree, View::Binaries] {
            let report = analysis.report(&ReportOptions { view, ..ReportOptions::default() });
            if serde_json::to_value(&report)? != document(&report)? {
                return Err(format!("{view:?}").into());
            }
        }
        let report = analysis.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
        let named = report.series.iter().flat_map(|series| report.named_functions(series));
        let named: Vec<Value> = named.map(serde_json::to_value).collect::<Result<_, _>>()?;
        if named.len() < 20 || named != functions(&report)? {
            return Err(format!("{named:#?}").into());
        }
        Ok(())
    }
}
