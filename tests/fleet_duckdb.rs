//! A dataset of 2,000 invented runs, read by DuckDB: the statement of `fleet sql` gives the numbers of the report, bit for bit.
//!
//! Each case writes its statement and the CSV of the report; `tests/oracle/duckdb_report.py FOLDER` runs the statements and
//! compares every number. `TRACEPARSE_PYTHON` names the interpreter (`python3` unless told); where it cannot
//! `import duckdb`, the tests report themselves as ignored.

mod support;

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use support::Rng;
use traceparse::fleet::DatasetTable;
use traceparse::fleet::{
    FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetScope, Measure, NameId, RunMeasures, SqlEngine,
};
use traceparse::output::{self, Cells, Format};
use traceparse::stats::{Quantile, QuantileMethod};
use traceparse::units::{Millionths, Nanos, Unit};

const RUNS: u32 = 2_000;
/// Runs of one data file.
const FILE: usize = 300;

fn main() {
    let arguments = Arguments::from_args();
    let has_duckdb = Command::new(python()).args(["-c", "import duckdb"]).output().is_ok_and(|it| it.status.success());
    let trials = vec![
        Trial::test("reports_equal_sql", reports_equal_sql).with_ignored_flag(!has_duckdb),
        Trial::test("files_that_are_not_listed_are_not_read", files_that_are_not_listed_are_not_read)
            .with_ignored_flag(!has_duckdb),
        Trial::test("a_run_twice_is_refused", a_run_twice_is_refused).with_ignored_flag(!has_duckdb),
        Trial::test("columns_are_plain", columns_are_plain).with_ignored_flag(!has_duckdb),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

fn python() -> String {
    std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn run_oracle(command: &str, folder: &Path) -> Result<String, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/duckdb_report.py");
    let output = Command::new(python()).arg(script).arg(command).arg(folder).output()?;
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
        SqlEngine::DuckDb.query(options, &dataset.display().to_string())
    })
}

/// Every case by this statement against the report on the runs.
fn all_cases_are_equal(
    runs: &[RunMeasures],
    folder: &Path,
    statement: impl Fn(&FleetOptions) -> String,
) -> Result<(), Failed> {
    for (name, options) in cases() {
        fs::write(folder.join(format!("{name}.sql")), statement(&options))?;
        let mut builder = FleetBuilder::new(options);
        runs.iter().for_each(|run| builder.add(run));
        let mut out = Vec::new();
        output::write(&builder.finish(), &Format::Csv(Cells::AsTheyAre), &mut out)?;
        fs::write(folder.join(format!("{name}.csv")), out)?;
    }
    let said = run_oracle("reports", folder)?;
    if said.lines().count() == cases().len() {
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
    all_cases_are_equal(&runs, folder.path(), |options| SqlEngine::DuckDb.query_files(options, &datasets))
}

fn a_run_twice_is_refused() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let dataset = folder.path().join("dataset");
    fs::create_dir(&dataset)?;
    write_mixture(&runs(), &dataset)?;
    for (name, options) in cases() {
        let text = SqlEngine::DuckDb.query(&options, &dataset.display().to_string());
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
