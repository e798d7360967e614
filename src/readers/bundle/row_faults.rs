//! The reasons why a row cannot be read.

use std::fmt;
use std::path::Path;

use super::strings::BadString;
use super::uniquer::BadReference;
use crate::profile::Full;
use crate::recording::Notes;
use crate::symbols::Broken;

/// The fault of a row, or of something that it refers to.
#[derive(Clone, Debug)]
pub(super) enum Unreadable {
    /// A number of an array leads nowhere.
    Array(BadReference),
    /// A number of a string leads nowhere.
    String(BadString),
    /// An array of this length is not a thread.
    NoThread { number: u32, count: usize },
    /// An array of this length is not a process.
    NoProcess { number: u32, count: usize },
    /// An array of this length is not a stack of this kind.
    NoStack { number: u32, count: usize, kind: &'static str },
    /// A typed array of this length is not a text, is longer than any text, or contains itself.
    NoNarrative { number: u64, count: usize },
    /// The typed arrays of the run could not be read.
    NoNarratives,
    /// A value is larger than possible.
    TooLarge { column: &'static str, value: u64 },
    /// The images of its process cannot be read.
    Images(Broken),
    /// The profile has no space for more.
    Full(Full),
    /// Stacks multiply beyond what the arrays have.
    TooManyStacks,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(bad) => bad.fmt(f),
            Self::String(bad) => bad.fmt(f),
            Self::NoThread { number, count } => write!(f, "array {number} of {count} numbers is not a thread"),
            Self::NoProcess { number, count } => write!(f, "array {number} of {count} numbers is not a process"),
            Self::NoStack { number, count, kind } => write!(f, "array {number} of {count} numbers is not a {kind}"),
            Self::NoNarrative { number, count } => {
                write!(f, "typed array {number} of {count} numbers is not a text, or too long")
            }
            Self::NoNarratives => f.write_str("it has a message, and there are no typed arrays"),
            Self::TooLarge { column, value } => write!(f, "its {column} is {value:#x}, which none can be"),
            Self::Images(broken) => broken.fmt(f),
            Self::Full(full) => full.fmt(f),
            Self::TooManyStacks => f.write_str("stacks expand to more frames than the arrays have bytes"),
        }
    }
}

impl From<BadReference> for Unreadable {
    fn from(bad: BadReference) -> Self {
        Self::Array(bad)
    }
}

impl From<BadString> for Unreadable {
    fn from(bad: BadString) -> Self {
        Self::String(bad)
    }
}

impl From<Full> for Unreadable {
    fn from(full: Full) -> Self {
        Self::Full(full)
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
