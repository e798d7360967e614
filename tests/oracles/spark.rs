//! The job for Spark, `examples/spark/traceparse_fleet.py`, on a cluster of two executors on this machine: over 1,000 exports, with an
//! executor killed while they are measured, its report is that of `fleet report` on the exports.
//!
//! If Python cannot `import pyspark`, or there is no `java`, the tests report themselves as ignored.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::{Failed, Trial};
use support::fleet_exports::fleet_export;
use traceparse::fleet::KnownRun;

use crate::programs::{has_spark, number, python, repository, said};

/// Fewer are quicker to try: `TRACEPARSE_SPARK_EXPORTS`.
const EXPORTS: u32 = 1_000;
const ROWS: u32 = 30;
/// Every so-manieth export is cut in half, is there a second time in another folder, or has a second run.
const CUT: u32 = 97;
const COPIED: u32 = 50;
const TWO_RUNS: u32 = 70;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![stores_that_fail_and_late_attempts];
    trials.extend(trials![if has_spark(); killed_executors_change_no_number, what_is_done_is_not_done_again]);
    trials
}

/// The folder of recordings, with a manifest of all of them.
fn write_fleet(folder: &Path, exports: u32) -> std::io::Result<()> {
    let mut manifest = "path,app_version,lab\n".to_owned();
    fs::create_dir_all(folder.join("copies"))?;
    for index in 0..exports {
        let run = fleet_export(5, index, ROWS);
        let place = format!("lab {}/run-{index:05}", index % 7);
        fs::create_dir_all(folder.join(format!("lab {}", index % 7)))?;
        let mut text = run.export;
        if index % TWO_RUNS == 3 {
            text += &fleet_export(6, index, ROWS).export.replace("run[1]", "run[2]");
        }
        if index % CUT == 11 {
            text.truncate((0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default());
        }
        let is_copied = index % COPIED == 7;
        if index % 3 != 0 {
            fs::write(folder.join(format!("{place}-toc.xml")), &run.toc)?;
            // Without it, the copy would be another run.
            if is_copied {
                fs::write(folder.join(format!("copies/{index}-toc.xml")), &run.toc)?;
            }
        }
        let labels = format!("{},\"north, {}\"\n", run.version, index % 1_000 / 500);
        if is_copied {
            fs::write(folder.join(format!("copies/{index}.xml")), &text)?;
            manifest += &format!("copies/{index}.xml,{labels}");
        }
        manifest += &format!("\"{place}.xml\",{labels}");
        fs::write(folder.join(format!("{place}.xml")), text)?;
    }
    fs::write(folder.join("fleet.csv"), manifest)
}

/// Two executors with one core each, on the loopback.
const CLUSTER: &str = "local-cluster[2,1,1024]";

/// Has Spark run a job.
fn submit(master: &str, scratch: &Path, job: &[&str]) -> Result<Output, Failed> {
    let find = "import os, pyspark; print(os.path.dirname(pyspark.__file__))";
    let home = PathBuf::from(String::from_utf8(python().args(["-c", find]).output()?.stdout)?.trim());
    let mut command = Command::new(home.join("bin/spark-submit"));
    command.args(["--master", master, "--driver-memory", "1g"]);
    let settings = [
        "spark.ui.enabled=false",
        "spark.ui.showConsoleProgress=false",
        "spark.log.level=ERROR",
        "spark.executor.memory=768m",
        // The JVMs end before their second compiler pays off.
        "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    ];
    for setting in settings {
        command.args(["--conf", setting]);
    }
    command.args(job).current_dir(scratch);
    command.env("SPARK_HOME", &home).env("SPARK_LOCAL_IP", "127.0.0.1").env("SPARK_LOCAL_HOSTNAME", "localhost");
    command.env("SPARK_WORKER_DIR", scratch.join("work")).env("SPARK_LOCAL_DIRS", scratch.join("local"));
    let python = python();
    command.env("PYSPARK_PYTHON", python.get_program()).env("PYSPARK_DRIVER_PYTHON", python.get_program());
    let output = command.output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout).lines().take(3).collect::<Vec<_>>().join("\n"));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Ok(output)
}

fn traceparse(arguments: &[&str]) -> Result<String, Failed> {
    Ok(String::from_utf8(crate::programs::traceparse(arguments)?.stdout)?)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// The rows of a CSV without the paths of runs, since copies of recordings have others.
fn numbers(csv: &str) -> Result<Vec<Vec<(String, String)>>, Failed> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers()?.clone();
    let row = |row: csv::StringRecord| {
        let cells = header.iter().zip(&row).filter(|(name, _)| !name.ends_with("_run"));
        cells.map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect()
    };
    Ok(reader.records().map(|record| record.map(row)).collect::<Result<_, _>>()?)
}

/// The ids of all runs in a dataset, in the order of its files; and the number of failures.
fn run_ids(dataset: &Path) -> Result<(Vec<String>, usize), Failed> {
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(dataset.join("traceparse-dataset.json"))?)?;
    let (mut ids, mut failed) = (Vec::new(), 0);
    for id in manifest["files"].as_object().ok_or("no files")?.keys() {
        for run in KnownRun::all(File::open(dataset.join(format!("runs/{id}.parquet")))?)? {
            match run.run_id.filter(|_| !run.is_failed) {
                Some(run_id) => ids.push(run_id),
                None => failed += 1,
            }
        }
    }
    Ok((ids, failed))
}

