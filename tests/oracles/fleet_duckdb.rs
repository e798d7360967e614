//! A dataset of 2,000 invented runs, read by DuckDB and Spark: the statement of `fleet sql` gives the numbers of the report, bit for bit; and
//! written anew by them: every run is as it was.
//!
//! Each case writes its statement and the CSV of the report; `tests/oracle/duckdb_report.py` and `spark_report.py` run the statements and
//! compare every number. Where Python cannot `import duckdb`, or `import pyspark`, the tests report themselves as ignored.

use std::fs::{self, File};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libtest_mimic::{Failed, Trial};
use support::Rng;
use traceparse::fleet::{
    DatasetReader, DatasetRow, DatasetTable, FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetReport,
    FleetScope, Measure, NameId, RewrittenRuns, RunMeasures, SqlEngine,
};
use traceparse::output::{self, Cells, Format};
use traceparse::stats::{Quantile, QuantileMethod};
use traceparse::units::{Millionths, Nanos, Unit};

use crate::programs::{has_spark, oracle, python, runs as is_there};

const RUNS: u32 = 2_000;
/// Runs of one data file.
const FILE: usize = 300;

pub(crate) fn trials() -> Vec<Trial> {
    let has_duckdb = is_there(python().args(["-c", "import duckdb"]));
    let mut trials = trials![if has_duckdb; duckdb_gives_the_same_numbers, runs_that_duckdb_rewrote_are_the_same];
    trials.extend(trials![if has_duckdb && has_spark(); spark_gives_the_same_numbers_and_runs]);
    trials
}

/// The runs of all tests.
static FLEET: LazyLock<Vec<RunMeasures>> = LazyLock::new(runs);

/// Runs that differ in everything that the statement has to deal with.
fn runs() -> Vec<RunMeasures> {
    let mut rng = Rng::new(77);
    let mut runs = support::fleet::runs(21, RUNS);
    for run in &mut runs {
        let record = &mut run.record;
        record.run_weight = Millionths::new(1 + rng.below(3_000_000));
        match rng.below(40) {
            0 => record.unit = Unit::Cycles,
            1 => record.labels.retain(|(key, _)| key != "app_version"),
            2 => record.wall = None,
            3 => record.labels.retain(|(key, _)| key != "device"),
            5 => record.run_weight = Millionths::new(100_000_000_000),
            // So long that the lightest functions round to nothing.
            4 => record.wall = Some(Nanos::from_millis(4_000_000_000_000)),
            _ => {}
        }
        record.labels.push(("lab's \"key\"".to_owned(), format!("{}'s", rng.below(3))));
        record.labels.sort();
        let (first, second) = (other(run, "Helper 'one'"), other(run, "Päckchen"));
        for row in &mut run.frames {
            row.process = [row.process, row.process, first, second][rng.index(4)];
        }
        for row in &mut run.binaries {
            row.process = [row.process, row.process, first, second][rng.index(4)];
        }
        if rng.one_in(5) {
            rename_main_thread(run);
        }
        rotate_names(run, rng.index(5));
    }
    runs
}

fn other(run: &mut RunMeasures, name: &str) -> NameId {
    run.names.push(name.to_owned());
    NameId(run.names.len() as u32 - 1)
}

/// Gives the main thread another name, so that the run has none of that name.
fn rename_main_thread(run: &mut RunMeasures) {
    let new = other(run, "it's a thread");
    let main = run.names.iter().position(|name| name == "Main Thread").map(|index| NameId(index as u32));
    let rename = |id: &mut NameId| *id = if Some(*id) == main { new } else { *id };
    run.frames.iter_mut().for_each(|row| rename(&mut row.thread));
    run.binaries.iter_mut().for_each(|row| rename(&mut row.thread));
    run.windows.iter_mut().for_each(|row| rename(&mut row.thread));
}

/// Gives every name another id: what the first name of a run is means nothing.
fn rotate_names(run: &mut RunMeasures, by: usize) {
    let count = run.names.len();
    run.names.rotate_right(by);
    let moved = |id: &mut NameId| id.0 = (id.0 + by as u32) % count as u32;
    for row in &mut run.frames {
        [&mut row.process, &mut row.thread, &mut row.binary, &mut row.function].into_iter().for_each(moved);
    }
    for row in &mut run.binaries {
        [&mut row.process, &mut row.thread, &mut row.binary].into_iter().for_each(moved);
    }
    for row in &mut run.windows {
        [&mut row.process, &mut row.thread].into_iter().for_each(moved);
    }
}

