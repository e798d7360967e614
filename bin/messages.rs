//! Messages on standard error.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

/// A message that cannot steer the terminal: names from an input stand in it.
pub(crate) use traceparse::output::inert as printable;

use crate::guard;

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
    if !is_new(message) {
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

/// Prints a note, once: both sides of a comparison may have the same to say.
pub(crate) fn note_once(message: &str) {
    if is_new(message) {
        note(message);
    }
}

/// True if this is asked of a message for the first time.
fn is_new(message: &str) -> bool {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    PRINTED.lock().unwrap_or_else(PoisonError::into_inner).insert(message.to_owned())
}