fn killed_executors_change_no_number() -> Result<(), Failed> {
    let exports = number("TRACEPARSE_SPARK_EXPORTS").map_or(EXPORTS, |count| count as u32);
    let folder = tempfile::tempdir()?;
    let (fleet, output) = (folder.path().join("it's a fleet"), folder.path().join("out [1]"));
    write_fleet(&fleet, exports)?;
    let (manifest, killed) = (fleet.join("fleet.csv"), folder.path().join("killed.json"));
    let by = "app_version,device,lab";
    let job = [
        text(&repository("tests/spark/with_killed_executors.py")).to_owned(),
        text(&killed).to_owned(),
        text(&repository("examples/spark/traceparse_fleet.py")).to_owned(),
    ];
    let report = format!("--by {by}");
    let mut arguments: Vec<&str> = job.iter().map(String::as_str).collect();
    arguments.extend(["--input", text(&fleet), "--manifest", text(&manifest), "--output", text(&output)]);
    arguments.extend(["--shards", "16", "--traceparse", env!("CARGO_BIN_EXE_traceparse"), "--report", &report]);
    let done = submit(CLUSTER, folder.path(), &arguments)?;
    if !done.status.success() {
        return Err(format!("the job ended with {}", done.status).into());
    }
    let killed: Vec<u32> = serde_json::from_slice(&fs::read(killed)?)?;
    ensure!(killed.len() == 1, "{} executors killed", killed.len());

    let alone = folder.path().join("alone");
    traceparse(&["fleet", "extract", text(&fleet), "--manifest", text(&manifest), "-o", text(&alone)])?;
    let ours =
        traceparse(&["fleet", "report", text(&fleet), "--manifest", text(&manifest), "--by", by, "--format", "csv"])?;
    ensure!(fs::read_to_string(output.join("report-1.csv"))? == ours, "another report");
    let ((mut spark, failed), (mut one, one_failed)) = (run_ids(&output.join("dataset"))?, run_ids(&alone)?);
    let count = spark.len();
    spark.sort();
    one.sort();
    if spark != one || failed != one_failed || spark.iter().collect::<BTreeSet<_>>().len() != count {
        return Err(format!("{count} runs and {failed} failures by Spark, {} and {one_failed} alone", one.len()).into());
    }
    let cut = (0..exports).filter(|index| index % CUT == 11).count();
    let two_runs = (0..exports).filter(|index| index % TWO_RUNS == 3 && index % CUT != 11).count();
    if count != exports as usize - cut + two_runs {
        return Err(format!("{count} runs of {exports} exports, of which {cut} are cut and {two_runs} have two").into());
    }
    println!("{count} runs, {failed} failures");
    Ok(())
}

/// The same job again does nothing; with a recording more, one shard. Through Hadoop, with recordings copied to the executors.
fn what_is_done_is_not_done_again() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (fleet, output) = (folder.path().join("fleet"), folder.path().join("out"));
    write_fleet(&fleet, 40)?;
    let [input, out] = [&fleet, &output].map(|path| format!("file://{}", path.display()));
    let manifest = format!("{input}/fleet.csv");
    let job = repository("examples/spark/traceparse_fleet.py");
    let run = || {
        let mut arguments =
            vec![text(&job), "--input", &input, "--manifest", &manifest, "--output", &out, "--shards", "2"];
        arguments.extend([
            "--traceparse",
            env!("CARGO_BIN_EXE_traceparse"),
            "--report",
            "--by app_version --scope run",
        ]);
        submit("local[2]", folder.path(), &arguments)
    };
    // spark-submit also copies a script's error messages to standard output.
    let told = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let first = run()?;
    let path = fleet.join("lab 0/run-09999.xml");
    fs::write(path, fleet_export(5, 9_999, ROWS).export)?;
    let second = run()?;
    for (output, expected) in
        [(&first, "41 recordings, 2 shards, 0 of them"), (&second, "42 recordings, 2 shards, 1 of them")]
    {
        if !output.status.success() || !told(output).contains(expected) {
            return Err(format!("{}, without: {expected}", output.status).into());
        }
    }
    let manifest = fleet.join("fleet.csv");
    let question = ["--by", "app_version", "--scope", "run", "--format", "csv"];
    let ours =
        traceparse(&[&["fleet", "report", text(&fleet), "--manifest", text(&manifest)], &question[..]].concat())?;
    ensure!(numbers(&fs::read_to_string(output.join("report-1.csv"))?)? == numbers(&ours)?, "another report");
    Ok(())
}

/// Needs no Spark.
fn stores_that_fail_and_late_attempts() -> Result<(), Failed> {
    let said = said(python().arg(repository("tests/spark/parts.py")))?;
    // unittest ends well where it finds no tests, too.
    ensure!(said.contains("Ran 7 tests"), "{said}");
    Ok(())
}
