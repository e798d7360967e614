//! Names the frames of a crash report.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use traceparse::files::Files;
use traceparse::memory::MemoryBudget;
use traceparse::output::Syntax;
use traceparse::recording::Options;
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::{CrashReport, InputFiles, InputPlace, decompress};

use crate::arguments::SearchArgs;
use crate::guard::will_write;
use crate::objects::place;
use crate::sink::write_inert;
use crate::symbols::{Search, locate};
use crate::unchanged::{InputFile, WatchedFiles};
use crate::{note, resource_limits, warning};

const NO_BINARIES: &str =
    "no frame is in a known binary, so there is nothing to look up; pass the complete report, with its list of images";

/// The maximum number of warnings about unreadable lines.
const UNREAD: usize = 5;

/// The decompressed bytes of the report in an archive; `None` if there is no archive.
fn packed(path: &Path, memory: &MemoryBudget) -> Result<Option<Vec<u8>>> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    let watched = WatchedFiles::default();
    watched.add_root(path);
    let mut files = InputFiles::new(&watched, memory);
    let inside = match files.find(path)? {
        InputPlace::File(inside) | InputPlace::WithToc { export: inside, .. } if inside != path => inside,
        _ => return Ok(None),
    };
    let read = files.open(&inside).map_err(Into::into).and_then(|source| contents(path, source, memory));
    watched.unless_changed(read.map(Some))
}

fn contents(path: &Path, source: impl Read + Send, memory: &MemoryBudget) -> Result<Vec<u8>> {
    let read = decompress(source, memory).and_then(|source| resource_limits::read_all(source, CrashReport::LARGEST));
    read.with_context(|| format!("{}: cannot be read", path.display()))
}

/// Writes a report to standard output, with the names from these symbols: in its own form, or as a JSON document of objects.
pub(crate) fn name_report(path: &Path, search: &SearchArgs, as_objects: bool) -> Result<()> {
    will_write(None);
    place(path)?;
    let memory = resource_limits::memory();
    let bytes = match packed(path, &memory)? {
        Some(bytes) => bytes,
        None => {
            let file = InputFile::open(path)?;
            file.unless_changed(contents(path, &file, &memory))?
        }
    };
    let options = Options { memory: memory.clone(), ..Options::default() };
    let parse = |bytes| CrashReport::parse(bytes, &path.display().to_string(), &options);
    let report = parse(bytes)?;
    report.unread().take(UNREAD).for_each(|sentence| warning(&sentence));
    match report.unread().skip(UNREAD).count() {
        0 => {}
        more => warning(&format!("{more} more lines cannot be read")),
    }
    let (watched, wanted) = (WatchedFiles::default(), report.wanted_images().collect());
    let paths: Vec<_> = search.paths().collect();
    let symbols = Search { stores: &[], paths: &paths, is_cached: !search.no_cache, wanted: Some(&wanted) };
    let locator = locate(&watched, &watched, &symbols, &memory)?;
    let with_inlines = SymbolicateOptions { with_inlines: !search.no_inlines, ..SymbolicateOptions::default() };
    let named = report.symbolicate(&locator, &with_inlines).map_err(Into::into);
    let (named, summary) = watched.unless_changed(named)?;
    let named_paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    let warnings = match summary.binaries.is_empty() && summary.frames_without_binary > 0 {
        true => vec![NO_BINARIES.to_owned()],
        false => summary.warnings(&named_paths, locator.found()),
    };
    warnings.iter().for_each(|sentence| warning(sentence));
    summary.lacking().filter(|_| warnings.is_empty()).iter().for_each(|sentence| note(sentence));
    if as_objects {
        let report = parse(named)?;
        return write_inert(None, Some(Syntax::Json), |out| report.write_json(out));
    }
    let syntax = if report.is_json() { Syntax::Json } else { Syntax::Lines };
    write_inert(None, Some(syntax), |out| out.write_all(&named))
}
