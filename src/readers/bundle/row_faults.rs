//! The reasons why a row cannot be read.

use std::path::Path;

use crate::profile::Full;
use crate::recording::Notes;
use crate::symbols::Broken;

/// The fault of a row, or of something that it refers to.
#[derive(Clone, Debug)]
pub(super) enum Unreadable {
    /// It breaks this rule.
    Row(String),
    /// It needs more than is allowed.
    Limit(String),
    /// The images of its process cannot be read.
    Images(Broken),
}

impl From<String> for Unreadable {
    fn from(rule: String) -> Self {
        Self::Row(rule)
    }
}

impl From<Full> for Unreadable {
    fn from(full: Full) -> Self {
        Self::Limit(full.to_string())
    }
}

impl Unreadable {
    /// The rule that is broken.
    pub(super) fn rule(&self) -> &str {
        match self {
            Self::Row(rule) | Self::Limit(rule) => rule,
            Self::Images(broken) => &broken.message,
        }
    }
}

/// The position of a row: its store, and the offset of the row in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPosition<'a> {
    pub(super) store: &'a Path,
    pub(super) at: u64,
}

impl RowPosition<'_> {
    /// Notes something about the row, or counts it if there was such a row before.
    pub(super) fn note(self, notes: &mut Notes, topic: &'static str, message: impl FnOnce() -> String) {
        notes.note(&self.store.to_string_lossy(), self.at, topic, message);
    }
}
