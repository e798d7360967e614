//! Messages on standard error.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use traceparse::profile::Matcher;

/// Escapes control characters, since messages contain names from inputs.
pub(crate) use traceparse::output::inert as printable;

use crate::{guard, objects, redacted};

/// Writes a line to standard error. Errors are ignored, since they could not be reported there either; the exit code shows the failure. Nothing is
/// written if standard error is an input.
pub(crate) fn complain(line: &str) {
    if guard::is_stderr_an_input() {
        return;
    }
    let _ = writeln!(anstream::stderr(), "{}", redacted::shown(&objects::shown(line)));
}

/// Prints a note that is already redacted.
pub(crate) fn note_as_is(message: &str) {
    if !guard::is_stderr_an_input() {
        let _ = writeln!(anstream::stderr(), "{}: {}", note_label(), printable(message));
    }
}

fn note_label() -> String {
    format!("{0}note{0:#}", anstyle::AnsiColor::Cyan.on_default().bold())
}

/// The warnings so far.
struct Warnings {
    printed: usize,
    /// The maximum number of printed warnings.
    most: usize,
    left_out: Vec<String>,
}

static WARNINGS: Mutex<Warnings> = Mutex::new(Warnings { printed: 0, most: usize::MAX, left_out: Vec::new() });

fn warnings() -> MutexGuard<'static, Warnings> {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a warning once. A recording that is read for samples and again for intervals would otherwise repeat it.
pub(crate) fn warning(message: &str) {
    let mut warnings = warnings();
    if !is_new(message) {
        return;
    }
    if warnings.printed >= warnings.most {
        warnings.left_out.push(message.to_owned());
        return;
    }
    warnings.printed += 1;
    print_warning(message);
}

/// The number of warnings printed with an overview.
const BESIDE_OVERVIEW: usize = 2;

/// From now on, prints only as many warnings as fit on a screen with the overview, and counts the rest.
pub(crate) fn print_few_warnings() {
    warnings().most = BESIDE_OVERVIEW;
}

/// Prints the number of warnings that were not printed. If the overview failed, prints the warnings themselves, since they may explain the failure.
pub(crate) fn end_warnings(is_done: bool) {
    let left_out = std::mem::take(&mut warnings().left_out);
    match left_out.len() {
        0 => {}
        _ if !is_done => left_out.iter().for_each(|message| print_warning(message)),
        1 => print_warning("one more warning; any other --view prints it"),
        count => print_warning(&format!("{count} more warnings; any other --view prints them")),
    }
}

fn print_warning(message: &str) {
    let label = format!("{0}warning{0:#}", anstyle::AnsiColor::Yellow.on_default().bold());
    complain(&format!("{label}: {}", printable(message)));
}

/// Prints information that is not a cause for concern.
pub(crate) fn note(message: &str) {
    complain(&format!("{}: {}", note_label(), printable(message)));
}

/// Prints a note once, since both sides of a comparison may produce the same note.
pub(crate) fn note_once(message: &str) {
    if is_new(message) {
        note(message);
    }
}

/// True if the message has not been printed before.
fn is_new(message: &str) -> bool {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    PRINTED.lock().unwrap_or_else(PoisonError::into_inner).insert(message.to_owned())
}

/// Suggests names that are similar to a name that matches nothing; `None` if no name is similar.
pub(crate) fn nearest<'p>(asked: &Matcher, names: impl Iterator<Item = &'p str>) -> Option<String> {
    let names: Vec<String> = asked.similar(names).iter().map(|name| format!("'{name}'")).collect();
    (!names.is_empty()).then(|| format!("the nearest: {}", names.join(", ")))
}