fn failure() -> FailedInput {
    FailedInput {
        source: "cut.xml".to_owned(),
        source_bytes: 17,
        run_id: Some("ff".to_owned()),
        fingerprint: "ff".to_owned(),
        kind: FailureKind::Truncated,
        reason: "the file is cut".to_owned(),
        labels: Vec::new(),
    }
}

fn write_dataset(runs: &[RunMeasures], folder: &Path) -> Result<(), Failed> {
    for table in DatasetTable::ALL {
        fs::create_dir(folder.join(table.name()))?;
        for (index, part) in runs.chunks(FILE).enumerate() {
            let failures = if index == 0 { vec![failure()] } else { Vec::new() };
            let file = File::create(folder.join(table.name()).join(format!("{index}.parquet")))?;
            table.write(part, &failures, file)?;
        }
    }
    Ok(())
}

fn cases() -> Vec<(&'static str, FleetOptions)> {
    let by = |keys: &[&str]| FleetOptions {
        by: keys.iter().map(|&key| key.to_owned()).collect(),
        ..FleetOptions::default()
    };
    let threads = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    let every_tenth = (0..=10).filter_map(|tenth| Quantile::from_percent(&(tenth * 10).to_string())).collect();
    vec![
        ("all", FleetOptions::default()),
        ("versions", by(&["app_version"])),
        ("versions-and-devices", FleetOptions { measure: Measure::AllWeight, ..by(&["app_version", "device"]) }),
        ("odd-key", by(&["lab's \"key\"", "nobody has it"])),
        ("linear", FleetOptions { method: QuantileMethod::Linear, ..by(&["app_version"]) }),
        ("linear-tenths", FleetOptions { method: QuantileMethod::Linear, quantiles: every_tenth, ..by(&["device"]) }),
        ("weighted", FleetOptions { is_weighted: true, ..by(&["app_version"]) }),
        (
            "processes",
            FleetOptions { processes: vec!["Helper 'one'".to_owned(), "nobody".to_owned()], ..by(&["device"]) },
        ),
        ("threads", FleetOptions { threads: threads(&["it's a thread", "Main Thread"]), ..by(&["app_version"]) }),
        (
            "threads-of-processes",
            FleetOptions {
                threads: threads(&["Main Thread"]),
                processes: vec!["Helper 'one'".to_owned()],
                measure: Measure::AllWeight,
                ..by(&["device"])
            },
        ),
        ("functions", FleetOptions { scopes: vec![FleetScope::Function], measure: Measure::SelfWeight, ..by(&[]) }),
        (
            "some",
            FleetOptions {
                only: [("device", "iPhone 15"), ("device", "iPad Air"), ("lab's \"key\"", "1's")]
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .to_vec(),
                ..by(&["app_version"])
            },
        ),
        ("runs", FleetOptions { scopes: vec![FleetScope::Run], ..by(&["app_version", "device"]) }),
    ]
}

/// The report as the command makes it of a large dataset: of data files, with values in a temporary file.
fn report(runs: &[RunMeasures], options: FleetOptions) -> Result<FleetReport, Failed> {
    let mut builder = FleetBuilder::new(options);
    for part in runs.chunks(FILE) {
        let table = |table: DatasetTable| {
            let mut bytes = Vec::new();
            table.write(part, &[], &mut bytes).map(|()| Cursor::new(bytes))
        };
        for row in DatasetReader::open(table)? {
            if let DatasetRow::Run(run) = row? {
                builder.add_shared(*run);
            }
        }
        builder.spill(|| Ok(Box::new(tempfile::tempfile()?)))?;
    }
    Ok(builder.try_finish()?)
}

/// The cases with their reports as CSV, which take longer than the statements.
static REPORTS: LazyLock<Vec<(&str, FleetOptions, Vec<u8>)>> = LazyLock::new(|| {
    let with_report = |(name, options): (&'static str, FleetOptions)| {
        let mut out = Vec::new();
        let report = report(&FLEET, options.clone()).expect("a report");
        output::write(&report, &Format::Csv(Cells::AsTheyAre), &mut out).expect("a vector takes everything");
        (name, options, out)
    };
    cases().into_iter().map(with_report).collect()
});

