//! The options of reading, as the library takes them.

use std::path::PathBuf;

use anyhow::Result;
use traceparse::fleet::{FleetInputs, InputRequest, IntervalChoice, MeasureOptions, ReadingOptions, ThreadChoice};
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
        read: Options { allow_truncated: args.allow_truncated, jobs: 1, ..Options::default() },
        measure: MeasureOptions { schemas: args.schema.clone(), selection: filters.when.selection() },
        intervals,
        described: filters.described(threads.as_ref()),
        threads,
        operations: Box::new(|profile| filters.operations.operations(profile, false)),
        symbols,
        symbol_files,
        with_bundled_symbols: !args.search.no_bundled_symbols,
        with_inlines: !args.no_inlines,
        is_strict: args.strict,
        jobs: job_count(args.jobs),
    }
}
