//! Exit codes, and the failures that end the command without a result.

use std::io;

use traceparse::alert::{AlertOutcome, AlertState};

/// Success.
pub(crate) const EXIT_DONE: u8 = 0;
/// The input could not be used.
pub(crate) const EXIT_INPUT: u8 = 1;
/// Wrong usage; clap uses the same code.
pub(crate) const EXIT_USAGE: u8 = 2;
/// An alert rule fired.
pub(crate) const EXIT_ALERT: u8 = 3;
/// An alert rule is undecided, and none fired.
pub(crate) const EXIT_UNDECIDED: u8 = 4;
/// Interrupted by the user (Ctrl-C), the same code as in shells. The code is 143 after SIGTERM, 129 after SIGHUP, 131 after SIGQUIT.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// The exit code for the outcomes of alert rules.
pub(crate) fn exit_code_of_alerts(outcomes: &[AlertOutcome]) -> u8 {
    if outcomes.iter().any(|outcome| outcome.state == AlertState::Fired) {
        EXIT_ALERT
    } else if outcomes.iter().any(|outcome| outcome.state.is_undecided()) {
        EXIT_UNDECIDED
    } else {
        EXIT_DONE
    }
}

/// The exit codes of commands without alerts, for their help.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 success, 1 the input could not be used, 2 wrong usage, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

/// The reason why the command ends without a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid arguments, or a combination that is not allowed.
    Usage(String),
    /// An input that could not be used, or an output that could not be written.
    Input(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Input(error.into())
    }
}

/// True if the reader of an output closed it.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
