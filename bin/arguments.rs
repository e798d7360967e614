//! Arguments that several commands share, for reading recordings and symbolicating them.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use traceparse::calltree::Metric;
use traceparse::profile::{Matcher, Selection};
use traceparse::recording::{Options, SampleDetail, TableKind};
use traceparse::report::ReportOptions;
use traceparse::symbolicate::ImageSpec;

use crate::filters::{MetricArg, SelectionArgs, WhenArgs};
use crate::given::Given;
use crate::operations::OperationArgs;
use crate::redact::RedactArgs;
use crate::resource_limits;
use crate::weight_limit::number;

/// The options for a recording, which apply before any part of it is shown.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    #[command(flatten)]
    pub(crate) given: Given,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) images: ImageArgs,
}

/// The options that apply to each recording, alone or in a fleet.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReadingArgs {
    #[command(flatten)]
    pub(crate) given: Given,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) when: WhenArgs,
    #[command(flatten)]
    pub(crate) operations: OperationArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) redact: RedactArgs,
}

/// The symbols of a recording.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SymbolArgs {
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Ignore the symbols that Instruments stored in recordings
    #[arg(long, help_heading = "Symbols", hide_short_help = true)]
    pub(crate) no_bundled_symbols: bool,
}

/// The files and folders to search for symbols, and how their symbols are used.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SearchArgs {
    /// dSYM or folder to search for symbols (repeatable)
    ///
    /// Also any other symbol file: Mach-O, dyld shared cache, .symbols, .symbolsarchive or Breakpad (.sym).
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) dsym: Vec<PathBuf>,
    /// Same as --dsym; reads better for folders
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Symbols", hide_short_help = true)]
    pub(crate) symbols: Vec<PathBuf>,
    /// Do not cache which UUIDs a symbol folder contains
    #[arg(long, help_heading = "Symbols", hide_short_help = true)]
    pub(crate) no_cache: bool,
    /// Show the containing function, without functions inlined into it
    #[arg(long, help_heading = "Symbols", hide_short_help = true)]
    pub(crate) no_inlines: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ImageArgs {
    /// Load address of a binary, for exports without one (repeatable)
    ///
    /// Exports of Xcode 12 to 14.2 have no load addresses.
    #[arg(long, value_name = "UUID@ADDRESS[=PATH]", help_heading = "Symbols", hide_short_help = true)]
    pub(crate) image: Vec<ImageSpec>,
}

/// How files are read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FileArgs {
    /// Fail if a part of the input cannot be read
    ///
    /// This applies to runs, rows of CPU tables and requested intervals. A fleet command also fails if a file has no run.
    #[arg(long, help_heading = "Input")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) truncated: TruncatedArgs,
    /// Number of threads [default: one per core]
    ///
    /// The threads read and decompress. Fleet commands read one file per thread.
    #[arg(long, value_name = "N", value_parser = number::<u16>(1, Some(u16::MAX.into())), help_heading = "Input", hide_short_help = true)]
    pub(crate) jobs: Option<u16>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TruncatedArgs {
    /// Use the complete part of a truncated file
    #[arg(long, help_heading = "Input")]
    pub(crate) allow_truncated: bool,
}

impl RecordingArgs {
    /// True if samples do not keep their recorded weights.
    pub(crate) fn changes_weights(&self) -> bool {
        let is_own = matches!(self.selection.metric, MetricArg::Weight | MetricArg::Table(_));
        self.reading.operations.asked().next().is_some() || !is_own
    }

    /// The options for reading.
    pub(crate) fn options(&self, samples: SampleDetail) -> Options {
        Options { table: self.selection.table(), ..self.reading.files.options(samples) }
    }

    /// The selected CPU tables.
    fn schemas(&self) -> Vec<String> {
        let is_cpu = |schema: &&String| TableKind::of_schema(schema) == TableKind::Cpu;
        self.reading.when.schema.iter().chain(self.selection.table.iter().filter(is_cpu)).cloned().collect()
    }

    /// Checks that the arguments can be combined.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.selection.metric {
            MetricArg::Table(_) if self.selection.table().is_none() => {
                Err("--metric duration, bytes and count only apply to --table, and not to CPU tables".to_owned())
            }
            MetricArg::Counter(_) if self.selection.table.is_some() => {
                Err("--metric counter does not apply to --table, whose rows have no counters".to_owned())
            }
            _ => self.reading.when.check(),
        }
    }

    /// The filters that were passed, such as `--thread 'main'`. Without any, all samples of running threads are selected.
    pub(crate) fn filters(&self) -> Vec<String> {
        let (selection, when) = (&self.selection, &self.reading.when);
        let of = |option: &str, values: &mut dyn Iterator<Item = String>| -> Vec<String> {
            values.map(|value| format!("{option} '{value}'")).collect()
        };
        let flag = |option: &str, is_given: bool| Vec::from_iter(is_given.then(|| option.to_owned()));
        let text = |name: &Matcher| name.text().to_owned();
        [
            of("--run", &mut selection.run.iter().map(u32::to_string)),
            of("--schema", &mut when.schema.iter().cloned()),
            of("--process", &mut selection.processes.process.iter().map(text)),
            of("--thread", &mut selection.thread.iter().map(text)),
            flag("--only-main-thread", selection.main.only_main_thread),
            of("--time", &mut when.time.iter().map(ToString::to_string)),
            of("--during", &mut when.during.iter().cloned()),
            flag("--during-hang", when.during_hang),
            of("--state", &mut when.state.iter().cloned()),
        ]
        .concat()
    }

    /// The report options with the requested samples and metric. Intervals are not read yet, and all other options have the library's defaults.
    pub(crate) fn report_options(&self) -> ReportOptions {
        let SelectionArgs { run, processes, thread, main, metric, .. } = &self.selection;
        ReportOptions {
            selection: Selection {
                runs: run.clone(),
                processes: processes.process.clone(),
                threads: thread.clone(),
                only_main_threads: main.only_main_thread,
                ..self.reading.when.selection()
            },
            schemas: self.schemas(),
            // Counters become weights before a report is made.
            metric: if *metric == MetricArg::Samples { Metric::Samples } else { Metric::Weight },
            jobs: self.reading.files.job_count(),
            ..ReportOptions::default()
        }
    }
}

impl SearchArgs {
    /// Returns the paths to search for symbols.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.dsym.iter().chain(&self.symbols)
    }
}

impl FileArgs {
    /// Returns the number of threads to use; by default, one per core.
    pub(crate) fn job_count(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }

    pub(crate) fn options(&self, samples: SampleDetail) -> Options {
        let (allow_truncated, jobs) = (self.truncated.allow_truncated, self.job_count());
        Options { allow_truncated, samples, jobs, memory: resource_limits::memory(), ..Options::default() }
    }
}

impl TruncatedArgs {
    /// Returns the options for reading, with one thread per core.
    pub(crate) fn options(&self, samples: SampleDetail) -> Options {
        FileArgs { truncated: self.clone(), ..FileArgs::default() }.options(samples)
    }
}
