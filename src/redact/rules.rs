//! Rules about names of functions, binaries, threads and signposts.

use std::fmt;
use std::sync::Arc;

use super::pseudonyms::RedactedKind;

/// A rule: of names of one kind, which are replaced, and by what.
#[derive(Clone)]
pub struct RedactRule {
    /// The kind of names: functions, binaries, threads or signposts.
    pub kind: RedactedKind,
    /// Its name in messages.
    pub text: String,
    /// What stands for a name; `None` for names that the rule does not mean. `{n}` in it becomes a number for each distinct name that the
    /// rule replaces, from 1.
    pub replace: Arc<dyn Fn(&str) -> Option<String> + Send + Sync>,
}

impl fmt::Debug for RedactRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RedactRule").field("kind", &self.kind).field("text", &self.text).finish_non_exhaustive()
    }
}

/// The place of the number in a replacement.
pub(super) const NUMBER: &str = "{n}";
