//! The options for reading and measuring.

use crate::calltree::Operation;
use crate::fleet::host::WatchedInputs;
use crate::fleet::{FleetSelection, MeasureOptions, RunMeasures};
use crate::profile::Profile;
use crate::recording::Options;
use crate::symbols::Locator;

/// Creates the operations for a profile's stacks.
type MakeOperations<'f> = Box<dyn Fn(&Profile) -> Vec<Operation> + Sync + 'f>;

/// Returns true for a selected thread, given its name and whether it is a main thread.
type MatchThread = Box<dyn Fn(&str, bool) -> bool + Send + Sync>;

/// The options for reading and measuring the files of a fleet.
pub struct ReadingOptions<'f> {
    /// The options of the reader.
    pub read: Options,
    /// The options for measuring.
    pub measure: MeasureOptions,
    /// The intervals that select samples; `None` for samples at any time.
    pub intervals: Option<IntervalChoice>,
    /// The threads to keep; `None` to keep all.
    pub threads: Option<ThreadChoice>,
    /// The operations on a profile's stacks.
    pub operations: MakeOperations<'f>,
    /// A description of all these options.
    pub described: FleetSelection,
    /// The symbol files specified by the user, if any.
    pub symbols: Option<&'f Locator<'f>>,
    /// These symbol files, watched for changes.
    pub symbol_files: &'f dyn WatchedInputs,
    /// True to use the symbols in recordings.
    pub with_bundled_symbols: bool,
    /// True to resolve inlined functions.
    pub with_inlines: bool,
    /// True to stop at the first failure.
    pub is_strict: bool,
    /// The number of files to read in parallel.
    pub jobs: usize,
}

impl<'f> ReadingOptions<'f> {
    /// Measures everything, without separate symbol files and one file at a time. `symbol_files` can be any files.
    pub fn new(symbol_files: &'f dyn WatchedInputs) -> Self {
        Self {
            read: Options::default(),
            measure: MeasureOptions::default(),
            intervals: None,
            threads: None,
            operations: Box::new(|_| Vec::new()),
            described: FleetSelection::default(),
            symbols: None,
            symbol_files,
            with_bundled_symbols: true,
            with_inlines: true,
            is_strict: false,
            jobs: 1,
        }
    }
}

/// Intervals by name.
#[derive(Clone, Debug)]
pub struct IntervalChoice {
    /// The names of signpost intervals.
    pub names: Vec<String>,
    /// True to include potential hangs.
    pub has_hangs: bool,
    /// True if samples must be in an interval of every name, and, if hangs are included, in a hang.
    pub needs_all: bool,
}

/// Selects threads of each recording.
pub struct ThreadChoice {
    /// Returns true for a selected thread, given its name and whether it is a main thread.
    pub matches: MatchThread,
    /// The names and patterns, as entered by the user.
    pub texts: Vec<String>,
    /// The names without patterns, sorted.
    pub names: Vec<String>,
    /// True to select only main threads.
    pub only_main: bool,
}

impl ThreadChoice {
    /// True if there are patterns.
    pub fn has_patterns(&self) -> bool {
        self.names.len() < self.texts.len()
    }

    /// The names of the matching threads in a run.
    pub(crate) fn of_run<'r>(&self, run: &'r RunMeasures) -> impl Iterator<Item = &'r str> {
        let mut last = None;
        let threads = run.frames.iter().map(|row| (row.thread, row.is_main_thread));
        let threads = threads.filter(move |&thread| last.replace(thread) != Some(thread));
        let named = threads.map(|(thread, is_main)| (run.name(thread), is_main));
        named.filter(|&(name, is_main)| (self.matches)(name, is_main)).map(|(name, _)| name)
    }
}
