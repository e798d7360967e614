//! The programs of `examples/`, run on a bundle and on fixtures. They are built with the options of the tests, so usually no build is needed.
//!
//! `TRACEPARSE_CARGO_CONFIG` is a setting of cargo with which the programs are built.
//!
//! The programs of the README are built in a crate outside the repository, with the dependencies that it prints.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use support::bundle::{BundleOptions, to_folder, write_bundle};
use support::{Invented, Row, Size, Table};
use traceparse::report::{ReportOptions, View};

fn main() {
    libtest_mimic::run(&Arguments::from_args(), trials()).exit();
}

fn trials() -> Vec<Trial> {
    vec![
        Trial::test("a_format_of_ones_own", a_format_of_ones_own),
        Trial::test("an_input_of_ones_own", an_input_of_ones_own),
        Trial::test("rows_of_a_table", rows_of_a_table),
        Trial::test("a_comparison", a_comparison),
        Trial::test("the_main_thread_of_a_bundle", serialized::the_main_thread_of_a_bundle),
        Trial::test("programs_are_short", readme::programs_are_short),
        Trial::test("what_is_serialized_is_the_json", serialized::what_is_serialized_is_the_json),
        Trial::test("the_programs_of_the_readme", readme::programs_run_as_they_are_printed),
    ]
}

/// The output of an example.
fn output(example: &str, paths: &[&Path]) -> Result<String, Failed> {
    // With the features of the tests, so the library need not be built again.
    let build = ["build", "--locked", "--quiet", "--profile", "test", "--workspace", "--example", example];
    // This process does not inherit the `--config` options of the cargo that runs this test.
    let config = std::env::var("TRACEPARSE_CARGO_CONFIG").ok();
    let config: Vec<&str> = config.iter().flat_map(|it| ["--config", it]).collect();
    let mut cargo = Command::new(env!("CARGO"));
    let built = cargo.args(build).args(config).current_dir(support::repository("")).output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
    }
    // The binary of this test is in `deps`, next to `examples`.
    let test = std::env::current_exe()?;
    let folder = test.parent().and_then(Path::parent).ok_or("the test is in no folder")?;
    let program = folder.join("examples").join(example);
    let output = Command::new(program).args(paths).current_dir(support::repository("")).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Writes an invented recording with main thread samples as a bundle in this folder.
