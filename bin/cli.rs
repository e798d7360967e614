//! The arguments of the command, and what they mean to the library.

use std::path::PathBuf;

use clap::error::ContextValue;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use traceparse::calltree::Pruning;
use traceparse::profile::StateFilter;
use traceparse::recording::SampleDetail;
use traceparse::report::{ReportOptions, SeparateBy, View};
use traceparse::units::Nanos;

use crate::arguments::{RecordingArgs, job_count};
use crate::bounds::BoundArgs;
use crate::cells::CsvArgs;
use crate::demangle::DemangleArgs;
use crate::diff::DiffArgs;
use crate::flame_graph::FlameGraphArgs;
use crate::fleet::FleetCommand;
use crate::formats::{Content, Format, format_of};
use crate::limits;
use crate::times::{WeightLimit, parse_time, parse_weight};
use crate::{complain, printable};

const EXAMPLES: &str = "\
Examples:
  traceparse app.trace
      Where the CPU time went: totals, threads, and the call tree of each thread
  traceparse app.trace.zip --view functions
      The same recording in an archive, which is not unpacked
  traceparse export.xml --view functions --thread 'Main Thread'
      The functions of the main thread, by self weight
  traceparse export.xml --hide-system --view bottom-up --no-threads
      Which of the program's own functions take the time, and who calls them
  traceparse diff before.xml after.xml
      What changed between two recordings, and what of it may be chance
  traceparse export.xml --format svg -o flame.svg
      A flame graph
  traceparse export.xml --dsym App.dSYM --symbols ~/Library/Developer/Xcode/Archives
      With the names, inlined functions and lines that symbol files have
  traceparse export.xml --format chrome-trace -o trace.json
      What each thread did over time, for ui.perfetto.dev
  traceparse export.xml.gz --time 1.5s..2s --format json -o part.json
      Half a second of it, for a program
  traceparse export.xml --during Layout --intervals signposts.xml --view functions
      The functions that ran while a signpost interval was open

Exports are read, too. On a Mac, one is made with:
  xcrun xctrace export --input X.trace --output export.xml \\
      --xpath '/trace-toc/run/data/table[@schema=\"time-profile\"]'

Exit codes: 0 done, 1 the input could not be used, 2 wrong usage, 130 interrupted, 143 told to end (SIGTERM).";

/// Reads recordings of Instruments, and what `xcrun xctrace export` makes of them, and says where the CPU time went.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    // Without a word on its heading it would stand under the last one of the arguments above.
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", help_heading = None)]
    pub(crate) color: Colour,
    #[command(flatten)]
    pub(crate) bounds: BoundArgs,
}

impl Cli {
    /// The arguments of the process; those whose order tells know it. Ends the process where they make no sense, or ask for
    /// help.
    pub(crate) fn parse_in_order() -> Self {
        let matches = Self::command().try_get_matches().unwrap_or_else(|error| refuse(error));
        let mut cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| refuse(error));
        match (&mut cli.command, matches.subcommand()) {
            (None, _) => cli.report.recording.operations.set_order(&matches),
            (Some(Command::Diff(diff)), Some((_, matches))) => diff.recording.operations.set_order(matches),
            _ => {}
        }
        cli
    }
}

