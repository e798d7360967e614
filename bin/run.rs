//! Runs the requested command.

use clap::{ColorChoice, CommandFactory};

use crate::cli::{Cli, Command};
use crate::demangle::demangle;
use crate::manual::show_manual;
use crate::parent::end_with_input;
use crate::sink::write_to;
use crate::symbol_store::write_store;
use crate::symbolicate::symbolicate;
use crate::uuid::list_uuids;
use crate::{EXIT_DONE, Failure, contents, diff, fleet, hangs, report, resource_limits, table};

/// Runs the command, and returns its exit code.
pub(crate) fn run(cli: Cli) -> Result<u8, Failure> {
    match cli.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    resource_limits::set(&cli.bounds)?;
    if cli.bounds.ends_with_input() {
        end_with_input()?;
    }
    match cli.command {
        None => report::show(cli.report)?,
        Some(Command::Diff(args)) => return diff::show(*args),
        Some(Command::Compare(args)) => return fleet::compare(*args),
        Some(Command::Trend(args)) => return fleet::trend(*args),
        Some(Command::Hangs(args)) => hangs::show_hangs(*args)?,
        Some(Command::Intervals(args)) => return hangs::show_intervals(*args),
        Some(Command::Toc(args)) => contents::show_contents(&args)?,
        Some(Command::Tables(args)) => contents::list_tables(&args)?,
        Some(Command::Table(args)) => table::show_rows(*args)?,
        Some(Command::Symbolicate(args)) => symbolicate(&args)?,
        Some(Command::Demangle(args)) => demangle(&args)?,
        Some(Command::Uuid(args)) => list_uuids(&args)?,
        Some(Command::Symbols(args)) => write_store(&args)?,
        Some(Command::Fleet(command)) => return fleet::run(*command),
        #[cfg(feature = "mcp")]
        Some(Command::Mcp) => return crate::mcp::serve(Cli::command()),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "traceparse", &mut script);
            write_to(None, |out| out.write_all(&script))?;
        }
        Some(Command::Man { command }) => show_manual(Cli::command(), &command)?,
    }
    Ok(EXIT_DONE)
}
