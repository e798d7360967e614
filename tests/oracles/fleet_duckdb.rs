//! A dataset of 2,000 invented runs. SQL in DuckDB and Spark returns the numbers of the report, bit for bit. If they rewrite the dataset, every
//! run stays the same.
//!
//! Each case writes its statement and the CSV of the report; `tests/oracle/duckdb_report.py` and `spark_report.py` run the statements and
//! compare every number. If Python cannot `import duckdb` or `import pyspark`, the tests report themselves as ignored.

mod statement;

use std::fs::{self, File};
use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;

use libtest_mimic::{Failed, Trial};
use support::Rng;
use traceparse::fleet::{
    DatasetRow, DatasetTable, FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetReport, FleetScope, Measure,
    NameId, RewrittenRuns, RunMeasures,
};
use traceparse::output::{self, Cells, Format};
use traceparse::stats::{Quantile, QuantileMethod};
use traceparse::units::{Millionths, Nanos, Unit};

use crate::programs::{has_spark, oracle, python, repository, runs as is_there};
use statement::statement;

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

/// Runs that differ in everything that the statement must handle.
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
            // Long enough that the lightest functions round to zero.
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

/// Renames the main thread, so that the run has no thread with the usual name.
fn rename_main_thread(run: &mut RunMeasures) {
    let new = other(run, "it's a thread");
    let main = run.names.iter().position(|name| name == "Main Thread").map(|index| NameId(index as u32));
    let rename = |id: &mut NameId| *id = if Some(*id) == main { new } else { *id };
    run.frames.iter_mut().for_each(|row| rename(&mut row.thread));
    run.binaries.iter_mut().for_each(|row| rename(&mut row.thread));
    run.windows.iter_mut().for_each(|row| rename(&mut row.thread));
}

/// Changes the id of every name, since the order of a run's names is not significant.
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
        fs::create_dir_all(folder.join(table.name()))?;
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

/// The report as the command creates it for a large dataset: from data files, with values in a temporary file.
fn report(runs: &[RunMeasures], options: FleetOptions) -> Result<FleetReport, Failed> {
    let mut builder = FleetBuilder::new(options);
    for part in runs.chunks(FILE) {
        let table = |table: DatasetTable| {
            let mut bytes = Vec::new();
            table.write(part, &[], &mut bytes).map(|()| Cursor::new(bytes))
        };
        for row in DatasetRow::read(table)? {
            if let DatasetRow::Run(run) = row? {
                builder.add_shared(*run);
            }
        }
        builder.spill(|| Ok(Box::new(tempfile::tempfile()?)))?;
    }
    Ok(builder.try_finish()?)
}

fn csv(options: FleetOptions) -> Result<String, Failed> {
    let mut out = Vec::new();
    output::write(&report(&FLEET, options)?, &Format::Csv(Cells::AsTheyAre), &mut out)?;
    Ok(String::from_utf8(out)?)
}

/// The statement about functions in `docs/dataset.md`, and the report rows that it must return.
fn write_documented(folder: &Path) -> Result<(), Failed> {
    let manual = fs::read_to_string(repository("docs/dataset.md"))?;
    let blocks = manual.split("```sql\n").skip(1).filter_map(|block| block.split_once("```"));
    let documented: Vec<&str> = blocks.map(|(block, _)| block).filter(|block| block.contains("AS p95")).collect();
    ensure!(documented.len() == 1, "{} statements with P95", documented.len());
    fs::write(folder.join("documented.sql"), documented[0])?;
    let report = csv(FleetOptions { scopes: vec![FleetScope::Function], ..FleetOptions::default() })?;
    let mut lines = report.lines();
    let head = lines.next().unwrap_or_default().replace("binary", "module");
    let rows: Vec<&str> = lines.filter(|line| line.starts_with("ns,")).collect();
    Ok(fs::write(folder.join("documented.csv"), format!("{head}\n{}\n", rows.join("\n")))?)
}

fn count_equal(said: &str, expected: usize) -> Result<(), Failed> {
    let count = said.lines().filter(|line| line.ends_with("numbers equal")).count();
    ensure!(count == expected, "{count} of {expected} cases: {said}");
    Ok(())
}

fn duckdb_gives_the_same_numbers() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    write_dataset(&FLEET, &folder.path().join("fleet"))?;
    write_documented(folder.path())?;
    for (name, options) in cases() {
        fs::write(folder.path().join(format!("{name}.sql")), statement(&options))?;
        fs::write(folder.path().join(format!("{name}.csv")), csv(options)?)?;
    }
    count_equal(&oracle("duckdb_report.py", [folder.path()])?, cases().len() + 1)
}

/// In one session with the rewritten tables, since each takes a minute to start.
fn spark_gives_the_same_numbers_and_runs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    write_dataset(&FLEET, &folder.path().join("fleet"))?;
    write_documented(folder.path())?;
    count_equal(&oracle("spark_report.py", [folder.path()])?, 1)?;
    is_the_same(&folder.path().join("rewritten"), &FLEET)
}

/// The runs and failures of a folder that an engine wrote, gathered in several parts.
fn read_rewritten(folder: &Path) -> Result<(Vec<RunMeasures>, Vec<FailedInput>), Failed> {
    const PARTS: u32 = 3;
    let (mut runs, mut failures) = (Vec::new(), Vec::new());
    for part in 0..PARTS {
        let mut gathered = RewrittenRuns::new(part, PARTS);
        for table in DatasetTable::ALL {
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

/// Checks that a rewritten folder contains these runs: writing them results in the same bytes.
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
    let runs = &FLEET[..FILE + 100];
    write_dataset(runs, &dataset)?;
    let said = oracle("duckdb_rewrite.py", [&dataset, &rewritten])?;
    let ways: Vec<&str> = said.lines().collect();
    if ways.len() != 5 {
        return Err(said.into());
    }
    ways.iter().try_for_each(|way| is_the_same(&rewritten.join(way), runs))?;
    // A missing or duplicate file is detected.
    let way = rewritten.join(ways[0]);
    for table in DatasetTable::ALL.map(DatasetTable::name) {
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