/// Ends the process with what is wrong with its arguments. A pattern of the shell may have put the name of any file among them.
fn refuse(mut error: clap::Error) -> ! {
    let texts = error.context().filter_map(|(kind, value)| match value {
        ContextValue::String(text) => Some((kind, printable(text).into_owned())),
        _ => None,
    });
    for (kind, text) in texts.collect::<Vec<_>>() {
        error.insert(kind, ContextValue::String(text));
    }
    let message = error.render().to_string();
    // What parsers of values say is not among the texts above.
    if !error.use_stderr() || message.lines().all(|line| printable(line) == line) {
        error.exit()
    }
    message.lines().for_each(|line| complain(&printable(line)));
    std::process::exit(error.exit_code())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two recordings, by function, binary, or in the call tree
    Diff(Box<DiffArgs>),
    /// Shows what a recording, a table of contents (`xctrace export --toc`), or an export, holds
    Toc(TocArgs),
    /// Names addresses from a symbol file, in the form of atos
    Symbolicate(SymbolicateArgs),
    /// Says what mangled names of C++, Swift and Rust mean
    Demangle(DemangleArgs),
    /// Lists UUID, architecture, kind and path of the symbols in files and folders
    Uuid(UuidArgs),
    /// The distribution of CPU use over many recordings: percentiles, cohorts, alerts
    Fleet(Box<FleetCommand>),
    /// Prints a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TocArgs {
    /// Recordings (.trace), tables of contents or exports; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// The output format [default: the one that the name after -o tells, else text]
    #[arg(long, value_enum)]
    format: Option<TocFormat>,
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
    /// Recordings (.trace, also zip or tar) or exports (also gzip or zstd); `-` is standard input. Tables of contents add device and
    /// duration to exports
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// The answer to show; without it: summary, threads, and the call tree of each thread
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) view: Option<ViewArg>,
    /// Callers and callees of this function: its name as it is shown
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) function: Option<String>,
    /// The output format [default: the one that the name after -o tells, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<Format>,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Hide tree nodes (and, in text, functions) below this percentage of their whole [default: 1 in text, 0 elsewhere]
    #[arg(long, value_name = "P", value_parser = parse_percent, help_heading = "Output")]
    pub(crate) min_percent: Option<f64>,
    /// Hide tree nodes, and rows of tables, below this weight: 5ms, or 20000, 1.5M in the unit of the table
    #[arg(long, value_name = "WEIGHT", value_parser = parse_weight, help_heading = "Output")]
    pub(crate) min_weight: Option<WeightLimit>,
    /// Only the first N rows of tables that are in order of weight
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// Hide tree levels below this one
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) depth: Option<u32>,
    /// The length of a bin of --view timeline, such as 10ms [default: a round one that gives up to 90 bins]
    #[arg(long, value_name = "DURATION", value_parser = parse_bin, help_heading = "Output")]
    pub(crate) bin: Option<Nanos>,
    /// Split trees and timelines by this
    #[arg(long, value_enum, default_value_t = SeparateArg::Thread, value_name = "WHAT", help_heading = "Output")]
    pub(crate) separate_by: SeparateArg,
    /// One call tree over all threads; the same as --separate-by none
    #[arg(long, conflicts_with = "separate_by", help_heading = "Output")]
    pub(crate) no_threads: bool,
    /// With --view lines: show the lines in their files, which are searched in this folder (may be given several times)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) source: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) csv: CsvArgs,
    #[command(flatten)]
    pub(crate) flame_graph: FlameGraphArgs,

    /// With --during, --during-hang and --format firefox: an export or recording that has the intervals, if it is another one (may be given several times)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) intervals: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewArg {
    /// Inputs, tables and their rows, totals, and what was left out
    Summary,
    /// Threads with their weights
    Threads,
    /// The call tree of each thread
    Tree,
    /// The same turned round: functions by self weight, below them their callers
    BottomUp,
    /// Functions over all threads, by self weight
    Functions,
    /// The heaviest stack of each thread
    Heaviest,
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
    /// The functions of each thread, in order of time
    FlameChart,
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

fn parse_bin(text: &str) -> Result<Nanos, String> {
    let bin = parse_time(text)?;
    if bin.as_nanos() > 0 { Ok(bin) } else { Err("a bin is at least 1ns long".to_owned()) }
}

pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.trim_end_matches('%').parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=100.0).contains(&percent) { Ok(percent) } else { Err("not between 0 and 100".to_owned()) }
}

impl TocArgs {
    /// The format that was asked for, or that the name of the output tells.
    pub(crate) fn format(&self) -> TocFormat {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(TocFormat::Text)
    }
}

impl ReportArgs {
    /// The format that was asked for, or that the name of the output tells.
    pub(crate) fn format(&self) -> Format {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(Format::Text)
    }

    /// The view to show.
    pub(crate) fn view(&self) -> View {
        match self.view {
            None if self.format().content() == Content::FlameCharts => View::FlameChart,
            None if self.format().content() != Content::Views => View::Tree,
            None if self.function.is_some() => View::Sandwich,
            None => View::Overview,
            Some(ViewArg::Summary) => View::Summary,
            Some(ViewArg::Threads) => View::Threads,
            Some(ViewArg::Tree | ViewArg::BottomUp) => View::Tree,
            Some(ViewArg::Functions) if self.function.is_some() => View::Sandwich,
            Some(ViewArg::Functions) => View::Functions,
            Some(ViewArg::Heaviest) => View::Heaviest,
            Some(ViewArg::Binaries) => View::Binaries,
            Some(ViewArg::Categories) => View::Categories,
            Some(ViewArg::Transitions) => View::Transitions,
            Some(ViewArg::Lines) => View::Lines,
            Some(ViewArg::Processes) => View::Processes,
            Some(ViewArg::States) => View::States,
            Some(ViewArg::Cores) => View::Cores,
            Some(ViewArg::Timeline) => View::Timeline,
            Some(ViewArg::Samples) => View::Samples,
            Some(ViewArg::FlameChart) => View::FlameChart,
        }
    }

