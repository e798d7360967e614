//! The ends of the command: its exit codes, and the reasons why it ends without its answer.

use std::io;

/// The answer was given.
pub(crate) const EXIT_DONE: u8 = 0;
/// The input could not be used.
pub(crate) const EXIT_INPUT: u8 = 1;
/// The command was called wrongly; clap uses the same.
pub(crate) const EXIT_USAGE: u8 = 2;
/// An alert rule fired.
pub(crate) const EXIT_ALERT: u8 = 3;
/// An alert rule could not be decided, and none fired.
pub(crate) const EXIT_UNDECIDED: u8 = 4;
/// Interrupted by the user (Ctrl-C), as in shells. 143 after SIGTERM, 129 after SIGHUP, 131 after SIGQUIT.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// The exit codes of commands without alerts, as their help has them.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 success, 1 the input could not be used, 2 wrong usage, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

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

/// True if an output was closed by its reader.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
