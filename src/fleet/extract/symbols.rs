//! The symbols of a fleet: found once, and looked up through a cache shared by all exports. The symbols in a recording are used only for that
//! recording, since they cover only the functions sampled there.

use std::io;

use super::fleet_input::FleetInput;
use super::options::ReadingOptions;
use crate::files::Files;
use crate::fleet::NotMeasured;
use crate::fleet::host::{CHANGED, WatchedInputs};
use crate::recording::Recording;
use crate::symbolicate::{SymbolCache, SymbolicateOptions};
use crate::symbols::{Found, Locator, SymbolFinder};
use crate::units::Uuid;

/// Symbolicates exports and recordings.
pub(crate) struct FleetSymbols<'f> {
    files: &'f dyn WatchedInputs,
    named: Option<(&'f Locator<'f>, SymbolCache<'f>)>,
    /// True to use the symbols in recordings.
    is_bundled: bool,
    options: SymbolicateOptions,
}

impl<'f> FleetSymbols<'f> {
    /// Uses the symbols located by the options, with a cache of at most `most_remembered` bytes.
    pub(super) fn new(options: &ReadingOptions<'f>, most_remembered: usize) -> Self {
        let (files, locator, is_bundled) = (options.symbol_files, options.symbols, options.with_bundled_symbols);
        let options = SymbolicateOptions { with_inlines: options.with_inlines, ..SymbolicateOptions::default() };
        let named = locator.map(|locator| (locator, SymbolCache::with_limit(locator, most_remembered)));
        Self { files, named, is_bundled, options }
    }

    /// Symbolicates an export or a recording.
    ///
    /// # Errors
    /// If there are more frames than a profile can store, or a symbol file has changed since it was found.
    pub(super) fn name_frames(
        &self,
        export: &mut Recording,
        input: &FleetInput<'_>,
        notes: &mut Vec<String>,
    ) -> Result<(), NotMeasured> {
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
        let (profile, summary) = named?;
        export.profile = profile;
        notes.extend(own.iter().flat_map(Locator::notes).map(ToString::to_string));
        notes.extend(summary.notes.iter().map(ToString::to_string));
        notes.extend(summary.advice());
        Ok(())
    }

    /// The recording's own symbols and the specified ones; `None` without any.
    pub(crate) fn finder<'a>(&'a self, own: Option<&'a Locator<'a>>) -> Option<impl SymbolFinder + use<'a>> {
        let own = own.filter(|own| self.is_bundled && !own.found().is_empty());
        let named = self.named.as_ref().map(|(locator, _)| *locator);
        (own.is_some() || named.is_some()).then_some(Both { own, named })
    }

    /// The options for symbolication.
    pub(crate) fn options(&self) -> &SymbolicateOptions {
        &self.options
    }

    /// Checks that no symbol file has changed since it was found.
    pub(crate) fn check(&self) -> Result<(), NotMeasured> {
        let Some(changed) = self.files.first_changed() else { return Ok(()) };
        let reason = format!("the symbol file {}: {CHANGED}", changed.display());
        Err(NotMeasured::unreadable(reason))
    }
}

/// Symbols in the recording, and symbols specified by the user.
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

    fn files(&self, found: &Found) -> io::Result<&dyn Files> {
        let mut having = self.each().filter(|locator| locator.find(found.uuid).contains(found));
        having.next().map_or_else(|| Err(io::ErrorKind::NotFound.into()), |locator| locator.files(found))
    }
}
