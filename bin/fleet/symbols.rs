//! Symbols of a fleet: looked for once, and looked up once for all exports. The symbols that a recording keeps name that recording only: it
//! has no more than the functions that were sampled in it.

use std::io;
use std::path::PathBuf;

use anyhow::Result;
use traceparse::Analysis;
use traceparse::files::FileBytes;
use traceparse::fleet::FailureKind;
use traceparse::profile::RebuildError;
use traceparse::recording::Recording;
use traceparse::symbolicate::{SymbolCache, SymbolicateOptions};
use traceparse::symbols::{Found, Locator, SymbolFinder};
use traceparse::units::Uuid;

use super::cli::ReadingArgs;
use super::fleet_input::FleetInput;
use super::read_file::Refused;
use crate::bounds;
use crate::symbols::{Search, locate};
use crate::unchanged::{CHANGED, WatchedFiles};

/// The symbols that the arguments name; `None` if they name none.
pub(super) fn find<'f>(files: &'f WatchedFiles, args: &ReadingArgs) -> Result<Option<Locator<'f>>> {
    let paths: Vec<&PathBuf> = args.search.paths().collect();
    let is_cached = !args.search.no_cache;
    if paths.is_empty() {
        Ok(None)
    } else {
        // Which images will be asked for, the exports say one after the other.
        let search = Search { stores: &[], paths: &paths, is_cached, wanted: None };
        locate(files, files, &search, &bounds::of_found_symbols()).map(Some)
    }
}

/// Names the frames of exports and recordings.
pub(super) struct FleetSymbols<'f> {
    files: &'f WatchedFiles,
    named: Option<(&'f Locator<'f>, SymbolCache<'f>)>,
    /// True if recordings name their own frames.
    is_bundled: bool,
    options: SymbolicateOptions,
}

impl<'f> FleetSymbols<'f> {
    /// The symbols of a locator over these files.
    pub(super) fn new(files: &'f WatchedFiles, locator: Option<&'f Locator<'f>>, args: &ReadingArgs) -> Self {
        let options = SymbolicateOptions { with_inlines: !args.no_inlines, ..SymbolicateOptions::default() };
        let named = locator.map(|locator| (locator, SymbolCache::with_limit(locator, bounds::of_remembered_symbols())));
        Self { files, named, is_bundled: !args.search.no_bundled_symbols, options }
    }

    /// Names the frames of an export, or of a recording.
    ///
    /// # Errors
    /// When there are more frames than a profile can hold, or a symbol file changed since it was found.
    pub(super) fn name_frames(
        &self,
        export: &mut Recording,
        input: &FleetInput<'_>,
        notes: &mut Vec<String>,
    ) -> Result<(), Refused> {
        let own = self.is_bundled.then(|| input.symbols());
        let own = own.filter(|own| !own.found().is_empty());
        let named = match (&own, &self.named) {
            (None, None) => return Ok(()),
            (None, Some((_, cache))) => cache.symbolicate(&export.profile, &self.options),
            (Some(own), named) => {
                let both = Both { own: Some(own), named: named.as_ref().map(|(locator, _)| *locator) };
                export.profile.symbolicate(&both, &self.options)
            }
        };
        self.check()?;
        let (profile, summary) = named.map_err(|error| cannot(&error))?;
        export.profile = profile;
        notes.extend(own.iter().flat_map(Locator::notes).map(ToString::to_string));
        notes.extend(summary.notes.iter().map(ToString::to_string));
        notes.extend(summary.advice());
        Ok(())
    }

    /// Gives the frames of an analysis the same names, of which it tells then.
    ///
    /// # Errors
    /// As [`name_frames`](Self::name_frames).
    pub(super) fn name_analysis(&self, analysis: &mut Analysis, input: &FleetInput<'_>) -> Result<(), Refused> {
        let own = self.is_bundled.then(|| input.symbols());
        let own = own.as_ref().filter(|own| !own.found().is_empty());
        let named = self.named.as_ref().map(|(locator, _)| *locator);
        if own.is_none() && named.is_none() {
            return Ok(());
        }
        let result = analysis.symbolicate(&Both { own, named }, &self.options).map(|_| ());
        self.check()?;
        result.map_err(|error| cannot(&error))
    }

    /// Checks that no symbol file changed since it was found.
    fn check(&self) -> Result<(), Refused> {
        let Some(changed) = self.files.first_changed() else { return Ok(()) };
        let reason = format!("the symbol file {}: {CHANGED}", changed.display());
        Err(Refused { kind: FailureKind::Unreadable, reason })
    }
}

fn cannot(error: &RebuildError) -> Refused {
    Refused { kind: FailureKind::Malformed, reason: error.to_string() }
}

/// The symbols that a recording keeps, and those that the arguments name.
struct Both<'a> {
    own: Option<&'a Locator<'a>>,
    named: Option<&'a Locator<'a>>,
}

impl Both<'_> {
    fn each(&self) -> impl Iterator<Item = &Locator<'_>> {
        self.named.into_iter().chain(self.own)
    }
}

impl SymbolFinder for Both<'_> {
    fn find(&self, uuid: Uuid) -> Vec<Found> {
        let mut found: Vec<Found> = self.each().flat_map(|locator| locator.find(uuid)).collect();
        found.sort_by_key(|found| found.kind);
        found
    }

    fn find_by_name(&self, name: &str) -> Vec<Found> {
        self.each().flat_map(|locator| locator.find_by_name(name)).collect()
    }

    fn load(&self, found: &Found) -> io::Result<FileBytes<'_>> {
        let mut having = self.each().filter(|locator| locator.find(found.uuid).contains(found));
        having.next().map_or_else(|| Err(io::ErrorKind::NotFound.into()), |locator| locator.load(found))
    }
}
