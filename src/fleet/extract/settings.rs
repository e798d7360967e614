//! Settings for measuring files, and the hash of everything that affects a file's result.

use super::fleet_input::InputHashes;
use super::intervals::AskedIntervals;
use super::options::ReadingOptions;
use super::symbols::FleetSymbols;
use crate::fleet::fingerprint::{of_run, of_settings, of_settings_anywhere};
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::Task;
use crate::memory::MemoryBudget;
use crate::symbols::Locator;
use blake3::Hash;

/// The settings for measuring every file.
pub struct FleetSettings<'f> {
    /// The options.
    pub options: ReadingOptions<'f>,
    pub(crate) intervals: Option<AskedIntervals>,
    pub(crate) symbols: FleetSymbols<'f>,
    /// The hash of all options.
    pub(crate) fingerprint: Hash,
    /// The hash of the settings that is the same on every machine.
    pub(crate) anywhere: Hash,
    /// The memory budget of all files that are read in parallel, or of a single one.
    pub(crate) memory: MemoryBudget,
}

impl<'f> FleetSettings<'f> {
    /// Creates the settings for these options.
    pub fn new(host: &dyn FleetHost, options: ReadingOptions<'f>) -> Self {
        let symbols = options.symbols.map_or(&[][..], Locator::found);
        Self {
            intervals: options.intervals.clone().map(AskedIntervals::new),
            symbols: FleetSymbols::new(&options, host.most_symbols()),
            fingerprint: of_settings(host, &options, symbols),
            anywhere: of_settings_anywhere(host, &options, symbols),
            memory: host.memory_of_files(),
            options,
        }
    }

    /// Warns about intervals that no recording has, such as a misspelt name in addition to one that matches.
    pub fn warn_of_unseen_intervals(&self, host: &dyn FleetHost) {
        for name in self.intervals.iter().flat_map(AskedIntervals::unseen) {
            host.warn(&format!("no recording has an interval named {name:?}"));
        }
    }

    /// The hash of an export's intervals file, if intervals are requested and are in a separate file.
    pub(super) fn hash_of_intervals(&self, task: &Task, memory: &MemoryBudget, host: &dyn FleetHost) -> Option<Hash> {
        self.intervals.as_ref()?;
        Some(InputHashes::of(task.intervals_file()?, memory, host).ok()?.content)
    }

    /// The fingerprint of a file with these hashes; see [`of_run`].
    pub(super) fn fingerprint_of(
        &self,
        task: &Task,
        hashes: InputHashes,
        host: &dyn FleetHost,
        memory: &MemoryBudget,
    ) -> String {
        let toc = match &task.toc {
            Some(toc) => InputHashes::of(toc, memory, host).ok().map(|hashes| hashes.content),
            None => hashes.packed_toc,
        };
        of_run(self.fingerprint, hashes.content, [toc, self.hash_of_intervals(task, memory, host)], task)
    }
}
