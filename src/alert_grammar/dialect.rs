//! The rules of one command, and its errors about others.

use std::fmt;

/// The reason why a string is not an alert rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertError(String);

impl fmt::Display for AlertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AlertError {}

/// The words of a command in errors.
pub(crate) struct Dialect {
    /// Rules that it judges, as examples.
    pub(crate) examples: &'static str,
    /// The beginning of its rules.
    pub(crate) subjects: &'static str,
    /// The limits that its rules may have.
    pub(crate) limits: &'static str,
    /// Its input: `two recordings`.
    pub(crate) input: &'static str,
    /// The command that judges the other rules.
    pub(crate) other: &'static str,
}

impl Dialect {
    /// Reports a string that no rule can contain.
    pub(crate) fn error(&self, found: &str, wanted: &str) -> AlertError {
        AlertError(format!("{found:?} is not {wanted}; write a rule such as: {}", self.examples))
    }

    /// Reports a string that only rules of the other command can contain; `what` names it.
    pub(crate) fn elsewhere(&self, found: &str, what: &str) -> AlertError {
        AlertError(format!("{found:?} does not apply to {}; `{}` has {what}", self.input, self.other))
    }
}
