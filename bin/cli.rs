//! The arguments of the command, and what they mean to the library.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use traceparse::calltree::{Metric, Pruning};
use traceparse::export::{Options, SampleDetail};
use traceparse::profile::{Matcher, Selection, StateFilter, TimeRange};
use traceparse::report::{ReportOptions, SeparateBy, View};
use traceparse::symbolicate::ImageSpec;
use traceparse::units::Nanos;

use crate::fleet::FleetCommand;
use crate::times::{parse_range, parse_time};

const EXAMPLES: &str = "\
Examples:
  traceparse export.xml
      Where the CPU time went: totals, threads, and the call tree of each thread
  traceparse export.xml --view functions --thread 'Main Thread'
      The functions of the main thread, by self weight
  traceparse export.xml --format folded | inferno-flamegraph > flame.svg
      A flame graph
  traceparse export.xml --dsym App.dSYM --symbols ~/Library/Developer/Xcode/Archives
      With the names, inlined functions and lines that symbol files have
  traceparse export.xml.gz --time 1.5s..2s --format json -o part.json
      Half a second of it, for a program

On a Mac, an export is made with:
  xcrun xctrace export --input X.trace --output export.xml \\
      --xpath '/trace-toc/run/data/table[@schema=\"time-profile\"]'

Exit codes: 0 done, 1 the input could not be used, 2 wrong usage.";

/// Reads what `xcrun xctrace export` writes and says where the CPU time went.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows what a table of contents (`xctrace export --toc`), or an export, holds
    Toc(TocArgs),
    /// Names addresses from a symbol file, in the form of atos
    Symbolicate(SymbolicateArgs),
    /// Lists UUID, architecture, kind and path of the symbols in files and folders
    Uuid(UuidArgs),
    /// How CPU use is distributed over many exports: percentiles, cohorts, alerts
    Fleet(Box<FleetCommand>),
    /// Prints a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TocArgs {
    /// Tables of contents or exports; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TocFormat::Text)]
    pub(crate) format: TocFormat,
    /// Show what is there of a file that was cut
    #[arg(long)]
    pub(crate) allow_truncated: bool,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SymbolicateArgs {
    /// The dSYM, binary, or `.symbols` file
    #[arg(short = 'o', long = "object", value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) object: PathBuf,
    /// The architecture, where the file has several
    #[arg(long, value_name = "ARCH")]
    pub(crate) arch: Option<String>,
    /// The address at which the binary was loaded, in hex; without it, addresses are those in the file
    #[arg(short, long, value_name = "ADDRESS", value_parser = parse_address)]
    pub(crate) load_address: Option<u64>,
    /// Addresses are offsets from the Mach-O header
    #[arg(long, conflicts_with = "load_address")]
    pub(crate) offset: bool,
    /// Show inlined functions too, innermost first, with an empty line between addresses
    #[arg(short, long)]
    pub(crate) inlines: bool,
    /// Show the whole path of source files
    #[arg(long)]
    pub(crate) full_path: bool,
    /// Addresses in hex, as they are; without any, they are read from standard input
    #[arg(value_name = "ADDRESS", value_parser = parse_address)]
    pub(crate) addresses: Vec<u64>,
}

