//! Arguments that several commands share: for reading a recording, naming its functions and selecting samples.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueHint};
use traceparse::calltree::{Action, FunctionSet, Metric, Operation};
use traceparse::profile::{Matcher, Profile, Selection, StateFilter, TimeRange};
use traceparse::recording::{Counter, Options, SampleDetail};
use traceparse::report::ReportOptions;
use traceparse::symbolicate::ImageSpec;

use crate::name_patterns::parse_name;
use crate::operations::OperationArgs;
use crate::redact::RedactArgs;
use crate::resource_limits;
use crate::times::parse_range;

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
        self.operations.asked().next().is_some() || self.selection.metric != MetricArg::Weight
    }
}

#[derive(Debug, Args)]
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
#[derive(Debug, Args)]
pub(crate) struct SymbolSearchArgs {
    /// A dSYM or other symbol file, or a folder to search (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Symbols")]
    pub(crate) dsym: Vec<PathBuf>,
    /// The same as --dsym; reads better with a folder
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Symbols")]
    pub(crate) symbols: Vec<PathBuf>,
    /// Ignore the symbols that Instruments stored in recordings
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_bundled_symbols: bool,
    /// Do not cache which UUIDs a folder of symbols has
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_cache: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    /// Only this run of the recording (repeatable)
    #[arg(long, value_name = "N", help_heading = "Filters")]
    pub(crate) run: Vec<u32>,
    /// Only this table, such as time-profile (repeatable)
    #[arg(long, value_name = "SCHEMA", help_heading = "Filters")]
    pub(crate) schema: Vec<String>,
    /// Only processes with this number or name (repeatable)
    ///
    /// If no process has this name, names that contain it match, ignoring case. /REGEX/ is a regular expression.
    #[arg(long, value_name = "NAME|PID", value_parser = parse_name, help_heading = "Filters")]
    pub(crate) process: Vec<Matcher>,
    /// Only threads with this number (decimal, or hex with 0x) or name (repeatable)
    ///
    /// If no thread has this name, names that contain it match, ignoring case. /REGEX/ is a regular expression.
    #[arg(long, value_name = "NAME|TID", value_parser = parse_name, help_heading = "Filters")]
    pub(crate) thread: Vec<Matcher>,
    /// Only samples with this binary in their stack (repeatable)
    ///
    /// Names match as with --thread; a name with a slash is matched against paths. This and --leaf-binary look at stacks before operations
    /// change them.
    #[arg(long, value_name = "NAME", value_parser = parse_name, help_heading = "Filters")]
    pub(crate) binary: Vec<Matcher>,
    /// Only samples taken in code of this binary (repeatable)
    #[arg(long, value_name = "NAME", value_parser = parse_name, help_heading = "Filters")]
    pub(crate) leaf_binary: Vec<Matcher>,
    #[command(flatten)]
    pub(crate) when: WhenArgs,
    /// Only main threads; with --thread, only threads that match both
    ///
    /// If the recording does not mark main threads, these are the threads named Main Thread, and in processes without one, the threads
    /// named main.
    #[arg(long, help_heading = "Filters")]
    pub(crate) only_main_thread: bool,
    /// Count each sample by its `weight`, as one (`samples`), or by the events of a performance counter (`counter:2`,
    /// `counter:INST_ALL`) [default: weight]
    #[arg(long, default_value = "weight", hide_default_value = true, help_heading = "Filters")]
    pub(crate) metric: MetricArg,
}

/// The filters by time and thread state, for reports and fleets.
#[derive(Debug, Args)]
pub(crate) struct WhenArgs {
    /// Only this part of each recording: 1.5s..2s, 200ms.. or ..00:01.250
    ///
    /// Numbers without a unit are seconds. CPU use is relative to the selected part of the recorded time.
    #[arg(long, value_name = "START..END", value_parser = parse_range, help_heading = "Filters")]
    pub(crate) time: Option<TimeRange>,
    /// Only while a signpost interval with this name is open (repeatable)
    ///
    /// CPU use is relative to the time in these intervals. A fleet leaves out recordings without them.
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub(crate) during: Vec<String>,
    /// Only during potential hangs
    #[arg(long, help_heading = "Filters")]
    pub(crate) during_hang: bool,
    /// Require all intervals of --during and --during-hang [default: any]
    #[arg(long, help_heading = "Filters")]
    pub(crate) during_all: bool,
    /// Only threads in this state, such as Blocked; `all` for any (repeatable) [default: running, or no state recorded]
    #[arg(long, value_name = "STATE", help_heading = "Filters")]
    pub(crate) state: Vec<String>,
}