fn bundle(folder: &Path) -> Result<PathBuf, Failed> {
    let invented = |seed| Invented::random(seed, &Size { rows: 300, depth: 8, ..Size::small() });
    let has_main = |recording: &Invented| {
        let is_main = |row: &&Row| recording.threads[row.thread].names == ["Main Thread"] && row.stack.is_some();
        recording.rows.iter().filter(is_main).filter(|row| row.state == "Running").count() > 10
    };
    let recording = (0..1_000).map(invented).find(has_main).ok_or("no recording has a main thread")?;
    let path = folder.join("orchard.trace");
    to_folder(&write_bundle(&recording, &BundleOptions::new(Table::TimeProfile, &recording)), &path);
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

/// Writes an export of one table with these rows. Columns have a name and a type.
fn export(path: &Path, schema: &str, columns: &[[&str; 2]], rows: &str) -> Result<(), Failed> {
    let column = |[name, kind]: &[&str; 2]| {
        format!("<col><mnemonic>{name}</mnemonic><engineering-type>{kind}</engineering-type></col>")
    };
    let columns: String = columns.iter().map(column).collect();
    let table = format!("<schema name=\"{schema}\">{columns}</schema>{rows}");
    let node = format!("<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{table}</node>");
    Ok(std::fs::write(path, format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n{node}</trace-query-result>"))?)
}

fn rows_of_a_table() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("calls.xml");
    let columns = [["start", "start-time"], ["duration", "duration"], ["name", "syscall"], ["stack", "backtrace"]];
    let row = |start: u64, duration: u64, name: &str| {
        format!(
            "<row><start-time>{start}</start-time><duration>{duration}</duration><syscall>{name}</syscall>\
             <backtrace><frame name=\"copy\" addr=\"0x10\"/><frame name=\"main\" addr=\"0x20\"/></backtrace></row>"
        )
    };
    export(&path, "fs-syscall", &columns, &(row(7, 5_000, "read") + &row(9_000, 1, "write")))?;
    let found = output("table_rows", &[&path, Path::new("fs-syscall")])?;
    let line = |start, duration, name| format!("start={start}\tduration={duration}\tname={name}\tstack=copy;main\n");
    if found != line(7, 5_000, "read") + &line(9_000, 1, "write") {
        return Err(found.into());
    }
    match output("table_rows", &[&path, Path::new("fs-syscal")]) {
        Err(failed) if failed.message().is_some_and(|text| text.contains("there is no table \"fs-syscal\"")) => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}

fn a_comparison() -> Result<(), Failed> {
    const SECOND: u64 = 1_000_000_000;
    let folder = tempfile::tempdir()?;
    let columns = [["time", "sample-time"], ["weight", "weight"], ["stack", "backtrace"]];
    // A run has this many samples of 1 ms, from the start of a second to its end.
    let run = |samples: u64| -> Result<PathBuf, Failed> {
        let row = |time: u64| {
            format!(
                "<row><sample-time>{time}</sample-time><weight>1000000</weight><backtrace><frame name=\"work\" addr=\"0x10\"/></backtrace></row>"
            )
        };
        let rows: String = (0..samples).map(|sample| row(sample * SECOND / (samples - 1))).collect();
        let path = folder.path().join(format!("{samples}.xml"));
        export(&path, "time-profile", &columns, &rows)?;
        Ok(path)
    };
    let counts = [100_u64, 200].map(|first| first..first + 10);
    let [base, new] = counts.clone().map(|counts| counts.map(run).collect::<Result<Vec<_>, Failed>>());
    let (base, new, against) = (base?, new?, PathBuf::from("--against"));
    let compared = |sides: [&[PathBuf]; 2]| {
        let paths = sides[0].iter().chain([&against]).chain(sides[1]);
        output("compare", &paths.map(PathBuf::as_path).collect::<Vec<_>>())
    };
    let [of_base, of_new] = counts.map(|counts| counts.map(|count| (count as f64).ln()).sum::<f64>() / 10.0);
    let expected = format!("Slower: {:+.1} % CPU", 100.0 * ((of_new - of_base).exp() - 1.0));
    let found = compared([&base, &new])?;
    if !found.starts_with(&expected) || !found.contains("10 against 10 runs") {
        return Err(format!("{found}, expected {expected}").into());
    }
    let found = compared([&new, &base])?;
    if found.starts_with("Faster: −") { Ok(()) } else { Err(found.into()) }
}

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

    /// The functions of all series in the JSON document, with the names and units of serialized functions.
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

    pub(super) fn what_is_serialized_is_the_json() -> Result<(), Failed> {
        let analysis = traceparse::open(support::repository("fixtures/27/orchard/input.xml"))?;
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

mod readme {
    use std::fs;

    use serde_json::Value;
    use support::Frame;
    use traceparse::units::Weight;

    use super::*;

    /// The image of `fixtures/symbols/built/arm64-dwarf4/Demo.dSYM`, and addresses in five of its functions.
    const DEMO: &str = "4C4C443B-5555-3144-A14B-1553F2DDDC05";
    const PLACES: [u64; 5] = [0x564, 0x508, 0x5fc, 0x66c, 0x710];
    const LOAD_ADDRESS: u64 = 0x1_02a4_0000;

    /// The fenced blocks of a language in the README's chapter on the crate.
    fn blocks(language: &str) -> Vec<String> {
        let chapter = include_str!("../README.md").split("\n## ").find(|chapter| chapter.starts_with("The crate\n"));
        let blocks = chapter.into_iter().flat_map(|chapter| chapter.split("```").skip(1).step_by(2));
        let blocks = blocks.filter_map(|block| block.split_once('\n').filter(|(first, _)| *first == language));
        blocks.map(|(_, text)| text.to_owned()).collect()
    }

    pub(super) fn programs_are_short() -> Result<(), Failed> {
        let examples = ["main_thread", "table_rows", "compare"].map(|name| {
            let most = if name == "main_thread" { 15 } else { 12 };
            let text = fs::read_to_string(support::repository("examples").join(name).with_extension("rs"));
            text.map(|text| (text, most))
        });
        let examples: Vec<(String, usize)> = examples.into_iter().collect::<Result<_, _>>()?;
        for (text, most) in examples.into_iter().chain(blocks("rust").into_iter().map(|text| (text, 12))) {
            let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//")).count();
            if lines > most {
                return Err(format!("{lines} lines:\n{text}").into());
            }
        }
        Ok(())
    }

    /// Builds the programs as `first`, `second` and `third` in a crate in this folder, and copies them into the folder.
    fn build(folder: &Path) -> Result<(), Failed> {
        let repository = support::repository("");
        let manifest = "[package]\nname = \"programs\"\nedition = \"2024\"\n\n".to_owned() + &blocks("toml").join("\n");
        fs::write(folder.join("Cargo.toml"), manifest.replace("…/traceparse", repository.to_str().ok_or("no UTF-8")?))?;
        // The versions that the repository was built with.
        fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let programs = blocks("rust");
        if programs.len() != 3 {
            return Err(format!("{} programs", programs.len()).into());
        }
        fs::create_dir_all(folder.join("src/bin"))?;
        for (name, text) in ["first", "second", "third"].into_iter().zip(programs) {
            fs::write(folder.join("src/bin").join(name).with_extension("rs"), text)?;
        }
        let test = std::env::current_exe()?;
        let target = test.ancestors().nth(3).ok_or("the test is in no target folder")?.join("readme");
        let cargo = |arguments: &[&str]| -> Result<(), Failed> {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.env("RUSTFLAGS", "-D warnings").env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
            cargo.args(arguments).arg("--target-dir").arg(&target).args(["--offline", "--quiet"]).current_dir(folder);
            let done = cargo.output()?;
            if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned().into()) }
        };
        cargo(&["build"])?;
        for name in ["first", "second", "third"] {
            fs::copy(target.join("debug").join(name), folder.join(name))?;
        }
        // The next crate is in another folder, so no build results of this crate are reused.
        cargo(&["clean", "--package", "programs"])
    }

    /// Runs a program in a folder, and returns its output.
    fn printed(program: &Path, arguments: &[&str], folder: &Path) -> Result<String, Failed> {
        let done = Command::new(program).args(arguments).current_dir(folder).output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
        }
        Ok(String::from_utf8(done.stdout)?)
    }

    /// The JSON of the command with these arguments.
    fn json(arguments: &[&str], folder: &Path) -> Result<Value, Failed> {
        let command = Path::new(env!("CARGO_BIN_EXE_traceparse"));
        Ok(serde_json::from_str(&printed(command, &[arguments, &["--format", "json"]].concat(), folder)?)?)
    }

    /// A recording in which all code is in the dSYM, and has no names.
    fn nameless() -> Invented {
        let mut recording = Invented::random(1, &Size { rows: 300, depth: 8, ..Size::small() });
        recording.images.truncate(1);
        recording.images[0].uuid = DEMO.to_owned();
        (recording.images[0].arch, recording.images[0].load_address) = ("arm64".to_owned(), LOAD_ADDRESS);
        for (index, frame) in recording.frames.iter_mut().enumerate() {
            *frame = Frame { image: Some(0), pc: LOAD_ADDRESS + PLACES[index % PLACES.len()], ..Frame::default() };
        }
        recording
    }

    pub(super) fn programs_run_as_they_are_printed() -> Result<(), Failed> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        build(folder)?;
        let bundle = |recording: &Invented| write_bundle(recording, &BundleOptions::new(Table::TimeProfile, recording));
        to_folder(&bundle(&nameless()), &folder.join("app.trace"));
        let symbols = support::repository("fixtures/symbols/built/arm64-dwarf4/Demo.dSYM");
        std::os::unix::fs::symlink(symbols, folder.join("App.dSYM"))?;
        for seed in 0..25 {
            let recording = Invented::random(seed, &Size { rows: 60, ..Size::small() });
            to_folder(&bundle(&recording), &folder.join(format!("recordings/{seed}.trace")));
        }
        names_and_functions(folder)?;
        many_recordings(folder)?;
        rows(folder)
    }

    fn names_and_functions(folder: &Path) -> Result<(), Failed> {
        let found = printed(&folder.join("first"), &[], folder)?;
        let (names, found) = found.split_once('\n').unwrap_or_default();
        let counts = names.strip_prefix("symbols: ").and_then(|names| names.split_once(" frames in known binaries"));
        let (named, all) = counts.and_then(|(counts, _)| counts.split_once(" of ")).unwrap_or_default();
        if named != all || named.parse::<u64>()? == 0 || !names.contains("have names, 0 had one before") {
            return Err(names.into());
        }
        let expected = json(&["app.trace", "--dsym", "App.dSYM", "--view", "functions", "--top", "10"], folder)?;
        let rows = expected["functions"].as_array().ok_or("no functions")?;
        let lines = rows.iter().map(|row| {
            let weight = Weight::nanos(row["self_weight"].as_u64().unwrap_or_default());
            format!("{weight}  {}\n", row["function"].as_str().unwrap_or_default())
        });
        if found != lines.collect::<String>() || !found.contains("fill_span") || found.contains("0x") {
            return Err(found.into());
        }
        Ok(())
    }

    fn many_recordings(folder: &Path) -> Result<(), Failed> {
        let mut percents = Vec::new();
        for seed in 0..25 {
            let summary = json(&[&format!("recordings/{seed}.trace"), "--view", "summary"], folder)?;
            let series = summary["series"].as_array().ok_or("no series")?;
            let heaviest = series.iter().max_by_key(|series| series["all_weight"].as_u64());
            percents.extend(heaviest.and_then(|series| series["cpu_percent"].as_f64()));
        }
        percents.sort_by(f64::total_cmp);
        let rank = (95 * percents.len()).div_ceil(100);
        let expected = format!("P95 of {} recordings: {:.1} % of one core\n", percents.len(), percents[rank - 1]);
        let found = printed(&folder.join("second"), &[], folder)?;
        if found != expected || percents.len() < 20 {
            Err(format!("{found}, expected {expected}").into())
        } else {
            Ok(())
        }
    }

    fn rows(folder: &Path) -> Result<(), Failed> {
        let found = printed(&folder.join("third"), &[], folder)?;
        let expected = json(&["app.trace", "--view", "samples", "--state", "all"], folder)?;
        let rows = expected["samples"].as_array().ok_or("no samples")?;
        let lines = rows.iter().filter_map(|row| {
            let (time, weight) = (row["time_ns"].as_u64()?, Weight::nanos(row["weight"].as_u64()?));
            let (thread, function) = (row["thread"].as_str()?, row["stack"].as_array()?.last()?["function"].as_str()?);
            Some(format!("{time} ns: {function} on {thread}, {weight}\n"))
        });
        let expected: String = lines.collect();
        if found != expected || found.is_empty() { Err(format!("{found}, expected {expected}").into()) } else { Ok(()) }
    }
}
