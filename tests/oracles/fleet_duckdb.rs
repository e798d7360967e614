//! A dataset of 2,000 invented runs, read by DuckDB and Spark: the statement of `fleet sql` gives the numbers of the report, bit for bit; and
//! written anew by them: every run is as it was.
//!
//! Each case writes its statement and the CSV of the report; `tests/oracle/duckdb_report.py FOLDER` runs the statements and
//! compares every number. `TRACEPARSE_PYTHON` names the interpreter (`python3` unless told); where it cannot
//! `import duckdb`, or `import pyspark`, the tests report themselves as ignored.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use support::Rng;
use traceparse::fleet::{DatasetReader, DatasetRow, DatasetTable, RewrittenRuns};
use traceparse::fleet::{
    FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetReport, FleetScope, Measure, NameId, RunMeasures,
    SqlEngine,
};
use traceparse::output::{self, Cells, Format};
use traceparse::stats::{Quantile, QuantileMethod};
use traceparse::units::{Millionths, Nanos, Unit};

const RUNS: u32 = 2_000;
/// Runs of one data file.
const FILE: usize = 300;

pub(crate) fn trials() -> Vec<Trial> {
    let is_there = |command: &mut Command| command.output().is_ok_and(|it| it.status.success());
    let has_duckdb = is_there(Command::new(python()).args(["-c", "import duckdb"]));
    let has_spark = has_duckdb
        && is_there(Command::new(python()).args(["-c", "import pyspark"]))
        && is_there(Command::new("java").arg("-version"));
    let trials = vec![
        trial!("reports_equal_sql", reports_equal_sql).with_ignored_flag(!has_duckdb),
        trial!("files_that_are_not_listed_are_not_read", files_that_are_not_listed_are_not_read)
            .with_ignored_flag(!has_duckdb),
        trial!("a_run_twice_is_refused", a_run_twice_is_refused).with_ignored_flag(!has_duckdb),
        trial!("columns_are_plain", columns_are_plain).with_ignored_flag(!has_duckdb),
        trial!("runs_that_duckdb_rewrote_are_the_same", runs_that_duckdb_rewrote_are_the_same)
            .with_ignored_flag(!has_duckdb),
        trial!("reports_equal_sql_of_spark", reports_equal_sql_of_spark).with_ignored_flag(!has_spark),
        trial!("spark_misses_files", spark_misses_files).with_ignored_flag(!has_spark),
        trial!("runs_that_spark_rewrote_are_the_same", runs_that_spark_rewrote_are_the_same)
            .with_ignored_flag(!has_spark),
    ];
    trials
}

fn python() -> String {
    std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn run_oracle(command: &str, folder: &Path) -> Result<String, Failed> {
    run_script("duckdb_report.py", &[command.as_ref(), folder.as_ref()])
}

fn run_script(script: &str, arguments: &[&OsStr]) -> Result<String, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle").join(script);
    let output = Command::new(python()).arg(script).args(arguments).env("SPARK_LOCAL_IP", "127.0.0.1").output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    print!("{said}");
    if output.status.success() { Ok(said) } else { Err(said.into()) }
}

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

fn reports_equal_sql() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let dataset = folder.path().join("it's a dataset");
    fs::create_dir(&dataset)?;
    let runs = runs();
    write_dataset(&runs, &dataset)?;
    all_cases_are_equal(&runs, folder.path(), |options| {
        SqlEngine::DuckDb.query(options, &[(dataset.display().to_string(), Vec::new())])
    })
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

/// Every case by this statement against the report on the runs.
fn all_cases_are_equal(
    runs: &[RunMeasures],
    folder: &Path,
    statement: impl Fn(&FleetOptions) -> String,
) -> Result<(), Failed> {
    all_cases_are_equal_by("duckdb_report.py", runs, folder, statement)
}

fn all_cases_are_equal_by(
    script: &str,
    runs: &[RunMeasures],
    folder: &Path,
    statement: impl Fn(&FleetOptions) -> String,
) -> Result<(), Failed> {
    for (name, options) in cases() {
        fs::write(folder.join(format!("{name}.sql")), statement(&options))?;
        let mut out = Vec::new();
        output::write(&report(runs, options)?, &Format::Csv(Cells::AsTheyAre), &mut out)?;
        fs::write(folder.join(format!("{name}.csv")), out)?;
    }
    let said = run_script(script, &["reports".as_ref(), folder.as_ref()])?;
    if said.lines().filter(|line| line.ends_with("numbers equal")).count() == cases().len() {
        Ok(())
    } else {
        Err(format!("not every case was compared: {said}").into())
    }
}

