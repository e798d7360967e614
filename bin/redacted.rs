//! The names that are replaced in everything that the command writes, standard error among it.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use traceparse::redact::Redactor;

static REDACTOR: Mutex<Option<Redactor>> = Mutex::new(None);

fn redactor() -> MutexGuard<'static, Option<Redactor>> {
    REDACTOR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on names are replaced.
pub(crate) fn begin(new: Redactor) {
    *redactor() = Some(new);
}

/// True if names are replaced.
pub(crate) fn is_asked() -> bool {
    redactor().is_some()
}

/// Asks for names, if they are replaced. Nothing may be printed meanwhile.
pub(crate) fn with<T>(ask: impl FnOnce(&mut Redactor) -> T) -> Option<T> {
    redactor().as_mut().map(ask)
}

/// A line for standard error.
pub(crate) fn shown(line: &str) -> Cow<'_, str> {
    with(|redactor| redactor.text(line)).map_or(Cow::Borrowed(line), Cow::Owned)
}
