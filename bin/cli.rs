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
      What changed between two recordings, and which changes may be chance
  traceparse export.xml --format svg -o flame.svg
      A flame graph
  traceparse export.xml --dsym App.dSYM --symbols ~/Library/Developer/Xcode/Archives
      With names, inlined functions and lines from symbol files
  traceparse export.xml --format chrome-trace -o trace.json
      What each thread did over time, for ui.perfetto.dev
  traceparse export.xml.gz --time 1.5s..2s --format json -o part.json
      Half a second of the recording, as JSON for a program
  traceparse export.xml --during Layout --intervals signposts.xml --view functions
      The functions that ran while a signpost interval was open

To make an export on a Mac:
  xcrun xctrace export --input X.trace --output export.xml \\
      --xpath '/trace-toc/run/data/table[@schema=\"time-profile\"]'

Exit codes: 0 success, 1 the input could not be used, 2 wrong usage, 130 interrupted, 143 terminated (SIGTERM).";

/// Show where the CPU time went in Instruments recordings, xctrace exports and `sample` reports.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    // Without a word on its heading it would stand under the last one of the arguments above.
    /// When to use colour; NO_COLOR is honoured
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
    /// Compare two recordings by function, binary or call tree
    Diff(Box<DiffArgs>),
    /// List the runs and tables of a recording, an export or a table of contents
    ///
    /// On a Mac, `xcrun xctrace export --toc` writes the table of contents of a recording.
    Toc(TocArgs),
    /// Name addresses from a symbol file, as atos does
    Symbolicate(SymbolicateArgs),
    /// Demangle C++, Swift and Rust names
    Demangle(DemangleArgs),
    /// List the UUID, architecture, kind and path of symbols in files and folders
    Uuid(UuidArgs),
    /// Measure CPU use across many recordings: percentiles, cohorts, alerts
    Fleet(Box<FleetCommand>),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TocArgs {
    /// Recordings (.trace), exports or tables of contents; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum)]
    format: Option<TocFormat>,
    /// Show the complete part of a truncated file
    #[arg(long)]
    pub(crate) allow_truncated: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SymbolicateArgs {
    /// dSYM, binary or `.symbols` file
    #[arg(short = 'o', long = "object", value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) object: PathBuf,
    /// Architecture to use, if the file has several
    #[arg(long, value_name = "ARCH")]
    pub(crate) arch: Option<String>,
    /// Load address of the binary, in hex [default: addresses are those in the file]
    #[arg(short, long, value_name = "ADDRESS", value_parser = parse_address)]
    pub(crate) load_address: Option<u64>,
    /// Take addresses as offsets from the Mach-O header
    #[arg(long, conflicts_with = "load_address")]
    pub(crate) offset: bool,
    /// Show inlined functions too, innermost first, with an empty line between addresses
    #[arg(short, long)]
    pub(crate) inlines: bool,
    /// Show full paths of source files
    #[arg(long)]
    pub(crate) full_path: bool,
    /// Addresses in hex [default: read from standard input]
    #[arg(value_name = "ADDRESS", value_parser = parse_address)]
    pub(crate) addresses: Vec<u64>,
}

fn parse_address(text: &str) -> Result<u64, String> {
    let digits = text.trim().trim_start_matches("0x").trim_start_matches("0X");
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
    number.ok_or_else(|| format!("{text:?} is not a hexadecimal address, such as 0x102a4040f"))
}

#[derive(Debug, Args)]
pub(crate) struct UuidArgs {
    /// Symbol files, bundles, or folders to search
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Output format
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
    /// Recordings (.trace, or a zip or tar of one), exports (also gzip or zstd) or sample reports; `-` is standard input
    ///
    /// A table of contents (`xctrace export --toc`) among them adds device and duration to the exports.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// What to show [default: summary, threads, and the call tree of each thread]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) view: Option<ViewArg>,
    /// Show callers and callees of this function (name exactly as shown)
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) function: Option<String>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<Format>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Hide tree nodes below this percentage, and in text also table rows [default: 1 in text, 0 elsewhere]
    ///
    /// It is a percentage of the tree, or for rows of the total.
    #[arg(long, value_name = "P", value_parser = parse_percent, help_heading = "Output")]
    pub(crate) min_percent: Option<f64>,
    /// Hide tree nodes and table rows below this weight, such as 5ms
    ///
    /// Without a unit of time, it is in the unit of the table: 20000 or 1.5M.
    #[arg(long, value_name = "WEIGHT", value_parser = parse_weight, help_heading = "Output")]
    pub(crate) min_weight: Option<WeightLimit>,
    /// Show only the first N rows of tables sorted by weight
    ///
    /// With --view heaviest, it is the number of stacks.
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// Hide tree levels deeper than N
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) depth: Option<u32>,
    /// Bin length of --view timeline, such as 10ms [default: round, at most 90 bins]
    #[arg(long, value_name = "DURATION", value_parser = parse_bin, help_heading = "Output")]
    pub(crate) bin: Option<Nanos>,
    /// Split trees and timelines by this
    #[arg(long, value_enum, default_value_t = SeparateArg::Thread, value_name = "WHAT", help_heading = "Output")]
    pub(crate) separate_by: SeparateArg,
    /// Show one call tree over all threads; the same as --separate-by none
    #[arg(long, conflicts_with = "separate_by", help_heading = "Output")]
    pub(crate) no_threads: bool,
    /// Folder to search for source files, for --view lines (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) source: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) csv: CsvArgs,
    #[command(flatten)]
    pub(crate) flame_graph: FlameGraphArgs,

    /// Read signposts and hangs from this export or recording (repeatable)
    ///
    /// For --during, --during-hang and --format firefox, if FILE itself does not have them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Filters")]
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
    /// The same from the leaves up: functions by self weight, with their callers below
    BottomUp,
    /// Functions over all threads, by self weight
    Functions,
    /// The heaviest stack of each thread
    Heaviest,
    /// Binaries over all threads, by self weight
    Binaries,
    /// The program's own code, the system, runtimes and the kernel, and the program's calls into the others
    Categories,
    /// All calls from the program's own code into other code
    Transitions,
    /// Source lines over all threads, by self weight; --source shows the source
    Lines,
    /// Processes with their weights
    Processes,
    /// Thread states with their weights, including states that do not count
    States,
    /// Cores and kinds of core, with what they ran
    Cores,
    /// CPU use over time, by thread or as --separate-by splits it
    Timeline,
    /// One line for each sample, in the order of the input
    Samples,
    /// The functions each thread ran, over time
    FlameChart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeparateArg {
    Thread,
    Process,
    /// By thread state; all states count unless --state is given
    State,
    /// By kind of core, such as P Core
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
            return Err("--bin only applies to --view timeline".to_owned());
        }
        let uses_intervals = self.recording.selection.asks_intervals() || self.format().has_markers();
        if !self.intervals.is_empty() && !uses_intervals {
            return Err("--intervals only applies to --during, --during-hang and --format firefox".to_owned());
        }
        let shows_source = self.view == Some(ViewArg::Lines) && matches!(self.format(), Format::Text | Format::Json);
        if !self.source.is_empty() && !shows_source {
            return Err("--source only applies to --view lines, in text or JSON".to_owned());
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
                Err(format!("--format {format} writes call trees only; leave out --view, or use --view tree"))
            }
            (Content::FlameCharts, Some(view)) if view != ViewArg::FlameChart => {
                let format = self.format().name();
                Err(format!("--format {format} writes flame charts only; leave out --view, or use --view flame-chart"))
            }
            (Content::FlameCharts, _) if self.no_threads || self.separate_by != SeparateArg::Thread => {
                let format = self.format().name();
                Err(format!(
                    "--format {format} always writes one flame chart per thread; leave out --separate-by and --no-threads"
                ))
            }
            (Content::Stacks, view) => self.check_for_viewers(view),
            _ => limits::check(self),
        }
    }

    /// Callers and callees are a view of their own.
    fn check_function(&self) -> Result<(), String> {
        if self.function.is_some() && self.view() != View::Sandwich {
            return Err(
                "--function only applies to text, JSON and CSV, with --view functions or without --view".to_owned()
            );
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
            return Err("--invert only applies to call trees; leave it out, or use --view tree".to_owned());
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
                "--format {format} writes all samples and the viewer builds its own trees; leave out {option}"
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
