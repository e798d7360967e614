//! The names that are replaced in everything that the command writes, standard error among it.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use traceparse::redact::{RedactRule, Redactor};

static REDACTOR: Mutex<Option<Redactor>> = Mutex::new(None);

fn redactor() -> MutexGuard<'static, Option<Redactor>> {
    REDACTOR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is replaced in each recording of a fleet by itself.
pub(crate) struct Each {
    pub(crate) rules: Vec<RedactRule>,
    /// A hash of the rules, if there are some.
    pub(crate) hash: Option<String>,
}

static EACH: OnceLock<Each> = OnceLock::new();

/// From now on names are replaced in each recording of a fleet by itself, and in messages.
pub(crate) fn begin_fleet(each: Each) {
    begin(Redactor::collective(Vec::new()));
    let _ = EACH.set(each);
}

/// The rules for the recordings of a fleet, if names are replaced.
pub(crate) fn each() -> Option<&'static Each> {
    EACH.get()
}

/// From now on names are replaced.
pub(crate) fn begin(new: Redactor) {
    *redactor() = Some(new);
}

/// True if names are replaced.
pub(crate) fn is_asked() -> bool {
    redactor().is_some()
}

/// Calls `ask` with the redactor, if names are replaced. `ask` must not print, since printing uses the redactor.
pub(crate) fn with<T>(ask: impl FnOnce(&mut Redactor) -> T) -> Option<T> {
    redactor().as_mut().map(ask)
}

/// A line for standard error.
pub(crate) fn shown(line: &str) -> Cow<'_, str> {
    with(|redactor| redactor.text(line)).map_or(Cow::Borrowed(line), Cow::Owned)
}