#[derive(Debug, Args)]
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

/// The number to count for each sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetricArg {
    Weight,
    Samples,
    Counter(Counter),
}

impl FromStr for MetricArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("counter:").filter(|counter| !counter.is_empty())) {
            ("weight", _) => Ok(Self::Weight),
            ("samples", _) => Ok(Self::Samples),
            (_, Some("0")) => Err("counters are numbered from 1".to_owned()),
            (_, Some(counter)) => {
                let Ok(counter) = counter.parse();
                Ok(Self::Counter(counter))
            }
            _ => Err("expected weight, samples, counter:N or counter:NAME".to_owned()),
        }
    }
}

/// Returns the number of threads to use. The default is one per core.
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

impl WhenArgs {
    /// Returns an option that needs the time of each sample, if one was given.
    pub(crate) fn needs_times(&self) -> Option<&'static str> {
        let during = self.asks_intervals().then_some(if self.during_hang { "--during-hang" } else { "--during" });
        self.time.is_some().then_some("--time").or(during)
    }

    /// True if samples are limited to intervals.
    pub(crate) fn asks_intervals(&self) -> bool {
        !self.during.is_empty() || self.during_hang
    }

    pub(crate) fn includes_all_states(&self) -> bool {
        self.state.iter().any(|state| state.eq_ignore_ascii_case("all"))
    }

    /// Returns the selection, without intervals, which are read from each recording.
    pub(crate) fn selection(&self) -> Selection {
        let states = match self.state.as_slice() {
            [] => StateFilter::Running,
            _ if self.includes_all_states() => StateFilter::All,
            states => StateFilter::Only(states.to_vec()),
        };
        Selection { time: self.time, states, ..Selection::default() }
    }
}

impl SelectionArgs {
    /// Returns the operations that remove samples outside the requested binaries.
    pub(crate) fn binary_filters(&self, profile: &Profile) -> Vec<Operation> {
        let text = |option: &str, names: &[Matcher]| {
            names.iter().map(|name| format!("{option} '{}'", name.text())).collect::<Vec<_>>().join(" ")
        };
        let mut filters = Vec::new();
        if !self.binary.is_empty() {
            let action = Action::Focus(FunctionSet::of_binaries(profile, &self.binary));
            filters.push(Operation { action, text: text("--binary", &self.binary) });
        }
        if !self.leaf_binary.is_empty() {
            let action = Action::FocusLeaves(FunctionSet::of_binaries(profile, &self.leaf_binary));
            filters.push(Operation { action, text: text("--leaf-binary", &self.leaf_binary) });
        }
        filters
    }

    /// True if there are no filters, so everything except waiting threads is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.run.is_empty()
            && self.schema.is_empty()
            && self.process.is_empty()
            && self.thread.is_empty()
            && !self.only_main_thread
            && self.when.needs_times().is_none()
            && self.when.state.is_empty()
    }

    /// Returns the report options for the requested samples and metric. Intervals are not read yet, and all other options have the
    /// library's defaults.
    pub(crate) fn report_options(&self) -> ReportOptions {
        ReportOptions {
            selection: Selection {
                runs: self.run.clone(),
                processes: self.process.clone(),
                threads: self.thread.clone(),
                only_main_threads: self.only_main_thread,
                ..self.when.selection()
            },
            schemas: self.schema.clone(),
            metric: match self.metric {
                // Counters replace weights before a report is made.
                MetricArg::Weight | MetricArg::Counter(_) => Metric::Weight,
                MetricArg::Samples => Metric::Samples,
            },
            ..ReportOptions::default()
        }
    }
}