    /// The detail of samples that is needed: one by one only if the answer needs their times or cores.
    pub(crate) fn detail(&self) -> SampleDetail {
        if self.needs_times().is_some() { SampleDetail::Each } else { SampleDetail::Summed }
    }

    /// The option that asks for the time or the core of each sample, if one does.
    pub(crate) fn needs_times(&self) -> Option<String> {
        let view = self
            .view
            .filter(|_| matches!(self.view(), View::Samples | View::Cores | View::Timeline | View::FlameChart));
        let view = view.and_then(|view| Some(format!("--view {}", view.to_possible_value()?.get_name())));
        let format = self.format();
        let needs_format = format.needs_times() || format.content() == Content::FlameCharts;
        let by_core = self.separate_by == SeparateArg::CoreKind && self.is_separated();
        self.recording
            .selection
            .needs_times()
            .map(str::to_owned)
            .or(view)
            .or_else(|| needs_format.then(|| format!("--format {}", format.name())))
            .or_else(|| by_core.then(|| "--separate-by core-kind".to_owned()))
    }

    /// True if the view has something for each thread, or for whatever else is separated.
    fn is_separated(&self) -> bool {
        limits::SEPARATED.contains(&self.view())
    }

    /// The options of the report.
    pub(crate) fn report_options(&self) -> ReportOptions {
        let mut options = self.recording.selection.report_options();
        // Of one state there is nothing to separate.
        if self.separate_by == SeparateArg::State && self.is_separated() && self.recording.selection.state.is_empty() {
            options.selection.states = StateFilter::All;
        }
        ReportOptions {
            pruning: Pruning {
                min_percent: self.min_percent.unwrap_or(if self.format() == Format::Text { 1.0 } else { 0.0 }),
                min_weight: self.min_weight.map_or(0, WeightLimit::value),
                depth: self.depth,
            },
            view: self.view(),
            function: self.function.clone(),
            top: self.top,
            separate_by: match self.separate_by {
                _ if self.no_threads => SeparateBy::Nothing,
                SeparateArg::Thread => SeparateBy::Thread,
                SeparateArg::Process => SeparateBy::Process,
                SeparateArg::State => SeparateBy::State,
                SeparateArg::CoreKind => SeparateBy::CoreKind,
                SeparateArg::None => SeparateBy::Nothing,
            },
            timeline_bin: self.bin,
            jobs: job_count(self.recording.input.jobs),
            ..options
        }
    }

    /// True if trees start at the functions that samples were taken in.
    pub(crate) fn is_inverted(&self) -> bool {
        self.recording.operations.invert || self.view == Some(ViewArg::BottomUp)
    }

