//! Names the frames of a crash report.

use std::path::Path;

use anyhow::Result;
use traceparse::CrashReport;
use traceparse::output::Syntax;
use traceparse::recording::Options;
use traceparse::symbolicate::SymbolicateOptions;

use crate::arguments::SearchArgs;
use crate::guard::will_write;
use crate::objects::place;
use crate::sink::write_inert;
use crate::symbols::{Search, locate};
use crate::unchanged::{WatchedFiles, read_whole};
use crate::{note, resource_limits, warning};

/// Writes a report to standard output, with the names from these symbols.
pub(crate) fn name_report(path: &Path, search: &SearchArgs) -> Result<()> {
    will_write(None);
    place(path)?;
    let memory = resource_limits::memory();
    let bytes = read_whole(path, CrashReport::LARGEST)?;
    let options = Options { memory: memory.clone(), ..Options::default() };
    let report = CrashReport::parse(bytes, &path.display().to_string(), &options)?;
    let (watched, wanted) = (WatchedFiles::default(), report.wanted_images().collect());
    let paths: Vec<_> = search.paths().collect();
    let symbols = Search { stores: &[], paths: &paths, is_cached: !search.no_cache, wanted: Some(&wanted) };
    let locator = locate(&watched, &watched, &symbols, &memory)?;
    let options = SymbolicateOptions { with_inlines: !search.no_inlines, ..SymbolicateOptions::default() };
    let named = report.symbolicate(&locator, &options).map_err(Into::into);
    let (named, summary) = watched.unless_changed(named)?;
    let named_paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    let warnings = summary.warnings(&named_paths, locator.found());
    warnings.iter().for_each(|sentence| warning(sentence));
    summary.lacking().filter(|_| warnings.is_empty()).iter().for_each(|sentence| note(sentence));
    let syntax = if report.is_json() { Syntax::Json } else { Syntax::Lines };
    write_inert(None, Some(syntax), |out| out.write_all(&named))
}
