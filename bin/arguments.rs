//! Arguments that several commands share: for reading a recording and naming its functions.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use traceparse::recording::{Options, SampleDetail};
use traceparse::symbolicate::ImageSpec;

use crate::filters::{MetricArg, SelectionArgs};
use crate::operations::OperationArgs;
use crate::redact::RedactArgs;
use crate::resource_limits;

/// The options for a recording, which apply before any part of it is shown.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) operations: OperationArgs,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) redact: RedactArgs,
}

impl RecordingArgs {
    /// True if samples do not have their recorded weights.
    pub(crate) fn changes_weights(&self) -> bool {
        let is_own = matches!(self.selection.metric, MetricArg::Weight | MetricArg::Table(_));
        self.operations.asked().next().is_some() || !is_own
    }

    /// The options for reading.
    pub(crate) fn options(&self, samples: SampleDetail) -> Options {
        Options { table: self.selection.table(), ..self.input.options(samples) }
    }
}

#[derive(Debug, Default, Args)]
pub(crate) struct SymbolArgs {
    #[command(flatten)]
    pub(crate) search: SymbolSearchArgs,
    /// Load address of a binary, for exports without one (repeatable)
    ///
    /// Exports of Xcode 12 to 14.2 have no load addresses.
    #[arg(long, value_name = "UUID@ADDRESS[=PATH]", help_heading = "Symbols")]
    pub(crate) image: Vec<ImageSpec>,
    /// Show the containing function, without functions inlined into it
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_inlines: bool,
}

/// The files and folders to search for symbols.
#[derive(Debug, Default, Args)]
pub(crate) struct SymbolSearchArgs {
    /// A dSYM or other symbol file, or a folder to search (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Symbols")]
    pub(crate) dsym: Vec<PathBuf>,
    /// Same as --dsym; reads better for folders
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Symbols")]
    pub(crate) symbols: Vec<PathBuf>,
    /// Ignore the symbols that Instruments stored in recordings
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_bundled_symbols: bool,
    /// Do not cache which UUIDs a symbol folder contains
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_cache: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// Fail if a CPU table row, a requested interval or a run could not be read
    #[arg(long, help_heading = "Input")]
    pub(crate) strict: bool,
    /// Use the complete rows of a truncated file
    #[arg(long, help_heading = "Input")]
    pub(crate) allow_truncated: bool,
    /// Threads for reading and decompressing [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Input")]
    pub(crate) jobs: Option<u16>,
}

/// Returns the number of threads to use. The default is one for each core.
pub(crate) fn job_count(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

impl SymbolSearchArgs {
    /// Returns the paths that the user named.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.dsym.iter().chain(&self.symbols)
    }
}

impl InputArgs {
    /// Returns the options for reading.
    pub(crate) fn options(&self, samples: SampleDetail) -> Options {
        let (allow_truncated, jobs, memory) = (self.allow_truncated, job_count(self.jobs), resource_limits::memory());
        Options { allow_truncated, samples, jobs, memory, ..Options::default() }
    }
}
