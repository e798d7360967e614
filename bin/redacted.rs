//! The redactor for everything that the command writes, including standard error.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use traceparse::redact::{RedactRule, Redactor};

static REDACTOR: Mutex<Option<Redactor>> = Mutex::new(None);

fn redactor() -> MutexGuard<'static, Option<Redactor>> {
    REDACTOR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The redaction that is applied separately to each recording of a fleet.
pub(crate) struct Each {
    pub(crate) rules: Vec<RedactRule>,
    /// A hash of the rules, if any.
    pub(crate) hash: Option<String>,
}

static EACH: OnceLock<Each> = OnceLock::new();

/// Starts redaction separately in each recording of a fleet, and in messages.
pub(crate) fn begin_fleet(each: Each) {
    begin(Redactor::collective(Vec::new()));
    let _ = EACH.set(each);
}

/// The redaction for the recordings of a fleet, if requested.
pub(crate) fn each() -> Option<&'static Each> {
    EACH.get()
}

/// Starts redaction.
pub(crate) fn begin(new: Redactor) {
    *redactor() = Some(new);
}

/// True if names are redacted.
pub(crate) fn is_asked() -> bool {
    redactor().is_some()
}

/// Calls `ask` with the redactor, if names are redacted. `ask` must not print, since printing uses the redactor.
pub(crate) fn with<T>(ask: impl FnOnce(&mut Redactor) -> T) -> Option<T> {
    redactor().as_mut().map(ask)
}

/// Redacts a line for standard error, if names are redacted.
pub(crate) fn shown(line: &str) -> Cow<'_, str> {
    with(|redactor| redactor.text(line)).map_or(Cow::Borrowed(line), Cow::Owned)
}
