//! The options of reading, as the library takes them.

use std::path::PathBuf;

use anyhow::Result;
use traceparse::fleet::{
    Collector, Datasets, FleetInputs, FleetSettings, InputRequest, IntervalChoice, MeasureOptions, ReadingOptions,
    ThreadChoice,
};
use traceparse::recording::Options;
use traceparse::symbols::Locator;

use super::cli::{InputArgs, ReadingArgs};
use super::host::Host;
use crate::arguments::job_count;
use crate::symbols::{Search, locate};
use crate::unchanged::WatchedFiles;
use crate::{Failure, resource_limits};

/// Finds the inputs. `may_be_empty` is true if a list may be empty.
pub(super) fn find(host: &Host, args: &InputArgs, may_be_empty: bool) -> Result<FleetInputs, Failure> {
    let request = InputRequest {
        inputs: args.inputs.clone(),
        input_lists: args.manifest.clone(),
        files_from: args.files_from.clone(),
        is_null_separated: args.null,
        may_be_empty,
    };
    let inputs = FleetInputs::find(host, &request).map_err(anyhow::Error::from)?;
    inputs.check().map_err(Failure::Usage)?;
    Ok(inputs)
}

/// Ends both refusals of mixed recordings and datasets.
const ADVICE: &str = "extract recordings into one";

/// The datasets among the inputs, which then are the only inputs. Their runs were measured before, so options of reading are refused, unless
/// they `are_used`, as for pages of runs, for which recordings are read again.
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
    match reading.only_for_exports().filter(|option| !are_used(option)) {
        None if reading.filters.first().is_some() => Err(already_measured(reading, &name.to_string())),
        Some(option) => Err(format!(
            "{option} applies to reading exports, but {name} is a dataset; pass {option} to `fleet extract` instead"
        )),
        None => Ok(Some(found.concat())),
    }
}

/// What is kept of runs in addition to their measures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunParts {
    /// Their call trees.
    pub(super) stacks: bool,
    /// Their signposts and hangs.
    pub(super) intervals: bool,
}

/// Reads recordings, or datasets, once and adds their runs to each collector. Returns true for recordings.
pub(super) fn collect(
    host: &Host,
    collectors: &[&Collector<'_>],
    args: &InputArgs,
    reading: &ReadingArgs,
    parts: RunParts,
) -> Result<bool, Failure> {
    if let Some(paths) = datasets(host, args, reading, |_| false).map_err(Failure::Usage)? {
        Collector::add_datasets_to(collectors, &paths).map_err(anyhow::Error::from)?;
        return Ok(false);
    }
    let mut found = find(host, args, false)?;
    found.redact(host);
    found.will_read(host).map_err(anyhow::Error::from)?;
    let symbol_files = WatchedFiles::default();
    let locator = find_symbols(&symbol_files, reading)?;
    let mut options = options(reading, None, &symbol_files, locator.as_ref());
    (options.measure.with_stacks, options.measure.with_intervals) = (parts.stacks, parts.intervals);
    let settings = FleetSettings::new(host, options);
    Collector::add_recordings_to(collectors, &found, &settings).map_err(anyhow::Error::from)?;
    Ok(true)
}

/// The error for a selection from a dataset, with the command that makes one of the selection.
fn already_measured(reading: &ReadingArgs, name: &str) -> String {
    let option = reading.filters.first().unwrap_or_default();
    let selection = reading.filters.described(None);
    format!(
        "{option} selects from recordings, but {name} is a dataset, whose runs were measured before; make one of this selection: \
         traceparse fleet extract RECORDINGS {selection} -o NEW_DATASET"
    )
}

/// The symbols named by the arguments; `None` if there are none.
pub(super) fn find_symbols<'f>(files: &'f WatchedFiles, args: &ReadingArgs) -> Result<Option<Locator<'f>>> {
    let paths: Vec<&PathBuf> = args.search.paths().collect();
    if paths.is_empty() {
        return Ok(None);
    }
    // Which images are needed is unknown until the recordings are read in turn.
    let search = Search { stores: &[], paths: &paths, is_cached: !args.search.no_cache, wanted: None };
    locate(files, files, &search, &resource_limits::of_found_symbols()).map(Some)
}

/// The options of reading, with the symbols of a locator over these files.
pub(super) fn options<'f>(
    args: &'f ReadingArgs,
    threads: Option<ThreadChoice>,
    symbol_files: &'f WatchedFiles,
    symbols: Option<&'f Locator<'f>>,
) -> ReadingOptions<'f> {
    let filters = &args.filters;
    let intervals = filters.when.asks_intervals().then(|| IntervalChoice {
        names: filters.when.during.clone(),
        has_hangs: filters.when.during_hang,
        needs_all: filters.when.during_all,
    });
    ReadingOptions {
        read: Options { allow_truncated: args.files.allow_truncated, jobs: 1, metrics: true, ..Options::default() },
        measure: MeasureOptions {
            schemas: args.schema.clone(),
            selection: filters.when.selection(),
            with_stacks: false,
            with_intervals: false,
        },
        intervals,
        described: filters.described(threads.as_ref()),
        threads,
        operations: Box::new(|profile| filters.operations.operations(profile, false)),
        symbols,
        symbol_files,
        with_bundled_symbols: !args.search.no_bundled_symbols,
        with_inlines: !args.no_inlines,
        is_strict: args.files.strict,
        jobs: job_count(args.files.jobs),
    }
}
