//! The command-line arguments.

use std::ffi::OsString;

use clap::error::ContextValue;
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::contents::{ListArgs, TABLE_EXAMPLES};
use crate::demangle::DemangleArgs;
use crate::diff::DiffArgs;
use crate::exit_codes::EXIT_CODES;
use crate::fleet::{CompareArgs, FleetCommand, TrendArgs};
use crate::hangs::{HangArgs, IntervalArgs};
use crate::report_args::ReportArgs;
use crate::resource_limits::BoundArgs;
use crate::symbol_store::SymbolStoreArgs;
use crate::symbolicate::SymbolicateArgs;
use crate::table::TableArgs;
use crate::uuid::UuidArgs;
use crate::{complain, mistakes, objects, printable};

/// The text shown if the command has no arguments.
const INTRODUCTION: &str = "\
{about}

{usage-heading} {usage}

Examples:
  traceparse app.trace                      The answer: your heaviest functions
  traceparse app.trace --function draw      Callers and callees of a function
  traceparse app.trace --open               An interactive page, in the browser
  traceparse diff before.trace after.trace  What changed between two recordings
  traceparse hangs app.trace                Why the app froze
  traceparse fleet report recordings/       CPU use of many recordings

Commands:
{subcommands}

`traceparse -h` lists the common options, and `traceparse --help` all.";

const EXAMPLES: &str = "\
Examples:
  traceparse app.trace
      The answer on one screen: how busy the app was, and your heaviest functions
  traceparse app.trace.zip --view functions
      The same recording in an archive, which is not unpacked
  traceparse export.xml --view functions --thread 'Main Thread'
      The functions of the main thread, by self weight
  traceparse export.xml --hide-system --view bottom-up --no-threads
      Your functions by self weight, with their callers
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

Exit codes: 0 success, 1 the input could not be used, 2 wrong usage, 3 an alert fired (diff, intervals, fleet) or the app is slower (compare, trend), 4 no alert fired but one could not be decided, or the answer is unknown (compare and trend with --fail-on unknown), 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

const MAN_EXAMPLES: &str = "\
Examples:
  traceparse man > ~/.local/share/man/man1/traceparse.1
  traceparse man fleet report > ~/.local/share/man/man1/traceparse-fleet-report.1
      For `man traceparse` and `man traceparse-fleet-report`";

/// Show where the CPU time went in Instruments recordings
///
/// Reads recordings (.trace), xctrace exports, reports of sample, spindump, MetricKit and other profilers, and crash reports.
#[derive(Debug, Parser)]
#[command(name = "traceparse", version, max_term_width = 100, after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    // Without `help_heading`, clap would list this option under the last heading above.
    /// When to use colour [default: auto]
    ///
    /// `auto` follows the terminal and NO_COLOR.
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, hide_default_value = true, value_name = "WHEN", help_heading = None)]
    pub(crate) color: ColorChoice,
    #[command(flatten)]
    pub(crate) bounds: BoundArgs,
}

impl Cli {
    /// Parses the arguments of the process. Ends the process if they are invalid, or if they request help or the version.
    pub(crate) fn from_process() -> Self {
        let arguments = with_names(std::env::args_os());
        let matches = page_of(&arguments).try_get_matches_from(&arguments).unwrap_or_else(|mut error| {
            mistakes::advise(&Self::command(), &asked_command(&arguments), &mut error);
            refuse(error)
        });
        if let Err(message) = objects::check(&Self::command(), &matches) {
            refuse(Self::command().error(clap::error::ErrorKind::ValueValidation, printable(&message)));
        }
        Self::from_arg_matches(&matches).unwrap_or_else(|error| refuse(error))
    }
}

/// Joins Objective-C method names (`-[Feed layout]`, or `-\[Feed` in a pattern) with the option before them, since clap would parse them as
/// options.
fn with_names(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let is_option = |last: &str| last.len() > 2 && last.starts_with("--") && !last.contains('=');
    for argument in arguments {
        let is_method = argument.to_str().is_some_and(|text| text.starts_with("-[") || text.starts_with("-\\["));
        match joined.last_mut().filter(|last| is_method && last.to_str().is_some_and(is_option)) {
            Some(last) => {
                last.push("=");
                last.push(argument);
            }
            None => joined.push(argument),
        }
    }
    joined
}

/// The command with the kind of help that the arguments request. Only `--help` lists the values of options.
fn page_of(arguments: &[OsString]) -> clap::Command {
    match arguments {
        [] | [_] => Cli::command().help_template(INTRODUCTION),
        arguments if arguments.iter().any(|argument| argument == "--help" || argument == "help") => Cli::command(),
        _ => without_values(Cli::command()),
    }
}

