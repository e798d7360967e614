//! Symbols of a fleet: looked for once, and looked up once for all exports.

use std::path::PathBuf;

use anyhow::Result;
use traceparse::export::Export;
use traceparse::symbolicate::{SymbolCache, SymbolicateOptions};
use traceparse::symbols::Locator;

use super::cli::ReadingArgs;
use crate::symbols::locate;

/// What is where the arguments say; `None` where they say nothing.
pub(super) fn find(args: &ReadingArgs) -> Result<Option<Locator<'static>>> {
    let paths: Vec<&PathBuf> = args.dsym.iter().chain(&args.symbols).collect();
    if paths.is_empty() { Ok(None) } else { locate(&paths, !args.no_cache).map(Some) }
}

/// Names the frames of exports.
pub(super) struct FleetSymbols<'f> {
    cache: SymbolCache<'f>,
    options: SymbolicateOptions,
}

impl<'f> FleetSymbols<'f> {
    pub(super) fn new(locator: &'f Locator<'static>, args: &ReadingArgs) -> Self {
        let options = SymbolicateOptions { with_inlines: !args.no_inlines, ..SymbolicateOptions::default() };
        Self { cache: SymbolCache::new(locator), options }
    }

    /// Names the frames of an export.
    ///
    /// # Errors
    /// A sentence, when there are more frames than a profile can hold.
    pub(super) fn name_frames(&self, export: &mut Export, notes: &mut Vec<String>) -> Result<(), String> {
        let named = self.cache.symbolicate(&export.profile, &self.options);
        let (profile, summary) = named.map_err(|full| full.to_string())?;
        export.profile = profile;
        notes.extend(summary.notes.iter().map(ToString::to_string));
        notes.extend(summary.advice());
        Ok(())
    }
}
