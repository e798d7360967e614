//! Rules about names of functions, binaries, threads and signposts.

use std::fmt;
use std::sync::Arc;

use super::pseudonyms::RedactedKind;

/// Returns the replacement for a name, if the rule matches it.
type Replace = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A rule: of names of one kind, which are replaced, and by what.
#[derive(Clone)]
pub struct RedactRule {
    /// The kind of names: functions, binaries, threads or signposts.
    pub kind: RedactedKind,
    /// The rule in messages.
    pub text: String,
    replace: Arc<Replace>,
}

impl RedactRule {
    /// A rule for names of this kind. `replace` returns the replacement for a name, or `None` if the rule does not match it. `{n}` in the
    /// replacement becomes a number from 1 for each distinct name that the rule replaces.
    pub fn new(
        kind: RedactedKind,
        text: String,
        replace: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { kind, text, replace: Arc::new(replace) }
    }

    /// The replacement for a name, still without its number; `None` if the rule does not match.
    pub fn replaced(&self, name: &str) -> Option<String> {
        (self.replace)(name)
    }
}

impl fmt::Debug for RedactRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RedactRule").field("kind", &self.kind).field("text", &self.text).finish_non_exhaustive()
    }
}

/// The place of the number in a replacement.
pub(super) const NUMBER: &str = "{n}";