fn without_values(command: clap::Command) -> clap::Command {
    let brief = |arg: clap::Arg| match arg.get_action().takes_values() {
        true => arg.hide_possible_values(true),
        false => arg,
    };
    command.mut_args(brief).mut_subcommands(without_values)
}

/// The command that the arguments name. The names of subcommands must come first.
fn asked_command(arguments: &[OsString]) -> clap::Command {
    let mut asked = Cli::command();
    for argument in &arguments[arguments.len().min(1)..] {
        match asked.find_subcommand(argument) {
            Some(below) => asked = below.clone(),
            None => break,
        }
    }
    asked
}

/// Ends the process with an error about its arguments. File names in the message are escaped, since a shell pattern may have added any name to the
/// arguments.
fn refuse(mut error: clap::Error) -> ! {
    let texts = error.context().filter_map(|(kind, value)| match value {
        ContextValue::String(text) => Some((kind, printable(text).into_owned())),
        _ => None,
    });
    for (kind, text) in texts.collect::<Vec<_>>() {
        error.insert(kind, ContextValue::String(text));
    }
    let message = error.render().to_string();
    // Messages of value parsers are not in the error's context.
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
    /// Find out whether new runs are slower than the base
    Compare(Box<CompareArgs>),
    /// Find the version or date that made the app slower
    Trend(Box<TrendArgs>),
    /// Explain why an app froze: hangs, hitches and their threads
    Hangs(Box<HangArgs>),
    /// Sum signposts, hangs and other intervals by name
    Intervals(Box<IntervalArgs>),
    /// List the runs and tables of a recording
    ///
    /// FILE is a recording, an export or a table of contents.
    /// On a Mac, `xcrun xctrace export --toc` writes the table of contents of a recording.
    #[command(after_long_help = EXIT_CODES)]
    Toc(ListArgs),
    /// List the tables with their numbers of rows
    #[command(after_long_help = format!("{TABLE_EXAMPLES}\n\n{EXIT_CODES}"))]
    Tables(ListArgs),
    /// Write the rows of any table, such as system calls
    Table(Box<TableArgs>),
    /// Name a crash report, or addresses as atos does
    ///
    /// Writes the report with names, lines and inlined functions in place of addresses. Everything else is copied unchanged. With -o, names single
    /// addresses instead.
    Symbolicate(Box<SymbolicateArgs>),
    /// Demangle C++, Swift and Rust names
    Demangle(DemangleArgs),
    /// List the UUIDs of missing symbols, or of symbol files
    ///
    /// For a recording or an export, lists the binaries whose symbols are missing, with the share of running samples whose work their
    /// unnamed code hides, largest first. docs/symbols.md describes where to find their symbols.
    Uuid(UuidArgs),
    /// Pack symbols into a folder, as one Breakpad file per image
    ///
    /// Writes FOLDER/NAME/ID/NAME.sym for each image: functions, inlined functions, files and lines. Pass the folder to any command with
    /// --symbols, for example in CI, where dSYMs or the system's libraries are not available.
    Symbols(SymbolStoreArgs),
    /// Measure many recordings: percentiles, cohorts, alerts
    Fleet(Box<FleetCommand>),
    /// Serve coding agents over standard input and output
    ///
    /// A server of the Model Context Protocol (MCP) with nine tools. Start it from the configuration of your agent; docs/agents.md has examples.
    #[cfg(feature = "mcp")]
    #[command(after_long_help = EXIT_CODES)]
    Mcp,
    /// Print a shell completion script
    #[command(after_long_help = EXIT_CODES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a manual page
    #[command(after_long_help = format!("{MAN_EXAMPLES}\n\n{EXIT_CODES}"))]
    Man {
        /// Command to describe [default: traceparse itself]
        ///
        /// For example, `fleet report`.
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command as ClapCommand, ValueHint};

    use super::*;
    use crate::guarded::{GUARDED, Guarded, Writes};

    /// Collects all commands that do something themselves, each with its name.
    fn commands(command: &ClapCommand, name: &str, found: &mut Vec<(String, ClapCommand)>) {
        if !command.is_subcommand_required_set() {
            found.push((name.to_owned(), command.clone()));
        }
        for below in command.get_subcommands() {
            commands(below, format!("{name} {}", below.get_name()).trim_start(), found);
        }
    }

    /// The name of an argument that takes a path, as in the table of guarded commands; `None` for other arguments.
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
        for ((name, command), Guarded { writes, inputs, .. }) in found.iter().zip(GUARDED) {
            let mut paths: Vec<String> = command.get_arguments().filter_map(path_name).collect();
            let has_output = paths.iter().any(|path| path == "--output");
            assert_eq!(has_output, *writes != Writes::Stdout, "what `{name}` writes");
            // The folder of --only-below is a limit, and nothing is read from it.
            paths.retain(|path| path != "--output" && path != "--only-below");
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
}
