//! `fleet sql`: a report as SQL, for the engine that reads the dataset.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use traceparse::fleet::{Completeness, FleetOptions, FleetSelection, SqlEngine};
use traceparse::output::Syntax;

use super::cli::FleetSqlArgs;
use super::filters::AskedThreads;
use super::report::unknown_label;
use super::store::Store;
use super::union::Datasets;
use crate::Failure;
use crate::bounds;
use crate::guard::will_write;
use crate::objects::shown;
use crate::sink::{Shown, write_to};
use crate::unchanged::read_whole;

/// Writes the statement.
pub(super) fn show(args: &FleetSqlArgs) -> Result<(), Failure> {
    args.questions.check().map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    let (mut options, sources) = match &args.dataset {
        Some(dataset) => (options_of(args)?, vec![PathBuf::from(dataset)]),
        None => (args.options(), args.source.clone()),
    };
    if let Some(file) = sources.iter().find(|source| source.is_file()) {
        let file = file.display();
        let message = format!("{file} is not a dataset; if it is a report, name the dataset to read with --dataset");
        return Err(Failure::Usage(message));
    }
    let patterns = args.threads.threads().filter(AskedThreads::has_patterns);
    let engine = args.engine;
    let text = if let [elsewhere] = sources.as_slice()
        && is_elsewhere(args, elsewhere)
    {
        let dataset = elsewhere.display().to_string();
        if patterns.is_some() {
            let message = format!("{dataset} cannot be asked which threads a pattern matches; name them in full");
            return Err(Failure::Usage(message));
        }
        engine.query(&options, &shown(&dataset))
    } else {
        let datasets = open(&sources)?;
        check_labels(&options, &datasets)?;
        let mut text = completeness(args, &datasets)?;
        if let Some(patterns) = patterns {
            options.threads = Some(matching(&datasets, &patterns)?);
        }
        text += &measured_with(&datasets.selection());
        text + &statement(engine, &options, &datasets.files()?)
    };
    let path = args.output.as_deref();
    Ok(write_to(path, |out| Shown::new(path, Some(Syntax::Lines), out).write_all(text.as_bytes()))?)
}

/// Opens the datasets at these paths.
fn open(sources: &[PathBuf]) -> Result<Datasets> {
    let mut paths = Vec::new();
    for source in sources {
        let found = Datasets::at(source);
        if found.is_empty() {
            Store::check(source)?;
        }
        paths.extend(found);
    }
    Datasets::open(&paths)
}

/// The statement on the data files of each dataset; datasets without any have the columns of none.
fn statement(engine: SqlEngine, options: &FleetOptions, datasets: &[(String, Vec<String>)]) -> String {
    match datasets {
        [(only, files)] if files.is_empty() => engine.query(options, &shown(only)),
        datasets => {
            let named: Vec<_> =
                datasets.iter().map(|(folder, files)| (shown(folder).into_owned(), files.clone())).collect();
            engine.query_files(options, &named)
        }
    }
}

/// A comment that says how much of their inputs the datasets are of.
///
/// # Errors
/// When something is missing, unless that is allowed.
fn completeness(args: &FleetSqlArgs, datasets: &Datasets) -> Result<String> {
    let Completeness { is_complete, inputs_expected, inputs_done } = datasets.completeness();
    if let Some(sentence) = datasets.incomplete().filter(|_| !args.allow_incomplete) {
        bail!("{sentence}, or pass --allow-incomplete");
    }
    let files = inputs_done.zip(inputs_expected).map(|(done, expected)| format!("; {done} of {expected} input files"));
    let state = match is_complete {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "unknown, an engine rewrote it",
    };
    let missing = datasets.missing_shards();
    let shards = if missing.is_empty() { String::new() } else { format!("; missing shards: {}", missing.join(", ")) };
    Ok(format!("-- Dataset complete: {state}{}{shards}\n", files.unwrap_or_default()))
}

/// The names of the threads that match, sorted: engines have regular expressions of their own.
fn matching(datasets: &Datasets, patterns: &AskedThreads) -> Result<Vec<String>> {
    let mut names: BTreeSet<String> = patterns.whole().into_iter().collect();
    datasets.read(|run| {
        names.extend(patterns.of_run(&run.into_measures()).map(str::to_owned));
        Ok(())
    })?;
    Ok(names.into_iter().collect())
}

/// A comment that says what the runs were measured with.
fn measured_with(selection: &FleetSelection) -> String {
    let text = selection.to_string().replace(char::is_control, " ");
    if selection.is_whole() { String::new() } else { format!("-- Runs were measured with: {text}\n") }
}

/// True if an engine may read the dataset although this machine does not see it, such as s3://bucket/fleet, or a path of another machine
/// after --dataset.
fn is_elsewhere(args: &FleetSqlArgs, dataset: &Path) -> bool {
    dataset.to_string_lossy().contains("://") || (args.dataset.is_some() && dataset.is_absolute() && !dataset.exists())
}

/// A label that nothing has is a mistake, which the engine would only tell in its own words.
fn check_labels(options: &FleetOptions, datasets: &Datasets) -> Result<()> {
    let mut asked = options.by.iter().chain(options.only.iter().map(|(key, _)| key)).peekable();
    if asked.peek().is_none() {
        return Ok(());
    }
    let known = datasets.label_keys()?;
    match asked.find(|key| !known.contains(*key)) {
        Some(key) => Err(unknown_label(key, &known.into_iter().collect::<Vec<_>>())),
        None => Ok(()),
    }
}

/// The options of the report.
fn options_of(args: &FleetSqlArgs) -> Result<FleetOptions> {
    let [source] = args.source.as_slice() else { bail!("--dataset goes with one report, whose query it repeats") };
    let name = source.display();
    let text = read_whole(source, bounds::OWN_FILE)?;
    FleetOptions::from_report_json(&text).map_err(|reason| anyhow!("{name}: {reason}"))
}