/// How many threads work: as many as were asked for, or one for each core.
pub(crate) fn job_count(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

fn parse_address(text: &str) -> Result<u64, String> {
    let digits = text.trim().trim_start_matches("0x").trim_start_matches("0X");
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
    number.ok_or_else(|| format!("{text:?} is not an address in hex"))
}

#[derive(Debug, Args)]
pub(crate) struct UuidArgs {
    /// Symbol files, bundles, or folders to search
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TocFormat::Text)]
    pub(crate) format: TocFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TocFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Exports, also gzip or zstd; `-` is standard input. Tables of contents add device and duration
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// What to show; without it: summary, threads, and the call tree of each thread
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) view: Option<ViewArg>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub(crate) format: Format,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Hide tree nodes (and, in text, functions) below this percentage of their whole [default: 1 in text, 0 elsewhere]
    #[arg(long, value_name = "P", value_parser = parse_percent, help_heading = "Output")]
    pub(crate) min_percent: Option<f64>,
    /// Hide tree levels below this one
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) depth: Option<u32>,
    /// The length of a bin of --view timeline, such as 10ms [default: a round one that gives up to 90 bins]
    #[arg(long, value_name = "DURATION", value_parser = parse_bin, help_heading = "Output")]
    pub(crate) bin: Option<Nanos>,
    /// What has a call tree, or a line of the timeline, of its own
    #[arg(long, value_enum, default_value_t = SeparateArg::Thread, value_name = "WHAT", help_heading = "Output")]
    pub(crate) separate_by: SeparateArg,
    /// One call tree over all threads; the same as --separate-by none
    #[arg(long, conflicts_with = "separate_by", help_heading = "Output")]
    pub(crate) no_threads: bool,

    /// Symbols: a dSYM, another symbol file, or a folder to search (may be given several times)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Symbols")]
    pub(crate) dsym: Vec<PathBuf>,
    /// The same as --dsym; read well with folders
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Symbols")]
    pub(crate) symbols: Vec<PathBuf>,
    /// Where a binary was loaded, for exports that do not say (Xcode 12 to 14.2) (may be given several times)
    #[arg(long, value_name = "UUID@ADDRESS[=PATH]", help_heading = "Symbols")]
    pub(crate) image: Vec<ImageSpec>,
    /// Show the function that holds the code only, not those that were inlined into it
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_inlines: bool,
    /// With --view lines: show the lines in their files, which are searched in this folder (may be given several times)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Symbols")]
    pub(crate) source: Vec<PathBuf>,
    /// Do not remember, in the cache folder, which UUIDs a folder of symbols has
    #[arg(long, help_heading = "Symbols")]
    pub(crate) no_cache: bool,

    /// Only this run of the recording (may be given several times)
    #[arg(long, value_name = "N", help_heading = "What counts")]
    pub(crate) run: Vec<u32>,
    /// Only this table, such as time-profile (may be given several times)
    #[arg(long, value_name = "SCHEMA", help_heading = "What counts")]
    pub(crate) schema: Vec<String>,
    /// Only this process (may be given several times)
    #[arg(long, value_name = "NAME|PID", help_heading = "What counts")]
    pub(crate) process: Vec<String>,
    /// Only this thread (may be given several times); a TID may be in hex, with 0x
    #[arg(long, value_name = "NAME|TID", help_heading = "What counts")]
    pub(crate) thread: Vec<String>,
    /// Only this time of the recording: 1.5s..2s, 200ms.., ..00:01.250; seconds without a unit
    #[arg(long, value_name = "START..END", value_parser = parse_range, help_heading = "What counts")]
    pub(crate) time: Option<TimeRange>,
    /// Threads in this state, such as Blocked, or all (may be given several times) [default: running, or no state recorded]
    #[arg(long, value_name = "STATE", help_heading = "What counts")]
    pub(crate) state: Vec<String>,
    /// What a sample counts for: its weight, or one
    #[arg(long, value_enum, default_value_t = MetricArg::Weight, help_heading = "What counts")]
    pub(crate) metric: MetricArg,

    /// Fail if a row of a CPU table could not be read
    #[arg(long, help_heading = "Input")]
    pub(crate) strict: bool,
    /// Use the complete rows of a file that was cut
    #[arg(long, help_heading = "Input")]
    pub(crate) allow_truncated: bool,
    /// How many threads read and decompress [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Input")]
    pub(crate) jobs: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewArg {
    /// Inputs, tables and their rows, totals, and what was left out
    Summary,
    /// Threads with their weights
    Threads,
    /// The call tree of each thread
    Tree,
    /// Functions over all threads, by self weight
    Functions,
    /// Binaries over all threads, by self weight
    Binaries,
    /// The program's own code, the system, runtimes and the kernel, and what the first calls of the others
    Categories,
    /// All calls from the program's own code into other code
    Transitions,
    /// Source lines over all threads, by self weight; --source shows them in their files
    Lines,
    /// Processes with their weights
    Processes,
    /// Thread states with their weights, also those that do not count
    States,
    /// Cores and kinds of cores with what they ran
    Cores,
    /// CPU use over time, of each thread or of what --separate-by says
    Timeline,
    /// One line for each row of the export, in its order
    Samples,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs; every field is documented in docs/formats.md
    Json,
    /// A table; needs --view
    Csv,
    /// Folded stacks for flame graphs: process;thread;frame;…;leaf WEIGHT
    Folded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeparateArg {
    Thread,
    Process,
    /// A thread state; all of them, unless --state is given
    State,
    /// A kind of core, such as P Core
    CoreKind,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricArg {
    Weight,
    Samples,
}

fn parse_bin(text: &str) -> Result<Nanos, String> {
    let bin = parse_time(text)?;
    if bin.as_nanos() > 0 { Ok(bin) } else { Err("a bin is at least 1ns long".to_owned()) }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.trim_end_matches('%').parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=100.0).contains(&percent) { Ok(percent) } else { Err("not between 0 and 100".to_owned()) }
}

impl ReportArgs {
    /// What is shown.
    pub(crate) fn view(&self) -> View {
        match self.view {
            None if self.format == Format::Folded => View::Tree,
            None => View::Overview,
            Some(ViewArg::Summary) => View::Summary,
            Some(ViewArg::Threads) => View::Threads,
            Some(ViewArg::Tree) => View::Tree,
            Some(ViewArg::Functions) => View::Functions,
            Some(ViewArg::Binaries) => View::Binaries,
            Some(ViewArg::Categories) => View::Categories,
            Some(ViewArg::Transitions) => View::Transitions,
            Some(ViewArg::Lines) => View::Lines,
            Some(ViewArg::Processes) => View::Processes,
            Some(ViewArg::States) => View::States,
            Some(ViewArg::Cores) => View::Cores,
            Some(ViewArg::Timeline) => View::Timeline,
            Some(ViewArg::Samples) => View::Samples,
        }
    }

    /// How to read: samples one by one only where the answer needs their times or cores.
    pub(crate) fn read_options(&self) -> Options {
        let needs_each = matches!(self.view(), View::Samples | View::Cores | View::Timeline)
            || self.time.is_some()
            || (self.separate_by == SeparateArg::CoreKind && self.is_separated());
        let samples = if needs_each { SampleDetail::Each } else { SampleDetail::Summed };
        Options { allow_truncated: self.allow_truncated, samples, jobs: job_count(self.jobs), ..Options::default() }
    }

    /// Whether the view has something for each thread, or for what else is separated.
    fn is_separated(&self) -> bool {
        matches!(self.view(), View::Overview | View::Tree | View::Timeline)
    }

    /// What to answer.
    pub(crate) fn report_options(&self) -> ReportOptions {
        let states = match self.state.as_slice() {
            // Of one state there is nothing to separate.
            [] if self.separate_by == SeparateArg::State && self.is_separated() => StateFilter::All,
            [] => StateFilter::Running,
            states if states.iter().any(|state| state.eq_ignore_ascii_case("all")) => StateFilter::All,
            states => StateFilter::Only(states.to_vec()),
        };
        ReportOptions {
            selection: Selection {
                runs: self.run.clone(),
                processes: self.process.iter().map(|text| Matcher::new(text)).collect(),
                threads: self.thread.iter().map(|text| Matcher::new(text)).collect(),
                time: self.time,
                states,
            },
            schemas: self.schema.clone(),
            metric: match self.metric {
                MetricArg::Weight => Metric::Weight,
                MetricArg::Samples => Metric::Samples,
            },
            pruning: Pruning {
                min_percent: self.min_percent.unwrap_or(if self.format == Format::Text { 1.0 } else { 0.0 }),
                depth: self.depth,
            },
            view: self.view(),
            separate_by: match self.separate_by {
                _ if self.no_threads => SeparateBy::Nothing,
                SeparateArg::Thread => SeparateBy::Thread,
                SeparateArg::Process => SeparateBy::Process,
                SeparateArg::State => SeparateBy::State,
                SeparateArg::CoreKind => SeparateBy::CoreKind,
                SeparateArg::None => SeparateBy::Nothing,
            },
            timeline_bin: self.bin,
            jobs: job_count(self.jobs),
        }
    }

    /// Whether the arguments go together.
    pub(crate) fn check(&self) -> Result<(), String> {
        let shows_source = self.view == Some(ViewArg::Lines) && matches!(self.format, Format::Text | Format::Json);
        if !self.source.is_empty() && !shows_source {
            return Err("--source shows lines in their files: with --view lines, as text or JSON".to_owned());
        }
        if self.bin.is_some() && self.view != Some(ViewArg::Timeline) {
            return Err("--bin goes with --view timeline".to_owned());
        }
        match (self.format, self.view) {
            (Format::Csv, None) => {
                Err("--format csv needs a --view, such as summary, threads, tree, functions or samples".to_owned())
            }
            (Format::Folded, Some(view)) if view != ViewArg::Tree => {
                Err("--format folded writes call trees; leave --view away, or use --view tree".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn percentages_are_between_0_and_100() {
        assert_eq!(parse_percent("0.5"), Ok(0.5));
        assert_eq!(parse_percent("5%"), Ok(5.0));
        for bad in ["-1", "101", "NaN", "x"] {
            assert!(parse_percent(bad).is_err(), "{bad}");
        }
    }
}
