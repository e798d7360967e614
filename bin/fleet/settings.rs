//! The settings for measuring files, and the hash of everything that decides the result of a file.

use blake3::Hash;
use traceparse::fleet::MeasureOptions;
use traceparse::memory::MemoryBudget;
use traceparse::recording::Options;
use traceparse::symbols::Locator;

use super::cli::ReadingArgs;
use super::control::Control;
use super::filters::AskedThreads;
use super::fingerprint::{of_run, of_settings, of_settings_anywhere};
use super::fleet_input::hash_file;
use super::intervals::AskedIntervals;
use super::symbols::FleetSymbols;
use super::task::Task;
use crate::bounds;
use crate::operations::OperationArgs;
use crate::unchanged::WatchedFiles;
use crate::warning;

/// The settings for measuring every file.
pub(super) struct Settings<'f> {
    pub(super) read: Options,
    pub(super) measure: MeasureOptions,
    /// The intervals in which samples count; `None` if they count at any time.
    pub(super) intervals: Option<AskedIntervals>,
    /// The threads that count, if only these are kept.
    pub(super) threads: Option<AskedThreads>,
    pub(super) operations: &'f OperationArgs,
    pub(super) symbols: FleetSymbols<'f>,
    /// Of all the above.
    pub(super) fingerprint: Hash,
    /// The same for these settings on every machine.
    pub(super) anywhere: Hash,
    /// True if the first failure ends the batch.
    pub(super) is_strict: bool,
    /// The number of files read at the same time.
    pub(super) jobs: usize,
    /// The memory that they may take together, or one alone.
    pub(super) memory: MemoryBudget,
}

impl<'f> Settings<'f> {
    /// The settings of the arguments, with the symbols of a locator over these files.
    pub(super) fn new(
        args: &'f ReadingArgs,
        threads: Option<AskedThreads>,
        files: &'f WatchedFiles,
        locator: Option<&'f Locator<'f>>,
    ) -> Self {
        let selection = args.filters.described(threads.as_ref());
        let symbols = locator.map_or(&[][..], Locator::found);
        Self {
            read: args.read_options(),
            measure: args.measure_options(),
            intervals: AskedIntervals::new(&args.filters),
            threads,
            operations: &args.filters.operations,
            symbols: FleetSymbols::new(files, locator, args),
            fingerprint: of_settings(args, &selection, symbols),
            anywhere: of_settings_anywhere(args, &selection, symbols),
            is_strict: args.strict,
            jobs: args.job_count(),
            memory: bounds::of_files(),
        }
    }
}

impl Settings<'_> {
    /// Warns of an interval that no recording has: a misspelled name, where another one selects something.
    pub(super) fn warn_of_unseen_intervals(&self) {
        for name in self.intervals.iter().flat_map(AskedIntervals::unseen) {
            warning(&format!("no recording has an interval named {name:?}"));
        }
    }

    /// The hash of the file with the intervals of an export, if they are asked for and it is another file.
    pub(super) fn hash_of_intervals(&self, task: &Task, memory: &MemoryBudget, control: &Control) -> Option<Hash> {
        self.intervals.as_ref()?;
        hash_file(task.intervals_file()?, memory, control).ok()
    }
}

/// The hash of everything that decides the result of a file with this content, see [`of_run`].
pub(super) fn fingerprint(
    task: &Task,
    content: Hash,
    settings: &Settings<'_>,
    control: &Control,
    memory: &MemoryBudget,
) -> String {
    let toc = task.toc.as_deref().and_then(|toc| hash_file(toc, memory, control).ok());
    of_run(settings.fingerprint, content, [toc, settings.hash_of_intervals(task, memory, control)], task)
}
