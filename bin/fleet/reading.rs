//! Converts reading options for the library.

use std::path::PathBuf;

use anyhow::Result;
use traceparse::fleet::{
    Collector, Datasets, FleetInputs, FleetSettings, InputRequest, IntervalChoice, MeasureOptions, ReadingOptions,
    ThreadChoice,
};
use traceparse::recording::Options;
use traceparse::symbols::Locator;

use super::arguments::InputArgs;
use super::host::Host;
use crate::arguments::ReadingArgs;
use crate::symbols::{Search, locate};
use crate::unchanged::WatchedFiles;
use crate::{Failure, resource_limits};

/// Finds the inputs. If `may_be_empty`, a list may be empty.
pub(super) fn find(host: &Host, args: &InputArgs, may_be_empty: bool) -> Result<FleetInputs, Failure> {
    let request = InputRequest {
        inputs: args.inputs.clone(),
        input_lists: args.manifest.clone(),
        files_from: args.files_from.clone(),
        is_null_separated: args.null,
        may_be_empty,
    };
    let inputs = FleetInputs::find(host, &request)?;
    inputs.check().map_err(Failure::Usage)?;
    Ok(inputs)
}

/// Finds the inputs. Fails if one of them is an output.
pub(super) fn find_readable(host: &Host, args: &InputArgs) -> Result<FleetInputs, Failure> {
    let mut found = find(host, args, false)?;
    found.redact(host);
    found.will_read(host)?;
    Ok(found)
}

/// The advice in both errors about mixed recordings and datasets.
const ADVICE: &str = "extract recordings into one";

/// Options that do not apply to a dataset, since its runs are already measured. `--no-cache` does: nothing is cached.
const ONLY_FOR_EXPORTS: &str = "--dsym --symbols --no-bundled-symbols --no-inlines --allow-truncated --jobs --schema";

/// Returns the datasets among the inputs; if there are any, all inputs must be datasets. Their runs are already measured, so reading options are
/// refused unless they `are_used`, for example because recordings are read again for run pages.
pub(super) fn datasets(
    host: &Host,
    args: &InputArgs,
    reading: &ReadingArgs,
    are_used: impl Fn(&str) -> bool,
) -> Result<Option<Vec<PathBuf>>, String> {
    let inputs = &args.inputs;
    let found: Vec<Vec<PathBuf>> = inputs.iter().map(|input| Datasets::at(host, input)).collect();
    let Some(dataset) = found.iter().flatten().next() else { return Ok(None) };
    let name = dataset.display();
    if let Some((none, _)) = inputs.iter().zip(&found).find(|(_, found)| found.is_empty()) {
        let none = none.display();
        return Err(format!("{none}: not a dataset, but {name} is one; datasets must be the only input: {ADVICE}"));
    }
    if !args.manifest.is_empty() || args.files_from.is_some() {
        return Err(format!("{name} is a dataset; it and other datasets must be the only input: {ADVICE}"));
    }
    match reading.given.first(ONLY_FOR_EXPORTS).filter(|option| !are_used(option)) {
        None if reading.first_filter().is_some() => Err(already_measured(reading, &name.to_string())),
        Some(option) => Err(format!(
            "{option} applies to reading exports, but {name} is a dataset; pass {option} to `fleet extract` instead"
        )),
        None => Ok(Some(found.concat())),
    }
}

/// The data to keep for each run in addition to its measures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunParts {
    /// Call trees.
    pub(super) stacks: bool,
    /// Signposts and hangs.
    pub(super) intervals: bool,
    /// Metrics in diagnostics.
    pub(super) metrics: bool,
}

/// Reads recordings or datasets once, and adds their runs to each collector. Returns true for recordings.
pub(super) fn collect(
    host: &Host,
    collectors: &[&Collector<'_>],
    args: &InputArgs,
    reading: &ReadingArgs,
    parts: RunParts,
) -> Result<bool, Failure> {
    if let Some(paths) = datasets(host, args, reading, |_| false).map_err(Failure::Usage)? {
        Collector::add_datasets_to(collectors, &paths)?;
        return Ok(false);
    }
    let found = find_readable(host, args)?;
    with_settings(host, reading, None, parts, |settings| {
        Collector::add_recordings_to(collectors, &found, &settings)?;
        Ok(true)
    })
}

/// The error for filters on a dataset. It suggests the command that extracts a dataset with this selection.
fn already_measured(reading: &ReadingArgs, name: &str) -> String {
    let option = reading.first_filter().unwrap_or_default();
    let selection = reading.described(None);
    format!(
        "{option} selects from recordings, but {name} is a dataset, whose runs were measured before; make one of this selection: \
         traceparse fleet extract RECORDINGS {selection} -o NEW_DATASET"
    )
}

/// Finds the symbol files that the arguments name; `None` if they name none.
fn find_symbols<'f>(files: &'f WatchedFiles, args: &ReadingArgs) -> Result<Option<Locator<'f>>> {
    let paths: Vec<&PathBuf> = args.symbols.search.paths().collect();
    if paths.is_empty() {
        return Ok(None);
    }
    // The needed images are unknown until each recording is read.
    let search = Search { stores: &[], paths: &paths, is_cached: !args.symbols.search.no_cache, wanted: None };
    locate(files, files, &search, &resource_limits::of_found_symbols()).map(Some)
}

/// Calls a closure with the settings for reading recordings, including the symbols that the arguments name.
pub(super) fn with_settings<T>(
    host: &Host,
    args: &ReadingArgs,
    threads: Option<ThreadChoice>,
    parts: RunParts,
    work: impl FnOnce(FleetSettings<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let symbol_files = &WatchedFiles::default();
    let locator = find_symbols(symbol_files, args)?;
    let ReadingArgs { symbols, when, operations, files, .. } = args;
    let intervals = when.asks_intervals().then(|| IntervalChoice {
        names: when.during.clone(),
        has_hangs: when.during_hang,
        needs_all: when.during_all,
    });
    let allow_truncated = files.truncated.allow_truncated;
    let options = ReadingOptions {
        read: Options { allow_truncated, jobs: 1, metrics: parts.metrics, ..Options::default() },
        measure: MeasureOptions {
            schemas: when.schema.clone(),
            selection: when.selection(),
            with_stacks: parts.stacks,
            with_intervals: parts.intervals,
        },
        intervals,
        described: args.described(threads.as_ref()),
        threads,
        operations: Box::new(|profile| operations.operations(profile, false)),
        symbols: locator.as_ref(),
        symbol_files,
        with_bundled_symbols: !symbols.no_bundled_symbols,
        with_inlines: !symbols.search.no_inlines,
        is_strict: files.strict,
        jobs: files.job_count(),
    };
    work(FleetSettings::new(host, options))
}