/// Makes a folder for statements, with a dataset in it.
fn folder_of(
    parent: &Path,
    name: &str,
    dataset: &str,
    write: impl Fn(&Path) -> Result<(), Failed>,
) -> Result<(PathBuf, String), Failed> {
    let (folder, dataset) = (parent.join(name), parent.join(name).join(dataset));
    fs::create_dir_all(&dataset)?;
    write(&dataset)?;
    Ok((folder, dataset.display().to_string()))
}

/// Writes the statement and the report of each case.
fn write_cases(folder: &Path, statement: impl Fn(&FleetOptions) -> String) -> Result<(), Failed> {
    for (name, options, report) in &*REPORTS {
        fs::write(folder.join(format!("{name}.sql")), statement(options))?;
        fs::write(folder.join(format!("{name}.csv")), report)?;
    }
    Ok(())
}

/// As where two datasets were copied into one folder: another file has some of the runs again.
fn write_mixture(folder: &Path) -> Result<(), Failed> {
    write_dataset(&FLEET, folder)?;
    for table in DatasetTable::ALL {
        let file = File::create(folder.join(table.name()).join("foreign.parquet"))?;
        table.write(&FLEET[..21], &[], file)?;
    }
    Ok(())
}

/// The files of the dataset, without the one that is not its own.
fn listed(dataset: &str) -> [(String, Vec<String>); 1] {
    [(dataset.to_owned(), (0..FLEET.chunks(FILE).count()).map(|index| index.to_string()).collect())]
}

fn count_lines(said: &str, ending: &str, expected: usize) -> Result<(), Failed> {
    let count = said.lines().filter(|line| line.ends_with(ending)).count();
    ensure!(count == expected, "{count} of {expected} cases: {said}");
    Ok(())
}

/// Of a dataset; of the files that are listed, in a folder with another one; and of all files there, which are refused.
fn duckdb_gives_the_same_numbers() -> Result<(), Failed> {
    let parent = tempfile::tempdir()?;
    let (whole, dataset) = folder_of(parent.path(), "whole", "it's a dataset", |path| write_dataset(&FLEET, path))?;
    write_cases(&whole, |options| SqlEngine::DuckDb.query(options, &[(dataset.clone(), Vec::new())]))?;
    let (some, mixture) = folder_of(parent.path(), "some", "it's a dataset", write_mixture)?;
    write_cases(&some, |options| SqlEngine::DuckDb.query(options, &listed(&mixture)))?;
    let refused = parent.path().join("refused");
    fs::create_dir(&refused)?;
    write_cases(&refused, |options| SqlEngine::DuckDb.query(options, &[(mixture.clone(), Vec::new())]))?;
    let folders = [("reports", &whole), ("reports", &some), ("refused", &refused), ("columns", &dataset.into())];
    let arguments = folders.iter().flat_map(|(command, folder)| [Path::new(*command), folder]);
    let said = oracle("duckdb_report.py", arguments)?;
    count_lines(&said, "numbers equal", 2 * cases().len())?;
    count_lines(&said, ": refused", cases().len())
}

/// Of the files that are listed, in a folder whose name is a pattern; of a dataset without a file, which is refused; and the runs of tables
/// that Spark wrote anew. All in one session, since each takes a minute to start.
fn spark_gives_the_same_numbers_and_runs() -> Result<(), Failed> {
    let parent = tempfile::tempdir()?;
    let (some, mixture) = folder_of(parent.path(), "some", "it's a [data] {set}*, `1`", write_mixture)?;
    write_cases(&some, |options| SqlEngine::Spark.query(options, &listed(&mixture)))?;
    let refused = parent.path().join("refused");
    for table in ["runs", "labels", "frames", "modules"] {
        let missing = format!("without {table}");
        let (_, dataset) =
            folder_of(parent.path(), "refused", &missing, |path| write_dataset(&FLEET[..2 * FILE], path))?;
        fs::remove_file(Path::new(&dataset).join(table).join("1.parquet"))?;
        let options = FleetOptions { by: vec!["device".to_owned()], ..FleetOptions::default() };
        let files = vec!["0".to_owned(), "1".to_owned()];
        fs::write(refused.join(format!("{table}.sql")), SqlEngine::Spark.query(&options, &[(dataset, files)]))?;
    }
    let (rewritten, _) = folder_of(parent.path(), "rewritten", "dataset", |path| write_dataset(&FLEET, path))?;
    let folders = [("reports", &some), ("refused", &refused), ("rewrite", &rewritten)];
    let arguments = folders.iter().flat_map(|(command, folder)| [Path::new(*command), folder]);
    let said = oracle("spark_report.py", arguments)?;
    count_lines(&said, "numbers equal", cases().len())?;
    count_lines(&said, ": refused", 4)?;
    is_the_same(&rewritten.join("rewritten"), &FLEET)
}

