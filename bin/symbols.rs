//! Finds symbols in the places that the command line names.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use etcetera::BaseStrategy;
use traceparse::Analysis;
use traceparse::files::Files;
use traceparse::memory::MemoryBudget;
use traceparse::symbolicate::{ImageSpec, SymbolicateOptions};
use traceparse::symbols::{Found, Index, Locator, SymbolFinder};
use traceparse::units::Uuid;

use crate::arguments::SymbolArgs;
use crate::guard::{will_read, will_search};
use crate::inputs::Inputs;
use crate::objects::place;
use crate::sink::replace;
use crate::unchanged::WatchedFiles;
use crate::{resource_limits, warning};

/// Symbolicates an export with the symbol files from the arguments, and with symbols bundled in recordings among the inputs.
pub(crate) fn name_frames(
    analysis: &mut Analysis,
    inputs: &Inputs<'_>,
    files: &[PathBuf],
    (args, images): (&SymbolArgs, &[ImageSpec]),
) -> Result<()> {
    let stores = if args.no_bundled_symbols { Vec::new() } else { inputs.symbol_stores(files) };
    let of_images = images.iter().filter_map(|image| image.path.as_ref());
    let args = &args.search;
    let paths: Vec<&PathBuf> = args.paths().chain(of_images).collect();
    if paths.is_empty() && stores.is_empty() {
        ensure!(images.is_empty(), "--image needs symbols; pass them with --dsym or --symbols");
        return Ok(());
    }
    let is_cached = !args.no_cache;
    let options = SymbolicateOptions { with_inlines: !args.no_inlines, images: images.to_vec() };
    let wanted = options.wanted_images(&analysis.recording().profile);
    let search = Search { stores: &stores, paths: &paths, is_cached, wanted: Some(&wanted) };
    let locator = locate(inputs.files(), inputs.watched(), &search, &resource_limits::memory())?;
    let summary = analysis.symbolicate(&locator, &options)?;
    let known: HashSet<Uuid> = summary.binaries.iter().filter_map(|binary| binary.uuid).collect();
    for image in images.iter().filter(|image| known.contains(&image.uuid) && locator.find(image.uuid).is_empty()) {
        warning(&format!("no symbols for the image {} at {}", image.uuid, image.load_address));
    }
    let named: Vec<&Path> = args.paths().map(PathBuf::as_path).collect();
    summary.warnings(&named, locator.found()).iter().for_each(|sentence| warning(sentence));
    Ok(())
}

/// A search for symbols: the places and the images to search for.
pub(crate) struct Search<'s> {
    /// The symbol folders in recordings, which may be empty.
    pub(crate) stores: &'s [PathBuf],
    /// The paths from the command line.
    pub(crate) paths: &'s [&'s PathBuf],
    /// True to cache the contents of symbol folders.
    pub(crate) is_cached: bool,
    /// The requested images; `None` if they are not known yet.
    pub(crate) wanted: Option<&'s BTreeSet<Uuid>>,
}

/// Finds symbols. `files` are the `watched` files, or a layer above them: the files that are found and read must not change. The list of files is
/// charged to the budget.
pub(crate) fn locate<'f>(
    files: &'f dyn Files,
    watched: &WatchedFiles,
    search: &Search<'_>,
    budget: &MemoryBudget,
) -> Result<Locator<'f>> {
    let mut locator = Locator::new(files).within(budget);
    for store in search.stores {
        let found = locator.add(store, &mut Index::default());
        found.with_context(|| format!("{}: cannot be searched", store.display()))?;
    }
    for path in search.paths {
        begin(path, watched)?;
        look_in(&mut locator, path, search)?;
    }
    watch(&locator, watched, search.wanted)?;
    warn(&locator);
    Ok(locator)
}

/// Registers a path from the command line. A symbol file is watched completely.
pub(crate) fn begin(path: &Path, watched: &WatchedFiles) -> Result<()> {
    place(path)?;
    will_search(path)?;
    if !path.is_dir() {
        watched.add_root(path);
    }
    Ok(())
}

/// Registers symbol files with requested images as inputs. Other symbol files are not read.
pub(crate) fn watch(locator: &Locator<'_>, watched: &WatchedFiles, wanted: Option<&BTreeSet<Uuid>>) -> Result<()> {
    let is_wanted = |found: &&Found| wanted.is_none_or(|wanted| wanted.contains(&found.uuid));
    let paths: HashSet<&Path> = locator.found().iter().filter(is_wanted).map(|found| found.path.as_path()).collect();
    for path in paths.into_iter().chain(locator.parts()) {
        will_read(path)?;
        watched.add_file(path);
    }
    Ok(())
}

/// Adds the symbol files at a path. The contents of a folder are cached, if requested.
fn look_in(locator: &mut Locator<'_>, path: &Path, search: &Search<'_>) -> Result<()> {
    let file = if search.is_cached && path.is_dir() { index_file(path) } else { None };
    let mut index = file
        .as_deref()
        .and_then(|file| resource_limits::read_file(file, resource_limits::OWN_FILE).ok())
        .map_or_else(Index::default, Index::from_bytes);
    let found = match search.wanted {
        Some(wanted) => locator.add_wanted(path, &mut index, wanted),
        None => locator.add(path, &mut index),
    };
    let found = found.with_context(|| format!("{}: cannot be searched", path.display()))?;
    if index.is_changed() {
        // If the index cannot be saved, the next run only takes longer.
        let _ = file.map(|file| keep(&file, &index.to_bytes()));
    }
    if found == 0 && !is_known(locator, path) {
        warn(locator);
        bail!(
            "{}: no symbols found (no dSYM, Mach-O, dyld shared cache, .symbols, .symbolsarchive or Breakpad file); see docs/symbols.md",
            path.display()
        );
    }
    Ok(())
}

/// True if the file or folder at a path, or a file in the folder, was already found.
pub(crate) fn is_known(locator: &Locator<'_>, path: &Path) -> bool {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    let Some(path) = canonical(path) else { return false };
    let mut found = locator.found().iter().map(|found| found.path.as_path()).chain(locator.parts());
    found.any(|found| canonical(found).is_some_and(|found| found.starts_with(&path)))
}

/// The cache file for a folder.
fn index_file(folder: &Path) -> Option<PathBuf> {
    // The index could name files that a link led to when there was no restriction.
    if !resource_limits::only_below().is_empty() {
        return None;
    }
    let folder = std::fs::canonicalize(folder).ok()?;
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let cache = etcetera::choose_base_strategy().ok()?.cache_dir();
    Some(cache.join("traceparse").join(format!("symbols-{:016x}.txt", hasher.finish())))
}

fn keep(file: &Path, text: &[u8]) -> Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    replace(file, None, |out| out.write_all(text))
}

pub(crate) fn warn(locator: &Locator<'_>) {
    Locator::sentences(locator.notes()).iter().for_each(|sentence| warning(sentence));
}
