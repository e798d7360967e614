//! Rules about names of functions, binaries, threads and signposts.

use std::fmt;
use std::sync::Arc;

use super::pseudonyms::RedactedKind;

/// The name that stands for a name, if there is one.
type Replace = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A rule: of names of one kind, which are replaced, and by what.
#[derive(Clone)]
pub struct RedactRule {
    /// The kind of names: functions, binaries, threads or signposts.
    pub kind: RedactedKind,
    /// Its name in messages.
    pub text: String,
    replace: Arc<Replace>,
}

impl RedactRule {
    /// A rule about names of a kind. `replace` gives what stands for a name; `None` for names that the rule does not mean. `{n}` in it becomes a
    /// number for each distinct name that the rule replaces, from 1.
    pub fn new(
        kind: RedactedKind,
        text: String,
        replace: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { kind, text, replace: Arc::new(replace) }
    }

    /// What stands for a name, still without its number; `None` if the rule does not mean it.
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