/// As where two datasets were copied into one folder: another file has some of the runs again.
fn write_mixture(runs: &[RunMeasures], folder: &Path) -> Result<(), Failed> {
    write_dataset(runs, folder)?;
    for table in DatasetTable::ALL {
        let file = File::create(folder.join(table.name()).join("foreign.parquet"))?;
        table.write(&runs[..21], &[], file)?;
    }
    Ok(())
}

fn files_that_are_not_listed_are_not_read() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let dataset = folder.path().join("it's a dataset");
    fs::create_dir(&dataset)?;
    let runs = runs();
    write_mixture(&runs, &dataset)?;
    let ids: Vec<String> = (0..runs.chunks(FILE).count()).map(|index| index.to_string()).collect();
    let datasets = [(dataset.display().to_string(), ids)];
    all_cases_are_equal(&runs, folder.path(), |options| SqlEngine::DuckDb.query(options, &datasets))
}

fn a_run_twice_is_refused() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let dataset = folder.path().join("dataset");
    fs::create_dir(&dataset)?;
    write_mixture(&runs(), &dataset)?;
    for (name, options) in cases() {
        let text = SqlEngine::DuckDb.query(&options, &[(dataset.display().to_string(), Vec::new())]);
        fs::write(folder.path().join(format!("{name}.sql")), text)?;
    }
    let said = run_oracle("refused", folder.path())?;
    if said.lines().count() == cases().len() { Ok(()) } else { Err(said.into()) }
}

fn columns_are_plain() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    write_dataset(&runs()[..20], folder.path())?;
    run_oracle("columns", folder.path()).map(|_| ())
}

fn ids(runs: &[RunMeasures]) -> Vec<String> {
    (0..runs.chunks(FILE).count()).map(|index| index.to_string()).collect()
}

/// In a folder whose name is a pattern, with a file that is not listed.
fn reports_equal_sql_of_spark() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let dataset = folder.path().join("it's a [data] {set}*, `1`");
    fs::create_dir(&dataset)?;
    let runs = runs();
    write_mixture(&runs, &dataset)?;
    all_cases_are_equal_by("spark_report.py", &runs, folder.path(), |options| {
        SqlEngine::Spark.query(options, &[(dataset.display().to_string(), ids(&runs))])
    })
}

fn spark_misses_files() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let runs = runs();
    for table in ["runs", "labels", "frames", "modules"] {
        let dataset = folder.path().join(format!("without {table}"));
        fs::create_dir(&dataset)?;
        write_dataset(&runs[..2 * FILE], &dataset)?;
        fs::remove_file(dataset.join(table).join("1.parquet"))?;
        let options = FleetOptions { by: vec!["device".to_owned()], ..FleetOptions::default() };
        let files = vec!["0".to_owned(), "1".to_owned()];
        let text = SqlEngine::Spark.query(&options, &[(dataset.display().to_string(), files)]);
        fs::write(folder.path().join(format!("{table}.sql")), text)?;
    }
    let said = run_script("spark_report.py", &["refused".as_ref(), folder.path().as_ref()])?;
    if said.lines().filter(|line| line.ends_with(": refused")).count() == 4 { Ok(()) } else { Err(said.into()) }
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
    let runs = &runs()[..FILE + 100];
    write_dataset(runs, &dataset)?;
    let said = run_script("duckdb_rewrite.py", &[dataset.as_ref(), rewritten.as_ref()])?;
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

fn runs_that_spark_rewrote_are_the_same() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (dataset, rewritten) = (folder.path().join("dataset"), folder.path().join("rewritten"));
    fs::create_dir(&dataset)?;
    let runs = runs();
    write_dataset(&runs, &dataset)?;
    run_script("spark_report.py", &["rewrite".as_ref(), dataset.as_ref(), rewritten.as_ref()])?;
    is_the_same(&rewritten, &runs)
}