    /// Checks that the arguments go together.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.bin.is_some() && self.view != Some(ViewArg::Timeline) {
            return Err("--bin goes with --view timeline".to_owned());
        }
        let uses_intervals = self.recording.selection.asks_intervals() || self.format().has_markers();
        if !self.intervals.is_empty() && !uses_intervals {
            return Err("--intervals goes with --during or --during-hang, or with --format firefox".to_owned());
        }
        let shows_source = self.view == Some(ViewArg::Lines) && matches!(self.format(), Format::Text | Format::Json);
        if !self.source.is_empty() && !shows_source {
            return Err("--source shows lines in their files: with --view lines, as text or JSON".to_owned());
        }
        if self.format() != Format::Svg {
            self.flame_graph.check_unused()?;
        }
        self.csv.check(self.format() == Format::Csv)?;
        self.check_function()?;
        self.check_inverted()?;
        match (self.format().content(), self.view) {
            (Content::Views, None) if self.format().needs_view() => {
                let format = self.format().name();
                Err(format!("--format {format} needs a --view, such as summary, threads, tree, functions or samples"))
            }
            (Content::Trees, Some(view)) if !matches!(view, ViewArg::Tree | ViewArg::BottomUp) => {
                let format = self.format().name();
                Err(format!("--format {format} is made of call trees; leave --view away, or use --view tree"))
            }
            (Content::FlameCharts, Some(view)) if view != ViewArg::FlameChart => {
                let format = self.format().name();
                Err(format!("--format {format} is made of flame charts; leave --view away, or use --view flame-chart"))
            }
            (Content::FlameCharts, _) if self.no_threads || self.separate_by != SeparateArg::Thread => {
                let format = self.format().name();
                Err(format!(
                    "--format {format} has a flame chart for each thread; leave --separate-by and --no-threads away"
                ))
            }
            (Content::Stacks, view) => self.check_for_viewers(view),
            _ => limits::check(self),
        }
    }

    /// Callers and callees are a view of their own.
    fn check_function(&self) -> Result<(), String> {
        if self.function.is_some() && self.view() != View::Sandwich {
            return Err("--function goes with --view functions, or without --view: as text, JSON or CSV".to_owned());
        }
        Ok(())
    }

    /// Refuses `--invert` in views of stacks that are not trees: in stacks that are turned round, the last function is the outermost one,
    /// and other views would show its weight as the function's own.
    fn check_inverted(&self) -> Result<(), String> {
        let is_tree = matches!(self.view(), View::Overview | View::Tree);
        let has_no_stacks = matches!(
            self.view(),
            View::Summary | View::Threads | View::Processes | View::States | View::Cores | View::Timeline
        );
        if self.recording.operations.invert && !is_tree && !has_no_stacks {
            return Err(
                "--invert turns call trees round, and this is none; leave it away, or use --view tree".to_owned()
            );
        }
        Ok(())
    }

    /// Viewers make trees of their own.
    fn check_for_viewers(&self, view: Option<ViewArg>) -> Result<(), String> {
        let format = self.format().name();
        let refused = [
            ("--view", view.is_some_and(|view| view != ViewArg::Tree)),
            ("--min-percent", self.min_percent.is_some()),
            ("--min-weight", self.min_weight.is_some()),
            ("--depth", self.depth.is_some()),
            ("--top", self.top.is_some()),
            ("--separate-by", self.separate_by != SeparateArg::Thread),
            ("--no-threads", self.no_threads),
            ("--invert", self.recording.operations.invert),
        ];
        match refused.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(format!(
                "--format {format} writes the samples of each thread, of which the viewer makes its views; leave {option} away"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command as ClapCommand};

    use super::*;
    use crate::guarded::{GUARDED, Guarded, Writes};

    /// Every command that does something by itself, with its name.
    fn commands(command: &ClapCommand, name: &str, found: &mut Vec<(String, ClapCommand)>) {
        if !command.is_subcommand_required_set() {
            found.push((name.to_owned(), command.clone()));
        }
        for below in command.get_subcommands() {
            commands(below, format!("{name} {}", below.get_name()).trim_start(), found);
        }
    }

    /// The name that the table has for an argument that names a file or a folder; `None` for others.
    fn path_name(arg: &Arg) -> Option<String> {
        let names = arg.get_value_names().unwrap_or_default();
        let is_hinted = matches!(arg.get_value_hint(), ValueHint::FilePath | ValueHint::AnyPath | ValueHint::DirPath);
        let is_named = names.iter().any(|name| ["PATH", "FILE", "DIR"].iter().any(|word| name.contains(word)));
        let takes_path = arg.get_action().takes_values() && (is_hinted || is_named);
        takes_path.then(|| arg.get_long().map_or_else(|| names[0].to_string(), |long| format!("--{long}")))
    }

    #[test]
    fn every_command_and_every_path_is_guarded() {
        let mut found = Vec::new();
        commands(&Cli::command(), "", &mut found);
        let listed: Vec<&str> = GUARDED.iter().map(|guarded| guarded.command).collect();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, listed, "GUARDED (bin/guarded.rs) has every command, and tests/cli/guard.rs tries it");
        for ((name, command), Guarded { writes, inputs, .. }) in found.iter().zip(&GUARDED) {
            let mut paths: Vec<String> = command.get_arguments().filter_map(path_name).collect();
            let has_output = paths.iter().any(|path| path == "--output");
            assert_eq!(has_output, *writes != Writes::Stdout, "what `{name}` writes");
            paths.retain(|path| path != "--output");
            paths.sort();
            let mut inputs: Vec<&str> = inputs.to_vec();
            inputs.sort_unstable();
            assert_eq!(paths, inputs, "what `{name}` reads, in bin/guarded.rs");
        }
    }

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
