//! The `traceparse` command: arguments, files, progress, exit codes. Its answers are made by the library.

mod arguments;
mod bounds;
mod bundles;
mod cells;
mod cli;
mod demangle;
mod diff;
mod durable;
mod flame_graph;
mod fleet;
mod formats;
mod guard;
#[cfg(test)]
mod guarded;
mod inputs;
mod interrupt;
mod intervals;
mod limits;
mod operations;
mod progress;
mod recording;
mod run;
mod sink;
mod sources;
mod symbolicate;
mod symbols;
mod times;
mod unchanged;

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use cli::Cli;
/// A message that cannot steer the terminal: names from an input stand in it.
pub(crate) use traceparse::output::inert as printable;

/// The answer was given.
pub(crate) const EXIT_DONE: u8 = 0;
/// The input could not be used.
const EXIT_INPUT: u8 = 1;
/// The command was called wrongly; clap uses the same.
const EXIT_USAGE: u8 = 2;
/// An alert rule fired.
pub(crate) const EXIT_ALERT: u8 = 3;
/// An alert rule could not be decided, and none fired.
pub(crate) const EXIT_UNDECIDED: u8 = 4;
/// The user wants no more (Ctrl-C); shells use the same. 143 where something else told the process to end (SIGTERM).
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// The reason why the command ends without its answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Arguments that do not go together.
    Usage(String),
    /// An input that could not be used, or an output that could not be written.
    Input(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Input(error)
    }
}

fn main() -> ExitCode {
    match run::run(Cli::parse_in_order()) {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Usage(message)) => {
            complain(&format!("{}: {}\n\nFor more information, try '--help'.", error_label(), printable(&message)));
            ExitCode::from(EXIT_USAGE)
        }
        // Whoever reads the output has seen enough (`traceparse … | head`).
        Err(Failure::Input(error)) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(Failure::Input(error)) => {
            complain(&format!("{}: {}", error_label(), printable(&error.to_string())));
            for cause in error.chain().skip(1) {
                complain(&format!("  caused by: {}", printable(&cause.to_string())));
            }
            ExitCode::from(EXIT_INPUT)
        }
    }
}

fn error_label() -> String {
    format!("{0}error{0:#}", anstyle::AnsiColor::Red.on_default().bold())
}

/// Writes a line to standard error. Where that cannot be written, nobody reads it, and the exit code says enough; so it does where the
/// line would go into an input.
pub(crate) fn complain(line: &str) {
    if guard::is_stderr_an_input() {
        return;
    }
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Prints a warning, once: a recording that is read for its samples and its intervals says the same twice.
pub(crate) fn warning(message: &str) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if !PRINTED.lock().unwrap_or_else(PoisonError::into_inner).insert(message.to_owned()) {
        return;
    }
    let label = format!("{0}warning{0:#}", anstyle::AnsiColor::Yellow.on_default().bold());
    complain(&format!("{label}: {}", printable(message)));
}

/// Prints what is worth knowing and no reason to worry.
pub(crate) fn note(message: &str) {
    let label = format!("{0}note{0:#}", anstyle::AnsiColor::Cyan.on_default().bold());
    complain(&format!("{label}: {}", printable(message)));
}

/// True if an output was closed by its reader.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
