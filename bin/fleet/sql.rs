//! `fleet sql`: a report as SQL, for the engine that reads the dataset.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use traceparse::fleet::{Completeness, FleetOptions, FleetSelection};
use traceparse::output::Syntax;

use super::cli::FleetSqlArgs;
use super::filters::ThreadNames;
use super::report::{incomplete, unknown_label};
use super::store::Store;
use crate::Failure;
use crate::bounds;
use crate::guard::{will_read, will_write};
use crate::objects::shown;
use crate::sink::{Shown, write_to};
use crate::unchanged::read_whole;

/// Writes the statement.
pub(super) fn show(args: &FleetSqlArgs) -> Result<(), Failure> {
    args.questions.check().map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    let source = args.source.display().to_string();
    let (options, dataset) = match &args.dataset {
        // Another machine may have it there.
        Some(dataset) if is_elsewhere(dataset) || is_absent(Path::new(dataset)) => (options_of(args)?, dataset.clone()),
        Some(dataset) => (options_of(args)?, local(Path::new(dataset))?),
        None if args.source.is_file() => {
            let message =
                format!("{source} is not a dataset; if it is a report, name the dataset to read with --dataset");
            return Err(Failure::Usage(message));
        }
        None if is_elsewhere(&source) => (args.options(), source),
        None => (args.options(), local(&args.source)?),
    };
    let mut options = options;
    let mut text = String::new();
    let mut files = None;
    let patterns = args.threads.threads().filter(ThreadNames::has_patterns);
    if Path::new(&dataset).exists() {
        Store::files(Path::new(&dataset))?.iter().try_for_each(|file| will_read(file))?;
        let store = Store::open(Path::new(&dataset))?;
        check_labels(&options, &store)?;
        text += &completeness(args, &store, Path::new(&dataset))?;
        files = Some(store.data_files()?);
        if let Some(patterns) = patterns {
            options.threads = Some(matching(&store, &patterns)?);
        }
        text += &measured_with(&store.selection());
    } else if patterns.is_some() {
        let message = format!("{dataset} cannot be asked which threads a pattern matches; name them in full");
        return Err(Failure::Usage(message));
    }
    let engine = args.engine.engine();
    text += &match files.filter(|files| !files.is_empty()) {
        Some(files) => engine.query_files(&options, &shown(&dataset), &files),
        None => engine.query(&options, &shown(&dataset)),
    };
    let path = args.output.as_deref();
    Ok(write_to(path, |out| Shown::new(path, Some(Syntax::Lines), out).write_all(text.as_bytes()))?)
}

/// A comment that says how much of its inputs the dataset is of.
///
/// # Errors
/// When something is missing, unless that is allowed.
fn completeness(args: &FleetSqlArgs, store: &Store, dataset: &Path) -> Result<String> {
    let Completeness { is_complete, inputs_expected, inputs_done } = store.completeness();
    if store.is_rewritten() {
        // Nothing else tells that its files belong together.
        store.read(|_| Ok(()))?;
    }
    if is_complete == Some(false) && !args.allow_incomplete {
        bail!("{}; continue it, or pass --allow-incomplete", incomplete(dataset, store.completeness()));
    }
    let files = inputs_done.zip(inputs_expected).map(|(done, expected)| format!("; {done} of {expected} input files"));
    let state = match is_complete {
        Some(true) => "yes",
        Some(false) => "NO",
        None if store.is_rewritten() => "unknown, an engine rewrote it",
        None => "unknown, written before version 4",
    };
    Ok(format!("-- Dataset complete: {state}{}\n", files.unwrap_or_default()))
}

/// The names of the threads that match, sorted: engines have regular expressions of their own.
fn matching(store: &Store, patterns: &ThreadNames) -> Result<Vec<String>> {
    let mut names: BTreeSet<String> = patterns.whole().into_iter().collect();
    store.read(|run| {
        names.extend(patterns.of_run(&run).map(str::to_owned));
        Ok(())
    })?;
    Ok(names.into_iter().collect())
}

/// A comment that says what the runs were measured with.
fn measured_with(selection: &FleetSelection) -> String {
    let text = selection.to_string().replace(char::is_control, " ");
    if selection.is_whole() { String::new() } else { format!("-- Runs were measured with: {text}\n") }
}

/// True if an engine may read the dataset although this machine does not see it, such as s3://bucket/fleet.
fn is_elsewhere(dataset: &str) -> bool {
    dataset.contains("://")
}

/// True if a path is absolute and leads to nothing here.
fn is_absent(dataset: &Path) -> bool {
    dataset.is_absolute() && !dataset.exists()
}

/// The whole path of a dataset of this machine: the statement may be run in another folder.
fn local(dataset: &Path) -> Result<String> {
    let name = dataset.display();
    Store::check(dataset)?;
    let path = std::fs::canonicalize(dataset).with_context(|| format!("{name}: cannot be read"))?;
    path.into_os_string().into_string().map_err(|_| anyhow!("{name}: its path is not UTF-8, as SQL is"))
}

/// A label that nothing has is a mistake, which the engine would only tell in its own words.
fn check_labels(options: &FleetOptions, store: &Store) -> Result<()> {
    let mut asked = options.by.iter().chain(options.only.iter().map(|(key, _)| key)).peekable();
    if asked.peek().is_none() {
        return Ok(());
    }
    let known: BTreeSet<String> = store.label_keys()?.into_values().flatten().collect();
    match asked.find(|key| !known.contains(*key)) {
        Some(key) => Err(unknown_label(key, &known.into_iter().collect::<Vec<_>>())),
        None => Ok(()),
    }
}

/// The options of the report.
fn options_of(args: &FleetSqlArgs) -> Result<FleetOptions> {
    let name = args.source.display();
    let text = read_whole(&args.source, bounds::OWN_FILE)?;
    FleetOptions::from_report_json(&text).map_err(|reason| anyhow!("{name}: {reason}"))
}