/// The runs and failures of a folder that an engine wrote, gathered in several parts.
fn read_rewritten(folder: &Path) -> Result<(Vec<RunMeasures>, Vec<FailedInput>), Failed> {
    const PARTS: u32 = 3;
    let (mut runs, mut failures) = (Vec::new(), Vec::new());
    for part in 0..PARTS {
        let mut gathered = RewrittenRuns::new(part, PARTS);
        for table in RewrittenRuns::TABLES {
            for entry in fs::read_dir(folder.join(table.name()))? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "parquet") {
                    gathered.add(table, File::open(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
                }
            }
        }
        for row in gathered.finish()? {
            match row {
                DatasetRow::Run(run) => runs.push(run.into_measures()),
                DatasetRow::Failed(failed) => failures.push(failed),
            }
        }
    }
    runs.sort_by(|a, b| a.record.run_id.cmp(&b.record.run_id));
    Ok((runs, failures))
}

/// The runs as the table of a run: rows by name, as a dataset has them.
fn rows_of(runs: &[RunMeasures]) -> Result<Vec<Vec<u8>>, Failed> {
    let mut runs = runs.to_vec();
    runs.sort_by(|a, b| a.record.run_id.cmp(&b.record.run_id));
    for run in &mut runs {
        let names = run.names.clone();
        let text = |id: NameId| names[id.0 as usize].clone();
        run.frames.sort_by_key(|row| [row.process, row.thread, row.binary, row.function].map(text));
        run.binaries.sort_by_key(|row| [row.process, row.thread, row.binary].map(text));
        run.windows.sort_by_key(|row| (text(row.process), text(row.thread), row.second));
    }
    let write = |table: DatasetTable| {
        let mut bytes = Vec::new();
        table.write(&runs, &[failure()], &mut bytes)?;
        Ok(bytes)
    };
    DatasetTable::ALL.into_iter().map(write).collect()
}

/// Checks that a rewritten folder gives these runs, to the byte of the files that they make.
fn is_the_same(folder: &Path, runs: &[RunMeasures]) -> Result<(), Failed> {
    let (read, failures) = read_rewritten(folder)?;
    if failures != [failure()] || read.len() != runs.len() || rows_of(&read)? != rows_of(runs)? {
        return Err(format!("{}: {} runs, not as they were", folder.display(), read.len()).into());
    }
    Ok(())
}

fn runs_that_duckdb_rewrote_are_the_same() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (dataset, rewritten) = (folder.path().join("it's a dataset"), folder.path().join("rewritten"));
    fs::create_dir(&dataset)?;
    let runs = &FLEET[..FILE + 100];
    write_dataset(runs, &dataset)?;
    let said = oracle("duckdb_rewrite.py", [&dataset, &rewritten])?;
    let ways: Vec<&str> = said.lines().collect();
    if ways.len() != 5 {
        return Err(said.into());
    }
    ways.iter().try_for_each(|way| is_the_same(&rewritten.join(way), runs))?;
    // A file that is missing, or there twice, is found.
    let way = rewritten.join(ways[0]);
    for table in RewrittenRuns::TABLES.map(DatasetTable::name) {
        let (file, other) = (way.join(table).join("1.parquet"), way.join(table).join("9.parquet"));
        fs::copy(&file, &other)?;
        if read_rewritten(&way).is_ok() {
            return Err(format!("a file of {table} that is there twice was read").into());
        }
        fs::rename(&other, folder.path().join("kept"))?;
        fs::remove_file(&file)?;
        if read_rewritten(&way).is_ok() {
            return Err(format!("{table} was read without a file").into());
        }
        fs::rename(folder.path().join("kept"), &file)?;
    }
    is_the_same(&way, runs)
}
